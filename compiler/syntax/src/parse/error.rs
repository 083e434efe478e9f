//! Syntax errors as data. The caller formats the messages.

use super::misspelled::Language;
use crate::{
    span::Span,
    symbol::Symbol,
    token::{Keyword, Punct, TokenKind},
};

/// A syntax error with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The span to show. A missing token is reported at the end of the preceding token, as an empty span.
    pub span: Span,
    /// The kind of error.
    pub kind: SyntaxErrorKind,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A missing punctuator: "expected `;` after expression".
    Missing {
        /// The punctuator.
        mark: Punct,
        /// The construct before it.
        after: Construct,
        /// For a closing bracket, the span of the opening one: "to match this `(`".
        open: Option<Span>,
    },
    /// An unexpected token: "expected expression before `)`". The span is that of `found`, or the end of the source.
    Expected {
        /// The expected construct.
        what: Expected,
        /// The token found. `None` at the end of the source.
        found: Option<TokenKind>,
    },
    /// A superfluous token: "extraneous `)`".
    Unexpected {
        /// The superfluous token.
        found: TokenKind,
    },
    /// An undeclared name that resembles a keyword, where that keyword is allowed.
    Misspelled {
        /// The name.
        name: Symbol,
        /// The keyword.
        keyword: Keyword,
    },
    /// A word of a related language.
    Foreign {
        /// The word.
        name: Symbol,
        /// The language.
        language: Language,
        /// The equivalent keyword, if any.
        keyword: Option<Keyword>,
    },
    /// `else` without `if`, and the `if` that ends before it.
    StrayElse {
        /// The `if` in the same block.
        condition: Option<Span>,
    },
    /// An undeclared name where only a type is allowed.
    UnknownType(Symbol),
    /// A declaration without a type before this name.
    MissingType(Symbol),
    /// A type name used as a value, as in `float4(1, 2, 3, 4)`.
    TypeAsValue(Symbol),
    /// Brackets nest deeper than [`MAX_BRACKETS`](super::MAX_BRACKETS), or operators and statements deeper than the
    /// requested depth, which is [`MAX_DEPTH`](super::MAX_DEPTH) by default.
    Nesting,
}

impl SyntaxErrorKind {
    /// Whether the error concerns a name that is not a type, or that lacks a type. Later stages can give better
    /// messages for these.
    pub fn concerns_name(self) -> bool {
        matches!(self, Self::UnknownType(_) | Self::MissingType(_))
    }

    /// Whether the edit certainly restores the intended source, so that the rest of the source is reliable.
    pub(super) fn is_certain(self) -> bool {
        self.concerns_name() || matches!(self, Self::Misspelled { .. } | Self::Foreign { .. })
    }
}

/// The construct before a missing punctuator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// An expression.
    Expression,
    /// A declarator, possibly with an initializer.
    Declaration,
    /// A `struct`, `union` or `enum` with braces.
    TypeDefinition,
    /// A parameter or parameter list.
    Parameter,
    /// `case` with its value, or `default`.
    Label,
    /// The start of a statement, such as `if (…)` or `break`.
    Statement,
    /// Another token.
    Token(TokenKind),
    /// Nothing.
    Start,
}

/// The expected construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A punctuator.
    Mark(Punct),
    /// An expression.
    Expression,
    /// A statement.
    Statement,
    /// A declaration.
    Declaration,
    /// A declaration or a function definition at program scope.
    Item,
    /// A member of a struct or union.
    Member,
    /// A parameter.
    Parameter,
    /// A type.
    Type,
    /// A name.
    Name,
    /// `while`, after the body of `do`.
    While,
    /// An attribute.
    Attribute,
    /// A string literal.
    String,
    /// None of the above.
    Other,
}
