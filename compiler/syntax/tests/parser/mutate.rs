//! Generates one-token mistakes, the same ones in every run.

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
    let mut random = Random::new(seed);
    (0..count).map(move |_| {
        let at = random.below(tokens.len());
        let other = tokens[random.below(tokens.len())].kind;
        let mut mutated = tokens.to_vec();
        match random.below(4) {
            0 => {
                mutated.remove(at);
            }
            1 => mutated.insert(at, tokens[at]),
            2 => mutated.insert(at, Token { kind: other, span: tokens[at].span }),
            _ => mutated[at].kind = other,
        }
        let mut positions = vec![tokens[at].span.lo];
        positions.extend(at.checked_sub(1).map(|before| tokens[before].span.hi));
        positions.extend(tokens.get(at + 1).map(|behind| behind.span.lo));
        Mutant { tokens: mutated, positions }
    })
}

/// xorshift64*
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number less than this.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        (bits % bound as u64) as usize
    }
}
