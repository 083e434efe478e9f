//! Preprocessing tokens, with the data that expansion needs.

use kiln_syntax::{Interner, Span, Symbol, token::Punct};

use super::hide::HideSet;

/// The kind of a token. The last six kinds occur only in macro definitions and during substitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name(Symbol),
    Integer(Symbol),
    Floating(Symbol),
    Character(Symbol),
    String(Symbol),
    Punct(Punct),
    /// A literal without a closing quote. Reported if it reaches the output.
    Unterminated(Symbol),
    /// Characters that do not form a token. Reported if they reach the output.
    Unknown(Symbol),
    /// Replaces a token that has been reported.
    Reported,
    /// A `#pragma` for the parser, with the text after the word.
    Pragma(Symbol),
    /// A macro parameter, replaced by its expanded argument.
    Parameter(u16),
    /// A macro parameter next to `##`, replaced by its argument as written.
    Operand(u16),
    /// `#` with a parameter.
    Stringize(u16),
    /// `##`
    Paste,
    /// `__VA_OPT__(`: this number of following tokens is dropped if the variable arguments are empty.
    Optional(u16),
    /// An empty argument next to `##` (C99 6.10.3.3).
    Placemarker,
}

/// Properties of a token beyond its spelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    /// First token of its line.
    pub(super) const LINE_START: Self = Self(1);
    /// Preceded by white space.
    pub(super) const SPACE: Self = Self(2);
    /// A digraph.
    pub(super) const DIGRAPH: Self = Self(4);

    pub(super) const fn new(line_start: bool, space: bool, digraph: bool) -> Self {
        Self(line_start as u8 | (space as u8) << 1 | (digraph as u8) << 2)
    }

    pub(super) const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    pub(super) const fn with(self, flag: Self, on: bool) -> Self {
        Self(if on { self.0 | flag.0 } else { self.0 & !flag.0 })
    }

    /// Whether it is preceded by white space of any kind.
    pub(super) const fn is_spaced(self) -> bool {
        self.0 & (Self::LINE_START.0 | Self::SPACE.0) != 0
    }
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tok {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// The macros that must not expand it.
    pub(super) hide: HideSet,
    pub(super) flags: Flags,
}

impl Tok {
    pub(super) fn is(&self, punct: Punct) -> bool {
        self.kind == Kind::Punct(punct)
    }

    pub(super) fn name(&self) -> Option<Symbol> {
        match self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn starts_line(&self) -> bool {
        self.flags.has(Flags::LINE_START)
    }

    /// The token with line breaks treated as white space, as inside a call or directive.
    pub(super) fn inline(self) -> Self {
        let spaced = self.flags.is_spaced();
        Self { flags: self.flags.with(Flags::LINE_START, false).with(Flags::SPACE, spaced), ..self }
    }

    /// The token with the white space of another.
    pub(super) fn spaced_as(self, other: Flags) -> Self {
        let flags = self
            .flags
            .with(Flags::LINE_START, other.has(Flags::LINE_START))
            .with(Flags::SPACE, other.has(Flags::SPACE));
        Self { flags, ..self }
    }

    /// Its spelling.
    pub(super) fn spelling<'a>(&self, interner: &'a Interner) -> &'a str {
        match self.kind {
            Kind::Name(text)
            | Kind::Integer(text)
            | Kind::Floating(text)
            | Kind::Character(text)
            | Kind::String(text)
            | Kind::Unterminated(text)
            | Kind::Unknown(text)
            | Kind::Pragma(text) => interner.text(text),
            Kind::Punct(punct) if self.flags.has(Flags::DIGRAPH) => digraph(punct),
            Kind::Punct(punct) => punct.spelling(),
            Kind::Paste => "##",
            Kind::Parameter(_)
            | Kind::Operand(_)
            | Kind::Stringize(_)
            | Kind::Optional(_)
            | Kind::Placemarker
            | Kind::Reported => "",
        }
    }
}

/// The last spelling of a punctuator with several.
fn digraph(punct: Punct) -> &'static str {
    let spellings = Punct::ALL.iter().rev();
    spellings
        .into_iter()
        .find(|(_, other)| *other == punct)
        .map_or(punct.spelling(), |(spelling, _)| spelling)
}

/// The spelling of a token list, with single spaces for white space (C99 6.10.3.2, without escapes).
pub(super) fn spell(tokens: &[Tok], interner: &Interner) -> String {
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        if index != 0 && token.flags.is_spaced() {
            text.push(' ');
        }
        text.push_str(token.spelling(interner));
    }
    text
}
