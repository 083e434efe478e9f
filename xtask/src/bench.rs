//! `cargo xtask bench <what>`: measurements, beside those of others, in one run. Each has its file.

mod compile;

use clap::Subcommand;

use crate::{Outcome, setup};

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// The CPU time to compile the examples, beside clang-15 with llvm-spirv-15
    Compile,
}

/// Measures.
pub(crate) fn bench(what: &Bench) -> Outcome {
    setup::install(setup::BENCH)?;
    match what {
        Bench::Compile => compile::compile(),
    }
}
