//! Requests that the driver unroll small innermost loops, if its compiler unrolls few others
//! (`Tuning::unrolls_on_request`). Loops with a hint in the source keep it. Skips loops with atomic operations or
//! calls, whose iterations do not overlap, and loops that may run too often or load too much: the driver completely
//! unrolls a loop with a known number of iterations, and moves the loads from global memory to its start.

use kiln_ir::{Function, InstId, Op};
use kiln_session::Options;

/// The maximum size of such a loop in instructions.
const LIMIT: usize = 128;
/// The maximum size of all its iterations, if constants bound their number.
const COPIES: u64 = 8192;
/// The maximum number of scalars that all iterations load from global memory, if constants bound their number. Measured on an
/// H100, where each of 16 loads of 4 bytes to 64 bytes is added to a sum: unrolled, 512 bytes for each work-item have the full
/// bandwidth, and 1024 bytes take 2.8 times as long as in a loop.
const LOADED: u64 = 128;

pub(super) fn request_unrolling(function: &mut Function, options: &Options) {
    if !options.optimize || !options.target.tuning.unrolls_on_request {
        return;
    }
    for id in function.inst_order() {
        if is_worth_unrolling(function, id)
            && let Op::Loop { hints, .. } = &mut function.insts[id].op
        {
            // As `opencl_unroll_hint` without a number.
            hints.unroll.get_or_insert(0);
        }
    }
}

fn is_worth_unrolling(function: &Function, id: InstId) -> bool {
    let Op::Loop { body, continuing, .. } = function.insts[id].op else { return false };
    let (mut blocks, mut size, mut loaded, mut bound) = (vec![body, continuing], 0, 0, 0);
    while let Some(block) = blocks.pop() {
        for inst in function.blocks[block].insts.iter().map(|&id| &function.insts[id]) {
            size += 1;
            if size > LIMIT || matches!(inst.op, Op::Loop { .. } | Op::Atomic(_) | Op::Call(_)) {
                return false;
            }
            // Pointers to global memory are integers here.
            if matches!(inst.op, Op::Load(_)) && !function.ty(inst.args[0]).is_pointer() {
                loaded += u64::from(function.ty(inst.results[0]).count());
            }
            if let Op::Compare(_) = inst.op {
                // The largest constant that a counter can be compared with.
                bound = inst.args.iter().filter_map(|&arg| function.constant_bits(arg)).fold(bound, u64::max);
            }
            blocks.extend(inst.op.blocks());
        }
    }
    bound.saturating_mul(size as u64) <= COPIES && bound.saturating_mul(loaded) <= LOADED
}
