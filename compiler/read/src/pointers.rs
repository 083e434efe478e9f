//! Addresses: access chains, casts and comparisons of pointers.

use kiln_ir::{BinaryOp, CompareKind, Op as IrOp, Scalar, Type, ValueId};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::spirv::Op;

use crate::{
    body::{Body, Known},
    problem::{Outcome, Problem},
    types::{Member, Ty},
    words::Instruction,
};

/// The operands of an access chain.
pub(crate) struct Chain<'w> {
    /// The type at the base, if the instruction names it.
    pub(crate) pointee: Option<u32>,
    pub(crate) base: u32,
    pub(crate) indices: &'w [u32],
    /// Whether the first index is a number of elements.
    pub(crate) has_element: bool,
}

impl<'w> Chain<'w> {
    /// For an access chain, whether it is untyped and whether its first index is a number of elements.
    const fn form(op: Op) -> Option<(bool, bool)> {
        Some(match op {
            Op::AccessChain | Op::InBoundsAccessChain => (false, false),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => (false, true),
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => (true, false),
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => (true, true),
            _ => return None,
        })
    }

    pub(crate) const fn is_chain(op: Op) -> bool {
        Self::form(op).is_some()
    }

    pub(crate) fn new(op: Op, operands: &'w [u32]) -> Outcome<Self> {
        let not_a_chain = || Problem::new("it is not an access chain");
        let (is_untyped, has_element) = Self::form(op).ok_or_else(not_a_chain)?;
        match (is_untyped, operands) {
            (true, &[pointee, base, ref indices @ ..]) => {
                Ok(Self { pointee: Some(pointee), base, indices, has_element })
            }
            (false, &[base, ref indices @ ..]) => Ok(Self { pointee: None, base, indices, has_element }),
            _ => Err(Problem::new("it has too few operands")),
        }
    }
}

impl Body<'_, '_, '_> {
    /// Reads an instruction on pointers. Returns whether it is one.
    pub(crate) fn address_instruction(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        match inst.op {
            op if Chain::is_chain(op) => self.access_chain(inst)?,
            Op::PtrCastToGeneric | Op::GenericCastToPtr => {
                if self.input_cast(inst)? {
                    return Ok(true);
                }
                let value = self.pointer(inst.word(0)?)?;
                self.define_cast(inst, value)?;
            }
            Op::ConvertPtrToU => {
                let value = self.pointer(inst.word(0)?)?;
                let scalar = self.integer_result(inst)?;
                let value = self.builder.value(IrOp::PointerToInt, &[value], Type::I64);
                let value = self.builder.resize(value, scalar, false);
                self.define(inst, value)?;
            }
            Op::ConvertUToPtr => {
                let value = self.value(inst.word(0)?)?;
                self.define_from_integer(inst, value)?;
            }
            Op::Bitcast => return self.pointer_bitcast(inst),
            Op::PtrEqual | Op::PtrNotEqual => self.compare_pointers(inst)?,
            Op::IEqual
            | Op::INotEqual
            | Op::ULessThan
            | Op::ULessThanEqual
            | Op::UGreaterThan
            | Op::UGreaterThanEqual
                if self.is_pointer(inst.word(0)?) =>
            {
                self.compare_pointers(inst)?;
            }
            Op::PtrDiff => {
                let (a, b) = (inst.word(0)?, inst.word(1)?);
                let (size, _) = self.reader.types.layout(self.pointee_of(a)?)?;
                let (a, b) = (self.pointer(a)?, self.pointer(b)?);
                let a = self.builder.value(IrOp::PointerToInt, &[a], Type::I64);
                let b = self.builder.value(IrOp::PointerToInt, &[b], Type::I64);
                let bytes = self.builder.binary(BinaryOp::Sub, a, b);
                let value =
                    if size > 1 { self.builder.binary_bits(BinaryOp::SDiv, bytes, size) } else { bytes };
                let scalar = self.integer_result(inst)?;
                let value = self.builder.resize(value, scalar, true);
                self.define(inst, value)?;
            }
            Op::SizeOf => {
                let (size, _) = self.reader.types.layout(self.pointee_of(inst.word(0)?)?)?;
                let value = self.builder.i64(size as i64);
                let scalar = self.integer_result(inst)?;
                let value = self.builder.resize(value, scalar, false);
                self.define(inst, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The type of an instruction's result, which is an integer.
    fn integer_result(&self, inst: &Instruction<'_>) -> Outcome<Scalar> {
        let ty = self.result_type(inst)?;
        let scalar = ty.scalar().filter(|scalar| scalar.is_int() && !ty.is_vector());
        scalar.ok_or_else(|| Problem::new("its result is not an integer"))
    }

    /// Whether the value with this id is a pointer.
    pub(crate) fn is_pointer(&self, id: u32) -> bool {
        self.type_of(id).is_ok_and(|ty| matches!(self.reader.types.get(ty), Ok(Ty::Pointer { .. })))
    }

    fn access_chain(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let chain = Chain::new(inst.op, inst.operands)?;
        let Chain { base, mut indices, has_element, .. } = chain;
        let pointee = match chain.pointee {
            Some(ty) => ty,
            None => self.pointee_of(base)?,
        };
        if let Some(Known::Input(built_in, component)) = self.input(base) {
            return self.input_chain(inst, (built_in, component), pointee, (indices, has_element));
        }
        let mut pointer = self.pointer(base)?;
        let mut member = Member::Type(pointee);
        if has_element {
            let (&element, rest) =
                indices.split_first().ok_or_else(|| Problem::new("it has too few operands"))?;
            let (size, _) = self.reader.types.layout(pointee)?;
            pointer = self.step(pointer, element, size)?;
            indices = rest;
        }
        for &index in indices {
            (pointer, member) = self.member_address(pointer, member, index)?;
        }
        self.define_cast(inst, pointer)
    }

    /// The address of a member.
    fn member_address(&mut self, pointer: ValueId, member: Member, index: u32) -> Outcome<(ValueId, Member)> {
        let Member::Type(whole) = member else { return Err(Problem::new("a component has no members")) };
        let stride = match *self.reader.types.get(whole)? {
            Ty::Array { element, .. } => Some((self.reader.types.layout(element)?.0, Member::Type(element))),
            Ty::Value(ty @ (Type::Vector(..) | Type::Scalar(_))) => {
                let component = ty.with_count(1);
                Some((component.size().unwrap_or(1), Member::Component(component)))
            }
            _ => None,
        };
        if let Some((stride, member)) = stride {
            return Ok((self.step(pointer, index, stride)?, member));
        }
        let constant = self.constant_bits(index);
        let constant =
            constant.ok_or_else(|| Problem::new("the index of a structure's member is not a constant"))?;
        let (member, offset) = self.reader.types.member(whole, constant)?;
        Ok((self.builder.offset_bytes(pointer, offset as i64), member))
    }

    /// A pointer plus a number of elements: a signed integer.
    fn step(&mut self, pointer: ValueId, index: u32, stride: u64) -> Outcome<ValueId> {
        if self.constant_bits(index) == Some(0) {
            return Ok(pointer);
        }
        let index = self.value(index)?;
        let ty = self.builder.ty(index);
        let scalar = ty.scalar().filter(|scalar| scalar.is_int() && !ty.is_vector());
        let scalar = scalar.ok_or_else(|| Problem::new("an index is not an integer"))?;
        let index =
            if scalar.bits() < 32 { self.builder.resize(index, kiln_ir::Scalar::I32, true) } else { index };
        Ok(self.builder.offset(pointer, index, stride))
    }

    /// Defines a pointer as the result, in the address space of the result type.
    pub(crate) fn define_cast(&mut self, inst: &Instruction<'_>, pointer: ValueId) -> Outcome<()> {
        let ty = self.result_type(inst)?;
        let value = match (self.builder.ty(pointer), ty) {
            (found, ty) if found == ty => pointer,
            // Generic pointers do not point to constant memory (OpenCL C 6.7).
            (Type::Pointer(from), Type::Pointer(to))
                if (from == AddressSpace::Generic || to == AddressSpace::Generic)
                    && from != AddressSpace::Constant
                    && to != AddressSpace::Constant =>
            {
                self.builder.value(IrOp::PointerCast, &[pointer], ty)
            }
            (found, ty) => return Err(Problem::new(format!("{found} cannot be converted to {ty}"))),
        };
        self.define(inst, value)
    }

    fn define_from_integer(&mut self, inst: &Instruction<'_>, value: ValueId) -> Outcome<()> {
        let (from, to) = (self.builder.ty(value), self.result_type(inst)?);
        let is_integer = from.scalar().is_some_and(kiln_ir::Scalar::is_int) && !from.is_vector();
        if !is_integer || !to.is_pointer() {
            return Err(Problem::new(format!("{from} cannot be converted to {to}")));
        }
        let value = self.builder.resize(value, kiln_ir::Scalar::I64, false);
        let value = self.builder.value(IrOp::IntToPointer, &[value], to);
        self.define(inst, value)
    }

    /// OpBitcast from or to a pointer.
    fn pointer_bitcast(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        let source = inst.word(0)?;
        if self.input_cast(inst)? {
            return Ok(true);
        }
        let is_to_pointer = matches!(self.reader.types.get(inst.result_type()?)?, Ty::Pointer { .. });
        match (self.is_pointer(source), is_to_pointer) {
            (true, true) => {
                let value = self.pointer(source)?;
                self.define_cast(inst, value)?;
            }
            (true, false) => {
                let value = self.pointer(source)?;
                let value = self.builder.value(IrOp::PointerToInt, &[value], Type::I64);
                let ty = self.result_type(inst)?;
                let is_same = ty.size() == Some(8) && ty.scalar().is_some();
                let value = if is_same { self.builder.bitcast(value, ty) } else { value };
                self.define(inst, value)?;
            }
            (false, true) => {
                let value = self.value(source)?;
                let ty = self.builder.ty(value);
                if ty.size() != Some(8) || ty.scalar().is_none() {
                    return Err(Problem::new(format!("{ty} cannot be converted to a pointer")));
                }
                let value = self.builder.bitcast(value, Type::I64);
                self.define_from_integer(inst, value)?;
            }
            (false, false) => return Ok(false),
        }
        Ok(true)
    }

    fn compare_pointers(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let (a, b) = (self.pointer(inst.word(0)?)?, self.pointer(inst.word(1)?)?);
        if self.builder.ty(a) != self.builder.ty(b) {
            return Err(Problem::new("its operands point to different address spaces"));
        }
        let op = match inst.op {
            Op::PtrEqual | Op::IEqual => CompareOp::Equal,
            Op::PtrNotEqual | Op::INotEqual => CompareOp::NotEqual,
            Op::ULessThan => CompareOp::Less,
            Op::ULessThanEqual => CompareOp::LessEqual,
            Op::UGreaterThan => CompareOp::Greater,
            _ => CompareOp::GreaterEqual,
        };
        let value = self.builder.compare(op, CompareKind::Unsigned, a, b);
        self.define(inst, value)
    }
}
