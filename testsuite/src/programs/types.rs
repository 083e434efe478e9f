//! The types of random programs.

use super::Generator;

/// A scalar type. Floats contain integers below 2048, so that arithmetic is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) name: &'static str,
    pub(super) bits: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Signed,
    Unsigned,
    Float,
}

const fn scalar(name: &'static str, bits: u32, kind: Kind) -> Scalar {
    Scalar { name, bits, kind }
}

pub(super) const FLOAT: Scalar = scalar("float", 32, Kind::Float);
pub(super) const DOUBLE: Scalar = scalar("double", 64, Kind::Float);
pub(super) const UINT: Scalar = scalar("uint", 32, Kind::Unsigned);
pub(super) const INT: Scalar = scalar("int", 32, Kind::Signed);
pub(super) const LONG: Scalar = scalar("long", 64, Kind::Signed);
pub(super) const ULONG: Scalar = scalar("ulong", 64, Kind::Unsigned);

pub(super) const INTEGERS: [Scalar; 8] = [
    scalar("char", 8, Kind::Signed),
    scalar("uchar", 8, Kind::Unsigned),
    scalar("short", 16, Kind::Signed),
    scalar("ushort", 16, Kind::Unsigned),
    INT,
    UINT,
    LONG,
    ULONG,
];

impl Scalar {
    pub(super) fn is_float(self) -> bool {
        self.kind == Kind::Float
    }

    pub(super) fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }

    /// The integer type of the same width with this signedness.
    pub(super) fn with_sign(self, is_signed: bool) -> Self {
        let wanted = if is_signed { Kind::Signed } else { Kind::Unsigned };
        INTEGERS.into_iter().find(|it| it.bits == self.bits && it.kind == wanted).unwrap_or(self)
    }
}

/// The result type of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returned {
    Value(Ty),
    /// The structure with this index.
    Struct(usize),
}

/// A scalar or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ty {
    pub(super) scalar: Scalar,
    /// The number of components: 1, 2, 3, 4, 8 or 16.
    pub(super) count: usize,
}

impl Ty {
    pub(super) const fn scalar(scalar: Scalar) -> Self {
        Self { scalar, count: 1 }
    }

    pub(super) fn name(self) -> String {
        match self.count {
            1 => self.scalar.name.to_owned(),
            count => format!("{}{count}", self.scalar.name),
        }
    }

    /// A type with the same number of components.
    pub(super) fn with(self, scalar: Scalar) -> Self {
        Self { scalar, ..self }
    }
}

impl Generator {
    /// A random type.
    pub(super) fn some_type(&mut self) -> Ty {
        let count = match self.dice.below(10) {
            0..=5 => 1,
            6 => 2,
            7 => 4,
            8 => *self.dice.pick(&[3, 3, 8]),
            _ => *self.dice.pick(&[2, 3, 4, 8, 16]),
        };
        let scalar = if self.dice.one_in(8) { self.some_float() } else { *self.dice.pick(&INTEGERS) };
        Ty { scalar, count }
    }

    /// A floating-point type that the program may use.
    pub(super) fn some_float(&mut self) -> Scalar {
        if self.has_double && self.dice.one_in(2) { DOUBLE } else { FLOAT }
    }
}

/// A `struct` or a `union`.
#[derive(Clone)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) is_union: bool,
    /// Whether its members can be misaligned for pointers.
    pub(super) is_packed: bool,
    pub(super) members: Vec<Member>,
}

#[derive(Clone)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) kind: MemberKind,
}

#[derive(Clone)]
pub(super) enum MemberKind {
    Value(Ty),
    Array(Ty, usize),
    Struct(usize),
}
