//! Layouts of elements in the launch language, and their values as bytes and as text.

use std::ops::Range;

use half::f16;

/// The layout of a buffer element or of an argument: the numbers in it, each at its byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    /// The numbers, in the order in which they are written and printed.
    pub(crate) parts: Vec<(usize, ScalarType)>,
    /// The distance between elements in bytes: a 3-component vector has the size of a 4-component one.
    pub(crate) stride: usize,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarType {
    Int { bytes: usize, signed: bool },
    Float { bytes: usize },
}

/// A number in the launch language, exact for every integer and float type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
    /// A value of a `half` or a `float`, with the size of its type in bytes.
    Narrow(f64, usize),
}

/// The names of types: Kiln's short name, and the name in OpenCL C.
pub(crate) const NAMES: [(&str, &str, ScalarType); 11] = [
    ("i8", "char", ScalarType::Int { bytes: 1, signed: true }),
    ("u8", "uchar", ScalarType::Int { bytes: 1, signed: false }),
    ("i16", "short", ScalarType::Int { bytes: 2, signed: true }),
    ("u16", "ushort", ScalarType::Int { bytes: 2, signed: false }),
    ("i32", "int", ScalarType::Int { bytes: 4, signed: true }),
    ("u32", "uint", ScalarType::Int { bytes: 4, signed: false }),
    ("i64", "long", ScalarType::Int { bytes: 8, signed: true }),
    ("u64", "ulong", ScalarType::Int { bytes: 8, signed: false }),
    ("f16", "half", ScalarType::Float { bytes: 2 }),
    ("f32", "float", ScalarType::Float { bytes: 4 }),
    ("f64", "double", ScalarType::Float { bytes: 8 }),
];

impl ElementType {
    /// `u32`, `uint`, `f32x4`, `float4`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        NAMES.iter().find_map(|&(short, long, scalar)| {
            let count = match (text.strip_prefix(short), text.strip_prefix(long)) {
                (Some(""), _) | (_, Some("")) => 1,
                (Some(rest), _) if rest.starts_with('x') => rest[1..].parse().ok()?,
                (_, Some(rest)) => rest.parse().ok()?,
                _ => return None,
            };
            matches!(count, 1 | 2 | 3 | 4 | 8 | 16).then(|| Self::vector(scalar, count))
        })
    }

    /// A scalar or a vector.
    pub(crate) fn vector(scalar: ScalarType, count: usize) -> Self {
        let parts = (0..count).map(|index| (index * scalar.bytes(), scalar)).collect();
        let padded = if count == 3 { 4 } else { count };
        Self { parts, stride: padded * scalar.bytes() }
    }

    /// The number of numbers in an element.
    pub(crate) fn components(&self) -> usize {
        self.parts.len()
    }

    /// Encodes one element.
    pub(crate) fn encode(&self, components: &[Number]) -> Vec<u8> {
        let mut bytes = vec![0; self.stride];
        for ((offset, scalar), number) in self.parts.iter().zip(components) {
            scalar.write_number(&mut bytes[*offset..], *number);
        }
        bytes
    }

    /// Decodes the numbers of all elements.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Vec<Number> {
        let elements = bytes.chunks_exact(self.stride.max(1));
        elements
            .flat_map(|element| self.parts.iter().map(|(offset, scalar)| scalar.decode(&element[*offset..])))
            .collect()
    }
}

impl ScalarType {
    /// The size in bytes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Int { bytes, .. } | Self::Float { bytes } => bytes,
        }
    }

    /// Writes a number at the start of these bytes. Integers wrap, as in OpenCL C conversions.
    pub(crate) fn write_number(self, bytes: &mut [u8], number: Number) {
        let bits = match self {
            Self::Int { .. } => match number {
                Number::Int(value) => value,
                Number::Float(value) | Number::Narrow(value, _) => value as i128,
            },
            Self::Float { bytes: 2 } => f16::from_f64(number.as_f64()).to_bits().into(),
            Self::Float { bytes: 4 } => (number.as_f64() as f32).to_bits().into(),
            Self::Float { .. } => number.as_f64().to_bits().into(),
        };
        bytes[..self.bytes()].copy_from_slice(&bits.to_le_bytes()[..self.bytes()]);
    }

    /// Reads the number at the start of these bytes.
    fn decode(self, bytes: &[u8]) -> Number {
        let mut wide = [0; 16];
        wide[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        let bits = i128::from_le_bytes(wide);
        match self {
            Self::Int { bytes, signed } => {
                let shift = 128 - 8 * bytes;
                Number::Int(if signed { bits << shift >> shift } else { bits })
            }
            Self::Float { bytes: 2 } => Number::Narrow(f16::from_bits(bits as u16).to_f64(), 2),
            Self::Float { bytes: 4 } => Number::Narrow(f32::from_bits(bits as u32).into(), 4),
            Self::Float { .. } => Number::Float(f64::from_bits(bits as u64)),
        }
    }
}

impl Number {
    /// `12`, `-0x1f`, `1.5`, `nan`, `inf`. Integers have no negative zero, so `-0` is a float.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let integer = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok(),
            None => digits.parse().ok(),
        };
        let integer = integer.filter(|value| (sign, *value) != (-1, 0));
        integer.map(|value: i128| Self::Int(sign * value)).or_else(|| text.parse().ok().map(Self::Float))
    }

    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) | Self::Narrow(value, _) => value,
        }
    }
}

/// A value rounded to a float type of this size.
pub(crate) fn rounded(value: f64, bytes: usize) -> f64 {
    match bytes {
        2 => f16::from_f64(value).to_f64(),
        4 => f64::from(value as f32),
        _ => value,
    }
}

/// A whole number in full; otherwise the shortest text that is read as the same value of a float type of this size.
fn shortest(value: f64, bytes: usize) -> String {
    const PLAIN: Range<f64> = 1e-4..1e16;
    let size = value.abs();
    if value.fract() == 0.0 && size < PLAIN.end {
        return value.to_string();
    }
    let is_same = |text: &str| text.parse().is_ok_and(|read| rounded(read, bytes) == value);
    let digits = (0..17).map(|digits| format!("{value:.digits$e}")).find(|text| is_same(text));
    let value = digits.and_then(|text| text.parse().ok()).unwrap_or(value);
    if PLAIN.contains(&size) || !size.is_finite() { value.to_string() } else { format!("{value:e}") }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left.partial_cmp(right),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => f.write_str(&shortest(*value, 8)),
            Self::Narrow(value, bytes) => f.write_str(&shortest(*value, *bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_and_opencl_names_are_synonyms() {
        assert_eq!(ElementType::parse("f32x4"), ElementType::parse("float4"));
        assert_eq!(ElementType::parse("u8"), ElementType::parse("uchar"));
        assert_eq!(ElementType::parse("float5"), None);
        assert_eq!(ElementType::parse("u32x"), None);
        assert_eq!(ElementType::parse("integer"), None);
    }

    #[test]
    fn values_round_trip_through_bytes() {
        for (name, numbers) in [
            ("char", vec![Number::Int(-128), Number::Int(127)]),
            ("ulong", vec![Number::Int(u64::MAX.into())]),
            (
                "float3",
                vec![Number::Narrow(1.5, 4), Number::Narrow(-0.25, 4), Number::Narrow(1e30_f32.into(), 4)],
            ),
            ("half", vec![Number::Narrow(65504.0, 2)]),
        ] {
            let ty = ElementType::parse(name).expect(name);
            let bytes: Vec<u8> =
                numbers.chunks(ty.components()).flat_map(|element| ty.encode(element)).collect();
            assert_eq!(ty.decode(&bytes), numbers, "{name}");
        }
    }

    #[test]
    fn floats_are_printed_with_the_fewest_digits() {
        let shown = |ty: &str, text: &str| {
            let ty = ElementType::parse(ty).expect("a type");
            let number = Number::parse(text).expect("a number");
            let found = ty.decode(&ty.encode(&[number]))[0];
            let shown = found.to_string();
            let read = Number::parse(&shown).expect("a number");
            assert_eq!(ty.encode(&[read]), ty.encode(&[found]), "{shown}");
            shown
        };
        assert_eq!(shown("float", "0.1"), "0.1");
        assert_eq!(shown("half", "0.1"), "0.1");
        assert_eq!(shown("double", "0.1"), "0.1");
        assert_eq!(shown("double", "0.10000000149011612"), "0.10000000149011612");
        assert_eq!(shown("float", "16777217"), "16777216");
        assert_eq!(shown("float", "123456790528"), "123456790528");
        assert_eq!(shown("float", "-0.0"), "-0");
        assert_eq!(shown("half", "-0"), "-0");
        assert_eq!(shown("int", "-0"), "0");
        assert_eq!(shown("float", "1e-3"), "0.001");
        assert_eq!(shown("float", "2e-5"), "2e-5");
        assert_eq!(shown("float", "1e-45"), "1e-45");
        assert_eq!(shown("float", "3.4028234663852886e38"), "3.4028235e38");
        assert_eq!(shown("half", "65504"), "65504");
        assert_eq!(shown("half", "6e-8"), "6e-8");
        assert_eq!(shown("float", "inf"), "inf");
        for bits in (0..u32::MAX >> 1).step_by(9_999_991).filter(|bits| f32::from_bits(*bits).is_finite()) {
            shown("float", &f32::from_bits(bits).to_string());
        }
    }

    #[test]
    fn three_components_have_the_size_of_four() {
        assert_eq!(ElementType::parse("float3").expect("a type").stride, 16);
    }
}
