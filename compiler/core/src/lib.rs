//! `kiln-compiler`: OpenCL C in, SPIR-V words, reflection and diagnostics out.
//!
//! Pure: no IO, no clock, no environment, no threads of its own. Files are reached through the caller's `Loader`.

pub mod diag;
pub mod opencl;
pub mod session;
pub mod target;
