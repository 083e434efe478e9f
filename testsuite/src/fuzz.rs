//! Fuzzing without instruments: targets that must stand any input, inputs made of programs by a seed, and what to do when
//! one is not stood. An input is a function of the seed and its number, so that a run can be repeated from anywhere.
//!
//! `cargo xtask fuzz` runs it; `tests/findings.rs` replays what was found.

pub mod input;
pub mod minimise;
pub mod mutator;
mod seeds;
pub mod target;

pub use input::Input;
pub use mutator::Mutator;
pub use target::Target;

use std::path::PathBuf;

/// Where the findings of a target are kept.
pub fn findings(target: Target) -> PathBuf {
    crate::root().join("testsuite/fuzz/findings").join(target.name())
}
