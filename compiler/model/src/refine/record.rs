//! Records a run of the source in a context.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    event::{Action, Event, Location, Object, Space, semantics},
    module::Observer,
};

/// A byte of memory.
type Byte = (Object, u32);

/// The bytes of an access.
pub(super) fn bytes(location: Location, size: u64) -> impl Iterator<Item = Byte> {
    (location.offset..).take(size as usize).map(move |offset| (location.object, offset))
}

/// The plain accesses between two ordered operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) reads: BTreeSet<Byte>,
    /// The last values.
    pub(super) writes: BTreeMap<Byte, u8>,
}

impl Segment {
    /// Records a plain write.
    pub(super) fn write(&mut self, location: Location, size: u64, value: u64) {
        self.writes.extend(bytes(location, size).zip(value.to_le_bytes()));
    }

    /// The value of a plain read: the last value that the work-item wrote in this segment, or the value in the context.
    pub(super) fn read(&mut self, location: Location, size: u64, seed: u64, number: usize) -> u64 {
        self.reads.extend(bytes(location, size));
        let byte =
            |at: Byte| self.writes.get(&at).copied().unwrap_or_else(|| context(seed, at, number as u64));
        bytes(location, size).zip(0..).fold(0, |all, (at, index)| all | u64::from(byte(at)) << (8 * index))
    }
}

/// The value of an atomic read: by its number.
pub(super) fn atomic(seed: u64, location: Location, size: u64, number: usize) -> u64 {
    let byte = |at: Byte| u64::from(context(seed, at, number as u64 | 1 << 32));
    bytes(location, size).zip(0..).fold(0, |all, (at, index)| all | byte(at) << (8 * index))
}

/// A byte in a context: the first contexts contain zeros and ones, most others small numbers, and a few all numbers.
fn context(seed: u64, (object, offset): Byte, number: u64) -> u8 {
    let is_low = offset.is_multiple_of(4);
    match seed {
        0 => 0,
        1 => u8::from(is_low),
        _ if !is_low && !seed.is_multiple_of(8) => 0,
        _ => {
            let (kind, id) = match object {
                Object::Argument(id) => (1, id),
                Object::Program => (2, 0),
                Object::LocalArgument(id, _) => (3, id),
                Object::LocalVariable(id, _) => (4, id),
                Object::Unshared(id, _) => (5, id),
            };
            let mut all = seed << 40 ^ number << 20 ^ u64::from(id) << 8 ^ u64::from(offset) << 3 ^ kind;
            all = (all ^ all >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            all = (all ^ all >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let byte = (all >> 56) as u8;
            if seed.is_multiple_of(8) { byte } else { byte % 4 }
        }
    }
}

/// Whether plain accesses stay on their side of an operation.
pub(super) fn is_ordered(event: &Event) -> bool {
    event.semantics & semantics::ORDERS != 0 || matches!(event.action, Action::Arrive | Action::Leave)
}

/// Whether an event is an access that is not atomic.
pub(super) fn is_plain(event: &Event) -> bool {
    event.location.is_some() && !event.is_atomic
}

/// A run of the source.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) seed: u64,
    /// The atomic operations, fences and barriers.
    pub(super) operations: Vec<Event>,
    /// The plain accesses before each ordered operation, and at the end.
    pub(super) segments: Vec<Segment>,
}

impl Record {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, operations: Vec::new(), segments: vec![Segment::default()] }
    }
}

impl Observer for Record {
    fn read(&mut self, location: Location, size: u64, is_atomic: bool) -> u64 {
        if is_atomic {
            return atomic(self.seed, location, size, self.operations.len());
        }
        let number = self.segments.len() - 1;
        self.segments[number].read(location, size, self.seed, number)
    }

    fn write(&mut self, location: Location, size: u64, value: u64, is_atomic: bool) {
        if let Some(segment) = self.segments.last_mut().filter(|_| !is_atomic) {
            segment.write(location, size, value);
        }
    }

    fn event(&mut self, event: &Event) {
        if !is_plain(event) {
            self.operations.push(event.clone());
            if is_ordered(event) {
                self.segments.push(Segment::default());
            }
        }
    }
}

/// Facts about all runs of the source.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The locations of seq_cst operations.
    pub(super) seq_cst: BTreeSet<Location>,
    /// Whether there are seq_cst operations, and operations order both memories, or some are seq_cst fences.
    pub(super) orders_both: bool,
    /// The objects that are written.
    pub(super) written: BTreeSet<Object>,
    /// Whether an operation orders global memory, and whether one orders local memory.
    orders: [bool; 2],
    pub(super) has_program_variables: bool,
}

impl Facts {
    /// Collects the facts from all records.
    pub(super) fn new<'r>(records: impl Iterator<Item = &'r Record>) -> Self {
        let mut facts = Self::default();
        let (mut has_seq_cst, mut ordered) = (false, [false; 2]);
        for record in records {
            for segment in &record.segments {
                let objects = segment.writes.keys().map(|(object, _)| *object);
                facts.written.extend(objects);
                let mut all = segment.writes.keys().chain(&segment.reads);
                facts.has_program_variables |= all.any(|(object, _)| *object == Object::Program);
            }
            for event in &record.operations {
                has_seq_cst |= event.is_seq_cst();
                for (index, space) in Space::ALL.into_iter().enumerate() {
                    let has_class = event.semantics & space.class() != 0;
                    facts.orders[index] |= has_class;
                    // A seq_cst operation on an object has the semantics of both memories, wherever the object is.
                    let is_on_object = event.location.is_some() && event.is_seq_cst();
                    ordered[index] |= if is_on_object { event.space == space } else { has_class };
                }
                let Some(location) = event.location else { continue };
                facts.has_program_variables |= location.object == Object::Program;
                if event.writes() {
                    facts.written.insert(location.object);
                }
                if event.is_seq_cst() {
                    facts.seq_cst.insert(location);
                }
            }
        }
        facts.orders_both = has_seq_cst && ordered == [true; 2];
        facts
    }

    /// Whether operations of the kernel order this memory.
    pub(super) fn orders(&self, space: Space) -> bool {
        self.orders[space as usize]
    }
}
