//! SPIR-V types and constants for those of the IR, and the capabilities that they require.

use kiln_ir::{Const, Handle, Scalar, Type};
use kiln_types::ty::{Access, ImageDim, ImageTy};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::{
    dr::Operand,
    spirv::{AccessQualifier, Capability, Decoration, Dim, ImageFormat, Op, StorageClass, Word},
};

use super::Emitter;

impl Emitter<'_> {
    /// The SPIR-V type of values of an IR type.
    pub(super) fn ty(&mut self, ty: Type) -> Word {
        if let Some(&word) = self.globals.types.get(&ty) {
            return word;
        }
        let word = self.new_type(ty);
        self.globals.types.insert(ty, word);
        word
    }

    /// The SPIR-V type of a scalar.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> Word {
        self.ty(Type::Scalar(scalar))
    }

    fn new_type(&mut self, ty: Type) -> Word {
        match ty {
            Type::Scalar(scalar) => self.new_scalar(scalar),
            Type::Vector(scalar, count) => {
                if count > 4 {
                    self.writer.require(Capability::Vector16);
                }
                let element = self.scalar(scalar);
                let operands = vec![Operand::IdRef(element), Operand::LiteralBit32(count.into())];
                self.writer.interned(Op::TypeVector, None, operands)
            }
            // An untyped pointer is a pointer to bytes. Only the OpenCL environment has pointers as values.
            Type::Pointer(space) => {
                let class = self.storage_class(space);
                let byte = self.scalar(Scalar::I8);
                self.pointer_type(class, byte)
            }
            Type::Image(image) => self.image_type(image),
            Type::Sampler => self.writer.interned(Op::TypeSampler, None, Vec::new()),
            Type::Handle(handle) => self.handle_type(handle),
        }
    }

    /// `OpTypeVoid`
    pub(super) fn void(&mut self) -> Word {
        self.writer.interned(Op::TypeVoid, None, Vec::new())
    }

    fn new_scalar(&mut self, scalar: Scalar) -> Word {
        let (op, width, capability) = match scalar {
            Scalar::Bool => return self.writer.interned(Op::TypeBool, None, Vec::new()),
            Scalar::I8 => (Op::TypeInt, 8, Some(Capability::Int8)),
            Scalar::I16 => (Op::TypeInt, 16, Some(Capability::Int16)),
            Scalar::I32 => (Op::TypeInt, 32, None),
            Scalar::I64 => (Op::TypeInt, 64, Some(Capability::Int64)),
            Scalar::F16 => (Op::TypeFloat, 16, Some(Capability::Float16)),
            Scalar::F32 => (Op::TypeFloat, 32, None),
            Scalar::F64 => (Op::TypeFloat, 64, Some(Capability::Float64)),
        };
        if let Some(capability) = capability {
            self.writer.require(capability);
        }
        self.numeric_type(op, width)
    }

    /// The pointee type of pointers to halves, in a module without half values.
    pub(super) fn half_in_memory(&mut self) -> Word {
        self.writer.require(Capability::Float16Buffer);
        self.numeric_type(Op::TypeFloat, 16)
    }

    fn numeric_type(&mut self, op: Op, width: u32) -> Word {
        self.globals.computes_floats |= op == Op::TypeFloat && width == 32;
        let mut operands = vec![Operand::LiteralBit32(width)];
        if op == Op::TypeInt {
            operands.push(Operand::LiteralBit32(0));
        }
        self.writer.interned(op, None, operands)
    }

    /// `OpTypePointer`
    pub(super) fn pointer_type(&mut self, class: StorageClass, pointee: Word) -> Word {
        if class == StorageClass::Generic {
            self.writer.require(Capability::GenericPointer);
        }
        let operands = vec![Operand::StorageClass(class), Operand::IdRef(pointee)];
        self.writer.interned(Op::TypePointer, None, operands)
    }

    /// Decorates a pointer type with its array stride.
    pub(super) fn stride(&mut self, pointer: Word, bytes: u64) {
        if self.globals.strided.insert(pointer) {
            let bytes = Operand::LiteralBit32(u32::try_from(bytes).unwrap_or(u32::MAX));
            self.writer.decorate(pointer, Decoration::ArrayStride, [bytes]);
        }
    }

    /// `OpTypeArray`
    pub(super) fn array_type(&mut self, element: Word, count: u32) -> Word {
        let count = self.u32(count);
        self.writer.interned(Op::TypeArray, None, vec![Operand::IdRef(element), Operand::IdRef(count)])
    }

    /// A private pointer to a struct of this size and alignment.
    pub(super) fn aggregate_pointer(&mut self, size: u64, align: u64) -> Word {
        let (element, width) = match align {
            1 => (Type::Scalar(Scalar::I8), 1),
            2 => (Type::Scalar(Scalar::I16), 2),
            4 => (Type::Scalar(Scalar::I32), 4),
            8 => (Type::Scalar(Scalar::I64), 8),
            _ => (Type::Vector(Scalar::I64, (align / 8).min(16) as u8), align.min(128)),
        };
        let element = self.ty(element);
        let array = self.array_type(element, u32::try_from(size.div_ceil(width).max(1)).unwrap_or(u32::MAX));
        let record = self.writer.interned(Op::TypeStruct, None, vec![Operand::IdRef(array)]);
        self.pointer_type(StorageClass::Function, record)
    }

    /// The storage class of an address space.
    pub(super) fn storage_class(&self, space: AddressSpace) -> StorageClass {
        match (space, self.is_vulkan()) {
            (AddressSpace::Private, _) => StorageClass::Function,
            (AddressSpace::Local, _) => StorageClass::Workgroup,
            (AddressSpace::Global | AddressSpace::Constant | AddressSpace::Generic, true) => {
                StorageClass::PhysicalStorageBuffer
            }
            (AddressSpace::Global, false) => StorageClass::CrossWorkgroup,
            (AddressSpace::Constant, false) => StorageClass::UniformConstant,
            (AddressSpace::Generic, false) => StorageClass::Generic,
        }
    }

    /// The SPIR-V type of a handle.
    fn handle_type(&mut self, handle: Handle) -> Word {
        let (op, capability) = match handle {
            Handle::Event => (Op::TypeEvent, None),
            Handle::Pipe { is_written } => {
                self.writer.require(Capability::Pipes);
                let access = Operand::AccessQualifier(if is_written {
                    AccessQualifier::WriteOnly
                } else {
                    AccessQualifier::ReadOnly
                });
                return self.writer.interned(Op::TypePipe, None, vec![access]);
            }
            Handle::ReserveId => (Op::TypeReserveId, Some(Capability::Pipes)),
            Handle::Queue => (Op::TypeQueue, Some(Capability::DeviceEnqueue)),
            Handle::DeviceEvent => (Op::TypeDeviceEvent, Some(Capability::DeviceEnqueue)),
            Handle::Function => unreachable!("functions are named, not passed"),
        };
        if let Some(capability) = capability {
            self.writer.require(capability);
        }
        self.writer.interned(op, None, Vec::new())
    }

    fn image_type(&mut self, image: ImageTy) -> Word {
        let (dim, capability) = match image.dim {
            ImageDim::D1 => (Dim::Dim1D, Some(Capability::Sampled1D)),
            ImageDim::Buffer => (Dim::DimBuffer, Some(Capability::SampledBuffer)),
            ImageDim::D2 => (Dim::Dim2D, None),
            ImageDim::D3 => (Dim::Dim3D, None),
        };
        self.writer.require(Capability::ImageBasic);
        if let Some(capability) = capability {
            self.writer.require(capability);
        }
        let access = match image.access {
            Access::ReadOnly => AccessQualifier::ReadOnly,
            Access::WriteOnly => AccessQualifier::WriteOnly,
            Access::ReadWrite => {
                self.writer.require(Capability::ImageReadWrite);
                AccessQualifier::ReadWrite
            }
        };
        let void = self.void();
        let operands = vec![
            Operand::IdRef(void),
            Operand::Dim(dim),
            Operand::LiteralBit32(image.is_depth.into()),
            Operand::LiteralBit32(image.is_array.into()),
            Operand::LiteralBit32(image.is_msaa.into()),
            Operand::LiteralBit32(0),
            Operand::ImageFormat(ImageFormat::Unknown),
            Operand::AccessQualifier(access),
        ];
        self.writer.interned(Op::TypeImage, None, operands)
    }

    /// A 32-bit integer constant.
    pub(super) fn u32(&mut self, value: u32) -> Word {
        let ty = self.scalar(Scalar::I32);
        self.writer.interned(Op::Constant, Some(ty), vec![Operand::LiteralBit32(value)])
    }

    /// A constant of the IR.
    pub(super) fn constant(&mut self, ty: Type, value: &Const) -> Word {
        let bits = match value {
            Const::Undefined => {
                let ty = self.ty(ty);
                return self.writer.interned(Op::Undef, Some(ty), Vec::new());
            }
            Const::Bits(bits) => bits,
        };
        match ty {
            Type::Scalar(scalar) => self.scalar_constant(scalar, bits[0]),
            Type::Vector(scalar, _) => {
                let parts: Vec<_> =
                    bits.iter().map(|&part| Operand::IdRef(self.scalar_constant(scalar, part))).collect();
                let ty = self.ty(ty);
                self.writer.interned(Op::ConstantComposite, Some(ty), parts)
            }
            Type::Pointer(_) | Type::Image(_) | Type::Handle(_) => {
                let ty = self.ty(ty);
                self.writer.interned(Op::ConstantNull, Some(ty), Vec::new())
            }
            Type::Sampler => self.sampler_constant(bits[0]),
        }
    }

    fn scalar_constant(&mut self, scalar: Scalar, bits: u64) -> Word {
        let ty = self.scalar(scalar);
        let (op, operands) = match scalar {
            Scalar::Bool if bits != 0 => (Op::ConstantTrue, Vec::new()),
            Scalar::Bool => (Op::ConstantFalse, Vec::new()),
            Scalar::I64 | Scalar::F64 => (Op::Constant, vec![Operand::LiteralBit64(bits)]),
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::F16 | Scalar::F32 => {
                (Op::Constant, vec![Operand::LiteralBit32(bits as u32)])
            }
        };
        self.writer.interned(op, Some(ty), operands)
    }

    /// A sampler of the OpenCL environment from the bits of OpenCL C (6.15.15.1): bit 0 for normalized coordinates,
    /// bits 1 to 3 for the addressing mode, bits 4 and 5 for the filter.
    fn sampler_constant(&mut self, bits: u64) -> Word {
        use rspirv::spirv::{SamplerAddressingMode, SamplerFilterMode};
        self.writer.require(Capability::LiteralSampler);
        let addressing = match (bits >> 1) & 7 {
            1 => SamplerAddressingMode::ClampToEdge,
            2 => SamplerAddressingMode::Clamp,
            3 => SamplerAddressingMode::Repeat,
            4 => SamplerAddressingMode::RepeatMirrored,
            _ => SamplerAddressingMode::None,
        };
        let filter = if bits & 0x20 == 0 { SamplerFilterMode::Nearest } else { SamplerFilterMode::Linear };
        let ty = self.ty(Type::Sampler);
        let operands = vec![
            Operand::SamplerAddressingMode(addressing),
            Operand::LiteralBit32((bits & 1) as u32),
            Operand::SamplerFilterMode(filter),
        ];
        self.writer.interned(Op::ConstantSampler, Some(ty), operands)
    }
}
