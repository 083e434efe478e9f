//! A work-group: runs its work-items in turn until all are complete.
//!
//! Owns the order in which work-items run, and detects when all have arrived at a collective operation. Must not depend on
//! other groups.

mod objects;

use std::{collections::VecDeque, ops::Range, sync::atomic::AtomicU64};

use super::{
    Argument, Options, clock,
    collective::{self, CollectiveContext, Copies},
    enqueue::Queue,
    group_position::GroupPosition,
    item::{Item, State},
    printf::Printed,
    races::{Races, Shadow},
    resource::Resource,
    run::{self, GroupState},
    view::Local,
};
use crate::{
    Checks, ItemId, Monitor, Program, Reason, StoppedLaunch, WorkItem,
    code::{CollectiveKind, Function, Line, Position, Scope},
    interface::ParameterKind,
    memory::{Cells, Location, Objects, Space},
    poison::{UNWRITTEN_BYTE, union},
    report::{self, Agent, Problem, Report, Use},
};

/// The number of jumps in a work-item's time slice.
const SLICE: u64 = 1 << 17;
/// The number of turns of all work-items in a group's time slice, if they arrive at collective operations. A work-item that
/// does not arrive may be waiting for another group: its turn counts as `TURNS_OF_A_WAIT`.
const TURNS_PER_SLICE: u32 = 1 << 10;
const TURNS_OF_A_WAIT: u32 = TURNS_PER_SLICE / 4;

/// A running work-group.
pub(crate) struct Group<'l> {
    context: GroupContext<'l>,
    /// The work-items that have started and are not complete, by index.
    pub(crate) live: Vec<Item>,
    begun: u32,
    done: u32,
}

/// The state shared by a group's work-items.
struct GroupContext<'l> {
    position: GroupPosition<'l>,
    /// The index of the group among all groups.
    number: u32,
    local: Vec<Local>,
    /// Strict: the accesses to local memory.
    shadow: Shadow,
    copies: Copies,
    random: Random,
}

/// How a group's time slice ended.
pub(crate) enum SliceEnd {
    Done,
    Yielded,
}

/// The state shared by a thread's groups.
pub(crate) struct Shared<'a> {
    pub(crate) global: &'a Objects,
    /// The resources bound for each pipeline.
    pub(crate) resources: &'a [Vec<Option<Resource>>],
    pub(crate) options: &'a Options,
    pub(crate) pool: &'a mut Pool,
    pub(crate) races: &'a mut Races,
    pub(crate) printed: &'a mut Vec<u8>,
    /// The number of bytes of values printed by the launch.
    pub(crate) print_room: &'a AtomicU64,
    /// The queue for device-side enqueue.
    pub(crate) queue: &'a Queue,
    pub(crate) debugging: Option<Debugging<'a>>,
}

/// A debugger, and how much output it has received.
pub(crate) struct Debugging<'a> {
    pub(crate) monitor: &'a dyn Monitor,
    /// The number of bytes of `Shared::printed` that were passed to it.
    pub(crate) passed: usize,
}

impl Shared<'_> {
    /// Passes new output to the debugger.
    pub(crate) fn pass_output(&mut self) {
        if let Some(Debugging { monitor, passed }) = &mut self.debugging
            && self.printed.len() > *passed
        {
            monitor.on_print(&self.printed[*passed..]);
            *passed = self.printed.len();
        }
    }
}

/// Work-items, and lists of them, for reuse.
#[derive(Default)]
pub(crate) struct Pool {
    items: Vec<Item>,
    lists: Vec<Vec<Item>>,
}

/// A random number generator (xorshift) for seed-dependent orders.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

/// Where the work-items of a group stopped in a turn.
struct Stops {
    any_ready: bool,
    /// The state and position of the first work-item.
    first: Option<(State, (u32, Position))>,
    /// Whether these are the same for all work-items.
    are_equal: bool,
}

impl Stops {
    fn record(&mut self, item: &Item) {
        self.any_ready |= item.state == State::Ready;
        let stop = (item.state, item.at());
        self.are_equal &= stop == *self.first.get_or_insert(stop);
    }
}

impl<'l> Group<'l> {
    pub(crate) fn new(
        position: GroupPosition<'l>,
        number: u32,
        sizes: impl Iterator<Item = u64>,
        options: &Options,
    ) -> Self {
        let variables = position.program().locals.iter().map(|object| object.size);
        let local = variables
            .chain(sizes)
            .map(|size| {
                let bytes = if options.checks == Checks::On { size as usize } else { 0 };
                Local { cells: Cells::new(size), poison: vec![UNWRITTEN_BYTE; bytes] }
            })
            .collect();
        let [x, y, z] = position.id().map(u64::from);
        let random =
            Random((options.seed ^ x << 1 ^ y << 21 ^ z << 42).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let context = GroupContext {
            position,
            number,
            local,
            shadow: Shadow::default(),
            copies: Copies::default(),
            random,
        };
        Self { context, live: Vec::new(), begun: 0, done: 0 }
    }

    /// The number of running work-items, which use memory.
    pub(crate) fn running_items(&self) -> usize {
        self.live.len().max(1)
    }

    /// Runs the work-items for a time slice. `others` are the groups that have yielded.
    pub(crate) fn run<const CHECKS: bool>(
        &mut self,
        shared: &mut Shared<'_>,
        others: &mut VecDeque<Group<'l>>,
    ) -> Result<SliceEnd, Box<Report>> {
        let result = self.run_items::<CHECKS>(shared, others);
        if let (Some(debugging), Err(report)) = (&shared.debugging, &result)
            && !report.is_ended()
            && !report.is_rewound()
        {
            let monitor = debugging.monitor;
            self.stop(monitor, None, Reason::Report(report), shared, others)?;
        }
        result
    }

    fn run_items<const CHECKS: bool>(
        &mut self,
        shared: &mut Shared<'_>,
        others: &mut VecDeque<Group<'l>>,
    ) -> Result<SliceEnd, Box<Report>> {
        let mut turns = 0;
        if self.live.capacity() == 0 {
            self.live = shared.pool.lists.pop().unwrap_or_default();
        }
        loop {
            // A work-item that waits for another one cannot run alone for long.
            let focus = if turns < TURNS_PER_SLICE { self.focus(shared) } else { None };
            let mut stops = self.run_ready_items::<CHECKS>(focus, shared, others)?;
            if focus.is_none() {
                self.begin_items::<CHECKS>(&mut stops, shared, others)?;
            }
            if self.begun < self.context.position.size() {
                // The work-item in focus has run alone.
                turns += TURNS_OF_A_WAIT;
                continue;
            }
            if self.live.is_empty() {
                shared.pool.lists.push(std::mem::take(&mut self.live));
                return match self.context.copies.unawaited() {
                    Some(site) if CHECKS => Err(self.context.unawaited_copy(site)),
                    _ => Ok(SliceEnd::Done),
                };
            }
            turns += if stops.any_ready { TURNS_OF_A_WAIT } else { 1 };
            let any_released = match stops.first {
                Some((State::Waiting(number), _))
                    if stops.are_equal && self.done == 0 && self.is_barrier_of_all(number) =>
                {
                    self.release_all::<CHECKS>(shared)?;
                    true
                }
                _ => self.run_collectives::<CHECKS>(shared)?,
            };
            if !stops.any_ready && !any_released {
                return Err(self.divergence(None));
            }
            if turns >= TURNS_PER_SLICE || clock::has_passed(shared.options.deadline) {
                return Ok(SliceEnd::Yielded);
            }
        }
    }

    /// Runs the work-items that are ready, or only the one in focus, for a slice each.
    fn run_ready_items<const CHECKS: bool>(
        &mut self,
        focus: Option<u32>,
        shared: &mut Shared<'_>,
        others: &mut VecDeque<Group<'l>>,
    ) -> Result<Stops, Box<Report>> {
        let are_equal = self.live.iter().all(|item| item.state == State::Ready);
        let mut stops = Stops { any_ready: false, first: None, are_equal };
        for index in 0..self.live.len() {
            if self.live[index].state != State::Ready {
                continue;
            }
            if focus.is_none_or(|focus| self.live[index].index == focus) {
                self.run_slice::<CHECKS>(index, shared, others)?;
            }
            let item = &self.live[index];
            self.done += u32::from(item.state == State::Done);
            stops.record(item);
        }
        if self.live.iter().any(|item| item.state == State::Done) {
            shared.pool.items.extend(self.live.extract_if(.., |item| item.state == State::Done));
        }
        Ok(stops)
    }

    /// Starts the work-items that have not begun, and runs each for a slice.
    fn begin_items<const CHECKS: bool>(
        &mut self,
        stops: &mut Stops,
        shared: &mut Shared<'_>,
        others: &mut VecDeque<Group<'l>>,
    ) -> Result<(), Box<Report>> {
        while self.begun < self.context.position.size() {
            let mut item = shared.pool.items.pop().unwrap_or_default();
            self.context.begin::<CHECKS>(self.begun, &mut item, shared.races)?;
            self.begun += 1;
            self.live.push(item);
            let index = self.live.len() - 1;
            self.run_slice::<CHECKS>(index, shared, others)?;
            let item = &self.live[index];
            if item.state == State::Done {
                self.done += 1;
                shared.pool.items.extend(self.live.pop());
                stops.are_equal = false;
            } else {
                stops.record(item);
            }
        }
        Ok(())
    }

    /// Executes a barrier at which all work-items of the group wait.
    fn release_all<const CHECKS: bool>(&mut self, shared: &mut Shared<'_>) -> Result<(), Box<Report>> {
        if CHECKS {
            let all: Vec<usize> = (0..self.live.len()).collect();
            return self.run_collective::<CHECKS>(&all, shared);
        }
        self.live.iter_mut().for_each(|item| item.state = State::Ready);
        Ok(())
    }

    /// Whether this is a barrier of the whole work-group.
    fn is_barrier_of_all(&self, number: u32) -> bool {
        let operation = &self.context.position.program().tables.collectives[number as usize];
        operation.scope != Scope::SubGroup && matches!(operation.kind, CollectiveKind::Barrier { .. })
    }

    /// Executes collective operations whose participants have all arrived. Returns whether any work-item can
    /// continue.
    fn run_collectives<const CHECKS: bool>(&mut self, shared: &mut Shared<'_>) -> Result<bool, Box<Report>> {
        let program = self.context.position.program();
        let mut released = false;
        if self.live.iter().all(|item| matches!(item.state, State::Waiting(_))) {
            let at = |item: &Item| match item.state {
                State::Waiting(number) => Some((&program.tables.collectives[number as usize], item.at())),
                _ => None,
            };
            let is_group =
                |item: &Item| at(item).is_some_and(|(operation, _)| operation.scope != Scope::SubGroup);
            if self.live.iter().all(is_group) {
                let first = self.live[0].at();
                let other = self.live.iter().find(|item| item.at() != first);
                if CHECKS && (other.is_some() || self.done > 0) {
                    return Err(self.divergence(other.map(|item| item.index)));
                }
                let all: Vec<usize> = (0..self.live.len()).collect();
                self.run_collective::<CHECKS>(&all, shared)?;
                return Ok(true);
            }
        }
        // Each sub-group separately.
        let mut start = 0;
        while start < self.live.len() {
            let sub_group = self.live[start].index / crate::SUB_GROUP_SIZE;
            let length = self.live[start..]
                .iter()
                .take_while(|item| item.index / crate::SUB_GROUP_SIZE == sub_group)
                .count();
            let range = start..start + length;
            start += length;
            let waits = |item: &Item| match item.state {
                State::Waiting(number) => Some(&program.tables.collectives[number as usize]),
                _ => None,
            };
            if !self.live[range.clone()].iter().all(|item| waits(item).is_some()) {
                continue;
            }
            let candidates: Vec<usize> = range
                .filter(|&index| {
                    waits(&self.live[index]).is_some_and(|operation| operation.scope == Scope::SubGroup)
                })
                .collect();
            // Non-uniform operations: the work-items furthest behind run first; others may join them later.
            let Some(first) = candidates.iter().map(|&index| self.live[index].at()).min() else { continue };
            let chosen: Vec<usize> =
                candidates.into_iter().filter(|&index| self.live[index].at() == first).collect();
            let is_uniform = waits(&self.live[chosen[0]]).is_some_and(|operation| !operation.non_uniform);
            let size = self.context.position.sub_group_size(self.live[chosen[0]].index) as usize;
            if CHECKS && is_uniform && chosen.len() != size {
                let others = "its sub-group's other work-items have returned or are elsewhere".to_owned();
                return Err(self.context.report(&self.live[chosen[0]], &Problem::Divergence { others }));
            }
            self.run_collective::<CHECKS>(&chosen, shared)?;
            released = true;
        }
        Ok(released)
    }

    fn run_collective<const CHECKS: bool>(
        &mut self,
        chosen: &[usize],
        shared: &mut Shared<'_>,
    ) -> Result<(), Box<Report>> {
        let program = self.context.position.program();
        let State::Waiting(number) = self.live[chosen[0]].state else { return Ok(()) };
        let operation = &program.tables.collectives[number as usize];
        let at = self.live[chosen[0]].at();
        if CHECKS && let CollectiveKind::Barrier { memory, semantics } = operation.kind {
            let item = &mut self.live[chosen[0]];
            let base = item.frames.last().map_or(0, |frame| frame.base);
            let known = [memory.slot(), semantics.slot()].into_iter().flatten();
            for slot in known {
                let why = union(item.poison(slot, 1));
                if why != 0 {
                    return Err(self.context.report(item, &Problem::Poison(why, Use::Operand)));
                }
            }
            let registers = &item.regs[base..];
            let (memory, semantics) = (memory.get(registers), semantics.get(registers));
            let is_whole_group = chosen.len() == self.context.position.size() as usize;
            let are_all = chosen.len() == self.live.len();
            let items = self.live.iter_mut().enumerate();
            let threads = items.filter(|(index, _)| are_all || chosen.binary_search(index).is_ok());
            let threads = threads.map(|(_, item)| &mut item.thread);
            shared.races.barrier(threads, is_whole_group, memory, semantics);
        }
        let context = &mut self.context;
        let function = &program.functions[at.0 as usize];
        let mut surrounding = CollectiveContext {
            environment: program.environment,
            global: shared.global,
            local: &mut context.local,
            local_size: context.position.region.local,
            races: shared.races,
            shadow: &mut context.shadow,
            copies: &mut context.copies,
            group: context.number,
            // The position is after the waiting operation.
            at: function.first + at.1.saturating_sub(1),
        };
        let result = collective::perform::<CHECKS>(operation, &mut self.live, chosen, &mut surrounding);
        if let Err(problem) = result {
            return Err(self.context.report(&self.live[chosen[0]], &problem));
        }
        for &index in chosen {
            self.live[index].state = State::Ready;
        }
        Ok(())
    }

    /// Reports that the first work-item waits at a barrier that others do not reach.
    fn divergence(&self, other: Option<u32>) -> Box<Report> {
        let others = match other {
            Some(index) => {
                let [x, y, z] = self.context.position.global_id(index);
                let there = self.live.iter().find(|item| item.index == index);
                let line = there.and_then(|item| self.context.source(item));
                let line = line.map_or(String::new(), |found| format!(", at line {}", found.line));
                format!("work-item ({x}, {y}, {z}) waits at another barrier{line}")
            }
            None if self.done == 0 => "its other work-items wait elsewhere".to_owned(),
            None => format!("{} of its work-items have returned", self.done),
        };
        self.context.report(&self.live[0], &Problem::Divergence { others })
    }

    /// The work-item that runs before the others, if it can run.
    fn focus(&self, shared: &Shared<'_>) -> Option<u32> {
        let focus = shared.debugging.as_ref()?.monitor.focus()?;
        let can_run = |item: &Item| item.index == focus.index && item.state == State::Ready;
        (focus.group == self.context.number && self.live.iter().any(can_run)).then_some(focus.index)
    }

    /// Runs one work-item for a time slice, or until another one has the focus of the debugger.
    fn run_slice<const CHECKS: bool>(
        &mut self,
        index: usize,
        shared: &mut Shared<'_>,
        others: &mut VecDeque<Group<'l>>,
    ) -> Result<(), Box<Report>> {
        loop {
            self.context.run_slice::<CHECKS>(&mut self.live[index], shared)?;
            let Some(debugging) = &shared.debugging else { return Ok(()) };
            if !std::mem::take(&mut self.live[index].is_stopped) {
                return Ok(());
            }
            let monitor = debugging.monitor;
            self.stop(monitor, Some(self.live[index].index), Reason::Requested, shared, others)?;
            if self.focus(shared).is_some_and(|focus| focus != self.live[index].index) {
                return Ok(());
            }
        }
    }

    /// Lets the debugger act.
    fn stop(
        &mut self,
        monitor: &dyn Monitor,
        running: Option<u32>,
        reason: Reason<'_>,
        shared: &mut Shared<'_>,
        others: &mut VecDeque<Group<'l>>,
    ) -> Result<(), Box<Report>> {
        shared.pass_output();
        let kernel = self.context.position.launch.name();
        let running = running.map(|index| ItemId { group: self.context.number, index });
        let mut stopped =
            StoppedLaunch { group: self, others, global: shared.global, races: shared.races, running };
        match Report::of_debugger(kernel, monitor.on_stop(reason, &mut stopped)) {
            Some(report) => Err(Box::new(report)),
            None => Ok(()),
        }
    }

    /// The linear index of the group.
    pub(crate) fn number(&self) -> u32 {
        self.context.number
    }

    /// The work-items that have started and have not returned, for a debugger.
    pub(crate) fn items<'a>(
        &'a self,
        global: &'a Objects,
        races: &'a Races,
    ) -> impl Iterator<Item = WorkItem<'a>> {
        let GroupContext { position, number, local, shadow, .. } = &self.context;
        let live = self.live.iter().filter(|item| item.state != State::Done);
        live.map(move |item| WorkItem {
            position: *position,
            number: *number,
            item,
            global,
            local,
            races,
            shadow,
        })
    }

    /// Marks bytes as initialized, at this offset of the memory that contains them.
    pub(crate) fn define(&mut self, index: u32, location: Location, bytes: Range<usize>) {
        let poison = match location.space {
            Space::Local => {
                self.context.local.get_mut(location.object as usize).map(|local| &mut local.poison)
            }
            Space::Private => {
                let item = self.live.iter_mut().find(|item| item.index == index);
                item.map(|item| &mut item.private.poison)
            }
            Space::Global | Space::Input | Space::Resource => None,
        };
        if let Some(bytes) = poison.and_then(|poison| poison.get_mut(bytes)) {
            bytes.fill(0);
        }
    }

    /// Reports that the launch timed out while this group was running.
    pub(crate) fn timeout(&mut self) -> Report {
        let item = self.live.pop().unwrap_or_default();
        *self.context.report(&item, &Problem::Timeout)
    }
}

impl GroupContext<'_> {
    /// Initializes a work-item.
    fn begin<const CHECKS: bool>(
        &self,
        index: u32,
        item: &mut Item,
        races: &mut Races,
    ) -> Result<(), Box<Report>> {
        let launch = self.position.launch;
        let program = self.position.program();
        let kernel = &program.kernels[launch.kernel];
        let function = &program.functions[kernel.function as usize];
        item.reset(index);
        if CHECKS {
            item.thread = races.begin(self.number, index);
        }
        let prepared = self.arguments::<CHECKS>(item, function);
        prepared.map_err(|problem| self.report(item, &problem))
    }

    fn arguments<const CHECKS: bool>(&self, item: &mut Item, function: &Function) -> Result<(), Problem> {
        let launch = self.position.launch;
        let program = self.position.program();
        let kernel = &program.kernels[launch.kernel];
        for ((object, initial), number) in program.privates.iter().zip(0..) {
            let start = item.private.push::<CHECKS>(u32::MAX, number, object.size, object.align)?;
            if let Some((bytes, _)) = initial {
                item.private.initialize::<CHECKS>(start, bytes);
            }
        }
        item.enter::<CHECKS>(kernel.function, function, 0)?;
        let mut locals = program.locals.len() as u32;
        let mut slot = 0;
        let taken = kernel.parameters.iter().zip(&function.parameters);
        for ((parameter, parts), argument) in taken.zip(launch.arguments) {
            let address = match (argument, parameter.kind) {
                (Argument::Local(_), _) => {
                    locals += 1;
                    Some(Space::Local.address(locals - 1))
                }
                (Argument::Bytes(bytes), ParameterKind::Value { size, align, by_address: true }) => {
                    let address = item.private.push::<CHECKS>(u32::MAX, slot, size.into(), align.into())?;
                    item.private.initialize::<CHECKS>(address, bytes);
                    Some(address)
                }
                _ => None,
            };
            let address = address.map(u64::to_le_bytes);
            let value = match (&address, argument) {
                (Some(address), _) => &address[..],
                (None, Argument::Bytes(bytes)) => bytes,
                (None, Argument::Local(_)) => &[],
            };
            for part in parts {
                for lane in 0..part.count {
                    let at = part.offset as usize + lane as usize * usize::from(part.size);
                    let mut word = [0; 8];
                    if let Some(bytes) = value.get(at..at + usize::from(part.size)) {
                        word[..bytes.len()].copy_from_slice(bytes);
                    }
                    item.values(slot, 1)[0] = u64::from_le_bytes(word);
                    slot += 1;
                }
            }
        }
        Ok(())
    }

    /// Runs one work-item for a time slice.
    fn run_slice<const CHECKS: bool>(
        &mut self,
        item: &mut Item,
        shared: &mut Shared<'_>,
    ) -> Result<(), Box<Report>> {
        let options = shared.options;
        let slice = if options.seed == 0 { SLICE } else { 1 + self.random.below(64) };
        let mut site = GroupState {
            program: self.position.program(),
            position: self.position,
            global: shared.global,
            resources: &shared.resources[self.position.region.pipeline],
            local: &mut self.local,
            races: shared.races,
            shadow: &mut self.shadow,
            printed: Printed { text: shared.printed, used: shared.print_room },
            queue: shared.queue,
            number: self.number,
            monitor: shared.debugging.as_ref().map(|debugging| debugging.monitor),
        };
        let result = run::run::<CHECKS>(&mut site, item, slice);
        let result = match result {
            Ok(()) if item.steps > options.steps => Err(Problem::Steps(options.steps)),
            other => other,
        };
        result.map_err(|problem| self.report(item, &problem))
    }

    fn source(&self, item: &Item) -> Option<report::SourceLine> {
        let program: &Program = self.position.program();
        // Operations without line information use the line of their callers.
        item.frames.iter().rev().enumerate().find_map(|(depth, frame)| {
            // The position of a caller is after its call, as is that of a waiting work-item.
            let waits = depth > 0 || matches!(item.state, State::Waiting(_));
            let position = frame.position.saturating_sub(waits.into());
            self.source_line(program.functions[frame.function as usize].line(position)?)
        })
    }

    /// Reports that all work-items have ended before an asynchronous copy completed (OpenCL C 6.15.11).
    fn unawaited_copy(&self, site: u32) -> Box<Report> {
        let program = self.position.program();
        let message = "ends without having waited for an asynchronous copy".to_owned();
        let mut report =
            self.report(&Item::default(), &Problem::Misuse { kind: "asynchronous-copy", message });
        report.location = program.line_at(site).and_then(|line| self.source_line(line));
        report
    }

    fn source_line(&self, line: Line) -> Option<report::SourceLine> {
        let file = self.position.program().files.get(line.file as usize)?.clone();
        Some(report::SourceLine { file, line: line.line })
    }

    pub(crate) fn report(&self, item: &Item, problem: &Problem) -> Box<Report> {
        let launch = self.position.launch;
        let mut notes = problem.notes();
        if let Problem::Race(race) = problem {
            let (who, program) = match &race.other_by {
                Agent::Copy => ("an asynchronous copy".to_owned(), Some(self.position.program())),
                Agent::Kernel(name) => (format!("kernel `{name}`"), Some(self.position.program())),
                Agent::WorkItem { group, index } => {
                    let there = GroupPosition::nth(launch, (*group).into());
                    let [x, y, z] = there.map(|position| position.global_id(*index)).unwrap_or_default();
                    (format!("work-item ({x}, {y}, {z})"), there.map(|position| position.program()))
                }
            };
            let line = program.and_then(|program| program.line_at(race.other_at));
            let line = line.map_or(String::new(), |line| format!(" at line {}", line.line));
            notes.insert(0, format!("the other access is by {who}{line}"));
        }
        notes.extend(problem.address().and_then(|address| self.describe_object(item, address)));
        Box::new(Report {
            kernel: launch.name().to_owned(),
            message: problem.message(),
            location: self.source(item),
            work_item: self.position.global_id(item.index),
            notes,
            kind: problem.kind(),
        })
    }
}
