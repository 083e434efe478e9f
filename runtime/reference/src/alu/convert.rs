//! Conversions between scalars (OpenCL C 6.4.3): rounding and saturation.

use super::{from_f64, signed, to_f64, truncated};
use crate::types::Scalar;

/// A rounding mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    ToEven,
    ToZero,
    Up,
    Down,
}

/// A conversion of each lane of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) from: Scalar,
    pub(crate) from_signed: bool,
    pub(crate) to: Scalar,
    pub(crate) to_signed: bool,
    /// The rounding mode for inexact results; `None` for the instruction's default.
    pub(crate) rounding: Option<Rounding>,
    pub(crate) saturate: bool,
}

/// Converts a lane.
pub(crate) fn convert(how: &Conversion, bits: u64) -> u64 {
    match (how.from.is_float(), how.to.is_float()) {
        (false, false) => integer(how, bits),
        (true, false) => {
            let rounded = round_to_integer(how, bits);
            // Out-of-range conversions are undefined without saturation; this always saturates, and NaN becomes zero.
            let (low, high) = range(how.to, how.to_signed);
            (rounded as i128).clamp(low, high) as u64 & u64::MAX >> (64 - 8 * u32::from(how.to.size()))
        }
        (false, true) => {
            let value = if how.from_signed {
                i128::from(signed(how.from.size(), bits))
            } else {
                i128::from(truncated(how.from.size(), bits))
            };
            from_integer(how.to, value, how.rounding.unwrap_or(Rounding::ToEven))
        }
        (true, true) => {
            if how.from == how.to {
                return bits;
            }
            narrow(how.to, to_f64(how.from, bits), how.rounding.unwrap_or(Rounding::ToEven))
        }
    }
}

/// Rounds to an integer.
fn round_to_integer(how: &Conversion, bits: u64) -> f64 {
    let value = to_f64(how.from, bits);
    match how.rounding.unwrap_or(Rounding::ToZero) {
        Rounding::ToEven => value.round_ties_even(),
        Rounding::ToZero => value.trunc(),
        Rounding::Up => value.ceil(),
        Rounding::Down => value.floor(),
    }
}

/// Whether the integer type can represent the rounded value.
pub(crate) fn fits_integer(how: &Conversion, bits: u64) -> bool {
    let rounded = round_to_integer(how, bits);
    let (low, high) = range(how.to, how.to_signed);
    // The limits are powers of two, or one less; the powers of two are exact as doubles.
    rounded >= low as f64 && rounded < (high + 1) as f64
}

fn integer(how: &Conversion, bits: u64) -> u64 {
    let value = if how.from_signed {
        i128::from(signed(how.from.size(), bits))
    } else {
        i128::from(truncated(how.from.size(), bits))
    };
    let (low, high) = range(how.to, how.to_signed);
    let value = if how.saturate { value.clamp(low, high) } else { value };
    truncated(how.to.size(), value as u64)
}

fn range(scalar: Scalar, is_signed: bool) -> (i128, i128) {
    let bits = 8 * u32::from(scalar.size());
    if is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Converts a double to a narrower type, rounding once.
pub(super) fn narrow(to: Scalar, value: f64, rounding: Rounding) -> u64 {
    let nearest = from_f64(to, value);
    let found = to_f64(to, nearest);
    if found == value || value.is_nan() || value.is_infinite() {
        return nearest;
    }
    round_toward(to, nearest, found < value, value < 0.0, rounding)
}

fn from_integer(to: Scalar, value: i128, rounding: Rounding) -> u64 {
    let nearest: u64 = match to {
        // Converting through float rounds twice, but integers up to 2048 are exact as half, and those above 65,504
        // are infinite. Only integers between these limits can be inexact, and they are exact as float.
        Scalar::F16 => half::f16::from_f32(value.clamp(-70_000, 70_000) as f32).to_bits().into(),
        Scalar::F32 => (value as f32).to_bits().into(),
        _ => (value as f64).to_bits(),
    };
    let found = to_f64(to, nearest);
    let (is_below, is_equal) = if found.is_infinite() {
        (found < 0.0, false)
    } else {
        ((found as i128) < value, found as i128 == value)
    };
    if is_equal { nearest } else { round_toward(to, nearest, is_below, value < 0, rounding) }
}

/// Corrects a number that was rounded to nearest, given whether it is below the exact value and whether the value is
/// negative.
fn round_toward(to: Scalar, nearest: u64, is_below: bool, is_negative: bool, rounding: Rounding) -> u64 {
    let wants_up = match rounding {
        Rounding::ToEven => return nearest,
        Rounding::ToZero => is_negative,
        Rounding::Up => true,
        Rounding::Down => false,
    };
    if wants_up != is_below {
        return nearest;
    }
    let sign = 1 << (8 * u32::from(to.size()) - 1);
    let is_minus = nearest & sign != 0;
    match (nearest & !sign, wants_up, is_minus) {
        // The neighbors of zero are the smallest denormals.
        (0, true, _) => 1,
        (0, false, _) => sign | 1,
        (_, true, false) | (_, false, true) => nearest + 1,
        (_, true, true) | (_, false, false) => nearest - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_of(value: f64, rounding: Rounding) -> f32 {
        f32::from_bits(narrow(Scalar::F32, value, rounding) as u32)
    }

    #[test]
    fn conversions_use_the_rounding_mode() {
        let tenth = 0.1f64;
        assert!(f64::from(f32_of(tenth, Rounding::Up)) > tenth);
        assert!(f64::from(f32_of(tenth, Rounding::Down)) < tenth);
        assert_eq!(f32_of(-tenth, Rounding::ToZero), -f32_of(tenth, Rounding::Down));
        assert_eq!(f32_of(1e-60, Rounding::Up), f32::from_bits(1));
        assert_eq!(f32_of(-1e-60, Rounding::ToZero).to_bits(), 1 << 31);
        assert_eq!(f32_of(1e60, Rounding::ToZero), f32::MAX);
        let half = |value, rounding| from_integer(Scalar::F16, value, rounding);
        assert_eq!(half(100_000, Rounding::ToZero), 0x7bff);
        assert_eq!(half(2049, Rounding::Up), 0x6801);
        assert_eq!(half(2049, Rounding::ToEven), 0x6800);
    }

    #[test]
    fn integers_saturate() {
        let how = Conversion {
            from: Scalar::I32,
            from_signed: true,
            to: Scalar::I8,
            to_signed: false,
            rounding: None,
            saturate: true,
        };
        assert_eq!(convert(&how, -5i32 as u32 as u64), 0);
        assert_eq!(convert(&how, 300), 255);
        let how = Conversion { from: Scalar::F32, to: Scalar::I8, to_signed: true, ..how };
        assert_eq!(convert(&how, (-1000f32).to_bits().into()), 0x80);
        assert_eq!(convert(&how, f32::NAN.to_bits().into()), 0);
    }
}
