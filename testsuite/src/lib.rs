//! The tests of Kiln as a whole: it sees the binary `kiln` as users do, and the modules that it writes.
//!
//! `cases/**/*.md` are the tests; how to write one is in README.md here. What the parts of the compiler do among
//! themselves is tested where they stand.

mod bless;
mod case;
mod clang;
mod config;
pub mod device;
pub mod differential;
pub mod editor;
mod excerpt;
mod expectation;
pub mod fuzz;
pub mod kiln;
pub mod launch;
pub mod litmus;
pub mod markdown;
pub mod module;
pub mod mutate;
pub mod oracle;
pub mod process;
pub mod programs;
pub mod random;
pub mod reduce;
pub mod strict;
pub mod suite;
pub mod undefined;

use std::path::PathBuf;

/// The root of the repository.
pub fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("a package in the repository").to_path_buf()
}
