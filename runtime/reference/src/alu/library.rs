//! The OpenCL.std functions that operate on each lane separately.
//!
//! Owns the table from OpenCL.std to register operations. `half_` and `native_` functions are the ordinary ones.
#![allow(clippy::unnecessary_cast, reason = "bodies are written once for all widths")]

use std::f64::consts::PI;

use spirv::OpenclStd100Op as Cl;

use super::{F1, F2, F3, compares, floats, integers, math, signed, wide};
use crate::types::Scalar;

/// A library function, by operand count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lane {
    One(F1),
    Two(F2),
    Three(F3),
}

impl Lane {
    /// The number of operands.
    pub(crate) const fn operands(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
            Self::Three(_) => 3,
        }
    }
}

/// The function for this type of the first operand. Vectors and scalars test select conditions differently.
pub(crate) fn lane(function: Cl, scalar: Scalar, is_vector: bool) -> Option<Lane> {
    if scalar.is_float() {
        unary(function, scalar)
            .map(Lane::One)
            .or_else(|| binary(function, scalar).map(Lane::Two))
            .or_else(|| ternary(function, scalar).map(Lane::Three))
            .or_else(|| selection(function, scalar, is_vector).map(Lane::Three))
    } else {
        integer_unary(function, scalar)
            .map(Lane::One)
            .or_else(|| integer_binary(function, scalar).map(Lane::Two))
            .or_else(|| integer_ternary(function, scalar).map(Lane::Three))
            .or_else(|| selection(function, scalar, is_vector).map(Lane::Three))
    }
}

fn unary(function: Cl, scalar: Scalar) -> Option<F1> {
    match function {
        Cl::acos => wide!(scalar, |x| x.acos()),
        Cl::acosh => wide!(scalar, |x| math::acosh(x)),
        Cl::acospi => wide!(scalar, |x| x.acos() / PI),
        Cl::asin => wide!(scalar, |x| x.asin()),
        Cl::asinh => wide!(scalar, |x| libm::asinh(x)),
        Cl::asinpi => wide!(scalar, |x| x.asin() / PI),
        Cl::atan => wide!(scalar, |x| x.atan()),
        Cl::atanh => wide!(scalar, |x| libm::atanh(x)),
        Cl::atanpi => wide!(scalar, |x| x.atan() / PI),
        Cl::cbrt => wide!(scalar, |x| x.cbrt()),
        Cl::ceil => floats!(scalar, T, |x| x.ceil()),
        Cl::cos | Cl::half_cos | Cl::native_cos => wide!(scalar, |x| x.cos()),
        Cl::cosh => wide!(scalar, |x| x.cosh()),
        Cl::cospi => wide!(scalar, |x| math::cospi(x)),
        Cl::erfc => wide!(scalar, |x| libm::erfc(x)),
        Cl::erf => wide!(scalar, |x| libm::erf(x)),
        Cl::exp | Cl::half_exp | Cl::native_exp => wide!(scalar, |x| x.exp()),
        Cl::exp2 | Cl::half_exp2 | Cl::native_exp2 => wide!(scalar, |x| x.exp2()),
        Cl::exp10 | Cl::half_exp10 | Cl::native_exp10 => wide!(scalar, |x| math::exp10(x)),
        Cl::expm1 => wide!(scalar, |x| x.exp_m1()),
        Cl::fabs => match scalar {
            Scalar::F16 => Some(|x| x & 0x7fff),
            Scalar::F32 => Some(|x| x & 0x7fff_ffff),
            _ => Some(|x| x & !(1 << 63)),
        },
        Cl::floor => floats!(scalar, T, |x| x.floor()),
        Cl::ilogb => match scalar {
            Scalar::F16 => Some(|x| math::ilogb(half::f16::from_bits(x as u16).to_f64()) as u32 as u64),
            Scalar::F32 => Some(|x| math::ilogb(f32::from_bits(x as u32).into()) as u32 as u64),
            _ => Some(|x| math::ilogb(f64::from_bits(x)) as u32 as u64),
        },
        Cl::lgamma => wide!(scalar, |x| libm::lgamma(x)),
        Cl::log | Cl::half_log | Cl::native_log => wide!(scalar, |x| x.ln()),
        Cl::log2 | Cl::half_log2 | Cl::native_log2 => wide!(scalar, |x| x.log2()),
        Cl::log10 | Cl::half_log10 | Cl::native_log10 => wide!(scalar, |x| x.log10()),
        Cl::log1p => wide!(scalar, |x| x.ln_1p()),
        Cl::logb => wide!(scalar, |x| math::logb(x)),
        Cl::rint => floats!(scalar, T, |x| x.round_ties_even()),
        Cl::round => floats!(scalar, T, |x| x.round()),
        Cl::rsqrt | Cl::half_rsqrt | Cl::native_rsqrt => wide!(scalar, |x| 1.0 / x.sqrt()),
        Cl::sin | Cl::half_sin | Cl::native_sin => wide!(scalar, |x| x.sin()),
        Cl::sinh => wide!(scalar, |x| x.sinh()),
        Cl::sinpi => wide!(scalar, |x| math::sinpi(x)),
        Cl::sqrt | Cl::half_sqrt | Cl::native_sqrt => floats!(scalar, T, |x| x.sqrt()),
        Cl::tan | Cl::half_tan | Cl::native_tan => wide!(scalar, |x| x.tan()),
        Cl::tanh => wide!(scalar, |x| x.tanh()),
        Cl::tanpi => wide!(scalar, |x| math::tanpi(x)),
        Cl::tgamma => wide!(scalar, |x| libm::tgamma(x)),
        Cl::trunc => floats!(scalar, T, |x| x.trunc()),
        Cl::half_recip | Cl::native_recip => floats!(scalar, T, |x| 1.0 / x),
        Cl::degrees => wide!(scalar, |x| 180.0 / PI * x),
        Cl::radians => wide!(scalar, |x| PI / 180.0 * x),
        // Zero keeps its sign, and NaN gives zero.
        Cl::sign => floats!(scalar, T, |x| {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else if x.is_nan() {
                0.0
            } else {
                x
            }
        }),
        _ => None,
    }
}

fn binary(function: Cl, scalar: Scalar) -> Option<F2> {
    match function {
        Cl::atan2 => wide!(scalar, |y, x| y.atan2(x)),
        Cl::atan2pi => wide!(scalar, |y, x| y.atan2(x) / PI),
        Cl::copysign => floats!(scalar, T, |x, y| x.copysign(y)),
        Cl::fdim => floats!(scalar, T, |x, y| {
            if x.is_nan() || y.is_nan() {
                T::NAN
            } else if x > y {
                x - y
            } else {
                0.0
            }
        }),
        Cl::fmax | Cl::fmax_common => floats!(scalar, T, |x, y| if x.is_nan() || x < y { y } else { x }),
        Cl::fmin | Cl::fmin_common => floats!(scalar, T, |x, y| if x.is_nan() || y < x { y } else { x }),
        Cl::fmod => floats!(scalar, T, |x, y| x % y),
        Cl::hypot => wide!(scalar, |x, y| x.hypot(y)),
        Cl::maxmag => floats!(scalar, T, |x, y| {
            if x.abs() > y.abs() || y.is_nan() {
                x
            } else if y.abs() > x.abs() || x.is_nan() {
                y
            } else {
                x.max(y)
            }
        }),
        Cl::minmag => floats!(scalar, T, |x, y| {
            if x.abs() < y.abs() || y.is_nan() {
                x
            } else if y.abs() < x.abs() || x.is_nan() {
                y
            } else {
                x.min(y)
            }
        }),
        Cl::nextafter => match scalar {
            Scalar::F16 => Some(|x, y| {
                let [a, b] = [x, y].map(|bits| half::f16::from_bits(bits as u16).to_f64());
                next(x, y, 1 << 15, a.partial_cmp(&b), a.is_nan())
            }),
            Scalar::F32 => Some(|x, y| {
                let [a, b] = [x, y].map(|bits| f32::from_bits(bits as u32));
                next(x, y, 1 << 31, a.partial_cmp(&b), a.is_nan())
            }),
            _ => Some(|x, y| {
                let [a, b] = [x, y].map(f64::from_bits);
                next(x, y, 1 << 63, a.partial_cmp(&b), a.is_nan())
            }),
        },
        Cl::pow => wide!(scalar, |x, y| x.powf(y)),
        Cl::powr | Cl::half_powr | Cl::native_powr => wide!(scalar, |x, y| math::powr(x, y)),
        Cl::remainder => wide!(scalar, |x, y| libm::remainder(x, y)),
        Cl::half_divide | Cl::native_divide => floats!(scalar, T, |x, y| x / y),
        Cl::step => floats!(scalar, T, |edge, x| if x < edge { 0.0 } else { 1.0 }),
        Cl::ldexp => with_integer(
            scalar,
            [
                |x, n| scaled(Scalar::F16, x, n),
                |x, n| scaled(Scalar::F32, x, n),
                |x, n| scaled(Scalar::F64, x, n),
            ],
        ),
        Cl::pown => with_integer(
            scalar,
            [
                |x, n| by_integer(Scalar::F16, math::pown, x, n),
                |x, n| by_integer(Scalar::F32, math::pown, x, n),
                |x, n| by_integer(Scalar::F64, math::pown, x, n),
            ],
        ),
        Cl::rootn => with_integer(
            scalar,
            [
                |x, n| by_integer(Scalar::F16, math::rootn, x, n),
                |x, n| by_integer(Scalar::F32, math::rootn, x, n),
                |x, n| by_integer(Scalar::F64, math::rootn, x, n),
            ],
        ),
        _ => None,
    }
}

/// The condition on two operands, given by index, under which the result is undefined (OpenCL C 6.15.4): it is
/// non-zero.
pub(crate) fn lacks_result(function: Cl, scalar: Scalar) -> Option<(F2, [usize; 2])> {
    let f: Option<F2> = match function {
        Cl::s_clamp => integers!(scalar, [U S] |low, high| (low as S > high as S).into()),
        Cl::u_clamp => Some(|low, high| (low > high).into()),
        Cl::fclamp => compares!(scalar, |low, high| low > high),
        Cl::smoothstep => compares!(scalar, |low, high| low >= high),
        _ => None,
    };
    Some((f?, if function == Cl::smoothstep { [0, 1] } else { [1, 2] }))
}

fn with_integer(scalar: Scalar, [half, float, double]: [F2; 3]) -> Option<F2> {
    match scalar {
        Scalar::F16 => Some(half),
        Scalar::F32 => Some(float),
        Scalar::F64 => Some(double),
        _ => None,
    }
}

fn by_integer(scalar: Scalar, function: fn(f64, i64) -> f64, x: u64, n: u64) -> u64 {
    super::from_f64(scalar, function(super::to_f64(scalar, x), signed(4, n)))
}

/// `ldexp`, rounded once: the double result of narrower types is exact.
fn scaled(scalar: Scalar, x: u64, n: u64) -> u64 {
    by_integer(scalar, |x, n| libm::ldexp(x, n.clamp(-5000, 5000) as i32), x, n)
}

/// `nextafter`, on the bits.
fn next(x: u64, y: u64, sign: u64, order: Option<std::cmp::Ordering>, x_is_nan: bool) -> u64 {
    use std::cmp::Ordering::{Equal, Less};
    let Some(order) = order else { return if x_is_nan { x } else { y } };
    let is_up = match order {
        Equal => return y,
        order => order == Less,
    };
    match (x & !sign, is_up, x & sign != 0) {
        (0, true, _) => 1,
        (0, false, _) => sign | 1,
        (_, true, false) | (_, false, true) => x + 1,
        (_, true, true) | (_, false, false) => x - 1,
    }
}

fn ternary(function: Cl, scalar: Scalar) -> Option<F3> {
    match (function, scalar) {
        (Cl::fma | Cl::mad, Scalar::F16) => wide!(scalar, |a, b, c| a.mul_add(b, c)),
        (Cl::fma | Cl::mad, _) => floats!(scalar, T, |a, b, c| a.mul_add(b, c)),
        (Cl::fclamp, _) => floats!(scalar, T, |x, low, high| x.max(low).min(high)),
        (Cl::mix, _) => floats!(scalar, T, |x, y, a| x + (y - x) * a),
        (Cl::smoothstep, _) => floats!(scalar, T, |low, high, x| {
            let t: T = ((x - low) / (high - low)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        _ => None,
    }
}

/// Functions that select bits or values, regardless of type.
fn selection(function: Cl, scalar: Scalar, is_vector: bool) -> Option<F3> {
    match (function, is_vector) {
        (Cl::bitselect, _) => Some(|a, b, c| a & !c | b & c),
        (Cl::select, false) => Some(|a, b, c| if c != 0 { b } else { a }),
        // OpenCL C 6.15.6: vectors test the most significant bit.
        (Cl::select, true) => match scalar.size() {
            1 => Some(|a, b, c| if c >> 7 & 1 != 0 { b } else { a }),
            2 => Some(|a, b, c| if c >> 15 & 1 != 0 { b } else { a }),
            4 => Some(|a, b, c| if c >> 31 & 1 != 0 { b } else { a }),
            _ => Some(|a, b, c| if c >> 63 & 1 != 0 { b } else { a }),
        },
        _ => None,
    }
}

fn integer_unary(function: Cl, scalar: Scalar) -> Option<F1> {
    match function {
        Cl::s_abs => integers!(scalar, [U S] |a| (a as S).unsigned_abs() as u64),
        Cl::u_abs => Some(|a| a),
        Cl::clz => integers!(scalar, [U S] |a| (a as U).leading_zeros().into()),
        Cl::ctz => integers!(scalar, [U S] |a| (a as U).trailing_zeros().into()),
        Cl::popcount => Some(|a| a.count_ones().into()),
        // The operand is an integer, and the result is the float of the same width.
        Cl::nan => match scalar {
            Scalar::I16 => Some(|code| 0x7e00 | code & 0x1ff),
            Scalar::I32 => Some(|code| 0x7fc0_0000 | code & 0x3f_ffff),
            Scalar::I64 => Some(|code| 0x7ff8_0000_0000_0000 | code & 0x7_ffff_ffff_ffff),
            _ => None,
        },
        _ => None,
    }
}

fn integer_binary(function: Cl, scalar: Scalar) -> Option<F2> {
    match function {
        Cl::s_abs_diff => integers!(scalar, [U S] |a, b| (a as S).abs_diff(b as S) as u64),
        Cl::u_abs_diff => Some(|a, b| a.abs_diff(b)),
        Cl::s_add_sat => integers!(scalar, [U S] |a, b| (a as S).saturating_add(b as S) as U as u64),
        Cl::u_add_sat => integers!(scalar, [U S] |a, b| (a as U).saturating_add(b as U) as u64),
        Cl::s_sub_sat => integers!(scalar, [U S] |a, b| (a as S).saturating_sub(b as S) as U as u64),
        Cl::u_sub_sat => integers!(scalar, [U S] |a, b| (a as U).saturating_sub(b as U) as u64),
        Cl::s_hadd => {
            integers!(scalar, [U S] |a, b| ((i128::from(a as S) + i128::from(b as S)) >> 1) as U as u64)
        }
        Cl::u_hadd => Some(|a, b| ((u128::from(a) + u128::from(b)) >> 1) as u64),
        Cl::s_rhadd => {
            integers!(scalar, [U S] |a, b| ((i128::from(a as S) + i128::from(b as S) + 1) >> 1) as U as u64)
        }
        Cl::u_rhadd => Some(|a, b| ((u128::from(a) + u128::from(b) + 1) >> 1) as u64),
        Cl::s_max => integers!(scalar, [U S] |a, b| (a as S).max(b as S) as U as u64),
        Cl::u_max => Some(|a, b| a.max(b)),
        Cl::s_min => integers!(scalar, [U S] |a, b| (a as S).min(b as S) as U as u64),
        Cl::u_min => Some(|a, b| a.min(b)),
        Cl::s_mul_hi => super::integer::upper(spirv::Op::SMulExtended, scalar),
        Cl::u_mul_hi => super::integer::upper(spirv::Op::UMulExtended, scalar),
        Cl::rotate => integers!(scalar, [U S] |a, b| (a as U).rotate_left(b as u32 % U::BITS) as u64),
        Cl::s_mul24 => Some(|a, b| low24(a).wrapping_mul(low24(b)) as u32 as u64),
        Cl::u_mul24 => Some(|a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff) as u32 as u64),
        Cl::u_upsample | Cl::s_upsample => integers!(scalar, [U S] |high, low| high << (U::BITS % 64) | low),
        _ => None,
    }
}

fn low24(a: u64) -> i64 {
    ((a << 40) as i64) >> 40
}

fn integer_ternary(function: Cl, scalar: Scalar) -> Option<F3> {
    match function {
        Cl::s_clamp => {
            integers!(scalar, [U S] |x, low, high| (x as S).max(low as S).min(high as S) as U as u64)
        }
        Cl::u_clamp => Some(|x, low, high| x.max(low).min(high)),
        Cl::s_mad_hi => integers!(scalar, [U S] |a, b, c| {
            let high = ((i128::from(a as S) * i128::from(b as S)) >> U::BITS) as U;
            high.wrapping_add(c as U) as u64
        }),
        Cl::u_mad_hi => integers!(scalar, [U S] |a, b, c| {
            let high = ((u128::from(a) * u128::from(b)) >> U::BITS) as U;
            high.wrapping_add(c as U) as u64
        }),
        Cl::s_mad_sat => integers!(scalar, [U S] |a, b, c| {
            let exact = i128::from(a as S) * i128::from(b as S) + i128::from(c as S);
            exact.clamp(i128::from(S::MIN), i128::from(S::MAX)) as U as u64
        }),
        Cl::u_mad_sat => integers!(scalar, [U S] |a, b, c| {
            (u128::from(a) * u128::from(b) + u128::from(c)).min(u128::from(U::MAX)) as u64
        }),
        Cl::s_mad24 => Some(|a, b, c| low24(a).wrapping_mul(low24(b)).wrapping_add(c as i64) as u32 as u64),
        Cl::u_mad24 => {
            Some(|a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c) as u32 as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: Cl, scalar: Scalar, operands: &[u64]) -> u64 {
        match (lane(function, scalar, false).expect("a known function"), operands) {
            (Lane::One(f), &[a]) => f(a),
            (Lane::Two(f), &[a, b]) => f(a, b),
            (Lane::Three(f), &[a, b, c]) => f(a, b, c),
            _ => panic!("another number of operands"),
        }
    }

    #[test]
    fn integers_follow_the_specification() {
        assert_eq!(call(Cl::s_add_sat, Scalar::I8, &[0x7f, 1]), 0x7f);
        assert_eq!(call(Cl::s_mul_hi, Scalar::I32, &[0xffff_ffff, 5]), 0xffff_ffff);
        assert_eq!(call(Cl::s_hadd, Scalar::I16, &[0xffff, 0]), 0xffff);
        assert_eq!(call(Cl::u_rhadd, Scalar::I64, &[u64::MAX, u64::MAX]), u64::MAX);
        assert_eq!(call(Cl::u_upsample, Scalar::I8, &[0xab, 0xcd]), 0xabcd);
        assert_eq!(call(Cl::s_mad_sat, Scalar::I32, &[0x7fff_ffff, 2, 0]), 0x7fff_ffff);
        assert_eq!(call(Cl::rotate, Scalar::I8, &[0x81, 1]), 0x03);
    }

    #[test]
    fn floats_follow_the_specification() {
        let float = |x: f32| u64::from(x.to_bits());
        assert_eq!(call(Cl::nextafter, Scalar::F32, &[float(0.0), float(-1.0)]), 0x8000_0001);
        assert_eq!(call(Cl::fmax, Scalar::F32, &[float(f32::NAN), float(1.0)]), float(1.0));
        assert_eq!(call(Cl::ldexp, Scalar::F32, &[float(1.0), (-149i32) as u32 as u64]), 1);
        assert_eq!(call(Cl::exp2, Scalar::F32, &[float(0.5)]), float(std::f32::consts::SQRT_2));
        assert_eq!(call(Cl::ilogb, Scalar::F16, &[1]), -24i32 as u32 as u64);
    }
}
