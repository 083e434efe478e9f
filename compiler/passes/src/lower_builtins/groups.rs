//! Lowers work-group functions on Vulkan: copies become loops over all work-items, and collective functions become calls of
//! library functions with scratch memory.

use super::Pass;
use kiln_builtins::AsyncCopy;
use kiln_ir::{
    Access, BinaryOp, Builder, BuiltinParam, CompareKind, Function, Handle, InstId, Known, Op, Scalar, Type,
    ValueId, Var, WorkItem,
};
use kiln_types::{
    ops::{CompareOp, LoopHints},
    ty,
};
use kiln_vocabulary::opencl::{AddressSpace, FenceFlags, Scope};

/// The number of work-items that the functions in `library/lib/work_group.cl` process at a time.
const SCRATCH_ITEMS: u64 = 256;

/// Removes events: copies are complete after the barrier of `wait_group_events`.
pub(super) fn remove_events(function: &mut Function) {
    for value in function.values.iter_mut() {
        if value.ty == Type::Handle(Handle::Event) {
            value.ty = Type::I32;
        }
    }
    if function.result == Some(Type::Handle(Handle::Event)) {
        function.result = Some(Type::I32);
    }
}

/// Lowers a function of OpenCL C 6.15.11. Returns its result, or `None` if it cannot be lowered.
pub(super) fn asynchronous(
    builder: &mut Builder<'_>,
    inst: InstId,
    copy: AsyncCopy,
    params: &[BuiltinParam],
) -> Option<ValueId> {
    match copy {
        AsyncCopy::Copy | AsyncCopy::Strided => copy_elements(builder, inst, copy, params)?,
        AsyncCopy::Wait | AsyncCopy::Fence => {
            builder.inst(
                Op::Barrier {
                    execution: Scope::WorkGroup,
                    flags: Known::Constant(FenceFlags::LOCAL.union(FenceFlags::GLOBAL)),
                    scope: Known::Constant(Scope::WorkGroup),
                },
                &[],
                &[],
            );
        }
        AsyncCopy::Prefetch => {}
        AsyncCopy::Copy2d => copy_lines(builder, inst, false),
        AsyncCopy::Copy3d => copy_lines(builder, inst, true),
    }
    Some(builder.i32(0))
}

/// Copies consecutive elements, or elements at a stride in global memory.
fn copy_elements(
    builder: &mut Builder<'_>,
    inst: InstId,
    copy: AsyncCopy,
    params: &[BuiltinParam],
) -> Option<()> {
    let args = builder.function.insts[inst].args.clone();
    let BuiltinParam::Pointer(scalar, count) = *params.first()? else { return None };
    // A 3-component vector is copied as a 4-component one.
    let ty = Type::scalar_or_vector(scalar, if count == 3 { 4 } else { count });
    let size = ty.size()?;
    let access = Access { is_shared: false, align: size as u32, is_volatile: false };
    let stride = (copy == AsyncCopy::Strided).then(|| builder.resize(args[3], Scalar::I32, false));
    let is_to_local = builder.ty(args[0]) == Type::Pointer(AddressSpace::Local);

    let total = builder.resize(args[2], Scalar::I32, false);
    let each = |builder: &mut Builder<'_>, index: ValueId| {
        let far = stride.map_or(index, |stride| builder.binary(BinaryOp::Mul, index, stride));
        let (to_index, from_index) = if is_to_local { (index, far) } else { (far, index) };
        let from = builder.offset(args[1], from_index, size);
        let value = builder.load(from, ty, access);
        let to = builder.offset(args[0], to_index, size);
        builder.store(to, value, access);
    };
    distribute(builder, total, each);
    Some(())
}

/// Copies lines of elements, or planes of lines, byte by byte (cl_khr_extended_async_copies).
fn copy_lines(builder: &mut Builder<'_>, inst: InstId, has_planes: bool) {
    let args = builder.function.insts[inst].args.clone();
    let number = |builder: &mut Builder<'_>, index: usize| builder.resize(args[index], Scalar::I32, false);
    let [to_first, from_first] = [1, 3].map(|index| number(builder, index));
    let [bytes, width, height] = [4, 5, 6].map(|index| number(builder, index));
    let (depth, [from_line, from_plane, to_line, to_plane]) = if has_planes {
        (number(builder, 7), [8, 9, 10, 11].map(|index| number(builder, index)))
    } else {
        // There is only one plane, so its size does not matter.
        let [from_line, to_line] = [7, 8].map(|index| number(builder, index));
        (builder.i32(1), [from_line, from_line, to_line, to_line])
    };
    let mut total = builder.binary(BinaryOp::Mul, bytes, width);
    for size in [height, depth] {
        total = builder.binary(BinaryOp::Mul, total, size);
    }
    let access = Access { is_shared: false, align: 1, is_volatile: false };
    distribute(builder, total, |builder, index| {
        let split = |builder: &mut Builder<'_>, index, by| {
            let rest = builder.binary(BinaryOp::URem, index, by);
            (rest, builder.binary(BinaryOp::UDiv, index, by))
        };
        let (byte, element) = split(builder, index, bytes);
        let (x, line) = split(builder, element, width);
        let (y, z) = split(builder, line, height);
        let element = |builder: &mut Builder<'_>, first, line, plane| {
            let down = builder.binary(BinaryOp::Mul, y, line);
            let deep = builder.binary(BinaryOp::Mul, z, plane);
            let mut sum = builder.binary(BinaryOp::Add, first, x);
            for part in [down, deep] {
                sum = builder.binary(BinaryOp::Add, sum, part);
            }
            let scaled = builder.binary(BinaryOp::Mul, sum, bytes);
            builder.binary(BinaryOp::Add, scaled, byte)
        };
        let from_index = element(builder, from_first, from_line, from_plane);
        let to_index = element(builder, to_first, to_line, to_plane);
        let from = builder.offset(args[2], from_index, 1);
        let value = builder.load(from, Type::I8, access);
        let to = builder.offset(args[0], to_index, 1);
        builder.store(to, value, access);
    });
}

/// Distributes the indices below `total` over the work-items of the group.
fn distribute(builder: &mut Builder<'_>, total: ValueId, each: impl FnOnce(&mut Builder<'_>, ValueId)) {
    let first = local_id(builder);
    let step = group_size(builder);
    let open = builder.open_loop(&[first], &[Type::I32], &[], LoopHints::default());
    let after = builder.insertion_point();
    let index = builder.function.blocks[open.body].params[0];
    builder.at_end(open.body);
    let is_inside = builder.compare(CompareOp::Less, CompareKind::Unsigned, index, total);
    let test = builder.open_if(is_inside, &[]);
    builder.unreachable();
    builder.at_end(test.then);
    each(builder, index);
    let next = builder.binary(BinaryOp::Add, index, step);
    builder.continue_loop(open.inst, &[next]);
    builder.at_end(test.otherwise);
    builder.exit(open.inst, &[]);
    builder.close_loop(&open, after);
}

/// The linear id of the work-item in its work-group.
pub(super) fn local_id(builder: &mut Builder<'_>) -> ValueId {
    let id = builder.value(Op::WorkItem(WorkItem::LocalLinearId), &[], Type::I64);
    builder.resize(id, Scalar::I32, false)
}

fn local_size(builder: &mut Builder<'_>, dimension: i32) -> ValueId {
    let dimension = builder.i32(dimension);
    let size = builder.value(Op::WorkItem(WorkItem::LocalSize), &[dimension], Type::I64);
    builder.resize(size, Scalar::I32, false)
}

/// The number of work-items in the work-group.
pub(super) fn group_size(builder: &mut Builder<'_>) -> ValueId {
    let [x, y, z] = [0, 1, 2].map(|dimension| local_size(builder, dimension));
    let plane = builder.binary(BinaryOp::Mul, x, y);
    builder.binary(BinaryOp::Mul, plane, z)
}

impl Pass<'_> {
    /// Lowers a collective function of a work-group (OpenCL C 6.15.16). Returns its result, or `None` if it cannot be lowered.
    /// The library functions take the value, scratch memory, the work-item's number, the number of work-items, and the
    /// broadcasting work-item.
    pub(super) fn work_group(
        &mut self,
        builder: &mut Builder<'_>,
        inst: InstId,
        name: &'static str,
        params: &[BuiltinParam],
    ) -> Option<ValueId> {
        let args = builder.function.insts[inst].args.clone();
        let BuiltinParam::Value(scalar, 1) = *params.first()? else { return None };
        let computed = if scalar == ty::Scalar::Half { ty::Scalar::Float } else { scalar };
        let function = self.callee(name, computed.spelling(), builder.span)?;
        let ty = Type::scalar_or_vector(computed, 1);
        let result = builder.ty(builder.function.insts[inst].results[0]);
        let mut value = args[0];
        if computed != scalar {
            value = builder.convert(super::PLAIN, value, ty);
        }
        let scratch = self.scratch(ty, builder);
        let (id, size) = (local_id(builder), group_size(builder));
        let mut values = vec![value, scratch, id, size];
        if args.len() > 1 {
            let mut from = builder.resize(args[1], Scalar::I32, false);
            let mut width = None;
            for (dimension, &arg) in args.iter().enumerate().skip(2) {
                let extent = local_size(builder, dimension as i32 - 2);
                let before = width.map_or(extent, |width| builder.binary(BinaryOp::Mul, width, extent));
                width = Some(before);
                let coordinate = builder.resize(arg, Scalar::I32, false);
                let beyond = builder.binary(BinaryOp::Mul, coordinate, before);
                from = builder.binary(BinaryOp::Add, from, beyond);
            }
            values.push(from);
        }
        let given = builder.call(function, &values, Some(ty))?;
        Some(if result == ty { given } else { builder.convert(super::PLAIN, given, result) })
    }

    /// Scratch memory for this type, one local object per module.
    pub(super) fn scratch(&mut self, ty: Type, builder: &mut Builder<'_>) -> ValueId {
        let size = ty.size().unwrap_or(8);
        let vars = &mut self.module.vars;
        let var = *self.scratch.entry(ty).or_insert_with(|| {
            vars.push(Var::new("scratch", AddressSpace::Local, (size * SCRATCH_ITEMS, size), builder.span))
        });
        builder.module_var(var, AddressSpace::Local)
    }
}
