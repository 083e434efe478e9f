//! Drops what nobody uses: values without effects, functions that no kernel calls, variables that nobody names.

use crate::{
    diag::Sink,
    index::Id as _,
    ir::{Access, Function, Module, Op},
    session::Options,
};

pub(super) fn dead_code(module: &mut Module, _: &Options, _: &mut Sink) {
    for function in module.functions.iter_mut() {
        drop_unused(function);
    }
}

/// Drops instructions whose results are unused and that do nothing else, until none is left.
fn drop_unused(function: &mut Function) {
    let mut uses = function.use_counts();
    for block in function.block_order().into_iter().rev() {
        let insts = std::mem::take(&mut function.blocks[block].insts);
        let mut kept: Vec<_> = insts
            .into_iter()
            .rev()
            .filter(|&id| {
                let inst = &function.insts[id];
                let used = inst.results.iter().any(|result| uses[result.index()] != 0);
                let dead = !used && is_droppable(&inst.op);
                if dead {
                    for arg in &inst.args {
                        uses[arg.index()] -= 1;
                    }
                }
                !dead
            })
            .collect();
        kept.reverse();
        function.blocks[block].insts = kept;
    }
}

fn is_droppable(op: &Op) -> bool {
    op.is_pure() || matches!(op, Op::Load(Access { is_volatile: false, .. }))
}
