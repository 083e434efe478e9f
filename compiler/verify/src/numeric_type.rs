//! The types of numbers: scalars, and vectors of them.

use rspirv::spirv::{Op, Word};

use super::module::Module;

/// The kind of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
}

/// A scalar or vector type of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct NumericType {
    pub(super) kind: Kind,
    pub(super) bits: u32,
    /// The number of components; 1 for a scalar.
    pub(super) count: u32,
}

impl NumericType {
    /// The numeric type that a type is. `None` if it is neither a number nor a vector of numbers.
    pub(super) fn of_type(module: &Module<'_>, ty: Word) -> Option<Self> {
        let entry = module.definition(ty)?;
        match entry.op() {
            // A malformed module can have a vector of itself, so this must not recurse.
            Op::TypeVector => {
                Some(Self { count: entry.literal(1)?, ..Self::of_scalar(module, entry.id(0)?)? })
            }
            _ => Self::of_scalar(module, ty),
        }
    }

    fn of_scalar(module: &Module<'_>, ty: Word) -> Option<Self> {
        let entry = module.definition(ty)?;
        match entry.op() {
            Op::TypeBool => Some(Self { kind: Kind::Bool, bits: 1, count: 1 }),
            Op::TypeInt => Some(Self { kind: Kind::Int, bits: entry.literal(0)?, count: 1 }),
            Op::TypeFloat => Some(Self { kind: Kind::Float, bits: entry.literal(0)?, count: 1 }),
            _ => None,
        }
    }

    /// The same with another number of components.
    pub(super) fn with_count(self, count: u32) -> Self {
        Self { count, ..self }
    }

    /// The numeric type of a value.
    pub(super) fn of_value(module: &Module<'_>, id: Option<Word>) -> Option<Self> {
        Self::of_type(module, module.type_of(id?)?)
    }
}
