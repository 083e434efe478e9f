//! Runs OpenCL kernels that were compiled to SPIR-V.
//!
//! Owns devices, memory, programs, launches and events. It must never know the compiler: all it knows of a kernel stands in the
//! module ([`interface`]).
#![deny(unsafe_code)]

pub mod interface;
