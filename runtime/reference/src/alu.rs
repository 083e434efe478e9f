//! Scalar operations on registers. A register contains a scalar's bits, zero-extended.
//!
//! Owns arithmetic. Must not depend on memory, work-items, or how values are passed.

mod convert;
mod float;
mod glsl;
mod imprecise;
mod integer;
mod library;
mod math;
mod undefined;

pub(crate) use convert::{Conversion, Rounding, convert, fits_integer};
pub(crate) use float::{binary as float_binary, unary as float_unary};
pub(crate) use glsl::lane as glsl;
pub use imprecise::Results;
pub(crate) use imprecise::{Imprecise, Operation, Tolerance, flushed};
pub(crate) use integer::{
    binary as integer_binary, extract_field, extract_signed_field, field, field_is_outside, outside_field,
    truncation, unary as integer_unary, upper as integer_upper, widened,
};
pub(crate) use library::{Lane, lacks_result, lane as library};
pub(crate) use math::{fract, frexp, lgamma_r, modf, remquo, sincos};
pub(crate) use undefined::{core as poisoned, glsl as poisoned_glsl, is_special};

/// A unary operation on one lane.
pub(crate) type F1 = fn(u64) -> u64;
/// A binary operation on one lane.
pub(crate) type F2 = fn(u64, u64) -> u64;
/// A ternary operation on one lane.
pub(crate) type F3 = fn(u64, u64, u64) -> u64;

/// Instantiates an operation for each integer type: in the body, `$u` is the unsigned type and `$s` the signed one.
macro_rules! integers {
    ($scalar:expr, [$u:ident $s:ident] $body:expr) => {{
        use $crate::types::Scalar;
        match $scalar {
            Scalar::I8 => {
                #[allow(unused, reason = "a body names the one it needs")]
                type $u = u8;
                #[allow(unused, reason = "a body names the one it needs")]
                type $s = i8;
                Some($body)
            }
            Scalar::I16 => {
                #[allow(unused, reason = "a body names the one it needs")]
                type $u = u16;
                #[allow(unused, reason = "a body names the one it needs")]
                type $s = i16;
                Some($body)
            }
            Scalar::I32 => {
                #[allow(unused, reason = "a body names the one it needs")]
                type $u = u32;
                #[allow(unused, reason = "a body names the one it needs")]
                type $s = i32;
                Some($body)
            }
            Scalar::I64 => {
                #[allow(unused, reason = "a body names the one it needs")]
                type $u = u64;
                #[allow(unused, reason = "a body names the one it needs")]
                type $s = i64;
                Some($body)
            }
            _ => None,
        }
    }};
}

/// Instantiates an operation for each floating-point type `$t`. Half is computed in float, which is exact for a
/// single operation (float's 24 bits hold twice half's 11 bits, and two more).
macro_rules! floats {
    ($scalar:expr, $t:ident, |$($x:ident),+| $body:expr) => {{
        use $crate::types::Scalar;
        match $scalar {
            Scalar::F16 => {
                #[allow(unused, reason = "a body may not name its type")]
                type $t = f32;
                Some(|$($x),+| {
                    $(let $x = half::f16::from_bits($x as u16).to_f32();)+
                    let result: f32 = $body;
                    half::f16::from_f32(result).to_bits().into()
                })
            }
            Scalar::F32 => {
                #[allow(unused, reason = "a body may not name its type")]
                type $t = f32;
                Some(|$($x),+| {
                    $(let $x = f32::from_bits($x as u32);)+
                    let result: f32 = $body;
                    result.to_bits().into()
                })
            }
            Scalar::F64 => {
                #[allow(unused, reason = "a body may not name its type")]
                type $t = f64;
                Some(|$($x),+| {
                    $(let $x = f64::from_bits($x);)+
                    let result: f64 = $body;
                    result.to_bits()
                })
            }
            _ => None,
        }
    }};
}

/// Instantiates an operation computed in double. Narrower types are rounded a second time, with an error barely above
/// half a unit in the last place.
macro_rules! wide {
    ($scalar:expr, |$($x:ident),+| $body:expr) => {{
        use $crate::types::Scalar;
        match $scalar {
            Scalar::F16 => Some(|$($x),+| {
                $(let $x = half::f16::from_bits($x as u16).to_f64();)+
                let result: f64 = $body;
                $crate::alu::half_of(result)
            }),
            Scalar::F32 => Some(|$($x),+| {
                $(let $x = f64::from(f32::from_bits($x as u32));)+
                let result: f64 = $body;
                (result as f32).to_bits().into()
            }),
            Scalar::F64 => Some(|$($x),+| {
                $(let $x = f64::from_bits($x);)+
                let result: f64 = $body;
                result.to_bits()
            }),
            _ => None,
        }
    }};
}

/// Instantiates a floating-point comparison.
macro_rules! compares {
    ($scalar:expr, |$($x:ident),+| $body:expr) => {{
        use $crate::types::Scalar;
        match $scalar {
            Scalar::F16 => Some(|$($x),+| {
                $(let $x = half::f16::from_bits($x as u16).to_f32();)+
                u64::from($body)
            }),
            Scalar::F32 => Some(|$($x),+| {
                $(let $x = f32::from_bits($x as u32);)+
                u64::from($body)
            }),
            Scalar::F64 => Some(|$($x),+| {
                $(let $x = f64::from_bits($x);)+
                u64::from($body)
            }),
            _ => None,
        }
    }};
}

use {compares, floats, integers, wide};

/// The value of a floating-point register.
pub(crate) fn to_f64(scalar: crate::types::Scalar, bits: u64) -> f64 {
    use crate::types::Scalar;
    match scalar {
        Scalar::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// Converts a double to half. The intermediate float is rounded to odd: the last bit of an inexact value is set,
/// which makes the second rounding correct.
pub(crate) fn half_of(value: f64) -> u64 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    let odd = if back == value || !back.is_finite() {
        nearest
    } else if back.abs() > value.abs() {
        f32::from_bits((nearest.to_bits() - 1) | 1)
    } else {
        f32::from_bits(nearest.to_bits() | 1)
    };
    half::f16::from_f32(odd).to_bits().into()
}

/// Rounds a value to a floating-point register.
pub(crate) fn from_f64(scalar: crate::types::Scalar, value: f64) -> u64 {
    use crate::types::Scalar;
    match scalar {
        Scalar::F16 => half_of(value),
        Scalar::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// Sign-extends an integer register.
pub(crate) const fn signed(size: u8, bits: u64) -> i64 {
    let shift = 64 - 8 * size as u32;
    ((bits << shift) as i64) >> shift
}

/// Truncates to the size of a scalar.
pub(crate) const fn truncated(size: u8, bits: u64) -> u64 {
    bits & u64::MAX >> (64 - 8 * size as u32)
}
