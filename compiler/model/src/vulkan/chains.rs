//! Location order: by program order, or by a chain of availability operations from a write, and a chain of visibility
//! operations to a read (Vulkan, "Availability and Visibility Chains" and "Location-Ordered").

use super::Model;
use crate::{
    execution::Execution,
    relation::{Relation, Set, members},
};

impl Model {
    /// Computes location order. Initial values precede everything, and are omitted.
    pub(super) fn locate(&mut self, execution: &Execution) {
        let frame = &execution.frame;
        let count = frame.count();
        let mut located = Relation::new(count);
        for x in 0..count {
            let others = frame.same_location.from(x) & !(1 << x);
            if others == 0 {
                continue;
            }
            let first = self.accesses[x];
            let later = self.before.from(first);
            let own = others & frame.same_item.from(x) & frame.same_reference.from(x);
            for y in members(own).filter(|&y| later >> self.accesses[y] & 1 != 0) {
                located.add(x, y);
            }
            let is_write = |event: usize| frame.writes >> event & 1 != 0;
            let is_read = |event: usize| frame.reads >> event & 1 != 0;
            let ends = if is_write(x) { self.available(x, first) } else { 0 };
            for y in members(others & !located.from(x)).collect::<Vec<_>>() {
                let are_shared = frame.events[x].is_shared && frame.events[y].is_shared;
                let is_later = later >> self.accesses[y] & 1 != 0;
                let by_shader = are_shared
                    && is_write(x)
                    && frame.same_reference.has(x, y)
                    && self.reaches(is_write(y), is_read(y), ends, y);
                if by_shader
                    || (!is_write(x) && is_later && (are_shared || frame.system.has(x, y)))
                    || (is_write(x) && self.reaches_through_device(is_write(y), is_read(y), later, y))
                {
                    located.add(x, y);
                }
            }
        }
        self.located = located;
    }

    /// Whether a write before these steps is ordered before a write, or visible to a read, by operations of the device domain.
    /// They are for all references, and for private accesses too.
    fn reaches_through_device(&self, is_write: bool, is_read: bool, later: Set, y: usize) -> bool {
        let earlier = self.after.from(self.accesses[y]);
        members(self.all_available & later).any(|available| {
            let following = self.before.from(available);
            (is_write && following >> self.accesses[y] & 1 != 0)
                || (is_read && self.all_visible & following & earlier != 0)
        })
    }

    /// Whether a write that is available at these steps is ordered before a write, or visible to a read.
    fn reaches(&self, is_write: bool, is_read: bool, ends: Set, y: usize) -> bool {
        let second = self.accesses[y];
        let by_write = || members(ends & self.after.from(second)).any(|end| self.shared.has(end, second));
        let by_read = || {
            members(self.visible(y, second)).any(|step| {
                // The smaller of both scopes contains both.
                members(ends & self.after.from(step) & self.shared.from(step))
                    .any(|end| self.shared.has(end, step))
            })
        };
        (is_write && by_write()) || (is_read && by_read())
    }

    /// The ends of the availability chains from a write.
    fn available(&self, write: usize, access: usize) -> Set {
        let applies = self.availability[write];
        let first = applies & (self.program.from(access) | 1 << access);
        if !self.has_chains {
            return first;
        }
        chain(first, |step| applies & self.before.from(step) & self.shared.from(step))
    }

    /// The starts of the visibility chains to a read.
    fn visible(&self, read: usize, access: usize) -> Set {
        let applies = self.visibility[read];
        let own = members(applies).filter(|&step| step == access || self.program.has(step, access));
        let first = own.fold(0, |set, step| set | 1 << step);
        if !self.has_chains {
            return first;
        }
        chain(first, |step| applies & self.after.from(step) & self.shared.from(step))
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
