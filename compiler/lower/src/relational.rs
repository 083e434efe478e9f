//! Built-in functions that lower to a few IR operations, by their names: relational functions (OpenCL C 6.15.6) and
//! similar ones. Scalars return 0 or 1; vectors return 0 or -1 in each component.

use super::body::Body;
use kiln_frontend::hir::CompareOp;
use kiln_ir::{BinaryOp, CompareKind, Convert, Op, Scalar, Type, UnaryOp, ValueId};

impl Body<'_, '_> {
    /// Lowers the function with this name. `None` if it is not one of these functions.
    pub(super) fn core_function(&mut self, name: &str, args: &[ValueId], result: Type) -> Option<ValueId> {
        let holds = match (name, args) {
            ("dot", [a, b]) if result.scalar().is_some_and(Scalar::is_float) => {
                return Some(self.dot(*a, *b));
            }
            ("__kiln_bit_count", [a]) => return Some(self.builder.unary(UnaryOp::BitCount, *a)),
            ("__kiln_umul_high", [a, b]) => return Some(self.builder.binary(BinaryOp::UMulHigh, *a, *b)),
            ("bitselect", [a, b, c]) => return Some(self.bit_select(*a, *b, *c)),
            ("select", [a, b, c]) => return Some(self.select_by(*a, *b, *c)),
            (_, [a]) => self.classify(name, *a)?,
            (_, [a, b]) => self.relational(name, *a, *b)?,
            _ => return None,
        };
        Some(match self.builder.ty(holds) {
            Type::Vector(..) => self.mask(holds, result),
            _ => self.builder.convert(Convert::ZeroExtend, holds, result),
        })
    }

    fn relational(&mut self, name: &str, a: ValueId, b: ValueId) -> Option<ValueId> {
        let op = match name {
            "isequal" => CompareOp::Equal,
            "isnotequal" => CompareOp::NotEqual,
            "isgreater" => CompareOp::Greater,
            "isgreaterequal" => CompareOp::GreaterEqual,
            "isless" => CompareOp::Less,
            "islessequal" => CompareOp::LessEqual,
            "islessgreater" => {
                let less = self.builder.compare(CompareOp::Less, CompareKind::Float, a, b);
                let greater = self.builder.compare(CompareOp::Greater, CompareKind::Float, a, b);
                return Some(self.builder.binary(BinaryOp::Or, less, greater));
            }
            "isordered" | "isunordered" => {
                let [a, b] = [a, b].map(|value| self.is_nan(value));
                let unordered = self.builder.binary(BinaryOp::Or, a, b);
                let is_negated = name == "isordered";
                return Some(if is_negated {
                    self.builder.unary(UnaryOp::Not, unordered)
                } else {
                    unordered
                });
            }
            _ => return None,
        };
        Some(self.builder.compare(op, CompareKind::Float, a, b))
    }

    fn classify(&mut self, name: &str, a: ValueId) -> Option<ValueId> {
        Some(match name {
            "isnan" => self.is_nan(a),
            "isinf" => {
                let (magnitude, infinity) = self.magnitude(a);
                self.builder.compare(CompareOp::Equal, CompareKind::Unsigned, magnitude, infinity)
            }
            "isfinite" => {
                let (magnitude, infinity) = self.magnitude(a);
                self.builder.compare(CompareOp::Less, CompareKind::Unsigned, magnitude, infinity)
            }
            "isnormal" => {
                let (magnitude, infinity) = self.magnitude(a);
                // The normal numbers form one range, from the smallest one up to infinity.
                let ty = self.builder.ty(magnitude);
                let smallest = smallest_normal(ty);
                let above = self.builder.binary_bits(BinaryOp::Sub, magnitude, smallest);
                let range = self.builder.binary_bits(BinaryOp::Sub, infinity, smallest);
                self.builder.compare(CompareOp::Less, CompareKind::Unsigned, above, range)
            }
            "signbit" => self.is_negative(a),
            "any" | "all" => {
                let negative = self.is_negative(a);
                match self.builder.ty(negative) {
                    Type::Vector(..) => {
                        let op = if name == "any" { Op::Any } else { Op::All };
                        self.builder.value(op, &[negative], Type::BOOL)
                    }
                    _ => negative,
                }
            }
            _ => return None,
        })
    }

    /// Compares bits, so that the result does not depend on rounding or flushing modes.
    fn is_nan(&mut self, a: ValueId) -> ValueId {
        let (magnitude, infinity) = self.magnitude(a);
        self.builder.compare(CompareOp::Greater, CompareKind::Unsigned, magnitude, infinity)
    }

    /// The bits without the sign, and the bits of infinity.
    fn magnitude(&mut self, a: ValueId) -> (ValueId, ValueId) {
        let ty = self.builder.ty(a);
        let scalar = Scalar::int_of_size(ty.scalar().map_or(4, Scalar::size));
        let bits = self.builder.bitcast(a, ty.with_scalar(scalar));
        let magnitude = self.builder.binary_bits(BinaryOp::And, bits, scalar.mask() >> 1);
        let infinity = self.builder.bits(ty.with_scalar(scalar), infinity(scalar));
        (magnitude, infinity)
    }

    /// The sum of products (OpenCL C 6.15.5).
    fn dot(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let products = self.builder.binary(BinaryOp::FMul, a, b);
        let parts = super::vector::components_of(&mut self.builder, products);
        parts
            .into_iter()
            .reduce(|sum, part| self.builder.binary(BinaryOp::FAdd, sum, part))
            .unwrap_or(products)
    }

    /// The bits of `b` where `c` has ones, otherwise those of `a`.
    fn bit_select(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
        let ty = self.builder.ty(a);
        let scalar = Scalar::int_of_size(ty.scalar().map_or(4, Scalar::size));
        let [a, b, c] = [a, b, c].map(|value| self.builder.bitcast(value, ty.with_scalar(scalar)));
        let differing = self.builder.binary(BinaryOp::Xor, a, b);
        let chosen = self.builder.binary(BinaryOp::And, differing, c);
        let both = self.builder.binary(BinaryOp::Xor, a, chosen);
        self.builder.bitcast(both, ty)
    }

    /// `c ? b : a`. For vectors, selects by the most significant bit of each component.
    fn select_by(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
        let condition = match self.builder.ty(c) {
            Type::Vector(..) => self.is_negative(c),
            _ => self.is_not_zero(c),
        };
        self.builder.select(condition, b, a)
    }
}

/// The bits of infinity for this width.
const fn infinity(bits: Scalar) -> u64 {
    match bits {
        Scalar::I16 => 0x7c00,
        Scalar::I64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    }
}

/// The bits of the smallest normal number for this width.
const fn smallest_normal(ty: Type) -> u64 {
    match ty.scalar() {
        Some(Scalar::I16) => 0x0400,
        Some(Scalar::I64) => 0x0010_0000_0000_0000,
        _ => 0x0080_0000,
    }
}
