//! The parser: tokens in, the tree and the mistakes out. It never fails; where the input is wrong it is mended,
//! and what cannot be mended is left out of the tree and marked there.
//!
//! It knows no types and no messages. The grammar is `grammar.lalrpop`; the parser made of it is committed.

mod adaptor;
mod brackets;
mod build;
mod candidates;
mod error;
mod explain;
mod expression;
mod layout;
mod machine;
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
pub use nesting::{MAX_BRACKETS, MAX_DEPTH};

use crate::{arena::Arena, ast::TranslationUnit, span::Span, symbol::Symbol, token::Token};

#[allow(missing_docs, unreachable_pub, unused_imports, dead_code, clippy::all)]
#[rustfmt::skip]
#[path = "generated/grammar.rs"]
mod grammar;

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Parsed<'a> {
    /// The tree, with `Error` nodes where the input could not be mended.
    pub unit: TranslationUnit<'a>,
    /// The mistakes in the order of the input.
    pub errors: Vec<SyntaxError>,
    /// What was mended to read on, in the order of the input: what it means is a guess.
    pub mended: Vec<Mended>,
}

/// The part of an item at program scope from the statement with its first mistake on.
#[derive(Clone, Debug)]
pub struct Mended {
    /// The first token of that statement.
    pub from: Span,
    /// The last token of the item.
    pub to: Span,
    /// The names in the item: whatever it should have declared is among them.
    pub names: Vec<Symbol>,
}

/// Reads a whole program source after preprocessing; the tree stands in the arena, and nests no deeper than `max_depth`, as
/// [`MAX_DEPTH`] says. The layout helps to find lost braces.
pub fn parse<'a>(tokens: &[Token], arena: &'a Arena, layout: &dyn Layout, max_depth: u16) -> Parsed<'a> {
    let prepare::Prepared { tokens, gaps } = prepare::prepare(tokens);
    let state = state::State::new(&tokens, arena, layout, max_depth);
    let (errors, mended) = repair::parse(&state, &gaps);
    let unit = TranslationUnit { items: arena.list(&state.items.borrow()) };
    Parsed { unit, errors, mended }
}
