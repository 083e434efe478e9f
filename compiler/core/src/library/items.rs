//! The functions of a file of the library, as tokens behind the preprocessor.
//!
//! A file has a function for each of many types, and a program wants a few of them: the others are neither parsed nor
//! checked.

use std::ops::Range;

use kiln_syntax::{
    Interner, Symbol,
    token::{Punct, Token, TokenKind},
};
use rustc_hash::FxHashMap;

/// What a file defines.
pub(super) struct Items {
    tokens: Vec<Token>,
    /// Where each function stands.
    functions: FxHashMap<Symbol, Range<usize>>,
    names: Interner,
}

impl Items {
    pub(super) fn new(tokens: Vec<Token>, names: Interner) -> Self {
        let functions = split(&tokens);
        Self { functions, tokens, names }
    }

    /// The function of this name, if the file defines it.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).filter(|symbol| self.functions.contains_key(symbol))
    }

    /// What a function consists of.
    pub(super) fn tokens(&self, function: Symbol) -> &[Token] {
        &self.tokens[self.functions[&function].clone()]
    }

    /// The names that a function mentions.
    pub(super) fn mentioned(&self, function: Symbol) -> impl Iterator<Item = &str> {
        self.tokens(function).iter().filter_map(name).map(|name| self.names.text(name))
    }

    /// A function's tokens, with the symbols of another interner.
    pub(super) fn translated(&self, function: Symbol, names: &mut Interner) -> impl Iterator<Item = Token> {
        self.tokens(function).iter().map(|token| Token { kind: self.translate(token.kind, names), ..*token })
    }

    fn translate(&self, kind: TokenKind, names: &mut Interner) -> TokenKind {
        let mut new = |symbol| names.intern(self.names.text(symbol));
        match kind {
            TokenKind::Name(it) => TokenKind::Name(new(it)),
            TokenKind::Integer(it) => TokenKind::Integer(new(it)),
            TokenKind::Floating(it) => TokenKind::Floating(new(it)),
            TokenKind::Character(it) => TokenKind::Character(new(it)),
            TokenKind::String(it) => TokenKind::String(new(it)),
            TokenKind::Pragma(it) => TokenKind::Pragma(new(it)),
            TokenKind::Keyword(_) | TokenKind::Punct(_) | TokenKind::Unknown => kind,
        }
    }
}

/// The functions, each from behind the one before to the end of its body. The library has nothing else at program scope.
fn split(tokens: &[Token]) -> FxHashMap<Symbol, Range<usize>> {
    let mut functions = FxHashMap::default();
    let (mut start, mut depth) = (0, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::OpenBrace) => depth += 1,
            TokenKind::Punct(Punct::CloseBrace) => {
                depth -= 1;
                if depth == 0 {
                    functions.extend(defined(&tokens[start..at]).map(|name| (name, start..at + 1)));
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    functions
}

/// The name of a function: what stands in front of its parameters.
fn defined(function: &[Token]) -> Option<Symbol> {
    let parameters = function.iter().position(|token| token.kind == TokenKind::Punct(Punct::OpenParen))?;
    name(function.get(parameters.checked_sub(1)?)?)
}

fn name(token: &Token) -> Option<Symbol> {
    match token.kind {
        TokenKind::Name(name) => Some(name),
        _ => None,
    }
}
