//! Integers and booleans.
#![allow(clippy::unnecessary_cast, reason = "bodies are written once for all widths")]

use spirv::Op;

use super::{F1, F2, F3, integers};
use crate::types::Scalar;

/// A unary instruction.
pub(crate) fn unary(op: Op, scalar: Scalar) -> Option<F1> {
    match (op, scalar) {
        (Op::LogicalNot, Scalar::Bool) => Some(|a| a ^ 1),
        (Op::SNegate, _) => integers!(scalar, [U S] |a| (a as U).wrapping_neg() as u64),
        (Op::Not, _) => integers!(scalar, [U S] |a| !(a as U) as u64),
        (Op::BitReverse, _) => integers!(scalar, [U S] |a| (a as U).reverse_bits() as u64),
        (Op::BitCount, _) => Some(|a| a.count_ones().into()),
        _ => None,
    }
}

/// A bit field: the low `count` bits of a value, at an offset. Bits outside the integer are cut off.
pub(crate) fn field(scalar: Scalar) -> Option<F3> {
    integers!(scalar, [U S] |a, offset, count| ((a & low_mask(count)) << offset.min(63)) as U as u64)
}

/// The bits of a value outside a bit field.
pub(crate) fn outside_field(a: u64, offset: u64, count: u64) -> u64 {
    a & !(low_mask(count) << offset.min(63))
}

/// Whether a bit field extends beyond its integer.
pub(crate) fn field_is_outside(scalar: Scalar) -> Option<F2> {
    integers!(scalar, [U S] |offset, count| (offset.saturating_add(count) > U::BITS.into()).into())
}

/// Extracts a bit field.
pub(crate) fn extract_field(a: u64, offset: u64, count: u64) -> u64 {
    a >> offset.min(63) & low_mask(count)
}

/// Extracts a bit field and sign-extends it.
pub(crate) fn extract_signed_field(scalar: Scalar) -> Option<F3> {
    integers!(scalar, [U S] |a, offset, count| {
        let shift = 64 - count.clamp(1, 64) as u32;
        let bits = (extract_field(a, offset, count) << shift) as i64 >> shift;
        if count == 0 { 0 } else { bits as U as u64 }
    })
}

/// A value extended to 64 bits, by its sign if it is signed.
pub(crate) fn widened(scalar: Scalar, is_signed: bool) -> Option<F1> {
    match is_signed {
        true => integers!(scalar, [U S] |a| a as S as i64 as u64),
        false => integers!(scalar, [U S] |a| a as U as u64),
    }
}

/// The low bits of a value.
pub(crate) fn truncation(scalar: Scalar) -> Option<F1> {
    widened(scalar, false)
}

/// A mask of the lowest `count` bits.
fn low_mask(count: u64) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// A binary instruction. Operands with undefined results in OpenCL give an arbitrary result, never a panic; with
/// checks on, they have been reported before.
pub(crate) fn binary(op: Op, scalar: Scalar) -> Option<F2> {
    if scalar == Scalar::Bool {
        return match op {
            Op::LogicalEqual => Some(|a, b| (a == b).into()),
            Op::LogicalNotEqual => Some(|a, b| (a != b).into()),
            Op::LogicalAnd => Some(|a, b| a & b),
            Op::LogicalOr => Some(|a, b| a | b),
            _ => None,
        };
    }
    match op {
        Op::IAdd => integers!(scalar, [U S] |a, b| (a as U).wrapping_add(b as U) as u64),
        Op::ISub => integers!(scalar, [U S] |a, b| (a as U).wrapping_sub(b as U) as u64),
        Op::IMul => integers!(scalar, [U S] |a, b| (a as U).wrapping_mul(b as U) as u64),
        Op::UDiv => integers!(scalar, [U S] |a, b| (a as U).checked_div(b as U).unwrap_or(U::MAX) as u64),
        Op::UMod => integers!(scalar, [U S] |a, b| (a as U).checked_rem(b as U).unwrap_or(a as U) as u64),
        Op::SDiv => integers!(scalar, [U S] |a, b| {
            if b as S == 0 { U::MAX as u64 } else { (a as S).wrapping_div(b as S) as U as u64 }
        }),
        Op::SRem => integers!(scalar, [U S] |a, b| {
            if b as S == 0 { a } else { (a as S).wrapping_rem(b as S) as U as u64 }
        }),
        Op::SMod => integers!(scalar, [U S] |a, b| {
            let (a, b) = (a as S, b as S);
            if b == 0 {
                return a as U as u64;
            }
            let rest = a.wrapping_rem(b);
            (if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }) as U as u64
        }),
        Op::ShiftLeftLogical => integers!(scalar, [U S] |a, b| (a as U).wrapping_shl(b as u32) as u64),
        Op::ShiftRightLogical => integers!(scalar, [U S] |a, b| (a as U).wrapping_shr(b as u32) as u64),
        Op::ShiftRightArithmetic => {
            integers!(scalar, [U S] |a, b| (a as S).wrapping_shr(b as u32) as U as u64)
        }
        Op::BitwiseAnd => Some(|a, b| a & b),
        Op::BitwiseOr => Some(|a, b| a | b),
        Op::BitwiseXor => Some(|a, b| a ^ b),
        Op::IEqual | Op::PtrEqual => Some(|a, b| (a == b).into()),
        Op::INotEqual | Op::PtrNotEqual => Some(|a, b| (a != b).into()),
        Op::ULessThan => Some(|a, b| (a < b).into()),
        Op::ULessThanEqual => Some(|a, b| (a <= b).into()),
        Op::UGreaterThan => Some(|a, b| (a > b).into()),
        Op::UGreaterThanEqual => Some(|a, b| (a >= b).into()),
        Op::SLessThan => integers!(scalar, [U S] |a, b| ((a as S) < b as S).into()),
        Op::SLessThanEqual => integers!(scalar, [U S] |a, b| (a as S <= b as S).into()),
        Op::SGreaterThan => integers!(scalar, [U S] |a, b| (a as S > b as S).into()),
        Op::SGreaterThanEqual => integers!(scalar, [U S] |a, b| (a as S >= b as S).into()),
        _ => None,
    }
}

/// The upper halves of products, and carries: the second members of the results of extended instructions.
pub(crate) fn upper(op: Op, scalar: Scalar) -> Option<F2> {
    match op {
        Op::UMulExtended => {
            integers!(scalar, [U S] |a, b| ((u128::from(a) * u128::from(b)) >> U::BITS) as U as u64)
        }
        Op::SMulExtended => integers!(scalar, [U S] |a, b| {
            ((i128::from(a as S) * i128::from(b as S)) >> U::BITS) as U as u64
        }),
        Op::IAddCarry => integers!(scalar, [U S] |a, b| (a as U).overflowing_add(b as U).1.into()),
        Op::ISubBorrow => integers!(scalar, [U S] |a, b| (a as U).overflowing_sub(b as U).1.into()),
        _ => None,
    }
}
