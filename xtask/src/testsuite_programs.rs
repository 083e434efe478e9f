//! Runs programs of the test suite by hand: `cargo xtask differential`, `oracle`, `frontends`, `models` and `litmus-sets`.

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, run},
};

/// The arguments of the program.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct ProgramArguments {
    /// See `--help` of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs random programs on Kiln and on other OpenCL implementations.
pub(crate) fn differential(arguments: &ProgramArguments) -> Outcome {
    run_program("differential", arguments)
}

/// Runs one program on another OpenCL implementation.
pub(crate) fn oracle(arguments: &ProgramArguments) -> Outcome {
    run_program("oracle", arguments)
}

/// Explores generated programs in both memory models. Built with optimization: it explores many executions.
pub(crate) fn models(arguments: &ProgramArguments) -> Outcome {
    run_optimized("kiln-models", arguments)
}

/// Compares the memory models with published verdicts.
pub(crate) fn litmus_sets(arguments: &ProgramArguments) -> Outcome {
    run_program("litmus-sets", arguments)
}

/// Runs programs of other front ends.
pub(crate) fn frontends(arguments: &ProgramArguments) -> Outcome {
    run_program("frontends", arguments)
}

/// Runs the programs with one defect each on the reference device and on Oclgrind.
pub(crate) fn strict() -> Outcome {
    run_program("strict", &ProgramArguments { arguments: Vec::new() })
}

fn run_optimized(name: &str, arguments: &ProgramArguments) -> Outcome {
    let package = ["run", "--quiet", "--release", "--package", "kiln-testsuite", "--bin", name, "--"];
    run(cargo().args(package).args(&arguments.arguments))
}

fn run_program(name: &str, arguments: &ProgramArguments) -> Outcome {
    let package = ["run", "--quiet", "--package", "kiln-testsuite", "--bin", name, "--"];
    run(cargo().args(package).args(&arguments.arguments))
}
