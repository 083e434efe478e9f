//! The seven benchmark kernels, their sizes and their results.
//!
//! Owns the launches as data. Must not depend on the implementation that runs them.

use bytemuck::{Pod, cast_slice};

/// A program to measure.
pub(crate) struct Benchmark<'a> {
    pub(crate) name: &'static str,
    pub(crate) source: &'a str,
    /// Options of `clBuildProgram` for others than Kiln.
    pub(crate) options: &'static str,
    pub(crate) buffers: Vec<Contents>,
    /// Launched in sequence; their times add up.
    pub(crate) steps: Vec<Step>,
    /// The buffer with the result, and the function that checks it.
    pub(crate) result: usize,
    pub(crate) check: Check,
}

/// Judges the bytes of a result; an error is a sentence.
pub(crate) type Check = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// The contents of a buffer before each run.
pub(crate) enum Contents {
    /// Written once and never changed.
    Input(Vec<u8>),
    /// Zeros of this many bytes, before each run.
    Zeros(usize),
    /// A two-dimensional RGBA image with 8 bits for each channel. Written once.
    Image { size: [usize; 2], texels: Vec<u8> },
}

/// A launch.
pub(crate) struct Step {
    pub(crate) kernel: &'static str,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) global: [usize; 2],
    pub(crate) local: [usize; 2],
}

/// An argument of a launch.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    /// A buffer or an image.
    Buffer(usize),
    Uint(u32),
    /// Local memory of this many bytes.
    Local(usize),
}

use Argument::{Buffer, Local, Uint};

/// The problem size.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Size {
    /// For an interpreter
    Tiny,
    /// For a CPU
    Small,
    /// For a GPU
    Large,
}

/// All programs. `cargo xtask bench reference` also uses their names.
pub(crate) fn all(size: Size) -> Vec<Benchmark<'static>> {
    let pick = |large, small, tiny| match size {
        Size::Large => large,
        Size::Small => small,
        Size::Tiny => tiny,
    };
    vec![
        histogram(pick(1 << 26, 1 << 18, 1 << 16)),
        reduction(pick(1 << 28, 1 << 20, 1 << 16)),
        scan(pick(1 << 26, 1 << 19, 1 << 14)),
        matrix_product(pick(4096, 128, 64)),
        stencil(pick(16384, 512, 64)),
        n_body(pick(1 << 16, 1 << 10, 1 << 8)),
        hash(pick(1 << 26, 1 << 15, 1 << 13)),
    ]
}

/// Numbers without a pattern, the same in every run.
pub(crate) fn noise(count: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    (0..count).map(|_| next()).collect()
}

fn noise_of_floats(count: usize) -> Vec<f32> {
    noise(count).into_iter().map(|bits| (bits >> 8) as f32 / (1 << 24) as f32 - 0.5).collect()
}

pub(crate) fn input<T: Pod>(values: &[T]) -> Contents {
    Contents::Input(cast_slice(values).to_vec())
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    words(bytes).into_iter().map(f32::from_bits).collect()
}

pub(crate) fn same(what: &str, found: u32, expected: u32) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found}, not {expected}")) }
}

fn near(what: &str, found: f32, expected: f64, scale: f64) -> Result<(), String> {
    let distance = (f64::from(found) - expected).abs();
    if distance <= 1e-4 * scale { Ok(()) } else { Err(format!("{what} is {found}, not {expected}")) }
}

fn histogram(count: usize) -> Benchmark<'static> {
    let data = noise(count);
    let mut expected = [0u32; 256];
    for byte in cast_slice::<u32, u8>(&data) {
        expected[usize::from(*byte)] += 1;
    }
    Benchmark {
        name: "histogram",
        source: include_str!("../kernels/histogram.cl"),
        options: "",
        buffers: vec![input(&data), Contents::Zeros(1024)],
        steps: vec![Step {
            kernel: "histogram",
            arguments: vec![Buffer(0), Uint(count as u32), Buffer(1)],
            global: [(count / 64).min(1 << 18), 1],
            local: [256, 1],
        }],
        result: 1,
        check: Box::new(move |bytes| {
            let found = words(bytes);
            (0..256).try_for_each(|bin| same(&format!("bin {bin}"), found[bin], expected[bin]))
        }),
    }
}

fn reduction(count: usize) -> Benchmark<'static> {
    let data = noise(count);
    let total = data.iter().fold(0u32, |sum, value| sum.wrapping_add(*value));
    let groups = (count / 4 / 256).min(2048);
    let local = Local(4 * 256);
    Benchmark {
        name: "reduction",
        source: include_str!("../kernels/reduction.cl"),
        options: "",
        buffers: vec![input(&data), Contents::Zeros(4 * groups), Contents::Zeros(4)],
        steps: vec![
            Step {
                kernel: "reduction",
                arguments: vec![Buffer(0), Uint(count as u32 / 4), Buffer(1), local],
                global: [groups * 256, 1],
                local: [256, 1],
            },
            Step {
                kernel: "reduction_of_sums",
                arguments: vec![Buffer(1), Uint(groups as u32), Buffer(2), local],
                global: [256, 1],
                local: [256, 1],
            },
        ],
        result: 2,
        check: Box::new(move |bytes| same("the sum", words(bytes)[0], total)),
    }
}

fn scan(count: usize) -> Benchmark<'static> {
    let data = noise(count);
    let groups = count / 4 / 256;
    let local = Local(4 * 256);
    let (blocks, adds) = ("scan_blocks", "add_sums");
    let mut sum = 0u32;
    let expected: Vec<u32> = data
        .iter()
        .map(|value| {
            sum = sum.wrapping_add(*value);
            sum
        })
        .collect();
    Benchmark {
        name: "scan",
        source: include_str!("../kernels/scan.cl"),
        options: "",
        buffers: vec![input(&data), Contents::Zeros(4 * count), Contents::Zeros(4 * groups)],
        steps: vec![
            Step {
                kernel: blocks,
                arguments: vec![Buffer(0), Buffer(1), Buffer(2), local],
                global: [count / 4, 1],
                local: [256, 1],
            },
            Step {
                kernel: "scan_sums",
                arguments: vec![Buffer(2), Uint(groups as u32), local],
                global: [256, 1],
                local: [256, 1],
            },
            Step {
                kernel: adds,
                arguments: vec![Buffer(1), Buffer(2)],
                global: [count / 4, 1],
                local: [256, 1],
            },
        ],
        result: 1,
        check: Box::new(move |bytes| {
            let found = words(bytes);
            (0..expected.len()).try_for_each(|i| same(&format!("element {i}"), found[i], expected[i]))
        }),
    }
}

fn matrix_product(size: usize) -> Benchmark<'static> {
    let (a, b) = (noise_of_floats(size * size), noise_of_floats(size * size + 1)[1..].to_vec());
    let buffers = vec![input(&a), input(&b), Contents::Zeros(4 * size * size)];
    Benchmark {
        name: "matrix product",
        source: include_str!("../kernels/matrix_product.cl"),
        options: "",
        buffers,
        steps: vec![Step {
            kernel: "matrix_product",
            arguments: vec![Buffer(0), Buffer(1), Buffer(2), Uint(size as u32)],
            global: [size / 4, size / 4],
            local: [16, 16],
        }],
        result: 2,
        check: Box::new(move |bytes| {
            let found = floats(bytes);
            // A sample of the elements, because checking all of them would be slow.
            (0..size * size).step_by(size * size / 500 + 7).try_for_each(|at| {
                let (row, column) = (at / size, at % size);
                let products =
                    (0..size).map(|k| f64::from(a[row * size + k]) * f64::from(b[k * size + column]));
                near(&format!("element {at}"), found[at], products.sum(), size as f64 / 10.0)
            })
        }),
    }
}

fn stencil(size: usize) -> Benchmark<'static> {
    let grid = noise_of_floats(size * size);
    let buffers = vec![input(&grid), Contents::Zeros(4 * size * size)];
    Benchmark {
        name: "stencil",
        source: include_str!("../kernels/stencil.cl"),
        options: "",
        buffers,
        steps: vec![Step {
            kernel: "stencil",
            arguments: vec![Buffer(0), Buffer(1), Uint(size as u32), Uint(size as u32)],
            global: [size, size],
            local: [32, 8],
        }],
        result: 1,
        check: Box::new(move |bytes| {
            let found = floats(bytes);
            let inside = |at: usize, by: i64| (at as i64 + by).clamp(0, size as i64 - 1) as usize;
            (0..size * size).step_by(size * size / 5000 + 7).try_for_each(|at| {
                let of = |dx, dy| f64::from(grid[inside(at / size, dy) * size + inside(at % size, dx)]);
                let near_sum = of(0, -1) + of(0, 1) + of(-1, 0) + of(1, 0);
                let far_sum = of(-1, -1) + of(1, -1) + of(-1, 1) + of(1, 1);
                let expected = 0.5 * of(0, 0) + 0.1 * near_sum + 0.025 * far_sum;
                near(&format!("point {at}"), found[at], expected, 1.0)
            })
        }),
    }
}

fn n_body(count: usize) -> Benchmark<'static> {
    let mut bodies = noise_of_floats(4 * count);
    // Masses are positive.
    bodies.iter_mut().skip(3).step_by(4).for_each(|mass| *mass += 0.6);
    Benchmark {
        name: "n-body",
        source: include_str!("../kernels/n_body.cl"),
        options: "",
        buffers: vec![input(&bodies), Contents::Zeros(16 * count)],
        steps: vec![Step {
            kernel: "n_body",
            arguments: vec![Buffer(0), Buffer(1), Uint(count as u32), Local(16 * 256)],
            global: [count, 1],
            local: [256, 1],
        }],
        result: 1,
        check: Box::new(move |bytes| {
            let found = floats(bytes);
            let of = |body: usize, axis: usize| f64::from(bodies[4 * body + axis]);
            (0..count).step_by(count / 50 + 3).try_for_each(|me| {
                let mut sum = [0.0; 3];
                for other in 0..count {
                    let way = [0, 1, 2].map(|axis| of(other, axis) - of(me, axis));
                    let square: f64 = way.iter().map(|x| x * x).sum::<f64>() + 0.01;
                    for axis in 0..3 {
                        sum[axis] += way[axis] * of(other, 3) / (square * square.sqrt());
                    }
                }
                (0..3).try_for_each(|axis| {
                    near(&format!("body {me}"), found[4 * me + axis], sum[axis], count as f64 / 4.0)
                })
            })
        }),
    }
}

fn hash(count: usize) -> Benchmark<'static> {
    // The first words of the digests, from sha256sum.
    const KNOWN: [(usize, u32); 4] =
        [(0, 0xdf3f_6198), (1, 0xb407_11a8), (0x1234, 0x965d_885d), (0x7fff, 0x0ef5_8c18)];
    Benchmark {
        name: "hash",
        source: include_str!("../kernels/hash.cl"),
        options: "",
        buffers: vec![Contents::Zeros(4 * count)],
        steps: vec![Step { kernel: "hash", arguments: vec![Buffer(0)], global: [count, 1], local: [256, 1] }],
        result: 0,
        check: Box::new(|bytes| {
            let found = words(bytes);
            let mut known = KNOWN.iter().filter(|(at, _)| *at < found.len());
            known.try_for_each(|(at, digest)| same(&format!("digest {at}"), found[*at], *digest))
        }),
    }
}
