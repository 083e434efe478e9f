//! Says which plain accesses other work-items may see: those to a space that some kernel of the module
//! synchronises. Vulkan orders no others, and kernels without synchronisation pay nothing (memory.md, R8).

use crate::{
    diag::Sink,
    ir::{Atomic, Function, Known, Module, Op, Type, ValueId},
    memory::{self, Spaces, Sync},
    opencl::{FenceFlags, Order, Scope},
    session::Options,
};

pub(super) fn mark_shared(module: &mut Module, _: &Options, _: &mut Sink) {
    let operations = module.functions.iter().flat_map(|function| {
        function
            .insts
            .iter()
            .filter_map(|inst| synchronisation(function, &inst.op, inst.args.first().copied()))
    });
    let shared = memory::synchronised(operations);
    if shared.is_empty() {
        return;
    }
    for function in module.functions.iter_mut() {
        for id in function.inst_order() {
            let spaces: Vec<Spaces> =
                function.insts[id].args.iter().map(|&arg| spaces_of(function, arg)).collect();
            let is_shared = |index: usize| !spaces[index].intersection(shared).is_empty();
            match &mut function.insts[id].op {
                Op::Load(access) | Op::Store(access) | Op::Zero { access, .. } => {
                    access.is_shared = is_shared(0);
                }
                Op::Copy { access, .. } => access.is_shared = is_shared(0) || is_shared(1),
                _ => {}
            }
        }
    }
}

fn spaces_of(function: &Function, value: ValueId) -> Spaces {
    match function.ty(value) {
        Type::Pointer(space) => Spaces::of(space),
        _ => Spaces::NONE,
    }
}

/// How an instruction synchronises; in doubt, as strongly as it may.
fn synchronisation(function: &Function, op: &Op, object: Option<ValueId>) -> Option<Sync> {
    match op {
        Op::Atomic(atomic) => Some(atomic_sync(atomic, spaces_of(function, object?))),
        Op::Fence { flags, order, .. } => Some(Sync::fence(
            constant(*flags).unwrap_or(FenceFlags::ALL),
            constant(*order).unwrap_or(Order::SeqCst),
            Scope::Device,
        )),
        Op::Barrier { flags, .. } => {
            Some(Sync::barrier(constant(*flags).unwrap_or(FenceFlags::ALL), Scope::WorkGroup))
        }
        _ => None,
    }
}

fn atomic_sync(atomic: &Atomic, object: Spaces) -> Sync {
    let order = constant(atomic.order).unwrap_or(Order::SeqCst);
    let plain = Sync::atomic(object, order, Scope::Device);
    Sync { spaces: atomic.spaces.map_or(plain.spaces, Spaces::from), ..plain }
}

fn constant<T>(value: Known<T>) -> Option<T> {
    match value {
        Known::Constant(value) => Some(value),
        Known::Dynamic => None,
    }
}
