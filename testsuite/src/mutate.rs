//! Programs with one mistake: a token left out, doubled, put in or replaced.

use kiln_syntax::lex::Lexer;

use crate::random::Random;

/// A program cut into its tokens.
pub struct Program<'a> {
    text: &'a str,
    tokens: Vec<(usize, usize)>,
}

/// What was done to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// It is gone.
    Delete,
    /// It stands twice.
    Duplicate,
    /// Another token of the program stands before it.
    Insert,
    /// Another token of the program stands in its place.
    Replace,
}

/// A program with a mistake.
pub struct Mutant {
    /// What was done.
    pub mutation: Mutation,
    /// The program.
    pub text: String,
    /// The lines where a reader would look for the mistake, from 1: those of the token, of the end of the one before
    /// it, and of the one behind it.
    pub lines: Vec<u32>,
}

impl<'a> Program<'a> {
    /// Cuts a text.
    pub fn new(text: &'a str) -> Self {
        let tokens = Lexer::new(text).map(|token| (token.start as usize, token.end as usize)).collect();
        Self { text, tokens }
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// One mutant.
    pub fn mutant(&self, random: &mut Random) -> Mutant {
        let at = random.below(self.tokens.len());
        let (start, end) = self.tokens[at];
        let &(from, to) = random.pick(&self.tokens);
        let other = &self.text[from..to];
        let mutation =
            *random.pick(&[Mutation::Delete, Mutation::Duplicate, Mutation::Insert, Mutation::Replace]);
        let (before, token, behind) = (&self.text[..start], &self.text[start..end], &self.text[end..]);
        let text = match mutation {
            Mutation::Delete => format!("{before} {behind}"),
            Mutation::Duplicate => format!("{before}{token} {token}{behind}"),
            Mutation::Insert => format!("{before} {other} {token}{behind}"),
            Mutation::Replace => format!("{before} {other} {behind}"),
        };
        let neighbour = |index: Option<usize>| index.and_then(|index| self.tokens.get(index));
        let places = [
            Some(start),
            neighbour(at.checked_sub(1)).map(|&(_, end)| end),
            neighbour(Some(at + 1)).map(|&(start, _)| start),
        ];
        Mutant { mutation, text, lines: places.into_iter().flatten().map(|place| self.line(place)).collect() }
    }

    fn line(&self, offset: usize) -> u32 {
        self.text[..offset].matches('\n').count() as u32 + 1
    }
}
