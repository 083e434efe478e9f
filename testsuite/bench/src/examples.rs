//! The examples as benchmarks: the launches in their comments, and their results.
//!
//! They are small: they measure the cost of starting a kernel and of waiting, rather than of computing. Must not depend on
//! the implementation that runs them.

use crate::kernels::Argument::{self, Buffer, Uint};
use crate::kernels::{Benchmark, Contents, Step, input, same, words};

/// An example of one launch.
struct Example {
    name: &'static str,
    source: &'static str,
    kernel: &'static str,
    /// The arguments, if they are not the buffers in order.
    values: &'static [Argument],
    buffers: Vec<Contents>,
    /// Work-items, and of a work-group.
    sizes: [usize; 2],
    /// The checked buffer, and its initial contents.
    result: (usize, Vec<u32>),
}

/// All examples.
pub(crate) fn all() -> Vec<Benchmark<'static>> {
    let zeros = |words: usize| Contents::Zeros(4 * words);
    let iota: Vec<u32> = (0..65536).collect();
    let falling: Vec<i32> = (0..256).map(|i| 1000 - 3 * i).collect();
    let exchanged = (0..256u32).map(|i| if i % 64 == 63 { 0 } else { 10 * (i + 1) }).collect();
    let mut all: Vec<Benchmark<'static>> = vec![
        Example {
            name: "device_latch",
            source: include_str!("../../../examples/device_latch/device_latch.cl"),
            kernel: "latch",
            values: &[],
            buffers: vec![zeros(16), zeros(16), zeros(1)],
            sizes: [16, 8],
            result: (1, (1001..=1016).rev().collect()),
        },
        Example {
            name: "histogram",
            source: include_str!("../../../examples/histogram/histogram.cl"),
            kernel: "histogram",
            values: &[Buffer(0), Uint(65536), Buffer(1)],
            buffers: vec![input(&iota), zeros(16)],
            sizes: [65536, 256],
            result: (1, vec![4096; 16]),
        },
        Example {
            name: "lost_update",
            source: include_str!("../../../examples/lost_update/lost_update.cl"),
            kernel: "repaired",
            values: &[],
            buffers: vec![zeros(1)],
            sizes: [4096, 64],
            result: (0, vec![4096]),
        },
        Example {
            name: "message_passing",
            source: include_str!("../../../examples/message_passing/message_passing.cl"),
            kernel: "by_order",
            values: &[],
            buffers: vec![zeros(8), zeros(1), zeros(8)],
            sizes: [16, 8],
            result: (2, (100..108).collect()),
        },
        Example {
            name: "running_minimum",
            source: include_str!("../../../examples/running_minimum/running_minimum.cl"),
            kernel: "running_minimum",
            values: &[],
            buffers: vec![input(&falling), zeros(4), zeros(4)],
            sizes: [256, 64],
            result: (1, vec![811, 619, 427, 235]),
        },
        Example {
            name: "spin_lock",
            source: include_str!("../../../examples/spin_lock/spin_lock.cl"),
            kernel: "count",
            values: &[],
            buffers: vec![zeros(1), zeros(2)],
            sizes: [64, 8],
            result: (1, vec![80, 80u32.wrapping_neg()]),
        },
        Example {
            name: "two_phase_barrier",
            source: include_str!("../../../examples/two_phase_barrier/two_phase_barrier.cl"),
            kernel: "exchange",
            values: &[],
            buffers: vec![zeros(256), zeros(256)],
            sizes: [256, 64],
            result: (1, exchanged),
        },
    ]
    .into_iter()
    .map(Benchmark::from)
    .collect();
    all.push(compare_exchange());
    all
}

/// The only example with two launches.
fn compare_exchange() -> Benchmark<'static> {
    let step = |kernel, arguments: Vec<Argument>, items, local| Step {
        kernel,
        arguments,
        global: [items, 1],
        local: [local, 1],
    };
    Benchmark {
        name: "compare_exchange",
        source: include_str!("../../../examples/compare_exchange/compare_exchange.cl"),
        options: OPTIONS,
        buffers: [1, 256, 2].map(|words| Contents::Zeros(4 * words)).into(),
        steps: vec![
            step("push", vec![Buffer(0), Buffer(1)], 256, 8),
            step("walk", vec![Buffer(0), Buffer(1), Buffer(2)], 1, 1),
        ],
        result: 2,
        check: check(vec![256, 32896]),
    }
}

/// Orders and scopes require OpenCL C 2.0 or later, which other drivers compile only on request.
const OPTIONS: &str = "-cl-std=CL3.0";

impl From<Example> for Benchmark<'static> {
    fn from(example: Example) -> Self {
        let (result, expected) = example.result;
        let arguments = match example.values {
            [] => (0..example.buffers.len()).map(Buffer).collect(),
            values => values.to_vec(),
        };
        let [items, local] = example.sizes;
        let step = Step { kernel: example.kernel, arguments, global: [items, 1], local: [local, 1] };
        Self {
            name: example.name,
            source: example.source,
            options: OPTIONS,
            buffers: example.buffers,
            steps: vec![step],
            result,
            check: check(expected),
        }
    }
}

fn check(expected: Vec<u32>) -> crate::kernels::Check {
    Box::new(move |bytes| {
        let found = words(bytes);
        (0..expected.len()).try_for_each(|i| same(&format!("element {i}"), found[i], expected[i]))
    })
}
