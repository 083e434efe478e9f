//! The memory of a device queue on Vulkan (OpenCL C 6.15.19): commands that kernels have enqueued, and events.
//!
//! It consists of 32-bit words. Each launch of a kernel that enqueues commands has its own queue: a header, records of
//! commands, two words and two times for each event, and a list of free events. When the kernels that write records have
//! ended, the host reads the records and sets [`header::TAIL`] to zero again. `enqueue.cl` of `kiln-library` has the operations.
//!
//! An event is the index of its pair of words, plus 1. The first word counts its references. The second is [`PENDING`],
//! or the status that a kernel gave to a user event; the host tracks the status of all other events. The times of all
//! events follow, in nanoseconds, 64 bits each: from the start to the end of the command, and to its completion. They
//! are 0 before that.

/// Words of the header.
pub mod header {
    /// The size of the records in bytes.
    pub const CAPACITY: u32 = 0;
    /// The number of bytes reserved for records. If it exceeds the capacity, a command did not fit.
    pub const TAIL: u32 = 1;
    /// The number of events.
    pub const EVENTS: u32 = 2;
    /// The number of events taken from the free list.
    pub const TAKEN: u32 = 3;
    /// The number of events in the free list.
    pub const FREE: u32 = 4;
    /// The index of the free list's first word. If it is 0, the list is not stored, and contains 0, 1, 2, …
    pub const LIST: u32 = 5;
    /// The index of the events' first word. The times of all events follow the events.
    pub const SLOTS: u32 = 6;
    /// The index of the records' first word.
    pub const RECORDS: u32 = 7;
    /// The result of `get_default_queue`: 0 if there is no default queue.
    pub const DEFAULT: u32 = 8;
    /// The maximum size of a work-group.
    pub const GROUP_SIZE: u32 = 9;
    /// The size of a sub-group.
    pub const SUB_GROUP_SIZE: u32 = 10;
    /// The maximum local memory of a block's parameters, in bytes.
    pub const LOCAL_MEMORY: u32 = 11;
    /// The maximum size of a work-group in each of three dimensions.
    pub const ITEM_SIZES: u32 = 12;
    /// Whether all work-groups of an index space have the same size.
    pub const IS_UNIFORM: u32 = 15;
    /// The number of words.
    pub const WORDS: u32 = 16;
}

/// Words of a record.
pub mod record {
    /// The size of the record in bytes, a multiple of 8; 0 after the last record.
    pub const SIZE: u32 = 0;
    /// The kind of command: `KERNEL`, `MARKER` or `PROFILE`.
    pub const KIND: u32 = 1;
    /// The index of the block in the module.
    pub const BLOCK: u32 = 2;
    /// The event of the command, or 0.
    pub const EVENT: u32 = 3;
    /// The number of events that the command waits for.
    pub const WAITS: u32 = 4;
    /// The number of parameters of the block.
    pub const LOCALS: u32 = 5;
    /// The size of the captured values in bytes.
    pub const CAPTURES: u32 = 6;
    /// The number of dimensions of the index space.
    pub const DIMENSIONS: u32 = 7;
    /// The index space: offset, local size and global size, three words each. A local size of 0 means that the host
    /// chooses it.
    pub const SPACE: u32 = 8;
    /// The number of the command whose kernel enqueued this one. 0 for the kernel that the host launched.
    pub const PARENT: u32 = 17;
    /// The number of these words. They precede the events to wait for, the sizes of local memory, and, at a multiple of 8
    /// bytes, the captured values.
    pub const WORDS: u32 = 18;

    /// `enqueue_kernel`
    pub const KERNEL: u32 = 1;
    /// `enqueue_marker`
    pub const MARKER: u32 = 2;
    /// `capture_event_profiling_info`: after the event, stores its two times by a launch of
    /// [`PROFILE_BLOCK`](super::PROFILE_BLOCK).
    pub const PROFILE: u32 = 3;
}

/// `CL_SUBMITTED`, the status of an event that has not ended.
pub const PENDING: u32 = 2;
/// The maximum size of a record in bytes. `TAIL` could only overflow if more than 500,000 work-items reserved records
/// at the same time.
pub const MAX_RECORD_BYTES: u32 = 8192;
/// The maximum total size of the values that a block captures, in bytes.
pub const MAX_CAPTURE_BYTES: u64 = 4096;
/// The number of events of a launch.
pub const EVENTS: u32 = 1 << 16;

/// `CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE`
pub const PREFERRED_SIZE: u32 = 4 << 20;
/// `CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE`
pub const MAX_SIZE: u32 = 64 << 20;

/// The name of the block that stores times: it captures an address and two times.
pub const PROFILE_BLOCK: &str = "__kiln_profile";

/// The layout of a queue: the offsets of its parts in bytes, and their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLayout {
    /// The offset of the free list.
    pub list: u64,
    /// The offset of the events.
    pub slots: u64,
    /// The offset of the times.
    pub times: u64,
    /// The offset of the records.
    pub records: u64,
    /// The size of all records in bytes.
    pub capacity: u32,
    /// The total size in bytes.
    pub bytes: u64,
}

impl QueueLayout {
    /// The layout of a queue with this many bytes for records. Records follow the header, because the host always reads
    /// both.
    pub fn new(capacity: u32) -> Self {
        let capacity = capacity.clamp(1024, MAX_SIZE).next_multiple_of(16);
        let records = 4 * u64::from(header::WORDS);
        let slots = records + u64::from(capacity);
        let times = slots + 8 * u64::from(EVENTS);
        let list = times + 16 * u64::from(EVENTS);
        Self { list, slots, times, records, capacity, bytes: list + 4 * u64::from(EVENTS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_queue_do_not_overlap() {
        let layout = QueueLayout::new(5001);
        assert_eq!((layout.records, layout.capacity), (64, 5008));
        assert_eq!(layout.slots, 64 + 5008);
        assert_eq!(layout.bytes, layout.slots + 28 * u64::from(EVENTS));
        assert_eq!(QueueLayout::new(u32::MAX).capacity, MAX_SIZE);
        assert!(u64::from(record::WORDS * 4) + MAX_CAPTURE_BYTES < MAX_RECORD_BYTES.into());
    }
}
