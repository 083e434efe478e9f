//! Types and their layout in memory (OpenCL SPIR-V environment 2.4, OpenCL C 6.3.5).

use kiln_ir::{Handle, Scalar, Type};
use kiln_types::ty::{Access, ImageDim, ImageTy};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::spirv::{AccessQualifier, Decoration, Dim, Op, StorageClass};
use rustc_hash::FxHashMap;

use crate::{
    problem::{Outcome, Problem},
    words::{Instruction, Words},
};

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    Void,
    /// A type of IR values, except pointers.
    Value(Type),
    /// A pointer.
    Pointer {
        /// The address space. `None` for Input, whose variables are built-in.
        space: Option<AddressSpace>,
        /// `None` if it is untyped, or declared only by OpTypeForwardPointer so far.
        pointee: Option<u32>,
    },
    Array {
        element: u32,
        count: u64,
    },
    Struct {
        members: Vec<u32>,
        offsets: Vec<u64>,
    },
    Function {
        result: u32,
        params: Vec<u32>,
    },
    /// An image with a sampler: the type of the image.
    SampledImage,
    /// A type without values, by its name.
    Opaque(String),
}

/// A type with its layout.
#[derive(Clone, Debug)]
struct Entry {
    ty: Ty,
    /// Size and alignment in bytes.
    layout: Option<(u64, u64)>,
}

/// The types of a module.
#[derive(Debug, Default)]
pub(crate) struct Types {
    entries: FxHashMap<u32, Entry>,
}

/// The maximum size of a type in bytes.
const MAX_SIZE: u64 = 1 << 31;

/// The type of a value in memory. A `bool` is a byte.
pub(crate) fn in_memory(ty: Type) -> Type {
    match ty.scalar() {
        Some(Scalar::Bool) => ty.with_scalar(Scalar::I8),
        _ => ty,
    }
}

/// Size and alignment of a value in memory: three components take the space of four.
pub(crate) fn value_layout(ty: Type) -> Option<(u64, u64)> {
    match in_memory(ty) {
        Type::Vector(scalar, count) => {
            let size = scalar.size() * u64::from(count.next_power_of_two());
            Some((size, size))
        }
        Type::Image(_) | Type::Sampler | Type::Handle(_) => Some((8, 8)),
        ty => ty.size().map(|size| (size, size)),
    }
}

impl Types {
    /// The type with this id.
    pub(crate) fn get(&self, id: u32) -> Outcome<&Ty> {
        self.entry(id).map(|entry| &entry.ty)
    }

    fn entry(&self, id: u32) -> Outcome<&Entry> {
        self.entries.get(&id).ok_or_else(|| Problem::new(format!("%{id} is not a type")))
    }

    /// The type of IR values. A problem for aggregates and types without values.
    pub(crate) fn value(&self, id: u32) -> Outcome<Type> {
        match self.get(id)? {
            Ty::Value(ty) => Ok(*ty),
            Ty::Pointer { space: Some(space), .. } => Ok(Type::Pointer(*space)),
            Ty::Opaque(name) => Err(Problem::new(format!("the type `{name}` is not supported"))),
            other => Err(Problem::new(format!(
                "%{id} is {}, where a scalar, vector or pointer is needed",
                other.description()
            ))),
        }
    }

    /// Whether values of this type are structures or arrays, which the IR has only in memory.
    pub(crate) fn is_aggregate(&self, id: u32) -> bool {
        matches!(self.get(id), Ok(Ty::Array { .. } | Ty::Struct { .. }))
    }

    /// Size and alignment in bytes.
    pub(crate) fn layout(&self, id: u32) -> Outcome<(u64, u64)> {
        let entry = self.entry(id)?;
        entry
            .layout
            .ok_or_else(|| Problem::new(format!("%{id} is {}, which has no size", entry.ty.description())))
    }

    /// The pointee of a pointer type.
    pub(crate) fn pointee(&self, id: u32) -> Outcome<u32> {
        match self.get(id)? {
            Ty::Pointer { pointee: Some(pointee), .. } => Ok(*pointee),
            Ty::Pointer { .. } => Err(Problem::new(format!(
                "%{id} is an untyped pointer, where a pointer with a pointee type is needed"
            ))),
            other => {
                Err(Problem::new(format!("%{id} is {}, where a pointer is needed", other.description())))
            }
        }
    }

    /// The type and offset of a member: a component of a vector, an element of an array or a member of a structure.
    pub(crate) fn member(&self, id: u32, index: u64) -> Outcome<(Member, u64)> {
        let beyond = || Problem::new(format!("%{id} has no member {index}"));
        match self.get(id)? {
            Ty::Struct { members, offsets } => {
                let index = usize::try_from(index).map_err(|_| beyond())?;
                let member = *members.get(index).ok_or_else(beyond)?;
                Ok((Member::Type(member), offsets[index]))
            }
            Ty::Array { element, count } => {
                let (size, _) = self.layout(*element)?;
                if index >= *count {
                    return Err(beyond());
                }
                Ok((Member::Type(*element), size * index))
            }
            Ty::Value(ty @ (Type::Vector(scalar, _) | Type::Scalar(scalar)))
                if index < u64::from(ty.count()) =>
            {
                let size = in_memory(Type::Scalar(*scalar)).size().unwrap_or(1);
                Ok((Member::Component(ty.with_count(1)), size * index))
            }
            _ => Err(beyond()),
        }
    }

    /// Adds the type that an instruction declares. Returns whether it declares one.
    pub(crate) fn declare(
        &mut self,
        inst: &Instruction<'_>,
        words: &Words<'_>,
        constant: impl Fn(u32) -> Option<u64>,
    ) -> Outcome<bool> {
        let (id, ty) = match inst.op {
            Op::TypeForwardPointer => {
                let space = space(class(inst.word(1)?)?)?;
                (inst.word(0)?, Ty::Pointer { space, pointee: None })
            }
            _ => match self.read(inst, constant)? {
                Some(ty) => (inst.result()?, ty),
                None => return Ok(false),
            },
        };
        let entry = self.lay_out(ty, words.decoration(id, Decoration::CPacked).is_some())?;
        self.entries.insert(id, entry);
        Ok(true)
    }

    fn read(&self, inst: &Instruction<'_>, constant: impl Fn(u32) -> Option<u64>) -> Outcome<Option<Ty>> {
        Ok(Some(match inst.op {
            Op::TypeVoid => Ty::Void,
            Op::TypeBool => Ty::Value(Type::BOOL),
            Op::TypeInt => Ty::Value(Type::Scalar(match inst.word(0)? {
                8 => Scalar::I8,
                16 => Scalar::I16,
                32 => Scalar::I32,
                64 => Scalar::I64,
                bits => return Err(Problem::new(format!("integers of {bits} bits are not supported"))),
            })),
            Op::TypeFloat => Ty::Value(Type::Scalar(match (inst.word(0)?, inst.operands.len()) {
                (16, 1) => Scalar::F16,
                (32, 1) => Scalar::F32,
                (64, 1) => Scalar::F64,
                (bits, 1) => return Err(Problem::new(format!("floats of {bits} bits are not supported"))),
                _ => {
                    return Err(Problem::new(
                        "floats with an encoding other than IEEE 754 are not supported",
                    ));
                }
            })),
            Op::TypeVector => match (self.value(inst.word(0)?)?, inst.word(1)?) {
                // LLVM forms vectors that OpenCL C lacks. A vector of one component is the component itself.
                (Type::Scalar(scalar), count) if (1..=u32::from(Type::MAX_COUNT)).contains(&count) => {
                    Ty::Value(Type::vector(scalar, count as u8))
                }
                (Type::Scalar(_), count) => {
                    return Err(Problem::new(format!("vectors of {count} components are not supported")));
                }
                _ => return Err(Problem::new("vectors of pointers are not supported")),
            },
            Op::TypeArray => {
                let count = constant(inst.word(1)?);
                let count = count.ok_or_else(|| Problem::new("the length of an array is not a constant"))?;
                Ty::Array { element: inst.word(0)?, count }
            }
            Op::TypeStruct => Ty::Struct { members: inst.operands.to_vec(), offsets: Vec::new() },
            Op::TypePointer => {
                Ty::Pointer { space: space(class(inst.word(0)?)?)?, pointee: Some(inst.word(1)?) }
            }
            Op::TypeUntypedPointerKHR => Ty::Pointer { space: space(class(inst.word(0)?)?)?, pointee: None },
            Op::TypeFunction => Ty::Function { result: inst.word(0)?, params: inst.words(1).to_vec() },
            Op::TypeImage => Ty::Value(Type::Image(image(inst)?)),
            Op::TypeSampler => Ty::Value(Type::Sampler),
            Op::TypeSampledImage => match self.value(inst.word(0)?)? {
                Type::Image(_) => Ty::SampledImage,
                _ => return Err(Problem::new("its operand is not an image type")),
            },
            Op::TypeEvent => Ty::Value(Type::Handle(Handle::Event)),
            Op::TypeDeviceEvent => Ty::Value(Type::Handle(Handle::DeviceEvent)),
            Op::TypeReserveId => Ty::Value(Type::Handle(Handle::ReserveId)),
            Op::TypeQueue => Ty::Value(Type::Handle(Handle::Queue)),
            Op::TypePipe => {
                let is_written = inst.word(0)? == AccessQualifier::WriteOnly as u32;
                Ty::Value(Type::Handle(Handle::Pipe { is_written }))
            }
            Op::TypeOpaque => Ty::Opaque(inst.text(0).0),
            _ if inst.name().starts_with("Type") => Ty::Opaque(format!("Op{}", inst.name())),
            _ => return Ok(None),
        }))
    }

    fn lay_out(&self, mut ty: Ty, is_packed: bool) -> Outcome<Entry> {
        let too_large = || Problem::new("the type is too large");
        let layout = match &mut ty {
            Ty::Value(ty) => value_layout(*ty),
            Ty::Pointer { .. } => Some((8, 8)),
            Ty::Array { element, count } => {
                let (size, align) = self.layout(*element)?;
                let size = size.checked_mul(*count).filter(|size| *size <= MAX_SIZE);
                Some((size.ok_or_else(too_large)?, align))
            }
            Ty::Struct { members, offsets } => {
                let (mut end, mut aligned) = (0_u64, 1);
                for member in members {
                    let (size, align) = self.layout(*member)?;
                    let align = if is_packed { 1 } else { align };
                    let offset = end.next_multiple_of(align);
                    offsets.push(offset);
                    (end, aligned) = (offset + size, aligned.max(align));
                    if end > MAX_SIZE {
                        return Err(too_large());
                    }
                }
                Some((end.next_multiple_of(aligned), aligned))
            }
            Ty::Void | Ty::Function { .. } | Ty::SampledImage | Ty::Opaque(_) => None,
        };
        Ok(Entry { ty, layout })
    }
}

/// The type of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Member {
    /// A type of the module.
    Type(u32),
    /// A component of a vector.
    Component(Type),
}

impl Ty {
    /// A description for messages.
    fn description(&self) -> &'static str {
        match self {
            Self::Void => "void",
            Self::Value(_) => "a scalar, a vector or a handle",
            Self::Pointer { .. } => "a pointer",
            Self::Array { .. } => "an array",
            Self::Struct { .. } => "a structure",
            Self::Function { .. } => "a function type",
            Self::SampledImage => "an image with a sampler",
            Self::Opaque(_) => "an opaque type",
        }
    }
}

fn class(word: u32) -> Outcome<StorageClass> {
    StorageClass::from_u32(word).ok_or_else(|| Problem::new("there is no such storage class"))
}

/// The address space of a storage class (OpenCL SPIR-V environment 2.2).
pub(crate) fn space(class: StorageClass) -> Outcome<Option<AddressSpace>> {
    Ok(Some(match class {
        StorageClass::Input => return Ok(None),
        StorageClass::Function => AddressSpace::Private,
        StorageClass::Workgroup => AddressSpace::Local,
        StorageClass::CrossWorkgroup => AddressSpace::Global,
        StorageClass::UniformConstant => AddressSpace::Constant,
        StorageClass::Generic => AddressSpace::Generic,
        other => return Err(Problem::new(format!("the storage class {other:?} is not supported"))),
    }))
}

fn image(inst: &Instruction<'_>) -> Outcome<ImageTy> {
    let dim = match Dim::from_u32(inst.word(1)?) {
        Some(Dim::Dim1D) => ImageDim::D1,
        Some(Dim::Dim2D) => ImageDim::D2,
        Some(Dim::Dim3D) => ImageDim::D3,
        Some(Dim::DimBuffer) => ImageDim::Buffer,
        _ => return Err(Problem::new("images of this dimension are not supported")),
    };
    let access = match inst
        .operands
        .get(7)
        .map_or(Some(AccessQualifier::ReadOnly), |&word| AccessQualifier::from_u32(word))
    {
        Some(AccessQualifier::WriteOnly) => Access::WriteOnly,
        Some(AccessQualifier::ReadWrite) => Access::ReadWrite,
        _ => Access::ReadOnly,
    };
    Ok(ImageTy {
        dim,
        is_depth: inst.word(2)? == 1,
        is_array: inst.word(3)? == 1,
        is_msaa: inst.word(4)? == 1,
        access,
    })
}
