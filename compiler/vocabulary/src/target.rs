//! What a module is made for, as plain data: environment, versions, features.
//!
//! Looked at in three places only: `memory`, the pass list, and `emit`.

pub mod profile;

use crate::{faults::Workarounds, opencl::Environment, precision::Precision};

/// A target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kernel environment.
    pub environment: Environment,
    /// The SPIR-V version as (major, minor).
    pub spirv: (u8, u8),
    /// What the device can do.
    pub features: Features,
    /// The name of the profile that says so, if one was chosen.
    pub profile: Option<String>,
    /// The faults of drivers that modules work around.
    pub workarounds: Workarounds,
    /// How precise instructions of the driver are known to be.
    pub precision: Precision,
}

/// Writes `Features` from the one list of them.
macro_rules! features {
    ($(#[doc = $text:literal] $name:ident,)*) => {
        /// What a device can do, in so far as modules depend on it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Features {
            $(#[doc = $text] pub $name: bool,)*
            /// Bytes of push constants
            pub push_constant_size: u32,
        }

        impl Features {
            /// All of them, or none.
            const fn all(are_there: bool) -> Self {
                Self { $($name: are_there,)* push_constant_size: 128 }
            }

            /// Each by name: what it is, and whether it is there.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
                [$((stringify!($name), $text.trim_ascii(), self.$name),)*].into_iter()
            }

            /// The feature of this name, to be changed.
            pub fn feature(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

features! {
    /// 8-bit integer arithmetic
    int8,
    /// 16-bit integer arithmetic
    int16,
    /// 64-bit integer arithmetic
    int64,
    /// 16-bit floating-point arithmetic
    fp16,
    /// 64-bit floating-point arithmetic
    fp64,
    /// 8-bit loads and stores of global memory
    storage8,
    /// 16-bit loads and stores of global memory
    storage16,
    /// 8-bit push constants
    push_constant8,
    /// 16-bit push constants
    push_constant16,
    /// 64-bit atomics on global memory
    int64_global_atomics,
    /// 64-bit atomics on local memory
    int64_local_atomics,
    /// 32-bit floating-point atomic addition on global and on local memory
    float32_atomic_add,
    /// Pointers to local memory as values
    variable_pointers,
    /// Local memory with an explicit layout, for reinterpretation
    workgroup_explicit_layout,
    /// The device scope of the Vulkan memory model
    device_scope,
    /// Chains of availability and visibility (memory.md R10)
    availability_chains,
    /// Basic sub-group operations in compute
    subgroups,
    /// Signed zeros, infinities and NaNs of 32-bit floats can be demanded
    float_controls_preserve32,
    /// The same of 16-bit floats
    float_controls_preserve16,
    /// The same of 64-bit floats
    float_controls_preserve64,
    /// Denormals of 32-bit floats are kept where a module demands it
    float_controls_denorm_preserve32,
    /// The same of 16-bit floats
    float_controls_denorm_preserve16,
    /// The same of 64-bit floats
    float_controls_denorm_preserve64,
    /// Images
    images,
    /// Images that a kernel both reads and writes
    read_write_images,
}

impl Target {
    /// A target with every feature.
    pub fn full(environment: Environment) -> Self {
        Self {
            environment,
            spirv: Self::version(environment),
            features: Features::full(),
            profile: None,
            workarounds: Workarounds::NONE,
            precision: Precision::GUARANTEED,
        }
    }

    /// A target with the features that every Vulkan device with the memory model and buffer addresses has.
    pub fn minimal(environment: Environment) -> Self {
        Self {
            environment,
            spirv: Self::version(environment),
            features: Features::minimal(),
            profile: None,
            workarounds: Workarounds::NONE,
            precision: Precision::GUARANTEED,
        }
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
    /// Every feature. What modules with floats always demand where it can be had is left to known devices: a module that
    /// demands it runs nowhere else.
    pub const fn full() -> Self {
        Self {
            float_controls_denorm_preserve32: false,
            float_controls_denorm_preserve16: false,
            float_controls_denorm_preserve64: false,
            ..Self::all(true)
        }
    }

    /// Only what Vulkan 1.2 with the memory model and buffer addresses guarantees.
    pub const fn minimal() -> Self {
        Self { images: true, ..Self::all(false) }
    }
}
