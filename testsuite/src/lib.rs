//! End-to-end tests of Kiln: they use the binary `kiln` as users do, and check the modules that it writes.
//!
//! `cases/**/*.md` contain the tests; README.md explains how to write one. Each package contains its own unit tests.
//!
//! ```
//! let page = "# Loads\n\n```cl\nkernel void load() {}\n```\n";
//! assert_eq!(kiln_testsuite::markdown::fenced(page, "cl"), ["kernel void load() {}\n"]);
//! ```

pub mod atomic_objects;
mod bless;
mod case;
mod clang;
pub mod compositions;
mod config;
pub mod device;
pub mod differential;
pub mod editor;
mod excerpt;
mod expectation;
mod fixes;
pub mod frontends;
pub mod fuzz;
pub mod guarded;
pub mod kiln;
pub mod launch;
pub mod litmus;
pub mod markdown;
pub mod module;
pub mod mutate;
pub mod nightly;
pub mod oracle;
pub mod process;
pub mod programs;
pub mod random;
pub mod reduce;
pub mod server;
pub mod strict;
pub mod suite;
pub mod undefined;
pub mod untyped;

use std::path::PathBuf;

/// The root directory of the repository.
pub fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("a package in the repository").to_path_buf()
}
