//! Unrolls loops with `opencl_unroll_hint(n)` (OpenCL C 6.13.5). The body is copied n times with all its tests, so
//! that the result is correct for every trip count.
//!
//! Before `structure_exits`, because `continue` in all copies but the last becomes an exit of a block.

use kiln_ir::{Function, InstId, Module, Op, Type};
use kiln_session::{Options, diag::Sink};
use kiln_types::ops::LoopHints;

use crate::copy_code::{append_iterations, block_size, copy_into};

/// The maximum size of an unrolled loop in instructions. A larger loop is not unrolled; it keeps its hint, and the
/// driver decides.
const LIMIT: usize = 512;

pub(super) fn unroll_loops(module: &mut Module, options: &Options, _: &mut Sink) {
    if !options.optimize {
        return;
    }
    let predicate = |op: &Op| matches!(op, Op::Loop { hints: LoopHints { unroll: Some(2..) }, .. });
    for function in module.functions.iter_mut().filter(|function| function.may_contain(predicate)) {
        // Inner loops first, so that the copies of outer loops contain them unrolled.
        for id in function.inst_order().into_iter().rev() {
            if let Op::Loop { hints: LoopHints { unroll: Some(count @ 2..) }, .. } = function.insts[id].op {
                unroll_loop(function, id, count as usize);
            }
        }
    }
}

fn unroll_loop(function: &mut Function, id: InstId, count: usize) {
    let Op::Loop { body, continuing, .. } = function.insts[id].op else { return };
    let size = block_size(function, body) + block_size(function, continuing);
    if size.saturating_mul(count) > LIMIT {
        return;
    }
    let params: Vec<Type> = function.blocks[body].params.iter().map(|&param| function.ty(param)).collect();
    let unrolled = function.add_block(&params);
    let values = function.blocks[unrolled].params.clone();
    let values = append_iterations(function, unrolled, (id, [body, continuing]), values, count - 1);
    // The last copy is the original body.
    copy_into(function, unrolled, body, &values);
    if let Op::Loop { body, hints, .. } = &mut function.insts[id].op {
        *body = unrolled;
        hints.unroll = None;
    }
}
