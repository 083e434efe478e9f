//! Lowers expressions by kind. Longer cases have their own files.

use super::{body::Body, lvalue::Target};
use kiln_frontend::hir::{Const, Expr, ExprKind, Lvalue, LvalueKind, Update, UpdateResult};
use kiln_ir::{BinaryOp, Convert, Op, Type, ValueId};
use kiln_types::ty::Scalar;

impl Body<'_, '_> {
    /// The value of an expression whose type is not `void` or an aggregate.
    pub(super) fn value(&mut self, expr: &Expr) -> ValueId {
        let span = std::mem::replace(&mut self.builder.span, expr.span);
        let value = self.evaluate(expr);
        self.builder.span = span;
        value.unwrap_or_else(|| {
            // An expression without a value, such as a conditional of type `void`.
            let ty = self.value_type(expr.ty);
            self.builder.undefined(ty)
        })
    }

    /// Lowers an expression of any type for its effects.
    pub(super) fn effect(&mut self, expr: &Expr) {
        let span = std::mem::replace(&mut self.builder.span, expr.span);
        match &expr.kind {
            // `*p;` accesses memory only if the object is volatile.
            ExprKind::Load(lvalue) if self.lowering.is_aggregate(expr.ty) => {
                self.lvalue(lvalue);
            }
            _ if self.lowering.is_aggregate(expr.ty) => {
                self.aggregate(expr);
            }
            _ => {
                self.evaluate(expr);
            }
        }
        self.builder.span = span;
    }

    /// The value of a non-aggregate expression. `None` for `void`.
    fn evaluate(&mut self, expr: &Expr) -> Option<ValueId> {
        let ty = self.lowering.value_type(expr.ty);
        Some(match &expr.kind {
            ExprKind::Const(constant) => self.constant(constant, ty?),
            ExprKind::Load(lvalue) => {
                let target = self.lvalue(lvalue);
                ty?;
                self.load_target(&target, expr.ty)
            }
            ExprKind::AddressOf(lvalue) => self.address_of(lvalue, ty?),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, operands) => {
                let [left, right] = &**operands;
                self.binary(*op, left, right, expr.ty)
            }
            ExprKind::Exact(inner) => self.exact(inner)?,
            ExprKind::Compare(op, operands) => {
                let [left, right] = &**operands;
                let holds = self.compare(*op, left, right);
                self.bool_to_number(holds, ty?)
            }
            ExprKind::LogicalNot(_) | ExprKind::Logical(..) => {
                let holds = self.condition(expr);
                self.bool_to_number(holds, ty?)
            }
            ExprKind::VectorLogical(op, operands) => {
                let [left, right] = &**operands;
                self.vector_logical(*op, left, right, ty?)
            }
            ExprKind::Conditional(parts) => return self.conditional(parts, ty),
            ExprKind::VectorSelect(parts) => {
                let condition = self.value(&parts.condition);
                let condition = self.builder.is_negative(condition);
                let (then, otherwise) = (self.value(&parts.then), self.value(&parts.otherwise));
                self.builder.select(condition, then, otherwise)
            }
            ExprKind::Convert(conversion, operand) => self.convert(*conversion, operand, expr.ty),
            ExprKind::Bitcast(operand) => {
                let operand = self.value(operand);
                self.reinterpret(operand, ty?)
            }
            ExprKind::PointerCast(operand) => {
                let operand = self.value(operand);
                self.pointer_cast(operand, ty?)
            }
            ExprKind::PointerToInt(operand) => {
                let operand = self.value(operand);
                let whole = self.builder.value(Op::PointerToInt, &[operand], Type::I64);
                self.builder.resize(whole, ty?.scalar()?, false)
            }
            ExprKind::IntToPointer(operand) => {
                let is_signed = self.lowering.element(operand.ty).is_signed();
                let operand = self.value(operand);
                let whole = self.builder.resize(operand, kiln_ir::Scalar::I64, is_signed);
                self.builder.value(Op::IntToPointer, &[whole], ty?)
            }
            ExprKind::Splat(operand) => {
                let operand = self.value(operand);
                self.splat(operand, ty?)
            }
            ExprKind::Vector(parts) => self.vector(parts, ty?),
            ExprKind::Swizzle(swizzle) => {
                let operand = self.value(&swizzle.base);
                self.swizzle(operand, &swizzle.components)
            }
            ExprKind::Offset(offset) => {
                let stride = self.lowering.stride(offset.pointer.ty);
                let pointer = self.value(&offset.pointer);
                let index = self.index(&offset.index);
                match self.builder.function.constant_bits(index) {
                    Some(0) => pointer,
                    _ => self.builder.offset(pointer, index, stride),
                }
            }
            ExprKind::Difference { left, right } => self.pointer_difference(left, right, ty?),
            ExprKind::Assign(assign) => return self.lower_assign(&assign.lvalue, &assign.value),
            ExprKind::Update(update) => self.lower_update(update, expr.ty),
            ExprKind::Current => self.current?,
            ExprKind::Comma(left, right) => {
                self.effect(left);
                return self.evaluate_at(right);
            }
            ExprKind::Statements(parts) => {
                let (stmts, value) = &**parts;
                self.inner_stmts(stmts);
                return self.evaluate_at(value);
            }
            ExprKind::Call { function, arguments } => return self.call(*function, arguments),
            ExprKind::Builtin { builtin, arguments } => return self.builtin(*builtin, arguments, expr),
            ExprKind::Atomic(atomic) => return self.atomic(atomic),
            ExprKind::Fence(fence) => {
                self.fence(&fence.flags, &fence.order, &fence.scope);
                return None;
            }
            ExprKind::Barrier(barrier) => {
                self.barrier(barrier.execution, &barrier.flags, &barrier.scope);
                return None;
            }
            ExprKind::Printf(printf) => {
                let arguments: Vec<ValueId> =
                    printf.arguments.iter().map(|argument| self.value(argument)).collect();
                self.builder.value(Op::Printf(printf.format.as_slice().into()), &arguments, Type::I32)
            }
            ExprKind::Trap { message } => {
                self.builder.inst(Op::Trap(message.as_slice().into()), &[], &[]);
                return None;
            }
            // Calls of blocks are calls of functions. No other supported expression uses a block as a value.
            ExprKind::Block { .. } | ExprKind::Aggregate(_) => return None,
        })
    }

    /// Like `evaluate`, with the source position of the expression.
    pub(super) fn evaluate_at(&mut self, expr: &Expr) -> Option<ValueId> {
        let span = std::mem::replace(&mut self.builder.span, expr.span);
        let value = self.evaluate(expr);
        self.builder.span = span;
        value
    }

    fn address_of(&mut self, lvalue: &Lvalue, ty: Type) -> ValueId {
        let pointer = self.address(lvalue).pointer;
        self.pointer_cast(pointer, ty)
    }

    /// Casts a pointer to the address space of this type.
    pub(super) fn pointer_cast(&mut self, pointer: ValueId, ty: Type) -> ValueId {
        if self.builder.ty(pointer) == ty {
            return pointer;
        }
        if self.builder.function.constant_bits(pointer) == Some(0) {
            return self.builder.bits(ty, 0);
        }
        self.builder.value(Op::PointerCast, &[pointer], ty)
    }

    /// An index into memory. If it was converted from a narrower integer, it stays a signed I32: this is equivalent
    /// and avoids 64-bit arithmetic.
    pub(super) fn index(&mut self, expr: &Expr) -> ValueId {
        match &expr.kind {
            ExprKind::Const(Const::Int(bits)) if i32::try_from(*bits as i64).is_ok() => {
                self.builder.i32(*bits as i32)
            }
            ExprKind::Convert(_, operand) => match self.lowering.element(operand.ty) {
                Scalar::Int => self.value(operand),
                element @ (Scalar::Char | Scalar::UChar | Scalar::Short | Scalar::UShort) => {
                    let operand = self.value(operand);
                    self.builder.resize(operand, kiln_ir::Scalar::I32, element.is_signed())
                }
                Scalar::Long | Scalar::ULong => self.value(operand),
                _ => self.value(expr),
            },
            _ => self.value(expr),
        }
    }

    /// `left - right` in elements (OpenCL C 6.5.1).
    fn pointer_difference(&mut self, left: &Expr, right: &Expr, ty: Type) -> ValueId {
        let stride = self.lowering.stride(left.ty).max(1);
        let pointers = [left, right].map(|operand| self.value(operand));
        let elements = self.distance(pointers, stride);
        self.builder.resize(elements, ty.scalar().unwrap_or(kiln_ir::Scalar::I64), true)
    }

    /// The number of elements of this size from the second pointer to the first.
    pub(super) fn distance(&mut self, pointers: [ValueId; 2], stride: u64) -> ValueId {
        let [left, right] =
            pointers.map(|pointer| self.builder.value(Op::PointerToInt, &[pointer], Type::I64));
        let bytes = self.builder.binary(BinaryOp::Sub, left, right);
        match stride {
            1 => bytes,
            // The division is exact.
            _ if stride.is_power_of_two() => {
                self.builder.binary_bits(BinaryOp::AShr, bytes, u64::from(stride.trailing_zeros()))
            }
            _ => self.builder.binary_bits(BinaryOp::SDiv, bytes, stride),
        }
    }

    fn lower_assign(&mut self, lvalue: &Lvalue, value: &Expr) -> Option<ValueId> {
        if self.lowering.is_aggregate(lvalue.ty.ty) {
            self.assign_aggregate(lvalue, value);
            return None;
        }
        if self.lowering.value_type(lvalue.ty.ty).is_none() {
            self.effect(value);
            return None;
        }
        let value = self.value(value);
        let target = self.lvalue(lvalue);
        self.store_target(&target, value);
        if let LvalueKind::Local(id) = lvalue.kind {
            self.record_start(id, value);
        }
        Some(value)
    }

    fn lower_update(&mut self, update: &Update, ty: kiln_types::ty::TyId) -> ValueId {
        let target: Target = self.lvalue(&update.lvalue);
        let old = self.load_target(&target, ty);
        let around = self.current.replace(old);
        let new = self.value(&update.new);
        self.current = around;
        self.store_target(&target, new);
        match update.result {
            UpdateResult::Old => old,
            UpdateResult::New => new,
        }
    }

    /// Converts `Bool` to `int` 0 or 1, or a vector of it to 0 or -1 in each component.
    fn bool_to_number(&mut self, holds: ValueId, ty: Type) -> ValueId {
        match (self.builder.ty(holds), ty) {
            (from, _) if from == ty => holds,
            (Type::Vector(..), _) => self.mask(holds, ty),
            _ => self.builder.convert(Convert::ZeroExtend, holds, ty),
        }
    }
}
