//! Floating-point core instructions, correctly rounded to nearest even.

use std::cmp::Ordering;

use spirv::Op;

use super::{F1, F2, compares, floats};
use crate::types::Scalar;

/// A unary instruction.
pub(crate) fn unary(op: Op, scalar: Scalar) -> Option<F1> {
    match op {
        // Flips the sign bit, because NaNs change sign too.
        Op::FNegate => match scalar {
            Scalar::F16 => Some(|a| a ^ 1 << 15),
            Scalar::F32 => Some(|a| a ^ 1 << 31),
            Scalar::F64 => Some(|a| a ^ 1 << 63),
            _ => None,
        },
        Op::IsNan => compares!(scalar, |a| a.is_nan()),
        Op::IsInf => compares!(scalar, |a| a.is_infinite()),
        Op::IsFinite => compares!(scalar, |a| a.is_finite()),
        Op::IsNormal => match scalar {
            // A denormal half is a normal float, so the test must use the half.
            Scalar::F16 => Some(|a| half::f16::from_bits(a as u16).is_normal().into()),
            _ => compares!(scalar, |a| a.is_normal()),
        },
        Op::SignBitSet => compares!(scalar, |a| a.is_sign_negative()),
        _ => None,
    }
}

/// A binary instruction.
pub(crate) fn binary(op: Op, scalar: Scalar) -> Option<F2> {
    match op {
        Op::FAdd => floats!(scalar, T, |a, b| a + b),
        Op::FSub => floats!(scalar, T, |a, b| a - b),
        Op::FMul => floats!(scalar, T, |a, b| a * b),
        Op::FDiv => floats!(scalar, T, |a, b| a / b),
        Op::FRem => floats!(scalar, T, |a, b| a % b),
        Op::FMod => floats!(scalar, T, |a, b| {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
        }),
        Op::FOrdEqual => compares!(scalar, |a, b| a == b),
        Op::FUnordEqual => compares!(scalar, |a, b| a == b || a.is_nan() || b.is_nan()),
        Op::FOrdNotEqual | Op::LessOrGreater => {
            compares!(scalar, |a, b| a.partial_cmp(&b).is_some_and(Ordering::is_ne))
        }
        Op::FUnordNotEqual => compares!(scalar, |a, b| a != b),
        Op::FOrdLessThan => compares!(scalar, |a, b| a < b),
        Op::FUnordLessThan => compares!(scalar, |a, b| a.partial_cmp(&b).is_none_or(Ordering::is_lt)),
        Op::FOrdGreaterThan => compares!(scalar, |a, b| a > b),
        Op::FUnordGreaterThan => compares!(scalar, |a, b| a.partial_cmp(&b).is_none_or(Ordering::is_gt)),
        Op::FOrdLessThanEqual => compares!(scalar, |a, b| a <= b),
        Op::FUnordLessThanEqual => compares!(scalar, |a, b| a.partial_cmp(&b).is_none_or(Ordering::is_le)),
        Op::FOrdGreaterThanEqual => compares!(scalar, |a, b| a >= b),
        Op::FUnordGreaterThanEqual => compares!(scalar, |a, b| a.partial_cmp(&b).is_none_or(Ordering::is_ge)),
        Op::Ordered => compares!(scalar, |a, b| !a.is_nan() && !b.is_nan()),
        Op::Unordered => compares!(scalar, |a, b| a.is_nan() || b.is_nan()),
        _ => None,
    }
}
