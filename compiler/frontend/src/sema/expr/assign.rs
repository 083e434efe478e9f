//! Assignments (OpenCL C 6.5.15) and `++`, `--` (6.5.3).

use std::borrow::Cow;

use kiln_session::{
    diag::{Code, Diagnostic, Piece},
    extensions::Extension,
};
use kiln_syntax::{
    Span, Spanned,
    ast::{self, BinaryOp, UnaryOp},
};
use kiln_types::ty::{Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::Operand;
use crate::{
    hir::{Assign, Const, Expr, ExprKind, Lvalue, LvalueKind, Update, UpdateResult},
    sema::{Sema, convert::AssignContext},
};

/// The spans of an expression that changes an object, for fixes.
#[derive(Clone, Copy)]
struct ModificationSpans {
    span: Span,
    /// The right operand of an assignment.
    value: Option<Span>,
}

impl Sema<'_> {
    /// `left = right` and `left op= right`
    pub(super) fn assign(
        &mut self,
        op: Spanned<Option<BinaryOp>>,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let spelling: Cow<'_, str> = op.node.map_or("=".into(), |op| format!("{}=", op.spelling()).into());
        let written = ModificationSpans { span, value: Some(right.span) };
        let lvalue = self.writable(left, op.span, &spelling, written);
        let ty = lvalue.as_ref().map_or(TyId::ERROR, |lvalue| lvalue.ty.ty);
        let value = self.value_for(ty, right, Self::operator_value);
        let Some(lvalue) = lvalue else { return self.error_value(span) };
        if value.ty == TyId::ERROR {
            return value;
        }
        if op.node.is_none() {
            self.warn_reversed_operator(op.span, left, right);
        }
        if op.node.is_none() && is_load_of(&value, &lvalue) {
            self.warn_self_assignment(right, span);
        }
        if let Some((part, picks)) = self.writable_part(&lvalue) {
            let whole = self.assign_convert(value, lvalue.ty, AssignContext::Assign);
            let value = self.picked(whole, picks);
            let stored = self.store(op, part, value, span);
            return self.convert(stored, lvalue.ty.ty);
        }
        self.store(op, lvalue, value, span)
    }

    /// Warns about `x = x`, which has no effect. An access of a volatile object is an effect (C99 6.7.3).
    fn warn_self_assignment(&mut self, right: &ast::Expr, span: Span) {
        let cast = if self.body.discarded == span { "(void)" } else { "" };
        self.report(
            Diagnostic::new(Code::SelfAssign, span, "this assignment does not change the object")
                .also(right.span, "the same object as on the left side")
                .help("remove the assignment, or cast the object to `void` to mark it as used")
                .rewrite(span, "remove the assignment", [Piece::Text(cast), Piece::Source(right.span)]),
        );
    }

    /// Warns about `x =- 1`, written without a blank before the sign.
    fn warn_reversed_operator(&mut self, equals: Span, left: &ast::Expr, right: &ast::Expr) {
        let ast::ExprKind::Unary(unary) = &right.kind else { return };
        let sign = match unary.op.node {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            _ => return,
        };
        let is_close = unary.op.span.lo == equals.hi;
        let has_blanks = left.span.hi < equals.lo && unary.op.span.hi < unary.operand.span.lo;
        if is_close && has_blanks {
            let span = equals.to(unary.op.span);
            let message = format!("`={sign}` is not an operator: this assigns the operand with its sign");
            let title = format!("write `= {sign}`");
            self.report(
                Diagnostic::new(Code::ReversedOperator, span, message)
                    .help(format!("write `{sign}=`, or `= {sign}` if the sign is meant"))
                    .fix(span, title, format!("= {sign}")),
            );
        }
    }

    fn store(&mut self, op: Spanned<Option<BinaryOp>>, lvalue: Lvalue, value: Expr, span: Span) -> Expr {
        match op.node {
            None => {
                let ty = lvalue.ty.ty;
                let value = self.assign_convert(value, lvalue.ty, AssignContext::Assign);
                if value.ty == TyId::ERROR {
                    return self.error_value(span);
                }
                Expr { kind: ExprKind::Assign(Box::new(Assign { lvalue, value })), ty, span }
            }
            Some(node) => {
                let current = Expr { kind: ExprKind::Current, ty: lvalue.ty.ty, span: lvalue.span };
                let op = Spanned { node, span: op.span };
                let new = self.binary_values(op, current, value, span);
                self.update(lvalue, new, UpdateResult::New, span)
            }
        }
    }

    /// `++`, `--`: adds or subtracts one. Not for floating-point types (OpenCL C 6.5.3).
    pub(super) fn increment_or_decrement(
        &mut self,
        op: Spanned<UnaryOp>,
        operand: &ast::Expr,
        span: Span,
    ) -> Expr {
        let (binary, spelling) = match op.node {
            UnaryOp::PreIncrement | UnaryOp::PostIncrement => (BinaryOp::Add, "++"),
            _ => (BinaryOp::Subtract, "--"),
        };
        let result = match op.node {
            UnaryOp::PreIncrement | UnaryOp::PreDecrement => UpdateResult::New,
            _ => UpdateResult::Old,
        };
        let written = ModificationSpans { span, value: None };
        let Some(lvalue) = self.writable(operand, op.span, spelling, written) else {
            return self.error_value(span);
        };
        let has_form = self.body.discarded == span || result == UpdateResult::New;
        if !self.check_increment(&lvalue, binary, op.span, has_form.then_some(span)) {
            return self.error_value(span);
        }
        let ty = lvalue.ty.ty;
        let current = Expr { kind: ExprKind::Current, ty, span: lvalue.span };
        // Use the type of lowest rank, so that the constant converts to any element type.
        let one = match self.types.components(ty) {
            Some((element, 2..)) => {
                Expr { kind: ExprKind::Const(one_of(element)), ty: TyId::scalar(element), span: op.span }
            }
            _ => self.int(1, op.span),
        };
        let new = self.binary_values(Spanned { node: binary, span: op.span }, current, one, span);
        self.update(lvalue, new, result, span)
    }

    /// Reports an operand that `++` or `--` does not take. Returns whether the operation has a meaning. `rewritten` is the span
    /// that a fix may replace by `x += 1`, which returns the new value.
    fn check_increment(
        &mut self,
        lvalue: &Lvalue,
        binary: BinaryOp,
        op: Span,
        rewritten: Option<Span>,
    ) -> bool {
        const NOTE: &str = "OpenCL C 6.5.3: `++` and `--` operate on all types except floating-point ones";
        let spelling = if binary == BinaryOp::Add { "++" } else { "--" };
        let shown = self.show(lvalue.ty.ty);
        let plus_one = format!("{}= 1", binary.spelling());
        let (open, close) = if rewritten == Some(self.body.discarded) { ("", "") } else { ("(", ")") };
        let behind = format!(" {plus_one}{close}");
        let step = [Piece::Text(open), Piece::Source(lvalue.span), Piece::Text(&behind)];
        let with_step = |diagnostic: Diagnostic| {
            diagnostic
                .help(format!("write `{plus_one}`"))
                .rewrite(rewritten.unwrap_or_default(), format!("write `{plus_one}`"), step)
                .note(NOTE)
        };
        let rejected = |code| {
            Diagnostic::new(code, op, format!("`{spelling}` does not take `{shown}`"))
                .also(lvalue.span, format!("`{shown}`"))
        };
        match self.types.get(lvalue.ty.ty) {
            Ty::Vector(element, _) if element.is_float() => {
                self.report(with_step(rejected(Code::FloatVectorIncrement)));
                false
            }
            Ty::Scalar(scalar) if scalar.is_float() => {
                let message = format!("`{spelling}` on `{shown}` is not portable OpenCL C");
                self.report(with_step(Diagnostic::new(Code::FloatIncrement, op, message)));
                true
            }
            Ty::Pointer(_) | Ty::Enum(_) | Ty::Scalar(_) | Ty::Vector(..) => true,
            _ => {
                self.report(rejected(Code::InvalidOperands));
                false
            }
        }
    }

    /// Stores a value computed from `Current` to its lvalue.
    fn update(&mut self, lvalue: Lvalue, new: Expr, result: UpdateResult, span: Span) -> Expr {
        if new.ty == TyId::ERROR {
            return new;
        }
        let ty = lvalue.ty.ty;
        let new = match (self.types.components(new.ty), self.types.components(ty)) {
            // `op=` narrows by definition, so only invalid conversions are reported.
            (Some((_, from)), Some((_, to))) if from == to => self.convert(new, ty),
            _ => self.assign_convert(new, lvalue.ty, AssignContext::Assign),
        };
        if new.ty == TyId::ERROR {
            return new;
        }
        Expr { kind: ExprKind::Update(Box::new(Update { lvalue, new, result })), ty, span }
    }

    /// The operand as an lvalue that can be assigned to. Reports an error otherwise.
    fn writable(
        &mut self,
        expr: &ast::Expr,
        op: Span,
        spelling: &str,
        written: ModificationSpans,
    ) -> Option<Lvalue> {
        let lvalue = match self.object_operand(expr) {
            Operand::Lvalue(lvalue) => lvalue,
            Operand::Value(value) if value.ty == TyId::ERROR => return None,
            Operand::Value(_) | Operand::Function(..) | Operand::Builtin(_) => {
                self.report(
                    Diagnostic::new(Code::NotAssignable, op, format!("the left side of `{spelling}` is not an object"))
                        .also(expr.span, "a value")
                        .note("OpenCL C 6.5.15: constants, function names and the results of operators are not l-values"),
                );
                return None;
            }
        };
        self.may_write(&lvalue, op, spelling, written).then_some(lvalue)
    }

    /// The order and scope arguments for an atomic function that replaces an operator on this object, with the closing
    /// parenthesis.
    pub(super) fn explicit_arguments(&self, lvalue: &Lvalue) -> String {
        let has = |extension| self.extensions.has(extension);
        let order = if has(Extension::OrderSeqCst) { "seq_cst" } else { "relaxed" };
        let is_local = lvalue.ty.quals.space == Some(AddressSpace::Local);
        let scope = if !is_local && has(Extension::ScopeDevice) { "device" } else { "work_group" };
        format!("memory_order_{order}, memory_scope_{scope})")
    }

    /// The diagnostic of an operator that changes an atomic object. Its fix is the atomic function, if the result of the
    /// operator is not used: the functions return the previous value.
    fn operator_on_atomic(
        &self,
        lvalue: &Lvalue,
        op: Span,
        spelling: &str,
        written: ModificationSpans,
    ) -> Diagnostic {
        let function = match spelling {
            "=" => "atomic_store_explicit",
            "+=" | "++" => "atomic_fetch_add_explicit",
            "-=" | "--" => "atomic_fetch_sub_explicit",
            "&=" => "atomic_fetch_and_explicit",
            "|=" => "atomic_fetch_or_explicit",
            "^=" => "atomic_fetch_xor_explicit",
            _ => "atomic_compare_exchange_weak_explicit",
        };
        let shown = self.show(lvalue.ty.ty);
        let message = format!("`{spelling}` cannot be applied to an object of type `{shown}`");
        let diagnostic = Diagnostic::new(Code::AtomicOperator, op, message)
            .also(lvalue.span, "an atomic object")
            .help(format!("use `{function}`"))
            .note("OpenCL C 6.15.12.10: OpenCL C does not support operators with atomic types");
        let has_form = !function.contains("compare") && matches!(self.types.get(lvalue.ty.ty), Ty::Atomic(_));
        if !has_form || self.body.discarded != written.span {
            return diagnostic;
        }
        let (call, how) = (format!("{function}("), format!(", {}", self.explicit_arguments(lvalue)));
        diagnostic.rewrite(
            written.span,
            format!("write `{function}`"),
            [
                Piece::Text(&call),
                Piece::Address(lvalue.span),
                Piece::Text(", "),
                written.value.map_or(Piece::Text("1"), Piece::Source),
                Piece::Text(&how),
            ],
        )
    }

    /// Whether the lvalue can be assigned to. Reports an error otherwise.
    fn may_write(&mut self, lvalue: &Lvalue, op: Span, spelling: &str, written: ModificationSpans) -> bool {
        if self.is_storage_only(lvalue.ty.ty) {
            if !matches!(lvalue.kind, LvalueKind::Local(_)) {
                self.report_half("a value that is written", lvalue.span);
            }
            return false;
        }
        let shown = || self.show(lvalue.ty.ty);
        let diagnostic = match self.types.get(lvalue.ty.ty) {
            Ty::Error => return false,
            Ty::Atomic(_) | Ty::AtomicFlag => self.operator_on_atomic(lvalue, op, spelling, written),
            Ty::Array(..) => {
                Diagnostic::new(Code::NotAssignable, op, "an array cannot be assigned as a whole")
                    .also(lvalue.span, format!("`{}`", shown()))
                    .help("assign its elements, or put the array into a struct")
                    .note("C99 6.3.2.1: an array is not a modifiable l-value")
            }
            Ty::Image(_) | Ty::Sampler | Ty::Pipe(..) => Diagnostic::new(
                Code::NotAssignable,
                op,
                format!("an object of type `{}` cannot be assigned", shown()),
            )
            .also(lvalue.span, format!("`{}`", shown()))
            .note("OpenCL C 6.11.b: images and samplers cannot be modified"),
            Ty::Block(_) => Diagnostic::new(Code::NotAssignable, op, "a block variable cannot be assigned")
                .also(lvalue.span, "declared with its block")
                .note("OpenCL C 6.14.5: blocks are constant; their variables cannot be reassigned"),
            _ if lvalue.ty.quals.is_const || lvalue.ty.quals.space == Some(AddressSpace::Constant) => {
                let (why, note) = if lvalue.ty.quals.space == Some(AddressSpace::Constant) {
                    ("is in constant memory", "OpenCL C 6.7.3: constant memory is read-only")
                } else {
                    ("is `const`", "C99 6.5.16: the left operand is a modifiable l-value")
                };
                Diagnostic::new(
                    Code::ReadOnly,
                    op,
                    format!("the left side of `{spelling}` cannot be written"),
                )
                .also(lvalue.span, why)
                .note(note)
            }
            Ty::Record(_) if self.has_const_member(lvalue.ty.ty) => Diagnostic::new(
                Code::ReadOnly,
                op,
                format!("`{}` has a `const` member and cannot be assigned", shown()),
            )
            .also(lvalue.span, format!("`{}`", shown()))
            .note("C99 6.3.2.1: a struct with a const-qualified member is not a modifiable l-value"),
            _ => match &lvalue.kind {
                LvalueKind::Swizzle(swizzle) if has_repeats(&swizzle.components) => Diagnostic::new(
                    Code::RepeatedComponent,
                    op,
                    format!("the left side of `{spelling}` names a component twice"),
                )
                .also(lvalue.span, "a component is repeated")
                .note("OpenCL C 6.3.7: an l-value names each component at most once"),
                _ if is_temporary(lvalue) => Diagnostic::new(
                    Code::NotAssignable,
                    op,
                    format!("the left side of `{spelling}` is not an object"),
                )
                .also(lvalue.span, "part of a value")
                .help("store the value in a variable first"),
                _ => return true,
            },
        };
        self.report(diagnostic);
        false
    }

    fn has_const_member(&self, ty: TyId) -> bool {
        match self.types.get(ty) {
            Ty::Record(id) => self.types.records[*id]
                .fields
                .iter()
                .flatten()
                .any(|field| field.ty.quals.is_const || self.has_const_member(field.ty.ty)),
            Ty::Array(element, _) => element.quals.is_const || self.has_const_member(element.ty),
            _ => false,
        }
    }
}

fn one_of(element: kiln_types::ty::Scalar) -> Const {
    if element.is_float() { Const::Float(1.0) } else { Const::Int(1) }
}

/// Whether the value is loaded from this variable, or from the same part of it.
fn is_load_of(value: &Expr, lvalue: &Lvalue) -> bool {
    matches!(&value.kind, ExprKind::Load(from) if is_same_variable(from, lvalue))
}

/// Whether two lvalues are the same variable, or the same part of it.
pub(super) fn is_same_variable(left: &Lvalue, right: &Lvalue) -> bool {
    if left.ty.ty != right.ty.ty || left.ty.quals.is_volatile {
        return false;
    }
    match (&left.kind, &right.kind) {
        (LvalueKind::Local(left), LvalueKind::Local(right)) => left == right,
        (LvalueKind::Global(left), LvalueKind::Global(right)) => left == right,
        (LvalueKind::Field(left), LvalueKind::Field(right)) => {
            left.offset == right.offset && is_same_variable(&left.base, &right.base)
        }
        (LvalueKind::Swizzle(left), LvalueKind::Swizzle(right)) => {
            left.components == right.components && is_same_variable(&left.base, &right.base)
        }
        _ => false,
    }
}

fn has_repeats(components: &[u8]) -> bool {
    components.iter().enumerate().any(|(index, component)| components[..index].contains(component))
}

/// Whether the lvalue is part of a value without an object.
fn is_temporary(lvalue: &Lvalue) -> bool {
    matches!(lvalue.whole().kind, LvalueKind::Temporary(_))
}
