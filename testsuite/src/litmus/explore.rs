//! Enumerates the outcomes that a memory model permits for a module: combines all runs of the work-items, assigns
//! writes to reads, orders writes, and checks each candidate execution against the model.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Outcome, Space, Test, opencl,
    program::{Action, Event, Location, Program, Trace},
    vulkan,
};

/// The maximum number of combinations of runs that can be explored in reasonable time.
const MOST: usize = 5000;

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The model of the Vulkan specification.
    Vulkan,
    /// The model of the OpenCL specification.
    OpenCl,
}

/// A model's verdict on an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The execution is inconsistent.
    Impossible,
    /// The execution is consistent.
    Possible,
    /// The execution is consistent, and has a data race.
    Race,
}

/// The possible outcomes of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The outcomes.
    pub outcomes: BTreeSet<Outcome>,
    /// Whether there is a data race, which makes the program's behavior undefined.
    pub has_race: bool,
    /// The number of executions explored.
    pub executions: u64,
}

/// A candidate execution: the events of all work-items, the sources of reads, and the order of writes.
pub(super) struct Execution<'t> {
    /// The events with their work-items, in program order.
    pub(super) events: Vec<(usize, &'t Event)>,
    /// The write that each read reads from; `None` for the initial value.
    pub(super) reads_from: Vec<Option<usize>>,
    /// The position of each write in the modification order of its location, from 1.
    pub(super) order: Vec<usize>,
    /// Whether the work-items are in one work-group.
    pub(super) one_group: bool,
}

impl Execution<'_> {
    pub(super) fn count(&self) -> usize {
        self.events.len()
    }

    pub(super) fn event(&self, index: usize) -> &Event {
        self.events[index].1
    }

    pub(super) fn work_item(&self, index: usize) -> usize {
        self.events[index].0
    }

    /// Whether `a` precedes `b` in the program order of one work-item.
    pub(super) fn is_before_in_program(&self, a: usize, b: usize) -> bool {
        a < b && self.work_item(a) == self.work_item(b)
    }

    pub(super) fn writes(&self, index: usize) -> bool {
        matches!(self.event(index).action, Action::Write | Action::Modify)
    }

    pub(super) fn reads(&self, index: usize) -> bool {
        matches!(self.event(index).action, Action::Read | Action::Modify)
    }

    pub(super) fn same_place(&self, a: usize, b: usize) -> bool {
        let place = self.event(a).location;
        place.is_some() && place == self.event(b).location
    }

    /// Whether `a` precedes `b` in the modification order of a location.
    pub(super) fn is_modified_before(&self, a: usize, b: usize) -> bool {
        self.writes(a) && self.writes(b) && self.same_place(a, b) && self.order[a] < self.order[b]
    }

    /// Whether a read reads a value older than this write (from-reads).
    pub(super) fn reads_before(&self, read: usize, write: usize) -> bool {
        read != write
            && self.reads(read)
            && self.writes(write)
            && self.same_place(read, write)
            && self.reads_from[read].map_or(0, |source| self.order[source]) < self.order[write]
    }

    /// Whether the SPIR-V scope of `a` includes the work-item of `b`.
    pub(super) fn includes(&self, a: usize, b: usize) -> bool {
        match self.event(a).scope {
            0 | 1 | 5 => true,
            2 => self.one_group || self.work_item(a) == self.work_item(b),
            _ => self.work_item(a) == self.work_item(b),
        }
    }

    /// Whether the scopes of both events include each other.
    pub(super) fn inclusive(&self, a: usize, b: usize) -> bool {
        self.includes(a, b) && self.includes(b, a)
    }
}

/// Finds the outcomes of a module compiled from a test's `plain_source`. `change` may modify events, to test the
/// models.
pub fn outcomes(
    test: &Test,
    words: &[u32],
    one_group: bool,
    model: Model,
    change: &dyn Fn(&mut Event),
) -> Result<Outcomes, String> {
    let mut traces = Program::read(words).traces(test.work_items.len())?;
    for event in traces.iter_mut().flatten().flat_map(|trace| &mut trace.events) {
        change(event);
    }
    let names = names(test, &traces);
    let combinations: usize = traces.iter().map(Vec::len).product();
    if combinations > MOST {
        return Err(format!("{combinations} combinations of runs are too many"));
    }
    let mut found = Outcomes::default();
    let mut chosen = Vec::new();
    combine(&traces, &mut chosen, &mut |combination| {
        if !every_value_is_written(combination) {
            return;
        }
        executions(combination, one_group, &mut |execution| {
            found.executions += 1;
            let verdict = match model {
                Model::Vulkan => vulkan::judge(execution),
                Model::OpenCl => opencl::judge(execution),
            };
            if verdict != Verdict::Impossible {
                found.has_race |= verdict == Verdict::Race;
                found.outcomes.insert(outcome(test, combination, execution, &names));
            }
        });
    });
    Ok(found)
}

/// Maps locations to objects: both are in argument order, global and local ones separately.
fn names(test: &Test, traces: &[Vec<Trace>]) -> BTreeMap<Location, String> {
    let mut names = BTreeMap::new();
    let all: Vec<&Trace> = traces.iter().flatten().collect();
    for space in [Space::Global, Space::Local] {
        let places: BTreeSet<Location> = all
            .iter()
            .flat_map(|trace| trace.events.iter().map(move |event| (trace.result, event)))
            .filter(|(_, event)| event.space == space)
            .filter_map(|(result, event)| Some((result, event.location?)))
            .filter(|(result, location)| space == Space::Local || location.0 > *result)
            .map(|(_, location)| location)
            .collect();
        let is_here = |object: &&super::Object| match object.space {
            Some(own) => own == space,
            None => !places.is_empty(),
        };
        for (place, object) in places.iter().zip(test.objects.iter().filter(is_here)) {
            names.insert(*place, object.name.clone());
        }
    }
    names
}

/// Whether each value read is written by a work-item, or is an initial value.
fn every_value_is_written(traces: &[&Trace]) -> bool {
    let events = || traces.iter().flat_map(|trace| &trace.events);
    events().filter(|event| matches!(event.action, Action::Read | Action::Modify) && event.read != 0).all(
        |read| {
            events().any(|write| {
                matches!(write.action, Action::Write | Action::Modify)
                    && write.location == read.location
                    && write.written == read.read
            })
        },
    )
}

fn combine<'t>(traces: &'t [Vec<Trace>], chosen: &mut Vec<&'t Trace>, visit: &mut dyn FnMut(&[&'t Trace])) {
    let Some(next) = traces.get(chosen.len()) else { return visit(chosen) };
    for trace in next {
        chosen.push(trace);
        combine(traces, chosen, visit);
        chosen.pop();
    }
}

/// Visits every assignment of sources to reads and every order of writes.
fn executions(traces: &[&Trace], one_group: bool, visit: &mut dyn FnMut(&Execution<'_>)) {
    let events: Vec<(usize, &Event)> = traces
        .iter()
        .enumerate()
        .flat_map(|(work_item, trace)| trace.events.iter().map(move |event| (work_item, event)))
        .collect();
    let count = events.len();
    let mut execution = Execution { events, reads_from: vec![None; count], order: vec![0; count], one_group };
    let mut writes: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
    for index in (0..count).filter(|index| execution.writes(*index)) {
        writes.entry(execution.event(index).location.unwrap_or_default()).or_default().push(index);
    }
    let places: Vec<Vec<usize>> = writes.into_values().collect();
    orders(&mut execution, &places, 0, &mut |execution| sources(execution, 0, visit));
}

/// Visits every order of the writes to each location.
fn orders(
    execution: &mut Execution<'_>,
    places: &[Vec<usize>],
    from: usize,
    visit: &mut dyn FnMut(&mut Execution<'_>),
) {
    let Some(place) = places.get(from) else { return visit(execution) };
    fn permute(
        execution: &mut Execution<'_>,
        place: &[usize],
        rank: usize,
        done: &mut dyn FnMut(&mut Execution<'_>),
    ) {
        if rank > place.len() {
            return done(execution);
        }
        for &write in place {
            // In every model, writes of one work-item to one location are in program order.
            let is_next = execution.order[write] == 0
                && place.iter().all(|&other| {
                    execution.order[other] != 0 || !execution.is_before_in_program(other, write)
                });
            if is_next {
                execution.order[write] = rank;
                permute(execution, place, rank + 1, done);
                execution.order[write] = 0;
            }
        }
    }
    permute(execution, place, 1, &mut |execution| orders(execution, places, from + 1, visit));
}

/// Assigns to each read a write of its value.
fn sources(execution: &mut Execution<'_>, from: usize, visit: &mut dyn FnMut(&Execution<'_>)) {
    let Some(read) = (from..execution.count()).find(|index| execution.reads(*index)) else {
        return visit(execution);
    };
    let value = execution.event(read).read;
    let is_next = |execution: &Execution<'_>, rank: usize| {
        // A read-modify-write directly follows the write that it reads from.
        execution.event(read).action != Action::Modify || execution.order[read] == rank + 1
    };
    if value == 0 && is_next(execution, 0) {
        execution.reads_from[read] = None;
        sources(execution, read + 1, visit);
    }
    for write in 0..execution.count() {
        if write != read
            && execution.writes(write)
            && execution.same_place(read, write)
            && execution.event(write).written == value
            && is_next(execution, execution.order[write])
        {
            execution.reads_from[read] = Some(write);
            sources(execution, read + 1, visit);
        }
    }
    execution.reads_from[read] = None;
}

fn outcome(
    test: &Test,
    traces: &[&Trace],
    execution: &Execution<'_>,
    names: &BTreeMap<Location, String>,
) -> Outcome {
    let mut outcome = Outcome::new();
    for (index, part) in test.parts().into_iter().enumerate() {
        let register = traces.iter().find_map(|trace| trace.registers.get(&(index as u64)));
        let last = || {
            let place = names.iter().find(|(_, name)| **name == part)?.0;
            (0..execution.count())
                .filter(|&write| execution.writes(write) && execution.event(write).location == Some(*place))
                .max_by_key(|&write| execution.order[write])
                .map(|write| execution.event(write).written)
        };
        let value =
            if test.finals.contains(&part) { last().unwrap_or(0) } else { register.copied().unwrap_or(0) };
        outcome.insert(part, value as u32);
    }
    outcome
}
