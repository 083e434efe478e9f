//! `base[index]` (C99 6.5.2.1): elements of arrays, through pointers, and components of vectors.

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{QualTy, Scalar, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;
use smallvec::smallvec;

use super::{AtomicRead, Operand};
use crate::{
    hir::{Const, Element, Expr, ExprKind, Lvalue, LvalueKind, Swizzle},
    sema::Sema,
};

/// The purpose of a subscript expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To load or store.
    Access,
    /// To take the address. One past the last element is allowed (C99 6.5.6).
    Address,
}

impl Sema<'_> {
    /// The value of an index. Warns about `a[i, j]`, which is `a[j]`.
    fn subscript(&mut self, index: &ast::Expr) -> Expr {
        let ast::ExprKind::Comma(comma) = &index.kind else { return self.operator_value(index) };
        let (left, right) = (self.operator_value(&comma.left), self.operator_value(&comma.right));
        self.report(
            Diagnostic::new(
                Code::UnusedValue,
                comma.left.span,
                "an index is one value, so this one is not used",
            )
            .help("write `][` instead of the `,` for an array of arrays")
            .rewrite(
                index.span,
                "write `][` instead of `,`",
                [Piece::Source(comma.left.span), Piece::Text("]["), Piece::Source(comma.right.span)],
            ),
        );
        Expr { ty: right.ty, kind: ExprKind::Comma(Box::new(left), Box::new(right)), span: index.span }
    }

    /// `base[index]`, or the equivalent `index[base]`.
    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, purpose: Use, span: Span) -> Operand {
        let base = match self.operand(base) {
            Operand::Lvalue(lvalue) => match *self.types.get(lvalue.ty.ty) {
                Ty::Array(element, count) => {
                    let index = self.subscript(index);
                    return self.array_element(lvalue, element, count, index, purpose, span);
                }
                Ty::Vector(element, count) => {
                    let index = self.subscript(index);
                    return self.vector_element(lvalue, element, count, index, span);
                }
                _ => self.read(Operand::Lvalue(lvalue), AtomicRead::Operator),
            },
            Operand::Value(value) => match *self.types.get(value.ty) {
                Ty::Vector(element, count) => {
                    let index = self.subscript(index);
                    let (ty, base_span) = (value.ty.plain(), value.span);
                    let lvalue = Lvalue { kind: LvalueKind::Temporary(Box::new(value)), ty, span: base_span };
                    return self.vector_element(lvalue, element, count, index, span);
                }
                _ => value,
            },
            operand => self.read(operand, AtomicRead::Operator),
        };
        let index = self.subscript(index);
        if base.ty == TyId::ERROR || index.ty == TyId::ERROR {
            return Operand::Value(self.error_value(span));
        }
        let (pointer, index) = match (self.types.get(base.ty), self.types.get(index.ty)) {
            (Ty::Pointer(_), _) => (base, index),
            (_, Ty::Pointer(_)) => (index, base),
            _ => {
                let shown = self.show(base.ty);
                let diagnostic = Diagnostic::new(
                    Code::NotAPointer,
                    span,
                    format!("`[…]` takes an array or a pointer, not `{shown}`"),
                )
                .also(base.span, format!("`{shown}`"))
                .note("C99 6.5.2.1: one of the two expressions is a pointer to an object");
                self.report(match self.types.get(base.ty) {
                    Ty::Image(_) => diagnostic
                        .help("images are accessed by functions, such as `read_imagef` and `write_imagef`"),
                    _ => diagnostic,
                });
                return Operand::Value(self.error_value(span));
            }
        };
        if !self.is_index(&index) {
            return Operand::Value(self.error_value(span));
        }
        let Some((kind, ty)) = self.offset(pointer, index, span) else {
            return Operand::Value(self.error_value(span));
        };
        match self.deref_value(Expr { kind, ty, span }, span, span) {
            Some(lvalue) => Operand::Lvalue(lvalue),
            None => Operand::Value(self.error_value(span)),
        }
    }

    fn is_index(&mut self, index: &Expr) -> bool {
        if self.is_integer(index.ty) {
            return true;
        }
        if index.ty != TyId::ERROR {
            let shown = self.show(index.ty);
            self.report(
                Diagnostic::new(Code::IndexType, index.span, format!("an index cannot have type `{shown}`"))
                    .help("cast it to an integer type")
                    .note("C99 6.5.2.1: the index has integer type"),
            );
        }
        false
    }

    /// An element of an array.
    fn array_element(
        &mut self,
        base: Lvalue,
        element: QualTy,
        count: Option<u64>,
        index: Expr,
        purpose: Use,
        span: Span,
    ) -> Operand {
        if !self.is_index(&index) {
            return Operand::Value(self.error_value(span));
        }
        self.warn_bounds(&index, count, purpose, span);
        let mut ty = element;
        ty.quals.is_const |= base.ty.quals.is_const;
        ty.quals.is_volatile |= base.ty.quals.is_volatile;
        ty.quals.space = Some(base.ty.quals.space.unwrap_or(AddressSpace::Private));
        let index = self.index_value(index);
        Operand::Lvalue(Lvalue { kind: LvalueKind::Element(Box::new(Element { base, index })), ty, span })
    }

    /// Warns about a constant index that is out of bounds. An array of one element may be a flexible array.
    fn warn_bounds(&mut self, index: &Expr, count: Option<u64>, purpose: Use, span: Span) {
        let Some(count @ 2..) = count else { return };
        let Some(Const::Int(bits)) = self.constant(index) else { return };
        if bits > count || bits == count && purpose == Use::Access {
            let is_signed = self.types.components(index.ty).is_some_and(|(scalar, _)| scalar.is_signed());
            let shown = if is_signed { (bits as i64).to_string() } else { bits.to_string() };
            self.report(
                Diagnostic::new(
                    Code::ArrayBounds,
                    span,
                    format!("index {shown} is outside the array, which has {count} elements"),
                )
                .also(index.span, "outside of the array"),
            );
        }
    }

    /// A vector component by index, `v[i]`. Not in OpenCL C, but all compilers support it.
    fn vector_element(
        &mut self,
        base: Lvalue,
        element: Scalar,
        count: u8,
        index: Expr,
        span: Span,
    ) -> Operand {
        if !self.is_index(&index) {
            return Operand::Value(self.error_value(span));
        }
        let ty = QualTy { ty: TyId::scalar(element), quals: base.ty.quals };
        match self.constant(&index) {
            Some(Const::Int(bits)) if bits < u64::from(count) => {
                let swizzle = Swizzle { base, components: smallvec![bits as u8] };
                return Operand::Lvalue(Lvalue { kind: LvalueKind::Swizzle(Box::new(swizzle)), ty, span });
            }
            Some(_) => {
                let shown = self.show(base.ty.ty);
                self.report(
                    Diagnostic::new(
                        Code::ArrayBounds,
                        index.span,
                        format!("the index is outside `{shown}`, which has {count} components"),
                    )
                    .note("OpenCL C 6.3.7: components are numbered from 0"),
                );
            }
            None => {}
        }
        let index = self.index_value(index);
        Operand::Lvalue(Lvalue { kind: LvalueKind::Element(Box::new(Element { base, index })), ty, span })
    }
}
