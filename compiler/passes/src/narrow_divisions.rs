//! Replaces divisions and remainders of integers by cheaper operations, if the values of their operands allow it:
//!
//! - 64-bit ones become 32-bit ones. Kernels divide `size_t` values such as `get_global_id(0)`, which fit in 32 bits, and
//!   64-bit division is slow on most devices.
//! - Signed ones of values that are never negative become unsigned ones.
//! - Unsigned ones by powers of two become shifts and masks.

use kiln_ir::{BinaryOp, Builder, CompareKind, Convert, Function, Inst, Op, Scalar, ValueId};
use kiln_session::Options;
use kiln_types::ops::CompareOp;

use crate::{limit::maximum, rewrite::rewrite_only};

pub(super) fn narrow_divisions(function: &mut Function, options: &Options) {
    if !options.optimize {
        return;
    }
    rewrite_only(function, Op::is_integer_division, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        match narrow_division(builder, &inst) {
            Some(value) => drop(replaced.insert(inst.results[0], value)),
            None => builder.insert(id),
        }
    });
}

fn narrow_division(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    if let Some(value) = divide_in_32_bits(builder, inst).or_else(|| shift_or_mask(builder, inst)) {
        return Some(value);
    }
    let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return None };
    let unsigned = if is_unsigned(builder.function, inst) { unsigned(op) } else { return None };
    (unsigned != op).then(|| builder.binary(unsigned, inst.args[0], inst.args[1]))
}

/// The result of an unsigned division or remainder by a power of two.
pub(super) fn shift_or_mask(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return None };
    let power = power_of_two(builder.function, inst.args[1])?;
    let is_unsigned = is_unsigned(builder.function, inst);
    is_unsigned.then(|| divide(builder, unsigned(op), inst.args[0], inst.args[1], Some(power)))
}

/// The result of a division or remainder of 64-bit integers, by one of 32-bit integers. `None` if the operands may not fit.
pub(super) fn divide_in_32_bits(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return None };
    let [dividend, divisor] = [inst.args[0], inst.args[1]];
    let ty = builder.ty(dividend);
    let fits = |builder: &Builder<'_>, operand| maximum(builder.function, operand) <= u32::MAX.into();
    if ty.scalar() != Some(Scalar::I64) || !is_unsigned(builder.function, inst) || !fits(builder, dividend) {
        return None;
    }
    let half = ty.with_scalar(Scalar::I32);
    let op = unsigned(op);
    let result = if fits(builder, divisor) {
        let x = builder.convert(Convert::Truncate, dividend, half);
        // Passes that look for constant divisors run before the next one that folds constants.
        let y = match builder.function.constant(divisor) {
            Some(constant) => builder.constant(half, constant.clone()),
            None => builder.convert(Convert::Truncate, divisor, half),
        };
        let power = power_of_two(builder.function, divisor);
        divide(builder, op, x, y, power)
    } else {
        let int = sign_extended(builder.function, divisor)?;
        let x = builder.convert(Convert::Truncate, dividend, half);
        divide_by_int(builder, op, x, int)
    };
    Some(builder.convert(Convert::ZeroExtend, result, ty))
}

/// Whether a division or remainder has the result of the unsigned one.
pub(super) fn is_unsigned(function: &Function, inst: &Inst) -> bool {
    let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return false };
    let Some(scalar) = function.ty(inst.args[0]).scalar() else { return false };
    let never_negative = |operand: &ValueId| maximum(function, *operand) <= scalar.mask() >> 1;
    matches!(op, BinaryOp::UDiv | BinaryOp::URem) || inst.args.iter().all(never_negative)
}

/// The unsigned operation.
const fn unsigned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::SDiv => BinaryOp::UDiv,
        BinaryOp::SRem => BinaryOp::URem,
        op => op,
    }
}

/// An unsigned division or remainder. If the divisor is a power of two, `power` is its exponent.
fn divide(builder: &mut Builder<'_>, op: BinaryOp, x: ValueId, y: ValueId, power: Option<u32>) -> ValueId {
    match (op, power) {
        (BinaryOp::UDiv, Some(power)) => builder.binary_bits(BinaryOp::LShr, x, power.into()),
        (_, Some(power)) => builder.binary_bits(BinaryOp::And, x, (1 << power) - 1),
        (_, None) => builder.binary(op, x, y),
    }
}

/// Divides a 32-bit integer by an `int` that was converted to `ulong`, such as the width of an image. If the `int` is negative,
/// the divisor exceeds the dividend.
fn divide_by_int(builder: &mut Builder<'_>, op: BinaryOp, x: ValueId, y: ValueId) -> ValueId {
    let quotient_or_rest = builder.binary(op, x, y);
    let zero = builder.bits(builder.ty(y), 0);
    let is_negative = builder.compare(CompareOp::Less, CompareKind::Signed, y, zero);
    let beyond = if op == BinaryOp::UDiv { zero } else { x };
    builder.select(is_negative, beyond, quotient_or_rest)
}

/// The 32-bit value of which this is the sign extension.
fn sign_extended(function: &Function, value: ValueId) -> Option<ValueId> {
    let inst = function.def(value)?;
    let inner = *inst.args.first()?;
    (inst.op == Op::Convert(Convert::SignExtend) && function.ty(inner).scalar() == Some(Scalar::I32))
        .then_some(inner)
}

/// The exponent, if all components are the same power of two.
fn power_of_two(function: &Function, value: ValueId) -> Option<u32> {
    let bits = function.splat_bits(value)?;
    bits.is_power_of_two().then(|| bits.trailing_zeros())
}
