//! Ends the work-item at a trap by leaving the kernel.
//!
//! Inlines functions that contain traps, so that the jump can leave the kernel. Other work-items continue. On actual
//! devices, a barrier does not wait for a work-item that has ended.

use super::inline_calls;
use kiln_ir::{Function, Module, Op};
use kiln_session::{Options, diag::Sink};

pub(super) fn terminate_at_traps(module: &mut Module, _: &Options, _: &mut Sink) {
    let is_trap = |op: &Op| matches!(op, Op::Trap(_));
    inline_calls::inline_functions_with(module, is_trap);
    for function in module.functions.iter_mut() {
        if function.may_contain(is_trap) {
            terminate_after_traps(function);
        }
    }
}

fn terminate_after_traps(function: &mut Function) {
    for block in function.block_order() {
        let insts = &function.blocks[block].insts;
        let Some(trap) = insts.iter().position(|&it| matches!(function.insts[it].op, Op::Trap(_))) else {
            continue;
        };
        let span = function.insts[insts[trap]].span;
        // Only a function without callers still has a result.
        let end = if function.result.is_some() { Op::Unreachable } else { Op::Return };
        let end = function.add_inst(end, &[], &[], span);
        function.blocks[block].insts.truncate(trap + 1);
        function.blocks[block].insts.push(end);
    }
}
