//! The reference device beside others that run kernels on the processor: strict beside Oclgrind, which looks for the same
//! mistakes, and without checks beside PoCL, which generates code.

use std::{fs, path::Path, process::Command};

use crate::{Outcome, process};

/// How Debian installs Oclgrind, as a library for OpenCL's loader.
const OCLGRIND: &str = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

/// Measures, and prints the tables.
pub(crate) fn reference() -> Outcome {
    let vendors = tempfile::tempdir().map_err(|e| e.to_string())?;
    fs::write(vendors.path().join("oclgrind.icd"), OCLGRIND).map_err(|e| e.to_string())?;
    println!("with checks, beside Oclgrind with --data-races --uninitialized\n");
    let strict = process::run(
        kernels(&["--platform", "Oclgrind", "--size", "tiny", "--rounds", "3"])
            .env("OCL_ICD_VENDORS", vendors.path())
            .env("OCLGRIND_DATA_RACES", "1")
            .env("OCLGRIND_UNINITIALIZED", "1"),
    );
    println!("\nwithout checks, beside PoCL\n");
    let pocl = ["--platform", "Portable", "--size", "small", "--rounds", "5"];
    process::run(
        kernels(&pocl).env("OCL_ICD_VENDORS", Path::new("/etc/OpenCL/vendors")).env("KILN_CHECKS", "0"),
    )?;
    strict
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
