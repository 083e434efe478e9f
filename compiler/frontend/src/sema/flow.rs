//! Warns about functions whose end can be reached without returning a value (C99 6.9.1).
//!
//! Considers statements only. Conditions count if they are constant.

use kiln_builtins as builtins;
use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::TyId;

use super::Sema;
use crate::hir::{Const, Expr, ExprKind, If, Stmt, StmtKind};

/// How control flow can leave a list of statements.
#[derive(Clone, Copy, Default)]
struct Exits {
    /// The end of the list may be reached.
    falls_through: bool,
    /// A `break` out of an enclosing statement may be reached.
    breaks: bool,
}

impl Sema<'_> {
    /// Warns about a function that may reach its end without returning its result (C99 6.9.1).
    pub(super) fn check_missing_return(&mut self, what: &str, result: TyId, body: &[Stmt], span: Span) {
        if result == TyId::VOID || result == TyId::ERROR || !exits(body).falls_through {
            return;
        }
        let shown = self.show(result);
        let end = Span::new(span.hi.saturating_sub(1).max(span.lo), span.hi);
        self.report(
            Diagnostic::new(
                Code::MissingReturn,
                end,
                format!("{what} can end here without returning a value"),
            )
            .label(format!("returns no `{shown}`"))
            .note("C99 6.9.1: the behavior is undefined if the caller uses the value"),
        );
    }
}

/// How control flow can leave these statements.
fn exits(stmts: &[Stmt]) -> Exits {
    let mut all = Exits { falls_through: true, breaks: false };
    for stmt in stmts {
        // Statements after a jump are only reached through labels.
        if !all.falls_through && !has_label(stmt) {
            continue;
        }
        let next = statement(stmt);
        all = Exits { falls_through: next.falls_through, breaks: all.breaks | next.breaks };
    }
    all
}

fn statement(stmt: &Stmt) -> Exits {
    let falls = |falls_through| Exits { falls_through, breaks: false };
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Continue => falls(false),
        StmtKind::Break => Exits { falls_through: false, breaks: true },
        StmtKind::Block(body) => exits(body),
        StmtKind::If(branch) => {
            let If { condition, then, otherwise } = &**branch;
            let truth = truth(condition);
            let then =
                if truth == Some(false) && !then.iter().any(has_label) { falls(false) } else { exits(then) };
            let otherwise = if truth == Some(true) && !otherwise.iter().any(has_label) {
                falls(false)
            } else {
                exits(otherwise)
            };
            Exits {
                falls_through: then.falls_through | otherwise.falls_through,
                breaks: then.breaks | otherwise.breaks,
            }
        }
        StmtKind::Loop(node) => {
            let is_endless = node.condition.as_ref().is_none_or(|condition| truth(condition) == Some(true));
            falls(!is_endless || exits(&node.body).breaks)
        }
        StmtKind::Switch(switch) => {
            let inside = exits(&switch.body);
            falls(inside.falls_through || inside.breaks || !switch.body.iter().any(has_default))
        }
        StmtKind::Expr(expr) => falls(!ends(expr)),
        _ => falls(true),
    }
}

/// Whether control flow never returns from an expression, such as a trap.
fn ends(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Trap { .. } => true,
        ExprKind::Builtin { builtin, .. } => builtins::row(*builtin).name == "__builtin_unreachable",
        ExprKind::Comma(left, right) => ends(left) || ends(right),
        ExprKind::Conditional(parts) => match truth(&parts.condition) {
            Some(true) => ends(&parts.then),
            Some(false) => ends(&parts.otherwise),
            None => ends(&parts.then) && ends(&parts.otherwise),
        },
        _ => false,
    }
}

/// The value of a constant condition.
fn truth(condition: &Expr) -> Option<bool> {
    match condition.kind {
        ExprKind::Const(Const::Int(bits)) => Some(bits != 0),
        _ => None,
    }
}

/// Whether the statement can be entered through a label inside it.
fn has_label(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Label(_) | StmtKind::Case(_) | StmtKind::Default => true,
        StmtKind::Block(body) => body.iter().any(has_label),
        StmtKind::Loop(node) => node.body.iter().any(has_label),
        StmtKind::Switch(switch) => switch.body.iter().any(has_label),
        StmtKind::If(branch) => branch.then.iter().chain(&branch.otherwise).any(has_label),
        _ => false,
    }
}

/// Whether the statement contains the `default` label of the enclosing switch.
fn has_default(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Default => true,
        StmtKind::Block(body) => body.iter().any(has_default),
        StmtKind::Loop(node) => node.body.iter().any(has_default),
        StmtKind::If(branch) => branch.then.iter().chain(&branch.otherwise).any(has_default),
        _ => false,
    }
}
