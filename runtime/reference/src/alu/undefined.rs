//! The operands for which operations of the Vulkan environment produce poison.
//!
//! Owns the conditions. Must not depend on how poison propagates.

use spirv::{GlslStd450Op as Glsl, Op};

use super::{F2, compares, integers};
use crate::{
    poison::{DOMAIN, FLOAT, Poison, REMAINDER, SHIFT},
    types::Scalar,
};

/// A condition on two operands, given by index: if it is non-zero, the result is poison.
pub(crate) type Condition = (F2, [usize; 2], Poison);

/// The condition of a core instruction.
pub(crate) fn core(op: Op, scalar: Scalar) -> Option<Condition> {
    let (f, operands, why): (Option<F2>, _, _) = match op {
        // Vulkan, "Precision of Individual Operations".
        Op::SRem | Op::SMod => {
            (integers!(scalar, [U S] |a, b| ((a as S) < 0 || (b as S) < 0).into()), [0, 1], REMAINDER)
        }
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            (integers!(scalar, [U S] |_, b| (b >= U::BITS.into()).into()), [0, 1], SHIFT)
        }
        Op::FRem | Op::FMod => (compares!(scalar, |_a, b| b == 0.0), [0, 1], DOMAIN),
        _ => return None,
    };
    Some((f?, operands, why))
}

/// The condition of a GLSL.std.450 function, from its specification.
pub(crate) fn glsl(function: Glsl, scalar: Scalar) -> Option<Condition> {
    let (f, operands, why): (Option<F2>, _, _) = match function {
        // Undefined which operand is the result.
        Glsl::FMin | Glsl::FMax | Glsl::Step => (is_nan(scalar), [0, 1], FLOAT),
        Glsl::FClamp => {
            (compares!(scalar, |low, high| low > high || low.is_nan() || high.is_nan()), [1, 2], DOMAIN)
        }
        Glsl::NClamp => (compares!(scalar, |low, high| low > high), [1, 2], DOMAIN),
        Glsl::SClamp => (integers!(scalar, [U S] |low, high| (low as S > high as S).into()), [1, 2], DOMAIN),
        Glsl::UClamp => (Some(|low, high| (low > high).into()), [1, 2], DOMAIN),
        Glsl::SmoothStep => (compares!(scalar, |low, high| low >= high), [0, 1], DOMAIN),
        Glsl::Asin | Glsl::Acos => (compares!(scalar, |x, _y| x.abs() > 1.0), [0, 0], DOMAIN),
        Glsl::Acosh => (compares!(scalar, |x, _y| x < 1.0), [0, 0], DOMAIN),
        Glsl::Atanh => (compares!(scalar, |x, _y| x.abs() >= 1.0), [0, 0], DOMAIN),
        Glsl::Atan2 => (compares!(scalar, |y, x| y == 0.0 && x == 0.0), [0, 1], DOMAIN),
        Glsl::Pow => (compares!(scalar, |x, y| x < 0.0 || x == 0.0 && y <= 0.0), [0, 1], DOMAIN),
        Glsl::Log | Glsl::Log2 | Glsl::InverseSqrt => (compares!(scalar, |x, _y| x <= 0.0), [0, 0], DOMAIN),
        Glsl::Sqrt => (compares!(scalar, |x, _y| x < 0.0), [0, 0], DOMAIN),
        Glsl::Ldexp => (too_large(scalar), [0, 1], DOMAIN),
        Glsl::Frexp | Glsl::FrexpStruct | Glsl::Modf | Glsl::ModfStruct => {
            (is_special(scalar), [0, 0], FLOAT)
        }
        _ => return None,
    };
    Some((f?, operands, why))
}

/// Whether either operand is a NaN.
fn is_nan(scalar: Scalar) -> Option<F2> {
    compares!(scalar, |a, b| a.is_nan() || b.is_nan())
}

/// Whether either operand is a NaN or an infinity.
pub(crate) fn is_special(scalar: Scalar) -> Option<F2> {
    match scalar {
        Scalar::F16 => Some(|a, b| [a, b].into_iter().any(|bits| bits & 0x7c00 == 0x7c00).into()),
        _ => compares!(scalar, |a, b| !a.is_finite() || !b.is_finite()),
    }
}

/// Whether the exponent of `ldexp` is too large.
fn too_large(scalar: Scalar) -> Option<F2> {
    match scalar {
        Scalar::F16 => Some(|_, n| (n as i32 > 16).into()),
        Scalar::F32 => Some(|_, n| (n as i32 > 128).into()),
        Scalar::F64 => Some(|_, n| (n as i32 > 1024).into()),
        _ => None,
    }
}
