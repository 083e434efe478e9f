//! Parses pragmas (OpenCL C 6.12): extra text after `#pragma`.
//!
//! The preprocessor checks pragmas, and the type checker applies them.

/// A pragma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pragma<'a> {
    /// `OPENCL EXTENSION name : behavior` (OpenCL C 6.12.1)
    Extension {
        /// The extension, or `all`.
        name: &'a str,
        /// The behavior.
        behavior: Behavior,
    },
    /// `OPENCL FP_CONTRACT …`
    FpContract(Switch),
    /// `unroll`, with an optional expression for the count.
    Unroll(&'a str),
    /// `nounroll`
    NoUnroll,
    /// `pack(…)` of other compilers: the maximum alignment of the members of structures.
    Pack(Packing<'a>),
    /// A pragma of other compilers that has no effect here.
    Ignored,
    /// An unknown pragma.
    Unknown,
    /// A `clang loop` with an unknown hint.
    UnknownHint(&'a str),
    /// An invalid `OPENCL` pragma. Contains the expected text.
    Malformed(&'static str),
}

/// A change of the maximum alignment of members. The alignments are powers of two up to 16; `None` is no maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing<'a> {
    /// `pack(n)`, `pack()`
    Set(Option<u64>),
    /// `pack(push)`, `pack(push, name)`, `pack(push, n)`, `pack(push, name, n)`
    Push(Option<&'a str>, Option<u64>),
    /// `pack(pop)`, `pack(pop, name)`, `pack(pop, n)`, `pack(pop, name, n)`
    Pop(Option<&'a str>, Option<u64>),
}

/// The behavior in an extension pragma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// `enable`
    Enable,
    /// `disable`
    Disable,
    /// `begin`: the following declarations belong to the extension (used in clang's headers).
    Begin,
    /// `end`
    End,
}

/// `ON`, `OFF` or `DEFAULT` (C99 6.10.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// `ON`
    On,
    /// `OFF`
    Off,
    /// `DEFAULT`
    Default,
}

/// The pragmas of OpenCL C, and those of other compilers that have an effect here.
pub(crate) const NAMES: [&str; 6] = ["OPENCL", "STDC", "unroll", "nounroll", "pack", "once"];

/// The hints of `#pragma clang loop`.
pub(crate) const CLANG_HINTS: [&str; 10] = [
    "unroll",
    "unroll_count",
    "vectorize",
    "vectorize_width",
    "vectorize_predicate",
    "interleave",
    "interleave_count",
    "distribute",
    "pipeline",
    "pipeline_initiation_interval",
];

impl<'a> Pragma<'a> {
    /// Parses extra text after `#pragma`.
    pub fn parse(text: &'a str) -> Self {
        let (first, rest) = word(text);
        match first {
            "OPENCL" | "STDC" => Self::parse_opencl(rest),
            "unroll" => Self::Unroll(rest.trim()),
            "nounroll" => Self::NoUnroll,
            "pack" => Self::parse_pack(rest).map_or(
                Self::Malformed("`pack` takes `push`, `pop` and an alignment of 1, 2, 4, 8 or 16"),
                Self::Pack,
            ),
            "clang" => Self::parse_clang(rest),
            "once" | "GCC" | "ivdep" | "omp" | "acc" | "mark" | "region" | "endregion" | "message"
            | "push_macro" | "pop_macro" => Self::Ignored,
            _ => Self::Unknown,
        }
    }

    /// Of clang's hints for loops, unrolling has an effect here.
    fn parse_clang(text: &'a str) -> Self {
        let (kind, mut rest) = word(text);
        if kind != "loop" {
            return Self::Ignored;
        }
        let mut found = Self::Ignored;
        while !rest.is_empty() {
            let (name, behind) = word(rest);
            let (value, behind) = match behind.strip_prefix('(').and_then(|inside| inside.split_once(')')) {
                Some((value, behind)) => (value.trim(), behind.trim_start()),
                None => ("", behind),
            };
            match (name, value) {
                ("unroll", "enable" | "full") => found = Self::Unroll(""),
                ("unroll", "disable") => found = Self::NoUnroll,
                ("unroll_count", count) => found = Self::Unroll(count),
                _ if CLANG_HINTS.contains(&name) => {}
                _ => return Self::UnknownHint(name),
            }
            rest = behind;
        }
        found
    }

    fn parse_opencl(text: &'a str) -> Self {
        let (kind, rest) = word(text);
        match kind {
            "EXTENSION" => Self::parse_extension(rest),
            "FP_CONTRACT" => match word(rest) {
                ("ON", "") => Self::FpContract(Switch::On),
                ("OFF", "") => Self::FpContract(Switch::Off),
                ("DEFAULT", "") => Self::FpContract(Switch::Default),
                _ => Self::Malformed("`ON`, `OFF` or `DEFAULT` must follow `FP_CONTRACT`"),
            },
            "FENV_ACCESS" | "CX_LIMITED_RANGE" => Self::Ignored,
            "SELECT_ROUNDING_MODE" => Self::Malformed(
                "`SELECT_ROUNDING_MODE` needs `cl_khr_select_fprounding_mode`, which is not supported",
            ),
            _ => Self::Malformed("`EXTENSION` or `FP_CONTRACT` must follow `OPENCL`"),
        }
    }

    fn parse_pack(text: &'a str) -> Option<Packing<'a>> {
        let inside = text.strip_prefix('(')?.trim_end().strip_suffix(')')?.trim();
        let mut parts = inside.split(',').map(str::trim);
        let first = parts.next()?;
        let mut rest: Vec<&str> = parts.collect();
        let number = |text: &str| match text.parse() {
            Ok(most @ (1 | 2 | 4 | 8 | 16)) => Some(most),
            _ => None,
        };
        let is_name = |text: &&str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        match first {
            "" if rest.is_empty() => return Some(Packing::Set(None)),
            "push" | "pop" => {}
            most if rest.is_empty() => return number(most).map(|most| Packing::Set(Some(most))),
            _ => return None,
        }
        let name = rest.first().is_some_and(is_name).then(|| rest.remove(0));
        let most = match rest[..] {
            [] => None,
            [most] => Some(number(most)?),
            _ => return None,
        };
        Some(if first == "push" { Packing::Push(name, most) } else { Packing::Pop(name, most) })
    }

    fn parse_extension(text: &'a str) -> Self {
        let (name, rest) = word(text);
        if name.is_empty() {
            return Self::Malformed("the name of an extension or `all` must follow `EXTENSION`");
        }
        let (colon, rest) = word(rest);
        if colon != ":" {
            return Self::Malformed("`:` must follow the name of the extension");
        }
        let behavior = match word(rest) {
            ("enable", "") => Behavior::Enable,
            ("disable", "") => Behavior::Disable,
            ("begin", "") => Behavior::Begin,
            ("end", "") => Behavior::End,
            _ => return Self::Malformed("`enable` or `disable` must follow `:`"),
        };
        Self::Extension { name, behavior }
    }
}

/// Splits off the first word, or the first character.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let length = word.max(text.chars().next().map_or(0, char::len_utf8));
    (&text[..length], text[length..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_are_parsed() {
        assert_eq!(
            Pragma::parse("OPENCL EXTENSION cl_khr_fp64:enable"),
            Pragma::Extension { name: "cl_khr_fp64", behavior: Behavior::Enable }
        );
        assert_eq!(
            Pragma::parse(" OPENCL EXTENSION all : disable "),
            Pragma::Extension { name: "all", behavior: Behavior::Disable }
        );
        assert_eq!(Pragma::parse("OPENCL FP_CONTRACT OFF"), Pragma::FpContract(Switch::Off));
        assert_eq!(Pragma::parse("unroll 4"), Pragma::Unroll("4"));
        assert_eq!(Pragma::parse("vendor x"), Pragma::Unknown);
        assert_eq!(Pragma::parse("clang diagnostic push"), Pragma::Ignored);
        assert_eq!(Pragma::parse("clang loop vectorize_width(4) interleave(enable)"), Pragma::Ignored);
        assert_eq!(Pragma::parse("clang loop unroll_count( 4 ) vectorize(disable)"), Pragma::Unroll("4"));
        assert_eq!(Pragma::parse("clang loop unroll(full)"), Pragma::Unroll(""));
        assert_eq!(Pragma::parse("clang loop distribute(enable) unroll(disable)"), Pragma::NoUnroll);
        assert_eq!(Pragma::parse("clang loop unrol(full)"), Pragma::UnknownHint("unrol"));
        assert_eq!(Pragma::parse("pack ( )"), Pragma::Pack(Packing::Set(None)));
        assert_eq!(Pragma::parse("pack(2)"), Pragma::Pack(Packing::Set(Some(2))));
        assert_eq!(Pragma::parse("pack(push, 1)"), Pragma::Pack(Packing::Push(None, Some(1))));
        assert_eq!(Pragma::parse("pack(push,a,4)"), Pragma::Pack(Packing::Push(Some("a"), Some(4))));
        assert_eq!(Pragma::parse("pack(pop, a)"), Pragma::Pack(Packing::Pop(Some("a"), None)));
        for text in ["pack", "pack(3)", "pack(push, 1, 2)", "pack(1", "pack(a)"] {
            assert!(matches!(Pragma::parse(text), Pragma::Malformed(_)), "{text}");
        }
        for text in ["OPENCL", "OPENCL EXTENSION", "OPENCL EXTENSION a enable", "OPENCL EXTENSION a : maybe"]
        {
            assert!(matches!(Pragma::parse(text), Pragma::Malformed(_)), "{text}");
        }
    }
}
