//! Buffers: device memory that kernels access through pointers.
//!
//! Owns the typed view of memory. One allocation is one object in the memory model, even if it has several views (R9).
//! Must not depend on how bytes are copied.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::ptr::NonNull;

use bytemuck::Pod;

use crate::backend::{Memory, Placement};
use crate::device::Device;
use crate::error::{Error, Result};

/// Device memory, viewed as elements of `T`. Clones and slices share the memory, which is freed when the last one is
/// dropped.
pub struct Buffer<T = u8> {
    pub(crate) device: Device,
    pub(crate) memory: Memory,
    /// Byte offset of this view in the allocation.
    pub(crate) offset: u64,
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn allocate(device: &Device, len: usize, placement: Placement) -> Result<Self> {
        Self::new(device, len, |bytes| device.backend().allocate(bytes, placement))
    }

    /// Allocates a buffer after checking its size.
    pub(crate) fn new(
        device: &Device,
        len: usize,
        memory: impl FnOnce(u64) -> Result<Memory>,
    ) -> Result<Self> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let limit = device.capabilities().max_allocation;
        if bytes == 0 || bytes > limit {
            return Err(Error::BufferSize { bytes, limit });
        }
        let memory = memory(bytes)?;
        Ok(Self { device: device.clone(), memory, offset: 0, len, element: PhantomData })
    }

    /// Returns a slice of the buffer (`clCreateSubBuffer`).
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(end) => end.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.len,
        };
        let element = size_of::<T>() as u64;
        if start >= end || end > self.len {
            return Err(Error::OutOfBounds {
                start: (start as u64).saturating_mul(element),
                end: (end as u64).saturating_mul(element),
                size: self.bytes(),
            });
        }
        let offset = self.offset + start as u64 * element;
        Ok(Self { offset, len: end - start, ..self.clone() })
    }

    /// Views the same memory as elements of a different type.
    pub fn cast<U: Pod>(&self) -> Result<Buffer<U>> {
        let element = size_of::<U>() as u64;
        if element == 0
            || !self.bytes().is_multiple_of(element)
            || !self.offset.is_multiple_of(align_of::<U>() as u64)
        {
            return Err(Error::PartialElement { bytes: self.bytes(), offset: self.offset, element });
        }
        Ok(Buffer {
            device: self.device.clone(),
            memory: self.memory.clone(),
            offset: self.offset,
            len: (self.bytes() / element) as usize,
            element: PhantomData,
        })
    }
}

impl<T> Buffer<T> {
    /// The number of elements; never 0.
    #[allow(clippy::len_without_is_empty, reason = "a buffer is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The size, in bytes.
    pub fn bytes(&self) -> u64 {
        self.len as u64 * size_of::<T>() as u64
    }

    /// The device address that kernels see.
    pub fn address(&self) -> u64 {
        self.memory.address + self.offset
    }

    /// The host's address of the first byte, if the host can access the memory: that of
    /// [`Device::host_buffer`] or of shared virtual memory. The rules of [`Svm`](crate::Svm) apply to every access.
    pub fn host_address(&self) -> Option<NonNull<u8>> {
        let first = self.memory.handle.host().filter(|_| self.memory.is_shared)?;
        NonNull::new(first.as_ptr().wrapping_add(self.offset as usize))
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Views the same memory as bytes.
    pub(crate) fn untyped(&self) -> Buffer<u8> {
        Buffer {
            device: self.device.clone(),
            memory: self.memory.clone(),
            offset: self.offset,
            len: self.bytes() as usize,
            element: PhantomData,
        }
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self {
            device: self.device.clone(),
            memory: self.memory.clone(),
            offset: self.offset,
            len: self.len,
            element: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("device", &self.device.name())
            .field("len", &self.len)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
