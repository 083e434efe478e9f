//! Generates kernel modules that are mostly valid: changes that keep the types of values, so that mutants reach the
//! reader, the passes and the emitter.

mod flow;
mod instructions;
mod transplant;
mod types;

use rspirv::{
    binary::Assemble,
    dr::{self, Instruction, Operand},
    spirv::{Decoration, Op, Word},
};

use self::types::Types;
use crate::random::Random;

/// A module to start from.
pub(super) struct Seed {
    module: dr::Module,
    types: Types,
}

impl Seed {
    /// The module of these words, if rspirv can load it.
    pub(super) fn new(words: &[u32]) -> Option<Self> {
        let module = dr::load_words(words).ok().filter(|module| !module.functions.is_empty())?;
        let types = Types::of_module(&module);
        Some(Self { module, types })
    }
}

/// A random mutant of one of the seeds.
pub(super) fn module(seeds: &[Seed], random: &mut Random) -> Vec<u32> {
    let seed = random.pick(seeds);
    let mut mutant = Mutant { seeds, module: seed.module.clone(), types: seed.types.clone(), random };
    let changes = *mutant.random.pick(&[1, 1, 2, 2, 3, 4, 6, 10]);
    for _ in 0..changes {
        mutant.change();
    }
    mutant.module.assemble()
}

/// The position of an instruction in a function.
#[derive(Clone, Copy)]
struct At {
    function: usize,
    block: usize,
    index: usize,
}

/// A module during its mutation.
struct Mutant<'m> {
    seeds: &'m [Seed],
    module: dr::Module,
    types: Types,
    random: &'m mut Random,
}

impl Mutant<'_> {
    fn change(&mut self) {
        match self.random.below(20) {
            0..4 => self.replace_operand(),
            4 | 5 => self.replace_opcode(),
            6..10 => self.transplant(),
            10 => self.delete(),
            11 => self.duplicate(),
            12 => self.change_constant(),
            13 => self.change_literal(),
            14 => self.redirect_edge(),
            15 => self.add_edge(),
            16 => self.split_block(),
            17 => self.decorate(),
            18 => self.change_width(),
            _ => self.change_declaration(),
        }
    }

    fn fresh(&mut self) -> Word {
        let header = self.module.header.as_mut().expect("the loader has read it");
        header.bound += 1;
        header.bound - 1
    }

    /// The position of a random instruction of a function.
    fn position(&mut self) -> Option<At> {
        let with_blocks: Vec<usize> = (0..self.module.functions.len())
            .filter(|&function| !self.module.functions[function].blocks.is_empty())
            .collect();
        let function = *with_blocks.get(self.random.below(with_blocks.len()))?;
        let block = self.random.below(self.module.functions[function].blocks.len());
        let index = self.random.below(self.module.functions[function].blocks[block].instructions.len());
        Some(At { function, block, index })
    }

    fn instruction(&mut self, at: At) -> &mut Instruction {
        &mut self.module.functions[at.function].blocks[at.block].instructions[at.index]
    }

    /// A value of this type that can be used before a position: of the same block, the first block or the module. Rarely
    /// one of any block. If there is none, a constant.
    fn value(&mut self, ty: Word, at: At) -> Word {
        let function = &self.module.functions[at.function];
        let any = self.random.below(16) == 0;
        let blocks = function.blocks.iter().enumerate();
        let before =
            blocks.filter(|(block, _)| *block == 0 || *block == at.block || any).flat_map(|(block, it)| {
                let end = if block == at.block && !any {
                    at.index.min(it.instructions.len())
                } else {
                    it.instructions.len()
                };
                &it.instructions[..end]
            });
        let candidates = self.module.types_global_values.iter().chain(&function.parameters).chain(before);
        let ids: Vec<Word> =
            candidates.filter(|it| it.result_type == Some(ty)).filter_map(|it| it.result_id).collect();
        if ids.is_empty() || self.random.below(12) == 0 { self.constant(ty) } else { *self.random.pick(&ids) }
    }

    /// The operands of an instruction that are values, each with its type.
    fn values(&self, instruction: &Instruction) -> Vec<(usize, Word)> {
        let operands = instruction.operands.iter().enumerate();
        operands.filter_map(|(index, it)| Some((index, self.types.of_value(id_of(it)?)?))).collect()
    }

    fn replace_operand(&mut self) {
        let Some(at) = self.position() else { return };
        let instruction = self.instruction(at).clone();
        let values = self.values(&instruction);
        if !values.is_empty() {
            let (index, ty) = *self.random.pick(&values);
            let value = self.value(ty, at);
            set_id(&mut self.instruction(at).operands[index], value);
        }
    }

    /// Removes an instruction. Its uses get another value of its type.
    fn delete(&mut self) {
        let Some(at) = self.position() else { return };
        if flow::is_terminator(self.instruction(at).class.opcode) {
            return;
        }
        let removed = self.module.functions[at.function].blocks[at.block].instructions.remove(at.index);
        if let (Some(id), Some(ty)) = (removed.result_id, removed.result_type)
            && self.types.of_value(id).is_some()
        {
            self.types.forget(id);
            let other = self.value(ty, at);
            self.replace_uses(at.function, id, other);
            self.module.annotations.retain(|it| it.operands.first() != Some(&Operand::IdRef(id)));
            self.module.debug_names.retain(|it| it.operands.first() != Some(&Operand::IdRef(id)));
        }
    }

    fn replace_uses(&mut self, function: usize, from: Word, to: Word) {
        for block in &mut self.module.functions[function].blocks {
            for operand in block.instructions.iter_mut().flat_map(|it| &mut it.operands) {
                if id_of(operand) == Some(from) {
                    set_id(operand, to);
                }
            }
        }
    }

    /// Executes an instruction twice.
    fn duplicate(&mut self) {
        let Some(at) = self.position() else { return };
        let copy = self.instruction(at).clone();
        if !flow::is_terminator(copy.class.opcode) && copy.class.opcode != Op::Phi {
            self.insert(At { index: at.index + 1, ..at }, copy);
        }
    }

    /// Inserts an instruction with a new id. A later instruction of the block may use its result.
    fn insert(&mut self, at: At, mut instruction: Instruction) {
        let result = instruction.result_id.is_some().then(|| self.fresh());
        instruction.result_id = result;
        let ty = instruction.result_type;
        self.module.functions[at.function].blocks[at.block].instructions.insert(at.index, instruction);
        let (Some(result), Some(ty)) = (result, ty) else { return };
        self.types.define(result, ty);
        let block = &self.module.functions[at.function].blocks[at.block];
        let mut uses = Vec::new();
        for index in at.index + 1..block.instructions.len() {
            let values = self.values(&block.instructions[index]);
            uses.extend(
                values.into_iter().filter(|(_, other)| *other == ty).map(|(operand, _)| (index, operand)),
            );
        }
        if !uses.is_empty() && self.random.below(4) != 0 {
            let (index, operand) = *self.random.pick(&uses);
            set_id(&mut self.instruction(At { index, ..at }).operands[operand], result);
        }
    }

    /// Decorates a value, or changes a decoration.
    fn decorate(&mut self) {
        let count = self.module.annotations.len();
        if count > 0 && self.random.below(2) == 0 {
            let index = self.random.below(count);
            change_literal_of(&mut self.module.annotations[index], self.random);
            return;
        }
        let Some(at) = self.position() else { return };
        let parameters = &self.module.functions[at.function].parameters;
        let target = match self.random.below(3) {
            0 if !parameters.is_empty() => self.random.pick(parameters).result_id,
            1 => self.module.functions[at.function].def_id(),
            _ => self.instruction(at).result_id,
        };
        let Some(target) = target else { return };
        let decoration = *self.random.pick(&[
            Decoration::Alignment,
            Decoration::Constant,
            Decoration::FuncParamAttr,
            Decoration::FPFastMathMode,
            Decoration::FPRoundingMode,
            Decoration::LinkageAttributes,
            Decoration::MaxByteOffset,
            Decoration::NoSignedWrap,
            Decoration::NoContraction,
            Decoration::Restrict,
            Decoration::SaturatedConversion,
            Decoration::Volatile,
        ]);
        let mut operands = vec![Operand::IdRef(target), Operand::Decoration(decoration)];
        operands.extend(self.parameters(decoration));
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    fn parameters(&mut self, decoration: Decoration) -> Vec<Operand> {
        use rspirv::spirv::{FPFastMathMode, FPRoundingMode, FunctionParameterAttribute, LinkageType};
        let number = self.random.below(8) as u32;
        match decoration {
            Decoration::Alignment | Decoration::MaxByteOffset => vec![Operand::LiteralBit32(1 << number)],
            Decoration::FuncParamAttr => FunctionParameterAttribute::from_u32(number)
                .map(Operand::FunctionParameterAttribute)
                .into_iter()
                .collect(),
            Decoration::FPFastMathMode => {
                vec![Operand::FPFastMathMode(FPFastMathMode::from_bits_truncate(number))]
            }
            Decoration::FPRoundingMode => {
                FPRoundingMode::from_u32(number % 4).map(Operand::FPRoundingMode).into_iter().collect()
            }
            Decoration::LinkageAttributes => {
                let linkage =
                    *self.random.pick(&[LinkageType::Import, LinkageType::Export, LinkageType::LinkOnceODR]);
                let name = *self.random.pick(&["f", "sin", "_Z3sinf", "_Z3maxii", ""]);
                vec![Operand::LiteralString(name.to_owned()), Operand::LinkageType(linkage)]
            }
            _ => Vec::new(),
        }
    }

    /// Changes a literal of an instruction.
    fn change_literal(&mut self) {
        let Some(at) = self.position() else { return };
        let mut instruction = self.instruction(at).clone();
        change_literal_of(&mut instruction, self.random);
        *self.instruction(at) = instruction;
    }

    /// Changes a literal of a type, a variable, an execution mode or an entry point.
    fn change_declaration(&mut self) {
        let modes = self.module.execution_modes.iter_mut().chain(&mut self.module.entry_points);
        let mut declarations: Vec<&mut Instruction> =
            modes.chain(&mut self.module.types_global_values).collect();
        let index = self.random.below(declarations.len());
        if let Some(declaration) = declarations.get_mut(index) {
            change_literal_of(declaration, self.random);
        }
    }
}

/// The id in an operand.
fn id_of(operand: &Operand) -> Option<Word> {
    match *operand {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(id),
        _ => None,
    }
}

/// Replaces the id in an operand.
fn set_id(operand: &mut Operand, id: Word) {
    match operand {
        Operand::IdRef(old) | Operand::IdScope(old) | Operand::IdMemorySemantics(old) => *old = id,
        _ => {}
    }
}

/// A number that is often special.
fn number(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => 1 << random.below(64),
        4 => (1 << random.below(64)) - 1,
        5 => random.wide(),
        _ => random.below(40) as u64,
    }
}

/// Changes a literal, a mask or an enumerant.
fn change_literal_of(instruction: &mut Instruction, random: &mut Random) {
    use rspirv::spirv::{GroupOperation, ImageOperands, MemoryAccess, StorageClass};
    let literals: Vec<usize> =
        (0..instruction.operands.len()).filter(|&it| id_of(&instruction.operands[it]).is_none()).collect();
    if literals.is_empty() {
        return;
    }
    let index = *random.pick(&literals);
    match &mut instruction.operands[index] {
        Operand::LiteralBit32(value) => {
            *value = match random.below(3) {
                0 => value.wrapping_add(1),
                1 => value.wrapping_sub(1),
                _ => number(random) as u32,
            }
        }
        Operand::LiteralBit64(value) => *value = number(random),
        Operand::LiteralString(text) => {
            *text = random.pick(&["", "f", "main", "%d", "%s", "%v4hlf%n"]).to_string()
        }
        Operand::GroupOperation(operation) => {
            *operation = *random.pick(&[
                GroupOperation::Reduce,
                GroupOperation::InclusiveScan,
                GroupOperation::ExclusiveScan,
            ]);
        }
        Operand::StorageClass(class) => {
            *class = *random.pick(&[
                StorageClass::CrossWorkgroup,
                StorageClass::Workgroup,
                StorageClass::Function,
                StorageClass::Generic,
                StorageClass::UniformConstant,
            ]);
        }
        Operand::MemoryAccess(access) => {
            *access ^= *random.pick(&[MemoryAccess::VOLATILE, MemoryAccess::NONTEMPORAL])
        }
        Operand::ImageOperands(operands) => {
            *operands ^= *random.pick(&[ImageOperands::SIGN_EXTEND, ImageOperands::ZERO_EXTEND])
        }
        _ => {}
    }
}
