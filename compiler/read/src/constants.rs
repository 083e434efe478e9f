//! Constants, including specialization constants and expressions of them.

use std::rc::Rc;

use kiln_ir::{Const, Data, Scalar, Type, VarId};
use kiln_vocabulary::opencl::MAX_INITIALIZED_SIZE;
use rspirv::spirv::{Decoration, Op};
use smallvec::SmallVec;

use crate::{
    Reader, fold,
    problem::{Outcome, Problem},
    types::{Member, Ty, in_memory, value_layout},
    words::Instruction,
};

/// A constant.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    /// A number, a vector, a null pointer or a sampler.
    Value(Type, Const),
    /// The address of an object of the module plus a number of bytes, as a pointer or an integer of this type.
    Address(VarId, i64, Type),
    /// A structure or an array: its type and bytes.
    Aggregate(u32, Rc<Data>),
    /// An undefined structure or array: its type.
    Undefined(u32),
}

impl Reader<'_> {
    /// The constant with this id.
    pub(crate) fn constant(&self, id: u32) -> Outcome<&Constant> {
        self.constants.get(&id).ok_or_else(|| Problem::new(format!("%{id} is not a constant")))
    }

    /// The bits of a scalar constant.
    pub(crate) fn constant_bits(&self, id: u32) -> Option<u64> {
        match self.constants.get(&id)? {
            Constant::Value(_, value) => value.as_scalar(),
            _ => None,
        }
    }

    /// Adds the constant that an instruction of the module defines. Returns whether it defines one.
    pub(crate) fn declare_constant(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        let constant = match inst.op {
            Op::Constant | Op::SpecConstant => {
                let ty = self.types.value(inst.result_type()?)?;
                let scalar = ty.scalar().filter(|_| !ty.is_vector());
                let scalar = scalar.ok_or_else(|| Problem::new("its type is not a number"))?;
                let default =
                    u64::from(inst.word(0)?) | u64::from(inst.operands.get(1).copied().unwrap_or(0)) << 32;
                let bits = self.specialized(inst)?.unwrap_or(default);
                Constant::Value(ty, Const::scalar(bits & scalar.mask()))
            }
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let default = u64::from(matches!(inst.op, Op::ConstantTrue | Op::SpecConstantTrue));
                let bits = self.specialized(inst)?.map_or(default, |bits| u64::from(bits != 0));
                Constant::Value(Type::BOOL, Const::scalar(bits))
            }
            Op::ConstantNull => self.null(inst.result_type()?)?,
            Op::Undef => self.undefined(inst.result_type()?)?,
            Op::ConstantComposite | Op::SpecConstantComposite => {
                self.composite(inst.result_type()?, inst.operands)?
            }
            Op::ConstantSampler => Constant::Value(Type::Sampler, Const::scalar(sampler(inst)?)),
            Op::SpecConstantOp => {
                let op = inst.word(0)?;
                let op = Op::from_u32(op).ok_or_else(|| Problem::new("there is no such operation"))?;
                fold::fold(self, op, inst.result_type()?, inst.words(1))?
            }
            _ => return Ok(false),
        };
        self.constants.insert(inst.result()?, constant);
        Ok(true)
    }

    /// The value that the options set for a specialization constant.
    fn specialized(&self, inst: &Instruction<'_>) -> Outcome<Option<u64>> {
        let spec_id = self.words.decoration(inst.result()?, Decoration::SpecId);
        let Some(&spec_id) = spec_id.and_then(|decorated| decorated.operands.first()) else {
            return Ok(None);
        };
        Ok(self.options.specialization.iter().find(|(id, _)| *id == spec_id).map(|(_, bits)| *bits))
    }

    /// The null constant of a type.
    pub(crate) fn null(&self, ty: u32) -> Outcome<Constant> {
        if self.types.is_aggregate(ty) {
            let (size, _) = self.types.layout(ty)?;
            return Ok(Constant::Aggregate(ty, Rc::new(data(size)?)));
        }
        let value = self.type_of_constant(ty)?;
        let bits = SmallVec::from_elem(0, usize::from(value.count()));
        Ok(Constant::Value(value, Const::Bits(bits)))
    }

    /// The undefined constant of a type.
    pub(crate) fn undefined(&self, ty: u32) -> Outcome<Constant> {
        if self.types.is_aggregate(ty) {
            return Ok(Constant::Undefined(ty));
        }
        Ok(Constant::Value(self.type_of_constant(ty)?, Const::Undefined))
    }

    /// The type of a null or undefined constant. Images and samplers are only arguments: each binds a descriptor.
    fn type_of_constant(&self, ty: u32) -> Outcome<Type> {
        match self.types.value(ty)? {
            Type::Image(_) | Type::Sampler => {
                Err(Problem::new("an image or a sampler cannot be null or undefined"))
            }
            other => Ok(other),
        }
    }

    /// A constant with these members.
    pub(crate) fn composite(&self, ty: u32, members: &[u32]) -> Outcome<Constant> {
        if let Ty::Value(vector @ (Type::Vector(scalar, _) | Type::Scalar(scalar))) = *self.types.get(ty)? {
            let bits: Option<SmallVec<[u64; 2]>> =
                members.iter().map(|&member| self.component(member, scalar)).collect();
            let bits = bits.filter(|bits| bits.len() == usize::from(vector.count()));
            let bits = bits.ok_or_else(|| Problem::new("its members are not the components of its type"))?;
            return Ok(Constant::Value(vector, Const::Bits(bits)));
        }
        let count = match self.types.get(ty)? {
            Ty::Array { count, .. } => *count,
            Ty::Struct { members, .. } => members.len() as u64,
            _ => return Err(Problem::new("its type has no members")),
        };
        if count != members.len() as u64 {
            return Err(Problem::new(format!("it has {} members, and its type {count}", members.len())));
        }
        let (size, _) = self.types.layout(ty)?;
        let mut whole = data(size)?;
        for (&id, index) in members.iter().zip(0..) {
            let (member, offset) = self.types.member(ty, index)?;
            let constant = self.constant(id)?;
            if let Member::Type(member) = member {
                self.expect(constant, member)?;
            }
            write(&mut whole, offset, constant)?;
        }
        Ok(Constant::Aggregate(ty, Rc::new(whole)))
    }

    fn component(&self, id: u32, scalar: Scalar) -> Option<u64> {
        match self.constants.get(&id)? {
            Constant::Value(Type::Scalar(found), Const::Undefined) if *found == scalar => Some(0),
            Constant::Value(Type::Scalar(found), value) if *found == scalar => value.as_scalar(),
            _ => None,
        }
    }

    /// Checks that a constant has this type.
    pub(crate) fn expect(&self, constant: &Constant, ty: u32) -> Outcome<()> {
        let is_valid = match constant {
            Constant::Value(found, _) | Constant::Address(_, _, found) => self.types.value(ty)? == *found,
            Constant::Aggregate(found, _) | Constant::Undefined(found) => {
                *found == ty
                    || self.types.is_aggregate(ty) && self.types.layout(*found)? == self.types.layout(ty)?
            }
        };
        if is_valid { Ok(()) } else { Err(Problem::new("a member has the wrong type")) }
    }

    /// The member of a constant structure or array.
    pub(crate) fn member_of(&self, constant: &Constant, index: u64) -> Outcome<Constant> {
        match constant {
            Constant::Undefined(ty) => match self.types.member(*ty, index)?.0 {
                Member::Type(member) => self.undefined(member),
                Member::Component(ty) => Ok(Constant::Value(ty, Const::Undefined)),
            },
            Constant::Value(ty, value) if ty.scalar().is_some() && index < u64::from(ty.count()) => {
                let value = match value {
                    Const::Bits(bits) => Const::scalar(bits[index as usize]),
                    Const::Undefined => Const::Undefined,
                };
                Ok(Constant::Value(ty.with_count(1), value))
            }
            Constant::Aggregate(ty, whole) => match self.types.member(*ty, index)? {
                (Member::Type(member), offset) => self.read_constant(whole, offset, member),
                (Member::Component(_), _) => Err(Problem::new("it has no such member")),
            },
            _ => Err(Problem::new("it has no such member")),
        }
    }

    /// Reads a constant from bytes.
    fn read_constant(&self, whole: &Data, offset: u64, ty: u32) -> Outcome<Constant> {
        let (size, _) = self.types.layout(ty)?;
        let beyond = || Problem::new("it has no such member");
        let range = usize::try_from(offset).map_err(|_| beyond())?..(offset + size) as usize;
        let bytes = whole.bytes.get(range).ok_or_else(beyond)?;
        let inside = whole.relocations.iter().filter(|(at, ..)| (offset..offset + size).contains(at));
        if self.types.is_aggregate(ty) {
            let relocations = inside.map(|&(at, var, addend)| (at - offset, var, addend)).collect();
            return Ok(Constant::Aggregate(ty, Rc::new(Data { bytes: bytes.to_vec(), relocations })));
        }
        let value = self.types.value(ty)?;
        if let Some(&(_, var, addend)) = inside.clone().next() {
            return Ok(Constant::Address(var, addend, value));
        }
        let width = in_memory(value.with_count(1)).size().unwrap_or(8) as usize;
        let bits = bytes.chunks(width).take(usize::from(value.count()));
        let bits = bits.map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
        Ok(Constant::Value(value, Const::Bits(bits.collect())))
    }
}

/// Zero bytes.
pub(crate) fn data(size: u64) -> Outcome<Data> {
    if size > MAX_INITIALIZED_SIZE {
        return Err(Problem::new(format!("a constant of {size} bytes is too large")));
    }
    Ok(Data { bytes: vec![0; size as usize], relocations: Vec::new() })
}

/// Writes a constant to the bytes of an object.
pub(crate) fn write(whole: &mut Data, offset: u64, constant: &Constant) -> Outcome<()> {
    let beyond = || Problem::new("a constant is larger than its object");
    let mut put = |at: u64, bytes: &[u8]| {
        let at = at as usize;
        let to = whole.bytes.get_mut(at..at + bytes.len()).ok_or_else(beyond)?;
        to.copy_from_slice(bytes);
        Ok::<(), Problem>(())
    };
    match constant {
        Constant::Value(ty, Const::Bits(bits)) => {
            let ty = in_memory(*ty);
            let width = ty.with_count(1).size();
            let Some(width) = width.filter(|_| value_layout(ty).is_some()) else {
                return Err(Problem::new("a constant of this type cannot be in memory"));
            };
            for (bits, index) in bits.iter().zip(0..) {
                put(offset + width * index, &bits.to_le_bytes()[..width as usize])?;
            }
        }
        Constant::Value(_, Const::Undefined) | Constant::Undefined(_) => {}
        Constant::Address(var, addend, ty) => {
            if in_memory(*ty).size() != Some(8) {
                return Err(Problem::new("an address in memory must have 8 bytes"));
            }
            put(offset, &[0; 8])?;
            whole.relocations.push((offset, *var, *addend));
        }
        Constant::Aggregate(_, part) => {
            put(offset, &part.bytes)?;
            let relocations = part.relocations.iter();
            whole.relocations.extend(relocations.map(|&(at, var, addend)| (offset + at, var, addend)));
        }
    }
    Ok(())
}

/// The bits of a sampler in OpenCL C, from the operands of OpConstantSampler.
fn sampler(inst: &Instruction<'_>) -> Outcome<u64> {
    let [addressing, normalized, filter] = [inst.word(0)?, inst.word(1)?, inst.word(2)?];
    if addressing > 4 || normalized > 1 || filter > 1 {
        return Err(Problem::new("there is no such sampler"));
    }
    Ok(u64::from(normalized | addressing << 1 | 0x10 << filter))
}
