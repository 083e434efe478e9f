//! `cargo xtask wheel`: the package for Python (runtime/python). Needs Python with pip, which downloads hatchling.

use std::{path::PathBuf, process::Command};

use clap::Args;

use super::Built;
use crate::{
    Outcome,
    process::{self, target_dir},
    root,
};

/// Where to write the wheel.
#[derive(Args)]
pub(crate) struct Wheel {
    /// The folder for the wheel [default: target/wheels]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    built: Built,
}

/// Makes the wheel of the command, the libraries and the Python sources.
pub(crate) fn wheel(wanted: &Wheel) -> Outcome {
    let output = wanted.output.clone().unwrap_or_else(|| target_dir().join("wheels"));
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "wheel", "--no-deps", "--wheel-dir"]).arg(output);
    process::run(command.arg(root().join("runtime/python")).env("KILN_BUILT", wanted.built.folder()?))
}
