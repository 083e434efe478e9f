//! `cargo xtask bench <what>`: compares measurements with those of other implementations, in one run. Each
//! measurement has its own file.

mod budgets;
mod compile;
mod reference;

use clap::{Args, Subcommand};

use crate::{Outcome, differential, process, setup};

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// The CPU time to compile the examples, and the size of their modules, beside clang-15 with llvm-spirv-15
    Compile,
    /// What launches and transfers cost, beside bare Vulkan
    Runtime(Rest),
    /// Kernel times of seven programs, or with `--examples` of the examples, beside an OpenCL driver
    Kernels(Rest),
    /// Times of built-in functions, beside those of an OpenCL driver
    Builtins(Rest),
    /// Errors of the functions of `float`, over all their arguments, on a device
    Accuracy(Rest),
    /// Kernel times of the same programs on the reference device, beside Oclgrind and PoCL
    Reference,
    /// The programs with one defect each on the reference device, beside Oclgrind
    Strict,
    /// What the front end takes for files and folders of kernels, on one core
    Frontend(Rest),
    /// `kiln lsp` beside clangd-15: `[--conformance DIR] FILE…`, besides the examples
    Editors(Rest),
    /// What is promised of the binary and of a build: sizes, processor time, memory
    Budgets,
}

/// Options of `kiln-bench`, which does the measuring.
#[derive(Args)]
pub(crate) struct Rest {
    /// Passed on; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs a measurement.
pub(crate) fn bench(what: &Bench) -> Outcome {
    setup::install(match what {
        Bench::Frontend(_) => &[],
        Bench::Budgets => setup::BUDGETS,
        Bench::Editors(_) => setup::EDITORS,
        Bench::Reference | Bench::Strict => setup::REFERENCE,
        Bench::Compile | Bench::Runtime(_) | Bench::Kernels(_) | Bench::Builtins(_) | Bench::Accuracy(_) => {
            setup::BENCH
        }
    })?;
    match what {
        Bench::Compile => compile::compile(),
        Bench::Runtime(rest) => kiln_bench("runtime", rest),
        Bench::Kernels(rest) => kiln_bench("kernels", rest),
        Bench::Builtins(rest) => kiln_bench("builtins", rest),
        Bench::Accuracy(rest) => kiln_bench("accuracy", rest),
        Bench::Reference => reference::reference(),
        Bench::Strict => differential::strict(),
        Bench::Frontend(rest) => kiln_bench("frontend", rest),
        Bench::Editors(rest) => editors(rest),
        Bench::Budgets => budgets::budgets(),
    }
}

/// Measures the release binary of the server, with the examples among the sources.
fn editors(rest: &Rest) -> Outcome {
    let kiln = process::release_kiln()?.to_string_lossy().into_owned();
    let mut options = rest.options.clone();
    options.extend(["--kiln".to_owned(), kiln]);
    options.extend(compile::examples()?.iter().map(|path| path.to_string_lossy().into_owned()));
    kiln_bench("editors", &Rest { options })
}

fn kiln_bench(what: &str, rest: &Rest) -> Outcome {
    let bench = ["run", "--release", "--quiet", "--package", "kiln-bench", "--", what];
    process::run(process::cargo().args(bench).args(&rest.options))
}
