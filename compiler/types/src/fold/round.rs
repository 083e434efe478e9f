//! Rounds exact values to a floating-point format, in each rounding mode (IEEE 754-2008 4.3).
//!
//! Supports formats with at most 53 bits of precision, whose values are representable in `f64`.

use crate::{ops::Rounding, ty::Scalar};

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the significand, including the hidden bit.
    pub precision: u32,
    /// The exponent of the largest finite value, in the form 1.xxx × 2^e.
    pub max_exponent: i32,
}

impl Format {
    /// `half`
    pub const HALF: Self = Self { precision: 11, max_exponent: 15 };
    /// `float`
    pub const FLOAT: Self = Self { precision: 24, max_exponent: 127 };
    /// `double`
    pub const DOUBLE: Self = Self { precision: 53, max_exponent: 1023 };

    /// The format of this type. `None` for integers.
    pub const fn for_scalar(ty: Scalar) -> Option<Self> {
        match ty {
            Scalar::Half => Some(Self::HALF),
            Scalar::Float => Some(Self::FLOAT),
            Scalar::Double => Some(Self::DOUBLE),
            _ => None,
        }
    }

    /// The exponent of the last bit of subnormal values.
    const fn min_ulp(self) -> i32 {
        2 - self.max_exponent - self.precision as i32
    }
}

/// Rounds a value to the format.
pub fn round_float(value: f64, format: Format, rounding: Rounding) -> f64 {
    if format == Format::DOUBLE || !value.is_finite() || value == 0.0 {
        return value;
    }
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = match (bits >> 52 & 0x7ff) as i32 {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    };
    round(value.is_sign_negative(), significand.into(), exponent, format, rounding)
}

/// Rounds an integer to the format.
pub fn round_integer(value: i128, format: Format, rounding: Rounding) -> f64 {
    match value {
        0 => 0.0,
        _ => round(value < 0, value.unsigned_abs(), 0, format, rounding),
    }
}

/// Rounds `significand * 2^exponent`, which must not be zero, to the format.
fn round(is_negative: bool, significand: u128, exponent: i32, format: Format, rounding: Rounding) -> f64 {
    let width = (u128::BITS - significand.leading_zeros()) as i32;
    // The exponent of the last bit that is kept.
    let ulp = (exponent + width - format.precision as i32).max(format.min_ulp());
    let dropped = ulp - exponent;
    let (mut kept, rest, half) = match dropped {
        ..=0 => (significand, 0, 1),
        // Less than half of the smallest value.
        128.. => (0, 1, 2),
        1..128 => {
            let half = 1_u128 << (dropped - 1);
            (significand >> 1 >> (dropped - 1), significand & (half | (half - 1)), half)
        }
    };
    let is_up = match rounding {
        Rounding::ToEven => rest > half || rest == half && kept & 1 == 1,
        Rounding::ToZero => false,
        Rounding::ToPositive => rest != 0 && !is_negative,
        Rounding::ToNegative => rest != 0 && is_negative,
    };
    kept += u128::from(is_up);
    let exponent = if dropped > 0 { ulp } else { exponent };
    let magnitude = scale(kept, exponent);
    let largest = scale((1 << format.precision) - 1, format.max_exponent + 1 - format.precision as i32);
    let magnitude = if magnitude <= largest {
        magnitude
    } else {
        let to_infinity = match rounding {
            Rounding::ToEven => true,
            Rounding::ToZero => false,
            Rounding::ToPositive => !is_negative,
            Rounding::ToNegative => is_negative,
        };
        if to_infinity { f64::INFINITY } else { largest }
    };
    if is_negative { -magnitude } else { magnitude }
}

/// `significand * 2^exponent` for a significand of at most 54 bits: exact, or infinite.
fn scale(significand: u128, exponent: i32) -> f64 {
    // Two steps, because 2^-1074 times 2^1023 exceeds the range of one power of two.
    let first = exponent / 2;
    significand as f64 * power_of_two(first) * power_of_two(exponent - first)
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
