//! Unrolls loops that index private arrays and whose number of iterations is a small constant: with constant indices, the arrays
//! become values (LLVM: full unrolling). Runs only for drivers that unroll few loops themselves (`Tuning::unrolls_on_request`):
//! there, a loop that is not unrolled keeps its array in memory.
//!
//! After `unroll_loops`, which handles hints. Before `split_private_objects` and `promote`, which remove the arrays.

use kiln_ir::{BlockId, Function, InstId, Op, Type};
use kiln_session::Options;
use kiln_types::ops::LoopHints;
use kiln_vocabulary::opencl::AddressSpace;

use crate::{
    copy_code::{append_iterations, block_size, copy_into},
    counted_loops::CountedLoop,
    origins::start,
};

/// The maximum number of iterations, and the maximum size of all iterations in instructions.
struct Limits {
    iterations: usize,
    size: usize,
}

/// For a loop without a hint.
const NO_HINT: Limits = Limits { iterations: 32, size: 4096 };
/// For a loop that the source requests to unroll completely (`#pragma unroll`).
const REQUESTED: Limits = Limits { iterations: 256, size: 16384 };

pub(super) fn unroll_array_loops(function: &mut Function, options: &Options) {
    if !options.optimize || !options.target.tuning.unrolls_on_request {
        return;
    }
    // Inner loops first, because the iterations of outer loops contain them.
    for id in function.insts_where(|op| matches!(op, Op::Loop { .. })).into_iter().rev() {
        let Op::Loop { body, continuing, hints } = function.insts[id].op else { continue };
        let limits = match hints {
            LoopHints { unroll: None } => NO_HINT,
            LoopHints { unroll: Some(0) } => REQUESTED,
            LoopHints { unroll: Some(_) } => continue,
        };
        if !indexes_private_array(function, body) {
            continue;
        }
        let Some(counted) = CountedLoop::find(function, id) else { continue };
        let size = block_size(function, body) + block_size(function, continuing);
        if let Some(count) = counted.iterations(function, id, limits.iterations.min(limits.size / size)) {
            unroll(function, id, &counted, count);
        }
    }
}

/// Whether the loop has an index into a private object that is not constant.
fn indexes_private_array(function: &Function, body: BlockId) -> bool {
    let mut blocks = vec![body];
    while let Some(block) = blocks.pop() {
        for &id in &function.blocks[block].insts {
            let inst = &function.insts[id];
            if let Op::Offset { .. } = inst.op
                && function.constant(inst.args[1]).is_none()
                && function.ty(start(function, inst.args[0])) == Type::Pointer(AddressSpace::Private)
            {
                return true;
            }
            blocks.extend(inst.op.blocks());
        }
    }
    false
}

/// Replaces the loop by a block with all iterations. Jumps out of the loop become jumps out of the block.
fn unroll(function: &mut Function, id: InstId, counted: &CountedLoop, count: usize) {
    let Op::Loop { body, continuing, .. } = function.insts[id].op else { return };
    let values = function.insts[id].args.to_vec();
    let unrolled = function.add_block(&[]);
    let insts = function.blocks[body].insts.clone();
    let at = insts.iter().position(|&it| it == counted.test).unwrap_or(0);
    let untested = counted.untested_body(function, body);
    let values = append_iterations(function, unrolled, (id, [untested, continuing]), values, count);
    // The test that leaves the loop.
    let Op::If { otherwise, .. } = function.insts[counted.test].op else { return };
    let mut last = function.blocks[body].clone();
    last.insts.truncate(at);
    last.insts.extend(&function.blocks[otherwise].insts);
    let last = function.blocks.push(last);
    copy_into(function, unrolled, last, &values);
    let inst = &mut function.insts[id];
    inst.op = Op::Block(unrolled);
    inst.args.clear();
}
