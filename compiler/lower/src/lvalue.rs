//! Lvalues: their addresses, loads and stores.

use super::{
    access::Address,
    body::{Body, Slot},
    vector::components_of,
};
use kiln_frontend::hir::{self, Components, Expr, ExprKind, GlobalId, LocalId, Lvalue, LvalueKind};
use kiln_ir::{Const, Op, Scalar, Type, ValueId, align_at_offset};
use kiln_types::ty::{Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, Overflow};

/// An evaluated lvalue, for loading and storing without evaluating it again.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// An object with an address.
    Memory(Address),
    /// Components of a vector with an address; its component count.
    Components(Address, u8, Components),
    /// One component of a vector with an address: the component count and the dynamic index.
    Dynamic(Address, u8, ValueId),
    /// A value that is never stored to.
    Value(ValueId),
}

/// The array elements that the operations for an address must name, so that the device can check their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    None,
    /// The elements of arrays that are members of structures, if `Overflow::Marked` requests it.
    Members,
}

impl Body<'_, '_> {
    /// Evaluates an lvalue.
    pub(super) fn lvalue(&mut self, lvalue: &Lvalue) -> Target {
        match &lvalue.kind {
            LvalueKind::Local(id) => {
                if let Slot::Value(value) = self.slot_of(*id) {
                    return Target::Value(value);
                }
            }
            LvalueKind::Global(id) => {
                if let Some(sampler) = self.global_sampler(*id) {
                    return Target::Value(sampler);
                }
            }
            LvalueKind::Swizzle(swizzle) => {
                let hir::Swizzle { base, components } = &**swizzle;
                let count = self.lowering.hir.types.components(base.ty.ty).map_or(1, |(_, count)| count);
                return match self.lvalue(base) {
                    Target::Memory(address) => Target::Components(address, count, components.clone()),
                    Target::Components(address, count, inner) => {
                        let picked = components.iter().map(|&component| inner[usize::from(component)]);
                        Target::Components(address, count, picked.collect())
                    }
                    // A single component is a scalar.
                    dynamic @ Target::Dynamic(..) => dynamic,
                    Target::Value(value) => Target::Value(self.swizzle(value, components)),
                };
            }
            LvalueKind::Element(element) if self.value_type(element.base.ty.ty).is_vector() => {
                return self.component_target(&element.base, &element.index);
            }
            LvalueKind::Temporary(expr) if !self.lowering.is_aggregate(expr.ty) => {
                return Target::Value(self.value(expr));
            }
            _ => {}
        }
        Target::Memory(self.lvalue_address(lvalue, Bounds::Members))
    }

    /// `vector[index]`
    fn component_target(&mut self, base: &Lvalue, index: &Expr) -> Target {
        let vector = self.value_type(base.ty.ty);
        match self.lvalue(base) {
            Target::Memory(address) => {
                let index = self.index(index);
                Target::Dynamic(address, vector.count(), index)
            }
            Target::Components(address, count, components) => {
                let index = self.index(index);
                let numbers = components.iter().map(|&component| u64::from(component)).collect();
                let numbers = self.builder.constant(vector.with_scalar(Scalar::I32), Const::Bits(numbers));
                let index = self.builder.value(Op::ExtractDynamic, &[numbers, index], Type::I32);
                Target::Dynamic(address, count, index)
            }
            // A component of a scalar component is the component itself.
            dynamic @ Target::Dynamic(..) => dynamic,
            Target::Value(value) => {
                let index = self.index(index);
                let component = self.builder.value(Op::ExtractDynamic, &[value, index], vector.with_count(1));
                Target::Value(component)
            }
        }
    }

    /// The address of a component.
    fn component_address(&mut self, address: &Address, scalar: Scalar, index: ValueId) -> Address {
        let pointer = self.builder.offset(address.pointer, index, scalar.size());
        Address { pointer, align: align_at_offset(address.align, scalar.size()), ..*address }
    }

    /// The address of an lvalue. The object need not exist: `&array[count]` is the end of an array (C11 6.5.6).
    pub(super) fn address(&mut self, lvalue: &Lvalue) -> Address {
        self.lvalue_address(lvalue, Bounds::None)
    }

    /// The address of an lvalue, with bounds for these elements in its operations.
    pub(super) fn lvalue_address(&mut self, lvalue: &Lvalue, bounds: Bounds) -> Address {
        let mut address = match &lvalue.kind {
            LvalueKind::Local(id) => self.local_address(*id),
            LvalueKind::Global(id) => {
                let var = self.lowering.global_var(*id);
                let (space, align) = {
                    let var = &self.lowering.module.vars[var];
                    (var.space, var.align)
                };
                Address::new(self.builder.module_var(var, space), align)
            }
            LvalueKind::Deref(pointer) => {
                let pointer = match bounds {
                    Bounds::Members => self.pointer_to_access(pointer),
                    Bounds::None => self.value(pointer),
                };
                Address::new(pointer, self.lowering.layout(lvalue.ty.ty).1)
            }
            LvalueKind::Field(field) => {
                let base = self.lvalue_address(&field.base, bounds);
                self.address_at_offset(&base, field.offset)
            }
            LvalueKind::Element(element) => {
                let (size, _) = self.lowering.layout(lvalue.ty.ty);
                if bounds == Bounds::Members
                    && let Some(member) = self.member_element(lvalue, size)
                {
                    let mut address = self.member_element_address(&member);
                    address.is_volatile |= lvalue.ty.quals.is_volatile;
                    return address;
                }
                let base = self.lvalue_address(&element.base, bounds);
                let count = self.lowering.count(element.base.ty.ty);
                // Kernels may walk through all rows of a private array with one index, so only members have a count there.
                let is_member = matches!(element.base.kind, LvalueKind::Field(_));
                let is_shared = self.builder.ty(base.pointer) != Type::Pointer(AddressSpace::Private);
                let count = count.filter(|_| is_shared || is_member);
                self.element_address(&base, &element.index, size, count)
            }
            LvalueKind::Swizzle(swizzle) => {
                let base = self.lvalue_address(&swizzle.base, bounds);
                let size = self.component_size(lvalue.ty.ty);
                self.address_at_offset(&base, u64::from(swizzle.components[0]) * size)
            }
            LvalueKind::Temporary(expr) => self.aggregate(expr),
        };
        address.is_volatile |= lvalue.ty.quals.is_volatile;
        address
    }

    fn local_address(&mut self, id: LocalId) -> Address {
        let natural = self.lowering.layout(self.hir.locals[id].ty.ty).1;
        let align = natural.max(self.hir.locals[id].align.unwrap_or(1));
        let pointer = match self.slot_of(id) {
            Slot::Private(var) => self.builder.private_var(var),
            Slot::Module(var) => self.builder.module_var(var, AddressSpace::Local),
            // A value has no address. Taking the address of a sampler is an error that has been reported.
            Slot::Pointer(pointer) | Slot::Value(pointer) => pointer,
        };
        Address::new(pointer, align)
    }

    /// The address of an element of an array with this length.
    fn element_address(&mut self, base: &Address, index: &Expr, size: u64, count: Option<u32>) -> Address {
        if let ExprKind::Const(hir::Const::Int(index)) = index.kind
            && let Some(bytes) = index.checked_mul(size)
        {
            return self.address_at_offset(base, bytes);
        }
        let index = self.index(index);
        let ty = self.builder.ty(base.pointer);
        // Constants need no count. An array of one element at the end of a structure may be a flexible array
        // (C99 6.7.2.1).
        let is_writable = ty != Type::Pointer(AddressSpace::Constant);
        let is_marked = self.lowering.overflow == Overflow::Marked;
        let count = count.filter(|&count| is_writable && count > 1 && !is_marked);
        let pointer = self.builder.value(Op::Offset { stride: size, count }, &[base.pointer, index], ty);
        Address { pointer, align: align_at_offset(base.align, size), ..*base }
    }

    fn component_size(&self, id: TyId) -> u64 {
        self.lowering.element(id).size()
    }

    /// Loads an evaluated lvalue.
    pub(super) fn load_target(&mut self, target: &Target, ty: TyId) -> ValueId {
        let ty = self.value_type(ty);
        match target {
            Target::Memory(address) => self.load(address, ty),
            Target::Components(address, count, components) => {
                self.load_components(address, *count, components, ty)
            }
            Target::Dynamic(address, count, index) => {
                let scalar = ty.scalar().unwrap_or(Scalar::I32);
                if self.is_private(address) {
                    let vector = self.load(address, Type::vector(scalar, *count));
                    return self.builder.value(Op::ExtractDynamic, &[vector, *index], ty);
                }
                let address = self.component_address(address, scalar, *index);
                self.load(&address, ty)
            }
            Target::Value(value) => *value,
        }
    }

    /// Loads only the named components, because another work-item may be writing the others.
    fn load_components(&mut self, address: &Address, count: u8, components: &[u8], ty: Type) -> ValueId {
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        if self.is_private(address) {
            let vector = self.load(address, Type::vector(scalar, count));
            return self.swizzle(vector, components);
        }
        let follow = components.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if follow {
            let address = self.address_at_offset(address, u64::from(components[0]) * scalar.size());
            return self.load(&address, ty);
        }
        let parts: Vec<ValueId> = components
            .iter()
            .map(|&component| {
                let address = self.address_at_offset(address, u64::from(component) * scalar.size());
                self.load(&address, Type::Scalar(scalar))
            })
            .collect();
        self.builder.construct(&parts, ty)
    }

    /// Stores to an evaluated lvalue.
    pub(super) fn store_target(&mut self, target: &Target, value: ValueId) {
        match target {
            Target::Memory(address) => self.store(address, value),
            Target::Components(address, count, components) => {
                self.store_components(address, *count, components, value);
            }
            Target::Dynamic(address, count, index) => {
                let scalar = self.builder.ty(value).scalar().unwrap_or(Scalar::I32);
                if self.is_private(address) {
                    let ty = Type::vector(scalar, *count);
                    let vector = self.load(address, ty);
                    let vector = self.builder.value(Op::InsertDynamic, &[vector, value, *index], ty);
                    return self.store(address, vector);
                }
                let address = self.component_address(address, scalar, *index);
                self.store(&address, value);
            }
            Target::Value(_) => {}
        }
    }

    /// Stores only the named components, because another work-item may own the others. A private vector is stored as
    /// a whole, so that it can be promoted.
    fn store_components(&mut self, address: &Address, count: u8, components: &[u8], value: ValueId) {
        let scalar = self.builder.ty(value).scalar().unwrap_or(Scalar::I32);
        let parts = components_of(&mut self.builder, value);
        if self.is_private(address) {
            let mut vector = self.load(address, Type::vector(scalar, count));
            for (&component, part) in components.iter().zip(parts) {
                vector = self.builder.insert_component(vector, part, component);
            }
            return self.store(address, vector);
        }
        for (&component, part) in components.iter().zip(parts) {
            let address = self.address_at_offset(address, u64::from(component) * scalar.size());
            self.store(&address, part);
        }
    }

    /// The IR type of values of this type. Unsupported types have already been reported.
    pub(super) fn value_type(&self, id: TyId) -> Type {
        self.lowering.value_type(id).unwrap_or(Type::I32)
    }

    /// The constant for a sampler variable at program scope (OpenCL C 6.15.15.1).
    fn global_sampler(&mut self, id: GlobalId) -> Option<ValueId> {
        let global = &self.lowering.hir.globals[id];
        if *self.lowering.hir.types.get(global.ty.ty) != Ty::Sampler {
            return None;
        }
        let bytes = global.init.as_ref().map_or(&[][..], |image| &image.bytes);
        let bits = bytes.iter().take(4).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        Some(self.builder.constant(Type::Sampler, Const::scalar(bits)))
    }
}
