//! Enumerates the runs of all work-items, for all values that the work-items can write.
//!
//! A round runs each work-item for each choice of values, and collects the shared locations and the written values. Both
//! sets only grow. The last round finds nothing new.
//!
//! A run that needs a value stops, and each choice resumes a copy of it. A tree of choices caches the runs, so a later round
//! executes only new ones. If more locations become shared, the enumeration starts over.

use std::collections::{BTreeMap, BTreeSet};

use spirv::Op;

use super::{
    Launch, Module, Unsupported,
    interface::{self, Bound},
    memory::{self, Access, Shared},
    values::{Before, Values},
    walk::{Item, Run, Stop},
};
use crate::event::{End, Event, Location, Object, Position, Skeleton, Trace};

/// The maximum number of work-items. The executions of more are too many to explore.
const MAX_ITEMS: u32 = 64;
/// The usual maximum number of runs of a work-item.
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

/// The runs of a work-item.
#[derive(Default)]
struct Runs {
    tree: Tree,
    /// The number of runs, including those that are not kept.
    count: usize,
    /// The maximum number of writes of a run.
    writes: usize,
}

/// The runs that begin with the same choices.
#[derive(Default)]
enum Tree {
    #[default]
    Unknown,
    /// There is a single run. `None` if it is not kept.
    Run(Option<Trace>),
    /// They read this address, with this size, after these accesses to it. A tree for each value.
    Choice(u64, u64, Before, BTreeMap<u64, Tree>),
}

impl Tree {
    /// Appends the runs, in the order of their choices.
    fn flatten(self, into: &mut Vec<Trace>) {
        match self {
            Self::Unknown => {}
            Self::Run(trace) => into.extend(trace),
            Self::Choice(.., next) => next.into_values().for_each(|tree| tree.flatten(into)),
        }
    }
}

/// The runs of all work-items, and what they have in common.
struct Search<'m> {
    module: &'m Module,
    bound: &'m Bound,
    /// The values that every atomic object can have, from thin air.
    thin_air_values: BTreeSet<u64>,
    values: Values,
    log: Log,
    is_cut: bool,
    has_spins: bool,
}

impl Module {
    /// The values that reads of atomic objects can return from thin air: the constants that stores write and that computations
    /// use, and the constants of the launch. The values that such runs write are collected like all others.
    fn assumed(&self, bound: &Bound) -> BTreeSet<u64> {
        let mut ids = Vec::new();
        for it in &self.instructions {
            match it.op {
                Op::Store => ids.push(it.word(1)),
                Op::AtomicStore => ids.push(it.word(3)),
                Op::AtomicExchange => ids.push(it.word(5)),
                Op::AtomicCompareExchange => ids.extend([it.word(6), it.word(7)]),
                Op::IEqual | Op::INotEqual | Op::IAdd | Op::ISub | Op::BitwiseXor => {
                    ids.extend([it.word(2), it.word(3)]);
                }
                _ => {}
            }
        }
        let values = ids.into_iter().filter_map(|id| self.constant(id, bound).ok()?.first().copied());
        values.chain(bound.launch.assumed.iter().map(|value| *value as u64)).collect()
    }

    /// Enumerates the runs of all work-items of a launch, with their accesses to shared memory.
    pub fn skeleton(&self, launch: &Launch) -> Result<Skeleton, Unsupported> {
        let bound = self.bind(launch)?;
        let items = items(launch);
        if items.len() as u32 > MAX_ITEMS || items.is_empty() {
            return Err(Unsupported::Other(format!("1 to {MAX_ITEMS} work-items can be explored")));
        }
        let mut shared = Shared::default();
        let assumed = if launch.thin_air { self.assumed(&bound) } else { BTreeSet::new() };
        let mut skeleton = self.runs(&bound, &items, &mut shared, assumed)?;
        if launch.thin_air {
            // The runs without values from thin air, for the same shared memory.
            let causal = self.runs(&bound, &items, &mut shared, BTreeSet::new())?;
            for (runs, causal) in skeleton.traces.iter_mut().zip(&causal.traces) {
                runs.iter_mut().for_each(|run| run.is_assumed = !causal.contains(run));
            }
        }
        Ok(skeleton)
    }

    /// Enumerates the runs of these work-items, which can read the assumed values from thin air.
    fn runs(
        &self,
        bound: &Bound,
        items: &[Item],
        shared: &mut Shared,
        assumed: BTreeSet<u64>,
    ) -> Result<Skeleton, Unsupported> {
        let launch = &bound.launch;
        let mut search = Search {
            module: self,
            bound,
            thin_air_values: assumed,
            values: Values::new(launch.only_consistent && !launch.thin_air),
            log: Log::default(),
            is_cut: false,
            has_spins: false,
        };
        let mut all: Vec<Runs> = items.iter().map(|_| Runs::default()).collect();
        for number in 0.. {
            for (index, (item, runs)) in items.iter().zip(&mut all).enumerate() {
                let mut tree = std::mem::take(&mut runs.tree);
                let begin = (index, *item, &*shared);
                search.grow(begin, &mut tree, &mut Vec::new(), runs, None)?;
                runs.tree = tree;
            }
            let shares_more = search.share(shared);
            let is_new = search.values.update() || shares_more;
            // The number of writes bounds the useful values: without that limit, additions would produce new values
            // forever.
            if !is_new || number > 2 + all.iter().map(|runs| runs.writes).sum::<usize>() {
                return search.finish(launch, items, shared, all);
            }
            if shares_more {
                all.iter_mut().for_each(|runs| *runs = Runs::default());
            }
        }
        unreachable!("the rounds are bounded")
    }
}

impl<'m> Search<'m> {
    /// Runs a work-item for all choices that begin with these. `suspended` is the run with these choices.
    fn grow<'r>(
        &mut self,
        begin: (usize, Item, &'r Shared),
        tree: &mut Tree,
        choices: &mut Vec<u64>,
        runs: &mut Runs,
        suspended: Option<Run<'r>>,
    ) -> Result<(), Unsupported>
    where
        'm: 'r,
    {
        let (index, item, shared) = begin;
        let mut stopped = None;
        if let Tree::Unknown = tree {
            let mut run = match suspended {
                Some(run) => run,
                None => Run::new(self.module, self.bound, shared, choices.clone(), item)?,
            };
            let result = run.resume();
            self.log.add(index, &run.accesses[run.logged..]);
            run.logged = run.accesses.len();
            *tree = match result {
                Ok(trace) => Tree::Run(self.keep(trace, true, index, runs)),
                Err(Stop::Long) => {
                    self.is_cut = true;
                    let is_kept = self.bound.launch.keeps_cut;
                    Tree::Run(self.keep(run.trace(End::Cut), is_kept, index, runs))
                }
                Err(Stop::Idle(from)) => {
                    self.has_spins = true;
                    let is_kept = self.bound.launch.keeps_spins;
                    Tree::Run(self.keep(run.trace(End::Spin(from)), is_kept, index, runs))
                }
                Err(Stop::Unsupported(what)) => return Err(what),
                Err(Stop::Choose(address, size)) => {
                    let initial = memory::initial(self.bound, address, size);
                    let before = Before::new(run.events(), address, initial);
                    stopped = Some(run);
                    Tree::Choice(address, size, before, BTreeMap::new())
                }
            };
            let max = self.bound.launch.max_runs.unwrap_or(MAX_RUNS);
            if runs.count > max {
                return Err(Unsupported::Other(format!("a work-item has more than {max} runs")));
            }
        }
        let Tree::Choice(address, size, before, next) = tree else { return Ok(()) };
        let initial = memory::initial(self.bound, *address, *size);
        // A plain read sees only a write that happens before it. So each cycle of such values has a read of an atomic object, and
        // the values of that read reach the others.
        if self.log.atomic.contains(address) {
            let mask = u64::MAX >> (64 - 8 * (*size).clamp(1, 8));
            self.values.add(*address, self.thin_air_values.iter().map(|value| value & mask));
        }
        for value in self.values.readable(*address, initial, index, before) {
            let tree = next.entry(value).or_default();
            choices.push(value);
            let resumed = match tree {
                Tree::Unknown => stopped.as_ref().map(|run| run.with_choice(value)),
                Tree::Run(_) | Tree::Choice(..) => None,
            };
            self.grow(begin, tree, choices, runs, resumed)?;
            choices.pop();
        }
        Ok(())
    }

    /// Records what a new run writes. Returns the run if it is kept.
    fn keep(&mut self, trace: Trace, is_kept: bool, item: usize, runs: &mut Runs) -> Option<Trace> {
        self.values.record(item, &trace.events);
        runs.count += 1;
        if !is_kept {
            return None;
        }
        let writes = trace.events.iter().filter(|event| event.writes()).count();
        runs.writes = runs.writes.max(writes);
        Some(trace)
    }

    /// Adds the shared locations that runs have accessed. Returns whether any of them is new.
    fn share(&self, shared: &mut Shared) -> bool {
        let before = shared.bytes.len();
        // Any atomic object can get a value from thin air. Its store can be reachable only after a read of that value, so an
        // object counts as shared even if no run has stored to it.
        let (log, thin_air) = (&self.log, self.bound.launch.thin_air);
        let is_shared = |(address, (items, is_written)): &(&u64, &(u64, bool))| {
            items.count_ones() > 1 && *is_written || thin_air && log.atomic.contains(address)
        };
        shared.bytes.extend(self.log.bytes.iter().filter(is_shared).map(|(address, _)| *address));
        shared.bytes.len() > before
    }

    fn finish(
        self,
        launch: &Launch,
        items: &[Item],
        shared: &Shared,
        all: Vec<Runs>,
    ) -> Result<Skeleton, Unsupported> {
        let flat = |runs: Runs| {
            let mut traces = Vec::new();
            runs.tree.flatten(&mut traces);
            traces
        };
        let mut traces: Vec<Vec<Trace>> = all.into_iter().map(flat).collect();
        if launch.thin_air {
            self.keep_supplied(&mut traces);
        }
        if traces.iter().any(Vec::is_empty) {
            return Err(Unsupported::Long);
        }
        self.check_sizes(shared)?;
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
            has_spins: self.has_spins,
            traces,
        })
    }

    /// Keeps only runs whose reads return initial values, or values that a kept run writes.
    fn keep_supplied(&self, traces: &mut [Vec<Trace>]) {
        let initial = |location: &Location| {
            let address = interface::address(location.object) + u64::from(location.offset);
            let size = self.log.sizes.range((address, 0)..).next().map_or(4, |it| it.1);
            memory::initial(self.bound, address, size)
        };
        loop {
            let events = traces.iter().flatten().flat_map(|trace| &trace.events);
            let write = |event: &Event| Some((event.location?, event.written)).filter(|_| event.writes());
            let written: BTreeSet<(Location, u64)> = events.filter_map(write).collect();
            let is_supplied = |event: &Event| {
                let Some(location) = event.location.filter(|_| event.reads()) else { return true };
                written.contains(&(location, event.read)) || event.read == initial(&location)
            };
            let count = |traces: &[Vec<Trace>]| traces.iter().map(Vec::len).sum::<usize>();
            let before = count(traces);
            traces.iter_mut().for_each(|runs| runs.retain(|trace| trace.events.iter().all(is_supplied)));
            if count(traces) == before {
                return;
            }
        }
    }

    /// Rejects accesses to shared memory that overlap only in part.
    fn check_sizes(&self, shared: &Shared) -> Result<(), Unsupported> {
        let is_shared =
            |(address, size): &&(u64, u64)| shared.bytes.range(*address..address + size).next().is_some();
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
    let groups = points_of_box([count(0), count(1), count(2)]);
    let mut items = Vec::new();
    for (group_number, group) in (0..).zip(groups) {
        for (local_number, local) in (0..).zip(points_of_box(launch.local)) {
            items.push(Item { local, group, group_number, local_number });
            if items.len() as u32 > MAX_ITEMS {
                return items;
            }
        }
    }
    items
}

/// The points of a box, the first dimension fastest.
fn points_of_box([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}

fn position(launch: &Launch, item: &Item) -> Position {
    let lanes = launch.sub_group.max(1);
    let in_group = launch.local.iter().product::<u32>().div_ceil(lanes);
    Position {
        group: item.group_number,
        sub_group: item.group_number * in_group + item.local_number / lanes,
        family: 0,
        device: launch.devices.get(item.group_number as usize).copied().unwrap_or_default(),
    }
}
