//! Parses printf formats (OpenCL C 6.15.14.2). They differ from C's: vectors, no `*`, fewer length modifiers.

use kiln_vocabulary::opencl::LanguageVersion;

/// The conversion of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// `d i o u x X`
    Integer,
    /// `f F e E g G a A`
    Float,
    /// `c`
    Character,
    /// `s`
    String,
    /// `p`
    Pointer,
    /// `%%`
    Percent,
}

/// Length modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Hh,
    H,
    Hl,
    L,
    /// `z` or `t`
    Size,
}

/// A problem of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Unfinished,
    UnknownConversion,
    Asterisk,
    CountConversion,
    ReservedLength,
    NewLength,
    VectorSize,
    VectorLength,
    VectorConversion,
    LengthConversion,
    HlWithoutVector,
}

impl Problem {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Unfinished => "a directive ends in a conversion such as `d`",
            Self::UnknownConversion => "there is no such conversion",
            Self::Asterisk => "`*` is not supported",
            Self::CountConversion => "the conversion `n` is not supported",
            Self::ReservedLength => "this length modifier is not supported",
            Self::NewLength => "the length modifiers `z` and `t` require OpenCL C 3.1",
            Self::VectorSize => "a vector has 2, 3, 4, 8 or 16 components",
            Self::VectorLength => "a vector needs a length modifier: `hh`, `h`, `hl` or `l`",
            Self::VectorConversion => "only vectors of numbers can be printed",
            Self::LengthConversion => "this length modifier cannot be combined with this conversion",
            Self::HlWithoutVector => "the length modifier `hl` is for vectors only",
        }
    }

    pub(super) fn note(self) -> &'static str {
        match self {
            Self::Asterisk | Self::CountConversion | Self::ReservedLength | Self::NewLength => {
                "OpenCL C 6.15.14.3 lists what differs from C99"
            }
            _ => "OpenCL C 6.15.14.2: if a conversion specification is invalid, the behavior is undefined",
        }
    }
}

/// A directive of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    /// The text of the directive.
    pub(super) text: String,
    /// `None` if the directive is malformed.
    pub(super) conversion: Option<Conversion>,
    /// The number of vector components.
    pub(super) vector: Option<u8>,
    pub(super) length: Option<Length>,
    pub(super) problem: Option<Problem>,
}

impl Directive {
    /// The size of a printed element in bytes. `None` for a vector without length modifier.
    pub(super) fn element_size(&self) -> Option<u64> {
        Some(match self.length {
            Some(Length::Hh) => 1,
            Some(Length::H) => 2,
            Some(Length::Hl) => 4,
            Some(Length::L | Length::Size) => 8,
            None if self.vector.is_some() => return None,
            None => 4,
        })
    }
}

/// The directives of a format, in order.
pub(super) fn directives(format: &[u8], version: LanguageVersion) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(percent) = format[at..].iter().position(|byte| *byte == b'%') {
        let start = at + percent;
        let mut reader = Reader { rest: &format[start + 1..], version };
        let mut directive = reader.directive();
        at = format.len() - reader.rest.len();
        directive.text = String::from_utf8_lossy(&format[start..at]).into_owned();
        found.push(directive);
    }
    found
}

struct Reader<'a> {
    rest: &'a [u8],
    version: LanguageVersion,
}

impl Reader<'_> {
    fn take(&mut self, what: &[u8]) -> bool {
        let found = self.rest.starts_with(what);
        if found {
            self.rest = &self.rest[what.len()..];
        }
        found
    }

    fn take_while(&mut self, is: impl Fn(&u8) -> bool) -> &[u8] {
        let end = self.rest.iter().position(|byte| !is(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn directive(&mut self) -> Directive {
        let mut problem = None;
        let mut note = |found| problem = problem.or(Some(found));
        self.take_while(|byte| b"-+ #0".contains(byte));
        if self.take(b"*") {
            note(Problem::Asterisk);
        }
        self.take_while(u8::is_ascii_digit);
        if self.take(b".") {
            if self.take(b"*") {
                note(Problem::Asterisk);
            }
            self.take_while(u8::is_ascii_digit);
        }
        let mut vector = None;
        if self.take(b"v") {
            vector = match self.take_while(u8::is_ascii_digit) {
                b"2" => Some(2),
                b"3" => Some(3),
                b"4" => Some(4),
                b"8" => Some(8),
                b"16" => Some(16),
                _ => {
                    note(Problem::VectorSize);
                    None
                }
            };
        }
        let has_vector = vector.is_some();
        let length = self.length(&mut note);
        let conversion = self.conversion(&mut note);
        match (conversion, length) {
            (None, _) => {}
            (Some(Conversion::Integer), Some(Length::Hl)) if !has_vector => note(Problem::HlWithoutVector),
            (Some(Conversion::Float), Some(Length::Hl)) if !has_vector => note(Problem::HlWithoutVector),
            (Some(Conversion::Integer), None | Some(Length::Size)) if has_vector => {
                note(Problem::VectorLength)
            }
            (Some(Conversion::Float), None) if has_vector => note(Problem::VectorLength),
            (Some(Conversion::Float), Some(Length::Hh | Length::Size)) => note(Problem::LengthConversion),
            // `%lf` and `%hf` are common for scalars, and the modifier has no effect in C.
            (Some(Conversion::Integer | Conversion::Float), _) => {}
            (Some(_), _) if has_vector => note(Problem::VectorConversion),
            (Some(_), Some(_)) => note(Problem::LengthConversion),
            (Some(_), None) => {}
        }
        // A vector with an invalid size cannot be checked.
        let conversion = if problem == Some(Problem::VectorSize) { None } else { conversion };
        Directive { text: String::new(), conversion, vector, length, problem }
    }

    fn length(&mut self, note: &mut impl FnMut(Problem)) -> Option<Length> {
        for (text, length) in [
            (&b"hh"[..], Length::Hh),
            (b"hl", Length::Hl),
            (b"h", Length::H),
            (b"ll", Length::L),
            (b"l", Length::L),
        ] {
            if self.take(text) {
                if text == b"ll" {
                    note(Problem::ReservedLength);
                }
                return Some(length);
            }
        }
        if self.take(b"z") || self.take(b"t") {
            if self.version < LanguageVersion::Cl31 {
                note(Problem::NewLength);
            }
            return Some(Length::Size);
        }
        for text in [b"j", b"L"] {
            if self.take(text) {
                note(Problem::ReservedLength);
                return Some(Length::L);
            }
        }
        None
    }

    fn conversion(&mut self, note: &mut impl FnMut(Problem)) -> Option<Conversion> {
        let Some((&letter, rest)) = self.rest.split_first() else {
            note(Problem::Unfinished);
            return None;
        };
        let conversion = match letter {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => Conversion::Integer,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => Conversion::Float,
            b'c' => Conversion::Character,
            b's' => Conversion::String,
            b'p' => Conversion::Pointer,
            b'%' => Conversion::Percent,
            b'n' => {
                note(Problem::CountConversion);
                self.rest = rest;
                return None;
            }
            _ => {
                note(Problem::UnknownConversion);
                // Do not skip the next character: it may start another directive.
                if letter.is_ascii_alphabetic() {
                    self.rest = rest;
                }
                return None;
            }
        };
        self.rest = rest;
        Some(conversion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(format: &str) -> Directive {
        let mut found = directives(format.as_bytes(), LanguageVersion::Cl30);
        assert_eq!(found.len(), 1, "{format}");
        found.remove(0)
    }

    #[test]
    fn directives_are_parsed() {
        for (format, conversion, vector, length) in [
            ("x %d", Conversion::Integer, None, None),
            ("%-+ #08.3lu!", Conversion::Integer, None, Some(Length::L)),
            ("%2.2v4hlf", Conversion::Float, Some(4), Some(Length::Hl)),
            ("%#v16hhx", Conversion::Integer, Some(16), Some(Length::Hh)),
            ("%s", Conversion::String, None, None),
            ("100%%", Conversion::Percent, None, None),
            ("%.f", Conversion::Float, None, None),
        ] {
            let directive = one(format);
            assert_eq!(directive.problem, None, "{format}");
            assert_eq!(
                (directive.conversion, directive.vector, directive.length),
                (Some(conversion), vector, length)
            );
        }
        assert_eq!(one("a %5d b").text, "%5d");
        assert_eq!(directives(b"%d%%%f", LanguageVersion::Cl30).len(), 3);
    }

    #[test]
    fn size_modifiers_need_opencl_c_3_1_and_integers() {
        let problem = |format: &str| directives(format.as_bytes(), LanguageVersion::Cl31)[0].problem;
        assert_eq!(["%zu", "%-4tx", "%zd"].map(problem), [None; 3]);
        assert_eq!(problem("%zf"), Some(Problem::LengthConversion));
        assert_eq!(problem("%v4zd"), Some(Problem::VectorLength));
    }

    #[test]
    fn malformed_directives_have_problems() {
        for (format, problem) in [
            ("%", Problem::Unfinished),
            ("%q", Problem::UnknownConversion),
            ("%*d", Problem::Asterisk),
            ("%n", Problem::CountConversion),
            ("%zu", Problem::NewLength),
            ("%jd", Problem::ReservedLength),
            ("%lld", Problem::ReservedLength),
            ("%v5hld", Problem::VectorSize),
            ("%v4f", Problem::VectorLength),
            ("%v4hls", Problem::VectorConversion),
            ("%ls", Problem::LengthConversion),
            ("%hld", Problem::HlWithoutVector),
        ] {
            assert_eq!(one(format).problem, Some(problem), "{format}");
        }
    }
}
