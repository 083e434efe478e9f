//! Calls of fences and barriers (OpenCL C 6.15.8, 6.15.9, 6.15.12.5): flags, orders and scopes.

use super::{
    Sema,
    atomics::{Chosen, argument_problem},
    builtin::Call,
};
use kiln_builtins::{Barrier, Fence, Overload};
use kiln_memory::{self as memory, Argument, Group, Operation, Rule};
use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_types::ty::{EnumId, QualTy, Ty};
use kiln_vocabulary::opencl::{FenceFlags, Order, Scope};

use crate::hir::{self, Expr, ExprKind, Known, LogicalOp};

impl Sema<'_> {
    /// `atomic_work_item_fence`, `mem_fence`, `read_mem_fence`, `write_mem_fence`.
    pub(super) fn fence_call(
        &mut self,
        fence: Fence,
        overload: &Overload,
        arguments: Vec<Expr>,
        call: &Call,
    ) -> Expr {
        let mut arguments = arguments.into_iter().zip(overload.parameters.iter().copied());
        let Some(flags) =
            arguments.next().and_then(|(value, parameter)| self.flags_argument(value, parameter))
        else {
            return self.error_value(call.span);
        };
        let order = match fence {
            Fence::MemFence => Chosen::default(Order::AcqRel, call),
            Fence::ReadMemFence => Chosen::default(Order::Acquire, call),
            Fence::WriteMemFence => Chosen::default(Order::Release, call),
            Fence::WorkItemFence => {
                let order = arguments
                    .next()
                    .and_then(|(value, parameter)| self.order_argument(value, parameter, Argument::Order));
                match order {
                    Some(order) => order,
                    None => return self.error_value(call.span),
                }
            }
        };
        let scope = match arguments.next() {
            Some((value, parameter)) => match self.scope_argument(value, parameter) {
                Some(scope) => scope,
                None => return self.error_value(call.span),
            },
            None => Chosen::default(Scope::WorkGroup, call),
        };
        if !self.check_fence_call(fence, &flags, &order, &scope, call) {
            return self.error_value(call.span);
        }
        let flags = match flags.value {
            // OpenCL C 6.15.9: the older fences do not order image memory.
            Known::Constant(value) if fence != Fence::WorkItemFence => {
                Known::Constant(value.intersection(FenceFlags::GLOBAL.union(FenceFlags::LOCAL)))
            }
            flags => flags,
        };
        let kind = ExprKind::Fence(Box::new(hir::Fence { flags, order: order.value, scope: scope.value }));
        Expr { kind, ty: overload.result, span: call.span }
    }

    /// Reports the problems that `memory` finds in a fence. Returns whether it is legal.
    fn check_fence_call(
        &mut self,
        fence: Fence,
        flags: &Chosen<FenceFlags>,
        order: &Chosen<Order>,
        scope: &Chosen<Scope>,
        call: &Call,
    ) -> bool {
        let span_of = |argument| match argument {
            Argument::Scope => scope.span,
            Argument::Order | Argument::Failure => order.span,
            Argument::Flags | Argument::Object => flags.span,
        };
        let (known_flags, known_order, known_scope) = (flags.known(), order.known(), scope.known());
        let advice = if fence == Fence::WorkItemFence {
            let problem = memory::check_fence(known_flags, known_order, known_scope).and_then(|()| {
                memory::check_support(Operation::Fence, known_order, known_scope, self.memory_support())
            });
            if let Err(problem) = problem {
                let span = span_of(problem.argument);
                self.report(match problem.rule {
                    Rule::FenceImage if known_flags == Some(FenceFlags::IMAGE) => {
                        let words = "memory_order_acq_rel, memory_scope_work_item";
                        let whole = order.span.to(scope.span);
                        Diagnostic::of_problem(problem, span).fix(whole, format!("write `{words}`"), words)
                    }
                    _ => argument_problem(problem, span, true),
                });
                return false;
            }
            self.warn_weakened(known_order, order.span);
            memory::advise_fence(known_flags, known_order)
        } else {
            memory::advise_legacy_fence(known_flags)
        };
        if let Some(advice) = advice {
            let span = span_of(advice.argument);
            let is_image_fence = advice.rule == Rule::MemFenceImage && known_flags == Some(FenceFlags::IMAGE);
            let mut diagnostic = Diagnostic::of_problem(advice, span);
            if is_image_fence {
                let fence = "atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item)";
                diagnostic = diagnostic.rewrite(call.span, "write an image fence", [Piece::Text(fence)]);
            }
            self.report(diagnostic);
        }
        true
    }

    /// `work_group_barrier`, `barrier`, `sub_group_barrier`.
    pub(super) fn barrier_call(
        &mut self,
        barrier: Barrier,
        overload: &Overload,
        arguments: Vec<Expr>,
        call: &Call,
    ) -> Expr {
        let mut arguments = arguments.into_iter().zip(overload.parameters.iter().copied());
        let Some(flags) =
            arguments.next().and_then(|(value, parameter)| self.flags_argument(value, parameter))
        else {
            return self.error_value(call.span);
        };
        // The default memory scope is the scope of the barrier.
        let given = arguments.next();
        let is_given = given.is_some();
        let scope = match given {
            Some((value, parameter)) => self.scope_argument(value, parameter),
            None => Some(Chosen::default(barrier.execution, call)),
        };
        let Some(scope) = scope else { return self.error_value(call.span) };
        let group = Group::from_scope(barrier.execution);
        let span_of = |argument| if argument == Argument::Scope { scope.span } else { flags.span };
        let support = self.memory_support();
        let problem = memory::check_barrier(group, flags.known(), scope.known()).and_then(|()| {
            let scope = scope.known().filter(|_| is_given);
            memory::check_support(Operation::Barrier(group), None, scope, support)
        });
        if let Err(problem) = problem {
            let span = span_of(problem.argument);
            self.report(argument_problem(problem, span, is_given));
            return self.error_value(call.span);
        }
        if let Some(advice) = memory::advise_barrier(flags.known(), scope.known()) {
            let span = span_of(advice.argument);
            self.report_memory_problem(advice, span);
        }
        let barrier = hir::Barrier { execution: barrier.execution, flags: flags.value, scope: scope.value };
        let kind = ExprKind::Barrier(Box::new(barrier));
        Expr { kind, ty: overload.result, span: call.span }
    }

    /// An argument with fence flags (OpenCL C 6.15.8).
    fn flags_argument(&mut self, value: Expr, parameter: QualTy) -> Option<Chosen<FenceFlags>> {
        if let Ty::Enum(EnumId::MEMORY_ORDER | EnumId::MEMORY_SCOPE) = self.types.get(value.ty) {
            let shown = self.show(value.ty);
            self.report(
                Diagnostic::new(
                    Code::FenceFlagsValue,
                    value.span,
                    format!("this is a `{shown}`, but fence flags are expected"),
                )
                .help("the flags come first: combine CLK_GLOBAL_MEM_FENCE, CLK_LOCAL_MEM_FENCE and CLK_IMAGE_MEM_FENCE with |")
                .note("OpenCL C 6.15.8, 6.15.12.5"),
            );
            return None;
        }
        self.warn_logical_flags(&value);
        self.chosen(value, parameter, memory::flags_of_value)
    }

    /// Warns about `A && B` and `A || B`, whose value is 0 or 1 and therefore at most one of the flags.
    fn warn_logical_flags(&mut self, value: &Expr) {
        let ExprKind::Logical(op, operands) = &value.kind else { return };
        let spelling = match op {
            LogicalOp::And => "&&",
            LogicalOp::Or => "||",
        };
        let [left, right] = &**operands;
        let pieces = [Piece::Operand(left.span), Piece::Text(" | "), Piece::Operand(right.span)];
        self.report(
            Diagnostic::new(
                Code::LogicalFlags,
                value.span,
                format!("`{spelling}` gives 0 or 1, which is at most one of the flags"),
            )
            .help("write `|`")
            .rewrite(value.span, "write `|`", pieces)
            .note("OpenCL C 6.15.8: flags are combined by a bitwise or"),
        );
    }
}
