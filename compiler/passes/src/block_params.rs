//! Finds the jumps that pass arguments to each block parameter and construct result.

use kiln_ir::{BlockId, Function, InstId, Op, ValueDef, ValueId};
use rustc_hash::FxHashMap;

/// The jumps of a function, by target. Not updated when the function changes.
pub(super) struct BlockParams {
    /// The `Exit`s of each construct. Their arguments become its results.
    exits: FxHashMap<InstId, Vec<InstId>>,
    /// The instructions that enter each block of a loop: the loop itself, `Next`s, `Continue`s. Their arguments
    /// become the block parameters.
    entries: FxHashMap<BlockId, Vec<InstId>>,
    /// The loop that owns each such block.
    loops: FxHashMap<BlockId, InstId>,
}

impl BlockParams {
    /// Collects the jumps of a function.
    pub(super) fn find(function: &Function) -> Self {
        let mut block_params =
            Self { exits: FxHashMap::default(), entries: FxHashMap::default(), loops: FxHashMap::default() };
        for id in function.inst_order() {
            match function.insts[id].op {
                Op::Loop { body, continuing, .. } => {
                    block_params.loops.extend([(body, id), (continuing, id)]);
                    block_params.entries.entry(body).or_default().push(id);
                }
                Op::Exit(target) => block_params.exits.entry(target).or_default().push(id),
                Op::Next(target) | Op::Continue(target) => {
                    let Op::Loop { body, continuing, .. } = function.insts[target].op else { continue };
                    let is_next = matches!(function.insts[id].op, Op::Next(_));
                    block_params.entries.entry(if is_next { body } else { continuing }).or_default().push(id);
                }
                _ => {}
            }
        }
        block_params
    }

    /// The arguments passed for this value. `None` if it is neither a block parameter nor a construct result.
    pub(super) fn sources<'a>(
        &'a self,
        function: &'a Function,
        value: ValueId,
    ) -> impl Iterator<Item = ValueId> + 'a {
        let (jumps, number) = match function.values[value].def {
            ValueDef::Result(inst, number) if function.insts[inst].op.is_construct() => {
                (self.exits.get(&inst), number)
            }
            ValueDef::Param(block, number) => (self.entries.get(&block), number),
            ValueDef::Result(..) | ValueDef::Const(_) => (None, 0),
        };
        jumps.into_iter().flatten().map(move |&jump| function.insts[jump].args[number as usize])
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
        for (&construct, jumps) in &self.exits {
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
        for (&block, jumps) in &self.entries {
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
