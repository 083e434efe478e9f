//! Computes upper bounds of integers from the operations that define them.

use kiln_ir::{BinaryOp, Const, Convert, Function, Op, Scalar, UnaryOp, ValueId};

/// The maximum depth of operations to follow.
const DEPTH: u32 = 8;

/// An exclusive upper bound of a scalar integer. `None` if the integer may be negative.
pub(super) fn limit(function: &Function, value: ValueId) -> Option<u64> {
    let ty = function.ty(value);
    let scalar = ty.scalar().filter(|scalar| scalar.is_int() && !ty.is_vector())?;
    let maximum = maximum(function, value);
    (maximum <= scalar.mask() >> 1).then(|| maximum + 1)
}

/// An upper bound of an integer, or of all components of a vector of integers, as unsigned numbers.
pub(super) fn maximum(function: &Function, value: ValueId) -> u64 {
    maximum_within(function, value, DEPTH)
}

fn maximum_within(function: &Function, value: ValueId, depth: u32) -> u64 {
    let mask = function.ty(value).scalar().map_or(u64::MAX, Scalar::mask);
    from_operation(function, value, depth).unwrap_or(mask).min(mask)
}

/// The bound that follows from a value's operation.
fn from_operation(function: &Function, value: ValueId, depth: u32) -> Option<u64> {
    if let Some(Const::Bits(bits)) = function.constant(value) {
        return bits.iter().copied().max();
    }
    let depth = depth.checked_sub(1)?;
    let inst = function.def(value)?;
    let of = |index: usize| maximum_within(function, inst.args[index], depth);
    let mask = function.ty(value).scalar()?.mask();
    // A result that does not fit loses its upper bits.
    let exact = |result: Option<u64>| result.filter(|it| *it <= mask);
    match inst.op {
        // Queries of work-items fit in 32 bits (`lower_work_items`). No launch is larger.
        Op::WorkItem(_) => Some(u32::MAX.into()),
        Op::Convert(Convert::ZeroExtend) if function.ty(inst.args[0]).scalar() == Some(Scalar::Bool) => {
            Some(1)
        }
        Op::Convert(Convert::ZeroExtend) => Some(of(0)),
        Op::Convert(Convert::Truncate) => exact(Some(of(0))),
        // The sign is copied, so the operand must not be negative.
        Op::Convert(Convert::SignExtend) => {
            let sign = function.ty(inst.args[0]).scalar()?.mask() >> 1;
            Some(of(0)).filter(|it| *it <= sign)
        }
        Op::Select => Some(of(1).max(of(2))),
        Op::Extract(_) => Some(of(0)),
        Op::Construct => (0..inst.args.len()).map(of).max(),
        Op::Unary(UnaryOp::BitCount) => Some(mask.count_ones().into()),
        Op::Binary(op) => {
            let constant = function.splat_bits(inst.args[1]);
            let shift = constant.and_then(|it| u32::try_from(it).ok()).filter(|it| *it < mask.count_ones());
            match op {
                BinaryOp::And => Some(of(0).min(of(1))),
                // All bits up to the highest one of both.
                BinaryOp::Or | BinaryOp::Xor => {
                    Some(u64::MAX.checked_shr(of(0).max(of(1)).leading_zeros()).unwrap_or(0))
                }
                BinaryOp::Add => exact(of(0).checked_add(of(1))),
                BinaryOp::Mul => exact(of(0).checked_mul(of(1))),
                BinaryOp::Shl => exact(of(0).checked_mul(1 << shift?)),
                BinaryOp::LShr => Some(of(0) >> shift.unwrap_or(0)),
                BinaryOp::UDiv => Some(of(0) / constant.unwrap_or(1).max(1)),
                // The remainder is less than the divisor and at most the dividend.
                BinaryOp::URem => Some(of(0).min(constant.filter(|it| *it > 0)? - 1)),
                _ => None,
            }
        }
        _ => None,
    }
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
