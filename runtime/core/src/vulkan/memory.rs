//! Memory: one `VkBuffer` for each allocation, placed by gpu-allocator.
//!
//! Owns allocations. It must never know what they are for beyond where they had best lie.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use super::device::Device;
use crate::backend::{self, Memory, Placement};
use crate::error::{Error, Result};

/// OpenCL's buffers are aligned for its largest type, `long16`.
const ALIGNMENT: u64 = 128;

/// A `VkBuffer` with memory of its own.
pub(super) struct Buffer {
    pub(super) raw: vk::Buffer,
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

/// Memory for kernels or for transfers.
pub(super) fn allocate(device: &Arc<Device>, size: u64, placement: Placement) -> Result<Memory> {
    let by_kernels = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        | vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST;
    let (usage, location) = match placement {
        Placement::Device => (by_kernels, MemoryLocation::GpuOnly),
        Placement::Shared => (by_kernels, MemoryLocation::CpuToGpu),
        Placement::Upload => (vk::BufferUsageFlags::TRANSFER_SRC, MemoryLocation::CpuToGpu),
        Placement::Download => (vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu),
    };
    let buffer = Buffer::new(device, size, usage, location)?;
    let mut address = 0;
    if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.raw);
        // SAFETY: the buffer was created for this and has memory.
        address = unsafe { device.raw.get_buffer_device_address(&info) };
    }
    Ok(Memory { address, handle: Arc::new(buffer) })
}

/// The buffer behind the memory of an allocation of this back end.
pub(super) fn buffer(memory: &Memory) -> Result<vk::Buffer> {
    let handle: &dyn Any = &*memory.handle;
    handle
        .downcast_ref::<Buffer>()
        .map(|buffer| buffer.raw)
        .ok_or_else(|| Error::WrongDevice { object: "the buffer".to_owned() })
}

impl backend::Allocation for Buffer {
    fn host(&self) -> Option<NonNull<u8>> {
        self.allocation.as_ref().and_then(Allocation::mapped_ptr).map(NonNull::cast)
    }
}

impl Buffer {
    pub(super) fn new(
        device: &Arc<Device>,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        let failed = |result| device.failure("creating a buffer", result, size);
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is valid; the size is not 0.
        let raw = unsafe { device.raw.create_buffer(&info, None) }.map_err(failed)?;
        // From here on, dropping `buffer` destroys what was made.
        let mut buffer = Self { raw, allocation: None, device: device.clone() };
        // SAFETY: the buffer belongs to the device.
        let mut requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        requirements.alignment = requirements.alignment.max(ALIGNMENT);
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

    /// The bytes, for memory that the host sees.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.allocation.as_mut().and_then(Allocation::mapped_slice_mut).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: commands that use the buffer hold it until they are complete.
        unsafe { self.device.raw.destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}
