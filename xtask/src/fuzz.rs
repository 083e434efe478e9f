//! `cargo xtask fuzz`: builds the test suite's fuzzer, optimized and with all checks, and runs it.

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, run},
};

/// What to fuzz.
#[derive(Args)]
pub(crate) struct Fuzz {
    /// preprocessor, parser, checker, compiler or reader
    target: String,
    /// Number of inputs
    #[arg(long, default_value_t = 100_000)]
    executions: u64,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Fuzzes. A finding is minimized and kept in `testsuite/fuzz/findings`, and makes the command fail.
pub(crate) fn fuzz(arguments: &Fuzz) -> Outcome {
    run(cargo()
        .args([
            "run",
            "--quiet",
            "--profile",
            "fuzz",
            "--package",
            "kiln-testsuite",
            "--bin",
            "fuzz",
            "--",
            "run",
        ])
        .args([&arguments.target, &arguments.executions.to_string(), &arguments.seed.to_string()]))
}
