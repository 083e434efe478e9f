//! `kiln-vocabulary`: terms that the compiler and the runtime share.
//!
//! Memory orders, scopes, fence flags, address spaces, language versions and extensions of OpenCL C, the features of devices
//! and the faults of drivers, as plain data. Must not depend on SPIR-V, Vulkan or
//! the types of the language.

pub mod extensions;
pub mod faults;
pub mod opencl;
pub mod precision;
pub mod target;
