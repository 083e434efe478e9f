//! Lowers atomic operations on private objects to plain operations, because no other work-item can access them (OpenCL
//! C 6.15.12.10).

use kiln_ir::{Access, Atomic, BinaryOp, Builder, CompareKind, InstId, Op, Scalar, Type, ValueId};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FetchKey};

/// Replaces an atomic operation on a private object. Returns the replacement of its result.
pub(super) fn replace(builder: &mut Builder<'_>, id: InstId) -> Option<ValueId> {
    let inst = builder.function.insts[id].clone();
    let pointer = inst.args.first().copied();
    let is_private = pointer.is_some_and(|it| builder.ty(it) == Type::Pointer(AddressSpace::Private));
    let (Op::Atomic(atomic), true, Some(pointer)) = (&inst.op, is_private, pointer) else {
        builder.insert(id);
        return None;
    };
    let align = atomic.ty.size() as u32;
    let access = Access { is_shared: false, align, is_volatile: atomic.is_volatile };
    let old = builder.load(pointer, Type::Scalar(atomic.ty), access);
    let (new, result) = modified(builder, atomic, &inst.args[1..], old);
    if let Some(new) = new {
        builder.store(pointer, new, access);
    }
    result
}

/// The new value of the object, if the operation writes, and the operation's result, if it has one.
pub(crate) fn modified(
    builder: &mut Builder<'_>,
    atomic: &Atomic,
    operands: &[ValueId],
    old: ValueId,
) -> (Option<ValueId>, Option<ValueId>) {
    let ty = Type::Scalar(atomic.ty);
    match atomic.op {
        AtomicOp::Load => (None, Some(old)),
        AtomicOp::Store => (Some(operands[0]), None),
        AtomicOp::Exchange => (Some(operands[0]), Some(old)),
        AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => {
            let int = Type::Scalar(Scalar::int_of_size(atomic.ty.size()));
            let [left, right] = [old, operands[1]].map(|it| builder.bitcast(it, int));
            let same = builder.compare(CompareOp::Equal, CompareKind::Unsigned, left, right);
            (Some(builder.select(same, operands[0], old)), Some(old))
        }
        AtomicOp::FlagTestAndSet => {
            let (one, zero) = (builder.bits(ty, 1), builder.bits(ty, 0));
            (Some(one), Some(builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, old, zero)))
        }
        AtomicOp::FlagClear => (Some(builder.bits(ty, 0)), None),
        AtomicOp::Fetch(key) => (Some(fetched(builder, atomic, key, old, operands[0])), Some(old)),
    }
}

/// `old key operand`
pub(super) fn fetched(
    builder: &mut Builder<'_>,
    atomic: &Atomic,
    key: FetchKey,
    old: ValueId,
    operand: ValueId,
) -> ValueId {
    let is_float = atomic.ty.is_float();
    match key {
        FetchKey::Add if is_float => builder.binary(BinaryOp::FAdd, old, operand),
        FetchKey::Sub if is_float => builder.binary(BinaryOp::FSub, old, operand),
        FetchKey::Add => builder.binary(BinaryOp::Add, old, operand),
        FetchKey::Sub => builder.binary(BinaryOp::Sub, old, operand),
        FetchKey::Or => builder.binary(BinaryOp::Or, old, operand),
        FetchKey::Xor => builder.binary(BinaryOp::Xor, old, operand),
        FetchKey::And => builder.binary(BinaryOp::And, old, operand),
        FetchKey::Min | FetchKey::Max => {
            let op = if key == FetchKey::Min { CompareOp::Less } else { CompareOp::Greater };
            let kind = match (is_float, atomic.is_signed) {
                (true, _) => CompareKind::Float,
                (false, true) => CompareKind::Signed,
                (false, false) => CompareKind::Unsigned,
            };
            let mut takes = builder.compare(op, kind, operand, old);
            if is_float {
                // If one operand is a NaN, the result is the number (cl_ext_float_atomics).
                let is_nan = builder.compare(CompareOp::NotEqual, kind, old, old);
                takes = builder.binary(BinaryOp::Or, takes, is_nan);
            }
            builder.select(takes, operand, old)
        }
    }
}
