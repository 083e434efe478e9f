//! Warns about expressions that change a variable twice, or change and read it, without an order (C99 6.5).
//!
//! Only whole variables count: elements, members and objects behind pointers may be different ones.

use kiln_session::diag::{Code, Diagnostic, Sink};
use kiln_syntax::{Interner, Span};
use smallvec::SmallVec;

use crate::hir::{
    Assign, Conditional, Expr, ExprKind, Function, GlobalId, LocalId, Lvalue, LvalueKind, Module, Stmt,
    Update, visit,
};

/// Warns about the expressions of a function.
pub(crate) fn check_unsequenced(
    function: &Function,
    body: &[Stmt],
    module: &Module,
    interner: &Interner,
    sink: &mut Sink,
) {
    let mut check = Check { depth: 0, function, module, interner, sink };
    check.statements(body);
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variable {
    Local(LocalId),
    Global(GlobalId),
}

impl Variable {
    fn of(lvalue: &Lvalue) -> Option<Self> {
        match lvalue.kind {
            LvalueKind::Local(local) => Some(Self::Local(local)),
            LvalueKind::Global(global) => Some(Self::Global(global)),
            _ => None,
        }
    }
}

/// A use of a variable in an expression.
#[derive(Clone, Copy)]
struct Use {
    variable: Variable,
    span: Span,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    /// A change that may happen after the value of the expression is computed.
    PendingChange,
    /// A change that a sequence point has completed.
    CompletedChange,
}

impl Kind {
    fn is_change(self) -> bool {
        self != Self::Read
    }
}

type Uses = SmallVec<[Use; 4]>;

/// The maximum number of uses of an expression that are compared with those of the others.
const MAX_USES: usize = 256;

/// The maximum nesting of expressions whose uses are collected. Deeper ones would need too much stack.
const MAX_DEPTH: u32 = 64;

/// The state of the check.
struct Check<'c> {
    /// The nesting of the current expression.
    depth: u32,
    function: &'c Function,
    module: &'c Module,
    interner: &'c Interner,
    sink: &'c mut Sink,
}

impl Check<'_> {
    fn statements(&mut self, stmts: &[Stmt]) {
        visit::statements(stmts, &mut |expr| self.full_expression(expr));
    }

    /// Most expressions change a single variable, in their outermost operation. They need no check.
    fn full_expression(&mut self, expr: &Expr) {
        let mut needs_check = false;
        let mut note = |operand: &Expr| {
            needs_check |=
                matches!(operand.kind, ExprKind::Assign(_) | ExprKind::Update(_) | ExprKind::Statements(_));
        };
        visit::operands(expr, &mut |operand| visit::expression(operand, &mut note));
        if needs_check || matches!(expr.kind, ExprKind::Statements(_)) {
            self.uses(expr);
        }
    }

    /// The uses in an expression, after its conflicts are reported.
    fn uses(&mut self, expr: &Expr) -> Uses {
        if self.depth == MAX_DEPTH {
            return Uses::new();
        }
        self.depth += 1;
        let uses = self.uses_by_kind(expr);
        self.depth -= 1;
        uses
    }

    fn uses_by_kind(&mut self, expr: &Expr) -> Uses {
        match &expr.kind {
            ExprKind::Load(lvalue) => {
                let mut uses = self.lvalue_uses(lvalue);
                uses.extend(Variable::of(lvalue).map(|variable| Use {
                    variable,
                    span: expr.span,
                    kind: Kind::Read,
                }));
                uses
            }
            ExprKind::AddressOf(lvalue) => self.lvalue_uses(lvalue),
            ExprKind::Assign(assign) => {
                let Assign { lvalue, value } = &**assign;
                self.store_uses(lvalue, value, expr.span)
            }
            ExprKind::Update(update) => {
                let Update { lvalue, new, .. } = &**update;
                self.store_uses(lvalue, new, expr.span)
            }
            ExprKind::Comma(left, right) => {
                let mut uses = completed(self.uses(left));
                uses.extend(self.uses(right));
                uses
            }
            ExprKind::Logical(_, operands) => {
                let mut uses = completed(self.uses(&operands[0]));
                uses.extend(self.uses(&operands[1]));
                uses
            }
            ExprKind::Conditional(parts) => {
                let Conditional { condition, then, otherwise } = &**parts;
                let mut uses = completed(self.uses(condition));
                uses.extend(self.uses(then));
                uses.extend(self.uses(otherwise));
                uses
            }
            ExprKind::Statements(parts) => {
                self.statements(&parts.0);
                self.uses(&parts.1)
            }
            // A sequence point precedes the call.
            ExprKind::Call { .. }
            | ExprKind::Builtin { .. }
            | ExprKind::Printf(_)
            | ExprKind::Atomic(_)
            | ExprKind::Block { .. } => completed(self.unordered_operands(expr)),
            _ => self.unordered_operands(expr),
        }
    }

    /// Adds the uses of an operand that is evaluated before or after the others.
    fn join(&mut self, all: &mut Uses, operand: &Expr) {
        let uses = self.uses(operand);
        self.report_conflicts(all, &uses);
        let room = MAX_USES.saturating_sub(all.len());
        all.extend(uses.into_iter().take(room));
    }

    /// The uses in operands that are evaluated in any order.
    fn unordered_operands(&mut self, expr: &Expr) -> Uses {
        let mut all = Uses::new();
        visit::operands(expr, &mut |operand| {
            self.join(&mut all, operand);
        });
        all
    }

    /// The uses in the operands of an lvalue.
    fn lvalue_uses(&mut self, lvalue: &Lvalue) -> Uses {
        let mut all = Uses::new();
        visit::lvalue(lvalue, &mut |operand| {
            self.join(&mut all, operand);
        });
        all
    }

    /// The uses in an assignment. The change follows the values of its operands, but not their own changes.
    fn store_uses(&mut self, lvalue: &Lvalue, value: &Expr, span: Span) -> Uses {
        let mut all = self.lvalue_uses(lvalue);
        self.join(&mut all, value);
        if let Some(variable) = Variable::of(lvalue) {
            let change = Use { variable, span, kind: Kind::PendingChange };
            let pending: Uses = all.iter().filter(|it| it.kind == Kind::PendingChange).copied().collect();
            self.report_conflicts(&pending, &[change]);
            all.push(change);
        }
        all
    }

    /// Reports a variable that both sides use and one changes.
    fn report_conflicts(&mut self, left: &[Use], right: &[Use]) {
        let conflict = left.iter().find_map(|first| {
            let is_conflict = |second: &&Use| {
                second.variable == first.variable && (first.kind.is_change() || second.kind.is_change())
            };
            Some((*first, *right.iter().find(is_conflict)?))
        });
        let Some((first, second)) = conflict else { return };
        let (change, other) = if first.kind.is_change() { (first, second) } else { (second, first) };
        let name = match change.variable {
            Variable::Local(local) => self.function.locals[local].name,
            Variable::Global(global) => self.module.globals[global].name,
        };
        let Some(name) = name.map(|name| self.interner.text(name)) else { return };
        let (message, label) = match other.kind {
            Kind::Read => (format!("`{name}` is changed and read in no defined order"), "read here"),
            _ => (format!("`{name}` is changed twice in no defined order"), "changed here, too"),
        };
        let diagnostic = Diagnostic::new(Code::Unsequenced, change.span, message);
        let is_inside = other.span.lo <= change.span.lo && change.span.hi <= other.span.hi;
        let diagnostic = if is_inside { diagnostic } else { diagnostic.also(other.span, label) };
        self.sink.report(diagnostic.help("write two statements").note(
            "C99 6.5: between two sequence points, an object is changed at most once, and read only to compute its \
             new value",
        ));
    }
}

/// The uses before a sequence point, which completes their pending changes.
fn completed(mut uses: Uses) -> Uses {
    for it in &mut uses {
        if it.kind == Kind::PendingChange {
            it.kind = Kind::CompletedChange;
        }
    }
    uses
}
