//! A SPIR-V module as the rules look at it: instructions in order, with places, definitions and functions.
//!
//! Reads words of any origin. What cannot be read is a finding and ends the reading there; nothing here judges
//! what was read.

use std::ops::Range;

use rspirv::{
    binary::{self, Consumer, ParseAction as Action},
    dr,
    spirv::{self, Op, Word},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Finding, Place, Rule, SourceLine};

pub(super) const RULES: &[Rule] = &[HEADER, FRAMING, GRAMMAR, SPEC_OP];
const HEADER: Rule = Rule {
    id: "SPIRV-header",
    text: "a module begins with the magic number, a version from 1.0 to 1.6, a generator, a bound and a zero",
};
const FRAMING: Rule =
    Rule { id: "SPIRV-framing", text: "each instruction has at least one word and ends inside the module" };
const GRAMMAR: Rule =
    Rule { id: "SPIRV-grammar", text: "each instruction is known and has the operands of its grammar" };
const SPEC_OP: Rule =
    Rule { id: "SPIRV-OpSpecConstantOp", text: "OpSpecConstantOp takes only the instructions listed for it" };

const HEADER_WORDS: usize = 5;

/// An instruction and where it stands.
pub(super) struct Entry {
    pub(super) instruction: dr::Instruction,
    /// Index of its first word.
    pub(super) offset: usize,
    /// The line in force.
    line: Option<SourceLine>,
}

/// One function: the entries from OpFunction to OpFunctionEnd.
pub(super) struct Function {
    pub(super) id: Word,
    pub(super) entries: Range<usize>,
}

/// A module.
#[derive(Default)]
pub(super) struct Module {
    pub(super) version: (u8, u8),
    pub(super) bound: Word,
    pub(super) entries: Vec<Entry>,
    /// Those declared and those that they imply.
    pub(super) capabilities: FxHashSet<spirv::Capability>,
    pub(super) extensions: FxHashSet<String>,
    pub(super) functions: Vec<Function>,
    definitions: FxHashMap<Word, usize>,
    names: FxHashMap<Word, String>,
}

impl Entry {
    pub(super) fn op(&self) -> Op {
        self.instruction.class.opcode
    }

    pub(super) fn operands(&self) -> &[dr::Operand] {
        &self.instruction.operands
    }

    /// The operand at this index, if it is an id.
    pub(super) fn id(&self, index: usize) -> Option<Word> {
        self.operands().get(index).and_then(id_of)
    }

    /// The operand at this index, if it is a 32-bit literal.
    pub(super) fn literal(&self, index: usize) -> Option<u32> {
        match self.operands().get(index) {
            Some(dr::Operand::LiteralBit32(value)) => Some(*value),
            _ => None,
        }
    }

    /// A finding at this instruction.
    pub(super) fn finding(&self, rule: &Rule, message: impl Into<String>) -> Finding {
        Finding { rule: rule.id, message: message.into(), place: Some(self.place()) }
    }

    fn place(&self) -> Place {
        Place {
            offset: self.offset,
            instruction: self.instruction.class.opname,
            result: self.instruction.result_id,
            line: self.line.clone(),
        }
    }
}

/// The id in an operand of any kind.
pub(super) fn id_of(operand: &dr::Operand) -> Option<Word> {
    match operand {
        dr::Operand::IdRef(id) | dr::Operand::IdScope(id) | dr::Operand::IdMemorySemantics(id) => Some(*id),
        _ => None,
    }
}

impl Module {
    /// The module that these words are; what cannot be read goes into `findings`.
    pub(super) fn read(words: &[u32], findings: &mut Vec<Finding>) -> Self {
        let refuse = |rule: &Rule, offset, message: String| {
            let place = Place { offset, instruction: "header", result: None, line: None };
            Finding { rule: rule.id, message, place: Some(place) }
        };
        if words.len() < HEADER_WORDS || words[0] != spirv::MAGIC_NUMBER {
            findings.push(refuse(&HEADER, 0, "this is no SPIR-V module".to_owned()));
            return Self::default();
        }
        let [_, major, minor, _] = words[1].to_be_bytes();
        if words[1] & 0xff00_00ff != 0 || major != 1 || minor > 6 {
            findings.push(refuse(&HEADER, 1, format!("{:#010x} is no version from 1.0 to 1.6", words[1])));
        }
        if words[4] != 0 {
            findings.push(refuse(&HEADER, 4, "the reserved word is not zero".to_owned()));
        }
        let mut reader = Reader {
            words,
            module: Self { version: (major, minor), bound: words[3], ..Self::default() },
            line: None,
            offset: HEADER_WORDS,
            open: None,
        };
        let prepared = match prepare(words) {
            Ok(prepared) => prepared,
            Err((rule, offset, message)) => {
                findings.push(refuse(rule, offset, message));
                return reader.module;
            }
        };
        if let Err(error) = binary::parse_words(&prepared, &mut reader) {
            findings.push(refuse(&GRAMMAR, reader.offset, error.to_string()));
        }
        reader.module
    }

    /// The entry that defines an id.
    pub(super) fn definition(&self, id: Word) -> Option<&Entry> {
        self.definitions.get(&id).map(|index| &self.entries[*index])
    }

    /// The index of the entry that defines an id.
    pub(super) fn definition_index(&self, id: Word) -> Option<usize> {
        self.definitions.get(&id).copied()
    }

    /// The type of the value that an id names.
    pub(super) fn type_of(&self, id: Word) -> Option<Word> {
        self.definition(id)?.instruction.result_type
    }

    /// Storage class and pointee of a pointer type.
    pub(super) fn pointer(&self, ty: Word) -> Option<(spirv::StorageClass, Word)> {
        let entry = self.definition(ty).filter(|entry| entry.op() == Op::TypePointer)?;
        match entry.operands() {
            [dr::Operand::StorageClass(class), dr::Operand::IdRef(pointee)] => Some((*class, *pointee)),
            _ => None,
        }
    }

    /// The value of an OpConstant or OpConstantNull of 32 bits or fewer.
    pub(super) fn constant(&self, id: Word) -> Option<u32> {
        let entry = self.definition(id)?;
        match entry.op() {
            Op::Constant => entry.literal(0),
            Op::ConstantNull => Some(0),
            _ => None,
        }
    }

    /// OpMemoryModel's operands.
    pub(super) fn memory_model(&self) -> Option<(spirv::AddressingModel, spirv::MemoryModel)> {
        let entry = self.entries.iter().find(|entry| entry.op() == Op::MemoryModel)?;
        match entry.operands() {
            [dr::Operand::AddressingModel(addressing), dr::Operand::MemoryModel(memory)] => {
                Some((*addressing, *memory))
            }
            _ => None,
        }
    }

    /// Whether the capability is declared or implied.
    pub(super) fn has(&self, capability: spirv::Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// How an id is shown: with its OpName, if it has one.
    pub(super) fn name(&self, id: Word) -> String {
        match self.names.get(&id) {
            Some(name) if !name.is_empty() => format!("%{id} ({name})"),
            _ => format!("%{id}"),
        }
    }

    /// The entries of a function.
    pub(super) fn body(&self, function: &Function) -> &[Entry] {
        &self.entries[function.entries.clone()]
    }

    fn declare(&mut self, capability: spirv::Capability) {
        if self.capabilities.insert(capability) {
            for implied in dr::Operand::Capability(capability).required_capabilities() {
                self.declare(implied);
            }
        }
    }
}

type Refusal = (&'static Rule, usize, String);

/// Words that rspirv's parser can take: it trusts word counts, and reads the operands of OpSpecConstantOp as if
/// none could repeat, so that those become OpUndef for it and get their operands back from the original words.
fn prepare(words: &[u32]) -> Result<Vec<u32>, Refusal> {
    let mut prepared = words[..HEADER_WORDS].to_vec();
    let mut offset = HEADER_WORDS;
    while offset < words.len() {
        let count = (words[offset] >> 16) as usize;
        let Some(instruction) = words.get(offset..offset + count).filter(|_| count > 0) else {
            return Err((&FRAMING, offset, format!("an instruction of {count} words does not fit")));
        };
        if words[offset] & 0xffff == Op::SpecConstantOp as u32 {
            let [_, ty, result, op, ..] = *instruction else {
                return Err((&GRAMMAR, offset, "OpSpecConstantOp has too few operands".to_owned()));
            };
            if !Op::from_u32(op).is_some_and(is_spec_op) {
                return Err((
                    &SPEC_OP,
                    offset,
                    format!("instruction {op} is not allowed in OpSpecConstantOp"),
                ));
            }
            prepared.extend([3 << 16 | Op::Undef as u32, ty, result]);
        } else {
            prepared.extend(instruction);
        }
        offset += count;
    }
    Ok(prepared)
}

struct Reader<'w> {
    words: &'w [u32],
    module: Module,
    line: Option<SourceLine>,
    offset: usize,
    open: Option<(Word, usize)>,
}

impl Consumer for Reader<'_> {
    fn initialize(&mut self) -> Action {
        Action::Continue
    }

    fn finalize(&mut self) -> Action {
        Action::Continue
    }

    fn consume_header(&mut self, _header: dr::ModuleHeader) -> Action {
        Action::Continue
    }

    fn consume_instruction(&mut self, mut instruction: dr::Instruction) -> Action {
        let count = (self.words[self.offset] >> 16) as usize;
        let words = &self.words[self.offset..self.offset + count];
        if words[0] & 0xffff == Op::SpecConstantOp as u32 {
            instruction = spec_constant_op(words);
        }
        let entry = Entry { instruction, offset: self.offset, line: self.line.clone() };
        self.offset += count;
        self.note(&entry);
        self.module.entries.push(entry);
        Action::Continue
    }
}

impl Reader<'_> {
    /// Keeps what later questions need.
    fn note(&mut self, entry: &Entry) {
        let index = self.module.entries.len();
        if let Some(result) = entry.instruction.result_id {
            self.module.definitions.entry(result).or_insert(index);
        }
        match (entry.op(), entry.operands()) {
            (Op::Capability, [dr::Operand::Capability(capability)]) => self.module.declare(*capability),
            (Op::Extension, [dr::Operand::LiteralString(name)]) => {
                self.module.extensions.insert(name.clone());
            }
            (Op::Name, [dr::Operand::IdRef(id), dr::Operand::LiteralString(name)]) => {
                self.module.names.insert(*id, name.clone());
            }
            (Op::String, [dr::Operand::LiteralString(text)]) => {
                if let Some(id) = entry.instruction.result_id {
                    self.module.names.insert(id, text.clone());
                }
            }
            (
                Op::Line,
                [
                    dr::Operand::IdRef(file),
                    dr::Operand::LiteralBit32(line),
                    dr::Operand::LiteralBit32(column),
                ],
            ) => {
                let file = self.module.names.get(file).cloned().unwrap_or_default();
                self.line = Some(SourceLine { file: file.into(), line: *line, column: *column });
            }
            (Op::Function, _) => {
                self.line = None;
                self.open = Some((entry.instruction.result_id.unwrap_or(0), index));
            }
            (Op::FunctionEnd, _) => {
                self.line = None;
                if let Some((id, start)) = self.open.take() {
                    self.module.functions.push(Function { id, entries: start..index + 1 });
                }
            }
            (op, _) if op == Op::NoLine || rspirv::grammar::reflect::is_block_terminator(op) => {
                self.line = None;
            }
            _ => {}
        }
    }
}

/// The instruction with ids for operands. Only those that end in literals need to be told apart.
fn spec_constant_op(words: &[u32]) -> dr::Instruction {
    let op = Op::from_u32(words[3]).unwrap_or(Op::Nop);
    let ids = match op {
        Op::CompositeExtract => 1,
        Op::CompositeInsert | Op::VectorShuffle => 2,
        _ => usize::MAX,
    };
    let mut operands = vec![dr::Operand::LiteralSpecConstantOpInteger(op)];
    operands.extend(words[4..].iter().enumerate().map(|(index, word)| {
        if index < ids { dr::Operand::IdRef(*word) } else { dr::Operand::LiteralBit32(*word) }
    }));
    dr::Instruction::new(Op::SpecConstantOp, Some(words[1]), Some(words[2]), operands)
}

/// SPIR-V 3.49.7, OpSpecConstantOp: for any module, for kernels, and for VK_KHR_variable_pointers and friends.
fn is_spec_op(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        SConvert
            | FConvert
            | UConvert
            | SNegate
            | Not
            | IAdd
            | ISub
            | IMul
            | UDiv
            | SDiv
            | UMod
            | SRem
            | SMod
            | ShiftRightLogical
            | ShiftRightArithmetic
            | ShiftLeftLogical
            | BitwiseOr
            | BitwiseXor
            | BitwiseAnd
            | VectorShuffle
            | CompositeExtract
            | CompositeInsert
            | LogicalOr
            | LogicalAnd
            | LogicalNot
            | LogicalEqual
            | LogicalNotEqual
            | Select
            | IEqual
            | INotEqual
            | ULessThan
            | SLessThan
            | UGreaterThan
            | SGreaterThan
            | ULessThanEqual
            | SLessThanEqual
            | UGreaterThanEqual
            | SGreaterThanEqual
            | QuantizeToF16
            | ConvertFToS
            | ConvertSToF
            | ConvertFToU
            | ConvertUToF
            | ConvertPtrToU
            | ConvertUToPtr
            | GenericCastToPtr
            | PtrCastToGeneric
            | Bitcast
            | FNegate
            | FAdd
            | FSub
            | FMul
            | FDiv
            | FRem
            | FMod
            | AccessChain
            | InBoundsAccessChain
            | PtrAccessChain
            | InBoundsPtrAccessChain
            | CooperativeMatrixLengthKHR
            | CooperativeMatrixLengthNV
    )
}
