//! Folds conversions into memory accesses: a `half` that is loaded only to be widened, or rounded only to be stored, becomes a
//! `vload_half` or `vstore_half` (OpenCL C 6.15.7); if the access is aligned, a `vloada_half` or `vstorea_half`. Every device has
//! them, with or without half arithmetic.
//!
//! For the OpenCL environment, whose extended instruction set has them. On Vulkan, `emulate_small` handles devices
//! without halves.

use kiln_builtins as builtins;
use kiln_ir::{Access, Builder, BuiltinParam, Convert, Function, InstId, Module, Op, Scalar, Type, ValueId};
use kiln_session::{Options, diag::Sink};
use kiln_types::{ops::Rounding, ty};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::rewrite;

pub(super) fn form_half_loads_and_stores(module: &mut Module, _: &Options, _: &mut Sink) {
    for function in module.functions.iter_mut() {
        if function.values.iter().any(|value| is_half(value.ty)) {
            fold_conversions(function);
        }
    }
}

fn is_half(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::F16)
}

fn fold_conversions(function: &mut Function) {
    let mut users: FxHashMap<ValueId, Vec<InstId>> = FxHashMap::default();
    let order = function.inst_order();
    for &id in &order {
        for &arg in &function.insts[id].args {
            if is_half(function.ty(arg)) {
                users.entry(arg).or_default().push(id);
            }
        }
    }
    // The loads and roundings that are folded, with the instruction that widens or stores the value.
    let mut folded: FxHashSet<InstId> = FxHashSet::default();
    for &id in &order {
        let inst = &function.insts[id];
        let [result] = inst.results[..] else { continue };
        let Some(users) = users.get(&result) else { continue };
        let is_kept = match inst.op {
            Op::Load(access) => !access.is_volatile && users.iter().all(|&user| is_widening(function, user)),
            _ => {
                half_rounding(function, id).is_some()
                    && users.iter().all(|&user| is_stored_by(function, user, result))
            }
        };
        if is_kept {
            folded.insert(id);
            folded.extend(users);
        }
    }
    rewrite(function, |builder, id, replaced| {
        if !folded.contains(&id) {
            return builder.insert(id);
        }
        let inst = builder.function.insts[id].clone();
        match inst.op {
            Op::Load(access) => {
                let value = load_half(builder, access, inst.args[0], builder.ty(inst.results[0]).count());
                for &widening in &users[&inst.results[0]] {
                    replaced.insert(builder.function.result(widening), value);
                }
            }
            Op::Store(access) => store_half(builder, access, inst.args[0], inst.args[1]),
            _ => {}
        }
    });
}

/// Whether an instruction converts a `half` to `float`.
fn is_widening(function: &Function, id: InstId) -> bool {
    let inst = &function.insts[id];
    matches!(inst.op, Op::Convert(Convert::Number { .. }))
        && function.ty(inst.results[0]).scalar() == Some(Scalar::F32)
}

/// The rounding mode of an instruction that rounds a `float` or `double` to `half`.
fn half_rounding(function: &Function, id: InstId) -> Option<Option<Rounding>> {
    let inst = &function.insts[id];
    let Op::Convert(Convert::Number { conversion, .. }) = inst.op else { return None };
    let is_from_float = matches!(function.ty(inst.args[0]).scalar(), Some(Scalar::F32 | Scalar::F64));
    (is_from_float && is_half(function.ty(inst.results[0]))).then_some(conversion.rounding)
}

fn is_stored_by(function: &Function, id: InstId, value: ValueId) -> bool {
    let inst = &function.insts[id];
    matches!(inst.op, Op::Store(access) if !access.is_volatile) && inst.args[1] == value
}

/// Whether an access is known to be aligned to the whole vector, as `vloada_half` and `vstorea_half` require.
fn is_aligned(access: Access, count: u8) -> bool {
    count != 1 && access.align >= 2 * u32::from(count.next_power_of_two())
}

fn load_half(builder: &mut Builder<'_>, access: Access, pointer: ValueId, count: u8) -> ValueId {
    let stem = if is_aligned(access, count) { "vloada_half" } else { "vload_half" };
    let op = half_builtin(stem, count, "", &[index_param(), half_pointer_param()]);
    let first = builder.bits(Type::I64, 0);
    builder.value(op, &[first, pointer], Type::vector(Scalar::F32, count))
}

fn store_half(builder: &mut Builder<'_>, access: Access, pointer: ValueId, rounded: ValueId) {
    let function = &*builder.function;
    let kiln_ir::ValueDef::Result(id, _) = function.values[rounded].def else {
        unreachable!("the stored value is the result of a conversion")
    };
    let (value, how) = (function.insts[id].args[0], half_rounding(function, id).flatten());
    let ty = builder.ty(value);
    let scalar = if ty.scalar() == Some(Scalar::F64) { ty::Scalar::Double } else { ty::Scalar::Float };
    let suffix = how.map_or("", Rounding::suffix);
    let params = [BuiltinParam::Value(scalar, ty.count()), index_param(), half_pointer_param()];
    let stem = if is_aligned(access, ty.count()) { "vstorea_half" } else { "vstore_half" };
    let op = half_builtin(stem, ty.count(), suffix, &params);
    let first = builder.bits(Type::I64, 0);
    builder.inst(op, &[value, first, pointer], &[]);
}

const fn index_param() -> BuiltinParam {
    BuiltinParam::Value(ty::Scalar::ULong, 1)
}

const fn half_pointer_param() -> BuiltinParam {
    BuiltinParam::Pointer(ty::Scalar::Half, 1)
}

fn half_builtin(stem: &str, count: u8, suffix: &str, params: &[BuiltinParam]) -> Op {
    let width = if count == 1 { String::new() } else { count.to_string() };
    let name = format!("{stem}{width}{suffix}");
    let row = builtins::first_row(&name).unwrap_or_else(|| unreachable!("the table has `{name}`"));
    Op::Builtin(row, params.into())
}
