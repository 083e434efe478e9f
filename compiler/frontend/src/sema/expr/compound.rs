//! Compound literals, `(type){ … }` (C99 6.5.2.5): unnamed objects, most of which are only used as values.

use kiln_syntax::{Span, ast};
use kiln_types::ty::{QualTy, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, LanguageVersion, Linkage};

use super::Operand;
use crate::{
    hir::{Assign, Expr, ExprKind, Global, Lvalue, LvalueKind},
    sema::Sema,
};

impl Sema<'_> {
    /// A compound literal that is read. Only an array needs an object.
    pub(super) fn compound_literal(
        &mut self,
        name: &ast::TypeName,
        init: &ast::InitializerList,
        span: Span,
    ) -> Operand {
        let (ty, value) = self.compound_value(name, init, span);
        match self.types.get(ty.ty) {
            _ if value.ty == TyId::ERROR => Operand::Value(value),
            Ty::Array(..) => self.compound_object(ty, value, span),
            _ => Operand::Value(Expr { span, ..value }),
        }
    }

    /// An operand of `&` or `=`, for which a compound literal is an object.
    pub(super) fn object_operand(&mut self, expr: &ast::Expr) -> Operand {
        let mut inner = expr;
        while let ast::ExprKind::Paren(parenthesised) = &inner.kind {
            inner = parenthesised;
        }
        let ast::ExprKind::CompoundLiteral(literal) = &inner.kind else { return self.operand(expr) };
        let (ty, value) = self.compound_value(literal.ty, &literal.init, inner.span);
        if value.ty == TyId::ERROR {
            return Operand::Value(value);
        }
        self.compound_object(ty, value, inner.span)
    }

    fn compound_value(
        &mut self,
        name: &ast::TypeName,
        init: &ast::InitializerList,
        span: Span,
    ) -> (QualTy, Expr) {
        let ty = self.type_name(name);
        self.list_initializer(ty, init, span)
    }

    /// Creates the object: automatic in a function, otherwise static.
    fn compound_object(&mut self, ty: QualTy, value: Expr, span: Span) -> Operand {
        if self.body.function.is_none() {
            let space = if self.options.std < LanguageVersion::Cl20 || ty.quals.is_const {
                AddressSpace::Constant
            } else {
                AddressSpace::Global
            };
            let ty = ty.in_space(space);
            let Some(image) = self.static_image(&value, ty) else {
                return Operand::Value(self.error_value(span));
            };
            let global =
                Global { name: None, ty, align: None, init: Some(image), linkage: Linkage::Internal, span };
            let global = self.module.globals.push(global);
            return Operand::Lvalue(Lvalue { kind: LvalueKind::Global(global), ty, span });
        }
        let mut lvalue = self.temporary_lvalue(ty.ty, span);
        let stored = ExprKind::Assign(Box::new(Assign { lvalue: lvalue.clone(), value }));
        let stored = Expr { kind: stored, ty: ty.ty, span };
        lvalue.ty.quals = QualTy { quals: ty.quals, ..lvalue.ty }.in_space(AddressSpace::Private).quals;
        let ty = lvalue.ty;
        let address = self.address_of_lvalue(lvalue);
        let pointer_ty = address.ty;
        let kind = ExprKind::Comma(Box::new(stored), Box::new(address));
        let pointer = Expr { kind, ty: pointer_ty, span };
        Operand::Lvalue(Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty, span })
    }

    /// A new unnamed variable as an lvalue.
    pub(crate) fn temporary_lvalue(&mut self, ty: TyId, span: Span) -> Lvalue {
        let local = self.temporary(ty.plain(), span);
        Lvalue { kind: LvalueKind::Local(local), ty: ty.plain().in_space(AddressSpace::Private), span }
    }
}
