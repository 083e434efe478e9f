//! `kiln-compiler`: OpenCL C in, SPIR-V words, reflection and diagnostics out.
//!
//! Pure: no IO, no clock, no environment, no threads of its own. Files are reached through the caller's `Loader`.

pub mod builtins;
pub mod diag;
pub mod emit;
pub mod extensions;
pub mod fold;
pub mod hir;
pub mod index;
pub mod ir;
pub mod lower;
pub mod memory;
pub mod opencl;
pub mod passes;
pub mod pp;
pub mod pragma;
pub mod sema;
pub mod session;
pub mod source;
pub mod target;
pub mod ty;
pub mod verify;
