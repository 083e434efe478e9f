//! The values that reads of shared locations can return.
//!
//! A launch that needs only consistent executions skips values that no such execution has: values that only later writes of the
//! same work-item write, the initial value after an access to a newer one, and results of more additions than the runs
//! contain.

use std::collections::{BTreeMap, BTreeSet};

use super::interface;
use crate::event::{Action, Event};

/// The origin of a value at a location.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    /// The work-items that write it.
    items: u64,
    /// The minimum number of read-modify-writes that lead to it from the value of a store, or from the initial value.
    steps: u32,
}

/// The known values of a location.
#[derive(Debug, Default)]
struct Known {
    values: BTreeMap<u64, Origin>,
    /// The values that read-modify-writes replace, and those that they write.
    modified: BTreeSet<(u64, u64)>,
    /// For each work-item, the maximum number of read-modify-writes of a run.
    modifies: BTreeMap<usize, u32>,
}

/// The values at all locations.
#[derive(Debug, Default)]
pub(super) struct Values {
    locations: BTreeMap<u64, Known>,
    /// Whether to skip values that no consistent execution has.
    only_consistent: bool,
    /// The writes of runs since the last update.
    new: Vec<(u64, usize, Write)>,
}

#[derive(Debug)]
enum Write {
    Store(u64),
    /// The values that a read-modify-write read and wrote.
    Modify(u64, u64),
    /// The number of read-modify-writes of a run.
    Count(u32),
}

/// The accesses of a run to a location before it reads the location.
#[derive(Debug, Default)]
pub(super) struct Before {
    written: Vec<u64>,
    modifies: u32,
    /// Whether a write has replaced the initial value.
    is_replaced: bool,
}

fn address(event: &Event) -> Option<u64> {
    let location = event.location?;
    Some(interface::address(location.object) + u64::from(location.offset))
}

impl Before {
    pub(super) fn new(events: &[Event], at: u64, initial: u64) -> Self {
        let mut before = Self::default();
        for event in events.iter().filter(|event| address(event) == Some(at)) {
            if event.writes() {
                before.written.push(event.written);
            }
            before.modifies += u32::from(event.action == Action::Modify);
            before.is_replaced |= event.writes() || event.read != initial;
        }
        before
    }
}

impl Values {
    pub(super) fn new(only_consistent: bool) -> Self {
        Self { only_consistent, ..Self::default() }
    }

    /// Records the writes of a run of a work-item.
    pub(super) fn record(&mut self, item: usize, events: &[Event]) {
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        for event in events.iter().filter(|event| event.writes()) {
            let Some(at) = address(event) else { continue };
            let write = match event.action {
                Action::Modify => {
                    *counts.entry(at).or_default() += 1;
                    Write::Modify(event.read, event.written)
                }
                _ => Write::Store(event.written),
            };
            self.new.push((at, item, write));
        }
        self.new.extend(counts.into_iter().map(|(at, count)| (at, item, Write::Count(count))));
    }

    /// Adds what was recorded. Returns whether it allows more values.
    pub(super) fn update(&mut self) -> bool {
        let mut is_new = false;
        let mut changed = BTreeSet::new();
        for (at, item, write) in std::mem::take(&mut self.new) {
            let known = self.locations.entry(at).or_default();
            let (value, steps) = match write {
                Write::Count(count) => {
                    let max = known.modifies.entry(item).or_default();
                    is_new |= self.only_consistent && count > *max;
                    *max = count.max(*max);
                    continue;
                }
                Write::Store(value) => (value, 0),
                Write::Modify(read, value) => {
                    known.modified.insert((read, value));
                    (value, u32::MAX)
                }
            };
            let is_known = known.values.contains_key(&value);
            let origin = known.values.entry(value).or_insert(Origin { items: 0, steps });
            let before = *origin;
            origin.items |= 1 << item;
            origin.steps = origin.steps.min(steps);
            let has_changed = before.items != origin.items || before.steps != origin.steps;
            is_new |= !is_known || (self.only_consistent && has_changed);
            changed.insert(at);
        }
        for at in changed {
            if let Some(known) = self.locations.get_mut(&at) {
                is_new |= known.count_steps() && self.only_consistent;
            }
        }
        is_new
    }

    /// The values that a work-item can read at an address, after these accesses.
    pub(super) fn readable(&mut self, at: u64, initial: u64, item: usize, before: &Before) -> Vec<u64> {
        let known = self.locations.entry(at).or_default();
        known.values.entry(initial).or_default().steps = 0;
        if !self.only_consistent {
            return known.values.keys().copied().collect();
        }
        let own = 1 << item;
        let others = known.modifies.iter().filter(|(other, _)| **other != item);
        let max = others.map(|(_, count)| *count).sum::<u32>() + before.modifies;
        let is_possible = |(value, origin): &(&u64, &Origin)| {
            let is_initial = **value == initial && !before.is_replaced;
            is_initial || (origin.items & !own != 0 && origin.steps <= max)
        };
        let possible = known.values.iter().filter(is_possible).map(|(value, _)| *value);
        // The values that the run itself has written are not known before it ends.
        let all: BTreeSet<u64> = possible.chain(before.written.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// Adds a value that a location can have without a write.
    pub(super) fn add(&mut self, at: u64, values: impl Iterator<Item = u64>) {
        let known = self.locations.entry(at).or_default();
        for value in values {
            known.values.entry(value).or_default();
        }
    }
}

impl Known {
    /// Computes the number of steps to each value. Returns whether one has changed.
    fn count_steps(&mut self) -> bool {
        let mut has_changed = false;
        loop {
            let mut is_done = true;
            for (read, written) in &self.modified {
                let from = self.values.get(read).map_or(0, |origin| origin.steps).saturating_add(1);
                if let Some(origin) = self.values.get_mut(written)
                    && from < origin.steps
                {
                    origin.steps = from;
                    is_done = false;
                }
            }
            if is_done {
                return has_changed;
            }
            has_changed = true;
        }
    }
}
