//! Comparisons and `&&`, `||` (OpenCL C 6.5.4, 6.5.5, 6.5.7).

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{
    Span, Spanned,
    ast::{self, BinaryOp},
};
use kiln_types::{
    fold,
    ty::{Scalar, Ty, TyId},
};

use crate::{
    hir::{CompareOp, Const, Expr, ExprKind, LogicalOp},
    sema::Sema,
};

use super::assign::is_same_variable;

impl Sema<'_> {
    /// `<`, `>`, `<=`, `>=`, `==`, `!=` (OpenCL C 6.5.4, 6.5.5).
    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        left: Expr,
        right: Expr,
        written: Spanned<BinaryOp>,
    ) -> Option<(ExprKind, TyId)> {
        let (left, right, ty) = match (self.types.get(left.ty).clone(), self.types.get(right.ty).clone()) {
            (Ty::Pointer(left_to), Ty::Pointer(right_to)) => {
                let common = if self.is_null_constant(&left) {
                    right.ty
                } else if self.is_null_constant(&right) {
                    left.ty
                } else {
                    self.common_pointer(
                        left_to,
                        right_to,
                        written.span,
                        ("cannot compare", Code::DistinctPointers),
                    )?
                };
                (self.pointer_to(left, common), self.pointer_to(right, common), TyId::INT)
            }
            (Ty::Pointer(_), _) if self.is_integer(right.ty) => {
                let right = self.number_as_pointer(right, &left, written);
                (left, right, TyId::INT)
            }
            (_, Ty::Pointer(_)) if self.is_integer(left.ty) => {
                let left = self.number_as_pointer(left, &right, written);
                (left, right, TyId::INT)
            }
            (left_ty, right_ty) if left_ty == right_ty && is_handle(&left_ty) && is_equality(op) => {
                (left, right, TyId::INT)
            }
            (Ty::Queue, _) if self.is_null_constant(&right) && is_equality(op) => {
                let right = Expr { kind: ExprKind::Const(Const::Zero), ty: left.ty, span: right.span };
                (left, right, TyId::INT)
            }
            (_, Ty::Queue) if self.is_null_constant(&left) && is_equality(op) => {
                let left = Expr { kind: ExprKind::Const(Const::Zero), ty: right.ty, span: left.span };
                (left, right, TyId::INT)
            }
            _ => {
                self.warn_sign_compare(&left, &right, op, written);
                self.warn_constant_comparison(&left, &right, op, written.span);
                let (left, right) =
                    self.usual_conversions(left, right, written.span, written.node.spelling())?;
                let ty = self.types.comparison(left.ty);
                (left, right, ty)
            }
        };
        Some((ExprKind::Compare(op, Box::new([left, right])), ty))
    }

    /// An integer compared with a pointer. 0 is the null pointer; others cause a warning.
    fn number_as_pointer(&mut self, value: Expr, pointer: &Expr, op: Spanned<BinaryOp>) -> Expr {
        let (pointer, pointer_span) = (pointer.ty, pointer.span);
        let span = value.span;
        if self.is_null_constant(&value) {
            return Expr { kind: ExprKind::Const(Const::NullPointer), ty: pointer, span };
        }
        let (value_shown, pointer_shown) = (self.show(value.ty), self.show(pointer));
        self.report(
            Diagnostic::new(
                Code::PointerIntegerCompare,
                op.span,
                format!("this compares `{pointer_shown}` with the integer `{value_shown}`"),
            )
            .help("cast the pointer to `uintptr_t` if its address is meant")
            .prefix(pointer_span, "(uintptr_t)")
            .note("C99 6.5.9: a pointer compares with pointers and with the constant 0"),
        );
        let value = self.convert(value, TyId::ULONG);
        Expr { kind: ExprKind::IntToPointer(Box::new(value)), ty: pointer, span }
    }

    /// Warns about a comparison that converts a signed operand to unsigned, which changes negative values.
    fn warn_sign_compare(&mut self, left: &Expr, right: &Expr, op: CompareOp, written: Spanned<BinaryOp>) {
        let (Some((left_scalar, 1)), Some((right_scalar, 1))) =
            (self.types.components(left.ty), self.types.components(right.ty))
        else {
            return;
        };
        let common = left_scalar.usual(right_scalar);
        let changes = |scalar: Scalar| scalar.is_signed() && !common.is_signed() && !common.is_float();
        let (signed, unsigned) = match (changes(left_scalar), changes(right_scalar)) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return,
        };
        if !self.sink.is_enabled(Code::SignCompare) {
            return;
        }
        // A nonnegative constant keeps its value. So does a comparison for equality with a small unsigned constant.
        if matches!(self.constant(signed), Some(Const::Int(bits)) if (bits as i64) >= 0)
            || is_equality(op) && self.constant(unsigned).is_some()
        {
            return;
        }
        let (left_shown, right_shown) = (self.show(left.ty), self.show(right.ty));
        self.report(
            Diagnostic::new(
                Code::SignCompare,
                written.span,
                format!("`{left_shown}` and `{right_shown}` are compared as `{}`", common.spelling()),
            )
            .also(signed.span, "a negative value becomes a large one")
            .help("cast one of them to the type that is meant"),
        );
    }

    /// Warns about a comparison with a constant that its other operand cannot equal: the result is always the same.
    fn warn_constant_comparison(&mut self, left: &Expr, right: &Expr, op: CompareOp, span: Span) {
        if let (ExprKind::Load(first), ExprKind::Load(second)) = (&left.kind, &right.kind)
            && is_same_variable(first, second)
            && self.is_integer(left.ty)
        {
            let result = matches!(op, CompareOp::Equal | CompareOp::LessEqual | CompareOp::GreaterEqual);
            self.report(
                constant_comparison(span, result).also(right.span, "the same object as on the left side"),
            );
            return;
        }
        let (value, constant, op) = match (self.constant(left), self.constant(right)) {
            (None, Some(constant)) => (left, (right, constant), op),
            (Some(constant), None) => (right, (left, constant), op.swapped()),
            _ => return,
        };
        let (Ty::Scalar(tested), Ty::Scalar(from)) =
            (self.types.get(value.ty), self.types.get(constant.0.ty))
        else {
            return;
        };
        let (tested, from) = (*tested, *from);
        let shown = tested.spelling();
        let (result, reason) = match constant.1 {
            Const::Float(number) if tested == Scalar::Float && from == Scalar::Double => {
                let nearest = number as f32;
                if f64::from(nearest) == number || !nearest.is_finite() {
                    return;
                }
                let Some(result) = result_if_unequal(op) else { return };
                let text = format!("{nearest:?}f");
                self.report(
                    constant_comparison(span, result)
                        .also(constant.0.span, "no `float` has this value")
                        .help(format!("write `{text}`"))
                        .rewrite(constant.0.span, format!("write `{text}`"), [Piece::Text(&text)]),
                );
                return;
            }
            Const::Int(bits) if !tested.is_float() => {
                let common = tested.usual(from);
                let (min, max) = fold::limits(tested);
                let number = fold::integer(from, bits);
                // A conversion to an unsigned type changes negative values.
                if !common.is_signed() && (tested.is_signed() || number < 0) || (min..=max).contains(&number)
                {
                    return;
                }
                let is_above = number > max;
                let result = match op {
                    CompareOp::Less | CompareOp::LessEqual => is_above,
                    CompareOp::Greater | CompareOp::GreaterEqual => !is_above,
                    CompareOp::Equal => false,
                    CompareOp::NotEqual => true,
                };
                (result, format!("`{shown}` has values from {min} to {max}"))
            }
            _ => return,
        };
        self.report(constant_comparison(span, result).also(value.span, reason));
    }

    /// Warns about a loop that runs while an unsigned number is not negative.
    pub(super) fn warn_always_true(&mut self, condition: &Expr) {
        let ExprKind::Compare(CompareOp::GreaterEqual, operands) = &condition.kind else { return };
        let [left, right] = &**operands;
        let is_unsigned = matches!(self.types.components(left.ty), Some((scalar, 1)) if !scalar.is_signed() && !scalar.is_float());
        let is_zero = matches!(self.constant(right), Some(Const::Int(0) | Const::Zero));
        if !is_unsigned || !is_zero || self.constant(left).is_some() {
            return;
        }
        let shown = self.show(left.ty);
        self.report(
            Diagnostic::new(
                Code::AlwaysTrue,
                condition.span,
                "this condition is always true, so the loop does not end",
            )
            .also(left.span, format!("`{shown}` is never negative"))
            .help("declare the variable with a signed type, or compare before the decrement: `i-- > 0`"),
        );
    }

    /// Warns about `a < b < c`, which compares 0 or 1 with `c`.
    pub(super) fn warn_chained_comparison(
        &mut self,
        op: Spanned<BinaryOp>,
        left: &ast::Expr,
        right: &ast::Expr,
    ) {
        use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
        let is_order = |op| matches!(op, Less | LessEqual | Greater | GreaterEqual);
        let ast::ExprKind::Binary(inner) = &left.kind else { return };
        if !is_order(op.node) || !is_order(inner.op.node) {
            return;
        }
        let (first, second) = (inner.op.node.spelling(), op.node.spelling());
        let between = format!(" {second} ");
        self.report(
            Diagnostic::new(
                Code::ChainedComparison,
                op.span,
                format!("this `{second}` compares the result of `{first}`, which is 0 or 1"),
            )
            .also(left.span, "is 0 or 1")
            .help("write `&&` between the two comparisons")
            .rewrite(
                Span::new(left.span.lo, right.span.hi),
                "write `&&` between the two comparisons",
                [
                    Piece::Source(left.span),
                    Piece::Text(" && "),
                    Piece::Source(inner.right.span),
                    Piece::Text(&between),
                    Piece::Source(right.span),
                ],
            ),
        );
    }

    /// Warns about a comparison with a string literal, which compares addresses instead of characters. Equal literals
    /// can have different addresses (C99 6.4.5). A comparison with a null pointer is accepted.
    pub(super) fn warn_string_comparison(&mut self, op: Span, left: &Expr, right: &Expr) {
        let is_address =
            |sema: &Self, value: &Expr| sema.is_pointer(value.ty) && !sema.is_null_constant(value);
        if !is_address(self, left) || !is_address(self, right) {
            return;
        }
        self.report(
            Diagnostic::new(Code::StringCompare, op, "this compares addresses, not characters")
                .help("compare the characters in a loop")
                .note("C99 6.4.5: it is unspecified whether equal string literals are one object"),
        );
    }

    /// `&&`, `||` (OpenCL C 6.5.7).
    pub(super) fn logical(
        &mut self,
        op: LogicalOp,
        left: Expr,
        right: Expr,
        written: Spanned<BinaryOp>,
    ) -> Option<(ExprKind, TyId)> {
        let is_vector = |sema: &Self, ty| matches!(sema.types.get(ty), Ty::Vector(..));
        if is_vector(self, left.ty) || is_vector(self, right.ty) {
            let (left, right) = self.usual_conversions(left, right, written.span, written.node.spelling())?;
            let ty = self.types.comparison(left.ty);
            return Some((ExprKind::VectorLogical(op, Box::new([left, right])), ty));
        }
        let is_scalar =
            |sema: &Self, ty| matches!(sema.types.get(ty), Ty::Scalar(_) | Ty::Enum(_) | Ty::Pointer(_));
        if !is_scalar(self, left.ty) || !is_scalar(self, right.ty) {
            self.report_operands(&left, &right, written.span, written.node.spelling());
            return None;
        }
        Some((ExprKind::Logical(op, Box::new([left, right])), TyId::INT))
    }
}

/// Whether values of this type are comparable with `==` although they are not numbers.
fn is_handle(ty: &Ty) -> bool {
    matches!(ty, Ty::Queue | Ty::ClkEvent)
}

fn is_equality(op: CompareOp) -> bool {
    matches!(op, CompareOp::Equal | CompareOp::NotEqual)
}

/// The result of comparing unequal numbers for equality.
fn result_if_unequal(op: CompareOp) -> Option<bool> {
    is_equality(op).then_some(op == CompareOp::NotEqual)
}

fn constant_comparison(span: Span, result: bool) -> Diagnostic {
    Diagnostic::new(Code::ConstantComparison, span, format!("this comparison is always {result}"))
}
