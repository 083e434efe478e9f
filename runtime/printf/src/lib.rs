//! Formats `printf` output (OpenCL C 6.15.14, C99 7.19.6.1).
//!
//! Owns directives: flags, width, precision, vectors, conversions. Must not depend on where arguments come from.
//!
//! ```
//! use kiln_printf::{Value, strings, write};
//!
//! let format = b"%s: %4d\n";
//! assert_eq!(strings(format), [true, false]);
//! let mut out = Vec::new();
//! write(format, &[Value::Text(b"sum"), Value::Bytes(&42i32.to_le_bytes())], &mut out);
//! assert_eq!(out, b"sum:   42\n");
//! ```

/// An argument.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// The little-endian bytes of a number or a vector.
    Bytes(&'a [u8]),
    /// The bytes of a string, without the terminator.
    Text(&'a [u8]),
}

/// A conversion directive, without its conversion specifier.
#[derive(Debug, Clone, Copy, Default)]
struct Directive {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// The number of vector components.
    count: Option<usize>,
    /// The size in bytes of an integer or a component, from the length modifier.
    length: Option<usize>,
}

/// The maximum of width and precision. No float has more digits.
const MAX_WIDTH: usize = 1 << 16;

/// For each argument of a format, in order, whether it is a string.
pub fn strings(format: &[u8]) -> Vec<bool> {
    let mut kinds = Vec::new();
    let mut rest = format;
    while let Some((_, directive, conversion)) = next(&mut rest) {
        if directive.is_some() && conversion != b'%' {
            kinds.push(conversion == b's');
        }
    }
    kinds
}

/// Appends the formatted text. A directive without a value is copied unchanged.
pub fn write(format: &[u8], values: &[Value<'_>], out: &mut Vec<u8>) {
    let mut values = values.iter();
    let mut rest = format;
    while let Some((literal, directive, conversion)) = next(&mut rest) {
        out.extend_from_slice(literal.before);
        match directive {
            Some(_) if conversion == b'%' => out.push(b'%'),
            Some(directive) => match values.next() {
                Some(value) => directive.write(conversion, *value, out),
                None => out.extend_from_slice(literal.directive),
            },
            None => out.extend_from_slice(literal.directive),
        }
    }
    out.extend_from_slice(rest);
}

struct Literal<'a> {
    before: &'a [u8],
    directive: &'a [u8],
}

/// Splits off the text before the next directive, the directive if it is valid, and its conversion specifier.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(Literal<'a>, Option<Directive>, u8)> {
    let text: &'a [u8] = rest;
    let start = text.iter().position(|byte| *byte == b'%')?;
    let mut at = start + 1;
    let directive = Directive::read(text, &mut at);
    let conversion = text.get(at).copied().unwrap_or_default();
    let is_one = b"diouxXfFeEgGaAcsp%".contains(&conversion);
    at = if is_one { at + 1 } else { at.min(text.len()) };
    *rest = &text[at..];
    Some((
        Literal { before: &text[..start], directive: &text[start..at] },
        is_one.then_some(directive),
        conversion,
    ))
}

impl Directive {
    fn read(text: &[u8], at: &mut usize) -> Self {
        let mut read = Self::default();
        while let Some(flag) = text.get(*at) {
            match flag {
                b'-' => read.left = true,
                b'+' => read.plus = true,
                b' ' => read.space = true,
                b'#' => read.alternative = true,
                b'0' => read.zero = true,
                _ => break,
            }
            *at += 1;
        }
        read.width = parse_number(text, at).unwrap_or(0);
        if text.get(*at) == Some(&b'.') {
            *at += 1;
            read.precision = Some(parse_number(text, at).unwrap_or(0));
        }
        if text.get(*at) == Some(&b'v') {
            *at += 1;
            read.count = parse_number(text, at);
        }
        // The last five are C's, not OpenCL's (6.15.14.3), but common and unambiguous.
        let lengths =
            [("hh", 1), ("hl", 4), ("h", 2), ("ll", 8), ("l", 8), ("z", 8), ("j", 8), ("t", 8), ("L", 8)];
        for (word, bytes) in lengths {
            if text[*at..].starts_with(word.as_bytes()) {
                *at += word.len();
                read.length = Some(bytes);
                break;
            }
        }
        read
    }

    fn write(self, conversion: u8, value: Value<'_>, out: &mut Vec<u8>) {
        let bytes = match value {
            Value::Text(text) => {
                let end = self.precision.unwrap_or(text.len()).min(text.len());
                return self.pad(b"", &text[..end], false, out);
            }
            Value::Bytes(bytes) => bytes,
        };
        let Some(count) = self.count.filter(|count| *count > 0) else {
            return self.scalar(conversion, bytes, out);
        };
        let size = self.length.filter(|size| size * count <= bytes.len()).unwrap_or(bytes.len() / count);
        for index in 0..count {
            if index > 0 {
                out.push(b',');
            }
            self.scalar(conversion, &bytes[index * size..(index + 1) * size], out);
        }
    }

    fn scalar(self, conversion: u8, bytes: &[u8], out: &mut Vec<u8>) {
        match conversion {
            b'd' | b'i' => {
                let bits = self.bits(bytes);
                let unused = 64 - 8 * self.size(bytes) as u32;
                let number = if unused < 64 { ((bits << unused) as i64) >> unused } else { 0 };
                self.integer(self.sign(number < 0), &number.unsigned_abs().to_string(), number == 0, out);
            }
            b'u' => {
                let bits = self.bits(bytes);
                self.integer("", &bits.to_string(), bits == 0, out);
            }
            b'o' => self.octal(self.bits(bytes), out),
            b'x' | b'X' => {
                let bits = self.bits(bytes);
                let prefix = if self.alternative && bits != 0 { "0x" } else { "" };
                let (prefix, digits) = (prefix.to_owned(), format!("{bits:x}"));
                let [prefix, digits] = [prefix, digits].map(|text| cased(text, conversion));
                self.integer(&prefix, &digits, bits == 0, out);
            }
            b'p' => self.pad(b"0x", format!("{:x}", integer(bytes)).as_bytes(), false, out),
            b'c' => self.pad(b"", &[integer(bytes) as u8], false, out),
            _ => self.float(conversion, float(bytes), out),
        }
    }

    /// The number of bytes to use of an integer: the length modifier's, limited by those available.
    fn size(self, bytes: &[u8]) -> usize {
        self.length.unwrap_or(8).min(bytes.len()).min(8)
    }

    fn bits(self, bytes: &[u8]) -> u64 {
        integer(&bytes[..self.size(bytes)])
    }

    fn sign(self, is_negative: bool) -> &'static str {
        match (is_negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    /// Formats an integer. The precision is the minimum number of digits and disables the flag `0`; zero with
    /// precision 0 has no digits.
    fn integer(self, prefix: &str, digits: &str, is_zero: bool, out: &mut Vec<u8>) {
        let min = self.precision.unwrap_or(1);
        let digits = if is_zero && min == 0 { "" } else { digits };
        let digits = format!("{}{digits}", "0".repeat(min.saturating_sub(digits.len())));
        self.pad(prefix.as_bytes(), digits.as_bytes(), self.precision.is_none(), out);
    }

    /// Formats an octal number. The flag `#` ensures a leading zero.
    fn octal(mut self, bits: u64, out: &mut Vec<u8>) {
        let digits = format!("{bits:o}");
        let min = self.precision.unwrap_or(1);
        if self.alternative && min <= digits.len() && (bits != 0 || min == 0) {
            let zero_fills = self.zero && self.precision.is_none();
            let digits = if bits == 0 { "0".to_owned() } else { format!("0{digits}") };
            self.zero = zero_fills;
            return self.pad(b"", digits.as_bytes(), zero_fills, out);
        }
        self.integer("", &digits, bits == 0, out);
    }

    fn float(self, conversion: u8, value: f64, out: &mut Vec<u8>) {
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        if !value.is_finite() {
            let text = cased(if value.is_nan() { "nan" } else { "inf" }.to_owned(), conversion);
            return self.pad(sign.as_bytes(), text.as_bytes(), false, out);
        }
        let text = match conversion {
            b'f' | b'F' => fixed(magnitude, self.precision.unwrap_or(6), self.alternative),
            b'e' | b'E' => scientific(magnitude, self.precision.unwrap_or(6), self.alternative),
            b'g' | b'G' => general(magnitude, self.precision.unwrap_or(6), self.alternative),
            _ => {
                let digits = cased(hexadecimal(magnitude, self.precision, self.alternative), conversion);
                let prefix = format!("{sign}{}", cased("0x".to_owned(), conversion));
                return self.pad(prefix.as_bytes(), digits.as_bytes(), true, out);
            }
        };
        self.pad(sign.as_bytes(), cased(text, conversion).as_bytes(), true, out);
    }

    /// Pads to the width: on the right, on the left, or with zeros after the sign.
    fn pad(self, prefix: &[u8], text: &[u8], may_fill_with_zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(prefix.len() + text.len());
        let fill = |out: &mut Vec<u8>, byte: u8| out.extend(std::iter::repeat_n(byte, missing));
        let zeros = self.zero && may_fill_with_zeros && !self.left;
        if !self.left && !zeros {
            fill(out, b' ');
        }
        out.extend_from_slice(prefix);
        if zeros {
            fill(out, b'0');
        }
        out.extend_from_slice(text);
        if self.left {
            fill(out, b' ');
        }
    }
}

fn parse_number(text: &[u8], at: &mut usize) -> Option<usize> {
    let start = *at;
    let mut number = 0usize;
    while let Some(digit) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
        number = (10 * number + usize::from(digit - b'0')).min(MAX_WIDTH - 1);
        *at += 1;
    }
    (*at > start).then_some(number)
}

fn integer(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let size = bytes.len().min(8);
    wide[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(wide)
}

/// The value of a `half`, `float` or `double`, selected by size.
fn float(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b] => half_to_f64(u16::from_le_bytes([a, b])),
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    }
}

fn half_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024.0) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Converts to upper case for upper-case conversions.
fn cased(text: String, conversion: u8) -> String {
    if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text }
}

fn fixed(value: f64, precision: usize, keeps_point: bool) -> String {
    let point = if precision == 0 && keeps_point { "." } else { "" };
    format!("{value:.precision$}{point}")
}

/// Formats as `%e`: one digit, the point, `precision` digits, and an exponent of at least two digits.
fn scientific(value: f64, precision: usize, keeps_point: bool) -> String {
    let (mantissa, exponent) = decimal(value, precision);
    let point = if precision == 0 && keeps_point { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
}

/// The mantissa and exponent of the rounded value.
fn decimal(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

/// Formats as `%g`: `%f` or `%e` with this many significant digits, without trailing zeros.
fn general(value: f64, precision: usize, keeps_zeros: bool) -> String {
    let digits = precision.max(1);
    let (_, exponent) = decimal(value, digits - 1);
    let is_fixed = exponent >= -4 && i64::from(exponent) < digits as i64;
    let text = if is_fixed {
        fixed(value, (digits as i64 - 1 - i64::from(exponent)) as usize, keeps_zeros)
    } else {
        scientific(value, digits - 1, keeps_zeros)
    };
    if keeps_zeros {
        return text;
    }
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}{exponent}")
}

/// Formats as `%a` without the prefix: the mantissa in hexadecimal, exact if no precision is given, and the binary
/// exponent.
fn hexadecimal(value: f64, precision: Option<usize>, keeps_point: bool) -> String {
    const FRACTION_BITS: u32 = 52;
    const FRACTION_DIGITS: usize = 13;
    let bits = value.to_bits();
    let biased = (bits >> FRACTION_BITS) as i32;
    let mut fraction = bits & ((1 << FRACTION_BITS) - 1);
    let (mut lead, exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let digits = match precision {
        Some(precision) if precision < FRACTION_DIGITS => {
            let dropped = 4 * (FRACTION_DIGITS - precision) as u32;
            let mut whole = lead << FRACTION_BITS | fraction;
            let (rest, half) = (whole & ((1 << dropped) - 1), 1u64 << (dropped - 1));
            whole >>= dropped;
            whole += u64::from(rest > half || rest == half && whole & 1 == 1);
            whole <<= dropped;
            lead = whole >> FRACTION_BITS;
            fraction = whole & ((1 << FRACTION_BITS) - 1);
            format!("{fraction:013x}")[..precision].to_owned()
        }
        Some(precision) => format!("{fraction:013x}{}", "0".repeat(precision - FRACTION_DIGITS)),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() && !keeps_point { "" } else { "." };
    format!("{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(format: &str, values: &[Value<'_>]) -> String {
        let mut out = Vec::new();
        write(format.as_bytes(), values, &mut out);
        String::from_utf8(out).expect("text")
    }

    fn int(format: &str, value: i32) -> String {
        print(format, &[Value::Bytes(&value.to_le_bytes())])
    }

    fn real(format: &str, value: f64) -> String {
        print(format, &[Value::Bytes(&value.to_le_bytes())])
    }

    /// glibc's `printf` produced the expected results of this and the following tests.
    #[test]
    fn integers_are_formatted() {
        for (format, value, expected) in [
            ("%d", 42, "42"),
            ("[%5d]", -42, "[  -42]"),
            ("[%-5d]", 42, "[42   ]"),
            ("[%05d]", -42, "[-0042]"),
            ("[%-05d]", 42, "[42   ]"),
            ("%+d", 42, "+42"),
            ("% d", 42, " 42"),
            ("[%7.3d]", 5, "[    005]"),
            ("[%07.3d]", 5, "[    005]"),
            ("[%.0d]", 0, "[]"),
            ("[%+.0d]", 0, "[+]"),
            ("%i", i32::MIN, "-2147483648"),
            ("%u", -1, "4294967295"),
            ("%x", 255, "ff"),
            ("%#X", 255, "0XFF"),
            ("%#x", 0, "0"),
            ("[%#8x]", 255, "[    0xff]"),
            ("[%#08x]", 255, "[0x0000ff]"),
            ("%o", 8, "10"),
            ("%#o", 8, "010"),
            ("%#o", 0, "0"),
            ("%#.0o", 0, "0"),
            ("%#.3o", 8, "010"),
            ("[%#06o]", 8, "[000010]"),
            ("%hhd", 0x1ff, "-1"),
            ("%hu", -1, "65535"),
            ("[%3c]", 65, "[  A]"),
            ("[%-3c]", 65, "[A  ]"),
            ("100%% of %d", 3, "100% of 3"),
            ("%zu %%", 7, "7 %"),
        ] {
            assert_eq!(int(format, value), expected, "{format}");
        }
        assert_eq!(print("%ld", &[Value::Bytes(&i64::MIN.to_le_bytes())]), "-9223372036854775808");
        assert_eq!(print("%p", &[Value::Bytes(&0x1_0000_abcdu64.to_le_bytes())]), "0x10000abcd");
    }

    #[test]
    fn floats_are_formatted() {
        for (format, value, expected) in [
            ("%f", 1.0, "1.000000"),
            ("%.2f", 2.675, "2.67"),
            ("%.0f", 0.5, "0"),
            ("%.0f", 1.5, "2"),
            ("%#.0f", 1.0, "1."),
            ("[%8.3f]", -3.14259, "[  -3.143]"),
            ("[%08.3f]", -3.14259, "[-003.143]"),
            ("[%-8.1f]", 3.14259, "[3.1     ]"),
            ("%f", 1e22, "10000000000000000000000.000000"),
            ("%.20f", 0.1, "0.10000000000000000555"),
            ("%e", 0.0, "0.000000e+00"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 12345.678, "1e+04"),
            ("%#.0E", 12345.678, "1.E+04"),
            ("%e", 1e-300, "1.000000e-300"),
            ("%g", 100000.0, "100000"),
            ("%g", 1000000.0, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 0.0, "0"),
            ("%#g", 1.0, "1.00000"),
            ("%.3g", 1234.5, "1.23e+03"),
            ("%.10g", 1234.5, "1234.5"),
            ("%G", 1e-10, "1E-10"),
            ("%.0g", 0.15, "0.1"),
            ("%g", 999999.5, "1e+06"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%.2a", 0.1, "0x1.9ap-4"),
            ("%.0a", 1.5, "0x2p+0"),
            ("%A", 0.5, "0X1P-1"),
            ("%a", 0.0, "0x0p+0"),
            ("[%12.1a]", -2.0, "[   -0x1.0p+1]"),
            ("[%012.1a]", -2.0, "[-0x0001.0p+1]"),
            ("%a", 5e-324, "0x0.0000000000001p-1022"),
            ("%f", f64::INFINITY, "inf"),
            ("[%06f]", f64::NEG_INFINITY, "[  -inf]"),
            ("%F", f64::NAN, "NAN"),
            ("%+e", f64::INFINITY, "+inf"),
            ("%f", -0.0, "-0.000000"),
        ] {
            assert_eq!(real(format, value), expected, "{format}");
        }
        assert_eq!(print("%f", &[Value::Bytes(&1.5f32.to_le_bytes())]), "1.500000");
    }

    #[test]
    fn vectors_and_strings() {
        let bytes: Vec<u8> = [1.0f32, 2.0, 3.0, 4.5].iter().flat_map(|it| it.to_le_bytes()).collect();
        assert_eq!(print("f4 = %2.2v4hlf\n", &[Value::Bytes(&bytes)]), "f4 = 1.00,2.00,3.00,4.50\n");
        let bytes = [0xfa, 0xfb, 0xfc, 0xfd];
        assert_eq!(print("uc = %#v4hhx", &[Value::Bytes(&bytes)]), "uc = 0xfa,0xfb,0xfc,0xfd");
        assert_eq!(print("%v3hhd!", &[Value::Bytes(&[1, 255, 3, 0])]), "1,-1,3!");
        let halves: Vec<u8> = [0x3c00u16, 0xc000].iter().flat_map(|it| it.to_le_bytes()).collect();
        assert_eq!(print("%.1v2hf", &[Value::Bytes(&halves)]), "1.0,-2.0");
        assert_eq!(print("[%5s][%-5s][%.2s]", &[Value::Text(b"abc"); 3]), "[  abc][abc  ][ab]");
        assert_eq!(print("%d %d", &[Value::Bytes(&[1, 0, 0, 0])]), "1 %d");
        assert_eq!(strings(b"%d %s %% %v4hlf %s"), [false, true, false, true]);
        assert_eq!(print("%", &[]), "%");
        assert_eq!(print("%5", &[]), "%5");
    }

    #[test]
    fn numbers_have_the_format_of_c() {
        let one = |text: &str, bytes: &[u8]| {
            let mut shown = Vec::new();
            write(format!("%{text}").as_bytes(), &[Value::Bytes(bytes)], &mut shown);
            String::from_utf8(shown).expect("text")
        };
        assert_eq!(one("5d", &(-42i32).to_le_bytes()), "  -42");
        assert_eq!(one("#06x", &255u32.to_le_bytes()), "0x00ff");
        assert_eq!(one(".3d", &7u32.to_le_bytes()), "007");
        assert_eq!(one("+.2f", &1.005f64.to_le_bytes()), "+1.00");
        assert_eq!(one("g", &1e-5f64.to_le_bytes()), "1e-05");
        assert_eq!(one("g", &100_000f64.to_le_bytes()), "100000");
        assert_eq!(one("g", &1e6f64.to_le_bytes()), "1e+06");
        assert_eq!(one("e", &1.5f32.to_le_bytes()), "1.500000e+00");
        assert_eq!(one("a", &1f64.to_le_bytes()), "0x1p+0");
        assert_eq!(one(".1a", &1.96875f64.to_le_bytes()), "0x2.0p+0");
        assert_eq!(one("06.1f", &(-2.5f64).to_le_bytes()), "-002.5");
        assert_eq!(one("-4c", b"A"), "A   ");
    }
}
