//! `cargo xtask litmus-sets`: compares the memory models with published verdicts of litmus tests.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use kiln_testsuite::{kiln, litmus::sets::Sets};

/// Compares the memory models with published verdicts of litmus tests
#[derive(Parser)]
struct Arguments {
    /// Checkout of github.com/hernanponcedeleon/Dat3M
    dat3m: Option<PathBuf>,
    /// Checkout of github.com/KhronosGroup/Vulkan-MemoryModel
    #[arg(long)]
    khronos: Option<PathBuf>,
    /// Binary to use for the tests in OpenCL C [default: that of the same build]
    #[arg(long)]
    kiln: Option<PathBuf>,
    /// Compares only the lists, or the SPIR-V modules, whose names contain this
    #[arg(long, default_value = "")]
    filter: String,
    /// Number of candidate executions to check of a SPIR-V module
    #[arg(long, default_value_t = 2_000_000)]
    budget: u64,
}

fn main() -> ExitCode {
    let Arguments { dat3m, khronos, kiln, filter, budget } = Arguments::parse();
    let sets = Sets { dat3m, khronos, kiln: kiln.unwrap_or_else(kiln::binary), filter, budget };
    match sets.compare() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
