//! The types of values.

use kiln_types::ty::{self, ImageTy};
use kiln_vocabulary::opencl::AddressSpace;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A vector of 2, 3, 4, 8 or 16 components. Modules of other compilers have others, up to [`Type::MAX_COUNT`], as values
    /// and in accesses; `passes/split_vectors` splits them first.
    Vector(Scalar, u8),
    /// An address in this address space.
    Pointer(AddressSpace),
    /// An image.
    Image(ImageTy),
    /// `sampler_t`
    Sampler,
    /// An opaque handle.
    Handle(Handle),
}

impl Type {
    /// `Bool`
    pub const BOOL: Self = Self::Scalar(Scalar::Bool);
    /// `I8`
    pub const I8: Self = Self::Scalar(Scalar::I8);
    /// `I32`
    pub const I32: Self = Self::Scalar(Scalar::I32);
    /// `I64`
    pub const I64: Self = Self::Scalar(Scalar::I64);

    /// The maximum number of components of a vector: as many as a `ulong16` has bytes.
    pub const MAX_COUNT: u8 = 128;

    /// A vector, or the scalar itself for one component.
    pub const fn vector(scalar: Scalar, count: u8) -> Self {
        if count == 1 { Self::Scalar(scalar) } else { Self::Vector(scalar, count) }
    }

    /// The component type of a scalar or vector.
    pub const fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) | Self::Vector(scalar, _) => Some(scalar),
            _ => None,
        }
    }

    /// The number of components: 1 for everything other than vectors.
    pub const fn count(self) -> u8 {
        match self {
            Self::Vector(_, count) => count,
            _ => 1,
        }
    }

    /// The type for values of an OpenCL C type.
    pub fn scalar_or_vector(scalar: ty::Scalar, count: u8) -> Self {
        Self::vector(scalar.into(), count)
    }

    /// The same number of components of another scalar.
    pub const fn with_scalar(self, scalar: Scalar) -> Self {
        Self::vector(scalar, self.count())
    }

    /// `Bool` for each component: the type of a comparison of this type.
    pub const fn with_bool(self) -> Self {
        match self {
            Self::Scalar(_) | Self::Vector(..) => self.with_scalar(Scalar::Bool),
            _ => Self::BOOL,
        }
    }

    /// A vector of this number of components of the same scalar.
    pub const fn with_count(self, count: u8) -> Self {
        match self {
            Self::Scalar(scalar) | Self::Vector(scalar, _) => Self::vector(scalar, count),
            _ => self,
        }
    }

    /// The size of a value in bytes, without padding after three components. `None` for types without a size.
    pub const fn size(self) -> Option<u64> {
        match self {
            Self::Scalar(scalar) => Some(scalar.size()),
            Self::Vector(scalar, count) => Some(scalar.size() * count as u64),
            Self::Pointer(_) => Some(8),
            Self::Image(_) | Self::Sampler | Self::Handle(_) => None,
        }
    }

    /// Whether it is a vector.
    pub const fn is_vector(self) -> bool {
        matches!(self, Self::Vector(..))
    }

    /// Whether it is a pointer.
    pub const fn is_pointer(self) -> bool {
        matches!(self, Self::Pointer(_))
    }
}

/// Opaque handles, which only dedicated functions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// `event_t`
    Event,
    /// `pipe`
    Pipe {
        /// `write_only`
        is_written: bool,
    },
    /// `reserve_id_t`
    ReserveId,
    /// `queue_t`
    Queue,
    /// `clk_event_t`
    DeviceEvent,
    /// A function for device-side enqueue: see `Op::Function`.
    Function,
}

/// Scalar types. Integers have no signedness; operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl From<ty::Scalar> for Scalar {
    fn from(scalar: ty::Scalar) -> Self {
        match scalar {
            ty::Scalar::Bool => Self::Bool,
            ty::Scalar::Char | ty::Scalar::UChar => Self::I8,
            ty::Scalar::Short | ty::Scalar::UShort => Self::I16,
            ty::Scalar::Int | ty::Scalar::UInt => Self::I32,
            ty::Scalar::Long | ty::Scalar::ULong => Self::I64,
            ty::Scalar::Half => Self::F16,
            ty::Scalar::Float => Self::F32,
            ty::Scalar::Double => Self::F64,
        }
    }
}

impl Scalar {
    /// The OpenCL C type. For an integer, the signed or unsigned one.
    pub const fn opencl(self, is_signed: bool) -> ty::Scalar {
        match (self, is_signed) {
            (Self::Bool, _) => ty::Scalar::Bool,
            (Self::I8, true) => ty::Scalar::Char,
            (Self::I8, false) => ty::Scalar::UChar,
            (Self::I16, true) => ty::Scalar::Short,
            (Self::I16, false) => ty::Scalar::UShort,
            (Self::I32, true) => ty::Scalar::Int,
            (Self::I32, false) => ty::Scalar::UInt,
            (Self::I64, true) => ty::Scalar::Long,
            (Self::I64, false) => ty::Scalar::ULong,
            (Self::F16, _) => ty::Scalar::Half,
            (Self::F32, _) => ty::Scalar::Float,
            (Self::F64, _) => ty::Scalar::Double,
        }
    }

    /// The size of a value in bytes; a `Bool` is one byte in memory.
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::I8 => 1,
            Self::I16 | Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// The width in bits: 1 for `Bool`.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            _ => 8 * self.size() as u32,
        }
    }

    /// Whether it is `F16`, `F32` or `F64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Whether it is `I8` to `I64`.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The integer type of this size in bytes: 1, 2, 4 or 8.
    pub fn int_of_size(bytes: u64) -> Self {
        match bytes {
            1 => Self::I8,
            2 => Self::I16,
            4 => Self::I32,
            8 => Self::I64,
            _ => panic!("no integer has {bytes} bytes"),
        }
    }

    /// The bits of a value of this type.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The bits of the fraction of the floating-point type with this size.
    pub const fn fraction_mask(self) -> u64 {
        match self.bits() {
            16 => (1 << 10) - 1,
            64 => (1 << 52) - 1,
            _ => (1 << 23) - 1,
        }
    }
}
