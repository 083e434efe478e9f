//! Requests that the driver unroll small innermost loops, if its compiler unrolls few others
//! (`Tuning::unrolls_on_request`). Loops with a hint in the source keep it. Skips loops with atomic operations or
//! calls, whose iterations do not overlap, and loops that may run too often: the driver completely unrolls a loop with
//! a known number of iterations.

use kiln_ir::{Function, InstId, Module, Op};
use kiln_session::{Options, diag::Sink};

/// The maximum size of such a loop in instructions.
const LIMIT: usize = 128;
/// The maximum size of all its iterations, if constants bound their number.
const COPIES: u64 = 8192;

pub(super) fn request_unrolling(module: &mut Module, options: &Options, _: &mut Sink) {
    if !options.optimize || !options.target.tuning.unrolls_on_request {
        return;
    }
    for function in module.functions.iter_mut() {
        for id in function.inst_order() {
            if is_worth_unrolling(function, id)
                && let Op::Loop { hints, .. } = &mut function.insts[id].op
            {
                // As `opencl_unroll_hint` without a number.
                hints.unroll.get_or_insert(0);
            }
        }
    }
}

fn is_worth_unrolling(function: &Function, id: InstId) -> bool {
    let Op::Loop { body, continuing, .. } = function.insts[id].op else { return false };
    let (mut blocks, mut size, mut bound) = (vec![body, continuing], 0, 0);
    while let Some(block) = blocks.pop() {
        for inst in function.blocks[block].insts.iter().map(|&id| &function.insts[id]) {
            size += 1;
            if size > LIMIT || matches!(inst.op, Op::Loop { .. } | Op::Atomic(_) | Op::Call(_)) {
                return false;
            }
            if let Op::Compare(_) = inst.op {
                // The largest constant that a counter can be compared with.
                bound = inst.args.iter().filter_map(|&arg| function.constant_bits(arg)).fold(bound, u64::max);
            }
            blocks.extend(inst.op.blocks());
        }
    }
    bound.saturating_mul(size as u64) <= COPIES
}
