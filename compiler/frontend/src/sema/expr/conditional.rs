//! The conditional operator (OpenCL C 6.5.9, C99 6.5.15).

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Scalar, Ty, TyId};

use crate::{
    hir::{Assign, Conditional, Const, Expr, ExprKind, LvalueKind},
    sema::Sema,
};

impl Sema<'_> {
    /// `condition ? then : otherwise`
    pub(super) fn conditional(
        &mut self,
        condition: &ast::Expr,
        then: Option<&ast::Expr>,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Expr {
        let tested = self.operator_value(condition);
        if matches!(self.types.get(tested.ty), Ty::Vector(..)) {
            return self.vector_conditional(tested, then, otherwise, span);
        }
        let tested = match self.element(tested.ty) {
            Some(scalar) if scalar.is_float() => self.report_float_condition(&tested),
            _ => self.scalar_condition(tested),
        };
        let Some(then) = then else { return self.omitted_operand(tested, otherwise, span) };
        let then = self.operator_value(then);
        let otherwise = self.operator_value(otherwise);
        if tested.ty == TyId::ERROR {
            return self.error_value(span);
        }
        match self.common_branches(then, otherwise, span) {
            Some((then, otherwise)) => {
                let ty = then.ty;
                let parts = Conditional { condition: tested, then, otherwise };
                Expr { kind: ExprKind::Conditional(Box::new(parts)), ty, span }
            }
            None => self.error_value(span),
        }
    }

    /// GNU C's `condition ?: otherwise`, which evaluates the condition once.
    fn omitted_operand(&mut self, tested: Expr, otherwise: &ast::Expr, span: Span) -> Expr {
        let mut diagnostic =
            Diagnostic::new(Code::OmittedOperand, span, "the middle operand of `?:` is missing")
                .help("write the condition again between `?` and `:`")
                .note("C99 6.5.15: leaving out the middle operand is an extension of GNU C");
        // A second evaluation must not have an effect.
        if matches!(&tested.kind, ExprKind::Load(lvalue) if matches!(lvalue.kind, LvalueKind::Local(_))) {
            let condition = Piece::Operand(tested.span);
            let pieces =
                [condition, Piece::Text(" ? "), condition, Piece::Text(" : "), Piece::Source(otherwise.span)];
            diagnostic = diagnostic.rewrite(span, "write the condition again", pieces);
        }
        self.report(diagnostic);
        let otherwise = self.value(otherwise);
        if tested.ty == TyId::ERROR || self.body.function.is_none() {
            return self.error_value(span);
        }
        let lvalue = self.temporary_lvalue(tested.ty, span);
        let stored = Expr {
            ty: tested.ty,
            kind: ExprKind::Assign(Box::new(Assign { lvalue: lvalue.clone(), value: tested })),
            span,
        };
        let then = self.load(lvalue);
        match self.common_branches(then, otherwise, span) {
            Some((then, otherwise)) => {
                let ty = then.ty;
                let parts = Conditional { condition: stored, then, otherwise };
                Expr { kind: ExprKind::Conditional(Box::new(parts)), ty, span }
            }
            None => self.error_value(span),
        }
    }

    /// Converts the two branches to a common type (C99 6.5.15).
    fn common_branches(&mut self, then: Expr, otherwise: Expr, span: Span) -> Option<(Expr, Expr)> {
        if then.ty == TyId::ERROR || otherwise.ty == TyId::ERROR {
            return None;
        }
        if let Ty::Image(_) | Ty::Pipe(..) = self.types.get(then.ty) {
            self.report_chosen_argument(&then, span);
            return None;
        }
        if then.ty == otherwise.ty
            && !matches!(self.types.get(then.ty), Ty::Scalar(_) | Ty::Enum(_) | Ty::Block(_))
        {
            return Some((then, otherwise));
        }
        match (self.types.get(then.ty).clone(), self.types.get(otherwise.ty).clone()) {
            (Ty::Block(_), _) | (_, Ty::Block(_)) => {
                self.report(
                    Diagnostic::new(Code::BlockValue, span, "`?:` cannot choose between blocks")
                        .help("choose between calls of them, as in `c ? a() : b()`")
                        .note("OpenCL C 6.14.5: blocks cannot be used as expressions of the ternary selection operator"),
                );
                None
            }
            (Ty::Scalar(_) | Ty::Enum(_), Ty::Scalar(_) | Ty::Enum(_)) => {
                let (left, _) = self.types.components(then.ty)?;
                let (right, _) = self.types.components(otherwise.ty)?;
                let common = TyId::scalar(left.usual(right));
                Some((self.convert(then, common), self.convert(otherwise, common)))
            }
            (Ty::Vector(..) | Ty::Scalar(_) | Ty::Enum(_), Ty::Vector(..) | Ty::Scalar(_) | Ty::Enum(_)) => {
                self.usual_conversions(then, otherwise, span, "?:")
            }
            (Ty::Pointer(left), Ty::Pointer(right)) => {
                let common = if self.is_null_constant(&then) {
                    otherwise.ty
                } else if self.is_null_constant(&otherwise) {
                    then.ty
                } else {
                    self.common_pointer(left, right, span, ("`?:` cannot combine", Code::DistinctPointers))?
                };
                Some((self.pointer_to(then, common), self.pointer_to(otherwise, common)))
            }
            (Ty::Pointer(_), _) if self.is_null_constant(&otherwise) => {
                let null =
                    Expr { kind: ExprKind::Const(Const::NullPointer), ty: then.ty, span: otherwise.span };
                Some((then, null))
            }
            (_, Ty::Pointer(_)) if self.is_null_constant(&then) => {
                let null =
                    Expr { kind: ExprKind::Const(Const::NullPointer), ty: otherwise.ty, span: then.span };
                Some((null, otherwise))
            }
            (Ty::Void, _) | (_, Ty::Void) => {
                // GNU C: if one branch is `void`, the value of the other is discarded.
                Some((self.as_void(then), self.as_void(otherwise)))
            }
            _ => {
                self.report_branches(&then, &otherwise, span);
                None
            }
        }
    }

    pub(crate) fn as_void(&self, value: Expr) -> Expr {
        let span = value.span;
        if value.ty == TyId::VOID {
            return value;
        }
        let nothing = self.nothing(span);
        Expr { kind: ExprKind::Comma(Box::new(value), Box::new(nothing)), ty: TyId::VOID, span }
    }

    /// OpenCL C 6.11.b, 6.15.18.1: images and pipes can only be function arguments.
    fn report_chosen_argument(&mut self, then: &Expr, span: Span) {
        let shown = self.show(then.ty);
        self.report(
            Diagnostic::new(
                Code::OpaqueTypeUse,
                span,
                format!("`?:` cannot choose between values of type `{shown}`"),
            )
            .help("choose between calls, as in `c ? read(a) : read(b)`")
            .note("OpenCL C 6.11.b, 6.15.18.1: an image or a pipe can only be an argument of a function"),
        );
    }

    fn report_branches(&mut self, then: &Expr, otherwise: &Expr, span: Span) {
        let (then_shown, otherwise_shown) = (self.show(then.ty), self.show(otherwise.ty));
        self.report(
            Diagnostic::new(
                Code::ConditionalBranches,
                span,
                format!("the branches of `?:` have types `{then_shown}` and `{otherwise_shown}`, which are not compatible"),
            )
            .also(then.span, format!("`{then_shown}`"))
            .also(otherwise.span, format!("`{otherwise_shown}`"))
            .note("OpenCL C 6.5.9: the types match, or an implicit conversion makes them match"),
        );
    }

    /// `?:` with a vector condition: componentwise, like `select` (OpenCL C 6.5.9).
    fn vector_conditional(
        &mut self,
        condition: Expr,
        then: Option<&ast::Expr>,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Expr {
        let then = then.map(|then| self.operator_value(then));
        let otherwise = self.operator_value(otherwise);
        let Some(then) = then else {
            self.report(
                Diagnostic::new(Code::OmittedOperand, span, "the middle operand of `?:` is missing")
                    .help("write the condition again between `?` and `:`")
                    .note("C99 6.5.15: leaving out the middle operand is an extension of GNU C"),
            );
            return self.error_value(span);
        };
        let Ty::Vector(tested, count) = *self.types.get(condition.ty) else { return self.error_value(span) };
        if tested.is_float() {
            return self.report_float_condition(&condition);
        }
        if then.ty == TyId::ERROR || otherwise.ty == TyId::ERROR {
            return self.error_value(span);
        }
        let result = match (self.types.components(then.ty), self.types.components(otherwise.ty)) {
            (Some((left, 1)), Some((right, 1))) => self.selected_element(left, right, tested, &then, span),
            (Some(_), Some(_)) => {
                return match self.usual_conversions(then, otherwise, span, "?:") {
                    Some((then, otherwise)) => self.select(condition, then, otherwise, tested, count, span),
                    None => self.error_value(span),
                };
            }
            _ => {
                self.report_branches(&then, &otherwise, span);
                return self.error_value(span);
            }
        };
        let Some(element) = result else { return self.error_value(span) };
        let ty = self.types.vector(element, count);
        let (then, otherwise) = (self.convert(then, ty), self.convert(otherwise, ty));
        self.select(condition, then, otherwise, tested, count, span)
    }

    fn report_float_condition(&mut self, condition: &Expr) -> Expr {
        let shown = self.show(condition.ty);
        self.report(
            Diagnostic::new(
                Code::ConditionType,
                condition.span,
                format!("the condition of `?:` cannot have type `{shown}`"),
            )
            .help("compare it with zero")
            .rewrite(
                condition.span,
                "compare it with zero",
                [Piece::Operand(condition.span), Piece::Text(" != 0")],
            )
            .note("OpenCL C 6.5.9: the first expression is a scalar or vector result except floating-point ones"),
        );
        self.error_value(condition.span)
    }

    /// The element type of two scalar branches with a vector condition: as wide as the condition's.
    fn selected_element(
        &mut self,
        left: Scalar,
        right: Scalar,
        tested: Scalar,
        then: &Expr,
        span: Span,
    ) -> Option<Scalar> {
        let common = if left == right { left } else { left.usual(right) };
        if common.size() == tested.size() && common != Scalar::Bool {
            return Some(common);
        }
        self.report_width(then, tested, span);
        None
    }

    fn select(
        &mut self,
        condition: Expr,
        then: Expr,
        otherwise: Expr,
        tested: Scalar,
        count: u8,
        span: Span,
    ) -> Expr {
        let ty = then.ty;
        match self.types.components(ty) {
            Some((element, other)) if other == count && element.size() == tested.size() => {}
            _ => {
                self.report_width(&then, tested, span);
                return self.error_value(span);
            }
        }
        let parts = Conditional { condition, then, otherwise };
        Expr { kind: ExprKind::VectorSelect(Box::new(parts)), ty, span }
    }

    /// OpenCL C 6.15.6, `select`: the condition must have the same component count and width.
    fn report_width(&mut self, value: &Expr, tested: Scalar, span: Span) {
        let shown = self.show(value.ty);
        self.report(
            Diagnostic::new(
                Code::ConditionalBranches,
                span,
                format!("a condition of `{}` components cannot select components of `{shown}`", tested.spelling()),
            )
            .help("convert the condition so that its elements are as wide as those of the branches")
            .note("OpenCL C 6.5.9: `?:` on vectors is `select`, whose operands have the same number of components and bits"),
        );
    }
}
