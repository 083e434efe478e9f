//! The memory of mappings, and what is kept of it for later mappings: new memory costs more than a transfer.
//!
//! On GPUs it is pinned memory, which the device copies to and from directly. So do reads and writes of buffers whose host
//! memory is inside a mapping.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::allocation::try_zeroed_vec;
use kiln_runtime::PinnedMemory;
use opencl_sys::*;

use crate::error::{Code, Result, log};
use crate::ffi::Host;
use crate::limits;
use crate::memory::Memory;

/// The bytes that a context keeps of mappings whose objects keep none.
const MAX_SPARE_BYTES: usize = 256 << 20;
/// The number of mappings that an object with `CL_MEM_ALLOC_HOST_PTR` keeps the memory of. While the device still copies from
/// the first, the second one can be mapped.
const MAX_OWN_SPARES: usize = 2;
/// Pinned memory has a multiple of this size, so that mappings of similar sizes share it.
const GRANULE: usize = 4096;

/// Pinned memory that no mapping uses.
pub(crate) struct Spares {
    free: Mutex<Vec<PinnedMemory>>,
    max_count: usize,
    max_bytes: usize,
}

impl Spares {
    /// For the mappings of one object.
    pub(crate) fn of_object() -> Arc<Self> {
        Arc::new(Self { free: Mutex::default(), max_count: MAX_OWN_SPARES, max_bytes: usize::MAX })
    }

    /// For all mappings of a context.
    pub(crate) fn of_context() -> Arc<Self> {
        Arc::new(Self { free: Mutex::default(), max_count: usize::MAX, max_bytes: MAX_SPARE_BYTES })
    }

    fn free(&self) -> MutexGuard<'_, Vec<PinnedMemory>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the smallest memory of at least this size, unless it is much larger.
    fn take(&self, size: usize) -> Option<PinnedMemory> {
        let mut free = self.free();
        let max = size.saturating_mul(4).max(GRANULE);
        let fits = free.iter().enumerate().filter(|(_, it)| (size..=max).contains(&it.len()));
        let (index, _) = fits.min_by_key(|(_, it)| it.len())?;
        Some(free.remove(index))
    }

    /// Keeps memory, and frees the oldest beyond the limits.
    fn give_back(&self, memory: PinnedMemory) {
        let mut free = self.free();
        free.push(memory);
        let mut bytes: usize = free.iter().map(PinnedMemory::len).sum();
        let mut excess = 0;
        while free.len() - excess > self.max_count || bytes > self.max_bytes {
            bytes -= free[excess].len();
            excess += 1;
        }
        let freed: Vec<_> = free.drain(..excess).collect();
        drop(free);
        drop(freed);
    }
}

/// Memory of a mapping.
pub(crate) enum MapMemory {
    /// Memory of the process.
    Heap(#[expect(dead_code, reason = "it is freed when it is dropped")] Vec<u8>),
    /// Pinned memory, which goes back to the spares.
    Pinned(PinnedMemory, Arc<Spares>),
}

impl Drop for MapMemory {
    fn drop(&mut self) {
        if let Self::Pinned(memory, spares) = self {
            spares.give_back(memory.clone());
        }
    }
}

impl MapMemory {
    /// Allocates zeros, aligned as `CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE` demands. Returns the address of the first byte, too.
    pub(crate) fn heap(size: usize) -> Result<(Arc<Self>, Host)> {
        // Bytes, so that the system provides the zeros: pages that are not used stay untouched.
        let bytes = size.saturating_add(limits::BASE_ALIGNMENT - 1);
        let mut memory = try_zeroed_vec::<u8>(bytes).map_err(|()| Code(CL_OUT_OF_HOST_MEMORY))?;
        let start = memory.as_mut_ptr();
        let first = start.wrapping_add(start.align_offset(limits::BASE_ALIGNMENT));
        Ok((Arc::new(Self::Heap(memory)), Host::new(first)))
    }

    /// Memory for bytes of a buffer, with undefined contents: pinned if possible.
    pub(crate) fn for_buffer(buffer: &Memory, size: usize) -> Result<(Arc<Self>, Host)> {
        match Self::pinned(buffer, size) {
            Some(pinned) => Ok(pinned),
            None => Self::heap(size),
        }
    }

    /// `None` if the context has several devices, between which the host copies anyway, or if there is no such memory.
    fn pinned(buffer: &Memory, size: usize) -> Option<(Arc<Self>, Host)> {
        let [device] = buffer.context().devices() else { return None };
        if device.description().is_strict {
            return None;
        }
        let spares = buffer.spares.as_ref().unwrap_or(buffer.context().spares());
        let memory = spares.take(size).or_else(|| {
            let made = device.open().ok()?.device.pinned(size.checked_next_multiple_of(GRANULE)?);
            made.inspect_err(|error| log(&error.to_string())).ok()
        })?;
        let first = Host::new(memory.host_address().as_ptr());
        first
            .address()
            .is_multiple_of(limits::BASE_ALIGNMENT)
            .then(|| (Arc::new(Self::Pinned(memory, spares.clone())), first))
    }
}
