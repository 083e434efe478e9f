//! Splits tokens into logical lines: statements, declarations, labels, heads of blocks, with their indentation.
//!
//! The parser is a state machine, because the branches of `#if` start from the same state. It accepts any text.

mod parser;

use std::ops::Range;

pub(crate) use parser::lines;

/// The owner of a block, of a body without braces, or of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A function.
    Function,
    /// `if` or `else if`
    If,
    /// `else`
    Else,
    /// `for` or `while`
    Loop,
    /// `do`
    Do,
    /// `switch`
    Switch,
    /// `case` or `default`
    Case,
    /// A label of `goto`.
    Label,
    /// A structure.
    Struct,
    /// A union.
    Union,
    /// An enumeration.
    Enum,
    /// A compound statement, or a block in an expression.
    Plain,
}

/// The kind of a logical line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A statement, a declaration or a part of one.
    Statement,
    /// Ends with the brace that opens a block.
    Opens(Owner),
    /// The head of a statement whose body has no braces.
    Head(Owner),
    /// The head of a block whose brace is on the next line.
    Wrapped(Owner),
    /// Starts with the brace that closes a block.
    Closes,
    /// Comments, on separate lines.
    Comment,
    /// A directive or verbatim text.
    Raw,
}

/// A logical line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) tokens: Range<usize>,
    /// The indentation, in levels.
    pub(crate) indent: usize,
    pub(crate) kind: LineKind,
    /// Whether it starts inside of a block.
    pub(crate) is_nested: bool,
    /// Whether its statement is at the start of a block.
    pub(crate) is_first: bool,
    /// Whether several lines were joined.
    pub(crate) is_joined: bool,
}
