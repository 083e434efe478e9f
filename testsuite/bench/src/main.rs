//! Compares Kiln with other implementations in one run: kernels with a vendor's OpenCL, the runtime with plain Vulkan.
//!
//! The binary contains its kernels, so it can be copied to any machine with drivers.

mod accesses;
mod accuracy;
mod builtins;
mod editors;
mod examples;
mod frontend;
// The heap settings of the binary, so that measurements apply to it.
#[path = "../../../compiler/cli/src/heap.rs"]
mod heap;
mod kernels;
mod kiln;
mod launches;
mod libraries;
mod median;
#[allow(unsafe_code, reason = "calls of the OpenCL API")]
mod opencl;
mod programs;
mod random;
#[allow(unsafe_code, reason = "calls of the Vulkan API")]
mod raw;
mod run;
mod runtime;
mod transfers;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures Kiln and other implementations")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Kernel times of seven programs, or of the examples, compared with an OpenCL driver
    Kernels(run::Kernels),
    /// Times of built-in functions, compared with an OpenCL driver
    Builtins(builtins::Builtins),
    /// Errors of `float` functions over all arguments
    Accuracy(accuracy::Accuracy),
    /// Cost of launches and transfers, compared with plain Vulkan
    Runtime(runtime::Runtime),
    /// Build and launch times of Kiln's OpenCL driver, compared with an OpenCL driver and plain Vulkan
    Launches(launches::Launches),
    /// Times of the headers `<kiln/…>`, compared with CUDA's libraries
    Libraries(libraries::Libraries),
    /// Kernel times of unmodified OpenCL programs on Kiln's OpenCL driver, compared with an OpenCL driver
    Programs(programs::Programs),
    /// Front-end time for files and folders of kernels
    Frontend(frontend::Frontend),
    /// Random programs on a device, compared with the reference device
    Random(random::Random),
    /// `kiln lsp` compared with clangd
    Editors(editors::Editors),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().what {
        What::Kernels(options) => run::kernels(&options),
        What::Builtins(options) => builtins::builtins(&options),
        What::Accuracy(options) => accuracy::accuracy(&options),
        What::Runtime(options) => runtime::runtime(&options),
        What::Launches(options) => launches::launches(&options),
        What::Libraries(options) => libraries::libraries(&options),
        What::Programs(options) => programs::programs(&options),
        What::Frontend(options) => frontend::frontend(&options),
        What::Random(options) => random::random(&options),
        What::Editors(options) => editors::editors(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kiln-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
