//! Compiles OpenCL C kernels in a build script and writes typed bindings for `kiln-runtime`.
//!
//! ```no_run
//! // build.rs
//! fn main() -> kiln_build::Result {
//!     kiln_build::Builder::new().file("kernels/blur.cl").define("RADIUS", 3).compile()
//! }
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//! // kernels::blur::Program::load(&device)?, then unsafe { program.blur(&queue, range, &input, &output, width)? }
//! ```
//!
//! Cargo reruns the script only when the script, a source, or an included file changes. This crate owns the path from
//! sources to files in `OUT_DIR`; `bindings` generates the bindings.

/// Compiles the build scripts of the documentation as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Page;

pub mod bindings;
mod builder;
mod cargo;
mod deep;
mod error;
pub mod flags;
mod program;

pub use builder::{Builder, Variant, device_profile};
pub use deep::{compile_deep, on_large_stack};
pub use error::{Error, Result};
pub use kiln_compiler::{
    Il,
    driver_bugs::Workarounds,
    opencl::{Environment, LanguageVersion},
    session::{MacroOption, Options, SeqCst, Source},
};
pub use program::{Compiled, compile, translate};
