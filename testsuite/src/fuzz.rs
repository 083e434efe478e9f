//! Fuzzing without instrumentation: targets that must handle any input, inputs mutated from programs and modules, and the
//! handling of findings. An input is a function of the seed and its number, so that any part of a run can be
//! repeated.
//!
//! `cargo xtask fuzz` runs the fuzzer; `tests/findings.rs` replays its findings.

pub mod input;
pub mod minimize;
mod modules;
pub mod mutator;
mod seeds;
pub mod target;
mod typed;

pub use input::Input;
pub use mutator::Mutator;
pub use target::Target;

use std::path::PathBuf;

/// The folder with the findings of a target.
pub fn findings(target: Target) -> PathBuf {
    crate::root().join("testsuite/fuzz/findings").join(target.name())
}
