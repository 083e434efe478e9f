//! `sizeof`, `_Alignof` and `vec_step` (OpenCL C 6.5.11, 6.15.13). Their operands are not evaluated.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{QualTy, Ty, TyId};

use super::Operand;
use crate::{
    hir::{Const, Expr, ExprKind},
    sema::Sema,
};

impl Sema<'_> {
    /// `sizeof expression`
    pub(super) fn sizeof_expr(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        let ty = self.operand_type(operand);
        self.size_value(ty, operand.span, span)
    }

    /// Warns about `sizeof(p) / sizeof(p[0])`, which is the number of elements only if `p` is an array.
    pub(super) fn warn_pointer_size(&mut self, whole: &ast::Expr, part: &ast::Expr, span: Span) {
        let (ast::ExprKind::SizeofExpr(whole), ast::ExprKind::SizeofExpr(part)) = (&whole.kind, &part.kind)
        else {
            return;
        };
        let (whole_type, part_type) = (self.unevaluated_type(whole).ty, self.unevaluated_type(part).ty);
        let Ty::Pointer(pointee) = *self.types.get(whole_type) else { return };
        if pointee.ty != part_type {
            return;
        }
        self.report(
            Diagnostic::new(
                Code::SizeofPointerDiv,
                span,
                "this divides the size of a pointer, not of an array, by the size of an element",
            )
            .also(whole.span, format!("`{}`", self.show(whole_type)))
            .help("pass the number of elements as an argument")
            .note("OpenCL C 6.5.11: the size of a pointer does not depend on the memory that it points to"),
        );
    }

    /// `sizeof(type)`
    pub(super) fn sizeof_type(&mut self, name: &ast::TypeName, span: Span) -> Expr {
        let ty = self.type_name(name).ty;
        self.size_value(ty, name.span, span)
    }

    /// `_Alignof expression`, an extension of GNU C
    pub(super) fn alignof_expr(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        let ty = self.operand_type(operand);
        self.align_value(ty, None, operand.span, span)
    }

    /// `_Alignof(type)`
    pub(super) fn alignof_type(&mut self, name: &ast::TypeName, span: Span) -> Expr {
        let (ty, aligned) = self.type_name_aligned(name);
        self.align_value(ty.ty, aligned, name.span, span)
    }

    /// `vec_step(expression)` (OpenCL C 6.15.13)
    pub(super) fn vec_step_expr(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        let ty = self.operand_type(operand);
        self.vec_step_value(ty, operand.span, span)
    }

    /// `vec_step(type)`
    pub(super) fn vec_step_type(&mut self, name: &ast::TypeName, span: Span) -> Expr {
        let ty = self.type_name(name).ty;
        self.vec_step_value(ty, name.span, span)
    }

    /// The type of the operand. A vector literal is a primary expression (OpenCL C 6.3.6); a cast must be in
    /// parentheses (C99 6.5.3).
    fn operand_type(&mut self, operand: &ast::Expr) -> TyId {
        let ty = self.unevaluated_type(operand).ty;
        let is_literal = matches!(self.types.get(ty), Ty::Vector(..) | Ty::Error);
        if !matches!(operand.kind, ast::ExprKind::Cast(_)) || is_literal {
            return ty;
        }
        self.report(
            Diagnostic::new(Code::Syntax, operand.span, "a cast needs parentheses here")
                .help("put the cast in parentheses")
                .note("C99 6.5.3: the operand is a unary expression, and OpenCL C 6.3.6 adds only vector literals"),
        );
        TyId::ERROR
    }

    /// The type of an unevaluated expression. Arrays do not decay.
    pub(crate) fn unevaluated_type(&mut self, operand: &ast::Expr) -> QualTy {
        match self.operand(operand) {
            Operand::Lvalue(lvalue) => lvalue.ty,
            Operand::Value(value) => value.ty.plain(),
            Operand::Function(_, span) | Operand::Builtin(span) => {
                self.report(
                    Diagnostic::new(Code::IncompleteType, span, "a function has no size")
                        .note("OpenCL C 6.5.11: sizeof is not applied to functions"),
                );
                TyId::ERROR.plain()
            }
        }
    }

    fn size_value(&mut self, ty: TyId, what: Span, span: Span) -> Expr {
        if !self.has_size(ty, what, "`sizeof` of") {
            return self.error_value(span);
        }
        let size = self.types.size_of(ty).unwrap_or_default();
        self.size(size, span)
    }

    /// The alignment of a type, which a typedef can increase (OpenCL C 6.13.1).
    fn align_value(&mut self, ty: TyId, aligned: Option<u64>, what: Span, span: Span) -> Expr {
        if !self.has_size(ty, what, "`_Alignof` of") {
            return self.error_value(span);
        }
        let align = self.types.align_of(ty).unwrap_or_default();
        self.size(align.max(aligned.unwrap_or_default()), span)
    }

    fn vec_step_value(&mut self, ty: TyId, what: Span, span: Span) -> Expr {
        let step = match *self.types.get(ty) {
            Ty::Error => return self.error_value(span),
            // A vector of three components has the same steps as one of four.
            Ty::Vector(_, 3) => 4,
            Ty::Vector(_, count) => i64::from(count),
            Ty::Scalar(_) | Ty::Enum(_) | Ty::Void => 1,
            _ => {
                let shown = self.show(ty);
                self.report(
                    Diagnostic::new(
                        Code::InvalidOperands,
                        what,
                        format!("`vec_step` does not take `{shown}`"),
                    )
                    .note("OpenCL C 6.15.13: vec_step takes a built-in scalar or vector type"),
                );
                return self.error_value(span);
            }
        };
        self.int(step, span)
    }

    /// A `size_t` constant.
    fn size(&self, size: u64, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(Const::Int(size)), ty: TyId::ULONG, span }
    }

    /// Whether objects of the type have a known size. Reports an error otherwise. `what` is the start of the message.
    pub(super) fn has_size(&mut self, ty: TyId, span: Span, what: &str) -> bool {
        let reason = match *self.types.get(ty) {
            Ty::Error => return false,
            Ty::Void | Ty::Function(_) | Ty::Block(_) => "which has no size",
            Ty::Array(_, None) => "which is incomplete",
            Ty::Record(_) | Ty::Enum(_) if !self.types.is_complete(ty) => "which is declared but not defined",
            _ => return true,
        };
        let shown = self.show(ty);
        self.report(
            Diagnostic::new(Code::IncompleteType, span, format!("{what} `{shown}`, {reason}"))
                .note("OpenCL C 6.5.11, C99 6.5.6: the size of the type must be known"),
        );
        false
    }
}
