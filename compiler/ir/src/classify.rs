//! Classifies floating-point numbers by their bits, so that the result does not depend on rounding or flushing modes.

use kiln_types::ops::CompareOp;

use crate::{BinaryOp, Builder, CompareKind, Scalar, ValueId};

impl Builder<'_> {
    /// The bits of each component as an integer.
    pub fn as_integer(&mut self, value: ValueId) -> ValueId {
        let ty = self.ty(value);
        let scalar = Scalar::int_of_size(ty.scalar().map_or(4, Scalar::size));
        self.bitcast(value, ty.with_scalar(scalar))
    }

    /// Whether the most significant bit of each component is set (OpenCL C 6.5.9).
    pub fn is_negative(&mut self, value: ValueId) -> ValueId {
        let bits = self.as_integer(value);
        let zero = self.bits(self.ty(bits), 0);
        self.compare(CompareOp::Less, CompareKind::Signed, bits, zero)
    }

    /// Whether each component is a NaN.
    pub fn is_nan(&mut self, value: ValueId) -> ValueId {
        self.compare_with_infinity(CompareOp::Greater, value)
    }

    /// Whether each component is infinite.
    pub fn is_infinite(&mut self, value: ValueId) -> ValueId {
        self.compare_with_infinity(CompareOp::Equal, value)
    }

    /// Whether each component is finite.
    pub fn is_finite(&mut self, value: ValueId) -> ValueId {
        self.compare_with_infinity(CompareOp::Less, value)
    }

    /// Whether each component is finite, not zero and not subnormal.
    pub fn is_normal(&mut self, value: ValueId) -> ValueId {
        let (magnitude, infinity) = self.magnitude(value);
        // The normal numbers form one range, from the smallest one up to infinity.
        let smallest = self.ty(magnitude).scalar().map_or(0, Scalar::fraction_mask) + 1;
        let above = self.binary_bits(BinaryOp::Sub, magnitude, smallest);
        let range = self.binary_bits(BinaryOp::Sub, infinity, smallest);
        self.compare(CompareOp::Less, CompareKind::Unsigned, above, range)
    }

    /// Whether `a` is less or greater than `b`. False for NaN.
    pub fn less_or_greater(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let less = self.compare(CompareOp::Less, CompareKind::Float, a, b);
        let greater = self.compare(CompareOp::Greater, CompareKind::Float, a, b);
        self.binary(BinaryOp::Or, less, greater)
    }

    /// Whether `a` or `b` is a NaN.
    pub fn unordered(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let [a, b] = [a, b].map(|value| self.is_nan(value));
        self.binary(BinaryOp::Or, a, b)
    }

    /// The bits of `b` where `c` has ones, otherwise those of `a` (`bitselect`, OpenCL C 6.15.6).
    pub fn bit_select(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
        let ty = self.ty(a);
        let [a, b, c] = [a, b, c].map(|value| self.as_integer(value));
        let differing = self.binary(BinaryOp::Xor, a, b);
        let chosen = self.binary(BinaryOp::And, differing, c);
        let both = self.binary(BinaryOp::Xor, a, chosen);
        self.bitcast(both, ty)
    }

    fn compare_with_infinity(&mut self, op: CompareOp, value: ValueId) -> ValueId {
        let (magnitude, infinity) = self.magnitude(value);
        self.compare(op, CompareKind::Unsigned, magnitude, infinity)
    }

    /// The bits without the sign, and the bits of infinity.
    fn magnitude(&mut self, value: ValueId) -> (ValueId, ValueId) {
        let bits = self.as_integer(value);
        let ty = self.ty(bits);
        let mask = ty.scalar().map_or(0, Scalar::mask) >> 1;
        let fraction = ty.scalar().map_or(0, Scalar::fraction_mask);
        let magnitude = self.binary_bits(BinaryOp::And, bits, mask);
        let infinity = self.bits(ty, mask & !fraction);
        (magnitude, infinity)
    }
}
