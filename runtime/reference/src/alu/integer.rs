//! Integers and truth values.
#![allow(clippy::unnecessary_cast, reason = "bodies are written once for all widths")]

use spirv::Op;

use super::{F1, F2, integers};
use crate::types::Scalar;

/// An instruction with one operand.
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

/// An instruction with two operands. What is undefined in OpenCL gives something, never a panic; the strict device has looked
/// at the operands before.
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

/// The upper halves of products, and carries: the second members of what the extended instructions give.
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
