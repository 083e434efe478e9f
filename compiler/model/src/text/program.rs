//! The programs of a test's work-items, and all their runs.

use std::collections::{BTreeMap, BTreeSet};

use super::Words;
use crate::event::{Action, End, Event, Location, Object, Position, Skeleton, Trace, scope, semantics};

/// The maximum number of iterations of a loop.
const ROUNDS: usize = 2;
/// The maximum number of runs of a work-item.
const MAX_RUNS: usize = 4096;

/// A number or a register.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Number(u64),
    Register(String),
}

/// The value that a load must return. Other runs are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    Only(u64),
}

/// An operation of two numbers.
pub(super) type Compute = fn(u64, u64) -> u64;

/// An instruction.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// An access: the register for the value read, the value written, and the operation that computes it from the value
    /// read.
    Access {
        event: Event,
        register: Option<String>,
        wanted: Wanted,
        value: Operand,
        compute: Option<Compute>,
    },
    /// A fence, a barrier's half, or an operation of the device domain.
    Order(Event),
    /// A barrier that never ends.
    Hang,
    Compute {
        register: String,
        compute: Compute,
        operands: [Operand; 2],
    },
    Label(String),
    Goto(String),
    Branch {
        holds: fn(u64, u64) -> bool,
        operands: [Operand; 2],
        label: String,
    },
}

/// The program of a work-item.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) position: Position,
    pub(super) registers: BTreeMap<String, u64>,
    pub(super) code: Vec<Instruction>,
}

/// A test: its programs, and its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) threads: Vec<Thread>,
    /// The location and the reference of each name.
    pub(super) names: BTreeMap<String, (Location, u32)>,
    pub(super) initial: BTreeMap<Location, u64>,
    pub(super) system: Vec<(usize, usize)>,
    /// Values that atomic reads can return out of thin air.
    pub(super) assumed: BTreeSet<u64>,
    /// Whether to keep the runs that repeat an iteration of a loop forever, and those of loops that are cut.
    pub(super) keeps_spins: bool,
}

/// The object that contains the registers of a work-item.
fn registers(thread: usize) -> Object {
    Object::Argument(1 + thread as u32)
}

impl Program {
    /// The location and the reference of a name; a new one if it is unknown.
    pub(super) fn location(&mut self, name: &str) -> (Location, u32) {
        let next = Location { object: Object::Argument(0), offset: 8 * self.names.len() as u32 };
        *self.names.entry(name.to_owned()).or_insert((next, 0))
    }

    /// Makes a name another reference to the location of a second one.
    pub(super) fn alias(&mut self, name: &str, of: &str) {
        let (location, _) = self.location(of);
        let reference = self.names.len() as u32;
        self.names.insert(name.to_owned(), (location, reference));
    }

    /// An access with these words.
    pub(super) fn access(&mut self, words: Words, name: &str) -> Event {
        let (location, reference) = self.location(name);
        let action = match (words.reads, words.writes) {
            (true, true) => Action::Modify,
            (true, false) => Action::Read,
            (false, _) => Action::Write,
        };
        let scope = words.scope.unwrap_or(scope::INVOCATION);
        Event {
            is_atomic: words.is_atomic,
            is_shared: words.is_atomic || words.is_coherent || words.is_shared,
            is_coherent: words.is_coherent,
            class: words.class,
            reference,
            ..Event::atomic(action, location, scope, words.mask())
        }
    }

    /// The names of the values in an outcome: of locations such as `x`, and of registers such as `P0:r1`.
    pub(super) fn parts(&self) -> Vec<(String, Location)> {
        let mut parts: Vec<(String, Location)> =
            self.names.iter().map(|(name, (location, _))| (name.clone(), *location)).collect();
        for (number, thread) in self.threads.iter().enumerate() {
            for (index, name) in thread.registers.keys().enumerate() {
                let location = Location { object: registers(number), offset: index as u32 };
                parts.push((format!("P{number}:{name}"), location));
            }
        }
        parts
    }

    /// All runs of all work-items.
    pub(super) fn skeleton(&mut self) -> Result<Skeleton, String> {
        self.declare();
        let mut values: BTreeMap<Location, BTreeSet<u64>> = BTreeMap::new();
        for (location, _) in self.names.values() {
            let initial = self.initial.get(location).copied().unwrap_or_default();
            values.entry(*location).or_default().insert(initial);
        }
        let mut growth: BTreeMap<Location, usize> = BTreeMap::new();
        loop {
            let (mut traces, mut is_cut, mut written) = (Vec::new(), false, BTreeSet::new());
            for (number, thread) in self.threads.iter().enumerate() {
                let mut runs = Runs {
                    thread,
                    number,
                    values: &values,
                    assumed: &self.assumed,
                    keeps_spins: self.keeps_spins,
                    found: Vec::new(),
                    written: BTreeSet::new(),
                    is_cut: false,
                };
                runs.follow(&mut State::new(thread))?;
                is_cut |= runs.is_cut;
                traces.push(runs.found);
                written.extend(runs.written);
            }
            // A location gets new values only as often as something is written to it: additions would produce new values
            // forever.
            written.retain(|(location, value)| {
                let is_known = values.get(location).is_some_and(|known| known.contains(value));
                !is_known && growth.get(location).copied().unwrap_or_default() < self.max_values(*location)
            });
            if written.is_empty() {
                return Ok(self.finish(traces, is_cut));
            }
            let grown: BTreeSet<Location> = written.iter().map(|(location, _)| *location).collect();
            grown.into_iter().for_each(|location| *growth.entry(location).or_default() += 1);
            for (location, value) in written {
                values.entry(location).or_default().insert(value);
            }
        }
    }

    /// The maximum number of new values of a location: one for each write to it, and for each write of a register to another.
    fn max_values(&self, location: Location) -> usize {
        let is_write = |it: &&Instruction| match it {
            Instruction::Access { event, value, .. } => {
                event.writes() && (event.location == Some(location) || matches!(value, Operand::Register(_)))
            }
            _ => false,
        };
        self.threads.iter().flat_map(|thread| &thread.code).filter(is_write).count()
    }

    /// Adds every named register to the outcome.
    fn declare(&mut self) {
        for thread in &mut self.threads {
            for instruction in &thread.code {
                let name = match instruction {
                    Instruction::Access { register: Some(name), .. }
                    | Instruction::Compute { register: name, .. } => name,
                    _ => continue,
                };
                thread.registers.entry(name.clone()).or_default();
            }
        }
    }

    fn finish(&self, traces: Vec<Vec<Trace>>, is_cut: bool) -> Skeleton {
        let mut parts: Vec<Location> = self.parts().into_iter().map(|(_, location)| location).collect();
        parts.sort();
        parts.dedup();
        let is_spin = |trace: &Trace| matches!(trace.end, End::Spin(_));
        Skeleton {
            positions: self.threads.iter().map(|thread| thread.position).collect(),
            has_spins: traces.iter().flatten().any(is_spin),
            traces,
            system: self.system.clone(),
            initial: self.initial.iter().map(|(location, value)| (*location, *value)).collect(),
            sizes: vec![4; parts.len()],
            parts,
            is_cut,
        }
    }
}

/// The state of a run.
#[derive(Clone, Default)]
struct State {
    next: usize,
    jumps: usize,
    registers: BTreeMap<String, u64>,
    events: Vec<Event>,
    /// For each label: the number of events and the registers at the last visit.
    visits: BTreeMap<usize, (usize, BTreeMap<String, u64>)>,
}

impl State {
    fn new(thread: &Thread) -> Self {
        Self { registers: thread.registers.clone(), ..Self::default() }
    }

    /// Visits the label before the next instruction. The first event since the last visit, if nothing has changed.
    fn visit(&mut self) -> Option<usize> {
        let last = self.visits.insert(self.next, (self.events.len(), self.registers.clone()));
        let (from, registers) = last?;
        let is_idle = self.events[from..].iter().all(|it| it.changes_nothing(true));
        (is_idle && registers == self.registers).then_some(from)
    }

    fn value(&self, operand: &Operand) -> u64 {
        match operand {
            Operand::Number(number) => *number,
            Operand::Register(name) => self.registers.get(name).copied().unwrap_or_default(),
        }
    }
}

/// The runs of a work-item.
struct Runs<'p> {
    thread: &'p Thread,
    number: usize,
    values: &'p BTreeMap<Location, BTreeSet<u64>>,
    assumed: &'p BTreeSet<u64>,
    keeps_spins: bool,
    found: Vec<Trace>,
    /// All values written, including those of runs that do not end.
    written: BTreeSet<(Location, u64)>,
    is_cut: bool,
}

impl Runs<'_> {
    fn follow(&mut self, state: &mut State) -> Result<(), String> {
        while let Some(instruction) = self.thread.code.get(state.next) {
            state.next += 1;
            match instruction {
                Instruction::Order(event) => {
                    let site = if event.site == 0 { state.next as u32 } else { event.site };
                    state.events.push(Event { site, ..event.clone() });
                }
                Instruction::Hang => return Ok(()),
                Instruction::Label(_) => {
                    if self.keeps_spins
                        && let Some(from) = state.visit()
                    {
                        return self.end(state, End::Spin(from));
                    }
                }
                Instruction::Compute { register, compute, operands: [a, b] } => {
                    let value = compute(state.value(a), state.value(b));
                    state.registers.insert(register.clone(), value);
                }
                Instruction::Goto(label) => {
                    if !self.jump(state, label)? {
                        return self.cut(state);
                    }
                }
                Instruction::Branch { holds, operands: [a, b], label } => {
                    if holds(state.value(a), state.value(b)) && !self.jump(state, label)? {
                        return self.cut(state);
                    }
                }
                Instruction::Access { event, .. } if event.reads() => return self.read(state, instruction),
                Instruction::Access { event, value, .. } => {
                    let written = state.value(value);
                    self.written.extend(event.location.map(|location| (location, written)));
                    state.events.push(Event { written, site: state.next as u32, ..event.clone() });
                }
            }
        }
        self.end(state, End::Done)
    }

    /// Ends a run that has too many jumps back.
    fn cut(&mut self, state: &State) -> Result<(), String> {
        if self.keeps_spins { self.end(state, End::Cut) } else { Ok(()) }
    }

    /// Records a run.
    fn end(&mut self, state: &State, end: End) -> Result<(), String> {
        let results = state.registers.values().enumerate().map(|(index, value)| {
            (Location { object: registers(self.number), offset: index as u32 }, *value)
        });
        let results = results.collect();
        self.found.push(Trace { events: state.events.clone(), results, end, is_assumed: false });
        match self.found.len() > MAX_RUNS {
            true => Err(format!("a work-item has more than {MAX_RUNS} runs")),
            false => Ok(()),
        }
    }

    /// Continues with each value that a read can return.
    fn read(&mut self, state: &State, instruction: &Instruction) -> Result<(), String> {
        let Instruction::Access { event, register, wanted, value, compute } = instruction else {
            return Ok(());
        };
        let known = event.location.and_then(|location| self.values.get(&location));
        let mut values = known.cloned().unwrap_or_default();
        if event.is_atomic {
            values.extend(self.assumed);
        }
        values.retain(|it| *wanted == Wanted::Any || *wanted == Wanted::Only(*it));
        for read in values {
            let mut state = state.clone();
            let operand = state.value(value);
            let written = compute.map_or(operand, |compute| compute(read, operand));
            if event.writes() {
                self.written.extend(event.location.map(|location| (location, written)));
            }
            state.events.push(Event { read, written, site: state.next as u32, ..event.clone() });
            if let Some(register) = register {
                state.registers.insert(register.clone(), read);
            }
            self.follow(&mut state)?;
        }
        Ok(())
    }

    /// Jumps to a label. Too many jumps back end the run.
    fn jump(&mut self, state: &mut State, label: &str) -> Result<bool, String> {
        let is_it = |it: &Instruction| matches!(it, Instruction::Label(name) if name == label);
        let target =
            self.thread.code.iter().position(is_it).ok_or_else(|| format!("there is no label {label}"))?;
        state.jumps += usize::from(target < state.next);
        state.next = target;
        self.is_cut |= state.jumps > ROUNDS;
        Ok(state.jumps <= ROUNDS)
    }
}

/// The two halves of a barrier with these words. `instance` identifies the barrier.
pub(super) fn barrier(words: Words, instance: u32, execution: u32) -> [Event; 2] {
    let classes = words.semantics & !(semantics::MAKE_AVAILABLE | semantics::MAKE_VISIBLE);
    let half = |action, is_ordered: bool, order: u32, make: u32| {
        let mask = if is_ordered { order | classes | (words.semantics & make) } else { 0 };
        let fence = Event::fence(action, words.scope.unwrap_or(scope::WORKGROUP), mask);
        Event { site: instance + 1, execution, ..fence }
    };
    [
        half(Action::Arrive, words.releases, semantics::RELEASE, semantics::MAKE_AVAILABLE),
        half(Action::Leave, words.acquires, semantics::ACQUIRE, semantics::MAKE_VISIBLE),
    ]
}
