//! Expressions (OpenCL C 6.5): dispatches to the rule for each kind, and converts lvalues to values.
//!
//! The rules are in `expr/` and in the files next to it.

mod arithmetic;
mod assign;
mod binary;
mod compare;
mod compound;
mod conditional;
mod form;
mod generic;
mod literal;
mod member;
mod name;
mod offsetof;
mod pointer;
mod precedence;
mod size;
mod unary;

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::ty::{QualTy, Quals, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::Sema;
use crate::hir::{Const, Expr, ExprKind, FunctionId, Lvalue, LvalueKind};

/// The result of an expression before lvalue conversion.
pub(crate) enum Operand {
    /// An lvalue.
    Lvalue(Lvalue),
    /// A value.
    Value(Expr),
    /// A function of the program, which can only be called.
    Function(FunctionId, Span),
    /// A built-in function, which can only be called.
    Builtin(Span),
}

/// How a plain read of an atomic object is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtomicRead {
    /// An operand of an operator: an error (OpenCL C 6.15.12.10).
    Operator,
    /// A copy, which compilers allow: a warning.
    Copy,
}

impl Operand {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Lvalue(lvalue) => lvalue.span,
            Self::Value(value) => value.span,
            Self::Function(_, span) | Self::Builtin(span) => *span,
        }
    }
}

/// A list of values in parentheses that is probably a vector literal without its type.
#[derive(Clone, Copy)]
pub(super) struct UntypedLiteral {
    /// The type of the vector.
    ty: TyId,
    /// The list with its parentheses.
    span: Span,
    /// The values.
    values: Span,
    /// Whether a warning has been reported.
    is_reported: bool,
}

impl Sema<'_> {
    /// The value of an expression after lvalue conversion and array decay (C99 6.3.2.1).
    pub(crate) fn value(&mut self, expr: &ast::Expr) -> Expr {
        let operand = self.operand(expr);
        self.read(operand, AtomicRead::Copy)
    }

    /// The value of an operator's operand, which cannot be an atomic object (OpenCL C 6.15.12.10).
    pub(crate) fn operator_value(&mut self, expr: &ast::Expr) -> Expr {
        let operand = self.operand(expr);
        self.read(operand, AtomicRead::Operator)
    }

    /// The condition of `if`, a loop, `?:`, `&&` …: a scalar or pointer, compared with zero (C99 6.8.4.1).
    pub(crate) fn condition(&mut self, expr: &ast::Expr) -> Expr {
        if let ast::ExprKind::Assign(assign) = &expr.kind
            && assign.op.node.is_none()
        {
            if matches!(assign.left.kind, ast::ExprKind::Call(_) | ast::ExprKind::Binary(_)) {
                let message = "the left side of `=` is not an object";
                self.report(
                    Diagnostic::new(Code::NotAssignable, assign.op.span, message)
                        .help("write `==` to compare")
                        .fix(assign.op.span, "replace `=` by `==`", "==")
                        .note("OpenCL C 6.5.15: the results of operators and functions are not l-values"),
                );
                return self.error_value(expr.span);
            }
            let diagnostic =
                Diagnostic::new(Code::AssignmentCondition, assign.op.span, "this condition is an assignment");
            self.report(match starts_with_negation(assign) {
                true => diagnostic.help("write `!=` to compare").fix(
                    Span::new(assign.op.span.lo, assign.op.span.hi + 1),
                    "replace `=!` by `!=`",
                    "!=",
                ),
                false => diagnostic
                    .help("write `==` to compare, or parentheses around an intended assignment")
                    .fix(assign.op.span, "replace `=` by `==`", "=="),
            });
        }
        let value = self.operator_value(expr);
        self.scalar_condition(value)
    }

    /// The condition of a loop.
    pub(crate) fn loop_condition(&mut self, expr: &ast::Expr) -> Expr {
        let value = self.condition(expr);
        self.warn_always_true(&value);
        value
    }

    /// Like `condition`, for a value.
    fn scalar_condition(&mut self, value: Expr) -> Expr {
        match self.types.get(value.ty) {
            Ty::Error | Ty::Scalar(_) | Ty::Enum(_) | Ty::Pointer(_) => value,
            _ => {
                let shown = self.show(value.ty);
                let mut diagnostic = Diagnostic::new(
                    Code::ConditionType,
                    value.span,
                    format!("a condition cannot have type `{shown}`"),
                )
                .note("C99 6.8.4.1: the controlling expression has scalar type");
                if matches!(self.types.get(value.ty), Ty::Vector(..)) {
                    diagnostic = diagnostic
                        .help("compare its components, and combine the results with `any` or `all`");
                }
                self.report(diagnostic);
                self.error_value(value.span)
            }
        }
    }

    /// An expression whose value is discarded (C99 6.8.3).
    pub(crate) fn discarded(&mut self, expr: &ast::Expr) -> Expr {
        if self.is_missing_declaration(expr) {
            return self.error_value(expr.span);
        }
        self.body.discarded = expr.span;
        let assigned = assigned_name(expr);
        let uses_before = assigned.map_or(0, |name| self.scopes.uses(name));
        let operand = self.operand(expr);
        if let Some(name) = assigned.filter(|name| self.scopes.uses(*name) == uses_before + 1) {
            self.scopes.assign_only(name);
        }
        let is_unused = is_pure(&operand) || is_pure_call(&operand);
        if is_unused && !matches!(operand, Operand::Value(Expr { ty: TyId::ERROR | TyId::VOID, .. })) {
            let diagnostic =
                Diagnostic::new(Code::UnusedValue, expr.span, "the value of this expression is not used");
            self.report(match &expr.kind {
                ast::ExprKind::Binary(binary) if binary.op.node == ast::BinaryOp::Equal => diagnostic
                    .help("write `=` if an assignment is meant")
                    .fix(binary.op.span, "assign with `=`", "="),
                _ => diagnostic.help("cast it to `void` to discard it").prefix(expr.span, "(void)"),
            });
        }
        self.evaluate(operand)
    }

    /// Checks an expression without lvalue conversion.
    pub(crate) fn operand(&mut self, expr: &ast::Expr) -> Operand {
        let operand = self.checked_operand(expr);
        if let Some(facts) = &mut self.facts {
            facts.note_type(expr.span, &operand);
        }
        operand
    }

    /// Like `operand`, without a record for the language server.
    fn checked_operand(&mut self, expr: &ast::Expr) -> Operand {
        use ast::ExprKind as Ast;
        let span = expr.span;
        let value = match &expr.kind {
            Ast::Name(name) => return self.named(*name, span),
            Ast::Paren(inner) => {
                let mut operand = self.operand(inner);
                if self.bit_patterns.contains(&inner.span) {
                    self.bit_patterns.insert(span);
                }
                match &mut operand {
                    Operand::Lvalue(lvalue) => lvalue.span = span,
                    Operand::Value(value) => value.span = span,
                    Operand::Function(..) | Operand::Builtin(_) => {}
                }
                return operand;
            }
            Ast::String(parts) => return self.string(parts, span),
            Ast::Index(node) => return self.index(&node.base, &node.index, pointer::Use::Access, span),
            Ast::Member(node) => return self.member(&node.base, node.name, span),
            Ast::Arrow(node) => return self.arrow(&node.base, node.name, span),
            Ast::Unary(node) => return self.unary(node.op, &node.operand, span),
            Ast::CompoundLiteral(node) => return self.compound_literal(node.ty, &node.init, span),
            Ast::Form(node) => return self.form(node, span),
            Ast::Generic(node) => {
                return self.generic_selection(&node.control, node.associations, span);
            }
            Ast::Offsetof(node) => self.offsetof(node.ty, node.member, span),
            Ast::Integer(text) => self.integer_literal(*text, span),
            Ast::Floating(text) => self.floating_literal(*text, span),
            Ast::Character(text) => self.character_literal(*text, span),
            Ast::Call(node) => self.call(&node.callee, node.arguments, span),
            Ast::Binary(node) => self.binary(node.op, &node.left, &node.right, span),
            Ast::Assign(node) => self.assign(node.op, &node.left, &node.right, span),
            Ast::Conditional(node) => {
                self.conditional(&node.condition, node.then.as_ref(), &node.otherwise, span)
            }
            Ast::Comma(node) => self.comma(&node.left, &node.right, span),
            Ast::Cast(node) => self.cast_expr(node.ty, &node.operand, span),
            Ast::SizeofExpr(operand) => self.sizeof_expr(operand, span),
            Ast::SizeofType(ty) => self.sizeof_type(ty, span),
            Ast::AlignofExpr(operand) => self.alignof_expr(operand, span),
            Ast::AlignofType(ty) => self.alignof_type(ty, span),
            Ast::VecStepExpr(operand) => self.vec_step_expr(operand, span),
            Ast::VecStepType(ty) => self.vec_step_type(ty, span),
            Ast::Astype(node) => self.astype_expr(&node.operand, node.ty, span),
            Ast::Block(block) => self.block_literal(block, span),
            Ast::StatementExpr(block) => self.statement_expression(block, span),
            Ast::Error => self.error_value(span),
        };
        Operand::Value(value)
    }

    /// `left, right` (OpenCL C 6.5.12).
    fn comma(&mut self, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        let operand = self.operand(left);
        // Reading an atomic object is reported as an error.
        let is_atomic = matches!(&operand, Operand::Lvalue(lvalue) if self.is_atomic(lvalue.ty.ty));
        if !is_atomic
            && is_pure(&operand)
            && !matches!(operand, Operand::Value(Expr { ty: TyId::ERROR | TyId::VOID, .. }))
        {
            self.report_unused_value(left.span, span);
        }
        let left = self.read(operand, AtomicRead::Operator);
        let right = self.operator_value(right);
        Expr { ty: right.ty, kind: ExprKind::Comma(Box::new(left), Box::new(right)), span }
    }

    /// Warns about the value before a `,`, or once about the vector literal without a type that contains it.
    fn report_unused_value(&mut self, value: Span, comma: Span) {
        const NOTE: &str = "OpenCL C 6.5.12: the value of `a, b` is that of `b`";
        let list = self.untyped_literal.take_if(|list| list.values.lo == comma.lo);
        let diagnostic = match list {
            Some(UntypedLiteral { is_reported: true, .. }) => None,
            Some(UntypedLiteral { ty, span, .. }) => {
                let cast = format!("({})", self.show(ty));
                let message = "only the last of these values is used";
                Some(
                    Diagnostic::new(Code::UnusedValue, span, message)
                        .help(format!("a vector literal needs its type: write `{cast}` before it"))
                        .prefix(span, &cast),
                )
            }
            None => Some(
                Diagnostic::new(Code::UnusedValue, value, "the value before this `,` is not used")
                    .help("cast it to `void` to discard it")
                    .prefix(value, "(void)"),
            ),
        };
        if let Some(diagnostic) = diagnostic {
            self.report(diagnostic.note(NOTE));
        }
        if let Some(list) = list {
            self.untyped_literal = Some(UntypedLiteral { is_reported: true, ..list });
        }
    }

    /// Evaluates an expression that becomes an object of this type. `float2 v = (1, 2)` lacks the type of a vector literal.
    pub(crate) fn value_for(
        &mut self,
        ty: TyId,
        expr: &ast::Expr,
        evaluate: fn(&mut Self, &ast::Expr) -> Expr,
    ) -> Expr {
        let literal = self.untyped_literal(ty, expr);
        let outer = std::mem::replace(&mut self.untyped_literal, literal);
        let value = evaluate(self, expr);
        self.untyped_literal = outer;
        value
    }

    /// The list in parentheses that this expression is, if it has as many values as this vector type has components.
    fn untyped_literal(&self, ty: TyId, expr: &ast::Expr) -> Option<UntypedLiteral> {
        let (Ty::Vector(_, count), ast::ExprKind::Paren(list)) = (self.types.get(ty), &expr.kind) else {
            return None;
        };
        let (mut rest, mut length) = (*list, 1);
        while let ast::ExprKind::Comma(comma) = &rest.kind {
            length += 1;
            rest = &comma.left;
        }
        let literal = UntypedLiteral { ty, span: expr.span, values: list.span, is_reported: false };
        Some(literal).filter(|_| length == u32::from(*count))
    }

    /// Evaluates an operand for its effects. An atomic object is not read.
    pub(crate) fn evaluate(&mut self, operand: Operand) -> Expr {
        match operand {
            Operand::Lvalue(lvalue) if self.is_atomic(lvalue.ty.ty) => self.address_of_lvalue(lvalue),
            operand => self.read(operand, AtomicRead::Copy),
        }
    }

    /// Loads an operand for an operator or a copy.
    #[inline]
    fn read(&mut self, operand: Operand, atomic: AtomicRead) -> Expr {
        match operand {
            Operand::Value(value) => value,
            Operand::Lvalue(lvalue) if self.is_atomic(lvalue.ty.ty) => {
                self.plain_read_of_atomic(lvalue, atomic)
            }
            Operand::Lvalue(lvalue) => self.load(lvalue),
            Operand::Function(_, span) | Operand::Builtin(span) => {
                self.function_as_value(span);
                self.error_value(span)
            }
        }
    }

    /// Loads an lvalue. An array decays to the address of its first element (C99 6.3.2.1).
    pub(crate) fn load(&mut self, mut lvalue: Lvalue) -> Expr {
        self.make_readable(&mut lvalue);
        let span = lvalue.span;
        match *self.types.get(lvalue.ty.ty) {
            Ty::Error => self.error_value(span),
            Ty::Array(element, _) => {
                let ty = self.pointer_to_element(element, lvalue.ty.quals);
                Expr { kind: ExprKind::AddressOf(Box::new(lvalue)), ty, span }
            }
            _ if self.is_storage_only(lvalue.ty.ty) => {
                // A variable of this type has been reported at its declaration.
                if !matches!(lvalue.kind, LvalueKind::Local(_)) {
                    self.report_half("a value that is read", span);
                }
                self.error_value(span)
            }
            _ => match lvalue.kind {
                LvalueKind::Temporary(value) => *value,
                LvalueKind::Deref(_) => {
                    self.warn_half_not_enabled(lvalue.ty.ty, span);
                    self.warn_copy_of_atomic(lvalue.ty.ty, span);
                    Expr { ty: lvalue.ty.ty, kind: ExprKind::Load(lvalue), span }
                }
                _ => Expr { ty: lvalue.ty.ty, kind: ExprKind::Load(lvalue), span },
            },
        }
    }

    /// The pointer type that an array decays to. The array's qualifiers and address space apply to its elements.
    fn pointer_to_element(&mut self, mut element: QualTy, array: Quals) -> TyId {
        element.quals.is_const |= array.is_const;
        element.quals.is_volatile |= array.is_volatile;
        element.quals.space = Some(array.space.or(element.quals.space).unwrap_or(AddressSpace::Private));
        self.types.pointer(element)
    }

    /// OpenCL C 6.15.12.10: only atomic functions access atomic objects.
    fn plain_read_of_atomic(&mut self, lvalue: Lvalue, read: AtomicRead) -> Expr {
        let span = lvalue.span;
        let value_ty = match *self.types.get(lvalue.ty.ty) {
            Ty::Atomic(scalar) => TyId::scalar(scalar),
            _ => TyId::INT,
        };
        let shown = self.show(lvalue.ty.ty);
        let how = format!(", {}", self.explicit_arguments(&lvalue));
        let load = [Piece::Text("atomic_load_explicit("), Piece::Address(span), Piece::Text(&how)];
        if read == AtomicRead::Operator {
            self.report(
                Diagnostic::new(
                    Code::AtomicOperator,
                    span,
                    format!("an operator cannot be applied to an object of type `{shown}`"),
                )
                .help("read it with `atomic_load_explicit`, change it with `atomic_store_explicit` or an `atomic_fetch_` function")
                .rewrite(span, "read it with `atomic_load_explicit`", load)
                .note("OpenCL C 6.15.12.10: OpenCL C does not support operators with atomic types"),
            );
            return self.error_value(span);
        }
        self.report(
            Diagnostic::new(
                Code::AtomicPlainAccess,
                span,
                format!("this reads an object of type `{shown}` without an atomic operation"),
            )
            .help("read it with `atomic_load_explicit`")
            .rewrite(span, "read it with `atomic_load_explicit`", load)
            .note("OpenCL API 3.3.6: a plain access that conflicts with an atomic one is a data race"),
        );
        Expr { kind: ExprKind::Load(lvalue), ty: value_ty, span }
    }

    /// Warns about a copy of a record with atomic members: it reads them with plain loads, and other work-items may
    /// share an object that a pointer refers to.
    fn warn_copy_of_atomic(&mut self, ty: TyId, span: Span) {
        let Ty::Record(id) = *self.types.get(ty) else { return };
        if self.has_member(id, &|member| self.is_atomic(member)) {
            let shown = self.show(ty);
            self.report(
                Diagnostic::new(
                    Code::AtomicPlainAccess,
                    span,
                    format!(
                        "this copies `{shown}`, and with it an atomic object, without an atomic operation"
                    ),
                )
                .help("copy the members one by one, the atomic one with `atomic_load_explicit`")
                .note("OpenCL API 3.3.6: a plain access that conflicts with an atomic one is a data race"),
            );
        }
    }

    pub(crate) fn is_atomic(&self, ty: TyId) -> bool {
        matches!(self.types.get(ty), Ty::Atomic(_) | Ty::AtomicFlag)
    }

    /// OpenCL C 6.11.a: functions have no address.
    fn function_as_value(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::FunctionPointer, span, "a function can only be called")
                .label("used as a value")
                .help("write its arguments in parentheses to call it")
                .note("OpenCL C 6.11.a: pointers to functions are not allowed"),
        );
    }

    /// Reports a C11 feature. OpenCL C is based on C99.
    pub(crate) fn report_c11(&mut self, what: &str, span: Span) {
        self.report(
            Diagnostic::new(Code::C11Extension, span, format!("{what} is a C11 extension"))
                .note("OpenCL C 6: OpenCL C is based on C99"),
        );
    }

    /// Reports a GNU C extension.
    pub(crate) fn report_gnu(&mut self, what: &str, span: Span, section: &str) {
        self.report(
            Diagnostic::new(Code::GnuExtension, span, format!("{what} is a GNU C extension"))
                .note(format!("{section}: C99 has no such form")),
        );
    }

    /// The result of an expression whose error has been reported.
    pub(crate) fn error_value(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(Const::Undefined), ty: TyId::ERROR, span }
    }

    /// The result of an expression of type `void`.
    pub(crate) fn nothing(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(Const::Undefined), ty: TyId::VOID, span }
    }

    /// An `int` constant.
    pub(crate) fn int(&self, value: i64, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(Const::Int(value as u64)), ty: TyId::INT, span }
    }
}

/// Whether the right side of an assignment begins with `!` directly after `=`.
fn starts_with_negation(assign: &ast::AssignExpr) -> bool {
    matches!(&assign.right.kind, ast::ExprKind::Unary(unary) if unary.op.node == ast::UnaryOp::LogicalNot)
        && assign.op.span.hi == assign.right.span.lo
}

/// Whether the operand is a call of a built-in function whose only effect is its result.
fn is_pure_call(operand: &Operand) -> bool {
    let Operand::Value(Expr { kind: ExprKind::Builtin { builtin, .. }, .. }) = operand else { return false };
    kiln_builtins::row(*builtin).attributes.is_const
}

/// Whether the operand has no effects, for the warning about unused values.
fn is_pure(operand: &Operand) -> bool {
    match operand {
        Operand::Lvalue(lvalue) => !lvalue.ty.quals.is_volatile,
        Operand::Function(..) | Operand::Builtin(_) => true,
        Operand::Value(value) => matches!(
            value.kind,
            ExprKind::Const(_)
                | ExprKind::Load(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Exact(_)
                | ExprKind::Compare(..)
                | ExprKind::LogicalNot(_)
                | ExprKind::Swizzle(..)
                | ExprKind::Offset(_)
                | ExprKind::Difference { .. }
                | ExprKind::AddressOf(_)
        ),
    }
}

/// The name that an expression only assigns to, if its value is discarded.
fn assigned_name(expr: &ast::Expr) -> Option<Symbol> {
    use ast::UnaryOp::{PostDecrement, PostIncrement, PreDecrement, PreIncrement};
    let object = match &expr.kind {
        ast::ExprKind::Paren(inner) => return assigned_name(inner),
        ast::ExprKind::Assign(node) => &node.left,
        ast::ExprKind::Unary(node)
            if matches!(node.op.node, PreIncrement | PreDecrement | PostIncrement | PostDecrement) =>
        {
            &node.operand
        }
        _ => return None,
    };
    let mut object = object;
    while let ast::ExprKind::Paren(inner) = &object.kind {
        object = inner;
    }
    match object.kind {
        ast::ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
