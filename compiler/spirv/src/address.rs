//! Memory accesses: conversion of addresses to pointers, loads and stores.
//!
//! In the OpenCL environment, pointers are values that point to bytes and are cast at their uses. On Vulkan, an
//! address of global memory is an integer that is converted to a pointer at its use. All other accesses go through an
//! access chain into a variable.

use kiln_ir::{Access, Inst, Op as IrOp, Scalar, Type, ValueDef, ValueId, VarId};
use kiln_memory::Spaces;
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::{
    dr::Operand,
    spirv::{Capability, MemoryAccess, Op, StorageClass, Word},
};

use super::{
    Emitter,
    body::Body,
    elements::{Element, Index},
};

impl Body<'_, '_> {
    /// `Load`
    pub(super) fn load(&mut self, inst: &Inst, access: Access) {
        let ty = self.type_of(inst.results[0]);
        let pointer = self.pointer(inst.args[0], ty);
        let mut operands = vec![Operand::IdRef(pointer)];
        operands.extend(self.memory_operands(inst.args[0], access));
        self.result(inst, Op::Load, operands);
    }

    /// `Store`
    pub(super) fn store(&mut self, inst: &Inst, access: Access) {
        let ty = self.type_of(inst.args[1]);
        let pointer = self.pointer(inst.args[0], ty);
        let value = self.value(inst.args[1]);
        let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(value)];
        operands.extend(self.memory_operands(inst.args[0], access));
        self.effect(Op::Store, operands);
    }

    /// Copies memory with one instruction. Only the OpenCL environment has it.
    pub(super) fn copy(&mut self, inst: &Inst, size: u64, access: Access) {
        let [to, from] = [inst.args[0], inst.args[1]].map(|arg| self.value(arg));
        let ty = self.emitter.scalar(Scalar::I64);
        let size = self.emitter.writer.interned(Op::Constant, Some(ty), vec![Operand::LiteralBit64(size)]);
        let mut operands: Vec<_> = [to, from, size].into_iter().map(Operand::IdRef).collect();
        operands.extend(self.memory_operands(inst.args[0], access));
        self.effect(Op::CopyMemorySized, operands);
    }

    /// `Zero` of the OpenCL environment: a store of a null array of bytes.
    pub(super) fn zero(&mut self, inst: &Inst, size: u64, access: Access) {
        let byte = self.emitter.scalar(Scalar::I8);
        let array = self.emitter.array_type(byte, u32::try_from(size).unwrap_or(u32::MAX));
        let null = self.emitter.writer.interned(Op::ConstantNull, Some(array), Vec::new());
        let pointer = self.pointer_to(inst.args[0], array);
        let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(null)];
        operands.extend(self.memory_operands(inst.args[0], access));
        self.effect(Op::Store, operands);
    }

    /// A pointer to a value of this type at an address.
    pub(super) fn pointer(&mut self, address: ValueId, ty: Type) -> Word {
        if self.is_vulkan() && matches!(self.type_of(address), Type::Pointer(_)) {
            return self.value(address);
        }
        let pointee = self.emitter.ty(ty);
        self.storage_width(ty);
        self.pointer_to(address, pointee)
    }

    /// A pointer to halves, in a module without half values.
    pub(super) fn pointer_to_half(&mut self, address: ValueId) -> Word {
        let half = self.emitter.half_in_memory();
        self.pointer_to(address, half)
    }

    /// A pointer with this pointee type. Reused where the pointer is visible.
    pub(super) fn pointer_to(&mut self, address: ValueId, pointee: Word) -> Word {
        let key = (address, pointee);
        if let Some(&known) = self.pointers.get(&key) {
            return known;
        }
        let pointer = match self.elements.element(address) {
            Some(element) => self.element_of(element, pointee),
            None => self.cast_to(address, pointee),
        };
        self.pointers.insert(key, pointer);
        self.pointer_log.push(key);
        pointer
    }

    fn element_of(&mut self, element: Element, pointee: Word) -> Word {
        let base = self.pointer_to(element.base, pointee);
        let index = match element.index {
            Index::Value(value) => self.value(value),
            Index::Constant(number) => match i32::try_from(number) {
                Ok(number) => self.emitter.u32(number as u32),
                Err(_) => self.emitter.splat(Type::I64, number as u64),
            },
        };
        let ty = self.emitter.pointer_type(StorageClass::PhysicalStorageBuffer, pointee);
        self.emitter.stride(ty, element.size);
        self.typed(Op::PtrAccessChain, ty, vec![Operand::IdRef(base), Operand::IdRef(index)])
    }

    fn cast_to(&mut self, address: ValueId, pointee: Word) -> Word {
        let word = self.value(address);
        if let Some(known) = self.passed_pointee(address) {
            if self.emitter.ty(known) == pointee {
                return word;
            }
            let ty = self.emitter.pointer_type(StorageClass::PhysicalStorageBuffer, pointee);
            return self.typed(Op::Bitcast, ty, vec![Operand::IdRef(word)]);
        }
        let (class, op) = match self.type_of(address) {
            Type::Pointer(space) => (self.emitter.storage_class(space), Op::Bitcast),
            Type::Scalar(_) => (StorageClass::PhysicalStorageBuffer, Op::ConvertUToPtr),
            _ => (StorageClass::PhysicalStorageBuffer, Op::Bitcast),
        };
        let ty = self.emitter.pointer_type(class, pointee);
        if op == Op::Bitcast && class != StorageClass::PhysicalStorageBuffer {
            let byte = self.emitter.scalar(Scalar::I8);
            if byte == pointee {
                return word;
            }
        }
        self.typed(op, ty, vec![Operand::IdRef(word)])
    }

    /// 8- and 16-bit values in Vulkan's interface storage classes require capabilities.
    fn storage_width(&mut self, ty: Type) {
        let (Type::Scalar(scalar) | Type::Vector(scalar, _)) = ty else { return };
        if !self.is_vulkan() {
            return;
        }
        match scalar {
            Scalar::I8 => self.emitter.writer.require(Capability::StorageBuffer8BitAccess),
            Scalar::I16 | Scalar::F16 => self.emitter.writer.require(Capability::StorageBuffer16BitAccess),
            Scalar::Bool | Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64 => {}
        }
    }

    /// The memory operands of an access.
    fn memory_operands(&self, address: ValueId, access: Access) -> Vec<Operand> {
        let mut mask = MemoryAccess::NONE;
        let is_physical = !self.is_vulkan() || !matches!(self.type_of(address), Type::Pointer(_));
        if is_physical {
            mask |= MemoryAccess::ALIGNED;
        }
        if access.is_volatile {
            mask |= MemoryAccess::VOLATILE;
        }
        if access.is_shared && self.is_vulkan() {
            mask |= MemoryAccess::NON_PRIVATE_POINTER;
        }
        if mask.is_empty() {
            return Vec::new();
        }
        let mut operands = vec![Operand::MemoryAccess(mask)];
        if is_physical {
            operands.push(Operand::LiteralBit32(access.align));
        }
        operands
    }

    /// The address spaces that an atomic object may be in.
    pub(super) fn object_spaces(&self, address: ValueId) -> Spaces {
        match self.type_of(address) {
            Type::Pointer(space) => Spaces::for_pointer(space),
            _ => Spaces::GLOBAL,
        }
    }

    /// `Element`: an element of an array variable, or the variable itself.
    pub(super) fn element(&mut self, inst: &Inst) {
        let base = self.value(inst.args[0]);
        let function = self.function;
        let ValueDef::Result(defining, _) = function.values[inst.args[0]].def else {
            unreachable!("`Element` names its variable directly")
        };
        let var = match function.insts[defining].op {
            IrOp::PrivateVar(var) => &function.vars[var],
            IrOp::ModuleVar(var) => &self.emitter.module.vars[var],
            _ => unreachable!("`Element` names its variable directly"),
        };
        let class = self.emitter.storage_class(var.space);
        if !Emitter::is_array(var) {
            return self.define(inst.results[0], base);
        }
        let element = var.element.unwrap_or(Type::Scalar(Scalar::I8));
        let element = self.emitter.ty(element);
        let ty = self.emitter.pointer_type(class, element);
        let index = self.value(inst.args[1]);
        let word = self.typed(Op::AccessChain, ty, vec![Operand::IdRef(base), Operand::IdRef(index)]);
        self.define(inst.results[0], word);
    }

    /// `ModuleVar`
    pub(super) fn module_var(&mut self, inst: &Inst, var: VarId) {
        let word = self.emitter.module_variable(var);
        self.interface.insert(word);
        self.as_bytes(inst, word, self.emitter.module.vars[var].space);
    }

    /// `PrivateVar`
    pub(super) fn private_var(&mut self, inst: &Inst, var: VarId) {
        let word = self.private_variable(var);
        self.as_bytes(inst, word, AddressSpace::Private);
    }

    /// The address of a variable. In the OpenCL environment, as a pointer to bytes.
    fn as_bytes(&mut self, inst: &Inst, word: Word, space: AddressSpace) {
        let word = if self.is_vulkan() {
            word
        } else {
            self.op(Op::Bitcast, Type::Pointer(space), vec![Operand::IdRef(word)])
        };
        self.define(inst.results[0], word);
    }

    /// `Offset`, which remains only in the OpenCL environment: adds bytes to a pointer.
    pub(super) fn offset(&mut self, inst: &Inst, stride: u64, count: Option<u32>) {
        if let (Some(count), Ok(stride), true) = (count, u32::try_from(stride), self.emitter.marks_members) {
            return self.member_element(inst, stride, count);
        }
        let base = self.value(inst.args[0]);
        let mut index = self.value(inst.args[1]);
        let wide = Type::Scalar(Scalar::I64);
        if self.type_of(inst.args[1]) != wide {
            index = self.op(Op::SConvert, wide, vec![Operand::IdRef(index)]);
        }
        if stride != 1 {
            let ty = self.emitter.ty(wide);
            let stride =
                self.emitter.writer.interned(Op::Constant, Some(ty), vec![Operand::LiteralBit64(stride)]);
            index = self.op(Op::IMul, wide, vec![Operand::IdRef(index), Operand::IdRef(stride)]);
        }
        self.result(inst, Op::PtrAccessChain, vec![Operand::IdRef(base), Operand::IdRef(index)]);
    }

    /// An element of an array of known length, which the reference device checks (SPIR-V, `OpInBoundsAccessChain`).
    fn member_element(&mut self, inst: &Inst, stride: u32, count: u32) {
        let byte = self.emitter.scalar(Scalar::I8);
        let element = self.emitter.array_type(byte, stride);
        let array = self.emitter.array_type(element, count);
        let base = self.pointer_to(inst.args[0], array);
        let index = self.value(inst.args[1]);
        let class = match self.type_of(inst.results[0]) {
            Type::Pointer(space) => self.emitter.storage_class(space),
            _ => StorageClass::Generic,
        };
        let ty = self.emitter.pointer_type(class, element);
        let chain =
            self.typed(Op::InBoundsAccessChain, ty, vec![Operand::IdRef(base), Operand::IdRef(index)]);
        self.result(inst, Op::Bitcast, vec![Operand::IdRef(chain)]);
    }

    /// `PointerCast`: to or from generic.
    pub(super) fn pointer_cast(&mut self, inst: &Inst) {
        let (Type::Pointer(from), Type::Pointer(to)) =
            (self.type_of(inst.args[0]), self.type_of(inst.results[0]))
        else {
            return self.plain(inst, Op::Bitcast);
        };
        match (from, to) {
            (AddressSpace::Generic, AddressSpace::Generic) => self.plain(inst, Op::Bitcast),
            (_, AddressSpace::Generic) => {
                self.emitter.writer.require(Capability::GenericPointer);
                self.plain(inst, Op::PtrCastToGeneric);
            }
            (AddressSpace::Generic, _) => {
                self.emitter.writer.require(Capability::GenericPointer);
                self.plain(inst, Op::GenericCastToPtr);
            }
            _ => self.plain(inst, Op::Bitcast),
        }
    }
}
