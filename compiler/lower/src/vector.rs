//! Vectors: components, construction, and masks of 0 and -1.

use kiln_frontend::hir::{CompareOp, Expr, LogicalOp};
use kiln_ir::{BinaryOp, Builder, CompareKind, Const, Scalar, Type, ValueId};
use smallvec::SmallVec;

use super::body::Body;

/// The components of a vector, or the scalar itself.
pub(super) fn components_of(builder: &mut Builder<'_>, value: ValueId) -> Vec<ValueId> {
    match builder.ty(value) {
        Type::Vector(_, count) => (0..count).map(|component| builder.extract(value, component)).collect(),
        _ => vec![value],
    }
}

impl Body<'_, '_> {
    /// Selects components of a vector by index. One index returns a scalar.
    pub(super) fn swizzle(&mut self, vector: ValueId, components: &[u8]) -> ValueId {
        match (self.builder.ty(vector), components) {
            (Type::Vector(..), [component]) => self.builder.extract(vector, *component),
            (Type::Vector(_, count), _) if components.iter().copied().eq(0..count) => vector,
            (Type::Vector(..), _) => self.builder.shuffle(vector, vector, components),
            (_, _) => self.builder.splat(vector, components.len() as u8),
        }
    }

    /// Builds a vector from these parts.
    pub(super) fn vector(&mut self, parts: &[Expr], ty: Type) -> ValueId {
        let parts: Vec<ValueId> = parts.iter().map(|part| self.value(part)).collect();
        self.build_vector(&parts, ty)
    }

    /// Builds a vector from these parts. Constant parts result in a constant.
    pub(super) fn build_vector(&mut self, parts: &[ValueId], ty: Type) -> ValueId {
        if let [part] = parts
            && self.builder.ty(*part) == ty
        {
            return *part;
        }
        let mut known = SmallVec::new();
        for &part in parts {
            let Some(Const::Bits(bits)) = self.builder.function.constant(part) else {
                return self.builder.construct(parts, ty);
            };
            known.extend_from_slice(bits);
        }
        self.builder.constant(ty, Const::Bits(known))
    }

    /// Replicates a scalar to a vector of this type.
    pub(super) fn splat(&mut self, scalar: ValueId, ty: Type) -> ValueId {
        self.build_vector(&vec![scalar; usize::from(ty.count())], ty)
    }

    /// Converts a condition to -1 or 0 in each component of this type (OpenCL C 6.5.4, 6.5.5).
    pub(super) fn mask(&mut self, condition: ValueId, ty: Type) -> ValueId {
        let (all, none) = (self.builder.bits(ty, u64::MAX), self.builder.bits(ty, 0));
        self.builder.select(condition, all, none)
    }

    /// Whether each component is nonzero.
    pub(super) fn is_not_zero(&mut self, value: ValueId) -> ValueId {
        let ty = self.builder.ty(value);
        let kind = if ty.scalar().is_some_and(Scalar::is_float) {
            CompareKind::Float
        } else {
            CompareKind::Unsigned
        };
        let zero = self.builder.bits(ty, 0);
        self.builder.compare(CompareOp::NotEqual, kind, value, zero)
    }

    /// `&&` and `||` on vectors. Both operands are evaluated (OpenCL C 6.5.7).
    pub(super) fn vector_logical(&mut self, op: LogicalOp, left: &Expr, right: &Expr, ty: Type) -> ValueId {
        let left = self.value(left);
        let left = self.is_not_zero(left);
        let right = self.value(right);
        let right = self.is_not_zero(right);
        let op = match op {
            LogicalOp::And => BinaryOp::And,
            LogicalOp::Or => BinaryOp::Or,
        };
        let both = self.builder.binary(op, left, right);
        self.mask(both, ty)
    }
}
