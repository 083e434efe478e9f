//! The tokens as the grammar wants them: without those that mean nothing to it, with pragmas only where a
//! declaration or a statement can begin, and `asm` with its parentheses as one token.

use std::borrow::Cow;

use crate::token::{Keyword, Punct, Token, TokenKind};

/// What the grammar takes.
pub(super) struct Prepared<'t> {
    /// The tokens.
    pub(super) tokens: Cow<'t, [Token]>,
    /// Before which of them stood something that forms no token. It has been reported.
    pub(super) gaps: Vec<usize>,
}

/// Leaves what the grammar takes, which mostly is all. A pragma inside an expression or a declaration waits for its end.
pub(super) fn prepare(tokens: &[Token]) -> Prepared<'_> {
    let is_taken_as_it_is = |token: &Token| {
        !matches!(
            token.kind,
            TokenKind::Keyword(Keyword::Extension | Keyword::Asm) | TokenKind::Unknown | TokenKind::Pragma(_)
        )
    };
    if tokens.iter().all(is_taken_as_it_is) {
        return Prepared { tokens: Cow::Borrowed(tokens), gaps: vec![] };
    }
    let mut prepared = Vec::with_capacity(tokens.len());
    let mut gaps = vec![];
    let mut pragmas = vec![];
    // The open brackets: whether each is a brace.
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
            _ if !pragmas.is_empty() && open.last() != Some(&false) && is_place(&prepared, token.kind) => {
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

/// Whether a declaration or a statement begins with `next`, judged by the tokens alone. Where they cannot tell, as
/// behind the brace of an initialiser, the answer is no.
fn is_place(before: &[Token], next: TokenKind) -> bool {
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

/// How many tokens behind `asm` belong to it, and the last of them.
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
