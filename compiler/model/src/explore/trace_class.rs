//! Runs that differ only in values are in one class and share all relations that do not depend on values.

use std::collections::BTreeMap;

use super::initial;
use crate::{
    event::{End, Event, Location, Skeleton, Trace},
    relation::Set,
};

/// The runs of a work-item with the same operations.
pub(super) struct TraceClass {
    /// One of these runs, for everything but values.
    pub(super) trace: Trace,
    pub(super) values: Vec<Values>,
    /// For each event, the number of its location.
    locations: Vec<Option<usize>>,
    /// The values at locations that some of the runs write.
    supplies: Set,
    /// The values that all of the runs need.
    needs: Set,
}

/// The values of a run.
pub(super) struct Values {
    pub(super) read: Vec<u64>,
    pub(super) written: Vec<u64>,
    /// The parts of an outcome that the run alone determines.
    pub(super) results: Vec<(usize, u64)>,
    /// Whether it reads values out of thin air.
    pub(super) is_assumed: bool,
    supplies: Set,
    /// The values read that are not initial ones.
    needs: Set,
}

/// Numbers the values at locations. Values beyond the size of a set are not checked early.
#[derive(Default)]
struct Numbers(BTreeMap<(Location, u64), u32>);

impl Numbers {
    fn set(&mut self, location: Location, value: u64) -> Set {
        let next = self.0.len() as u32;
        1_u128.checked_shl(*self.0.entry((location, value)).or_insert(next)).unwrap_or(0)
    }
}

/// The classes of each work-item, and the initial values of the locations that they access.
pub(super) struct TraceClasses {
    pub(super) items: Vec<Vec<TraceClass>>,
    initial: Vec<u64>,
    /// The values that runs of the work-items from a number on supply.
    supplies: Vec<Set>,
}

impl TraceClasses {
    pub(super) fn new(skeleton: &Skeleton) -> Self {
        let mut numbers = Numbers::default();
        let mut locations: BTreeMap<Location, usize> = BTreeMap::new();
        let mut of_item = |traces: &Vec<Trace>| {
            let mut classes: Vec<TraceClass> = Vec::new();
            let mut known: BTreeMap<(End, Vec<Operation>), usize> = BTreeMap::new();
            for trace in traces {
                let key = (trace.end, trace.events.iter().map(operation).collect());
                let index = *known.entry(key).or_insert_with(|| {
                    let mut number = |event: &Event| {
                        let next = locations.len();
                        event.location.map(|location| *locations.entry(location).or_insert(next))
                    };
                    classes.push(TraceClass {
                        locations: trace.events.iter().map(&mut number).collect(),
                        trace: trace.clone(),
                        values: Vec::new(),
                        supplies: 0,
                        needs: Set::MAX,
                    });
                    classes.len() - 1
                });
                let values = values(trace, skeleton, &mut numbers);
                let class = &mut classes[index];
                class.supplies |= values.supplies;
                class.needs &= values.needs;
                class.values.push(values);
            }
            classes
        };
        let items: Vec<Vec<TraceClass>> = skeleton.traces.iter().map(&mut of_item).collect();
        let mut supplies = vec![0; items.len() + 1];
        for (item, classes) in items.iter().enumerate().rev() {
            supplies[item] = classes.iter().fold(supplies[item + 1], |all, class| all | class.supplies);
        }
        let mut all = vec![0; locations.len()];
        for (location, number) in locations {
            all[number] = initial(skeleton, location);
        }
        Self { items, initial: all, supplies }
    }

    /// Whether runs of these classes, and any runs of the other work-items, can write all values that they need.
    pub(super) fn can_be_supplied(&self, chosen: &[&TraceClass]) -> bool {
        let needs = chosen.iter().fold(0, |all, class| all | class.needs);
        needs & !chosen.iter().fold(self.supplies[chosen.len()], |all, class| all | class.supplies) == 0
    }

    /// For a class of each work-item, the values that can be part of an execution: each read returns the initial value, or one
    /// that such a run writes. `None` if a work-item has none.
    pub(super) fn possible(&self, classes: &[&TraceClass]) -> Option<Vec<Vec<u32>>> {
        let all = |class: &&TraceClass| (0..class.values.len() as u32).collect();
        let mut possible: Vec<Vec<u32>> = classes.iter().map(all).collect();
        loop {
            let mut available: Vec<Vec<u64>> = self.initial.iter().map(|initial| vec![*initial]).collect();
            for (class, runs) in classes.iter().zip(&possible) {
                for (at, location) in class.writes() {
                    for run in runs {
                        let value = class.values[*run as usize].written[at];
                        if !available[location].contains(&value) {
                            available[location].push(value);
                        }
                    }
                }
            }
            let mut is_done = true;
            for (class, runs) in classes.iter().zip(&mut possible) {
                let before = runs.len();
                runs.retain(|run| {
                    let values = &class.values[*run as usize];
                    class.reads().all(|(at, location)| available[location].contains(&values.read[at]))
                });
                if runs.is_empty() {
                    return None;
                }
                is_done &= runs.len() == before;
            }
            if is_done {
                return Some(possible);
            }
        }
    }
}

impl TraceClass {
    /// The accesses of one kind: their positions, and the numbers of their locations.
    fn accesses(&self, is_one: fn(&Event) -> bool) -> impl Iterator<Item = (usize, usize)> {
        let numbered =
            self.locations.iter().enumerate().filter_map(|(at, location)| Some((at, (*location)?)));
        numbered.filter(move |(at, _)| is_one(&self.trace.events[*at]))
    }

    fn reads(&self) -> impl Iterator<Item = (usize, usize)> {
        self.accesses(Event::reads)
    }

    fn writes(&self) -> impl Iterator<Item = (usize, usize)> {
        self.accesses(Event::writes)
    }
}

fn values(trace: &Trace, skeleton: &Skeleton, numbers: &mut Numbers) -> Values {
    let (mut supplies, mut needs) = (0, 0);
    for event in &trace.events {
        let Some(location) = event.location else { continue };
        if event.reads() && event.read != initial(skeleton, location) {
            needs |= numbers.set(location, event.read);
        }
        if event.writes() {
            supplies |= numbers.set(location, event.written);
        }
    }
    let result =
        |(location, value): &(Location, u64)| Some((skeleton.parts.binary_search(location).ok()?, *value));
    Values {
        read: trace.events.iter().map(|event| event.read).collect(),
        written: trace.events.iter().map(|event| event.written).collect(),
        results: trace.results.iter().filter_map(result).collect(),
        is_assumed: trace.is_assumed,
        supplies,
        needs,
    }
}

/// The fields of an event, except for its values and its source line.
type Operation = (crate::event::Action, Option<Location>, u32, u32, bool, bool, u32, u32);

fn operation(event: &Event) -> Operation {
    (
        event.action,
        event.location,
        event.scope,
        event.semantics,
        event.is_atomic,
        event.is_shared,
        event.execution,
        event.site,
    )
}
