//! From the state in which the grammar is stuck to what is wrong.

use super::{
    adaptor::Terminal,
    brackets::open_brackets,
    error::{Construct, Expected, SyntaxError, SyntaxErrorKind},
    run::Stuck,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Punct, Token, TokenKind},
};

/// Something else should stand here.
pub(super) fn general(state: &State<'_>, stuck: &Stuck) -> SyntaxError {
    let found = state.tokens.get(stuck.token);
    let end = state.end_before(stuck.token);
    let kind = SyntaxErrorKind::Expected { what: wanted(stuck), found: found.map(|token| token.kind) };
    SyntaxError { span: found.map_or(Span::new(end, end), |token| token.span), kind }
}

/// Something else should stand here: this.
pub(super) fn instead(stuck: &Stuck, found: Token, terminal: Terminal) -> SyntaxError {
    let what = match terminal {
        Terminal::Punct(mark) => Expected::Mark(mark),
        _ => wanted(stuck),
    };
    SyntaxError { span: found.span, kind: SyntaxErrorKind::Expected { what, found: Some(found.kind) } }
}

/// A mark is missing before this place.
pub(super) fn missing(state: &State<'_>, start: Boundary, stuck: &Stuck, mark: Punct) -> SyntaxError {
    let end = state.end_before(stuck.token);
    let closes = matches!(mark, Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace);
    let open = open_brackets(&state.tokens[start.place.token..stuck.token]);
    let partner = open.iter().rev().find(|bracket| closes && bracket.closing == mark);
    let kind =
        SyntaxErrorKind::Missing { mark, after: construct(state, stuck), open: partner.map(|b| b.span) };
    SyntaxError { span: Span::new(end, end), kind }
}

/// What ends before the place where the grammar is stuck, told by what could go on there.
fn construct(state: &State<'_>, stuck: &Stuck) -> Construct {
    let Some(before) = stuck.token.checked_sub(1).and_then(|i| state.tokens.get(i)) else {
        return Construct::Start;
    };
    let declarator = stuck.expects("=") && stuck.expects("__attribute__");
    match before.kind {
        // No prefix operator is spelt `%`: it goes on only with an expression.
        _ if stuck.expects("%") => Construct::Expression,
        _ if declarator && !stuck.expects(";") => Construct::Parameter,
        _ if declarator => Construct::Declaration,
        kind if stuck.expects("if") => Construct::Token(kind),
        TokenKind::Punct(Punct::CloseBrace) if stuck.expects("*") && stuck.expects(";") => {
            Construct::TypeDefinition
        }
        TokenKind::Punct(Punct::CloseBrace) if stuck.expects(",") => Construct::Declaration,
        TokenKind::Keyword(_) | TokenKind::Punct(Punct::CloseParen) if stuck.expects(";") => {
            Construct::Statement
        }
        kind => Construct::Token(kind),
    }
}

/// What the grammar wants, in fewer words.
fn wanted(stuck: &Stuck) -> Expected {
    let expects = |name| stuck.expects(name);
    if expects("if") {
        return Expected::Statement;
    }
    if expects("INTEGER") {
        return Expected::Expression;
    }
    if expects("typedef") && !expects(";") {
        return if expects("...") || expects(")") { Expected::Parameter } else { Expected::Type };
    }
    if expects("typedef") && expects("SKIPPED") {
        return if expects("}") { Expected::Member } else { Expected::Item };
    }
    let marks = [
        Punct::Semicolon,
        Punct::CloseParen,
        Punct::CloseBracket,
        Punct::Comma,
        Punct::CloseBrace,
        Punct::Colon,
        Punct::OpenParen,
        Punct::OpenBrace,
        Punct::Equal,
    ];
    if expects("NAME") || expects("VARIABLE") {
        return Expected::Name;
    }
    if let Some(mark) = marks.into_iter().find(|mark| expects(mark.spelling())) {
        return Expected::Mark(mark);
    }
    match () {
        () if expects("while") => Expected::While,
        () if expects("STRING") => Expected::String,
        () if expects("TYPE") => Expected::Type,
        () => Expected::Other,
    }
}
