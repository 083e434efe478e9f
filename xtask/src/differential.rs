//! `cargo xtask differential` and `cargo xtask oracle`: programs of the test suite that are run by hand.

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, run},
};

/// What the program is told.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Words {
    /// See `--help` of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Random programs on Kiln and on the OpenCL of others.
pub(crate) fn differential(given: &Words) -> Outcome {
    program("differential", given)
}

/// One program on the OpenCL of others.
pub(crate) fn oracle(given: &Words) -> Outcome {
    program("oracle", given)
}

/// The programs with one defect each, beside Oclgrind.
pub(crate) fn strict() -> Outcome {
    program("strict", &Words { words: Vec::new() })
}

fn program(name: &str, given: &Words) -> Outcome {
    let package = ["run", "--quiet", "--package", "kiln-testsuite", "--bin", name, "--"];
    run(cargo().args(package).args(&given.words))
}
