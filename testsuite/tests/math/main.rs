//! Compares the math functions (OpenCL C 6.15.2) on the devices with MPFR, within the error bounds of OpenCL C 7.4: ten
//! thousand points each, including special values, extremes and random bit patterns.
//!
//! `cargo xtask test --nightly` uses 100,000 points, and all values of half.

mod accuracy;
mod conversions;
mod functions;
mod number;
mod options;
mod points;

use std::{collections::BTreeMap, env, process::ExitCode};

use accuracy::Judge;
use functions::{FUNCTIONS, Function};
use kiln_testsuite::{
    device::{self, Device, Facts},
    launch::{Input, Job, launch, rejected},
};
use libtest_mimic::Arguments;
use number::Kind;
use points::Points;

/// The number of functions that one process of `kiln run` launches.
const BATCH: usize = 6;

const TESTS: &[(&str, device::Test)] = &[
    ("float", |device| check(Kind::Float, device)),
    ("double", |device| check(Kind::Double, device)),
    ("half", |device| check(Kind::Half, device)),
    ("conversions::conversions", conversions::conversions),
    ("conversions::half_in_memory", conversions::half_in_memory),
    ("options::relaxed", options::relaxed),
    ("options::correctly_rounded_division_and_root", options::correctly_rounded_division_and_root),
];

fn main() -> ExitCode {
    let devices = device::all().filter(|device| !device.is_imprecise()).chain(device::imprecise());
    let trials = device::trials(devices, TESTS);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

impl Kind {
    /// Whether a device computes with it.
    fn is_offered(self, facts: &Facts) -> bool {
        match self {
            Self::Half => facts.fp16,
            Self::Float => true,
            Self::Double => facts.fp64,
        }
    }
}

fn check(kind: Kind, device: &'static Device) {
    if !kind.is_offered(device.facts()) {
        let input = Input::new(kind.argument(), kind.size(), &[kind.encode(1.0)]);
        let function = FUNCTIONS.iter().find(|it| it.arity() == 1).expect("there are such functions");
        let kernel = function.kernel(kind, 0, 1);
        let job = Job { kernel, out: kind.bits_argument(), per_item: 1, local: None };
        return rejected(device, kind.pragma(), &[job], &[input]);
    }
    // Denormal numbers may be flushed to zero unless the driver guarantees to preserve them.
    let is_known = device.facts().fp32_denormals && profile(device).is_empty() && !device.is_imprecise();
    let flushes = kind == Kind::Float && !is_known;
    let chosen = env::var("KILN_FUNCTION").ok();
    let functions: Vec<&Function> = FUNCTIONS
        .iter()
        .filter(|it| it.exists_for(kind) && chosen.as_ref().is_none_or(|name| it.name == name))
        .collect();
    let points = Points::new(kind);
    let mut report = BTreeMap::new();
    let mut failures = Vec::new();
    // Functions with the same number of operands share their points.
    for arity in 1..=3 {
        let alike: Vec<&Function> = functions.iter().copied().filter(|it| it.arity() == arity).collect();
        for batch in alike.chunks(BATCH) {
            let operands = points.operands(arity);
            let results = results(kind, device, batch, &operands);
            let judges: Vec<Judge> = std::thread::scope(|scope| {
                let workers: Vec<_> = batch
                    .iter()
                    .zip(&results)
                    .map(|(function, results)| {
                        let operands = &operands;
                        scope.spawn(move || Judge::new(kind, flushes, function, operands, results))
                    })
                    .collect();
                workers.into_iter().map(|worker| worker.join().expect("a judge does not panic")).collect()
            });
            for (function, judge) in batch.iter().zip(judges) {
                report.insert(function.call, (judge.worst, function.bound(kind)));
                failures.extend(judge.failures);
            }
        }
    }
    println!("{} functions of {} on {}:", report.len(), kind.name(), device.name);
    for (call, (worst, bound)) in &report {
        println!("  {call}: {worst:.3} of {bound}");
    }
    assert!(failures.is_empty(), "on {}:\n{}", device.name, failures.join("\n"));
}

/// The reference device for Vulkan runs what is compiled for NVIDIA's driver: functions that use precise instructions, and workarounds;
/// but it checks the domains of roots, so these are functions.
/// The other devices run the functions for drivers that guarantee no more than Vulkan does.
fn profile(device: &Device) -> &'static [&'static str] {
    if device.name == "vulkan-reference" { &["--device-profile", "nvidia"] } else { &[] }
}

/// The results of each function for all points, as bits.
fn results(kind: Kind, device: &Device, batch: &[&Function], operands: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let inputs: Vec<Input> =
        operands.iter().map(|values| Input::new(kind.argument(), kind.size(), values)).collect();
    let jobs: Vec<Job> = batch
        .iter()
        .enumerate()
        .map(|(number, function)| Job {
            kernel: function.kernel(kind, number, operands.len()),
            out: kind.bits_argument(),
            per_item: 1,
            local: None,
        })
        .collect();
    launch(device, profile(device), kind.pragma(), &jobs, &inputs)
}
