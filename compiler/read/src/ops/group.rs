//! Operations of work-groups and sub-groups (SPIR-V 3.49.21, 3.49.24, and Intel's sub-group extensions).

use kiln_ir::{Builder, CompareKind, Convert, Scalar, Type, ValueId};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::Scope;
use rspirv::spirv::{BuiltIn, Op};

use super::{Lowered, Operation, call, none, one, semantics};

/// The part of the function name for an arithmetic operation, the sign of its operands, and whether only the active
/// work-items take part.
const fn arithmetic(op: Op) -> Option<(&'static str, Option<bool>, bool)> {
    Some(match op {
        Op::GroupIAdd | Op::GroupFAdd => ("add", None, false),
        Op::GroupIMulKHR | Op::GroupFMulKHR => ("mul", None, false),
        Op::GroupFMin => ("min", None, false),
        Op::GroupUMin => ("min", Some(false), false),
        Op::GroupSMin => ("min", Some(true), false),
        Op::GroupFMax => ("max", None, false),
        Op::GroupUMax => ("max", Some(false), false),
        Op::GroupSMax => ("max", Some(true), false),
        Op::GroupBitwiseAndKHR => ("and", None, false),
        Op::GroupBitwiseOrKHR => ("or", None, false),
        Op::GroupBitwiseXorKHR => ("xor", None, false),
        Op::GroupLogicalAndKHR => ("logical_and", None, false),
        Op::GroupLogicalOrKHR => ("logical_or", None, false),
        Op::GroupLogicalXorKHR => ("logical_xor", None, false),
        Op::GroupNonUniformIAdd | Op::GroupNonUniformFAdd => ("add", None, true),
        Op::GroupNonUniformIMul | Op::GroupNonUniformFMul => ("mul", None, true),
        Op::GroupNonUniformFMin => ("min", None, true),
        Op::GroupNonUniformUMin => ("min", Some(false), true),
        Op::GroupNonUniformSMin => ("min", Some(true), true),
        Op::GroupNonUniformFMax => ("max", None, true),
        Op::GroupNonUniformUMax => ("max", Some(false), true),
        Op::GroupNonUniformSMax => ("max", Some(true), true),
        Op::GroupNonUniformBitwiseAnd => ("and", None, true),
        Op::GroupNonUniformBitwiseOr => ("or", None, true),
        Op::GroupNonUniformBitwiseXor => ("xor", None, true),
        Op::GroupNonUniformLogicalAnd => ("logical_and", None, true),
        Op::GroupNonUniformLogicalOr => ("logical_or", None, true),
        Op::GroupNonUniformLogicalXor => ("logical_xor", None, true),
        _ => return None,
    })
}

/// The built-in function for an instruction with the same operands after the scope.
const fn direct_equivalent(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::GroupNonUniformElect => "sub_group_elect",
        Op::GroupNonUniformAll => "sub_group_non_uniform_all",
        Op::GroupNonUniformAny => "sub_group_non_uniform_any",
        Op::GroupNonUniformBroadcast => "sub_group_non_uniform_broadcast",
        Op::GroupNonUniformBroadcastFirst => "sub_group_broadcast_first",
        Op::GroupNonUniformBallot => "sub_group_ballot",
        Op::GroupNonUniformInverseBallot => "sub_group_inverse_ballot",
        Op::GroupNonUniformBallotBitExtract => "sub_group_ballot_bit_extract",
        Op::GroupNonUniformBallotFindLSB => "sub_group_ballot_find_lsb",
        Op::GroupNonUniformBallotFindMSB => "sub_group_ballot_find_msb",
        Op::GroupNonUniformShuffle => "sub_group_shuffle",
        Op::GroupNonUniformShuffleXor => "sub_group_shuffle_xor",
        Op::GroupNonUniformShuffleUp => "sub_group_shuffle_up",
        Op::GroupNonUniformShuffleDown => "sub_group_shuffle_down",
        _ => return None,
    })
}

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    if let Some(form) = arithmetic(operation.op) {
        return Some(combine(builder, operation, form));
    }
    if let Some(name) = direct_equivalent(operation.op) {
        return Some(sub_group(builder, operation, name));
    }
    Some(match operation.op {
        Op::GroupAll => vote(builder, operation, "all"),
        Op::GroupAny => vote(builder, operation, "any"),
        Op::GroupBroadcast => broadcast(builder, operation),
        Op::GroupNonUniformAllEqual => all_equal(builder, operation),
        Op::GroupNonUniformBallotBitCount => bit_count(builder, operation),
        Op::GroupNonUniformRotateKHR => rotate(builder, operation),
        Op::SubgroupShuffleINTEL => intel(builder, operation, "intel_sub_group_shuffle"),
        Op::SubgroupShuffleXorINTEL => intel(builder, operation, "intel_sub_group_shuffle_xor"),
        Op::SubgroupShuffleUpINTEL => intel(builder, operation, "intel_sub_group_shuffle_up"),
        Op::SubgroupShuffleDownINTEL => intel(builder, operation, "intel_sub_group_shuffle_down"),
        Op::SubgroupBlockReadINTEL | Op::SubgroupImageBlockReadINTEL => block(builder, operation, true),
        Op::SubgroupBlockWriteINTEL | Op::SubgroupImageBlockWriteINTEL => block(builder, operation, false),
        _ => return None,
    })
}

/// The group, and the operands after the scope.
fn group(builder: &mut Builder<'_>, operation: &Operation) -> Result<(Scope, Vec<ValueId>), String> {
    let (&scope, rest) = operation.args.split_first().ok_or("it has no scope")?;
    match semantics::constant_scope(builder, scope, "scope")? {
        scope @ (Scope::WorkGroup | Scope::SubGroup) => Ok((scope, rest.to_vec())),
        other => Err(format!("a group operation cannot have the scope {}", other.spelling())),
    }
}

/// The operands of an operation that only sub-groups have.
fn sub_group_operands(builder: &mut Builder<'_>, operation: &Operation) -> Result<Vec<ValueId>, String> {
    match group(builder, operation)? {
        (Scope::SubGroup, rest) => Ok(rest),
        _ => Err("only sub-groups support this operation".to_owned()),
    }
}

const fn prefix(scope: Scope) -> &'static str {
    if matches!(scope, Scope::SubGroup) { "sub_group" } else { "work_group" }
}

/// Converts a boolean to `int`, and leaves other values unchanged: the functions have no booleans.
fn from_bool(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    match builder.ty(value) {
        ty if ty.scalar() == Some(Scalar::Bool) => {
            builder.convert(Convert::ZeroExtend, value, ty.with_scalar(Scalar::I32))
        }
        _ => value,
    }
}

fn to_bool(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    let zero = builder.bits(builder.ty(value), 0);
    builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, value, zero)
}

fn is_bool(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::Bool)
}

/// Calls a function that takes and returns `int` in place of booleans.
fn call_with_int_bools(
    builder: &mut Builder<'_>,
    name: &str,
    args: &[ValueId],
    signed: Option<bool>,
    result: Type,
) -> Result<ValueId, String> {
    let args: Vec<ValueId> = args.iter().map(|&arg| from_bool(builder, arg)).collect();
    let returned = if is_bool(result) { Type::I32 } else { result };
    let value = call::value(builder, name, &args, signed, returned)?;
    Ok(if is_bool(result) { to_bool(builder, value) } else { value })
}

fn vote(builder: &mut Builder<'_>, operation: &Operation, word: &str) -> Lowered {
    let (scope, args) = group(builder, operation)?;
    let name = format!("{}_{word}", prefix(scope));
    one(call_with_int_bools(builder, &name, &args, None, Type::BOOL)?)
}

/// Arithmetic over the values of the group: a reduction, a scan, or reductions of clusters.
fn combine(
    builder: &mut Builder<'_>,
    operation: &Operation,
    (word, signed, is_active): (&str, Option<bool>, bool),
) -> Lowered {
    let (scope, args) = group(builder, operation)?;
    if is_active && scope != Scope::SubGroup {
        return Err("only sub-groups support this operation".to_owned());
    }
    let kind = match operation.literals.first() {
        Some(0) => "reduce",
        Some(1) => "scan_inclusive",
        Some(2) => "scan_exclusive",
        Some(3) if is_active => "clustered_reduce",
        other => return Err(format!("the group operation {other:?} is not supported")),
    };
    let infix = if is_active && kind != "clustered_reduce" { "_non_uniform" } else { "" };
    let name = format!("{}{infix}_{kind}_{word}", prefix(scope));
    let value = call::componentwise(builder, &args, |builder, args| {
        let ty = builder.ty(args[0]);
        match ty {
            Type::Scalar(narrow @ (Scalar::I8 | Scalar::I16)) if scope == Scope::WorkGroup => {
                widened(builder, &name, args[0], narrow, signed)
            }
            _ => call_with_int_bools(builder, &name, args, signed, ty),
        }
    })?;
    one(value)
}

/// Functions of work-groups have no narrow types. The identity of a minimum or maximum, which an exclusive scan begins
/// with, is that of the narrow type.
fn widened(
    builder: &mut Builder<'_>,
    name: &str,
    value: ValueId,
    narrow: Scalar,
    signed: Option<bool>,
) -> Result<ValueId, String> {
    let is_signed = signed != Some(false);
    let wide = builder.resize(value, Scalar::I32, is_signed);
    let mut result = call::value(builder, name, &[wide], signed, Type::I32)?;
    let highest = if is_signed { narrow.mask() >> 1 } else { narrow.mask() };
    if name.ends_with("exclusive_min") {
        let max = builder.bits(Type::I32, highest);
        result = call::value(builder, "min", &[result, max], Some(is_signed), Type::I32)?;
    } else if name.ends_with("exclusive_max") && is_signed {
        let min = builder.bits(Type::I32, !highest);
        result = call::value(builder, "max", &[result, min], Some(true), Type::I32)?;
    }
    Ok(builder.resize(result, narrow, false))
}

/// The index of a work-item is `uint` in a sub-group. In a work-group it has one number for each dimension.
fn broadcast(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let (scope, args) = group(builder, operation)?;
    let [value, index] = args[..] else { return Err("it has the wrong number of operands".to_owned()) };
    let width = if scope == Scope::SubGroup { Scalar::I32 } else { Scalar::I64 };
    let index = builder.resize(index, width, false);
    let count = builder.ty(index).count();
    let indices: Vec<ValueId> =
        if count == 1 { vec![index] } else { (0..count).map(|it| builder.extract(index, it)).collect() };
    let name = format!("{}_broadcast", prefix(scope));
    one(call::componentwise(builder, &[value], |builder, args| {
        let ty = builder.ty(args[0]);
        let is_narrow = matches!(ty, Type::Scalar(Scalar::I8 | Scalar::I16)) && scope == Scope::WorkGroup;
        let value = if is_narrow { builder.resize(args[0], Scalar::I32, false) } else { args[0] };
        let args: Vec<ValueId> = std::iter::once(value).chain(indices.iter().copied()).collect();
        let wide = builder.ty(value);
        let result = call_with_int_bools(builder, &name, &args, None, wide)?;
        Ok(if is_narrow { builder.resize(result, ty.scalar().unwrap_or(Scalar::I32), false) } else { result })
    })?)
}

/// An operation whose first operand may be a vector. The function has no overload for vectors, so it is called for each
/// component.
fn sub_group(builder: &mut Builder<'_>, operation: &Operation, name: &str) -> Lowered {
    let args = sub_group_operands(builder, operation)?;
    let result = operation.result()?;
    let is_of_mask = name.contains("ballot");
    if is_of_mask || args.is_empty() || !builder.ty(args[0]).is_vector() {
        return one(call_with_int_bools(builder, name, &args, None, result)?);
    }
    let component = result.with_count(1);
    one(call::componentwise(builder, &args, |builder, args| {
        call_with_int_bools(builder, name, args, None, component)
    })?)
}

fn all_equal(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let args = sub_group_operands(builder, operation)?;
    let name = "sub_group_non_uniform_all_equal";
    let equal = call::componentwise(builder, &args, |builder, args| {
        call_with_int_bools(builder, name, args, None, Type::BOOL)
    })?;
    if !builder.ty(equal).is_vector() {
        return one(equal);
    }
    one(builder.value(kiln_ir::Op::All, &[equal], Type::BOOL))
}

fn bit_count(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let args = sub_group_operands(builder, operation)?;
    let name = match operation.literals.first() {
        Some(0) => "sub_group_ballot_bit_count",
        Some(1) => "sub_group_ballot_inclusive_scan",
        Some(2) => "sub_group_ballot_exclusive_scan",
        other => return Err(format!("the group operation {other:?} is not supported")),
    };
    one(call_with_int_bools(builder, name, &args, None, operation.result()?)?)
}

fn rotate(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let args = sub_group_operands(builder, operation)?;
    let name = if args.len() > 2 { "sub_group_clustered_rotate" } else { "sub_group_rotate" };
    let result = operation.result()?.with_count(1);
    one(call::componentwise(builder, &args, |builder, args| {
        call_with_int_bools(builder, name, args, None, result)
    })?)
}

/// Shuffles of cl_intel_subgroups, of all active work-items of the sub-group.
fn intel(builder: &mut Builder<'_>, operation: &Operation, name: &str) -> Lowered {
    let result = operation.result()?.with_count(1);
    one(call::componentwise(builder, &operation.args, |builder, args| {
        call_with_int_bools(builder, name, args, None, result)
    })?)
}

/// Block reads and writes, named after the type of the block.
fn block(builder: &mut Builder<'_>, operation: &Operation, is_read: bool) -> Lowered {
    let data = match (is_read, operation.args.last()) {
        (true, _) => operation.result()?,
        (false, Some(&data)) => builder.ty(data),
        (false, None) => return Err("it has no data".to_owned()),
    };
    let letters = match data.scalar() {
        Some(Scalar::I8) => "uc",
        Some(Scalar::I16 | Scalar::F16) => "us",
        Some(Scalar::I64 | Scalar::F64) => "ul",
        _ => "ui",
    };
    let count = if data.count() == 1 { String::new() } else { data.count().to_string() };
    let word = if is_read { "read" } else { "write" };
    let name = format!("intel_sub_group_block_{word}_{letters}{count}");
    let bits = data.with_scalar(Scalar::int_of_size(data.scalar().map_or(4, Scalar::size)));
    let mut args = operation.args.to_vec();
    if !is_read && let Some(data) = args.last_mut() {
        *data = builder.bitcast(*data, bits);
    }
    let result = is_read.then_some(bits);
    match call::call(builder, &name, &args, &[], None, result)? {
        Some(value) => one(builder.bitcast(value, data)),
        None => none(),
    }
}

/// The sub-group mask for a built-in variable, such as all work-items with a lower index. `None` for other variables.
pub(crate) fn mask(builder: &mut Builder<'_>, which: BuiltIn) -> Option<Result<ValueId, String>> {
    let name = match which {
        BuiltIn::SubgroupEqMask => "get_sub_group_eq_mask",
        BuiltIn::SubgroupGeMask => "get_sub_group_ge_mask",
        BuiltIn::SubgroupGtMask => "get_sub_group_gt_mask",
        BuiltIn::SubgroupLeMask => "get_sub_group_le_mask",
        BuiltIn::SubgroupLtMask => "get_sub_group_lt_mask",
        _ => return None,
    };
    Some(call::value(builder, name, &[], None, Type::Vector(Scalar::I32, 4)))
}
