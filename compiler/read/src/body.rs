//! The state of reading a function: the values of its ids.
//!
//! A use in the IR block of the definition, or in a block nested in it, uses the value directly. For other uses, the value is
//! stored to a private object after its definition, and loaded from there. The pass `promote` removes most of these objects.
//! Structures and arrays are in private objects, which do not change after the definition.

use kiln_ir::{
    Access, BlockId, Builder, CompareKind, Const, Convert, Function, Op as IrOp, Type, ValueDef, ValueId,
    Var, VarId,
};
use kiln_types::{index::Id as _, ops::CompareOp};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::spirv::{BuiltIn, Op};
use rustc_hash::FxHashMap;

use crate::{
    Reader,
    constants::{Constant, data, write},
    functions::ReturnKind,
    problem::{Outcome, Problem},
    types::{in_memory, value_layout},
    words::Instruction,
};

/// The meaning of an id in a function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// A value, the block of the IR that defines it, and the private object that it was stored to.
    Value { value: ValueId, block: BlockId, slot: Option<VarId> },
    /// A structure or an array in a private object; for a pointer, the address of that object.
    Object(VarId),
    /// A structure or an array that this parameter, a private pointer, points to.
    Pointee(ValueId),
    /// The address of a part of a built-in variable: all of it or one component.
    Input(BuiltIn, Option<ValueId>),
}

/// A function that is being read.
pub(crate) struct Body<'r, 'w, 'f> {
    pub(crate) reader: &'r mut Reader<'w>,
    pub(crate) builder: Builder<'f>,
    pub(crate) known: FxHashMap<u32, Known>,
    /// How the function returns its result.
    pub(crate) result: ReturnKind,
    /// The address for a structure or an array that it returns.
    pub(crate) returned: Option<ValueId>,
    /// The blocks of the IR around the insertion point, by index.
    pub(crate) is_open: Vec<bool>,
}

/// The access to an object of the function with this alignment.
pub(crate) fn access(align: u64) -> Access {
    Access { is_shared: false, align: u32::try_from(align).unwrap_or(1 << 31), is_volatile: false }
}

impl<'r, 'w, 'f> Body<'r, 'w, 'f> {
    pub(crate) fn new(reader: &'r mut Reader<'w>, function: &'f mut Function) -> Self {
        let builder = Builder::new(function);
        let known = FxHashMap::default();
        Self { reader, builder, known, result: ReturnKind::Nothing, returned: None, is_open: Vec::new() }
    }

    /// The IR type of an instruction's result.
    pub(crate) fn result_type(&self, inst: &Instruction<'_>) -> Outcome<Type> {
        self.reader.types.value(inst.result_type()?)
    }

    /// The id of the type of the value with this id.
    pub(crate) fn type_of(&self, id: u32) -> Outcome<u32> {
        self.reader.words.definition(id)?.result_type()
    }

    /// Whether the value with this id is a structure or an array.
    pub(crate) fn is_aggregate(&self, id: u32) -> bool {
        self.type_of(id).is_ok_and(|ty| self.reader.types.is_aggregate(ty))
    }

    /// The value with this id: a scalar, a vector, a pointer or a handle.
    pub(crate) fn value(&mut self, id: u32) -> Outcome<ValueId> {
        match self.known.get(&id).copied() {
            Some(Known::Value { value, block, slot }) => Ok(self.visible(id, value, block, slot)),
            Some(Known::Object(var)) if !self.is_aggregate(id) => Ok(self.builder.private_var(var)),
            Some(Known::Pointee(pointer)) if !self.is_aggregate(id) => Ok(pointer),
            Some(Known::Input(..)) => {
                Err(Problem::new("the address of a built-in variable can only be loaded from"))
            }
            Some(_) => Err(Problem::new(format!("%{id} is a structure or an array"))),
            None => self.constant_value(id),
        }
    }

    /// The values with these ids.
    pub(crate) fn values(&mut self, ids: &[u32]) -> Outcome<Vec<ValueId>> {
        ids.iter().map(|&id| self.value(id)).collect()
    }

    /// The value of a number that has this type.
    pub(crate) fn value_of(&mut self, id: u32, ty: Type) -> Outcome<ValueId> {
        let value = self.value(id)?;
        match self.builder.ty(value) {
            found if found == ty => Ok(value),
            found => Err(Problem::new(format!("%{id} is of type {found}, where {ty} is needed"))),
        }
    }

    /// The value, read from its private object if it is not visible at the insertion point.
    fn visible(&mut self, id: u32, value: ValueId, block: BlockId, slot: Option<VarId>) -> ValueId {
        let is_constant = matches!(self.builder.function.values[value].def, ValueDef::Const(_));
        if is_constant
            || self.builder.insertion_point().0 == block
            || self.is_open.get(block.index()).copied().unwrap_or(false)
        {
            return value;
        }
        if let Some(address) = self.recomputed(value, 16) {
            return address;
        }
        let ty = self.builder.ty(value);
        let slot = slot.unwrap_or_else(|| {
            let slot = self.slot(ty);
            self.store_after(value, block, slot);
            self.known.insert(id, Known::Value { value, block, slot: Some(slot) });
            slot
        });
        self.load_slot(slot, ty)
    }

    /// The address of an object plus constants, computed again at the insertion point. `None` for other values.
    fn recomputed(&mut self, value: ValueId, depth: u32) -> Option<ValueId> {
        let function = &*self.builder.function;
        let inst = match function.values[value].def {
            ValueDef::Const(_) => return Some(value),
            ValueDef::Param(block, _) => return (block == function.body).then_some(value),
            ValueDef::Result(inst, _) => &function.insts[inst],
        };
        let is_address = matches!(
            inst.op,
            IrOp::ModuleVar(_) | IrOp::PrivateVar(_) | IrOp::Offset { .. } | IrOp::PointerCast
        );
        if !is_address || depth == 0 {
            return None;
        }
        let (op, args, ty) = (inst.op.clone(), inst.args.clone(), function.ty(value));
        let args: Option<Vec<ValueId>> =
            args.into_iter().map(|argument| self.recomputed(argument, depth - 1)).collect();
        Some(self.builder.value(op, &args?, ty))
    }

    /// Creates a private object for values of this type.
    pub(crate) fn slot(&mut self, ty: Type) -> VarId {
        let layout = value_layout(ty).unwrap_or((8, 8));
        self.object(layout)
    }

    /// Creates an unnamed private object of this size and alignment.
    pub(crate) fn object(&mut self, layout: (u64, u64)) -> VarId {
        let span = self.builder.span;
        self.builder.function.vars.push(Var::new("", AddressSpace::Private, layout, span))
    }

    /// Stores a value to a private object immediately after its definition.
    fn store_after(&mut self, value: ValueId, block: BlockId, slot: VarId) {
        let after = self.builder.insertion_point();
        let index = match self.builder.function.values[value].def {
            ValueDef::Result(inst, _) => {
                let insts = &self.builder.function.blocks[block].insts;
                insts.iter().rposition(|it| *it == inst).map_or(0, |index| index + 1)
            }
            _ => 0,
        };
        self.builder.at(block, index);
        self.store_slot(slot, value);
        self.builder.at(after.0, after.1);
    }

    /// Stores a value to a private object.
    pub(crate) fn store_slot(&mut self, slot: VarId, value: ValueId) {
        let align = self.builder.function.vars[slot].align;
        let pointer = self.builder.private_var(slot);
        self.store(pointer, value, access(align));
    }

    /// Reads a private object.
    pub(crate) fn load_slot(&mut self, slot: VarId, ty: Type) -> ValueId {
        let align = self.builder.function.vars[slot].align;
        let pointer = self.builder.private_var(slot);
        self.load(pointer, ty, access(align))
    }

    /// Loads a value. A `bool` is a byte in memory.
    pub(crate) fn load(&mut self, pointer: ValueId, ty: Type, access: Access) -> ValueId {
        let stored = in_memory(ty);
        let value = self.builder.load(pointer, stored, access);
        if stored == ty {
            return value;
        }
        let zero = self.builder.bits(stored, 0);
        self.builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, value, zero)
    }

    /// Stores a value.
    pub(crate) fn store(&mut self, pointer: ValueId, value: ValueId, access: Access) {
        let ty = self.builder.ty(value);
        let stored = in_memory(ty);
        let value =
            if stored == ty { value } else { self.builder.convert(Convert::ZeroExtend, value, stored) };
        self.builder.store(pointer, value, access);
    }

    /// The value of a constant or of the address of a variable of the module.
    fn constant_value(&mut self, id: u32) -> Outcome<ValueId> {
        match self.reader.constants.get(&id).cloned() {
            Some(Constant::Value(ty, constant)) => Ok(self.builder.constant(ty, constant)),
            Some(Constant::Address(var, offset, ty)) => Ok(self.address(var, offset, ty)),
            Some(_) => Err(Problem::new(format!("%{id} is a structure or an array"))),
            None if self.reader.inputs.contains_key(&id) => {
                Err(Problem::new("the address of a built-in variable can only be loaded from"))
            }
            None => Err(Problem::new(format!("%{id} is not a value that is defined before its use"))),
        }
    }

    fn address(&mut self, var: VarId, offset: i64, ty: Type) -> ValueId {
        let space = self.reader.module.vars[var].space;
        let start = self.builder.module_var(var, space);
        let pointer = self.builder.offset_bytes(start, offset);
        match ty {
            Type::Pointer(to) if to == space => pointer,
            Type::Pointer(_) => self.builder.value(IrOp::PointerCast, &[pointer], ty),
            _ => self.builder.value(IrOp::PointerToInt, &[pointer], Type::I64),
        }
    }

    /// A pointer to the bytes of a structure or an array. The caller must not change them.
    pub(crate) fn aggregate(&mut self, id: u32) -> Outcome<ValueId> {
        match self.known.get(&id).copied() {
            Some(Known::Object(var)) => return Ok(self.builder.private_var(var)),
            Some(Known::Pointee(pointer)) => return Ok(pointer),
            Some(_) => return Err(Problem::new(format!("%{id} is not a structure or an array"))),
            None => {}
        }
        let constant = self.reader.constants.get(&id).cloned();
        let constant = constant
            .ok_or_else(|| Problem::new(format!("%{id} is not a value that is defined before its use")))?;
        match &constant {
            Constant::Aggregate(ty, _) => {
                let layout = self.reader.types.layout(*ty)?;
                let mut bytes = data(layout.0)?;
                write(&mut bytes, 0, &constant)?;
                let var = Var {
                    init: Some(bytes),
                    ..Var::new("", AddressSpace::Constant, layout, self.builder.span)
                };
                let var = self.reader.module.vars.push(var);
                Ok(self.builder.module_var(var, AddressSpace::Constant))
            }
            Constant::Undefined(ty) => {
                let layout = self.reader.types.layout(*ty)?;
                let var = self.object(layout);
                Ok(self.builder.private_var(var))
            }
            _ => Err(Problem::new(format!("%{id} is not a structure or an array"))),
        }
    }

    /// Whether the id is an undefined constant.
    pub(crate) fn is_undefined(&self, id: u32) -> bool {
        matches!(
            self.reader.constants.get(&id),
            Some(Constant::Undefined(_) | Constant::Value(_, Const::Undefined))
        )
    }

    /// The bits of a scalar constant.
    pub(crate) fn constant_bits(&self, id: u32) -> Option<u64> {
        self.reader.constant_bits(id)
    }

    /// Defines the result of an instruction, which must have the type that the instruction declares.
    pub(crate) fn define(&mut self, inst: &Instruction<'_>, value: ValueId) -> Outcome<()> {
        let (ty, found) = (self.result_type(inst)?, self.builder.ty(value));
        if ty != found {
            return Err(Problem::new(format!("its result is of type {found}, and its result type is {ty}")));
        }
        let block = self.builder.insertion_point().0;
        self.known.insert(inst.result()?, Known::Value { value, block, slot: None });
        Ok(())
    }

    /// Defines the result of an instruction: a structure or an array in a private object.
    pub(crate) fn define_object(&mut self, inst: &Instruction<'_>, object: VarId) -> Outcome<()> {
        self.known.insert(inst.result()?, Known::Object(object));
        Ok(())
    }

    /// Creates the object for an instruction's result, a structure or an array.
    pub(crate) fn result_object(&mut self, inst: &Instruction<'_>) -> Outcome<VarId> {
        let layout = self.reader.types.layout(inst.result_type()?)?;
        Ok(self.object(layout))
    }

    /// Whether the IR does not need this instruction.
    pub(crate) const fn is_ignored(op: Op) -> bool {
        matches!(
            op,
            Op::Nop
                | Op::Line
                | Op::NoLine
                | Op::Label
                | Op::Function
                | Op::FunctionEnd
                | Op::FunctionParameter
                | Op::LoopMerge
                | Op::LoopControlINTEL
                | Op::SelectionMerge
                | Op::LifetimeStart
                | Op::LifetimeStop
                | Op::AssumeTrueKHR
                | Op::UntypedPrefetchKHR
                | Op::Phi
        )
    }
}
