//! Splits divisions and remainders of integer vectors into scalar ones, for the driver bug `split_vector_divisions`.
//!
//! Works around NVIDIA's compiler, which computes wrong components of some vectors whose operands are masked.

use kiln_ir::{Function, Op, Type, ValueId};
use kiln_session::Options;

use crate::rewrite::rewrite_only;

pub(super) fn split_vector_divisions(function: &mut Function, _: &Options) {
    rewrite_only(function, Op::is_integer_division, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        let (Op::Binary(op) | Op::Exact(op)) = inst.op else { return builder.insert(id) };
        let Type::Vector(_, count) = builder.ty(inst.results[0]) else { return builder.insert(id) };
        let parts: Vec<ValueId> = (0..count)
            .map(|component| {
                let [x, y] = [0, 1].map(|operand| builder.extract(inst.args[operand], component));
                builder.binary(op, x, y)
            })
            .collect();
        let ty = builder.ty(inst.results[0]);
        replaced.insert(inst.results[0], builder.construct(&parts, ty));
    });
}
