//! Rounds `double` without the driver's instruction, for drivers with wrong results (`DriverBug::RoundDoubles`).

use kiln_ir::{BinaryOp, Builder, CompareKind, Op, Scalar, ValueId};
use kiln_types::ops::{CompareOp, Rounding};

/// The bits of 2^52: from there on, all numbers are integers.
const INTEGERS: u64 = 0x4330_0000_0000_0000;

/// The bits of 1.
const ONE: u64 = 0x3ff0_0000_0000_0000;

/// The sign of a `double`.
const SIGN: u64 = 1 << 63;

/// The rounding mode of a built-in function whose instruction is wrong on such drivers.
pub(super) fn rounding_mode(name: &str) -> Option<Rounding> {
    match name {
        "rint" => Some(Rounding::ToEven),
        "trunc" => Some(Rounding::ToZero),
        _ => None,
    }
}

/// Rounds a `double`. Adding 2^52 to the magnitude rounds it to the nearest even integer (IEEE 754, 4.3.1).
pub(super) fn round(builder: &mut Builder<'_>, rounding: Rounding, value: ValueId) -> ValueId {
    let ty = builder.ty(value);
    let bits_ty = ty.with_scalar(Scalar::I64);
    let bits = builder.bitcast(value, bits_ty);
    let sign = builder.binary_bits(BinaryOp::And, bits, SIGN);
    let magnitude = builder.binary_bits(BinaryOp::And, bits, !SIGN);
    let limit = builder.bits(bits_ty, INTEGERS);
    let can_change = builder.compare(CompareOp::Less, CompareKind::Unsigned, magnitude, limit);
    let magnitude = builder.bitcast(magnitude, ty);
    let integers = builder.bits(ty, INTEGERS);
    let sum = builder.value(Op::Exact(BinaryOp::FAdd), &[magnitude, integers], ty);
    let mut rounded = builder.value(Op::Exact(BinaryOp::FSub), &[sum, integers], ty);
    if rounding == Rounding::ToZero {
        let one = builder.bits(ty, ONE);
        let below = builder.value(Op::Exact(BinaryOp::FSub), &[rounded, one], ty);
        let is_above = builder.compare(CompareOp::Greater, CompareKind::Float, rounded, magnitude);
        rounded = builder.select(is_above, below, rounded);
    }
    let rounded = builder.bitcast(rounded, bits_ty);
    let signed = builder.binary(BinaryOp::Or, rounded, sign);
    let signed = builder.bitcast(signed, ty);
    builder.select(can_change, signed, value)
}
