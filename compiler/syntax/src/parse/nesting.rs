//! How deep the tree may become, judged from the tokens before any of it is built: trees are dropped, printed
//! and compiled by recursion, and no input may overflow a stack.

use crate::token::{Keyword, Punct, TokenKind};

/// The deepest that brackets nest, as in clang.
pub const MAX_BRACKETS: usize = 256;

/// The deepest that the tree nests: no path from the root passes more statements and expressions than this, brackets
/// included. Stages that recurse over the tree may rely on it: on the 2 MiB stack of a test they have 4 KiB for a
/// level, on the main thread's 8 MiB 16 KiB. Real programs were seen to need 120.
pub const MAX_DEPTH: u32 = 500;

/// The input nests too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// An upper bound of the depth of the tree at the current token: each token that can put a node above or below
/// another counts one, until a statement or an element of a list ends.
#[derive(Default)]
pub(crate) struct Nesting {
    depth: u32,
    /// For each open bracket the depth before it.
    open: Vec<u32>,
    /// Unfinished `do`s since the last statement ended.
    dos: u32,
    after_comma: bool,
}

impl Nesting {
    /// Takes the next token and the one behind it.
    pub(crate) fn take(&mut self, token: TokenKind, next: Option<TokenKind>) -> Result<(), TooDeep> {
        self.after_comma = false;
        match token {
            TokenKind::Punct(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => {
                self.open.push(self.depth);
                self.depth += 1;
                if self.open.len() > MAX_BRACKETS {
                    return Err(TooDeep);
                }
            }
            TokenKind::Punct(Punct::CloseParen | Punct::CloseBracket) => {
                self.depth = self.open.pop().unwrap_or_default() + 1;
            }
            TokenKind::Punct(Punct::CloseBrace) => {
                self.depth = self.open.pop().unwrap_or_default();
                if self.ends_statement(next) && begins_statement(next) {
                    self.end_statement();
                }
            }
            TokenKind::Punct(Punct::Semicolon) if self.ends_statement(next) => self.end_statement(),
            TokenKind::Punct(Punct::Semicolon) => {}
            TokenKind::Punct(Punct::Comma) => {
                self.after_comma = true;
                self.depth += 1;
            }
            TokenKind::Keyword(Keyword::Do) => {
                self.dos += 1;
                self.depth += 1;
            }
            TokenKind::Punct(_)
            | TokenKind::Keyword(Keyword::Sizeof | Keyword::Alignof | Keyword::VecStep | Keyword::Default) => {
                self.depth += 1;
            }
            _ => {}
        }
        if self.depth > MAX_DEPTH { Err(TooDeep) } else { Ok(()) }
    }

    /// An element of a list has ended, and the next token is taken already: after a comma another element begins,
    /// beside the last and not below it.
    pub(crate) fn end_element(&mut self) {
        if self.after_comma {
            self.end_statement();
        }
    }

    /// `else` and the `while` of a `do` go on with the statement before them.
    fn ends_statement(&self, next: Option<TokenKind>) -> bool {
        match next {
            Some(TokenKind::Keyword(Keyword::Else)) => false,
            Some(TokenKind::Keyword(Keyword::While)) => self.dos == 0,
            _ => true,
        }
    }

    fn end_statement(&mut self) {
        self.depth = self.open.last().map_or(0, |before| before + 1);
        self.dos = 0;
    }
}

/// Whether this token surely stands at the beginning of a statement if it stands behind `}`: otherwise the brace
/// may have closed a part of an expression.
fn begins_statement(token: Option<TokenKind>) -> bool {
    match token {
        None | Some(TokenKind::Keyword(_) | TokenKind::Name(_) | TokenKind::Pragma(_)) => true,
        Some(TokenKind::Punct(punct)) => matches!(punct, Punct::OpenBrace | Punct::CloseBrace),
        Some(_) => false,
    }
}
