//! The Vulkan back end: all uses of `ash`, and all `unsafe` Vulkan code of the runtime.
//!
//! Owns the translation between OpenCL and Vulkan. Nothing outside this directory names a Vulkan object.
//!
//! The back end uses one queue family and several of its `VkQueue`s, and distributes the runtime's queues among them.
//! Each runtime queue has a timeline semaphore. It batches commands in a command buffer that begins with a barrier
//! against everything before it and signals the semaphore's next value, for which other queues may wait. Memory is one
//! `VkBuffer` for each allocation, with a device address (R9).

mod bindings;
mod clock;
#[cfg(test)]
mod code_changes;
mod commands;
mod compute_units;
mod device;
#[cfg(test)]
mod exhaustion;
#[cfg(test)]
mod faults;
mod features;
mod image;
mod imported;
#[cfg(test)]
mod in_advance;
mod instance;
mod memory;
mod placed;
mod program;
mod queue;
#[cfg(test)]
mod replaced;
mod sampler;
mod stored;
mod timeline;

use ash::vk;

pub(crate) use instance::Instance;

use crate::error::Error;

/// Converts an error that concerns no particular object.
fn failure(operation: &str, result: vk::Result) -> Error {
    Error::Driver { operation: operation.to_owned(), detail: result.to_string() }
}
