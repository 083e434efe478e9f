//! A logical device: creation, its queues, its allocator, destruction.
//!
//! Owns the device. Must not depend on commands or kernels.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocation, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings};
use kiln_vocabulary::driver_bugs::DriverBug;

use super::clock::Clock;
use super::features::{Enabled, QueriedFeatures};
use super::instance::Shared;
use super::memory::TransientPool;
use super::placed::PlacedMaps;
use super::sampler::Samplers;
use super::timeline::Timelines;
use super::{failure, image, imported, memory, program, queue};
use crate::backend::{
    self, Backend, BackendQueue, ImageMemory, KernelLayout, Memory, Placement, ProgramHandle, Purpose,
};
use crate::cache::Cache;
use crate::capabilities::DeviceInfo;
use crate::error::{Error, Result};
use crate::image::{ImageDesc, ImageFormat, ImageKind, ImageSupport};
use crate::module::Module;
use crate::sampler::Sampler;

/// The size of the memory blocks that small buffers share.
const MEMORY_BLOCK_BYTES: u64 = 32 << 20;

/// The maximum number of queues to create; more would only add cost.
const MAX_QUEUES: u32 = 8;

/// The `Backend` of a device.
pub(super) struct Handle(pub(super) Arc<Device>);

/// An open device.
pub(super) struct Device {
    pub(super) raw: ash::Device,
    pub(super) info: DeviceInfo,
    pub(super) cache: Option<Cache>,
    /// The header of pipeline caches of this device and driver.
    pub(super) identity: Vec<u8>,
    pub(super) limits: vk::PhysicalDeviceLimits,
    pub(super) family: u32,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) clock: Clock,
    /// Whether the host can reset queries.
    pub(super) resets_queries: bool,
    /// The queues. The mutexes serialize submissions.
    pub(super) queues: Vec<Arc<Mutex<vk::Queue>>>,
    /// On drivers with [`DriverBug::StaleKernelCode`]. Threads that create or destroy pipelines share it; a submission holds it
    /// alone.
    code: Option<RwLock<()>>,
    pub(super) timelines: Timelines,
    pub(super) allocator: Mutex<ManuallyDrop<Allocator>>,
    pub(super) transient_buffers: TransientPool,
    /// Memory types and heaps.
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    host_memory: Option<ext::external_memory_host::Device>,
    /// `None` if the device cannot do it, or has the host's addresses anyway.
    pub(super) placed_maps: Option<PlacedMaps>,
    samplers: Samplers,
    /// When it was opened: time zero for all timestamps.
    pub(super) open_time: Instant,
    lost: AtomicBool,
    instance: Arc<Shared>,
}

/// The features of a format.
pub(super) struct FormatFeatures {
    pub(super) image: vk::FormatFeatureFlags,
    pub(super) buffer: vk::FormatFeatureFlags,
    /// Without declaring the format in the module, here and below.
    pub(super) writes_images: bool,
    pub(super) writes_buffers: bool,
}

impl Handle {
    pub(super) fn open(
        instance: &Arc<Shared>,
        physical: vk::PhysicalDevice,
        info: &DeviceInfo,
        cache: Option<Cache>,
    ) -> Result<Self> {
        let found = QueriedFeatures::new(&instance.raw, physical)?;
        let Some((family, timestamp_bits)) = found.family else {
            return Err(Error::UnsuitableDevice { device: info.name.clone(), lacks: info.lacks.clone() });
        };
        let priorities = vec![1.0; found.queues().min(MAX_QUEUES) as usize];
        let raw = create(instance, physical, (family, &priorities), found.enable(), info)?;
        let queues = (0..found.queues().min(MAX_QUEUES)).map(|index| {
            // SAFETY: the device was created with this many queues of this family.
            Arc::new(Mutex::new(unsafe { raw.get_device_queue(family, index) }))
        });
        let queues: Vec<_> = queues.collect();
        let imports = info.capabilities.host_memory_alignment.is_some();
        let host_memory = imports.then(|| ext::external_memory_host::Device::new(&instance.raw, &raw));
        let placed_maps = found
            .placed_map_alignment
            .map(|alignment| PlacedMaps::new(khr::map_memory2::Device::new(&instance.raw, &raw), alignment));
        let calibrates = found.has_calibrated_timestamps && instance.calibrates(physical);
        let calibrated = calibrates.then(|| ext::calibrated_timestamps::Device::new(&instance.raw, &raw));
        let clock = Clock::new(calibrated, timestamp_bits, found.properties.limits.timestamp_period);
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: raw.clone(),
            physical_device: physical,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: true,
            allocation_sizes: AllocationSizes::new(MEMORY_BLOCK_BYTES, MEMORY_BLOCK_BYTES),
        });
        let allocator = match allocator {
            Ok(allocator) => allocator,
            Err(error) => {
                // SAFETY: the device has no child objects yet.
                unsafe { raw.destroy_device(None) };
                return Err(Error::Driver {
                    operation: "preparing memory".to_owned(),
                    detail: error.to_string(),
                });
            }
        };
        Ok(Self(Arc::new(Device {
            raw,
            info: info.clone(),
            cache,
            identity: identity(&found.properties),
            limits: found.properties.limits,
            family,
            physical,
            clock,
            resets_queries: found.resets_queries(),
            queues,
            code: info.driver_bugs().any(|bug| bug == DriverBug::StaleKernelCode).then(RwLock::default),
            timelines: Timelines::default(),
            allocator: Mutex::new(ManuallyDrop::new(allocator)),
            transient_buffers: TransientPool::default(),
            memory: found.memory,
            host_memory,
            placed_maps,
            samplers: Samplers::default(),
            open_time: Instant::now(),
            lost: AtomicBool::new(false),
            instance: instance.clone(),
        })))
    }
}

/// The header of pipeline caches (Vulkan, `VkPipelineCacheHeaderVersionOne`).
fn identity(properties: &vk::PhysicalDeviceProperties) -> Vec<u8> {
    let words = [32, 1, properties.vendor_id, properties.device_id];
    words.iter().flat_map(|word: &u32| word.to_ne_bytes()).chain(properties.pipeline_cache_uuid).collect()
}

fn create(
    instance: &Shared,
    physical: vk::PhysicalDevice,
    (family, priorities): (u32, &[f32]),
    mut enabled: Enabled,
    info: &DeviceInfo,
) -> Result<ash::Device> {
    let queues =
        [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(priorities)];
    let extensions: Vec<_> = enabled.extensions.iter().map(|name| name.as_ptr()).collect();
    let mut create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .enabled_features(&enabled.core)
        .push_next(&mut enabled.v11)
        .push_next(&mut enabled.v12);
    if let Some(v13) = &mut enabled.v13 {
        create = create.push_next(v13);
    }
    if let Some(float_atomics) = &mut enabled.float_atomics {
        create = create.push_next(float_atomics);
    }
    if let Some(explicit_layout) = &mut enabled.explicit_layout {
        create = create.push_next(explicit_layout);
    }
    if let Some(clock) = &mut enabled.clock {
        create = create.push_next(clock);
    }
    if let Some(placed_maps) = &mut enabled.placed_maps {
        create = create.push_next(placed_maps);
    }
    // SAFETY: the physical device belongs to the instance and supports these features, and all structures outlive the
    // call.
    unsafe { instance.raw.create_device(physical, &create, None) }.map_err(|result| match result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
            Error::OutOfMemory { bytes: 0, device: info.name.clone() }
        }
        result => failure("opening the device", result),
    })
}

impl Device {
    /// Keeps out submissions while the caller creates or destroys pipelines, on drivers that need it.
    pub(super) fn exclude_submissions(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.code.as_ref().map(|code| code.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the pipelines unchanged while the caller submits, on drivers that need it. Take it before the lock of a queue.
    pub(super) fn exclude_code_changes(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        self.code.as_ref().map(|code| code.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Converts the error of an allocation of this size.
    pub(super) fn failure(&self, operation: &str, result: vk::Result, bytes: u64) -> Error {
        match result {
            vk::Result::ERROR_OUT_OF_HOST_MEMORY
            | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
            | vk::Result::ERROR_OUT_OF_POOL_MEMORY => {
                Error::OutOfMemory { bytes, device: self.info.name.clone() }
            }
            vk::Result::ERROR_DEVICE_LOST => self.record_loss(None),
            result => failure(operation, result),
        }
    }

    /// The types of memory with these properties, of those in a mask.
    pub(super) fn memory_types(
        &self,
        mask: u32,
        properties: vk::MemoryPropertyFlags,
    ) -> impl Iterator<Item = u32> {
        let types = self.memory.memory_types_as_slice().iter().zip(0..);
        types
            .filter(move |(kind, index)| mask & 1 << index != 0 && kind.property_flags.contains(properties))
            .map(|(_, index)| index)
    }

    /// Records that the device was lost, while it ran this kernel.
    pub(super) fn record_loss(&self, kernel: Option<String>) -> Error {
        self.lost.store(true, Ordering::Relaxed);
        Error::DeviceLost { kernel }
    }

    /// Converts an error of the allocator.
    pub(super) fn allocation_failure(&self, error: &AllocationError, bytes: u64) -> Error {
        match error {
            AllocationError::OutOfMemory => Error::OutOfMemory { bytes, device: self.info.name.clone() },
            error => Error::Driver { operation: "allocating memory".to_owned(), detail: error.to_string() },
        }
    }

    /// Frees memory that is no longer in use.
    pub(super) fn free(&self, allocation: Allocation) {
        let mut allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = allocator.free(allocation) {
            tracing::error!("memory could not be freed: {error}");
        }
    }

    /// The features of images and buffer views of a format. Before Vulkan 1.3 a driver does not report which formats
    /// support writes without a format in the module; then the runtime assumes all writable formats, based on the
    /// device feature that it requires.
    pub(super) fn format_features(&self, format: vk::Format) -> FormatFeatures {
        let mut newer = vk::FormatProperties3::default();
        let mut properties = vk::FormatProperties2::default();
        let reports_formats = self.info.features.spirv >= (1, 6);
        if reports_formats {
            properties = properties.push_next(&mut newer);
        }
        // SAFETY: the physical device belongs to the instance, and the structure is used only with Vulkan 1.3.
        unsafe {
            self.instance.raw.get_physical_device_format_properties2(self.physical, format, &mut properties);
        }
        let properties = properties.format_properties;
        let without_format = vk::FormatFeatureFlags2::STORAGE_WRITE_WITHOUT_FORMAT;
        FormatFeatures {
            image: properties.optimal_tiling_features,
            buffer: properties.buffer_features,
            writes_images: !reports_formats || newer.optimal_tiling_features.contains(without_format),
            writes_buffers: !reports_formats || newer.buffer_features.contains(without_format),
        }
    }

    /// A device sampler, created on first use. It lives as long as the device.
    pub(super) fn sampler(&self, sampler: Sampler) -> Result<vk::Sampler> {
        let made = self.samplers.get(sampler, |info| {
            // SAFETY: the device is valid, and every device supports these samplers (`sampler.rs`).
            unsafe { self.raw.create_sampler(info, None) }
        });
        made.map_err(|result| self.failure("creating a sampler", result, 0))
    }

    /// Nanoseconds since the device was opened.
    pub(super) fn now(&self) -> u64 {
        self.open_time.elapsed().as_nanos() as u64
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        for (buffer, allocation) in self.transient_buffers.drain() {
            // SAFETY: pooled buffers are not in use.
            unsafe { self.raw.destroy_buffer(buffer, None) };
            self.free(allocation);
        }
        let allocator = self.allocator.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: queues, programs and memory hold a reference to the device, so none is left and nothing runs on it.
        // The allocator is not used after this, and its memory must be freed before the device.
        unsafe {
            ManuallyDrop::drop(allocator);
            for sampler in self.samplers.drain() {
                self.raw.destroy_sampler(sampler, None);
            }
            for semaphore in self.timelines.semaphores() {
                self.raw.destroy_semaphore(semaphore, None);
            }
            self.raw.destroy_device(None);
        }
    }
}

impl Backend for Handle {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn open_time(&self) -> Instant {
        self.0.open_time
    }

    fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Relaxed)
    }

    fn max_groups(&self) -> [u32; 3] {
        self.0.limits.max_compute_work_group_count
    }

    fn allocate(&self, size: u64, placement: Placement) -> Result<Memory> {
        memory::allocate(&self.0, size, placement)
    }

    unsafe fn import(&self, host: NonNull<u8>, size: u64) -> Result<Memory> {
        let Some(api) = &self.0.host_memory else {
            return Err(backend::no_host_memory(&self.0.info));
        };
        // SAFETY: the device has the extension; the caller guarantees the rest.
        unsafe { imported::import(&self.0, api, host, size) }
    }

    fn image_support(&self, kind: ImageKind, format: ImageFormat) -> ImageSupport {
        self.0.image_support(kind, format)
    }

    fn image_limit(&self, kind: ImageKind) -> [u32; 3] {
        self.0.image_limit(kind)
    }

    fn image(&self, desc: &ImageDesc) -> Result<ImageMemory> {
        image::create(&self.0, desc)
    }

    fn image_of_image(&self, image: &ImageMemory, desc: &ImageDesc) -> Result<ImageMemory> {
        image::of_image(&self.0, image, desc)
    }

    fn buffer_image(&self, memory: &Memory, offset: u64, desc: &ImageDesc, row: u32) -> Result<ImageMemory> {
        image::of_buffer(&self.0, memory, offset, desc, row)
    }

    fn pipe(&self, _packet_size: u32, _max_packets: u32) -> Result<Option<Memory>> {
        Ok(None)
    }

    fn load(&self, module: &Module, kernels: Vec<KernelLayout>) -> Result<ProgramHandle> {
        Ok(Arc::new(program::Program::new(&self.0, module, kernels)?))
    }

    fn queue(&self, purpose: Purpose) -> Result<Arc<dyn BackendQueue>> {
        Ok(Arc::new(queue::Handle::new(&self.0, purpose)?))
    }

    fn take_messages(&self) -> Vec<String> {
        self.0.instance.take_messages()
    }
}
