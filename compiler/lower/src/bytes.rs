//! `__builtin_memcpy`, `__builtin_memmove` and `__builtin_memset` of GCC and clang (C99 7.21.2, 7.21.6.1). A constant
//! number of bytes becomes one copy; otherwise, a loop copies byte by byte.

use kiln_builtins::Bytes;
use kiln_frontend::hir::{Expr, ExprKind};
use kiln_ir::{Access, BinaryOp, Builder, CompareKind, Scalar, Type, ValueId};
use kiln_types::{ops::CompareOp, ty::Ty};

use super::{access::Address, body::Body};

/// The order in which a loop copies bytes.
#[derive(Clone, Copy)]
enum Order {
    Ascending,
    Descending,
}

const BYTE: Access = Access { is_shared: false, align: 1, is_volatile: false };

impl Body<'_, '_> {
    /// Lowers a call: the target, the source or the byte, and the number of bytes.
    pub(super) fn bytes(&mut self, function: Bytes, arguments: &[Expr]) {
        let [to, from, count] = arguments else { return };
        let aligns = [self.pointee_align(to), self.pointee_align(from)];
        let [to, from, count] = [to, from, count].map(|argument| self.value(argument));
        let known = self.builder.function.constant_bits(count);
        let [target, source] =
            [(to, aligns[0]), (from, aligns[1])].map(|(it, align)| Address::new(it, align));
        match (function, known) {
            (Bytes::Copy, Some(size)) => self.copy(&target, &source, size),
            // The ranges can overlap: the source is read before the target is written.
            (Bytes::Move, Some(size)) if size > 0 => {
                let between = self.temporary(size, aligns[0].max(aligns[1]));
                self.copy(&between, &source, size);
                self.copy(&target, &between, size);
            }
            (Bytes::Move, Some(_)) => {}
            (Bytes::Set, Some(size)) if self.builder.function.constant_bits(from) == Some(0) => {
                self.zero(&target, size);
            }
            (Bytes::Copy, None) => self.copy_bytes(to, from, count, Order::Ascending),
            (Bytes::Move, None) => self.move_bytes(to, from, count),
            (Bytes::Set, _) => {
                let byte = self.builder.resize(from, Scalar::I8, false);
                self.for_each_index(count, Order::Ascending, |builder, index| {
                    let byte_address = builder.offset(to, index, 1);
                    builder.store(byte_address, byte, BYTE);
                });
            }
        }
    }

    /// The alignment of the argument's pointee before the conversion to `void *`.
    fn pointee_align(&self, mut argument: &Expr) -> u64 {
        while let ExprKind::PointerCast(inner) = &argument.kind {
            argument = inner;
        }
        match self.lowering.hir.types.get(argument.ty) {
            Ty::Pointer(to) if *self.lowering.hir.types.get(to.ty) != Ty::Void => {
                self.lowering.layout(to.ty).1.max(1)
            }
            _ => 1,
        }
    }

    /// Copies bytes upward if the target is below the source, else downward: no byte is overwritten before it is read.
    fn move_bytes(&mut self, to: ValueId, from: ValueId, count: ValueId) {
        if self.builder.ty(to) != self.builder.ty(from) {
            // Different address spaces do not overlap.
            return self.copy_bytes(to, from, count, Order::Ascending);
        }
        let is_below = self.builder.compare(CompareOp::Less, CompareKind::Unsigned, to, from);
        let open = self.builder.open_if(is_below, &[]);
        let after = self.builder.insertion_point();
        for (block, order) in [(open.then, Order::Ascending), (open.otherwise, Order::Descending)] {
            self.builder.at_end(block);
            self.copy_bytes(to, from, count, order);
            self.builder.exit(open.inst, &[]);
        }
        self.builder.at(after.0, after.1);
    }

    fn copy_bytes(&mut self, to: ValueId, from: ValueId, count: ValueId, order: Order) {
        self.for_each_index(count, order, |builder, index| {
            let byte_address = builder.offset(from, index, 1);
            let byte = builder.load(byte_address, Type::I8, BYTE);
            let byte_address = builder.offset(to, index, 1);
            builder.store(byte_address, byte, BYTE);
        });
    }

    /// A loop over the indices below `count`.
    fn for_each_index(&mut self, count: ValueId, order: Order, act: impl FnOnce(&mut Builder<'_>, ValueId)) {
        self.builder.each_index(count, |builder, done| {
            let index = match order {
                Order::Ascending => done,
                Order::Descending => {
                    let one = builder.i64(1);
                    let next = builder.binary(BinaryOp::Add, done, one);
                    builder.binary(BinaryOp::Sub, count, next)
                }
            };
            act(builder, index);
        });
    }
}
