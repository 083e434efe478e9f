//! The performance budgets: the size of the binary, the cost of `kiln check`, and the cost of building `kiln-build`.
//! Exceeding one is a failure.

use std::{fs, path::Path, process::Command};

use super::compile::{cpu_time, examples, median};
use crate::{Outcome, process, root};

/// The number of lines of the checked source.
const LINES: usize = 200;
const ROUNDS: usize = 9;
/// Runs per measurement, because some systems' CPU clock is coarser than one run of Kiln.
const RUNS: u32 = 10;

/// Measures, and compares the results with the budgets.
pub(crate) fn budgets() -> Outcome {
    let kiln = process::release_kiln()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = scratch.path().join("long.cl");
    fs::write(&source, long_source()?).map_err(|e| e.to_string())?;
    let mut broken = Vec::new();
    let mut hold = |what: &str, value: f64, max: f64, unit: &str| {
        println!("{what:<48} {value:8.1} {unit:<3} of {max:.0} {unit}");
        if value > max {
            broken.push(what.to_owned());
        }
    };
    let size = fs::metadata(&kiln).map_err(|e| e.to_string())?.len();
    hold("the binary", size as f64 / 1e6, 15.0, "MB");
    let check = || (0..RUNS).try_for_each(|_| process::run(Command::new(&kiln).arg("check").arg(&source)));
    let times = (0..ROUNDS).map(|_| Ok(cpu_time(check)? / RUNS)).collect::<Result<Vec<_>, String>>()?;
    hold("`kiln check` of 200 lines, processor time", median(times).as_secs_f64() * 1e3, 5.0, "ms");
    hold("`kiln check` of 200 lines, memory", peak_memory(&kiln, &source)? / 1e3, 20.0, "MB");
    let build = cpu_time(|| build_of_a_user(scratch.path()))?;
    hold("a clean build with kiln-build, processor time", build.as_secs_f64(), 45.0, "s");
    if broken.is_empty() { Ok(()) } else { Err(format!("too much: {}", broken.join(", "))) }
}

/// Builds a crate that contains only a build script, with cargo's default profile, as a user would.
fn build_of_a_user(folder: &Path) -> Outcome {
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).map_err(|e| format!("cannot write `{name}`: {e}"))
    };
    let packages = root().join("compiler/build");
    let manifest = format!(
        "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[build-dependencies]\n\
         kiln-build = {{ path = \"{}\" }}\n\n[workspace]\n",
        packages.display()
    );
    write("Cargo.toml", &manifest)?;
    write(
        "build.rs",
        "fn main() -> kiln_build::Result {\n    kiln_build::Builder::new().file(\"long.cl\").compile()\n}\n",
    )?;
    fs::create_dir_all(folder.join("src")).map_err(|e| e.to_string())?;
    write("src/lib.rs", "")?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(|e| e.to_string())?;
    let words = ["build", "--quiet", "--target-dir", "target"];
    process::run(process::cargo().args(words).current_dir(folder))
}

/// The concatenated examples.
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
    // Cuts at the first end of a function after the requested line.
    let end = (LINES..lines.len()).find(|&line| lines[line] == "}").map_or(lines.len(), |line| line + 1);
    Ok(lines[..end].join("\n") + "\n")
}

/// The peak memory of a check in kilobytes, measured by GNU time.
fn peak_memory(kiln: &Path, source: &Path) -> Result<f64, String> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["--format", "%M"]).arg(kiln).arg("check").arg(source);
    let output = command.output().map_err(|e| format!("cannot start /usr/bin/time: {e}"))?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    printed.trim().parse().map_err(|_| format!("/usr/bin/time printed no number: {printed}"))
}
