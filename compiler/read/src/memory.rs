//! Loads, stores and copies.

use kiln_ir::{Access, Op as IrOp, Scalar, Type, ValueId, VarId};
use rspirv::spirv::{MemoryAccess, Op};

use crate::{
    body::{Body, Known, access},
    functions::ReturnKind,
    problem::{Outcome, Problem},
    words::Instruction,
};

impl<'w> Body<'_, 'w, '_> {
    /// Reads an instruction that accesses memory. Returns whether it is one.
    pub(crate) fn memory(&mut self, inst: &Instruction<'w>) -> Outcome<bool> {
        match inst.op {
            Op::Variable | Op::UntypedVariableKHR => self.variable(inst)?,
            Op::Load => self.read_load(inst)?,
            Op::Store => self.read_store(inst)?,
            Op::CopyMemory => {
                let (to, from) = (inst.word(0)?, inst.word(1)?);
                // One of the pointers can be untyped.
                let (target, source) = (self.pointee_of(to), self.pointee_of(from));
                if let (Ok(target), Ok(source)) = (&target, &source)
                    && self.reader.types.layout(*source)?.0 != self.reader.types.layout(*target)?.0
                {
                    return Err(Problem::new("the objects have different sizes"));
                }
                let (size, align) = self.reader.types.layout(target.or(source)?)?;
                self.copy_memory(inst, (to, from), size, (2, align))?;
            }
            Op::CopyMemorySized => {
                let pointers = (inst.word(0)?, inst.word(1)?);
                match self.constant_bits(inst.word(2)?) {
                    Some(size) => self.copy_memory(inst, pointers, size, (3, 1))?,
                    None => self.copy_bytes(inst, pointers)?,
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The pointee of the type of a pointer.
    pub(crate) fn pointee_of(&self, pointer: u32) -> Outcome<u32> {
        self.reader.types.pointee(self.type_of(pointer)?)
    }

    /// The access through a pointer that the memory operands from this index on describe.
    pub(crate) fn memory_operands(
        &self,
        inst: &Instruction<'_>,
        from: usize,
        natural: u64,
    ) -> Outcome<Access> {
        let mut access = access(natural);
        let Some(&mask) = inst.operands.get(from) else { return Ok(access) };
        let mask = MemoryAccess::from_bits_truncate(mask);
        access.is_volatile = mask.contains(MemoryAccess::VOLATILE);
        if mask.contains(MemoryAccess::ALIGNED) {
            let align = inst.word(from + 1)?;
            if align.is_power_of_two() {
                access.align = align;
            }
        }
        Ok(access)
    }

    /// Creates copies of the constants in private memory that the function refers to.
    pub(crate) fn private_constants(&mut self, instructions: &[Instruction<'w>]) -> Outcome<()> {
        for constant in self.reader.private_constants.clone() {
            let id = constant.result()?;
            if instructions.iter().any(|inst| inst.operands.contains(&id)) {
                self.variable(&constant).map_err(|problem| problem.at(&constant))?;
            }
        }
        Ok(())
    }

    /// A variable of the function.
    fn variable(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let id = inst.result()?;
        let (pointee, init) = self.reader.object_of(inst)?;
        let (size, align) = self.reader.types.layout(pointee)?;
        let align = self.reader.words.alignment(id).unwrap_or(align);
        let object = self.object((size, align));
        self.reader.words.name(id).clone_into(&mut self.builder.function.vars[object].name);
        self.known.insert(id, Known::Object(object));
        if let Some(init) = init {
            let pointer = self.builder.private_var(object);
            self.store_id(pointer, init, pointee, access(align))?;
        }
        Ok(())
    }

    fn read_load(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let pointer = inst.word(0)?;
        if let Some(Known::Input(built_in, component)) = self.input(pointer) {
            return self.load_input(inst, built_in, component);
        }
        let ty = inst.result_type()?;
        let (size, align) = self.reader.types.layout(ty)?;
        let access = self.memory_operands(inst, 1, align)?;
        let pointer = self.pointer(pointer)?;
        if self.reader.types.is_aggregate(ty) {
            let object = self.result_object(inst)?;
            let to = self.builder.private_var(object);
            let access = Access { align: access.align.min(align as u32), ..access };
            self.copy(to, pointer, size, access);
            return self.define_object(inst, object);
        }
        let ty = self.reader.types.value(ty)?;
        let value = self.load(pointer, ty, access);
        self.define(inst, value)
    }

    /// The part of a built-in variable that a pointer points to.
    pub(crate) fn input(&self, pointer: u32) -> Option<Known> {
        match (self.known.get(&pointer), self.reader.inputs.get(&pointer)) {
            (Some(&known @ Known::Input(..)), _) => Some(known),
            (None, Some(built_in)) => Some(Known::Input(*built_in, None)),
            _ => None,
        }
    }

    /// A value that is a pointer.
    pub(crate) fn pointer(&mut self, id: u32) -> Outcome<ValueId> {
        let value = self.value(id)?;
        if !self.builder.ty(value).is_pointer() {
            return Err(Problem::new(format!("%{id} is not a pointer")));
        }
        Ok(value)
    }

    fn read_store(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let (pointer, value) = (inst.word(0)?, inst.word(1)?);
        let ty = self.type_of(value)?;
        let (_, align) = self.reader.types.layout(ty)?;
        let access = self.memory_operands(inst, 2, align)?;
        let pointer = self.pointer(pointer)?;
        self.store_id(pointer, value, ty, access)
    }

    /// Stores the value with this id and type.
    pub(crate) fn store_id(&mut self, pointer: ValueId, id: u32, ty: u32, access: Access) -> Outcome<()> {
        if self.is_undefined(id) {
            return Ok(());
        }
        if self.reader.types.is_aggregate(ty) {
            let (size, align) = self.reader.types.layout(ty)?;
            let source = self.aggregate(id)?;
            let access = Access { align: access.align.min(align as u32), ..access };
            self.copy(pointer, source, size, access);
            return Ok(());
        }
        let ty = self.reader.types.value(ty)?;
        let value = self.value_of(id, ty)?;
        self.store(pointer, value, access);
        Ok(())
    }

    /// Copies between the pointers with these ids. `operands` is the index of the memory operands and the natural alignment.
    fn copy_memory(
        &mut self,
        inst: &Instruction<'_>,
        (to, from): (u32, u32),
        size: u64,
        (operands, natural): (usize, u64),
    ) -> Outcome<()> {
        let access = self.memory_operands(inst, operands, natural)?;
        let (to, from) = (self.pointer(to)?, self.pointer(from)?);
        self.copy(to, from, size, access);
        Ok(())
    }

    /// Copies a number of bytes that is known only at run time.
    fn copy_bytes(&mut self, inst: &Instruction<'_>, (to, from): (u32, u32)) -> Outcome<()> {
        let access = Access { align: 1, ..self.memory_operands(inst, 3, 1)? };
        let (to, from, count) = (self.pointer(to)?, self.pointer(from)?, self.value(inst.word(2)?)?);
        if !self.builder.ty(count).scalar().is_some_and(Scalar::is_int) {
            return Err(Problem::new("the size is not an integer"));
        }
        let count = self.builder.resize(count, Scalar::I64, false);
        self.builder.each_index(count, |builder, index| {
            let address = builder.offset(from, index, 1);
            let byte = builder.load(address, Type::I8, access);
            let address = builder.offset(to, index, 1);
            builder.store(address, byte, access);
        });
        Ok(())
    }

    /// Copies bytes.
    pub(crate) fn copy(&mut self, to: ValueId, from: ValueId, size: u64, access: Access) {
        if size > 0 {
            self.builder.inst(IrOp::Copy { size, access }, &[to, from], &[]);
        }
    }

    /// Copies to all of an object from a pointer with the object's alignment.
    pub(crate) fn copy_to_object(&mut self, object: VarId, from: ValueId) {
        let (size, align) = {
            let var = &self.builder.function.vars[object];
            (var.size, var.align)
        };
        let to = self.builder.private_var(object);
        self.copy(to, from, size, access(align));
    }

    /// Returns the value with this id.
    pub(crate) fn return_value(&mut self, id: u32) -> Outcome<()> {
        match self.result {
            ReturnKind::Value(ty) => {
                let value = self.value_of(id, ty)?;
                self.builder.ret(Some(value));
            }
            ReturnKind::Memory { size, align } => {
                let to = self.returned.ok_or_else(|| Problem::new("the function returns nothing"))?;
                if self.reader.types.layout(self.type_of(id)?)? != (size, align) {
                    return Err(Problem::new(format!(
                        "%{id} has a different type from the function's result"
                    )));
                }
                if !self.is_undefined(id) {
                    let from = self.aggregate(id)?;
                    self.copy(to, from, size, access(align));
                }
                self.builder.ret(None);
            }
            ReturnKind::Nothing => return Err(Problem::new("the function returns nothing")),
        }
        Ok(())
    }
}
