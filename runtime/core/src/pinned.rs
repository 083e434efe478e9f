//! Pinned memory: memory of the host that the device copies to and from without staging memory.
//!
//! Owns the allocation. Transfers find it by its addresses (`shared_memory.rs`).

use std::fmt;
use std::ptr::NonNull;

use crate::backend::Placement;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};

/// Memory of the host for transfers. [`Queue::read_to`](crate::Queue::read_to) and
/// [`Queue::write_from`](crate::Queue::write_from) with memory inside it are copies of the device only. Clones share the
/// memory, which is freed when the last one is dropped and all commands on it are complete.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// use std::ptr::NonNull;
/// let buffer = device.buffer_from(&[1u8, 2, 3])?;
/// let pinned = device.pinned(3)?;
/// let target = NonNull::slice_from_raw_parts(pinned.host_address(), 3);
/// // SAFETY: the memory is used again after the event has ended.
/// unsafe { queue.read_to(&buffer, target)? }.wait()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PinnedMemory {
    buffer: Buffer,
    first: NonNull<u8>,
}

// SAFETY: the pointer is the address of the buffer's memory, which any thread may use.
unsafe impl Send for PinnedMemory {}
// SAFETY: as above; accesses through the address are unsafe.
unsafe impl Sync for PinnedMemory {}

impl Device {
    /// Allocates pinned memory with undefined contents. Fails if the host reads all memory of the device without a cache.
    pub fn pinned(&self, size: usize) -> Result<PinnedMemory> {
        let buffer = Buffer::allocate(self, size, Placement::Pinned)?;
        let first = buffer.memory.handle.host().ok_or_else(|| Error::MissingFeature {
            feature: "host-visible memory".to_owned(),
            device: self.name().to_owned(),
        })?;
        self.shared_memory().add(&buffer.memory, first, buffer.bytes());
        Ok(PinnedMemory { buffer, first })
    }
}

impl PinnedMemory {
    /// The address of the first byte, a multiple of 64 at least.
    pub fn host_address(&self) -> NonNull<u8> {
        self.first
    }

    /// The size in bytes; never 0.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.buffer.len()
    }
}

impl fmt::Debug for PinnedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedMemory").field("len", &self.len()).finish_non_exhaustive()
    }
}
