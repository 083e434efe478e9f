//! `__builtin_add_overflow`, `__builtin_sub_overflow` and `__builtin_mul_overflow` of GNU C and clang: the exact result
//! of two integers of any types, stored as the integer type that the pointer points to.
//!
//! The table has the forms with one type. Other calls become calls of `__kiln_add_overflow_short` and similar functions,
//! which take both operands as 64 bits and a mask of those that are signed.

use kiln_session::diag::{Code, Diagnostic};
use kiln_types::{
    fold,
    ops::Const,
    ty::{Scalar, Ty, TyId},
};

use super::{Sema, builtin::Call, convert::PLAIN};
use crate::hir::{Expr, ExprKind};

impl Sema<'_> {
    /// The function that a call means, if it is one of these, with its arguments. `Err` if a mistake was reported.
    pub(super) fn overflow_form(
        &mut self,
        arguments: Vec<Expr>,
        call: &Call,
    ) -> Result<(Option<String>, Vec<Expr>), ()> {
        let Some(operation) = operation(call.name) else { return Ok((None, arguments)) };
        let arguments = match <[Expr; 3]>::try_from(arguments) {
            Ok(arguments) => arguments,
            // The table reports the wrong number.
            Err(arguments) => return Ok((None, arguments)),
        };
        let [left, right, pointer] = arguments;
        let mut is_sound = true;
        for (operand, number) in [(&left, 1), (&right, 2)] {
            if !self.is_integer(operand.ty) {
                self.report_overflow_operand(operand, number, "an integer", call);
                is_sound = false;
            }
        }
        let target = self.overflow_result(pointer.ty);
        if target.is_none() {
            self.report_overflow_operand(&pointer, 3, "a pointer to an integer that is not `const`", call);
        }
        let (true, Some(target)) = (is_sound, target) else { return Err(()) };
        let (left, right) = (self.in_result_type(left, target), self.in_result_type(right, target));
        if left.ty == TyId::scalar(target) && right.ty == left.ty {
            return Ok((None, vec![left, right, pointer]));
        }
        let mask = u64::from(self.is_signed(left.ty)) | u64::from(self.is_signed(right.ty)) << 1;
        let mask = Expr { kind: ExprKind::Const(Const::Int(mask)), ty: TyId::INT, span: call.span };
        let (left, right) = (self.convert(left, TyId::LONG), self.convert(right, TyId::LONG));
        let name = format!("__kiln_{operation}_overflow_{}", target.spelling());
        Ok((Some(name), vec![left, right, mask, pointer]))
    }

    /// The integer type of the result.
    fn overflow_result(&self, pointer: TyId) -> Option<Scalar> {
        let Ty::Pointer(to) = *self.types.get(pointer) else { return None };
        match *self.types.get(to.ty) {
            Ty::Scalar(scalar) if !to.quals.is_const && !scalar.is_float() && scalar != Scalar::Bool => {
                Some(scalar)
            }
            _ => None,
        }
    }

    /// A constant as the type of the result, if that can represent it.
    fn in_result_type(&mut self, value: Expr, target: Scalar) -> Expr {
        let ty = TyId::scalar(target);
        let of = self.element(value.ty);
        match (&value.kind, of) {
            (ExprKind::Const(constant @ Const::Int(bits)), Some(scalar)) => {
                let exact = fold::integer(scalar, *bits);
                let converted = fold::convert(constant, scalar, target, PLAIN);
                match converted {
                    Some(Const::Int(bits)) if fold::integer(target, bits) == exact => self.convert(value, ty),
                    _ => value,
                }
            }
            _ => value,
        }
    }

    fn is_signed(&self, ty: TyId) -> bool {
        self.element(ty).is_some_and(Scalar::is_signed)
    }

    fn report_overflow_operand(&mut self, operand: &Expr, number: usize, wanted: &str, call: &Call) {
        let message = format!("`{}` cannot take `{}` as argument {number}", call.name, self.show(operand.ty));
        self.report(
            Diagnostic::new(Code::ArgumentType, operand.span, message).help(format!("it takes {wanted}")),
        );
    }
}

/// The operation in the name of a function with operands of any integer types.
fn operation(name: &str) -> Option<&str> {
    let operation = name.strip_prefix("__builtin_")?.strip_suffix("_overflow")?;
    matches!(operation, "add" | "sub" | "mul").then_some(operation)
}
