//! Contracts products with sums, and makes all other sums and products exact.
//!
//! A Vulkan driver may rearrange floating-point operations by any law of real numbers, such as `(x + 2) + y` to `x +
//! (2 + y)`, unless they are decorated with `NoContraction` (Vulkan, "Precision and Operation of SPIR-V Instructions").
//! OpenCL C allows only contraction (6.15.2.1). So the compiler itself contracts, and leaves no freedom to the driver. A
//! product with other uses stays rounded: contracted, `x * y - x * y` would not be 0. With
//! `-cl-unsafe-math-optimizations`, which allows such laws, the driver decides.

use kiln_builtins::{self as builtins, BuiltinId};
use kiln_ir::{BinaryOp, Builder, BuiltinParam, Function, InstId, Op, Scalar, Type, UnaryOp, ValueId};
use kiln_session::Options;
use kiln_types::{index::Id as _, ty};

use crate::rewrite::rewrite_only;

pub(super) fn contract_products(function: &mut Function, options: &Options) {
    if options.math.unsafe_optimizations {
        return;
    }
    let mad = builtins::first_row("mad").expect("`mad` is a built-in function");
    let is_sum = |op: &Op| matches!(op, Op::Binary(BinaryOp::FAdd | BinaryOp::FSub));
    if function.may_contain(is_sum) {
        let uses = function.use_counts();
        rewrite_only(function, is_sum, |builder, id, replaced| match contracted(builder, id, &uses, mad) {
            Some(value) => {
                replaced.insert(builder.function.result(id), value);
            }
            None => builder.insert(id),
        });
    }
    make_exact(function);
}

/// The sum as one `mad`, if an operand is a product that may be contracted.
fn contracted(builder: &mut Builder<'_>, sum: InstId, uses: &[u32], mad: BuiltinId) -> Option<ValueId> {
    let inst = &builder.function.insts[sum];
    let is_difference = matches!(inst.op, Op::Binary(BinaryOp::FSub));
    let &[left, right] = &inst.args[..] else { return None };
    let factors = |value: ValueId| {
        let inst = builder.function.def(value)?;
        let is_contractible = matches!(inst.op, Op::Binary(BinaryOp::FMul)) && uses[value.index()] == 1;
        is_contractible.then(|| (inst.args[0], inst.args[1]))
    };
    let ty = builder.ty(left);
    let args = if let Some((x, y)) = factors(right) {
        // `left - x * y` is `-x * y + left`.
        let x = if is_difference { builder.unary(UnaryOp::FNeg, x) } else { x };
        [x, y, left]
    } else {
        let (x, y) = factors(left)?;
        let right = if is_difference { builder.unary(UnaryOp::FNeg, right) } else { right };
        [x, y, right]
    };
    let param = BuiltinParam::Value(element(ty)?, ty.count());
    Some(builder.value(Op::Builtin(mad, [param; 3].into_iter().collect()), &args, ty))
}

/// The OpenCL C type of a scalar, or of the components of a vector.
fn element(ty: Type) -> Option<ty::Scalar> {
    match ty.scalar()? {
        Scalar::F16 => Some(ty::Scalar::Half),
        Scalar::F32 => Some(ty::Scalar::Float),
        Scalar::F64 => Some(ty::Scalar::Double),
        _ => None,
    }
}

/// Makes all sums and products exact.
pub(super) fn make_exact(function: &mut Function) {
    for inst in function.insts.iter_mut() {
        if let Op::Binary(op @ (BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul)) = inst.op {
            inst.op = Op::Exact(op);
        }
    }
}
