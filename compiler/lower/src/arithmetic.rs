//! Arithmetic on scalars and, componentwise, on vectors.

use super::body::Body;
use kiln_frontend::hir::{self, Expr};
use kiln_ir::{BinaryOp, Op, Scalar, UnaryOp, ValueId};
use kiln_types::ty::{self, TyId};
use kiln_vocabulary::opencl::Overflow;

impl Body<'_, '_> {
    /// Lowers a unary operator.
    pub(super) fn unary(&mut self, op: hir::UnaryOp, operand: &Expr) -> ValueId {
        let (ty, is_float) = (operand.ty, self.lowering.element(operand.ty).is_float());
        let operand = self.value(operand);
        if op == hir::UnaryOp::Negate && self.must_not_overflow(hir::BinaryOp::Subtract, ty) {
            let zero = self.builder.bits(self.builder.ty(operand), 0);
            return self.exact_binary(BinaryOp::Sub, zero, operand);
        }
        let op = match op {
            hir::UnaryOp::Negate if is_float => UnaryOp::FNeg,
            hir::UnaryOp::Negate => UnaryOp::Neg,
            hir::UnaryOp::BitNot => UnaryOp::Not,
        };
        self.builder.unary(op, operand)
    }

    /// Lowers a binary operator.
    pub(super) fn binary(&mut self, op: hir::BinaryOp, left: &Expr, right: &Expr, ty: TyId) -> ValueId {
        let element = self.lowering.element(ty);
        let (left, right) = (self.value(left), self.value(right));
        let right = match op {
            hir::BinaryOp::ShiftLeft | hir::BinaryOp::ShiftRight => self.shift_amount(right),
            _ => right,
        };
        if self.must_not_overflow(op, ty) {
            return self.exact_binary(ir_operation(op, element), left, right);
        }
        self.builder.binary(ir_operation(op, element), left, right)
    }

    /// Whether overflow is undefined (C99 6.5) and must be reported. Vector arithmetic is treated as wrapping.
    fn must_not_overflow(&self, op: hir::BinaryOp, ty: TyId) -> bool {
        let element = self.lowering.element(ty);
        self.lowering.overflow == Overflow::Marked
            && matches!(op, hir::BinaryOp::Add | hir::BinaryOp::Subtract | hir::BinaryOp::Multiply)
            && matches!(element, ty::Scalar::Int | ty::Scalar::Long)
            && self.lowering.value_type(ty).is_some_and(|it| !it.is_vector())
    }

    fn exact_binary(&mut self, op: BinaryOp, left: ValueId, right: ValueId) -> ValueId {
        let ty = self.builder.ty(left);
        self.builder.value(Op::Exact(op), &[left, right], ty)
    }

    /// An operation that is not contracted.
    pub(super) fn exact(&mut self, expr: &Expr) -> Option<ValueId> {
        let hir::ExprKind::Binary(op, operands) = &expr.kind else { return self.evaluate_at(expr) };
        let op = ir_operation(*op, self.lowering.element(expr.ty));
        let ty = self.lowering.value_type(expr.ty)?;
        let operands = operands.each_ref().map(|operand| self.value(operand));
        Some(self.builder.value(Op::Exact(op), &operands, ty))
    }

    /// Shift amounts are taken modulo the width (OpenCL C 6.5.10).
    fn shift_amount(&mut self, amount: ValueId) -> ValueId {
        let ty = self.builder.ty(amount);
        let limit = u64::from(ty.scalar().map_or(32, Scalar::bits)) - 1;
        if let Some(kiln_ir::Const::Bits(bits)) = self.builder.function.constant(amount) {
            let masked = kiln_ir::Const::Bits(bits.iter().map(|bits| bits & limit).collect());
            return self.builder.constant(ty, masked);
        }
        self.builder.binary_bits(BinaryOp::And, amount, limit)
    }
}

/// The IR operation for this element type.
fn ir_operation(op: hir::BinaryOp, element: ty::Scalar) -> BinaryOp {
    let (is_float, is_signed) = (element.is_float(), element.is_signed());
    match op {
        hir::BinaryOp::Add if is_float => BinaryOp::FAdd,
        hir::BinaryOp::Add => BinaryOp::Add,
        hir::BinaryOp::Subtract if is_float => BinaryOp::FSub,
        hir::BinaryOp::Subtract => BinaryOp::Sub,
        hir::BinaryOp::Multiply if is_float => BinaryOp::FMul,
        hir::BinaryOp::Multiply => BinaryOp::Mul,
        hir::BinaryOp::Divide if is_float => BinaryOp::FDiv,
        hir::BinaryOp::Divide if is_signed => BinaryOp::SDiv,
        hir::BinaryOp::Divide => BinaryOp::UDiv,
        hir::BinaryOp::Remainder if is_float => BinaryOp::FRem,
        hir::BinaryOp::Remainder if is_signed => BinaryOp::SRem,
        hir::BinaryOp::Remainder => BinaryOp::URem,
        hir::BinaryOp::ShiftLeft => BinaryOp::Shl,
        hir::BinaryOp::ShiftRight if is_signed => BinaryOp::AShr,
        hir::BinaryOp::ShiftRight => BinaryOp::LShr,
        hir::BinaryOp::BitAnd => BinaryOp::And,
        hir::BinaryOp::BitXor => BinaryOp::Xor,
        hir::BinaryOp::BitOr => BinaryOp::Or,
    }
}
