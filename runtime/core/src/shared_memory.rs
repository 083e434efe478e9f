//! The host memory that commands of a device can access: shared virtual memory, buffers that the host maps without a copy,
//! pinned memory, and imported memory.
//!
//! Owns the record of these ranges of addresses. Must not depend on who allocates them.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::backend::{Allocation, Memory};

/// The ranges of host addresses that commands of a device can access.
#[derive(Default)]
pub(crate) struct SharedMemory(Mutex<Ranges>);

#[derive(Default)]
struct Ranges {
    all: Vec<Known>,
    /// The number of ranges at which those of freed memory are removed.
    full: usize,
}

struct Known {
    range: Range<usize>,
    address: u64,
    allocation: Weak<dyn Allocation>,
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
            ranges.all.retain(|known| known.allocation.strong_count() > 0);
            ranges.full = MIN_FULL.max(2 * ranges.all.len());
        }
        let allocation = Arc::downgrade(&memory.handle);
        ranges.all.push(Known { range, address: memory.address, allocation });
    }

    /// The memory that contains all of these addresses, and the offset of the first one.
    pub(crate) fn find(&self, wanted: &Range<usize>) -> Option<(Memory, u64)> {
        let ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The newest range comes first: an address can be that of freed memory, too.
        ranges.all.iter().rev().find_map(|Known { range, address, allocation }| {
            let is_inside = range.start <= wanted.start && wanted.end <= range.end;
            let handle = is_inside.then(|| allocation.upgrade())??;
            let memory = Memory { address: *address, handle, is_shared: true };
            Some((memory, (wanted.start - range.start) as u64))
        })
    }

    /// Whether commands can access any of these addresses.
    pub(crate) fn overlaps(&self, wanted: &Range<usize>) -> bool {
        let ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_shared = |Known { range, allocation, .. }: &Known| {
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
        assert!(shared.find(&(103..110)).is_some_and(|(memory, offset)| memory.is(&first) && offset == 3));
        assert!(shared.find(&(103..111)).is_none() && shared.find(&(99..103)).is_none());
        drop(first);
        assert!(!shared.overlaps(&(100..110)) && shared.find(&(100..110)).is_none());
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
