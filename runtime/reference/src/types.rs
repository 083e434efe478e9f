//! The types of a module: layout of values in memory and in registers.
//!
//! Owns sizes, alignments and register counts: one register for each scalar. Must not depend on instructions. In the
//! OpenCL environment, layouts follow from the types (OpenCL C 6.3.5: a vector is aligned to its size, and a
//! 3-component vector has the size of a 4-component one). In the Vulkan environment, decorations define them. A type
//! without decorations occurs only in memory that the host cannot access, so any layout is valid.

use std::collections::HashMap;

use spirv::{Decoration, Op, StorageClass};

use crate::{Environment, Invalid, words::Inst};

/// The id of a type.
pub(crate) type TypeId = u32;

/// The kinds of scalars in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

/// The kind of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ty {
    Void,
    Scalar(Scalar),
    Vector(Scalar, u32),
    Array(TypeId, u64),
    /// An array whose length is determined by its buffer.
    RuntimeArray(TypeId),
    Struct(Vec<TypeId>),
    Pointer(StorageClass, TypeId),
    Function(TypeId, Vec<TypeId>),
    Image(Image),
    SampledImage(TypeId),
    Sampler,
    /// `true` for a write pipe.
    Pipe(bool),
    /// An event, a queue, a reservation, …: one opaque word.
    Handle,
    /// A type of unknown size.
    Opaque,
}

/// An image type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Image {
    /// 1, 2 or 3.
    pub(crate) dims: u8,
    pub(crate) is_array: bool,
    pub(crate) is_buffer: bool,
    pub(crate) is_depth: bool,
    pub(crate) is_written: bool,
}

impl Image {
    /// The number of coordinates: dimensions, plus one for the layer of an array.
    pub(crate) const fn rank(self) -> u8 {
        self.dims + self.is_array as u8
    }
}

/// A type with its layout.
#[derive(Debug, Clone)]
pub(crate) struct Type {
    pub(crate) ty: Ty,
    /// The size in bytes.
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// The number of registers of a value.
    pub(crate) slots: u64,
    /// The offsets of a structure's members.
    pub(crate) offsets: Vec<u64>,
    /// The array stride in bytes.
    pub(crate) stride: u64,
}

/// A scalar or vector within a value in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The byte offset from the start of the value.
    pub(crate) offset: u64,
    /// The size of a scalar in bytes.
    pub(crate) size: u8,
    pub(crate) count: u32,
}

/// The types of a module.
#[derive(Debug, Default)]
pub(crate) struct Types {
    types: HashMap<TypeId, Type>,
    pub(crate) environment: Environment,
    /// Structures decorated `CPacked`.
    pub(crate) packed: Vec<u32>,
    /// `Offset` decorations of structure members.
    pub(crate) offsets: HashMap<(TypeId, u32), u64>,
    /// `ArrayStride` decorations of arrays and pointers.
    pub(crate) strides: HashMap<TypeId, u64>,
}

/// Values with more registers than this are only copied in memory.
pub(crate) const MAX_SLOTS: u64 = 4096;

impl Type {
    /// A type without members, which is aligned to its size.
    fn plain(ty: Ty, size: u64, slots: u64) -> Self {
        Self { ty, size, align: size.max(1), slots, offsets: Vec::new(), stride: 0 }
    }
}

impl Scalar {
    /// The size in bytes.
    pub(crate) const fn size(self) -> u8 {
        match self {
            Self::Bool | Self::I8 => 1,
            Self::I16 | Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

impl Types {
    /// Records a decoration.
    pub(crate) fn record_decoration(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let id = inst.word(0)?;
        match Decoration::from_u32(inst.word(1)?) {
            Some(Decoration::CPacked) => self.packed.push(id),
            Some(Decoration::ArrayStride) => drop(self.strides.insert(id, inst.word(2)?.into())),
            _ => {}
        }
        Ok(())
    }

    /// Records a member decoration.
    pub(crate) fn note_member(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        if Decoration::from_u32(inst.word(2)?) == Some(Decoration::Offset) {
            self.offsets.insert((inst.word(0)?, inst.word(1)?), inst.word(3)?.into());
        }
        Ok(())
    }

    /// Declares a type; `constant` returns the values of array lengths.
    pub(crate) fn declare(
        &mut self,
        inst: &Inst<'_>,
        constant: impl Fn(u32) -> Option<u64>,
    ) -> Result<(), Invalid> {
        let id = inst.word(0)?;
        let ty = match inst.op {
            Op::TypeVoid => Type::plain(Ty::Void, 0, 0),
            Op::TypeBool => Type::plain(Ty::Scalar(Scalar::Bool), 1, 1),
            Op::TypeInt | Op::TypeFloat => {
                let scalar = numeric_scalar(inst.op, inst.word(1)?)?;
                Type::plain(Ty::Scalar(scalar), scalar.size().into(), 1)
            }
            Op::TypeVector => self.vector(inst.word(1)?, inst.word(2)?)?,
            Op::TypeArray => {
                let count = constant(inst.word(2)?).ok_or_else(|| Invalid::new("an array has no size"))?;
                self.array(id, inst.word(1)?, count)?
            }
            Op::TypeRuntimeArray => {
                let element = self.get(inst.word(1)?)?;
                let stride = self.strides.get(&id).copied().unwrap_or(element.size);
                let align = element.align;
                Type { align, stride, ..Type::plain(Ty::RuntimeArray(inst.word(1)?), 0, 0) }
            }
            Op::TypeStruct => self.structure(id, inst.from(1))?,
            // A forward pointer has no pointee yet: its `OpTypePointer` replaces it.
            Op::TypePointer | Op::TypeForwardPointer => {
                let class = StorageClass::from_u32(inst.word(1)?);
                let class = class.ok_or_else(|| Invalid::new("a storage class is unknown"))?;
                Type::plain(Ty::Pointer(class, inst.words.get(2).copied().unwrap_or(id)), 8, 1)
            }
            Op::TypeFunction => Type::plain(Ty::Function(inst.word(1)?, inst.from(2).to_vec()), 0, 0),
            Op::TypeImage => Type::plain(Ty::Image(self.image(inst)?), 8, 1),
            Op::TypeSampledImage => Type::plain(Ty::SampledImage(inst.word(1)?), 16, 2),
            Op::TypeSampler => Type::plain(Ty::Sampler, 8, 1),
            Op::TypePipe => {
                Type::plain(Ty::Pipe(inst.word(1)? == spirv::AccessQualifier::WriteOnly as u32), 8, 1)
            }
            Op::TypeEvent | Op::TypeDeviceEvent | Op::TypeReserveId | Op::TypeQueue | Op::TypePipeStorage => {
                Type::plain(Ty::Handle, 8, 1)
            }
            Op::TypeOpaque => Type::plain(Ty::Opaque, 0, 0),
            other => return Err(Invalid::new(format!("{other:?} is not supported here"))),
        };
        self.types.insert(id, ty);
        Ok(())
    }

    fn vector(&self, component: TypeId, count: u32) -> Result<Type, Invalid> {
        let Ty::Scalar(scalar) = self.get(component)?.ty else {
            return Err(Invalid::new("the component type of a vector is not a scalar"));
        };
        // LLVM forms vectors that OpenCL C lacks.
        let is_known = match self.environment {
            Environment::OpenCl => (1..=128).contains(&count),
            Environment::Vulkan => matches!(count, 2..=4 | 8 | 16),
        };
        if !is_known {
            return Err(Invalid::new(format!("a vector has {count} components")));
        }
        let (size, ty) = (u64::from(scalar.size()), Ty::Vector(scalar, count));
        Ok(match self.environment {
            Environment::OpenCl => Type::plain(ty, size * u64::from(count.next_power_of_two()), count.into()),
            Environment::Vulkan => {
                Type { align: size, ..Type::plain(ty, size * u64::from(count), count.into()) }
            }
        })
    }

    fn array(&self, id: TypeId, element_id: TypeId, count: u64) -> Result<Type, Invalid> {
        let element = self.get(element_id)?;
        let stride = self.strides.get(&id).copied().unwrap_or(element.size);
        let size = stride.checked_mul(count).filter(|size| *size < 1 << 37);
        Ok(Type {
            ty: Ty::Array(element_id, count),
            size: size.ok_or_else(|| Invalid::new("an array is too large"))?,
            align: element.align,
            slots: element.slots.saturating_mul(count),
            offsets: Vec::new(),
            stride,
        })
    }

    fn image(&self, inst: &Inst<'_>) -> Result<Image, Invalid> {
        let (dims, is_buffer) = match spirv::Dim::from_u32(inst.word(2)?) {
            Some(spirv::Dim::Dim1D) => (1, false),
            Some(spirv::Dim::Dim2D) => (2, false),
            Some(spirv::Dim::Dim3D) => (3, false),
            Some(spirv::Dim::DimBuffer) => (1, true),
            _ => return Err(Invalid::new("an image has a shape that OpenCL does not have")),
        };
        let [is_depth, is_array] = [inst.word(3)? == 1, inst.word(4)? == 1];
        let access = inst.words.get(8).copied().and_then(spirv::AccessQualifier::from_u32);
        // Vulkan's storage images have `Sampled` 2; `AccessQualifier` is OpenCL's.
        let is_storage = self.environment == Environment::Vulkan && inst.word(6)? == 2;
        let is_written = is_storage
            || matches!(access, Some(spirv::AccessQualifier::WriteOnly | spirv::AccessQualifier::ReadWrite));
        Ok(Image { dims, is_array, is_buffer, is_depth, is_written })
    }

    fn structure(&self, id: TypeId, members: &[TypeId]) -> Result<Type, Invalid> {
        let is_packed = self.packed.contains(&id);
        let (mut size, mut align, mut slots) = (0u64, 1, 0u64);
        let mut offsets = Vec::with_capacity(members.len());
        for (&member, number) in members.iter().zip(0..) {
            let member = self.get(member)?;
            let step = if is_packed { 1 } else { member.align };
            let next = size.next_multiple_of(step);
            let offset = self.offsets.get(&(id, number)).copied().unwrap_or(next);
            offsets.push(offset);
            size = size.max(offset.saturating_add(member.size));
            align = align.max(step);
            slots = slots.saturating_add(member.slots);
        }
        let size = Some(size).filter(|size| *size < 1 << 37);
        let size = size.ok_or_else(|| Invalid::new("a structure is too large"))?.next_multiple_of(align);
        Ok(Type { ty: Ty::Struct(members.to_vec()), size, align, slots, offsets, stride: 0 })
    }

    pub(crate) fn get(&self, id: TypeId) -> Result<&Type, Invalid> {
        self.types.get(&id).ok_or_else(|| Invalid::new(format!("id {id} is not a type")))
    }

    /// The number of registers of a value.
    pub(crate) fn slots(&self, id: TypeId) -> Result<u32, Invalid> {
        let slots = self.get(id)?.slots;
        if slots > MAX_SLOTS {
            return Err(Invalid::new(format!("a value of {slots} scalars is not supported")));
        }
        Ok(slots as u32)
    }

    /// The scalar type and component count of a scalar or vector type. Pointers count as 64-bit scalars.
    pub(crate) fn lanes(&self, id: TypeId) -> Result<(Scalar, u32), Invalid> {
        match &self.get(id)?.ty {
            Ty::Scalar(scalar) => Ok((*scalar, 1)),
            Ty::Vector(scalar, count) => Ok((*scalar, *count)),
            Ty::Pointer(..) | Ty::Image(_) | Ty::Sampler | Ty::Pipe(_) | Ty::Handle => Ok((Scalar::I64, 1)),
            _ => Err(Invalid::new(format!("type {id} is neither a scalar nor a vector"))),
        }
    }

    /// The type of an array, vector or structure element, with its offset in memory and in registers.
    pub(crate) fn member(&self, id: TypeId, index: u64) -> Result<(Member, u64, u32), Invalid> {
        let ty = self.get(id)?;
        let outside = || Invalid::new(format!("type {id} has no member {index}"));
        match &ty.ty {
            Ty::Vector(scalar, count) if index < u64::from(*count) => {
                Ok((Member::Lane(*scalar), index * u64::from(scalar.size()), index as u32))
            }
            Ty::Array(element, count) if index < *count => {
                let element_ty = self.get(*element)?;
                let slot = index.checked_mul(element_ty.slots).and_then(|slot| u32::try_from(slot).ok());
                Ok((Member::Type(*element), index * ty.stride, slot.ok_or_else(outside)?))
            }
            Ty::Struct(members) => {
                let member = *members.get(index as usize).ok_or_else(outside)?;
                let mut slot = 0;
                for &before in &members[..index as usize] {
                    slot += self.get(before)?.slots;
                }
                let slot = u32::try_from(slot).map_err(|_| outside())?;
                Ok((Member::Type(member), ty.offsets[index as usize], slot))
            }
            _ => Err(outside()),
        }
    }

    /// The first register and the register count of a part of a value.
    pub(crate) fn part(&self, mut ty: TypeId, indices: &[u32]) -> Result<(u32, u32), Invalid> {
        let mut at = 0;
        let mut count = self.slots(ty)?;
        for (position, &index) in indices.iter().enumerate() {
            let (member, _, slot) = self.member(ty, index.into())?;
            at += slot;
            match member {
                Member::Type(inner) => {
                    ty = inner;
                    count = self.slots(inner)?;
                }
                Member::Lane(_) if position + 1 == indices.len() => count = 1,
                Member::Lane(_) => return Err(Invalid::new("a scalar has no parts")),
            }
        }
        Ok((at, count))
    }

    /// The scalars and vectors of a value, in register order.
    pub(crate) fn parts(&self, id: TypeId) -> Result<Vec<Part>, Invalid> {
        let mut parts = Vec::new();
        self.collect(id, 0, 0, &mut parts)?;
        Ok(parts)
    }

    fn collect(&self, id: TypeId, at: u64, depth: u32, parts: &mut Vec<Part>) -> Result<(), Invalid> {
        let ty = self.get(id)?;
        if ty.slots > MAX_SLOTS || depth > 64 {
            return Err(Invalid::new("a value is too large"));
        }
        match &ty.ty {
            Ty::Array(element, count) => {
                for index in 0..if ty.slots == 0 { 0 } else { *count } {
                    self.collect(*element, at + index * ty.stride, depth + 1, parts)?;
                }
            }
            Ty::Struct(members) => {
                for (&member, offset) in members.iter().zip(&ty.offsets) {
                    self.collect(member, at + offset, depth + 1, parts)?;
                }
            }
            Ty::SampledImage(_) => parts.push(Part { offset: at, size: 8, count: 2 }),
            Ty::Void | Ty::Function(..) | Ty::Opaque | Ty::RuntimeArray(_) => {
                return Err(Invalid::new("a type has no values"));
            }
            _ => {
                let (scalar, count) = self.lanes(id)?;
                parts.push(Part { offset: at, size: scalar.size(), count });
            }
        }
        Ok(())
    }
}

/// The scalar type of `OpTypeInt` or `OpTypeFloat`.
fn numeric_scalar(op: Op, width: u32) -> Result<Scalar, Invalid> {
    Ok(match (op, width) {
        (Op::TypeInt, 8) => Scalar::I8,
        (Op::TypeInt, 16) => Scalar::I16,
        (Op::TypeInt, 32) => Scalar::I32,
        (Op::TypeInt, 64) => Scalar::I64,
        (Op::TypeFloat, 16) => Scalar::F16,
        (Op::TypeFloat, 32) => Scalar::F32,
        (Op::TypeFloat, 64) => Scalar::F64,
        _ => return Err(Invalid::new(format!("numbers of {width} bits are not supported"))),
    })
}

/// The type of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Type(TypeId),
    /// A component of a vector.
    Lane(Scalar),
}
