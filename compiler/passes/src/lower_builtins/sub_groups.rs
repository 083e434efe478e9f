//! Lowers sub-group functions without an instruction: values of types that the device lacks are passed as words, rotations
//! and pairs become shuffles, and block accesses become loads and stores of each work-item. Arithmetic on such types and on
//! clusters, and masks, are library functions (`library/lib/sub_group.cl`).

use super::component_wise;
use kiln_builtins::{self as builtins, BuiltinId, Collective};
use kiln_ir::{
    Access, BinaryOp, Builder, BuiltinParam, CompareKind, InstId, Op, Scalar, Type, ValueId, WorkItem,
};
use kiln_types::{ops::CompareOp, ty};

/// The result of a call, or `None` if only a library function can implement it.
pub(super) fn sub_group(
    builder: &mut Builder<'_>,
    inst: InstId,
    builtin: BuiltinId,
    collective: Collective,
    params: &[BuiltinParam],
) -> Option<Option<ValueId>> {
    let args = builder.function.insts[inst].args.clone();
    Some(match collective {
        Collective::Broadcast
        | Collective::BroadcastFirst
        | Collective::Shuffle
        | Collective::ShuffleXor
        | Collective::ShuffleUp
        | Collective::ShuffleDown => {
            Some(call_for_each_word(builder, builtin, args[0], &args[1..], &params[1..]))
        }
        Collective::AllEqual => {
            let words = words_of(builder, args[0]);
            let equal: Vec<ValueId> =
                words.into_iter().map(|word| call(builder, builtin, word, &[], &[])).collect();
            equal.into_iter().reduce(|left, right| builder.binary(BinaryOp::And, left, right))
        }
        Collective::Rotate | Collective::ClusteredRotate => {
            let lane = lane(builder);
            let size = args.get(2).copied().unwrap_or_else(|| max_size(builder));
            let below = builder.binary_bits(BinaryOp::Sub, size, 1);
            let sum = builder.binary(BinaryOp::Add, lane, args[1]);
            let inside = builder.binary(BinaryOp::And, sum, below);
            let above = builder.unary(kiln_ir::UnaryOp::Not, below);
            let first = builder.binary(BinaryOp::And, lane, above);
            let index = builder.binary(BinaryOp::Or, first, inside);
            Some(shuffle(builder, args[0], index, params[0])?)
        }
        // A window into two consecutive values (cl_intel_subgroups).
        Collective::ShuffleDownPair | Collective::ShuffleUpPair => {
            let (lane, size) = (lane(builder), max_size(builder));
            let is_down = collective == Collective::ShuffleDownPair;
            let op = if is_down { BinaryOp::Add } else { BinaryOp::Sub };
            let far = builder.binary(op, lane, args[2]);
            let is_second = if is_down {
                builder.compare(CompareOp::GreaterEqual, CompareKind::Unsigned, far, size)
            } else {
                builder.compare(CompareOp::GreaterEqual, CompareKind::Unsigned, lane, args[2])
            };
            let below = builder.binary_bits(BinaryOp::Sub, size, 1);
            let index = builder.binary(BinaryOp::And, far, below);
            let first = shuffle(builder, args[0], index, params[0])?;
            let second = shuffle(builder, args[1], index, params[1])?;
            let count = builder.ty(first).count();
            let is_second = if count > 1 { builder.splat(is_second, count) } else { is_second };
            Some(builder.select(is_second, second, first))
        }
        Collective::BlockRead | Collective::BlockWrite => return block(builder, inst, params),
        _ => return None,
    })
}

/// Calls a sub-group function on a word.
fn call(
    builder: &mut Builder<'_>,
    builtin: BuiltinId,
    word: ValueId,
    rest: &[ValueId],
    rest_params: &[BuiltinParam],
) -> ValueId {
    let params = [BuiltinParam::Value(ty::Scalar::UInt, 1)].iter().chain(rest_params).copied().collect();
    let args: Vec<ValueId> = [word].iter().chain(rest).copied().collect();
    builder.value(Op::Builtin(builtin, params), &args, Type::I32)
}

fn shuffle(
    builder: &mut Builder<'_>,
    value: ValueId,
    index: ValueId,
    param: BuiltinParam,
) -> Option<ValueId> {
    let builtin = builtins::first_row("sub_group_shuffle")?;
    let (ty, lane) = (builder.ty(value), BuiltinParam::Value(ty::Scalar::UInt, 1));
    if ty.scalar().is_some_and(|scalar| scalar.size() == 4) {
        let params = [param, lane].into_iter().collect();
        return Some(builder.value(Op::Builtin(builtin, params), &[value, index], ty));
    }
    Some(call_for_each_word(builder, builtin, value, &[index], &[lane]))
}

/// Applies the function to each word of each component.
fn call_for_each_word(
    builder: &mut Builder<'_>,
    builtin: BuiltinId,
    value: ValueId,
    rest: &[ValueId],
    rest_params: &[BuiltinParam],
) -> ValueId {
    let count = builder.ty(value).count();
    component_wise(builder, value, count, |builder, part| {
        let ty = builder.ty(part);
        let words = words_of(builder, part);
        let moved: Vec<ValueId> =
            words.into_iter().map(|word| call(builder, builtin, word, rest, rest_params)).collect();
        from_words(builder, &moved, ty)
    })
}

/// Splits the bits of a scalar into words.
fn words_of(builder: &mut Builder<'_>, value: ValueId) -> Vec<ValueId> {
    let scalar = builder.ty(value).scalar().unwrap_or(Scalar::I32);
    let bits = builder.bitcast(value, Type::Scalar(Scalar::int_of_size(scalar.size())));
    if scalar.size() == 8 {
        let pair = builder.bitcast(bits, Type::Vector(Scalar::I32, 2));
        return vec![builder.extract(pair, 0), builder.extract(pair, 1)];
    }
    vec![builder.resize(bits, Scalar::I32, false)]
}

fn from_words(builder: &mut Builder<'_>, words: &[ValueId], ty: Type) -> ValueId {
    let size = ty.scalar().map_or(4, Scalar::size);
    let bits = match words {
        [word] => builder.resize(*word, Scalar::int_of_size(size), false),
        _ => {
            let pair = builder.construct(words, Type::Vector(Scalar::I32, 2));
            builder.bitcast(pair, Type::I64)
        }
    };
    builder.bitcast(bits, ty)
}

fn lane(builder: &mut Builder<'_>) -> ValueId {
    item(builder, WorkItem::SubGroupLocalId)
}

fn max_size(builder: &mut Builder<'_>) -> ValueId {
    item(builder, WorkItem::MaxSubGroupSize)
}

fn item(builder: &mut Builder<'_>, item: WorkItem) -> ValueId {
    builder.value(Op::WorkItem(item), &[], item.ty())
}

/// A block read or write: work-item n accesses the elements n, n + size, n + 2 size, where size is the maximum size of a
/// sub-group (cl_intel_subgroups). Returns the result, if there is one. `None` for images, which are not
/// supported.
fn block(builder: &mut Builder<'_>, inst: InstId, params: &[BuiltinParam]) -> Option<Option<ValueId>> {
    let args = builder.function.insts[inst].args.clone();
    let BuiltinParam::Pointer(scalar, _) = *params.first()? else { return None };
    let element = Type::scalar_or_vector(scalar, 1);
    let size = element.size()?;
    let access = Access { is_shared: false, align: size as u32, is_volatile: false };
    let (mut index, step) = (lane(builder), max_size(builder));
    let written = args.get(1).copied();
    let ty = written.map_or_else(|| builder.ty(builder.function.insts[inst].results[0]), |it| builder.ty(it));
    let mut parts = Vec::new();
    for component in 0..ty.count() {
        let address = builder.offset(args[0], index, size);
        match written {
            None => parts.push(builder.load(address, element, access)),
            Some(value) => {
                let part = if ty.is_vector() { builder.extract(value, component) } else { value };
                builder.store(address, part, access);
            }
        }
        index = builder.binary(BinaryOp::Add, index, step);
    }
    Some(match parts[..] {
        [] => None,
        [only] => Some(only),
        _ => Some(builder.construct(&parts, ty)),
    })
}
