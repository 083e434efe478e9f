//! Launches: their inputs, execution and outcome.
//!
//! Owns the definition of a launch. The submodules execute it: `schedule` distributes work-groups over threads,
//! `group` runs the work-items of one, `run` is the interpreter loop.

mod access;
mod atomic;
mod clock;
mod collective;
mod enqueue;
mod group;
mod group_position;
mod image;
mod item;
mod library;
mod pipe;
mod polls;
mod printf;
mod races;
mod registers;
mod resource;
mod run;
mod sample;
mod schedule;
mod undefined;
mod view;

use std::time::Instant;

pub(crate) use enqueue::MAX_GROUP_SIZE;
pub(crate) use group::Group;
pub(crate) use group_position::GroupPosition;
pub(crate) use item::{Item, State};
pub(crate) use races::{Races, Shadow};
pub(crate) use view::Local;

use crate::{Buffer, Checks, Environment, Image, Memory, Monitor, Program, Report};

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// The bytes of a value, or of a pointer's address.
    Bytes(Vec<u8>),
    /// Local memory of this many bytes.
    Local(u64),
}

/// Work-groups of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The size of each work-group.
    pub local: [u32; 3],
    /// The number of work-groups.
    pub groups: [u32; 3],
    /// The id of the first work-group.
    pub first_group: [u32; 3],
    /// The global id of the first work-item.
    pub first_item: [u32; 3],
    /// The index of their pipeline in the launch.
    pub pipeline: usize,
}

/// A program with its push constants and descriptors.
#[derive(Debug, Clone)]
pub struct Pipeline<'a> {
    /// The program.
    pub program: &'a Program,
    /// In the Vulkan environment, the push constants.
    pub push_constants: &'a [u8],
    /// In the Vulkan environment, the descriptors.
    pub bound: &'a [Bound<'a>],
}

/// A bound descriptor.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a> {
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The bound resource.
    pub contents: Contents<'a>,
}

/// The resource of a descriptor.
#[derive(Debug, Clone, Copy)]
pub enum Contents<'a> {
    /// A copy of these bytes.
    Bytes(&'a [u8]),
    /// A range of a buffer: offset and size.
    Buffer(&'a Buffer, u64, u64),
    /// An image.
    Image(&'a Image),
}

/// A launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The programs of the regions: one program, or its specializations.
    pub pipelines: &'a [Pipeline<'a>],
    /// The index of the kernel in the program.
    pub kernel: usize,
    /// In the OpenCL environment, one for each parameter.
    pub arguments: &'a [Argument],
    /// The name and the value of each argument that is the address of a buffer. Empty in the OpenCL environment, where the
    /// module names the parameters.
    pub buffers: &'a [(&'a str, u64)],
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
    /// The regions, which contain all work-groups.
    pub regions: &'a [Region],
}

/// Execution options.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether to detect undefined behavior.
    pub checks: Checks,
    /// The number of threads, without checks.
    pub threads: usize,
    /// The maximum number of steps of a work-item: its jumps. An atomic operation or pipe operation that changes nothing and
    /// repeats an earlier result counts as 2048, because it waits for another work-item.
    pub steps: u64,
    /// When to stop with a timeout.
    pub deadline: Option<Instant>,
    /// Selects the order in which work-items run; 0 is the default order.
    pub seed: u64,
}

/// The outcome of a launch, besides the contents of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The output of `printf`.
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
    /// The environment whose rules apply.
    pub(crate) fn environment(&self) -> Environment {
        self.pipelines[0].program.environment
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        &self.pipelines[0].program.kernels[self.kernel].name
    }

    /// Executes the launch until it completes or fails.
    pub fn run(&self, memory: &Memory, options: &Options) -> Outcome {
        schedule::run(self, memory, options, None)
    }

    /// Executes the launch under a debugger, on one thread. Its programs were decoded with
    /// [`Program::with_statements`].
    pub fn debug(&self, memory: &Memory, options: &Options, monitor: &dyn Monitor) -> Outcome {
        schedule::run(self, memory, options, Some(monitor))
    }
}
