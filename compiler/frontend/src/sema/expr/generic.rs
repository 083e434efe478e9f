//! Generic selections (C11 6.5.1.1).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Ty, TyId};

use super::Operand;
use crate::sema::Sema;

impl Sema<'_> {
    /// `_Generic(control, type: value, …)`
    pub(super) fn generic_selection(
        &mut self,
        control: &ast::Expr,
        associations: &[ast::Association],
        span: Span,
    ) -> Operand {
        self.report_c11("a generic selection", span);
        let chosen = self.selected(control, associations, span);
        let mut operand = Operand::Value(self.error_value(span));
        for (i, association) in associations.iter().enumerate() {
            let value = self.operand(&association.value);
            if chosen == Some(i) {
                operand = value;
            }
        }
        operand
    }

    /// The called expression, without parentheses and generic selections.
    pub(crate) fn called<'e>(&mut self, mut callee: &'e ast::Expr<'e>) -> &'e ast::Expr<'e> {
        loop {
            callee = match &callee.kind {
                ast::ExprKind::Paren(inner) => inner,
                ast::ExprKind::Generic(node) => {
                    match self.selected(&node.control, node.associations, callee.span) {
                        Some(chosen) => {
                            self.report_c11("a generic selection", callee.span);
                            &node.associations[chosen].value
                        }
                        None => return callee,
                    }
                }
                _ => return callee,
            };
        }
    }

    /// The association that the type of `control` selects. Reports an error if there is none.
    fn selected(
        &mut self,
        control: &ast::Expr,
        associations: &[ast::Association],
        span: Span,
    ) -> Option<usize> {
        let wanted = self.value(control).ty;
        let mut types: Vec<(TyId, Span)> = Vec::new();
        let (mut chosen, mut default) = (None, None);
        for (i, association) in associations.iter().enumerate() {
            let Some(name) = &association.ty else {
                if default.replace(i).is_some() {
                    self.report(
                        Diagnostic::new(
                            Code::GenericSelection,
                            association.span,
                            "there is already a `default`",
                        )
                        .note("C11 6.5.1.1: a generic selection has no more than one default"),
                    );
                }
                continue;
            };
            let ty = self.type_name(name);
            if ty.ty == TyId::ERROR || !self.is_association_type(ty.ty, association.span) {
                continue;
            }
            // A qualified type never matches: the controlling expression undergoes lvalue conversion.
            let is_plain = !ty.quals.is_const && !ty.quals.is_volatile;
            if is_plain && let Some((_, first)) = types.iter().find(|(other, _)| *other == ty.ty) {
                let shown = self.show(ty);
                self.report(
                    Diagnostic::new(
                        Code::GenericSelection,
                        association.span,
                        format!("`{shown}` appears twice"),
                    )
                    .also(*first, "the first one")
                    .note("C11 6.5.1.1: no two types of a generic selection are compatible"),
                );
                continue;
            }
            if is_plain {
                types.push((ty.ty, association.span));
                if ty.ty == wanted {
                    chosen = Some(i);
                }
            }
        }
        let found = chosen.or(default);
        if found.is_none() && wanted != TyId::ERROR {
            let shown = self.show(wanted);
            self.report(
                Diagnostic::new(
                    Code::GenericSelection,
                    control.span,
                    format!("this generic selection has no value for `{shown}`"),
                )
                .also(span, "chosen here")
                .help("add the type, or a `default`")
                .note("C11 6.5.1.1"),
            );
        }
        found
    }

    fn is_association_type(&mut self, ty: TyId, span: Span) -> bool {
        let is_object = match *self.types.get(ty) {
            Ty::Function(_) | Ty::Void | Ty::Array(_, None) => false,
            Ty::Record(record) => self.types.records[record].fields.is_some(),
            _ => true,
        };
        if !is_object {
            let shown = self.show(ty);
            self.report(
                Diagnostic::new(Code::GenericSelection, span, format!("no value has type `{shown}`"))
                    .note("C11 6.5.1.1: a generic selection names complete object types"),
            );
        }
        is_object
    }
}
