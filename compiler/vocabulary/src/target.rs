//! The target of a module, as plain data: environment, versions, features, workarounds.

pub mod profile;

use crate::{driver_bugs::Workarounds, opencl::Environment, precision::Precision, tuning::Tuning};

/// The environment and device that a module is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kernel environment.
    pub environment: Environment,
    /// The SPIR-V version as (major, minor).
    pub spirv: (u8, u8),
    /// The features of the device.
    pub features: Features,
    /// The name of the selected profile, if there is one.
    pub profile: Option<String>,
    /// The driver bugs that modules work around.
    pub workarounds: Workarounds,
    /// The known precision of the driver's instructions.
    pub precision: Precision,
    /// The known properties of the driver's compiler.
    pub tuning: Tuning,
}

/// Generates `Features` from one list.
macro_rules! features {
    ($(#[doc = $text:literal] $name:ident,)*) => {
        /// The features of a device that modules depend on.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Features {
            $(#[doc = $text] pub $name: bool,)*
            /// The size of push constants in bytes
            pub push_constant_size: u32,
            /// The number of images that a kernel can bind to read them; `UNLIMITED` if it is not known
            pub read_images: u32,
            /// The number of images that a kernel can bind to write them; `UNLIMITED` if it is not known
            pub written_images: u32,
        }

        impl Features {
            /// All features enabled, or all disabled.
            const fn all(enabled: bool) -> Self {
                Self {
                    $($name: enabled,)*
                    push_constant_size: 128,
                    read_images: UNLIMITED,
                    written_images: UNLIMITED,
                }
            }

            /// The name, description and state of each feature.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
                [$((stringify!($name), $text.trim_ascii(), self.$name),)*].into_iter()
            }

            /// A mutable reference to the feature with this name.
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
    /// Chains of availability and visibility (R10)
    availability_chains,
    /// Basic sub-group operations in compute
    subgroups,
    /// Clocks of the device and of sub-groups
    clock,
    /// Signed zeros, infinities and NaNs of 32-bit floats can be preserved
    float_controls_preserve32,
    /// Signed zeros, infinities and NaNs of 16-bit floats can be preserved
    float_controls_preserve16,
    /// Signed zeros, infinities and NaNs of 64-bit floats can be preserved
    float_controls_preserve64,
    /// Denormals of 32-bit floats can be preserved
    float_controls_denorm_preserve32,
    /// Denormals of 16-bit floats can be preserved
    float_controls_denorm_preserve16,
    /// Denormals of 64-bit floats can be preserved
    float_controls_denorm_preserve64,
    /// Results of 32-bit floats can be rounded to the nearest number
    float_controls_rte32,
    /// Results of 16-bit floats can be rounded to the nearest number
    float_controls_rte16,
    /// Results of 64-bit floats can be rounded to the nearest number
    float_controls_rte64,
    /// Images
    images,
    /// Images that a kernel both reads and writes
    read_write_images,
    /// Writes to levels of images: kernels can bind each level of at least 4 images
    image_level_writes,
    /// Samplers of the device filter every floating-point format
    device_samplers,
}

/// The number of images that a kernel can bind, if the device is not known.
pub const UNLIMITED: u32 = u32::MAX;

/// The number of levels that an image can have: the largest ones have 32768 texels along a dimension.
pub const IMAGE_LEVELS: u32 = 16;

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
            tuning: Tuning::NONE,
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
            tuning: Tuning::NONE,
        }
    }

    /// SPIR-V 1.5 for Vulkan 1.2, and 1.2 for OpenCL 2.2.
    const fn version(environment: Environment) -> (u8, u8) {
        match environment {
            Environment::Vulkan => (1, 5),
            Environment::OpenCl => (1, 2),
        }
    }
}

impl Features {
    /// Every feature, except the float controls that every module with floats would require if the target has them: such a
    /// module does not run on devices without them.
    pub const fn full() -> Self {
        Self {
            float_controls_denorm_preserve32: false,
            float_controls_denorm_preserve16: false,
            float_controls_denorm_preserve64: false,
            float_controls_rte32: false,
            float_controls_rte16: false,
            float_controls_rte64: false,
            ..Self::all(true)
        }
    }

    /// Only what Vulkan 1.2 with the memory model and buffer addresses guarantees.
    pub const fn minimal() -> Self {
        // Vulkan, required limits: maxPerStageDescriptorSampledImages, maxPerStageDescriptorStorageImages
        Self { images: true, read_images: 16, written_images: 4, ..Self::all(false) }
    }
}
