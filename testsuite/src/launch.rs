//! Launches the kernels of one program, each with one work-item per input item.

use std::fs;

use crate::{
    device::{self, Device},
    kiln,
    process::Finished,
};

/// A kernel `kN(out, a, b, c)`, where N is its index in the list.
#[derive(Debug)]
pub struct Job {
    /// The kernel's source.
    pub kernel: String,
    /// The type of its results: an unsigned integer.
    pub out: &'static str,
    /// The number of results for each item.
    pub per_item: usize,
    /// The work-group size; `None` lets the device choose.
    pub local: Option<usize>,
}

/// An input buffer of all kernels.
#[derive(Debug)]
pub struct Input {
    ty: &'static str,
    bytes: Vec<u8>,
    count: usize,
}

impl Input {
    /// An input with the low bytes of each number.
    pub fn new(ty: &'static str, size: usize, values: &[u64]) -> Self {
        let bytes = values.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect();
        Self { ty, bytes, count: values.len() }
    }
}

/// Returns the results of each kernel. The device must run it; `options` are those of `kiln run`.
pub fn launch(
    device: &Device,
    options: &[&str],
    prelude: &str,
    jobs: &[Job],
    inputs: &[Input],
) -> Vec<Vec<u64>> {
    let finished = run(device, options, prelude, jobs, inputs);
    let kernels = || jobs.iter().map(|job| job.kernel.as_str()).collect::<String>();
    assert!(finished.status.success(), "{}\n{}", finished.stderr, kernels());
    let text = String::from_utf8(finished.stdout).expect("numbers are text");
    let results: Vec<Vec<u64>> = text
        .lines()
        .map(|line| {
            let (_, numbers) = line.split_once('=').expect("a line of numbers");
            numbers.split_whitespace().map(|it| it.parse().expect("bits")).collect()
        })
        .collect();
    assert_eq!(results.len(), jobs.len(), "every launch prints a line");
    results
}

/// Checks that a launch is rejected because the device lacks a feature.
pub fn rejected(device: &Device, prelude: &str, jobs: &[Job], inputs: &[Input]) {
    let finished = run(device, &[], prelude, jobs, inputs);
    let names_feature = !finished.status.success() && device::lacks_a_feature(&finished.stderr);
    assert!(names_feature, "{} should name a missing feature, but prints\n{}", device.name, finished.stderr);
}

fn run(device: &Device, options: &[&str], prelude: &str, jobs: &[Job], inputs: &[Input]) -> Finished {
    let scratch = tempfile::tempdir().expect("a folder for files");
    let items = inputs[0].count;
    let source = prelude.to_owned() + &jobs.iter().map(|job| job.kernel.as_str()).collect::<String>();
    let file = scratch.path().join("k.cl");
    fs::write(&file, &source).expect("a file can be written");
    let mut command = kiln::command();
    device.only(&mut command).expect("the driver is installed");
    command.arg("run").arg(&file).args(["-cl-std=CL3.0", "--timeout", "100"]).args(options);
    for (number, job) in jobs.iter().enumerate() {
        if number > 0 {
            command.arg("then");
        }
        let written = items * job.per_item;
        command.args(["--kernel", &format!("k{number}"), "--global", &items.to_string()]);
        if let Some(local) = job.local {
            command.args(["--local", &local.to_string()]);
        }
        command.args(["--arg", &format!("raw:{}[{written}]", job.out)]);
        for (input, name) in inputs.iter().zip(["a", "b", "c"]) {
            if number > 0 {
                command.args(["--arg", name]);
                continue;
            }
            let path = scratch.path().join(name);
            fs::write(&path, &input.bytes).expect("a file can be written");
            let argument = format!("raw:{}[{}]=file:{}", input.ty, input.count, path.display());
            command.args(["--arg", &argument]);
        }
        command.args(["--print", &format!("out[0..{written}]")]);
    }
    device::launch(&mut command).expect("kiln runs")
}
