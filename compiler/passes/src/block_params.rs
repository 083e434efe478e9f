//! Finds the jumps that pass arguments to each block parameter and construct result.

use std::marker::PhantomData;

use kiln_ir::{BlockId, Function, InstId, Op, ValueDef, ValueId};
use kiln_types::index::Id;
use rustc_hash::FxHashMap;

/// The jumps of a function, by target. Not updated when the function changes.
pub(super) struct BlockParams {
    /// The `Exit`s of each construct. Their arguments become its results.
    exits: Groups<InstId>,
    /// The instructions that enter each block of a loop: the loop itself, `Next`s, `Continue`s. Their arguments
    /// become the block parameters.
    entries: Groups<BlockId>,
    /// The loop that owns each such block.
    loops: FxHashMap<BlockId, InstId>,
}

/// Instructions by a key, in program order.
struct Groups<K> {
    /// The end of each group in `insts`, by the index of its key.
    ends: Vec<u32>,
    insts: Vec<InstId>,
    key: PhantomData<fn(K)>,
}

impl<K: Id> Groups<K> {
    /// Groups `pairs`, whose keys are less than `count`.
    fn new(pairs: &[(K, InstId)], count: usize) -> Self {
        if pairs.is_empty() {
            return Self { ends: Vec::new(), insts: Vec::new(), key: PhantomData };
        }
        // Contains, in turn: the number of instructions of each key, the start of its group, the end of its group.
        let mut ends = vec![0u32; count];
        for (key, _) in pairs {
            ends[key.index()] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut insts = vec![pairs[0].1; pairs.len()];
        for (key, inst) in pairs {
            let end = &mut ends[key.index()];
            insts[*end as usize] = *inst;
            *end += 1;
        }
        Self { ends, insts, key: PhantomData }
    }

    fn insts_of(&self, key: K) -> &[InstId] {
        let Some(&end) = self.ends.get(key.index()) else { return &[] };
        let start = key.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.insts[start as usize..end as usize]
    }

    /// The groups that are not empty.
    fn nonempty_groups(&self) -> impl Iterator<Item = (K, &[InstId])> {
        (0..self.ends.len())
            .map(|key| (K::from_index(key), self.insts_of(K::from_index(key))))
            .filter(|(_, it)| !it.is_empty())
    }
}

impl BlockParams {
    /// Collects the jumps of a function.
    pub(super) fn find(function: &Function) -> Self {
        let (mut exits, mut entries, mut loops) = (Vec::new(), Vec::new(), FxHashMap::default());
        let is_jump = |op: &Op| matches!(op, Op::Loop { .. } | Op::Exit(_) | Op::Next(_) | Op::Continue(_));
        for id in function.insts_where(is_jump) {
            match function.insts[id].op {
                Op::Loop { body, continuing, .. } => {
                    loops.extend([(body, id), (continuing, id)]);
                    entries.push((body, id));
                }
                Op::Exit(target) => exits.push((target, id)),
                Op::Next(target) | Op::Continue(target) => {
                    let Op::Loop { body, continuing, .. } = function.insts[target].op else { continue };
                    let is_next = matches!(function.insts[id].op, Op::Next(_));
                    entries.push((if is_next { body } else { continuing }, id));
                }
                _ => {}
            }
        }
        Self {
            exits: Groups::new(&exits, function.insts.len()),
            entries: Groups::new(&entries, function.blocks.len()),
            loops,
        }
    }

    /// The arguments passed for this value. `None` if it is neither a block parameter nor a construct result.
    pub(super) fn sources<'a>(
        &'a self,
        function: &'a Function,
        value: ValueId,
    ) -> impl Iterator<Item = ValueId> + 'a {
        let (jumps, number) = match function.values[value].def {
            ValueDef::Result(inst, number) if function.insts[inst].op.is_construct() => {
                (self.exits.insts_of(inst), number)
            }
            ValueDef::Param(block, number) => (self.entries.insts_of(block), number),
            ValueDef::Result(..) | ValueDef::Const(_) => (&[][..], 0),
        };
        jumps.iter().map(move |&jump| function.insts[jump].args[number as usize])
    }

    /// The construct that a block parameter or construct result belongs to.
    pub(super) fn construct(&self, function: &Function, value: ValueId) -> Option<InstId> {
        match function.values[value].def {
            ValueDef::Result(inst, _) => function.insts[inst].op.is_construct().then_some(inst),
            ValueDef::Param(block, _) => self.loops.get(&block).copied(),
            ValueDef::Const(_) => None,
        }
    }

    /// Removes block parameters and construct results, with their arguments.
    pub(super) fn retain(&self, function: &mut Function, is_kept: impl Fn(ValueId) -> bool) {
        for (construct, jumps) in self.exits.nonempty_groups() {
            let results = function.insts[construct].results.clone();
            let kept: Vec<bool> = results.iter().map(|&result| is_kept(result)).collect();
            if kept.contains(&false) {
                filter(&kept, |keep| function.insts[construct].results.retain(|_| keep()));
                for (number, result) in (0..).zip(function.insts[construct].results.clone()) {
                    function.values[result].def = ValueDef::Result(construct, number);
                }
                remove_arguments(function, jumps, &kept);
            }
        }
        for (block, jumps) in self.entries.nonempty_groups() {
            let kept: Vec<bool> = function.blocks[block].params.iter().map(|&param| is_kept(param)).collect();
            if kept.contains(&false) {
                filter(&kept, |keep| function.blocks[block].params.retain(|_| keep()));
                for (number, param) in (0..).zip(function.blocks[block].params.clone()) {
                    function.values[param].def = ValueDef::Param(block, number);
                }
                remove_arguments(function, jumps, &kept);
            }
        }
    }
}

/// Removes the arguments for removed parameters.
fn remove_arguments(function: &mut Function, jumps: &[InstId], kept: &[bool]) {
    for &jump in jumps {
        filter(kept, |keep| function.insts[jump].args.retain(|_| keep()));
    }
}

/// Calls `retain` with a predicate that returns the elements of `kept` in order.
fn filter(kept: &[bool], retain: impl FnOnce(&mut dyn FnMut() -> bool)) {
    let mut kept = kept.iter();
    retain(&mut || kept.next().copied().unwrap_or(true));
}
