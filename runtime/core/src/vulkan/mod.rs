//! The Vulkan back end: all use of `ash`, and all `unsafe` code of the runtime.
//!
//! Owns the translation between OpenCL's terms and Vulkan's. Nothing outside this folder names a Vulkan object.
//!
//! How it works: one queue family and some `VkQueue`s of it, among which our queues are spread. Each of ours is a timeline
//! semaphore; commands are collected in a command buffer that begins with a barrier against everything before it and signals the
//! semaphore's next value, for which other queues may wait. Memory is one `VkBuffer` for each allocation, with a device address
//! (memory.md R9).

mod commands;
mod device;
#[cfg(test)]
mod faults;
mod features;
mod image;
mod imported;
mod instance;
mod memory;
mod program;
mod queue;
mod sampler;
mod timeline;

use ash::vk;

pub(crate) use instance::Instance;

use crate::error::Error;

/// Translates a result that names no particular object.
fn failure(operation: &str, result: vk::Result) -> Error {
    Error::Driver { operation: operation.to_owned(), detail: result.to_string() }
}
