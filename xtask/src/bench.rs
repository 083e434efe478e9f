//! `cargo xtask bench <what>`: compares measurements with those of other implementations, in one run. Each
//! measurement has its own file.

mod budgets;
mod compile;
mod growth;
mod reference;

use clap::{Args, Subcommand};

use crate::{Outcome, process, setup, testsuite_programs};

/// The benchmark to run.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// CPU time to compile the examples or other sources and size of their modules, compared with clang-15 and llvm-spirv-15
    Compile(compile::Compile),
    /// Cost of launches and transfers, compared with plain Vulkan
    Runtime(Rest),
    /// Kernel times of seven programs (`--examples`: of the examples), compared with an OpenCL driver
    Kernels(Rest),
    /// Build and launch times of the OpenCL driver, compared with an OpenCL driver and with plain Vulkan
    Launches(Rest),
    /// Times of built-in functions, copies, images and atomic operations, compared with an OpenCL driver
    Builtins(Rest),
    /// Kernel times of unmodified OpenCL programs on Kiln's OpenCL driver and another one: `--other DRIVER COMMAND…`
    Programs(Rest),
    /// Times of the headers `<kiln/…>`, compared with CUB and cuRAND if CUDA is installed
    Libraries(Rest),
    /// Errors of `float` functions over all arguments, on a device
    Accuracy(Rest),
    /// Kernel times of the same programs on the reference device, compared with Oclgrind and PoCL
    Reference,
    /// Defects found by the reference device, compared with Oclgrind
    Strict,
    /// Front-end time for files and folders of kernels, on one core
    Frontend(Rest),
    /// `kiln lsp` compared with clangd, on generated sources, the examples and `[--clangd PATH]… [--conformance DIR] FILE…`
    Editors(Rest),
    /// Budgets of the binary and of a build: size, CPU time, memory
    Budgets,
    /// CPU time to compile sources that repeat one construct up to 10,000 times
    Growth,
}

/// Options of `kiln-bench`.
#[derive(Args)]
pub(crate) struct Rest {
    /// Options passed to `kiln-bench`; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs a measurement.
pub(crate) fn bench(what: &Bench) -> Outcome {
    setup::install(match what {
        Bench::Frontend(_) | Bench::Growth => &[],
        Bench::Libraries(_) => &["libvulkan1"],
        Bench::Budgets => setup::BUDGETS,
        Bench::Editors(_) => setup::EDITORS,
        Bench::Reference | Bench::Strict => setup::REFERENCE,
        Bench::Compile(_)
        | Bench::Runtime(_)
        | Bench::Kernels(_)
        | Bench::Launches(_)
        | Bench::Programs(_)
        | Bench::Builtins(_)
        | Bench::Accuracy(_) => setup::BENCH,
    })?;
    match what {
        Bench::Compile(options) => compile::compile(options),
        Bench::Runtime(rest) => kiln_bench("runtime", rest),
        Bench::Kernels(rest) => kiln_bench("kernels", rest),
        Bench::Launches(rest) => launches(rest),
        Bench::Programs(rest) => programs(rest),
        Bench::Builtins(rest) => kiln_bench("builtins", rest),
        Bench::Libraries(rest) => kiln_bench("libraries", rest),
        Bench::Accuracy(rest) => kiln_bench("accuracy", rest),
        Bench::Reference => reference::reference(),
        Bench::Strict => testsuite_programs::strict(),
        Bench::Frontend(rest) => kiln_bench("frontend", rest),
        Bench::Editors(rest) => editors(rest),
        Bench::Budgets => budgets::budgets(),
        Bench::Growth => growth::growth(),
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

/// Measures the release build of the driver.
fn launches(rest: &Rest) -> Outcome {
    process::run(process::cargo().args(["build", "--release", "--quiet", "--package", "kiln-opencl"]))?;
    kiln_bench("launches", rest)
}

/// Measures the release build of the driver, through the release build of the layer that times kernels.
fn programs(rest: &Rest) -> Outcome {
    let packages = ["--package", "kiln-opencl", "--package", "kiln-timing-layer"];
    process::run(process::cargo().args(["build", "--release", "--quiet"]).args(packages))?;
    kiln_bench("programs", rest)
}

fn kiln_bench(what: &str, rest: &Rest) -> Outcome {
    let bench = ["run", "--release", "--quiet", "--package", "kiln-bench", "--", what];
    process::run(process::cargo().args(bench).args(&rest.options))
}
