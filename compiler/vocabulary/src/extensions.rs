//! The table of extensions and optional features of OpenCL C: their names, and the targets that support them.
//!
//! The preprocessor defines a macro for each supported extension. Types and built-in functions use extensions as
//! conditions. The runtime derives the capabilities of a device from them, and `kiln devices` prints them. `docs/features.md` is rendered
//! from this module.

mod page;

pub use page::render_markdown;

use crate::{
    opencl::{Environment, LanguageVersion},
    target::{Features, Target},
};

use LanguageVersion::{Cl10, Cl11, Cl12, Cl20, Cl30};

/// The condition for supporting an extension.
enum Support {
    /// Supported on every target.
    Always,
    /// Supported only if requested with `-cl-ext=+…`.
    OnRequest,
    /// Supported on every target of the Vulkan environment.
    VulkanOnly,
    /// Supported on every target of the OpenCL environment, and on Vulkan if requested.
    OnRequestOnVulkan,
    /// Supported on targets whose features satisfy this.
    If(fn(&Features) -> bool),
}

use Support::{Always, If, OnRequest, OnRequestOnVulkan, VulkanOnly};

macro_rules! extensions {
    ($($variant:ident $name:literal $since:ident $core:ident $support:expr;)*) => {
        /// An extension (`cl_…`) or an optional feature (`__opencl_c_…`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Extension { $($variant,)* }

        impl Extension {
            /// All extensions and features.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name, which is also the name of its macro.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The first language version that can support it.
            pub const fn since(self) -> LanguageVersion {
                match self { $(Self::$variant => $since,)* }
            }

            /// Whether OpenCL C from version `since` up to 2.0 always has it, without a macro.
            const fn is_core(self) -> bool {
                match self { $(Self::$variant => core!($core),)* }
            }

            const fn support(self) -> Support {
                match self { $(Self::$variant => $support,)* }
            }
        }
    };
}

macro_rules! core {
    (core) => {
        true
    };
    (optional) => {
        false
    };
}

extensions! {
    // Optional features of OpenCL C 3.0 (6.2.1). `core`: older versions have the feature without a macro.
    Images "__opencl_c_images" Cl10 core If(|it| it.images);
    Image3dWrites "__opencl_c_3d_image_writes" Cl20 core If(|it| it.images);
    ReadWriteImages "__opencl_c_read_write_images" Cl20 core If(|it| it.read_write_images);
    OrderAcqRel "__opencl_c_atomic_order_acq_rel" Cl20 core Always;
    OrderSeqCst "__opencl_c_atomic_order_seq_cst" Cl20 core Always;
    // A Vulkan device without the device scope has the queue-family scope, which is equivalent because the runtime uses
    // one family. Devices share memory only as whole buffers, so all_devices means device (OpenCL API 3.3.5).
    ScopeDevice "__opencl_c_atomic_scope_device" Cl20 core Always;
    ScopeAllDevices "__opencl_c_atomic_scope_all_devices" Cl20 core Always;
    DeviceEnqueue "__opencl_c_device_enqueue" Cl20 core Always;
    GenericAddressSpace "__opencl_c_generic_address_space" Cl20 core Always;
    ProgramScopeVariables "__opencl_c_program_scope_global_variables" Cl20 core Always;
    Pipes "__opencl_c_pipes" Cl20 core Always;
    WorkGroupCollectives "__opencl_c_work_group_collective_functions" Cl20 core Always;
    FeatureFp64 "__opencl_c_fp64" Cl10 optional If(|it| it.fp64);
    FeatureInt64 "__opencl_c_int64" Cl10 core Always;
    FeatureSubgroups "__opencl_c_subgroups" Cl20 optional If(|it| it.subgroups);
    DotInput4x8bit "__opencl_c_integer_dot_product_input_4x8bit" Cl10 optional Always;
    DotInput4x8bitPacked "__opencl_c_integer_dot_product_input_4x8bit_packed" Cl10 optional Always;
    ClockDevice "__opencl_c_kernel_clock_scope_device" Cl20 optional If(|it| it.clock);
    ClockWorkGroup "__opencl_c_kernel_clock_scope_work_group" Cl20 optional If(|it| it.clock);
    ClockSubGroup "__opencl_c_kernel_clock_scope_sub_group" Cl20 optional If(|it| it.clock);
    Fp16GlobalLoadStore "__opencl_c_ext_fp16_global_atomic_load_store" Cl20 optional OnRequest;
    Fp16LocalLoadStore "__opencl_c_ext_fp16_local_atomic_load_store" Cl20 optional OnRequest;
    Fp16GlobalAdd "__opencl_c_ext_fp16_global_atomic_add" Cl20 optional OnRequest;
    Fp16LocalAdd "__opencl_c_ext_fp16_local_atomic_add" Cl20 optional OnRequest;
    Fp16GlobalMinMax "__opencl_c_ext_fp16_global_atomic_min_max" Cl20 optional OnRequest;
    Fp16LocalMinMax "__opencl_c_ext_fp16_local_atomic_min_max" Cl20 optional OnRequest;
    Fp32GlobalAdd "__opencl_c_ext_fp32_global_atomic_add" Cl20 optional Always;
    Fp32LocalAdd "__opencl_c_ext_fp32_local_atomic_add" Cl20 optional Always;
    Fp32GlobalMinMax "__opencl_c_ext_fp32_global_atomic_min_max" Cl20 optional Always;
    Fp32LocalMinMax "__opencl_c_ext_fp32_local_atomic_min_max" Cl20 optional Always;
    Fp64GlobalAdd "__opencl_c_ext_fp64_global_atomic_add" Cl20 optional If(float64_global);
    Fp64LocalAdd "__opencl_c_ext_fp64_local_atomic_add" Cl20 optional If(float64_local);
    Fp64GlobalMinMax "__opencl_c_ext_fp64_global_atomic_min_max" Cl20 optional If(float64_global);
    Fp64LocalMinMax "__opencl_c_ext_fp64_local_atomic_min_max" Cl20 optional If(float64_local);

    // Types.
    KhrFp16 "cl_khr_fp16" Cl10 optional If(|it| it.fp16);
    KhrFp64 "cl_khr_fp64" Cl10 optional If(|it| it.fp64);
    AmdFp64 "cl_amd_fp64" Cl10 optional If(|it| it.fp64);
    KhrByteStore "cl_khr_byte_addressable_store" Cl10 optional Always;
    KhrSelectRounding "cl_khr_select_fprounding_mode" Cl10 optional OnRequest;

    // Atomics.
    KhrGlobalInt32Base "cl_khr_global_int32_base_atomics" Cl10 optional Always;
    KhrGlobalInt32Extended "cl_khr_global_int32_extended_atomics" Cl10 optional Always;
    KhrLocalInt32Base "cl_khr_local_int32_base_atomics" Cl10 optional Always;
    KhrLocalInt32Extended "cl_khr_local_int32_extended_atomics" Cl10 optional Always;
    KhrInt64Base "cl_khr_int64_base_atomics" Cl10 optional If(int64_atomics);
    KhrInt64Extended "cl_khr_int64_extended_atomics" Cl10 optional If(int64_atomics);
    ExtFloatAtomics "cl_ext_float_atomics" Cl20 optional Always;

    // Images.
    Khr3dImageWrites "cl_khr_3d_image_writes" Cl10 optional If(|it| it.images);
    KhrDepthImages "cl_khr_depth_images" Cl12 optional If(|it| it.images);
    KhrMsaa "cl_khr_gl_msaa_sharing" Cl12 optional OnRequest;
    KhrMipmap "cl_khr_mipmap_image" Cl20 optional If(|it| it.images);
    KhrMipmapWrites "cl_khr_mipmap_image_writes" Cl20 optional If(|it| it.image_level_writes);
    KhrSrgbWrites "cl_khr_srgb_image_writes" Cl20 optional OnRequestOnVulkan;
    KhrImage2dFromBuffer "cl_khr_image2d_from_buffer" Cl12 optional If(|it| it.images);

    // Integers.
    KhrExtendedBitOps "cl_khr_extended_bit_ops" Cl10 optional Always;
    KhrDotProduct "cl_khr_integer_dot_product" Cl10 optional Always;

    // Work-groups and sub-groups.
    KhrSubgroups "cl_khr_subgroups" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupTypes "cl_khr_subgroup_extended_types" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupVote "cl_khr_subgroup_non_uniform_vote" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupBallot "cl_khr_subgroup_ballot" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupArithmetic "cl_khr_subgroup_non_uniform_arithmetic" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupShuffle "cl_khr_subgroup_shuffle" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupShuffleRelative "cl_khr_subgroup_shuffle_relative" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupClustered "cl_khr_subgroup_clustered_reduce" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupRotate "cl_khr_subgroup_rotate" Cl20 optional If(|it| it.subgroups);
    KhrSubgroupNamedBarrier "cl_khr_subgroup_named_barrier" Cl20 optional OnRequest;
    KhrUniformArithmetic "cl_khr_work_group_uniform_arithmetic" Cl20 optional Always;

    // Other Khronos extensions.
    KhrAsyncFence "cl_khr_async_work_group_copy_fence" Cl10 optional VulkanOnly;
    KhrAsyncCopies "cl_khr_extended_async_copies" Cl10 optional VulkanOnly;
    KhrExpectAssume "cl_khr_expect_assume" Cl10 optional Always;
    KhrKernelClock "cl_khr_kernel_clock" Cl20 optional If(|it| it.clock);
    ExtImageRequirements "cl_ext_image_requirements_info" Cl30 optional OnRequest;

    // Vendors.
    IntelSubgroups "cl_intel_subgroups" Cl12 optional If(|it| it.subgroups);
    IntelSubgroupsChar "cl_intel_subgroups_char" Cl12 optional OnRequest;
    IntelSubgroupsShort "cl_intel_subgroups_short" Cl12 optional If(|it| it.subgroups);
    IntelSubgroupsLong "cl_intel_subgroups_long" Cl12 optional OnRequest;
    IntelRequiredSize "cl_intel_required_subgroup_size" Cl12 optional OnRequest;
    AmdMediaOps "cl_amd_media_ops" Cl10 optional Always;
    AmdMediaOps2 "cl_amd_media_ops2" Cl10 optional Always;
    AmdPrintf "cl_amd_printf" Cl10 optional Always;
    ArmDotInt8 "cl_arm_integer_dot_product_int8" Cl12 optional Always;
    ArmDotAccumulateInt8 "cl_arm_integer_dot_product_accumulate_int8" Cl12 optional Always;
    ArmDotAccumulateInt16 "cl_arm_integer_dot_product_accumulate_int16" Cl12 optional Always;
    ArmDotSaturateInt8 "cl_arm_integer_dot_product_accumulate_saturate_int8" Cl12 optional Always;
    ArmPrintf "cl_arm_printf" Cl11 optional Always;
    NvPragmaUnroll "cl_nv_pragma_unroll" Cl10 optional Always;
    ClangStorageClasses "cl_clang_storage_class_specifiers" Cl10 optional Always;
}

const fn int64_atomics(features: &Features) -> bool {
    features.int64_global_atomics && features.int64_local_atomics
}

const fn float64_global(features: &Features) -> bool {
    features.fp64 && features.int64_global_atomics
}

const fn float64_local(features: &Features) -> bool {
    features.fp64 && features.int64_local_atomics
}

impl Extension {
    /// The extension or feature with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|extension| extension.name() == name)
    }

    /// Whether it is an optional feature rather than an extension.
    pub fn is_feature(self) -> bool {
        self.name().starts_with("__opencl_c_")
    }

    /// Whether the target device lacks it. Such a device cannot run a program that requests it.
    pub fn is_missing_in(self, target: &Target) -> bool {
        target.environment == Environment::Vulkan
            && matches!(self.support(), If(test) if !test(&target.features))
    }

    /// Whether this language version defines a macro with its name. Features have macros since 3.0.
    pub fn has_macro(self, version: LanguageVersion) -> bool {
        version >= if self.is_feature() { LanguageVersion::Cl30 } else { self.since() }
    }
}

/// A set of extensions and features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions(u128);

const _: () = assert!(Extension::ALL.len() <= 128, "the set has 128 bits");

impl Extensions {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The extensions of a compilation: those of the language version and the target, modified by the switches in
    /// order.
    pub fn enabled_for(version: LanguageVersion, target: &Target, switches: &[(String, bool)]) -> Self {
        let mut set = Self::supported(version, target.environment, &target.features);
        for (name, is_on) in switches {
            if name == "all" {
                for &extension in Extension::ALL {
                    set.set(extension, *is_on && version >= extension.since());
                }
                // OpenCL C 6.2.1: mandatory if pointers have 64 bits. Only an explicit `-name` removes it.
                set.insert(Extension::FeatureInt64);
            } else if let Some(extension) = Extension::parse(name) {
                set.set(extension, *is_on);
            }
        }
        set.enforce_dependencies();
        set
    }

    /// The extensions that a device with these features supports in OpenCL C 3.0 and 3.1.
    pub fn offered(environment: Environment, features: &Features) -> Self {
        let mut set = Self::supported(Cl30, environment, features);
        set.enforce_dependencies();
        set
    }

    fn supported(version: LanguageVersion, environment: Environment, features: &Features) -> Self {
        let mut set = Self::NONE;
        for &extension in Extension::ALL {
            let is_core = extension.is_core() && version < LanguageVersion::Cl30;
            let is_supported = match extension.support() {
                Always => true,
                OnRequest => false,
                VulkanOnly => environment == Environment::Vulkan,
                OnRequestOnVulkan => environment == Environment::OpenCl,
                If(test) => test(features),
            };
            if version >= extension.since() && (is_core || is_supported) {
                set.insert(extension);
            }
        }
        set
    }

    /// All extensions and features of this language version.
    pub fn all(version: LanguageVersion) -> Self {
        let mut set = Self::NONE;
        for &extension in Extension::ALL {
            set.set(extension, version >= extension.since());
        }
        set
    }

    /// Whether the set contains an extension.
    pub const fn has(self, extension: Extension) -> bool {
        self.0 >> extension as u32 & 1 != 0
    }

    /// Adds an extension.
    pub const fn insert(&mut self, extension: Extension) {
        self.0 |= 1 << extension as u32;
    }

    /// The set with this extension added.
    pub const fn with(mut self, extension: Extension) -> Self {
        self.insert(extension);
        self
    }

    /// Adds or removes an extension.
    pub const fn set(&mut self, extension: Extension, is_on: bool) {
        if is_on {
            self.insert(extension);
        } else {
            self.0 &= !(1 << extension as u32);
        }
    }

    /// Whether the sets have no common member.
    pub const fn is_disjoint(self, other: Self) -> bool {
        self.0 & other.0 == 0
    }

    /// Whether this set is a superset of the other.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The members that are not in the other set.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The members, in order.
    pub fn iter(self) -> impl Iterator<Item = Extension> {
        Extension::ALL.iter().copied().filter(move |extension| self.has(*extension))
    }

    /// Enforces dependencies (OpenCL C 6.2.1): image features require images, pipes and device-side enqueue require the
    /// generic address space, and the extension and the feature for double precision imply each other.
    fn enforce_dependencies(&mut self) {
        if !self.has(Extension::Images) {
            for extension in
                [Extension::Image3dWrites, Extension::ReadWriteImages, Extension::Khr3dImageWrites]
            {
                self.set(extension, false);
            }
        }
        self.set(Extension::FeatureFp64, self.has(Extension::KhrFp64));
        if !self.has(Extension::GenericAddressSpace) {
            self.set(Extension::Pipes, false);
            self.set(Extension::DeviceEnqueue, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::profile;

    #[test]
    fn names_are_unique() {
        for &extension in Extension::ALL {
            assert_eq!(Extension::parse(extension.name()), Some(extension));
        }
    }

    #[test]
    fn optional_features_of_3_0_are_core_in_2_0() {
        let target = Target::minimal(Environment::Vulkan);
        for version in [Cl12, Cl20, Cl30] {
            let set = Extensions::enabled_for(version, &target, &[]);
            let is_since_2_0 = version >= Cl20;
            assert_eq!(set.has(Extension::DeviceEnqueue), is_since_2_0, "{version:?}");
            assert_eq!(set.has(Extension::ScopeAllDevices), is_since_2_0, "{version:?}");
            assert_eq!(set.has(Extension::ReadWriteImages), version == Cl20, "{version:?}");
            assert!(!set.has(Extension::KhrFp64));
        }
    }

    #[test]
    fn devices_lack_extensions() {
        let minimal = Target::minimal(Environment::Vulkan);
        assert!(Extension::KhrFp64.is_missing_in(&minimal));
        assert!(!Extension::KhrFp64.is_missing_in(&Target::full(Environment::Vulkan)));
        assert!(!Extension::Pipes.is_missing_in(&minimal), "the language version decides");
    }

    #[test]
    fn switches_add_and_remove() {
        let switches = [("all", false), ("cl_khr_fp64", true), ("__opencl_c_read_write_images", true)]
            .map(|(name, is_on)| (name.to_owned(), is_on));
        let set = Extensions::enabled_for(Cl30, &Target::full(Environment::Vulkan), &switches);
        let names: Vec<_> = set.iter().map(Extension::name).collect();
        let expected = ["__opencl_c_fp64", "__opencl_c_int64", "cl_khr_fp64"];
        assert_eq!(names, expected, "no image features without images; `__opencl_c_int64` stays");
    }

    #[test]
    fn macros_of_features_are_of_3_0() {
        assert!(!Extension::Pipes.has_macro(LanguageVersion::Cl20));
        assert!(Extension::Pipes.has_macro(LanguageVersion::Cl30));
        assert!(!Extension::KhrSubgroups.has_macro(LanguageVersion::Cl12));
        assert!(Extension::KhrFp16.has_macro(LanguageVersion::Cl10));
    }

    /// A device supports the same extensions as a compilation for its profile.
    #[test]
    fn profiles_list_the_extensions_of_compilations() {
        for name in profile::names() {
            let profile = profile::named(name).unwrap();
            let target = Target { features: profile.features.clone(), ..Target::full(Environment::Vulkan) };
            let offered = Extensions::offered(Environment::Vulkan, &profile.features);
            assert_eq!(offered, Extensions::enabled_for(Cl30, &target, &[]), "{name}");
            assert!(offered.has(Extension::Pipes) && offered.has(Extension::DeviceEnqueue), "{name}");
        }
    }
}
