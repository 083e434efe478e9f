//! Repairs of more than one token: a brace at some distance before the error, or the removal of a whole statement.

use super::{
    adaptor::Terminal,
    brackets::{nested_functions, open_brackets, statement_begins, statement_ends},
    candidates::{Candidate, insert},
    error::{SyntaxError, SyntaxErrorKind},
    explain,
    layout::{self, BraceEdit},
    repair::{Edit, EditKind},
    run::Rejection,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Punct, TokenKind},
};

/// The maximum number of positions to try for a brace, and of braces at one position.
const MAX_BRACES: usize = 6;

/// The maximum number of preceding items that may contain the cause of an error.
const MAX_ITEMS: usize = 64;

/// Missing or extra braces at some distance before the error.
pub(super) fn braces(
    state: &State<'_, '_>,
    start: Boundary,
    previous: Option<Boundary>,
    rejection: &Rejection,
) -> Vec<Candidate> {
    let first = start.position.token;
    let mut list = vec![];
    // This terminal starts a construct outside the open braces.
    let begins = match rejection.terminal {
        None => nested_functions(&state.tokens[first..]).into_iter().map(|begin| first + begin).collect(),
        Some(_) => statement_begins(state.tokens, first, rejection.token),
    };
    for begin in begins.into_iter().take(MAX_BRACES) {
        let open = open_brackets(&state.tokens[first..begin]);
        for (closed, innermost) in open.iter().rev().enumerate().take(MAX_BRACES) {
            let kind = SyntaxErrorKind::Missing {
                mark: innermost.closing,
                after: explain::construct(state, start, begin),
                open: Some(innermost.span),
            };
            let end = state.end_before(begin);
            let error = SyntaxError { span: Span::new(end, end), kind };
            let closing =
                open.iter().rev().take(closed + 1).map(|b| insert(begin, Terminal::Punct(b.closing)));
            let edits: Vec<_> = closing.collect();
            let semicolon = insert(begin, Terminal::Punct(Punct::Semicolon));
            let and_semicolon = edits.iter().copied().chain([semicolon]).collect();
            list.push(Candidate { start, edits, end: rejection.token, error });
            list.push(Candidate { start, edits: and_semicolon, end: rejection.token, error });
        }
    }
    // The brace that ended the previous item was superfluous.
    let brace = first.checked_sub(1).map(|at| (at, state.tokens[at]));
    if let (Some(start), Some((at, token))) = (previous, brace)
        && token.kind == TokenKind::Punct(Punct::CloseBrace)
    {
        let error = SyntaxError { span: token.span, kind: SyntaxErrorKind::Unexpected { found: token.kind } };
        let edits = vec![Edit { at, kind: EditKind::Remove(1) }];
        list.push(Candidate { start, edits, end: rejection.token, error });
    }
    list
}

/// An edit of a brace by indentation, in the item with the error or a preceding one without edits.
pub(super) fn by_layout(
    state: &State<'_, '_>,
    start: Boundary,
    clean_from: usize,
    rejection: &Rejection,
) -> Option<Candidate> {
    let past = state.past.borrow();
    let untouched = past.iter().rev().take(MAX_ITEMS).take_while(|past| past.position.token >= clean_from);
    let begins = [start]
        .into_iter()
        .chain(untouched.copied().filter(|past| past.position.token < start.position.token));
    // Items start at column 0. Indented text belongs to an item.
    let start = begins.into_iter().find(|begin| {
        let token = state.tokens.get(begin.position.token);
        let line = token.and_then(|token| Some((token.span.lo, state.lines()[begin.position.token]?)));
        line.is_some_and(|(position, line)| line.indent == 0 && line.text == position)
    })?;
    let first = start.position.token;
    let (edit, error) = match layout::brace(&state.tokens[first..], &state.lines()[first..])? {
        BraceEdit::Remove(at) => {
            let found = state.tokens[first + at];
            let kind = SyntaxErrorKind::Unexpected { found: found.kind };
            (Edit { at: first + at, kind: EditKind::Remove(1) }, SyntaxError { span: found.span, kind })
        }
        BraceEdit::Open(at) => missing(state, start, first + at, Punct::OpenBrace, None),
        BraceEdit::Close(at, open) => {
            let open = state.tokens[first + open].span;
            missing(state, start, first + at, Punct::CloseBrace, Some(open))
        }
    };
    Some(Candidate { start, edits: vec![edit], end: rejection.token, error })
}

fn missing(
    state: &State<'_, '_>,
    start: Boundary,
    at: usize,
    mark: Punct,
    open: Option<Span>,
) -> (Edit, SyntaxError) {
    let end = state.end_before(at);
    let kind = SyntaxErrorKind::Missing { mark, after: explain::construct(state, start, at), open };
    (insert(at, Terminal::Punct(mark)), SyntaxError { span: Span::new(end, end), kind })
}

/// The ranges that can be removed within one pair of braces.
pub(super) struct Level {
    /// The edits to try.
    pub(super) candidates: Vec<Candidate>,
    /// The end of the shortest removal.
    pub(super) end: usize,
}

/// Statements, members or items to remove, by their enclosing brace, innermost first.
pub(super) fn skips(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Vec<Level> {
    let error = explain::general(state, rejection);
    let level = |begin: usize| {
        let ends = statement_ends(state.tokens, begin, rejection.token);
        let end = ends.first().copied().unwrap_or(usize::MAX);
        let candidate = |end| Candidate { start, edits: skip(begin, end), end, error };
        Level { candidates: ends.into_iter().map(candidate).collect(), end }
    };
    statement_begins(state.tokens, start.position.token, rejection.token).into_iter().map(level).collect()
}

/// Replaces the tokens from `begin` to `end`, exclusive, with one terminal.
pub(super) fn skip(begin: usize, end: usize) -> Vec<Edit> {
    let remove = Edit { at: begin, kind: EditKind::Remove(end - begin) };
    vec![remove, Edit { at: end, kind: EditKind::Insert(Terminal::Skipped) }]
}
