//! Instructions of other modules: their types are declared, and their operands are values of these types.

use rspirv::{
    dr::Instruction,
    spirv::{Op, Word},
};

use super::{
    At, Mutant, Seed, flow, id_of, set_id,
    types::{constant_of, declaration},
};

impl Mutant<'_> {
    /// Inserts an instruction of a module at a random position.
    pub(super) fn transplant(&mut self) {
        let Some(at) = self.position() else { return };
        let seeds = self.seeds;
        let seed = self.random.pick(seeds);
        let function = self.random.pick(&seed.module.functions);
        let Some(block) = function.blocks.get(self.random.below(function.blocks.len())) else { return };
        let instruction = self.random.pick(&block.instructions);
        let op = instruction.class.opcode;
        if flow::is_terminator(op) || matches!(op, Op::Phi | Op::Variable | Op::FunctionCall) {
            return;
        }
        if let Some(adapted) = self.adapted(seed, instruction, at) {
            for capability in &seed.module.capabilities {
                if !self.module.capabilities.contains(capability) {
                    self.module.capabilities.push(capability.clone());
                }
            }
            for extension in &seed.module.extensions {
                if !self.module.extensions.contains(extension) {
                    self.module.extensions.push(extension.clone());
                }
            }
            self.insert(at, adapted);
        }
    }

    /// The instruction with types and values of this module.
    fn adapted(&mut self, seed: &Seed, instruction: &Instruction, at: At) -> Option<Instruction> {
        let mut adapted = instruction.clone();
        adapted.result_type = match instruction.result_type {
            Some(ty) => Some(self.import_type(seed, ty)?),
            None => None,
        };
        for operand in &mut adapted.operands {
            let Some(id) = id_of(operand) else { continue };
            let here = match seed.types.of_value(id) {
                // A scope, a mask or an index keeps its value mostly.
                Some(ty) if constant_of(&seed.module, id).is_some() && self.random.below(4) != 0 => {
                    self.import_constant(seed, id, ty)?
                }
                Some(ty) => {
                    let ty = self.import_type(seed, ty)?;
                    self.value(ty, at)
                }
                None => self.import_other(seed, id)?,
            };
            set_id(operand, here);
        }
        Some(adapted)
    }

    /// A constant of a module.
    fn import_constant(&mut self, seed: &Seed, id: Word, ty: Word) -> Option<Word> {
        let ty = self.import_type(seed, ty)?;
        let constant = declaration(&seed.module, id)?;
        let same = self.module.types_global_values.iter().find(|it| {
            it.class.opcode == Op::Constant && it.result_type == Some(ty) && it.operands == constant.operands
        });
        match same.and_then(|it| it.result_id) {
            Some(id) => Some(id),
            None => Some(self.declare_value(Op::Constant, ty, constant.operands.clone())),
        }
    }

    /// A type of a module, which is declared if this module lacks it.
    fn import_type(&mut self, seed: &Seed, ty: Word) -> Option<Word> {
        let text = seed.types.text(ty)?;
        if let Some(known) = self.types.with_text(text) {
            return Some(known);
        }
        let mut imported = declaration(&seed.module, ty)?.clone();
        for operand in &mut imported.operands {
            let Some(id) = id_of(operand) else { continue };
            let here = match seed.types.of_value(id) {
                Some(ty) => self.import_constant(seed, id, ty)?,
                None => self.import_type(seed, id)?,
            };
            set_id(operand, here);
        }
        let id = self.fresh();
        imported.result_id = Some(id);
        self.types.declare(&self.module, &imported);
        self.module.types_global_values.push(imported);
        Some(id)
    }

    /// A set of extended instructions, or a function.
    fn import_other(&mut self, seed: &Seed, id: Word) -> Option<Word> {
        let is_import = |it: &&Instruction| it.result_id == Some(id);
        if let Some(import) = seed.module.ext_inst_imports.iter().find(is_import) {
            let same = self.module.ext_inst_imports.iter().find(|it| it.operands == import.operands);
            if let Some(known) = same.and_then(|it| it.result_id) {
                return Some(known);
            }
            let here = self.fresh();
            let imported = Instruction::new(Op::ExtInstImport, None, Some(here), import.operands.clone());
            self.module.ext_inst_imports.push(imported);
            return Some(here);
        }
        let is_function = seed.module.functions.iter().any(|it| it.def_id() == Some(id));
        let functions = &self.module.functions;
        is_function.then(|| self.random.pick(functions).def_id())?
    }
}
