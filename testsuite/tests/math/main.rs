//! The math functions (OpenCL C 6.15.2) on the devices, against values of MPFR, within the bounds of OpenCL C 7.4:
//! ten thousand points each, special ones, extremes and random bit patterns among them.
//!
//! `cargo xtask test --nightly` takes 100,000 points, and every number there is of half.

mod accuracy;
mod conversions;
mod functions;
mod number;
mod options;
mod points;

use std::{collections::BTreeMap, env};

use accuracy::{Device, Judge};
use functions::{FUNCTIONS, Function};
use kiln_testsuite::launch::{Input, Job, launch};
use number::Kind;
use points::Points;

/// How many functions a process of `kiln run` launches.
const BATCH: usize = 6;

#[test]
fn float_on_lavapipe() {
    check(Kind::Float, Device { name: "lavapipe", flushes: false });
}

#[test]
fn float_on_swiftshader() {
    check(Kind::Float, Device { name: "swiftshader", flushes: true });
}

#[test]
fn double_on_lavapipe() {
    check(Kind::Double, Device { name: "lavapipe", flushes: false });
}

#[test]
fn half_on_lavapipe() {
    check(Kind::Half, Device { name: "lavapipe", flushes: false });
}

fn check(kind: Kind, device: Device) {
    let is_nightly = env::var_os("KILN_NIGHTLY").is_some_and(|it| it == "1");
    let chosen = env::var("KILN_FUNCTION").ok();
    let functions: Vec<&Function> = FUNCTIONS
        .iter()
        .filter(|it| it.exists_for(kind) && chosen.as_ref().is_none_or(|name| it.name == name))
        .collect();
    let points = Points::new(kind, is_nightly);
    let mut report = BTreeMap::new();
    let mut failures = Vec::new();
    // Those of as many operands share their points.
    for arity in 1..=3 {
        let alike: Vec<&Function> = functions.iter().copied().filter(|it| it.arity() == arity).collect();
        for batch in alike.chunks(BATCH) {
            let operands = points.operands(arity);
            let results = results(kind, device.name, batch, &operands);
            let judges: Vec<Judge> = std::thread::scope(|scope| {
                let workers: Vec<_> = batch
                    .iter()
                    .zip(&results)
                    .map(|(function, results)| {
                        let operands = &operands;
                        scope.spawn(move || Judge::of(kind, device, function, operands, results))
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

/// What each function gives for every point, as bits.
fn results(kind: Kind, device: &str, batch: &[&Function], operands: &[Vec<u64>]) -> Vec<Vec<u64>> {
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
    launch(device, &[], kind.pragma(), &jobs, &inputs)
}
