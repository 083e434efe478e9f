//! The usual arithmetic conversions (OpenCL C 6.4.6, C99 6.3.1): the type in which two operands meet.

use std::cmp::Ordering;

use kiln_syntax::Span;

use crate::{
    diag::{Code, Diagnostic},
    hir::Expr,
    sema::Sema,
    ty::{Scalar, Ty, TyId},
};

/// The integer promotions (C99 6.3.1.1): `int` holds every value of the smaller types.
pub(crate) fn promoted(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Bool | Scalar::Char | Scalar::UChar | Scalar::Short | Scalar::UShort => Scalar::Int,
        other => other,
    }
}

/// The type in which two scalars meet (C99 6.3.1.8).
pub(crate) fn common_scalar(left: Scalar, right: Scalar) -> Scalar {
    // With 32-bit `int` and 64-bit `long`, C99's ranks are the order of `Scalar` after promotion.
    promoted(left).max(promoted(right))
}

/// The ranks by which a scalar may join a vector (OpenCL C 6.4.6), which are not those of C99.
fn vector_rank(left: Scalar, right: Scalar) -> Ordering {
    left.cmp(&right)
}

/// The signed integer type of the same width: what comparing vectors of this element gives (OpenCL C 6.5.4).
pub(crate) fn mask_element(element: Scalar) -> Scalar {
    match element.size() {
        1 => Scalar::Char,
        2 => Scalar::Short,
        4 => Scalar::Int,
        _ => Scalar::Long,
    }
}

impl Sema<'_> {
    /// Whether the type is an integer, an enumeration included, and no vector.
    pub(crate) fn is_integer(&self, ty: TyId) -> bool {
        matches!(self.types.components(ty), Some((scalar, 1)) if !scalar.is_float())
    }

    /// The integer promotions; vectors and floating-point values stay.
    pub(crate) fn promote(&mut self, value: Expr) -> Expr {
        match self.types.components(value.ty) {
            Some((scalar, 1)) => self.convert(value, TyId::scalar(promoted(scalar))),
            _ => value,
        }
    }

    /// Brings two arithmetic operands to one type. None, reported, if there is none.
    pub(super) fn usual_conversions(
        &mut self,
        left: Expr,
        right: Expr,
        op: Span,
        spelling: &str,
    ) -> Option<(Expr, Expr)> {
        if left.ty == TyId::ERROR || right.ty == TyId::ERROR {
            return None;
        }
        let (Some(left_parts), Some(right_parts)) =
            (self.types.components(left.ty), self.types.components(right.ty))
        else {
            self.report_operands(&left, &right, op, spelling);
            return None;
        };
        let common = match (left_parts, right_parts) {
            ((left, 1), (right, 1)) => TyId::scalar(common_scalar(left, right)),
            ((element, 2..), (scalar, 1)) => {
                if !self.may_join(scalar, element, &right, &left, op) {
                    return None;
                }
                left.ty
            }
            ((scalar, 1), (element, 2..)) => {
                if !self.may_join(scalar, element, &left, &right, op) {
                    return None;
                }
                right.ty
            }
            _ if left.ty == right.ty => left.ty,
            _ => {
                self.report_vectors(&left, &right, op, spelling);
                return None;
            }
        };
        Some((self.convert(left, common), self.convert(right, common)))
    }

    /// OpenCL C 6.4.6: a scalar of greater rank than the elements cannot be widened to the vector.
    fn may_join(&mut self, scalar: Scalar, element: Scalar, value: &Expr, vector: &Expr, op: Span) -> bool {
        if vector_rank(scalar, element) != Ordering::Greater {
            return true;
        }
        let (scalar_shown, vector_shown) = (self.show(value.ty), self.show(vector.ty));
        self.report(
            Diagnostic::new(
                Code::ScalarRank,
                op,
                format!("a scalar of type `{scalar_shown}` does not fit into the elements of `{vector_shown}`"),
            )
            .also(value.span, format!("`{scalar_shown}`"))
            .also(vector.span, format!("`{vector_shown}`"))
            .help(format!("cast the scalar to `{}`", element.spelling()))
            .note("OpenCL C 6.4.6: an error occurs if the scalar operand has greater rank than the type of the vector element"),
        );
        false
    }

    fn report_vectors(&mut self, left: &Expr, right: &Expr, op: Span, spelling: &str) {
        let (left_shown, right_shown) = (self.show(left.ty), self.show(right.ty));
        let mut diagnostic = Diagnostic::new(
            Code::VectorOperands,
            op,
            format!("`{spelling}` cannot join `{left_shown}` and `{right_shown}`"),
        )
        .also(left.span, format!("`{left_shown}`"))
        .also(right.span, format!("`{right_shown}`"))
        .note("OpenCL C 6.4.6: operands of more than one vector type are an error");
        if let (Ty::Vector(_, left), Ty::Vector(_, right)) = (self.types.get(left.ty), self.types.get(right.ty))
            && left == right
        {
            diagnostic = diagnostic
                .help(format!("convert one of them, as in `convert_{left_shown}(…)`"));
        }
        self.report(diagnostic);
    }

    /// Reports operands that an operator does not take.
    pub(super) fn report_operands(&mut self, left: &Expr, right: &Expr, op: Span, spelling: &str) {
        let (left_shown, right_shown) = (self.show(left.ty), self.show(right.ty));
        self.report(
            Diagnostic::new(
                Code::InvalidOperands,
                op,
                format!("`{spelling}` does not take `{left_shown}` and `{right_shown}`"),
            )
            .also(left.span, format!("`{left_shown}`"))
            .also(right.span, format!("`{right_shown}`")),
        );
    }

    /// A vector of truth values, as comparing vectors of this type gives (OpenCL C 6.5.4).
    pub(crate) fn mask_of(&mut self, ty: TyId) -> TyId {
        match self.types.components(ty) {
            Some((element, count @ 2..)) => self.types.vector(mask_element(element), count),
            _ => TyId::INT,
        }
    }
}
