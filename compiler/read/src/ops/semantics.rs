//! Scopes and memory semantics of the OpenCL environment, constant or not, in OpenCL's terms.
//!
//! A scope or a mask that is not constant is converted at run time, because the IR's dynamic operands are the numbers
//! of OpenCL C's enumerators.

use kiln_ir::{BinaryOp, Builder, CompareKind, Known, Scalar, Type, ValueId};
use kiln_memory::{Decoded, SpirvScope, decode_scope, decode_semantics};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::{Order, Scope};

/// The order bits of a mask.
const ORDER: u64 = 0x1e;

/// A memory semantics operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mask {
    /// A constant.
    Known(Decoded),
    /// A value.
    Dynamic(ValueId),
}

/// An operand of the IR, and its value if it is dynamic.
pub(super) type DynamicOperand<T> = (Known<T>, Option<ValueId>);

/// The scope operand.
pub(super) fn scope(builder: &mut Builder<'_>, value: ValueId) -> Result<DynamicOperand<Scope>, String> {
    match builder.function.constant_bits(value) {
        Some(number) => {
            let scope = u32::try_from(number).ok().and_then(decode_scope);
            let scope = scope.ok_or_else(|| format!("OpenCL has no scope {number}"))?;
            Ok((Known::Constant(scope), None))
        }
        None => Ok((Known::Dynamic, Some(dynamic_scope(builder, value)))),
    }
}

/// A scope that must be constant.
pub(super) fn constant_scope(builder: &mut Builder<'_>, value: ValueId, what: &str) -> Result<Scope, String> {
    match scope(builder, value)? {
        (Known::Constant(scope), _) => Ok(scope),
        (Known::Dynamic, _) => Err(format!("the {what} is not a constant")),
    }
}

/// The memory semantics operand.
pub(super) fn mask(builder: &Builder<'_>, value: ValueId) -> Result<Mask, String> {
    let Some(bits) = builder.function.constant_bits(value) else { return Ok(Mask::Dynamic(value)) };
    let decoded = u32::try_from(bits).ok().and_then(decode_semantics);
    decoded
        .map(Mask::Known)
        .ok_or_else(|| format!("the memory semantics {bits:#x} have no meaning in OpenCL"))
}

impl Mask {
    /// The order.
    pub(super) fn order(self, builder: &mut Builder<'_>) -> DynamicOperand<Order> {
        match self {
            Self::Known(decoded) => (Known::Constant(decoded.order), None),
            Self::Dynamic(mask) => (Known::Dynamic, Some(dynamic_order(builder, mask))),
        }
    }
}

/// Translates a number with a table of pairs. The last pair is for all other numbers.
fn translated(builder: &mut Builder<'_>, value: ValueId, pairs: &[(u64, i32)]) -> ValueId {
    let Some((&(_, last), rest)) = pairs.split_last() else { return value };
    let mut result = builder.i32(last);
    for &(from, to) in rest {
        let from = builder.bits(builder.ty(value), from);
        let is_it = builder.compare(CompareOp::Equal, CompareKind::Unsigned, value, from);
        let to = builder.i32(to);
        result = builder.select(is_it, to, result);
    }
    result
}

fn dynamic_scope(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    let value = builder.resize(value, Scalar::I32, false);
    let pairs = [
        (SpirvScope::CrossDevice, Scope::AllSvmDevices),
        (SpirvScope::Workgroup, Scope::WorkGroup),
        (SpirvScope::Subgroup, Scope::SubGroup),
        (SpirvScope::Invocation, Scope::WorkItem),
        (SpirvScope::Device, Scope::Device),
    ];
    translated(builder, value, &pairs.map(|(from, to)| (from.value().into(), to as i32)))
}

fn dynamic_order(builder: &mut Builder<'_>, mask: ValueId) -> ValueId {
    let mask = builder.resize(mask, Scalar::I32, false);
    let bits = builder.binary_bits(BinaryOp::And, mask, ORDER);
    let pairs = [
        (0x2, Order::Acquire),
        (0x4, Order::Release),
        (0x8, Order::AcqRel),
        (0x10, Order::SeqCst),
        (0, Order::Relaxed),
    ];
    translated(builder, bits, &pairs.map(|(from, to)| (from, to as i32)))
}

/// The fence flags: the bits of local and global memory are adjacent in both masks.
pub(super) fn dynamic_flags(builder: &mut Builder<'_>, mask: ValueId) -> ValueId {
    let mask = builder.resize(mask, Scalar::I32, false);
    let part = |builder: &mut Builder<'_>, shift, bits| {
        let shifted = builder.binary_bits(BinaryOp::LShr, mask, shift);
        builder.binary_bits(BinaryOp::And, shifted, bits)
    };
    let memory = part(builder, 8, 3);
    let image = part(builder, 9, 4);
    debug_assert_eq!(builder.ty(memory), Type::I32);
    builder.binary(BinaryOp::Or, memory, image)
}
