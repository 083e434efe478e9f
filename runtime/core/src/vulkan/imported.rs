//! Imported host memory, which the device uses without copying (`VK_EXT_external_memory_host`).
//!
//! Owns the import. Must not depend on the owner of the memory or its lifetime.

use std::ptr::NonNull;
use std::sync::Arc;

use ash::{ext, vk};

use super::device::Device;
use super::memory::{BY_KERNELS, Buffer, COHERENT};
use crate::backend::Memory;
use crate::error::{Error, Result};

const HOST: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Whether a device can import host memory for buffers that kernels use.
pub(super) fn can_import(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(BY_KERNELS).handle_type(HOST);
    let mut properties = vk::ExternalBufferProperties::default();
    // SAFETY: the physical device belongs to the instance, and has the extension that defines the handle type.
    unsafe { instance.get_physical_device_external_buffer_properties(physical, &info, &mut properties) };
    let features = properties.external_memory_properties.external_memory_features;
    features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
}

/// Creates a buffer in imported host memory.
///
/// # Safety
/// The device has the extension, and the memory is aligned and as
/// [`Backend::import`](crate::backend::Backend::import) requires.
pub(super) unsafe fn import(
    device: &Arc<Device>,
    api: &ext::external_memory_host::Device,
    host: NonNull<u8>,
    size: u64,
) -> Result<Memory> {
    let failed = |result| match result {
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => Error::Driver {
            operation: "importing host memory".to_owned(),
            detail: "the driver cannot use this kind of memory".to_owned(),
        },
        result => device.failure("importing host memory", result, size),
    };
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HOST);
    let info = vk::BufferCreateInfo::default().size(size).usage(BY_KERNELS).push_next(&mut external);
    let mut buffer = Buffer::without_memory(device, &info)?;
    let mut types = vk::MemoryHostPointerPropertiesEXT::default();
    let get_properties = api.fp().get_memory_host_pointer_properties_ext;
    // SAFETY: the memory has the alignment that the device requires.
    unsafe { get_properties(api.device(), HOST, host.as_ptr().cast(), &mut types) }
        .result()
        .map_err(failed)?;
    let needed = buffer.requirements();
    let index = device.memory_types(types.memory_type_bits & needed.memory_type_bits, COHERENT).next();
    let index = index.filter(|_| needed.size <= size);
    let index = index.ok_or_else(|| failed(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE))?;
    let mut import =
        vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HOST).host_pointer(host.as_ptr().cast());
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(size)
        .memory_type_index(index)
        .push_next(&mut import);
    // SAFETY: the memory has this size, is aligned, and outlives the import, which dropping the buffer frees. The
    // buffer was created for such memory, needs no more than its own size, and is not bound yet.
    unsafe { buffer.bind_own_memory(info) }.map_err(failed)?;
    Ok(buffer.for_kernels(true))
}
