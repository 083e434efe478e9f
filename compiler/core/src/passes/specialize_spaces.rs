//! Gives generic pointers the space that they point into, wherever that is one space (design: generic pointers
//! are specialised; most are generic only because a helper's parameter is unqualified).

use crate::{
    diag::Sink,
    ir::{Module, Op, Type},
    opencl::AddressSpace,
    passes::{origins::origins, rewrite::rewrite},
    session::Options,
};

pub(super) fn specialize_spaces(module: &mut Module, _: &Options, _: &mut Sink) {
    let Module { functions, vars, .. } = module;
    for function in functions.iter_mut() {
        for (value, origin) in origins(function, &|var| vars[var].space) {
            let ty = &mut function.values[value].ty;
            if let (Type::Pointer(AddressSpace::Generic), Some(space)) = (*ty, origin.space) {
                *ty = Type::Pointer(space);
            }
        }
        rewrite(function, |builder, id, replaced| {
            let inst = &builder.function.insts[id];
            let is_idle = matches!(inst.op, Op::PointerCast)
                && builder.function.ty(inst.args[0]) == builder.function.ty(inst.results[0]);
            if is_idle {
                replaced.insert(inst.results[0], inst.args[0]);
            } else {
                builder.insert(id);
            }
        });
    }
}
