//! The values of built-in variables in a work-item.

use smallvec::smallvec;
use spirv::BuiltIn;

use super::{
    Unsupported,
    layout::Value,
    walk::{Item, Run, Stop},
};

impl Run<'_> {
    /// The value of the built-in variable with this number in SPIR-V.
    pub(super) fn built_in(&self, number: u32) -> Result<Value, Stop> {
        let Item { local, group, local_number, .. } = self.item;
        let launch = &self.bound.launch;
        let size = launch.local.iter().product::<u32>();
        let lanes = launch.sub_group.max(1);
        let all = |values: [u32; 3]| Value::from_slice(&values.map(u64::from));
        let global = [0, 1, 2].map(|it| group[it] * launch.local[it] + local[it]);
        let unsupported = || Unsupported::Instruction(format!("built-in variable {number}"));
        Ok(match BuiltIn::from_u32(number).ok_or_else(unsupported)? {
            BuiltIn::NumWorkgroups => all([0, 1, 2].map(|it| launch.global[it] / launch.local[it])),
            BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize => all(launch.local),
            BuiltIn::WorkgroupId => all(group),
            BuiltIn::LocalInvocationId => all(local),
            BuiltIn::GlobalInvocationId => all(global),
            BuiltIn::LocalInvocationIndex => smallvec![u64::from(local_number)],
            BuiltIn::WorkDim => smallvec![u64::from(launch.dimensions())],
            BuiltIn::GlobalSize => all(launch.global),
            BuiltIn::GlobalOffset => smallvec![0; 3],
            BuiltIn::GlobalLinearId => {
                let [x, y, z] = global.map(u64::from);
                smallvec![(z * u64::from(launch.global[1]) + y) * u64::from(launch.global[0]) + x]
            }
            BuiltIn::SubgroupSize | BuiltIn::SubgroupMaxSize => smallvec![u64::from(lanes)],
            BuiltIn::NumSubgroups | BuiltIn::NumEnqueuedSubgroups => {
                smallvec![u64::from(size.div_ceil(lanes))]
            }
            BuiltIn::SubgroupId => smallvec![u64::from(local_number / lanes)],
            BuiltIn::SubgroupLocalInvocationId => smallvec![u64::from(local_number % lanes)],
            // The only device.
            BuiltIn::DeviceIndex => smallvec![0],
            _ => return Err(unsupported().into()),
        })
    }
}
