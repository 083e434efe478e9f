//! What a module is made for, as plain data: environment, versions, features.
//!
//! Looked at in three places only: `memory`, the pass list, and `emit`.

use crate::opencl::Environment;

/// A target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kernel environment.
    pub environment: Environment,
    /// The SPIR-V version as (major, minor).
    pub spirv: (u8, u8),
    /// What the device can do.
    pub features: Features,
}

/// What a device can do, in so far as modules depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// 8-bit integer arithmetic
    pub int8: bool,
    /// 16-bit integer arithmetic
    pub int16: bool,
    /// 64-bit integer arithmetic
    pub int64: bool,
    /// 16-bit floating-point arithmetic
    pub fp16: bool,
    /// 64-bit floating-point arithmetic
    pub fp64: bool,
    /// 8-bit loads and stores of global memory
    pub storage8: bool,
    /// 16-bit loads and stores of global memory
    pub storage16: bool,
    /// 8-bit push constants
    pub push_constant8: bool,
    /// 16-bit push constants
    pub push_constant16: bool,
    /// 64-bit atomics on global memory
    pub int64_global_atomics: bool,
    /// 64-bit atomics on local memory
    pub int64_local_atomics: bool,
    /// 32-bit floating-point atomic addition on global and on local memory
    pub float32_atomic_add: bool,
    /// Pointers to local memory as values
    pub variable_pointers: bool,
    /// Local memory with an explicit layout, for reinterpretation
    pub workgroup_explicit_layout: bool,
    /// The device scope of the Vulkan memory model
    pub device_scope: bool,
    /// Chains of availability and visibility (memory.md R10)
    pub availability_chains: bool,
    /// Basic sub-group operations in compute
    pub subgroups: bool,
    /// Bytes of push constants
    pub push_constant_size: u32,
    /// Signed zeros, infinities and NaNs of 32-bit floats can be demanded
    pub float_controls_preserve32: bool,
    /// The same of 16-bit floats
    pub float_controls_preserve16: bool,
    /// The same of 64-bit floats
    pub float_controls_preserve64: bool,
    /// Denormals of 32-bit floats can be kept
    pub float_controls_denorm_preserve32: bool,
    /// Images
    pub images: bool,
    /// Images that a kernel both reads and writes
    pub read_write_images: bool,
}

impl Target {
    /// A target with every feature.
    pub fn full(environment: Environment) -> Self {
        Self { environment, spirv: Self::version(environment), features: Features::full() }
    }

    /// A target with the features that every Vulkan device with the memory model and buffer addresses has.
    pub fn minimal(environment: Environment) -> Self {
        Self { environment, spirv: Self::version(environment), features: Features::minimal() }
    }

    /// Vulkan 1.2 takes SPIR-V 1.5, OpenCL 2.2 takes 1.2.
    const fn version(environment: Environment) -> (u8, u8) {
        match environment {
            Environment::Vulkan => (1, 5),
            Environment::OpenCl => (1, 2),
        }
    }
}

impl Features {
    /// Every feature.
    pub const fn full() -> Self {
        Self {
            int8: true,
            int16: true,
            int64: true,
            fp16: true,
            fp64: true,
            storage8: true,
            storage16: true,
            push_constant8: true,
            push_constant16: true,
            int64_global_atomics: true,
            int64_local_atomics: true,
            float32_atomic_add: true,
            variable_pointers: true,
            workgroup_explicit_layout: true,
            device_scope: true,
            availability_chains: true,
            subgroups: true,
            push_constant_size: 128,
            float_controls_preserve32: true,
            float_controls_preserve16: true,
            float_controls_preserve64: true,
            float_controls_denorm_preserve32: true,
            images: true,
            read_write_images: true,
        }
    }

    /// Only what Vulkan 1.2 with the memory model and buffer addresses guarantees.
    pub const fn minimal() -> Self {
        Self {
            int8: false,
            int16: false,
            int64: false,
            fp16: false,
            fp64: false,
            storage8: false,
            storage16: false,
            push_constant8: false,
            push_constant16: false,
            int64_global_atomics: false,
            int64_local_atomics: false,
            float32_atomic_add: false,
            variable_pointers: false,
            workgroup_explicit_layout: false,
            device_scope: false,
            availability_chains: false,
            subgroups: false,
            push_constant_size: 128,
            float_controls_preserve32: false,
            float_controls_preserve16: false,
            float_controls_preserve64: false,
            float_controls_denorm_preserve32: false,
            images: true,
            read_write_images: false,
        }
    }
}
