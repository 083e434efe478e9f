//! Compares sampled reads on every device with the definition (OpenCL API 8.2), computed here in `f64`: every image type,
//! addressing mode and filter, normalized and unnormalized coordinates, at random positions inside and around the image.

use std::{fs, process::ExitCode};

use kiln_testsuite::{device, device::Device, kiln, random::Random};
use libtest_mimic::Arguments;

/// An image type: its name in OpenCL C, the sizes of the image that is read, how many of them are dimensions, and the coordinates.
struct ImageType {
    name: &'static str,
    sizes: &'static [usize],
    dimensions: usize,
    coordinates: &'static str,
}

const IMAGE_TYPES: [ImageType; 5] = [
    ImageType { name: "image1d", sizes: &[7], dimensions: 1, coordinates: "at[i].x" },
    ImageType { name: "image2d", sizes: &[5, 3], dimensions: 2, coordinates: "at[i].xy" },
    ImageType { name: "image3d", sizes: &[3, 4, 5], dimensions: 3, coordinates: "at[i]" },
    ImageType { name: "image1d_array", sizes: &[6, 4], dimensions: 1, coordinates: "at[i].xy" },
    ImageType { name: "image2d_array", sizes: &[3, 5, 4], dimensions: 2, coordinates: "at[i]" },
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Addressing {
    Edge,
    Clamp,
    Repeat,
    Mirrored,
}

#[derive(Clone, Copy, Debug)]
struct Sampler {
    normalized: bool,
    addressing: Addressing,
    linear: bool,
}

impl Sampler {
    /// All valid samplers: the last two addressing modes require normalized coordinates.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for addressing in [Addressing::Edge, Addressing::Clamp, Addressing::Repeat, Addressing::Mirrored] {
            for (normalized, linear) in [(false, false), (false, true), (true, false), (true, true)] {
                if normalized || matches!(addressing, Addressing::Edge | Addressing::Clamp) {
                    all.push(Self { normalized, addressing, linear });
                }
            }
        }
        all
    }

    fn argument(self) -> String {
        let normalized = if self.normalized { "normalized" } else { "unnormalized" };
        let filter = if self.linear { "linear" } else { "nearest" };
        format!("sampler:{normalized},{},{filter}", format!("{:?}", self.addressing).to_lowercase())
    }

    /// The texels that a coordinate selects in one dimension, and their weights; none outside of the image.
    fn select(self, s: f64, size: usize) -> Vec<(Option<usize>, f64)> {
        let width = size as f64;
        let u = match (self.normalized, self.addressing) {
            (false, _) => s,
            (true, Addressing::Repeat) => (s - s.floor()) * width,
            (true, Addressing::Mirrored) => (s - 2.0 * (0.5 * s).round_ties_even()).abs() * width,
            (true, _) => s * width,
        };
        let index = |i: f64| match self.addressing {
            Addressing::Edge | Addressing::Mirrored => Some(i.clamp(0.0, width - 1.0) as usize),
            Addressing::Clamp => (0.0..width).contains(&i).then_some(i as usize),
            Addressing::Repeat => Some(i.rem_euclid(width) as usize),
        };
        if !self.linear {
            return vec![(index(u.floor()), 1.0)];
        }
        let lower = (u - 0.5).floor();
        let weight = u - 0.5 - lower;
        vec![(index(lower), 1.0 - weight), (index(lower + 1.0), weight)]
    }

    /// The result of a read at these coordinates.
    fn read(self, image_type: &ImageType, texels: &[[f32; 4]], at: [f32; 4]) -> [f64; 4] {
        let mut selected = vec![(Some(0), 1.0)];
        let mut stride = 1;
        for (dimension, &size) in image_type.sizes.iter().enumerate() {
            let s = f64::from(at[dimension]);
            let choices = if dimension < image_type.dimensions {
                self.select(s, size)
            } else {
                vec![(Some(s.round_ties_even().clamp(0.0, size as f64 - 1.0) as usize), 1.0)]
            };
            let mut product = Vec::new();
            for &(texel_at, weight) in &selected {
                for &(index, more) in &choices {
                    let texel_at: Option<usize> = texel_at;
                    let both = texel_at.zip(index).map(|(texel_at, index)| texel_at + index * stride);
                    product.push((both, weight * more));
                }
            }
            selected = product;
            stride *= size;
        }
        let mut sum = [0.0; 4];
        for (texel_at, weight) in selected {
            // The border of images with four channels is transparent.
            let texel = texel_at.map_or([0.0; 4], |texel_at| texels[texel_at]);
            for (sum, channel) in sum.iter_mut().zip(texel) {
                *sum += weight * f64::from(channel);
            }
        }
        sum
    }
}

const POINTS: usize = 150;

fn main() -> ExitCode {
    let tests: [(&str, device::Test); 2] = [
        ("samplers_follow_the_formulas", samplers_follow_the_formulas),
        ("samplers_of_the_device_are_close", samplers_of_the_device_are_close),
    ];
    let trials = device::trials(device::all(), &tests);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn samplers_follow_the_formulas(device: &'static Device) {
    IMAGE_TYPES.iter().for_each(|image_type| compare(image_type, device, Precision::Exact));
}

fn samplers_of_the_device_are_close(device: &'static Device) {
    IMAGE_TYPES.iter().for_each(|image_type| compare(image_type, device, Precision::Device));
}

/// The precision of sampled reads.
#[derive(Clone, Copy, PartialEq)]
enum Precision {
    /// The formulas of OpenCL, with `--exact-images`.
    Exact,
    /// The samplers of the device. Coordinates and weights have eight fractional bits, as the tests of Khronos allow.
    Device,
}

impl Precision {
    /// Whether a kernel may read this at these coordinates.
    fn allows(
        self,
        sampler: Sampler,
        image_type: &ImageType,
        texels: &[[f32; 4]],
        at: [f32; 4],
        found: &[f64],
    ) -> bool {
        let is_near = |at: [f32; 4], tolerance: f64| {
            let expected = sampler.read(image_type, texels, at);
            expected.iter().zip(found).all(|(expected, found)| (expected - found).abs() < tolerance)
        };
        // Unnormalized coordinates of a nearest filter are exact everywhere (OpenCL API 8.2).
        if self == Self::Exact || !sampler.normalized && !sampler.linear {
            return is_near(at, 1e-4);
        }
        const STEP: f32 = 1.0 / 256.0;
        if sampler.linear {
            // Texels differ by at most 16.
            return is_near(at, 16.0 * f64::from(STEP) * image_type.dimensions as f64);
        }
        // A nearest filter may choose the next texel if the coordinate is close to it.
        let dimensions = image_type.dimensions as u32;
        (0..3u32.pow(dimensions)).any(|way| {
            let mut moved = at;
            let dimensions = moved.iter_mut().zip(image_type.sizes).take(image_type.dimensions);
            for (dimension, (coordinate, &size)) in (0..).zip(dimensions) {
                *coordinate += STEP / size as f32 * ((way / 3u32.pow(dimension) % 3) as f32 - 1.0);
            }
            is_near(moved, 1e-4)
        })
    }
}

fn compare(image_type: &ImageType, device: &Device, precision: Precision) {
    let mut random = Random::new(image_type.sizes.iter().sum::<usize>() as u64);
    let mut number = |low: f32, high: f32| low + (high - low) * (random.bits() % 65536) as f32 / 65536.0;
    let count: usize = image_type.sizes.iter().product();
    let texels: Vec<[f32; 4]> = (0..count).map(|_| [0; 4].map(|_: i32| number(-8.0, 8.0))).collect();
    let scratch = tempfile::tempdir().expect("a folder for files");
    let write = |name: &str, numbers: &[[f32; 4]]| {
        let path = scratch.path().join(name);
        let bytes: Vec<u8> = numbers.iter().flatten().flat_map(|it| it.to_le_bytes()).collect();
        fs::write(&path, bytes).expect("a file can be written");
        path.display().to_string()
    };
    let image = write("texels", &texels);
    let points = [false, true].map(|normalized| {
        let points: Vec<[f32; 4]> = (0..POINTS)
            .map(|_| {
                let mut at = [0.0; 4];
                for (dimension, &size) in image_type.sizes.iter().enumerate() {
                    let is_layer = dimension >= image_type.dimensions;
                    let (low, high) =
                        if normalized && !is_layer { (-2.5, 2.5) } else { (-2.0, size as f32 + 2.0) };
                    at[dimension] = number(low, high);
                }
                at
            })
            .collect();
        (write(if normalized { "normalized" } else { "other" }, &points), points)
    });
    let source = format!(
        "kernel void k(read_only {}_t image, sampler_t s, global float4 *at, global float4 *out) \
         {{ size_t i = get_global_id(0); out[i] = read_imagef(image, s, {}); }}",
        image_type.name, image_type.coordinates
    );
    let file = scratch.path().join("k.cl");
    fs::write(&file, source).expect("a file can be written");
    let mut command = kiln::command();
    device.only(&mut command).expect("the driver is installed");
    command.arg("run").arg(&file).arg("--validate");
    if precision == Precision::Exact {
        command.arg("--exact-images");
    }
    let sizes: Vec<String> = image_type.sizes.iter().map(usize::to_string).collect();
    let mut image = format!("{}:rgba-float[{}]=file:{image}", image_type.name, sizes.join(","));
    for (index, sampler) in Sampler::all().into_iter().enumerate() {
        if index > 0 {
            command.arg("then");
        }
        let (at, _) = &points[usize::from(sampler.normalized)];
        command.args(["--kernel", "k", "--global", &POINTS.to_string()]);
        command.args(["--arg", &image, "--arg", &sampler.argument()]);
        command.args(["--arg", &format!("buf:float4[{POINTS}]=file:{at}")]);
        command.args(["--arg", &format!("buf:float4[{POINTS}]"), "--print", "out"]);
        image = "image".to_owned();
    }
    let finished = device::launch(&mut command).expect("kiln runs");
    assert!(finished.status.success(), "{}: {}", device.name, finished.stderr);
    let text = String::from_utf8(finished.stdout).expect("numbers are text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), Sampler::all().len());
    for (sampler, line) in Sampler::all().into_iter().zip(lines) {
        let (_, numbers) = line.split_once('=').expect("a line of numbers");
        let numbers: Vec<f64> = numbers.split_whitespace().map(|it| it.parse().expect("a number")).collect();
        let (_, points) = &points[usize::from(sampler.normalized)];
        for (at, found) in points.iter().zip(numbers.chunks_exact(4)) {
            let expected = sampler.read(image_type, &texels, *at);
            assert!(
                precision.allows(sampler, image_type, &texels, *at, found),
                "{} of {} with {sampler:?} at {at:?}: {found:?}, not {expected:?}",
                device.name,
                image_type.name
            );
        }
    }
}
