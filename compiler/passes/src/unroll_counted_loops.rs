//! Unrolls small loops whose number of iterations is a value (LLVM: runtime unrolling), for drivers that leave most of them as
//! they are (`Tuning::unrolls_on_request`): the loads of several iterations overlap, and fewer tests are executed.
//!
//! A loop that counts from `i` up to `n` becomes two. The first runs while `i < n - 3 * step` and contains four iterations
//! without tests; the second is the original loop and runs the rest. Innermost loops only, without other exits, atomic
//! operations, barriers, calls and built-in functions of groups: work-items that need different numbers of iterations are in
//! different copies of the code. A bound that the loop computes again for each test, as in `i < size - 2`, is computed once, before
//! the loops. The step can be a value, as in `i += get_global_size(0)`.
//!
//! After `unroll_loops`, which handles hints. Before `structure_exits`, because the copies are blocks with an exit.

use kiln_ir::{BinaryOp, BlockId, Builder, CompareKind, Function, InstId, Op, Scalar, Type, ValueId};
use kiln_session::Options;
use kiln_types::ops::{CompareOp, LoopHints};

use crate::{
    addresses::is_arithmetic,
    copy_code::append_iterations,
    counted_loops::{CountedLoop, Step, invariants, step_before},
};

/// The number of iterations in the first loop.
const COUNT: u64 = 4;
/// The maximum size of a loop in instructions.
const LIMIT: usize = 64;

pub(super) fn unroll_counted_loops(function: &mut Function, options: &Options) {
    if !options.optimize || !options.target.tuning.unrolls_on_request {
        return;
    }
    for block in function.block_order() {
        let mut index = 0;
        while let Some(&id) = function.blocks[block].insts.get(index) {
            if let Some(counted) = loop_to_unroll(function, id) {
                unroll(function, (block, index), id, &counted);
                index = function.blocks[block].insts.iter().position(|&it| it == id).unwrap_or(index);
            }
            index += 1;
        }
    }
}

fn loop_to_unroll(function: &Function, id: InstId) -> Option<CountedLoop> {
    let Op::Loop { hints: LoopHints { unroll: None | Some(0) }, .. } = function.insts[id].op else {
        return None;
    };
    let counted = CountedLoop::find(function, id)?;
    let limits = [function.insts[id].args[counted.counter], counted.bound];
    let is_known =
        matches!(counted.step, Step::Constant(_)) && limits.iter().all(|&it| function.constant(it).is_some());
    // A loop that seldom has four iterations would only become larger.
    let is_short = counted.max_iterations(function, id).is_some_and(|it| it < 2 * COUNT);
    (!is_known && !is_short && is_worth_unrolling(function, id, counted.test)).then_some(counted)
}

/// Whether the loop is small, is left by its test only, and can be copied.
fn is_worth_unrolling(function: &Function, id: InstId, test: InstId) -> bool {
    let mut size = 0;
    let mut blocks: Vec<BlockId> = function.insts[id].op.blocks().to_vec();
    let mut inside = vec![];
    while let Some(block) = blocks.pop() {
        for &it in &function.blocks[block].insts {
            let inst = &function.insts[it];
            size += 1;
            match &inst.op {
                Op::If { .. } | Op::Block(_) => inside.push(it),
                Op::Load(access) | Op::Store(access) if !access.is_volatile => {}
                Op::Continue(_) | Op::Next(_) => {}
                // Constructs come before their blocks.
                Op::Exit(target) if inside.contains(target) => {}
                op if op.is_pure() || is_arithmetic(op) => {}
                _ => return false,
            }
            if it != test {
                blocks.extend(inst.op.blocks());
            }
        }
    }
    size <= LIMIT
}

/// Inserts a loop of four iterations without tests before the loop.
fn unroll(function: &mut Function, at: (BlockId, usize), id: InstId, counted: &CountedLoop) {
    let Op::Loop { body, continuing, .. } = function.insts[id].op else { return };
    let at = (at.0, at.1 + move_invariants_out(function, at, body));
    let params: Vec<Type> = function.blocks[body].params.iter().map(|&param| function.ty(param)).collect();
    let untested = counted.untested_body(function, body);
    let firsts = function.insts[id].args.clone();
    let mut builder = Builder::new(function);
    builder.at(at.0, at.1);
    builder.span = builder.function.insts[id].span;
    let (bound, is_possible) = first_bound(&mut builder, id, counted);
    let open = builder.open_loop(&firsts, &params, &params, LoopHints { unroll: Some(1) });
    builder.at_end(open.body);
    let values = builder.function.blocks[open.body].params.clone();
    let mut condition =
        builder.compare(counted.compare.op, counted.compare.kind, values[counted.counter], bound);
    if let Some(is_possible) = is_possible {
        condition = builder.binary(BinaryOp::And, condition, is_possible);
    }
    let test = builder.open_if(condition, &[]);
    builder.at_end(test.then);
    builder.exit(test.inst, &[]);
    builder.at_end(test.otherwise);
    builder.exit(open.inst, &values);
    let function = &mut *builder.function;
    let values = append_iterations(function, open.body, (id, [untested, continuing]), values, COUNT as usize);
    let mut builder = Builder::new(function);
    builder.at_end(open.body);
    builder.continue_loop(open.inst, &values);
    builder.close_loop(&open, at);
    function.insts[id].args = function.insts[open.inst].results.iter().copied().collect();
    if let Op::Loop { hints, .. } = &mut function.insts[id].op {
        hints.unroll = Some(1);
    }
}

/// Moves the invariants at the start of the body of a loop to before the loop (LLVM: LICM). Returns their number.
fn move_invariants_out(function: &mut Function, (block, index): (BlockId, usize), body: BlockId) -> usize {
    let moved = invariants(function, body);
    function.blocks[body].insts.retain(|it| !moved.contains(it));
    function.blocks[block].insts.splice(index..index, moved.iter().copied());
    moved.len()
}

/// The bound of the loop of four iterations: if the counter of the first iteration is within it, the counter of the last is
/// within the bound of the original loop. Returns a condition for entering the loop too, if the bound alone does not suffice.
fn first_bound(builder: &mut Builder<'_>, id: InstId, counted: &CountedLoop) -> (ValueId, Option<ValueId>) {
    let ty = builder.ty(counted.bound);
    let mask = ty.scalar().map_or(u64::MAX, Scalar::mask);
    let half = mask / 2 + 1;
    let (kind, op) = (counted.compare.kind, counted.compare.op);
    let is_up = matches!(op, CompareOp::Less | CompareOp::LessEqual);
    // The last value of the type in the direction that the loop comes from.
    let (extreme, reached, closer, farther) = match (is_up, kind == CompareKind::Signed) {
        (true, true) => (half, CompareOp::GreaterEqual, BinaryOp::Sub, BinaryOp::Add),
        (true, false) => (0, CompareOp::GreaterEqual, BinaryOp::Sub, BinaryOp::Add),
        (false, true) => (half - 1, CompareOp::LessEqual, BinaryOp::Add, BinaryOp::Sub),
        (false, false) => (mask, CompareOp::LessEqual, BinaryOp::Add, BinaryOp::Sub),
    };
    // How far the last iteration is from the first one, and the extreme value at this distance.
    let (distance, farthest, is_small) = match counted.step {
        Step::Constant(step) => {
            let distance = (COUNT - 1) * step.unsigned_abs();
            let farthest =
                if is_up { extreme.wrapping_add(distance) } else { extreme.wrapping_sub(distance) };
            (builder.bits(ty, distance), builder.bits(ty, farthest & mask), None)
        }
        Step::Value(step) => {
            let step = step_before(builder, id, step, ty);
            // A distance that does not overflow. A step of zero wraps around and is not less.
            let before = builder.binary_bits(BinaryOp::Sub, step, 1);
            let limit = builder.bits(ty, half / COUNT);
            let is_small = builder.compare(CompareOp::Less, CompareKind::Unsigned, before, limit);
            let distance = builder.binary_bits(BinaryOp::Mul, step, COUNT - 1);
            let extreme = builder.bits(ty, extreme);
            (distance, builder.binary(farther, extreme, distance), Some(is_small))
        }
    };
    let mut is_possible = builder.compare(reached, kind, counted.bound, farthest);
    if let Some(is_small) = is_small {
        is_possible = builder.binary(BinaryOp::And, is_small, is_possible);
    }
    let bound = builder.binary(closer, counted.bound, distance);
    if matches!(op, CompareOp::LessEqual | CompareOp::GreaterEqual) {
        return (bound, Some(is_possible));
    }
    // No counter is beyond the extreme, so the loop is not entered.
    let extreme = builder.bits(ty, extreme);
    (builder.select(is_possible, bound, extreme), None)
}
