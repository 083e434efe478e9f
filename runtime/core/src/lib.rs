//! Runs OpenCL kernels that were compiled to SPIR-V.
//!
//! Owns devices, memory, programs, launches and events. Must not depend on the compiler: everything the runtime needs
//! about a kernel is in the module ([`interface`]).
//!
//! ```no_run
//! use kiln_runtime::{Device, Program};
//! # fn main() -> kiln_runtime::Result<()> {
//! # let words: &[u32] = &[];
//! let device = Device::open()?;
//! let queue = device.queue()?;
//! let numbers = device.buffer_from(&[1.0f32, 2.0, 3.0, 4.0])?;
//! let mut kernel = Program::from_spirv(&device, words)?.kernel("square")?;
//! kernel.set(0, &numbers)?;
//! // SAFETY: the kernel stays within its buffer.
//! unsafe { queue.launch(&kernel, 4)? };
//! println!("{:?}", queue.read(&numbers)?);
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

mod backend;
mod bounds;
mod buffer;
mod cache;
mod capabilities;
mod device;
mod device_queue;
mod error;
mod event;
mod fill;
mod host;
mod image;
pub mod interface;
mod kernel;
mod launch;
mod launch_error;
mod layout;
mod map;
mod mapping;
mod migration;
mod module;
mod ndrange;
#[allow(unsafe_code, reason = "the address of memory; it states why threads may share it")]
mod pinned;
mod pipe;
mod printf;
mod program;
mod queue;
mod rect;
mod reference;
mod reflection;
mod requirements;
mod sampler;
mod schedule;
mod shared_memory;
mod signature;
mod sizing;
mod staging;
mod svm;
mod threads;
#[allow(unsafe_code, reason = "calls of the Vulkan API; each states why it is sound")]
mod vulkan;

/// A verified module, as the compiler emits it.
pub use kiln_verify::VerifiedModule;

/// Re-exported for generated bindings, whose structs derive the plain-data traits.
pub use bytemuck;

/// Driver bugs, as reported by [`DeviceInfo::driver_bugs`] and [`Program::missing_workarounds`].
pub use kiln_vocabulary::driver_bugs;

/// A debugger of launches on the reference device, for [`Instance::debugged`].
pub use kiln_reference::{Monitor, Results};

/// The extensions and optional features of OpenCL C, of [`DeviceInfo`].
pub use kiln_vocabulary::extensions;

/// The launch of [`interface::ProgramInterface::proved_launch`].
pub use kiln_vocabulary::reflection::ProvedLaunch;

pub use buffer::Buffer;
pub use capabilities::{
    Capabilities, DeviceInfo, DeviceKind, Environment, Features, Identity, ImageLimits, Order, Scope,
    SubGroups,
};
pub use device::{Device, Instance, Options, Selector, Timers, Validation};
pub use device_queue::DeviceQueue;
pub use error::{Error, Result};
pub use event::{Event, Status, Times, UserEvent};
pub use image::{
    ChannelOrder, ChannelType, Image, ImageDesc, ImageFormat, ImageKind, ImageRegion, ImageSupport, Texel,
    TexelClass,
};
pub use kernel::{Arg, ArgValue, Kernel, Local, Null, Pointer};
pub use map::Mapped;
pub use mapping::{MapAccess, Mapping};
pub use migration::{DeviceUse, MigratingBuffer};
pub use ndrange::{NdRange, Sizes};
pub use pinned::PinnedMemory;
pub use pipe::Pipe;
pub use program::Program;
pub use queue::{Queue, QueueOptions, Reading};
pub use rect::Rect;
pub use sampler::{Addressing, Filter, LevelFilter, Sampler};
pub use schedule::Order as QueueOrder;
pub use svm::{Atom, Svm, SvmAtomics};

/// Compiles the README's program as a doctest.
#[cfg(doctest)]
#[allow(rustdoc::invalid_codeblock_attributes, reason = "the tests of the book read `file=`")]
#[doc = include_str!("../README.md")]
struct Readme;
