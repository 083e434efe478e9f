//! Executing launches: what is given, what comes out.
//!
//! Owns the form of a launch. The files below execute it: `schedule` spreads work-groups over threads, `group` runs the
//! work-items of one, `run` is the loop over operations.

mod atomic;
mod enqueue;
mod group;
mod image;
mod item;
mod library;
mod meet;
mod pipe;
mod place;
mod printf;
mod races;
mod resource;
mod run;
mod sample;
mod schedule;
mod view;

use std::time::Instant;

pub(crate) use enqueue::MAX_GROUP_SIZE;

use crate::{Buffer, Checks, Environment, Image, Memory, Program, Report};

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A value as it is in memory; of a pointer, the address.
    Bytes(Vec<u8>),
    /// Local memory of this many bytes.
    Local(u64),
}

/// Work-groups of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The size of each.
    pub local: [u32; 3],
    /// How many there are.
    pub groups: [u32; 3],
    /// The id of the first.
    pub first_group: [u32; 3],
    /// The global id of the first work-item.
    pub first_item: [u32; 3],
    /// What they execute, among the launch's pipelines.
    pub pipeline: usize,
}

/// A program with what is bound to its variables.
#[derive(Debug, Clone)]
pub struct Pipeline<'a> {
    /// The program.
    pub program: &'a Program,
    /// In the Vulkan environment, the bytes of push constants.
    pub push_constants: &'a [u8],
    /// In the Vulkan environment, what descriptors are bound to.
    pub bound: &'a [Bound<'a>],
}

/// What a descriptor is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a> {
    /// Its set.
    pub set: u32,
    /// Its number in the set.
    pub binding: u32,
    /// What is found there.
    pub contents: Contents<'a>,
}

/// What kernels find through a descriptor.
#[derive(Debug, Clone, Copy)]
pub enum Contents<'a> {
    /// A copy of these bytes.
    Bytes(&'a [u8]),
    /// So many bytes of a buffer, from an offset.
    Buffer(&'a Buffer, u64, u64),
    /// An image.
    Image(&'a Image),
}

/// A launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// What work-groups execute: one program, or its forms for different specialisations.
    pub pipelines: &'a [Pipeline<'a>],
    /// The kernel's number in the program.
    pub kernel: usize,
    /// In the OpenCL environment, one for each parameter.
    pub arguments: &'a [Argument],
    /// `get_work_dim`
    pub dims: u32,
    /// `get_global_size`
    pub global: [u32; 3],
    /// `get_global_offset`
    pub offset: [u32; 3],
    /// `get_enqueued_local_size`
    pub local: [u32; 3],
    /// `get_num_groups`
    pub groups: [u32; 3],
    /// All work-groups.
    pub regions: &'a [Region],
}

/// How a launch is executed.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether what is undefined is looked for.
    pub checks: Checks,
    /// Threads, without checks.
    pub threads: usize,
    /// Jumps that a work-item may make.
    pub steps: u64,
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Chooses among the orders in which work-items may run; 0 is the plain one.
    pub seed: u64,
}

/// What comes out of a launch besides memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What `printf` wrote.
    pub printed: Vec<u8>,
    /// Why the launch ended early.
    pub report: Option<Report>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            checks: Checks::On,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            steps: 1 << 28,
            deadline: None,
            seed: 0,
        }
    }
}

impl Launch<'_> {
    /// By whose rules it runs.
    pub(crate) fn environment(&self) -> Environment {
        self.pipelines[0].program.environment
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        &self.pipelines[0].program.kernels[self.kernel].name
    }

    /// Executes the launch to its end, or until something is wrong.
    pub fn run(&self, memory: &Memory, options: &Options) -> Outcome {
        schedule::run(self, memory, options)
    }
}
