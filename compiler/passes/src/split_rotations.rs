//! Splits rotations of 64-bit integers by constants into shifts of their halves, for drivers that compile them as two 64-bit
//! shifts (`Tuning::shifts_to_rotate`): each half of the result takes one instruction, a shift of two words (PTX: `shf`).

use kiln_ir::{BinaryOp, Builder, Function, Inst, Op, Scalar, Type, ValueId};
use kiln_session::Options;

use crate::rewrite::rewrite_only;

/// The width of a half in bits.
const HALF: u64 = 32;

pub(super) fn split_rotations(function: &mut Function, options: &Options) {
    if !options.optimize || !options.target.tuning.shifts_to_rotate {
        return;
    }
    rewrite_only(function, joins_disjoint_bits, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        match rotation(builder.function, &inst) {
            Some((value, count)) => {
                replaced.insert(inst.results[0], rotate_left(builder, value, count));
            }
            None => builder.insert(id),
        }
    });
}

/// Whether an operation joins operands that have no set bits in common.
const fn joins_disjoint_bits(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add))
}

/// The 64-bit integer that the instruction rotates to the left, and by how many bits.
fn rotation(function: &Function, inst: &Inst) -> Option<(ValueId, u64)> {
    if function.ty(inst.results[0]) != Type::I64 {
        return None;
    }
    let shift = |value: ValueId, op: BinaryOp| {
        let shift = function.def(value).filter(|shift| shift.op == Op::Binary(op))?;
        Some((shift.args[0], function.constant_bits(shift.args[1])?))
    };
    let (a, b) = (inst.args[0], inst.args[1]);
    let (left, right) = match (shift(a, BinaryOp::Shl), shift(b, BinaryOp::Shl)) {
        (Some(left), None) => (left, shift(b, BinaryOp::LShr)?),
        (None, Some(left)) => (left, shift(a, BinaryOp::LShr)?),
        _ => return None,
    };
    let is_rotation = left.0 == right.0 && left.1 > 0 && left.1 + right.1 == 2 * HALF;
    is_rotation.then_some(left)
}

fn rotate_left(builder: &mut Builder<'_>, value: ValueId, count: u64) -> ValueId {
    let pair = builder.bitcast(value, Type::Vector(Scalar::I32, 2));
    let [mut low, mut high] = [0, 1].map(|half| builder.extract(pair, half));
    if count >= HALF {
        (low, high) = (high, low);
    }
    let count = count % HALF;
    if count > 0 {
        // The bits that leave one half enter the other.
        let mut joined = |upper: ValueId, lower: ValueId| {
            let upper = builder.binary_bits(BinaryOp::Shl, upper, count);
            let lower = builder.binary_bits(BinaryOp::LShr, lower, HALF - count);
            builder.binary(BinaryOp::Or, upper, lower)
        };
        (low, high) = (joined(low, high), joined(high, low));
    }
    let pair = builder.construct(&[low, high], Type::Vector(Scalar::I32, 2));
    builder.bitcast(pair, Type::I64)
}
