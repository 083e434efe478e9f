//! Writes zeros to local objects whose atomic operations exchange whole elements to change parts of them.
//!
//! Such an operation compares a whole element, but the program may have written only a part of it. Vulkan leaves the value of
//! the rest undefined, so the comparison might never succeed. The work-items of a group zero the object together when the
//! kernel begins, and a barrier follows.

use kiln_ir::{
    Access, BinaryOp, Builder, CompareKind, FuncId, Function, Input, Module, Op, Scalar, Type, ValueId, VarId,
};
use kiln_types::ops::{CompareOp, LoopHints};
use kiln_vocabulary::opencl::{AddressSpace, FenceFlags, Scope};
use rustc_hash::FxHashSet;

/// Adds the writes to the kernels that reach one of the objects.
pub(super) fn zero_objects(module: &mut Module, objects: &FxHashSet<VarId>) {
    if objects.is_empty() {
        return;
    }
    for id in module.functions.ids().collect::<Vec<_>>() {
        if module.functions[id].kernel.is_none() {
            continue;
        }
        let mut used: Vec<VarId> = reachable_objects(module, id).intersection(objects).copied().collect();
        used.sort_unstable();
        if used.is_empty() {
            continue;
        }
        let lengths: Vec<(VarId, Length)> =
            used.iter().map(|&var| (var, Length::of_variable(module, var))).collect();
        begin(&mut module.functions[id], &lengths);
    }
}

/// The number of elements of an object.
#[derive(Clone, Copy)]
enum Length {
    Elements(Scalar, u64),
    /// Decided by the launch.
    Argument(Scalar),
}

impl Length {
    fn of_variable(module: &Module, var: VarId) -> Self {
        let var = &module.vars[var];
        let element = var.element.and_then(Type::scalar).unwrap_or(Scalar::I32);
        match var.argument {
            Some(_) => Self::Argument(element),
            None => Self::Elements(element, var.size.div_ceil(element.size()).max(1)),
        }
    }
}

/// The objects of the module that a function and its callees use.
fn reachable_objects(module: &Module, root: FuncId) -> FxHashSet<VarId> {
    let mut objects = FxHashSet::default();
    let mut seen = FxHashSet::from_iter([root]);
    let mut pending = vec![root];
    while let Some(id) = pending.pop() {
        let function = &module.functions[id];
        for inst in function.inst_order() {
            match function.insts[inst].op {
                Op::ModuleVar(var) => {
                    objects.insert(var);
                }
                Op::Call(callee) if seen.insert(callee) => pending.push(callee),
                _ => {}
            }
        }
    }
    objects
}

fn begin(function: &mut Function, objects: &[(VarId, Length)]) {
    let body = function.body;
    let mut builder = Builder::new(function);
    builder.at(body, 0);
    let first = builder.value(Op::Input(Input::LocalIndex), &[], Type::I32);
    let size = builder.value(Op::Input(Input::LocalSize), &[], Type::Vector(Scalar::I32, 3));
    let [x, y, z] = [0, 1, 2].map(|dimension| builder.extract(size, dimension));
    let plane = builder.binary(BinaryOp::Mul, x, y);
    let group = builder.binary(BinaryOp::Mul, plane, z);
    for &(var, length) in objects {
        write(&mut builder, var, length, (first, group));
    }
    let barrier = kiln_memory::Sync::barrier(FenceFlags::LOCAL, Scope::WorkGroup);
    builder.inst(Op::barrier(Scope::WorkGroup, barrier), &[], &[]);
}

/// Zeroes every element. Each work-item starts at `first`, and advances by the size of the group.
fn write(builder: &mut Builder<'_>, var: VarId, length: Length, (first, group): (ValueId, ValueId)) {
    let (element, count) = match length {
        Length::Elements(element, count) => (element, builder.bits(Type::I32, count)),
        Length::Argument(element) => (element, builder.value(Op::ElementCount(var), &[], Type::I32)),
    };
    let open = builder.open_loop(&[first], &[Type::I32], &[], LoopHints::default());
    let after = builder.insertion_point();
    let index = builder.function.blocks[open.body].params[0];
    builder.at_end(open.body);
    let is_inside = builder.compare(CompareOp::Less, CompareKind::Unsigned, index, count);
    let test = builder.open_if(is_inside, &[]);
    builder.unreachable();
    builder.at_end(test.then);
    let object = builder.module_var(var, AddressSpace::Local);
    let pointer = builder.value(Op::Element, &[object, index], Type::Pointer(AddressSpace::Local));
    let zero = builder.bits(Type::Scalar(element), 0);
    let align = u32::try_from(element.size()).unwrap_or(1);
    builder.store(pointer, zero, Access { is_shared: true, align, is_volatile: false });
    let next = builder.binary(BinaryOp::Add, index, group);
    builder.continue_loop(open.inst, &[next]);
    builder.at_end(test.otherwise);
    builder.exit(open.inst, &[]);
    builder.close_loop(&open, after);
}
