//! The position of work-groups and work-items in a launch.
//!
//! Owns ids and sizes (OpenCL C 6.15.1).

use super::{Launch, Region, clock};
use crate::{
    Program, SUB_GROUP_SIZE,
    code::{Comparison, Input},
};

/// A work-group in a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupPosition<'l> {
    pub(crate) launch: &'l Launch<'l>,
    pub(crate) region: &'l Region,
    /// The group's position in its region.
    pub(crate) group: [u32; 3],
}

impl<'l> GroupPosition<'l> {
    /// The group with this linear index in a launch.
    pub(crate) fn nth(launch: &'l Launch<'l>, mut number: u64) -> Option<Self> {
        for region in launch.regions {
            let [x, y, z] = region.groups.map(u64::from);
            if number < x * y * z {
                let group = [number % x, number / x % y, number / x / y].map(|id| id as u32);
                return Some(Self { launch, region, group });
            }
            number -= x * y * z;
        }
        None
    }

    /// The number of work-items in the group.
    pub(crate) fn size(&self) -> u32 {
        self.region.local.iter().product()
    }

    /// The program that the group executes.
    pub(crate) fn program(&self) -> &'l Program {
        self.launch.pipelines[self.region.pipeline].program
    }

    pub(crate) fn local_id(&self, index: u32) -> [u32; 3] {
        let [x, y, _] = self.region.local;
        [index % x, index / x % y, index / x / y]
    }

    pub(crate) fn global_id(&self, index: u32) -> [u64; 3] {
        let local = self.local_id(index);
        [0, 1, 2].map(|d| {
            u64::from(self.region.first_item[d])
                + u64::from(self.group[d]) * u64::from(self.region.local[d])
                + u64::from(local[d])
        })
    }

    /// The group id.
    pub(crate) fn id(&self) -> [u32; 3] {
        [0, 1, 2].map(|d| self.region.first_group[d] + self.group[d])
    }

    /// The size of the sub-group that contains this work-item.
    pub(crate) fn sub_group_size(&self, index: u32) -> u32 {
        let first = index / SUB_GROUP_SIZE * SUB_GROUP_SIZE;
        (self.size() - first).min(SUB_GROUP_SIZE)
    }

    /// The value of a built-in variable for a work-item.
    pub(crate) fn input(&self, index: u32, input: Input) -> [u64; 3] {
        let launch = self.launch;
        let wide = |values: [u32; 3]| values.map(u64::from);
        let one = |value: u32| [u64::from(value), 0, 0];
        match input {
            Input::GlobalId => self.global_id(index),
            Input::GlobalSize => wide(launch.global),
            Input::GlobalOffset => wide(launch.offset),
            Input::GlobalLinearId => {
                let id = self.global_id(index);
                let [x, y, z] = [0, 1, 2].map(|d| id[d] - u64::from(launch.offset[d]));
                [(z * u64::from(launch.global[1]) + y) * u64::from(launch.global[0]) + x, 0, 0]
            }
            Input::LocalId => wide(self.local_id(index)),
            Input::LocalLinearId => one(index),
            Input::LocalSize => wide(self.region.local),
            Input::EnqueuedLocalSize => wide(launch.local),
            Input::GroupId => wide(self.id()),
            Input::NumGroups => wide(launch.groups),
            Input::WorkDim => one(launch.dims),
            Input::SubGroupSize => one(self.sub_group_size(index)),
            Input::MaxSubGroupSize => one(SUB_GROUP_SIZE),
            Input::NumSubGroups => one(self.size().div_ceil(SUB_GROUP_SIZE)),
            Input::EnqueuedNumSubGroups => one(launch.local.iter().product::<u32>().div_ceil(SUB_GROUP_SIZE)),
            Input::SubGroupId => one(index / SUB_GROUP_SIZE),
            Input::SubGroupLocalId => one(index % SUB_GROUP_SIZE),
            Input::DispatchId => {
                let local = self.local_id(index);
                wide([0, 1, 2].map(|d| self.group[d] * self.region.local[d] + local[d]))
            }
            Input::Clock => {
                let time = clock::nanoseconds();
                [time, time >> 32, 0]
            }
            Input::DispatchGroupId => wide(self.group),
            Input::DispatchGroups => wide(self.region.groups),
            Input::SubGroupMask(comparison) => {
                let (own, all) = (index % SUB_GROUP_SIZE, (1u64 << self.sub_group_size(index)) - 1);
                let before = (1u64 << own) - 1;
                let bits = match comparison {
                    Comparison::Equal => 1 << own,
                    Comparison::GreaterEqual => !before,
                    Comparison::Greater => !(before << 1 | 1),
                    Comparison::LessEqual => before << 1 | 1,
                    Comparison::Less => before,
                };
                [bits & all, 0, 0]
            }
        }
    }
}
