//! The values of built-in variables in a work-item.

use smallvec::smallvec;

use super::{
    Unsupported,
    layout::Value,
    walk::{Item, Run, Stop},
};

impl Run<'_> {
    /// The value of a built-in variable.
    pub(super) fn built_in(&self, number: u32) -> Result<Value, Stop> {
        let Item { local, group, local_number, .. } = self.item;
        let launch = &self.bound.launch;
        let size = launch.local.iter().product::<u32>();
        let lanes = launch.sub_group.max(1);
        let all = |values: [u32; 3]| Value::from_slice(&values.map(u64::from));
        let global = [0, 1, 2].map(|it| group[it] * launch.local[it] + local[it]);
        Ok(match number {
            24 => all([0, 1, 2].map(|it| launch.global[it] / launch.local[it])),
            25 | 32 => all(launch.local),
            26 => all(group),
            27 => all(local),
            28 => all(global),
            29 => smallvec![u64::from(local_number)],
            30 => smallvec![u64::from(launch.dimensions())],
            31 => all(launch.global),
            33 => smallvec![0; 3],
            34 => {
                let [x, y, z] = global.map(u64::from);
                smallvec![(z * u64::from(launch.global[1]) + y) * u64::from(launch.global[0]) + x]
            }
            36 | 37 => smallvec![u64::from(lanes)],
            38 | 39 => smallvec![u64::from(size.div_ceil(lanes))],
            40 => smallvec![u64::from(local_number / lanes)],
            41 => smallvec![u64::from(local_number % lanes)],
            // The only device.
            4438 => smallvec![0],
            _ => return Err(Unsupported::Instruction(format!("built-in variable {number}")).into()),
        })
    }
}
