//! Accesses to parts of words in global memory. Loads extract the part. Stores leave the rest of the word unchanged,
//! because other work-items may write it at the same time. They are atomic operations on the word. Loads of other parts
//! also read the whole word, so they must be atomic too: otherwise, the two are a data race.

use std::collections::BTreeMap;

use kiln_ir::{Access, Atomic, BinaryOp, Builder, Op, Scalar, Type, UnaryOp, ValueId};
use kiln_vocabulary::opencl::{AtomicOp, FetchKey};

/// How a word is loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordLoad {
    /// With a plain load: no work-item of the kernel stores parts of words.
    Plain,
    /// With a relaxed atomic load.
    Atomic,
}

impl WordLoad {
    fn load(self, builder: &mut Builder<'_>, pointer: ValueId, access: Access) -> ValueId {
        match self {
            Self::Plain => builder.load(pointer, Type::I32, Access { align: 4, ..access }),
            Self::Atomic => builder.value(relaxed_atomic(AtomicOp::Load, access), &[pointer], Type::I32),
        }
    }
}

/// Whether a store of this type leaves a part of a word unchanged.
pub(super) fn stores_part(ty: Type, access: Access) -> bool {
    let size = ty.scalar().map_or(1, Scalar::size) * u64::from(ty.count());
    access.align < 4 || !size.is_multiple_of(4)
}

/// Loads a value of this type. Returns the bits of each component as I32.
pub(super) fn load(
    builder: &mut Builder<'_>,
    address: ValueId,
    ty: Type,
    access: Access,
    how: WordLoad,
) -> ValueId {
    let size = ty.scalar().map_or(1, Scalar::size);
    let mask = Scalar::int_of_size(size).mask();
    let mut words: BTreeMap<u64, ValueId> = BTreeMap::new();
    let mut parts = Vec::new();
    for component in 0..u64::from(ty.count()) {
        let byte = component * size;
        let low = if access.align >= 4 {
            let word = *words.entry(byte / 4).or_insert_with(|| {
                let pointer = advance_address(builder, address, byte / 4 * 4);
                how.load(builder, pointer, access)
            });
            match byte % 4 {
                0 => word,
                inside => builder.binary_bits(BinaryOp::LShr, word, 8 * inside),
            }
        } else {
            let (pointer, shift) = word_and_shift(builder, address, byte);
            let word = how.load(builder, pointer, access);
            builder.binary(BinaryOp::LShr, word, shift)
        };
        parts.push(builder.binary_bits(BinaryOp::And, low, mask));
    }
    if ty.is_vector() { builder.construct(&parts, ty.with_scalar(Scalar::I32)) } else { parts[0] }
}

/// Stores the bits of the components, which are I32.
pub(super) fn store(builder: &mut Builder<'_>, address: ValueId, bits: ValueId, ty: Type, access: Access) {
    let size = ty.scalar().map_or(1, Scalar::size);
    let mask = Scalar::int_of_size(size).mask();
    // Combine components with constant offsets in the same word into one store.
    let mut words: BTreeMap<u64, (ValueId, u64)> = BTreeMap::new();
    for component in 0..ty.count() {
        let part = if ty.is_vector() { builder.extract(bits, component) } else { bits };
        let byte = u64::from(component) * size;
        if access.align >= 4 {
            let inside = 8 * (byte % 4);
            let shifted = if inside == 0 { part } else { builder.binary_bits(BinaryOp::Shl, part, inside) };
            let (word, covered) = match words.get(&(byte / 4)) {
                Some(&(word, covered)) => (builder.binary(BinaryOp::Or, word, shifted), covered),
                None => (shifted, 0),
            };
            words.insert(byte / 4, (word, covered | mask << inside));
        } else {
            let (pointer, shift) = word_and_shift(builder, address, byte);
            let ones = builder.bits(Type::I32, mask);
            let ones = builder.binary(BinaryOp::Shl, ones, shift);
            let keep = builder.unary(UnaryOp::Not, ones);
            let shifted = builder.binary(BinaryOp::Shl, part, shift);
            replace_bits(builder, pointer, keep, shifted, access);
        }
    }
    for (number, (word, covered)) in words {
        let pointer = advance_address(builder, address, 4 * number);
        if covered == Scalar::I32.mask() {
            builder.store(pointer, word, Access { align: 4, ..access });
        } else {
            let keep = builder.bits(Type::I32, !covered);
            replace_bits(builder, pointer, keep, word, access);
        }
    }
}

/// Sets and clears bits of a word with atomic operations, because others may write to its other bits. Bits that stay set are
/// never cleared: programs let several work-items write the same value at the same time, and read it after their own store.
fn replace_bits(
    builder: &mut Builder<'_>,
    pointer: ValueId,
    keep: ValueId,
    shifted: ValueId,
    access: Access,
) {
    let remaining = builder.binary(BinaryOp::Or, keep, shifted);
    for (key, operand) in [(FetchKey::Or, shifted), (FetchKey::And, remaining)] {
        builder.inst(relaxed_atomic(AtomicOp::Fetch(key), access), &[pointer, operand], &[Type::I32]);
    }
}

/// A relaxed operation on a word.
fn relaxed_atomic(op: AtomicOp, access: Access) -> Op {
    Op::Atomic(Atomic { is_volatile: access.is_volatile, ..Atomic::counting(op) })
}

/// Advances an address by this number of bytes.
fn advance_address(builder: &mut Builder<'_>, address: ValueId, bytes: u64) -> ValueId {
    if bytes == 0 { address } else { builder.binary_bits(BinaryOp::Add, address, bytes) }
}

/// The address of the word that contains a byte, and the bit offset in it.
fn word_and_shift(builder: &mut Builder<'_>, address: ValueId, bytes: u64) -> (ValueId, ValueId) {
    let address = advance_address(builder, address, bytes);
    let word = builder.binary_bits(BinaryOp::And, address, !3);
    let low = builder.resize(address, Scalar::I32, false);
    let inside = builder.binary_bits(BinaryOp::And, low, 3);
    (word, builder.binary_bits(BinaryOp::Shl, inside, 3))
}
