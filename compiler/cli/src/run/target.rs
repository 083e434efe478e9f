//! The compiler's target for a device. Tests and benchmarks include this file.

use kiln_compiler::target::Target;
use kiln_runtime::{DeviceInfo, Environment};

/// The compiler's target for a device.
pub(crate) fn target(info: &DeviceInfo) -> Target {
    let environment = match info.environment {
        Environment::Vulkan => kiln_compiler::opencl::Environment::Vulkan,
        Environment::OpenCl => return Target::full(kiln_compiler::opencl::Environment::OpenCl),
    };
    let mut target = Target::full(environment);
    target.workarounds = info.workarounds();
    target.features = info.features.target_features();
    target.precision = info.precision();
    target.tuning = info.tuning();
    target
}
