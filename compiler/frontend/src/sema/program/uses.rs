//! Collects the names that a function body uses and its relevant operations, in one traversal. Reports nothing.

use kiln_syntax::Span;
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;

use super::divergence;
use crate::hir::{
    Assign, ExprKind, Function, FunctionId, GlobalId, LocalId, Lvalue, LvalueKind, Stmt, visit,
};

/// The names that a function body uses, and its operations.
#[derive(Default)]
pub(crate) struct Uses {
    /// The functions that it calls, with spans.
    pub(super) calls: Vec<(FunctionId, Span)>,
    /// The blocks that it creates without calling them. It may enqueue them.
    blocks: Vec<(FunctionId, Span)>,
    /// The program variables it uses, with spans, including the first use of each.
    pub(super) globals: Vec<(GlobalId, Span)>,
    /// The private and local variables that are read but never assigned, with their first read, in source order.
    pub(super) never_set: Vec<(LocalId, Span)>,
    /// The private variables whose own initializers read them, with the read, in source order.
    pub(super) self_initialized: Vec<(LocalId, Span)>,
    /// Whether it contains an atomic operation.
    pub(super) atomics: bool,
    /// Whether it contains a barrier, or another operation that all work-items of a group must reach.
    pub(super) barriers: bool,
}

/// The uses of a local variable.
#[derive(Clone, Copy, Default)]
struct Variable {
    /// Whether it is assigned anywhere, or its address is taken.
    is_set: bool,
    first_read: Option<Span>,
}

impl Variable {
    fn reads(&mut self, span: Span) {
        if self.first_read.is_none_or(|first| span.lo < first.lo) {
            self.first_read = Some(span);
        }
    }
}

impl Uses {
    /// Collects the uses in the body of a function.
    pub(crate) fn in_function(function: &Function, body: &[Stmt]) -> Self {
        let mut uses = Self::default();
        let mut variables = vec![Variable::default(); function.locals.len()];
        for parameter in &function.parameters {
            variables[parameter.index()].is_set = true;
        }
        // `(void)x` only marks the variable as used.
        let mut discarded = None;
        visit::expressions(body, &mut |expr| match &expr.kind {
            ExprKind::Comma(left, _) => discarded = Some(&**left),
            ExprKind::Load(lvalue) => match lvalue.whole().kind {
                LvalueKind::Local(local) if !discarded.is_some_and(|it| std::ptr::eq(it, expr)) => {
                    variables[local.index()].reads(expr.span);
                }
                _ => uses.global_of(lvalue),
            },
            ExprKind::AddressOf(lvalue) => uses.sets(lvalue, &mut variables),
            // An update reads the old value, so it does not initialize the variable.
            ExprKind::Update(update) => match update.lvalue.local() {
                Some(local) => variables[local.index()].reads(update.lvalue.span),
                None => uses.global_of(&update.lvalue),
            },
            ExprKind::Assign(assign) => {
                uses.sets(&assign.lvalue, &mut variables);
                uses.self_initialized.extend(own_initializer(function, assign));
            }
            ExprKind::Call { function, .. } => uses.calls.push((*function, expr.span)),
            ExprKind::Block { function, .. } => uses.blocks.push((*function, expr.span)),
            ExprKind::Atomic(_) => uses.atomics = true,
            _ => uses.barriers |= divergence::is_barrier(expr),
        });
        let is_private = |local: LocalId| function.locals[local].ty.quals.space != Some(AddressSpace::Local);
        let unset = variables.iter().enumerate().filter(|(_, variable)| !variable.is_set);
        let reads = unset.filter_map(|(index, it)| Some((LocalId::from_index(index), it.first_read?)));
        uses.never_set = reads.collect();
        uses.self_initialized.retain(|&(local, _)| is_private(local));
        uses.never_set.sort_by_key(|(_, read)| read.lo);
        uses
    }

    /// All functions that it refers to.
    pub(super) fn functions(&self) -> impl Iterator<Item = (FunctionId, Span)> + '_ {
        self.calls.iter().chain(&self.blocks).copied()
    }

    fn sets(&mut self, lvalue: &Lvalue, variables: &mut [Variable]) {
        match lvalue.local() {
            Some(local) => variables[local.index()].is_set = true,
            None => self.global_of(lvalue),
        }
    }

    /// Records the global that an lvalue is part of.
    fn global_of(&mut self, lvalue: &Lvalue) {
        let whole = lvalue.whole();
        if let LvalueKind::Global(global) = whole.kind
            && self.globals.last().is_none_or(|(last, _)| *last != global)
        {
            self.globals.push((global, whole.span));
        }
    }
}

/// The first read of a variable in its own initializer.
fn own_initializer(function: &Function, assign: &Assign) -> Option<(LocalId, Span)> {
    let LvalueKind::Local(declared) = assign.lvalue.kind else { return None };
    if assign.lvalue.span != function.locals[declared].span {
        return None;
    }
    let mut read: Option<Span> = None;
    visit::expression(&assign.value, &mut |expr| {
        if let ExprKind::Load(lvalue) = &expr.kind
            && lvalue.local() == Some(declared)
            && read.is_none()
        {
            read = Some(expr.span);
        }
    });
    Some((declared, read?))
}
