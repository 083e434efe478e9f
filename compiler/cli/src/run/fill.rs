//! Initial contents of a buffer: `0`, `1.5`, `iota`, `1000-iota*3`, `random(7)%100`, `{1,2,3}`, `1,2,3`, `file:PATH`.

use std::{
    fs::{File, FileType},
    io::Read as _,
};

use super::value::{ElementType, Number, ScalarType};
use crate::{
    exit::{Failure, failure},
    paths,
};

/// The bytes of `count` elements of this type, filled according to the text.
pub(crate) fn fill(ty: &ElementType, count: usize, text: &str) -> Result<Vec<u8>, Failure> {
    if let Some(path) = text.strip_prefix("file:") {
        return from_file(path, count * ty.stride);
    }
    let components = ty.components();
    if let Some(list) = list(text) {
        let numbers = numbers(list)?;
        if numbers.len() > count * components {
            return failure(format!(
                "`{text}` has {} values for {}",
                numbers.len(),
                components_text(count * components)
            ));
        }
        for (number, (_, scalar)) in numbers.iter().zip(ty.parts.iter().cycle()) {
            check_fits(*scalar, *number)?;
        }
        let at = |index: usize| numbers.get(index).copied().unwrap_or(Number::Int(0));
        return Ok((0..count)
            .flat_map(|index| {
                ty.encode(&(0..components).map(|c| at(index * components + c)).collect::<Vec<_>>())
            })
            .collect());
    }
    let formula = Formula::parse(text)?;
    if let Formula { source: Source::Number(number), steps } = &formula
        && steps.is_empty()
    {
        ty.parts.iter().try_for_each(|(_, scalar)| check_fits(*scalar, *number))?;
    }
    let mut bytes = vec![0; count * ty.stride];
    let mut random = formula.seed();
    for (number, element) in bytes.chunks_exact_mut(ty.stride.max(1)).enumerate() {
        for (part, (offset, scalar)) in ty.parts.iter().enumerate() {
            scalar.write_number(
                &mut element[*offset..],
                formula.value(number * components + part, &mut random),
            );
        }
    }
    Ok(bytes)
}

/// "1 component", "2 components"
pub(crate) fn components_text(count: usize) -> String {
    if count == 1 { "1 component".to_owned() } else { format!("{count} components") }
}

/// Checks that a value of this type can be this number. An integer may be written as signed or unsigned: `uint:-1`.
pub(crate) fn check_fits(ty: ScalarType, number: Number) -> Result<(), Failure> {
    let ScalarType::Int { bytes, .. } = ty else { return Ok(()) };
    let bits = 8 * bytes as u32;
    match number {
        Number::Int(value) if (-(1 << (bits - 1))..1 << bits).contains(&value) => Ok(()),
        Number::Int(value) => failure(format!("`{value}` does not fit into an integer of {bits} bits")),
        Number::Float(value) | Number::Narrow(value, _) => failure(format!("`{value}` is not an integer")),
    }
}

/// The elements of a list: `{1,2,3}`, `1,2,3` or `1..3`.
pub(super) fn list(text: &str) -> Option<&str> {
    let in_braces = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let is_bare = !text.starts_with("file:") && (text.contains(',') || text.contains(".."));
    in_braces.or_else(|| is_bare.then_some(text))
}

/// The maximum length of a range of numbers.
const MAX_RANGE: u128 = 1 << 24;

/// Parses numbers separated by commas; `a..b` is every number from `a` to `b`, ascending or descending.
pub(crate) fn numbers(text: &str) -> Result<Vec<Number>, Failure> {
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once("..") {
            Some((first, last)) => match (integer(first)?, integer(last)?) {
                (first, last) if first.abs_diff(last) >= MAX_RANGE => {
                    return failure(format!("`{part}` has too many numbers; write a formula of `iota`"));
                }
                (first, last) if first <= last => numbers.extend((first..=last).map(Number::Int)),
                (first, last) => numbers.extend((last..=first).rev().map(Number::Int)),
            },
            None => numbers.push(parse_number(part)?),
        }
    }
    Ok(numbers)
}

fn from_file(path: &str, size: usize) -> Result<Vec<u8>, Failure> {
    let cannot_read = |error| Failure(format!("cannot read `{path}`: {error}"));
    let file = File::open(paths::path(path)).map_err(cannot_read)?;
    let kind = file.metadata().map_err(cannot_read)?.file_type();
    let mut bytes = Vec::new();
    file.take(size as u64 + 1).read_to_end(&mut bytes).map_err(cannot_read)?;
    if bytes.len() > size && !is_endless(kind) {
        return failure(format!("`{path}` has more than the {size} bytes of the buffer"));
    }
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Whether this is a device such as `/dev/urandom`, which has no end.
#[cfg(unix)]
fn is_endless(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&kind)
}

#[cfg(not(unix))]
fn is_endless(_: FileType) -> bool {
    false
}

fn parse_number(text: &str) -> Result<Number, Failure> {
    Number::parse(text.trim()).ok_or_else(|| Failure(format!("`{text}` is not a number")))
}

fn integer(text: &str) -> Result<i128, Failure> {
    match parse_number(text)? {
        Number::Int(value) => Ok(value),
        Number::Float(_) | Number::Narrow(..) => failure(format!("`{text}` is not an integer")),
    }
}

/// A source of numbers and operations on it; products bind more tightly than sums.
struct Formula {
    source: Source,
    steps: Vec<(char, Source)>,
}

#[derive(Clone, Copy)]
enum Source {
    Number(Number),
    Iota,
    Random(u64),
}

impl Formula {
    fn parse(text: &str) -> Result<Self, Failure> {
        let mut rest = text;
        let source = Source::take(&mut rest)?;
        let mut steps = Vec::new();
        while let Some(operator) = rest.chars().next() {
            if !matches!(operator, '+' | '-' | '*' | '/' | '%') {
                return failure(format!("`{rest}` in `{text}` is not valid: the operators are + - * / %"));
            }
            rest = &rest[1..];
            steps.push((operator, Source::take(&mut rest)?));
        }
        Ok(Self { source, steps })
    }

    fn seed(&self) -> u64 {
        let all = std::iter::once(self.source).chain(self.steps.iter().map(|(_, source)| *source));
        all.fold(0, |seed, source| if let Source::Random(own) = source { seed ^ own } else { seed })
    }

    fn value(&self, index: usize, random: &mut u64) -> Number {
        let mut sum = Number::Int(0);
        let mut sign = '+';
        let mut product = self.source.value(index, random);
        for (operator, source) in &self.steps {
            let operand = source.value(index, random);
            if matches!(operator, '+' | '-') {
                sum = combine(sign, sum, product);
                (sign, product) = (*operator, operand);
            } else {
                product = combine(*operator, product, operand);
            }
        }
        combine(sign, sum, product)
    }
}

impl Source {
    fn take(rest: &mut &str) -> Result<Self, Failure> {
        let text = *rest;
        let negative = text.starts_with('-');
        let end = text[usize::from(negative)..].find(['+', '-', '*', '/', '%']);
        let mut end = end.map_or(text.len(), |end| end + usize::from(negative));
        // The sign of an exponent is part of the number.
        if text[..end].ends_with(['e', 'E']) && Number::parse(&text[..end - 1]).is_some() {
            end += 1 + text[end + 1..].find(['+', '-', '*', '/', '%']).unwrap_or(text.len() - end - 1);
        }
        let (word, tail) = text.split_at(end);
        *rest = tail;
        match word {
            "iota" => Ok(Self::Iota),
            "random" => Ok(Self::Random(0)),
            _ => match word.strip_prefix("random(").and_then(|seed| seed.strip_suffix(')')) {
                Some(seed) => {
                    seed.parse().map(Self::Random).map_err(|_| Failure(format!("`{seed}` is not a seed")))
                }
                None => Number::parse(word.trim()).map(Self::Number).ok_or_else(|| unknown(word)),
            },
        }
    }

    fn value(self, index: usize, random: &mut u64) -> Number {
        match self {
            Self::Number(number) => number,
            Self::Iota => Number::Int(index as i128),
            Self::Random(_) => Number::Int(next_random(random).into()),
        }
    }
}

fn unknown(word: &str) -> Failure {
    let hint = match word.trim() {
        "zero" | "zeros" | "zeroes" => "; write `0`",
        "one" | "ones" => "; write `1`",
        "index" | "id" | "range" | "sequence" => "; write `iota`",
        "rand" => "; write `random(1)`",
        _ => ", `iota`, `random(SEED)`, `file:PATH` or a list such as `{1,2,3}`",
    };
    Failure(format!("`{word}` is not a number{hint}"))
}

/// SplitMix64 (Steele, Lea, Flood 2014): the upper half of each output.
fn next_random(state: &mut u64) -> u32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 32) as u32
}

fn combine(operator: char, left: Number, right: Number) -> Number {
    match (left, right) {
        (Number::Int(left), Number::Int(right)) => Number::Int(match operator {
            '+' => left.wrapping_add(right),
            '-' => left.wrapping_sub(right),
            '*' => left.wrapping_mul(right),
            '/' => left.checked_div(right).unwrap_or(0),
            _ => left.checked_rem(right).unwrap_or(0),
        }),
        _ => {
            let (left, right) = (left.as_f64(), right.as_f64());
            Number::Float(match operator {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                '/' => left / right,
                _ => left % right,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(ty: &str, count: usize, text: &str) -> Vec<String> {
        let ty = ElementType::parse(ty).expect("a type");
        let bytes = fill(&ty, count, text).unwrap_or_else(|e| panic!("{}", e.0));
        ty.decode(&bytes).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn formulas_bind_as_arithmetic_does() {
        assert_eq!(filled("int", 3, "1000-iota*3"), ["1000", "997", "994"]);
        assert_eq!(filled("float", 3, "iota/2.0+0.5"), ["0.5", "1", "1.5"]);
        assert_eq!(filled("float", 2, "1e-3*iota"), ["0", "0.001"]);
        assert_eq!(filled("int", 2, "-1"), ["-1", "-1"]);
    }

    #[test]
    fn lists_are_padded_and_vectors_count_components() {
        assert_eq!(filled("int", 4, "{1,2}"), ["1", "2", "0", "0"]);
        assert_eq!(filled("float3", 2, "iota"), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(filled("float3", 1, "{7,8,9}"), ["7", "8", "9"]);
    }

    #[test]
    fn lists_need_no_braces() {
        assert_eq!(filled("uint", 4, "1,2,3,4"), ["1", "2", "3", "4"]);
        assert_eq!(filled("int", 3, "-1, 5"), ["-1", "5", "0"]);
        assert_eq!(filled("float2", 2, "1.5,2,3,4"), ["1.5", "2", "3", "4"]);
        assert_eq!(filled("int", 4, "4..2"), ["4", "3", "2", "0"]);
        let ty = ElementType::parse("int").expect("a type");
        assert!(fill(&ty, 2, "1,2,3").is_err_and(|e| e.0.contains("3 values for 2")));
        assert!(fill(&ty, 2, "1,2.5").is_err_and(|e| e.0.contains("`2.5` is not an integer")));
        assert!(fill(&ty, 2, "2.5").is_err_and(|e| e.0.contains("`2.5` is not an integer")));
        let bytes = ElementType::parse("uchar2").expect("a type");
        assert!(fill(&bytes, 1, "-1,300").is_err_and(|e| e.0.contains("`300` does not fit")));
        assert!(fill(&ty, 2, "zeros").is_err_and(|e| e.0.contains("write `0`")));
    }

    #[test]
    fn random_is_the_same_each_time() {
        assert_eq!(filled("uint", 5, "random(7)%100"), filled("uint", 5, "random(7)%100"));
        assert_ne!(filled("uint", 5, "random(7)"), filled("uint", 5, "random(8)"));
    }

    #[test]
    fn invalid_contents_are_rejected() {
        let ty = ElementType::parse("int").expect("a type");
        for text in ["", "foo", "iota^2", "{1,2,3}", "random(x)", "1+", "1,x"] {
            assert!(fill(&ty, 2, text).is_err(), "{text}");
        }
    }
}
