//! Finds the call around a position from tokens only, because an unfinished call does not parse.

use std::ops::Range;

use kiln_syntax::{
    lex::{Lexeme, Lexer},
    token::{Keyword, Punct},
};

/// A call that is still open at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenCall {
    /// The name of the callee.
    pub(crate) name: Range<usize>,
    /// The index of the argument at the position.
    pub(crate) argument: usize,
    /// The ranges of the arguments before it.
    pub(crate) arguments: Vec<Range<usize>>,
}

struct Open {
    name: Option<Range<usize>>,
    arguments: Vec<Range<usize>>,
    begin: usize,
}

/// The innermost call that is open at the end of this range of a text. The range starts outside of calls and comments.
pub(crate) fn open_call(text: &str, within: Range<usize>) -> Option<OpenCall> {
    let mut open: Vec<Open> = Vec::new();
    let mut word: Option<Range<usize>> = None;
    for token in Lexer::new(&text[within.clone()]) {
        let range = within.start + token.start as usize..within.start + token.end as usize;
        let before = word.take();
        match token.lexeme {
            Lexeme::Identifier | Lexeme::ExtendedIdentifier => {
                word = Some(range);
            }
            Lexeme::Punct(Punct::OpenParen | Punct::OpenBracket) => {
                let is_call = token.lexeme == Lexeme::Punct(Punct::OpenParen);
                let name = before.filter(|name| is_call && !is_keyword(&text[name.clone()]));
                open.push(Open { name, arguments: Vec::new(), begin: range.end });
            }
            Lexeme::Punct(Punct::CloseParen | Punct::CloseBracket) => {
                open.pop();
            }
            Lexeme::Punct(Punct::Comma) => {
                if let Some(call) = open.last_mut() {
                    call.arguments.push(call.begin..range.start);
                    call.begin = range.end;
                }
            }
            Lexeme::Punct(Punct::Semicolon | Punct::OpenBrace | Punct::CloseBrace) => open.clear(),
            _ => {}
        }
    }
    // Skip parentheses that are part of an argument.
    let call = open.into_iter().rev().find(|call| call.name.is_some())?;
    Some(OpenCall { name: call.name?, argument: call.arguments.len(), arguments: call.arguments })
}

fn is_keyword(word: &str) -> bool {
    Keyword::ALL.iter().any(|(spelling, _)| *spelling == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, usize)>) {
        let found = open_call(text, 0..text.len());
        assert_eq!(found.as_ref().map(|call| (&text[call.name.clone()], call.argument)), expected);
    }

    #[test]
    fn the_innermost_open_call_is_found() {
        check("x = f(a, g(b, c), ", Some(("f", 2)));
        check("f(a, g(b, ", Some(("g", 1)));
        check("f(a, (b + ", Some(("f", 1)));
        check("if (a) { f(a[i, ", Some(("f", 0)));
        check("f(a); ", None);
        check("if (", None);
        check("f(\"a, b\", /* , */ ", Some(("f", 1)));
    }
}
