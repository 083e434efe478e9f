//! `printf` (OpenCL C 6.15.14): the format is in memory, the result is text.
//!
//! Owns the conversions. A wrong format prints what it can and gives -1, never an error.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::view::View;
use crate::{alu, report::Access, types::Scalar};

/// `CL_DEVICE_PRINTF_BUFFER_SIZE`: what the calls of a launch may print, in bytes of their values.
const BUFFER: u64 = 1 << 20;

/// Where calls print.
pub(crate) struct Printed<'a> {
    pub(crate) text: &'a mut Vec<u8>,
    /// Bytes that the calls of the launch have taken.
    pub(crate) used: &'a AtomicU64,
}

/// Longer strings are cut.
const LONGEST: u64 = 1 << 20;

/// A conversion specification.
#[derive(Debug, Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Components, if a vector is printed.
    vector: usize,
    conversion: u8,
}

/// Prints; gives what `printf` returns.
pub(crate) fn print(
    view: &View<'_>,
    format: u64,
    values: &[(Scalar, Vec<u64>)],
    Printed { text: printed, used }: &mut Printed<'_>,
) -> i32 {
    let size = |(scalar, lanes): &(Scalar, Vec<u64>)| {
        (u64::from(scalar.size()) * lanes.len() as u64).next_multiple_of(4)
    };
    let taken = 4 + values.iter().map(size).sum::<u64>();
    if used.fetch_add(taken, Relaxed) + taken > BUFFER - 4 {
        return -1;
    }
    let Some(format) = string(view, format) else { return -1 };
    let (mut rest, mut values) = (format.as_slice(), values.iter());
    while let Some(&first) = rest.first() {
        rest = &rest[1..];
        if first != b'%' {
            printed.push(first);
            continue;
        }
        if rest.first() == Some(&b'%') {
            printed.push(b'%');
            rest = &rest[1..];
            continue;
        }
        let Some((spec, after)) = parse(rest) else { return -1 };
        rest = after;
        let Some((scalar, lanes)) = values.next() else { return -1 };
        for (index, &lane) in lanes.iter().take(spec.vector.max(1)).enumerate() {
            if index > 0 {
                printed.push(b',');
            }
            let text = match spec.conversion {
                b's' => pad(&spec, String::new(), cut(&spec, string(view, lane))),
                _ => one(&spec, *scalar, lane),
            };
            printed.extend(text.into_bytes());
        }
    }
    0
}

fn cut(spec: &Spec, bytes: Option<Vec<u8>>) -> String {
    let text = String::from_utf8_lossy(&bytes.unwrap_or_else(|| b"(null)".to_vec())).into_owned();
    text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect()
}

fn string(view: &View<'_>, address: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for at in 0..LONGEST {
        let (cells, offset) = view.locate(address.wrapping_add(at), 1, Access::Read).ok()?;
        match cells.load(offset, 1) as u8 {
            0 => break,
            byte => bytes.push(byte),
        }
    }
    Some(bytes)
}

fn parse(mut text: &[u8]) -> Option<(Spec, &[u8])> {
    let mut spec = Spec::default();
    let number = |text: &mut &[u8]| {
        let mut value = None;
        while let Some(digit @ b'0'..=b'9') = text.first() {
            value = Some((value.unwrap_or(0) * 10 + usize::from(digit - b'0')).min(4096));
            *text = &text[1..];
        }
        value
    };
    loop {
        match text.first()? {
            b'-' => spec.minus = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternative = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        text = &text[1..];
    }
    spec.width = number(&mut text).unwrap_or(0);
    if text.first() == Some(&b'.') {
        text = &text[1..];
        spec.precision = Some(number(&mut text).unwrap_or(0));
    }
    if text.first() == Some(&b'v') {
        text = &text[1..];
        spec.vector = number(&mut text)?;
    }
    while let Some(b'h' | b'l') = text.first() {
        text = &text[1..];
    }
    let (&conversion, rest) = text.split_first()?;
    spec.conversion = conversion;
    b"diouxXfFeEgGaAcsp".contains(&conversion).then_some((spec, rest))
}

/// One component.
fn one(spec: &Spec, scalar: Scalar, bits: u64) -> String {
    let size = scalar.size();
    let sign = |is_negative: bool| {
        match (is_negative, spec.plus, spec.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
        .to_owned()
    };
    let digits = |text: String| match spec.precision {
        Some(0) if text == "0" => String::new(),
        Some(least) => "0".repeat(least.saturating_sub(text.len())) + &text,
        None => text,
    };
    let unsigned = alu::truncated(size, bits);
    match spec.conversion {
        b'd' | b'i' => {
            let value = alu::signed(size, bits);
            pad(spec, sign(value < 0), digits(value.unsigned_abs().to_string()))
        }
        b'u' => pad(spec, String::new(), digits(unsigned.to_string())),
        b'o' => {
            let text = digits(format!("{unsigned:o}"));
            let lead = if spec.alternative && !text.starts_with('0') { "0" } else { "" };
            pad(spec, lead.to_owned(), text)
        }
        b'x' | b'X' => {
            let text = digits(format!("{unsigned:x}"));
            let lead = if spec.alternative && unsigned != 0 { "0x" } else { "" };
            let text = pad(spec, lead.to_owned(), text);
            if spec.conversion == b'X' { text.to_uppercase() } else { text }
        }
        b'c' => pad(spec, String::new(), char::from(bits as u8).to_string()),
        b'p' => pad(spec, "0x".to_owned(), format!("{bits:x}")),
        _ => {
            let value = alu::to_f64(scalar, bits);
            let text = float(spec, value.abs());
            let mut spec = Spec { zero: spec.zero && value.is_finite(), ..*spec };
            spec.precision = None;
            let text = pad(&spec, sign(value.is_sign_negative() && !value.is_nan()), text);
            if spec.conversion.is_ascii_uppercase() { text.to_uppercase() } else { text }
        }
    }
}

/// Fills up to the width.
fn pad(spec: &Spec, sign: String, text: String) -> String {
    let missing = spec.width.saturating_sub(sign.len() + text.chars().count());
    if spec.minus {
        format!("{sign}{text}{}", " ".repeat(missing))
    } else if spec.zero && spec.precision.is_none() && spec.conversion != b's' {
        format!("{sign}{}{text}", "0".repeat(missing))
    } else {
        format!("{}{sign}{text}", " ".repeat(missing))
    }
}

/// A number without its sign.
fn float(spec: &Spec, value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return "inf".to_owned();
    }
    let precision = spec.precision.unwrap_or(6);
    let point = |text: String| {
        if spec.alternative && !text.contains('.') { text + "." } else { text }
    };
    match spec.conversion.to_ascii_lowercase() {
        b'f' => point(format!("{value:.precision$}")),
        b'e' => exponential(value, precision),
        b'a' => hexadecimal(value, spec.precision),
        _ => {
            let precision = precision.max(1);
            let scientific = exponential(value, precision - 1);
            let exponent: i32 = scientific.rsplit('e').next().and_then(|text| text.parse().ok()).unwrap_or(0);
            let text = if exponent < -4 || exponent >= precision as i32 {
                scientific
            } else {
                format!("{value:.*}", (precision as i32 - 1 - exponent).max(0) as usize)
            };
            if spec.alternative { text } else { without_zeros(&text) }
        }
    }
}

fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn without_zeros(text: &str) -> String {
    let (mantissa, exponent) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if !mantissa.contains('.') {
        return text.to_owned();
    }
    format!("{}{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (mut exponent, mut fraction) = ((bits >> 52) as i64 - 1023, bits & ((1 << 52) - 1));
    let mut lead = 1;
    if exponent == -1023 {
        (exponent, lead) = if value == 0.0 { (0, 0) } else { (-1022, 0) };
    }
    let mut digits = 13;
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let dropped = 4 * (13 - precision) as u32;
        let whole = (lead << 52 | fraction) as u128;
        let half = 1u128 << (dropped - 1);
        let kept = whole >> dropped;
        let rest = whole & ((1 << dropped) - 1);
        let kept = kept + u128::from(rest > half || rest == half && kept & 1 == 1);
        lead = (kept >> (4 * precision)) as u64;
        fraction = (kept & ((1 << (4 * precision)) - 1)) as u64;
        digits = precision;
    }
    let mut text = if digits == 0 { String::new() } else { format!("{fraction:0digits$x}") };
    match precision {
        None => text = text.trim_end_matches('0').to_owned(),
        Some(precision) => text.push_str(&"0".repeat(precision.saturating_sub(13))),
    }
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{text}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, scalar: Scalar, bits: u64) -> String {
        let (spec, _) = parse(text.as_bytes()).expect("a conversion");
        one(&spec, scalar, bits)
    }

    #[test]
    fn numbers_are_shown_as_c_does() {
        let double = |value: f64| value.to_bits();
        assert_eq!(shown("5d", Scalar::I32, -42i32 as u32 as u64), "  -42");
        assert_eq!(shown("#06x", Scalar::I32, 255), "0x00ff");
        assert_eq!(shown(".3d", Scalar::I32, 7), "007");
        assert_eq!(shown("+.2f", Scalar::F64, double(1.005)), "+1.00");
        assert_eq!(shown("g", Scalar::F64, double(1e-5)), "1e-05");
        assert_eq!(shown("g", Scalar::F64, double(100000.0)), "100000");
        assert_eq!(shown("g", Scalar::F64, double(1e6)), "1e+06");
        assert_eq!(shown("e", Scalar::F32, 1.5f32.to_bits().into()), "1.500000e+00");
        assert_eq!(shown("a", Scalar::F64, double(1.0)), "0x1p+0");
        assert_eq!(shown(".1a", Scalar::F64, double(1.96875)), "0x2.0p+0");
        assert_eq!(shown("06.1f", Scalar::F64, double(-2.5)), "-002.5");
        assert_eq!(shown("-4cv", Scalar::I8, 65), "A   ");
    }
}
