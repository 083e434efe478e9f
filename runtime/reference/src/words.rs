//! A module as a sequence of instructions.
//!
//! Owns the binary form. Must not depend on the meaning of instructions.

use crate::Invalid;

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;
/// The maximum id bound of a module (SPIR-V 2.17).
const MAX_IDS: u32 = 4_194_303;

/// One instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inst<'w> {
    pub(crate) op: spirv::Op,
    /// The words after the opcode word.
    pub(crate) words: &'w [u32],
}

/// Parses the id bound and the instructions.
pub(crate) fn read(words: &[u32]) -> Result<(u32, Vec<Inst<'_>>), Invalid> {
    if words.len() < HEADER || words[0] != MAGIC {
        return Err(Invalid::new("it does not begin with SPIR-V's header"));
    }
    let bound = words[3];
    if bound > MAX_IDS {
        return Err(Invalid::new(format!("it has {bound} ids")));
    }
    let mut insts = Vec::new();
    let mut rest = &words[HEADER..];
    while let Some(&first) = rest.first() {
        let count = (first >> 16) as usize;
        if count == 0 || count > rest.len() {
            return Err(Invalid::new("an instruction exceeds it"));
        }
        let number = first & 0xffff;
        let op = spirv::Op::from_u32(number)
            .ok_or_else(|| Invalid::new(format!("instruction {number} is unknown")))?;
        insts.push(Inst { op, words: &rest[1..count] });
        rest = &rest[count..];
    }
    Ok((bound, insts))
}

impl<'w> Inst<'w> {
    /// The operand at this index.
    pub(crate) fn word(&self, index: usize) -> Result<u32, Invalid> {
        let missing = || Invalid::new(format!("{:?} has no operand {index}", self.op));
        self.words.get(index).copied().ok_or_else(missing)
    }

    /// The operands from this index.
    pub(crate) fn from(&self, index: usize) -> &'w [u32] {
        self.words.get(index..).unwrap_or_default()
    }

    /// The string that starts at this operand (SPIR-V 2.2.1), and the operands after it.
    pub(crate) fn text(&self, index: usize) -> (String, &'w [u32]) {
        let words = self.from(index);
        let length = words.iter().position(|word| word.to_le_bytes().contains(&0));
        let length = length.map_or(words.len(), |last| last + 1);
        let bytes: Vec<u8> = words[..length]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .take_while(|byte| *byte != 0)
            .collect();
        (String::from_utf8_lossy(&bytes).into_owned(), &words[length..])
    }
}
