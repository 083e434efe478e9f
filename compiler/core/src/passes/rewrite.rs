//! The common shape of rewriting: every block's instructions are taken out and put back one by one, changed.

use rustc_hash::FxHashMap;

use crate::ir::{Builder, Function, InstId, ValueId};

/// Calls `visit` for each instruction in order with a builder at its place. `visit` puts back, by
/// `Builder::insert`, what shall stay, and says which values take the place of results that are gone.
pub(super) fn rewrite(
    function: &mut Function,
    mut visit: impl FnMut(&mut Builder<'_>, InstId, &mut FxHashMap<ValueId, ValueId>),
) {
    let blocks = function.block_order();
    let mut replaced = FxHashMap::default();
    let mut builder = Builder::new(function);
    for block in blocks {
        let insts = std::mem::take(&mut builder.function.blocks[block].insts);
        builder.at_end(block);
        for inst in insts {
            builder.span = builder.function.insts[inst].span;
            visit(&mut builder, inst, &mut replaced);
        }
    }
    function.replace_uses(&replaced);
}
