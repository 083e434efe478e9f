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
    execution::{Execution, Frame, INITIAL, set_of},
    relation::{Mark, Relation, ReversibleRelation, Set, members},
    verdict::{Rule, Verdict, Violation},
};

/// The facts about a frame that the model needs, and happens-before of the known part of an execution.
pub(crate) struct Model {
    /// For each write, the release operations that can synchronize through it: the write itself, and fences before it.
    releases: Vec<Set>,
    /// For each read, the acquire operations that can synchronize through it: the read itself, and fences after it.
    acquires: Vec<Set>,
    seq_cst: Set,
    /// Fences of both memories.
    wide_fences: Set,
    /// Pairs of accesses that are a data race if nothing orders them.
    race_candidates: Vec<(usize, usize)>,
    /// Happens-before for global and for local memory. It begins as sequenced-before and barriers, on the actions on this memory.
    before: [ReversibleRelation; 2],
    /// Space for the order S.
    precedes: Relation,
}

/// Whether an event is an action on this memory.
fn is_action(event: &Event, space: Space) -> bool {
    event.is_seq_cst()
        || if event.is_fence() { event.semantics & space.class() != 0 } else { event.space == space }
}

impl Model {
    pub(crate) fn new(frame: &Frame) -> Self {
        let events = &frame.events;
        let count = frame.count();
        let set = |holds: &dyn Fn(&Event) -> bool| set_of(count, |index| holds(&events[index]));
        // For each memory, the fences that release or acquire it.
        let fences = |is_end: fn(&Event) -> bool| {
            Space::ALL
                .map(|space| set(&|it| it.is_fence() && it.semantics & space.class() != 0 && is_end(it)))
        };
        let ends = |is_end: fn(&Event) -> bool, near: &Relation| {
            let fences = fences(is_end);
            let own = set(&|event| is_end(event));
            let of_access = |access: usize| match &events[access] {
                event if event.is_atomic => {
                    own & 1 << access | near.from(access) & fences[event.space as usize]
                }
                _ => 0,
            };
            (0..count).map(of_access).collect()
        };
        let wide = Space::Global.class() | Space::Local.class();
        Self {
            before: Space::ALL.map(|space| {
                let actions = set(&|event| is_action(event, space));
                let mut base = Relation::from_rows(count, |a| match actions >> a & 1 {
                    0 => 0,
                    _ => (frame.before.from(a) | frame.barriers.from(a)) & actions,
                });
                base.close();
                ReversibleRelation::new(base)
            }),
            releases: ends(Event::releases, &frame.after),
            acquires: ends(Event::acquires, &frame.before),
            seq_cst: set(&Event::is_seq_cst),
            wide_fences: set(&|event| event.is_fence() && event.semantics & wide == wide),
            race_candidates: race_candidates(frame),
            precedes: Relation::new(count),
        }
    }

    /// Whether sequenced-before and barriers have a cycle.
    pub(crate) fn is_cyclic(&self) -> bool {
        self.before.iter().any(|before| before.reflexive().is_some())
    }

    /// The present state.
    pub(crate) fn state(&self) -> [Mark; 2] {
        [self.before[0].mark(), self.before[1].mark()]
    }

    /// Returns to a state.
    pub(crate) fn undo(&mut self, marks: [Mark; 2]) {
        self.before.iter_mut().zip(marks).for_each(|(before, mark)| before.undo(mark));
    }

    /// Adds an access whose source or position is known, and what it synchronizes. Returns whether the known part can be part of
    /// a consistent execution.
    pub(crate) fn add(&mut self, execution: &Execution, access: usize) -> bool {
        let frame = &execution.frame;
        let is_coherent = |a: usize, b: usize| check_pair(execution, a, b).is_ok();
        // Most choices fail without synchronization.
        let before = self.before(frame.events[access].space);
        let others = frame.same_location.from(access) & execution.known;
        let is_possible = members(before.from(access) & others).all(|other| is_coherent(access, other))
            && members(before.to(access) & others).all(|other| is_coherent(other, access));
        if !is_possible {
            return false;
        }
        let marks = self.state();
        self.synchronize_read(execution, access);
        self.before.iter().zip(marks).all(|(before, mark)| {
            before.gains(mark).all(|(a, gained)| {
                let later = gained & frame.same_location.from(a) & execution.known;
                let is_known = execution.known >> a & 1 != 0;
                gained >> a & 1 == 0 && (!is_known || members(later).all(|b| is_coherent(a, b)))
            })
        })
    }

    /// Checks the entire known part of an execution, unlike `add`.
    pub(crate) fn check(&mut self, execution: &Execution) -> Result<(), Violation> {
        self.undo([Mark::default(); 2]);
        members(execution.reads()).for_each(|read| self.synchronize_read(execution, read));
        if let Some(event) = self.before.iter().find_map(ReversibleRelation::reflexive) {
            return Err(Violation::new(Rule::Cycle, event, event));
        }
        self.check_coherence(execution)
    }

    /// Checks a complete execution that `check` has accepted.
    pub(crate) fn verdict(&mut self, execution: &Execution) -> Verdict {
        if let Err(violation) = total_order::check(self, execution) {
            return Verdict::Impossible(violation);
        }
        match self.race_candidates.iter().find(|(a, b)| !self.is_ordered(execution, *a, *b)) {
            Some((a, b)) => Verdict::Race(*a, *b),
            None => Verdict::Possible,
        }
    }

    /// The rule that is checked last.
    pub(crate) fn last_rule(&self) -> Rule {
        if self.seq_cst.count_ones() < 2 { Rule::Coherence } else { Rule::TotalOrder }
    }

    fn before(&self, space: Space) -> &ReversibleRelation {
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

    /// Adds the synchronizes-with edges of a read.
    fn synchronize_read(&mut self, execution: &Execution, read: usize) {
        if self.acquires[read] != 0 && execution.frame.reads >> read & 1 != 0 {
            each_head(execution, read, |head| self.synchronize(&execution.frame, head, read));
        }
    }

    /// Adds the synchronizes-with edges of a read from the release sequence that a write heads or would head.
    fn synchronize(&mut self, frame: &Frame, head: usize, read: usize) {
        let space = frame.events[head].space as usize;
        for release in members(self.releases[head]) {
            let acquires = self.acquires[read] & frame.inclusive.from(release);
            members(acquires).for_each(|acquire| self.before[space].connect(release, acquire));
            // Two seq_cst operations, and two fences of both memories, synchronize in both memories.
            let both = [self.seq_cst, self.wide_fences]
                .into_iter()
                .filter(|set| set >> release & 1 != 0)
                .fold(0, |all, set| all | set);
            members(acquires & both).for_each(|acquire| self.before[1 - space].connect(release, acquire));
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
fn race_candidates(frame: &Frame) -> Vec<(usize, usize)> {
    let mut race_candidates = Vec::new();
    for a in 0..frame.count() {
        for b in members(frame.same_location.from(a) & !frame.same_item.from(a)).filter(|b| *b > a) {
            let has_write = (frame.writes >> a | frame.writes >> b) & 1 != 0;
            let are_atomic = frame.atomics >> a & frame.atomics >> b & 1 != 0;
            if has_write && !(are_atomic && frame.inclusive.has(a, b)) {
                race_candidates.push((a, b));
            }
        }
    }
    race_candidates
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
