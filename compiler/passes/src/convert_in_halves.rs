//! Converts 32-bit unsigned integers to `float` as two halves, for the driver bug `convert_in_halves`.
//!
//! Works around SwiftShader, which converts the lower 31 bits, then adds the top bit, and so rounds twice. The conversions of
//! both 16-bit halves and the product are exact. Only the sum rounds.

use kiln_ir::{BinaryOp, Convert, Function, Op, Scalar};
use kiln_session::Options;

use crate::rewrite::rewrite_only;

/// 65536 as `float`
const SCALE: u64 = 0x4780_0000;

pub(super) fn convert_in_halves(function: &mut Function, _: &Options) {
    rewrite_only(function, is_unsigned, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        let (Op::Convert(convert), [from], [to]) = (&inst.op, &inst.args[..], &inst.results[..]) else {
            return builder.insert(id);
        };
        let ty = builder.ty(*to);
        if builder.ty(*from).scalar() != Some(Scalar::I32) || ty.scalar() != Some(Scalar::F32) {
            return builder.insert(id);
        }
        let high = builder.binary_bits(BinaryOp::LShr, *from, 16);
        let low = builder.binary_bits(BinaryOp::And, *from, 0xffff);
        let [high, low] = [high, low].map(|half| builder.convert(*convert, half, ty));
        let scale = builder.bits(ty, SCALE);
        let high = builder.value(Op::Exact(BinaryOp::FMul), &[high, scale], ty);
        replaced.insert(*to, builder.value(Op::Exact(BinaryOp::FAdd), &[high, low], ty));
    });
}

fn is_unsigned(op: &Op) -> bool {
    matches!(op, Op::Convert(Convert::Number { from_signed: false, .. }))
}
