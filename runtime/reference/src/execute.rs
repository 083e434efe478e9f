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
mod run;
mod sample;
mod schedule;
mod view;

use std::time::Instant;

pub(crate) use enqueue::MAX_GROUP_SIZE;

use crate::{Checks, Memory, Program, Report};

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
}

/// A launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The program.
    pub program: &'a Program,
    /// The kernel's number in it.
    pub kernel: usize,
    /// One for each parameter.
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
    /// Executes the launch to its end, or until something is wrong.
    pub fn run(&self, memory: &Memory, options: &Options) -> Outcome {
        schedule::run(self, memory, options)
    }
}
