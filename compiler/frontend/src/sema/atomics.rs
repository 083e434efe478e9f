//! Calls of atomic functions (OpenCL C 6.15.12): objects, operands, orders and scopes.
//!
//! `memory` decides which orders and scopes are legal. This file determines them and reports the problems that `memory` finds.
//! `fences.rs` handles fences and barriers.

use kiln_builtins::{AtomicForm, Overload};
use kiln_memory::{self as memory, Argument, Operation, Problem, Spaces, Support};
use kiln_session::{
    SeqCst,
    diag::{Code, Diagnostic},
    extensions::Extension,
};
use kiln_syntax::Span;
use kiln_types::ty::{EnumId, QualTy, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Environment, Order, Scope};

use super::{Sema, builtin::Call, convert::AssignContext};
use crate::hir::{Assign, Atomic, Const, Expr, ExprKind, Known, Lvalue, LvalueKind};

/// An order, scope or flags argument, with its position.
pub(super) struct Chosen<T> {
    pub(super) value: Known<T>,
    pub(super) span: Span,
}

/// The diagnostic of a problem with an order or a scope, with the fix if the call has this argument.
pub(super) fn argument_problem(problem: Problem, span: Span, is_given: bool) -> Diagnostic {
    let replacement = problem.replacement().filter(|_| is_given);
    let diagnostic = Diagnostic::of_problem(problem, span);
    match replacement {
        Some(word) => diagnostic.replace(span, word),
        None => diagnostic,
    }
}

impl<T: Copy> Chosen<T> {
    /// The default for a form of the function without this argument.
    pub(super) fn default(value: T, call: &Call) -> Self {
        Self { value: Known::Constant(value), span: call.callee }
    }

    /// The value, if it is constant.
    pub(super) fn known(&self) -> Option<T> {
        match &self.value {
            Known::Constant(value) => Some(*value),
            Known::Dynamic(_) => None,
        }
    }
}

impl Sema<'_> {
    /// Checks an atomic operation. `arguments` are loaded, but not yet converted to the types of the overload's
    /// parameters.
    pub(super) fn atomic_call(
        &mut self,
        form: AtomicForm,
        overload: &Overload,
        arguments: Vec<Expr>,
        call: &Call,
    ) -> Expr {
        let mut arguments = arguments.into_iter().zip(&overload.parameters).enumerate();
        let mut next = |sema: &mut Self| {
            let (index, (value, parameter)) = arguments.next()?;
            let parameter = if index == 0 { sema.as_volatile_as(&value, *parameter) } else { *parameter };
            Some(sema.assign_convert(value, parameter, AssignContext::Argument(index + 1)))
        };
        let Some(object) = next(self).and_then(|object| self.atomic_object(object, form, overload, call))
        else {
            return self.error_value(call.span);
        };
        let value_ty = self.atomic_value(&object);
        let (expected, operand) = match form.op {
            AtomicOp::Load | AtomicOp::FlagTestAndSet | AtomicOp::FlagClear => (None, None),
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => (next(self), next(self)),
            AtomicOp::Fetch(_) if form.by_one => {
                let one = Expr { kind: ExprKind::Const(Const::Int(1)), ty: value_ty, span: call.span };
                (None, Some(one))
            }
            AtomicOp::Store | AtomicOp::Exchange | AtomicOp::Fetch(_) => (None, next(self)),
        };
        if expected.iter().chain(&operand).any(|value| value.ty == TyId::ERROR) {
            return self.error_value(call.span);
        }
        // Convert the operand to the type of the object (`ptrdiff_t` for `atomic_size_t`).
        let operand = operand.map(|operand| self.convert(operand, value_ty));
        let (order, failure, mut scope) = if form.is_legacy {
            (Chosen::default(Order::Relaxed, call), None, Chosen::default(Scope::Device, call))
        } else {
            let rest: Vec<(Expr, QualTy)> =
                arguments.map(|(_, (value, parameter))| (value, *parameter)).collect();
            let Some(chosen) = self.order_and_scope(form, rest, call) else {
                return self.error_value(call.span);
            };
            chosen
        };
        let space = self.pointee_space(object.ty);
        self.widen_work_item_scope(form, &mut scope);
        if !form.is_legacy && !self.check_atomic_call(form, space, &order, failure.as_ref(), &scope, &object)
        {
            return self.error_value(call.span);
        }
        let failure = match form.op {
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => {
                Some(failure.map_or(order.value.clone(), |failure| failure.value))
            }
            _ => None,
        };
        let atomic = Atomic {
            op: form.op,
            object,
            value_ty,
            operand,
            expected,
            order: order.value,
            failure,
            scope: scope.value,
            is_legacy: form.is_legacy,
        };
        Expr { kind: ExprKind::Atomic(Box::new(atomic)), ty: overload.result, span: call.span }
    }

    /// If `memory_scope_work_item` is only a warning: reports it, and widens the scope to the next one.
    fn widen_work_item_scope(&mut self, form: AtomicForm, scope: &mut Chosen<Scope>) {
        if scope.known() == Some(Scope::WorkItem) && !self.sink.is_error(Code::ScopeWorkItem) {
            if let Err(problem) = memory::check_atomic(form.op, None, None, scope.known()) {
                self.report_memory_problem(problem, scope.span);
            }
            scope.value = Known::Constant(Scope::WorkGroup);
        }
    }

    /// The parameter type for this argument. All prototypes have `volatile` and so accept any object, but the access
    /// is volatile only if the object is.
    fn as_volatile_as(&mut self, argument: &Expr, parameter: QualTy) -> QualTy {
        match (self.types.get(argument.ty), self.types.get(parameter.ty)) {
            (Ty::Pointer(given), Ty::Pointer(wanted)) => {
                let mut to = *wanted;
                to.quals.is_volatile = given.quals.is_volatile;
                QualTy { ty: self.types.pointer(to), ..parameter }
            }
            _ => parameter,
        }
    }

    fn pointee_space(&self, pointer: TyId) -> AddressSpace {
        match self.types.get(pointer) {
            Ty::Pointer(to) => to.quals.space.unwrap_or(AddressSpace::Private),
            _ => AddressSpace::Private,
        }
    }

    /// The orders and scope of a call, with the defaults of shorter forms (OpenCL C 6.15.12).
    #[allow(clippy::type_complexity)]
    fn order_and_scope(
        &mut self,
        form: AtomicForm,
        rest: Vec<(Expr, QualTy)>,
        call: &Call,
    ) -> Option<(Chosen<Order>, Option<Chosen<Order>>, Chosen<Scope>)> {
        let swap = match rest.as_slice() {
            [(order, _), (scope, _)] => self.swap(order, scope),
            _ => None,
        };
        if let Some((order, scope)) = swap {
            return self.swapped(form.op, rest, order, scope);
        }
        let mut rest = rest.into_iter();
        let has_failure = matches!(form.op, AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak);
        let order = match rest.next() {
            Some((value, parameter)) => self.order_argument(value, parameter, Argument::Order)?,
            None => Chosen::default(Order::SeqCst, call),
        };
        let failure = match rest.next() {
            Some((value, parameter)) if has_failure => {
                Some(self.order_argument(value, parameter, Argument::Failure)?)
            }
            Some((value, parameter)) => {
                let scope = self.scope_argument(value, parameter)?;
                return Some((order, None, scope));
            }
            None => None,
        };
        let scope = match rest.next() {
            Some((value, parameter)) => self.scope_argument(value, parameter)?,
            None => Chosen::default(Scope::Device, call),
        };
        Some((order, failure, scope))
    }

    /// Reports the problems that `memory` finds in an atomic operation. Returns whether it is legal.
    fn check_atomic_call(
        &mut self,
        form: AtomicForm,
        space: AddressSpace,
        order: &Chosen<Order>,
        failure: Option<&Chosen<Order>>,
        scope: &Chosen<Scope>,
        object: &Expr,
    ) -> bool {
        let span_of = |argument| match argument {
            Argument::Object => object.span,
            Argument::Failure => failure.map_or(order.span, |failure| failure.span),
            Argument::Scope => scope.span,
            Argument::Order | Argument::Flags => order.span,
        };
        let (known_order, known_scope) = (order.known(), scope.known());
        let known_failure = failure.and_then(Chosen::known);
        let operation = Operation::Atomic(form.op.into(), Spaces::for_pointer(space));
        let support = self.memory_support();
        let problem = memory::check_atomic(form.op, known_order, known_failure, known_scope)
            .and_then(|()| memory::check_support(operation, known_order, known_scope, support))
            .and_then(|()| memory::check_support(operation, known_failure, None, support));
        if let Err(problem) = problem {
            let span = span_of(problem.argument);
            // An argument that the call leaves out is reported at the function's name, which precedes the object.
            self.report(argument_problem(problem, span, span.lo > object.span.lo));
            return false;
        }
        if let Some(advice) = memory::advise_atomic(known_order, known_scope, Some(space)) {
            let span = span_of(advice.argument);
            self.report(argument_problem(advice, span, span.lo > object.span.lo));
        }
        // A failure order can only be seq_cst if the order is.
        self.warn_weakened(known_order, order.span);
        true
    }

    /// Warns about each operation that may be seq_cst if the options weaken it.
    pub(super) fn warn_weakened(&mut self, order: Option<Order>, span: Span) {
        let is_weakened =
            self.options.seq_cst == SeqCst::AcqRel && self.options.target.environment == Environment::Vulkan;
        if let Some(advice) = memory::advise_weakened(order).filter(|_| is_weakened) {
            self.report_memory_problem(advice, span);
        }
    }

    /// An argument for a memory order (OpenCL C 6.15.12.3).
    pub(super) fn order_argument(
        &mut self,
        value: Expr,
        parameter: QualTy,
        argument: Argument,
    ) -> Option<Chosen<Order>> {
        self.chosen(value, parameter, |bits| memory::order_of_value(bits, argument))
    }

    /// An argument for a memory scope (OpenCL C 6.15.12.4).
    pub(super) fn scope_argument(&mut self, value: Expr, parameter: QualTy) -> Option<Chosen<Scope>> {
        self.chosen(value, parameter, memory::scope_of_value)
    }

    /// Evaluates an argument that may be constant. Reports a constant that is not a valid value, and returns `None`.
    pub(super) fn chosen<T>(
        &mut self,
        value: Expr,
        parameter: QualTy,
        of_value: impl FnOnce(i64) -> Result<T, Problem>,
    ) -> Option<Chosen<T>> {
        let span = value.span;
        let is_other = self.warn_other_enum(&value, parameter);
        let value = self.assign_convert(value, parameter, AssignContext::Argument(0));
        if value.ty == TyId::ERROR {
            return None;
        }
        if let Some(Const::Int(bits)) = self.constant(&value) {
            match of_value(bits as i64) {
                Ok(chosen) => return Some(Chosen { value: Known::Constant(chosen), span }),
                // A warning about swapped order and scope is more helpful than one about the value.
                Err(_) if is_other => {}
                Err(problem) => {
                    self.report_memory_problem(problem, span);
                    return None;
                }
            }
        }
        Some(Chosen { value: Known::Dynamic(Box::new(value)), span })
    }

    /// The intended order and scope, if the first argument is a scope and the second one an order.
    fn swap(&self, first: &Expr, second: &Expr) -> Option<(Order, Scope)> {
        let is =
            |value: &Expr, id: EnumId| matches!(self.types.get(value.ty), Ty::Enum(found) if *found == id);
        if !is(first, EnumId::MEMORY_SCOPE) || !is(second, EnumId::MEMORY_ORDER) {
            return None;
        }
        let value = |value: &Expr| match self.constant(value) {
            Some(Const::Int(bits)) => Some(bits as i64),
            _ => None,
        };
        Some((Order::from_value(value(second)?)?, Scope::from_value(value(first)?)?))
    }

    /// Reports a scope and an order that are swapped, once, with the fix. The call keeps the meaning that it has in C;
    /// if that is not legal, this is the error.
    #[allow(clippy::type_complexity)]
    fn swapped(
        &mut self,
        op: AtomicOp,
        rest: Vec<(Expr, QualTy)>,
        order: Order,
        scope: Scope,
    ) -> Option<(Chosen<Order>, Option<Chosen<Order>>, Chosen<Scope>)> {
        let [(first, first_parameter), (second, second_parameter)] = <[_; 2]>::try_from(rest).ok()?;
        let (order_span, scope_span) = (first.span, second.span);
        let words = format!("{}, {}", order.spelling(), scope.spelling());
        let value = |constant| match constant {
            Some(Const::Int(bits)) => Some(bits as i64),
            _ => None,
        };
        let of_c = (
            value(self.constant(&first)).and_then(Order::from_value),
            value(self.constant(&second)).and_then(Scope::from_value),
        );
        let problem = memory::check_atomic(op, of_c.0, None, of_c.1).err();
        let code = problem.as_ref().map_or(Code::OrderScopeSwapped, |problem| problem.rule.into());
        self.report(
            Diagnostic::new(code, order_span, "the order and the scope are swapped")
                .help(format!("write `{words}`"))
                .note("OpenCL C 6.15.12.7")
                .fix(order_span.to(scope_span), format!("write `{words}`"), words),
        );
        if problem.is_some() && self.sink.is_error(code) {
            return None;
        }
        let order = match of_c.0 {
            Some(order) => Known::Constant(order),
            None => Known::Dynamic(Box::new(self.assign_convert(
                first,
                first_parameter,
                AssignContext::Argument(0),
            ))),
        };
        let scope = match of_c.1 {
            Some(scope) => Known::Constant(scope),
            None => Known::Dynamic(Box::new(self.assign_convert(
                second,
                second_parameter,
                AssignContext::Argument(0),
            ))),
        };
        let order = Chosen { value: order, span: order_span };
        Some((order, None, Chosen { value: scope, span: scope_span }))
    }

    /// Warns about an order in place of a scope, or vice versa: legal C, but never intended.
    fn warn_other_enum(&mut self, value: &Expr, parameter: QualTy) -> bool {
        let (Ty::Enum(given), Ty::Enum(wanted)) = (self.types.get(value.ty), self.types.get(parameter.ty))
        else {
            return false;
        };
        let known = [EnumId::MEMORY_ORDER, EnumId::MEMORY_SCOPE];
        if given == wanted || !known.contains(given) || !known.contains(wanted) {
            return false;
        }
        let (given, wanted) = (self.show(value.ty), self.show(parameter.ty));
        self.report(
            Diagnostic::new(
                Code::OrderScopeSwapped,
                value.span,
                format!("this is a `{given}`, but a `{wanted}` is expected"),
            )
            .help("the order comes before the scope; there is no form with a scope alone")
            .note("OpenCL C 6.15.12.7"),
        );
        true
    }

    /// The orders and scopes that this compilation supports (OpenCL C 6.15.12.10).
    pub(super) fn memory_support(&self) -> Support {
        let has = |extension| self.extensions.has(extension);
        Support {
            acq_rel: has(Extension::OrderAcqRel),
            seq_cst: has(Extension::OrderSeqCst),
            device: has(Extension::ScopeDevice),
            all_devices: has(Extension::ScopeAllDevices),
            sub_groups: has(Extension::FeatureSubgroups)
                || has(Extension::KhrSubgroups)
                || has(Extension::IntelSubgroups),
        }
    }

    /// Reports a problem that `memory` found.
    pub(super) fn report_memory_problem(&mut self, problem: Problem, span: Span) {
        self.report(Diagnostic::of_problem(problem, span));
    }

    /// `atomic_init`: a plain store (OpenCL C 6.15.12.2).
    pub(super) fn atomic_init_call(
        &mut self,
        overload: &Overload,
        arguments: Vec<Expr>,
        call: &Call,
    ) -> Expr {
        let mut arguments = arguments.into_iter().zip(&overload.parameters);
        let (Some((object, to)), Some((value, parameter))) = (arguments.next(), arguments.next()) else {
            return self.error_value(call.span);
        };
        let given = object.ty;
        let object = self.assign_convert(object, *to, AssignContext::Argument(1));
        let value = self.assign_convert(value, *parameter, AssignContext::Argument(2));
        if object.ty == TyId::ERROR || value.ty == TyId::ERROR {
            return self.error_value(call.span);
        }
        if !matches!(self.types.get(given), Ty::Pointer(given) if self.is_atomic(given.ty)) {
            let (shown, wanted) = (self.show(given), "an atomic type");
            self.report_atomic_object(&shown, wanted, false, object.span, call);
            return self.error_value(call.span);
        }
        if let Some(advice) = memory::advise_atomic(None, None, Some(self.pointee_space(object.ty))) {
            self.report_memory_problem(advice, object.span);
        }
        let lvalue = self.plain_view(object);
        let value = self.convert(value, lvalue.ty.ty);
        let (ty, span) = (lvalue.ty.ty, call.span);
        let store = Expr { kind: ExprKind::Assign(Box::new(Assign { lvalue, value })), ty, span };
        let nothing = self.nothing(span);
        Expr { kind: ExprKind::Comma(Box::new(store), Box::new(nothing)), ty: TyId::VOID, span }
    }

    /// An atomic object as an lvalue of its plain type, for non-atomic accesses.
    pub(super) fn plain_view(&mut self, object: Expr) -> Lvalue {
        let span = object.span;
        let ty = self.atomic_value(&object);
        let space = self.pointee_space(object.ty);
        let lvalue_ty = ty.plain().in_space(space);
        let pointer = self.types.pointer(lvalue_ty);
        let object = Expr { kind: ExprKind::PointerCast(Box::new(object)), ty: pointer, span };
        Lvalue { kind: LvalueKind::Deref(Box::new(object)), ty: lvalue_ty, span }
    }
}
