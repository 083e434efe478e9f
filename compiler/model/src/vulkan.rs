//! The memory model of the Vulkan specification (appendix "Memory Model").
//!
//! | axiom | section |
//! | --- | --- |
//! | mutually-ordered atomics | Scope, Atomic Operation |
//! | scoped modification order | Scoped Modification Order |
//! | release sequences, synchronizes-with | Synchronizes-With |
//! | barriers | Synchronizes-With, "… control barriers …" |
//! | program order of availability and visibility operations | Program-Order |
//! | happens-before, for sets of storage classes | Happens-Before |
//! | availability and visibility chains | Availability and Visibility Chains; `chains` |
//! | location order | Location-Ordered; `chains` |
//! | data races | Data Race |
//! | consistency | Inter-Invocation and Intra-Invocation Consistency |
//!
//! Availability and visibility operations for storage classes are separate steps, before and after the event.
//! Private accesses are ordered only with those of their own work-item.

mod chains;

use crate::{
    event::{Action, Event, Space, semantics},
    execution::{Execution, Frame, INITIAL},
    relation::{MAX_ELEMENTS, Relation, Set, members},
    verdict::{Rule, Verdict, Violation},
};

use semantics::{MAKE_AVAILABLE, MAKE_VISIBLE, UNIFORM_MEMORY, WORKGROUP_MEMORY};

/// The storage classes that are considered.
const CLASSES: u32 =
    UNIFORM_MEMORY | WORKGROUP_MEMORY | semantics::IMAGE_MEMORY | semantics::ATOMIC_COUNTER_MEMORY;

/// A step: an event, or one of its availability or visibility operations for storage classes. Those for the location of an
/// access alone belong to the access, as in the formal model of Khronos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Itself,
    /// Makes the memory of these storage classes available or visible.
    Available(u32),
    Visible(u32),
    /// Makes all memory available or visible outside of shaders.
    AllAvailable,
    AllVisible,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    event: usize,
    part: Part,
}

/// The facts about a frame that the model needs, and space for its relations.
pub(crate) struct Model {
    steps: Vec<Step>,
    /// The step that is the access itself, of each event.
    accesses: Vec<usize>,
    /// Program order of steps.
    program: Relation,
    /// For each set of storage classes: the steps that order all of them, and inter-thread-happens-before of one
    /// work-item.
    whole: Vec<Set>,
    between: Vec<Relation>,
    /// The steps in the same instance of a step's scope.
    shared: Relation,
    /// For each event, the availability and visibility steps that apply to its location.
    availability: Vec<Set>,
    visibility: Vec<Set>,
    /// Atomic accesses of a location that are in each other's scope.
    mutual: Relation,
    /// For each write, the release operations that can synchronize through it.
    releases: Vec<Set>,
    /// For each read, the acquire operations that can synchronize through it.
    acquires: Vec<Set>,
    /// The pairs of releases and acquires that synchronize through barriers.
    barriers: Relation,
    /// The steps of the device domain.
    all_available: Set,
    all_visible: Set,
    has_chains: bool,
    suspects: Vec<(usize, usize)>,
    /// Happens-before of steps, its inverse, and location order of events.
    before: Relation,
    after: Relation,
    located: Relation,
    /// Space for the relations of the accesses of a location.
    edges: Relation,
}

fn class(event: &Event) -> u32 {
    match (event.class, event.space) {
        (0, Space::Global) => UNIFORM_MEMORY,
        (0, Space::Local) => WORKGROUP_MEMORY,
        (class, _) => class,
    }
}

/// All nonempty sets of the storage classes in use. Inter-thread-happens-before is computed for each.
fn sets(frame: &Frame) -> Vec<u32> {
    let used = frame.events.iter().fold(0, |used, event| {
        used | event.semantics & CLASSES | if event.location.is_some() { class(event) } else { 0 }
    });
    std::iter::successors(Some(used), |set| Some(set.checked_sub(1)? & used))
        .filter(|set| *set != 0)
        .collect()
}

/// The steps of all events, in program order.
fn steps(frame: &Frame) -> Vec<Step> {
    let mut steps = Vec::new();
    for (event, it) in frame.events.iter().enumerate() {
        let classes = it.semantics & CLASSES;
        let mut push = |holds: bool, part| {
            if holds {
                steps.push(Step { event, part });
            }
        };
        push(it.semantics & MAKE_AVAILABLE != 0, Part::Available(classes));
        push(
            true,
            match it.action {
                Action::MakeAvailable => Part::AllAvailable,
                Action::MakeVisible => Part::AllVisible,
                _ => Part::Itself,
            },
        );
        push(it.semantics & MAKE_VISIBLE != 0, Part::Visible(classes));
    }
    steps
}

impl Model {
    /// Returns `None` if there are too many steps.
    pub(crate) fn new(frame: &Frame, has_chains: bool) -> Option<Self> {
        let steps = steps(frame);
        let (count, events) = (steps.len(), frame.count());
        if count > MAX_ELEMENTS {
            return None;
        }
        let item = |step: usize| frame.items[steps[step].event];
        let program = Relation::from_predicate(count, |a, b| a < b && item(a) == item(b));
        let shared = Relation::from_predicate(count, |a, b| {
            frame.share(frame.events[steps[a].event].scope, item(a), item(b))
        });
        // The steps that make the location of an event available or visible.
        let applies = |event: usize, own: fn(&Event) -> bool, wanted: fn(Part) -> Option<u32>| {
            set(count, |step| {
                let (it, part) = (&frame.events[steps[step].event], steps[step].part);
                match wanted(part) {
                    Some(classes) => {
                        frame.events[event].location.is_some() && classes & class(&frame.events[event]) != 0
                    }
                    // Atomic operations do so with their own location.
                    None => {
                        part == Part::Itself
                            && (it.is_atomic || it.is_coherent)
                            && own(it)
                            && frame.same_reference.has(steps[step].event, event)
                    }
                }
            })
        };
        let available = |part| if let Part::Available(classes) = part { Some(classes) } else { None };
        let visible = |part| if let Part::Visible(classes) = part { Some(classes) } else { None };
        let mutual = Relation::from_predicate(events, |a, b| {
            a != b
                && frame.events[a].is_atomic
                && frame.events[b].is_atomic
                && frame.same_reference.has(a, b)
                && frame.inclusive.has(a, b)
        });
        let ends = |access: usize, is_end: fn(&Event) -> bool, fences: &Relation| {
            let it = &frame.events[access];
            set(events, |other| {
                let end = &frame.events[other];
                let is_fence = fences.has(access, other) && end.is_fence() && end.semantics & class(it) != 0;
                it.is_atomic && is_end(end) && (other == access || is_fence)
            })
        };
        let mut accesses = vec![0; events];
        let is_main = |step: &Step| matches!(step.part, Part::Itself | Part::AllAvailable | Part::AllVisible);
        for (index, step) in steps.iter().enumerate().filter(|(_, step)| is_main(step)) {
            accesses[step.event] = index;
        }
        let mut model = Self {
            accesses,
            whole: Vec::new(),
            between: Vec::new(),
            barriers: barriers(frame),
            all_available: set(count, |step| steps[step].part == Part::AllAvailable),
            all_visible: set(count, |step| steps[step].part == Part::AllVisible),
            has_chains,
            availability: (0..events).map(|event| applies(event, Event::writes, available)).collect(),
            visibility: (0..events).map(|event| applies(event, Event::reads, visible)).collect(),
            releases: (0..events).map(|access| ends(access, Event::releases, &frame.after)).collect(),
            acquires: (0..events).map(|access| ends(access, Event::acquires, &frame.before)).collect(),
            suspects: suspects(frame, &mutual),
            before: Relation::new(count),
            after: Relation::new(count),
            located: Relation::new(events),
            edges: Relation::new(events),
            steps,
            program,
            shared,
            mutual,
        };
        for classes in sets(frame) {
            let (whole, between) = model.within_items(frame, classes);
            model.whole.push(whole);
            model.between.push(between);
        }
        Some(model)
    }

    /// For a set of storage classes: the steps that order all of them; and from the operations on this memory to the
    /// releases after them, from acquires to the operations after them, and system-synchronizes-with.
    fn within_items(&self, frame: &Frame, classes: u32) -> (Set, Relation) {
        let event = |step: usize| &frame.events[self.steps[step].event];
        let orders = |step: usize| event(step).semantics & classes == classes;
        let is_whole = |step: usize| self.steps[step].part == Part::Itself && orders(step);
        let concerns = |step: usize| match self.steps[step].part {
            Part::Itself => {
                orders(step) || (event(step).location.is_some() && class(event(step)) & classes != 0)
            }
            Part::Available(own) | Part::Visible(own) => own & classes != 0,
            Part::AllAvailable | Part::AllVisible => false,
        };
        let count = self.steps.len();
        let relation = Relation::from_predicate(count, |a, b| {
            (self.program.has(a, b)
                && ((concerns(a) && is_whole(b) && event(b).releases())
                    || (is_whole(a) && event(a).acquires() && concerns(b))))
                || frame.system.has(self.steps[a].event, self.steps[b].event)
        });
        (set(count, is_whole), relation)
    }

    /// Whether both are in one scoped modification order.
    pub(crate) fn are_ordered(&self, a: usize, b: usize) -> bool {
        self.mutual.has(a, b)
    }

    /// Whether `a` is location-ordered before `b`.
    pub(crate) fn is_located_before(&self, a: usize, b: usize) -> bool {
        self.located.has(a, b)
    }

    /// Checks the known part of an execution.
    pub(crate) fn check(&mut self, execution: &Execution) -> Result<(), Violation> {
        self.order(execution);
        self.locate(execution);
        self.check_consistency(execution)
    }

    /// Checks a complete execution that `check` has accepted.
    pub(crate) fn judge(&mut self, _: &Execution) -> Verdict {
        let is_free = |a: usize, b: usize| !self.located.has(a, b) && !self.located.has(b, a);
        match self.suspects.iter().find(|(a, b)| is_free(*a, *b)) {
            Some((a, b)) => Verdict::Race(*a, *b),
            None => Verdict::Possible,
        }
    }

    /// Computes happens-before of steps: program order, and inter-thread-happens-before for each set of storage classes.
    fn order(&mut self, execution: &Execution) {
        let frame = &execution.frame;
        let mut synchronizes = self.barriers.clone();
        for read in members(execution.reads()).filter(|&read| self.acquires[read] != 0) {
            self.each_head(execution, read, |head| {
                for release in members(self.releases[head]) {
                    synchronizes.extend(release, self.acquires[read] & frame.inclusive.from(release));
                }
            });
        }
        self.before.copy_from(&self.program);
        for (whole, within) in self.whole.iter().zip(&self.between) {
            let mut between = within.clone();
            for release in 0..frame.count() {
                let from = self.accesses[release];
                if whole >> from & 1 != 0 && synchronizes.from(release) != 0 {
                    let to = members(synchronizes.from(release)).map(|acquire| self.accesses[acquire]);
                    to.filter(|to| whole >> to & 1 != 0).for_each(|to| between.add(from, to));
                }
            }
            between.close();
            self.before.unite(&between);
        }
        self.after = self.before.inverse();
    }

    /// Calls `visit` with each write whose release sequence a read reads from: its source, and each write that is mutually ordered
    /// with the source and the read, if only read-modify-writes follow it up to the source in the scoped modification order.
    fn each_head(&self, execution: &Execution, read: usize, mut visit: impl FnMut(usize)) {
        let source = execution.source[read];
        if source == INITIAL || !self.mutual.has(source, read) {
            return;
        }
        visit(source);
        for head in members(self.mutual.from(source) & self.mutual.from(read) & execution.writes()) {
            let is_between = |other: usize| {
                execution.is_modified_before(head, other)
                    && (other == source || execution.is_modified_before(other, source))
            };
            let writes = self.mutual.from(head) & execution.writes();
            if execution.is_modified_before(head, source)
                && members(writes)
                    .filter(|&it| is_between(it))
                    .all(|it| execution.frame.events[it].action == Action::Modify)
            {
                visit(head);
            }
        }
    }

    /// Checks an access with the known accesses of its location, in the location order of the last `check`.
    pub(crate) fn check_access(&mut self, execution: &Execution, access: usize) -> Result<(), Violation> {
        let others = execution.frame.same_location.from(access) & execution.known;
        self.check_location(execution, others | 1 << access)
    }

    /// Checks all locations. The relations of the axioms are between accesses of one location.
    fn check_consistency(&mut self, execution: &Execution) -> Result<(), Violation> {
        let mut left = execution.known;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let here = execution.frame.same_location.from(first) & execution.known | 1 << first;
            self.check_location(execution, here)?;
            left &= !here;
        }
        Ok(())
    }

    /// Checks that location order, modification order, reads-from and from-reads of the known accesses of a location have no
    /// cycle, and that plain reads see the last write.
    fn check_location(&mut self, execution: &Execution, here: Set) -> Result<(), Violation> {
        let mut all = std::mem::take(&mut self.edges);
        members(here).for_each(|access| all.replace(access, self.located.from(access) & here));
        let result = self.add_edges(execution, here, &mut all).and_then(|()| {
            all.close_within(here);
            match members(here).find(|&it| all.has(it, it)) {
                None => Ok(()),
                Some(event) => {
                    let is_next =
                        |other: &usize| *other != event && all.has(event, *other) && all.has(*other, event);
                    let next = members(here & !(1 << event)).find(is_next);
                    Err(Violation::new(Rule::Consistency, event, next.unwrap_or(event)))
                }
            }
        });
        self.edges = all;
        result
    }

    /// Adds modification order, reads-from and from-reads of a location to location order.
    fn add_edges(&self, execution: &Execution, here: Set, all: &mut Relation) -> Result<(), Violation> {
        let frame = &execution.frame;
        for write in members(here & frame.writes) {
            for other in members(here & frame.writes & !(1 << write)) {
                let is_later = execution.is_modified_before(write, other);
                if !is_later && self.located.has(write, other) {
                    return Err(Violation::new(Rule::LocationOrder, write, other));
                }
                if is_later && self.mutual.has(write, other) {
                    all.add(write, other);
                }
            }
        }
        for read in members(here & frame.reads) {
            let source = execution.source[read];
            if source != INITIAL {
                all.add(source, read);
            }
            for write in members(here & frame.writes & !(1 << read)) {
                if self.is_read_before(execution, source, write) {
                    all.add(read, write);
                }
            }
            if !frame.events[read].is_atomic && !self.sees_the_last(execution, read) {
                return Err(Violation::new(Rule::LastWrite, read, read));
            }
        }
        Ok(())
    }

    /// From-reads: whether a read from this source reads an older value than that of a write.
    fn is_read_before(&self, execution: &Execution, source: usize, write: usize) -> bool {
        source == INITIAL
            || (source != write
                && (self.located.has(source, write)
                    || (self.mutual.has(source, write) && execution.is_modified_before(source, write))))
    }

    fn sees_the_last(&self, execution: &Execution, read: usize) -> bool {
        let source = execution.source[read];
        let located = |write: &usize| execution.writes() >> write & 1 != 0 && self.located.has(*write, read);
        let mut writes = members(execution.frame.same_location.from(read)).filter(located);
        if source == INITIAL {
            return writes.next().is_none();
        }
        // A write that is not ordered before the read races with it, and may have any value.
        !located(&source) || !writes.any(|other| self.located.has(source, other))
    }
}

/// Conflicting accesses that are not mutually ordered.
fn suspects(frame: &Frame, mutual: &Relation) -> Vec<(usize, usize)> {
    let mut suspects = Vec::new();
    for a in 0..frame.count() {
        for b in members(frame.same_location.from(a)).filter(|b| *b > a) {
            if (frame.writes >> a | frame.writes >> b) & 1 != 0 && !mutual.has(a, b) {
                suspects.push((a, b));
            }
        }
    }
    suspects
}

/// Relates each release fence at or before the entry of a barrier to each acquire fence at or after its exit in another
/// work-item.
fn barriers(frame: &Frame) -> Relation {
    let count = frame.count();
    let mut all = Relation::new(count);
    for arrive in 0..count {
        let releases = (frame.after.from(arrive) | 1 << arrive) & fences(frame, Event::releases);
        for leave in members(frame.barriers.from(arrive)) {
            let acquires = (frame.before.from(leave) | 1 << leave) & fences(frame, Event::acquires);
            for release in members(releases) {
                all.extend(release, acquires & frame.inclusive.from(release));
            }
        }
    }
    all
}

fn fences(frame: &Frame, is_one: fn(&Event) -> bool) -> Set {
    set(frame.count(), |it| frame.events[it].is_fence() && is_one(&frame.events[it]))
}

/// The set of the elements that satisfy a predicate.
fn set(count: usize, holds: impl Fn(usize) -> bool) -> Set {
    (0..count).filter(|&index| holds(index)).fold(0, |set, index| set | 1 << index)
}
