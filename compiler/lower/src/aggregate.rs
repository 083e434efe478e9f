//! Structs, unions and arrays. They exist only in memory: the value of an aggregate is an address, and assignment
//! copies.

use super::{access::Address, body::Body};
use kiln_frontend::hir::{Const, Expr, ExprKind, Lvalue, LvalueKind};
use kiln_types::ty::TyId;

impl Body<'_, '_> {
    /// The address of the value of an aggregate expression. It must not be written to.
    pub(super) fn aggregate(&mut self, expr: &Expr) -> Address {
        match &expr.kind {
            ExprKind::Load(lvalue) => self.address(lvalue),
            ExprKind::Comma(left, right) => {
                self.effect(left);
                self.aggregate(right)
            }
            ExprKind::Statements(parts) => {
                let (stmts, value) = &**parts;
                self.inner_stmts(stmts);
                self.aggregate(value)
            }
            ExprKind::Assign(assign) => self.assign_aggregate(&assign.lvalue, &assign.value),
            _ if !self.lowering.is_aggregate(expr.ty) => {
                let value = self.value(expr);
                let temporary = self.temporary_of(expr.ty);
                self.store(&temporary, value);
                temporary
            }
            _ => {
                let temporary = self.temporary_of(expr.ty);
                self.aggregate_into(expr, &temporary);
                temporary
            }
        }
    }

    /// Creates an unnamed private object of this type.
    pub(super) fn temporary_of(&mut self, ty: TyId) -> Address {
        let (size, align) = self.lowering.layout(ty);
        self.temporary(size, align)
    }

    /// Lowers `lvalue = value`. Returns the address of the value.
    pub(super) fn assign_aggregate(&mut self, lvalue: &Lvalue, value: &Expr) -> Address {
        // The initializer of an object does not read the object. Other assigned values may.
        let is_first = matches!(lvalue.kind, LvalueKind::Local(id) if self.fresh == Some(id));
        if is_first {
            let target = self.address(lvalue);
            self.aggregate_into(value, &target);
            return target;
        }
        let source = self.aggregate(value);
        let target = self.address(lvalue);
        let (size, _) = self.lowering.layout(lvalue.ty.ty);
        self.copy(&target, &source, size);
        target
    }

    /// Stores the value of an aggregate expression to memory that the expression does not read.
    pub(super) fn aggregate_into(&mut self, expr: &Expr, target: &Address) {
        let (size, _) = self.lowering.layout(expr.ty);
        let span = std::mem::replace(&mut self.builder.span, expr.span);
        match &expr.kind {
            ExprKind::Const(Const::Undefined) => {}
            ExprKind::Const(_) => self.zero(target, size),
            ExprKind::Aggregate(parts) => self.parts_into(parts, size, target),
            ExprKind::Call { function, arguments } if self.is_private(target) => {
                self.call_into(*function, arguments, target);
            }
            ExprKind::Call { function, arguments } => {
                let temporary = self.temporary_of(expr.ty);
                self.call_into(*function, arguments, &temporary);
                self.copy(target, &temporary, size);
            }
            ExprKind::Conditional(parts) => {
                let condition = self.condition(&parts.condition);
                let block = self.builder.insertion_point().0;
                let open = self.builder.open_if(condition, &[]);
                for (block, expr) in [(open.then, &parts.then), (open.otherwise, &parts.otherwise)] {
                    self.builder.at_end(block);
                    self.aggregate_into(expr, target);
                    self.builder.exit(open.inst, &[]);
                }
                self.builder.at_end(block);
            }
            ExprKind::Load(_) | ExprKind::Comma(..) | ExprKind::Statements(..) | ExprKind::Assign(_) => {
                let source = self.aggregate(expr);
                self.copy(target, &source, size);
            }
            ExprKind::Builtin { builtin, arguments } => self.index_space(*builtin, arguments, target),
            _ => self.lowering.reject("structures and arrays from such expressions", expr.span),
        }
        self.builder.span = span;
    }

    /// An initializer. Parts that are not listed are zero (C99 6.7.8).
    fn parts_into(&mut self, parts: &[(u64, Expr)], size: u64, target: &Address) {
        let named: u64 = parts.iter().map(|(_, part)| self.lowering.layout(part.ty).0).sum();
        let is_zeroed = named < size;
        if is_zeroed {
            self.zero(target, size);
        }
        for (offset, part) in parts {
            if is_zeroed && matches!(part.kind, ExprKind::Const(Const::Zero)) {
                continue;
            }
            let target = self.address_at_offset(target, *offset);
            if self.lowering.is_aggregate(part.ty) {
                self.aggregate_into(part, &target);
            } else {
                let value = self.value(part);
                self.store(&target, value);
            }
        }
    }
}
