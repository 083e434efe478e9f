//! Memory that the host maps at the device's address, for shared virtual memory (`VK_EXT_map_memory_placed`).
//!
//! Owns the search for a free range of addresses. Only on Linux: elsewhere, the host has no call that reserves a given range.

use std::ffi::c_void;
use std::num::NonZero;
use std::ptr;
use std::sync::Arc;

use ash::{khr, vk};

use super::device::Device;
use super::memory::{BY_KERNELS, Buffer, COHERENT};
use crate::backend::Memory;
use crate::error::Result;

/// The number of device addresses to try. The host may use the same range for other memory.
const ATTEMPTS: usize = 8;

/// Maps memory at given addresses.
pub(super) struct PlacedMaps {
    api: khr::map_memory2::Device,
    /// The unit of sizes and addresses, in bytes.
    alignment: u64,
}

impl PlacedMaps {
    pub(super) fn new(api: khr::map_memory2::Device, alignment: u64) -> Self {
        Self { api, alignment }
    }

    /// Allocates memory that the host and kernels access at the same address. `None` if the host uses the addresses that the
    /// device has offered, or if no memory is left that the host can map.
    pub(super) fn allocate(&self, device: &Arc<Device>, size: u64) -> Result<Option<Memory>> {
        // They stay allocated during the search, so that the device offers other addresses.
        let mut rejected = Vec::new();
        for _ in 0..ATTEMPTS {
            let Some((mut buffer, bytes)) = self.buffer(device, size)? else { return Ok(None) };
            if self.map(&mut buffer, bytes) {
                return Ok(Some(buffer.for_kernels(true)));
            }
            rejected.push(buffer);
        }
        Ok(None)
    }

    fn rounded(&self, size: u64) -> u64 {
        size.next_multiple_of(self.alignment)
    }

    /// A buffer with memory of its own, which is not mapped, and the size of the memory. `None` if no memory is left that the
    /// host can map.
    fn buffer(&self, device: &Arc<Device>, size: u64) -> Result<Option<(Buffer, u64)>> {
        let info = vk::BufferCreateInfo::default().size(self.rounded(size)).usage(BY_KERNELS);
        let mut buffer = Buffer::without_memory(device, &info)?;
        let needed = buffer.requirements();
        let bytes = self.rounded(needed.size);
        // Memory of the device first, because kernels are fast with no other. What the host can map of it may be small.
        for properties in [COHERENT | vk::MemoryPropertyFlags::DEVICE_LOCAL, COHERENT] {
            for index in device.memory_types(needed.memory_type_bits, properties) {
                let info = vk::MemoryAllocateInfo::default().allocation_size(bytes).memory_type_index(index);
                // SAFETY: the memory has the size and a type that the buffer needs, which has no memory yet.
                match unsafe { buffer.bind_own_memory(info) } {
                    Ok(()) => return Ok(Some((buffer, bytes))),
                    Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
                        if buffer.own_memory == vk::DeviceMemory::null() => {}
                    Err(result) => return Err(device.failure("allocating shared memory", result, size)),
                }
            }
        }
        Ok(None)
    }

    /// Maps all memory of the buffer at the address that it has for kernels. False if that is not possible.
    fn map(&self, buffer: &mut Buffer, bytes: u64) -> bool {
        let address = buffer.address();
        let Ok(start) = usize::try_from(address) else { return false };
        let Some(start) = NonZero::new(start).filter(|_| address.is_multiple_of(self.alignment)) else {
            return false;
        };
        let Some(range) = Range::reserve(start.get(), bytes as usize) else { return false };
        let mut place = vk::MemoryMapPlacedInfoEXT::default()
            .placed_address(ptr::with_exposed_provenance_mut(start.get()));
        let info = vk::MemoryMapInfoKHR::default()
            .flags(vk::MemoryMapFlags::PLACED_EXT)
            .memory(buffer.own_memory)
            .size(vk::WHOLE_SIZE)
            .push_next(&mut place);
        let mut host = ptr::null_mut::<c_void>();
        let map = self.api.fp().map_memory2_khr;
        // SAFETY: the memory is host-visible and not mapped; nothing else uses the range, which is as large as the memory. The
        // mapping replaces the reservation.
        let mapped = unsafe { map(self.api.device(), &info, &mut host) };
        if mapped != vk::Result::SUCCESS {
            return false;
        }
        range.replaced();
        buffer.placed = Some(start);
        true
    }
}

/// A range of the host's addresses that nothing uses.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "no range is reserved there"))]
struct Range {
    start: usize,
    len: usize,
}

impl Range {
    #[cfg(target_os = "linux")]
    fn reserve(start: usize, len: usize) -> Option<Self> {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        let wanted = ptr::with_exposed_provenance_mut(start);
        // SAFETY: the flags leave existing mappings as they are.
        let found = unsafe { mmap_anonymous(wanted, len, ProtFlags::empty(), flags) }.ok()?;
        // Kernels before 4.17 do not know the last flag and may return another range.
        let range = Self { start: found.expose_provenance(), len };
        (range.start == start).then_some(range)
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(_start: usize, _len: usize) -> Option<Self> {
        None
    }

    /// A mapping of the driver has taken its place, which the driver removes.
    fn replaced(self) {
        std::mem::forget(self);
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        // SAFETY: this range was reserved here, and nothing has been mapped in its place.
        let _ = unsafe { rustix::mm::munmap(ptr::with_exposed_provenance_mut(self.start), self.len) };
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Range;

    #[test]
    fn a_range_has_one_owner_at_a_time() {
        let start = 0x5_0000_0000;
        let range = Range::reserve(start, 1 << 16).expect("a free range");
        assert!(Range::reserve(start + 4096, 4096).is_none());
        drop(range);
        assert!(Range::reserve(start, 4096).is_some());
    }
}
