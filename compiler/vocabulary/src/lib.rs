//! `kiln-vocabulary`: the words that the compiler and the runtime share.
//!
//! Memory orders, scopes, fence flags, address spaces, language versions and extensions of OpenCL C, the features of devices
//! and the faults of drivers, as plain data. It contains no SPIR-V, no types of the language and no Vulkan.

pub mod extensions;
pub mod faults;
pub mod opencl;
pub mod precision;
pub mod target;
