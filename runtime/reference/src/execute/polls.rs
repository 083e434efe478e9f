//! Polls: atomic operations and pipe operations of a work-item that only wait for another one.
//!
//! Owns what a work-item has seen since it last changed an object. Must not depend on the kind of the object.

/// The number of objects between which a waiting loop can alternate. Peterson's lock reads two.
const MAX_OBJECTS: usize = 4;

/// What a work-item has seen in objects since it last changed one: addresses and values.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    seen: [(u64, u64); MAX_OBJECTS],
    /// The number of valid entries.
    length: usize,
    /// The entry to replace next.
    next: usize,
}

impl Polls {
    /// The work-item has changed an object, so it is not waiting.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    /// Records a value that the work-item has seen in an object. Returns whether it has seen it before and changed nothing
    /// since then.
    pub(crate) fn repeats(&mut self, address: u64, value: u64) -> bool {
        if self.seen[..self.length].contains(&(address, value)) {
            return true;
        }
        self.next = if self.length == 0 { 0 } else { self.next };
        self.seen[self.next] = (address, value);
        self.next = (self.next + 1) % MAX_OBJECTS;
        self.length = (self.length + 1).min(MAX_OBJECTS);
        false
    }
}
