//! Replaces signed 64-bit comparisons with unsigned ones, for the driver bug `compare_as_unsigned`.
//!
//! Works around lavapipe, whose compiler narrows a signed comparison of a sign-extended `int` with a constant, using
//! the bounds of 32 bits instead of those of 64. It unrolls loops, so it finds more constants and extended values than
//! `narrow_comparisons`. Unsigned comparisons of operands with flipped sign bits have the same order.

use kiln_ir::{BinaryOp, Builder, Compare, CompareKind, Const, Function, Inst, Op, Scalar, ValueId};
use kiln_session::Options;
use kiln_types::ops::CompareOp;

use crate::rewrite::rewrite_only;

/// The sign bit of a 64-bit integer.
const SIGN: u64 = 1 << 63;

pub(super) fn compare_as_unsigned(function: &mut Function, _: &Options) {
    let is_signed = |op: &Op| matches!(op, Op::Compare(Compare { kind: CompareKind::Signed, .. }));
    rewrite_only(function, is_signed, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        match unsigned_comparison(builder, &inst) {
            Some(value) => drop(replaced.insert(inst.results[0], value)),
            None => builder.insert(id),
        }
    });
}

fn unsigned_comparison(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let Op::Compare(Compare { op, .. }) = inst.op else { return None };
    let is_order = !matches!(op, CompareOp::Equal | CompareOp::NotEqual);
    if !is_order || builder.ty(inst.args[0]).scalar() != Some(Scalar::I64) {
        return None;
    }
    let [left, right] = [inst.args[0], inst.args[1]].map(|arg| flip_sign_bit(builder, arg));
    Some(builder.compare(op, CompareKind::Unsigned, left, right))
}

fn flip_sign_bit(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    match builder.function.constant(value) {
        Some(Const::Bits(bits)) => {
            let flipped = bits.iter().map(|bits| bits ^ SIGN).collect();
            builder.constant(builder.ty(value), Const::Bits(flipped))
        }
        _ => builder.binary_bits(BinaryOp::Xor, value, SIGN),
    }
}
