//! Whether the end of a function can be reached (C99 6.9.1): a function that returns a value and may not is
//! warned of.
//!
//! It sees statements only; conditions count when they are constant.

use kiln_syntax::Span;

use super::Sema;
use crate::{
    builtins,
    diag::{Code, Diagnostic},
    hir::{Const, Expr, ExprKind, If, Stmt, StmtKind},
    ty::TyId,
};

/// What a list of statements does with the control that enters it.
#[derive(Clone, Copy, Default)]
struct Ways {
    /// It may come out at the end.
    falls_through: bool,
    /// A `break` that belongs to a statement around it may be reached.
    breaks: bool,
}

impl Sema<'_> {
    /// Warns of a function that can end without the value that it returns (C99 6.9.1).
    pub(super) fn check_missing_return(&mut self, what: &str, result: TyId, body: &[Stmt], span: Span) {
        if result == TyId::VOID || result == TyId::ERROR || !ways(body).falls_through {
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
            .note("C99 6.9.1: the behaviour is undefined if the caller uses the value"),
        );
    }
}

/// Where control goes that enters these statements.
fn ways(stmts: &[Stmt]) -> Ways {
    let mut ways = Ways { falls_through: true, breaks: false };
    for stmt in stmts {
        // What follows a jump is reached by labels only.
        if !ways.falls_through && !has_label(stmt) {
            continue;
        }
        let next = statement(stmt);
        ways = Ways { falls_through: next.falls_through, breaks: ways.breaks | next.breaks };
    }
    ways
}

fn statement(stmt: &Stmt) -> Ways {
    let falls = |falls_through| Ways { falls_through, breaks: false };
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Continue => falls(false),
        StmtKind::Break => Ways { falls_through: false, breaks: true },
        StmtKind::Block(body) => ways(body),
        StmtKind::If(branch) => {
            let If { condition, then, otherwise } = &**branch;
            let truth = truth(condition);
            let then =
                if truth == Some(false) && !then.iter().any(has_label) { falls(false) } else { ways(then) };
            let otherwise = if truth == Some(true) && !otherwise.iter().any(has_label) {
                falls(false)
            } else {
                ways(otherwise)
            };
            Ways {
                falls_through: then.falls_through | otherwise.falls_through,
                breaks: then.breaks | otherwise.breaks,
            }
        }
        StmtKind::Loop(of) => {
            let is_endless = of.condition.as_ref().is_none_or(|condition| truth(condition) == Some(true));
            falls(!is_endless || ways(&of.body).breaks)
        }
        StmtKind::Switch(switch) => {
            let inside = ways(&switch.body);
            falls(inside.falls_through || inside.breaks || !switch.body.iter().any(has_default))
        }
        StmtKind::Expr(expr) => falls(!ends(expr)),
        _ => falls(true),
    }
}

/// Whether control does not come back from an expression: one with a trap, or that says so.
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

/// The value of a condition that is constant.
fn truth(condition: &Expr) -> Option<bool> {
    match condition.kind {
        ExprKind::Const(Const::Int(bits)) => Some(bits != 0),
        _ => None,
    }
}

/// Whether control can enter the statement other than from above.
fn has_label(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Label(_) | StmtKind::Case(_) | StmtKind::Default => true,
        StmtKind::Block(body) => body.iter().any(has_label),
        StmtKind::Loop(of) => of.body.iter().any(has_label),
        StmtKind::Switch(switch) => switch.body.iter().any(has_label),
        StmtKind::If(branch) => branch.then.iter().chain(&branch.otherwise).any(has_label),
        _ => false,
    }
}

/// Whether the statement has the `default` of the switch around it.
fn has_default(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Default => true,
        StmtKind::Block(body) => body.iter().any(has_default),
        StmtKind::Loop(of) => of.body.iter().any(has_default),
        StmtKind::If(branch) => branch.then.iter().chain(&branch.otherwise).any(has_default),
        _ => false,
    }
}
