//! What is promised: the size of the binary, what `kiln check` takes, what a build of `kiln-build` takes. A promise that is broken
//! is a failure.

use std::{fs, path::Path, process::Command};

use super::compile::{cpu_time, examples, median};
use crate::{Outcome, process};

/// A kernel of so many lines is checked.
const LINES: usize = 200;
const ROUNDS: usize = 9;
/// The clock of some kernels is coarser than one run of Kiln.
const RUNS: u32 = 10;

/// Measures, and compares with what is promised.
pub(crate) fn budgets() -> Outcome {
    let kiln = process::release_kiln()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = scratch.path().join("long.cl");
    fs::write(&source, long_source()?).map_err(|e| e.to_string())?;
    let mut broken = Vec::new();
    let mut hold = |what: &str, value: f64, most: f64, unit: &str| {
        println!("{what:<48} {value:8.1} {unit:<3} of {most:.0} {unit}");
        if value > most {
            broken.push(what.to_owned());
        }
    };
    let size = fs::metadata(&kiln).map_err(|e| e.to_string())?.len();
    hold("the binary", size as f64 / 1e6, 15.0, "MB");
    let check = || (0..RUNS).try_for_each(|_| process::run(Command::new(&kiln).arg("check").arg(&source)));
    let times = (0..ROUNDS).map(|_| Ok(cpu_time(check)? / RUNS)).collect::<Result<Vec<_>, String>>()?;
    hold("`kiln check` of 200 lines, processor time", median(times).as_secs_f64() * 1e3, 5.0, "ms");
    hold("`kiln check` of 200 lines, memory", peak_memory(&kiln, &source)? / 1e3, 20.0, "MB");
    let target = scratch.path().join("target");
    let build = cpu_time(|| {
        let words = ["build", "--quiet", "--package", "kiln-build", "--target-dir"];
        process::run(process::cargo().args(words).arg(&target))
    })?;
    hold("a clean build of kiln-build, processor time", build.as_secs_f64(), 45.0, "s");
    if broken.is_empty() { Ok(()) } else { Err(format!("too much: {}", broken.join(", "))) }
}

/// The examples, one behind the other.
fn long_source() -> Result<String, String> {
    let mut text = String::new();
    for path in examples()? {
        text.push_str(
            &fs::read_to_string(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?,
        );
    }
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() < LINES {
        return Err(format!("the examples have {} lines", lines.len()));
    }
    // Whole kernels only: up to the first end of a function behind the line wanted.
    let end = (LINES..lines.len()).find(|&line| lines[line] == "}").map_or(lines.len(), |line| line + 1);
    Ok(lines[..end].join("\n") + "\n")
}

/// The most memory that a check has, in kilobytes; GNU time tells it.
fn peak_memory(kiln: &Path, source: &Path) -> Result<f64, String> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["--format", "%M"]).arg(kiln).arg("check").arg(source);
    let output = command.output().map_err(|e| format!("cannot start /usr/bin/time: {e}"))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    told.trim().parse().map_err(|_| format!("/usr/bin/time tells no number: {told}"))
}
