//! What a module requires of a device: SPIR-V capabilities, in OpenCL terms.
//!
//! Owns that table. Must not depend on a back end: it reads `Features` only.

use crate::capabilities::{DeviceInfo, Environment, Features};
use crate::error::{Error, Result};
use crate::module::{Module, op};

/// A capability's number, its name in OpenCL terms, and whether a device supports it.
type Row = (u32, &'static str, fn(&Features) -> bool);

const TABLE: &[Row] = &[
    (0, "matrices", |_| true),
    (1, "kernels on Vulkan", |_| true),
    (9, "half (cl_khr_fp16)", |f| f.target.fp16),
    (10, "double (cl_khr_fp64)", |f| f.target.fp64),
    (11, "64-bit integers (long)", |f| f.target.int64),
    (12, "64-bit atomics (cl_khr_int64_base_atomics)", |f| f.target.int64_global_atomics),
    (22, "16-bit integers (short)", |f| f.target.int16),
    (39, "8-bit integers (char)", |f| f.target.int8),
    (43, "images of one dimension", |_| true),
    (44, "written images of one dimension", |f| f.target.images),
    (46, "images of buffers", |_| true),
    (47, "written images of buffers", |f| f.target.images),
    (50, "sizes of images", |_| true),
    (55, "read_write images (__opencl_c_read_write_images)", |f| f.target.read_write_images),
    (56, "written images (__opencl_c_images)", |f| f.target.images),
    (61, "sub-groups (cl_khr_subgroups)", |f| f.target.subgroups),
    (62, "sub-group votes (cl_khr_subgroup_non_uniform_vote)", |f| f.subgroup_vote),
    (63, "sub-group arithmetic (cl_khr_subgroup_non_uniform_arithmetic)", |f| f.subgroup_arithmetic),
    (64, "sub-group ballots (cl_khr_subgroup_ballot)", |f| f.subgroup_ballot),
    (65, "sub-group shuffles (cl_khr_subgroup_shuffle)", |f| f.subgroup_shuffle),
    (66, "relative sub-group shuffles (cl_khr_subgroup_shuffle_relative)", |f| f.subgroup_shuffle_relative),
    (67, "clustered sub-group reductions (cl_khr_subgroup_clustered_reduce)", |f| f.subgroup_clustered),
    (4428, "local memory with a layout", |f| f.target.workgroup_explicit_layout),
    (4429, "8-bit accesses to local memory with a layout", |f| {
        f.target.workgroup_explicit_layout && f.target.int8
    }),
    (4430, "16-bit accesses to local memory with a layout", |f| {
        f.target.workgroup_explicit_layout && f.target.int16
    }),
    (4433, "16-bit accesses to global memory", |f| f.target.storage16),
    (4434, "16-bit accesses to argument blocks", |f| f.target.storage16),
    (4435, "16-bit arguments", |f| f.target.push_constant16),
    (4441, "pointers to global memory as values", |f| f.target.variable_pointers),
    (4442, "pointers to local memory as values", |f| f.target.variable_pointers),
    (4448, "8-bit accesses to global memory", |f| f.target.storage8),
    (4449, "8-bit accesses to argument blocks", |f| f.target.storage8),
    (4450, "8-bit arguments", |f| f.target.push_constant8),
    (4464, "kept denormals", |f| {
        f.target.float_controls_denorm_preserve16
            || f.target.float_controls_denorm_preserve32
            || f.target.float_controls_denorm_preserve64
    }),
    (4466, "kept signed zeros, infinities and NaNs", |f| {
        f.target.float_controls_preserve16
            || f.target.float_controls_preserve32
            || f.target.float_controls_preserve64
    }),
    (4467, "rounding to nearest even", |f| {
        f.target.float_controls_rte16 || f.target.float_controls_rte32 || f.target.float_controls_rte64
    }),
    (5055, "clocks (cl_khr_kernel_clock)", |f| f.target.clock),
    (5345, "the Vulkan memory model", |_| true),
    (5346, "memory_scope_device", |f| f.target.device_scope),
    (5347, "pointers", |_| true),
    (6033, "float atomic addition (cl_ext_float_atomics)", |f| f.target.float32_atomic_add),
];

/// Checks that a device supports all that a module requires.
pub(crate) fn check(module: &Module, device: &DeviceInfo) -> Result<()> {
    let features = &device.features;
    let missing = |feature: String| Error::MissingFeature { feature, device: device.name.clone() };
    match (module.environment(), device.environment) {
        (Environment::Vulkan, Environment::Vulkan) => {}
        // The reference device checks each instruction itself.
        (Environment::OpenCl, Environment::OpenCl) => return Ok(()),
        (Environment::OpenCl, Environment::Vulkan) => {
            return Err(missing("the opencl environment (compile with --env vulkan)".to_owned()));
        }
        (Environment::Vulkan, Environment::OpenCl) => {
            return Err(missing("the vulkan environment (compile with --env opencl)".to_owned()));
        }
    }
    for instruction in module.instructions().filter(|instruction| instruction.opcode == op::CAPABILITY) {
        let Some(number) = instruction.operand(0) else { continue };
        match TABLE.iter().find(|(row, ..)| *row == number) {
            Some((_, _, has)) if has(features) => {}
            Some((_, name, _)) => return Err(missing((*name).to_owned())),
            None => return Err(missing(format!("SPIR-V capability {number}"))),
        }
    }
    let (major, minor) = module.version();
    if (major, minor) > features.spirv {
        return Err(missing(format!("SPIR-V {major}.{minor}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_in_order() {
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
    }
}
