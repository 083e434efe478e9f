//! Selects by both conditions of a conjunction and combines the results, for the driver bug `selected_conjunctions`.
//!
//! Works around NVIDIA's compiler, which combines the bytes of a vector that a conjunction of two vectors of conditions
//! selects, compares them again in a loop, and treats the result as all ones.

use kiln_ir::{BinaryOp, Builder, Const, Function, Inst, Op, Type, ValueId};
use kiln_session::Options;

use crate::rewrite::rewrite_only;

pub(super) fn split_selected_conjunctions(function: &mut Function, _: &Options) {
    rewrite_only(
        function,
        |op| matches!(op, Op::Select),
        |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            match combined_selections(builder, &inst) {
                Some(value) => drop(replaced.insert(inst.results[0], value)),
                None => builder.insert(id),
            }
        },
    );
}

/// `(a ? x : 0) & (b ? x : 0)` for `a & b ? x : 0`, if these are vectors.
fn combined_selections(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let &[condition, selected, other] = &inst.args[..] else { return None };
    let ty @ Type::Vector(scalar, _) = builder.ty(selected) else { return None };
    let is_zero = |value| matches!(builder.function.constant(value), Some(Const::Bits(bits)) if bits.iter().all(|&bits| bits == 0));
    let conjunction = builder.function.def(condition)?;
    if !scalar.is_int() || !is_zero(other) || !matches!(conjunction.op, Op::Binary(BinaryOp::And)) {
        return None;
    }
    let [left, right] = [conjunction.args[0], conjunction.args[1]]
        .map(|condition| builder.value(Op::Select, &[condition, selected, other], ty));
    Some(builder.binary(BinaryOp::And, left, right))
}
