//! A program's interface in the words of its host: Rust, C, JSON.
//!
//! Each form is a function of the interface. It must never know how the program was compiled.

mod c;
mod json;
mod rust;

pub use c::c;
pub use json::json;
pub use rust::{Module, rust};
