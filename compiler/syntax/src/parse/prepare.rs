//! Prepares tokens for the grammar: removes invalid ones, moves pragmas to the start of the next declaration or statement,
//! and replaces `asm` and its parentheses with one token.

use std::borrow::Cow;

use crate::token::{Keyword, Punct, Token, TokenKind};

/// The prepared tokens.
pub(super) struct Prepared<'t> {
    /// The tokens.
    pub(super) tokens: Cow<'t, [Token]>,
    /// Positions of removed invalid tokens, which have been reported.
    pub(super) gaps: Vec<usize>,
}

/// Prepares tokens. Most inputs need no change. A pragma inside an expression or a declaration is moved to its end.
pub(super) fn prepare(tokens: &[Token]) -> Prepared<'_> {
    let needs_no_change = |token: &Token| {
        !matches!(
            token.kind,
            TokenKind::Keyword(Keyword::Extension | Keyword::Asm) | TokenKind::Unknown | TokenKind::Pragma(_)
        )
    };
    if tokens.iter().all(needs_no_change) {
        return Prepared { tokens: Cow::Borrowed(tokens), gaps: vec![] };
    }
    let mut prepared = Vec::with_capacity(tokens.len());
    let mut gaps = vec![];
    let mut pragmas = vec![];
    // The open brackets, and whether each is a brace.
    let mut open = vec![];
    let mut rest = tokens;
    while let Some((&token, behind)) = rest.split_first() {
        rest = behind;
        match token.kind {
            TokenKind::Keyword(Keyword::Extension) => continue,
            TokenKind::Unknown => {
                gaps.push(prepared.len());
                continue;
            }
            TokenKind::Pragma(_) => {
                pragmas.push(token);
                continue;
            }
            _ if !pragmas.is_empty() && open.last() != Some(&false) && starts_item(&prepared, token.kind) => {
                prepared.append(&mut pragmas);
            }
            _ => {}
        }
        match token.kind {
            TokenKind::Keyword(Keyword::Asm) => {
                let (count, last) = assembler(rest).unwrap_or((0, token));
                prepared.push(Token { span: token.span.to(last.span), ..token });
                rest = &rest[count..];
                continue;
            }
            TokenKind::Punct(Punct::OpenBrace) => open.push(true),
            TokenKind::Punct(Punct::OpenParen | Punct::OpenBracket) => open.push(false),
            TokenKind::Punct(Punct::CloseBrace | Punct::CloseParen | Punct::CloseBracket) => {
                open.pop();
            }
            _ => {}
        }
        prepared.push(token);
    }
    prepared.append(&mut pragmas);
    Prepared { tokens: Cow::Owned(prepared), gaps }
}

/// Whether `next` starts a declaration or statement, according to the tokens alone. `false` if that is ambiguous, as
/// after the brace of an initializer.
fn starts_item(before: &[Token], next: TokenKind) -> bool {
    let Some(last) = before.last() else { return true };
    let before_that = before.len().checked_sub(2).map(|i| before[i].kind);
    match last.kind {
        TokenKind::Pragma(_) => true,
        TokenKind::Punct(Punct::Semicolon) => next != TokenKind::Keyword(Keyword::Else),
        TokenKind::Punct(Punct::CloseBrace) => match next {
            TokenKind::Keyword(keyword) => keyword != Keyword::Else,
            TokenKind::Punct(punct) => !matches!(
                punct,
                Punct::Semicolon
                    | Punct::Comma
                    | Punct::CloseParen
                    | Punct::CloseBracket
                    | Punct::Equal
                    | Punct::Dot
            ),
            _ => true,
        },
        TokenKind::Punct(Punct::OpenBrace) => match before_that {
            Some(TokenKind::Punct(punct)) => matches!(
                punct,
                Punct::CloseParen | Punct::Semicolon | Punct::OpenBrace | Punct::CloseBrace | Punct::Colon
            ),
            Some(TokenKind::Keyword(keyword)) => matches!(keyword, Keyword::Else | Keyword::Do),
            _ => false,
        },
        _ => false,
    }
}

/// The number of tokens after `asm` that belong to it, and the last one.
fn assembler(rest: &[Token]) -> Option<(usize, Token)> {
    let mut depth = 0u32;
    for (i, &token) in rest.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::OpenParen) => depth += 1,
            TokenKind::Punct(Punct::CloseParen) if depth > 1 => depth -= 1,
            TokenKind::Punct(Punct::CloseParen) if depth == 1 => return Some((i + 1, token)),
            TokenKind::Keyword(Keyword::Volatile | Keyword::Goto | Keyword::Inline) => {}
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
