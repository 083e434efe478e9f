//! Larger changes than of one token: a brace some way before the place where the grammar is stuck, or a whole
//! statement left out.

use super::{
    adaptor::Terminal,
    brackets::{nested_functions, open_brackets, statement_begins, statement_ends},
    candidates::{Candidate, insert},
    error::{SyntaxError, SyntaxErrorKind},
    explain,
    layout::{self, BraceEdit},
    repair::{Edit, EditKind},
    run::Stuck,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Punct, TokenKind},
};

/// How many places for a brace are tried, and how many braces in one place.
const MOST_BRACES: usize = 6;

/// How many items before the one with the mistake may have begun it.
const MOST_ITEMS: usize = 64;

/// Braces that are missing or too many some way before the place where the grammar is stuck.
pub(super) fn braces(
    state: &State<'_, '_>,
    start: Boundary,
    previous: Option<Boundary>,
    stuck: &Stuck,
) -> Vec<Candidate> {
    let first = start.place.token;
    let mut list = vec![];
    // What begins here stands outside of the braces that are open.
    let begins = match stuck.terminal {
        None => nested_functions(&state.tokens[first..]).into_iter().map(|begin| first + begin).collect(),
        Some(_) => statement_begins(state.tokens, first, stuck.token),
    };
    for begin in begins.into_iter().take(MOST_BRACES) {
        let open = open_brackets(&state.tokens[first..begin]);
        for (closed, innermost) in open.iter().rev().enumerate().take(MOST_BRACES) {
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
            list.push(Candidate { start, edits, end: stuck.token, error });
            list.push(Candidate { start, edits: and_semicolon, end: stuck.token, error });
        }
    }
    // The brace that ended the item before this one was too much.
    let brace = first.checked_sub(1).map(|at| (at, state.tokens[at]));
    if let (Some(start), Some((at, token))) = (previous, brace)
        && token.kind == TokenKind::Punct(Punct::CloseBrace)
    {
        let error = SyntaxError { span: token.span, kind: SyntaxErrorKind::Unexpected { found: token.kind } };
        let edits = vec![Edit { at, kind: EditKind::Remove(1) }];
        list.push(Candidate { start, edits, end: stuck.token, error });
    }
    list
}

/// The brace that the indentation misses, or finds too much, in the item that holds the mistake or in one before it
/// that nothing was changed in.
pub(super) fn by_layout(
    state: &State<'_, '_>,
    start: Boundary,
    clean_from: usize,
    stuck: &Stuck,
) -> Option<Candidate> {
    let past = state.past.borrow();
    let untouched = past.iter().rev().take(MOST_ITEMS).take_while(|past| past.place.token >= clean_from);
    let begins =
        [start].into_iter().chain(untouched.copied().filter(|past| past.place.token < start.place.token));
    // An item begins at the margin; what does not, fell out of one.
    let start = begins.into_iter().find(|begin| {
        let token = state.tokens.get(begin.place.token);
        let line = token.and_then(|token| Some((token.span.lo, state.lines()[begin.place.token]?)));
        line.is_some_and(|(position, line)| line.indent == 0 && line.text == position)
    })?;
    let first = start.place.token;
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
    Some(Candidate { start, edits: vec![edit], end: stuck.token, error })
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

/// What may be left out within one pair of braces.
pub(super) struct Level {
    /// The edits to try.
    pub(super) candidates: Vec<Candidate>,
    /// Where the shortest of them ends.
    pub(super) end: usize,
}

/// Statements, members or items to leave out, by the brace that holds them: first what is innermost.
pub(super) fn skips(state: &State<'_, '_>, start: Boundary, stuck: &Stuck) -> Vec<Level> {
    let error = explain::general(state, stuck);
    let level = |begin: usize| {
        let ends = statement_ends(state.tokens, begin, stuck.token);
        let end = ends.first().copied().unwrap_or(usize::MAX);
        let candidate = |end| Candidate { start, edits: skip(begin, end), end, error };
        Level { candidates: ends.into_iter().map(candidate).collect(), end }
    };
    statement_begins(state.tokens, start.place.token, stuck.token).into_iter().map(level).collect()
}

/// Puts one terminal in the place of the tokens from `begin` up to before `end`.
pub(super) fn skip(begin: usize, end: usize) -> Vec<Edit> {
    let remove = Edit { at: begin, kind: EditKind::Remove(end - begin) };
    vec![remove, Edit { at: end, kind: EditKind::Insert(Terminal::Skipped) }]
}
