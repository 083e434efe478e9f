//! A module under construction: ids, sections, and deduplicated types and constants.

use std::collections::BTreeSet;

use rspirv::{
    binary::Assemble as _,
    dr::{self, Instruction, Operand},
    grammar::{self, INSTRUCTION_TABLE},
    spirv::{Capability, Decoration, Op, Word},
};
use rustc_hash::FxHashMap;

/// An instruction of the module would have more words than SPIR-V allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OversizedInstruction;

/// SPIR-V 2.3: an instruction's first word has 16 bits for the number of its words.
pub(super) const MAX_WORDS: usize = 65_535;

/// The generator word. The SPIR-V registry has assigned no number to Kiln, so it is number 0, version 1.
const GENERATOR: u32 = 1;

/// A type, constant or string without its result id: the key for deduplication.
type Content = (Op, Option<Word>, Vec<Operand>);
type Class = &'static grammar::Instruction<'static>;

/// Owns the module under construction.
pub(super) struct Writer {
    pub(super) module: dr::Module,
    version: (u8, u8),
    bound: Word,
    interned: FxHashMap<Content, Word>,
    /// rspirv's grammar information for each operation used so far.
    classes: FxHashMap<Op, Class>,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    sets: FxHashMap<&'static str, Word>,
    /// Instructions after the last function.
    trailer: Vec<Instruction>,
    /// Whether names are omitted.
    is_stripped: bool,
}

impl Writer {
    pub(super) fn new(version: (u8, u8), is_stripped: bool) -> Self {
        Self {
            module: dr::Module::new(),
            version,
            bound: 1,
            interned: FxHashMap::default(),
            classes: FxHashMap::default(),
            capabilities: BTreeSet::new(),
            extensions: BTreeSet::new(),
            sets: FxHashMap::default(),
            trailer: Vec::new(),
            is_stripped,
        }
    }

    /// A fresh id.
    pub(super) fn id(&mut self) -> Word {
        let id = self.bound;
        self.bound += 1;
        id
    }

    /// Builds an instruction. rspirv's constructor searches its grammar table each time.
    pub(super) fn instruction(
        &mut self,
        op: Op,
        ty: Option<Word>,
        id: Option<Word>,
        operands: Vec<Operand>,
    ) -> Instruction {
        let class = *self.classes.entry(op).or_insert_with(|| INSTRUCTION_TABLE.get(op));
        Instruction { class, result_type: ty, result_id: id, operands }
    }

    /// Declares a capability.
    pub(super) fn require(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    /// Whether a capability is declared.
    pub(super) fn has_capability(&self, capability: Capability) -> bool {
        self.capabilities.contains(&(capability as u32))
    }

    /// Raises the SPIR-V version to at least this one.
    pub(super) fn require_version(&mut self, version: (u8, u8)) {
        self.version = self.version.max(version);
    }

    /// Declares an extension.
    pub(super) fn extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    /// Imports an extended instruction set.
    pub(super) fn import_set(&mut self, name: &'static str) -> Word {
        if let Some(&id) = self.sets.get(name) {
            return id;
        }
        let id = self.id();
        self.sets.insert(name, id);
        let name = Operand::LiteralString(name.to_owned());
        self.module.ext_inst_imports.push(Instruction::new(Op::ExtInstImport, None, Some(id), vec![name]));
        id
    }

    /// A deduplicated type or constant.
    pub(super) fn interned(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let content = (op, ty, operands);
        if let Some(&id) = self.interned.get(&content) {
            return id;
        }
        let id = self.global(op, ty, content.2.clone());
        self.interned.insert(content, id);
        id
    }

    /// A type, constant or variable that is not deduplicated.
    pub(super) fn global(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let id = self.id();
        let instruction = self.instruction(op, ty, Some(id), operands);
        self.module.types_global_values.push(instruction);
        id
    }

    /// Emits an annotation.
    pub(super) fn annotate(&mut self, op: Op, operands: Vec<Operand>) {
        let instruction = self.instruction(op, None, None, operands);
        self.module.annotations.push(instruction);
    }

    /// `OpDecorate`
    pub(super) fn decorate(
        &mut self,
        id: Word,
        decoration: Decoration,
        of: impl IntoIterator<Item = Operand>,
    ) {
        let operands = [Operand::IdRef(id), Operand::Decoration(decoration)].into_iter().chain(of).collect();
        self.annotate(Op::Decorate, operands);
    }

    /// `OpName`
    pub(super) fn name(&mut self, id: Word, name: &str) {
        if !name.is_empty() && !self.is_stripped {
            let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.to_owned())];
            let instruction = self.instruction(Op::Name, None, None, operands);
            self.module.debug_names.push(instruction);
        }
    }

    /// `OpString`
    pub(super) fn string(&mut self, text: &str) -> Word {
        let content = (Op::String, None, vec![Operand::LiteralString(text.to_owned())]);
        if let Some(&id) = self.interned.get(&content) {
            return id;
        }
        let id = self.id();
        let instruction = self.instruction(Op::String, None, Some(id), content.2.clone());
        self.module.debug_string_source.push(instruction);
        self.interned.insert(content, id);
        id
    }

    /// Emits an instruction after the last function.
    pub(super) fn append_trailer(&mut self, instruction: Instruction) {
        self.trailer.push(instruction);
    }

    /// The words; an error if an instruction has more than its first word can count.
    pub(super) fn finish(mut self) -> Result<Vec<u32>, OversizedInstruction> {
        let (major, minor) = self.version;
        let mut header = dr::ModuleHeader::new(self.bound);
        header.set_version(major, minor);
        header.generator = GENERATOR;
        self.module.header = Some(header);
        self.module.capabilities = self
            .capabilities
            .iter()
            .filter_map(|&value| Capability::from_u32(value))
            .map(|it| Instruction::new(Op::Capability, None, None, vec![Operand::Capability(it)]))
            .collect();
        self.module.extensions = self
            .extensions
            .iter()
            .map(|name| vec![Operand::LiteralString((*name).to_owned())])
            .map(|operands| Instruction::new(Op::Extension, None, None, operands))
            .collect();
        let mut words = self.module.assemble();
        for instruction in &self.trailer {
            instruction.assemble_into(&mut words);
        }
        // A small module has no large instruction.
        let is_oversized = words.len() > MAX_WORDS
            && self.module.all_inst_iter().chain(&self.trailer).any(|it| word_count(it) > MAX_WORDS);
        if is_oversized { Err(OversizedInstruction) } else { Ok(words) }
    }
}

/// The number of an instruction's words.
fn word_count(instruction: &Instruction) -> usize {
    let words = |operand: &Operand| match operand {
        Operand::LiteralString(text) => text.len() / 4 + 1,
        Operand::LiteralBit64(_) => 2,
        _ => 1,
    };
    3 + instruction.operands.iter().map(words).sum::<usize>()
}
