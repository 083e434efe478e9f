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
    execution::{Execution, Frame, INITIAL, set_of},
    relation::{MAX_ELEMENTS, Mark, Relation, ReversibleRelation, Set, members},
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

/// The facts about a frame that the model needs, and the relations of the known part of an execution.
pub(crate) struct Model {
    /// The step that is the access itself, of each event.
    accesses: Vec<usize>,
    /// Program order of steps, with each step itself, and its inverse.
    program: Relation,
    program_inverse: Relation,
    /// For each set of storage classes: the steps that order all of them, and inter-thread-happens-before, which initially
    /// relates only steps of the same work-item.
    classes: Vec<(Set, ReversibleRelation)>,
    /// The steps in the same instance of a step's scope, the steps whose scope includes it, and the intersection of both.
    shared: Relation,
    sharing: Relation,
    both_share: Relation,
    /// For each event, the availability and visibility steps that apply to its location.
    availability: Vec<Set>,
    visibility: Vec<Set>,
    /// Atomic accesses of a location that are in each other's scope.
    mutual: Relation,
    /// For each write, the release operations that can synchronize through it.
    releases: Vec<Set>,
    /// For each read, the acquire operations that can synchronize through it.
    acquires: Vec<Set>,
    /// The steps of the device domain.
    all_available: Set,
    all_visible: Set,
    has_chains: bool,
    race_candidates: Vec<(usize, usize)>,
    /// Happens-before of steps, and location order of events.
    before: ReversibleRelation,
    located: ReversibleRelation,
    /// Space for the relations of the accesses of a location, and for the starts of visibility chains.
    edges: Relation,
    starts: Vec<Set>,
}

/// A state of the relations that grow. There are few sets of storage classes.
pub(crate) struct State {
    classes: [Mark; MAX_SETS],
    before: Mark,
    located: Mark,
}

/// The maximum number of sets of storage classes: the nonempty sets of four classes.
const MAX_SETS: usize = 15;

fn class(event: &Event) -> u32 {
    match (event.class, event.space) {
        (0, Space::Global) => UNIFORM_MEMORY,
        (0, Space::Local) => WORKGROUP_MEMORY,
        (class, _) => class,
    }
}

/// All nonempty sets of the storage classes in use. Inter-thread-happens-before is computed for each.
fn sets(frame: &Frame) -> impl Iterator<Item = u32> {
    let used = frame.events.iter().fold(0, |used, event| {
        used | event.semantics & CLASSES | if event.location.is_some() { class(event) } else { 0 }
    });
    std::iter::successors(Some(used), move |set| Some(set.checked_sub(1)? & used)).filter(|set| *set != 0)
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

/// For each event, the step that is the event itself, without the availability and visibility operations around it.
fn main_steps(steps: &[Step], events: usize) -> Vec<usize> {
    let mut main = vec![0; events];
    let is_main = |step: &Step| matches!(step.part, Part::Itself | Part::AllAvailable | Part::AllVisible);
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| is_main(step)) {
        main[step.event] = index;
    }
    main
}

/// For each event, the steps that make its location available or visible: those for its storage class, and atomic operations on
/// their own location.
fn location_steps(
    frame: &Frame,
    steps: &[Step],
    accesses: &[usize],
    own: fn(&Event) -> bool,
    wanted: fn(Part) -> u32,
) -> Vec<Set> {
    let of_class = |class| set_of(steps.len(), |step| wanted(steps[step].part) & class != 0);
    let own = set_of(frame.count(), |index| {
        let it = &frame.events[index];
        (it.is_atomic || it.is_coherent) && own(it)
    });
    let of_event = |index: usize| match &frame.events[index] {
        it if it.location.is_some() => {
            let own = members(own & frame.same_reference.from(index)).map(|it| accesses[it]);
            own.fold(of_class(class(it)), |set, access| set | 1 << access)
        }
        _ => 0,
    };
    (0..frame.count()).map(of_event).collect()
}

/// For each atomic operation, the releases or acquires through which it synchronizes: itself, and the fences near it.
fn synchronization_ends(frame: &Frame, is_end: fn(&Event) -> bool, near: &Relation) -> Vec<Set> {
    let all_fences = fences(frame, is_end);
    let of_access = |access: usize| match &frame.events[access] {
        it if it.is_atomic => {
            let fences = near.from(access) & all_fences;
            let fences = members(fences).filter(|&fence| frame.events[fence].semantics & class(it) != 0);
            fences.fold(Set::from(is_end(it)) << access, |set, fence| set | 1 << fence)
        }
        _ => 0,
    };
    (0..frame.count()).map(of_access).collect()
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
        let set = |holds: &dyn Fn(&Step) -> bool| set_of(count, |step| holds(&steps[step]));
        // The steps of each work-item, and those in the same instance of each step's scope.
        let own = |of: usize| set(&|step| frame.items[step.event] == of);
        let own: Vec<Set> = (0..frame.positions.len()).map(own).collect();
        let program = Relation::from_rows(count, |a| own[item(a)] & Set::MAX << a);
        let shared = Relation::from_rows(count, |a| {
            let scope = frame.events[steps[a].event].scope;
            let within = own.iter().enumerate().filter(|(other, _)| frame.share(scope, item(a), *other));
            within.fold(0, |set, (_, own)| set | own)
        });
        let sharing = shared.inverse();
        let mutual = Relation::from_rows(events, |a| match frame.atomics >> a & 1 {
            0 => 0,
            _ => frame.same_reference.from(a) & frame.inclusive.from(a) & frame.atomics & !(1 << a),
        });
        let accesses = main_steps(&steps, events);
        let available = |part| if let Part::Available(classes) = part { classes } else { 0 };
        let visible = |part| if let Part::Visible(classes) = part { classes } else { 0 };
        let mut model = Self {
            classes: sets(frame).map(|set| within_items(frame, &steps, &program, set)).collect(),
            all_available: set(&|step| step.part == Part::AllAvailable),
            all_visible: set(&|step| step.part == Part::AllVisible),
            has_chains,
            availability: location_steps(frame, &steps, &accesses, Event::writes, available),
            visibility: location_steps(frame, &steps, &accesses, Event::reads, visible),
            releases: synchronization_ends(frame, Event::releases, &frame.after),
            acquires: synchronization_ends(frame, Event::acquires, &frame.before),
            race_candidates: race_candidates(frame, &mutual),
            before: ReversibleRelation::new(Relation::from_rows(count, |a| program.from(a) & !(1 << a))),
            located: ReversibleRelation::new(Relation::new(events)),
            edges: Relation::new(events),
            starts: vec![0; events],
            program_inverse: program.inverse(),
            both_share: Relation::from_rows(count, |a| shared.from(a) & sharing.from(a)),
            shared,
            sharing,
            accesses,
            program,
            mutual,
        };
        for (release, acquires) in barriers(frame) {
            model.synchronize(release, acquires);
        }
        for (_, between) in &model.classes {
            (0..count).for_each(|step| model.before.extend(step, between.from(step)));
        }
        // What is known without an execution is not taken back.
        model.classes.iter_mut().for_each(|(_, between)| between.commit());
        model.before.commit();
        model.locate(frame);
        model.located.commit();
        Some(model)
    }

    /// Whether both are in one scoped modification order.
    pub(crate) fn are_ordered(&self, a: usize, b: usize) -> bool {
        self.mutual.has(a, b)
    }

    /// Whether `a` is location-ordered before `b`.
    pub(crate) fn is_located_before(&self, a: usize, b: usize) -> bool {
        self.located.has(a, b)
    }

    /// The present state.
    pub(crate) fn state(&self) -> State {
        let mut classes = [Mark::default(); MAX_SETS];
        classes.iter_mut().zip(&self.classes).for_each(|(mark, (_, between))| *mark = between.mark());
        State { classes, before: self.before.mark(), located: self.located.mark() }
    }

    /// Returns to a state.
    pub(crate) fn undo(&mut self, state: &State) {
        self.classes.iter_mut().zip(state.classes).for_each(|((_, between), mark)| between.undo(mark));
        self.before.undo(state.before);
        self.located.undo(state.located);
    }

    /// Adds an access whose source or position is known, and what it synchronizes. Returns whether the known part can be part of
    /// a consistent execution.
    pub(crate) fn add(&mut self, execution: &Execution, access: usize) -> bool {
        // Most choices fail without synchronization.
        if !self.are_consistent(execution, 1 << access) {
            return false;
        }
        let before = self.state();
        self.synchronize_read(execution, access);
        if !self.unite(&before) {
            return true;
        }
        self.locate(&execution.frame);
        let gains = self.located.gains(before.located);
        let changed = gains.fold(0, |set: Set, (element, _)| set | 1 << element);
        self.are_consistent(execution, changed)
    }

    /// Whether the locations of accesses that have changed are consistent, if they were before.
    fn are_consistent(&mut self, execution: &Execution, changed: Set) -> bool {
        let mut left = changed & execution.known;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let here = execution.frame.same_location.from(first) & execution.known;
            if !self.is_consistent(execution, here, changed & here) {
                return false;
            }
            left &= !here;
        }
        true
    }

    /// Checks the entire known part of an execution, unlike `add`.
    pub(crate) fn check(&mut self, execution: &Execution) -> Result<(), Violation> {
        let start =
            State { classes: [Mark::default(); MAX_SETS], before: Mark::default(), located: Mark::default() };
        self.undo(&start);
        members(execution.reads()).for_each(|read| self.synchronize_read(execution, read));
        if self.unite(&start) {
            self.locate(&execution.frame);
        }
        self.check_consistency(execution)
    }

    /// The rule that is checked last.
    pub(crate) fn last_rule(&self, frame: &Frame) -> Rule {
        if frame.reads & !frame.atomics == 0 { Rule::Consistency } else { Rule::LastWrite }
    }

    /// Checks a complete execution that `check` has accepted.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_free = |a: usize, b: usize| !self.located.has(a, b) && !self.located.has(b, a);
        match self.race_candidates.iter().find(|(a, b)| is_free(*a, *b)) {
            Some((a, b)) => Verdict::Race(*a, *b),
            None => Verdict::Possible,
        }
    }

    /// Adds the synchronizes-with edges of a read.
    fn synchronize_read(&mut self, execution: &Execution, read: usize) {
        let frame = &execution.frame;
        let acquires = self.acquires[read];
        if acquires == 0 || frame.reads >> read & 1 == 0 {
            return;
        }
        for head in members(self.heads(execution, read)) {
            for release in members(self.releases[head]) {
                self.synchronize(release, acquires & frame.inclusive.from(release));
            }
        }
    }

    /// A release synchronizes with acquires: for each set of storage classes, adds inter-thread-happens-before.
    fn synchronize(&mut self, release: usize, acquires: Set) {
        let from = self.accesses[release];
        for (whole, between) in self.classes.iter_mut().filter(|(whole, _)| whole >> from & 1 != 0) {
            let to = members(acquires).map(|acquire| self.accesses[acquire]);
            to.filter(|to| *whole >> to & 1 != 0).for_each(|to| between.connect(from, to));
        }
    }

    /// Adds what inter-thread-happens-before has gained to happens-before. Returns whether that has grown.
    fn unite(&mut self, since: &State) -> bool {
        for ((_, between), mark) in self.classes.iter().zip(since.classes) {
            between.gains(mark).for_each(|(step, gained)| self.before.extend(step, gained));
        }
        self.before.has_grown(since.before)
    }

    /// The writes whose release sequence a read reads from: its source, and each write that is mutually ordered with the source
    /// and the read, if only read-modify-writes follow it up to the source in the scoped modification order.
    fn heads(&self, execution: &Execution, read: usize) -> Set {
        let source = execution.source[read];
        if source == INITIAL || !self.mutual.has(source, read) {
            return 0;
        }
        let earlier = members(self.mutual.from(source) & self.mutual.from(read) & execution.writes());
        earlier
            .filter(|&head| self.heads_to(execution, head, source))
            .fold(1 << source, |set, it| set | 1 << it)
    }

    /// Whether a write is before another one, and all writes of its scope between them and the other one are read-modify-writes.
    fn heads_to(&self, execution: &Execution, head: usize, source: usize) -> bool {
        let is_between = |other: &usize| {
            execution.is_modified_before(head, *other)
                && (*other == source || execution.is_modified_before(*other, source))
        };
        let mut writes = members(self.mutual.from(head) & execution.writes()).filter(is_between);
        execution.is_modified_before(head, source)
            && writes.all(|it| execution.frame.events[it].action == Action::Modify)
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

    /// Whether the known accesses of a location are consistent, if they were before some of them changed.
    fn is_consistent(&mut self, execution: &Execution, here: Set, changed: Set) -> bool {
        let are_mutual = members(here).all(|access| here & !(self.mutual.from(access) | 1 << access) == 0);
        if !are_mutual {
            return self.check_location(execution, here).is_ok();
        }
        // The modification order is total, so it gives each access a rank. A cycle needs a pair in location order whose ranks are in
        // the opposite order, or reads of one write that are ordered in a cycle.
        let mut has_equal = false;
        let mut agrees = |a: usize, b: usize| {
            let order = coherence_rank(execution, a).cmp(&coherence_rank(execution, b));
            has_equal |= order.is_eq() && !execution.frame.same_item.has(a, b);
            order.is_le()
        };
        let is_coherent = members(changed).all(|access| {
            members(self.located.from(access) & here).all(|other| agrees(access, other))
                && members(self.located.to(access) & here).all(|other| agrees(other, access))
        });
        is_coherent && (!has_equal || self.check_location(execution, here).is_ok())
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

    /// From-reads: whether a read from this source reads an older value than a write stores.
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
fn race_candidates(frame: &Frame, mutual: &Relation) -> Vec<(usize, usize)> {
    let mut race_candidates = Vec::new();
    for a in 0..frame.count() {
        for b in members(frame.same_location.from(a)).filter(|b| *b > a) {
            if (frame.writes >> a | frame.writes >> b) & 1 != 0 && !mutual.has(a, b) {
                race_candidates.push((a, b));
            }
        }
    }
    race_candidates
}

/// The rank of an access in the total modification order of its location: reads are after the write that they see.
fn coherence_rank(execution: &Execution, access: usize) -> usize {
    match execution.frame.writes >> access & 1 {
        0 => 2 * execution.read_rank(access) + 1,
        _ => 2 * execution.rank[access],
    }
}

/// For a set of storage classes: the steps that order all of them; and from the operations on this memory to the
/// releases after them, from acquires to the operations after them, and system-synchronizes-with.
fn within_items(
    frame: &Frame,
    steps: &[Step],
    program: &Relation,
    classes: u32,
) -> (Set, ReversibleRelation) {
    let set = |holds: &dyn Fn(&Event) -> bool| {
        set_of(steps.len(), |step| {
            steps[step].part == Part::Itself && holds(&frame.events[steps[step].event])
        })
    };
    let orders = |event: &Event| event.semantics & classes == classes;
    let whole = set(&orders);
    let concerns = set(&|event| orders(event) || (event.location.is_some() && class(event) & classes != 0))
        | set_of(steps.len(), |step| match steps[step].part {
            Part::Available(own) | Part::Visible(own) => own & classes != 0,
            Part::Itself | Part::AllAvailable | Part::AllVisible => false,
        });
    let (releases, acquires) = (whole & set(&Event::releases), whole & set(&Event::acquires));
    let system = |a: usize| {
        let after = frame.system.from(steps[a].event);
        if after == 0 { 0 } else { set_of(steps.len(), |b| after >> steps[b].event & 1 != 0) }
    };
    let mut relation = Relation::from_rows(steps.len(), |a| {
        let is_in = |set: Set| if set >> a & 1 != 0 { Set::MAX } else { 0 };
        let targets = is_in(concerns) & releases | is_in(acquires) & concerns;
        program.from(a) & !(1 << a) & targets | system(a)
    });
    relation.close();
    (whole, ReversibleRelation::new(relation))
}

/// Each release fence at or before the entry of a barrier, with the acquire fences at or after its exit in another work-item.
fn barriers(frame: &Frame) -> Vec<(usize, Set)> {
    let (release_fences, acquire_fences) = (fences(frame, Event::releases), fences(frame, Event::acquires));
    let mut all = Vec::new();
    for arrive in 0..frame.count() {
        let releases = (frame.after.from(arrive) | 1 << arrive) & release_fences;
        for leave in members(frame.barriers.from(arrive)) {
            let acquires = (frame.before.from(leave) | 1 << leave) & acquire_fences;
            all.extend(members(releases).map(|release| (release, acquires & frame.inclusive.from(release))));
        }
    }
    all
}

fn fences(frame: &Frame, is_one: fn(&Event) -> bool) -> Set {
    set_of(frame.count(), |it| frame.events[it].is_fence() && is_one(&frame.events[it]))
}
