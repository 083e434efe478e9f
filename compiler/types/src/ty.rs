//! Types (OpenCL C 6.3). They are interned, so that equal types have equal ids.
//!
//! Covers types, their layout and their conversions. Independent of expressions.

mod arith;
mod constants;
mod convert;
mod display;
mod layout;
mod names;

use std::collections::hash_map::Entry;

use kiln_syntax::{Span, Symbol, ast::RecordKind};
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use crate::{id_type, index::Table};

pub use arith::UsualConversion;
pub use constants::{Constant, constant};
pub use convert::{Cast, ConversionError, Implicit, Loss, Pointee, PointerChange};
pub use layout::{
    MemberLayout, NDRANGE_SIZE, POINTER_SIZE, RecordAttributes, RecordLayout, lay_out, round_up,
};
pub use names::{TypeName, is_reserved};
pub use names::{atomic_condition, image, image_conditions, meaning, parse_vector};

id_type! {
    /// An unqualified type. Equal types have equal ids.
    TyId
}
id_type! {
    /// A `struct` or `union`.
    RecordId
}
id_type! {
    /// An `enum` type.
    EnumId
}

/// A type with qualifiers. The address space is where objects of this type are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QualTy {
    /// The type.
    pub ty: TyId,
    /// Its qualifiers.
    pub quals: Quals,
}

/// Type qualifiers (C99 6.7.3, OpenCL C 6.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quals {
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `restrict`
    pub is_restrict: bool,
    /// The address space. `None` for values, or if it is not determined yet.
    pub space: Option<AddressSpace>,
}

/// Arithmetic types (OpenCL C 6.3.1), also as elements of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Half,
    Float,
    Double,
}

/// A type of OpenCL C, without qualifiers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The type of an expression with a reported error. Compatible with everything.
    Error,
    /// `void`
    Void,
    /// `bool` to `double`
    Scalar(Scalar),
    /// A vector: the element type, never `bool`, and 2, 3, 4, 8 or 16 components.
    Vector(Scalar, u8),
    /// A pointer: the pointee with its address space.
    Pointer(QualTy),
    /// An array: the element type and length. `None` for `[]`.
    Array(QualTy, Option<u64>),
    /// A function.
    Function(FunctionTy),
    /// A block: a pointer to a function (OpenCL C 6.14).
    Block(FunctionTy),
    /// `struct` or `union`
    Record(RecordId),
    /// `enum`
    Enum(EnumId),
    /// `atomic_int` and similar types (OpenCL C 6.15.12.6)
    Atomic(Scalar),
    /// `atomic_flag`
    AtomicFlag,
    /// An image (OpenCL C 6.3.3)
    Image(ImageTy),
    /// A pipe: the packet type and the access
    Pipe(TyId, Access),
    /// `sampler_t`
    Sampler,
    /// `event_t`
    Event,
    /// `queue_t`
    Queue,
    /// `clk_event_t`
    ClkEvent,
    /// `reserve_id_t`
    ReserveId,
    /// `ndrange_t`
    NdRange,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionTy {
    /// Its result type.
    pub result: QualTy,
    /// Its parameter types.
    pub parameters: Vec<QualTy>,
    /// Whether it is variadic: only `printf`.
    pub is_variadic: bool,
}

/// An image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageTy {
    /// Its dimensions.
    pub dim: ImageDim,
    /// `_array_`
    pub is_array: bool,
    /// `_depth_`
    pub is_depth: bool,
    /// `_msaa_`
    pub is_msaa: bool,
    /// `read_only` and similar qualifiers.
    pub access: Access,
}

impl ImageTy {
    /// The number of dimensions, without array layers.
    pub const fn dimensions(self) -> u8 {
        match self.dim {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 => 2,
            ImageDim::D3 => 3,
        }
    }

    /// The number of coordinates of a texel.
    pub const fn rank(self) -> u8 {
        self.dimensions() + self.is_array as u8
    }
}

/// The dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ImageDim {
    D1,
    Buffer,
    D2,
    D3,
}

/// Access qualifiers (OpenCL C 6.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// A `struct` or `union`.
#[derive(Clone, Debug)]
pub struct Record {
    /// `struct` or `union`.
    pub kind: RecordKind,
    /// The tag, or the name of its first typedef. `None` if anonymous.
    pub name: Option<Symbol>,
    /// Whether the name is a tag.
    pub has_tag: bool,
    /// The members, in order. `None` while incomplete.
    pub fields: Option<Vec<Field>>,
    /// Size in bytes, padding included.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// The span of its definition.
    pub span: Span,
}

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name. `None` for an anonymous struct or union, whose members belong to the enclosing record.
    pub name: Option<Symbol>,
    /// Its type, without address space.
    pub ty: QualTy,
    /// Its offset in bytes.
    pub offset: u64,
    /// The span of its declaration.
    pub span: Span,
}

/// An `enum` type.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The tag.
    pub name: Option<Symbol>,
    /// The underlying integer type.
    pub underlying: Scalar,
    /// Whether its enumerators are declared.
    pub is_complete: bool,
    /// The names and their values, in order.
    pub enumerators: Vec<(Symbol, i64)>,
    /// The span of its definition.
    pub span: Span,
}

/// Owns all types of a compilation.
#[derive(Clone, Debug)]
pub struct Types {
    types: Table<TyId, Ty>,
    ids: FxHashMap<Ty, TyId>,
    /// Every `struct` and `union`.
    pub records: Table<RecordId, Record>,
    /// Every `enum`.
    pub enums: Table<EnumId, Enum>,
}

impl TyId {
    /// `Ty::Error`, always the first type.
    pub const ERROR: Self = Self(0);
    /// `Ty::Void`, always the second type.
    pub const VOID: Self = Self(1);

    /// A scalar type. The ids of scalar types follow `VOID` in the order of `Scalar`.
    pub const fn scalar(scalar: Scalar) -> Self {
        Self(2 + scalar as u32)
    }

    /// `int`
    pub const INT: Self = Self::scalar(Scalar::Int);
    /// `uint`
    pub const UINT: Self = Self::scalar(Scalar::UInt);
    /// `ulong`, which is `size_t`
    pub const ULONG: Self = Self::scalar(Scalar::ULong);
    /// `long`, which is `ptrdiff_t`
    pub const LONG: Self = Self::scalar(Scalar::Long);
    /// `bool`
    pub const BOOL: Self = Self::scalar(Scalar::Bool);
    /// `float`
    pub const FLOAT: Self = Self::scalar(Scalar::Float);

    /// This type, unqualified.
    pub const fn plain(self) -> QualTy {
        QualTy {
            ty: self,
            quals: Quals { is_const: false, is_volatile: false, is_restrict: false, space: None },
        }
    }
}

impl EnumId {
    /// `memory_order`, always the first enum.
    pub const MEMORY_ORDER: Self = Self(0);
    /// `memory_scope`, always the second enum.
    pub const MEMORY_SCOPE: Self = Self(1);
}

impl QualTy {
    /// The same type in this address space.
    pub const fn in_space(mut self, space: AddressSpace) -> Self {
        self.quals.space = Some(space);
        self
    }

    /// The same type, `const`.
    pub const fn constant(mut self) -> Self {
        self.quals.is_const = true;
        self
    }
}

impl Scalar {
    /// All scalar types, ordered by rank.
    pub const ALL: [Self; 12] = [
        Self::Bool,
        Self::Char,
        Self::UChar,
        Self::Short,
        Self::UShort,
        Self::Int,
        Self::UInt,
        Self::Long,
        Self::ULong,
        Self::Half,
        Self::Float,
        Self::Double,
    ];

    /// Size in bytes; also its alignment (OpenCL C 6.3.5).
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::Char | Self::UChar => 1,
            Self::Short | Self::UShort | Self::Half => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Long | Self::ULong | Self::Double => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Half | Self::Float | Self::Double)
    }

    /// Whether it is a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Char | Self::Short | Self::Int | Self::Long)
    }

    /// The name in OpenCL C.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::UChar => "uchar",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::Half => "half",
            Self::Float => "float",
            Self::Double => "double",
        }
    }
}

impl Types {
    /// A table with the types that always exist.
    pub fn new() -> Self {
        let mut types = Self {
            types: Table::new(),
            ids: FxHashMap::default(),
            records: Table::new(),
            enums: Table::new(),
        };
        types.intern(Ty::Error);
        types.intern(Ty::Void);
        for scalar in Scalar::ALL {
            types.intern(Ty::Scalar(scalar));
        }
        for id in [EnumId::MEMORY_ORDER, EnumId::MEMORY_SCOPE] {
            let predeclared = types.enums.push(Enum {
                name: None,
                underlying: Scalar::Int,
                is_complete: true,
                enumerators: Vec::new(),
                span: Span::default(),
            });
            debug_assert_eq!(predeclared, id);
            types.intern(Ty::Enum(id));
        }
        types
    }

    /// The id of this type, which is added if new.
    pub fn intern(&mut self, ty: Ty) -> TyId {
        match self.ids.entry(ty) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = self.types.push(entry.key().clone());
                *entry.insert(id)
            }
        }
    }

    /// The type with this id.
    pub fn get(&self, id: TyId) -> &Ty {
        &self.types[id]
    }

    /// A vector type, or the scalar itself for one element.
    pub fn vector(&mut self, element: Scalar, count: u8) -> TyId {
        if count == 1 { TyId::scalar(element) } else { self.intern(Ty::Vector(element, count)) }
    }

    /// A pointer type.
    pub fn pointer(&mut self, to: QualTy) -> TyId {
        self.intern(Ty::Pointer(to))
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are no types. Always false.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The element type and component count of an arithmetic or vector type. Enums count as their underlying type.
    pub fn components(&self, id: TyId) -> Option<(Scalar, u8)> {
        match *self.get(id) {
            Ty::Scalar(scalar) => Some((scalar, 1)),
            Ty::Vector(scalar, count) => Some((scalar, count)),
            Ty::Enum(id) => Some((self.enums[id].underlying, 1)),
            _ => None,
        }
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = assert!(TyId::INT.0 == 7, "scalars follow `void` in the order of `Scalar`");
