//! `__builtin_offsetof(type, member.member[index])` (C99 7.17).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Ty, TyId};

use crate::{
    hir::{Const, Expr, ExprKind},
    sema::{Meaning, Role, Sema},
};

impl Sema<'_> {
    /// The offset of a member from the start of its struct.
    pub(super) fn offsetof(&mut self, name: &ast::TypeName, member: &[ast::Designator], span: Span) -> Expr {
        let mut ty = self.type_name(name).ty;
        if !self.has_size(ty, name.span, "`offsetof` of") {
            return self.error_value(span);
        }
        let mut offset = 0;
        for designator in member {
            let step = match designator {
                ast::Designator::Member(name) => self.offset_of_member(ty, *name),
                ast::Designator::Index(index) => self.offset_of_element(ty, index),
                ast::Designator::Range(index, _) => self.offset_of_element(ty, index),
            };
            let Some((inner, distance)) = step else { return self.error_value(span) };
            ty = inner;
            offset += distance;
        }
        Expr { kind: ExprKind::Const(Const::Int(offset)), ty: TyId::ULONG, span }
    }

    fn offset_of_member(&mut self, ty: TyId, name: ast::Ident) -> Option<(TyId, u64)> {
        let Ty::Record(record) = *self.types.get(ty) else {
            self.no_members(ty, name, name.span);
            return None;
        };
        match self.find_member(record, name.node) {
            Some(found) => {
                self.note(name.span, Meaning::Member(found.declared), Role::Use);
                Some((found.ty.ty, found.offset))
            }
            None => {
                self.unknown_member(ty, record, name, name.span);
                None
            }
        }
    }

    fn offset_of_element(&mut self, ty: TyId, index: &ast::Expr) -> Option<(TyId, u64)> {
        let Ty::Array(element, _) = *self.types.get(ty) else {
            let shown = self.show(ty);
            self.report(Diagnostic::new(
                Code::NotAPointer,
                index.span,
                format!("`{shown}` is not an array and has no elements"),
            ));
            return None;
        };
        let at = self.integer_constant(index, "an index in `offsetof`")?;
        let size = self.types.size_of(element.ty)?;
        Some((element.ty, size.wrapping_mul(at as u64)))
    }
}
