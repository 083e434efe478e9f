//! Programs with one syntax error: a token deleted, duplicated, inserted or replaced.

use kiln_syntax::lex::Lexer;

use crate::random::Random;

/// A program split into tokens.
pub struct Program<'a> {
    text: &'a str,
    tokens: Vec<(usize, usize)>,
}

/// A mutation of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The token is deleted.
    Delete,
    /// The token is duplicated.
    Duplicate,
    /// Another token of the program is inserted before it.
    Insert,
    /// Another token of the program replaces it.
    Replace,
}

/// A mutated program.
pub struct Mutant {
    /// The mutation.
    pub mutation: Mutation,
    /// The text of the program.
    pub text: String,
    /// The lines where a diagnostic is acceptable, from 1: those of the token, of the end of the previous one, and of
    /// the next one.
    pub lines: Vec<u32>,
}

impl<'a> Program<'a> {
    /// Splits a text into tokens.
    pub fn new(text: &'a str) -> Self {
        let tokens = Lexer::new(text).map(|token| (token.start as usize, token.end as usize)).collect();
        Self { text, tokens }
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// A random mutant.
    pub fn mutant(&self, random: &mut Random) -> Mutant {
        let at = random.below(self.tokens.len());
        let (start, end) = self.tokens[at];
        let &(from, to) = random.pick(&self.tokens);
        let other = &self.text[from..to];
        let mutation =
            *random.pick(&[Mutation::Delete, Mutation::Duplicate, Mutation::Insert, Mutation::Replace]);
        let (before, token, after) = (&self.text[..start], &self.text[start..end], &self.text[end..]);
        let text = match mutation {
            Mutation::Delete => format!("{before} {after}"),
            Mutation::Duplicate => format!("{before}{token} {token}{after}"),
            Mutation::Insert => format!("{before} {other} {token}{after}"),
            Mutation::Replace => format!("{before} {other} {after}"),
        };
        let neighbor = |index: Option<usize>| index.and_then(|index| self.tokens.get(index));
        let positions = [
            Some(start),
            neighbor(at.checked_sub(1)).map(|&(_, end)| end),
            neighbor(Some(at + 1)).map(|&(start, _)| start),
        ];
        Mutant {
            mutation,
            text,
            lines: positions.into_iter().flatten().map(|position| self.line(position)).collect(),
        }
    }

    fn line(&self, offset: usize) -> u32 {
        self.text[..offset].matches('\n').count() as u32 + 1
    }
}
