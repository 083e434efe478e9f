//! `switch`, `case` and `default` (C99 6.8.4.2).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Scalar, TyId};

use super::Sema;
use crate::hir::{Case, Stmt, StmtKind, Switch};

/// The labels of a `switch` so far.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// The promoted type of the value. `None` if it is invalid.
    ty: Option<Scalar>,
    /// The `case` labels: first value, last value and span.
    cases: std::collections::BTreeMap<i128, (i128, Span)>,
    default: Option<Span>,
}

impl Sema<'_> {
    /// `switch` (C99 6.8.4.2). Promotes the value; labels are converted to its type.
    pub(super) fn switch(
        &mut self,
        value: &ast::Expr,
        body: &ast::Statement,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let value = self.operator_value(value);
        let mut ty = None;
        let value = match self.types.components(value.ty) {
            Some((scalar, 1)) if !scalar.is_float() => {
                let value = self.promote(value);
                ty = self.types.components(value.ty).map(|(scalar, _)| scalar);
                value
            }
            _ => {
                if value.ty != TyId::ERROR {
                    let shown = self.show(value.ty);
                    self.report(
                        Diagnostic::new(
                            Code::SwitchValue,
                            value.span,
                            format!("the value of a `switch` is an integer, not `{shown}`"),
                        )
                        .note("C99 6.8.4.2: the controlling expression has integer type"),
                    );
                }
                value
            }
        };
        self.body.jumps.switches.push(Labels { ty, ..Labels::default() });
        let body = self.body_statement(body);
        self.body.jumps.switches.pop();
        out.push(Stmt { kind: StmtKind::Switch(Box::new(Switch { value, body })), span });
    }

    /// `case low:`, and GNU C's `case low ... high:`.
    pub(super) fn case(
        &mut self,
        low: &ast::Expr,
        high: Option<&ast::Expr>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let label = low.span;
        if self.body.jumps.switches.is_empty() {
            return self.report_misplaced("case", span);
        }
        if let Some(high) = high {
            self.report(
                Diagnostic::new(
                    Code::CaseRange,
                    label.to(high.span),
                    "a `case` with a range is an extension of GNU C",
                )
                .note("C99 6.8.4.2: a `case` has one constant"),
            );
        }
        let low_value = self.case_value(low);
        let high_value = match high {
            Some(high) => self.case_value(high),
            None => low_value,
        };
        let (Some(low), Some(high)) = (low_value, high_value) else { return };
        if low > high {
            self.report(Diagnostic::new(Code::CaseRange, label, "this range is empty"));
            return;
        }
        let Some(labels) = self.body.jumps.switches.last_mut() else { return };
        // Ranges do not overlap, so only the last range that starts at or below `high` can overlap with this one.
        if let Some((_, &(last, first))) = labels.cases.range(..=high).next_back()
            && last >= low
        {
            self.report(
                Diagnostic::new(Code::DuplicateCase, label, "this value already has a `case`")
                    .also(first, "the first one")
                    .note("C99 6.8.4.2: no two of the `case` constants have the same value"),
            );
            return;
        }
        labels.cases.insert(low, (high, label));
        out.push(Stmt { kind: StmtKind::Case(Box::new(Case { low, high })), span: label });
    }

    /// The value of a `case`, converted to the type of the switch.
    fn case_value(&mut self, expr: &ast::Expr) -> Option<i128> {
        let value = self.integer_constant(expr, "the value of a `case`")?;
        let ty = self.body.jumps.switches.last()?.ty?;
        let bits = ty.size() * 8;
        let wrapped = if ty.is_signed() {
            (value << (128 - bits)) >> (128 - bits)
        } else {
            value & ((1i128 << bits) - 1)
        };
        if wrapped != value {
            let shown = self.show(TyId::scalar(ty));
            self.report(
                Diagnostic::new(
                    Code::CaseValue,
                    expr.span,
                    format!("the `switch` is on `{shown}`, in which this is {wrapped}"),
                )
                .note("C99 6.8.4.2: the constant is converted to the type of the controlling expression"),
            );
        }
        Some(wrapped)
    }

    /// `default:`
    pub(super) fn default_label(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let Some(labels) = self.body.jumps.switches.last_mut() else {
            return self.report_misplaced("default", span);
        };
        if let Some(first) = labels.default {
            self.report(
                Diagnostic::new(Code::DuplicateCase, span, "this `switch` already has a `default`")
                    .also(first, "the first one")
                    .note("C99 6.8.4.2: there is at most one `default` label in a `switch`"),
            );
            return;
        }
        labels.default = Some(span);
        out.push(Stmt { kind: StmtKind::Default, span });
    }

    fn report_misplaced(&mut self, word: &str, span: Span) {
        self.report(
            Diagnostic::new(Code::MisplacedCase, span, format!("`{word}` is not in a `switch`"))
                .note("C99 6.8.1: `case` and `default` appear only in a `switch` statement"),
        );
    }
}
