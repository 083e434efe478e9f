//! Measures the headers `<kiln/…>`, compared with CUB and cuRAND where CUDA's compiler is installed.
//!
//! Owns the launches and the results of `kernels/libraries.cl`. The CUDA program, `kernels/libraries.cu`, has the same operations
//! by the same names.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use clap::Args;
use tempfile::TempDir;

use crate::kernels::{
    Argument::{self, Buffer, Local, Uint},
    Benchmark, Check, Contents, Size, Step, input, noise, same, words,
};
use crate::kiln::Kiln;
use crate::run::{self, Prepared as _};

#[derive(Args)]
pub(crate) struct Libraries {
    /// The Vulkan device, by index or a part of its name
    #[arg(long)]
    device: Option<String>,
    /// CUDA's compiler; `none` measures Kiln alone [default: nvcc, if it is installed]
    #[arg(long)]
    nvcc: Option<String>,
    /// Problem size [default: large, on a CPU device small]
    #[arg(long)]
    size: Option<Size>,
    /// Runs of each operation of each library
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Only operations whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// The sizes of the launches.
struct Sizes {
    /// The number of elements, a power of two.
    elements: usize,
    /// The work-items of a work-group of scans and reductions, and of sorts.
    scan_items: usize,
    sort_items: usize,
    /// The keys of each work-item of a sort, and the bits of a digit.
    sort_tile: usize,
    sort_bits: usize,
}

impl Sizes {
    fn new(size: Size) -> Self {
        let cpu = |elements| Self { elements, scan_items: 64, sort_items: 64, sort_tile: 4, sort_bits: 4 };
        match size {
            Size::Large => {
                Self { elements: 1 << 27, scan_items: 512, sort_items: 384, sort_tile: 16, sort_bits: 8 }
            }
            Size::Small => cpu(1 << 18),
            Size::Tiny => cpu(1 << 14),
        }
    }

    /// The kernels for these sizes.
    fn source(&self) -> String {
        let Self { scan_items, sort_items, sort_tile, sort_bits, .. } = self;
        format!(
            "#define SCAN_ITEMS {scan_items}\n#define SORT_ITEMS {sort_items}\n\
             #define KILN_SORT_TILE {sort_tile}\n#define KILN_SORT_BITS {sort_bits}\n{}",
            include_str!("../kernels/libraries.cl")
        )
    }
}

/// Work-groups of launches with any number of them. A GPU with 132 compute units runs all of them at the same time.
const GROUPS: usize = 528;

pub(crate) fn libraries(options: &Libraries) -> Result<(), String> {
    let kiln = Kiln::new(options.device.as_deref().unwrap_or_default())?;
    println!("kiln on {}", kiln.name());
    let cuda = match options.nvcc.as_deref() {
        Some("none") => None,
        Some(compiler) => Some(Cuda::new(compiler)?),
        None if Command::new("nvcc").arg("--version").output().is_ok() => Some(Cuda::new("nvcc")?),
        None => None,
    };
    let usual = if kiln.is_cpu() { Size::Small } else { Size::Large };
    let sizes = Sizes::new(options.size.unwrap_or(usual));
    println!("\n{} elements of 32 bits", sizes.elements);
    println!("milliseconds of device time, median (least) of {} runs\n", options.rounds);
    println!("{:<16} {:>22} {:>22} {:>14}", "operation", "kiln", "cuda", "cuda / kiln");
    let sub_group = kiln.device().capabilities().sub_groups.as_ref().ok_or("the device has no sub-groups")?;
    let source = sizes.source();
    let all = all(&source, &sizes, sub_group.max_size as usize);
    let wanted = all.iter().filter(|known| known.name.contains(&options.only));
    run::rows(wanted, "operations", |benchmark| {
        compare(benchmark, &kiln, cuda.as_ref(), sizes.elements, options.rounds)
    })
}

fn compare(
    benchmark: &Benchmark,
    kiln: &Kiln,
    cuda: Option<&Cuda>,
    elements: usize,
    rounds: usize,
) -> Result<Option<f64>, String> {
    let ours = measure(benchmark, kiln, rounds)?;
    let theirs = cuda.map(|cuda| cuda.run(benchmark.name, elements, rounds)).transpose()?;
    Ok(run::row(benchmark.name, &ours, theirs.as_deref()))
}

/// The time of the unmeasured runs. A GPU needs it to raise its clock rates.
const WARM_UP: Duration = Duration::from_millis(600);

/// The times of an operation on Kiln in seconds.
fn measure(benchmark: &Benchmark, kiln: &Kiln, rounds: usize) -> Result<Vec<f64>, String> {
    let mut running = kiln.prepare(benchmark)?;
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        running.run()?;
    }
    let times = (0..rounds).map(|_| running.run()).collect::<Result<Vec<f64>, String>>()?;
    (benchmark.check)(&running.result()?).map_err(|error| format!("kiln: {error}"))?;
    Ok(times)
}

/// The compiled CUDA program.
struct Cuda {
    folder: TempDir,
}

impl Cuda {
    fn new(compiler: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let cuda = Self { folder };
        let source = cuda.program().with_extension("cu");
        fs::write(&source, include_str!("../kernels/libraries.cu")).map_err(|error| error.to_string())?;
        let mut nvcc = Command::new(compiler);
        nvcc.args(["-O3", "-std=c++17", "-arch=native", "-o"]).arg(cuda.program()).arg(source);
        output(&mut nvcc)?;
        Ok(cuda)
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("libraries")
    }

    /// The times of an operation in seconds.
    fn run(&self, operation: &str, elements: usize, rounds: usize) -> Result<Vec<f64>, String> {
        let mut program = Command::new(self.program());
        program
            .arg(operation)
            .args([elements, WARM_UP.as_millis() as usize, rounds].map(|number| number.to_string()));
        let printed = output(&mut program)?;
        let milliseconds = printed.lines().map(str::parse).collect::<Result<Vec<f64>, _>>();
        let milliseconds = milliseconds.map_err(|_| format!("the CUDA program printed {printed}"))?;
        Ok(milliseconds.into_iter().map(|time| time / 1e3).collect())
    }
}

/// What a program prints, if it succeeds.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`{program}` fails: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// All operations, for a sub-group size.
fn all<'a>(source: &'a str, sizes: &Sizes, sub_group: usize) -> Vec<Benchmark<'a>> {
    let numbers = noise(sizes.elements);
    let total = numbers.iter().fold(0u32, |sum, number| sum.wrapping_add(*number));
    let benchmark = |name, buffers, steps, result, check| Benchmark {
        name,
        source,
        options: "",
        buffers,
        steps,
        result,
        check,
    };
    let (bytes, n) = (4 * sizes.elements, Uint(sizes.elements as u32));
    let zeros = || Contents::Zeros(bytes);
    let scan_groups = sizes.elements / (16 * sizes.scan_items);
    let scan_state = |groups: usize| Contents::Zeros(8 * (2 + 2 * groups));
    let scan = |kernel, groups| step(kernel, &[Buffer(0), Buffer(1), n, Buffer(2)], groups, sizes.scan_items);
    let last = numbers.len() - 1;
    let bins = bins(&numbers);
    vec![
        benchmark(
            "copy",
            vec![input(&numbers), zeros()],
            vec![step("copy", &[Buffer(0), Buffer(1)], sizes.elements / 4 / 256, 256)],
            1,
            starts_with(numbers[..256].to_vec()),
        ),
        benchmark(
            "scan",
            vec![input(&numbers), zeros(), scan_state(scan_groups)],
            vec![scan("scan", scan_groups)],
            1,
            Box::new(move |bytes| same("the last sum", words(bytes)[last], total)),
        ),
        benchmark(
            "reduction",
            vec![input(&numbers), Contents::Zeros(4), scan_state(GROUPS)],
            vec![scan("reduce", GROUPS)],
            1,
            starts_with(vec![total]),
        ),
        benchmark(
            "sort of keys",
            vec![input(&numbers), sort_state(sizes), zeros(), zeros()],
            sort(sizes, sub_group, false),
            3,
            is_sorted(total),
        ),
        // The values are the keys, so they must be sorted too.
        benchmark(
            "sort of pairs",
            vec![input(&numbers), sort_state(sizes), zeros(), zeros(), input(&numbers), zeros(), zeros()],
            sort(sizes, sub_group, true),
            6,
            is_sorted(total),
        ),
        benchmark(
            "histogram",
            vec![input(&numbers), Contents::Zeros(4 * 256)],
            vec![step("histogram", &[Buffer(0), n, Buffer(1)], GROUPS, 256)],
            1,
            starts_with(bins),
        ),
        benchmark(
            "random numbers",
            vec![zeros()],
            vec![step("random", &[Buffer(0)], sizes.elements / 4 / 256, 256)],
            0,
            // The published answer for a counter and a key of zeros.
            starts_with(vec![0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ),
    ]
}

fn step(kernel: &'static str, arguments: &[Argument], groups: usize, items: usize) -> Step {
    Step { kernel, arguments: arguments.to_vec(), global: [groups * items, 1], local: [items, 1] }
}

/// The number of tiles of a sort.
fn tiles(sizes: &Sizes) -> usize {
    sizes.elements.div_ceil(sizes.sort_items * sizes.sort_tile)
}

/// `KILN_SORT_STATE`
fn sort_state(sizes: &Sizes) -> Contents {
    let (digits, passes) = (1 << sizes.sort_bits, 32 / sizes.sort_bits);
    Contents::Zeros(4 * passes * (1 + digits * (2 + tiles(sizes))))
}

/// The launches of a sort. Buffers: keys, state, two of sorted keys; with values, also values and two of sorted values. The last
/// ones have the result, because the number of passes is even.
fn sort(sizes: &Sizes, sub_group: usize, has_values: bool) -> Vec<Step> {
    let (items, tiles, n) = (sizes.sort_items, tiles(sizes), Uint(sizes.elements as u32));
    let digits = 1 << sizes.sort_bits;
    // `KILN_SORT_SCRATCH`
    let scratch = Local(4 * (digits + 4 + items * sizes.sort_tile + digits * items.div_ceil(sub_group)));
    let mut steps = vec![
        step("sort_count", &[Buffer(0), n, Buffer(1), Uint(tiles as u32)], GROUPS, items),
        step("sort_starts", &[Buffer(1)], 1, items),
    ];
    for pass in 0..32 / sizes.sort_bits {
        // From the input to the first buffer, and then from one buffer to the other.
        let from_to = |input: usize, first: usize| {
            let to = first + pass % 2;
            [Buffer(if pass == 0 { input } else { first + (pass + 1) % 2 }), Buffer(to)]
        };
        let mut arguments = vec![Uint(pass as u32)];
        arguments.extend(from_to(0, 2));
        if has_values {
            arguments.extend(from_to(4, 5));
        }
        arguments.extend([n, Buffer(1), scratch]);
        steps.push(step(if has_values { "sort_pairs" } else { "sort_keys" }, &arguments, tiles, items));
    }
    steps
}

/// The counts of all bytes.
fn bins(numbers: &[u32]) -> Vec<u32> {
    let mut bins = vec![0; 256];
    for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
        bins[usize::from(byte)] += 1;
    }
    bins
}

fn starts_with(expected: Vec<u32>) -> Check {
    Box::new(move |bytes| {
        let found = words(&bytes[..4 * expected.len()]);
        (0..expected.len()).try_for_each(|i| same(&format!("element {i}"), found[i], expected[i]))
    })
}

/// Sorted numbers with this sum.
fn is_sorted(total: u32) -> Check {
    Box::new(move |bytes| {
        let found = words(bytes);
        if !found.is_sorted() {
            return Err("the numbers are not sorted".to_owned());
        }
        same("the sum", found.iter().fold(0u32, |sum, number| sum.wrapping_add(*number)), total)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs all operations on the reference device, which also reports races. Their results are checked.
    #[test]
    fn results_are_correct_on_the_reference_device() {
        let kiln = Kiln::new("reference").expect("the reference device is always there");
        let sizes = Sizes { elements: 1 << 12, ..Sizes::new(Size::Tiny) };
        let sub_group = kiln.device().capabilities().sub_groups.as_ref().expect("it has sub-groups");
        let source = sizes.source();
        for benchmark in all(&source, &sizes, sub_group.max_size as usize) {
            let mut running = kiln.prepare(&benchmark).unwrap_or_else(|error| panic!("{error}"));
            let time = running.run().unwrap_or_else(|error| panic!("{}: {error}", benchmark.name));
            assert!(time > 0.0, "{}", benchmark.name);
            let result = running.result().and_then(|bytes| (benchmark.check)(&bytes));
            assert_eq!(result, Ok(()), "{}", benchmark.name);
        }
    }
}
