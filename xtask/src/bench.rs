//! `cargo xtask bench <what>`: measurements, beside those of others, in one run. Each has its file.

mod compile;

use clap::{Args, Subcommand};

use crate::{Outcome, process, setup};

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// The CPU time to compile the examples, and the size of their modules, beside clang-15 with llvm-spirv-15
    Compile,
    /// What launches and transfers cost, beside bare Vulkan
    Runtime(Rest),
    /// Kernel times of seven programs, beside an OpenCL driver
    Kernels(Rest),
    /// What the front end takes for files and folders of kernels, on one core
    Frontend(Rest),
}

/// Options of `kiln-bench`, which does the measuring.
#[derive(Args)]
pub(crate) struct Rest {
    /// Passed on; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Measures.
pub(crate) fn bench(what: &Bench) -> Outcome {
    if !matches!(what, Bench::Frontend(_)) {
        setup::install(setup::BENCH)?;
    }
    match what {
        Bench::Compile => compile::compile(),
        Bench::Runtime(rest) => kiln_bench("runtime", rest),
        Bench::Kernels(rest) => kiln_bench("kernels", rest),
        Bench::Frontend(rest) => kiln_bench("frontend", rest),
    }
}

fn kiln_bench(what: &str, rest: &Rest) -> Outcome {
    let bench = ["run", "--release", "--quiet", "--package", "kiln-bench", "--", what];
    process::run(process::cargo().args(bench).args(&rest.options))
}
