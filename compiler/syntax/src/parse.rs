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
mod names;
mod nesting;
mod prepare;
mod repair;
mod run;
mod scopes;
mod state;
mod structure;

pub use error::{Construct, Expected, SyntaxError, SyntaxErrorKind};
pub use nesting::{MAX_BRACKETS, MAX_DEPTH};

use crate::{ast::TranslationUnit, symbol::Interner, token::Token};

#[allow(missing_docs, unreachable_pub, unused_imports, clippy::all)]
#[rustfmt::skip]
#[path = "generated/grammar.rs"]
mod grammar;

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The tree, with `Error` nodes where the input could not be mended.
    pub unit: TranslationUnit,
    /// The mistakes in the order of the input.
    pub errors: Vec<SyntaxError>,
}

/// Reads a whole program source after preprocessing.
pub fn parse(tokens: &[Token], interner: &mut Interner) -> Parsed {
    let prepare::Prepared { tokens, gaps } = prepare::prepare(tokens);
    let state = state::State::new(&tokens, interner);
    let errors = repair::parse(&state, &gaps);
    Parsed { unit: TranslationUnit { items: state.items.into_inner() }, errors }
}
