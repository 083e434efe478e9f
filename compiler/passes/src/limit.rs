//! Computes upper bounds of nonnegative integers from the operations that define them.

use kiln_ir::{BinaryOp, Convert, Function, Op, Scalar, ValueId};

/// The maximum depth of operations to follow.
const DEPTH: u32 = 8;

/// An exclusive upper bound of a scalar integer. `None` if the integer may be negative.
pub(super) fn limit(function: &Function, value: ValueId) -> Option<u64> {
    let bits = function.ty(value).scalar()?.bits();
    unsigned_limit(function, value, DEPTH).filter(|&limit| limit <= 1 << (bits - 1))
}

/// An exclusive upper bound of a scalar integer as an unsigned number.
fn unsigned_limit(function: &Function, value: ValueId, depth: u32) -> Option<u64> {
    let ty = function.ty(value);
    let scalar = ty.scalar().filter(|scalar| scalar.is_int() && !ty.is_vector())?;
    if let Some(bits) = function.constant_bits(value) {
        return (bits & scalar.mask()).checked_add(1);
    }
    let of_operands = || {
        let inst = function.def(value)?;
        let depth = depth.checked_sub(1)?;
        let of = |index: usize| unsigned_limit(function, inst.args[index], depth);
        match inst.op {
            Op::Convert(Convert::ZeroExtend) if function.ty(inst.args[0]).scalar() == Some(Scalar::Bool) => {
                Some(2)
            }
            Op::Convert(Convert::ZeroExtend) => of(0),
            // The sign is copied, so the operand must not be negative.
            Op::Convert(Convert::SignExtend) => {
                let bits = function.ty(inst.args[0]).scalar()?.bits();
                of(0).filter(|&limit| limit <= 1 << (bits - 1))
            }
            Op::Binary(BinaryOp::And) => match (of(0), of(1)) {
                (Some(left), Some(right)) => Some(left.min(right)),
                (left, right) => left.or(right),
            },
            // The remainder is less than the divisor and at most the dividend.
            Op::Binary(BinaryOp::URem) => {
                let divisor = function.constant_bits(inst.args[1]).filter(|&divisor| divisor != 0)?;
                Some(of(0).map_or(divisor, |dividend| dividend.min(divisor)))
            }
            Op::Binary(BinaryOp::LShr | BinaryOp::UDiv) => of(0),
            Op::Select => Some(of(1)?.max(of(2)?)),
            _ => None,
        }
    };
    of_operands().or_else(|| 1u64.checked_shl(scalar.bits()))
}

#[cfg(test)]
mod tests {
    use super::limit;
    use kiln_ir::{Function, Module, Op, ValueId};

    /// The limits of the first operands of all `xor`s in a function with the parameters `%0` of type I32 and `%1` of type I64.
    fn limits(body: &str) -> Vec<Option<u64>> {
        let text = format!("function #0 \"f\"(%0: i32, %1: i64) {{\n{body}  return\n}}\n");
        let module: Module = kiln_ir::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let function: &Function = module.functions.iter().next().expect("a function");
        let seen = |id| match &function.insts[id].op {
            Op::Binary(kiln_ir::BinaryOp::Xor) => Some(function.insts[id].args[0]),
            _ => None,
        };
        let values: Vec<ValueId> = function.inst_order().into_iter().filter_map(seen).collect();
        values.into_iter().map(|value| limit(function, value)).collect()
    }

    #[test]
    fn limits_follow_the_operations() {
        let body = "  %2: i32 = urem %0, i32 3\n  %3: i64 = sign_extend %2\n  %4: i64 = zero_extend %0\n  \
                    %5: i64 = sign_extend %0\n  %6: i32 = and %0, i32 3\n  %7: i64 = xor %3, %1\n  \
                    %8: i64 = xor %4, %1\n  %9: i64 = xor %5, %1\n  %10: i32 = xor %6, %0\n  %11: i32 = xor %0, %0\n";
        assert_eq!(limits(body), [Some(3), Some(1 << 32), None, Some(4), None]);
    }
}
