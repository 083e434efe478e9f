//! Conditions: boolean values without a conversion to `int`, and short-circuit evaluation.

use super::body::Body;
use kiln_frontend::hir::{
    BinaryOp as HirBinary, CompareOp, Conditional, Const, Expr, ExprKind, LogicalOp, Lvalue, LvalueKind,
};
use kiln_ir::{BinaryOp, CompareKind, Type, UnaryOp, ValueId};
use kiln_types::ty::{Scalar, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

/// The maximum number of nodes of an expression that is evaluated speculatively.
const MAX_SPECULATED_EXPRESSIONS: usize = 12;

impl Body<'_, '_> {
    /// Whether a scalar or pointer is nonzero.
    pub(super) fn condition(&mut self, expr: &Expr) -> ValueId {
        match &expr.kind {
            ExprKind::Compare(op, operands) if !self.value_type(operands[0].ty).is_vector() => {
                let [left, right] = &**operands;
                self.compare(*op, left, right)
            }
            ExprKind::LogicalNot(operand) => self.logical_not(operand),
            ExprKind::Logical(op, operands) => {
                let [left, right] = &**operands;
                self.short_circuit(*op, left, right)
            }
            ExprKind::Comma(left, right) => {
                self.effect(left);
                self.condition(right)
            }
            ExprKind::Statements(parts) => {
                let (stmts, value) = &**parts;
                self.inner_stmts(stmts);
                self.condition(value)
            }
            // A conversion between integers whose operand is 0 or 1.
            ExprKind::Convert(_, operand)
                if is_zero_or_one(operand) && !self.lowering.element(expr.ty).is_float() =>
            {
                self.condition(operand)
            }
            _ => {
                let value = self.value(expr);
                self.is_true(value)
            }
        }
    }

    /// The value of a constant condition.
    pub(super) fn known_condition(&self, expr: &Expr) -> Option<bool> {
        match &expr.kind {
            ExprKind::Const(Const::Int(bits)) => Some(*bits != 0),
            ExprKind::Const(Const::Float(number)) => Some(*number != 0.0),
            ExprKind::Const(Const::NullPointer | Const::Zero) => Some(false),
            ExprKind::Convert(_, operand) if !self.value_type(operand.ty).is_vector() => {
                let narrows =
                    self.lowering.element(expr.ty).size() < self.lowering.element(operand.ty).size();
                if narrows { None } else { self.known_condition(operand) }
            }
            ExprKind::LogicalNot(operand) => self.known_condition(operand).map(|holds| !holds),
            _ => None,
        }
    }

    fn is_true(&mut self, value: ValueId) -> ValueId {
        match self.builder.ty(value) {
            Type::BOOL => value,
            _ => self.is_not_zero(value),
        }
    }

    /// `!operand`. For a vector, -1 in each component that is zero.
    fn logical_not(&mut self, operand: &Expr) -> ValueId {
        let holds = if self.value_type(operand.ty).is_vector() {
            let value = self.value(operand);
            self.is_not_zero(value)
        } else {
            self.condition(operand)
        };
        match self.builder.function.constant_bits(holds) {
            Some(bits) => self.builder.bool(bits == 0),
            None => self.builder.unary(UnaryOp::Not, holds),
        }
    }

    /// `&&` and `||` (OpenCL C 6.5.7).
    fn short_circuit(&mut self, op: LogicalOp, left: &Expr, right: &Expr) -> ValueId {
        let first = self.condition(left);
        if self.is_cheap(right) {
            let second = self.condition(right);
            let op = match op {
                LogicalOp::And => BinaryOp::And,
                LogicalOp::Or => BinaryOp::Or,
            };
            return self.builder.binary(op, first, second);
        }
        let block = self.builder.insertion_point().0;
        let open = self.builder.open_if(first, &[Type::BOOL]);
        let (more, enough) = match op {
            LogicalOp::And => (open.then, open.otherwise),
            LogicalOp::Or => (open.otherwise, open.then),
        };
        self.builder.at_end(more);
        let second = self.condition(right);
        self.builder.exit(open.inst, &[second]);
        self.builder.at_end(enough);
        let known = self.builder.bool(op == LogicalOp::Or);
        self.builder.exit(open.inst, &[known]);
        self.builder.at_end(block);
        self.builder.function.result(open.inst)
    }

    /// `?:` with values or `void` (OpenCL C 6.5.9).
    pub(super) fn conditional(&mut self, parts: &Conditional, ty: Option<Type>) -> Option<ValueId> {
        let Conditional { condition, then, otherwise } = parts;
        if let Some(holds) = self.known_condition(condition) {
            return self.evaluate_at(if holds { then } else { otherwise });
        }
        let condition = self.condition(condition);
        if let Some(ty) = ty
            && !matches!(ty, Type::Image(_) | Type::Sampler | Type::Handle(_) | Type::Vector(..))
            && self.is_cheap(then)
            && self.is_cheap(otherwise)
        {
            let (then, otherwise) = (self.value(then), self.value(otherwise));
            return Some(self.builder.select(condition, then, otherwise));
        }
        let block = self.builder.insertion_point().0;
        let open = self.builder.open_if(condition, ty.as_slice());
        for (block, expr) in [(open.then, then), (open.otherwise, otherwise)] {
            self.builder.at_end(block);
            let value = match ty {
                Some(_) => Some(self.value(expr)),
                None => {
                    self.effect(expr);
                    None
                }
            };
            self.builder.exit(open.inst, value.as_slice());
        }
        self.builder.at_end(block);
        ty.map(|_| self.builder.function.result(open.inst))
    }

    /// A comparison, as `Bool` or a vector of it (OpenCL C 6.5.4, 6.5.5).
    pub(super) fn compare(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> ValueId {
        let is_pointer = matches!(self.lowering.hir.types.get(left.ty), Ty::Pointer(_));
        let element = self.lowering.element(left.ty);
        // `(a < b) == 0` and similar comparisons of values that are 0 or 1.
        let is_zero = |expr: &Expr| matches!(expr.kind, ExprKind::Const(Const::Int(0)));
        if is_zero_or_one(left) && is_zero(right) && matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            let holds = self.condition(left);
            return match op {
                CompareOp::Equal => self.builder.unary(UnaryOp::Not, holds),
                _ => holds,
            };
        }
        // OpenCL C 6.15.19 allows this, but SPIR-V has no instruction for it.
        if matches!(self.lowering.hir.types.get(left.ty), Ty::Queue | Ty::ClkEvent) {
            self.lowering.reject("comparisons of queues and events", left.span.to(right.span));
            return self.builder.bool(false);
        }
        let (left, right) = (self.value(left), self.value(right));
        if self.builder.ty(left).scalar() == Some(kiln_ir::Scalar::Bool) {
            return self.compare_bools(op, left, right);
        }
        let kind = match element {
            _ if is_pointer => CompareKind::Unsigned,
            element if element.is_float() => CompareKind::Float,
            element if element.is_signed() => CompareKind::Signed,
            _ => CompareKind::Unsigned,
        };
        self.builder.compare(op, kind, left, right)
    }

    fn compare_bools(&mut self, op: CompareOp, left: ValueId, right: ValueId) -> ValueId {
        let [left, right] =
            [left, right].map(|value| self.builder.convert(kiln_ir::Convert::ZeroExtend, value, Type::I32));
        self.builder.compare(op, CompareKind::Unsigned, left, right)
    }

    /// Whether an expression is cheap and can be evaluated speculatively: no effects, and defined for all operands.
    fn is_cheap(&self, expr: &Expr) -> bool {
        let mut left = MAX_SPECULATED_EXPRESSIONS;
        self.fits_budget(expr, &mut left)
    }

    /// Whether an expression is cheap and fits into the budget. Subtracts its size from the budget.
    fn fits_budget(&self, expr: &Expr, budget: &mut usize) -> bool {
        if *budget == 0 || self.lowering.is_aggregate(expr.ty) {
            return false;
        }
        *budget -= 1;
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Current => true,
            ExprKind::Load(lvalue) => self.is_private_object(lvalue),
            ExprKind::Binary(HirBinary::Divide | HirBinary::Remainder, ..) => false,
            // Undefined if the integer type cannot represent the value (OpenCL C 6.4.3.3, C99 6.3.1.4).
            ExprKind::Convert(_, a) if self.loses_range(a.ty, expr.ty) => false,
            ExprKind::Binary(_, operands)
            | ExprKind::Compare(_, operands)
            | ExprKind::Logical(_, operands) => {
                operands.iter().all(|operand| self.fits_budget(operand, budget))
            }
            ExprKind::Swizzle(swizzle) => self.fits_budget(&swizzle.base, budget),
            ExprKind::Unary(_, a)
            | ExprKind::Exact(a)
            | ExprKind::LogicalNot(a)
            | ExprKind::Convert(_, a)
            | ExprKind::Bitcast(a)
            | ExprKind::PointerCast(a)
            | ExprKind::Splat(a) => self.fits_budget(a, budget),
            _ => false,
        }
    }

    /// Whether a conversion is from floating point to an integer.
    fn loses_range(&self, from: TyId, to: TyId) -> bool {
        let (from, to) = (self.lowering.element(from), self.lowering.element(to));
        from.is_float() && !to.is_float() && to != Scalar::Bool
    }

    fn is_private_object(&self, lvalue: &Lvalue) -> bool {
        let is_plain = !lvalue.ty.quals.is_volatile && lvalue.ty.quals.space != Some(AddressSpace::Local);
        is_plain
            && match &lvalue.kind {
                LvalueKind::Local(_) => true,
                LvalueKind::Swizzle(swizzle) => self.is_private_object(&swizzle.base),
                _ => false,
            }
    }
}

/// Whether this kind of expression always has the value 0 or 1.
fn is_zero_or_one(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Logical(..) => true,
        ExprKind::Compare(..) | ExprKind::LogicalNot(_) => expr.ty == TyId::INT,
        _ => expr.ty == TyId::BOOL,
    }
}
