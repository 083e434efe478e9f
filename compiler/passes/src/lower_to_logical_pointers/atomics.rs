//! Atomic operations on local objects. Operations on the element type of a variable are native; others are emulated.

use super::access::Accessor;
use kiln_ir::{Atomic, BinaryOp, Builder, Op, Scalar, Type, UnaryOp, ValueId};
use kiln_memory::Spaces;
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FetchKey};

use crate::legalize_atomics::{LoopOrder, exchange_loop, unshared};

/// The requirement of an atomic operation for its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ElementRequirement {
    /// Any type of this size, because the operation only moves bits.
    Moved(u64),
    /// An integer of this size.
    Integer(u64),
    /// A float of this size, because the target has the operation. If the element is an integer, the operation becomes a
    /// compare-exchange loop.
    Float(u64),
}

impl ElementRequirement {
    /// The requirement for the operation to be native.
    pub(super) const fn for_atomic(atomic: &Atomic) -> Self {
        let size = atomic.ty.size();
        match atomic.op {
            AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange => Self::Moved(size),
            _ if atomic.ty.is_float() => Self::Float(size),
            _ => Self::Integer(size),
        }
    }

    /// The size of the object in bytes.
    pub(super) const fn size(self) -> u64 {
        match self {
            Self::Moved(size) | Self::Integer(size) | Self::Float(size) => size,
        }
    }
}

/// How an atomic operation accesses a part of a wider element.
#[derive(Clone, Copy)]
pub(super) enum PartAccess {
    /// It loads the whole element.
    Load,
    /// A bitwise operation, with an operand that does not change the other bits.
    Bitwise(FetchKey),
    /// A loop that exchanges the whole element.
    Exchange,
}

impl PartAccess {
    /// The access to a part for this operation.
    pub(super) const fn for_operation(op: AtomicOp) -> Self {
        match op {
            AtomicOp::Load => Self::Load,
            AtomicOp::Fetch(key @ (FetchKey::And | FetchKey::Or | FetchKey::Xor)) => Self::Bitwise(key),
            _ => Self::Exchange,
        }
    }
}

impl Accessor<'_, '_> {
    /// Builds the operation on the object at this position. Returns its result.
    pub(super) fn atomic(
        &mut self,
        position: ValueId,
        atomic: &Atomic,
        operands: &[ValueId],
        result: Option<Type>,
        order: LoopOrder,
    ) -> Option<ValueId> {
        let element = self.layout.element;
        if element.size() != atomic.ty.size() {
            return self.atomic_part(position, atomic, operands, order);
        }
        let pointer = self.element_at(position);
        match (element == atomic.ty, ElementRequirement::for_atomic(atomic)) {
            (true, _) => native(self.builder, pointer, atomic.clone(), operands, result),
            (false, ElementRequirement::Moved(_)) => {
                let own = Type::Scalar(element);
                let operands: Vec<ValueId> =
                    operands.iter().map(|&it| self.builder.bitcast(it, own)).collect();
                let moved = Atomic { ty: element, ..atomic.clone() };
                let old = native(self.builder, pointer, moved, &operands, result.map(|_| own))?;
                Some(self.builder.bitcast(old, Type::Scalar(atomic.ty)))
            }
            (false, ElementRequirement::Integer(_) | ElementRequirement::Float(_)) => {
                let (own, ty) = (Type::Scalar(element), Type::Scalar(atomic.ty));
                let object = (pointer, Spaces::LOCAL);
                let old = exchange_loop(self.builder, order, object, element, atomic, |builder, old| {
                    let old = builder.bitcast(old, ty);
                    let (new, _) = unshared::modified(builder, atomic, operands, old);
                    builder.bitcast(new.unwrap_or(old), own)
                });
                Some(self.builder.bitcast(old, ty))
            }
        }
    }

    /// Builds the operation on a part of a wider element.
    fn atomic_part(
        &mut self,
        position: ValueId,
        atomic: &Atomic,
        operands: &[ValueId],
        order: LoopOrder,
    ) -> Option<ValueId> {
        let (wide, ty) = (self.layout.element, Type::Scalar(atomic.ty));
        let part = Scalar::int_of_size(atomic.ty.size());
        let pointer = self.element_at(position);
        let access = PartAccess::for_operation(atomic.op);
        if matches!(access, PartAccess::Load) {
            let load = Atomic { ty: wide, ..atomic.clone() };
            let whole = native(self.builder, pointer, load, &[], Some(Type::Scalar(wide)))?;
            let value = self.extract_part(whole, position, 0, part);
            return Some(self.builder.bitcast(value, ty));
        }
        let shift = self.shift(position, 0);
        let ones = self.builder.bits(Type::Scalar(wide), part.mask());
        let mask = self.builder.binary(BinaryOp::Shl, ones, shift);
        let keep = self.builder.unary(UnaryOp::Not, mask);
        let whole = if let PartAccess::Bitwise(key) = access {
            let operand = self.builder.resize(operands[0], wide, false);
            let mut operand = self.builder.binary(BinaryOp::Shl, operand, shift);
            if key == FetchKey::And {
                operand = self.builder.binary(BinaryOp::Or, operand, keep);
            }
            let fetch = Atomic { ty: wide, ..atomic.clone() };
            native(self.builder, pointer, fetch, &[operand], Some(Type::Scalar(wide)))?
        } else {
            let object = (pointer, Spaces::LOCAL);
            exchange_loop(self.builder, order, object, wide, atomic, |builder, whole| {
                let low = builder.binary(BinaryOp::LShr, whole, shift);
                let low = builder.resize(low, part, false);
                let old = builder.bitcast(low, ty);
                let (new, _) = unshared::modified(builder, atomic, operands, old);
                let new = builder.bitcast(new.unwrap_or(old), Type::Scalar(part));
                let new = builder.resize(new, wide, false);
                let shifted = builder.binary(BinaryOp::Shl, new, shift);
                let kept = builder.binary(BinaryOp::And, whole, keep);
                builder.binary(BinaryOp::Or, kept, shifted)
            })
        };
        let old = self.extract_part(whole, position, 0, part);
        Some(self.builder.bitcast(old, ty))
    }
}

/// Builds the native operation.
fn native(
    builder: &mut Builder<'_>,
    pointer: ValueId,
    atomic: Atomic,
    operands: &[ValueId],
    result: Option<Type>,
) -> Option<ValueId> {
    debug_assert_eq!(builder.ty(pointer), Type::Pointer(AddressSpace::Local), "other objects are not shared");
    let args: Vec<ValueId> = std::iter::once(pointer).chain(operands.iter().copied()).collect();
    let inst = builder.inst(Op::Atomic(atomic), &args, result.as_slice());
    builder.function.insts[inst].results.first().copied()
}
