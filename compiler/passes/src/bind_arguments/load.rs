//! Loads arguments from launch memory, in words of 32 bits.

use kiln_ir::{
    Access, BinaryOp, Builder, CompareKind, Convert, LaunchMemory, Op, Scalar, Type, ValueId, Var,
};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::AddressSpace;

pub(super) fn load_word(builder: &mut Builder<'_>, memory: LaunchMemory, word: u32) -> ValueId {
    builder.value(Op::LaunchWord(memory, word), &[], Type::I32)
}

/// The location of an argument, and whether the device has 64-bit integers.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) memory: LaunchMemory,
    pub(super) has_wide: bool,
}

pub(super) fn load_word_pair(builder: &mut Builder<'_>, source: Source, first: u32, ty: Type) -> ValueId {
    if source.has_wide && source.memory == LaunchMemory::PushConstants && first.is_multiple_of(2) {
        let number = builder.value(Op::LaunchWord(source.memory, first), &[], Type::I64);
        return builder.bitcast(number, ty);
    }
    let words = [load_word(builder, source.memory, first), load_word(builder, source.memory, first + 1)];
    let pair = builder.construct(&words, Type::Vector(Scalar::I32, 2));
    builder.bitcast(pair, ty)
}

pub(super) fn load_pointer(builder: &mut Builder<'_>, source: Source, first: u32, ty: Type) -> ValueId {
    let number = load_word_pair(builder, source, first, Type::I64);
    builder.value(Op::IntToPointer, &[number], ty)
}

/// Builds a scalar or vector from the words starting at `first`.
pub(super) fn load_number(builder: &mut Builder<'_>, source: Source, first: u32, ty: Type) -> ValueId {
    let scalar = ty.scalar().expect("a number");
    let parts: Vec<ValueId> =
        (0..ty.count().into()).map(|index| load_component(builder, source, first, scalar, index)).collect();
    if ty.is_vector() { builder.construct(&parts, ty) } else { parts[0] }
}

fn load_component(
    builder: &mut Builder<'_>,
    source: Source,
    first: u32,
    scalar: Scalar,
    index: u32,
) -> ValueId {
    let size = scalar.size() as u32;
    let byte = index * size;
    let ty = Type::Scalar(scalar);
    if size == 8 {
        return load_word_pair(builder, source, first + byte / 4, ty);
    }
    if ty == Type::Scalar(Scalar::F32) && source.memory == LaunchMemory::PushConstants {
        return builder.value(Op::LaunchWord(source.memory, first + byte / 4), &[], ty);
    }
    let mut bits = load_word(builder, source.memory, first + byte / 4);
    if !byte.is_multiple_of(4) {
        bits = builder.binary_bits(BinaryOp::LShr, bits, u64::from(8 * (byte % 4)));
    }
    match scalar {
        Scalar::Bool => {
            let byte = builder.binary_bits(BinaryOp::And, bits, 0xff);
            let zero = builder.i32(0);
            builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, byte, zero)
        }
        Scalar::F16 => {
            let half = builder.convert(Convert::Truncate, bits, Type::Scalar(Scalar::I16));
            builder.bitcast(half, ty)
        }
        Scalar::I8 | Scalar::I16 => builder.convert(Convert::Truncate, bits, ty),
        Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64 => builder.bitcast(bits, ty),
    }
}

/// Builds a private copy of a structure, word by word.
pub(super) fn load_aggregate(
    builder: &mut Builder<'_>,
    source: Source,
    first: u32,
    (size, align): (u64, u64),
    name: &str,
) -> ValueId {
    let var = Var::new(name, AddressSpace::Private, (size, align), builder.span);
    let var = builder.function.vars.push(var);
    let pointer = builder.private_var(var);
    let mut byte = 0;
    while byte < size {
        let step = [4, 2, 1].into_iter().find(|step| byte + step <= size).unwrap_or(1);
        let bits = load_component(builder, source, first, Scalar::int_of_size(step), (byte / step) as u32);
        let address = builder.offset_bytes(pointer, byte as i64);
        let access = Access { is_shared: false, align: step.min(align) as u32, is_volatile: false };
        builder.store(address, bits, access);
        byte += step;
    }
    pointer
}
