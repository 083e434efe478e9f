//! The functions of a library file, as preprocessed tokens.
//!
//! A file has functions for many types, and a program needs only a few of them. The others are neither parsed nor
//! checked.

use std::ops::Range;

use kiln_syntax::{
    Interner, Symbol,
    token::{Punct, Token, TokenKind},
};
use rustc_hash::FxHashMap;

/// The contents of a file.
pub(super) struct Items {
    tokens: Vec<Token>,
    /// The range of each function.
    functions: FxHashMap<Symbol, Range<usize>>,
    names: Interner,
}

impl Items {
    pub(super) fn new(tokens: Vec<Token>, names: Interner) -> Self {
        let functions = split(&tokens);
        Self { functions, tokens, names }
    }

    /// The function with this name, if the file defines it.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).filter(|symbol| self.functions.contains_key(symbol))
    }

    /// The names of all functions.
    pub(super) fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(|&function| self.names.text(function))
    }

    /// The contents of a function.
    pub(super) fn tokens(&self, function: Symbol) -> &[Token] {
        &self.tokens[self.functions[&function].clone()]
    }

    /// The names that a function refers to.
    pub(super) fn mentioned(&self, function: Symbol) -> impl Iterator<Item = &str> {
        self.tokens(function).iter().filter_map(name).map(|name| self.names.text(name))
    }

    /// A function's tokens, with symbols of another interner.
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

/// Splits a file into functions: each extends from the end of the previous one to the end of its body. Library files
/// contain nothing else at program scope.
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

/// The name of a function: the token before its parameters.
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
