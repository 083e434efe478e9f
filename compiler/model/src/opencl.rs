//! The memory model of the OpenCL API specification (3.3.4 to 3.3.6), for modules of the OpenCL environment: C11's
//! with scopes, and with a happens-before relation each for global and for local memory.
//!
//! | axiom | section |
//! | --- | --- |
//! | release sequences | 3.3.6, "A release sequence begins with …" |
//! | synchronizes-with of atomic operations | 3.3.6.1 |
//! | … of fences | 3.3.6.2 |
//! | … of barriers | 3.3.6.3 and 3.3.6.4 |
//! | happens-before, its cycles | 3.3.6, "We define two separate happens-before relations …" |
//! | coherence | 3.3.6, write-write, read-read, read-write and write-read coherence |
//! | the total order S | 3.3.6.1; `total_order` |
//! | data races | 3.3.6, "The execution of a program contains a data race …" |
//!
//! The order S exists for all scopes: the specification makes no exception for narrow ones.
//! An atomic operation orders the memory of its object, and a seq_cst operation both memories ("Let X and Y be two
//! seq_cst operations …"), so it is an action on both.

mod total_order;

use crate::{
    event::{Event, Space},
    execution::{Execution, Frame, INITIAL},
    relation::{Relation, Set, members},
    verdict::{Rule, Verdict, Violation},
};

/// The facts about a frame that the model needs, and space for its relations.
pub(crate) struct Model {
    /// For each memory: sequenced-before and barriers, on the actions on this memory.
    base: [Relation; 2],
    /// For each write, the release operations that can synchronize through it: the write itself, and fences before it.
    releases: Vec<Set>,
    /// For each read, the acquire operations that can synchronize through it: the read itself, and fences after it.
    acquires: Vec<Set>,
    seq_cst: Set,
    /// Fences of both memories.
    wide_fences: Set,
    /// Pairs of accesses that are a data race if nothing orders them.
    suspects: Vec<(usize, usize)>,
    /// Happens-before for global and for local memory.
    before: [Relation; 2],
}

/// Whether an event is an action on this memory.
fn is_action(event: &Event, space: Space) -> bool {
    event.is_seq_cst()
        || if event.is_fence() { event.semantics & space.class() != 0 } else { event.space == space }
}

/// Whether a fence orders the location of an access.
fn orders_location(fence: &Event, access: &Event) -> bool {
    fence.is_fence() && fence.semantics & access.space.class() != 0
}

impl Model {
    pub(crate) fn new(frame: &Frame) -> Self {
        let events = &frame.events;
        let count = frame.count();
        let set = |holds: &dyn Fn(usize) -> bool| {
            (0..count).filter(|&it| holds(it)).fold(0, |set: Set, index| set | 1 << index)
        };
        let ends = |access: usize, is_end: fn(&Event) -> bool, fences: &Relation| {
            if !events[access].is_atomic {
                return 0;
            }
            set(&|index| {
                is_end(&events[index])
                    && (index == access
                        || (fences.has(access, index) && orders_location(&events[index], &events[access])))
            })
        };
        let wide = Space::Global.class() | Space::Local.class();
        Self {
            base: Space::ALL.map(|space| {
                Relation::from_predicate(count, |a, b| {
                    let both = is_action(&events[a], space) && is_action(&events[b], space);
                    both && (frame.before.has(a, b) || frame.barriers.has(a, b))
                })
            }),
            releases: (0..count).map(|access| ends(access, Event::releases, &frame.after)).collect(),
            acquires: (0..count).map(|access| ends(access, Event::acquires, &frame.before)).collect(),
            seq_cst: set(&|index| events[index].is_seq_cst()),
            wide_fences: set(&|index| events[index].is_fence() && events[index].semantics & wide == wide),
            suspects: suspects(frame),
            before: [Relation::new(count), Relation::new(count)],
        }
    }

    /// Checks the known part of an execution.
    pub(crate) fn check(&mut self, execution: &Execution) -> Result<(), Violation> {
        self.order(execution);
        if let Some(event) = self.before.iter().find_map(Relation::reflexive) {
            return Err(Violation::new(Rule::Cycle, event, event));
        }
        self.check_coherence(execution)
    }

    /// Checks a complete execution that `check` has accepted.
    pub(crate) fn judge(&mut self, execution: &Execution) -> Verdict {
        if let Err(violation) = total_order::check(self, execution) {
            return Verdict::Impossible(violation);
        }
        match self.suspects.iter().find(|(a, b)| !self.is_ordered(execution, *a, *b)) {
            Some((a, b)) => Verdict::Race(*a, *b),
            None => Verdict::Possible,
        }
    }

    fn before(&self, space: Space) -> &Relation {
        &self.before[space as usize]
    }

    fn is_ordered(&self, execution: &Execution, a: usize, b: usize) -> bool {
        let before = self.before(execution.frame.events[a].space);
        before.has(a, b) || before.has(b, a)
    }

    /// Whether `a` happens before `b` in the memory of `a`.
    pub(crate) fn happens_before(&self, execution: &Execution, a: usize, b: usize) -> bool {
        self.before(execution.frame.events[a].space).has(a, b)
    }

    /// Computes happens-before: sequenced-before and synchronizes-with, closed.
    fn order(&mut self, execution: &Execution) {
        for (before, base) in self.before.iter_mut().zip(&self.base) {
            before.copy_from(base);
        }
        let frame = &execution.frame;
        for read in members(execution.reads()) {
            if self.acquires[read] != 0 {
                each_head(execution, read, |head| self.synchronize(frame, head, read));
            }
        }
        self.before.iter_mut().for_each(Relation::close);
    }

    /// Adds the synchronizes-with edges of a read from the release sequence that a write heads or would head.
    fn synchronize(&mut self, frame: &Frame, head: usize, read: usize) {
        let space = frame.events[head].space as usize;
        for release in members(self.releases[head]) {
            let acquires = self.acquires[read] & frame.inclusive.from(release);
            self.before[space].extend(release, acquires);
            // Two seq_cst operations, and two fences of both memories, synchronize in both memories.
            let both = [self.seq_cst, self.wide_fences]
                .into_iter()
                .filter(|set| set >> release & 1 != 0)
                .fold(0, |all, set| all | set);
            self.before[1 - space].extend(release, acquires & both);
        }
    }

    /// Of two accesses of a location in happens-before, the second has the same or a later position in the modification
    /// order.
    fn check_coherence(&self, execution: &Execution) -> Result<(), Violation> {
        let frame = &execution.frame;
        for a in members(execution.known) {
            let later =
                self.before(frame.events[a].space).from(a) & frame.same_location.from(a) & execution.known;
            for b in members(later) {
                check_pair(execution, a, b)?;
            }
        }
        Ok(())
    }

    /// Checks an access with the known accesses of its location, in the happens-before relation of the last `check`.
    pub(crate) fn check_access(&self, execution: &Execution, access: usize) -> Result<(), Violation> {
        let frame = &execution.frame;
        let before = self.before(frame.events[access].space);
        for other in members(frame.same_location.from(access) & execution.known) {
            if before.has(access, other) {
                check_pair(execution, access, other)?;
            }
            if before.has(other, access) {
                check_pair(execution, other, access)?;
            }
        }
        Ok(())
    }
}

/// Checks the coherence of two accesses of a location, where the first happens before the second.
fn check_pair(execution: &Execution, a: usize, b: usize) -> Result<(), Violation> {
    let events = &execution.frame.events;
    let first = if events[a].writes() { execution.rank[a] } else { execution.read_rank(a) };
    let is_coherent = match events[b].reads() {
        true => first <= execution.read_rank(b),
        false => first < execution.rank[b],
    };
    if is_coherent { Ok(()) } else { Err(Violation::new(Rule::Coherence, a, b)) }
}

/// Conflicting accesses of different work-items, which are not both atomic with inclusive scopes.
fn suspects(frame: &Frame) -> Vec<(usize, usize)> {
    let mut suspects = Vec::new();
    for a in 0..frame.count() {
        for b in members(frame.same_location.from(a) & !frame.same_item.from(a)).filter(|b| *b > a) {
            let has_write = (frame.writes >> a | frame.writes >> b) & 1 != 0;
            let are_atomic = frame.atomics >> a & frame.atomics >> b & 1 != 0;
            if has_write && !(are_atomic && frame.inclusive.has(a, b)) {
                suspects.push((a, b));
            }
        }
    }
    suspects
}

/// Calls `visit` with each write whose release sequence contains the source of a read, or would contain it if the write were a
/// release operation. The writes after the head are read-modify-writes, or writes of its work-item.
fn each_head(execution: &Execution, read: usize, mut visit: impl FnMut(usize)) {
    let frame = &execution.frame;
    let source = execution.source[read];
    if source == INITIAL {
        return;
    }
    visit(source);
    let writes = frame.same_location.from(source) & execution.writes();
    // The work-item of the stores between.
    let mut storing = None;
    let mut current = source;
    loop {
        if !frame.events[current].reads() {
            let item = frame.items[current];
            if storing.is_some_and(|other| other != item) {
                return;
            }
            storing = Some(item);
        }
        let rank = execution.rank[current];
        let Some(previous) = members(writes).find(|&it| execution.rank[it] + 1 == rank) else { return };
        if storing.is_none_or(|item| item == frame.items[previous]) {
            visit(previous);
        }
        current = previous;
    }
}
