//! Runs programs of the test suite by hand: `cargo xtask differential`, `oracle`, `frontends`, `models` and `litmus-sets`.

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, run},
};

/// The arguments of the program.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Words {
    /// See `--help` of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Runs random programs on Kiln and on other OpenCL implementations.
pub(crate) fn differential(given: &Words) -> Outcome {
    program("differential", given)
}

/// Runs one program on another OpenCL implementation.
pub(crate) fn oracle(given: &Words) -> Outcome {
    program("oracle", given)
}

/// Explores generated programs in both memory models. Built with optimization: it explores many executions.
pub(crate) fn models(given: &Words) -> Outcome {
    released("kiln-models", given)
}

/// Compares the memory models with published verdicts.
pub(crate) fn litmus_sets(given: &Words) -> Outcome {
    program("litmus-sets", given)
}

/// Runs programs of other front ends.
pub(crate) fn frontends(given: &Words) -> Outcome {
    program("frontends", given)
}

/// Runs the programs with one defect each on the reference device and on Oclgrind.
pub(crate) fn strict() -> Outcome {
    program("strict", &Words { words: Vec::new() })
}

fn released(name: &str, given: &Words) -> Outcome {
    let package = ["run", "--quiet", "--release", "--package", "kiln-testsuite", "--bin", name, "--"];
    run(cargo().args(package).args(&given.words))
}

fn program(name: &str, given: &Words) -> Outcome {
    let package = ["run", "--quiet", "--package", "kiln-testsuite", "--bin", name, "--"];
    run(cargo().args(package).args(&given.words))
}
