//! Derives the error from the state in which the parser rejects a token.

use super::{
    adaptor::Terminal,
    brackets::{open_brackets, statement_begins},
    error::{Construct, Expected, SyntaxError, SyntaxErrorKind},
    run::Rejection,
    scopes::NameKind,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Keyword, Punct, Token, TokenKind},
};

/// An unexpected token.
pub(super) fn general(state: &State<'_, '_>, rejection: &Rejection) -> SyntaxError {
    let end = state.end_before(rejection.token);
    let (span, found) = match state.tokens.get(rejection.token) {
        Some(token) => (token.span, Some(token.kind)),
        None => (Span::new(end, end), None),
    };
    let what = expected(rejection);
    let unknown = |name| {
        what == Expected::Type
            && rejection.terminal == Some(Terminal::Variable)
            && state.scopes.borrow().kind(name) == NameKind::Unknown
    };
    let before = rejection.token.checked_sub(1).map(|before| state.tokens[before].kind);
    let behind = state.tokens.get(rejection.token + 1).map(|token| token.kind);
    let is_type = matches!(behind, Some(TokenKind::Name(_) | TokenKind::Punct(Punct::Star)));
    let kind = match (before, found) {
        (Some(TokenKind::Keyword(_)), Some(TokenKind::Name(name))) if unknown(name) && !is_type => {
            SyntaxErrorKind::MissingType(name)
        }
        (_, Some(TokenKind::Name(name))) if unknown(name) => SyntaxErrorKind::UnknownType(name),
        _ => SyntaxErrorKind::Expected { what, found },
    };
    SyntaxError { span, kind }
}

/// An unexpected token, where `terminal` is expected.
pub(super) fn unexpected_token(rejection: &Rejection, found: Token, terminal: Terminal) -> SyntaxError {
    let what = match (expected(rejection), terminal) {
        (what @ Expected::Name, _) => what,
        (_, Terminal::Punct(mark)) => Expected::Mark(mark),
        (what, _) => what,
    };
    SyntaxError { span: found.span, kind: SyntaxErrorKind::Expected { what, found: Some(found.kind) } }
}

/// A punctuator is missing here.
pub(super) fn missing(
    state: &State<'_, '_>,
    start: Boundary,
    rejection: &Rejection,
    mark: Punct,
) -> SyntaxError {
    // A semicolon alone would be a statement, so a statement is missing.
    if mark == Punct::Semicolon && expected(rejection) == Expected::Statement {
        return general(state, rejection);
    }
    let end = state.end_before(rejection.token);
    let closes = matches!(mark, Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace);
    let open = open_brackets(&state.tokens[start.position.token..rejection.token]);
    let partner = open.iter().rev().find(|bracket| closes && bracket.closing == mark);
    let after = construct(state, start, rejection.token);
    let kind = SyntaxErrorKind::Missing { mark, after, open: partner.map(|bracket| bracket.span) };
    SyntaxError { span: Span::new(end, end), kind }
}

/// The construct that ends before the token `at`, according to the tokens: the grammar may have reduced it already.
pub(super) fn construct(state: &State<'_, '_>, start: Boundary, at: usize) -> Construct {
    let tokens = &state.tokens[start.position.token..at];
    let Some(last) = tokens.last() else { return Construct::Start };
    let begin = statement_begins(tokens, 0, tokens.len()).first().copied().unwrap_or_default();
    let statement = &tokens[begin..];
    let declares = |token: &Token| match token.kind {
        TokenKind::Keyword(keyword) => !is_statement(keyword) && !is_operator(keyword),
        TokenKind::Name(name) => state.scopes.borrow().kind(name).is_type(),
        _ => false,
    };
    let parenthesis = open_brackets(statement).last().map(|bracket| bracket.token);
    match (last.kind, statement) {
        (TokenKind::Punct(Punct::CloseBrace), _) => braced(tokens),
        (kind @ TokenKind::Punct(punct), _) if !ends_expression(punct) => Construct::Token(kind),
        (_, [first, ..]) if parenthesis.is_none() && declares(first) => Construct::Declaration,
        // The name after the braces of a type.
        (TokenKind::Name(_), [_])
            if begin > 0
                && tokens[begin - 1].kind == TokenKind::Punct(Punct::CloseBrace)
                && braced(&tokens[..begin]) == Construct::TypeDefinition =>
        {
            Construct::Declaration
        }
        (kind, _) if is_enumerator(tokens) => Construct::Token(kind),
        (_, [Token { kind: TokenKind::Keyword(Keyword::Case | Keyword::Default), .. }, ..])
            if parenthesis.is_none() =>
        {
            Construct::Label
        }
        (_, [Token { kind: TokenKind::Keyword(keyword), .. }, ..])
            if parenthesis.is_none() && is_statement(*keyword) =>
        {
            Construct::Statement
        }
        (kind @ TokenKind::Keyword(_), _) => Construct::Token(kind),
        _ => match parenthesis {
            Some(open) if statement.get(open + 1).is_some_and(declares) && declares(&statement[0]) => {
                Construct::Parameter
            }
            _ => Construct::Expression,
        },
    }
}

/// The construct whose closing brace ends these tokens.
fn braced(tokens: &[Token]) -> Construct {
    let open = open_brackets(&tokens[..tokens.len() - 1]);
    let before = open.last().map_or(&tokens[..0], |brace| &tokens[..brace.token]);
    let defines = |token: &Token| {
        matches!(token.kind, TokenKind::Keyword(Keyword::Struct | Keyword::Union | Keyword::Enum))
    };
    match before {
        [.., token] | [.., token, _] if defines(token) => Construct::TypeDefinition,
        [.., Token { kind: TokenKind::Punct(Punct::Equal), .. }] => Construct::Declaration,
        _ => Construct::Token(TokenKind::Punct(Punct::CloseBrace)),
    }
}

/// Whether these tokens end inside the braces of an `enum`.
fn is_enumerator(tokens: &[Token]) -> bool {
    let open = open_brackets(tokens);
    let before = open.last().map_or(&tokens[..0], |brace| &tokens[..brace.token]);
    let is_enum = |token: &Token| token.kind == TokenKind::Keyword(Keyword::Enum);
    before.iter().rev().take(2).any(is_enum)
}

fn ends_expression(punct: Punct) -> bool {
    matches!(punct, Punct::CloseParen | Punct::CloseBracket | Punct::PlusPlus | Punct::MinusMinus)
}

fn is_operator(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Sizeof | Keyword::Alignof | Keyword::VecStep | Keyword::BuiltinAstype)
}

fn is_statement(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Break
            | Keyword::Case
            | Keyword::Continue
            | Keyword::Default
            | Keyword::Do
            | Keyword::Else
            | Keyword::For
            | Keyword::Goto
            | Keyword::If
            | Keyword::Return
            | Keyword::Switch
            | Keyword::While
    )
}

/// A summary of the terminals that the grammar accepts.
fn expected(rejection: &Rejection) -> Expected {
    let expects = |name| rejection.expects(name);
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
