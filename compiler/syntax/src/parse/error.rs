//! What can be wrong with the syntax, as data: whoever shows it finds the words.

use crate::{
    span::Span,
    symbol::Symbol,
    token::{Punct, TokenKind},
};

/// A mistake and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where to point. What is missing is missing at the end of what stands before it, an empty span.
    pub span: Span,
    /// What is wrong.
    pub kind: SyntaxErrorKind,
}

/// The sorts of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A punctuation mark is missing: "expected `;` after expression".
    Missing {
        /// The mark.
        mark: Punct,
        /// What it should follow.
        after: Construct,
        /// For a closing bracket the place of its opening one: "to match this `(`".
        open: Option<Span>,
    },
    /// Something else should stand here: "expected expression before `)`". The span is that of `found`, or the
    /// end of the source.
    Expected {
        /// What should stand here.
        what: Expected,
        /// What stands here; nothing at the end of the source.
        found: Option<TokenKind>,
    },
    /// This should not be there at all: "extraneous `)`".
    Unexpected {
        /// What is too much.
        found: TokenKind,
    },
    /// A name stands where only a type can, and no type has that name.
    UnknownType(Symbol),
    /// A declaration names no type before this name.
    MissingType(Symbol),
    /// A type name stands where a value should, as in `float4(1, 2, 3, 4)`.
    TypeAsValue(Symbol),
    /// Brackets nest deeper than [`MAX_BRACKETS`](super::MAX_BRACKETS), or operators and statements deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH), or what was asked for.
    Nesting,
}

impl SyntaxErrorKind {
    /// Whether it says of a name that it is no type, or that no type stands before it: whoever knows what names
    /// mean can say more.
    pub fn is_of_a_name(self) -> bool {
        matches!(self, Self::UnknownType(_) | Self::MissingType(_))
    }
}

/// What precedes a missing punctuation mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// An expression.
    Expression,
    /// A declarator, perhaps with its initialiser.
    Declaration,
    /// `struct`, `union` or `enum` with its braces.
    TypeDefinition,
    /// A parameter or its list.
    Parameter,
    /// The head of a statement, such as `if (…)` or `break`.
    Statement,
    /// Something else: this token.
    Token(TokenKind),
    /// Nothing.
    Start,
}

/// What should stand in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A punctuation mark.
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
    /// Something that this type has no word for.
    Other,
}
