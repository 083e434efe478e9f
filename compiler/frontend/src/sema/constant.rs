//! Constant expressions (C99 6.6), and variables with constant values.
//!
//! Determines which expressions are constant. `fold` computes their values.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::{
    fold,
    ty::{QualTy, Scalar, Ty, TyId, Types},
};
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use super::Sema;
use crate::hir::{Const, Expr, ExprKind, FunctionId, GlobalId, LocalId, LogicalOp, Lvalue, LvalueKind};

/// An object that may have a constant value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    Local(FunctionId, LocalId),
    Global(GlobalId),
}

/// Known constants.
#[derive(Default)]
pub(crate) struct Constants {
    /// The values of `const` and `constant` variables with constant initializers.
    pub(super) objects: FxHashMap<Object, Const>,
    /// A cache of integer constants without diagnostics, by spelling: programs repeat a few constants often.
    pub(super) integers: FxHashMap<Symbol, (u64, TyId)>,
}

/// Evaluates checked expressions.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'s> {
    types: &'s Types,
    constants: &'s Constants,
    /// The function whose variables the expressions may contain.
    function: Option<FunctionId>,
}

impl Sema<'_> {
    /// Records the initializer of a variable, already converted to its type. A read-only variable counts as a
    /// constant in expressions, as in other compilers.
    pub(crate) fn remember_initializer(&mut self, object: Object, ty: QualTy, value: &Expr) {
        if matches!(self.types.get(ty.ty), Ty::Block(_)) {
            return self.remember_block(object, value);
        }
        let is_fixed = ty.quals.is_const || ty.quals.space == Some(AddressSpace::Constant);
        if is_fixed
            && !ty.quals.is_volatile
            && self.types.components(ty.ty).is_some()
            && let Some(value) = self.constant(value)
        {
            self.constants.objects.insert(object, value);
        }
    }

    /// The value of an integer constant expression (C99 6.6). Reports other expressions. `what` is the start of the
    /// message, such as "the length of an array".
    pub(crate) fn integer_constant(&mut self, expr: &ast::Expr, what: &str) -> Option<i128> {
        let value = self.value(expr);
        self.integer_constant_value(&value, what)
    }

    /// Like `integer_constant`, for a checked expression.
    pub(crate) fn integer_constant_value(&mut self, value: &Expr, what: &str) -> Option<i128> {
        if value.ty == TyId::ERROR {
            return None;
        }
        let problem = match self.types.components(value.ty) {
            Some((scalar, 1)) if !scalar.is_float() => match self.constant(value) {
                Some(Const::Int(bits)) => return Some(fold::integer(scalar, bits)),
                Some(Const::Zero) => return Some(0),
                _ => format!("{what} must be known at compile time"),
            },
            _ => format!("{what} must be an integer, not `{}`", self.show(value.ty)),
        };
        self.report(
            Diagnostic::new(Code::ConstantExpression, value.span, problem)
                .label("not an integer constant expression")
                .note("C99 6.6"),
        );
        None
    }

    /// The evaluator for expressions here.
    pub(crate) fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { types: &self.types, constants: &self.constants, function: self.body.function }
    }

    /// The value of an expression, if it is constant.
    #[inline]
    pub(crate) fn constant(&self, expr: &Expr) -> Option<Const> {
        self.evaluator().constant(expr)
    }

    /// The element type of an arithmetic or vector type.
    pub(crate) fn element(&self, ty: TyId) -> Option<Scalar> {
        self.evaluator().element(ty)
    }

    /// Builds an expression, folding operations on constants.
    pub(crate) fn folded(&self, kind: ExprKind, ty: TyId, span: Span) -> Expr {
        self.evaluator().folded(kind, ty, span)
    }

    /// Converts a constant between arithmetic types.
    pub(crate) fn converted_constant(&self, value: &Const, from: TyId, to: TyId) -> Option<Const> {
        let evaluator = self.evaluator();
        fold::convert(value, evaluator.element(from)?, evaluator.element(to)?, super::convert::PLAIN)
    }
}

impl Evaluator<'_> {
    /// The value of an expression, if it is constant.
    #[inline]
    fn constant(&self, expr: &Expr) -> Option<Const> {
        match &expr.kind {
            ExprKind::Const(Const::Undefined) => None,
            ExprKind::Const(value) => Some(value.clone()),
            _ => self.computed(expr),
        }
    }

    /// The constant value of an expression other than a literal.
    fn computed(&self, expr: &Expr) -> Option<Const> {
        match &expr.kind {
            ExprKind::Load(lvalue) => self.constant_object(lvalue),
            ExprKind::Unary(op, operand) => {
                fold::unary(*op, self.element(operand.ty)?, &self.constant(operand)?)
            }
            ExprKind::Binary(op, operands) => {
                let [left, right] = &**operands;
                fold::binary(*op, self.element(left.ty)?, &self.constant(left)?, &self.constant(right)?)
            }
            ExprKind::Exact(inner) => self.constant(inner),
            ExprKind::Compare(op, operands) => {
                let [left, right] = &**operands;
                fold::compare(*op, self.element(left.ty)?, &self.constant(left)?, &self.constant(right)?)
            }
            ExprKind::LogicalNot(operand) => self.constant_not(operand),
            ExprKind::Logical(op, operands) => {
                let [left, right] = &**operands;
                let left = self.constant_truth(left)?;
                // The operand that is not evaluated need not be constant.
                let result = match (op, left) {
                    (LogicalOp::And, false) => false,
                    (LogicalOp::Or, true) => true,
                    _ => self.constant_truth(right)?,
                };
                Some(Const::Int(u64::from(result)))
            }
            ExprKind::Conditional(parts) => {
                let is_true = self.constant_truth(&parts.condition)?;
                self.constant(if is_true { &parts.then } else { &parts.otherwise })
            }
            ExprKind::Convert(conversion, operand) => fold::convert(
                &self.constant(operand)?,
                self.element(operand.ty)?,
                self.element(expr.ty)?,
                *conversion,
            ),
            ExprKind::Bitcast(operand) => fold::bitcast(
                &self.constant(operand)?,
                self.types.components(operand.ty)?,
                self.types.components(expr.ty)?,
            ),
            ExprKind::Splat(operand) => {
                let (_, count) = self.types.components(expr.ty)?;
                Some(Const::Vector(vec![self.constant(operand)?; usize::from(count)]))
            }
            ExprKind::Vector(parts) => {
                let mut components = Vec::new();
                for part in parts {
                    let (_, count) = self.types.components(part.ty)?;
                    components.extend(components_of(self.constant(part)?, count)?);
                }
                Some(Const::Vector(components))
            }
            ExprKind::Swizzle(swizzle) => {
                let (_, count) = self.types.components(swizzle.base.ty)?;
                pick(&components_of(self.constant(&swizzle.base)?, count)?, &swizzle.components)
            }
            ExprKind::PointerToInt(pointer) => self.distance_from_null(pointer).map(Const::Int),
            // The variable records which block it refers to.
            ExprKind::Block { captures, .. } => captures.is_empty().then_some(Const::Zero),
            ExprKind::PointerCast(pointer) => {
                self.constant(pointer).filter(|value| matches!(value, Const::NullPointer))
            }
            _ => None,
        }
    }

    /// The distance of a pointer from the null pointer in bytes, for `offsetof` macros that dereference a null pointer.
    fn distance_from_null(&self, pointer: &Expr) -> Option<u64> {
        match &pointer.kind {
            ExprKind::AddressOf(lvalue) => self.lvalue_from_null(lvalue),
            ExprKind::PointerCast(pointer) => self.distance_from_null(pointer),
            ExprKind::Offset(offset) => {
                let Ty::Pointer(element) = *self.types.get(offset.pointer.ty) else { return None };
                self.stepped(self.distance_from_null(&offset.pointer)?, &offset.index, element.ty)
            }
            _ => matches!(self.constant(pointer)?, Const::NullPointer).then_some(0),
        }
    }

    fn lvalue_from_null(&self, lvalue: &Lvalue) -> Option<u64> {
        match &lvalue.kind {
            LvalueKind::Deref(pointer) => self.distance_from_null(pointer),
            LvalueKind::Field(field) => Some(self.lvalue_from_null(&field.base)?.wrapping_add(field.offset)),
            LvalueKind::Element(element) => {
                self.stepped(self.lvalue_from_null(&element.base)?, &element.index, lvalue.ty.ty)
            }
            _ => None,
        }
    }

    fn stepped(&self, from: u64, index: &Expr, element: TyId) -> Option<u64> {
        let Const::Int(index) = self.constant(index)? else { return None };
        Some(from.wrapping_add(index.wrapping_mul(self.types.size_of(element)?)))
    }

    /// The value of an object that never changes.
    fn constant_object(&self, lvalue: &Lvalue) -> Option<Const> {
        match &lvalue.kind {
            LvalueKind::Local(local) => {
                self.constants.objects.get(&Object::Local(self.function?, *local)).cloned()
            }
            LvalueKind::Global(global) => self.constants.objects.get(&Object::Global(*global)).cloned(),
            LvalueKind::Swizzle(swizzle) => {
                let (_, count) = self.types.components(swizzle.base.ty.ty)?;
                pick(&components_of(self.constant_object(&swizzle.base)?, count)?, &swizzle.components)
            }
            _ => None,
        }
    }

    fn constant_not(&self, operand: &Expr) -> Option<Const> {
        if !matches!(self.types.get(operand.ty), Ty::Vector(..)) {
            return Some(Const::Int(u64::from(!self.constant_truth(operand)?)));
        }
        let (element, count) = self.types.components(operand.ty)?;
        let components = components_of(self.constant(operand)?, count)?;
        let not = |component: &Const| {
            fold::is_true(element, component).map(|is_true| Const::Int(if is_true { 0 } else { u64::MAX }))
        };
        components.iter().map(not).collect::<Option<_>>().map(Const::Vector)
    }

    /// Whether a scalar or pointer is nonzero, if that is known.
    fn constant_truth(&self, expr: &Expr) -> Option<bool> {
        let value = self.constant(expr)?;
        match self.types.get(expr.ty) {
            Ty::Pointer(_) => matches!(value, Const::NullPointer).then_some(false),
            _ => fold::is_true(self.element(expr.ty)?, &value),
        }
    }

    /// The element type of an arithmetic or vector type.
    fn element(&self, ty: TyId) -> Option<Scalar> {
        self.types.components(ty).map(|(element, _)| element)
    }

    /// Builds an expression, folding operations on constants.
    fn folded(&self, kind: ExprKind, ty: TyId, span: Span) -> Expr {
        let is_const = |expr: &Expr| matches!(expr.kind, ExprKind::Const(_));
        let foldable = match &kind {
            ExprKind::Unary(_, operand) => is_const(operand),
            ExprKind::Binary(_, operands) | ExprKind::Compare(_, operands) => operands.iter().all(is_const),
            _ => false,
        };
        let expr = Expr { kind, ty, span };
        match foldable.then(|| self.constant(&expr)).flatten() {
            Some(value) => Expr { kind: ExprKind::Const(value), ty, span },
            None => expr,
        }
    }
}

/// The components of a vector or scalar constant.
fn components_of(value: Const, count: u8) -> Option<Vec<Const>> {
    match value {
        Const::Vector(components) => Some(components),
        Const::Zero => Some(vec![Const::Zero; usize::from(count)]),
        scalar => (count == 1).then(|| vec![scalar]),
    }
}

fn pick(components: &[Const], picks: &[u8]) -> Option<Const> {
    let mut picked: Vec<Const> =
        picks.iter().map(|pick| components.get(usize::from(*pick)).cloned()).collect::<Option<_>>()?;
    if picked.len() == 1 { picked.pop() } else { Some(Const::Vector(picked)) }
}
