//! A SPIR-V module as a sequence of instructions: parses it safely, and strips what drivers do not need.
//!
//! Owns the binary form. Must not depend on the meaning of reflection instructions (`reflection.rs`), nor on a
//! device.

use std::collections::HashSet;

use crate::capabilities::Environment;
use crate::error::{Error, Result};

/// The size of the header, in words.
const HEADER: usize = 5;
const MAGIC: u32 = 0x0723_0203;
/// The index of the header word with the id bound.
const BOUND: usize = 3;

/// The opcodes that this crate reads.
pub(crate) mod op {
    pub(crate) const SOURCE_CONTINUED: u16 = 2;
    pub(crate) const SOURCE: u16 = 3;
    pub(crate) const SOURCE_EXTENSION: u16 = 4;
    pub(crate) const STRING: u16 = 7;
    pub(crate) const LINE: u16 = 8;
    pub(crate) const EXTENSION: u16 = 10;
    pub(crate) const EXT_INST_IMPORT: u16 = 11;
    pub(crate) const EXT_INST: u16 = 12;
    pub(crate) const MEMORY_MODEL: u16 = 14;
    pub(crate) const ENTRY_POINT: u16 = 15;
    pub(crate) const CAPABILITY: u16 = 17;
    pub(crate) const TYPE_VOID: u16 = 19;
    pub(crate) const TYPE_INT: u16 = 21;
    pub(crate) const TYPE_FLOAT: u16 = 22;
    pub(crate) const TYPE_VECTOR: u16 = 23;
    pub(crate) const TYPE_ARRAY: u16 = 28;
    pub(crate) const TYPE_STRUCT: u16 = 30;
    pub(crate) const TYPE_POINTER: u16 = 32;
    pub(crate) const TYPE_FORWARD_POINTER: u16 = 39;
    pub(crate) const CONSTANT: u16 = 43;
    pub(crate) const SPEC_CONSTANT: u16 = 50;
    pub(crate) const SPEC_CONSTANT_COMPOSITE: u16 = 51;
    pub(crate) const FUNCTION: u16 = 54;
    pub(crate) const VARIABLE: u16 = 59;
    pub(crate) const DECORATE: u16 = 71;
    pub(crate) const NO_LINE: u16 = 317;
}

/// A module whose instructions are known to be within its bounds.
#[derive(Debug, Clone)]
pub(crate) struct Module {
    words: Vec<u32>,
}

/// One instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction<'a> {
    pub(crate) opcode: u16,
    /// The words after the opcode word.
    pub(crate) operands: &'a [u32],
    words: &'a [u32],
}

/// A predicate on opcodes.
type OpcodePredicate = fn(u16) -> bool;

impl Module {
    /// Parses the words of a module, in either byte order, and checks its header and instruction lengths.
    pub(crate) fn new(words: &[u32]) -> Result<Self> {
        let bad = |reason: &str| Error::BadModule { reason: reason.to_owned() };
        let mut words = match words.first() {
            Some(&MAGIC) => words.to_vec(),
            Some(&first) if first.swap_bytes() == MAGIC => {
                words.iter().map(|word| word.swap_bytes()).collect()
            }
            _ => return Err(bad("it does not begin with SPIR-V's magic number")),
        };
        if words.len() < HEADER {
            return Err(bad("its header is truncated"));
        }
        let version = version(words[1]);
        if !((1, 0)..=(1, 6)).contains(&version) {
            return Err(bad(&format!("its version {}.{} is not known", version.0, version.1)));
        }
        words.shrink_to_fit();
        let mut at = HEADER;
        while at < words.len() {
            let count = (words[at] >> 16) as usize;
            if count == 0 || at + count > words.len() {
                return Err(bad(&format!("the instruction at word {at} exceeds it")));
            }
            at += count;
        }
        Ok(Self { words })
    }

    /// The SPIR-V version as (major, minor).
    pub(crate) fn version(&self) -> (u8, u8) {
        version(self.words[1])
    }

    /// Whether entry points list all variables they use, not just inputs and outputs (SPIR-V 1.4).
    pub(crate) fn entry_points_list_all(&self) -> bool {
        self.version() >= (1, 4)
    }

    /// The client environment, according to the memory model.
    pub(crate) fn environment(&self) -> Environment {
        const OPENCL: u32 = 2;
        let model = self.instructions().find(|instruction| instruction.opcode == op::MEMORY_MODEL);
        match model.and_then(|instruction| instruction.operand(1)) {
            Some(OPENCL) => Environment::OpenCl,
            _ => Environment::Vulkan,
        }
    }

    /// The generator of the module.
    pub(crate) fn generator(&self) -> u32 {
        self.words[2]
    }

    /// The id bound: all ids are lower.
    pub(crate) fn bound(&self) -> u32 {
        self.words[BOUND]
    }

    /// Inserts words before the first instruction that matches each predicate. The predicates are in module order.
    pub(crate) fn with_inserted(&self, bound: u32, inserted: &[(OpcodePredicate, &[u32])]) -> Result<Self> {
        let mut words = self.words[..HEADER].to_vec();
        words[BOUND] = bound;
        let mut inserted = inserted.iter().peekable();
        for instruction in self.instructions() {
            while let Some((_, new)) = inserted.next_if(|(is_place, _)| is_place(instruction.opcode)) {
                words.extend_from_slice(new);
            }
            words.extend_from_slice(instruction.words);
        }
        Self::new(&words)
    }

    /// All words of the module.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// The instructions, in order.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        let mut rest = &self.words[HEADER..];
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            let (words, tail) = rest.split_at((first >> 16) as usize);
            rest = tail;
            Some(Instruction { opcode: first as u16, operands: &words[1..], words })
        })
    }

    /// Whether the module has a compute entry point with this name.
    pub(crate) fn has_kernel(&self, name: &str) -> bool {
        const GL_COMPUTE: u32 = 5;
        const KERNEL: u32 = 6;
        let model = match self.environment() {
            Environment::Vulkan => GL_COMPUTE,
            Environment::OpenCl => KERNEL,
        };
        self.instructions().any(|instruction| {
            instruction.opcode == op::ENTRY_POINT
                && instruction.operand(0) == Some(model)
                && instruction.text(2) == name
        })
    }

    /// The words of the module without non-semantic instructions, strings and source positions.
    pub(crate) fn stripped(&self) -> Vec<u32> {
        let imports: HashSet<u32> = self
            .instructions()
            .filter(|instruction| instruction.opcode == op::EXT_INST_IMPORT)
            .filter(|instruction| instruction.text(1).starts_with("NonSemantic."))
            .filter_map(|instruction| instruction.operand(0))
            .collect();
        let dropped = |instruction: &Instruction<'_>| match instruction.opcode {
            op::SOURCE_CONTINUED
            | op::SOURCE
            | op::SOURCE_EXTENSION
            | op::STRING
            | op::LINE
            | op::NO_LINE => true,
            op::EXTENSION => instruction.text(0) == "SPV_KHR_non_semantic_info",
            op::EXT_INST_IMPORT => instruction.operand(0).is_some_and(|id| imports.contains(&id)),
            op::EXT_INST => instruction.operand(2).is_some_and(|id| imports.contains(&id)),
            _ => false,
        };
        let mut words = self.words[..HEADER].to_vec();
        for instruction in self.instructions().filter(|instruction| !dropped(instruction)) {
            words.extend_from_slice(instruction.words);
        }
        words
    }
}

fn version(word: u32) -> (u8, u8) {
    ((word >> 16) as u8, (word >> 8) as u8)
}

impl Instruction<'_> {
    /// The operand at this index.
    pub(crate) fn operand(&self, index: usize) -> Option<u32> {
        self.operands.get(index).copied()
    }

    /// The string that starts at this operand (SPIR-V 2.2.1: UTF-8, little-endian, nul-terminated).
    pub(crate) fn text(&self, index: usize) -> String {
        let bytes: Vec<u8> = self
            .operands
            .iter()
            .skip(index)
            .flat_map(|word| word.to_le_bytes())
            .take_while(|byte| *byte != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The operands after the string that starts at this operand.
    pub(crate) fn after_text(&self, index: usize) -> &[u32] {
        let text = self.operands.get(index..).unwrap_or_default();
        let length =
            text.iter().position(|word| word.to_le_bytes().contains(&0)).map_or(text.len(), |end| end + 1);
        &text[length..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &[u32]) -> Vec<u32> {
        [&[MAGIC, 0x0001_0500, 0, 10, 0], body].concat()
    }

    fn reason(words: &[u32]) -> String {
        Module::new(words).expect_err("the module is broken").to_string()
    }

    #[test]
    fn malformed_modules_are_rejected() {
        assert!(reason(&[]).contains("magic number"));
        assert!(reason(&[1, 2, 3, 4, 5]).contains("magic number"));
        assert!(reason(&[MAGIC, 0x0001_0500]).contains("header"));
        assert!(reason(&[MAGIC, 0x0009_0000, 0, 1, 0]).contains("version 9.0"));
        assert!(reason(&module(&[0])).contains("word 5"));
        assert!(reason(&module(&[0x0005_0011, 1])).contains("word 5"));
    }

    #[test]
    fn both_byte_orders_are_accepted() {
        let words = module(&[0x0002_0011, 1]);
        let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
        let module = Module::new(&swapped).expect("a whole module");
        let capability = module.instructions().next().expect("one instruction");
        assert_eq!((capability.opcode, capability.operand(0)), (op::CAPABILITY, Some(1)));
    }

    #[test]
    fn strings_end_at_the_nul_character() {
        let words =
            module(&[0x0006_000f, 5, 7, u32::from_le_bytes(*b"kern"), u32::from_le_bytes(*b"el\0\0"), 42]);
        let module = Module::new(&words).expect("a whole module");
        let entry = module.instructions().next().expect("one instruction");
        assert_eq!(entry.text(2), "kernel");
        assert_eq!(entry.after_text(2), &[42]);
    }
}
