//! What expressions need of declarations and of the table of built-in functions, until those land: every method
//! here is to be deleted by whoever lands the real one.

use kiln_syntax::{Span, ast};

use super::{Sema, expr::Operand};
use crate::{
    hir::{Expr, FunctionId, LocalId, Place, PlaceKind},
    opencl::AddressSpace,
    ty::TyId,
};

impl Sema<'_> {
    pub(crate) fn is_builtin(&self, _name: &str) -> bool {
        false
    }

    pub(crate) fn builtin_names(&self) -> std::iter::Empty<&'static str> {
        std::iter::empty()
    }

    pub(crate) fn call_builtin(
        &mut self,
        _name: &str,
        _callee: Span,
        _arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        self.error_value(span)
    }

    pub(crate) fn captured(&mut self, _function: FunctionId, _local: LocalId, span: Span) -> Operand {
        Operand::Value(self.error_value(span))
    }

    pub(crate) fn call_block(&mut self, _block: Place, _arguments: &[ast::Expr], span: Span) -> Expr {
        self.error_value(span)
    }

    pub(crate) fn call_block_value(&mut self, _block: Expr, _arguments: &[ast::Expr], span: Span) -> Expr {
        self.error_value(span)
    }

    pub(crate) fn block_literal(&mut self, _block: &ast::BlockLiteral, span: Span) -> Expr {
        self.error_value(span)
    }

    pub(crate) fn compound_literal(
        &mut self,
        _ty: &ast::TypeName,
        _init: &ast::InitializerList,
        span: Span,
    ) -> Operand {
        Operand::Value(self.error_value(span))
    }

    pub(crate) fn temporary_place(&mut self, ty: TyId, span: Span) -> Place {
        let local = self.temporary(ty.plain(), span);
        Place { kind: PlaceKind::Local(local), ty: ty.plain().in_space(AddressSpace::Private), span }
    }
}
