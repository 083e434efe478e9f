//! Runs that differ only in values share a shape, and with it all relations that do not depend on values.

use std::collections::BTreeMap;

use super::initial;
use crate::{
    event::{End, Event, Location, Skeleton, Trace},
    relation::Set,
};

/// The runs of a work-item with the same operations.
pub(super) struct Shape {
    /// One of these runs, for everything but values.
    pub(super) trace: Trace,
    pub(super) values: Vec<Values>,
    /// The values at locations that some of the runs write.
    supplies: Set,
    /// The values that all of the runs need.
    needs: Set,
}

/// The values of a run.
pub(super) struct Values {
    pub(super) read: Vec<u64>,
    pub(super) written: Vec<u64>,
    pub(super) results: Vec<(Location, u64)>,
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

/// The shapes of each work-item.
pub(super) fn shapes(skeleton: &Skeleton) -> Vec<Vec<Shape>> {
    let mut numbers = Numbers::default();
    let of_item = |traces: &Vec<Trace>| {
        let mut shapes: Vec<Shape> = Vec::new();
        let mut known: BTreeMap<(End, Vec<Operation>), usize> = BTreeMap::new();
        for trace in traces {
            let key = (trace.end, trace.events.iter().map(operation).collect());
            let index = *known.entry(key).or_insert_with(|| {
                let trace = trace.clone();
                shapes.push(Shape { trace, values: Vec::new(), supplies: 0, needs: Set::MAX });
                shapes.len() - 1
            });
            let values = values(trace, skeleton, &mut numbers);
            let shape = &mut shapes[index];
            shape.supplies |= values.supplies;
            shape.needs &= values.needs;
            shape.values.push(values);
        }
        shapes
    };
    skeleton.traces.iter().map(of_item).collect()
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
    Values {
        read: trace.events.iter().map(|event| event.read).collect(),
        written: trace.events.iter().map(|event| event.written).collect(),
        results: trace.results.clone(),
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

/// Whether runs of these shapes, with any of the others, can write all values that they need.
pub(super) fn can_be_supplied(chosen: &[&Shape], others: &[Vec<Shape>]) -> bool {
    let needs = chosen.iter().fold(0, |all, shape| all | shape.needs);
    let supplies = chosen.iter().copied().chain(others.iter().flatten());
    needs & !supplies.fold(0, |all, shape| all | shape.supplies) == 0
}

/// Whether runs with these values, with any of these shapes, can write all values that they read.
pub(super) fn are_supplied(chosen: &[&Values], others: &[&Shape]) -> bool {
    let needs = chosen.iter().fold(0, |all, values| all | values.needs);
    let supplies = chosen.iter().fold(0, |all, values| all | values.supplies);
    needs & !others.iter().fold(supplies, |all, shape| all | shape.supplies) == 0
}
