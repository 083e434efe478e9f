//! Maps the properties of a Vulkan device to OpenCL terms, and selects the features to enable.
//!
//! Owns the mapping:
//! - orders: the Vulkan memory model has relaxed, acquire, release and acq_rel; the compiler builds seq_cst from them
//!   (docs/memory-model.md), so every device with the memory model supports all five;
//! - scopes, fp16, fp64 and images: from the table of extensions (`kiln_vocabulary::extensions`);
//! - fences: the same, and the work_item scope, which orders image accesses only;
//! - 64-bit atomics, half, double, long: the features `shaderBufferInt64Atomics`, `shaderSharedInt64Atomics`,
//!   `shaderFloat16`, `shaderFloat64`, `shaderInt64`;
//! - sizes: the compute limits; memory is the largest device-local heap.
//!
//! Must not create any object.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use ash::{ext, khr, vk};
use kiln_vocabulary::driver_bugs::{Driver, DriverId, Version};
use kiln_vocabulary::extensions::Extension;
use kiln_vocabulary::target::{self, IMAGE_LEVELS};

use super::bindings::BindingLimits;
use super::compute_units::compute_units;
use super::{failure, image, imported};
use crate::capabilities::{
    Capabilities, DeviceInfo, DeviceKind, Environment, Features, Identity, ImageLimits, Scope, SubGroups,
    orders, scopes,
};
use crate::error::Result;

/// `CL_DEVICE_MAX_PARAMETER_SIZE`: the size of a uniform buffer range on every device.
const MAX_PARAMETER_SIZE: u32 = 16384;

/// All properties queried from a physical device.
pub(super) struct QueriedFeatures {
    pub(super) properties: vk::PhysicalDeviceProperties,
    subgroups: vk::PhysicalDeviceVulkan11Properties<'static>,
    properties12: vk::PhysicalDeviceVulkan12Properties<'static>,
    max_buffer: u64,
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    float_atomics: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
    placed_maps: vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT<'static>,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    /// Whether linear filters support every floating-point format of images.
    filters_floats: bool,
    /// The required alignment of imported host memory; `None` if unsupported.
    host_memory_alignment: Option<u64>,
    /// The alignment of memory that the host maps at the device's addresses; `None` if unsupported, or if the host's
    /// processors run the kernels and share their addresses anyway.
    pub(super) placed_map_alignment: Option<u64>,
    pub(super) has_calibrated_timestamps: bool,
    /// Whether the device lacks parts of Vulkan, as MoltenVK does: `VK_KHR_portability_subset` must be enabled.
    is_subset: bool,
    /// The compute queue family, and the number of valid bits in its timestamps.
    pub(super) family: Option<(u32, u32)>,
    /// The number of queues in that family.
    queue_count: u32,
    /// The number of compute units, if an extension reports it.
    compute_units: Option<u32>,
}

/// The feature structures to enable at device creation.
pub(super) struct Enabled {
    pub(super) extensions: Vec<&'static CStr>,
    pub(super) core: vk::PhysicalDeviceFeatures,
    pub(super) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(super) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(super) v13: Option<vk::PhysicalDeviceVulkan13Features<'static>>,
    pub(super) float_atomics: Option<vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>>,
    pub(super) explicit_layout: Option<vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>>,
    pub(super) clock: Option<vk::PhysicalDeviceShaderClockFeaturesKHR<'static>>,
    pub(super) placed_maps: Option<vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT<'static>>,
}

impl QueriedFeatures {
    pub(super) fn new(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Result<Self> {
        // SAFETY: the physical device belongs to the instance, here and below.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let family = compute_family(instance, physical);
        let mut found = Self {
            properties,
            subgroups: Default::default(),
            properties12: Default::default(),
            max_buffer: u64::MAX,
            core: Default::default(),
            v11: Default::default(),
            v12: Default::default(),
            v13: Default::default(),
            float_atomics: Default::default(),
            explicit_layout: Default::default(),
            clock: Default::default(),
            placed_maps: Default::default(),
            // SAFETY: as above.
            memory: unsafe { instance.get_physical_device_memory_properties(physical) },
            filters_floats: image::formats_of_floats().all(|format| {
                // SAFETY: as above.
                let features = unsafe { instance.get_physical_device_format_properties(physical, format) };
                let features = features.optimal_tiling_features;
                !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE)
                    || features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR)
            }),
            host_memory_alignment: None,
            placed_map_alignment: None,
            has_calibrated_timestamps: false,
            is_subset: false,
            family: family.map(|(index, family)| (index, family.timestamp_valid_bits)),
            queue_count: family.map_or(0, |(_, family)| family.queue_count),
            compute_units: None,
        };
        if !found.is(1, 2) {
            return Ok(found);
        }
        // SAFETY: as above.
        let extensions: HashSet<CString> =
            unsafe { instance.enumerate_device_extension_properties(physical) }
                .map_err(|result| failure("listing extensions", result))?
                .iter()
                .filter_map(|extension| extension.extension_name_as_c_str().ok().map(CStr::to_owned))
                .collect();
        found.compute_units = compute_units(instance, physical, &extensions);
        found.is_subset = extensions.contains(khr::portability_subset::NAME);
        found.has_calibrated_timestamps = extensions.contains(ext::calibrated_timestamps::NAME);
        found.query_features(instance, physical, &extensions);
        found.query_properties(instance, physical, &extensions);
        Ok(found)
    }

    /// Queries the features of a device with Vulkan 1.2 and these extensions.
    fn query_features(
        &mut self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        extensions: &HashSet<CString>,
    ) {
        let is13 = self.is(1, 3);
        let mut features =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut self.v11).push_next(&mut self.v12);
        if is13 {
            features = features.push_next(&mut self.v13);
        }
        if extensions.contains(ext::shader_atomic_float::NAME) {
            features = features.push_next(&mut self.float_atomics);
        }
        if extensions.contains(khr::workgroup_memory_explicit_layout::NAME) {
            features = features.push_next(&mut self.explicit_layout);
        }
        if extensions.contains(khr::shader_clock::NAME) {
            features = features.push_next(&mut self.clock);
        }
        if can_place_maps(extensions) {
            features = features.push_next(&mut self.placed_maps);
        }
        // SAFETY: the physical device belongs to the instance and supports every structure of the chain.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        self.core = features.features;
        // The pointers of the chain would dangle when this structure moves.
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        self.float_atomics.p_next = std::ptr::null_mut();
        self.explicit_layout.p_next = std::ptr::null_mut();
        self.clock.p_next = std::ptr::null_mut();
        self.placed_maps.p_next = std::ptr::null_mut();
    }

    /// Queries the properties of a device with Vulkan 1.2 and these extensions. Its features are known.
    fn query_properties(
        &mut self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        extensions: &HashSet<CString>,
    ) {
        let mut maintenance3 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut properties12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut properties13 = vk::PhysicalDeviceVulkan13Properties::default();
        let mut host_memory = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut placed_maps = vk::PhysicalDeviceMapMemoryPlacedPropertiesEXT::default();
        let imports =
            extensions.contains(ext::external_memory_host::NAME) && imported::can_import(instance, physical);
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut maintenance3)
            .push_next(&mut properties12);
        if self.is(1, 3) {
            properties = properties.push_next(&mut properties13);
        }
        if imports {
            properties = properties.push_next(&mut host_memory);
        }
        if can_place_maps(extensions) {
            properties = properties.push_next(&mut placed_maps);
        }
        // SAFETY: the physical device belongs to the instance and supports every structure of the chain.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        if self.is(1, 3) {
            self.max_buffer = properties13.max_buffer_size;
        }
        self.host_memory_alignment = imports.then_some(host_memory.min_imported_host_pointer_alignment);
        let places = self.placed_maps.memory_map_placed == vk::TRUE && self.kind() != DeviceKind::Cpu;
        self.placed_map_alignment = places.then_some(placed_maps.min_placed_memory_map_alignment);
        self.subgroups = maintenance3;
        self.properties12 = properties12;
        // The pointers of the chain refer to locals of this function.
        self.subgroups.p_next = std::ptr::null_mut();
        self.properties12.p_next = std::ptr::null_mut();
    }

    fn is(&self, major: u32, minor: u32) -> bool {
        self.properties.api_version >= vk::make_api_version(0, major, minor, 0)
    }

    /// What the device lacks to run kernels at all.
    fn lacks(&self) -> Vec<String> {
        if !self.is(1, 2) {
            return vec!["Vulkan 1.2".to_owned()];
        }
        [
            ("the Vulkan memory model", self.v12.vulkan_memory_model),
            ("buffer device addresses", self.v12.buffer_device_address),
            ("timeline semaphores", self.v12.timeline_semaphore),
            ("a queue for compute", vk::Bool32::from(self.family.is_some())),
        ]
        .into_iter()
        .filter(|(_, has)| *has == vk::FALSE)
        .map(|(name, _)| name.to_owned())
        .collect()
    }

    /// The number of queues to create.
    pub(super) fn queues(&self) -> u32 {
        self.queue_count
    }

    pub(super) fn describe(&self, index: usize) -> DeviceInfo {
        let name = text(self.properties.device_name_as_c_str().ok());
        let driver = text(self.properties12.driver_name_as_c_str().ok());
        let version = text(self.properties12.driver_info_as_c_str().ok());
        DeviceInfo {
            index,
            name,
            driver: format!("{driver} {version}").trim().to_owned(),
            kind: self.kind(),
            identity: self.identity(),
            environment: Environment::Vulkan,
            is_strict: false,
            capabilities: self.capabilities(),
            features: self.features(),
            known_driver: self.known_driver(),
            lacks: self.lacks(),
        }
    }

    fn identity(&self) -> Identity {
        let found = &self.subgroups;
        let local =
            (found.device_luid_valid == vk::TRUE).then_some((found.device_luid, found.device_node_mask));
        Identity { device: found.device_uuid, driver: found.driver_uuid, local }
    }

    /// The driver, if the table of driver bugs has rows for it. Mesa and NVIDIA write their version into
    /// `driverInfo`; SwiftShader leaves that empty, and its `driverVersion` has the format of Vulkan's own versions.
    fn known_driver(&self) -> Option<Driver> {
        let id = match self.properties12.driver_id {
            vk::DriverId::MESA_LLVMPIPE => DriverId::Lavapipe,
            vk::DriverId::GOOGLE_SWIFTSHADER => DriverId::SwiftShader,
            vk::DriverId::NVIDIA_PROPRIETARY => DriverId::Nvidia,
            _ => return None,
        };
        let number = self.properties.driver_version;
        let decoded = || Version {
            major: vk::api_version_major(number),
            minor: vk::api_version_minor(number),
            patch: vk::api_version_patch(number),
        };
        let info = text(self.properties12.driver_info_as_c_str().ok());
        Some(Driver { id, version: Version::find(&info).unwrap_or_else(decoded) })
    }

    fn kind(&self) -> DeviceKind {
        match self.properties.device_type {
            vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
            vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::VirtualGpu,
            vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::IntegratedGpu,
            vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::DiscreteGpu,
            _ => DeviceKind::Other,
        }
    }

    /// SwiftShader aborts the process if a kernel's values exceed its stack, as 8 KiB of loaded arguments do.
    fn max_parameter_size(&self) -> u32 {
        match self.known_driver() {
            Some(Driver { id: DriverId::SwiftShader, .. }) => MAX_PARAMETER_SIZE / 4,
            _ => MAX_PARAMETER_SIZE,
        }
    }

    fn capabilities(&self) -> Capabilities {
        let limits = &self.properties.limits;
        let features = self.features();
        let heaps = &self.memory.memory_heaps[..self.memory.memory_heap_count as usize];
        let local = heaps.iter().filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        let global_memory = local.map(|heap| heap.size).max().unwrap_or(0);
        let extensions = features.extensions(Environment::Vulkan);
        let (orders, scopes) = (orders(extensions), scopes(extensions));
        Capabilities {
            atomic_orders: orders.clone(),
            atomic_scopes: scopes.clone(),
            fence_orders: orders,
            fence_scopes: [vec![Scope::WorkItem], scopes].concat(),
            int64_global_atomics: features.target.int64_global_atomics,
            int64_local_atomics: features.target.int64_local_atomics,
            float_atomic_add: features.target.float32_atomic_add,
            int64: features.target.int64,
            fp16: extensions.has(Extension::KhrFp16),
            fp64: extensions.has(Extension::KhrFp64),
            sub_groups: extensions.has(Extension::FeatureSubgroups).then(|| SubGroups {
                max_size: self.subgroups.subgroup_size,
                extensions: sub_group_extensions(&features),
            }),
            images: extensions.has(Extension::Images).then_some(ImageLimits {
                read_write: extensions.has(Extension::ReadWriteImages),
                max_2d: limits.max_image_dimension2_d,
                max_3d: limits.max_image_dimension3_d,
                max_layers: limits.max_image_array_layers,
                max_buffer: limits.max_texel_buffer_elements,
                max_samplers: BindingLimits::new(limits).samplers,
            }),
            max_work_group_size: limits.max_compute_work_group_invocations,
            max_work_item_sizes: limits.max_compute_work_group_size,
            local_memory: u64::from(limits.max_compute_shared_memory_size),
            global_memory,
            max_allocation: self.subgroups.max_memory_allocation_size.min(self.max_buffer).min(global_memory),
            max_parameter_size: self.max_parameter_size().min(limits.max_uniform_buffer_range),
            unified_memory: matches!(self.kind(), DeviceKind::Cpu | DeviceKind::IntegratedGpu),
            host_memory_alignment: self.host_memory_alignment,
            // CPU devices are the only ones where Vulkan guarantees it: the host's processors run the kernels.
            svm_atomics: self.kind() == DeviceKind::Cpu,
            compute_units: self.compute_units,
            timer_resolution: match self.family {
                Some((_, bits)) if bits > 0 => limits.timestamp_period,
                _ => 0.0,
            },
        }
    }

    /// For the widths 32, 16 and 64, whether the device can preserve denormals.
    fn keeps_denormals(&self) -> [bool; 3] {
        let properties = &self.properties12;
        let modes = [
            properties.shader_denorm_preserve_float32,
            properties.shader_denorm_preserve_float16,
            properties.shader_denorm_preserve_float64,
        ];
        independent(modes, properties.denorm_behavior_independence)
    }

    /// For the widths 32, 16 and 64, whether the device can round to the nearest number.
    fn rounds_to_nearest(&self) -> [bool; 3] {
        let properties = &self.properties12;
        let modes = [
            properties.shader_rounding_mode_rte_float32,
            properties.shader_rounding_mode_rte_float16,
            properties.shader_rounding_mode_rte_float64,
        ];
        independent(modes, properties.rounding_mode_independence)
    }

    fn features(&self) -> Features {
        let on = |feature: vk::Bool32| feature == vk::TRUE;
        let limits = &self.properties.limits;
        let in_compute = self.subgroups.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE);
        let subgroup = |operation: vk::SubgroupFeatureFlags| {
            in_compute && self.subgroups.subgroup_supported_operations.contains(operation)
        };
        let bindings = BindingLimits::new(limits);
        let keeps_denormals = self.keeps_denormals();
        let rounds_to_nearest = self.rounds_to_nearest();
        let target = target::Features {
            int8: on(self.v12.shader_int8),
            int16: on(self.core.shader_int16),
            int64: on(self.core.shader_int64),
            fp16: on(self.v12.shader_float16),
            fp64: on(self.core.shader_float64),
            storage8: on(self.v12.storage_buffer8_bit_access)
                && on(self.v12.uniform_and_storage_buffer8_bit_access),
            storage16: on(self.v11.storage_buffer16_bit_access)
                && on(self.v11.uniform_and_storage_buffer16_bit_access),
            push_constant8: on(self.v12.storage_push_constant8),
            push_constant16: on(self.v11.storage_push_constant16),
            int64_global_atomics: on(self.v12.shader_buffer_int64_atomics),
            int64_local_atomics: on(self.v12.shader_shared_int64_atomics),
            float32_atomic_add: on(self.float_atomics.shader_buffer_float32_atomic_add)
                && on(self.float_atomics.shader_shared_float32_atomic_add)
                // Atomic loads, stores and exchanges of floats in local memory need their own feature.
                && on(self.float_atomics.shader_shared_float32_atomics),
            variable_pointers: on(self.v11.variable_pointers)
                && on(self.v11.variable_pointers_storage_buffer),
            workgroup_explicit_layout: on(self.explicit_layout.workgroup_memory_explicit_layout)
                && on(self.explicit_layout.workgroup_memory_explicit_layout8_bit_access)
                && on(self.explicit_layout.workgroup_memory_explicit_layout16_bit_access),
            device_scope: on(self.v12.vulkan_memory_model_device_scope),
            availability_chains: on(self.v12.vulkan_memory_model_availability_visibility_chains),
            subgroups: subgroup(vk::SubgroupFeatureFlags::BASIC),
            clock: on(self.clock.shader_device_clock) && on(self.clock.shader_subgroup_clock),
            push_constant_size: limits.max_push_constants_size,
            read_images: bindings.sampled,
            written_images: bindings.stored,
            float_controls_preserve32: on(self.properties12.shader_signed_zero_inf_nan_preserve_float32),
            float_controls_preserve16: on(self.properties12.shader_signed_zero_inf_nan_preserve_float16),
            float_controls_preserve64: on(self.properties12.shader_signed_zero_inf_nan_preserve_float64),
            float_controls_denorm_preserve32: keeps_denormals[0],
            float_controls_denorm_preserve16: keeps_denormals[1],
            float_controls_denorm_preserve64: keeps_denormals[2],
            images: on(self.core.shader_storage_image_write_without_format),
            read_write_images: on(self.core.shader_storage_image_read_without_format)
                && on(self.core.shader_storage_image_write_without_format),
            image_level_writes: on(self.core.shader_storage_image_write_without_format)
                && bindings.stored >= 4 * IMAGE_LEVELS,
            device_samplers: self.filters_floats && !self.rounds_filters(),
            float_controls_rte32: rounds_to_nearest[0],
            float_controls_rte16: rounds_to_nearest[1],
            float_controls_rte64: rounds_to_nearest[2],
        };
        Features {
            target,
            spirv: if self.is(1, 3) { (1, 6) } else { (1, 5) },
            subgroup_vote: subgroup(vk::SubgroupFeatureFlags::VOTE),
            subgroup_arithmetic: subgroup(vk::SubgroupFeatureFlags::ARITHMETIC),
            subgroup_ballot: subgroup(vk::SubgroupFeatureFlags::BALLOT),
            subgroup_shuffle: subgroup(vk::SubgroupFeatureFlags::SHUFFLE),
            subgroup_shuffle_relative: subgroup(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
            subgroup_clustered: subgroup(vk::SubgroupFeatureFlags::CLUSTERED),
            subgroup_extended_types: on(self.v12.shader_subgroup_extended_types),
            local_memory: limits.max_compute_shared_memory_size,
        }
    }

    /// Whether linear filters round to the precision of the channels several times. lavapipe does it for 8-bit channels, with the
    /// addressing modes edge and repeat: the mean of four texels is off by 1/255, which Khronos' tests reject. Measured with Mesa
    /// 22.3.6 and 25.0.7; it is correct with `GALLIVM_PERF=no_aos_sampling`.
    fn rounds_filters(&self) -> bool {
        self.properties12.driver_id == vk::DriverId::MESA_LLVMPIPE
    }

    /// Enables exactly the features listed in `features`, and those that the runtime itself uses.
    pub(super) fn enable(&self) -> Enabled {
        let features = self.features();
        let float_atomics = features.target.float32_atomic_add.then(|| {
            vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default()
                .shader_buffer_float32_atomic_add(true)
                .shader_shared_float32_atomic_add(true)
                .shader_shared_float32_atomics(true)
        });
        let explicit_layout = features.target.workgroup_explicit_layout.then(|| {
            vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default()
                .workgroup_memory_explicit_layout(true)
                .workgroup_memory_explicit_layout8_bit_access(true)
                .workgroup_memory_explicit_layout16_bit_access(true)
                .workgroup_memory_explicit_layout_scalar_block_layout(
                    self.explicit_layout.workgroup_memory_explicit_layout_scalar_block_layout == vk::TRUE,
                )
        });
        let clock = features.target.clock.then(|| {
            vk::PhysicalDeviceShaderClockFeaturesKHR::default()
                .shader_device_clock(true)
                .shader_subgroup_clock(true)
        });
        let placed_maps = self
            .placed_map_alignment
            .map(|_| vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT::default().memory_map_placed(true));
        let extensions = [
            placed_maps.is_some().then_some(khr::map_memory2::NAME),
            placed_maps.is_some().then_some(ext::map_memory_placed::NAME),
            float_atomics.is_some().then_some(ext::shader_atomic_float::NAME),
            explicit_layout.is_some().then_some(khr::workgroup_memory_explicit_layout::NAME),
            clock.is_some().then_some(khr::shader_clock::NAME),
            self.host_memory_alignment.is_some().then_some(ext::external_memory_host::NAME),
            self.has_calibrated_timestamps.then_some(ext::calibrated_timestamps::NAME),
            self.is_subset.then_some(khr::portability_subset::NAME),
        ];
        Enabled {
            extensions: extensions.into_iter().flatten().collect(),
            core: self.enabled_core(),
            v11: self.enabled_v11(),
            v12: self.enabled_v12(),
            v13: self.is(1, 3).then(|| vk::PhysicalDeviceVulkan13Features {
                maintenance4: self.v13.maintenance4,
                ..Default::default()
            }),
            float_atomics,
            explicit_layout,
            clock,
            placed_maps,
        }
    }

    /// The enabled features of Vulkan 1.0.
    fn enabled_core(&self) -> vk::PhysicalDeviceFeatures {
        let core = &self.core;
        vk::PhysicalDeviceFeatures {
            shader_int16: core.shader_int16,
            shader_int64: core.shader_int64,
            shader_float64: core.shader_float64,
            shader_storage_image_read_without_format: core.shader_storage_image_read_without_format,
            shader_storage_image_write_without_format: core.shader_storage_image_write_without_format,
            ..Default::default()
        }
    }

    /// The enabled features of Vulkan 1.1.
    fn enabled_v11(&self) -> vk::PhysicalDeviceVulkan11Features<'static> {
        let v11 = &self.v11;
        vk::PhysicalDeviceVulkan11Features {
            storage_buffer16_bit_access: v11.storage_buffer16_bit_access,
            uniform_and_storage_buffer16_bit_access: v11.uniform_and_storage_buffer16_bit_access,
            storage_push_constant16: v11.storage_push_constant16,
            variable_pointers: v11.variable_pointers,
            variable_pointers_storage_buffer: v11.variable_pointers_storage_buffer,
            ..Default::default()
        }
    }

    /// Whether the host can reset queries.
    pub(super) fn resets_queries(&self) -> bool {
        self.v12.host_query_reset == vk::TRUE
    }

    /// The enabled features of Vulkan 1.2.
    fn enabled_v12(&self) -> vk::PhysicalDeviceVulkan12Features<'static> {
        let v12 = &self.v12;
        vk::PhysicalDeviceVulkan12Features {
            storage_buffer8_bit_access: v12.storage_buffer8_bit_access,
            uniform_and_storage_buffer8_bit_access: v12.uniform_and_storage_buffer8_bit_access,
            storage_push_constant8: v12.storage_push_constant8,
            shader_buffer_int64_atomics: v12.shader_buffer_int64_atomics,
            shader_shared_int64_atomics: v12.shader_shared_int64_atomics,
            shader_float16: v12.shader_float16,
            shader_int8: v12.shader_int8,
            scalar_block_layout: v12.scalar_block_layout,
            uniform_buffer_standard_layout: v12.uniform_buffer_standard_layout,
            shader_subgroup_extended_types: v12.shader_subgroup_extended_types,
            host_query_reset: v12.host_query_reset,
            timeline_semaphore: vk::TRUE,
            buffer_device_address: vk::TRUE,
            vulkan_memory_model: vk::TRUE,
            vulkan_memory_model_device_scope: v12.vulkan_memory_model_device_scope,
            vulkan_memory_model_availability_visibility_chains: v12
                .vulkan_memory_model_availability_visibility_chains,
            ..Default::default()
        }
    }
}

/// Whether a device with these extensions can map memory at a given address of the host.
fn can_place_maps(extensions: &HashSet<CString>) -> bool {
    [ext::map_memory_placed::NAME, khr::map_memory2::NAME].iter().all(|name| extensions.contains(*name))
}

fn text(text: Option<&CStr>) -> String {
    text.map(CStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// A compute family, preferably without graphics: such queues run concurrently with the desktop's.
fn compute_family(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> Option<(u32, vk::QueueFamilyProperties)> {
    // SAFETY: the physical device belongs to the instance.
    choose_family(unsafe { instance.get_physical_device_queue_family_properties(physical) })
}

fn choose_family(families: Vec<vk::QueueFamilyProperties>) -> Option<(u32, vk::QueueFamilyProperties)> {
    (0..)
        .zip(families)
        .filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE) && family.queue_count > 0)
        .min_by_key(|(_, family)| family.queue_flags.contains(vk::QueueFlags::GRAPHICS))
}

/// The extensions whose functions a device's sub-groups have.
fn sub_group_extensions(features: &Features) -> Vec<&'static str> {
    [
        (
            "cl_khr_subgroups",
            features.target.subgroups && features.subgroup_vote && features.subgroup_arithmetic,
        ),
        ("cl_khr_subgroup_extended_types", features.subgroup_extended_types),
        ("cl_khr_subgroup_non_uniform_vote", features.subgroup_vote),
        ("cl_khr_subgroup_ballot", features.subgroup_ballot),
        ("cl_khr_subgroup_non_uniform_arithmetic", features.subgroup_arithmetic),
        ("cl_khr_subgroup_shuffle", features.subgroup_shuffle),
        ("cl_khr_subgroup_shuffle_relative", features.subgroup_shuffle_relative),
        ("cl_khr_subgroup_clustered_reduce", features.subgroup_clustered),
    ]
    .into_iter()
    .filter_map(|(name, has)| has.then_some(name))
    .collect()
}

/// For the widths 32, 16 and 64, whether a module can require the mode, independently of the other widths. Widths that depend on
/// each other count only if all of them have the mode.
fn independent(modes: [vk::Bool32; 3], independence: vk::ShaderFloatControlsIndependence) -> [bool; 3] {
    let [float, half, double] = modes.map(|it| it == vk::TRUE);
    match independence {
        vk::ShaderFloatControlsIndependence::ALL => [float, half, double],
        vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => [float, half && double, half && double],
        _ => [float && half && double; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queue families of hardware devices. Software drivers have one family with one queue.
    #[test]
    fn compute_only_queue_families_are_preferred() {
        let (graphics, compute, transfer) =
            (vk::QueueFlags::GRAPHICS, vk::QueueFlags::COMPUTE, vk::QueueFlags::TRANSFER);
        let chosen =
            |families: &[(vk::QueueFlags, u32)]| {
                let family = |&(queue_flags, queue_count): &(vk::QueueFlags, u32)| {
                    vk::QueueFamilyProperties { queue_flags, queue_count, ..Default::default() }
                };
                let (index, family) = choose_family(families.iter().map(family).collect())?;
                Some((index, family.queue_count))
            };
        let nvidia = [(graphics | compute | transfer, 16), (transfer, 2), (compute | transfer, 8)];
        assert_eq!(chosen(&nvidia), Some((2, 8)));
        assert_eq!(chosen(&[(graphics | compute | transfer, 1)]), Some((0, 1)));
        assert_eq!(chosen(&[(graphics | compute, 1), (compute, 0), (transfer, 1)]), Some((0, 1)));
        assert_eq!(chosen(&[(graphics | transfer, 1), (transfer, 2)]), None);
    }
}
