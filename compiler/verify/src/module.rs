//! A decoded SPIR-V module: instructions in order, with positions, definitions and functions.
//!
//! Decodes words of any origin in one pass. A decoding error is a finding and ends the pass. Tables are vectors
//! indexed by ids, and text is formatted only for findings. Must not depend on the rules.

use std::{
    cell::OnceCell,
    ops::Range,
    sync::{Arc, LazyLock},
};

use rspirv::{
    dr,
    grammar::{self, INSTRUCTION_TABLE, OperandKind, OperandQuantifier, reflect},
    spirv::{self, Op, Word},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Finding, Position, Rule, Severity, SourceLine,
    operand::{Enumerant, Enumerants, Operand},
};

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

type Class = &'static grammar::Instruction<'static>;

/// An instruction and its position.
pub(super) struct Entry<'w> {
    /// The opcode, which is also in the class: most rules read only this.
    op: Op,
    pub(super) class: Class,
    pub(super) result_type: Option<Word>,
    pub(super) result_id: Option<Word>,
    operands: &'w [Operand],
    /// Index of its first word.
    pub(super) offset: u32,
    /// The number of labels up to and including this instruction.
    pub(super) block: u32,
    /// The current source line.
    line: Option<&'w SourceLine>,
}

/// One function: the entries from OpFunction to OpFunctionEnd.
pub(super) struct Function {
    pub(super) id: Word,
    pub(super) entries: Range<usize>,
}

/// A module.
pub(super) struct Module<'w> {
    words: &'w [u32],
    pub(super) version: (u8, u8),
    pub(super) bound: Word,
    pub(super) entries: Vec<Entry<'w>>,
    /// The declared capabilities and those that they imply.
    capabilities: FxHashSet<spirv::Capability>,
    pub(super) functions: &'w [Function],
    pub(super) enumerants: &'w [Enumerant],
    /// The enumerants that require a capability, each with its entry, in the order of the words.
    pub(super) needs: &'w [(u32, u32)],
    definitions: &'w Definitions,
    names: OnceCell<FxHashMap<Word, String>>,
}

impl Entry<'_> {
    /// The opcode.
    pub(super) fn op(&self) -> Op {
        self.op
    }

    /// The operands after the result.
    pub(super) fn operands(&self) -> &[Operand] {
        self.operands
    }

    /// The operand at this index, if it is an id.
    pub(super) fn id(&self, index: usize) -> Option<Word> {
        self.operands.get(index).and_then(Operand::id)
    }

    /// The operand at this index, if it is a 32-bit literal.
    pub(super) fn literal(&self, index: usize) -> Option<u32> {
        match self.operands.get(index) {
            Some(Operand::LiteralBit32(value)) => Some(*value),
            _ => None,
        }
    }

    /// A finding at this instruction.
    pub(super) fn finding(&self, rule: &Rule, message: impl Into<String>) -> Finding {
        let position = Some(self.position());
        Finding { rule: rule.id, message: message.into(), position, severity: Severity::Error }
    }

    /// The position of the instruction.
    pub(super) fn position(&self) -> Position {
        Position {
            offset: self.offset as usize,
            instruction: Some(self.class.opname),
            result: self.result_id,
            line: self.line.cloned(),
        }
    }
}

impl<'w> Module<'w> {
    /// The module that was decoded.
    pub(super) fn new(decoded: &'w Decoded<'w>) -> Self {
        let mut block = 0;
        let mut entries = Vec::with_capacity(decoded.raw.len());
        let mut capabilities = FxHashSet::default();
        for (index, raw) in decoded.raw.iter().enumerate() {
            block += u32::from(raw.class.opcode == Op::Label);
            let end =
                decoded.raw.get(index + 1).map_or(decoded.operands.len(), |next| next.operands as usize);
            let operands = &decoded.operands[raw.operands as usize..end];
            if let (Op::Capability, [Operand::Capability(capability)]) = (raw.class.opcode, operands) {
                declare(*capability, &mut capabilities);
            }
            entries.push(Entry {
                op: raw.class.opcode,
                class: raw.class,
                result_type: raw.result_type,
                result_id: raw.result_id,
                operands,
                offset: raw.offset,
                block,
                line: raw.line.map(|line| &decoded.lines[line as usize]),
            });
        }
        Self {
            words: decoded.words,
            version: decoded.version,
            bound: decoded.words[3],
            entries,
            capabilities,
            functions: &decoded.functions,
            enumerants: &decoded.enumerants.rows,
            needs: &decoded.needs,
            definitions: &decoded.definitions,
            names: OnceCell::new(),
        }
    }

    /// The entry that defines an id.
    pub(super) fn definition(&self, id: Word) -> Option<&Entry<'w>> {
        self.definitions.get(id).map(|index| &self.entries[index])
    }

    /// The index of the entry that defines an id.
    pub(super) fn definition_index(&self, id: Word) -> Option<usize> {
        self.definitions.get(id)
    }

    /// The type of the value that an id names.
    pub(super) fn type_of(&self, id: Word) -> Option<Word> {
        self.definition(id)?.result_type
    }

    /// The storage class and the pointee of a pointer type.
    pub(super) fn pointer(&self, ty: Word) -> Option<(spirv::StorageClass, Word)> {
        let entry = self.definition(ty).filter(|entry| entry.op() == Op::TypePointer)?;
        match entry.operands() {
            [Operand::StorageClass(class), Operand::IdRef(pointee)] => Some((*class, *pointee)),
            _ => None,
        }
    }

    /// The storage class of an untyped pointer type.
    pub(super) fn untyped_pointer(&self, ty: Word) -> Option<spirv::StorageClass> {
        let entry = self.definition(ty).filter(|entry| entry.op() == Op::TypeUntypedPointerKHR)?;
        match entry.operands() {
            [Operand::StorageClass(class)] => Some(*class),
            _ => None,
        }
    }

    /// The value of an OpConstant, OpSpecConstant (its default) or OpConstantNull of 32 bits or fewer.
    pub(super) fn constant(&self, id: Word) -> Option<u32> {
        let entry = self.definition(id)?;
        match entry.op() {
            Op::Constant | Op::SpecConstant => entry.literal(0),
            Op::ConstantNull => Some(0),
            _ => None,
        }
    }

    /// OpMemoryModel's operands.
    pub(super) fn memory_model(&self) -> Option<(spirv::AddressingModel, spirv::MemoryModel)> {
        let entry = self.entries.iter().find(|entry| entry.op() == Op::MemoryModel)?;
        match entry.operands() {
            [Operand::AddressingModel(addressing), Operand::MemoryModel(memory)] => {
                Some((*addressing, *memory))
            }
            _ => None,
        }
    }

    /// Whether the capability is declared or implied.
    pub(super) fn has(&self, capability: spirv::Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// The entries before the first function.
    pub(super) fn preamble(&self) -> &[Entry<'w>] {
        let end = self.functions.first().map_or(self.entries.len(), |function| function.entries.start);
        &self.entries[..end]
    }

    /// The function with this id.
    pub(super) fn function(&self, id: Word) -> Option<&'w Function> {
        let start = self.definition_index(id)?;
        let index = self.functions.binary_search_by_key(&start, |function| function.entries.start).ok()?;
        Some(&self.functions[index])
    }

    /// An id for messages: with its OpName, if it has one.
    pub(super) fn name(&self, id: Word) -> String {
        let names = self.names.get_or_init(|| {
            let named = self.entries.iter().filter_map(|entry| match (entry.op(), entry.operands()) {
                (Op::Name, [Operand::IdRef(id), Operand::LiteralString(at)]) => Some((*id, *at)),
                (Op::String, [Operand::LiteralString(at)]) => Some((entry.result_id?, *at)),
                _ => None,
            });
            named.map(|(id, at)| (id, text(self.words, at))).collect()
        });
        match names.get(&id) {
            Some(name) if !name.is_empty() => format!("%{id} ({name})"),
            _ => format!("%{id}"),
        }
    }

    /// The text of a string operand.
    pub(super) fn text(&self, at: u32) -> String {
        text(self.words, at)
    }

    /// The words of an instruction after the first one.
    pub(super) fn operand_words(&self, entry: &Entry<'_>) -> &'w [u32] {
        let start = entry.offset as usize;
        &self.words[start + 1..start + (self.words[start] >> 16) as usize]
    }

    /// The entries of a function.
    pub(super) fn body(&self, function: &Function) -> &[Entry<'w>] {
        &self.entries[function.entries.clone()]
    }
}

fn declare(capability: spirv::Capability, declared: &mut FxHashSet<spirv::Capability>) {
    if declared.insert(capability) {
        for implied in dr::Operand::Capability(capability).required_capabilities() {
            declare(implied, declared);
        }
    }
}

/// The maximum id bound (SPIR-V 2.17).
pub(super) const MAX_BOUND: Word = 4_194_303;

/// The first entry that defines each id. A module's bound is not trusted for allocation: ids beyond SPIR-V's universal
/// limit (SPIR-V 2.17) are in a map.
#[derive(Default)]
struct Definitions {
    near: Vec<u32>,
    far: FxHashMap<Word, u32>,
}

impl Definitions {
    const NONE: u32 = u32::MAX;

    fn get(&self, id: Word) -> Option<usize> {
        let index = match self.near.get(id as usize) {
            Some(index) => *index,
            None if self.far.is_empty() => return None,
            None => *self.far.get(&id)?,
        };
        (index != Self::NONE).then_some(index as usize)
    }

    fn record(&mut self, id: Word, index: u32) {
        let at = id as usize;
        if id > MAX_BOUND {
            self.far.entry(id).or_insert(index);
            return;
        }
        if at >= self.near.len() {
            self.near.resize(at + 1, Self::NONE);
        }
        if self.near[at] == Self::NONE {
            self.near[at] = index;
        }
    }
}

/// An instruction during decoding.
struct Raw {
    class: Class,
    offset: u32,
    result_type: Option<Word>,
    result_id: Option<Word>,
    /// The index of its first operand.
    operands: u32,
    /// The index of the current source line.
    line: Option<u32>,
}

/// The decoded words of a module.
pub(super) struct Decoded<'w> {
    words: &'w [u32],
    version: (u8, u8),
    raw: Vec<Raw>,
    operands: Vec<Operand>,
    enumerants: Enumerants,
    needs: Vec<(u32, u32)>,
    definitions: Definitions,
    functions: Vec<Function>,
    lines: Vec<SourceLine>,
}

type DecodeError = (&'static Rule, String);

impl<'w> Decoded<'w> {
    /// Decodes words, and adds decoding errors to `findings`. Returns `None` if there is no header.
    pub(super) fn read(words: &'w [u32], findings: &mut Vec<Finding>) -> Option<Self> {
        let report = |rule: &Rule, offset, message: String| {
            let position = Position { offset, instruction: None, result: None, line: None };
            Finding { rule: rule.id, message, position: Some(position), severity: Severity::Error }
        };
        if words.len() < HEADER_WORDS || words[0] != spirv::MAGIC_NUMBER {
            findings.push(report(&HEADER, 0, "this is not a SPIR-V module".to_owned()));
            return None;
        }
        if words.len() > u32::MAX as usize {
            findings.push(report(&FRAMING, 0, "the module has 4294967296 words or more".to_owned()));
            return None;
        }
        let [_, major, minor, _] = words[1].to_be_bytes();
        if words[1] & 0xff00_00ff != 0 || major != 1 || minor > 6 {
            findings.push(report(
                &HEADER,
                1,
                format!("the version {:#010x} is not between 1.0 and 1.6", words[1]),
            ));
        }
        if words[4] != 0 {
            findings.push(report(&HEADER, 4, "the reserved word is not zero".to_owned()));
        }
        let decoded = Self {
            words,
            version: (major, minor),
            raw: Vec::with_capacity(words.len() / 4),
            operands: Vec::with_capacity(words.len() / 2),
            enumerants: Enumerants::default(),
            needs: Vec::new(),
            definitions: Definitions::default(),
            functions: Vec::new(),
            lines: Vec::new(),
        };
        let mut reader = Reader {
            decoded,
            at: HEADER_WORDS,
            end: HEADER_WORDS,
            line: None,
            files: FxHashMap::default(),
            open: None,
            bytes: Vec::new(),
        };
        let mut offset = HEADER_WORDS;
        while offset < words.len() {
            match reader.instruction(offset) {
                Ok(()) => offset = reader.end,
                Err((rule, message)) => {
                    findings.push(report(rule, offset, message));
                    break;
                }
            }
        }
        Some(reader.decoded)
    }
}

/// The grammar of an instruction.
fn class_of(opcode: u32) -> Option<Class> {
    struct Table {
        rows: Vec<Class>,
        /// The row of each opcode, plus 1.
        indices: Vec<u16>,
    }
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let rows: Vec<Class> = INSTRUCTION_TABLE.iter().collect();
        let last = rows.iter().map(|row| row.opcode as usize).max().unwrap_or(0);
        let mut indices = vec![0; last + 1];
        for (index, row) in rows.iter().enumerate() {
            indices[row.opcode as usize] = index as u16 + 1;
        }
        Table { rows, indices }
    });
    let index = *TABLE.indices.get(opcode as usize)?;
    TABLE.rows.get(usize::from(index).wrapping_sub(1)).copied()
}

/// Reads instructions in order.
struct Reader<'w> {
    decoded: Decoded<'w>,
    /// The next word.
    at: usize,
    /// The end of the instruction.
    end: usize,
    /// The index of the current source line.
    line: Option<u32>,
    /// The texts of the OpStrings that OpLine uses.
    files: FxHashMap<Word, Arc<str>>,
    open: Option<(Word, usize)>,
    /// A buffer for strings.
    bytes: Vec<u8>,
}

impl Reader<'_> {
    fn instruction(&mut self, offset: usize) -> Result<(), DecodeError> {
        let words = self.decoded.words;
        let (count, opcode) = ((words[offset] >> 16) as usize, words[offset] & 0xffff);
        if count == 0 || count > words.len() - offset {
            return Err((&FRAMING, format!("an instruction of {count} words exceeds the module")));
        }
        let class =
            class_of(opcode).ok_or_else(|| (&GRAMMAR, format!("there is no instruction {opcode}")))?;
        (self.at, self.end) = (offset + 1, offset + count);
        let index = self.decoded.raw.len();
        self.decoded.raw.push(Raw {
            class,
            offset: offset as u32,
            result_type: None,
            result_id: None,
            operands: self.decoded.operands.len() as u32,
            line: self.line,
        });
        if class.opcode == Op::SpecConstantOp {
            self.spec_constant_op()?;
        } else {
            self.operands(class)?;
        }
        self.record(index);
        Ok(())
    }

    fn operands(&mut self, class: Class) -> Result<(), DecodeError> {
        for operand in class.operands {
            match operand.quantifier {
                OperandQuantifier::One => self.operand(operand.kind)?,
                OperandQuantifier::ZeroOrOne if self.at == self.end => break,
                OperandQuantifier::ZeroOrOne => self.operand(operand.kind)?,
                OperandQuantifier::ZeroOrMore => {
                    while self.at < self.end {
                        self.operand(operand.kind)?;
                    }
                }
            }
        }
        match self.at == self.end {
            true => Ok(()),
            false => Err((&GRAMMAR, format!("Op{} has too many operands", class.opname))),
        }
    }

    fn word(&mut self) -> Result<u32, DecodeError> {
        if self.at == self.end {
            return Err((&GRAMMAR, format!("Op{} has too few operands", self.raw().class.opname)));
        }
        let word = self.decoded.words[self.at];
        self.at += 1;
        Ok(word)
    }

    /// The current instruction.
    fn raw(&mut self) -> &mut Raw {
        self.decoded.raw.last_mut().expect("an instruction is being read")
    }

    fn operand(&mut self, kind: OperandKind) -> Result<(), DecodeError> {
        let operand = match kind {
            OperandKind::IdResultType => {
                let id = self.word()?;
                self.raw().result_type = Some(id);
                return Ok(());
            }
            OperandKind::IdResult => {
                let id = self.word()?;
                self.raw().result_id = Some(id);
                return Ok(());
            }
            OperandKind::IdRef => Operand::IdRef(self.word()?),
            OperandKind::IdScope => Operand::IdScope(self.word()?),
            OperandKind::IdMemorySemantics => Operand::IdMemorySemantics(self.word()?),
            OperandKind::LiteralInteger | OperandKind::LiteralFloat | OperandKind::LiteralExtInstInteger => {
                Operand::LiteralBit32(self.word()?)
            }
            OperandKind::LiteralString => self.string()?,
            OperandKind::LiteralContextDependentNumber => {
                let ty = self.raw().result_type;
                self.literal(ty)?
            }
            OperandKind::PairLiteralIntegerIdRef => {
                let first = self.raw().operands as usize;
                let selector = self.decoded.operands.get(first).and_then(Operand::id);
                let selector = selector.and_then(|id| self.decoded.definitions.get(id));
                let ty = selector.and_then(|at| self.decoded.raw[at].result_type);
                let literal = self.literal(ty)?;
                self.decoded.operands.push(literal);
                Operand::IdRef(self.word()?)
            }
            OperandKind::PairIdRefLiteralInteger => {
                let id = self.word()?;
                self.decoded.operands.push(Operand::IdRef(id));
                Operand::LiteralBit32(self.word()?)
            }
            OperandKind::PairIdRefIdRef => {
                let id = self.word()?;
                self.decoded.operands.push(Operand::IdRef(id));
                Operand::IdRef(self.word()?)
            }
            _ => return self.enumerant(kind),
        };
        self.decoded.operands.push(operand);
        Ok(())
    }

    fn enumerant(&mut self, kind: OperandKind) -> Result<(), DecodeError> {
        let value = self.word()?;
        let Some(row) = self.decoded.enumerants.find(kind, value) else {
            return Err((&GRAMMAR, format!("{value} is not a valid {kind:?}")));
        };
        let enumerant = &self.decoded.enumerants.rows[row];
        self.decoded.operands.push(enumerant.operand);
        // A built-in variable can be declared without its capability (SPIR-V 2.16.1), and a capability implies those it
        // requires.
        let is_free = matches!(kind, OperandKind::BuiltIn | OperandKind::Capability);
        if !is_free && !enumerant.capabilities.is_empty() {
            self.decoded.needs.push((self.decoded.raw.len() as u32 - 1, row as u32));
        }
        for parameter in 0..enumerant.parameters.len() {
            let kind = self.decoded.enumerants.rows[row].parameters[parameter];
            self.operand(kind)?;
        }
        Ok(())
    }

    /// A literal of this type (SPIR-V 2.2.1); one word if the type is not numeric.
    fn literal(&mut self, ty: Option<Word>) -> Result<Operand, DecodeError> {
        let ty = ty.and_then(|ty| self.decoded.definitions.get(ty)).map(|index| &self.decoded.raw[index]);
        let width = ty.filter(|ty| matches!(ty.class.opcode, Op::TypeInt | Op::TypeFloat));
        let width = width.and_then(|ty| match self.decoded.operands.get(ty.operands as usize) {
            Some(Operand::LiteralBit32(width)) => Some(*width),
            _ => None,
        });
        match width {
            Some(8 | 16 | 32) | None => Ok(Operand::LiteralBit32(self.word()?)),
            Some(64) => {
                self.word()?;
                self.word()?;
                Ok(Operand::LiteralBit64)
            }
            Some(width) => Err((&GRAMMAR, format!("a literal has {width} bits"))),
        }
    }

    fn string(&mut self) -> Result<Operand, DecodeError> {
        let start = self.at;
        self.bytes.clear();
        loop {
            let word = self.word()?.to_le_bytes();
            if let Some(length) = word.iter().position(|byte| *byte == 0) {
                self.bytes.extend(&word[..length]);
                break;
            }
            self.bytes.extend(word);
        }
        match str::from_utf8(&self.bytes) {
            Ok(_) => Ok(Operand::LiteralString(start as u32)),
            Err(_) => Err((&GRAMMAR, "a string is not UTF-8".to_owned())),
        }
    }

    /// An instruction whose operands are ids, except for those with trailing literals.
    fn spec_constant_op(&mut self) -> Result<(), DecodeError> {
        let (ty, result, op) = (self.word()?, self.word()?, self.word()?);
        let raw = self.raw();
        (raw.result_type, raw.result_id) = (Some(ty), Some(result));
        let Some(op) = Op::from_u32(op).filter(|op| is_spec_op(*op)) else {
            return Err((&SPEC_OP, format!("instruction {op} is not allowed in OpSpecConstantOp")));
        };
        let ids = match op {
            Op::CompositeExtract => 1,
            Op::CompositeInsert | Op::VectorShuffle => 2,
            _ => usize::MAX,
        };
        self.decoded.operands.push(Operand::LiteralBit32(op as u32));
        for index in 0..self.end - self.at {
            let word = self.word()?;
            let operand = if index < ids { Operand::IdRef(word) } else { Operand::LiteralBit32(word) };
            self.decoded.operands.push(operand);
        }
        Ok(())
    }

    /// Records facts about an instruction for later queries.
    fn record(&mut self, index: usize) {
        let raw = &self.decoded.raw[index];
        let (op, result) = (raw.class.opcode, raw.result_id);
        if let Some(result) = result {
            self.decoded.definitions.record(result, index as u32);
        }
        match op {
            Op::Line => {
                let operands = &self.decoded.operands[raw.operands as usize..];
                if let [Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)] =
                    *operands
                {
                    let line = SourceLine { file: self.file(file), line, column };
                    self.line = Some(self.decoded.lines.len() as u32);
                    self.decoded.lines.push(line);
                }
            }
            Op::Function => {
                self.line = None;
                self.open = Some((result.unwrap_or(0), index));
            }
            Op::FunctionEnd => {
                self.line = None;
                if let Some((id, start)) = self.open.take() {
                    self.decoded.functions.push(Function { id, entries: start..index + 1 });
                }
            }
            _ if op == Op::NoLine || reflect::is_block_terminator(op) => self.line = None,
            _ => {}
        }
    }

    fn file(&mut self, id: Word) -> Arc<str> {
        let decoded = &self.decoded;
        let file = self.files.entry(id).or_insert_with(|| {
            let string = decoded.definitions.get(id).map(|index| &decoded.raw[index]);
            let string = string.filter(|raw| raw.class.opcode == Op::String);
            match string.and_then(|raw| decoded.operands.get(raw.operands as usize)) {
                Some(Operand::LiteralString(at)) => text(decoded.words, *at).into(),
                _ => Arc::default(),
            }
        });
        Arc::clone(file)
    }
}

/// The string that begins at this word. The reader has checked that it ends inside the module.
fn text(words: &[u32], at: u32) -> String {
    let bytes = words[at as usize..].iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

/// SPIR-V 3.49.7, OpSpecConstantOp: the operations for all modules, for kernels, and for variable pointers.
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
