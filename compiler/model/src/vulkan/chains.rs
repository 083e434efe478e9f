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
            let behind = self.before.from(first);
            let own = others & frame.same_item.from(x);
            for y in members(own).filter(|&y| behind >> self.accesses[y] & 1 != 0) {
                located.add(x, y);
            }
            if !frame.events[x].is_shared {
                continue;
            }
            let ends = if frame.writes >> x & 1 != 0 { self.available(x, first) } else { 0 };
            let strangers = members(others & !located.from(x)).filter(|&y| frame.events[y].is_shared);
            for y in strangers.collect::<Vec<_>>() {
                let is_located = match frame.writes >> x & 1 != 0 {
                    false => behind >> self.accesses[y] & 1 != 0,
                    true => self.reaches(frame.writes >> y & 1 != 0, frame.reads >> y & 1 != 0, ends, y),
                };
                if is_located {
                    located.add(x, y);
                }
            }
        }
        self.located = located;
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
        chain(applies & self.program.from(access), |step| {
            applies & self.before.from(step) & self.shared.from(step)
        })
    }

    /// The starts of the visibility chains to a read.
    fn visible(&self, read: usize, access: usize) -> Set {
        let applies = self.visibility[read];
        let own = members(applies).filter(|&step| self.program.has(step, access));
        chain(own.fold(0, |set, step| set | 1 << step), |step| {
            applies & self.after.from(step) & self.shared.from(step)
        })
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
