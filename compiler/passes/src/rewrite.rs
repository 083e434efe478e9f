//! The common loop of rewriting passes: removes the instructions of every block and inserts them again one by one,
//! changed.

use kiln_ir::{Builder, Function, InstId, Op, Replacements};

/// Calls `visit` for each instruction in program order with a builder at its position. `visit` inserts the
/// instructions to keep with `Builder::insert`, and records replacements for results that are gone.
pub(super) fn rewrite(
    function: &mut Function,
    visit: impl FnMut(&mut Builder<'_>, InstId, &mut Replacements),
) {
    rewrite_only(function, |_| true, visit);
}

/// Like `rewrite`, but visits only the selected operations and keeps the others.
pub(super) fn rewrite_only(
    function: &mut Function,
    is_visited: impl Fn(&Op) -> bool,
    mut visit: impl FnMut(&mut Builder<'_>, InstId, &mut Replacements),
) {
    // Most passes change nothing in most functions.
    if !function.may_contain(&is_visited) {
        return;
    }
    let mut replaced = Replacements::default();
    let blocks = function.block_order();
    let mut builder = Builder::new(function);
    for block in blocks {
        let function = &mut *builder.function;
        let insts = &function.blocks[block].insts;
        let Some(first) = insts.iter().position(|&id| is_visited(&function.insts[id].op)) else { continue };
        let insts = function.blocks[block].insts.split_off(first);
        builder.at_end(block);
        for inst in insts {
            if !is_visited(&builder.function.insts[inst].op) {
                builder.insert(inst);
                continue;
            }
            builder.span = builder.function.insts[inst].span;
            visit(&mut builder, inst, &mut replaced);
        }
    }
    function.replace_uses(&replaced);
}
