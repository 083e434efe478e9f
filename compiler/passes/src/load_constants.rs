//! Folds loads from constant program-scope variables at constant offsets: constant memory never changes (OpenCL C
//! 6.7.3). A table is dropped if all its uses are folded.

use kiln_ir::{Access, Const, Function, Module, Op, Scalar, Type, ValueId, Var, VarId};
use kiln_session::{Options, diag::Sink};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};

use crate::{origins::base, rewrite::rewrite_only};

pub(super) fn load_constants(module: &mut Module, options: &Options, _: &mut Sink) {
    let is_known = |var: &Var| var.space == AddressSpace::Constant && var.linkage != Linkage::Imported;
    if !options.optimize || !module.vars.iter().any(is_known) {
        return;
    }
    let Module { functions, vars, .. } = module;
    for function in functions.iter_mut() {
        rewrite_only(
            function,
            |op| matches!(op, Op::Load(Access { is_volatile: false, .. })),
            |builder, id, replaced| {
                let inst = &builder.function.insts[id];
                let (pointer, result) = (inst.args[0], inst.results[0]);
                let ty = builder.ty(result);
                let found = constant_address(builder.function, pointer)
                    .filter(|(var, _)| is_known(&vars[*var]))
                    .and_then(|(var, at)| constant_at(&vars[var], at, ty));
                match found {
                    Some(constant) => {
                        let value = builder.constant(ty, constant);
                        replaced.insert(result, value);
                    }
                    None => builder.insert(id),
                }
            },
        );
    }
}

/// The variable and the byte offset that a pointer refers to, if both are constant.
fn constant_address(function: &Function, pointer: ValueId) -> Option<(VarId, u64)> {
    let (base, bytes) = base(function, pointer)?;
    match function.def(base)?.op {
        Op::ModuleVar(var) => Some((var, u64::try_from(bytes).ok()?)),
        _ => None,
    }
}

/// The constant at an offset of a variable.
fn constant_at(var: &Var, at: u64, ty: Type) -> Option<Const> {
    let scalar = ty.scalar().filter(|scalar| *scalar != Scalar::Bool)?;
    let end = at.checked_add(ty.size()?)?;
    let (bytes, relocations) = match &var.init {
        Some(data) => (&data.bytes[..], &data.relocations[..]),
        None => (&[][..], &[][..]),
    };
    if end > var.size || relocations.iter().any(|(address, ..)| *address < end && at < address + 8) {
        return None;
    }
    let byte = |offset: u64| u64::from(bytes.get(offset as usize).copied().unwrap_or(0));
    let component = |first: u64| (0..scalar.size()).map(|n| byte(first + n) << (8 * n)).sum();
    Some(Const::Bits((0..u64::from(ty.count())).map(|n| component(at + n * scalar.size())).collect()))
}
