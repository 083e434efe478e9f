//! Generates one-token mistakes, the same ones in every run.

use fastrand::Rng;
use kiln_syntax::token::Token;

/// A program with one token deleted, duplicated, inserted or replaced.
pub(crate) struct Mutant {
    /// The program.
    pub(crate) tokens: Vec<Token>,
    /// Acceptable positions of the error: that of the mutation, and those of the adjacent tokens.
    pub(crate) positions: Vec<u32>,
}

/// The given number of mutants of a program. Inserted tokens come from the program itself.
pub(crate) fn mutants(tokens: &[Token], seed: u64, count: usize) -> impl Iterator<Item = Mutant> {
    let mut random = Rng::with_seed(seed);
    (0..count).map(move |_| {
        let at = random.usize(..tokens.len());
        let other = tokens[random.usize(..tokens.len())].kind;
        let mut mutated = tokens.to_vec();
        match random.usize(..4) {
            0 => {
                mutated.remove(at);
            }
            1 => mutated.insert(at, tokens[at]),
            2 => mutated.insert(at, Token { kind: other, span: tokens[at].span }),
            _ => mutated[at].kind = other,
        }
        let mut positions = vec![tokens[at].span.lo];
        positions.extend(at.checked_sub(1).map(|before| tokens[before].span.hi));
        positions.extend(tokens.get(at + 1).map(|after| after.span.lo));
        Mutant { tokens: mutated, positions }
    })
}
