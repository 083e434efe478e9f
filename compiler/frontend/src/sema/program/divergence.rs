//! Warns about barriers that some work-items of a group may not reach (OpenCL C 6.15.8).
//!
//! A value varies if it may differ between work-items of a group. It varies if it comes from a work-item id or an
//! atomic operation. A variable varies if its last assigned value varies, or if it is assigned in divergent control
//! flow. A load from a uniform address is assumed to be uniform, so the analysis reports likely errors and may miss
//! others.

use kiln_builtins::{self as builtins, Collective, Lowering};
use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::index::Table;
use kiln_vocabulary::opencl::{AddressSpace, Scope};
use rustc_hash::FxHashMap;

use self::locals::Locals;
use super::Program;
use crate::hir::{
    Expr, ExprKind, FunctionId, If, LocalId, Lvalue, LvalueKind, Module, Stmt, StmtKind, Switch, visit,
};

mod locals;

/// Built-in functions whose result differs between the work-items of a group.
const VARYING: &[&str] = &[
    "get_global_id",
    "get_local_id",
    "get_global_linear_id",
    "get_local_linear_id",
    "get_sub_group_local_id",
    "get_sub_group_id",
];

/// The facts about a function.
#[derive(Clone, Default)]
struct Facts {
    /// Parameters that vary.
    varying: Locals,
    /// Variables that vary at the start of each loop iteration.
    heads: FxHashMap<Span, Locals>,
    /// Whether it contains a `goto`, which carries varying values to its label.
    has_jumps: bool,
    /// Whether the result varies even for uniform arguments.
    result_varies: bool,
    /// Whether it queries a work-item id or performs an atomic operation, directly or through calls.
    has_source: bool,
    /// Whether it contains a barrier, directly or through calls.
    has_barrier: bool,
    /// Loops that only some work-items leave early, and where they diverge.
    left: FxHashMap<Span, Span>,
}

/// A barrier that only some work-items may reach.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Divergent {
    barrier: Span,
    /// Where control flow diverged.
    diverged: Span,
    kind: Kind,
}

/// What all work-items of a group must reach.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Barrier,
    /// A call of a function that contains one.
    Call,
    /// A built-in function.
    Builtin(&'static str),
}

impl Kind {
    /// What is wrong, and the rule.
    fn describe(self) -> (String, &'static str) {
        const BARRIER: &str =
            "OpenCL C 6.15.8: if one work-item of a work-group executes the barrier, all must";
        const FUNCTION: &str =
            "OpenCL C 6.15.11, 6.15.16: all work-items of a work-group must reach the function";
        match self {
            Self::Barrier => ("some work-items of the group may not reach this barrier".to_owned(), BARRIER),
            Self::Call => (
                "this call contains a barrier that some work-items of the group may not reach".to_owned(),
                BARRIER,
            ),
            Self::Builtin(name) => {
                (format!("some work-items of the group may not reach this call of `{name}`"), FUNCTION)
            }
        }
    }
}

/// The analysis of a program.
struct Analysis<'m> {
    module: &'m Module,
    facts: Table<FunctionId, Facts>,
    changed: bool,
}

/// One traversal of a function.
struct Walk<'a, 'm> {
    analysis: &'a mut Analysis<'m>,
    function: FunctionId,
    /// Where control flow diverged, if only some work-items may be here.
    diverged: Option<Span>,
    /// Like `diverged`, for the rest of the function after a divergent `return`.
    returned: Option<Span>,
    /// Like `diverged`, for the rest of the loop body and later iterations after a divergent `break`.
    left: Option<Span>,
    /// Like `diverged`, for the rest of the loop body after a divergent `continue`: work-items reconverge at its end.
    skipped: Option<Span>,
    /// Variables that vary here.
    varying: Locals,
    /// Variables that vary at any `break` so far, for each enclosing loop and `switch`.
    breaks: Vec<Locals>,
    /// Variables that vary at any `continue` so far, for each enclosing loop.
    continues: Vec<Locals>,
    /// Variables that vary at the start of each enclosing `switch`.
    switches: Vec<Locals>,
    /// Divergent barriers. Only filled in the last traversal.
    found: Option<Vec<Divergent>>,
}

impl Program<'_> {
    /// Warns about barriers in divergent control flow (OpenCL C 6.15.8).
    pub(super) fn check_divergence(&mut self) {
        if !self.sink.is_enabled(Code::DivergentBarrier) || !self.uses.iter().any(|uses| uses.barriers) {
            return;
        }
        let mut facts = Table::new();
        for _ in self.module.functions.iter() {
            facts.push(Facts::default());
        }
        let mut analysis = Analysis { module: self.module, facts, changed: false };
        let ids = || self.module.functions.ids();
        ids().for_each(|function| drop(analysis.walk(function, None)));
        while std::mem::take(&mut analysis.changed) {
            ids().for_each(|function| drop(analysis.walk(function, None)));
        }
        let found: Vec<Divergent> =
            ids().filter_map(|function| analysis.walk(function, Some(Vec::new()))).flatten().collect();
        for found in found {
            let (message, note) = found.kind.describe();
            self.report(
                Diagnostic::new(Code::DivergentBarrier, found.barrier, message)
                    .also(found.diverged, "the work-items diverge here")
                    .help(match found.kind {
                        Kind::Builtin(_) => "move the call to code that all work-items reach",
                        Kind::Barrier | Kind::Call => "move the barrier to code that all work-items reach",
                    })
                    .note(note),
            );
        }
    }
}

impl<'m> Analysis<'m> {
    fn walk(&mut self, function: FunctionId, found: Option<Vec<Divergent>>) -> Option<Vec<Divergent>> {
        let module = self.module;
        let body = module.functions[function].body.as_deref().unwrap_or_default();
        let varying = self.facts[function].varying.clone();
        let mut walk = Walk {
            analysis: self,
            function,
            diverged: None,
            returned: None,
            left: None,
            skipped: None,
            varying,
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            found,
        };
        walk.stmts(body);
        walk.found
    }

    fn set<T: PartialEq>(&mut self, function: FunctionId, field: impl Fn(&mut Facts) -> &mut T, value: T) {
        let field = field(&mut self.facts[function]);
        if *field != value {
            *field = value;
            self.changed = true;
        }
    }

    fn vary(&mut self, function: FunctionId, local: LocalId) {
        self.changed |= self.facts[function].varying.insert(local);
    }
}

impl<'m> Walk<'_, 'm> {
    fn stmts(&mut self, stmts: &'m [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// Where the control flow to the current statement diverged.
    fn divergence(&self) -> Option<Span> {
        self.divergence_before_returns().or(self.returned)
    }

    /// Like `divergence`, but ignores divergent returns: work-items that returned do not reconverge with the others. A
    /// variable varies if only some of the work-items that reconverge have stored to it.
    fn divergence_before_returns(&self) -> Option<Span> {
        self.diverged.or(self.left).or(self.skipped)
    }

    /// Traverses statements that are only reached under a condition.
    fn with_condition(&mut self, condition: Option<Span>, walk: impl FnOnce(&mut Self)) {
        let before = self.diverged;
        self.diverged = before.or(condition);
        walk(self);
        self.diverged = before;
    }

    fn stmt(&mut self, stmt: &'m Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.evaluate(expr),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If(branch) => {
                let If { condition, then, otherwise } = &**branch;
                self.expr(condition);
                let diverged = self.varies(condition).then_some(condition.span);
                let before = self.varying.clone();
                self.with_condition(diverged, |walk| walk.stmts(then));
                let after = std::mem::replace(&mut self.varying, before);
                self.with_condition(diverged, |walk| walk.stmts(otherwise));
                self.varying.extend(&after);
            }
            StmtKind::Loop(node) => {
                self.repeat(stmt.span, node.condition.as_ref(), node.step.as_ref(), &node.body);
            }
            StmtKind::Switch(switch) => {
                let Switch { value, body } = &**switch;
                self.expr(value);
                let before = self.left;
                let diverged = self.varies(value).then_some(value.span);
                self.switches.push(self.varying.clone());
                self.breaks.push(Locals::default());
                self.with_condition(diverged, |walk| walk.stmts(body));
                self.switches.pop().iter().for_each(|begin| self.varying.extend(begin));
                self.breaks.pop().iter().for_each(|left| self.varying.extend(left));
                self.left = before;
            }
            StmtKind::Case(_) | StmtKind::Default => {
                self.switches.last().into_iter().for_each(|begin| self.varying.extend(begin));
            }
            StmtKind::Break => {
                self.left = self.left.or(self.diverged);
                join(&mut self.breaks, &self.varying);
            }
            StmtKind::Continue => {
                self.skipped = self.skipped.or(self.diverged);
                join(&mut self.continues, &self.varying);
            }
            StmtKind::Return(value) => {
                let value_varies = value.as_ref().is_some_and(|value| {
                    self.expr(value);
                    self.varies(value)
                });
                if value_varies || (value.is_some() && self.divergence().is_some()) {
                    self.analysis.set(self.function, |facts| &mut facts.result_varies, true);
                }
                self.returned = self.returned.or(self.divergence());
            }
            StmtKind::Goto(_) => {
                self.returned = self.returned.or(self.divergence());
                self.analysis.set(self.function, |facts| &mut facts.has_jumps, true);
            }
            StmtKind::Declare(_) | StmtKind::Label(_) => {}
        }
    }

    /// Traverses a loop. Divergence and varying values at its end apply to its start in the next traversal.
    fn repeat(&mut self, at: Span, condition: Option<&'m Expr>, step: Option<&'m Expr>, body: &'m [Stmt]) {
        let facts = &self.analysis.facts[self.function];
        let known = facts.left.get(&at).copied();
        let mut head = self.varying.clone();
        facts.heads.get(&at).into_iter().for_each(|known| head.extend(known));
        self.varying.clone_from(&head);
        self.breaks.push(Locals::default());
        self.continues.push(Locals::default());
        let (before, skipped) = (self.left, self.skipped);
        self.left = before.or(known);
        let varying = condition.filter(|condition| self.varies(condition));
        let diverged = varying.map(|condition| condition.span);
        self.with_condition(diverged, |walk| {
            condition.into_iter().for_each(|condition| walk.expr(condition));
            walk.stmts(body);
            walk.skipped = skipped;
            walk.continues.pop().iter().for_each(|left| walk.varying.extend(left));
            step.into_iter().for_each(|step| walk.evaluate(step));
        });
        if let (None, Some(diverged)) = (known, self.left) {
            self.analysis.facts[self.function].left.insert(at, diverged);
            self.analysis.changed = true;
        }
        self.left = before;
        self.varying.extend(&head);
        self.analysis.set(self.function, |facts| facts.heads.entry(at).or_default(), self.varying.clone());
        self.breaks.pop().iter().for_each(|left| self.varying.extend(left));
    }

    /// Traverses an expression that is evaluated for its effects. A variable assigned a uniform value by all
    /// work-items no longer varies.
    fn evaluate(&mut self, expr: &'m Expr) {
        if let ExprKind::Comma(left, right) = &expr.kind {
            self.evaluate(left);
            return self.evaluate(right);
        }
        self.expr(expr);
        if let ExprKind::Assign(assign) = &expr.kind
            && let LvalueKind::Local(local) = assign.lvalue.kind
            && self.divergence_before_returns().is_none()
            && !self.varies(&assign.value)
            && !self.analysis.facts[self.function].has_jumps
        {
            self.varying.remove(local);
        }
    }

    /// Traverses an expression for its stores and barriers.
    fn expr(&mut self, expr: &'m Expr) {
        self.effects(expr);
        let diverged = |walk: &Self, condition: &'m Expr| walk.varies(condition).then_some(condition.span);
        match &expr.kind {
            ExprKind::Logical(_, operands) => {
                let [left, right] = &**operands;
                self.expr(left);
                self.with_condition(diverged(self, left), |walk| walk.expr(right));
            }
            ExprKind::Conditional(parts) => {
                self.expr(&parts.condition);
                self.with_condition(diverged(self, &parts.condition), |walk| {
                    walk.expr(&parts.then);
                    walk.expr(&parts.otherwise);
                });
            }
            _ => visit::operands(expr, &mut |operand| self.expr(operand)),
        }
    }

    /// Records what an operation stores, and whether it is a barrier. Its operands are traversed separately.
    fn effects(&mut self, expr: &'m Expr) {
        if is_barrier(expr) {
            self.barrier(expr.span, kind_of(expr));
        }
        match &expr.kind {
            ExprKind::Assign(assign) => self.stores(&assign.lvalue, &assign.value),
            ExprKind::Update(update) => self.stores(&update.lvalue, &update.new),
            ExprKind::Builtin { builtin, arguments } => {
                let row = builtins::row(*builtin);
                if VARYING.contains(&row.name) {
                    self.analysis.set(self.function, |facts| &mut facts.has_source, true);
                }
                self.outputs(arguments, false);
            }
            ExprKind::Call { function, arguments } => {
                self.call(*function, arguments);
                let has_source = self.analysis.facts[*function].has_source;
                if has_source {
                    self.analysis.set(self.function, |facts| &mut facts.has_source, true);
                }
                self.outputs(arguments, has_source);
                if self.analysis.facts[*function].has_barrier {
                    self.barrier(expr.span, Kind::Call);
                }
            }
            ExprKind::Atomic(atomic) => {
                self.analysis.set(self.function, |facts| &mut facts.has_source, true);
                if let Some(expected) = &atomic.expected {
                    self.outputs(std::slice::from_ref(expected), true);
                }
            }
            _ => {}
        }
    }

    /// Records a barrier, or a call of a function that contains one.
    fn barrier(&mut self, barrier: Span, kind: Kind) {
        self.analysis.set(self.function, |facts| &mut facts.has_barrier, true);
        if let (Some(diverged), Some(found)) = (self.divergence(), &mut self.found) {
            found.push(Divergent { barrier, diverged, kind });
        }
    }

    /// Marks variables as varying if their addresses are passed to a function that may store varying values there.
    fn outputs(&mut self, arguments: &'m [Expr], is_source: bool) {
        let mut lvalues = Vec::new();
        for argument in arguments {
            visit::expression(argument, &mut |part| {
                if let ExprKind::AddressOf(lvalue) = &part.kind {
                    lvalues.push(&**lvalue);
                }
            });
        }
        if lvalues.is_empty() {
            return;
        }
        if is_source
            || self.divergence_before_returns().is_some()
            || arguments.iter().any(|argument| self.varies(argument))
        {
            lvalues.into_iter().for_each(|lvalue| self.vary(lvalue));
        }
    }

    /// Marks the variable as varying if the stored value or its address varies, or if only some work-items store it.
    fn stores(&mut self, lvalue: &'m Lvalue, value: &'m Expr) {
        if self.divergence_before_returns().is_some() || self.varies(value) || self.lvalue_varies(lvalue) {
            self.vary(lvalue);
        }
    }

    /// Marks the stored variable as varying.
    fn vary(&mut self, lvalue: &'m Lvalue) {
        if let Some(local) = lvalue.local()
            && self.is_private(local)
        {
            self.varying.insert(local);
        }
    }

    /// Marks a parameter as varying if an argument of any call varies.
    fn call(&mut self, function: FunctionId, arguments: &'m [Expr]) {
        let parameters = &self.analysis.module.functions[function].parameters;
        for (&parameter, argument) in parameters.iter().zip(arguments) {
            if self.varies(argument) {
                self.analysis.vary(function, parameter);
            }
        }
    }

    fn is_private(&self, local: LocalId) -> bool {
        let local = &self.analysis.module.functions[self.function].locals[local];
        local.ty.quals.space != Some(AddressSpace::Local)
    }

    /// Whether the value may differ between the work-items of a group.
    fn varies(&self, expr: &'m Expr) -> bool {
        let is_source = match &expr.kind {
            ExprKind::Load(lvalue) => lvalue.local().is_some_and(|local| self.is_varying(local)),
            ExprKind::Atomic(_) => true,
            ExprKind::Builtin { builtin, .. } => {
                let row = builtins::row(*builtin);
                if is_shared(row.lowering) {
                    return false;
                }
                VARYING.contains(&row.name)
            }
            ExprKind::Call { function, .. } => self.analysis.facts[*function].result_varies,
            _ => false,
        };
        let mut varies = is_source;
        if !varies {
            visit::operands(expr, &mut |operand| varies = varies || self.varies(operand));
        }
        varies
    }

    /// Whether the address of the lvalue may differ.
    fn lvalue_varies(&self, lvalue: &'m Lvalue) -> bool {
        match &lvalue.kind {
            LvalueKind::Local(_) | LvalueKind::Global(_) => false,
            LvalueKind::Deref(pointer) | LvalueKind::Temporary(pointer) => self.varies(pointer),
            LvalueKind::Field(field) => self.lvalue_varies(&field.base),
            LvalueKind::Swizzle(swizzle) => self.lvalue_varies(&swizzle.base),
            LvalueKind::Element(element) => self.lvalue_varies(&element.base) || self.varies(&element.index),
        }
    }

    fn is_varying(&self, local: LocalId) -> bool {
        self.varying.contains(local)
    }
}

/// Adds the variables that vary at a jump to those at its target.
fn join(targets: &mut [Locals], varying: &Locals) {
    targets.last_mut().into_iter().for_each(|target| target.extend(varying));
}

/// Whether all work-items of a group must reach this expression together.
pub(super) fn is_barrier(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Barrier(barrier) => barrier.execution == Scope::WorkGroup,
        ExprKind::Builtin { builtin, .. } => {
            let lowering = builtins::row(*builtin).lowering;
            matches!(lowering, Lowering::Collective(Scope::WorkGroup, ..) | Lowering::Async(_))
        }
        _ => false,
    }
}

fn kind_of(barrier: &Expr) -> Kind {
    match &barrier.kind {
        ExprKind::Builtin { builtin, .. } => Kind::Builtin(builtins::row(*builtin).name),
        _ => Kind::Barrier,
    }
}

/// Whether all work-items of a group get the same result.
fn is_shared(lowering: Lowering) -> bool {
    let Lowering::Collective(Scope::WorkGroup, collective, _) = lowering else { return false };
    matches!(collective, Collective::All | Collective::Any | Collective::Broadcast | Collective::Reduce(_))
}
