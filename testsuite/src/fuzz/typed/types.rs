//! The types of a module: of its values, and by their structure, which is the same in every module.

use std::{collections::HashMap, sync::Arc};

use rspirv::{
    dr::{self, Instruction, Operand},
    spirv::{Op, Word},
};

use super::{Mutant, id_of, number};

/// The types of a module.
#[derive(Clone, Default)]
pub(super) struct Types {
    values: HashMap<Word, Word>,
    /// The text of a type, without ids.
    texts: HashMap<Word, Arc<str>>,
    ids: HashMap<Arc<str>, Word>,
}

impl Types {
    pub(super) fn of_module(module: &dr::Module) -> Self {
        let mut types = Self::default();
        for declaration in &module.types_global_values {
            types.declare(module, declaration);
        }
        for instruction in module.all_inst_iter().filter(|it| it.class.opcode != Op::Function) {
            if let (Some(id), Some(ty)) = (instruction.result_id, instruction.result_type) {
                types.define(id, ty);
            }
        }
        types
    }

    /// Records a type.
    pub(super) fn declare(&mut self, module: &dr::Module, declaration: &Instruction) {
        let (Some(id), None) = (declaration.result_id, declaration.result_type) else { return };
        let mut text = declaration.class.opname.to_owned();
        for operand in &declaration.operands {
            let part = match id_of(operand) {
                Some(id) => match self.texts.get(&id) {
                    Some(text) => text.to_string(),
                    None => constant_of(module, id).map_or_else(|| format!("%{id}"), |it| it.to_string()),
                },
                None => operand.to_string(),
            };
            text.push_str(&format!("({part})"));
        }
        let text: Arc<str> = text.into();
        self.texts.insert(id, Arc::clone(&text));
        self.ids.entry(text).or_insert(id);
    }

    pub(super) fn define(&mut self, value: Word, ty: Word) {
        self.values.insert(value, ty);
    }

    pub(super) fn forget(&mut self, value: Word) {
        self.values.remove(&value);
    }

    /// The type of a value. Functions and labels are not values.
    pub(super) fn of_value(&self, id: Word) -> Option<Word> {
        self.values.get(&id).copied()
    }

    /// The text of a type, and the type with a text.
    pub(super) fn text(&self, ty: Word) -> Option<&Arc<str>> {
        self.texts.get(&ty)
    }

    pub(super) fn with_text(&self, text: &str) -> Option<Word> {
        self.ids.get(text).copied()
    }
}

/// The declaration of a type, a constant or a variable.
pub(super) fn declaration(module: &dr::Module, id: Word) -> Option<&Instruction> {
    module.types_global_values.iter().find(|it| it.result_id == Some(id))
}

/// The value of an integer constant.
pub(super) fn constant_of(module: &dr::Module, id: Word) -> Option<u64> {
    let declaration = declaration(module, id).filter(|it| it.class.opcode == Op::Constant)?;
    match declaration.operands[..] {
        [Operand::LiteralBit32(value)] => Some(value.into()),
        [Operand::LiteralBit64(value)] => Some(value),
        _ => None,
    }
}

impl Mutant<'_> {
    /// A new constant of this type: of numbers often a special one, of others null or undefined.
    pub(super) fn constant(&mut self, ty: Word) -> Word {
        let value = number(self.random);
        let operand = declaration(&self.module, ty).and_then(|it| literal(it, value));
        let (op, operands) = match operand {
            Some(operand) => (Op::Constant, vec![operand]),
            None if self.random.below(3) == 0 => (Op::Undef, Vec::new()),
            None => (Op::ConstantNull, Vec::new()),
        };
        self.declare_value(op, ty, operands)
    }

    pub(super) fn declare_value(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.fresh();
        self.module.types_global_values.push(Instruction::new(op, Some(ty), Some(id), operands));
        self.types.define(id, ty);
        id
    }

    /// Changes the value of a constant, or makes it a specialization constant.
    pub(super) fn change_constant(&mut self) {
        let constants: Vec<usize> = (0..self.module.types_global_values.len())
            .filter(|&it| self.module.types_global_values[it].class.opcode == Op::Constant)
            .collect();
        if constants.is_empty() {
            return;
        }
        let index = *self.random.pick(&constants);
        let constant = &self.module.types_global_values[index];
        let (id, ty) = (constant.result_id, constant.result_type);
        let value = number(self.random);
        let declared = ty.and_then(|ty| declaration(&self.module, ty));
        let Some(operand) = declared.and_then(|ty| literal(ty, value)) else { return };
        let op = if self.random.below(8) == 0 { Op::SpecConstant } else { Op::Constant };
        self.module.types_global_values[index] = Instruction::new(op, ty, id, vec![operand]);
    }

    /// Changes the width of a scalar type, or the number of a vector's components, where no other type has it. The constants
    /// of the type follow.
    pub(super) fn change_width(&mut self) {
        let scalars: Vec<usize> = (0..self.module.types_global_values.len())
            .filter(|&it| {
                let op = self.module.types_global_values[it].class.opcode;
                matches!(op, Op::TypeInt | Op::TypeFloat | Op::TypeVector)
            })
            .collect();
        if scalars.is_empty() {
            return;
        }
        let mut changed = self.module.types_global_values[*self.random.pick(&scalars)].clone();
        let (at, width) = match changed.class.opcode {
            Op::TypeVector => (1, *self.random.pick(&[2, 3, 4, 8, 16])),
            Op::TypeFloat => (0, *self.random.pick(&[16, 32, 64])),
            _ => (0, *self.random.pick(&[8, 16, 32, 64])),
        };
        changed.operands[at] = Operand::LiteralBit32(width);
        let exists = self.module.types_global_values.iter().any(|it| it.is_type_identical(&changed));
        if exists {
            return;
        }
        let id = changed.result_id;
        for declaration in &mut self.module.types_global_values {
            if declaration.result_id == id {
                *declaration = changed.clone();
            } else if declaration.result_type == id && declaration.class.opcode == Op::Constant {
                let value = match declaration.operands[0] {
                    Operand::LiteralBit32(value) => u64::from(value),
                    Operand::LiteralBit64(value) => value,
                    _ => 0,
                };
                declaration.operands = literal(&changed, value).into_iter().collect();
            }
        }
        // The texts of types are only for transplants, which a module with other widths can do without.
        self.types = Types::of_module(&self.module);
    }
}

/// The literal of a constant of this scalar type.
fn literal(ty: &Instruction, value: u64) -> Option<Operand> {
    let Some(&Operand::LiteralBit32(width)) = ty.operands.first() else { return None };
    match (ty.class.opcode, width) {
        (Op::TypeInt | Op::TypeFloat, 64) => Some(Operand::LiteralBit64(value)),
        (Op::TypeInt | Op::TypeFloat, 1..=32) => {
            Some(Operand::LiteralBit32(value as u32 & (u32::MAX >> (32 - width))))
        }
        _ => None,
    }
}
