//! Device-side enqueue (OpenCL C 6.15.19): index spaces, and functions that other kernels launch.
//!
//! An instruction names a function and passes bytes to it. The IR has a kernel instead: it copies the bytes after the
//! header of its captured values to a private object, and calls the function.

use kiln_builtins::BuiltinId;
use kiln_ir::{
    ArgumentKind, BinaryOp, Builder, BuiltinParam, CompareKind, FuncId, Function, Handle, Kernel, Op as IrOp,
    Scalar, Type, ValueId, Var,
};
use kiln_types::{ops::CompareOp, ty::NDRANGE_SIZE};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::spirv::Op;

use crate::{
    Reader,
    body::{Body, access},
    functions::ReturnKind,
    problem::{Outcome, Problem},
    words::Instruction,
};

const GENERIC: Type = Type::Pointer(AddressSpace::Generic);
const PRIVATE: Type = Type::Pointer(AddressSpace::Private);
const HEADER: u64 = ArgumentKind::CAPTURES;

/// The bytes that an instruction passes to a function.
#[derive(Clone, Copy)]
struct Bytes {
    size: u64,
    align: u64,
}

/// The operand that is a function.
const fn function_operand(op: Op) -> Option<usize> {
    match op {
        Op::EnqueueKernel => Some(6),
        Op::GetKernelWorkGroupSize
        | Op::GetKernelPreferredWorkGroupSizeMultiple
        | Op::GetKernelMaxNumSubgroups => Some(0),
        Op::GetKernelNDrangeSubGroupCount
        | Op::GetKernelNDrangeMaxSubGroupSize
        | Op::GetKernelLocalSizeForSubgroupCount => Some(1),
        _ => None,
    }
}

impl Reader<'_> {
    /// The functions that kernels launch.
    pub(crate) fn enqueued_functions(&self) -> impl Iterator<Item = u32> {
        let functions = self.words.instructions.iter();
        functions.filter_map(|inst| inst.operands.get(function_operand(inst.op)?).copied())
    }

    /// The kernel that calls this function with a copy of the bytes.
    fn enqueued_kernel(&mut self, function: u32, bytes: Bytes) -> Outcome<FuncId> {
        let key = (function, bytes.size);
        if let Some(&kernel) = self.enqueued.get(&key) {
            return Ok(kernel);
        }
        let kernel = self.caller(function, bytes)?;
        let kernel = self.module.functions.push(kernel);
        self.enqueued.insert(key, kernel);
        Ok(kernel)
    }

    fn caller(&self, id: u32, bytes: Bytes) -> Outcome<Function> {
        let signature = self.signatures.get(&id);
        let signature = signature.ok_or_else(|| Problem::new(format!("%{id} cannot be called")))?;
        let types: Option<Vec<Type>> = signature.params.iter().map(|param| param.value()).collect();
        let is_pointer = |ty: &Type| matches!(*ty, GENERIC | PRIVATE);
        let first = match types.as_deref() {
            Some([first, locals @ ..])
                if is_pointer(first)
                    && locals.iter().all(|ty| *ty == Type::Pointer(AddressSpace::Local))
                    && signature.result == ReturnKind::Nothing =>
            {
                *first
            }
            _ => {
                return Err(Problem::new(format!(
                    "%{id} cannot be enqueued: its parameters are not a generic pointer and pointers to local memory"
                )));
            }
        };
        let mut types = types.unwrap_or_default();
        types[0] = GENERIC;
        let span = self.span(self.words.definition(id)?);
        let mut function = Function::new(self.name_of_kernel(id), &types, None, span);
        let size = (HEADER + bytes.size).next_multiple_of(8);
        function.kernel = Some(Kernel::enqueued(size, bytes.align.max(8), types.len() - 1));
        let mut values = function.params().to_vec();
        let layout = (bytes.size.max(1), bytes.align);
        let copy = function.vars.push(Var::new("", AddressSpace::Private, layout, span));
        let mut builder = Builder::new(&mut function);
        builder.at_end(builder.function.body);
        builder.span = span;
        let copy = builder.private_var(copy);
        if bytes.size > 0 {
            let from = builder.offset_bytes(values[0], HEADER as i64);
            copy_bytes(&mut builder, copy, from, bytes);
        }
        values[0] = if first == PRIVATE { copy } else { builder.value(IrOp::PointerCast, &[copy], GENERIC) };
        builder.call(signature.function, &values, None);
        builder.ret(None);
        Ok(function)
    }

    /// The name of the function's entry point, or a name that is derived from the function's.
    fn name_of_kernel(&self, function: u32) -> String {
        let entries = self.words.preamble().iter().filter(|inst| inst.op == Op::EntryPoint);
        let mut names = entries.filter(|inst| inst.operands.get(1) == Some(&function));
        let name = match names.next() {
            Some(entry) => entry.text(2).0,
            None => format!("{}_kernel", self.words.name(function)),
        };
        let others = self.enqueued.keys().filter(|(other, _)| *other == function).count();
        if others == 0 { name } else { format!("{name}_{others}") }
    }
}

/// Copies the bytes. One of the pointers is to the bytes after the header.
fn copy_bytes(builder: &mut Builder<'_>, to: ValueId, from: ValueId, bytes: Bytes) {
    let access = access(bytes.align.min(HEADER));
    builder.inst(IrOp::Copy { size: bytes.size, access }, &[to, from], &[]);
}

impl Body<'_, '_, '_> {
    /// Reads an instruction of device-side enqueue, except those that take only values. Returns whether it is one.
    pub(crate) fn enqueue(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        let (name, values) = match inst.op {
            Op::BuildNDRange => return self.build_index_space(inst).map(|()| true),
            Op::GetKernelMaxNumSubgroups | Op::GetKernelLocalSizeForSubgroupCount => {
                return self.sub_group_limits(inst).map(|()| true);
            }
            Op::EnqueueKernel => ("enqueue_kernel", self.kernel_operands(inst)?),
            Op::EnqueueMarker => {
                let mut values = self.values(&[inst.word(0)?, inst.word(1)?])?;
                values.extend([self.generic(inst.word(2)?)?, self.generic(inst.word(3)?)?]);
                ("enqueue_marker", values)
            }
            Op::GetKernelWorkGroupSize => ("get_kernel_work_group_size", self.function_operands(inst, 0)?),
            Op::GetKernelPreferredWorkGroupSizeMultiple => {
                ("get_kernel_preferred_work_group_size_multiple", self.function_operands(inst, 0)?)
            }
            Op::GetKernelNDrangeSubGroupCount => {
                ("get_kernel_sub_group_count_for_ndrange", self.index_space_operands(inst)?)
            }
            Op::GetKernelNDrangeMaxSubGroupSize => {
                ("get_kernel_max_sub_group_size_for_ndrange", self.index_space_operands(inst)?)
            }
            _ => return Ok(false),
        };
        let ty = self.result_type(inst)?;
        let op = builtin(name, values.len())?;
        let value = self.builder.value(op, &values, ty);
        self.define(inst, value)?;
        Ok(true)
    }

    /// Queries that OpenCL C does not have: the maximum number of sub-groups, and the size of a one-dimensional work-group
    /// of this many sub-groups, which is 0 if there is none.
    fn sub_group_limits(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let kernel = self.function_operands(inst, function_operand(inst.op).unwrap_or_default())?;
        let query = |builder: &mut Builder<'_>, name| {
            builtin(name, kernel.len()).map(|op| builder.value(op, &kernel, Type::I32))
        };
        let work_items = query(&mut self.builder, "get_kernel_work_group_size")?;
        let sub_group = query(&mut self.builder, "get_kernel_preferred_work_group_size_multiple")?;
        let max = self.builder.binary(BinaryOp::UDiv, work_items, sub_group);
        let value = if inst.op == Op::GetKernelMaxNumSubgroups {
            max
        } else {
            let count = self.value(inst.word(0)?)?;
            let fits = self.builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, count, max);
            let size = self.builder.binary(BinaryOp::Mul, count, sub_group);
            let none = self.builder.i32(0);
            self.builder.select(fits, size, none)
        };
        self.define(inst, value)
    }

    fn kernel_operands(&mut self, inst: &Instruction<'_>) -> Outcome<Vec<ValueId>> {
        let [queue, flags, count] = [inst.word(0)?, inst.word(1)?, inst.word(3)?];
        let mut values = self.values(&[queue, flags])?;
        values.push(self.index_space(inst.word(2)?)?);
        values.push(self.value(count)?);
        values.extend([self.generic(inst.word(4)?)?, self.generic(inst.word(5)?)?]);
        values.extend(self.function_operands(inst, 6)?);
        for &size in inst.words(10) {
            values.push(self.local_size(size)?);
        }
        Ok(values)
    }

    /// A pointer to a size of local memory. Modules pass the size or a pointer to it.
    fn local_size(&mut self, id: u32) -> Outcome<ValueId> {
        let value = self.value(id)?;
        if self.builder.ty(value).is_pointer() {
            return Ok(value);
        }
        let slot = self.slot(Type::I64);
        let size = self.size(value)?;
        self.store_slot(slot, size);
        Ok(self.builder.private_var(slot))
    }

    /// Converts an integer to 64 bits.
    fn size(&mut self, value: ValueId) -> Outcome<ValueId> {
        match self.builder.ty(value) {
            Type::Scalar(scalar) if scalar.is_int() => Ok(self.builder.resize(value, Scalar::I64, false)),
            other => Err(Problem::new(format!("a size is of type {other}"))),
        }
    }

    fn generic(&mut self, id: u32) -> Outcome<ValueId> {
        let pointer = self.pointer(id)?;
        Ok(match self.builder.ty(pointer) {
            GENERIC => pointer,
            _ if self.builder.function.constant_bits(pointer) == Some(0) => self.builder.bits(GENERIC, 0),
            _ => self.builder.value(IrOp::PointerCast, &[pointer], GENERIC),
        })
    }

    /// An index space and the operands for a function.
    fn index_space_operands(&mut self, inst: &Instruction<'_>) -> Outcome<Vec<ValueId>> {
        let mut values = vec![self.index_space(inst.word(0)?)?];
        values.extend(self.function_operands(inst, 1)?);
        Ok(values)
    }

    /// The operands for a function: its kernel, the captured values, and their size and alignment.
    fn function_operands(&mut self, inst: &Instruction<'_>, at: usize) -> Outcome<Vec<ValueId>> {
        let [function, pointer] = [inst.word(at)?, inst.word(at + 1)?];
        let [size, align] = [self.constant_bits(inst.word(at + 2)?), self.constant_bits(inst.word(at + 3)?)];
        let (Some(size), Some(align)) = (size, align) else {
            return Err(Problem::new(
                "the size or the alignment of the parameters of the block is not a constant",
            ));
        };
        if size > MAX_BYTES || !align.is_power_of_two() || align > MAX_BYTES {
            return Err(Problem::new(format!("{size} bytes with an alignment of {align} cannot be passed")));
        }
        let bytes = Bytes { size, align };
        let kernel = self.reader.enqueued_kernel(function, bytes)?;
        let (total, alignment) = ((HEADER + size).next_multiple_of(8), align.max(HEADER));
        let object = self.object((total, alignment));
        let literal = self.builder.private_var(object);
        // All bytes have values: a launch on Vulkan copies words.
        let tail = (HEADER + size) & !7;
        for (offset, word) in
            [(0, total | alignment << 32), (8, 0)].into_iter().chain((tail < total).then_some((tail, 0)))
        {
            let to = self.builder.offset_bytes(literal, offset as i64);
            let word = self.builder.i64(word as i64);
            self.builder.store(to, word, access(8));
        }
        if size > 0 {
            let from = self.pointer(pointer)?;
            let to = self.builder.offset_bytes(literal, HEADER as i64);
            copy_bytes(&mut self.builder, to, from, bytes);
        }
        let kernel = self.builder.value(IrOp::Function(kernel), &[], Type::Handle(Handle::Function));
        let literal = self.builder.value(IrOp::PointerCast, &[literal], GENERIC);
        let [total, alignment] = [total, alignment].map(|it| self.builder.i32(it as i32));
        Ok(vec![kernel, literal, total, alignment])
    }

    /// A private pointer to an index space. Modules pass the structure or a pointer to it.
    fn index_space(&mut self, id: u32) -> Outcome<ValueId> {
        let pointer = if self.is_aggregate(id) { self.aggregate(id)? } else { self.pointer(id)? };
        Ok(self.private(pointer, NDRANGE_SIZE))
    }

    /// A private pointer to these bytes.
    fn private(&mut self, pointer: ValueId, size: u64) -> ValueId {
        if self.builder.ty(pointer) == PRIVATE {
            return pointer;
        }
        let object = self.object((size, 8));
        self.copy_to_object(object, pointer);
        self.builder.private_var(object)
    }

    /// OpBuildNDRange. Sizes and offsets are numbers, or arrays of two or three.
    fn build_index_space(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        let (size, align) = self.reader.types.layout(inst.result_type()?)?;
        if size < NDRANGE_SIZE {
            return Err(Problem::new(format!("its result has {size} bytes, and needs {NDRANGE_SIZE}")));
        }
        let object = self.object((size, align.max(8)));
        let mut values = vec![self.builder.private_var(object)];
        let mut dimensions = None;
        for index in 0..3 {
            let id = inst.word(index)?;
            let (value, count) = if self.is_aggregate(id) {
                let (size, align) = self.reader.types.layout(self.type_of(id)?)?;
                if !matches!((size, align), (16 | 24, 8)) {
                    return Err(Problem::new("its sizes are not two or three integers of 64 bits"));
                }
                let pointer = self.aggregate(id)?;
                (self.private(pointer, size), size / 8)
            } else {
                let value = self.value(id)?;
                (self.size(value)?, 1)
            };
            if *dimensions.get_or_insert(count) != count {
                return Err(Problem::new("its operands have different dimensions"));
            }
            values.push(value);
        }
        let name = match dimensions {
            Some(2) => "ndrange_2D",
            Some(3) => "ndrange_3D",
            _ => "ndrange_1D",
        };
        let op = builtin(name, values.len())?;
        self.builder.inst(op, &values, &[]);
        self.define_object(inst, object)
    }
}

/// The maximum number of bytes that an enqueued function gets. Vulkan's limit is lower.
const MAX_BYTES: u64 = 1 << 16;

/// A call of a function of OpenCL C with this number of arguments.
fn builtin(name: &str, count: usize) -> Outcome<IrOp> {
    let builtin = BuiltinId::from_name(name, 0);
    let builtin = builtin.ok_or_else(|| Problem::new(format!("there is no `{name}`")))?;
    Ok(IrOp::Builtin(builtin, std::iter::repeat_n(BuiltinParam::Other, count).collect()))
}
