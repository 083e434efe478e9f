//! Composites: vectors, and structures and arrays as values.

use kiln_ir::{Type, ValueId};
use rspirv::spirv::Op;

use crate::{
    body::{Body, access},
    problem::{Outcome, Problem},
    types::Member,
    words::Instruction,
};

/// A member of a structure or an array: its type, and the pointer to it with its alignment.
struct Part {
    member: Member,
    pointer: ValueId,
    align: u64,
}

impl Body<'_, '_, '_> {
    /// Reads an instruction on composites. Returns whether it is one.
    pub(crate) fn composite(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        match inst.op {
            Op::CompositeExtract => self.extract(inst)?,
            Op::CompositeInsert => self.insert(inst)?,
            Op::CompositeConstruct => self.construct(inst)?,
            Op::CopyObject | Op::CopyLogical => self.copy_object(inst)?,
            Op::Select if self.reader.types.is_aggregate(inst.result_type()?) => {
                self.select_aggregate(inst)?
            }
            Op::Undef => {
                let constant = self.reader.undefined(inst.result_type()?)?;
                self.reader.constants.insert(inst.result()?, constant);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Follows constant indices to a part of a structure or an array. Returns the part and the remaining indices.
    fn part<'i>(&mut self, ty: u32, start: ValueId, path: &'i [u32]) -> Outcome<(Part, &'i [u32])> {
        let (mut member, mut offset, mut rest) = (Member::Type(ty), 0, path);
        let (_, align) = self.reader.types.layout(ty)?;
        while let (Member::Type(whole), [index, others @ ..]) = (member, rest) {
            let (next, at) = self.reader.types.member(whole, u64::from(*index))?;
            (member, offset, rest) = (next, offset + at, others);
        }
        let pointer = self.builder.offset_bytes(start, offset as i64);
        let align = kiln_ir::align_at_offset(align, offset);
        Ok((Part { member, pointer, align }, rest))
    }

    fn extract(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let whole = inst.word(0)?;
        let path = inst.words(1);
        if !self.is_aggregate(whole) {
            let vector = self.value(whole)?;
            let (ty, [index]) = (self.builder.ty(vector), path) else {
                return Err(Problem::new("its operand has no such member"));
            };
            if *index >= u32::from(ty.count()) {
                return Err(Problem::new("its operand has no such member"));
            }
            let value = if ty.is_vector() { self.builder.extract(vector, *index as u8) } else { vector };
            return self.define(inst, value);
        }
        let ty = self.type_of(whole)?;
        let start = self.aggregate(whole)?;
        let (part, rest) = self.part(ty, start, path)?;
        if !rest.is_empty() {
            return Err(Problem::new("its operand has no such member"));
        }
        match part.member {
            Member::Type(ty) if self.reader.types.is_aggregate(ty) => {
                let (size, align) = self.reader.types.layout(ty)?;
                let object = self.result_object(inst)?;
                if ty != inst.result_type()? {
                    return Err(Problem::new("the member has a different type from the result"));
                }
                let to = self.builder.private_var(object);
                self.copy(to, part.pointer, size, access(part.align.min(align)));
                self.define_object(inst, object)
            }
            Member::Type(ty) => {
                let ty = self.reader.types.value(ty)?;
                let value = self.load(part.pointer, ty, access(part.align));
                self.define(inst, value)
            }
            Member::Component(ty) => {
                let value = self.load(part.pointer, ty, access(part.align));
                self.define(inst, value)
            }
        }
    }

    fn insert(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let (part, whole, path) = (inst.word(0)?, inst.word(1)?, inst.words(2));
        let ty = inst.result_type()?;
        if !self.reader.types.is_aggregate(ty) {
            let ty = self.reader.types.value(ty)?;
            let [index] = path else { return Err(Problem::new("its operand has no such member")) };
            if *index >= u32::from(ty.count()) {
                return Err(Problem::new("its operand has no such member"));
            }
            let (vector, scalar) = (self.value_of(whole, ty)?, self.value_of(part, ty.with_count(1))?);
            let value = match ty.is_vector() {
                true => self.builder.insert_component(vector, scalar, *index as u8),
                false => scalar,
            };
            return self.define(inst, value);
        }
        if self.type_of(whole)? != ty {
            return Err(Problem::new("its operand has a different type from its result"));
        }
        let object = self.result_object(inst)?;
        if !self.is_undefined(whole) {
            let from = self.aggregate(whole)?;
            self.copy_to_object(object, from);
        }
        let start = self.builder.private_var(object);
        let (member, rest) = self.part(ty, start, path)?;
        if !rest.is_empty() {
            return Err(Problem::new("its operand has no such member"));
        }
        self.store_member(&member, part)?;
        self.define_object(inst, object)
    }

    /// Stores the value with this id, which must have the member's type.
    fn store_member(&mut self, member: &Part, id: u32) -> Outcome<()> {
        match member.member {
            Member::Type(ty) => {
                if self.type_of(id)? != ty && self.reader.types.is_aggregate(ty) {
                    return Err(Problem::new(format!("%{id} has a different type from the member")));
                }
                self.store_id(member.pointer, id, ty, access(member.align))
            }
            Member::Component(ty) => {
                let value = self.value_of(id, ty)?;
                self.store(member.pointer, value, access(member.align));
                Ok(())
            }
        }
    }

    fn construct(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let ty = inst.result_type()?;
        if !self.reader.types.is_aggregate(ty) {
            let ty = self.reader.types.value(ty)?;
            let parts = self.values(inst.operands)?;
            let types: Vec<Type> = parts.iter().map(|&part| self.builder.ty(part)).collect();
            let count: u32 = types.iter().map(|ty| u32::from(ty.count())).sum();
            if count != u32::from(ty.count()) || types.iter().any(|part| part.scalar() != ty.scalar()) {
                return Err(Problem::new("its operands are not the components of its type"));
            }
            let value = if ty.is_vector() { self.builder.construct(&parts, ty) } else { parts[0] };
            return self.define(inst, value);
        }
        let object = self.result_object(inst)?;
        for (&id, index) in inst.operands.iter().zip(0_u32..) {
            if !self.is_undefined(id) {
                let start = self.builder.private_var(object);
                let (member, _) = self.part(ty, start, &[index])?;
                self.store_member(&member, id)?;
            }
        }
        self.define_object(inst, object)
    }

    /// OpCopyObject, and OpCopyLogical between types of the same layout.
    fn copy_object(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let (source, ty) = (inst.word(0)?, inst.result_type()?);
        if !self.reader.types.is_aggregate(ty) {
            let value = self.value(source)?;
            return self.define(inst, value);
        }
        if self.reader.types.layout(self.type_of(source)?)? != self.reader.types.layout(ty)? {
            return Err(Problem::new("its operand has a different type from its result"));
        }
        let object = self.result_object(inst)?;
        let from = self.aggregate(source)?;
        self.copy_to_object(object, from);
        self.define_object(inst, object)
    }

    fn select_aggregate(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let condition = self.value_of(inst.word(0)?, Type::BOOL)?;
        let ty = inst.result_type()?;
        let object = self.result_object(inst)?;
        let mut sources = Vec::new();
        for index in [1, 2] {
            let id = inst.word(index)?;
            if self.type_of(id)? != ty {
                return Err(Problem::new("its operands have a different type from its result"));
            }
            sources.push(self.aggregate(id)?);
        }
        let outer = self.builder.insertion_point().0;
        let open = self.builder.open_if(condition, &[]);
        for (block, source) in [open.then, open.otherwise].into_iter().zip(sources) {
            self.builder.at_end(block);
            self.copy_to_object(object, source);
            self.builder.exit(open.inst, &[]);
        }
        self.builder.at_end(outer);
        self.define_object(inst, object)
    }
}
