//! The objects of atomic functions (OpenCL C 6.15.12.6, 6.15.12.7, 6.15.12.8).
//!
//! For an object of the wrong type, no overload matches better than the others, so it is reported before the overload
//! is selected.

use kiln_builtins::{AtomicForm, Lowering, Overload, Set};
use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::{Scalar, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FetchKey};

use super::{Sema, builtin::Call};
use crate::hir::Expr;

impl Sema<'_> {
    /// Reports an object that the atomic function does not take.
    pub(super) fn reports_atomic_object(&mut self, set: &Set, arguments: &[Expr], call: &Call) -> bool {
        let form = set.rows().find_map(|(_, row)| match row.lowering {
            Lowering::Atomic(form) => Some((form.is_legacy, Some(form.op))),
            Lowering::AtomicInit => Some((false, None)),
            _ => None,
        });
        let (Some((is_legacy, op)), Some(object)) = (form, arguments.first()) else { return false };
        let Ty::Pointer(to) = *self.types.get(object.ty) else { return false };
        let shown = self.show(object.ty);
        if is_legacy && to.quals.space == Some(AddressSpace::Constant) {
            self.report(
                Diagnostic::new(
                    Code::AtomicObject,
                    object.span,
                    format!("`{}` writes, and `{shown}` points to constant memory", call.name),
                )
                .help("declare the pointer `global`")
                .note("OpenCL C 6.7.1: the constant address space is read-only"),
            );
            return true;
        }
        let takes_flag = matches!(op, Some(AtomicOp::FlagTestAndSet | AtomicOp::FlagClear));
        match (is_legacy, self.types.get(to.ty)) {
            (false, Ty::AtomicFlag) if !takes_flag => self.report_flag(object.span, call),
            (false, Ty::AtomicFlag) => return false,
            (false, _) if takes_flag => self.report_no_flag(op, &shown, object.span, call),
            (false, Ty::Atomic(scalar)) if scalar.is_float() && takes_integers(op) => {
                self.report_float(&shown, object.span, call);
            }
            (_, Ty::Error) | (false, Ty::Atomic(_)) => return false,
            (true, ty) if !is_atomic(ty) && !is_rejected_by_legacy(ty, call.name) => return false,
            (true, Ty::Scalar(Scalar::Long | Scalar::ULong)) => {
                if call.name.starts_with("atom_") {
                    return false;
                }
                self.report_long(&shown, object.span, call);
            }
            _ => {
                let wanted = if is_legacy { "`int` or `uint`" } else { "an atomic type" };
                self.report_atomic_object(&shown, wanted, is_legacy, object.span, call);
            }
        }
        true
    }

    /// OpenCL C 6.15.12.6: a flag has two operations.
    fn report_flag(&mut self, span: Span, call: &Call) {
        self.report(
            Diagnostic::new(
                Code::AtomicObject,
                span,
                format!("`{}` cannot access an `atomic_flag`", call.name),
            )
            .help("use `atomic_flag_test_and_set` and `atomic_flag_clear`, or declare an `atomic_int`")
            .note("OpenCL C 6.15.12.6: no other functions access a flag"),
        );
    }

    fn report_no_flag(&mut self, op: Option<AtomicOp>, shown: &str, span: Span, call: &Call) {
        let instead = if op == Some(AtomicOp::FlagClear) { "atomic_store" } else { "atomic_exchange" };
        self.report(
            Diagnostic::new(
                Code::AtomicObject,
                span,
                format!("`{}` takes a pointer to `atomic_flag`, not `{shown}`", call.name),
            )
            .help(format!("declare the object `atomic_flag`, or use `{instead}`"))
            .note("OpenCL C 6.15.12.6"),
        );
    }

    fn report_float(&mut self, shown: &str, span: Span, call: &Call) {
        self.report(
            Diagnostic::new(
                Code::AtomicObject,
                span,
                format!("`{}` takes a pointer to an atomic integer, not `{shown}`", call.name),
            )
            .help("repeat `atomic_compare_exchange_weak` until it succeeds, or use an atomic integer")
            .note("OpenCL C 6.15.12.7.5"),
        );
    }

    /// Reports a pointer to a 64-bit integer: the functions for these have other names.
    fn report_long(&mut self, shown: &str, span: Span, call: &Call) {
        let name = call.name.replacen("atomic_", "atom_", 1);
        self.report(
            Diagnostic::new(
                Code::AtomicObject,
                span,
                format!("`{}` takes a pointer to `int` or `uint`, not `{shown}`", call.name),
            )
            .help(format!("write `{name}`"))
            .replace(call.callee, name)
            .note("the extensions cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics have functions for 64 bits"),
        );
    }

    /// OpenCL C 6.15.12.7, 6.15.12.8: C11 atomics take pointers to atomic types; those of OpenCL 1.x take pointers to
    /// plain types.
    pub(super) fn atomic_object(
        &mut self,
        object: Expr,
        form: AtomicForm,
        overload: &Overload,
        call: &Call,
    ) -> Option<Expr> {
        let (Ty::Pointer(given), Ty::Pointer(wanted)) =
            (self.types.get(object.ty), self.types.get(overload.parameters.first()?.ty))
        else {
            return None;
        };
        if given.ty == wanted.ty {
            return Some(object);
        }
        let (shown, wanted) = (self.show(object.ty), format!("`{}`", self.show(wanted.ty)));
        self.report_atomic_object(&shown, &wanted, form.is_legacy, object.span, call);
        None
    }

    /// Reports an object whose type an atomic function does not accept.
    pub(super) fn report_atomic_object(
        &mut self,
        shown: &str,
        wanted: &str,
        is_legacy: bool,
        span: Span,
        call: &Call,
    ) {
        let diagnostic = Diagnostic::new(
            Code::AtomicObject,
            span,
            format!("`{}` takes a pointer to {wanted}, not `{shown}`", call.name),
        );
        self.report(if is_legacy {
            diagnostic
                .help("use an atomic type and the functions of OpenCL C 2.0, such as `atomic_fetch_add_explicit`")
                .note("OpenCL C 6.15.12.8: these functions take pointers to plain int and uint in global or local memory")
        } else {
            diagnostic
                .help("declare the object with an atomic type")
                .note("OpenCL C 6.15.12.7: the object has an atomic type")
        });
    }

    /// The type of the value in an atomic object.
    pub(super) fn atomic_value(&self, object: &Expr) -> TyId {
        let Ty::Pointer(to) = self.types.get(object.ty) else { return TyId::ERROR };
        match *self.types.get(to.ty) {
            Ty::Atomic(scalar) => TyId::scalar(scalar),
            Ty::AtomicFlag => TyId::INT,
            _ => to.ty,
        }
    }
}

fn is_atomic(ty: &Ty) -> bool {
    matches!(ty, Ty::Atomic(_) | Ty::AtomicFlag)
}

/// Whether an atomic function of OpenCL C 1.x rejects pointers to this non-atomic type.
fn is_rejected_by_legacy(ty: &Ty, name: &str) -> bool {
    match ty {
        Ty::Scalar(Scalar::Float) => !name.ends_with("xchg"),
        Ty::Scalar(Scalar::Int | Scalar::UInt) => false,
        Ty::Scalar(_) | Ty::Vector(..) | Ty::Record(_) | Ty::Pointer(_) => true,
        _ => false,
    }
}

/// Whether an operation exists for atomic integers only.
fn takes_integers(op: Option<AtomicOp>) -> bool {
    matches!(op, Some(AtomicOp::Fetch(FetchKey::And | FetchKey::Or | FetchKey::Xor)))
}
