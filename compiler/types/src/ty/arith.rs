//! The common type of two operands: promotions and the usual conversions (OpenCL C 6.4.6).
//!
//! Only computes types. The type checker converts the operands.

use super::{Scalar, TyId, Types};

/// The type that both operands of an operation are converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsualConversion {
    /// This type.
    Type(TyId),
    /// An operand is neither a scalar nor a vector of arithmetic type.
    NotArithmetic,
    /// The operands have different vector types, which do not convert implicitly.
    Vectors,
    /// The scalar has a greater rank than the vector's elements.
    Rank {
        /// The type of the scalar.
        scalar: Scalar,
        /// The type of the elements.
        element: Scalar,
    },
}

impl Scalar {
    /// The integer promotions (C99 6.3.1.1): types smaller than `int` become `int`.
    pub const fn promoted(self) -> Self {
        match self {
            Self::Bool | Self::Char | Self::UChar | Self::Short | Self::UShort => Self::Int,
            other => other,
        }
    }

    /// The usual arithmetic conversions for two scalars (C99 6.3.1.8): the promoted type of greater rank.
    pub fn usual(self, other: Self) -> Self {
        self.promoted().max(other.promoted())
    }

    /// The unsigned integer type of the same size. Other types are returned unchanged.
    pub const fn unsigned(self) -> Self {
        match self {
            Self::Char => Self::UChar,
            Self::Short => Self::UShort,
            Self::Int => Self::UInt,
            Self::Long => Self::ULong,
            other => other,
        }
    }

    /// The signed integer type of this size: the element type of vector comparisons (OpenCL C 6.5.4).
    pub const fn signed_of_size(self) -> Self {
        match self.size() {
            1 => Self::Char,
            2 => Self::Short,
            4 => Self::Int,
            _ => Self::Long,
        }
    }

    /// The unsigned integer type of this size.
    pub const fn unsigned_of_size(self) -> Self {
        self.signed_of_size().unsigned()
    }
}

impl Types {
    /// The usual arithmetic conversions, including vectors (OpenCL C 6.4.6). A scalar is converted to the vector
    /// type, unless its rank is greater than the elements'. `Scalar` is ordered by rank.
    pub fn usual(&mut self, left: TyId, right: TyId) -> UsualConversion {
        if left == TyId::ERROR || right == TyId::ERROR {
            return UsualConversion::Type(TyId::ERROR);
        }
        let (Some((left, left_count)), Some((right, right_count))) =
            (self.components(left), self.components(right))
        else {
            return UsualConversion::NotArithmetic;
        };
        match (left_count, right_count) {
            (1, 1) => UsualConversion::Type(TyId::scalar(left.usual(right))),
            (1, count) => self.widened(left, right, count),
            (count, 1) => self.widened(right, left, count),
            _ if (left, left_count) == (right, right_count) => {
                UsualConversion::Type(self.vector(left, left_count))
            }
            _ => UsualConversion::Vectors,
        }
    }

    fn widened(&mut self, scalar: Scalar, element: Scalar, count: u8) -> UsualConversion {
        if scalar > element {
            UsualConversion::Rank { scalar, element }
        } else {
            UsualConversion::Type(self.vector(element, count))
        }
    }

    /// The type after integer promotions, which do not apply to vectors (OpenCL C 6.4.6).
    pub fn promoted(&self, id: TyId) -> TyId {
        match self.components(id) {
            Some((scalar, 1)) => TyId::scalar(scalar.promoted()),
            _ => id,
        }
    }

    /// The result type of a comparison (OpenCL C 6.5.4): `int`, or for vectors the signed integer vector of the same
    /// width.
    pub fn comparison(&mut self, operand: TyId) -> TyId {
        match self.components(operand) {
            Some((scalar, count)) if count > 1 => self.vector(scalar.signed_of_size(), count),
            _ => TyId::INT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scalar::{Bool, Char, Double, Float, Half, Int, Long, Short, UChar, UInt, ULong, UShort};

    #[test]
    fn scalars_have_a_common_type() {
        for (left, right, result) in [
            (Char, UChar, Int),
            (Bool, Bool, Int),
            (UShort, Short, Int),
            (Int, UInt, UInt),
            (UInt, Long, Long),
            (Long, ULong, ULong),
            (ULong, Half, Half),
            (Half, Float, Float),
            (Float, Double, Double),
        ] {
            assert_eq!(left.usual(right), result, "{left:?} and {right:?}");
            assert_eq!(right.usual(left), result);
        }
    }

    /// As in clang 15: `int4 + 1u`, `char4 + 1` and `float4 * 2.0` are errors; `float4 + 1L` is not.
    #[test]
    fn scalars_with_vectors() {
        let mut types = Types::new();
        let mut check = |scalar: Scalar, element: Scalar| {
            let vector = types.vector(element, 4);
            let usual = types.usual(TyId::scalar(scalar), vector);
            assert_eq!(types.usual(vector, TyId::scalar(scalar)), usual);
            usual == UsualConversion::Type(vector)
        };
        for (scalar, element, expected) in [
            (UInt, Int, false),
            (Int, UInt, true),
            (Int, Char, false),
            (Char, Char, true),
            (Double, Float, false),
            (Float, Half, false),
            (Long, Float, true),
            (Bool, Char, true),
        ] {
            assert_eq!(check(scalar, element), expected, "{scalar:?} with vector of {element:?}");
        }
    }

    #[test]
    fn vectors_do_not_mix() {
        let mut types = Types::new();
        let (int4, uint4) = (types.vector(Int, 4), types.vector(UInt, 4));
        assert_eq!(types.usual(int4, uint4), UsualConversion::Vectors);
        assert_eq!(types.usual(int4, TyId::VOID), UsualConversion::NotArithmetic);
        let ushort4 = types.vector(UShort, 4);
        let short4 = types.vector(Short, 4);
        assert_eq!(types.comparison(ushort4), short4);
        assert_eq!(types.comparison(TyId::FLOAT), TyId::INT);
    }
}
