//! A built-in checking interpreter: executes SPIR-V modules of the OpenCL and Vulkan environments on the CPU, without
//! a driver or code generation.
//!
//! Owns execution and the detection of undefined behavior. Must not depend on a compiler, nor on how arguments are
//! set: the caller has already applied the rules of OpenCL to a [`Launch`].
//!
//! A module is decoded once into operations on numbered registers (`decode`, `code`). Work-items are stacks of frames
//! that can be suspended anywhere (`execute`). Memory is bytes at addresses that identify their object (`memory`).
//! With [`Checks::On`], any behavior that the module's environment leaves undefined ends the launch with a
//! [`Report`].
//!
//! ```
//! use kiln_reference::{Memory, kernels};
//!
//! let memory = Memory::default();
//! let buffer = memory.allocate(4).expect("four bytes");
//! buffer.write(0, &7u32.to_le_bytes());
//! let mut bytes = [0; 4];
//! buffer.read(0, &mut bytes);
//! assert_eq!(u32::from_le_bytes(bytes), 7);
//! assert!(kernels(&[]).is_err(), "no module");
//! ```
#![forbid(unsafe_code)]

mod alu;
mod code;
mod decode;
mod execute;
mod image;
mod interface;
mod memory;
mod monitor;
mod pipe;
mod poison;
mod report;
mod types;
mod words;

use std::fmt;

pub use alu::Results;
pub use code::Program;
pub use execute::{Argument, Bound, Contents, Launch, Options, Outcome, Pipeline, Region};
pub use image::{Format, Image, ImageDesc, ImageRegion, Texel};
pub use interface::{Kernel, Parameter, ParameterKind, kernels};
pub use memory::{Buffer, Memory};
pub use monitor::{
    Contents as Bytes, Frame, ItemId, MemoryOf, MemoryRange, Monitor, Point, Reason, Resume, StoppedLaunch,
    WorkItem, Write,
};
pub use pipe::Pipe;
pub use report::{Report, SourceLine};

/// The size of a sub-group.
pub const SUB_GROUP_SIZE: u32 = 8;

/// Whether to detect undefined behavior.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Checks {
    /// Undefined behavior is detected and reported. Execution is deterministic.
    #[default]
    On,
    /// Only operations that cannot be executed are reported. Work-groups run in parallel.
    Off,
}

/// Whether the beginnings of statements are marked in the code, for a debugger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Statements {
    /// Statements are not marked.
    #[default]
    Unmarked,
    /// Statements are marked, and small functions are not inlined.
    Marked,
}

/// The client environment of a module, which determines the rules of its execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Environment {
    /// The OpenCL environment.
    #[default]
    OpenCl,
    /// The Vulkan environment.
    Vulkan,
}

impl Environment {
    /// The environment for the memory model of `OpMemoryModel`.
    pub(crate) fn from_memory_model(inst: &words::Inst<'_>) -> Result<Self, Invalid> {
        let is_opencl = inst.word(1)? == spirv::MemoryModel::OpenCL as u32;
        Ok(if is_opencl { Self::OpenCl } else { Self::Vulkan })
    }
}

/// Why a module cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    reason: String,
}

impl Invalid {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Invalid {}
