//! The host memory that kernels can access: shared virtual memory, buffers that the host maps without a copy, and imported
//! memory.
//!
//! Owns the record of these ranges of addresses. Must not depend on who allocates them.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::backend::{Allocation, Memory};

/// The ranges of host addresses that kernels of a device can access.
#[derive(Default)]
pub(crate) struct SharedMemory(Mutex<Ranges>);

#[derive(Default)]
struct Ranges {
    all: Vec<(Range<usize>, Weak<dyn Allocation>)>,
    /// The number of ranges at which those of freed memory are removed.
    full: usize,
}

/// The minimum number of ranges at which those of freed memory are removed.
const MIN_FULL: usize = 64;

impl SharedMemory {
    /// Adds memory that the host accesses at this address.
    pub(crate) fn add(&self, memory: &Memory, first: NonNull<u8>, bytes: u64) {
        let first = first.as_ptr().addr();
        let range = first..first.saturating_add(bytes as usize);
        let mut ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ranges.all.len() >= ranges.full {
            ranges.all.retain(|(_, allocation)| allocation.strong_count() > 0);
            ranges.full = MIN_FULL.max(2 * ranges.all.len());
        }
        ranges.all.push((range, Arc::downgrade(&memory.handle)));
    }

    /// Whether kernels can access any of these addresses.
    pub(crate) fn overlaps(&self, wanted: &Range<usize>) -> bool {
        let ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_shared = |(range, allocation): &(Range<usize>, Weak<dyn Allocation>)| {
            range.start < wanted.end && wanted.start < range.end && allocation.strong_count() > 0
        };
        ranges.all.iter().any(is_shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Block;

    impl Allocation for Block {
        fn host(&self) -> Option<NonNull<u8>> {
            None
        }
    }

    fn memory() -> Memory {
        Memory { address: 0, handle: Arc::new(Block), is_shared: true }
    }

    fn at(address: usize) -> NonNull<u8> {
        NonNull::new(std::ptr::without_provenance_mut(address)).expect("not null")
    }

    #[test]
    fn memory_is_shared_until_it_is_freed() {
        let shared = SharedMemory::default();
        let first = memory();
        shared.add(&first, at(100), 10);
        assert!(shared.overlaps(&(109..200)) && shared.overlaps(&(90..101)));
        assert!(!shared.overlaps(&(110..200)) && !shared.overlaps(&(90..100)));
        drop(first);
        assert!(!shared.overlaps(&(100..110)));
    }

    #[test]
    fn ranges_of_freed_memory_are_removed() {
        let shared = SharedMemory::default();
        let kept = memory();
        shared.add(&kept, at(1), 1);
        for _ in 0..10 * MIN_FULL {
            shared.add(&memory(), at(1000), 8);
        }
        assert!(shared.overlaps(&(1..2)));
        assert!(shared.0.lock().expect("no panic").all.len() <= MIN_FULL);
    }
}
