//! The memory model of the Vulkan specification (appendix "Memory Model"), for programs without control barriers.
//!
//! Availability and visibility operations are separate steps: each event has four, two before it and two after it.

use super::{
    Space,
    explore::{Execution, Verdict},
    program::{Action, Event},
    relation::Relation,
};

const ACQUIRES: u32 = 0x2 | 0x8;
const RELEASES: u32 = 0x4 | 0x8;
const UNIFORM_MEMORY: u32 = 0x40;
const WORKGROUP_MEMORY: u32 = 0x100;
const CLASSES: u32 = UNIFORM_MEMORY | WORKGROUP_MEMORY;
const MAKE_AVAILABLE: u32 = 0x2000;
const MAKE_VISIBLE: u32 = 0x4000;

/// A step: an event, or one of its availability or visibility operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Itself,
    /// Makes the memory of these storage classes, or only the event's own location, available or visible.
    Available(u32),
    Visible(u32),
}

struct Step {
    event: usize,
    part: Part,
}

pub(super) fn judge(execution: &Execution<'_>) -> Verdict {
    let model = Model::new(execution);
    if !model.is_consistent() {
        return Verdict::Impossible;
    }
    if model.has_race() { Verdict::Race } else { Verdict::Possible }
}

struct Model<'e> {
    execution: &'e Execution<'e>,
    steps: Vec<Step>,
    /// A relation on events.
    located: Relation,
}

fn class(event: &Event) -> u32 {
    match event.space {
        Space::Global => UNIFORM_MEMORY,
        Space::Local => WORKGROUP_MEMORY,
    }
}

impl<'e> Model<'e> {
    fn new(execution: &'e Execution<'e>) -> Self {
        let mut steps = Vec::new();
        for index in 0..execution.count() {
            let event = execution.event(index);
            let classes = event.semantics & CLASSES;
            let mut push = |part| steps.push(Step { event: index, part });
            // Atomic operations also make their own location visible and available.
            if event.is_atomic && execution.reads(index) {
                push(Part::Visible(0));
            }
            if event.semantics & MAKE_AVAILABLE != 0 {
                push(Part::Available(classes));
            }
            push(Part::Itself);
            if event.semantics & MAKE_VISIBLE != 0 {
                push(Part::Visible(classes));
            }
            if event.is_atomic && execution.writes(index) {
                push(Part::Available(0));
            }
        }
        let mut model = Self { execution, steps, located: Relation::new(execution.count()) };
        model.located = model.location_order();
        model
    }

    fn event(&self, step: usize) -> &Event {
        self.execution.event(self.steps[step].event)
    }

    fn work_item(&self, step: usize) -> usize {
        self.execution.work_item(self.steps[step].event)
    }

    fn is_before_in_program(&self, a: usize, b: usize) -> bool {
        a < b && self.work_item(a) == self.work_item(b)
    }

    fn mutually_ordered(&self, a: usize, b: usize) -> bool {
        let execution = self.execution;
        a != b
            && execution.event(a).is_atomic
            && execution.event(b).is_atomic
            && execution.same_place(a, b)
            && execution.inclusive(a, b)
    }

    fn is_release(&self, index: usize) -> bool {
        let event = self.execution.event(index);
        event.semantics & RELEASES != 0 && (self.execution.writes(index) || event.action == Action::Fence)
    }

    fn is_acquire(&self, index: usize) -> bool {
        let event = self.execution.event(index);
        event.semantics & ACQUIRES != 0 && (self.execution.reads(index) || event.action == Action::Fence)
    }

    /// Whether a read reads from a write or its release sequence: the read-modify-writes that directly follow it in
    /// its scoped modification order.
    fn reads_from_sequence(&self, head: usize, read: usize) -> bool {
        let execution = self.execution;
        let Some(source) = execution.reads_from[read] else { return false };
        if source == head {
            return true;
        }
        let is_between = |&other: &usize| {
            execution.is_modified_before(head, other)
                && (other == source || execution.is_modified_before(other, source))
        };
        self.mutually_ordered(head, source)
            && execution.is_modified_before(head, source)
            && (0..execution.count())
                .filter(is_between)
                .filter(|&other| self.mutually_ordered(head, other))
                .all(|other| execution.event(other).action == Action::Modify)
    }

    fn synchronizes(&self, a: usize, b: usize) -> bool {
        let execution = self.execution;
        if a == b || !self.is_release(a) || !self.is_acquire(b) {
            return false;
        }
        let is_fence = |index: usize| execution.event(index).action == Action::Fence;
        let all = 0..execution.count();
        let named = |fence: usize, index: usize| {
            execution.event(fence).semantics & class(execution.event(index)) != 0
        };
        let writes = |fence: usize| {
            let is_behind = move |&write: &usize| {
                execution.is_before_in_program(fence, write)
                    && execution.event(write).is_atomic
                    && execution.writes(write)
                    && named(fence, write)
            };
            all.clone().filter(is_behind)
        };
        let reads = |fence: usize| {
            let is_ahead = move |&read: &usize| {
                execution.is_before_in_program(read, fence)
                    && execution.event(read).is_atomic
                    && execution.reads(read)
                    && named(fence, read)
            };
            all.clone().filter(is_ahead)
        };
        let meets = |write: usize, read: usize| {
            self.mutually_ordered(write, read) && self.reads_from_sequence(write, read)
        };
        match (is_fence(a), is_fence(b)) {
            (false, false) => meets(a, b),
            (true, false) => execution.inclusive(a, b) && writes(a).any(|write| meets(write, b)),
            (false, true) => execution.inclusive(a, b) && reads(b).any(|read| meets(a, read)),
            (true, true) => {
                execution.inclusive(a, b) && writes(a).any(|write| reads(b).any(|read| meets(write, read)))
            }
        }
    }

    /// Happens-before on steps: program order, and inter-thread-happens-before for each set of storage classes.
    fn happens_before(&self) -> Relation {
        let count = self.steps.len();
        let itself = |step: usize| self.steps[step].part == Part::Itself;
        let mut before = Relation::of(count, |a, b| self.is_before_in_program(a, b));
        for classes in [UNIFORM_MEMORY, WORKGROUP_MEMORY, CLASSES] {
            let all_of = |step: usize| {
                let event = self.event(step);
                itself(step) && event.semantics & classes == classes
            };
            // An operation on memory of these storage classes, or one that orders all of them.
            let concerns = |step: usize| {
                let event = self.event(step);
                match self.steps[step].part {
                    Part::Itself => all_of(step) || (event.location.is_some() && class(event) & classes != 0),
                    Part::Available(0) | Part::Visible(0) => class(event) & classes != 0,
                    Part::Available(own) | Part::Visible(own) => own & classes != 0,
                }
            };
            let between = Relation::of(count, |a, b| {
                let (first, second) = (self.steps[a].event, self.steps[b].event);
                (all_of(a) && all_of(b) && self.synchronizes(first, second))
                    || (self.is_before_in_program(a, b)
                        && ((concerns(a) && all_of(b) && self.is_release(second))
                            || (all_of(a) && self.is_acquire(first) && concerns(b))))
            });
            before = before.union(&between.closure());
        }
        before
    }

    /// Whether two work-items are in the same instance of a scope.
    fn share(&self, scope: u32, a: usize, b: usize) -> bool {
        match scope {
            0 | 1 | 5 => true,
            2 => self.execution.one_group || a == b,
            _ => a == b,
        }
    }

    /// The first step of each event, which is the access itself.
    fn accesses(&self) -> Vec<usize> {
        (0..self.steps.len()).filter(|&step| self.steps[step].part == Part::Itself).collect()
    }

    /// Whether an availability or visibility step applies to the location of an event.
    fn covers(&self, step: usize, index: usize) -> bool {
        match self.steps[step].part {
            Part::Available(0) | Part::Visible(0) => self.execution.same_place(self.steps[step].event, index),
            Part::Available(classes) | Part::Visible(classes) => {
                classes & class(self.execution.event(index)) != 0
            }
            Part::Itself => false,
        }
    }

    /// The scope of the event of a step.
    fn scope(&self, step: usize) -> u32 {
        self.event(step).scope
    }

    /// The steps that `follows` reaches from the first ones, including these.
    fn chain(&self, first: Vec<usize>, follows: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let (mut chain, mut next) = (first, 0);
        while let Some(&last) = chain.get(next) {
            for step in 0..self.steps.len() {
                if follows(last, step)
                    && self.share(self.scope(last), self.work_item(last), self.work_item(step))
                    && !chain.contains(&step)
                {
                    chain.push(step);
                }
            }
            next += 1;
        }
        chain
    }

    /// The ends of the availability chains from a write.
    fn availability(&self, write: usize, access: usize, before: &Relation) -> Vec<usize> {
        let applies =
            |step: usize| matches!(self.steps[step].part, Part::Available(_)) && self.covers(step, write);
        let steps = 0..self.steps.len();
        let first = steps.filter(|&step| applies(step) && self.is_before_in_program(access, step)).collect();
        self.chain(first, |last, step| applies(step) && before.has(last, step))
    }

    /// The starts of the visibility chains to a read.
    fn visibility(&self, read: usize, access: usize, before: &Relation) -> Vec<usize> {
        let applies =
            |step: usize| matches!(self.steps[step].part, Part::Visible(_)) && self.covers(step, read);
        let steps = 0..self.steps.len();
        let last = steps.filter(|&step| applies(step) && self.is_before_in_program(step, access)).collect();
        self.chain(last, |first, step| applies(step) && before.has(step, first))
    }

    /// Location-order on events. Initial values precede everything, and are omitted.
    fn location_order(&self) -> Relation {
        let (before, accesses) = (self.happens_before(), self.accesses());
        let execution = self.execution;
        Relation::of(execution.count(), |x, y| {
            if x == y || !execution.same_place(x, y) {
                return false;
            }
            let (first, second) = (accesses[x], accesses[y]);
            let are_shared = execution.event(x).is_shared && execution.event(y).is_shared;
            if execution.work_item(x) == execution.work_item(y) && before.has(first, second) {
                return true;
            }
            if !are_shared {
                return false;
            }
            if !execution.writes(x) {
                return before.has(first, second);
            }
            let ends = self.availability(x, first, &before);
            // The smaller of both domains is common.
            let reaches = |end: usize, step: usize| {
                [self.scope(end), self.scope(step)]
                    .into_iter()
                    .all(|scope| self.share(scope, self.work_item(end), self.work_item(step)))
            };
            let by_write = execution.writes(y)
                && ends.iter().any(|&end| {
                    before.has(end, second)
                        && self.share(self.scope(end), self.work_item(end), execution.work_item(y))
                });
            let by_read = execution.reads(y)
                && self
                    .visibility(y, second, &before)
                    .into_iter()
                    .any(|step| ends.iter().any(|&end| before.has(end, step) && reaches(end, step)));
            by_write || by_read
        })
    }

    /// Checks that location order, modification order, reads-from and from-reads are acyclic, and that plain reads
    /// see the last write.
    fn is_consistent(&self) -> bool {
        let execution = self.execution;
        let count = execution.count();
        let all = Relation::of(count, |a, b| {
            let modified = execution.is_modified_before(a, b) && self.mutually_ordered(a, b);
            let read = execution.reads(b) && execution.reads_from[b] == Some(a);
            self.located.has(a, b) || modified || read || self.is_read_before(a, b)
        });
        let is_in_order = (0..count)
            .all(|a| (0..count).all(|b| !(self.located.has(a, b) && execution.is_modified_before(b, a))));
        is_in_order && all.is_acyclic() && (0..count).all(|index| self.sees_the_last(index))
    }

    /// From-reads.
    fn is_read_before(&self, read: usize, write: usize) -> bool {
        let execution = self.execution;
        if read == write
            || !execution.reads(read)
            || !execution.writes(write)
            || !execution.same_place(read, write)
        {
            return false;
        }
        match execution.reads_from[read] {
            None => true,
            Some(source) => {
                source != write
                    && (self.located.has(source, write)
                        || (self.mutually_ordered(source, write)
                            && execution.is_modified_before(source, write)))
            }
        }
    }

    fn sees_the_last(&self, read: usize) -> bool {
        let execution = self.execution;
        if !execution.reads(read) || execution.event(read).is_atomic {
            return true;
        }
        let writes = (0..execution.count()).filter(|&write| {
            execution.writes(write) && execution.same_place(write, read) && self.located.has(write, read)
        });
        let writes: Vec<usize> = writes.collect();
        match execution.reads_from[read] {
            None => writes.is_empty(),
            // A write that is not ordered before the read races with it, and may have any value.
            Some(source) => {
                !writes.contains(&source) || !writes.iter().any(|&other| self.located.has(source, other))
            }
        }
    }

    fn has_race(&self) -> bool {
        let execution = self.execution;
        let count = execution.count();
        (0..count).any(|a| {
            (0..a).any(|b| {
                execution.same_place(a, b)
                    && (execution.writes(a) || execution.writes(b))
                    && !self.mutually_ordered(a, b)
                    && !self.located.has(a, b)
                    && !self.located.has(b, a)
            })
        })
    }
}
