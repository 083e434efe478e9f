//! Loads and stores with known alignment and volatility.

use super::{body::Body, types::in_memory};
use kiln_frontend::hir::CompareOp;
use kiln_ir::{Access, Builder, CompareKind, Convert, Op, Type, ValueId, align_at_offset};
use kiln_vocabulary::opencl::AddressSpace;

/// An address with its known properties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) pointer: ValueId,
    /// The known alignment in bytes.
    pub(super) align: u64,
    /// Whether the object there is volatile.
    pub(super) is_volatile: bool,
}

impl Address {
    /// The address of an object that is not volatile.
    pub(super) const fn new(pointer: ValueId, align: u64) -> Self {
        Self { pointer, align, is_volatile: false }
    }

    /// The properties of an access through the address.
    pub(super) fn access(&self) -> Access {
        let align = u32::try_from(self.align).unwrap_or(1 << 31);
        Access { is_shared: false, align, is_volatile: self.is_volatile }
    }
}

/// Loads a value of this type. A `bool` is a byte in memory.
pub(super) fn load(builder: &mut Builder<'_>, address: &Address, ty: Type) -> ValueId {
    let value = builder.load(address.pointer, in_memory(ty), address.access());
    if ty != Type::BOOL {
        return value;
    }
    let zero = builder.bits(Type::I8, 0);
    builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, value, zero)
}

impl Body<'_, '_> {
    /// An address plus a number of bytes.
    pub(super) fn address_at_offset(&mut self, address: &Address, bytes: u64) -> Address {
        let pointer = self.builder.offset_bytes(address.pointer, bytes as i64);
        Address { pointer, align: align_at_offset(address.align, bytes), ..*address }
    }

    /// Loads a value of this type.
    pub(super) fn load(&mut self, address: &Address, ty: Type) -> ValueId {
        load(&mut self.builder, address, ty)
    }

    /// Stores a value.
    pub(super) fn store(&mut self, address: &Address, value: ValueId) {
        let value = match self.builder.ty(value) {
            Type::BOOL => self.builder.convert(Convert::ZeroExtend, value, Type::I8),
            _ => value,
        };
        self.builder.store(address.pointer, value, address.access());
    }

    /// Copies this number of bytes.
    pub(super) fn copy(&mut self, to: &Address, from: &Address, size: u64) {
        if size == 0 {
            return;
        }
        let access = Access {
            is_shared: false,
            align: to.access().align.min(from.access().align),
            is_volatile: to.is_volatile || from.is_volatile,
        };
        self.builder.inst(Op::Copy { size, access }, &[to.pointer, from.pointer], &[]);
    }

    /// Clears this number of bytes.
    pub(super) fn zero(&mut self, address: &Address, size: u64) {
        if size != 0 {
            self.builder.inst(Op::Zero { size, access: address.access() }, &[address.pointer], &[]);
        }
    }

    /// Whether an address is in private memory, which other work-items cannot access.
    pub(super) fn is_private(&self, address: &Address) -> bool {
        self.builder.ty(address.pointer) == Type::Pointer(AddressSpace::Private)
    }
}
