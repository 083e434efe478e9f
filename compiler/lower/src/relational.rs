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
            ("bitselect", [a, b, c]) => return Some(self.builder.bit_select(*a, *b, *c)),
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
            "islessgreater" => return Some(self.builder.less_or_greater(a, b)),
            "isunordered" => return Some(self.builder.unordered(a, b)),
            "isordered" => {
                let unordered = self.builder.unordered(a, b);
                return Some(self.builder.unary(UnaryOp::Not, unordered));
            }
            _ => return None,
        };
        Some(self.builder.compare(op, CompareKind::Float, a, b))
    }

    fn classify(&mut self, name: &str, a: ValueId) -> Option<ValueId> {
        Some(match name {
            "isnan" => self.builder.is_nan(a),
            "isinf" => self.builder.is_infinite(a),
            "isfinite" => self.builder.is_finite(a),
            "isnormal" => self.builder.is_normal(a),
            "signbit" => self.builder.is_negative(a),
            "any" | "all" => {
                let negative = self.builder.is_negative(a);
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

    /// The sum of products (OpenCL C 6.15.5).
    fn dot(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let products = self.builder.binary(BinaryOp::FMul, a, b);
        let parts = super::vector::components_of(&mut self.builder, products);
        parts
            .into_iter()
            .reduce(|sum, part| self.builder.binary(BinaryOp::FAdd, sum, part))
            .unwrap_or(products)
    }

    /// `c ? b : a`. For vectors, selects by the most significant bit of each component.
    fn select_by(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
        let condition = match self.builder.ty(c) {
            Type::Vector(..) => self.builder.is_negative(c),
            _ => self.is_not_zero(c),
        };
        self.builder.select(condition, b, a)
    }
}
