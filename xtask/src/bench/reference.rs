//! Compares the reference device with other implementations for CPUs: strict with Oclgrind, which detects the same
//! errors, and without checks with PoCL, which generates code.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{Outcome, process};

/// Oclgrind's ICD library, as Debian installs it.
const OCLGRIND: &str = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

/// The programs. Each runs in its own process, because Oclgrind crashes on some.
const PROGRAMS: [&str; 7] = ["histogram", "reduction", "scan", "matrix", "stencil", "n-body", "hash"];

/// Measures, and prints the tables.
pub(crate) fn reference() -> Outcome {
    let vendors = tempfile::tempdir().map_err(|e| e.to_string())?;
    fs::write(vendors.path().join("oclgrind.icd"), OCLGRIND).map_err(|e| e.to_string())?;
    println!(
        "with checks, compared with Oclgrind with --data-races --uninitialized; where that fails, with --data-races\n"
    );
    for program in PROGRAMS {
        let strict = |uninitialized: &str| {
            let tiny = ["--platform", "Oclgrind", "--size", "tiny", "--rounds", "3", "--only", program];
            let mut command = kernels(&tiny);
            command.env("OCL_ICD_VENDORS", vendors.path()).env("OCLGRIND_DATA_RACES", "1");
            command.env("OCLGRIND_UNINITIALIZED", uninitialized);
            table(&mut command)
        };
        match strict("1").or_else(|| strict("0").map(|row| row + "   (data races only)")) {
            Some(row) => println!("{row}"),
            None => println!("{program:<16} Oclgrind does not run it"),
        }
    }
    println!("\nwithout checks, compared with PoCL\n");
    let pocl = ["--platform", "Portable", "--size", "small", "--rounds", "5"];
    process::run(
        kernels(&pocl).env("OCL_ICD_VENDORS", Path::new("/etc/OpenCL/vendors")).env("KILN_CHECKS", "0"),
    )
}

/// The row of the measured program; `None` if the other implementation fails.
fn table(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut rows = text.lines().skip_while(|line| !line.starts_with("program")).skip(1);
    rows.next().filter(|row| output.status.success() && !row.is_empty()).map(str::to_owned)
}

fn kernels(options: &[&str]) -> Command {
    let mut cargo = process::cargo();
    cargo.args([
        "run",
        "--release",
        "--quiet",
        "--package",
        "kiln-bench",
        "--",
        "kernels",
        "--device",
        "reference",
    ]);
    cargo.args(options);
    cargo
}
