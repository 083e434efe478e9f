//! Replaces block parameters and construct results that receive only one value with that value.

use kiln_ir::{BlockId, Const, Function, InstId, Op, Replacements, ValueDef, ValueId};
use kiln_session::Options;
use kiln_types::index::Id as _;

use crate::block_params::BlockParams;

pub(super) fn remove_redundant_block_params(function: &mut Function, options: &Options) {
    if !options.optimize {
        return;
    }
    replace_redundant(function);
}

fn replace_redundant(function: &mut Function) {
    let block_params = BlockParams::find(function);
    let tree = Tree::for_function(function);
    let mut replaced = Replacements::default();
    let mut open = params_and_results(function);
    loop {
        let before = open.len();
        open.retain(|&value| match only_source(function, &block_params, &replaced, value) {
            Some(source) if tree.is_visible(function, source, block_params.construct(function, value)) => {
                replaced.insert(value, source);
                false
            }
            _ => true,
        });
        if open.len() == before {
            break;
        }
        // Alternates the direction, because the values of an outer loop can depend on those of an inner loop.
        open.reverse();
    }
    function.replace_uses(&replaced);
}

/// All results of constructs and parameters of loop blocks.
fn params_and_results(function: &Function) -> Vec<ValueId> {
    let mut values = Vec::new();
    for id in function.inst_order() {
        let inst = &function.insts[id];
        if inst.op.is_construct() {
            values.extend(&inst.results);
        }
        if let Op::Loop { body, continuing, .. } = inst.op {
            values.extend(&function.blocks[body].params);
            values.extend(&function.blocks[continuing].params);
        }
    }
    values
}

/// The only value that a block parameter or construct result receives. Undefined values are ignored.
fn only_source(
    function: &Function,
    block_params: &BlockParams,
    replaced: &Replacements,
    value: ValueId,
) -> Option<ValueId> {
    let mut only = None;
    for source in block_params.sources(function, value) {
        let source = replaced.resolve(source);
        let is_free = source == value || function.constant(source) == Some(&Const::Undefined);
        if !is_free && *only.get_or_insert(source) != source && !is_same(function, only, source) {
            return None;
        }
    }
    only
}

/// Whether two constants are equal.
fn is_same(function: &Function, one: Option<ValueId>, other: ValueId) -> bool {
    one.and_then(|one| function.constant(one)).is_some_and(|one| Some(one) == function.constant(other))
}

/// The nesting of blocks.
struct Tree {
    /// The parent and the depth of each block.
    around: Vec<(BlockId, u32)>,
    /// The block of each instruction.
    blocks: Vec<Option<BlockId>>,
}

impl Tree {
    fn for_function(function: &Function) -> Self {
        let mut around = vec![(function.body, 0); function.blocks.len()];
        let mut blocks = vec![None; function.insts.len()];
        for block in function.block_order() {
            for &id in &function.blocks[block].insts {
                blocks[id.index()] = Some(block);
                for nested in function.insts[id].op.blocks() {
                    around[nested.index()] = (block, around[block.index()].1 + 1);
                }
            }
        }
        Self { around, blocks }
    }

    /// Whether a value that is visible inside a construct is visible after it.
    fn is_visible(&self, function: &Function, value: ValueId, construct: Option<InstId>) -> bool {
        let parent = construct.and_then(|it| self.blocks[it.index()]);
        let defining_block = match function.values[value].def {
            ValueDef::Const(_) => return true,
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst, _) => self.blocks[inst.index()],
        };
        let (Some(defining_block), Some(mut block)) = (defining_block, parent) else { return false };
        while self.around[block.index()].1 > self.around[defining_block.index()].1 {
            block = self.around[block.index()].0;
        }
        block == defining_block
    }
}
