//! Mends what the grammar cannot read. A mistake becomes an edit of the input (something put in, something left
//! out), and the item that holds it is read again: the edit that lets the parser read farthest wins. So the
//! grammar holds no rules for wrong input, scopes are right after every mistake, and one mistake rarely shows
//! as two.

use super::{
    adaptor::Terminal,
    error::{Construct, Expected, SyntaxError, SyntaxErrorKind},
    run::{self, Outcome, Stuck},
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Punct, TokenKind},
};

/// A change of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// Before which token.
    pub(super) at: usize,
    /// What.
    pub(super) kind: EditKind,
}

/// The sorts of change.
#[derive(Clone, Copy, Debug)]
pub(super) enum EditKind {
    /// Put this in.
    Insert(Terminal),
    /// Leave out so many tokens.
    Remove(usize),
}

/// Beyond so many mistakes the items that hold more are left out, silently.
const MAX_ERRORS: usize = 32;

/// How many tokens behind a mistake a trial looks at.
const HORIZON: usize = 40;

/// Reads the whole input; gives the mistakes.
pub(super) fn parse(state: &State<'_>) -> Vec<SyntaxError> {
    let mut errors = vec![];
    let mut edits = vec![];
    let mut start = Boundary { scopes: state.enter(), ..Boundary::default() };
    loop {
        let outcome = run::run(state, &edits, start, usize::MAX);
        start = state.boundary.get();
        match outcome {
            Outcome::Done => return errors,
            Outcome::TooDeep(token) => {
                errors.push(SyntaxError { span: state.tokens[token].span, kind: SyntaxErrorKind::Nesting });
                skip_item(state, &mut edits, start, token);
            }
            Outcome::Stuck(stuck) => {
                if errors.len() < MAX_ERRORS {
                    errors.push(mend(state, &mut edits, start, &stuck));
                } else {
                    skip_item(state, &mut edits, start, stuck.token);
                }
            }
        }
    }
}

fn mend(state: &State<'_>, edits: &mut Vec<Edit>, start: Boundary, stuck: &Stuck) -> SyntaxError {
    skip_item(state, edits, start, stuck.token);
    let found = state.tokens.get(stuck.token);
    let end = state.end_before(stuck.token);
    SyntaxError {
        span: found.map_or(Span::new(end, end), |t| t.span),
        kind: SyntaxErrorKind::Expected { what: Expected::Other, found: found.map(|t| t.kind) },
    }
}
fn skip_item(state: &State<'_>, edits: &mut Vec<Edit>, start: Boundary, token: usize) {
    edits.truncate(start.place.edit);
    let mut end = start.place.token;
    let mut depth = 0;
    while let Some(t) = state.tokens.get(end) {
        end += 1;
        match t.kind {
            TokenKind::Punct(Punct::OpenBrace | Punct::OpenBracket | Punct::OpenParen) => depth += 1,
            TokenKind::Punct(Punct::CloseBracket | Punct::CloseParen) => depth -= 1,
            TokenKind::Punct(Punct::CloseBrace) => {
                depth -= 1;
                if depth <= 0 && end > token {
                    break;
                }
            }
            TokenKind::Punct(Punct::Semicolon) if depth <= 0 && end > token => break,
            _ => {}
        }
    }
    edits.push(Edit { at: start.place.token, kind: EditKind::Remove(end - start.place.token) });
    edits.push(Edit { at: end, kind: EditKind::Insert(Terminal::Skipped) });
}
