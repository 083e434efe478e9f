//! Lowers pointers to global and constant memory to integers; the target uses physical addresses.
//!
//! Such a pointer becomes an I64, and pointer arithmetic becomes integer arithmetic. Pointers to local and private
//! memory are gone by now. An access that is not aligned to its components is split into aligned ones
//! (VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314).

use kiln_ir::{Access, BinaryOp, Builder, Function, Op, Scalar, Type, ValueId};
use kiln_session::Options;
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;

use crate::rewrite::rewrite_only;

pub(super) fn lower_addresses(function: &mut Function, _: &Options) {
    for index in 0..function.values.len() {
        let value = &mut function.values[ValueId::from_index(index)];
        if let Type::Pointer(AddressSpace::Global | AddressSpace::Constant | AddressSpace::Generic) = value.ty
        {
            value.ty = Type::I64;
        }
    }
    if function.result.is_some_and(Type::is_pointer) {
        function.result = Some(Type::I64);
    }
    rewrite_only(function, may_use_address, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        let is_address = inst.args.first().is_some_and(|&arg| builder.ty(arg) == Type::I64);
        let value = match inst.op {
            Op::Offset { stride, .. } if is_address => {
                let mut offset = builder.resize(inst.args[1], Scalar::I64, true);
                if stride != 1 {
                    offset = builder.binary_bits(BinaryOp::Mul, offset, stride);
                }
                builder.binary(BinaryOp::Add, inst.args[0], offset)
            }
            Op::Load(access) if is_address && is_unaligned(builder.ty(inst.results[0]), access) => {
                load_pieces(builder, inst.args[0], builder.ty(inst.results[0]), access)
            }
            Op::Store(access) if is_address && is_unaligned(builder.ty(inst.args[1]), access) => {
                return store_pieces(builder, inst.args[0], inst.args[1], access);
            }
            Op::PointerCast | Op::PointerToInt | Op::IntToPointer if is_address => inst.args[0],
            _ => return builder.insert(id),
        };
        replaced.insert(inst.results[0], value);
    });
}

/// Whether an operation may take or return an address.
fn may_use_address(op: &Op) -> bool {
    matches!(
        op,
        Op::Offset { .. }
            | Op::Load(_)
            | Op::Store(_)
            | Op::PointerCast
            | Op::PointerToInt
            | Op::IntToPointer
    )
}

fn is_unaligned(ty: Type, access: Access) -> bool {
    u64::from(access.align) < ty.scalar().map_or(1, Scalar::size)
}

/// The offset of each aligned piece of a component, and its bit offset in the component.
fn aligned_pieces(first: u64, size: u64, align: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..size / align).map(move |number| (first + number * align, 8 * number * align))
}

fn load_pieces(builder: &mut Builder<'_>, address: ValueId, ty: Type, access: Access) -> ValueId {
    let size = ty.scalar().map_or(1, Scalar::size);
    let (piece, int) = (Scalar::int_of_size(access.align.into()), Scalar::int_of_size(size));
    let mut components = Vec::new();
    for component in 0..u64::from(ty.count()) {
        let mut value = builder.bits(Type::Scalar(int), 0);
        for (byte, shift) in aligned_pieces(component * size, size, access.align.into()) {
            let address = builder.binary_bits(BinaryOp::Add, address, byte);
            let part = builder.load(address, Type::Scalar(piece), access);
            let part = builder.resize(part, int, false);
            let part = builder.binary_bits(BinaryOp::Shl, part, shift);
            value = builder.binary(BinaryOp::Or, value, part);
        }
        components.push(builder.bitcast(value, ty.with_count(1)));
    }
    if ty.is_vector() { builder.construct(&components, ty) } else { components[0] }
}

fn store_pieces(builder: &mut Builder<'_>, address: ValueId, value: ValueId, access: Access) {
    let ty = builder.ty(value);
    let size = ty.scalar().map_or(1, Scalar::size);
    let (piece, int) = (Scalar::int_of_size(access.align.into()), Scalar::int_of_size(size));
    for component in 0..ty.count() {
        let part = if ty.is_vector() { builder.extract(value, component) } else { value };
        let part = builder.bitcast(part, Type::Scalar(int));
        for (byte, shift) in aligned_pieces(u64::from(component) * size, size, access.align.into()) {
            let address = builder.binary_bits(BinaryOp::Add, address, byte);
            let low = builder.binary_bits(BinaryOp::LShr, part, shift);
            let low = builder.resize(low, piece, false);
            builder.store(address, low, access);
        }
    }
}
