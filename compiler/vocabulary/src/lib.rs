//! `kiln-vocabulary`: the words that the compiler and the runtime share.
//!
//! Memory orders, scopes, fence flags, address spaces and language versions of OpenCL C, and the features of devices as
//! plain data. It contains no SPIR-V, no types of the language and no Vulkan.

pub mod opencl;
pub mod target;
