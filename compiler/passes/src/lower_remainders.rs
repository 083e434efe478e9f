//! Lowers signed remainders: `x % y` becomes `x - x / y * y`.
//!
//! Vulkan leaves `OpSRem` and `OpSMod` undefined if an operand is negative (appendix "Vulkan Environment for
//! SPIR-V"); an NVIDIA driver returns 0 for `-7 % 3`. `OpSDiv` is defined, and devices compute remainders from it
//! anyway.

use kiln_ir::{BinaryOp, Function, Op};
use kiln_session::Options;

use crate::rewrite::rewrite_only;

pub(super) fn lower_remainders(function: &mut Function, _: &Options) {
    let is_remainder = |op: &Op| matches!(op, Op::Binary(BinaryOp::SRem) | Op::Exact(BinaryOp::SRem));
    rewrite_only(function, is_remainder, |builder, id, replaced| {
        let inst = &builder.function.insts[id];
        let (dividend, divisor, result) = (inst.args[0], inst.args[1], inst.results[0]);
        let quotient = builder.binary(BinaryOp::SDiv, dividend, divisor);
        let product = builder.binary(BinaryOp::Mul, quotient, divisor);
        replaced.insert(result, builder.binary(BinaryOp::Sub, dividend, product));
    });
}
