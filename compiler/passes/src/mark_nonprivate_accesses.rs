//! Marks plain accesses that other work-items may observe (SPIR-V: `NonPrivatePointer`). These are the accesses to an
//! address space that a kernel synchronizes, in that kernel and in its callees. Vulkan orders only marked accesses, and
//! kernels without synchronization pay nothing (R8).

use kiln_ir::{FuncId, Function, ImageAction, Module, Op, Type, ValueId};
use kiln_memory::{self as memory, Spaces, Sync};
use kiln_session::{Options, diag::Sink};
use kiln_types::index::Id as _;

pub(super) fn mark_nonprivate_accesses(module: &mut Module, _: &Options, _: &mut Sink) {
    if !module.functions.iter().any(|function| function.may_contain(Op::synchronizes)) {
        return;
    }
    let kernels: Vec<FuncId> = module
        .functions
        .entries()
        .filter(|(_, function)| function.kernel.is_some())
        .map(|(id, _)| id)
        .collect();
    let mut shared = vec![Spaces::NONE; module.functions.len()];
    for kernel in kernels {
        let called = module.reachable_from(kernel);
        let operations = called.iter().flat_map(|&id| synchronizing_operations(&module.functions[id]));
        let synchronized = memory::synchronized(operations);
        for id in called {
            shared[id.index()] = shared[id.index()].union(synchronized);
        }
    }
    for (function, shared) in module.functions.iter_mut().zip(shared) {
        if !shared.is_empty() {
            mark_accesses(function, shared);
        }
    }
}

fn synchronizing_operations(function: &Function) -> impl Iterator<Item = Sync> {
    function.inst_order().into_iter().filter_map(|id| {
        let (_, sync) = function.insts[id].op.synchronization(function.object_spaces(id))?;
        Some(sync)
    })
}

fn mark_accesses(function: &mut Function, shared: Spaces) {
    for id in function.inst_order() {
        let spaces: Vec<Spaces> =
            function.insts[id].args.iter().map(|&arg| spaces_of(function, arg)).collect();
        let is_shared = |index: usize| !spaces[index].intersection(shared).is_empty();
        match &mut function.insts[id].op {
            Op::Image(ImageAction::Load(texel) | ImageAction::Store(texel)) => {
                texel.is_shared = shared.contains(Spaces::IMAGE);
            }
            Op::Load(access) | Op::Store(access) | Op::Zero { access, .. } => {
                access.is_shared = is_shared(0);
            }
            Op::Copy { access, .. } => access.is_shared = is_shared(0) || is_shared(1),
            _ => {}
        }
    }
}

fn spaces_of(function: &Function, value: ValueId) -> Spaces {
    match function.ty(value) {
        Type::Pointer(space) => Spaces::for_pointer(space),
        _ => Spaces::NONE,
    }
}
