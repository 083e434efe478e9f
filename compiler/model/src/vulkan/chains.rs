//! Location order: by program order, or by a chain of availability operations from a write, and a chain of visibility
//! operations to a read (Vulkan, "Availability and Visibility Chains" and "Location-Ordered").

use super::Model;
use crate::{
    execution::Frame,
    relation::{Set, members},
};

impl Model {
    /// Adds the pairs that happens-before gives to location order. Initial values precede everything, and are omitted.
    pub(super) fn locate(&mut self, frame: &Frame) {
        for read in members(frame.reads) {
            if frame.same_location.from(read) & !self.located.to(read) & !(1 << read) != 0 {
                self.starts[read] = self.visible(read, self.accesses[read]);
            }
        }
        for x in 0..frame.count() {
            let open = frame.same_location.from(x) & !self.located.from(x) & !(1 << x);
            if open == 0 {
                continue;
            }
            let first = self.accesses[x];
            let later = self.before.from(first);
            let is_write = frame.writes >> x & 1 != 0;
            let same_reference = frame.same_reference.from(x);
            let mut located: Set = 0;
            let ends = if is_write && frame.events[x].is_shared { self.available(x, first) } else { 0 };
            for y in members(open) {
                let second = self.accesses[y];
                let is_later = later >> second & 1 != 0;
                let are_shared = frame.events[x].is_shared && frame.events[y].is_shared;
                let has_same_reference = same_reference >> y & 1 != 0;
                let (writes, reads) = (frame.writes >> y & 1 != 0, frame.reads >> y & 1 != 0);
                if (is_later && has_same_reference && frame.same_item.has(x, y))
                    || (are_shared && has_same_reference && self.reaches(writes, reads, ends, y))
                    || (!is_write && is_later && (are_shared || frame.system.has(x, y)))
                    || (is_write && self.reaches_through_device(writes, reads, later, y))
                {
                    located |= 1 << y;
                }
            }
            self.located.extend(x, located);
        }
    }

    /// Whether a write before these steps is ordered before a write, or visible to a read, by operations of the device domain.
    /// They are for all references, and for private accesses too.
    fn reaches_through_device(&self, is_write: bool, is_read: bool, later: Set, y: usize) -> bool {
        let earlier = self.before.to(self.accesses[y]);
        members(self.all_available & later).any(|available| {
            let following = self.before.from(available);
            (is_write && following >> self.accesses[y] & 1 != 0)
                || (is_read && self.all_visible & following & earlier != 0)
        })
    }

    /// Whether a write that is available at these steps is ordered before a write, or visible to a read.
    fn reaches(&self, is_write: bool, is_read: bool, ends: Set, y: usize) -> bool {
        let second = self.accesses[y];
        // The smaller of both scopes contains both.
        let is_visible = |step: usize| ends & self.before.to(step) & self.both_share.from(step) != 0;
        ends != 0
            && ((is_write && ends & self.before.to(second) & self.sharing.from(second) != 0)
                || (is_read && members(self.starts[y]).any(is_visible)))
    }

    /// The ends of the availability chains from a write.
    fn available(&self, write: usize, access: usize) -> Set {
        let applies = self.availability[write];
        let first = applies & self.program.from(access);
        if !self.has_chains {
            return first;
        }
        chain(first, |step| applies & self.before.from(step) & self.shared.from(step))
    }

    /// The starts of the visibility chains to a read.
    fn visible(&self, read: usize, access: usize) -> Set {
        let applies = self.visibility[read];
        let first = applies & self.program_inverse.from(access);
        if !self.has_chains {
            return first;
        }
        chain(first, |step| applies & self.before.to(step) & self.shared.from(step))
    }
}

/// The steps that `next` reaches from the first ones, including these.
fn chain(first: Set, next: impl Fn(usize) -> Set) -> Set {
    let (mut all, mut open) = (first, first);
    while open != 0 {
        let step = open.trailing_zeros() as usize;
        open &= open - 1;
        let more = next(step) & !all;
        all |= more;
        open |= more;
    }
    all
}
