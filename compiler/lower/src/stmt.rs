//! Lowers statements to structured control flow. Functions with jumps across the structure use `graph` and
//! `structure` instead.

use super::{
    access::Address,
    body::{Body, Next, Slot},
    types::in_memory,
};
use kiln_frontend::hir::{Const, Expr, LocalId, LoopHints, Stmt, StmtKind, jumps};
use kiln_ir::InstId;

impl<'a> Body<'_, 'a> {
    /// Lowers the body of the function.
    pub(super) fn function_body(&mut self, stmts: &'a [Stmt]) {
        if jumps::first_unstructured_jump(stmts).is_some() {
            self.structured(stmts);
            return;
        }
        self.stmts(stmts);
        if self.is_reachable {
            self.builder.span = self.hir.span;
            self.end();
        }
    }

    /// Lowers falling off the end of the function. Sema has warned if the function returns a value.
    pub(super) fn end(&mut self) {
        let result = self.builder.function.result.map(|ty| self.builder.undefined(ty));
        self.builder.ret(result);
        self.is_reachable = false;
    }

    /// Lowers statements, up to the first that does not complete.
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            // Nothing jumps here: functions with used labels are lowered through the graph.
            if !self.is_reachable {
                return;
            }
            self.stmt(stmt);
        }
    }

    /// Statements inside an expression. The expression continues after them, however they end.
    pub(super) fn inner_stmts(&mut self, stmts: &[Stmt]) {
        let block = self.builder.insertion_point().0;
        let (construct, inside) = self.builder.open_block(&[]);
        self.builder.at_end(inside);
        self.stmts(stmts);
        if self.is_reachable {
            self.exit(construct, &[]);
        }
        self.builder.at_end(block);
        self.is_reachable = true;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.builder.span = stmt.span;
        match &stmt.kind {
            StmtKind::Declare(local) => return self.declare(*local),
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If(of) => self.lower_if(&of.condition, &of.then, &of.otherwise),
            StmtKind::Loop(of) => {
                self.loop_stmt(of.test_first, of.condition.as_ref(), of.step.as_ref(), &of.body, of.hints);
            }
            StmtKind::Switch(switch) => self.switch(&switch.value, &switch.body),
            StmtKind::Break => {
                if let Some(target) = self.break_target {
                    self.exit(target, &[]);
                }
            }
            StmtKind::Continue => match self.continue_target {
                Some(Next::Continue(target)) => {
                    self.builder.continue_loop(target, &[]);
                    self.is_reachable = false;
                }
                Some(Next::Exit(target)) => self.exit(target, &[]),
                None => {}
            },
            StmtKind::Return(value) => self.return_value(value.as_deref()),
            StmtKind::Case(_) | StmtKind::Default | StmtKind::Label(_) | StmtKind::Goto(_) => {}
        }
        self.fresh = None;
    }

    /// Starts the lifetime of a variable. In a loop, the value is set to undefined, so that it is not carried to the
    /// next iteration.
    pub(super) fn declare(&mut self, local: LocalId) {
        self.fresh = Some(local);
        let ty = self.hir.locals[local].ty.ty;
        if let (Slot::Private(var), Some(ty)) = (self.slot_of(local), self.lowering.value_type(ty))
            && self.loops > 0
        {
            let align = self.lowering.layout(self.hir.locals[local].ty.ty).1;
            let address = Address::new(self.builder.private_var(var), align);
            let undefined = self.builder.undefined(in_memory(ty));
            self.store(&address, undefined);
        }
    }

    /// Lowers `return`.
    pub(super) fn return_value(&mut self, value: Option<&Expr>) {
        let mut result = None;
        match (value, self.result) {
            (Some(value), Some(pointer)) => {
                let (size, align) = self.lowering.layout(value.ty);
                let source = self.aggregate(value);
                self.copy(&Address::new(pointer, align), &source, size);
            }
            (Some(value), None) if self.builder.function.result.is_some() => result = Some(self.value(value)),
            (Some(value), None) => self.effect(value),
            (None, _) => result = self.builder.function.result.map(|ty| self.builder.undefined(ty)),
        }
        self.builder.ret(result);
        self.is_reachable = false;
    }

    fn lower_if(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        if let Some(holds) = self.known_condition(condition) {
            return self.stmts(if holds { then } else { otherwise });
        }
        let condition = self.condition(condition);
        let block = self.builder.insertion_point().0;
        let open = self.builder.open_if(condition, &[]);
        for (block, stmts) in [(open.then, then), (open.otherwise, otherwise)] {
            self.builder.at_end(block);
            self.is_reachable = true;
            self.stmts(stmts);
            if self.is_reachable {
                self.exit(open.inst, &[]);
            }
        }
        self.continue_after(open.inst, block);
    }

    /// All loops of C (C99 6.8.5). The test is part of the body; `continue` jumps to the step.
    fn loop_stmt(
        &mut self,
        test_first: bool,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &[Stmt],
        hints: LoopHints,
    ) {
        let known = condition.map_or(Some(true), |condition| self.known_condition(condition));
        let condition = if known == Some(true) { None } else { condition };
        match (test_first, known) {
            (true, Some(false)) => return,
            // `do { … } while (0)`
            (false, Some(false)) => return self.single_iteration(body),
            _ => {}
        }
        let block = self.builder.insertion_point().0;
        let open = self.builder.open_loop(&[], &[], &[], hints);
        self.builder.at_end(open.body);
        self.loops += 1;
        let (outer_break, outer_next) = (self.break_target.replace(open.inst), self.continue_target);
        if test_first {
            self.leave_unless(condition, open.inst);
            self.continue_target = Some(Next::Continue(open.inst));
            self.stmts(body);
        } else {
            // The test comes after the body, so `continue` must jump to the test.
            self.continue_block(body);
            if self.is_reachable {
                self.leave_unless(condition, open.inst);
            }
        }
        if self.is_reachable {
            self.builder.continue_loop(open.inst, &[]);
        }
        (self.break_target, self.continue_target) = (outer_break, outer_next);
        self.builder.at_end(open.continuing);
        if let Some(step) = step {
            self.effect(step);
        }
        self.builder.next(open.inst, &[]);
        self.loops -= 1;
        self.continue_after(open.inst, block);
    }

    /// Leaves a loop if the condition is false.
    fn leave_unless(&mut self, condition: Option<&Expr>, construct: InstId) {
        let Some(condition) = condition else { return };
        let condition = self.condition(condition);
        let block = self.builder.insertion_point().0;
        let open = self.builder.open_if(condition, &[]);
        self.builder.at_end(open.then);
        self.exit(open.inst, &[]);
        self.builder.at_end(open.otherwise);
        self.exit(construct, &[]);
        self.continue_after(open.inst, block);
    }

    /// The body of a loop with one iteration.
    fn single_iteration(&mut self, body: &[Stmt]) {
        if !contains_jump_out(body) {
            return self.stmts(body);
        }
        let outer = (self.break_target, self.continue_target);
        let block = self.builder.insertion_point().0;
        let (construct, inside) = self.builder.open_block(&[]);
        self.builder.at_end(inside);
        (self.break_target, self.continue_target) = (Some(construct), Some(Next::Exit(construct)));
        self.stmts(body);
        if self.is_reachable {
            self.exit(construct, &[]);
        }
        (self.break_target, self.continue_target) = outer;
        self.continue_after(construct, block);
    }

    /// A block of statements that `continue` leaves.
    fn continue_block(&mut self, body: &[Stmt]) {
        if !contains_continue(body) {
            // The statements contain no `continue` of this loop.
            return self.stmts(body);
        }
        let block = self.builder.insertion_point().0;
        let (construct, inside) = self.builder.open_block(&[]);
        self.builder.at_end(inside);
        self.continue_target = Some(Next::Exit(construct));
        self.stmts(body);
        if self.is_reachable {
            self.exit(construct, &[]);
        }
        self.continue_after(construct, block);
    }
}

/// Whether the statements contain a `continue` of the enclosing loop.
fn contains_continue(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Continue => true,
        StmtKind::Block(body) => contains_continue(body),
        StmtKind::Switch(switch) => contains_continue(&switch.body),
        StmtKind::If(of) => contains_continue(&of.then) || contains_continue(&of.otherwise),
        _ => false,
    })
}

/// Whether the statements contain a `break` or `continue` of the enclosing loop.
fn contains_jump_out(stmts: &[Stmt]) -> bool {
    contains_continue(stmts) || breaks(stmts)
}

/// Whether the statements contain a `break` of the enclosing loop or switch.
pub(super) fn breaks(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(body) => breaks(body),
        StmtKind::If(of) => breaks(&of.then) || breaks(&of.otherwise),
        _ => false,
    })
}

/// Whether the end of the statements may be reached.
pub(super) fn completes(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_) => false,
        StmtKind::Block(body) => completes(body),
        StmtKind::If(of) => completes(&of.then) || completes(&of.otherwise),
        StmtKind::Loop(of) => {
            let is_endless = of.condition.as_ref().is_none_or(|condition| {
                matches!(condition.kind, kiln_frontend::hir::ExprKind::Const(Const::Int(1..)))
            });
            !is_endless || breaks(&of.body)
        }
        _ => true,
    })
}
