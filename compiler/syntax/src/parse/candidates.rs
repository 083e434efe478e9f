//! Candidates for repairs when the parser rejects a token: edits to try, most likely first, with the error that each one
//! implies.

use super::{
    adaptor::Terminal,
    brackets::open_brackets,
    error::{Construct, Expected, SyntaxError, SyntaxErrorKind},
    explain,
    misspelled::misspelled,
    names,
    repair::{Edit, EditKind},
    run::Rejection,
    scopes::NameKind,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Keyword, Punct, Token, TokenKind},
};

/// Edits that may repair the input, and the error that they imply.
pub(super) struct Candidate {
    /// The boundary at which to restart parsing.
    pub(super) start: Boundary,
    /// The edits, sorted by position.
    pub(super) edits: Vec<Edit>,
    /// The first token after the edited range.
    pub(super) end: usize,
    /// The error.
    pub(super) error: SyntaxError,
}

/// Punctuators that are often missing, most likely first.
const MARKS: [Punct; 9] = [
    Punct::Semicolon,
    Punct::CloseParen,
    Punct::CloseBracket,
    Punct::CloseBrace,
    Punct::Comma,
    Punct::OpenParen,
    Punct::OpenBrace,
    Punct::Colon,
    Punct::Equal,
];

/// Candidates that edit one token.
pub(super) fn single_token_edits(
    state: &State<'_, '_>,
    start: Boundary,
    rejection: &Rejection,
) -> Vec<Candidate> {
    let at = rejection.token;
    let found = state.tokens.get(at).copied();
    let candidate = |edits, error| Candidate { start, edits, end: at, error };
    let general = explain::general(state, rejection);
    let is_name = matches!(general.kind, SyntaxErrorKind::Expected { what: Expected::Name, .. });
    let removed = |at: usize, token: Token| {
        let kind = match token.kind {
            // Where a name is required, the keyword is reported as such, not as superfluous.
            TokenKind::Keyword(_) if is_name => general.kind,
            TokenKind::Keyword(Keyword::Else) => {
                SyntaxErrorKind::StrayElse { condition: condition_before(state.tokens, start, at) }
            }
            found => SyntaxErrorKind::Unexpected { found },
        };
        candidate(vec![Edit { at, kind: EditKind::Remove(1) }], SyntaxError { span: token.span, kind })
    };
    let mut list = vec![];
    let names = names::type_as_value(state, rejection)
        .into_iter()
        .chain(names::unknown_type(state, start, rejection, NameKind::Unknown))
        .chain(names::missing_type(state, rejection));
    list.extend(names.map(|(edit, error)| candidate(vec![edit], error)));
    list.extend(misspelled(state, start, rejection));
    list.extend(unbraced(state, start, rejection));
    list.extend(missing_condition(state, rejection).map(|edits| candidate(edits, general)));
    list.extend(braced_initializer(state, start, rejection));
    list.extend(default_argument(state, start, rejection));
    list.extend(unfinished_type(state, start, rejection));
    // A repeated token is a typing error.
    let twice =
        at > start.position.token && found.is_some_and(|found| state.tokens[at - 1].kind == found.kind);
    if twice {
        list.extend(found.map(|found| removed(at, found)));
    }
    let marks = MARKS.into_iter().filter(|mark| rejection.expects(mark.spelling()));
    for mark in marks.clone() {
        let edits = vec![insert(at, Terminal::Punct(mark))];
        list.push(candidate(edits, explain::missing(state, start, rejection, mark)));
    }
    if rejection.expects_only("while") {
        let edits = vec![insert(at, Terminal::Keyword(Keyword::While))];
        list.push(candidate(edits, explain::general(state, rejection)));
    }
    let operand = rejection.expects("INTEGER");
    if operand {
        list.push(candidate(vec![insert(at, Terminal::MissingOperand)], explain::general(state, rejection)));
    }
    let Some(found) = found else {
        list.extend(closed(state, start, rejection));
        return list;
    };
    if !twice {
        list.push(removed(at, found));
    }
    for terminal in marks.map(Terminal::Punct).chain(operand.then_some(Terminal::MissingOperand)) {
        let edits = vec![Edit { at, kind: EditKind::Remove(1) }, insert(at + 1, terminal)];
        list.push(candidate(edits, explain::unexpected_token(rejection, found, terminal)));
    }
    if at > start.position.token {
        let edits = vec![Edit { at: at - 1, kind: EditKind::Remove(1) }];
        list.push(candidate(edits, explain::general(state, rejection)));
    }
    let values = names::unknown_type(state, start, rejection, NameKind::Value);
    list.extend(values.map(|(edit, error)| candidate(vec![edit], error)));
    list
}

pub(super) fn insert(at: usize, terminal: Terminal) -> Edit {
    Edit { at, kind: EditKind::Insert(terminal) }
}

/// A declaration cannot be the body of `if`: `if (x) int y;` otherwise looks like a label with a missing colon.
fn unbraced(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Option<Candidate> {
    let before = rejection.token.checked_sub(1).filter(|&at| at > start.position.token)?;
    let TokenKind::Name(name) = state.tokens[before].kind else { return None };
    if !(rejection.expects_only(":") && state.scopes.borrow().kind(name).is_type()) {
        return None;
    }
    let end = state.end_before(before);
    let after = Construct::Token(state.tokens[before - 1].kind);
    let kind = SyntaxErrorKind::Missing { mark: Punct::OpenBrace, after, open: None };
    let error = SyntaxError { span: Span::new(end, end), kind };
    Some(Candidate {
        start,
        edits: vec![insert(before, Terminal::Punct(Punct::OpenBrace))],
        end: rejection.token,
        error,
    })
}

/// `if {`: a condition is missing before the brace.
fn missing_condition(state: &State<'_, '_>, rejection: &Rejection) -> Option<Vec<Edit>> {
    let at = rejection.token;
    let is_brace = state.tokens.get(at)?.kind == TokenKind::Punct(Punct::OpenBrace);
    if !(is_brace && rejection.expects_only("(")) {
        return None;
    }
    let condition =
        [Terminal::Punct(Punct::OpenParen), Terminal::MissingOperand, Terminal::Punct(Punct::CloseParen)];
    Some(condition.map(|terminal| insert(at, terminal)).to_vec())
}

/// C++'s `int x{3}`: `=` is missing before the brace.
fn braced_initializer(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Option<Candidate> {
    let tokens = &state.tokens[start.position.token..rejection.token];
    let brace = open_brackets(tokens).last()?.token;
    let is_named = matches!(tokens.get(brace.checked_sub(1)?)?.kind, TokenKind::Name(_));
    let is_brace = tokens[brace].kind == TokenKind::Punct(Punct::OpenBrace);
    if !is_named || !is_brace || rejection.terminal != Some(Terminal::Punct(Punct::CloseBrace)) {
        return None;
    }
    let at = start.position.token + brace;
    let end = state.end_before(at);
    let kind = SyntaxErrorKind::Missing { mark: Punct::Equal, after: Construct::Declaration, open: None };
    let error = SyntaxError { span: Span::new(end, end), kind };
    Some(Candidate {
        start,
        edits: vec![insert(at, Terminal::Punct(Punct::Equal))],
        end: rejection.token,
        error,
    })
}

/// C++'s `int f(int x = 1)`: the value is removed.
fn default_argument(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Option<Candidate> {
    let at = rejection.token;
    let is_equal = state.tokens.get(at)?.kind == TokenKind::Punct(Punct::Equal);
    if !is_equal || !rejection.expects(",") || !rejection.expects(")") {
        return None;
    }
    let mut depth = 0;
    let length = state.tokens[at..].iter().position(|token| match token.kind {
        TokenKind::Punct(Punct::OpenParen) => {
            depth += 1;
            false
        }
        TokenKind::Punct(Punct::CloseParen) if depth > 0 => {
            depth -= 1;
            false
        }
        TokenKind::Punct(Punct::CloseParen) => true,
        TokenKind::Punct(Punct::Comma) => depth == 0,
        _ => false,
    })?;
    let edits = vec![Edit { at, kind: EditKind::Remove(length) }];
    let found = Some(state.tokens[at].kind);
    let kind = SyntaxErrorKind::Expected { what: Expected::Mark(Punct::CloseParen), found };
    let error = SyntaxError { span: state.tokens[at].span, kind };
    Some(Candidate { start, edits, end: at + length, error })
}

/// The last `if` in the block that contains this token.
fn condition_before(tokens: &[Token], start: Boundary, at: usize) -> Option<Span> {
    let mut depth = 0;
    for token in tokens[start.position.token..at].iter().rev() {
        match token.kind {
            TokenKind::Punct(Punct::CloseBrace) => depth += 1,
            TokenKind::Punct(Punct::OpenBrace) if depth == 0 => return None,
            TokenKind::Punct(Punct::OpenBrace) => depth -= 1,
            TokenKind::Keyword(Keyword::If) if depth == 0 => return Some(token.span),
            _ => {}
        }
    }
    None
}

/// `struct S { … }` followed by the specifiers of another declaration, as in `kernel void`: the missing token belongs
/// after the brace.
fn unfinished_type(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Option<Candidate> {
    let mut begin = rejection.token;
    loop {
        let at = begin.checked_sub(1).filter(|&at| at > start.position.token)?;
        begin = match state.tokens[at].kind {
            TokenKind::Keyword(_) => at,
            TokenKind::Name(name) if state.scopes.borrow().kind(name).is_type() => at,
            TokenKind::Punct(Punct::CloseParen) => {
                attribute_before(&state.tokens[start.position.token..at])? + start.position.token
            }
            TokenKind::Punct(Punct::CloseBrace) if begin < rejection.token => break,
            _ => return None,
        };
    }
    let end = state.end_before(begin);
    let kind =
        SyntaxErrorKind::Missing { mark: Punct::Semicolon, after: Construct::TypeDefinition, open: None };
    Some(Candidate {
        start,
        edits: vec![insert(begin, Terminal::Punct(Punct::Semicolon))],
        end: rejection.token,
        error: SyntaxError { span: Span::new(end, end), kind },
    })
}

/// The start of the `__attribute__` whose last parenthesis ends these tokens.
fn attribute_before(tokens: &[Token]) -> Option<usize> {
    let mut open = 1;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.kind {
            TokenKind::Punct(Punct::CloseParen) => open += 1,
            TokenKind::Punct(Punct::OpenParen) => open -= 1,
            TokenKind::Keyword(Keyword::Attribute) if open == 0 => return Some(at),
            _ if open == 0 => return None,
            _ => {}
        }
    }
    None
}

/// At the end of the input: closes all open brackets.
fn closed(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Option<Candidate> {
    let open = open_brackets(&state.tokens[start.position.token..]);
    let innermost = open.last()?.closing;
    let edits =
        open.iter().rev().map(|bracket| insert(rejection.token, Terminal::Punct(bracket.closing))).collect();
    let error = explain::missing(state, start, rejection, innermost);
    Some(Candidate { start, edits, end: rejection.token, error })
}
