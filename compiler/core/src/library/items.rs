//! The items of a file of the library, as tokens: which function each defines, and which of them one function needs.
//!
//! A file has a function for each of many types, and a program wants a few of them: the others are neither parsed nor
//! checked.

use std::ops::Range;

use kiln_syntax::{
    Interner, Symbol,
    token::{Punct, Token, TokenKind},
};
use rustc_hash::FxHashMap;

/// A file behind the preprocessor.
pub(super) struct Items {
    tokens: Vec<Token>,
    /// Where each item stands.
    ranges: Vec<Range<usize>>,
    /// The items that define functions, by the functions' names.
    functions: FxHashMap<Symbol, usize>,
    /// The names of the file.
    pub(super) names: Interner,
}

impl Items {
    pub(super) fn new(tokens: Vec<Token>, names: Interner) -> Self {
        let ranges = split(&tokens);
        let defined = ranges.iter().enumerate();
        let functions = defined.filter_map(|(item, range)| Some((function(&tokens[range.clone()])?, item)));
        Self { functions: functions.collect(), tokens, ranges, names }
    }

    /// The function of this name, if the file defines it.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).filter(|symbol| self.functions.contains_key(symbol))
    }

    /// What a program consists of that has this function: its item, those of the functions that it names, and so on, and
    /// all that define no function, in the order of the file.
    pub(super) fn needed(&self, wanted: Symbol) -> Vec<Token> {
        let mut is_needed = vec![true; self.ranges.len()];
        self.functions.values().for_each(|&item| is_needed[item] = false);
        let mut open = vec![self.functions[&wanted]];
        while let Some(item) = open.pop() {
            if !std::mem::replace(&mut is_needed[item], true) {
                let names = self.tokens[self.ranges[item].clone()].iter().filter_map(name);
                open.extend(names.filter_map(|name| self.functions.get(&name)));
            }
        }
        let needed = self.ranges.iter().zip(is_needed).filter(|(_, is_needed)| *is_needed);
        needed.flat_map(|(range, _)| &self.tokens[range.clone()]).copied().collect()
    }
}

/// An item ends with the body of a function, or with a semicolon outside all brackets.
fn split(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut ranges = vec![];
    let (mut start, mut depth) = (0, 0usize);
    let mut is_body = false;
    for (at, token) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenBrace if depth == 0 => {
                is_body = at > 0 && tokens[at - 1].kind == TokenKind::Punct(Punct::CloseParen);
                depth = 1;
            }
            Punct::OpenBrace | Punct::OpenParen | Punct::OpenBracket => depth += 1,
            Punct::CloseBrace | Punct::CloseParen | Punct::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_end = match punct {
            Punct::CloseBrace => is_body,
            Punct::Semicolon => true,
            _ => false,
        };
        if depth == 0 && is_end {
            ranges.push(start..at + 1);
            (start, is_body) = (at + 1, false);
        }
    }
    ranges
}

/// The function that an item defines: the name in front of its parameters.
fn function(item: &[Token]) -> Option<Symbol> {
    let is = |token: &Token, punct| token.kind == TokenKind::Punct(punct);
    let parameters = item.iter().position(|token| is(token, Punct::OpenParen))?;
    item.last().filter(|token| is(token, Punct::CloseBrace))?;
    name(item.get(parameters.checked_sub(1)?)?)
}

fn name(token: &Token) -> Option<Symbol> {
    match token.kind {
        TokenKind::Name(name) => Some(name),
        _ => None,
    }
}
