//! `kiln-oracle FILE`: one launch as by `kiln run`, on the OpenCL of others, from source (`.cl`) or from a module of ours
//! (`.spv`).
//!
//! It owns the boundary to OpenCL's C interface. It must never know how Kiln compiles: what it says is held against
//! what Kiln says. Which OpenCL it sees, the loader's environment decides (`OCL_ICD_VENDORS`).

mod exit;
#[path = "../../../compiler/cli/src/run/fill.rs"]
mod fill;
mod launch;
mod names;
mod opencl;
#[path = "../../../compiler/cli/src/run/value.rs"]
mod value;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Parser;

use crate::exit::Failure;

/// Runs a kernel of an OpenCL C source, or of a SPIR-V module, on the OpenCL of others. The options of the launch are
/// those of `kiln run`.
#[derive(Parser)]
#[command(name = "kiln-oracle")]
struct Arguments {
    /// The source, or a module whose name ends in `.spv`
    file: PathBuf,
    /// A part of the platform's name
    #[arg(long, default_value = "")]
    platform: String,
    /// Options of clBuildProgram
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
    #[command(flatten)]
    launch: launch::Launch,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            eprintln!("kiln-oracle: error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = &arguments.file;
    let bytes = fs::read(file).map_err(|e| Failure(format!("cannot read `{}`: {e}", file.display())))?;
    let is_module = file.extension().is_some_and(|ending| ending == "spv");
    let platform = opencl::Platform::find(&arguments.platform)?;
    let program = if is_module {
        platform.load(&bytes, &arguments.options)?
    } else {
        platform.compile(&String::from_utf8_lossy(&bytes), &arguments.options)?
    };
    launch::launch(&program, &arguments.launch)
}
