//! Memory: one `VkBuffer` for each allocation, allocated by gpu-allocator, and the pool of transient buffers.
//!
//! Owns allocations. Must not depend on their purpose beyond their placement.

use std::any::Any;
use std::collections::HashMap;
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use kiln_vocabulary::opencl::MAX_TYPE_ALIGNMENT;

use super::device::Device;
use crate::backend::{self, Memory, Placement};
use crate::error::{Error, Result};
use crate::staging;

/// Transient buffers are pooled by power-of-two size, from this size on.
const MIN_POOLED_BYTES: u64 = 4096;
/// The largest pooled size: images and boxes are transferred in one piece.
const MAX_POOLED_SIZE: u64 = 32 << 20;

/// The number of buffers of a size that the pool keeps. Of sizes up to that of a chunk, 1 MiB in total, but at least what a
/// transfer has in flight; of larger ones, as many bytes as the largest has.
fn max_pooled(size: u64) -> usize {
    if size > staging::CHUNK_BYTES {
        return (MAX_POOLED_SIZE / size) as usize;
    }
    ((1 << 20) / size).max(staging::MAX_CHUNKS_IN_FLIGHT as u64 + 1) as usize
}

/// A `VkBuffer` with its own memory.
pub(super) struct Buffer {
    pub(super) raw: vk::Buffer,
    allocation: Option<Allocation>,
    /// Memory that is not the allocator's: imported host memory, or memory that is mapped at `placed`.
    pub(super) own_memory: vk::DeviceMemory,
    /// The host address of `own_memory`, if it is mapped.
    pub(super) placed: Option<NonZero<usize>>,
    /// The pool bucket it returns to, if it is transient.
    pool_key: Option<PoolKey>,
    device: Arc<Device>,
}

/// The pool bucket of transient buffers with one usage and size.
type PoolKey = (vk::BufferUsageFlags, u64);

/// A pool of transient buffers, which a single command uses: creating one costs more than most transfers and
/// launches.
#[derive(Default)]
pub(super) struct TransientPool(Mutex<HashMap<PoolKey, Vec<(vk::Buffer, Allocation)>>>);

impl TransientPool {
    fn take_buffer(&self, pool_key: PoolKey) -> Option<(vk::Buffer, Allocation)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&pool_key)?.pop()
    }

    /// Adds a buffer to the pool. Returns the allocation if its bucket is full.
    fn return_buffer(
        &self,
        pool_key: PoolKey,
        raw: vk::Buffer,
        allocation: Allocation,
    ) -> Option<Allocation> {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pooled = pools.entry(pool_key).or_default();
        if pooled.len() >= max_pooled(pool_key.1) {
            return Some(allocation);
        }
        pooled.push((raw, allocation));
        None
    }

    /// Removes all buffers.
    pub(super) fn drain(&mut self) -> Vec<(vk::Buffer, Allocation)> {
        let pools = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        pools.drain().flat_map(|(_, pooled)| pooled).collect()
    }
}

/// The usage flags of memory that kernels access.
pub(super) const BY_KERNELS: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// The properties of memory that the host accesses without flushing it.
pub(super) const COHERENT: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// Allocates memory for kernels or for transfers.
pub(super) fn allocate(device: &Arc<Device>, size: u64, placement: Placement) -> Result<Memory> {
    if placement == Placement::Shared
        && let Some(maps) = &device.placed_maps
        && let Some(memory) = maps.allocate(device, size)?
    {
        return Ok(memory);
    }
    let location = match placement {
        Placement::Device => MemoryLocation::GpuOnly,
        Placement::Shared => MemoryLocation::CpuToGpu,
        Placement::Upload | Placement::Download => {
            let handle = Arc::new(Buffer::staging(device, size, placement)?);
            return Ok(Memory { address: 0, handle, is_shared: false });
        }
        Placement::Pinned => {
            // The host also reads it, which takes long without a cache.
            let cached = COHERENT | vk::MemoryPropertyFlags::HOST_CACHED;
            if device.memory_types(u32::MAX, cached).next().is_none() {
                let feature = "cached memory of the host for transfers".to_owned();
                return Err(Error::MissingFeature { feature, device: device.info.name.clone() });
            }
            let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
            let handle = Arc::new(Buffer::new(device, size, usage, MemoryLocation::GpuToCpu)?);
            return Ok(Memory { address: 0, handle, is_shared: true });
        }
    };
    Ok(Buffer::new(device, size, BY_KERNELS, location)?.for_kernels(placement == Placement::Shared))
}

/// The buffer of memory that this back end allocated.
pub(super) fn buffer(memory: &Memory) -> Result<vk::Buffer> {
    let handle: &dyn Any = &*memory.handle;
    handle
        .downcast_ref::<Buffer>()
        .map(|buffer| buffer.raw)
        .ok_or_else(|| Error::WrongDevice { object: "the buffer".to_owned() })
}

impl backend::Allocation for Buffer {
    fn host(&self) -> Option<NonNull<u8>> {
        let placed = || self.placed.map(NonNull::with_exposed_provenance);
        self.allocation.as_ref().and_then(Allocation::mapped_ptr).map(NonNull::cast).or_else(placed)
    }
}

impl Buffer {
    /// Creates a buffer without memory.
    pub(super) fn without_memory(device: &Arc<Device>, info: &vk::BufferCreateInfo<'_>) -> Result<Self> {
        // SAFETY: the device is valid; the size is not 0.
        let raw = unsafe { device.raw.create_buffer(info, None) }
            .map_err(|result| device.failure("creating a buffer", result, info.size))?;
        // From here on, dropping the buffer destroys what was created.
        let own_memory = vk::DeviceMemory::null();
        Ok(Self { raw, allocation: None, own_memory, placed: None, pool_key: None, device: device.clone() })
    }

    pub(super) fn new(
        device: &Arc<Device>,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        let failed = |result| device.failure("creating a buffer", result, size);
        let mut buffer =
            Self::without_memory(device, &vk::BufferCreateInfo::default().size(size).usage(usage))?;
        let raw = buffer.raw;
        let mut requirements = buffer.requirements();
        requirements.alignment = requirements.alignment.max(MAX_TYPE_ALIGNMENT);
        let allocation = device
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .allocate(&AllocationCreateDesc {
                name: "kiln",
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| device.allocation_failure(&error, size))?;
        // SAFETY: the memory was allocated for the requirements of this buffer, which has none yet.
        let bound = unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        buffer.allocation = Some(allocation);
        bound.map_err(failed)?;
        Ok(buffer)
    }

    /// Converts the buffer to memory for kernels: it is bound to memory and was created with that usage.
    pub(super) fn for_kernels(self, is_shared: bool) -> Memory {
        Memory { address: self.address(), handle: Arc::new(self), is_shared }
    }

    /// The address for kernels. The buffer is bound to memory and was created with usage for kernels.
    pub(super) fn address(&self) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: the buffer was created for this and has memory.
        unsafe { self.device.raw.get_buffer_device_address(&info) }
    }

    /// The memory that the buffer needs.
    pub(super) fn requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: the buffer belongs to the device.
        unsafe { self.device.raw.get_buffer_memory_requirements(self.raw) }
    }

    /// Allocates memory of its own, which kernels can address, and binds the buffer to it.
    ///
    /// # Safety
    /// The buffer has no memory yet. The memory has the size and a type that the buffer needs; if it is imported, it is
    /// aligned and outlives the buffer.
    pub(super) unsafe fn bind_own_memory(
        &mut self,
        memory: vk::MemoryAllocateInfo<'_>,
    ) -> std::result::Result<(), vk::Result> {
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = memory.push_next(&mut flags);
        // SAFETY: as the caller promises.
        unsafe {
            self.own_memory = self.device.raw.allocate_memory(&info, None)?;
            self.device.raw.bind_buffer_memory(self.raw, self.own_memory, 0)
        }
    }

    /// Allocates staging memory on the host, where host copies are fastest in both directions; devices access it over
    /// the bus.
    fn staging(device: &Arc<Device>, size: u64, placement: Placement) -> Result<Self> {
        let usage = match placement {
            Placement::Upload => vk::BufferUsageFlags::TRANSFER_SRC,
            _ => vk::BufferUsageFlags::TRANSFER_DST,
        };
        Self::passing(device, size, usage, MemoryLocation::GpuToCpu)
    }

    /// Takes a transient buffer from the pool, or creates one.
    pub(super) fn passing(
        device: &Arc<Device>,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        if size > MAX_POOLED_SIZE {
            return Self::new(device, size, usage, location);
        }
        let size = size.next_power_of_two().max(MIN_POOLED_BYTES);
        let pool_key = Some((usage, size));
        if let Some((raw, allocation)) = device.transient_buffers.take_buffer((usage, size)) {
            return Ok(Self {
                raw,
                allocation: Some(allocation),
                own_memory: vk::DeviceMemory::null(),
                placed: None,
                pool_key,
                device: device.clone(),
            });
        }
        let mut buffer = Self::new(device, size, usage, location)?;
        buffer.pool_key = pool_key;
        Ok(buffer)
    }

    /// The bytes of host-visible memory.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.allocation.as_mut().and_then(Allocation::mapped_slice_mut).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut allocation = self.allocation.take();
        if let Some(pool_key) = self.pool_key
            && let Some(spare) = allocation.take()
        {
            allocation = self.device.transient_buffers.return_buffer(pool_key, self.raw, spare);
            if allocation.is_none() {
                return;
            }
        }
        // SAFETY: commands hold the buffer until they are complete.
        unsafe {
            self.device.raw.destroy_buffer(self.raw, None);
            self.device.raw.free_memory(self.own_memory, None);
        }
        if let Some(allocation) = allocation {
            self.device.free(allocation);
        }
    }
}
