//! Splits the constant part off an index (LLVM: SeparateConstOffsetFromGEP): `p[x + 3]` becomes `(p + x)[3]`, if other
//! accesses have the same base `p + x`. The base is then computed once, and accesses at constant distances from it can be
//! compared.
//!
//! Runs only for drivers that do not overlap loads themselves (`Tuning::overlaps_few_loads`), because only the passes for
//! these drivers compare accesses.
//!
//! Handles only 64-bit indices, because a 32-bit sum may wrap around, and only global and constant memory, because an access
//! to a local or private object has one index.

use kiln_ir::{BinaryOp, Function, InstId, Op, Type, ValueId};
use kiln_session::Options;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use crate::{origins::base_and_offset, rewrite::rewrite_only};

pub(super) fn separate_constant_offsets(function: &mut Function, options: &Options) {
    if !options.optimize || !options.target.tuning.overlaps_few_loads {
        return;
    }
    let offsets = function.insts_where(|op| matches!(op, Op::Offset { .. }));
    let mut uses: FxHashMap<Base, u32> = FxHashMap::default();
    let mut parts: FxHashMap<InstId, (Base, i64)> = FxHashMap::default();
    for id in offsets {
        if let Some((base, bytes)) = split(function, id) {
            *uses.entry(base).or_default() += 1;
            parts.insert(id, (base, bytes));
        }
    }
    parts.retain(|_, (base, bytes)| *bytes != 0 && uses[base] > 1);
    if parts.is_empty() {
        return;
    }
    let is_offset = |op: &Op| matches!(op, Op::Offset { .. });
    rewrite_only(function, is_offset, |builder, id, _| {
        if let Some(&(Base { pointer, index, stride }, bytes)) = parts.get(&id) {
            let base = builder.offset(pointer, index, stride);
            let bytes = builder.i64(bytes);
            let inst = &mut builder.function.insts[id];
            inst.op = Op::Offset { stride: 1, count: None };
            inst.args = [base, bytes].into_iter().collect();
        }
        builder.insert(id);
    });
}

/// A pointer and a variable offset from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Base {
    pointer: ValueId,
    index: ValueId,
    stride: u64,
}

/// The variable part of a variable offset, and its constant part in bytes. Addresses wrap around, as sums of 64 bits do.
fn split(function: &Function, id: InstId) -> Option<(Base, i64)> {
    let inst = &function.insts[id];
    let Op::Offset { stride, .. } = inst.op else { return None };
    let Type::Pointer(AddressSpace::Global | AddressSpace::Constant) = function.ty(inst.results[0]) else {
        return None;
    };
    let mut index = inst.args[1];
    if function.constant(index).is_some() {
        return None;
    }
    let (pointer, mut bytes) = base_and_offset(function, inst.args[0]);
    while function.ty(index) == Type::I64
        && let Some((rest, constant)) = split_sum(function, index)
    {
        index = rest;
        bytes = bytes.wrapping_add(constant.wrapping_mul(stride as i64));
    }
    Some((Base { pointer, index, stride }, bytes))
}

/// The variable and the constant operand of a sum.
fn split_sum(function: &Function, sum: ValueId) -> Option<(ValueId, i64)> {
    let inst = function.def(sum)?;
    let constant = |index: usize| function.constant_bits(inst.args[index]).map(|bits| bits as i64);
    match inst.op {
        Op::Binary(BinaryOp::Add) => match (constant(0), constant(1)) {
            (None, Some(right)) => Some((inst.args[0], right)),
            (Some(left), None) => Some((inst.args[1], left)),
            _ => None,
        },
        Op::Binary(BinaryOp::Sub) => Some((inst.args[0], constant(1)?.wrapping_neg())),
        _ => None,
    }
}
