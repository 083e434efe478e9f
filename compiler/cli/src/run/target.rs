//! What a device means to the compiler: the one place that knows the features of both. Tests and benchmarks include this file.

use kiln_compiler::target::Target;
use kiln_runtime::{DeviceInfo, Environment};

/// The compiler's target for a device.
pub(crate) fn target(info: &DeviceInfo) -> Target {
    let device = &info.features;
    let environment = match info.environment {
        Environment::Vulkan => kiln_compiler::opencl::Environment::Vulkan,
        Environment::OpenCl => return Target::full(kiln_compiler::opencl::Environment::OpenCl),
    };
    let mut target = Target::full(environment);
    target.workarounds = info.workarounds();
    let features = &mut target.features;
    features.int8 = device.int8;
    features.int16 = device.int16;
    features.int64 = device.int64;
    features.fp16 = device.fp16;
    features.fp64 = device.fp64;
    features.storage8 = device.storage8;
    features.storage16 = device.storage16;
    features.push_constant8 = device.push_constant8;
    features.push_constant16 = device.push_constant16;
    features.int64_global_atomics = device.int64_global_atomics;
    features.int64_local_atomics = device.int64_local_atomics;
    features.float32_atomic_add = device.float32_atomic_add;
    features.variable_pointers = device.variable_pointers;
    features.workgroup_explicit_layout = device.workgroup_explicit_layout;
    features.device_scope = device.device_scope;
    features.availability_chains = device.availability_chains;
    features.subgroups = device.subgroups;
    features.images = device.images;
    features.read_write_images = device.read_write_images;
    features.push_constant_size = device.push_constant_size;
    features.float_controls_preserve32 = device.float_controls_preserve32;
    features.float_controls_preserve16 = device.float_controls_preserve16;
    features.float_controls_preserve64 = device.float_controls_preserve64;
    features.float_controls_denorm_preserve32 = device.float_controls_denorm_preserve32;
    features.float_controls_denorm_preserve16 = device.float_controls_denorm_preserve16;
    features.float_controls_denorm_preserve64 = device.float_controls_denorm_preserve64;
    target
}
