//! Expands divisions and remainders of 64-bit integers for drivers with wrong results (`DriverBug::ExpandInt64Division`): calls
//! of `library/lib/divide.cl`, or products with the reciprocal for constant divisors. If the values of the operands fit in 32 bits,
//! 32-bit ones replace them, which the drivers execute correctly.

use kiln_ir::{BinaryOp, Builder, CompareKind, Const, FuncId, Function, Inst, Op, Scalar, Type, ValueId};
use kiln_syntax::Span;
use kiln_types::ops::CompareOp;
use kiln_vocabulary::driver_bugs::DriverBug;

use super::{Pass, rewrite_only};
use crate::{narrow_divisions, promote};

impl Pass<'_> {
    /// Expands divisions and remainders of 64-bit integers in a function.
    pub(super) fn int64_divisions(&mut self, id: FuncId) {
        let target = &self.options.target;
        if !target.features.int64 || !target.workarounds.contains(DriverBug::ExpandInt64Division) {
            return;
        }
        let is_wide = |function: &Function, inst: &Inst| {
            inst.op.is_integer_division() && function.ty(inst.results[0]).scalar() == Some(Scalar::I64)
        };
        let function = &self.module.functions[id];
        if !function.insts.iter().any(|inst| is_wide(function, inst)) {
            return;
        }
        let empty = Function::new(String::new(), &[], None, Span::default());
        let mut function = std::mem::replace(&mut self.module.functions[id], empty);
        if self.options.optimize {
            // The bounds of variables are those of their values.
            promote::promote(&mut function, self.options);
        }
        rewrite_only(&mut function, Op::is_integer_division, |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return builder.insert(id) };
            let (dividend, divisor, result) = (inst.args[0], inst.args[1], inst.results[0]);
            let ty = builder.ty(result);
            if ty.scalar() != Some(Scalar::I64) {
                return builder.insert(id);
            }
            let in_32_bits = match self.options.optimize {
                true => narrow_divisions::divide_in_32_bits(builder, &inst),
                false => None,
            };
            if let Some(value) = in_32_bits.or_else(|| narrow_divisions::shift_or_mask(builder, &inst)) {
                replaced.insert(result, value);
                return;
            }
            let is_signed = !narrow_divisions::is_unsigned(builder.function, &inst);
            let Some(quotient) = self.int64_quotient(builder, dividend, divisor, is_signed) else {
                return builder.insert(id);
            };
            let new = match op {
                BinaryOp::UDiv | BinaryOp::SDiv => quotient,
                _ => {
                    let product = builder.binary(BinaryOp::Mul, quotient, divisor);
                    builder.binary(BinaryOp::Sub, dividend, product)
                }
            };
            replaced.insert(result, new);
        });
        self.module.functions[id] = function;
    }

    /// The quotient of 64-bit integers or vectors, without the driver's division.
    fn int64_quotient(
        &mut self,
        builder: &mut Builder<'_>,
        dividend: ValueId,
        divisor: ValueId,
        is_signed: bool,
    ) -> Option<ValueId> {
        let ty = builder.ty(dividend);
        let constants = match builder.function.constant(divisor) {
            Some(Const::Bits(bits)) if !bits.contains(&0) => Some(bits.clone()),
            _ => None,
        };
        let parts: Option<Vec<ValueId>> = (0..ty.count())
            .map(|component| {
                let [x, y] = [dividend, divisor].map(|operand| match ty.is_vector() {
                    true => builder.extract(operand, component),
                    false => operand,
                });
                match &constants {
                    Some(bits) => {
                        let bits = bits[usize::from(component).min(bits.len() - 1)];
                        self.int64_quotient_by_constant(builder, x, bits, is_signed)
                    }
                    None => {
                        let types = if is_signed { "long" } else { "ulong" };
                        let callee = self.callee("divide", types, builder.span)?;
                        builder.call(callee, &[x, y], Some(Type::I64))
                    }
                }
            })
            .collect();
        let parts = parts?;
        Some(if ty.is_vector() { builder.construct(&parts, ty) } else { parts[0] })
    }

    /// The quotient by a constant: a shift, or a product with the reciprocal.
    fn int64_quotient_by_constant(
        &mut self,
        builder: &mut Builder<'_>,
        dividend: ValueId,
        divisor: u64,
        is_signed: bool,
    ) -> Option<ValueId> {
        let zero = builder.i64(0);
        let is_negative =
            is_signed.then(|| builder.compare(CompareOp::Less, CompareKind::Signed, dividend, zero));
        let negated = |builder: &mut Builder<'_>, value| builder.binary(BinaryOp::Sub, zero, value);
        let size = match is_negative {
            Some(is_negative) => {
                let negative = negated(builder, dividend);
                builder.select(is_negative, negative, dividend)
            }
            None => dividend,
        };
        let divisor_size = if is_signed { (divisor as i64).unsigned_abs() } else { divisor };
        let quotient = if divisor_size.is_power_of_two() {
            builder.binary_bits(BinaryOp::LShr, size, divisor_size.trailing_zeros().into())
        } else {
            // The divisor is not a power of two, so floor(2^64 / divisor) is floor((2^64 - 1) / divisor).
            let factor = builder.i64((u64::MAX / divisor_size) as i64);
            let divisor = builder.i64(divisor_size as i64);
            let callee = self.callee("divide_by", "ulong", builder.span)?;
            builder.call(callee, &[size, divisor, factor], Some(Type::I64))?
        };
        let Some(is_negative) = is_negative else { return Some(quotient) };
        let negative = negated(builder, quotient);
        Some(match (divisor as i64) < 0 {
            true => builder.select(is_negative, quotient, negative),
            false => builder.select(is_negative, negative, quotient),
        })
    }
}
