//! Overload resolution for program functions with clang's attribute `overloadable`.
//!
//! Uses the same ranking as built-in functions: an overload is better if no argument converts worse and at least one
//! converts better.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Implicit, Pointee, QualTy, Ty, TyId};

use super::{Callee, Meaning, Role, Sema, convert::AssignContext};
use crate::hir::{Expr, ExprKind, FunctionId};

/// How well an argument matches a parameter. Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Same,
    Qualified,
    Promotion,
    Conversion,
    Widening,
    WithWarning,
}

impl Sema<'_> {
    /// `name(arguments)` for a name with several functions. Falls back to a built-in function of that name if none of
    /// them matches.
    pub(super) fn call_overloaded(
        &mut self,
        name: &str,
        functions: &[FunctionId],
        callee: Span,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let values: Vec<Expr> = arguments.iter().map(|argument| self.value(argument)).collect();
        if values.iter().any(|value| value.ty == TyId::ERROR) {
            return self.error_value(span);
        }
        let mut best: Vec<(FunctionId, Vec<Fit>)> = Vec::new();
        for &function in functions {
            let Some(fits) = self.fits(function, &values) else { continue };
            if best.iter().any(|(_, other)| is_better(other, &fits)) {
                continue;
            }
            best.retain(|(_, other)| !is_better(&fits, other));
            best.push((function, fits));
        }
        match best.as_slice() {
            [(function, _)] => {
                self.note(callee, Meaning::Function(*function), Role::Use);
                self.note_call(callee, arguments, || Callee::Function(*function));
                self.call_with_values(*function, values, span)
            }
            [] if self.is_builtin(name) => self.call_builtin(name, callee, arguments, span),
            found => {
                let (what, shown) = if found.is_empty() {
                    ("no function", functions.to_vec())
                } else {
                    ("more than one function", found.iter().map(|found| found.0).collect())
                };
                let mut diagnostic = Diagnostic::new(
                    if found.is_empty() { Code::ArgumentType } else { Code::AmbiguousCall },
                    callee,
                    format!("{what} `{name}` of this program takes these arguments"),
                );
                for function in shown {
                    let ty = self.function_ty(function);
                    let text = format!("`{}`", self.show(ty));
                    diagnostic = diagnostic.also(self.module.functions[function].span, text);
                }
                self.report(diagnostic);
                self.error_value(span)
            }
        }
    }

    fn call_with_values(&mut self, function: FunctionId, values: Vec<Expr>, span: Span) -> Expr {
        let parameters = self.parameter_types(function);
        let mut arguments = Vec::with_capacity(values.len());
        for (number, (value, parameter)) in (1..).zip(values.into_iter().zip(parameters)) {
            arguments.push(self.assign_convert(value, parameter, AssignContext::Argument(number)));
        }
        let ty = self.module.functions[function].result;
        if arguments.iter().any(|argument| argument.ty == TyId::ERROR) {
            return self.error_value(span);
        }
        Expr { kind: ExprKind::Call { function, arguments: arguments.into() }, ty, span }
    }

    fn parameter_types(&self, function: FunctionId) -> Vec<QualTy> {
        let function = &self.module.functions[function];
        function.parameters.iter().map(|local| function.locals[*local].ty).collect()
    }

    /// How well the arguments match. `None` if they do not.
    fn fits(&mut self, function: FunctionId, values: &[Expr]) -> Option<Vec<Fit>> {
        let parameters = self.parameter_types(function);
        if parameters.len() != values.len() {
            return None;
        }
        parameters.iter().zip(values).map(|(parameter, value)| self.fit(value, *parameter)).collect()
    }

    fn fit(&self, value: &Expr, to: QualTy) -> Option<Fit> {
        match self.types.implicit(value.ty, to.ty) {
            Implicit::Same => Some(Fit::Same),
            Implicit::Arithmetic(_) => {
                let is_promotion = self.types.promoted(value.ty) == to.ty;
                Some(if is_promotion { Fit::Promotion } else { Fit::Conversion })
            }
            Implicit::Splat(_) => Some(Fit::Widening),
            Implicit::Pointer(change) => Some(match change.pointee {
                Pointee::Compatible if !change.dropped.is_empty() => Fit::WithWarning,
                Pointee::Compatible if change.to_generic => Fit::Conversion,
                Pointee::Compatible => Fit::Qualified,
                Pointee::Sign | Pointee::Other => Fit::WithWarning,
            }),
            Implicit::PointerToBool => Some(Fit::Conversion),
            Implicit::Invalid(_) => {
                let takes_null = matches!(self.types.get(to.ty), Ty::Pointer(_) | Ty::Event | Ty::Queue);
                let is_null = takes_null && self.is_null_constant(value);
                is_null.then_some(Fit::Conversion)
            }
        }
    }
}

fn is_better(left: &[Fit], right: &[Fit]) -> bool {
    left != right && left.iter().zip(right).all(|(left, right)| left <= right)
}
