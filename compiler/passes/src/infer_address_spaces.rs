//! Infers address spaces: replaces generic pointers with pointers to the space that they point into, if there is only
//! one. Most pointers are generic only because the parameter of a helper function is unqualified.

use kiln_builtins::{self as builtins, Lowering};
use kiln_ir::{Builder, Function, InstId, Module, Op, Type, Value, ValueId};
use kiln_session::{Options, diag::Sink};
use kiln_vocabulary::opencl::{AddressSpace, FenceFlags};

use crate::{
    origins::{Origins, receivers},
    rewrite::rewrite_only,
};

pub(super) fn infer_address_spaces(module: &mut Module, _: &Options, _: &mut Sink) {
    let Module { functions, vars, .. } = module;
    let is_space_query = |op: &Op| match op {
        Op::PointerCast => true,
        Op::Builtin(id, _) => matches!(builtins::row(*id).lowering, Lowering::ToSpace | Lowering::GetFence),
        _ => false,
    };
    for function in functions.iter_mut() {
        let is_generic = |value: &Value| value.ty == Type::Pointer(AddressSpace::Generic);
        if !function.values.iter().any(is_generic) && !function.may_contain(is_space_query) {
            continue;
        }
        let origins = Origins::find(function, &|var| vars[var].space);
        let pointers: Vec<ValueId> = function.values.ids().collect();
        for value in pointers {
            let is_generic = function.ty(value) == Type::Pointer(AddressSpace::Generic);
            // A null pointer takes the type that its use expects.
            if is_generic
                && function.constant(value).is_none()
                && let Some(space) = origins.origin(value).space()
            {
                function.values[value].ty = Type::Pointer(space);
            }
        }
        rewrite_only(
            function,
            |op| !op.is_numeric(),
            |builder, id, replaced| {
                cast_operands(builder, id);
                match resolve_query(builder, id) {
                    Some(value) => drop(replaced.insert(builder.function.insts[id].results[0], value)),
                    None => builder.insert(id),
                }
            },
        );
    }
}

/// Converts the arguments to the types that the instruction now requires.
fn cast_operands(builder: &mut Builder<'_>, id: InstId) {
    let wanted = wanted_types(builder.function, id);
    for (index, ty) in wanted.into_iter().enumerate() {
        let Some(&arg) = builder.function.insts[id].args.get(index) else { break };
        let is_other = ty != builder.ty(arg);
        if let (Some(Type::Pointer(space)), true) = (Some(ty), is_other && builder.ty(arg).is_pointer()) {
            let arg = cast_to_space(builder, arg, space);
            builder.function.insts[id].args[index] = arg;
        }
    }
}

/// The types that the first arguments must have, if they must match others.
fn wanted_types(function: &Function, id: InstId) -> Vec<Type> {
    let inst = &function.insts[id];
    match &inst.op {
        Op::Select => {
            let result = function.ty(inst.results[0]);
            vec![function.ty(inst.args[0]), result, result]
        }
        Op::Offset { .. } => vec![function.ty(inst.results[0])],
        Op::Compare(_) => {
            let [left, right] = [inst.args[0], inst.args[1]].map(|arg| function.ty(arg));
            let is_null = |arg: ValueId| function.constant(arg).is_some();
            let common = match (left == right, is_null(inst.args[0]), is_null(inst.args[1])) {
                (true, ..) | (_, false, true) => left,
                (_, true, false) => right,
                _ => Type::Pointer(AddressSpace::Generic),
            };
            vec![common, common]
        }
        _ => {
            let receivers = receivers(function, inst).unwrap_or_default();
            receivers.into_iter().map(|value| function.ty(value)).collect()
        }
    }
}

fn cast_to_space(builder: &mut Builder<'_>, pointer: ValueId, space: AddressSpace) -> ValueId {
    let ty = Type::Pointer(space);
    match builder.function.constant(pointer).cloned() {
        Some(constant) => builder.constant(ty, constant),
        None => builder.value(Op::PointerCast, &[pointer], ty),
    }
}

/// The result of an instruction that queries a pointer's address space, if that is known.
fn resolve_query(builder: &mut Builder<'_>, id: InstId) -> Option<ValueId> {
    let inst = builder.function.insts[id].clone();
    let Type::Pointer(from) = builder.ty(*inst.args.first()?) else { return None };
    match &inst.op {
        Op::PointerCast => match builder.ty(inst.results[0]) {
            Type::Pointer(to) if to == from => Some(inst.args[0]),
            Type::Pointer(to) if builder.function.constant(inst.args[0]).is_some() => {
                Some(cast_to_space(builder, inst.args[0], to))
            }
            // A cast between named address spaces is invalid (OpenCL C 6.7.9), so the result is null.
            ty @ Type::Pointer(to)
                if ![from, to].contains(&AddressSpace::Generic) && !is_global(from, to) =>
            {
                Some(builder.bits(ty, 0))
            }
            _ => None,
        },
        Op::Builtin(builtin, _) if from != AddressSpace::Generic => match builtins::row(*builtin).lowering {
            Lowering::ToSpace if builder.ty(inst.results[0]) == Type::Pointer(from) => Some(inst.args[0]),
            Lowering::ToSpace => Some(builder.bits(builder.ty(inst.results[0]), 0)),
            Lowering::GetFence => {
                let flags = if from == AddressSpace::Local { FenceFlags::LOCAL } else { FenceFlags::GLOBAL };
                Some(builder.bits(Type::I32, flags.bits().into()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Global and constant memory are equivalent here.
fn is_global(from: AddressSpace, to: AddressSpace) -> bool {
    [from, to].iter().all(|space| matches!(space, AddressSpace::Global | AddressSpace::Constant))
}
