//! Counts the compute units of a device, by the extensions of its vendor. Core Vulkan does not report the number.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use ash::{amd, arm, nv, vk};

/// `CL_DEVICE_MAX_COMPUTE_UNITS` of a physical device; `None` if none of its extensions contains it.
pub(super) fn compute_units(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    extensions: &HashSet<CString>,
) -> Option<u32> {
    let has = |name: &CStr| extensions.contains(name);
    let (nvidia, is_arm) = (has(nv::shader_sm_builtins::NAME), has(arm::shader_core_builtins::NAME));
    let (shape, active) = (has(amd::shader_core_properties::NAME), has(amd::shader_core_properties2::NAME));
    let mut multiprocessors = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
    let mut cores = vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM::default();
    let mut engines = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
    let mut units = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
    let mut properties = vk::PhysicalDeviceProperties2::default();
    if nvidia {
        properties = properties.push_next(&mut multiprocessors);
    }
    if is_arm {
        properties = properties.push_next(&mut cores);
    }
    if shape {
        properties = properties.push_next(&mut engines);
    }
    if active {
        properties = properties.push_next(&mut units);
    }
    // SAFETY: the physical device belongs to the instance, and it supports every structure of the chain.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    // The shape includes disabled units.
    let all = engines
        .shader_engine_count
        .saturating_mul(engines.shader_arrays_per_engine_count)
        .saturating_mul(engines.compute_units_per_shader_array);
    let counts =
        [multiprocessors.shader_sm_count, cores.shader_core_count, units.active_compute_unit_count, all];
    counts.into_iter().find(|count| *count > 0)
}
