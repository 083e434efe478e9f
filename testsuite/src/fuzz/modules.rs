//! Generates kernel modules from those that Kiln compiles. Half of them keep their types (`typed`); in the others,
//! instructions and words are changed, moved and exchanged between modules.

use kiln_compiler::{
    Artifact, Emit, compile,
    opencl::{Environment, LanguageVersion},
    session::{NoFiles, Options, Source},
    target,
};

use super::{seeds, typed};
use crate::random::Random;

/// Longer modules are skipped: small inputs run faster.
const MAX_MODULE_WORDS: usize = 2500;

/// The number of programs to compile: each process compiles them.
const SEEDS: usize = 150;

/// The words before the first instruction.
const HEADER: usize = 5;

/// Generates modules.
pub(super) struct Modules {
    /// The instructions of each module. The first element is the header.
    seeds: Vec<Vec<Vec<u32>>>,
    typed: Vec<typed::Seed>,
}

impl Modules {
    /// Compiles programs of the test suite. Keeps the small modules.
    pub(super) fn new() -> Self {
        let programs = seeds::programs();
        let step = programs.len().div_ceil(SEEDS).max(1);
        let modules = programs.into_iter().step_by(step).filter_map(module);
        let modules: Vec<Vec<u32>> = modules.filter(|words| words.len() <= MAX_MODULE_WORDS).collect();
        Self {
            seeds: modules.iter().map(|words| split(words)).collect(),
            typed: modules.iter().filter_map(|words| typed::Seed::new(words)).collect(),
        }
    }

    /// The bytes of a random module.
    pub(super) fn module(&self, random: &mut Random) -> Vec<u8> {
        let words = if random.below(2) == 0 {
            typed::module(&self.typed, random)
        } else {
            let mut module = random.pick(&self.seeds).clone();
            let changes = *random.pick(&[1, 1, 1, 2, 2, 3, 5, 10]);
            for _ in 0..changes {
                self.change(&mut module, random);
            }
            module.concat()
        };
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn change(&self, module: &mut Vec<Vec<u32>>, random: &mut Random) {
        if module.len() < 2 {
            return;
        }
        let at = 1 + random.below(module.len() - 1);
        let other = 1 + random.below(module.len() - 1);
        let bound = module[0][3] as usize;
        match random.below(16) {
            0 => drop(module.remove(at)),
            1 => module.insert(other, module[at].clone()),
            2 => module.swap(at, other),
            3 => {
                let from = random.pick(&self.seeds);
                module.insert(at, random.pick(from).clone());
            }
            4 => {
                let word = random.below(HEADER);
                module[0][word] = random.bits() >> random.below(32);
            }
            5 => {
                // The length and the opcode.
                module[at][0] = module[at][0].wrapping_add(*random.pick(&[1, 1 << 16, u32::MAX, 1 << 31]));
            }
            6 => {
                let extra = random.below(bound) as u32;
                module[at].push(extra);
                module[at][0] = module[at][0].wrapping_add(1 << 16);
            }
            7 if module[at].len() > 1 => {
                module[at].pop();
                module[at][0] = module[at][0].wrapping_sub(1 << 16);
            }
            // The opcode of an instruction of the same length.
            8 if module[at].len() == module[other].len() => module[at][0] = module[other][0],
            kind if module[at].len() > 1 => {
                let word = 1 + random.below(module[at].len() - 1);
                let source = random.pick(&module[other][..]);
                module[at][word] = match kind {
                    9 => *source,
                    10 => module[at][word].wrapping_add(1),
                    11 => module[at][word].wrapping_sub(1),
                    12 => module[at][word] ^ 1 << random.below(32),
                    13 => random.bits() >> random.below(32),
                    _ => random.below(bound) as u32,
                };
            }
            _ => {}
        }
    }
}

/// The kernel module of a program, if it compiles.
fn module(text: String) -> Option<Vec<u32>> {
    let source = Source { name: "input.cl".into(), text: text.into_bytes() };
    let options = Options {
        std: LanguageVersion::Cl30,
        target: target::Target::full(Environment::OpenCl),
        ..Options::default()
    };
    match compile(source, &options, &NoFiles, &Emit::Spirv).artifact {
        Some(Artifact::Module(module)) => Some(module.into_words()),
        _ => None,
    }
}

/// The header and the instructions.
fn split(words: &[u32]) -> Vec<Vec<u32>> {
    let (header, mut rest) = words.split_at(HEADER);
    let mut parts = vec![header.to_vec()];
    while let Some(first) = rest.first() {
        let (instruction, after) = rest.split_at(((first >> 16) as usize).clamp(1, rest.len()));
        parts.push(instruction.to_vec());
        rest = after;
    }
    parts
}
