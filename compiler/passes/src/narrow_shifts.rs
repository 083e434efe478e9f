//! Replaces 64-bit shifts of integers that are extended from 32 bits by 32-bit shifts, for the driver bug `shifted_zeros`.
//!
//! Works around NVIDIA's compiler, which knows that some extended numbers are zero, such as the local ID in a dimension of size
//! 1, and miscompiles accesses whose index is such a number after a 64-bit shift by a count that it does not know. Shifts by
//! constants stay, because the compiler folds those of zero. Left shifts of other numbers than IDs and sizes stay, because their
//! results need both halves: conversions of large `float` to `long` contain such shifts and took 1.18 times as long.

use kiln_ir::{BinaryOp, Builder, CompareKind, Convert, Function, Inst, Op, Scalar, ValueId};
use kiln_session::Options;
use kiln_types::ops::CompareOp;

use crate::{limit::maximum, rewrite::rewrite_only};

/// The maximum depth of operations to follow.
const DEPTH: u32 = 6;
/// The largest count of a 32-bit shift.
const MAX_COUNT: u64 = 31;

pub(super) fn narrow_shifts(function: &mut Function, _: &Options) {
    rewrite_only(function, is_shift, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        match narrow_shift(builder, &inst) {
            Some(value) => drop(replaced.insert(inst.results[0], value)),
            None => builder.insert(id),
        }
    });
}

const fn is_shift(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::Shl | BinaryOp::AShr | BinaryOp::LShr))
}

/// The result of a 64-bit shift of an extended integer by a variable count. `None` for other shifts.
fn narrow_shift(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let (Op::Binary(op), [value, count]) = (&inst.op, [inst.args[0], inst.args[1]]) else { return None };
    let wide = builder.ty(value);
    let extension = builder.function.def(value)?;
    let (Op::Convert(convert), inner) = (&extension.op, *extension.args.first()?) else { return None };
    let is_signed = match convert {
        Convert::ZeroExtend => false,
        // A logical shift moves copies of the sign into the lower half.
        Convert::SignExtend if *op != BinaryOp::LShr => true,
        _ => return None,
    };
    let is_narrow = wide.scalar() == Some(Scalar::I64) && builder.ty(inner).scalar() == Some(Scalar::I32);
    let is_affected = *op != BinaryOp::Shl || is_from_input(builder.function, inner, DEPTH);
    if !is_narrow || !is_affected || builder.function.constant(count).is_some() {
        return None;
    }
    let may_exceed = maximum(builder.function, count) > MAX_COUNT;
    // A 64-bit shift by more than 63 is undefined, so the upper half of the count is zero.
    let count = builder.resize(count, Scalar::I32, false);
    if *op == BinaryOp::Shl {
        return Some(shift_left(builder, inner, count, (is_signed, may_exceed)));
    }
    let shifted = match (is_signed, may_exceed) {
        (true, true) => shift_signed(builder, inner, count),
        (true, false) => builder.binary(BinaryOp::AShr, inner, count),
        (false, true) => shift_unsigned(builder, inner, count),
        (false, false) => builder.binary(BinaryOp::LShr, inner, count),
    };
    Some(builder.resize(shifted, Scalar::I64, is_signed))
}

/// Whether an integer is computed from an ID or a size of the launch.
fn is_from_input(function: &Function, value: ValueId, depth: u32) -> bool {
    let (Some(depth), Some(inst)) = (depth.checked_sub(1), function.def(value)) else { return false };
    match inst.op {
        Op::Input(_) => true,
        Op::Extract(_) | Op::Binary(_) | Op::Exact(_) | Op::Select => {
            inst.args.iter().any(|&arg| is_from_input(function, arg, depth))
        }
        Op::Convert(Convert::ZeroExtend | Convert::SignExtend | Convert::Truncate) => {
            is_from_input(function, inst.args[0], depth)
        }
        _ => false,
    }
}

/// A shift by any count: all from 31 have the same result, the sign.
fn shift_signed(builder: &mut Builder<'_>, value: ValueId, count: ValueId) -> ValueId {
    let largest = builder.bits(builder.ty(value), MAX_COUNT);
    let is_less = builder.compare(CompareOp::Less, CompareKind::Unsigned, count, largest);
    let count = builder.select(is_less, count, largest);
    builder.binary(BinaryOp::AShr, value, count)
}

/// A shift by any count: the result is 0 for counts above 31.
fn shift_unsigned(builder: &mut Builder<'_>, value: ValueId, count: ValueId) -> ValueId {
    let masked = builder.binary_bits(BinaryOp::And, count, MAX_COUNT);
    let shifted = builder.binary(BinaryOp::LShr, value, masked);
    let ty = builder.ty(value);
    let [largest, zero] = [MAX_COUNT, 0].map(|bits| builder.bits(ty, bits));
    let is_in_range = builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, count, largest);
    builder.select(is_in_range, shifted, zero)
}

/// A shift to the left with a 64-bit result, by a count of up to 63 or up to 31.
fn shift_left(
    builder: &mut Builder<'_>,
    value: ValueId,
    count: ValueId,
    (is_signed, may_exceed): (bool, bool),
) -> ValueId {
    let masked = if may_exceed { builder.binary_bits(BinaryOp::And, count, MAX_COUNT) } else { count };
    let shifted = builder.binary(BinaryOp::Shl, value, masked);
    // The bits that leave the lower half. Two shifts, because one by 32 bits is undefined.
    let right = if is_signed { BinaryOp::AShr } else { BinaryOp::LShr };
    let half = builder.binary_bits(right, value, 1);
    let rest = builder.binary_bits(BinaryOp::Xor, masked, MAX_COUNT);
    let carried = builder.binary(right, half, rest);
    let (mut low, mut high) = (shifted, carried);
    if may_exceed {
        let [largest, zero] = [MAX_COUNT, 0].map(|bits| builder.bits(builder.ty(value), bits));
        let is_in_range = builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, count, largest);
        low = builder.select(is_in_range, shifted, zero);
        high = builder.select(is_in_range, carried, shifted);
    }
    let [low, high] = [low, high].map(|half| builder.resize(half, Scalar::I64, false));
    let high = builder.binary_bits(BinaryOp::Shl, high, 32);
    builder.binary(BinaryOp::Or, high, low)
}
