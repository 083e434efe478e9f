//! The math functions (OpenCL C 6.15.2) on the devices, against values of MPFR, within the bounds of OpenCL C 7.4:
//! ten thousand points each, special ones, extremes and random bit patterns among them.
//!
//! `KILN_NIGHTLY=1` takes 100,000 points, and every number there is of half.

mod accuracy;
mod functions;
mod number;
mod points;

use std::{collections::BTreeMap, env, fs, path::Path};

use accuracy::{Device, Judge};
use functions::{FUNCTIONS, Function};
use kiln_testsuite::{device, kiln};
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
    let is_nightly = env::var_os("KILN_NIGHTLY").is_some();
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
            let results = launch(kind, device.name, batch, &operands);
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
fn launch(kind: Kind, device: &str, batch: &[&Function], operands: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let scratch = tempfile::tempdir().expect("a folder for files");
    let count = operands[0].len();
    let mut source = match kind {
        Kind::Half => "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n".to_owned(),
        Kind::Float => String::new(),
        Kind::Double => "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n".to_owned(),
    };
    for (number, function) in batch.iter().enumerate() {
        source += &function.kernel(kind, number, operands.len());
    }
    let file = scratch.path().join("k.cl");
    fs::write(&file, &source).expect("a file can be written");
    let mut command = kiln::command();
    device::Device::named(device).expect("a device").only(&mut command).expect("the driver is installed");
    command.arg("run").arg(&file).args(["-cl-std=CL3.0", "--timeout", "100"]);
    for number in 0..batch.len() {
        if number > 0 {
            command.arg("then");
        }
        command.args(["--kernel", &format!("k{number}"), "--global", &count.to_string()]);
        command.args(["--arg", &format!("buf:{}[{count}]", kind.bits_argument())]);
        for (index, values) in operands.iter().enumerate() {
            let name = ["a", "b", "c"][index];
            if number > 0 {
                command.args(["--arg", name]);
            } else {
                let path = scratch.path().join(name);
                write(&path, kind, values);
                command.args(["--arg", &format!("buf:{}[{count}]=file:{}", kind.argument(), path.display())]);
            }
        }
        command.args(["--print", &format!("out[0..{count}]")]);
    }
    let finished = device::launch(&mut command).expect("kiln runs");
    assert!(finished.status.success(), "{}\n{source}", finished.stderr);
    let text = String::from_utf8(finished.stdout).expect("numbers are text");
    text.lines()
        .map(|line| {
            let (_, numbers) = line.split_once('=').expect("a line of numbers");
            numbers.split_whitespace().map(|it| it.parse().expect("bits")).collect()
        })
        .collect()
}

fn write(path: &Path, kind: Kind, values: &[u64]) {
    let bytes: Vec<u8> = values.iter().flat_map(|bits| bits.to_le_bytes()[..kind.size()].to_vec()).collect();
    fs::write(path, bytes).expect("a file can be written");
}
