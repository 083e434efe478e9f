//! Binary operators other than assignments (OpenCL C 6.5.1 to 6.5.10, C99 6.5.5 to 6.5.14).

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{
    Span, Spanned,
    ast::{self, BinaryOp},
};
use kiln_types::{
    fold,
    ty::{QualTy, Scalar, Ty, TyId, UsualConversion},
};

use super::{
    arithmetic::is_assignment,
    precedence::{is_comparison, is_string_literal},
};
use crate::{
    hir::{self, CompareOp, Const, Expr, ExprKind, LogicalOp, Offset},
    sema::Sema,
};

impl Sema<'_> {
    /// `left op right`
    pub(super) fn binary(
        &mut self,
        op: Spanned<BinaryOp>,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        self.warn_precedence(op, left, right);
        self.warn_chained_comparison(op, left, right);
        if is_power(op, right) {
            self.report(
                Diagnostic::new(Code::NotAPointer, op.span, "OpenCL C has no operator `**`")
                    .help("for a power, use `pow`, `pown` or a product"),
            );
            return self.error_value(span);
        }
        let (whole, part) = (left, right);
        let left = self.operator_value(left);
        let right = self.operator_value(right);
        if op.node == BinaryOp::Divide && left.ty != TyId::ERROR && right.ty != TyId::ERROR {
            self.warn_pointer_size(whole, part, span);
        }
        if is_comparison(op.node) && (is_string_literal(whole) || is_string_literal(part)) {
            self.warn_string_comparison(op.span, &left, &right);
        }
        self.binary_values(op, left, right, span)
    }

    /// Like `binary`, for operands that are values. Shared with `op=`.
    pub(super) fn binary_values(
        &mut self,
        op: Spanned<BinaryOp>,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        if left.ty == TyId::ERROR || right.ty == TyId::ERROR {
            return self.error_value(span);
        }
        let checked = match op.node {
            BinaryOp::Add => self.add(left, right, op, span),
            BinaryOp::Subtract => self.subtract(left, right, op, span),
            BinaryOp::Multiply => self.arithmetic(hir::BinaryOp::Multiply, left, right, op, span),
            BinaryOp::Divide => self.divide(hir::BinaryOp::Divide, left, right, op, span),
            BinaryOp::Remainder => self.integers(hir::BinaryOp::Remainder, left, right, op, span),
            BinaryOp::BitAnd => self.integers(hir::BinaryOp::BitAnd, left, right, op, span),
            BinaryOp::BitXor => self.integers(hir::BinaryOp::BitXor, left, right, op, span),
            BinaryOp::BitOr => self.integers(hir::BinaryOp::BitOr, left, right, op, span),
            BinaryOp::ShiftLeft => self.shift(hir::BinaryOp::ShiftLeft, left, right, op),
            BinaryOp::ShiftRight => self.shift(hir::BinaryOp::ShiftRight, left, right, op),
            BinaryOp::Less => self.compare(CompareOp::Less, left, right, op),
            BinaryOp::Greater => self.compare(CompareOp::Greater, left, right, op),
            BinaryOp::LessEqual => self.compare(CompareOp::LessEqual, left, right, op),
            BinaryOp::GreaterEqual => self.compare(CompareOp::GreaterEqual, left, right, op),
            BinaryOp::Equal => self.compare(CompareOp::Equal, left, right, op),
            BinaryOp::NotEqual => self.compare(CompareOp::NotEqual, left, right, op),
            BinaryOp::LogicalAnd => self.logical(LogicalOp::And, left, right, op),
            BinaryOp::LogicalOr => self.logical(LogicalOp::Or, left, right, op),
            BinaryOp::LogicalXor => {
                self.report(
                    Diagnostic::new(Code::ReservedOperator, op.span, "the operator `^^` is reserved")
                        .help("write `!a != !b`")
                        .rewrite(
                            span,
                            "write `!a != !b`",
                            [
                                Piece::Text("!"),
                                Piece::Operand(left.span),
                                Piece::Text(" != !"),
                                Piece::Operand(right.span),
                            ],
                        )
                        .note("OpenCL C 6.5.7: the logical operator exclusive or (^^) is reserved"),
                );
                None
            }
        };
        match checked {
            Some((kind, ty)) => {
                let value = self.folded(kind, ty, span);
                self.uncontracted(value)
            }
            None => self.error_value(span),
        }
    }

    /// OpenCL C 6.15.2.1: with `FP_CONTRACT` off, each floating-point operation rounds separately.
    fn uncontracted(&self, value: Expr) -> Expr {
        use hir::BinaryOp::{Add, Multiply, Subtract};
        let is_float = || self.element(value.ty).is_some_and(Scalar::is_float);
        match value.kind {
            ExprKind::Binary(Add | Subtract | Multiply, ..) if !self.pragmas.contracts && is_float() => {
                let (ty, span) = (value.ty, value.span);
                Expr { kind: ExprKind::Exact(Box::new(value)), ty, span }
            }
            _ => value,
        }
    }

    /// Warns about constant arithmetic that overflows its signed type (C99 6.5).
    fn warn_overflow(&mut self, op: hir::BinaryOp, left: &Const, right: &Const, ty: TyId, span: Span) {
        if let Some((element, 1)) = self.types.components(ty)
            && fold::overflows(op, element, left, right)
        {
            let shown = self.show(ty);
            self.report(
                Diagnostic::new(
                    Code::IntegerOverflow,
                    span,
                    format!("the result does not fit into `{shown}`"),
                )
                .help("make one of the constants unsigned, or `long` with the suffix `L`"),
            );
        }
    }

    /// `*`: numbers of one type (OpenCL C 6.5.1).
    fn arithmetic(
        &mut self,
        op: hir::BinaryOp,
        left: Expr,
        right: Expr,
        written: Spanned<BinaryOp>,
        span: Span,
    ) -> Option<(ExprKind, TyId)> {
        let (left, right) = self.usual_conversions(left, right, written.span, written.node.spelling())?;
        let ty = left.ty;
        if let (ExprKind::Const(left), ExprKind::Const(right)) = (&left.kind, &right.kind) {
            self.warn_overflow(op, left, right, ty, span);
            if let Some(value) = fold::binary(op, self.element(ty)?, left, right) {
                return Some((ExprKind::Const(value), ty));
            }
        }
        Some((ExprKind::Binary(op, Box::new([left, right])), ty))
    }

    /// `/` and `%`: like `arithmetic`, with a warning about a constant zero divisor.
    fn divide(
        &mut self,
        op: hir::BinaryOp,
        left: Expr,
        right: Expr,
        written: Spanned<BinaryOp>,
        span: Span,
    ) -> Option<(ExprKind, TyId)> {
        if self.is_integer(left.ty)
            && self.is_integer(right.ty)
            && self.constant(&right) == Some(Const::Int(0))
        {
            self.report(
                Diagnostic::new(Code::DivisionByZero, right.span, "this divides by zero")
                    .note("OpenCL C 6.5.1: dividing an integer by zero gives an unspecified value"),
            );
        }
        self.arithmetic(op, left, right, written, span)
    }

    /// `%`, `&`, `^`, `|`: integers only (OpenCL C 6.5.1, 6.5.6).
    fn integers(
        &mut self,
        op: hir::BinaryOp,
        left: Expr,
        right: Expr,
        written: Spanned<BinaryOp>,
        span: Span,
    ) -> Option<(ExprKind, TyId)> {
        if self.reports_floats(&left, &right, written) {
            return None;
        }
        match op {
            hir::BinaryOp::Remainder => self.divide(op, left, right, written, span),
            _ => self.arithmetic(op, left, right, written, span),
        }
    }

    /// Reports a floating-point operand of an integer operator.
    fn reports_floats(&mut self, left: &Expr, right: &Expr, op: Spanned<BinaryOp>) -> bool {
        let is_float =
            |sema: &Self, ty| sema.types.components(ty).is_some_and(|(scalar, _)| scalar.is_float());
        let Some(float) = [left, right].into_iter().find(|value| is_float(self, value.ty)) else {
            return false;
        };
        let (shown, spelling) = (self.show(float.ty), op.node.spelling());
        let mut diagnostic = Diagnostic::new(
            Code::IntegerOperands,
            op.span,
            format!("`{spelling}` takes integers, not `{shown}`"),
        )
        .also(float.span, format!("`{shown}`"))
        .note(match op.node {
            BinaryOp::Remainder => "OpenCL C 6.5.1: the remainder operates on integer types",
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                "OpenCL C 6.5.10: shifts operate on all types except floating-point ones"
            }
            _ => "OpenCL C 6.5.6: the bitwise operators operate on all types except floating-point ones",
        });
        if op.node == BinaryOp::BitXor {
            diagnostic = diagnostic.help("for a power, use `pow`, `pown` or a product");
        }
        if matches!(op.node, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
            diagnostic = diagnostic.help("for a product with a power of two, use `ldexp`");
        }
        if op.node == BinaryOp::Remainder {
            diagnostic = diagnostic.help("use `fmod`");
            // The left operand of `%=` may have side effects, so there is no fix for it.
            if !is_assignment(op.span, spelling) {
                diagnostic = self.fmod_fix(diagnostic, left, right);
            }
        }
        self.report(diagnostic);
        true
    }

    /// The fix for a remainder of numbers of which one is floating-point: `fmod(x, (float)n)`.
    fn fmod_fix(&mut self, diagnostic: Diagnostic, left: &Expr, right: &Expr) -> Diagnostic {
        let common = match self.types.usual(left.ty, right.ty) {
            UsualConversion::Type(TyId::ERROR)
            | UsualConversion::NotArithmetic
            | UsualConversion::Vectors
            | UsualConversion::Rank { .. } => {
                return diagnostic;
            }
            UsualConversion::Type(common) => common,
        };
        let cast = format!("({})", self.show(common));
        let argument = |value: &Expr| match value.ty == common {
            true => (Piece::Text(""), Piece::Source(value.span)),
            false => (Piece::Text(&cast), Piece::Operand(value.span)),
        };
        let ((left_cast, first), (right_cast, second)) = (argument(left), argument(right));
        let (open, comma, close) = (Piece::Text("fmod("), Piece::Text(", "), Piece::Text(")"));
        let call = [open, left_cast, first, comma, right_cast, second, close];
        diagnostic.rewrite(left.span.to(right.span), "write `fmod`", call)
    }

    /// `+`: numbers, or a pointer and an integer (C99 6.5.6).
    fn add(
        &mut self,
        left: Expr,
        right: Expr,
        op: Spanned<BinaryOp>,
        span: Span,
    ) -> Option<(ExprKind, TyId)> {
        let is_pointer = |sema: &Self, ty| matches!(sema.types.get(ty), Ty::Pointer(_));
        match (is_pointer(self, left.ty), is_pointer(self, right.ty)) {
            (true, false) if self.is_integer(right.ty) => self.offset(left, right, op.span),
            (false, true) if self.is_integer(left.ty) => self.offset(right, left, op.span),
            _ => self.arithmetic(hir::BinaryOp::Add, left, right, op, span),
        }
    }

    /// `-`: numbers, a pointer and an integer, or two pointers (C99 6.5.6).
    fn subtract(
        &mut self,
        left: Expr,
        right: Expr,
        op: Spanned<BinaryOp>,
        span: Span,
    ) -> Option<(ExprKind, TyId)> {
        match (self.types.get(left.ty), self.types.get(right.ty)) {
            (Ty::Pointer(_), _) if self.is_integer(right.ty) => {
                let span = right.span;
                let index = self.index_value(right);
                let negative = ExprKind::Unary(hir::UnaryOp::Negate, Box::new(index));
                let index = self.folded(negative, TyId::LONG, span);
                self.offset(left, index, op.span)
            }
            (&Ty::Pointer(from), &Ty::Pointer(to)) => self.difference(left, from, right, to, op.span),
            _ => self.arithmetic(hir::BinaryOp::Subtract, left, right, op, span),
        }
    }

    /// Adds an integer to a pointer.
    pub(super) fn offset(&mut self, pointer: Expr, index: Expr, op: Span) -> Option<(ExprKind, TyId)> {
        let Ty::Pointer(element) = *self.types.get(pointer.ty) else { return None };
        let ty = pointer.ty;
        if element.ty == TyId::VOID {
            self.warn_void_arithmetic(&pointer, op);
            let bytes = self.as_bytes(pointer);
            let (kind, bytes_ty) = self.offset(bytes, index, op)?;
            return Some((ExprKind::PointerCast(Box::new(Expr { kind, ty: bytes_ty, span: op })), ty));
        }
        if !self.has_size(element.ty, op, "arithmetic on a pointer to") {
            return None;
        }
        let index = self.index_value(index);
        Some((ExprKind::Offset(Box::new(Offset { pointer, index })), ty))
    }

    /// GNU C: arithmetic on pointers to `void` counts bytes.
    fn warn_void_arithmetic(&mut self, pointer: &Expr, op: Span) {
        let bytes = self.show(pointer.ty).replace("void", "char");
        self.report(
            Diagnostic::new(Code::VoidArithmetic, op, "this steps a pointer to `void` by bytes")
                .help("cast it to `char *` to step by bytes")
                .prefix(pointer.span, &format!("({bytes})"))
                .note("C99 6.5.6: arithmetic on pointers needs a type with a size; bytes are an extension of GNU C"),
        );
    }

    /// Converts a pointer to `void` to a pointer to bytes.
    fn as_bytes(&mut self, pointer: Expr) -> Expr {
        let Ty::Pointer(mut to) = *self.types.get(pointer.ty) else { return pointer };
        to.ty = TyId::scalar(Scalar::Char);
        let ty = self.types.pointer(to);
        self.pointer_to(pointer, ty)
    }

    /// The difference of two pointers in elements.
    fn difference(
        &mut self,
        left: Expr,
        left_to: QualTy,
        right: Expr,
        right_to: QualTy,
        op: Span,
    ) -> Option<(ExprKind, TyId)> {
        if left_to.ty == TyId::VOID && right_to.ty == TyId::VOID {
            self.warn_void_arithmetic(&left, op);
            let (left, right) = (self.as_bytes(left), self.as_bytes(right));
            let (Ty::Pointer(left_to), Ty::Pointer(right_to)) =
                (self.types.get(left.ty).clone(), self.types.get(right.ty).clone())
            else {
                return None;
            };
            return self.difference(left, left_to, right, right_to, op);
        }
        if !self.has_size(left_to.ty, op, "subtraction of pointers to") {
            return None;
        }
        if left_to.ty != right_to.ty {
            self.report_operands(&left, &right, op, "-");
            return None;
        }
        let common =
            self.common_pointer(left_to, right_to, op, ("`-` cannot combine", Code::IncompatiblePointers))?;
        let (left, right) = (self.pointer_to(left, common), self.pointer_to(right, common));
        Some((ExprKind::Difference { left: Box::new(left), right: Box::new(right) }, TyId::LONG))
    }

    /// Converts an index to a signed 64-bit integer, as address arithmetic requires.
    pub(super) fn index_value(&mut self, index: Expr) -> Expr {
        self.convert(index, TyId::LONG)
    }

    /// Converts to another pointer type. The caller has checked that this is legal.
    pub(super) fn pointer_to(&mut self, value: Expr, ty: TyId) -> Expr {
        let span = value.span;
        if value.ty == ty {
            value
        } else if matches!(value.kind, ExprKind::Const(Const::NullPointer)) {
            Expr { ty, ..value }
        } else {
            Expr { kind: ExprKind::PointerCast(Box::new(value)), ty, span }
        }
    }

    /// `<<`, `>>`: the shift amount is taken modulo the width of the left operand (OpenCL C 6.5.10).
    fn shift(
        &mut self,
        op: hir::BinaryOp,
        left: Expr,
        right: Expr,
        written: Spanned<BinaryOp>,
    ) -> Option<(ExprKind, TyId)> {
        if self.reports_floats(&left, &right, written) {
            return None;
        }
        let spelling = written.node.spelling();
        let (Some((left_element, left_count)), Some((_, right_count))) =
            (self.types.components(left.ty), self.types.components(right.ty))
        else {
            self.report_operands(&left, &right, written.span, spelling);
            return None;
        };
        if right_count > 1 && right_count != left_count {
            let (left_shown, right_shown) = (self.show(left.ty), self.show(right.ty));
            self.report(
                Diagnostic::new(
                    Code::VectorOperands,
                    written.span,
                    format!("`{spelling}` cannot shift `{left_shown}` by `{right_shown}`"),
                )
                .also(left.span, format!("`{left_shown}`"))
                .also(right.span, format!("`{right_shown}`"))
                .note("OpenCL C 6.5.10: the amount is a scalar if the left operand is one, otherwise a scalar or a vector of as many components"),
            );
            return None;
        }
        let left = self.promote(left);
        let width = if left_count > 1 { left_element.size() * 8 } else { left_element.promoted().size() * 8 };
        self.warn_shift_amount(&right, width);
        let ty = left.ty;
        let right = self.convert(right, ty);
        Some((ExprKind::Binary(op, Box::new([left, right])), ty))
    }

    fn warn_shift_amount(&mut self, amount: &Expr, width: u64) {
        if !self.is_integer(amount.ty) {
            return;
        }
        if let Some(Const::Int(bits)) = self.constant(amount)
            && bits >= width
        {
            let shown = if self.types.components(amount.ty).is_some_and(|(scalar, _)| scalar.is_signed()) {
                (bits as i64).to_string()
            } else {
                bits.to_string()
            };
            self.report(
                Diagnostic::new(
                    Code::ShiftCount,
                    amount.span,
                    format!("a shift by {shown} of a type with {width} bits shifts by {}", bits % width),
                )
                .note("OpenCL C 6.5.10: shift amounts are taken modulo the width, unlike in C"),
            );
        }
    }
}

/// Whether this is `a ** 2`, which multiplies by the object that a number points to.
fn is_power(op: Spanned<BinaryOp>, right: &ast::Expr) -> bool {
    let ast::ExprKind::Unary(unary) = &right.kind else { return false };
    op.node == BinaryOp::Multiply
        && unary.op.node == ast::UnaryOp::Dereference
        && right.span.lo == op.span.hi
        && matches!(unary.operand.kind, ast::ExprKind::Integer(_) | ast::ExprKind::Floating(_))
}
