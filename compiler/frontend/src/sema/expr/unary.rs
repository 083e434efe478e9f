//! Unary operators (OpenCL C 6.5.2, 6.5.3, 6.5.8, 6.5.13, 6.5.14, C99 6.5.3).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span, Spanned,
    ast::{self, UnaryOp},
};
use kiln_types::ty::{Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::{Operand, pointer::Use};
use crate::{
    hir::{self, Expr, ExprKind, Lvalue, LvalueKind},
    sema::Sema,
};

impl Sema<'_> {
    /// `op operand`, and the postfix operators.
    pub(super) fn unary(&mut self, op: Spanned<UnaryOp>, operand: &ast::Expr, span: Span) -> Operand {
        let value = match op.node {
            UnaryOp::Dereference => return self.dereference(operand, op.span, span),
            UnaryOp::AddressOf => self.address_of(operand, span),
            UnaryOp::Plus => self.sign(operand, "+", None, span),
            UnaryOp::Minus => self.sign(operand, "-", Some(hir::UnaryOp::Negate), span),
            UnaryOp::BitNot => self.bit_not(op.span, operand, span),
            UnaryOp::LogicalNot => self.logical_not(operand, span),
            UnaryOp::PreIncrement
            | UnaryOp::PreDecrement
            | UnaryOp::PostIncrement
            | UnaryOp::PostDecrement => self.increment_or_decrement(op, operand, span),
        };
        Operand::Value(value)
    }

    /// `+`, `-`: numbers (OpenCL C 6.5.2).
    fn sign(&mut self, operand: &ast::Expr, spelling: &str, op: Option<hir::UnaryOp>, span: Span) -> Expr {
        let value = self.operator_value(operand);
        if self.types.components(value.ty).is_none() {
            return self.report_operand(&value, spelling, "numbers", span);
        }
        let value = self.promote(value);
        match op {
            Some(op) => {
                let ty = value.ty;
                self.folded(ExprKind::Unary(op, Box::new(value)), ty, span)
            }
            None => Expr { span, ..value },
        }
    }

    /// `~`: integers (OpenCL C 6.5.6).
    fn bit_not(&mut self, op: Span, operand: &ast::Expr, span: Span) -> Expr {
        let value = self.operator_value(operand);
        self.warn_complement(op, &value);
        match self.types.components(value.ty) {
            Some((scalar, _)) if !scalar.is_float() => {}
            _ => return self.report_operand(&value, "~", "integers", span),
        }
        let value = self.promote(value);
        let ty = value.ty;
        self.folded(ExprKind::Unary(hir::UnaryOp::BitNot, Box::new(value)), ty, span)
    }

    /// Warns about `~(a == b)`: the complement of 0 or 1 is -1 or -2, which are both true. In a vector, a comparison is 0
    /// or -1, and `~` is its opposite (OpenCL C 6.5.5).
    fn warn_complement(&mut self, op: Span, value: &Expr) {
        let is_truth = value.ty == TyId::BOOL
            || matches!(value.kind, ExprKind::Compare(..) | ExprKind::Logical(..) | ExprKind::LogicalNot(_))
                && matches!(self.types.get(value.ty), Ty::Scalar(_));
        if is_truth {
            self.report(
                Diagnostic::new(
                    Code::BoolOperation,
                    op,
                    "the complement of a truth value is -1 or -2, and so always true",
                )
                .also(value.span, "is 0 or 1")
                .help("write `!` for the opposite of a truth value")
                .replace(op, "!")
                .note("C99 6.5.3.3: `~` inverts each bit"),
            );
        }
    }

    /// `!` (OpenCL C 6.5.8).
    fn logical_not(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        let value = self.operator_value(operand);
        match self.types.get(value.ty) {
            Ty::Scalar(_) | Ty::Vector(..) | Ty::Enum(_) | Ty::Pointer(_) => {}
            _ => return self.report_operand(&value, "!", "numbers and pointers", span),
        }
        let ty = self.types.comparison(value.ty);
        Expr { kind: ExprKind::LogicalNot(Box::new(value)), ty, span }
    }

    /// Reports an invalid operand of a unary operator.
    fn report_operand(&mut self, value: &Expr, spelling: &str, wanted: &str, span: Span) -> Expr {
        if value.ty != TyId::ERROR {
            let shown = self.show(value.ty);
            self.report(
                Diagnostic::new(Code::InvalidOperands, span, format!("`{spelling}` does not take `{shown}`"))
                    .also(value.span, format!("`{shown}`"))
                    .help(format!("`{spelling}` takes {wanted}")),
            );
        }
        self.error_value(span)
    }

    /// `*pointer` (OpenCL C 6.5.13).
    fn dereference(&mut self, operand: &ast::Expr, op: Span, span: Span) -> Operand {
        let operand = self.operand(operand);
        let pointer = self.read(operand, super::AtomicRead::Operator);
        match self.deref_value(pointer, op, span) {
            Some(lvalue) => Operand::Lvalue(lvalue),
            None => Operand::Value(self.error_value(span)),
        }
    }

    /// The lvalue that a pointer refers to.
    pub(super) fn deref_value(&mut self, pointer: Expr, op: Span, span: Span) -> Option<Lvalue> {
        match *self.types.get(pointer.ty) {
            Ty::Error => None,
            Ty::Pointer(to) if to.ty == TyId::VOID => {
                self.report(
                    Diagnostic::new(
                        Code::VoidValue,
                        span,
                        "a pointer to `void` points to no object of a known type",
                    )
                    .help("cast it to a pointer to the type that is stored there"),
                );
                None
            }
            Ty::Pointer(to) => {
                // `*&lvalue` is the lvalue itself.
                if let ExprKind::AddressOf(lvalue) = &pointer.kind
                    && lvalue.ty == to
                {
                    return Some(Lvalue { span, ..(**lvalue).clone() });
                }
                let ty = if to.quals.space.is_some() { to } else { to.in_space(AddressSpace::Private) };
                Some(Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty, span })
            }
            _ => {
                let shown = self.show(pointer.ty);
                self.report(
                    Diagnostic::new(Code::NotAPointer, op, format!("`*` takes a pointer, not `{shown}`"))
                        .also(pointer.span, format!("`{shown}`")),
                );
                None
            }
        }
    }

    /// `&lvalue` (OpenCL C 6.5.14).
    fn address_of(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        let operand = match &operand.kind {
            ast::ExprKind::Index(node) => self.index(&node.base, &node.index, Use::Address, operand.span),
            _ => self.object_operand(operand),
        };
        match operand {
            Operand::Lvalue(lvalue) => {
                if !self.has_address(&lvalue) {
                    return self.error_value(span);
                }
                let value = self.address_of_lvalue(lvalue);
                Expr { span, ..value }
            }
            Operand::Value(value) => {
                if value.ty != TyId::ERROR {
                    self.report(
                        Diagnostic::new(Code::AddressOfValue, span, "a value has no address")
                            .also(value.span, "not an object")
                            .help("store it in a variable and take the variable's address")
                            .note("C99 6.5.3.2: the operand of `&` is an l-value"),
                    );
                }
                self.error_value(span)
            }
            Operand::Function(_, function) | Operand::Builtin(function) => {
                self.function_as_value(function);
                self.error_value(span)
            }
        }
    }

    /// Whether the address of the lvalue can be taken. Reports an error otherwise.
    fn has_address(&mut self, lvalue: &Lvalue) -> bool {
        if lvalue.ty.ty == TyId::ERROR {
            return false;
        }
        match lvalue.kind {
            LvalueKind::Swizzle(_) | LvalueKind::Element(_) if self.is_component(lvalue) => {
                self.report(
                    Diagnostic::new(Code::AddressOfComponent, lvalue.span, "the components of a vector have no address")
                        .help("store the component in a variable, or cast the vector's address to a pointer to its element")
                        .note("OpenCL C 6.3.7: it is illegal to take the address of a vector element"),
                );
                false
            }
            LvalueKind::Temporary(_) => {
                self.report(
                    Diagnostic::new(Code::AddressOfValue, lvalue.span, "a value has no address")
                        .help("store it in a variable and take the variable's address"),
                );
                false
            }
            LvalueKind::Field(ref field) if matches!(field.base.kind, LvalueKind::Temporary(_)) => {
                let base = Lvalue { span: lvalue.span, ..field.base.clone() };
                self.has_address(&base)
            }
            LvalueKind::Element(ref element) if matches!(element.base.kind, LvalueKind::Temporary(_)) => {
                let base = Lvalue { span: lvalue.span, ..element.base.clone() };
                self.has_address(&base)
            }
            _ => match self.types.get(lvalue.ty.ty) {
                Ty::Image(_) | Ty::Pipe(..) | Ty::Sampler | Ty::Block(_) => {
                    let shown = self.show(lvalue.ty.ty);
                    self.report(
                        Diagnostic::new(
                            Code::AddressOfHandle,
                            lvalue.span,
                            format!("an object of type `{shown}` has no address"),
                        )
                        .note(match self.types.get(lvalue.ty.ty) {
                            Ty::Block(_) => "OpenCL C 6.14.5: a pointer to a block is not allowed",
                            Ty::Pipe(..) => "OpenCL C 6.15.18.1: a pointer to a pipe is not allowed",
                            _ => "OpenCL C 6.11.b: a pointer to an image or a sampler is not allowed",
                        }),
                    );
                    false
                }
                _ => true,
            },
        }
    }

    /// Whether the lvalue is part of a vector.
    fn is_component(&self, lvalue: &Lvalue) -> bool {
        match &lvalue.kind {
            LvalueKind::Swizzle(_) => true,
            LvalueKind::Element(element) => matches!(self.types.get(element.base.ty.ty), Ty::Vector(..)),
            _ => false,
        }
    }

    /// The address of an lvalue.
    pub(crate) fn address_of_lvalue(&mut self, lvalue: Lvalue) -> Expr {
        let span = lvalue.span;
        // `&*pointer` is the pointer itself (C99 6.5.3.2).
        if let LvalueKind::Deref(pointer) = lvalue.kind {
            return *pointer;
        }
        let mut to = lvalue.ty;
        to.quals.space = Some(to.quals.space.unwrap_or(AddressSpace::Private));
        let ty = self.types.pointer(to);
        Expr { kind: ExprKind::AddressOf(Box::new(lvalue)), ty, span }
    }
}
