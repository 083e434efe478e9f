//! Math functions that are not a single host operation, computed in double.
//!
//! Owns the formulas, which meet the error bounds of OpenCL C 7.4. The host's functions have errors below one unit in
//! the last place of double.

use std::f64::consts::PI;

/// `sin(πx)`, with exact argument reduction.
pub(super) fn sinpi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    // Reduces the argument by the period, keeping the sign of zero.
    let rest = x % 2.0;
    let folded = match rest {
        r if r > 0.5 && r <= 1.5 => 1.0 - r,
        r if r > 1.5 => r - 2.0,
        r if (-1.5..-0.5).contains(&r) => -1.0 - r,
        r if r < -1.5 => r + 2.0,
        r => r,
    };
    if folded == 0.0 {
        return 0.0f64.copysign(x);
    }
    if folded.abs() <= 0.25 {
        (PI * folded).sin()
    } else {
        (PI * (0.5 - folded.abs())).cos().copysign(folded)
    }
}

/// `cos(πx)`
pub(super) fn cospi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let rest = (x % 2.0).abs();
    let folded = if rest > 1.0 { 2.0 - rest } else { rest };
    let value = |r: f64| if r <= 0.25 { (PI * r).cos() } else { (PI * (0.5 - r)).sin() };
    if folded == 0.5 {
        0.0
    } else if folded <= 0.5 {
        value(folded)
    } else {
        -value(1.0 - folded)
    }
}

/// `tan(πx)`, with the signs of C's annex F for integers and half-integers.
pub(super) fn tanpi(x: f64) -> f64 {
    let (sine, cosine) = (sinpi(x), cospi(x));
    let is_odd = (x.floor() % 2.0).abs() == 1.0;
    if x.fract() == 0.0 && x.is_finite() {
        return if is_odd { -(0.0f64.copysign(x)) } else { 0.0f64.copysign(x) };
    }
    if cosine == 0.0 { if is_odd { f64::NEG_INFINITY } else { f64::INFINITY } } else { sine / cosine }
}

/// `acosh`: NaN below 1.
pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

pub(super) fn exp10(x: f64) -> f64 {
    libm::exp10(x)
}

/// `rootn` (OpenCL C 7.5.1): odd roots of negative numbers are real.
pub(super) fn rootn(x: f64, n: i64) -> f64 {
    if n == 0 {
        return f64::NAN;
    }
    let is_odd = n % 2 != 0;
    if x < 0.0 && !is_odd {
        return f64::NAN;
    }
    let root = match n {
        1 => x.abs(),
        2 => x.abs().sqrt(),
        3 => x.abs().cbrt(),
        -1 => 1.0 / x.abs(),
        _ if x == 0.0 || x.is_infinite() => x.abs().powf(1.0 / n as f64),
        _ => {
            // One step of Newton's method corrects the rounding error of 1/n.
            let guess = x.abs().powf(1.0 / n as f64);
            let power = guess.powf(n as f64);
            if power.is_normal() { guess * (1.0 - (power / x.abs() - 1.0) / n as f64) } else { guess }
        }
    };
    if is_odd { root.copysign(x) } else { root }
}

/// `powr`: the base must not be negative (OpenCL C 7.5.1).
pub(super) fn powr(x: f64, y: f64) -> f64 {
    let is_undefined = x < 0.0
        || x.is_nan()
        || y.is_nan()
        || x == 0.0 && y == 0.0
        || x.is_infinite() && y == 0.0
        || x == 1.0 && y.is_infinite();
    if is_undefined { f64::NAN } else { x.abs().powf(y) }
}

pub(super) fn pown(x: f64, n: i64) -> f64 {
    x.powf(n as f64)
}

/// `fract`: the fraction, clamped below one, and the floor.
pub(crate) fn fract(x: f64, below_one: f64) -> (f64, f64) {
    if x.is_nan() {
        return (x, x);
    }
    let floor = x.floor();
    if x.is_infinite() {
        return (0.0f64.copysign(x), x);
    }
    ((x - floor).min(below_one).copysign(if x == 0.0 { x } else { 1.0 }), floor)
}

/// `modf`: the fraction with the sign, and the integer part.
pub(crate) fn modf(x: f64) -> (f64, f64) {
    let whole = x.trunc();
    let fraction = if x.is_infinite() { 0.0 } else { x - whole };
    (fraction.copysign(x), whole)
}

/// `frexp`: a mantissa in 0.5 … 1 and the exponent.
pub(crate) fn frexp(x: f64) -> (f64, i64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (mantissa, exponent) = libm::frexp(x);
    (mantissa, exponent.into())
}

/// `lgamma_r`: the logarithm and the sign of gamma.
pub(crate) fn lgamma_r(x: f64) -> (f64, i64) {
    let (value, sign) = libm::lgamma_r(x);
    (value, sign.into())
}

/// `remquo`: the IEEE remainder and the low seven bits of the quotient, with its sign.
pub(crate) fn remquo(x: f64, y: f64) -> (f64, i64) {
    let rest = libm::remainder(x, y);
    if !x.is_finite() || y == 0.0 || !y.is_finite() {
        return (rest, 0);
    }
    // Computes the quotient modulo 256 from remainders of increasing multiples of the divisor.
    let (mut left, divisor, mut quotient) = (x.abs(), y.abs(), 0i64);
    left %= divisor * 256.0;
    if (divisor * 256.0).is_infinite() {
        left = x.abs();
    }
    for bit in (0..8).rev() {
        let step = divisor * f64::from(1 << bit);
        if left >= step {
            left -= step;
            quotient += 1 << bit;
        }
    }
    if left > divisor - left || left == divisor - left && quotient % 2 != 0 {
        quotient += 1;
    }
    let quotient = quotient & 0x7f;
    (rest, if x.is_sign_negative() == y.is_sign_negative() { quotient } else { -quotient })
}

/// `sincos`
pub(crate) fn sincos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

/// `ilogb`; `FP_ILOGB0` and `FP_ILOGBNAN` are OpenCL's smallest and largest int.
pub(super) fn ilogb(x: f64) -> i64 {
    if x == 0.0 {
        i32::MIN.into()
    } else if !x.is_finite() {
        i32::MAX.into()
    } else {
        i64::from(libm::frexp(x).1) - 1
    }
}

/// `logb`
pub(super) fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_infinite() {
        f64::INFINITY
    } else if x.is_nan() {
        x
    } else {
        ilogb(x) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_half_turns_are_exact() {
        assert_eq!((sinpi(1.0), sinpi(0.5), sinpi(-0.5), sinpi(1.5)), (0.0, 1.0, -1.0, -1.0));
        assert_eq!((cospi(0.5), cospi(1.0), cospi(2.0), cospi(-1.5)), (0.0, -1.0, 1.0, 0.0));
        assert_eq!((tanpi(0.5), tanpi(1.5)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!((tanpi(0.25) - 1.0).abs() < 1e-15);
        assert!(sinpi(-2.0).is_sign_negative() && sinpi(2.0).is_sign_positive());
    }

    #[test]
    fn roots_and_remainders() {
        assert_eq!(rootn(-27.0, 3), -3.0);
        assert!(rootn(-4.0, 2).is_nan());
        assert!((rootn(2f64.powi(35), 5) - 128.0).abs() < 1e-12);
        assert_eq!(remquo(29.0, 3.0), (-1.0, 10));
        assert_eq!(remquo(-29.0, 3.0), (1.0, -10));
        assert_eq!(remquo(1e10, 3.0).1, (3_333_333_333i64) & 0x7f);
        assert_eq!(frexp(8.0), (0.5, 4));
        assert_eq!(modf(-2.5), (-0.5, -2.0));
    }
}
