//! An OpenCL driver (ICD): unmodified OpenCL programs run on Kiln's devices.
//!
//! The loader opens the library, finds the three exported functions of [`ffi`] and calls all others through the
//! table of `table`. One file holds the functions of one object of the API. Every function validates its arguments
//! and returns the error that the specification names. Only `ffi` and `object` contain unsafe code.
//!
//! Must not depend on Vulkan: everything on a device goes through `kiln-runtime`.
//!
//! A loader finds the platform function by its name:
//!
//! ```
//! use kiln_opencl::ffi::clGetExtensionFunctionAddress;
//!
//! assert!(!clGetExtensionFunctionAddress(c"clIcdGetPlatformIDsKHR".as_ptr()).is_null());
//! assert!(clGetExtensionFunctionAddress(c"clUnknown".as_ptr()).is_null());
//! ```

mod binary;
mod buffer;
mod build;
mod context;
mod copy;
#[cfg(test)]
mod corruption;
mod device;
mod device_info;
mod enqueue;
mod error;
mod event;
#[allow(
    unsafe_code,
    non_snake_case,
    reason = "pointers and names of the C interface; each states why it is sound"
)]
pub mod ffi;
#[cfg(test)]
mod fixture;
mod format;
mod il;
mod image;
mod image_commands;
mod info;
mod kernel;
mod kernel_info;
mod launch;
mod limits;
mod link;
mod map;
mod memory;
#[allow(unsafe_code, reason = "handles of the C interface; each states why it is sound")]
mod object;
mod options;
mod pinned;
mod pipe;
mod platform;
mod program;
mod queue;
mod residence;
mod sampler;
#[cfg(test)]
mod sequences;
mod signature;
mod spirv_queries;
mod svm;
mod table;
mod transfer;
mod work;

pub use table::{dispatch, function};
