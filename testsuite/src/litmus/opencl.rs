//! The memory model of the OpenCL API specification (3.3.4 to 3.3.6), for modules of the OpenCL environment: C11's
//! with scopes, and with separate happens-before relations for global and local memory.

use super::{
    Space,
    explore::{Execution, Verdict},
    program::{Action, Event},
    relation::Relation,
};

const ACQUIRES: u32 = 0x2 | 0x8 | 0x10;
const RELEASES: u32 = 0x4 | 0x8 | 0x10;
const SEQUENTIALLY_CONSISTENT: u32 = 0x10;
const WORKGROUP_MEMORY: u32 = 0x100;
const CROSS_WORKGROUP_MEMORY: u32 = 0x200;

pub(super) fn judge(execution: &Execution<'_>) -> Verdict {
    let model = Model {
        execution,
        global: happens_before(execution, CROSS_WORKGROUP_MEMORY),
        local: happens_before(execution, WORKGROUP_MEMORY),
    };
    if !model.is_consistent() || !model.has_total_order() {
        return Verdict::Impossible;
    }
    if model.has_race() { Verdict::Race } else { Verdict::Possible }
}

struct Model<'e> {
    execution: &'e Execution<'e>,
    /// Global-happens-before and local-happens-before.
    global: Relation,
    local: Relation,
}

/// The transitive closure of sequenced-before and of synchronizes-with for this memory (API 3.3.6).
fn happens_before(execution: &Execution<'_>, class: u32) -> Relation {
    Relation::of(execution.count(), |a, b| {
        execution.is_before_in_program(a, b) || synchronizes(execution, a, b, class)
    })
    .closure()
}

fn is_fence(event: &Event) -> bool {
    event.action == Action::Fence
}

/// Whether a read reads from the release sequence of a write: later writes by the same work-item in the modification
/// order, and read-modify-writes.
fn reads_from_sequence(execution: &Execution<'_>, head: usize, read: usize) -> bool {
    let Some(source) = execution.reads_from[read] else { return false };
    source == head
        || (execution.is_modified_before(head, source)
            && (0..execution.count())
                .filter(|&other| {
                    execution.is_modified_before(head, other)
                        && (other == source || execution.is_modified_before(other, source))
                })
                .all(|other| {
                    execution.event(other).action == Action::Modify
                        || execution.work_item(other) == execution.work_item(head)
                }))
}

/// Synchronizes-with, for global or for local memory.
fn synchronizes(execution: &Execution<'_>, a: usize, b: usize, class: u32) -> bool {
    let (release, acquire) = (execution.event(a), execution.event(b));
    let orders = |event: &Event| event.semantics & class != 0;
    if a == b
        || release.semantics & RELEASES == 0
        || acquire.semantics & ACQUIRES == 0
        || !(is_fence(release) || execution.writes(a))
        || !(is_fence(acquire) || execution.reads(b))
        || !orders(release)
        || !orders(acquire)
        || !execution.inclusive(a, b)
    {
        return false;
    }
    let is_atomic = |index: usize| execution.event(index).is_atomic;
    let writes: Vec<usize> = match is_fence(release) {
        false => vec![a],
        true => (0..execution.count())
            .filter(|&write| {
                is_atomic(write) && execution.writes(write) && execution.is_before_in_program(a, write)
            })
            .collect(),
    };
    let reads: Vec<usize> = match is_fence(acquire) {
        false => vec![b],
        true => (0..execution.count())
            .filter(|&read| {
                is_atomic(read) && execution.reads(read) && execution.is_before_in_program(read, b)
            })
            .collect(),
    };
    writes.iter().any(|&write| {
        reads
            .iter()
            .any(|&read| execution.inclusive(write, read) && reads_from_sequence(execution, write, read))
    })
}

impl Model<'_> {
    /// The happens-before relation for an event's location.
    fn before(&self, event: usize) -> &Relation {
        match self.execution.event(event).space {
            Space::Global => &self.global,
            Space::Local => &self.local,
        }
    }

    /// Checks that happens-before is acyclic, that coherence holds, and that plain reads see the last write before
    /// them.
    fn is_consistent(&self) -> bool {
        let execution = self.execution;
        let count = execution.count();
        if self.global.is_reflexive_somewhere() || self.local.is_reflexive_somewhere() {
            return false;
        }
        // The extended coherence order.
        let coherence = Relation::of(count, |a, b| {
            execution.is_modified_before(a, b)
                || (execution.reads(b) && execution.reads_from[b] == Some(a))
                || execution.reads_before(a, b)
        })
        .closure();
        (0..count).all(|a| {
            !coherence.has(a, a) && (0..count).all(|b| !(coherence.has(a, b) && self.before(a).has(b, a)))
        })
    }

    /// Whether the seq_cst operations have a total order as the specification requires (API 3.3.6). None is required
    /// if their scopes are too narrow; an operation on local memory counts as having the widest scope.
    fn has_total_order(&self) -> bool {
        let execution = self.execution;
        let members: Vec<usize> = (0..execution.count())
            .filter(|&index| execution.event(index).semantics & SEQUENTIALLY_CONSISTENT != 0)
            .collect();
        let is_wide = |&index: &usize| {
            let event = execution.event(index);
            event.scope <= 1 || (event.space == Space::Local && event.location.is_some())
        };
        !members.iter().all(is_wide) || self.extend(&mut Vec::new(), &members)
    }

    fn extend(&self, order: &mut Vec<usize>, members: &[usize]) -> bool {
        if order.len() == members.len() {
            return self.is_total_order(order);
        }
        for &next in members {
            // The order must agree with happens-before and with the modification orders.
            let is_free = !order.contains(&next)
                && members.iter().all(|&other| {
                    other == next
                        || order.contains(&other)
                        || !(self.global.has(other, next)
                            || self.local.has(other, next)
                            || self.execution.is_modified_before(other, next))
                });
            if is_free {
                order.push(next);
                let found = self.extend(order, members);
                order.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    fn is_total_order(&self, order: &[usize]) -> bool {
        let execution = self.execution;
        let count = execution.count();
        let rank = |index: usize| order.iter().position(|&it| it == index);
        let precedes = |a: usize, b: usize| matches!((rank(a), rank(b)), (Some(a), Some(b)) if a < b);
        let is_sc_write = |index: usize| rank(index).is_some() && execution.writes(index);
        let fences: Vec<usize> =
            order.iter().copied().filter(|&index| is_fence(execution.event(index))).collect();
        // Whether a read sees a write or a later one.
        let sees = |read: usize, write: usize| !execution.reads_before(read, write);
        for read in (0..count).filter(|&index| execution.reads(index) && execution.event(index).is_atomic) {
            if rank(read).is_some() {
                let last = order.iter().copied().rfind(|&write| {
                    write != read
                        && is_sc_write(write)
                        && execution.same_place(write, read)
                        && precedes(write, read)
                });
                let source = execution.reads_from[read];
                let is_right = match (last, source) {
                    (Some(last), Some(source)) => {
                        last == source || (!is_sc_write(source) && !self.before(read).has(source, last))
                    }
                    // The initial value happens before everything.
                    (Some(_), None) => false,
                    (None, Some(source)) => !is_sc_write(source),
                    (None, None) => true,
                };
                if !is_right {
                    return false;
                }
            }
            for write in (0..count).filter(|&write| write != read && execution.writes(write)) {
                if !execution.same_place(read, write) || !execution.event(write).is_atomic {
                    continue;
                }
                let is_behind = |fence: usize| execution.is_before_in_program(fence, read);
                let is_ahead = |fence: usize| execution.is_before_in_program(write, fence);
                let must_see = fences.iter().any(|&fence| {
                    (is_behind(fence) && is_sc_write(write) && precedes(write, fence))
                        || (is_ahead(fence) && precedes(fence, read))
                        || (is_ahead(fence)
                            && fences.iter().any(|&other| is_behind(other) && precedes(fence, other)))
                });
                if must_see && !sees(read, write) {
                    return false;
                }
            }
        }
        // The same condition for two writes.
        let is_ordered = |a: usize, b: usize| {
            let (is_behind, is_ahead) = (
                |fence: usize| execution.is_before_in_program(fence, b),
                |fence: usize| execution.is_before_in_program(a, fence),
            );
            fences.iter().any(|&fence| {
                (is_ahead(fence) && precedes(fence, b))
                    || (is_behind(fence) && precedes(a, fence))
                    || (is_ahead(fence)
                        && fences.iter().any(|&other| is_behind(other) && precedes(fence, other)))
            })
        };
        (0..count).all(|a| {
            (0..count).all(|b| {
                !(execution.is_modified_before(b, a)
                    && execution.event(a).is_atomic
                    && execution.event(b).is_atomic
                    && is_ordered(a, b))
            })
        })
    }

    fn has_race(&self) -> bool {
        let execution = self.execution;
        let count = execution.count();
        (0..count).any(|a| {
            (0..a).any(|b| {
                let are_atomic = execution.event(a).is_atomic && execution.event(b).is_atomic;
                execution.same_place(a, b)
                    && (execution.writes(a) || execution.writes(b))
                    && execution.work_item(a) != execution.work_item(b)
                    && !(are_atomic && execution.inclusive(a, b))
                    && !self.before(a).has(a, b)
                    && !self.before(a).has(b, a)
            })
        })
    }
}
