//! A device in the process: executes SPIR-V modules of the OpenCL and of the Vulkan environment on the CPU, without a driver
//! and without generating code.
//!
//! Owns execution and what a strict device finds on the way. It must never know a compiler, nor how arguments come about: a
//! [`Launch`] has every rule of OpenCL already applied.
//!
//! A module is decoded once into operations on numbered registers (`decode`, `code`); work-items are frames that can stop
//! anywhere and go on (`execute`); memory is bytes behind addresses that contain their object (`memory`). With [`Checks::On`]
//! whatever the module's environment leaves undefined ends the launch with a [`Report`].
#![forbid(unsafe_code)]

mod alu;
mod code;
mod decode;
mod execute;
mod image;
mod interface;
mod memory;
mod pipe;
mod poison;
mod report;
mod types;
mod words;

use std::fmt;

pub use code::Program;
pub use execute::{Argument, Bound, Contents, Launch, Options, Outcome, Pipeline, Region};
pub use image::{Format, Image, ImageDesc, ImageRegion, Texel};
pub use interface::{Kernel, Parameter, ParameterKind, kernels};
pub use memory::{Buffer, Memory};
pub use pipe::Pipe;
pub use report::{Place, Report};

/// Work-items of a sub-group.
pub const SUB_GROUP_SIZE: u32 = 8;

/// Whether the device is strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Checks {
    /// What is undefined is reported, in the same order at every launch.
    #[default]
    On,
    /// Only what cannot be carried out is reported; work-groups run at the same time.
    Off,
}

/// What a module is written for, and by whose rules it is executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Environment {
    /// OpenCL's.
    #[default]
    OpenCl,
    /// Vulkan's.
    Vulkan,
}

impl Environment {
    /// The environment that `OpMemoryModel` names.
    pub(crate) fn of(inst: &words::Inst<'_>) -> Result<Self, Invalid> {
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
