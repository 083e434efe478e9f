//! The parser: builds the syntax tree from tokens and reports errors as data. It never fails: it repairs invalid
//! input, and replaces what it cannot repair with `Error` nodes.
//!
//! Independent of types and message texts. The grammar is `grammar.lalrpop`; the generated parser is committed.

mod adaptor;
mod brackets;
mod build;
mod candidates;
mod error;
mod explain;
mod expression;
mod layout;
mod machine;
mod misspelled;
mod names;
mod nesting;
mod parts;
mod prepare;
mod repair;
mod run;
mod scopes;
mod state;
mod structure;

pub use error::{Construct, Expected, SyntaxError, SyntaxErrorKind};
pub use layout::{Layout, Line, NoLayout};
pub use misspelled::Language;
pub use nesting::{MAX_BRACKETS, MAX_DEPTH};

use crate::{arena::Arena, ast::TranslationUnit, span::Span, symbol::Symbol, token::Token};

#[allow(missing_docs, unreachable_pub, unused_imports, dead_code, clippy::all)]
#[rustfmt::skip]
#[path = "generated/grammar.rs"]
mod grammar;

/// The result of parsing.
#[derive(Clone, Debug, Default)]
pub struct Parsed<'a> {
    /// The tree. Contains `Error` nodes for input that could not be repaired.
    pub unit: TranslationUnit<'a>,
    /// The syntax errors, in source order.
    pub errors: Vec<SyntaxError>,
    /// The repaired ranges, in source order. Their trees are guesses.
    pub repaired: Vec<RepairedRange>,
    /// The ranges of several tokens that are not in the tree.
    pub removed: Vec<Span>,
}

/// A repaired range: the part of a top-level item from the statement with its first error on.
#[derive(Clone, Debug)]
pub struct RepairedRange {
    /// The first token of that statement.
    pub from: Span,
    /// The last token of the item.
    pub to: Span,
    /// The names in the item. It may have failed to declare some of them.
    pub names: Vec<Symbol>,
}

/// Parses a preprocessed source. The tree is allocated in `arena` and nests at most `max_depth` levels (see
/// [`MAX_DEPTH`]). `layout` helps to locate missing braces.
pub fn parse<'a>(tokens: &[Token], arena: &'a Arena, layout: &dyn Layout, max_depth: u16) -> Parsed<'a> {
    let prepare::Prepared { tokens, gaps } = prepare::prepare(tokens);
    let state = state::State::new(&tokens, arena, layout, max_depth);
    let repair::Repairs { errors, repaired, removed } = repair::parse(&state, &gaps);
    let unit = TranslationUnit { items: arena.list(&state.items.borrow()) };
    Parsed { unit, errors, repaired, removed }
}
