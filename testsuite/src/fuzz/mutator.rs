//! Generates inputs from a seed and a number: cuts programs into pieces and recombines them. Inputs of the reader are
//! kernel modules.

use std::cell::LazyCell;

use super::{Input, Target, modules::Modules, seeds};
use crate::random::Random;

/// The maximum length of an input: small inputs run fast, and are easy to read as findings.
const MAX_INPUT_BYTES: usize = 12_000;

/// Generates inputs.
pub struct Mutator {
    seed: u64,
    target: Target,
    programs: Vec<Vec<String>>,
    words: Vec<String>,
    modules: LazyCell<Modules>,
}

impl Mutator {
    /// A mutator for this target and seed.
    pub fn new(target: Target, seed: u64) -> Self {
        let programs: Vec<Vec<String>> = seeds::programs().iter().map(|text| pieces(text)).collect();
        let mut words = seeds::words();
        let is_name = |piece: &&String| piece.starts_with(|c: char| c.is_ascii_alphabetic());
        let mut names: Vec<_> = programs.iter().flatten().filter(is_name).cloned().collect();
        names.sort();
        names.dedup();
        words.extend(names);
        Self { seed, target, programs, words, modules: LazyCell::new(Modules::new) }
    }

    /// The input with this number.
    pub fn input(&self, number: u64) -> Input {
        let mut random = Random::new(self.seed.rotate_left(32) ^ number);
        if self.target == Target::Reader {
            let module = self.modules.module(&mut random);
            return Input::random(module, &mut random);
        }
        let text = match random.below(100) {
            0 => (0..random.below(400)).map(|_| random.bits() as u8).collect(),
            1..4 => self.random_words(&mut random).into_bytes(),
            4..6 => self.nest(&mut random).into_bytes(),
            _ => self.mutant(&mut random),
        };
        let mut text = text;
        text.truncate(MAX_INPUT_BYTES);
        Input::random(text, &mut random)
    }

    fn word(&self, random: &mut Random) -> String {
        random.pick(&self.words).clone()
    }

    /// Random words.
    fn random_words(&self, random: &mut Random) -> String {
        let words: Vec<String> = (0..random.below(200)).map(|_| self.word(random)).collect();
        words.join(" ")
    }

    /// Deep nesting of one construct.
    fn nest(&self, random: &mut Random) -> String {
        const AROUND: &[(&str, &str)] = &[
            ("(", ")"),
            ("{", "}"),
            ("[", "]"),
            ("-", ""),
            ("!", ""),
            ("x ? 1 : ", ""),
            ("x ? ", " : 1"),
            ("if (1) ", ""),
            ("if (1) {", "}"),
            ("else ", ""),
            ("for (;;) ", ""),
            ("while (x) {", "}"),
            ("do ", " while (x);"),
            ("switch (1) ", ""),
            ("case 1: ", ""),
            ("l: ", ""),
            ("sizeof ", ""),
            ("sizeof(", ")"),
            ("(int)", ""),
            ("*", ""),
            ("&", ""),
            ("struct { ", "} m;"),
            ("union { int a; ", "} m;"),
            ("1 + ", ""),
            ("x = ", ""),
            ("x, ", ""),
            ("f(", ")"),
            ("int *", ""),
            ("x[", "]"),
            ("x.", ""),
            ("x->", ""),
            ("#if 1\n", "\n#endif\n"),
            ("A(", ")"),
            ("(int[]){", "}"),
            ("(float4)(", ")"),
            ("^{", "};"),
            ("({", ";})"),
            ("const ", ""),
            ("(*", ")(int)"),
            ("[1]", ""),
            ("int x[] = {", "};"),
            (".a = {", "}"),
            ("typeof(", ")"),
            ("__attribute__((", "))"),
            ("void f(", ")"),
            ("enum { a = ", "}"),
            ("defined ", ""),
            ("\"a\" ", ""),
        ];
        let (open, close) = random.pick(AROUND);
        let (inner, _) = random.pick(AROUND);
        let depth = *random.pick(&[10, 100, 300, 1000, 3000]);
        let begin = *random.pick(&[
            "",
            "int x = ",
            "kernel void k(global int *a) { int x; ",
            "kernel void k(global int *a) { a[0] = ",
            "#if ",
            "#define A(x) x x\n",
            "struct S { int a; ",
        ]);
        let open = if random.below(3) == 0 { format!("{open}{inner}") } else { (*open).to_owned() };
        let middle = *random.pick(&["1", "x", ";", "", "int y;"]);
        let end = *random.pick(&["", ";", "; }", "}"]);
        format!("{begin}{}{middle}{}{end}", open.repeat(depth), close.repeat(depth))
    }

    /// A program with few or many changes.
    fn mutant(&self, random: &mut Random) -> Vec<u8> {
        let mut program = random.pick(&self.programs).clone();
        let changes = *random.pick(&[1, 1, 1, 2, 2, 3, 4, 8, 16]);
        for _ in 0..changes {
            self.change(&mut program, random);
            if program.is_empty() {
                program.push(self.word(random));
            }
        }
        let mut bytes = program.concat().into_bytes();
        if random.below(20) == 0 {
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes.insert(at, random.bits() as u8),
                    _ => drop(bytes.remove(at)),
                }
                if bytes.is_empty() {
                    break;
                }
            }
        }
        bytes
    }

    fn change(&self, program: &mut Vec<String>, random: &mut Random) {
        let at = random.below(program.len());
        let range = |random: &mut Random, length: usize, max: usize| {
            let start = random.below(length);
            start..(start + 1 + random.below(max)).min(length)
        };
        match random.below(14) {
            0 => drop(program.remove(at)),
            1 => program.insert(at, program[at].clone()),
            2 | 3 => program[at] = self.word(random),
            4 => program.insert(at, format!(" {} ", self.word(random))),
            5 => {
                let other = random.below(program.len());
                program.swap(at, other);
            }
            6 => drop(program.drain(range(random, program.len(), 30))),
            7 => {
                let copy = program[range(random, program.len(), 30)].to_vec();
                program.splice(at..at, copy);
            }
            8 | 9 => {
                let other = random.pick(&self.programs);
                if !other.is_empty() {
                    let piece = other[range(random, other.len(), 60)].to_vec();
                    program.splice(at..at, piece);
                }
            }
            10 => {
                let copy = program[range(random, program.len(), 6)].to_vec();
                let max = *random.pick(&[3, 3, 20, 200]);
                let times = 1 + random.below(max);
                let copies: Vec<_> = copy.iter().cycle().take(copy.len() * times).cloned().collect();
                program.splice(at..at, copies);
            }
            11 => {
                // Uses another name of the same program, which is more likely to be declared.
                let names: Vec<usize> = (0..program.len()).filter(|&i| is_word(&program[i])).collect();
                if !names.is_empty() {
                    let (to, from) = (*random.pick(&names), *random.pick(&names));
                    program[to] = program[from].clone();
                }
            }
            12 => {
                let numbers: Vec<usize> = (0..program.len())
                    .filter(|&i| program[i].starts_with(|c: char| c.is_ascii_digit()))
                    .collect();
                if !numbers.is_empty() {
                    program[*random.pick(&numbers)] = random.bits().to_string();
                }
            }
            _ => {
                let end = at + random.below(program.len() - at);
                let (open, close) = *random.pick(&[
                    ("(", ")"),
                    ("{", "}"),
                    ("[", "]"),
                    ("\n#if 1\n", "\n#endif\n"),
                    ("/*", "*/"),
                ]);
                program.insert(end, close.to_owned());
                program.insert(at, open.to_owned());
            }
        }
    }
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// Splits into words, runs of spaces, and other single characters.
fn pieces(text: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let space = |c: char| c == ' ';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if space(first) {
            rest.find(|c| !space(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, after) = rest.split_at(length);
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_follows_from_its_seed_and_number() {
        let (a, b) = (Mutator::new(Target::Parser, 7), Mutator::new(Target::Parser, 7));
        for number in [0, 1, 1000, 1 << 40] {
            assert_eq!(a.input(number), b.input(number));
            assert_ne!(a.input(number), a.input(number + 1));
        }
    }
}
