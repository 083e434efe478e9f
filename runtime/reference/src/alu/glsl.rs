//! The GLSL.std.450 functions that operate on each lane separately.
//!
//! Owns the table from GLSL.std.450 to register operations. Where the specification allows a choice, results are
//! those of the OpenCL function of the same name. The decoder detects undefined operands.
#![allow(clippy::unnecessary_cast, reason = "bodies are written once for all widths")]

use spirv::{GlslStd450Op as Glsl, OpenclStd100Op as Cl};

use super::{F1, F3, Lane, floats, integers, library};
use crate::types::Scalar;

/// The function for this type of the first operand.
pub(crate) fn lane(function: Glsl, scalar: Scalar) -> Option<Lane> {
    if let Some(equivalent) = opencl(function) {
        return library(equivalent, scalar, false);
    }
    let one = unary(function, scalar).map(Lane::One);
    one.or_else(|| ternary(function, scalar).map(Lane::Three))
}

/// The equivalent OpenCL function.
fn opencl(function: Glsl) -> Option<Cl> {
    Some(match function {
        Glsl::RoundEven | Glsl::Round => Cl::rint,
        Glsl::Trunc => Cl::trunc,
        Glsl::FAbs => Cl::fabs,
        Glsl::FSign => Cl::sign,
        Glsl::Floor => Cl::floor,
        Glsl::Ceil => Cl::ceil,
        Glsl::Radians => Cl::radians,
        Glsl::Degrees => Cl::degrees,
        Glsl::Sin => Cl::sin,
        Glsl::Cos => Cl::cos,
        Glsl::Tan => Cl::tan,
        Glsl::Asin => Cl::asin,
        Glsl::Acos => Cl::acos,
        Glsl::Atan => Cl::atan,
        Glsl::Sinh => Cl::sinh,
        Glsl::Cosh => Cl::cosh,
        Glsl::Tanh => Cl::tanh,
        Glsl::Asinh => Cl::asinh,
        Glsl::Acosh => Cl::acosh,
        Glsl::Atanh => Cl::atanh,
        Glsl::Atan2 => Cl::atan2,
        Glsl::Pow => Cl::pow,
        Glsl::Exp => Cl::exp,
        Glsl::Log => Cl::log,
        Glsl::Exp2 => Cl::exp2,
        Glsl::Log2 => Cl::log2,
        Glsl::Sqrt => Cl::sqrt,
        Glsl::InverseSqrt => Cl::rsqrt,
        Glsl::Ldexp => Cl::ldexp,
        Glsl::Step => Cl::step,
        Glsl::SmoothStep => Cl::smoothstep,
        Glsl::Fma => Cl::fma,
        Glsl::FMin | Glsl::NMin => Cl::fmin,
        Glsl::FMax | Glsl::NMax => Cl::fmax,
        Glsl::FClamp | Glsl::NClamp => Cl::fclamp,
        Glsl::UMin => Cl::u_min,
        Glsl::UMax => Cl::u_max,
        Glsl::UClamp => Cl::u_clamp,
        Glsl::SMin => Cl::s_min,
        Glsl::SMax => Cl::s_max,
        Glsl::SClamp => Cl::s_clamp,
        Glsl::SAbs => Cl::s_abs,
        _ => return None,
    })
}

fn unary(function: Glsl, scalar: Scalar) -> Option<F1> {
    match function {
        Glsl::Fract => floats!(scalar, T, |x| x - x.floor()),
        Glsl::SSign => integers!(scalar, [U S] |a| (a as S).signum() as U as u64),
        // These return -1 if there is no such bit.
        Glsl::FindILsb => Some(|a| if a == 0 { 0xffff_ffff } else { a.trailing_zeros().into() }),
        Glsl::FindUMsb => Some(highest),
        Glsl::FindSMsb => {
            integers!(scalar, [U S] |a| highest(if (a as S) < 0 { !a as U as u64 } else { a }))
        }
        _ => None,
    }
}

fn ternary(function: Glsl, scalar: Scalar) -> Option<F3> {
    match function {
        Glsl::FMix => floats!(scalar, T, |x, y, a| x * (1.0 - a) + y * a),
        _ => None,
    }
}

fn highest(a: u64) -> u64 {
    if a == 0 { 0xffff_ffff } else { (63 - a.leading_zeros()).into() }
}
