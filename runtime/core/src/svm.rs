//! Shared virtual memory: memory that the host accesses as a slice and kernels access through pointers.
//!
//! Owns both views and the rules for each. Must not depend on queues.
//!
//! # Guarantees
//!
//! An [`Svm`] is a coarse-grained allocation (`clSVMAlloc`): the host uses it between launches and kernels use it
//! during launches, without mapping. Pointers that kernels dereference are *device* addresses, returned by
//! [`Svm::pointer`], and always 64 bits wide; [`Svm::index_of`] converts one back to an index. On Vulkan the driver
//! chooses the device address. The host may store it in structures, but may dereference it only if
//! [`Svm::same_addresses`] holds: on software drivers, which share the host's address space, and on devices that let the host map
//! memory at the device's address, if the host does not use that address.
//!
//! The memory is host-coherent: a launch sees what the host wrote before it, and the host sees what a launch wrote
//! once its event is complete (`CL_DEVICE_SVM_FINE_GRAIN_BUFFER`). With [`SvmAtomics`] the host and running kernels
//! access the memory at the same time. Only devices with [`capabilities`](crate::Capabilities::svm_atomics) for it
//! guarantee that host and kernel atomics share one modification order.

#![allow(unsafe_code, reason = "memory that a device shares; each states why it is sound")]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

use bytemuck::Pod;

use crate::backend::Placement;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Arg, ArgValue};

/// Shared virtual memory with elements of `T`, which the host accesses as a slice. Launches that use it must be
/// complete before the host accesses it: that is part of the contract of [`Queue::launch`](crate::Queue::launch).
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue, mut walk: kiln_runtime::Kernel) -> kiln_runtime::Result<()> {
/// // A list whose nodes are a pointer and a value; a kernel follows it.
/// let mut nodes = device.svm::<[u64; 2]>(3)?;
/// for index in 0..3 {
///     let next = if index < 2 { nodes.pointer(index + 1) } else { 0 };
///     nodes[index] = [next, 10 * index as u64];
/// }
/// walk.set(0, &nodes)?;
/// // SAFETY: the kernel follows the list and nothing else; the host waits for it.
/// unsafe { queue.launch(&walk, 1)? }.wait()?;
/// println!("{:?}", nodes[0]);
/// # Ok(())
/// # }
/// ```
pub struct Svm<T> {
    buffer: Buffer<T>,
}

/// Shared virtual memory that the host and running kernels access concurrently.
pub struct SvmAtomics<T> {
    svm: Svm<T>,
}

/// Numeric types that have a corresponding atomic type.
pub trait Atom: Pod {
    /// The atomic type, which has the same representation.
    type Atomic: Sync;
}

impl Atom for u32 {
    type Atomic = AtomicU32;
}

impl Atom for i32 {
    type Atomic = AtomicI32;
}

impl Atom for u64 {
    type Atomic = AtomicU64;
}

impl Atom for i64 {
    type Atomic = AtomicI64;
}

impl<T: Pod> Svm<T> {
    /// Allocates zeroed memory.
    pub(crate) fn allocate(device: &Device, len: usize) -> Result<Self> {
        let svm = Self { buffer: Buffer::allocate(device, len, Placement::Shared)? };
        let Some(host) = svm.buffer.memory.handle.host() else {
            return Err(Error::MissingFeature {
                feature: "host-visible memory (shared virtual memory)".to_owned(),
                device: device.name().to_owned(),
            });
        };
        // SAFETY: the allocation has this many bytes, and no other code has access to it yet.
        unsafe { host.as_ptr().write_bytes(0, svm.buffer.bytes() as usize) };
        Ok(svm)
    }

    /// The address of an element as kernels see it, for storing in memory that kernels read.
    ///
    /// # Panics
    /// If the index is out of bounds.
    pub fn pointer(&self, index: usize) -> u64 {
        assert!(index < self.len(), "element {index} of {}", self.len());
        self.buffer.address() + (index * size_of::<T>()) as u64
    }

    /// The index of the element at this address.
    pub fn index_of(&self, pointer: u64) -> Option<usize> {
        let distance = usize::try_from(pointer.checked_sub(self.buffer.address())?).ok()?;
        let index = distance / size_of::<T>();
        (distance.is_multiple_of(size_of::<T>()) && index < self.len()).then_some(index)
    }

    /// Whether host and device addresses are equal, which lets the host dereference pointers that kernels store.
    pub fn same_addresses(&self) -> bool {
        self.host().as_ptr().expose_provenance() as u64 == self.buffer.address()
    }

    /// The memory as a buffer, for commands on it: copies, fills, reads and writes (`clEnqueueSVMMemcpy`,
    /// `clEnqueueSVMMemFill`). It is always mapped, so [`Queue::nothing`](crate::Queue::nothing) maps and unmaps it and
    /// [`Queue::host`](crate::Queue::host) frees it in the order of a queue.
    ///
    /// # Safety
    /// Until the commands on the buffer are complete, the host must not write what they access, nor read what they
    /// write.
    pub unsafe fn buffer(&self) -> Buffer<T> {
        self.buffer.clone()
    }

    /// The memory, for the runtime's own use.
    pub(crate) fn memory(&self) -> &Buffer<T> {
        &self.buffer
    }

    fn host(&self) -> NonNull<T> {
        // The constructor checked that the memory is host-visible, and it remains so.
        self.buffer.memory.handle.host().map_or(NonNull::dangling(), NonNull::cast)
    }
}

/// Writes a new buffer, if the host has access to it.
pub(crate) fn initialize<T: Pod>(buffer: &Buffer<T>, contents: &[T]) -> bool {
    let Some(first) = buffer.host_address() else { return false };
    let bytes: &[u8] = bytemuck::cast_slice(contents);
    assert!(bytes.len() as u64 <= buffer.bytes(), "the contents fit");
    // SAFETY: the buffer has this many bytes, and no other code has access to it yet.
    unsafe { first.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    true
}

impl<T: Atom> Svm<T> {
    /// Converts the memory to a view that the host and kernels may access concurrently.
    pub fn into_atomics(self) -> SvmAtomics<T> {
        SvmAtomics { svm: self }
    }
}

impl<T: Pod> Deref for Svm<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory is mapped while the buffer lives, has this many elements, is suitably aligned, and any
        // bytes are a valid `T`. Only launches modify it other than through this view, and their contract excludes
        // concurrent access.
        unsafe { NonNull::slice_from_raw_parts(self.host(), self.buffer.len()).as_ref() }
    }
}

impl<T: Pod> DerefMut for Svm<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `&mut self` makes this the only view.
        unsafe { NonNull::slice_from_raw_parts(self.host(), self.buffer.len()).as_mut() }
    }
}

impl<T: Atom> Deref for SvmAtomics<T> {
    type Target = [T::Atomic];

    fn deref(&self) -> &[T::Atomic] {
        // SAFETY: as above. The atomic types have the representation of their numbers, and this is the only view.
        unsafe { NonNull::slice_from_raw_parts(self.svm.host().cast(), self.svm.buffer.len()).as_ref() }
    }
}

impl<T: Pod> Arg for &Svm<T> {
    fn into_value(self) -> ArgValue {
        ArgValue::Buffer(self.buffer.untyped())
    }
}

impl<T: Atom> Arg for &SvmAtomics<T> {
    fn into_value(self) -> ArgValue {
        (&self.svm).into_value()
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Svm<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Svm").field("address", &self.buffer.address()).field("len", &self.len()).finish()
    }
}

impl<T> fmt::Debug for SvmAtomics<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SvmAtomics").field("len", &self.svm.buffer.len()).finish()
    }
}
