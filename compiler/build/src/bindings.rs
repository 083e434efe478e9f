//! Host bindings of a program's interface: Rust, C, JSON.
//!
//! Each format is a function of the interface. Must not depend on how the program was compiled.

mod c;
mod json;
mod rust;

pub use c::c;
pub use json::json;
pub use rust::{Module, rust};
