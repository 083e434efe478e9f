//! Enumerates the runs of all work-items, for all values that the work-items can write.
//!
//! A round runs each work-item for each choice of values, and collects the shared locations and the written values. Both
//! sets only grow. The last round finds nothing new.

use std::collections::{BTreeMap, BTreeSet};

use spirv::Op;

use super::{
    Launch, Module, Unsupported,
    interface::{self, Bound},
    memory::{self, Access, Shared},
    walk::{Item, Run, Stop},
};
use crate::event::{Location, Object, Position, Skeleton, Trace};

/// The maximum number of work-items. The executions of more are too many to explore.
const MAX_ITEMS: u32 = 64;
/// The maximum number of runs of a work-item.
const MAX_RUNS: usize = 100_000;

/// The accesses of all work-items.
#[derive(Default)]
struct Log {
    /// For each byte: the work-items that access it, and whether one writes.
    bytes: BTreeMap<u64, (u64, bool)>,
    /// The bytes of atomic objects.
    atomic: BTreeSet<u64>,
    /// The start and the size of each access.
    sizes: BTreeSet<(u64, u64)>,
}

impl Log {
    fn add(&mut self, item: usize, accesses: &[Access]) {
        for access in accesses {
            self.sizes.insert((access.address, access.size));
            for address in access.address..access.address + access.size {
                self.atomic.extend(access.is_atomic.then_some(address));
                let entry = self.bytes.entry(address).or_default();
                *entry = (entry.0 | 1 << item, entry.1 | access.writes);
            }
        }
    }
}

/// A round: all runs of all work-items.
struct Round<'m> {
    module: &'m Module,
    bound: &'m Bound,
    /// The values that every location can have, from thin air.
    thin_air_values: BTreeSet<u64>,
    shared: Shared,
    log: Log,
    /// The values that runs write which are not kept.
    dropped: Vec<(Location, u64)>,
    is_cut: bool,
}

impl Module {
    /// The constants that stores of the module write.
    fn stored(&self, bound: &Bound) -> BTreeSet<u64> {
        let operand = |it: &super::Instruction| match it.op {
            Op::Store => Some(it.word(1)),
            Op::AtomicStore => Some(it.word(3)),
            Op::AtomicExchange => Some(it.word(5)),
            _ => None,
        };
        let ids = self.instructions.iter().filter_map(operand);
        let values = ids.filter_map(|id| self.constant(id, bound).ok()?.first().copied());
        values.filter(|value| *value < 16).collect()
    }

    /// Enumerates the runs of all work-items of a launch, with their accesses to shared memory.
    pub fn skeleton(&self, launch: &Launch) -> Result<Skeleton, Unsupported> {
        let bound = self.bind(launch)?;
        let items = items(launch);
        if items.len() as u32 > MAX_ITEMS || items.is_empty() {
            return Err(Unsupported::Other(format!("1 to {MAX_ITEMS} work-items can be explored")));
        }
        let mut round = Round {
            module: self,
            bound: &bound,
            thin_air_values: if launch.thin_air { self.stored(&bound) } else { BTreeSet::new() },
            shared: Shared::default(),
            log: Log::default(),
            dropped: Vec::new(),
            is_cut: false,
        };
        for number in 0.. {
            let mut traces = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let mut found = Vec::new();
                round.explore(index, *item, &mut Vec::new(), &mut found)?;
                traces.push(found);
            }
            let is_new = round.update(&traces);
            // The number of writes bounds the useful values: without that limit, additions would produce new values
            // forever.
            let writes = |trace: &Trace| trace.events.iter().filter(|it| it.writes()).count();
            let most = |traces: &Vec<Trace>| traces.iter().map(writes).max().unwrap_or_default();
            if !is_new || number > 2 + traces.iter().map(most).sum::<usize>() {
                return round.finish(launch, &items, traces);
            }
        }
        unreachable!("the rounds are bounded")
    }
}

impl Round<'_> {
    /// Runs a work-item for all choices that begin with these.
    fn explore(
        &mut self,
        index: usize,
        item: Item,
        choices: &mut Vec<u64>,
        found: &mut Vec<Trace>,
    ) -> Result<(), Unsupported> {
        let mut run = Run::new(self.module, self.bound, &self.shared, choices, item);
        let result = run.to_the_end();
        self.log.add(index, &run.accesses);
        match result {
            Ok(trace) => found.push(trace),
            Err(Stop::Long) => {
                self.is_cut = true;
                let trace = run.trace(true);
                match self.bound.launch.keeps_cut {
                    true => found.push(trace),
                    false => self.drop_run(&trace),
                }
            }
            Err(Stop::Idle) => {
                let trace = run.trace(true);
                self.drop_run(&trace);
            }
            Err(Stop::Unsupported(what)) => return Err(what),
            Err(Stop::Choose(address, size)) => {
                let initial = memory::initial(self.bound, address, size);
                let values = self.shared.values.entry(address).or_default();
                values.insert(initial);
                // A plain read sees only a write that happens before it.
                if self.log.atomic.contains(&address) {
                    values.extend(&self.thin_air_values);
                }
                for value in values.clone() {
                    choices.push(value);
                    self.explore(index, item, choices, found)?;
                    choices.pop();
                }
            }
        }
        if found.len() > MAX_RUNS {
            return Err(Unsupported::Other(format!("a work-item has more than {MAX_RUNS} runs")));
        }
        Ok(())
    }

    fn drop_run(&mut self, trace: &Trace) {
        let writes = trace.events.iter().filter(|event| event.writes());
        self.dropped.extend(writes.filter_map(|event| Some((event.location?, event.written))));
    }

    /// Adds the shared locations and the written values of a round. Returns whether any of them is new.
    fn update(&mut self, traces: &[Vec<Trace>]) -> bool {
        let before = self.shared.bytes.len();
        // Any atomic object can get a value from thin air. Its store can be reachable only after a read of that value, so an
        // object counts as shared even if no run has stored to it.
        let (log, thin_air) = (&self.log, self.bound.launch.thin_air);
        let is_shared = |(address, (items, is_written)): &(&u64, &(u64, bool))| {
            items.count_ones() > 1 && *is_written || thin_air && log.atomic.contains(address)
        };
        self.shared.bytes.extend(self.log.bytes.iter().filter(is_shared).map(|(address, _)| *address));
        let mut is_new = self.shared.bytes.len() > before;
        let writes = traces.iter().flatten().flat_map(|trace| &trace.events).filter(|event| event.writes());
        let writes = writes.filter_map(|event| Some((event.location?, event.written)));
        for (location, written) in writes.chain(std::mem::take(&mut self.dropped)) {
            let address = interface::address(location.object) + u64::from(location.offset);
            is_new |= self.shared.values.entry(address).or_default().insert(written);
        }
        is_new
    }

    fn finish(
        self,
        launch: &Launch,
        items: &[Item],
        traces: Vec<Vec<Trace>>,
    ) -> Result<Skeleton, Unsupported> {
        if traces.iter().any(Vec::is_empty) {
            return Err(Unsupported::Long);
        }
        self.check_sizes()?;
        let locations: BTreeSet<Location> =
            traces.iter().flatten().flat_map(|trace| &trace.events).filter_map(|it| it.location).collect();
        let sizes: BTreeMap<u64, u64> = self.log.sizes.iter().copied().collect();
        let written = self.log.sizes.iter().filter_map(|(address, _)| {
            let is_written = self.log.bytes.get(address).is_some_and(|(_, is_written)| *is_written);
            interface::object(*address).filter(|_| is_written)
        });
        let has_objects = launch.objects.is_some();
        let is_part = |object: &Object| match object {
            Object::Argument(_) | Object::LocalArgument(..) => true,
            Object::LocalVariable(..) => has_objects,
            Object::Program | Object::Unshared(..) => false,
        };
        let parts: BTreeSet<Location> = written
            .filter(|(object, _)| is_part(object))
            .map(|(object, offset)| Location { object, offset })
            .collect();
        let address = |location: &Location| interface::address(location.object) + u64::from(location.offset);
        let size = |location: &Location| sizes.get(&address(location)).copied().unwrap_or(4);
        let initial = |location: &Location| {
            let value = memory::initial(self.bound, address(location), size(location));
            (value != 0).then_some((*location, value))
        };
        Ok(Skeleton {
            positions: items.iter().map(|item| position(launch, item)).collect(),
            initial: locations.union(&parts).filter_map(initial).collect(),
            sizes: parts.iter().map(size).collect(),
            system: Vec::new(),
            parts: parts.into_iter().collect(),
            is_cut: self.is_cut,
            traces,
        })
    }

    /// Rejects accesses to shared memory that overlap only in part.
    fn check_sizes(&self) -> Result<(), Unsupported> {
        let is_shared = |(address, size): &&(u64, u64)| {
            self.shared.bytes.range(*address..address + size).next().is_some()
        };
        let mut end = 0;
        for (address, size) in self.log.sizes.iter().filter(is_shared) {
            if *address < end {
                let what = "accesses of different sizes to the same shared memory are not supported";
                return Err(Unsupported::Other(what.to_owned()));
            }
            end = address + size;
        }
        Ok(())
    }
}

/// The work-items of a launch: those of a group are adjacent.
pub(super) fn items(launch: &Launch) -> Vec<Item> {
    let count = |it: usize| launch.global[it] / launch.local[it].max(1);
    let groups = each([count(0), count(1), count(2)]);
    let mut items = Vec::new();
    for (group_number, group) in (0..).zip(groups) {
        for (local_number, local) in (0..).zip(each(launch.local)) {
            items.push(Item { local, group, group_number, local_number });
            if items.len() as u32 > MAX_ITEMS {
                return items;
            }
        }
    }
    items
}

/// The points of a box, the first dimension fastest.
fn each([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}

fn position(launch: &Launch, item: &Item) -> Position {
    let lanes = launch.sub_group.max(1);
    let in_group = launch.local.iter().product::<u32>().div_ceil(lanes);
    Position {
        group: item.group_number,
        sub_group: item.group_number * in_group + item.local_number / lanes,
        family: 0,
    }
}
