//! Calls of built-in functions, lowered as their table row states. Functions without an operation in the IR stay
//! calls.

use super::body::Body;
use kiln_builtins::{self as builtins, BuiltinId, Lowering, Vulkan};
use kiln_frontend::hir::{CompareOp, Const, Expr, ExprKind};
use kiln_ir::{self as ir, BinaryOp, BuiltinParam, CompareKind, Op, Scalar, Type, ValueId};
use kiln_types::ty::{Ty, TyId};

impl Body<'_, '_> {
    /// Lowers a call. Returns the result, if there is one.
    pub(super) fn builtin(&mut self, builtin: BuiltinId, arguments: &[Expr], call: &Expr) -> Option<ValueId> {
        let row = builtins::row(builtin);
        match row.lowering {
            Lowering::WorkItem(item) => Some(self.work_item(item, arguments, call.ty)),
            Lowering::VectorLoad(object) => self.vector_load(object, arguments, call.ty),
            Lowering::VectorStore(object) => {
                self.vector_store(object, arguments);
                None
            }
            Lowering::AtomicInit => {
                self.atomic_init(arguments);
                None
            }
            Lowering::Bytes(function) => {
                self.bytes(function, arguments);
                None
            }
            Lowering::Clock(_) => self.read_clock(row.name, call.ty),
            Lowering::Shuffle => Some(self.lower_shuffle(arguments, call.ty)),
            Lowering::Pipe(..) => self.pipe(builtin, arguments, call),
            Lowering::Enqueue(enqueue) => self.enqueue(builtin, enqueue, arguments, call),
            Lowering::Library(library) => {
                let values = self.evaluate_all(arguments);
                let ty = self.lowering.value_type(call.ty);
                if library.vulkan == Vulkan::Core
                    && let Some(ty) = ty
                    && let Some(value) = self.core_function(row.name, &values, ty)
                {
                    return Some(value);
                }
                self.library_call(builtin, arguments, &values, ty)
            }
            _ => {
                let values = self.evaluate_all(arguments);
                let ty = self.lowering.value_type(call.ty);
                self.library_call(builtin, arguments, &values, ty)
            }
        }
    }

    /// Reads a clock as two 32-bit halves, because not every device has 64-bit integers.
    fn read_clock(&mut self, name: &str, result: TyId) -> Option<ValueId> {
        let halves =
            name.replacen("clock_read_hilo", "clock_read", 1).replacen("clock_read", "clock_read_hilo", 1);
        let builtin = BuiltinId::from_name(&halves, 0)?;
        let time = self.builtin_call(builtin, Vec::new(), &[], Some(Type::Vector(Scalar::I32, 2)))?;
        let ty = self.lowering.value_type(result)?;
        Some(if ty.is_vector() { time } else { self.builder.bitcast(time, ty) })
    }

    fn evaluate_all(&mut self, arguments: &[Expr]) -> Vec<ValueId> {
        arguments.iter().map(|argument| self.value(argument)).collect()
    }

    fn library_call(
        &mut self,
        builtin: BuiltinId,
        arguments: &[Expr],
        values: &[ValueId],
        result: Option<Type>,
    ) -> Option<ValueId> {
        let params = arguments.iter().map(|argument| self.builtin_param(argument.ty)).collect();
        self.builtin_call(builtin, params, values, result)
    }

    /// Emits a call of a built-in function, with the types of its parameters.
    pub(super) fn builtin_call(
        &mut self,
        builtin: BuiltinId,
        params: Vec<BuiltinParam>,
        values: &[ValueId],
        result: Option<Type>,
    ) -> Option<ValueId> {
        let inst = self.builder.inst(Op::Builtin(builtin, params.into()), values, result.as_slice());
        self.builder.function.insts[inst].results.first().copied()
    }

    fn builtin_param(&self, id: TyId) -> BuiltinParam {
        let types = &self.lowering.hir.types;
        match types.get(id) {
            Ty::Pointer(to) => types
                .components(to.ty)
                .map_or(BuiltinParam::Other, |(element, count)| BuiltinParam::Pointer(element, count)),
            _ => types
                .components(id)
                .map_or(BuiltinParam::Other, |(element, count)| BuiltinParam::Value(element, count)),
        }
    }

    /// OpenCL C 6.15.1
    fn work_item(&mut self, item: builtins::WorkItem, arguments: &[Expr], result: TyId) -> ValueId {
        let item = work_item(item);
        let arguments: Vec<ValueId> = arguments
            .iter()
            .map(|argument| {
                let value = self.value(argument);
                self.builder.resize(value, Scalar::I32, false)
            })
            .collect();
        let value = self.builder.value(Op::WorkItem(item), &arguments, item.ty());
        let result = self.value_type(result).scalar().unwrap_or(Scalar::I64);
        self.builder.resize(value, result, false)
    }

    /// `atomic_init(object, value)`: not atomic (OpenCL C 6.15.12.2).
    fn atomic_init(&mut self, arguments: &[Expr]) {
        let [object, value] = arguments else { return };
        let (value, pointer) = (self.value(value), self.value(object));
        let align = self.builder.ty(value).size().unwrap_or(1);
        self.store(&super::access::Address::new(pointer, align), value);
    }

    /// `shuffle(x, mask)`, `shuffle2(x, y, mask)`: ignores the mask bits that are not needed to index the components
    /// (OpenCL C 6.15.13).
    fn lower_shuffle(&mut self, arguments: &[Expr], result: TyId) -> ValueId {
        let ty = self.value_type(result);
        let Some((mask, sources)) = arguments.split_last() else { return self.builder.undefined(ty) };
        let sources = self.evaluate_all(sources);
        let count = self.builder.ty(sources[0]).count();
        let all = u64::from(count) * sources.len() as u64;
        if let ExprKind::Const(Const::Vector(parts)) = &mask.kind {
            let number = |part: &Const| match part {
                Const::Int(bits) => (bits & (all - 1)) as u8,
                _ => 0,
            };
            let components: Vec<u8> = parts.iter().map(number).collect();
            let last = sources[sources.len() - 1];
            return self.builder.shuffle(sources[0], last, &components);
        }
        let mask = self.value(mask);
        let parts: Vec<ValueId> = super::vector::components_of(&mut self.builder, mask)
            .into_iter()
            .map(|index| self.component_at(&sources, index, count))
            .collect();
        self.builder.construct(&parts, ty)
    }

    fn component_at(&mut self, sources: &[ValueId], index: ValueId, count: u8) -> ValueId {
        let index = self.builder.resize(index, Scalar::I32, false);
        let inside = self.builder.binary_bits(BinaryOp::And, index, u64::from(count) - 1);
        let ty = self.builder.ty(sources[0]).with_count(1);
        let parts: Vec<ValueId> = sources
            .iter()
            .map(|source| self.builder.value(Op::ExtractDynamic, &[*source, inside], ty))
            .collect();
        let [first, second] = parts[..] else { return parts[0] };
        let which = self.builder.binary_bits(BinaryOp::And, index, u64::from(count));
        let zero = self.builder.i32(0);
        let is_first = self.builder.compare(CompareOp::Equal, CompareKind::Unsigned, which, zero);
        self.builder.select(is_first, first, second)
    }
}

const fn work_item(item: builtins::WorkItem) -> ir::WorkItem {
    use builtins::WorkItem as From;
    use ir::WorkItem as To;
    match item {
        From::WorkDim => To::WorkDim,
        From::GlobalSize => To::GlobalSize,
        From::GlobalId => To::GlobalId,
        From::LocalSize => To::LocalSize,
        From::EnqueuedLocalSize => To::EnqueuedLocalSize,
        From::LocalId => To::LocalId,
        From::NumGroups => To::NumGroups,
        From::GroupId => To::GroupId,
        From::GlobalOffset => To::GlobalOffset,
        From::GlobalLinearId => To::GlobalLinearId,
        From::LocalLinearId => To::LocalLinearId,
        From::SubGroupSize => To::SubGroupSize,
        From::MaxSubGroupSize => To::MaxSubGroupSize,
        From::NumSubGroups => To::NumSubGroups,
        From::EnqueuedNumSubGroups => To::EnqueuedNumSubGroups,
        From::SubGroupId => To::SubGroupId,
        From::SubGroupLocalId => To::SubGroupLocalId,
    }
}
