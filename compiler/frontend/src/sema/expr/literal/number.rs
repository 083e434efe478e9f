//! Parses numbers (C99 6.4.4.1, 6.4.4.2): digits, bases, suffixes, exact values.

use kiln_types::{
    fold::{Format, round_float},
    ty::Scalar,
};

use crate::hir::Rounding;

/// A parsed integer constant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Integer {
    /// `None` if it exceeds 64 bits.
    pub(super) value: Option<u64>,
    pub(super) is_decimal: bool,
    pub(super) is_unsigned: bool,
    pub(super) is_long: bool,
    pub(super) is_long_long: bool,
}

/// Why a spelling is not an integer constant.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IntegerError {
    Suffix(String),
    Digit(char),
    NoDigits,
}

/// The name of the base, from the prefix.
pub(super) fn base_name(text: &str) -> &'static str {
    match base(text).0 {
        2 => "binary",
        8 => "octal",
        16 => "hexadecimal",
        _ => "decimal",
    }
}

/// The base, and the digits after the prefix.
fn base(text: &str) -> (u32, &str) {
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &text[2..]),
        [b'0', b'b' | b'B', ..] => (2, &text[2..]),
        [b'0', _, ..] => (8, &text[1..]),
        _ => (10, text),
    }
}

/// Parses an integer constant.
pub(super) fn integer(text: &str) -> Result<Integer, IntegerError> {
    let (base, rest) = base(text);
    let end = rest.find(|c: char| !c.is_digit(if base == 16 { 16 } else { 10 })).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let mut value = Some(0u64);
    for digit in digits.chars() {
        let Some(digit) = digit.to_digit(base) else { return Err(IntegerError::Digit(digit)) };
        value = value
            .and_then(|value| value.checked_mul(base.into()))
            .and_then(|value| value.checked_add(digit.into()));
    }
    // The `0` of an octal constant is a digit too: `0u`.
    if digits.is_empty() && base != 8 {
        return Err(IntegerError::NoDigits);
    }
    let (is_unsigned, is_long, is_long_long) = match suffix {
        "" => (false, false, false),
        "u" | "U" => (true, false, false),
        "l" | "L" => (false, true, false),
        "ul" | "uL" | "Ul" | "UL" | "lu" | "lU" | "Lu" | "LU" => (true, true, false),
        "ll" | "LL" => (false, true, true),
        "ull" | "uLL" | "Ull" | "ULL" | "llu" | "llU" | "LLu" | "LLU" => (true, true, true),
        _ => return Err(IntegerError::Suffix(suffix.to_owned())),
    };
    Ok(Integer { value, is_decimal: base == 10, is_unsigned, is_long, is_long_long })
}

/// The intended constant for a spelling of another language: `1_000`, `1f`.
pub(super) fn meant(text: &str, suffix: &str) -> Option<String> {
    let digits = text.strip_suffix(suffix)?;
    let is_decimal = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    let is_grouped = suffix.starts_with('_') && suffix.chars().all(|c| c == '_' || c.is_ascii_digit());
    match suffix {
        "f" | "F" if is_decimal || digits == "0" => Some(format!("{digits}.0f")),
        "d" | "D" if is_decimal || digits == "0" => Some(format!("{digits}.0")),
        _ if is_grouped => Some(text.replace('_', "")),
        _ => None,
    }
}

/// Splits a floating constant and its suffix. In a hexadecimal constant, `f` before the exponent is a digit.
pub(super) fn split_suffix(text: &str) -> (&str, &str) {
    let is_hex = base(text).0 == 16;
    let exponent = if is_hex { text.find(['p', 'P']) } else { text.find(['e', 'E']) };
    let from = match exponent {
        Some(at) => {
            let sign = text[at + 1..].starts_with(['+', '-']) as usize;
            at + 1 + sign
        }
        None if is_hex => return (text, ""),
        None => 0,
    };
    let end =
        text[from..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text.len(), |end| from + end);
    text.split_at(end)
}

/// The value of a floating constant without its suffix, correctly rounded to the type. `None` if it is malformed.
pub(super) fn floating(digits: &str, ty: Scalar) -> Option<f64> {
    if base(digits).0 == 16 {
        return hexadecimal(&digits[2..], Format::for_scalar(ty)?);
    }
    match ty {
        Scalar::Float => digits.parse::<f32>().ok().map(f64::from),
        Scalar::Half => {
            digits.parse::<f64>().ok().map(|value| round_float(value, Format::HALF, Rounding::ToEven))
        }
        _ => digits.parse().ok(),
    }
}

/// Whether a floating constant is written as zero, before rounding.
pub(super) fn is_zero(digits: &str) -> bool {
    let (base, digits) = base(digits);
    let mantissa = digits.split(if base == 16 { ['p', 'P'] } else { ['e', 'E'] }).next().unwrap_or_default();
    mantissa.chars().all(|c| matches!(c, '0' | '.'))
}

/// `h.hhhhp±d`
fn hexadecimal(digits: &str, format: Format) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Clamp an extreme exponent; the result is the same.
    let written: i64 = match exponent.parse() {
        Ok(exponent) => exponent,
        Err(_) if exponent.starts_with('-') => i64::from(i32::MIN),
        Err(_) => i64::from(i32::MAX),
    };
    let mut exponent = written.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) - 4 * fraction.len() as i64;
    let mut value = 0u64;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if value >> 58 == 0 {
            value = value << 4 | digit;
        } else {
            // Digits that do not fit only matter for rounding.
            exponent += 4;
            value |= u64::from(digit != 0);
        }
    }
    Some(scaled(value, exponent, format))
}

/// `value` times a power of two, rounded to nearest even in the format.
fn scaled(value: u64, exponent: i64, format: Format) -> f64 {
    if value == 0 {
        return 0.0;
    }
    let (precision, max_exponent) = (i64::from(format.precision), i64::from(format.max_exponent));
    let top = exponent + 63 - i64::from(value.leading_zeros());
    if top > max_exponent {
        return f64::INFINITY;
    }
    // The exponent of the last bit that is kept. For subnormal numbers too.
    let last = top.max(1 - max_exponent) - (precision - 1);
    let shift = last - exponent;
    let kept = match shift {
        ..=0 => value << -shift,
        1..=64 => {
            let wide = u128::from(value);
            let (kept, rest, half) = (wide >> shift, wide & ((1 << shift) - 1), 1u128 << (shift - 1));
            (kept + u128::from(rest > half || rest == half && kept & 1 == 1)) as u64
        }
        _ => 0,
    };
    // Two steps, each with a normal power of two, so that subnormal results are exact.
    let result = kept as f64 * 2f64.powi((last / 2) as i32) * 2f64.powi((last - last / 2) as i32);
    round_float(result, format, Rounding::ToEven)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_parsed() {
        let value = |text: &str| integer(text).unwrap().value;
        assert_eq!(value("0"), Some(0));
        assert_eq!(value("0u"), Some(0));
        assert_eq!(value("017"), Some(15));
        assert_eq!(value("0xFFfful"), Some(0xffff));
        assert_eq!(value("0b101"), Some(5));
        assert_eq!(value("18446744073709551615"), Some(u64::MAX));
        assert_eq!(value("18446744073709551616"), None);
        assert_eq!(integer("09"), Err(IntegerError::Digit('9')));
        assert_eq!(integer("0x"), Err(IntegerError::NoDigits));
        assert_eq!(integer("1lul"), Err(IntegerError::Suffix("lul".into())));
        assert_eq!(integer("0xfu").unwrap().value, Some(15));
    }

    #[test]
    fn suffixes_of_other_languages() {
        assert_eq!(meant("1f", "f").as_deref(), Some("1.0f"));
        assert_eq!(meant("1_000_000", "_000_000").as_deref(), Some("1000000"));
        assert_eq!(meant("2n", "n"), None);
        assert_eq!(meant("0b1f", "f"), None);
    }

    #[test]
    fn suffixes_are_split() {
        assert_eq!(split_suffix("1.5f"), ("1.5", "f"));
        assert_eq!(split_suffix("1e-3h"), ("1e-3", "h"));
        assert_eq!(split_suffix("0x1.fp3f"), ("0x1.fp3", "f"));
        assert_eq!(split_suffix("1.0"), ("1.0", ""));
        assert_eq!(split_suffix("1.0xyz"), ("1.0", "xyz"));
        assert_eq!(split_suffix(".5F"), (".5", "F"));
    }

    #[test]
    fn zeros_are_recognized() {
        assert!(is_zero("0.0") && is_zero("0x0p9") && is_zero(".0e5") && is_zero("00e1"));
        assert!(!is_zero("1e-99") && !is_zero("0x.1p-999") && !is_zero("0.01"));
    }

    #[test]
    fn hexadecimal_floats_are_rounded_once() {
        assert_eq!(floating("0x1.8p1", Scalar::Double), Some(3.0));
        assert_eq!(floating("0x1p-149", Scalar::Float), Some(f64::from(f32::from_bits(1))));
        assert_eq!(floating("0x1.000001p0", Scalar::Float), Some(1.0));
        assert_eq!(
            floating("0x1.0000010000000000000001p0", Scalar::Float),
            Some(1.0 + f64::from(f32::EPSILON))
        );
        assert_eq!(floating("0x1p-1074", Scalar::Double), Some(f64::from_bits(1)));
        assert_eq!(floating("0x1p128", Scalar::Float), Some(f64::INFINITY));
        assert_eq!(floating("0x1p99999999999", Scalar::Double), Some(f64::INFINITY));
        assert_eq!(floating("0x1p-99999999999", Scalar::Double), Some(0.0));
        assert_eq!(floating("0x1.8", Scalar::Double), None);
        assert_eq!(floating("0x1.0p-24", Scalar::Half), Some(2f64.powi(-24)));
    }
}
