//! Removes unused values, unused block parameters and constructs without effects.
//!
//! Mark and sweep from side effects. A loop parameter that is only used to compute itself is therefore removed.

use kiln_ir::{Access, BlockId, Function, InstId, Op, ValueDef, ValueId};
use kiln_session::Options;
use kiln_types::index::Id as _;

use crate::block_params::BlockParams;

pub(super) fn dead_code(function: &mut Function, _: &Options) {
    drop_unused(function);
}

/// Removes all instructions without effects whose results are unused.
fn drop_unused(function: &mut Function) {
    let block_params = BlockParams::find(function);
    let blocks = function.block_order();
    let is_needed = blocks_with_effects(function, &blocks);
    let mut search = Search {
        function,
        block_params: &block_params,
        is_used: vec![false; function.values.len()],
        work: Vec::new(),
    };
    search.run(&blocks, &is_needed);
    let is_used = search.is_used;
    let uses_any = |function: &Function, id: InstId| {
        function.insts[id].results.iter().any(|result| is_used[result.index()])
    };
    for block in blocks {
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        insts.retain(|&id| {
            let op = &function.insts[id].op;
            let is_droppable = is_droppable(op) || op.is_construct() && !is_needed[id.index()];
            !is_droppable || uses_any(function, id)
        });
        function.blocks[block].insts = insts;
    }
    block_params.retain(function, |value| is_used[value.index()]);
}

fn is_droppable(op: &Op) -> bool {
    op.is_pure() || matches!(op, Op::Load(Access { is_volatile: false, .. }))
}

/// For each construct, whether it has an effect: an instruction with an effect, or a jump past its end. A loop may
/// run forever, which counts as an effect.
fn blocks_with_effects(function: &Function, blocks: &[BlockId]) -> Vec<bool> {
    let mut is_needed = vec![false; function.insts.len()];
    let mut depths = vec![0u32; function.insts.len()];
    let mut depth_of = vec![0u32; function.blocks.len()];
    for &block in blocks {
        for &id in &function.blocks[block].insts {
            depths[id.index()] = depth_of[block.index()] + 1;
            for nested in function.insts[id].op.blocks() {
                depth_of[nested.index()] = depth_of[block.index()] + 1;
            }
        }
    }
    // The depth of the outermost construct that a jump in each block leaves: 0 for all.
    let mut outermost = vec![u32::MAX; function.blocks.len()];
    for &block in blocks.iter().rev() {
        let mut reached = u32::MAX;
        for &id in &function.blocks[block].insts {
            let op = &function.insts[id].op;
            let own = depths[id.index()];
            let from = match op {
                Op::Exit(target) => depths[target.index()],
                Op::Loop { .. } => 0,
                _ if op.is_construct() => {
                    let inside = op.blocks().into_iter().map(|it| outermost[it.index()]).min();
                    let inside = inside.unwrap_or(u32::MAX);
                    is_needed[id.index()] = inside < own;
                    inside
                }
                _ if is_droppable(op) => u32::MAX,
                _ => 0,
            };
            is_needed[id.index()] |= matches!(op, Op::Loop { .. });
            // A jump to the end of a construct in this block stays in this block.
            reached = reached.min(if op.is_construct() && from >= own { u32::MAX } else { from });
        }
        outermost[block.index()] = reached;
    }
    is_needed
}

struct Search<'f> {
    function: &'f Function,
    block_params: &'f BlockParams,
    is_used: Vec<bool>,
    work: Vec<ValueId>,
}

impl Search<'_> {
    fn run(&mut self, blocks: &[BlockId], is_needed: &[bool]) {
        let function = self.function;
        for &block in blocks {
            for &id in &function.blocks[block].insts {
                let inst = &function.insts[id];
                let is_root = match inst.op {
                    Op::Loop { .. } | Op::Exit(_) | Op::Next(_) | Op::Continue(_) => false,
                    _ if inst.op.is_construct() => is_needed[id.index()],
                    _ => !is_droppable(&inst.op),
                };
                if is_root {
                    self.mark(inst.args.iter().copied());
                }
            }
        }
        while let Some(value) = self.work.pop() {
            self.mark(self.block_params.sources(function, value));
            if let ValueDef::Result(inst, _) = function.values[value].def
                && !matches!(function.insts[inst].op, Op::Loop { .. })
            {
                self.mark(function.insts[inst].args.iter().copied());
            }
        }
    }

    fn mark(&mut self, values: impl Iterator<Item = ValueId>) {
        for value in values {
            if !std::mem::replace(&mut self.is_used[value.index()], true) {
                self.work.push(value);
            }
        }
    }
}
