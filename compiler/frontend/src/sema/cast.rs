//! Casts `(type)operand` and `as_type` (OpenCL C 6.4.2, 6.4.4, C99 6.5.4).
//!
//! `vector.rs` handles vector literals, which have the syntax of casts.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Cast, ConversionError, Scalar, Ty, TyId};

use super::{
    Sema,
    convert::{AssignContext, conversion, vector_conversion},
};
use crate::hir::{Const, Expr, ExprKind};

impl Sema<'_> {
    /// `(type)operand`, including vector literals.
    pub(crate) fn cast_expr(&mut self, name: &ast::TypeName, operand: &ast::Expr, span: Span) -> Expr {
        let to = self.type_name(name).ty;
        if let Ty::Vector(element, count) = *self.types.get(to)
            && let ast::ExprKind::Paren(inner) = &operand.kind
        {
            if matches!(inner.kind, ast::ExprKind::Comma(_)) {
                return self.vector_literal(to, element, count, inner, span);
            }
            // A literal with one operand: it is converted as the operands of longer literals.
            let value = self.operator_value(operand);
            let value = if value.ty == TyId::BOOL { self.convert(value, TyId::INT) } else { value };
            return self.cast(value, to, span);
        }
        let value = if to == TyId::VOID {
            let operand = self.operand(operand);
            self.evaluate(operand)
        } else {
            self.operator_value(operand)
        };
        self.cast(value, to, span)
    }

    /// Casts a value to another type. `Types::cast` decides whether and how.
    fn cast(&mut self, value: Expr, to: TyId, span: Span) -> Expr {
        if value.ty == TyId::ERROR || to == TyId::ERROR {
            return self.error_value(span);
        }
        if self.is_storage_only(to) {
            self.report_half("a value", span);
            return self.error_value(span);
        }
        if value.ty == to && to != TyId::VOID {
            match self.types.get(to) {
                Ty::Image(_) | Ty::Pipe(..) => {
                    self.report_cast(&value, to, span);
                    return self.error_value(span);
                }
                Ty::Record(_) => self.report_gnu("a cast to the type of a structure", span, "C99 6.5.4"),
                _ => {}
            }
            return Expr { span, ..value };
        }
        let kind = match self.types.cast(value.ty, to) {
            Cast::Void if value.ty == TyId::VOID => return value,
            Cast::Void => ExprKind::Comma(Box::new(value), Box::new(self.nothing(span))),
            Cast::Same => return Expr { span, ..value },
            Cast::Arithmetic => return Expr { span, ..self.convert(value, to) },
            Cast::Splat => return Expr { span, ..self.widen(value, to) },
            Cast::Pointer if self.is_null_constant(&value) => ExprKind::Const(Const::NullPointer),
            Cast::Pointer => ExprKind::PointerCast(Box::new(value)),
            Cast::PointerToInt if to == TyId::BOOL => return Expr { span, ..self.truth(value) },
            Cast::PointerToInt => {
                self.warn_small_integer(to, value.span, span);
                ExprKind::PointerToInt(Box::new(value))
            }
            Cast::IntToPointer if self.is_null_constant(&value) => ExprKind::Const(Const::NullPointer),
            Cast::IntToPointer => ExprKind::IntToPointer(Box::new(self.convert(value, TyId::ULONG))),
            Cast::Opaque => {
                return Expr { span, ..self.assign_convert(value, to.plain(), AssignContext::Initialize) };
            }
            Cast::Invalid(ConversionError::Spaces { from, to: space }) => {
                self.report_cast_spaces((from, space), value.ty, to, span);
                return self.error_value(span);
            }
            Cast::Invalid(_) => {
                self.report_cast(&value, to, span);
                return self.error_value(span);
            }
        };
        Expr { kind, ty: to, span }
    }

    /// Warns about an address that loses its upper half.
    fn warn_small_integer(&mut self, to: TyId, pointer: Span, span: Span) {
        if self.types.size_of(to).is_some_and(|size| size < 8) {
            let shown = self.show(to);
            self.report(
                Diagnostic::new(
                    Code::PointerToSmallInteger,
                    span,
                    format!("`{shown}` is too small for an address"),
                )
                .help("cast it to `uintptr_t`")
                .prefix(pointer, "(uintptr_t)"),
            );
        }
    }

    fn report_cast(&mut self, value: &Expr, to: TyId, span: Span) {
        let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
        let mut diagnostic = Diagnostic::new(
            Code::InvalidCast,
            span,
            format!("`{from_shown}` cannot be cast to `{to_shown}`"),
        );
        match (self.types.get(value.ty), self.types.get(to)) {
            (Ty::Vector(_, from), Ty::Vector(_, count)) => {
                diagnostic =
                    diagnostic.note("OpenCL C 6.4.2: explicit casts between vector types are not legal");
                if from == count {
                    diagnostic = diagnostic.help(vector_conversion(&to_shown)).rewrite(
                        span,
                        format!("write `convert_{to_shown}`"),
                        conversion(&format!("convert_{to_shown}("), value.span),
                    );
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
        self.report(diagnostic);
    }

    /// `__builtin_astype(operand, type)`, which implements `as_type` (OpenCL C 6.4.4.2).
    pub(crate) fn astype_expr(&mut self, operand: &ast::Expr, name: &ast::TypeName, span: Span) -> Expr {
        let to = self.type_name(name).ty;
        let value = self.operator_value(operand);
        self.reinterpret(value, to, span)
    }

    /// Reinterprets the bits as another type of the same size (OpenCL C 6.4.4.2).
    pub(crate) fn reinterpret(&mut self, value: Expr, to: TyId, span: Span) -> Expr {
        if value.ty == TyId::ERROR || to == TyId::ERROR {
            return self.error_value(span);
        }
        let (from_shown, to_shown) = (self.show(value.ty), self.show(to));
        let no_bits = |components: Option<(Scalar, u8)>| matches!(components, None | Some((Scalar::Bool, _)));
        let (from, target) = (self.types.components(value.ty), self.types.components(to));
        let problem = if no_bits(from) {
            Some((
                format!("`{from_shown}` cannot be reinterpreted as another type"),
                "OpenCL C 6.4.4.2: as_type takes built-in scalar and vector types, but not bool",
            ))
        } else if no_bits(target) {
            Some((
                format!("nothing can be reinterpreted as `{to_shown}`"),
                "OpenCL C 6.4.4.2: as_type gives built-in scalar and vector types, but not bool",
            ))
        } else if self.types.size_of(value.ty) != self.types.size_of(to) {
            Some((
                format!(
                    "`{from_shown}` has {} bytes, `{to_shown}` has {}",
                    self.types.size_of(value.ty).unwrap_or_default(),
                    self.types.size_of(to).unwrap_or_default()
                ),
                "OpenCL C 6.4.4.2: it is an error to reinterpret data as a type of another size",
            ))
        } else {
            None
        };
        if let Some((message, note)) = problem {
            self.report(Diagnostic::new(Code::Reinterpret, span, message).note(note));
            return self.error_value(span);
        }
        if value.ty == to {
            return Expr { span, ..value };
        }
        Expr { kind: ExprKind::Bitcast(Box::new(value)), ty: to, span }
    }
}
