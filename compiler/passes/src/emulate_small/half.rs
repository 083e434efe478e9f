//! Conversions between halves and floats by integer arithmetic on the bits (IEEE 754 binary16). Componentwise on
//! vectors.

use super::DEFAULT;
use kiln_ir::{BinaryOp, Builder, CompareKind, Convert, Scalar, ValueId};
use kiln_types::ops::{CompareOp, Conversion, Rounding};

/// Converts the bits of a half to a float. Exact.
pub(super) fn to_float(builder: &mut Builder<'_>, bits: ValueId) -> ValueId {
    let ty = builder.ty(bits);
    let float = ty.with_scalar(Scalar::F32);
    let magnitude = builder.binary_bits(BinaryOp::And, bits, 0x7fff);
    let sign = builder.binary_bits(BinaryOp::And, bits, 0x8000);
    let sign = builder.binary_bits(BinaryOp::Shl, sign, 16);
    let shifted = builder.binary_bits(BinaryOp::Shl, magnitude, 13);
    let normal = builder.binary_bits(BinaryOp::Add, shifted, 112 << 23);
    let special = builder.binary_bits(BinaryOp::Or, shifted, 0x7f80_0000);
    // A denormal is a multiple of 2^-24.
    let conversion = Conversion { rounding: None, saturate: false };
    let exact = Convert::Number { conversion, from_signed: false, to_signed: false };
    let count = builder.convert(exact, magnitude, float);
    let small = builder.binary_bits(BinaryOp::FMul, count, u64::from(0x3380_0000_u32));
    let small = builder.bitcast(small, ty);
    let is_special = compare_with_bits(builder, CompareOp::GreaterEqual, magnitude, 0x7c00);
    let is_small = compare_with_bits(builder, CompareOp::Less, magnitude, 0x0400);
    let value = builder.select(is_special, special, normal);
    let value = builder.select(is_small, small, value);
    let value = builder.binary(BinaryOp::Or, value, sign);
    builder.bitcast(value, float)
}

/// Rounds a float to the bits of a half.
pub(super) fn from_float(builder: &mut Builder<'_>, value: ValueId, rounding: Option<Rounding>) -> ValueId {
    let rounding = rounding.unwrap_or(DEFAULT);
    let ty = builder.ty(value).with_scalar(Scalar::I32);
    let bits = builder.bitcast(value, ty);
    let magnitude = builder.binary_bits(BinaryOp::And, bits, 0x7fff_ffff);
    let sign = builder.binary_bits(BinaryOp::LShr, bits, 16);
    let sign = builder.binary_bits(BinaryOp::And, sign, 0x8000);
    let zero = builder.bits(ty, 0);
    let one = builder.bits(ty, 1);
    let is_negative = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, sign, zero);
    // Whether the rounding mode, instead of the distance, rounds the magnitude away from zero.
    let away = match rounding {
        Rounding::ToEven | Rounding::ToZero => zero,
        Rounding::ToPositive => builder.select(is_negative, zero, one),
        Rounding::ToNegative => builder.select(is_negative, one, zero),
    };

    // For a normal number, rebias the exponent and drop 13 bits.
    let thirteen = builder.bits(ty, 13);
    let rebased = builder.binary_bits(BinaryOp::Sub, magnitude, 112 << 23);
    let normal = drop_low_bits(builder, rebased, thirteen, rounding, away);
    // For a denormal, the significand counts units of 2^-24.
    let exponent = builder.binary_bits(BinaryOp::LShr, magnitude, 23);
    let fraction = builder.binary_bits(BinaryOp::And, magnitude, 0x007f_ffff);
    let significand = builder.binary_bits(BinaryOp::Or, fraction, 0x0080_0000);
    let limit = builder.bits(ty, 126);
    let distance = builder.binary(BinaryOp::Sub, limit, exponent);
    let max = builder.bits(ty, 26);
    let is_far = compare_with_bits(builder, CompareOp::Greater, distance, 26);
    let distance = builder.select(is_far, max, distance);
    let is_zero = builder.compare(CompareOp::Equal, CompareKind::Unsigned, magnitude, zero);
    let significand = builder.select(is_zero, zero, significand);
    let is_small = compare_with_bits(builder, CompareOp::Less, magnitude, 0x3880_0000);
    // For others, the distance is meaningless but must be a valid shift amount.
    let distance = builder.select(is_small, distance, max);
    let small = drop_low_bits(builder, significand, distance, rounding, away);

    let result = builder.select(is_small, small, normal);
    let is_large = compare_with_bits(builder, CompareOp::GreaterEqual, magnitude, 0x4780_0000);
    let is_infinite = compare_with_bits(builder, CompareOp::Equal, magnitude, 0x7f80_0000);
    let (infinity, largest) = (builder.bits(ty, 0x7c00), builder.bits(ty, 0x7bff));
    let overflow = match rounding {
        Rounding::ToEven => infinity,
        Rounding::ToZero => builder.select(is_infinite, infinity, largest),
        Rounding::ToPositive | Rounding::ToNegative => {
            let rounds_away = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, away, zero);
            let is_infinite = builder.binary(BinaryOp::Or, rounds_away, is_infinite);
            builder.select(is_infinite, infinity, largest)
        }
    };
    let result = builder.select(is_large, overflow, result);
    let nan = builder.bits(ty, 0x7e00);
    let is_nan = compare_with_bits(builder, CompareOp::Greater, magnitude, 0x7f80_0000);
    let result = builder.select(is_nan, nan, result);
    builder.binary(BinaryOp::Or, result, sign)
}

/// Drops low bits of a value, with rounding.
fn drop_low_bits(
    builder: &mut Builder<'_>,
    value: ValueId,
    count: ValueId,
    rounding: Rounding,
    away: ValueId,
) -> ValueId {
    let ty = builder.ty(value);
    let (zero, one) = (builder.bits(ty, 0), builder.bits(ty, 1));
    let kept = builder.binary(BinaryOp::LShr, value, count);
    let unit = builder.binary(BinaryOp::Shl, one, count);
    let below = builder.binary(BinaryOp::Sub, unit, one);
    let rest = builder.binary(BinaryOp::And, value, below);
    let up = match rounding {
        Rounding::ToZero => return kept,
        Rounding::ToEven => {
            let half = builder.binary(BinaryOp::LShr, unit, one);
            let is_more = builder.compare(CompareOp::Greater, CompareKind::Unsigned, rest, half);
            let is_half = builder.compare(CompareOp::Equal, CompareKind::Unsigned, rest, half);
            let odd = builder.binary(BinaryOp::And, kept, one);
            let is_odd = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, odd, zero);
            let is_tie = builder.binary(BinaryOp::And, is_half, is_odd);
            let is_up = builder.binary(BinaryOp::Or, is_more, is_tie);
            builder.select(is_up, one, zero)
        }
        Rounding::ToPositive | Rounding::ToNegative => {
            let is_inexact = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, rest, zero);
            builder.select(is_inexact, away, zero)
        }
    };
    builder.binary(BinaryOp::Add, kept, up)
}

fn compare_with_bits(builder: &mut Builder<'_>, op: CompareOp, value: ValueId, bits: u64) -> ValueId {
    let other = builder.bits(builder.ty(value), bits);
    builder.compare(op, CompareKind::Unsigned, value, other)
}
