//! Candidate executions: one run of each work-item, the sources of reads, and the order of the writes to each
//! location. Must not depend on a memory model.

use std::rc::Rc;

use crate::{
    event::{Action, Event, Position, Trace, scope},
    relation::{MAX_ELEMENTS, Relation, Set},
};

/// The facts about a combination of runs that do not depend on the sources of reads.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The events of all work-items, in program order.
    pub(crate) events: Vec<Event>,
    /// The work-item of each event.
    pub(crate) items: Vec<usize>,
    pub(crate) positions: Vec<Position>,
    /// The sets of reads, writes and atomic operations.
    pub(crate) reads: Set,
    pub(crate) writes: Set,
    pub(crate) atomics: Set,
    /// Sequenced-before.
    pub(crate) before: Relation,
    pub(crate) after: Relation,
    /// Accesses of the same location.
    pub(crate) same_location: Relation,
    /// Accesses of the same location through the same reference.
    pub(crate) same_reference: Relation,
    /// Events of the same work-item.
    pub(crate) same_item: Relation,
    /// Events whose scopes include each other's work-items (OpenCL API 3.3.5).
    pub(crate) inclusive: Relation,
    /// From the entries of each barrier to its exits in other work-items.
    pub(crate) barriers: Relation,
    /// System-synchronizes-with.
    pub(crate) system: Relation,
}

impl Frame {
    /// Returns `None` if there are too many events or work-items.
    pub(crate) fn new(traces: &[&Trace], positions: &[Position], system: &[(usize, usize)]) -> Option<Self> {
        let count = traces.iter().map(|trace| trace.events.len()).sum();
        if count > MAX_ELEMENTS || traces.len() > MAX_ELEMENTS {
            return None;
        }
        let mut events = Vec::with_capacity(count);
        let mut items = Vec::with_capacity(count);
        // The events of each work-item.
        let mut own: Vec<Set> = Vec::with_capacity(traces.len());
        for (item, trace) in traces.iter().enumerate() {
            own.push(span(events.len(), trace.events.len()));
            events.extend_from_slice(&trace.events);
            items.resize(events.len(), item);
        }
        let set = |holds: fn(&Event) -> bool| set_of(count, |index| holds(&events[index]));
        let (same_location, same_reference) = same_objects(&events);
        let barriers = match events.iter().any(|event| event.action == Action::Arrive) {
            true => barriers(&events, &items, positions),
            false => Relation::new(count),
        };
        Some(Self {
            reads: set(Event::reads),
            writes: set(Event::writes),
            atomics: set(|event| event.is_atomic),
            before: Relation::from_rows(count, |a| own[items[a]] & (Set::MAX << a << 1)),
            after: Relation::from_rows(count, |a| own[items[a]] & ((1 << a) - 1)),
            same_location,
            same_reference,
            system: between_items(count, &items, &own, system),
            same_item: Relation::from_rows(count, |a| own[items[a]]),
            inclusive: inclusive(&events, &items, positions),
            barriers,
            positions: positions.to_vec(),
            events,
            items,
        })
    }

    /// The number of events.
    pub(crate) fn count(&self) -> usize {
        self.events.len()
    }

    /// Whether two work-items are in the same instance of a scope.
    pub(crate) fn share(&self, scope: u32, a: usize, b: usize) -> bool {
        shares(scope, &self.positions, a, b)
    }

    /// Two work-items that must meet at the same barriers, and do not.
    pub(crate) fn divergence(&self) -> Option<(usize, usize)> {
        let sequence = |item: usize, execution: u32| {
            let is_one = move |index: &usize| {
                let event = &self.events[*index];
                self.items[*index] == item && event.action == Action::Arrive && event.execution == execution
            };
            (0..self.count()).filter(is_one).map(|index| self.events[index].site)
        };
        for a in 0..self.positions.len() {
            for b in 0..a {
                for execution in [scope::WORKGROUP, scope::SUBGROUP] {
                    if self.share(execution, a, b) && !sequence(a, execution).eq(sequence(b, execution)) {
                        return Some((b, a));
                    }
                }
            }
        }
        None
    }
}

/// Whether two work-items are in the same instance of a SPIR-V scope.
fn shares(scope: u32, positions: &[Position], a: usize, b: usize) -> bool {
    match scope {
        scope::CROSS_DEVICE => true,
        scope::DEVICE => positions[a].device == positions[b].device,
        scope::QUEUE_FAMILY => positions[a].family == positions[b].family,
        scope::WORKGROUP => positions[a].group == positions[b].group,
        scope::SUBGROUP => positions[a].sub_group == positions[b].sub_group,
        _ => a == b,
    }
}

/// A number of consecutive elements, starting with `first`.
fn span(first: usize, count: usize) -> Set {
    let below = |end: usize| 1_u128.checked_shl(end as u32).map_or(Set::MAX, |bit| bit - 1);
    below(first + count) & !below(first)
}

/// The elements that satisfy a predicate.
pub(crate) fn set_of(count: usize, holds: impl Fn(usize) -> bool) -> Set {
    (0..count).fold(0, |set, index| set | Set::from(holds(index)) << index)
}

/// The accesses of the same location, and of these the ones through the same reference.
fn same_objects(events: &[Event]) -> (Relation, Relation) {
    let (mut same_location, mut same_reference) = (Relation::new(events.len()), Relation::new(events.len()));
    for (a, event) in events.iter().enumerate().filter(|(_, event)| event.location.is_some()) {
        for (b, other) in events[..=a].iter().enumerate().filter(|(_, it)| it.location == event.location) {
            same_location.add(a, b);
            same_location.add(b, a);
            if event.reference == other.reference {
                same_reference.add(a, b);
                same_reference.add(b, a);
            }
        }
    }
    (same_location, same_reference)
}

/// Relates the events of work-items to those of others.
fn between_items(count: usize, items: &[usize], own: &[Set], pairs: &[(usize, usize)]) -> Relation {
    let mut all = Relation::from_rows(count, |a| {
        let later = pairs.iter().filter(|(first, _)| *first == items[a]);
        later.filter_map(|(_, second)| own.get(*second)).fold(0, |set, own| set | own)
    });
    if !pairs.is_empty() {
        all.close();
    }
    all
}

/// Relates the events whose scopes include each other's work-items.
fn inclusive(events: &[Event], items: &[usize], positions: &[Position]) -> Relation {
    // For each event, the work-items in its scope.
    let scopes: Vec<Set> = events
        .iter()
        .zip(items)
        .map(|(event, &item)| {
            set_of(positions.len(), |other| other == item || shares(event.scope, positions, item, other))
        })
        .collect();
    Relation::from_rows(events.len(), |a| {
        set_of(events.len(), |b| scopes[a] >> items[b] & scopes[b] >> items[a] & 1 != 0)
    })
}

/// The n-th execution of a barrier by a work-item is the n-th by the others in its group.
fn barriers(events: &[Event], items: &[usize], positions: &[Position]) -> Relation {
    let number = |index: usize| {
        let event = &events[index];
        let is_earlier = |&other: &usize| {
            items[other] == items[index]
                && events[other].action == event.action
                && (events[other].site, events[other].execution) == (event.site, event.execution)
        };
        (0..index).filter(is_earlier).count()
    };
    Relation::from_predicate(events.len(), |a, b| {
        let (arrive, leave) = (&events[a], &events[b]);
        arrive.action == Action::Arrive
            && leave.action == Action::Leave
            && items[a] != items[b]
            && (arrive.site, arrive.execution) == (leave.site, leave.execution)
            && shares(arrive.execution, positions, items[a], items[b])
            && number(a) == number(b)
    })
}

/// The source of a read: a write, or the initial value.
pub(crate) const INITIAL: usize = usize::MAX;

/// A candidate execution.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    pub(crate) frame: Rc<Frame>,
    /// The write that each read reads from.
    pub(crate) source: Vec<usize>,
    /// The position of each write in the modification order of its location, from 1.
    pub(crate) rank: Vec<usize>,
    /// The reads and writes whose sources and positions are known.
    pub(crate) known: Set,
}

impl Execution {
    pub(crate) fn new(frame: Rc<Frame>) -> Self {
        let count = frame.count();
        Self { frame, source: vec![INITIAL; count], rank: vec![0; count], known: 0 }
    }

    /// The position of the write that a read reads from; 0 for the initial value.
    pub(crate) fn read_rank(&self, read: usize) -> usize {
        match self.source[read] {
            INITIAL => 0,
            source => self.rank[source],
        }
    }

    /// Whether `a` precedes `b` in the modification order of a location. Both are writes to it.
    pub(crate) fn is_modified_before(&self, a: usize, b: usize) -> bool {
        self.rank[a] < self.rank[b]
    }

    /// The reads that are known.
    pub(crate) fn reads(&self) -> Set {
        self.frame.reads & self.known
    }

    /// The writes that are known.
    pub(crate) fn writes(&self) -> Set {
        self.frame.writes & self.known
    }

    /// The writes to the location of an access, except the access itself.
    pub(crate) fn other_writes(&self, access: usize) -> Set {
        self.frame.same_location.from(access) & self.writes() & !(1 << access)
    }
}
