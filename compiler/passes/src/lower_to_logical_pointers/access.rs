//! Loads and stores of any type in an array of one element type: one element, several, or a part of one.

use std::ops::Range;

use super::Layout;
use kiln_ir::{Access, Atomic, BinaryOp, Builder, CompareKind, Known, Op, Scalar, Type, UnaryOp, ValueId};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FetchKey, Scope};

use crate::{origins::Object, ranges::Rebase};

/// Builds the accesses of one instruction. A `position` is an index in units of the layout.
pub(super) struct Accessor<'b, 'f> {
    pub(super) builder: &'b mut Builder<'f>,
    pub(super) layout: &'b Layout,
    pub(super) access: Access,
}

impl Accessor<'_, '_> {
    /// Loads a value of this type.
    pub(super) fn load(&mut self, position: ValueId, ty: Type) -> ValueId {
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        let parts: Vec<ValueId> = (0..u64::from(ty.count()))
            .map(|n| self.load_scalar(position, n * scalar.size(), scalar))
            .collect();
        if ty.is_vector() { self.builder.construct(&parts, ty) } else { parts[0] }
    }

    /// Stores a value.
    pub(super) fn store(&mut self, position: ValueId, value: ValueId) {
        let ty = self.builder.ty(value);
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        for n in 0..ty.count() {
            let part = if ty.is_vector() { self.builder.extract(value, n) } else { value };
            self.store_scalar(position, u64::from(n) * scalar.size(), part, scalar);
        }
    }

    /// The pointer to the element at this position.
    pub(super) fn element_at(&mut self, position: ValueId) -> ValueId {
        let index = self.element_index(position, 0);
        self.element_pointer(index)
    }

    fn load_scalar(&mut self, position: ValueId, byte: u64, scalar: Scalar) -> ValueId {
        let own = self.layout.element;
        let piece = self.access_size(scalar);
        if own == scalar && piece == own.size() {
            return self.load_element(position, byte);
        }
        let (bits, int) = (8 * piece, Scalar::int_of_size(scalar.size()));
        let int_ty = Type::Scalar(int);
        let mut value = None;
        for n in 0..scalar.size() / piece {
            let part = self.load_piece(position, byte + n * piece, piece);
            let wide = self.builder.resize(part, int, false);
            value = Some(match value {
                None => wide,
                Some(low) => {
                    let high = self.builder.binary_bits(BinaryOp::Shl, wide, n * bits);
                    self.builder.binary(BinaryOp::Or, low, high)
                }
            });
        }
        let value = value.unwrap_or_else(|| self.builder.undefined(int_ty));
        self.builder.bitcast(value, Type::Scalar(scalar))
    }

    fn store_scalar(&mut self, position: ValueId, byte: u64, value: ValueId, scalar: Scalar) {
        let own = self.layout.element;
        let piece = self.access_size(scalar);
        if own == scalar && piece == own.size() {
            return self.store_element(position, byte, value);
        }
        let (bits, int) = (8 * piece, Scalar::int_of_size(scalar.size()));
        let value = self.builder.bitcast(value, Type::Scalar(int));
        for n in 0..scalar.size() / piece {
            let shifted =
                if n == 0 { value } else { self.builder.binary_bits(BinaryOp::LShr, value, n * bits) };
            self.store_piece(position, byte + n * piece, piece, shifted);
        }
    }

    /// The number of bytes per access.
    fn access_size(&self, scalar: Scalar) -> u64 {
        scalar.size().min(self.access.align.into()).min(self.layout.element.size())
    }

    /// Loads `piece` bytes as an integer of that size, or as a wider one with unspecified upper bits.
    fn load_piece(&mut self, position: ValueId, byte: u64, piece: u64) -> ValueId {
        let own = self.layout.element.size();
        if piece < own && self.layout.has_atomic_parts {
            let index = self.element_index(position, byte);
            let (pointer, int) = (self.element_pointer(index), Scalar::int_of_size(own));
            let atomic = relaxed_atomic(AtomicOp::Load, int, self.access.is_volatile);
            let bits = self.builder.value(Op::Atomic(atomic), &[pointer], Type::Scalar(int));
            return self.extract_part(bits, position, byte, Scalar::int_of_size(piece));
        }
        let element = self.load_element(position, byte);
        let bits = self.builder.bitcast(element, Type::Scalar(Scalar::int_of_size(own)));
        if piece == own {
            return bits;
        }
        self.extract_part(bits, position, byte, Scalar::int_of_size(piece))
    }

    /// Extracts the part of an element that begins at this byte, with the width of an integer type.
    pub(super) fn extract_part(
        &mut self,
        element: ValueId,
        position: ValueId,
        byte: u64,
        part: Scalar,
    ) -> ValueId {
        let shift = self.shift(position, byte);
        let low = self.builder.binary(BinaryOp::LShr, element, shift);
        self.builder.resize(low, part, false)
    }

    fn store_piece(&mut self, position: ValueId, byte: u64, piece: u64, value: ValueId) {
        let element = self.layout.element;
        let own = element.size();
        let int = Scalar::int_of_size(own);
        let value = self.builder.resize(value, int, false);
        if piece == own {
            let value = self.builder.bitcast(value, Type::Scalar(element));
            return self.store_element(position, byte, value);
        }
        let shift = self.shift(position, byte);
        let ones = self.builder.bits(Type::Scalar(int), u64::MAX >> (64 - 8 * piece));
        let mask = self.builder.binary(BinaryOp::Shl, ones, shift);
        let keep = self.builder.unary(UnaryOp::Not, mask);
        let low = self.builder.binary(BinaryOp::And, value, ones);
        let shifted = self.builder.binary(BinaryOp::Shl, low, shift);
        if self.layout.root.space() == AddressSpace::Local {
            // The rest of the element can belong to other work-items.
            let index = self.element_index(position, byte);
            for (key, operand) in [(FetchKey::And, keep), (FetchKey::Or, shifted)] {
                let pointer = self.element_pointer(index);
                let atomic = relaxed_atomic(AtomicOp::Fetch(key), int, self.access.is_volatile);
                self.builder.inst(Op::Atomic(atomic), &[pointer, operand], &[Type::Scalar(int)]);
            }
            return;
        }
        let old = self.load_element(position, byte);
        let old = self.builder.bitcast(old, Type::Scalar(int));
        let kept = self.builder.binary(BinaryOp::And, old, keep);
        let new = self.builder.binary(BinaryOp::Or, kept, shifted);
        let new = self.builder.bitcast(new, Type::Scalar(element));
        self.store_element(position, byte, new);
    }

    /// The bit offset of a part in its element, as an integer of the element's size.
    pub(super) fn shift(&mut self, position: ValueId, byte: u64) -> ValueId {
        let own = self.layout.element.size();
        let bytes = self.byte_offset(position, byte);
        let inside = self.builder.binary_bits(BinaryOp::And, bytes, own - 1);
        let bits = self.builder.binary_bits(BinaryOp::Mul, inside, 8);
        self.builder.resize(bits, Scalar::int_of_size(own), false)
    }

    fn load_element(&mut self, position: ValueId, byte: u64) -> ValueId {
        let index = self.element_index(position, byte);
        let cell = match self.selection_count(index) {
            Some(count) => self.select_element(index, 0..count),
            None => self.load_cell(index),
        };
        if self.layout.cell == self.layout.element {
            cell
        } else {
            self.builder.resize(cell, self.layout.element, false)
        }
    }

    fn store_element(&mut self, position: ValueId, byte: u64, value: ValueId) {
        let index = self.element_index(position, byte);
        let layout = self.layout;
        let cell = if layout.cell == layout.element {
            value
        } else {
            self.builder.resize(value, layout.cell, false)
        };
        let Some(count) = self.selection_count(index) else {
            let pointer = self.element_pointer(index);
            return self.builder.store(pointer, cell, self.access);
        };
        for number in 0..count {
            let (number, is_meant) = self.is_element(index, number);
            let old = self.load_cell(number);
            let new = self.builder.value(Op::Select, &[is_meant, cell, old], Type::Scalar(layout.cell));
            let pointer = self.element_pointer(number);
            self.builder.store(pointer, new, self.access);
        }
    }

    fn load_cell(&mut self, index: ValueId) -> ValueId {
        let pointer = self.element_pointer(index);
        self.builder.load(pointer, Type::Scalar(self.layout.cell), self.access)
    }

    /// The number of elements to select among, if an access with this index does so.
    fn selection_count(&self, index: ValueId) -> Option<u64> {
        let is_known = self.builder.function.constant_bits(index).is_some();
        self.layout.selected.filter(|_| !is_known && !self.access.is_volatile)
    }

    /// Loads the element with this index by loading all of `numbers` and selecting by a binary search for the index. With
    /// tests of the index's bits, drivers with `DriverBug::SelectPrivateElements` miscompile some kernels.
    fn select_element(&mut self, index: ValueId, numbers: Range<u64>) -> ValueId {
        let count = numbers.end - numbers.start;
        if count == 1 {
            let number = self.builder.bits(self.builder.ty(index), numbers.start);
            return self.load_cell(number);
        }
        let middle = numbers.start + count.next_power_of_two() / 2;
        let low = self.select_element(index, numbers.start..middle);
        let high = self.select_element(index, middle..numbers.end);
        let bound = self.builder.bits(self.builder.ty(index), middle);
        let is_low = self.builder.compare(CompareOp::Less, CompareKind::Unsigned, index, bound);
        self.builder.value(Op::Select, &[is_low, low, high], Type::Scalar(self.layout.cell))
    }

    /// A constant index, and whether the index is equal to it.
    fn is_element(&mut self, index: ValueId, number: u64) -> (ValueId, ValueId) {
        let number = self.builder.bits(self.builder.ty(index), number);
        (number, self.builder.compare(CompareOp::Equal, CompareKind::Unsigned, index, number))
    }

    /// The index of the element that contains the byte at `position` + `byte`.
    fn element_index(&mut self, position: ValueId, byte: u64) -> ValueId {
        let (own, unit) = (self.layout.element.size(), self.layout.unit);
        if unit == own && self.layout.steps.is_empty() {
            return self.add_constant(position, byte / own);
        }
        let bytes = self.byte_offset(position, byte);
        self.builder.binary_bits(BinaryOp::LShr, bytes, own.trailing_zeros().into())
    }

    /// The byte offset in its range of the byte at `position` + `byte`.
    fn byte_offset(&mut self, position: ValueId, byte: u64) -> ValueId {
        let layout = self.layout;
        let bytes = self.builder.binary_bits(BinaryOp::Mul, position, layout.unit);
        let mut bytes = self.add_constant(bytes, byte);
        for step in &layout.steps {
            bytes = match *step {
                Rebase::Skip(before) => self.builder.binary_bits(BinaryOp::Sub, bytes, before),
                Rebase::Fold { period, start, length } => {
                    let whole = self.builder.binary_bits(BinaryOp::UDiv, bytes, period);
                    let back = self.builder.binary_bits(BinaryOp::Mul, whole, period);
                    let inside = self.builder.binary(BinaryOp::Sub, bytes, back);
                    let inside = self.builder.binary_bits(BinaryOp::Sub, inside, start);
                    let before = self.builder.binary_bits(BinaryOp::Mul, whole, length);
                    self.builder.binary(BinaryOp::Add, before, inside)
                }
            };
        }
        bytes
    }

    fn add_constant(&mut self, value: ValueId, number: u64) -> ValueId {
        if number == 0 { value } else { self.builder.binary_bits(BinaryOp::Add, value, number) }
    }

    fn element_pointer(&mut self, index: ValueId) -> ValueId {
        let base = variable(self.builder, self.layout);
        let space = self.layout.root.space();
        self.builder.value(Op::Element, &[base, index], Type::Pointer(space))
    }
}

/// The pointer to the variable with this layout.
pub(super) fn variable(builder: &mut Builder<'_>, layout: &Layout) -> ValueId {
    match layout.root {
        Object::Module(var) => builder.module_var(var, AddressSpace::Local),
        Object::Private(var) => builder.private_var(var),
        Object::Param(..) => unreachable!("a parameter is accessed through its variable"),
    }
}

/// A relaxed operation on an element that is shared by several work-items.
fn relaxed_atomic(op: AtomicOp, ty: Scalar, is_volatile: bool) -> Atomic {
    Atomic { ty, scope: Known::Constant(Scope::WorkGroup), is_volatile, ..Atomic::counting(op) }
}
