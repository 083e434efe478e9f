//! The common type of two operands (OpenCL C 6.4.6). `Types::usual` decides; this file converts and reports errors.

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::Span;
use kiln_types::ty::{Scalar, Ty, TyId, UsualConversion};

use crate::{
    hir::Expr,
    sema::{Sema, convert::conversion},
};

impl Sema<'_> {
    /// Whether the type is a scalar integer or an enum.
    pub(crate) fn is_integer(&self, ty: TyId) -> bool {
        matches!(self.types.components(ty), Some((scalar, 1)) if !scalar.is_float())
    }

    /// The integer promotions. Vectors and floating-point values are unchanged.
    pub(crate) fn promote(&mut self, value: Expr) -> Expr {
        let ty = self.types.promoted(value.ty);
        self.convert(value, ty)
    }

    /// Converts two arithmetic operands to their common type. Reports an error and returns `None` if there is none.
    pub(super) fn usual_conversions(
        &mut self,
        left: Expr,
        right: Expr,
        op: Span,
        spelling: &str,
    ) -> Option<(Expr, Expr)> {
        match self.types.usual(left.ty, right.ty) {
            UsualConversion::Type(TyId::ERROR) => {}
            UsualConversion::Type(common) => {
                self.warn_inexact(&left, common);
                self.warn_inexact(&right, common);
                return Some((self.convert(left, common), self.convert(right, common)));
            }
            UsualConversion::NotArithmetic => self.report_operands(&left, &right, op, spelling),
            UsualConversion::Vectors => self.report_vectors(&left, &right, op, spelling),
            UsualConversion::Rank { element, .. } => {
                self.report_rank(&left, &right, element, op, spelling);
            }
        }
        None
    }

    /// OpenCL C 6.4.6: a scalar with a greater rank than the vector's elements cannot be widened.
    fn report_rank(&mut self, left: &Expr, right: &Expr, element: Scalar, op: Span, spelling: &str) {
        let is_left = matches!(self.types.get(left.ty), Ty::Vector(..));
        let (vector, scalar) = if is_left { (left, right) } else { (right, left) };
        let (scalar_shown, vector_shown) = (self.show(scalar.ty), self.show(vector.ty));
        let diagnostic = Diagnostic::new(
            Code::ScalarRank,
            op,
            format!(
                "a scalar of type `{scalar_shown}` has a higher rank than the elements of `{vector_shown}`"
            ),
        );
        let is_float = |ty| self.types.components(ty).is_some_and(|(scalar, _)| scalar.is_float());
        let diagnostic = match self.types.components(vector.ty) {
            // A cast to an integer type would change the value.
            Some((_, count)) if is_float(scalar.ty) && !element.is_float() => {
                let floats = format!("{scalar_shown}{count}");
                let diagnostic =
                    diagnostic.help(format!("convert the vector to `{floats}`, and the result back"));
                match spelling {
                    "+" | "-" | "*" | "/" if !is_assignment(op, spelling) => {
                        convert_and_back(diagnostic, left, right, is_left, (&floats, &vector_shown), spelling)
                    }
                    _ => diagnostic,
                }
            }
            _ => diagnostic
                .help(format!("cast the scalar to `{}`", element.spelling()))
                .prefix(scalar.span, &format!("({})", element.spelling())),
        };
        self.report(
            diagnostic
            .also(scalar.span, format!("`{scalar_shown}`"))
            .also(vector.span, format!("`{vector_shown}`"))
            .note("OpenCL C 6.4.6: an error occurs if the scalar operand has greater rank than the type of the vector element"),
        );
    }

    fn report_vectors(&mut self, left: &Expr, right: &Expr, op: Span, spelling: &str) {
        let (left_shown, right_shown) = (self.show(left.ty), self.show(right.ty));
        let (left_ty, right_ty, left_span, right_span) = (left.ty, right.ty, left.span, right.span);
        let mut diagnostic = Diagnostic::new(
            Code::VectorOperands,
            op,
            format!("`{spelling}` cannot combine `{left_shown}` and `{right_shown}`"),
        )
        .also(left.span, format!("`{left_shown}`"))
        .also(right.span, format!("`{right_shown}`"))
        .note("OpenCL C 6.4.6: operands of more than one vector type are an error");
        if let (Ty::Vector(_, left), Ty::Vector(_, right)) =
            (self.types.get(left.ty), self.types.get(right.ty))
            && left == right
        {
            // A conversion to floating-point keeps more than one from it.
            let is_float = |ty| self.types.components(ty).is_some_and(|(scalar, _)| scalar.is_float());
            let (shown, other) = if is_float(right_ty) && !is_float(left_ty) {
                (&right_shown, left_span)
            } else {
                (&left_shown, right_span)
            };
            let call = format!("convert_{shown}(");
            diagnostic = diagnostic.help(format!("convert one of them, as in `{call}…)`")).rewrite(
                other,
                format!("write `{call}…)`"),
                conversion(&call, other),
            );
        }
        self.report(diagnostic);
    }

    /// Reports invalid operands of an operator.
    pub(super) fn report_operands(&mut self, left: &Expr, right: &Expr, op: Span, spelling: &str) {
        let (left_shown, right_shown) = (self.show(left.ty), self.show(right.ty));
        let diagnostic = Diagnostic::new(
            Code::InvalidOperands,
            op,
            format!("`{spelling}` does not take `{left_shown}` and `{right_shown}`"),
        )
        .also(left.span, format!("`{left_shown}`"))
        .also(right.span, format!("`{right_shown}`"));
        let is_text = |shown: &str| shown == "constant const char *";
        self.report(match spelling == "+" && is_text(&left_shown) && is_text(&right_shown) {
            true => diagnostic.help("string literals one after another are joined, without an operator"),
            false => diagnostic,
        });
    }
}

/// Whether an operator is written with `=`, as in `*=`.
pub(super) fn is_assignment(op: Span, spelling: &str) -> bool {
    (op.hi - op.lo) as usize > spelling.len()
}

/// The fix that computes with a vector of floating-point numbers: `convert_int4(convert_float4(v) * f)`.
fn convert_and_back(
    diagnostic: Diagnostic,
    left: &Expr,
    right: &Expr,
    is_vector_left: bool,
    (floats, integers): (&str, &str),
    operator: &str,
) -> Diagnostic {
    let (open, vector) = (format!("convert_{integers}("), format!("convert_{floats}("));
    let (before, between, after) = if is_vector_left {
        (open + &vector, format!(") {operator} "), ")")
    } else {
        (open, format!(" {operator} {vector}"), "))")
    };
    let operand = |value: &Expr, is_vector: bool| match is_vector {
        true => Piece::Source(value.span),
        false => Piece::Operand(value.span),
    };
    let (first, second) = (operand(left, is_vector_left), operand(right, !is_vector_left));
    let pieces = [Piece::Text(&before), first, Piece::Text(&between), second, Piece::Text(after)];
    diagnostic.rewrite(left.span.to(right.span), "convert the vector, and the result back", pieces)
}
