//! A decoded module: instructions with their operand words, names, decorations and functions.
//!
//! The verifier has checked the words: the instructions have the operands of their grammar, and ids are defined. It does
//! not check all types, so this module does not rely on them. Must not depend on the IR.

use std::{ops::Range, sync::LazyLock};

use rspirv::{
    grammar::{INSTRUCTION_TABLE, OperandKind},
    spirv::{Decoration, Op},
};
use rustc_hash::FxHashMap;

use crate::problem::{Outcome, Problem};

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<'w> {
    pub(crate) op: Op,
    /// The id of its result type.
    pub(crate) ty: Option<u32>,
    /// The id of its result.
    pub(crate) id: Option<u32>,
    /// The words after the result.
    pub(crate) operands: &'w [u32],
    /// The index of its first word.
    pub(crate) offset: usize,
    /// The index of the last OpLine or OpNoLine before it.
    pub(crate) line: Option<u32>,
}

/// A decoration of an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decorated<'w> {
    pub(crate) kind: Decoration,
    pub(crate) operands: &'w [u32],
}

/// A decoded module.
#[derive(Debug)]
pub(crate) struct Words<'w> {
    pub(crate) instructions: Vec<Instruction<'w>>,
    /// The index of the instruction that defines an id.
    definitions: FxHashMap<u32, usize>,
    names: FxHashMap<u32, String>,
    decorations: FxHashMap<u32, Vec<Decorated<'w>>>,
    /// The functions: from OpFunction to OpFunctionEnd.
    pub(crate) functions: Vec<Range<usize>>,
}

impl<'w> Instruction<'w> {
    /// Its name, without `Op`.
    pub(crate) fn name(&self) -> &'static str {
        grammar(self.op as u32).map_or("", |grammar| grammar.name)
    }

    /// The operand word at this index.
    pub(crate) fn word(&self, index: usize) -> Outcome<u32> {
        let word = self.operands.get(index).copied();
        word.ok_or_else(|| Problem::new("it has too few operands").at(self))
    }

    /// The operand words from this index on.
    pub(crate) fn words(&self, from: usize) -> &'w [u32] {
        self.operands.get(from..).unwrap_or_default()
    }

    /// The string that begins at this operand, and the number of words that it takes.
    pub(crate) fn text(&self, from: usize) -> (String, usize) {
        let words = self.words(from);
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        (String::from_utf8_lossy(&bytes).into_owned(), bytes.len() / 4 + 1)
    }

    /// The id of its result.
    pub(crate) fn result(&self) -> Outcome<u32> {
        self.id.ok_or_else(|| Problem::new("it has no result").at(self))
    }

    /// The id of its result type.
    pub(crate) fn result_type(&self) -> Outcome<u32> {
        self.ty.ok_or_else(|| Problem::new("it has no result type").at(self))
    }
}

/// The grammar of an instruction.
struct Grammar {
    op: Op,
    name: &'static str,
    has_type: bool,
    has_result: bool,
}

fn grammar(opcode: u32) -> Option<&'static Grammar> {
    static GRAMMARS: LazyLock<FxHashMap<u32, Grammar>> = LazyLock::new(|| {
        let grammars = INSTRUCTION_TABLE.iter().map(|row| {
            let has = |kind| row.operands.iter().any(|operand| operand.kind == kind);
            let (has_type, has_result) = (has(OperandKind::IdResultType), has(OperandKind::IdResult));
            (row.opcode as u32, Grammar { op: row.opcode, name: row.opname, has_type, has_result })
        });
        grammars.collect()
    });
    GRAMMARS.get(&opcode)
}

impl<'w> Words<'w> {
    /// Decodes the words of a verified module.
    pub(crate) fn decode(words: &'w [u32]) -> Outcome<Self> {
        let mut module = Self {
            instructions: Vec::with_capacity(words.len() / 4),
            definitions: FxHashMap::default(),
            names: FxHashMap::default(),
            decorations: FxHashMap::default(),
            functions: Vec::new(),
        };
        let (mut offset, mut line) = (5, None);
        while let Some(&first) = words.get(offset) {
            let broken = || Problem::new(format!("word {offset}: there is no such instruction"));
            let count = (first >> 16) as usize;
            let grammar = grammar(first & 0xffff).ok_or_else(broken)?;
            let mut operands =
                words.get(offset + 1..offset + count).filter(|_| count > 0).ok_or_else(broken)?;
            let mut take = |is_there: bool| {
                let (&word, rest) = operands.split_first().filter(|_| is_there)?;
                operands = rest;
                Some(word)
            };
            let (ty, id) = (take(grammar.has_type), take(grammar.has_result));
            if matches!(grammar.op, Op::Line | Op::NoLine) {
                line = Some(module.instructions.len() as u32);
            }
            module.push(Instruction { op: grammar.op, ty, id, operands, offset, line });
            if matches!(grammar.op, Op::FunctionEnd) {
                line = None;
            }
            offset += count;
        }
        module.apply_groups();
        Ok(module)
    }

    fn push(&mut self, inst: Instruction<'w>) {
        let index = self.instructions.len();
        if let Some(id) = inst.id {
            self.definitions.entry(id).or_insert(index);
        }
        match inst.op {
            Op::Name => {
                let name = inst.text(1).0;
                self.names.insert(inst.operands[0], name);
            }
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                if let Some(kind) = inst.operands.get(1).and_then(|&kind| Decoration::from_u32(kind)) {
                    let decorated = Decorated { kind, operands: inst.words(2) };
                    self.decorations.entry(inst.operands[0]).or_default().push(decorated);
                }
            }
            Op::Function => self.functions.push(index..index),
            Op::FunctionEnd => {
                if let Some(function) = self.functions.last_mut() {
                    function.end = index + 1;
                }
            }
            _ => {}
        }
        self.instructions.push(inst);
    }

    /// Applies OpGroupDecorate.
    fn apply_groups(&mut self) {
        for inst in &self.instructions {
            let (Op::GroupDecorate, [group, targets @ ..]) = (inst.op, inst.operands) else { continue };
            let Some(decorations) = self.decorations.get(group).cloned() else { continue };
            for target in targets {
                self.decorations.entry(*target).or_default().extend(&decorations);
            }
        }
    }

    /// The index of the instruction that defines an id.
    pub(crate) fn definition_index(&self, id: u32) -> Option<usize> {
        self.definitions.get(&id).copied()
    }

    /// The instruction that defines an id.
    pub(crate) fn definition(&self, id: u32) -> Outcome<&Instruction<'w>> {
        self.definition_index(id)
            .map(|index| &self.instructions[index])
            .ok_or_else(|| Problem::new(format!("%{id} is not defined")))
    }

    /// The name of an id. Empty if it has none.
    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// The decorations of an id.
    pub(crate) fn decorations(&self, id: u32) -> &[Decorated<'w>] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The decoration of this kind.
    pub(crate) fn decoration(&self, id: u32, kind: Decoration) -> Option<&Decorated<'w>> {
        self.decorations(id).iter().find(|decorated| decorated.kind == kind)
    }

    /// The value of the decoration Alignment.
    pub(crate) fn alignment(&self, id: u32) -> Option<u64> {
        let align = *self.decoration(id, Decoration::Alignment)?.operands.first()?;
        align.is_power_of_two().then_some(u64::from(align))
    }

    /// The instructions before the first function.
    pub(crate) fn preamble(&self) -> &[Instruction<'w>] {
        let end = self.functions.first().map_or(self.instructions.len(), |function| function.start);
        &self.instructions[..end]
    }
}
