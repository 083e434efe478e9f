//! Casts `(type)operand`, `as_type` and what both may do (OpenCL C 6.4.2, 6.4.4, C99 6.5.4).
//!
//! Vector literals, which look like casts, stand in `vector.rs`.

use kiln_syntax::{Span, ast};

use super::{Sema, convert::AssignContext};
use crate::{
    diag::{Code, Diagnostic},
    hir::{Const, Expr, ExprKind},
    ty::{Scalar, Ty, TyId},
};

impl Sema<'_> {
    /// `(type)operand`, a vector literal included.
    pub(crate) fn cast_expr(&mut self, name: &ast::TypeName, operand: &ast::Expr, span: Span) -> Expr {
        let to = self.type_name(name).ty;
        if let Ty::Vector(element, count) = *self.types.get(to)
            && let ast::ExprKind::Paren(inner) = &operand.kind
            && matches!(inner.kind, ast::ExprKind::Comma { .. })
        {
            return self.vector_literal(to, element, count, inner, span);
        }
        let value = if to == TyId::VOID {
            let operand = self.operand(operand);
            self.evaluate(operand)
        } else {
            self.operator_value(operand)
        };
        self.cast(value, to, name.span, span)
    }

    /// A value as another type, as a cast makes it.
    fn cast(&mut self, value: Expr, to: TyId, name: Span, span: Span) -> Expr {
        if value.ty == TyId::ERROR || to == TyId::ERROR {
            return self.error_value(span);
        }
        if to == TyId::VOID {
            let nothing = self.nothing(span);
            return Expr { kind: ExprKind::Comma(Box::new(value), Box::new(nothing)), ty: TyId::VOID, span };
        }
        if value.ty == to {
            if value.ty == TyId::VOID {
                return value;
            }
            return Expr { span, ..value };
        }
        let kind = match (self.types.get(value.ty).clone(), self.types.get(to).clone()) {
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Scalar(_) | Ty::Enum(_) | Ty::Vector(..)) => {
                return Expr { span, ..self.convert(value, to) };
            }
            (Ty::Pointer(from), Ty::Pointer(target)) => {
                if self.is_null_constant(&value) {
                    ExprKind::Const(Const::NullPointer)
                } else if self.check_pointer_cast(from, target, span) {
                    ExprKind::PointerCast(Box::new(value))
                } else {
                    return self.error_value(span);
                }
            }
            (Ty::Pointer(_), Ty::Scalar(Scalar::Bool)) => return Expr { span, ..self.truth(value) },
            (Ty::Pointer(_), Ty::Scalar(scalar)) if !scalar.is_float() => {
                if scalar.size() < 8 {
                    let shown = self.show(to);
                    self.sink.report(
                        Diagnostic::new(
                            Code::PointerToSmallInteger,
                            span,
                            format!("`{shown}` is too small for an address"),
                        )
                        .help("cast it to `uintptr_t`"),
                    );
                }
                ExprKind::PointerToInt(Box::new(value))
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Pointer(_)) if self.is_integer(value.ty) => {
                if self.is_null_constant(&value) {
                    ExprKind::Const(Const::NullPointer)
                } else {
                    ExprKind::IntToPointer(Box::new(self.convert(value, TyId::ULONG)))
                }
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Event | Ty::Queue | Ty::Sampler) => {
                return Expr { span, ..self.assign_convert(value, to.plain(), AssignContext::Initialize) };
            }
            _ => {
                self.report_cast(&value, to, name, span);
                return self.error_value(span);
            }
        };
        Expr { kind, ty: to, span }
    }

    fn report_cast(&mut self, value: &Expr, to: TyId, name: Span, span: Span) {
        let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
        let mut diagnostic = Diagnostic::new(
            Code::InvalidCast,
            span,
            format!("`{from_shown}` cannot be cast to `{to_shown}`"),
        );
        match (self.types.get(value.ty), self.types.get(to)) {
            (Ty::Vector(_, from), Ty::Vector(_, count)) => {
                diagnostic = diagnostic.note("OpenCL C 6.4.2: explicit casts between vector types are not legal");
                if from == count {
                    diagnostic = diagnostic
                        .help(format!("write `convert_{to_shown}(…)` for the values or `as_{to_shown}(…)` for the bits"))
                        .fix(name, format!("convert with `convert_{to_shown}`"), format!("convert_{to_shown}"));
                    // The fix replaces the type between the parentheses only, so it is not offered.
                    diagnostic.fix = None;
                }
            }
            (Ty::Vector(..), _) => {
                diagnostic = diagnostic
                    .help("select one component, as in `.x`")
                    .note("OpenCL C 6.4.2: a vector cannot be cast to a scalar");
            }
            (Ty::Block(_), _) | (_, Ty::Block(_)) => {
                diagnostic = diagnostic.note("OpenCL C 6.14.5: a block has the type of its literal");
            }
            _ => diagnostic = diagnostic.note("C99 6.5.4: a cast is from scalar to scalar"),
        }
        self.sink.report(diagnostic);
    }

    /// `__builtin_astype(operand, type)`, of which `as_type` is made (OpenCL C 6.4.4.2).
    pub(crate) fn astype_expr(&mut self, operand: &ast::Expr, name: &ast::TypeName, span: Span) -> Expr {
        let to = self.type_name(name).ty;
        let value = self.operator_value(operand);
        self.reinterpret(value, to, span)
    }

    /// The same bits as another type of the same size (OpenCL C 6.4.4.2).
    pub(crate) fn reinterpret(&mut self, value: Expr, to: TyId, span: Span) -> Expr {
        if value.ty == TyId::ERROR || to == TyId::ERROR {
            return self.error_value(span);
        }
        let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
        let no_bits = |components: Option<(Scalar, u8)>| matches!(components, None | Some((Scalar::Bool, _)));
        let (from, target) = (self.types.components(value.ty), self.types.components(to));
        let problem = if no_bits(from) {
            Some((format!("`{from_shown}` cannot be reinterpreted as another type"), "OpenCL C 6.4.4.2: as_type takes built-in scalar and vector types, but not bool"))
        } else if no_bits(target) {
            Some((format!("nothing can be reinterpreted as `{to_shown}`"), "OpenCL C 6.4.4.2: as_type gives built-in scalar and vector types, but not bool"))
        } else if self.size_of(value.ty) != self.size_of(to) {
            Some((
                format!("`{from_shown}` has {} bytes, `{to_shown}` has {}", self.size_of(value.ty), self.size_of(to)),
                "OpenCL C 6.4.4.2: it is an error to reinterpret data as a type of another size",
            ))
        } else {
            None
        };
        if let Some((message, note)) = problem {
            self.sink.report(Diagnostic::new(Code::Reinterpret, span, message).note(note));
            return self.error_value(span);
        }
        if value.ty == to {
            return Expr { span, ..value };
        }
        Expr { kind: ExprKind::Bitcast(Box::new(value)), ty: to, span }
    }
}
