//! Finds statements and items by brackets and semicolons alone, where the grammar rejects the input. Independent of the
//! grammar.

use crate::{
    span::Span,
    token::{Keyword, Punct, Token, TokenKind},
};

/// An open bracket.
#[derive(Clone, Copy)]
pub(super) struct OpenBracket {
    /// The bracket that closes it.
    pub(super) closing: Punct,
    /// The index of its token.
    pub(super) token: usize,
    /// Its span.
    pub(super) span: Span,
}

/// The brackets that are open after these tokens. A closing bracket also closes everything inside its pair.
pub(super) fn open_brackets(tokens: &[Token]) -> Vec<OpenBracket> {
    let mut open: Vec<OpenBracket> = vec![];
    for (token, &Token { kind, span }) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = kind else { continue };
        let closing = match punct {
            Punct::OpenParen => Punct::CloseParen,
            Punct::OpenBracket => Punct::CloseBracket,
            Punct::OpenBrace => Punct::CloseBrace,
            Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace => {
                if let Some(partner) = open.iter().rposition(|bracket| bracket.closing == punct) {
                    open.truncate(partner);
                }
                continue;
            }
            _ => continue,
        };
        open.push(OpenBracket { closing, token, span });
    }
    open
}

/// For each open brace, innermost first, and for the top level: the start of the statement that contains the token
/// `mistake`.
pub(super) fn statement_begins(tokens: &[Token], first: usize, mistake: usize) -> Vec<usize> {
    let open = open_brackets(&tokens[first..mistake]);
    let braces = open.iter().rev().filter(|bracket| bracket.closing == Punct::CloseBrace);
    let inside = braces.map(|brace| first + brace.token + 1).chain([first]);
    inside.map(|inside| statement_begin(tokens, inside, mistake)).collect()
}

/// The start of the statement that contains the token `mistake`. `inside` is the start of the enclosing block.
fn statement_begin(tokens: &[Token], inside: usize, mistake: usize) -> usize {
    let mut depth = 0;
    let mut begin = inside;
    for (i, token) in tokens.iter().enumerate().take(mistake).skip(inside) {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace => depth += 1,
            Punct::CloseParen | Punct::CloseBracket => depth -= 1,
            Punct::CloseBrace => {
                depth -= 1;
                if depth == 0 {
                    begin = i + 1;
                }
            }
            Punct::Semicolon if depth == 0 => begin = i + 1,
            _ => {}
        }
    }
    begin
}

/// The possible ends of the statement that contains the token `mistake`: after one of the next semicolons, after a
/// block, or before the closing brace of the enclosing block.
pub(super) fn statement_ends(tokens: &[Token], begin: usize, mistake: usize) -> Vec<usize> {
    let mut ends = vec![];
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(begin) {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenBrace => depth += 1,
            Punct::CloseBrace if depth == 0 => {
                if i >= mistake && i > begin {
                    ends.push(i);
                }
                break;
            }
            Punct::CloseBrace => {
                depth -= 1;
                if depth == 0 && i >= mistake {
                    ends.push(i + 1);
                }
            }
            Punct::Semicolon if depth == 0 && i >= mistake => ends.push(i + 1),
            _ => {}
        }
        if ends.len() > 4 {
            break;
        }
    }
    ends
}

/// The end of the top-level item that starts at `start`, not before `mistake`.
pub(super) fn item_end(tokens: &[Token], start: usize, mistake: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenBrace => depth += 1,
            Punct::CloseBrace => depth -= 1,
            Punct::Semicolon => {}
            _ => continue,
        }
        if depth <= 0 && i >= mistake && punct != Punct::OpenBrace {
            return i + 1;
        }
    }
    tokens.len()
}

/// Whether these tokens start with a label.
pub(super) fn is_label(tokens: &[Token]) -> bool {
    matches!(
        tokens,
        [Token { kind: TokenKind::Keyword(Keyword::Case | Keyword::Default), .. }, ..]
            | [
                Token { kind: TokenKind::Name(_), .. },
                Token { kind: TokenKind::Punct(Punct::Colon), .. },
                ..
            ]
    )
}

/// The starts of nested function definitions, which OpenCL C does not support.
pub(super) fn nested_functions(item: &[Token]) -> Vec<usize> {
    let mut begins = vec![];
    let mut depth = 0;
    let mut begin = 0;
    for (i, token) in item.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::OpenBrace) => {
                if depth > 0 && is_function_head(&item[begin..i]) {
                    begins.push(begin);
                }
                depth += 1;
                begin = i + 1;
            }
            TokenKind::Punct(Punct::CloseBrace) => {
                depth -= 1;
                begin = i + 1;
            }
            TokenKind::Punct(Punct::Semicolon) => begin = i + 1,
            _ => {}
        }
    }
    begins
}

/// Whether this looks like a function header: specifiers, a name, parentheses.
fn is_function_head(tokens: &[Token]) -> bool {
    let specified = match tokens {
        [Token { kind: TokenKind::Keyword(keyword), .. }, ..] => !matches!(
            keyword,
            Keyword::If
                | Keyword::For
                | Keyword::While
                | Keyword::Switch
                | Keyword::Else
                | Keyword::Do
                | Keyword::Case
        ),
        [Token { kind: TokenKind::Name(_), .. }, Token { kind: TokenKind::Name(_), .. }, ..] => true,
        _ => false,
    };
    let assigned =
        tokens.iter().any(|token| matches!(token.kind, TokenKind::Punct(Punct::Equal | Punct::Caret)));
    let ends = matches!(tokens, [.., Token { kind: TokenKind::Punct(Punct::CloseParen), .. }]);
    specified && ends && !assigned
}
