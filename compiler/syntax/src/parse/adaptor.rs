//! Converts tokens to terminals of the grammar, and applies edits. A name becomes two terminals; the second one
//! states whether it is a type name here.

use super::{
    nesting::TooDeep,
    repair::{Edit, EditKind},
    state::{Position, State},
};
use crate::{
    symbol::Symbol,
    token::{Keyword, Punct, Token, TokenKind},
};

/// A terminal of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminal {
    Keyword(Keyword),
    Punct(Punct),
    /// A name. `Type` or `Variable` follows.
    Name(Symbol),
    Type,
    Variable,
    Integer(Symbol),
    Floating(Symbol),
    Character(Symbol),
    String(Symbol),
    Pragma(Symbol),
    /// `asm` with its parentheses
    Asm,
    /// A type that a repair inserts; not in any input
    MissingType,
    /// An operand that a repair inserts; not in any input
    MissingOperand,
    /// The replacement of a statement or declaration in a repair; not in any input
    Skipped,
    /// Inserted between the type and the body of a block literal without parameters, where the brace could otherwise
    /// start the members of a `struct`; not in any input
    NoParameters,
}

/// Why the adaptor stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Brackets or operators nest too deep.
    TooDeep,
    /// The end of a trial run.
    Horizon,
}

/// Produces terminals on demand.
pub(super) struct Adaptor<'s, 't, 'a> {
    state: &'s State<'t, 'a>,
    /// The edits to apply, sorted by position.
    edits: &'s [Edit],
    /// The next position.
    next: Position,
    /// The token to stop before.
    horizon: usize,
    /// The last name, to be classified by the next terminal, and its end position.
    name: Option<(Symbol, u32)>,
    /// The classification of the next name, if an edit determines it.
    classified: Option<Terminal>,
    /// The brace before which `NoParameters` has been inserted.
    body: Option<usize>,
}

impl<'s, 't, 'a> Adaptor<'s, 't, 'a> {
    /// Reads from `start` up to the token `horizon`, exclusive.
    pub(super) fn new(state: &'s State<'t, 'a>, edits: &'s [Edit], start: Position, horizon: usize) -> Self {
        Self { state, edits, next: start, horizon, name: None, classified: None, body: None }
    }

    /// Updates the nesting depth for a token.
    fn nest(&self, kind: TokenKind) -> Result<(), Stop> {
        let next = || self.state.tokens.get(self.next.token).map(|token| token.kind);
        self.state.nesting.borrow_mut().take(kind, next).map_err(|TooDeep| Stop::TooDeep)
    }

    /// Applies the edits before the next token. Returns an inserted terminal.
    #[cold]
    fn edit(&mut self) -> Option<Terminal> {
        while let Some(edit) = self.edits.get(self.next.edit)
            && edit.at <= self.next.token
        {
            self.next.edit += 1;
            match edit.kind {
                EditKind::Insert(terminal) => return Some(terminal),
                EditKind::Remove(count) => self.next.token = edit.at + count,
                EditKind::Classify(terminal) => {
                    self.classified = Some(terminal);
                    break;
                }
            }
            self.state.looking_at.set(self.next);
        }
        None
    }

    /// An inserted terminal is located at the end of the last token.
    fn inserted(&self, terminal: Terminal) -> Result<(u32, Terminal, u32), Stop> {
        if let Terminal::Punct(punct) = terminal {
            self.nest(TokenKind::Punct(punct))?;
        }
        let at = self.state.end_before(self.next.token);
        Ok((at, terminal, at))
    }
}

impl Iterator for Adaptor<'_, '_, '_> {
    type Item = Result<(u32, Terminal, u32), Stop>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some((name, hi)) = self.name.take() {
            let terminal = self.classified.take().unwrap_or_else(|| {
                let is_type = self.state.scopes.borrow().kind(name).is_type();
                if is_type { Terminal::Type } else { Terminal::Variable }
            });
            return Some(Ok((hi, terminal, hi)));
        }
        self.state.looking_at.set(self.next);
        if self.next.edit < self.edits.len()
            && let Some(terminal) = self.edit()
        {
            return Some(self.inserted(terminal));
        }
        if self.next.token >= self.horizon {
            return Some(Err(Stop::Horizon));
        }
        let token = *self.state.tokens.get(self.next.token)?;
        if token.kind == TokenKind::Punct(Punct::OpenBrace)
            && self.body != Some(self.next.token)
            && begins_body(&self.state.tokens[..self.next.token])
        {
            self.body = Some(self.next.token);
            return Some(self.inserted(Terminal::NoParameters));
        }
        self.next.token += 1;
        if let Err(stop) = self.nest(token.kind) {
            return Some(Err(stop));
        }
        let terminal = match token.kind {
            TokenKind::Keyword(Keyword::Asm) => Terminal::Asm,
            TokenKind::Keyword(keyword) => Terminal::Keyword(keyword),
            TokenKind::Punct(punct) => Terminal::Punct(punct),
            TokenKind::Name(name) => {
                self.name = Some((name, token.span.hi));
                Terminal::Name(name)
            }
            TokenKind::Integer(text) => Terminal::Integer(text),
            TokenKind::Floating(text) => Terminal::Floating(text),
            TokenKind::Character(text) => Terminal::Character(text),
            TokenKind::String(text) => Terminal::String(text),
            TokenKind::Pragma(text) => Terminal::Pragma(text),
            TokenKind::Unknown => Terminal::Skipped,
        };
        Some(Ok((token.span.lo, terminal, token.span.hi)))
    }
}

/// Whether a brace after these tokens starts the body of a block literal with a type and no parameters: `^ type {`.
fn begins_body(before: &[Token]) -> bool {
    let is_of_type = |token: &&Token| match token.kind {
        TokenKind::Name(_) | TokenKind::Punct(Punct::Star) => true,
        TokenKind::Keyword(keyword) => is_type_keyword(keyword),
        _ => false,
    };
    let words = before.iter().rev().take_while(is_of_type).count();
    let [before @ .., caret] = &before[..before.len() - words] else { return false };
    let is_operator = before.last().is_none_or(|token| match token.kind {
        TokenKind::Punct(punct) => !matches!(punct, Punct::CloseParen | Punct::CloseBracket),
        TokenKind::Keyword(keyword) => keyword == Keyword::Return,
        _ => false,
    });
    words > 0 && caret.kind == TokenKind::Punct(Punct::Caret) && is_operator
}

/// Keywords for types and qualifiers.
fn is_type_keyword(keyword: Keyword) -> bool {
    use Keyword::{
        Bool, Char, Const, Constant, Double, Float, Global, Half, Int, Local, Long, Private, Short, Signed,
        Unsigned, Void, Volatile,
    };
    matches!(
        keyword,
        Bool | Char
            | Const
            | Constant
            | Double
            | Float
            | Global
            | Half
            | Int
            | Local
            | Long
            | Private
            | Short
            | Signed
            | Unsigned
            | Void
            | Volatile
    )
}
