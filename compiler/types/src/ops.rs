//! Constants and operations that the typed tree and the IR share.

/// The value of a constant.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Const {
    /// The bits, sign- or zero-extended to 64 bits according to the type.
    Int(u64),
    /// The value, exactly representable in the type.
    Float(f64),
    Vector(Vec<Const>),
    NullPointer,
    /// All bytes zero, for any type.
    Zero,
    /// An undefined value.
    Undefined,
}

/// The rounding and saturation of an arithmetic conversion (OpenCL C 6.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The rounding mode. `None` for the conversion's default.
    pub rounding: Option<Rounding>,
    /// `_sat`
    pub saturate: bool,
}

/// Rounding modes (OpenCL C 6.4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    ToEven,
    ToZero,
    ToPositive,
    ToNegative,
}

impl Rounding {
    /// All modes, in the order of the specification.
    pub const ALL: [Self; 4] = [Self::ToEven, Self::ToZero, Self::ToPositive, Self::ToNegative];

    /// The end of the name of a function with this mode.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::ToEven => "_rte",
            Self::ToZero => "_rtz",
            Self::ToPositive => "_rtp",
            Self::ToNegative => "_rtn",
        }
    }
}

/// Arithmetic on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Negate,
    BitNot,
}

/// Arithmetic on two operands. The type determines signedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitXor,
    BitOr,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl CompareOp {
    /// The operator for swapped operands.
    pub const fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }
}

/// `opencl_unroll_hint` and pragmas with the same meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopHints {
    /// `Some(0)`: the compiler decides; `Some(1)`: do not unroll; `Some(n)`: unroll n times.
    pub unroll: Option<u32>,
}
