//! Requests that the driver unrolls small innermost loops, if its compiler waits for that (`Tuning::unrolls_on_request`).
//! Loops with a hint in the source keep it.

use kiln_ir::{Function, InstId, Module, Op};
use kiln_session::{Options, diag::Sink};

/// The maximum size of such a loop in instructions.
const LIMIT: usize = 256;

pub(super) fn request_unrolling(module: &mut Module, options: &Options, _: &mut Sink) {
    if !options.optimize || !options.target.tuning.unrolls_on_request {
        return;
    }
    for function in module.functions.iter_mut() {
        for id in function.inst_order() {
            if is_small_innermost_loop(function, id)
                && let Op::Loop { hints, .. } = &mut function.insts[id].op
            {
                // As `opencl_unroll_hint` without a number.
                hints.unroll.get_or_insert(0);
            }
        }
    }
}

fn is_small_innermost_loop(function: &Function, id: InstId) -> bool {
    let Op::Loop { body, continuing, .. } = function.insts[id].op else { return false };
    let (mut blocks, mut left) = (vec![body, continuing], LIMIT);
    while let Some(block) = blocks.pop() {
        for &inner in &function.blocks[block].insts {
            let op = &function.insts[inner].op;
            if left == 0 || matches!(op, Op::Loop { .. }) {
                return false;
            }
            left -= 1;
            blocks.extend(op.blocks());
        }
    }
    true
}
