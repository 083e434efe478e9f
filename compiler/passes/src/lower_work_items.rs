//! Lowers work-item functions to built-in inputs of the dispatch and state that the launch passes.
//!
//! A launch whose sizes are not multiples of the work-group size consists of several dispatches (see the runtime's
//! `interface`). Every id is therefore the dispatch's id plus the offset of its region. The values fit in 32 bits and
//! are widened (OpenCL C 6.15.1).

use kiln_ir::{
    BinaryOp, Builder, CompareKind, Input, Interface, LaunchMemory, Module, Op, Scalar, State, Type, ValueId,
    WorkItem,
};
use kiln_session::{Options, diag::Sink};
use kiln_types::ops::CompareOp;

use crate::rewrite::rewrite_only;

pub(super) fn lower_work_items(module: &mut Module, _: &Options, _: &mut Sink) {
    let interface = &module.interface;
    for function in module.functions.iter_mut() {
        rewrite_only(
            function,
            |op| matches!(op, Op::WorkItem(_)),
            |builder, id, replaced| {
                let inst = builder.function.insts[id].clone();
                let Op::WorkItem(query) = inst.op else { return builder.insert(id) };
                let result = inst.results[0];
                let value = lower_query(builder, interface, query, inst.args.first().copied());
                let scalar = builder.ty(result).scalar().unwrap_or(Scalar::I32);
                let value = builder.resize(value, scalar, false);
                replaced.insert(result, value);
            },
        );
    }
}

/// The launch states that a query reads.
pub(super) fn states(query: WorkItem) -> &'static [State] {
    match query {
        WorkItem::GlobalSize => &[State::GlobalSize],
        WorkItem::GlobalId => &[State::RegionOffset],
        WorkItem::EnqueuedLocalSize | WorkItem::EnqueuedNumSubGroups => &[State::EnqueuedLocalSize],
        WorkItem::NumGroups => &[State::NumGroups],
        WorkItem::GroupId => &[State::RegionGroupOffset],
        WorkItem::GlobalOffset => &[State::GlobalOffset],
        WorkItem::GlobalLinearId => &[State::RegionOffset, State::GlobalOffset, State::GlobalSize],
        WorkItem::WorkDim
        | WorkItem::LocalSize
        | WorkItem::LocalId
        | WorkItem::LocalLinearId
        | WorkItem::SubGroupSize
        | WorkItem::MaxSubGroupSize
        | WorkItem::NumSubGroups
        | WorkItem::SubGroupId
        | WorkItem::SubGroupLocalId => &[],
    }
}

fn lower_query(
    builder: &mut Builder<'_>,
    interface: &Interface,
    query: WorkItem,
    dimension: Option<ValueId>,
) -> ValueId {
    // The result for a dimension beyond the third: 1 for sizes, 0 for ids (OpenCL C 6.15.1).
    let beyond = match query {
        WorkItem::GlobalSize | WorkItem::LocalSize | WorkItem::EnqueuedLocalSize | WorkItem::NumGroups => 1,
        _ => 0,
    };
    let one = |builder: &mut Builder<'_>, input| builder.value(Op::Input(input), &[], Type::I32);
    match query {
        WorkItem::WorkDim => one(builder, Input::WorkDim),
        WorkItem::LocalLinearId => one(builder, Input::LocalIndex),
        WorkItem::MaxSubGroupSize => one(builder, Input::SubGroupSize),
        WorkItem::SubGroupSize => {
            let size = builder.value(Op::Input(Input::LocalSize), &[], Type::Vector(Scalar::I32, 3));
            let items = product(builder, size);
            let width = one(builder, Input::SubGroupSize);
            let group = one(builder, Input::SubGroupId);
            let before = builder.binary(BinaryOp::Mul, group, width);
            let rest = builder.binary(BinaryOp::Sub, items, before);
            // Vulkan's size is the same for all sub-groups, including the last one, which can have fewer work-items.
            let is_last = builder.compare(CompareOp::Less, CompareKind::Unsigned, rest, width);
            builder.select(is_last, rest, width)
        }
        // Not the device's `NumSubgroups`, which some versions of lavapipe round down.
        WorkItem::NumSubGroups => {
            let size = builder.value(Op::Input(Input::LocalSize), &[], Type::Vector(Scalar::I32, 3));
            sub_groups_of(builder, size)
        }
        WorkItem::SubGroupId => one(builder, Input::SubGroupId),
        WorkItem::SubGroupLocalId => one(builder, Input::SubGroupLocalId),
        WorkItem::EnqueuedNumSubGroups => {
            let size = load_state(builder, interface, State::EnqueuedLocalSize);
            sub_groups_of(builder, size)
        }
        WorkItem::GlobalLinearId => global_linear_id(builder, interface),
        WorkItem::GlobalSize
        | WorkItem::GlobalId
        | WorkItem::LocalSize
        | WorkItem::EnqueuedLocalSize
        | WorkItem::LocalId
        | WorkItem::NumGroups
        | WorkItem::GroupId
        | WorkItem::GlobalOffset => {
            let dimension = dimension.expect("a query by dimension has one");
            if let Some(known) = builder.function.constant_bits(dimension) {
                return match u8::try_from(known) {
                    Ok(known @ 0..=2) => query_component(builder, interface, query, |builder, vector| {
                        builder.extract(vector, known)
                    }),
                    _ => builder.i32(beyond),
                };
            }
            let limit = builder.bits(Type::I32, 3);
            let is_real = builder.compare(CompareOp::Less, CompareKind::Unsigned, dimension, limit);
            let zero = builder.i32(0);
            let index = builder.select(is_real, dimension, zero);
            let value = query_component(builder, interface, query, |builder, vector| {
                builder.value(Op::ExtractDynamic, &[vector, index], Type::I32)
            });
            let beyond = builder.i32(beyond);
            builder.select(is_real, value, beyond)
        }
    }
}

/// The number of sub-groups in a work-group of this size.
fn sub_groups_of(builder: &mut Builder<'_>, size: ValueId) -> ValueId {
    let items = product(builder, size);
    let width = builder.value(Op::Input(Input::SubGroupSize), &[], Type::I32);
    let below = builder.binary_bits(BinaryOp::Sub, width, 1);
    let sum = builder.binary(BinaryOp::Add, items, below);
    builder.binary(BinaryOp::UDiv, sum, width)
}

fn product(builder: &mut Builder<'_>, size: ValueId) -> ValueId {
    let [x, y, z] = [0, 1, 2].map(|component| builder.extract(size, component));
    let items = builder.binary(BinaryOp::Mul, x, y);
    builder.binary(BinaryOp::Mul, items, z)
}

/// A component of a query's result: from the device's input, the launch state, or the sum of both.
fn query_component(
    builder: &mut Builder<'_>,
    interface: &Interface,
    query: WorkItem,
    extract: impl Fn(&mut Builder<'_>, ValueId) -> ValueId,
) -> ValueId {
    let input = match query {
        WorkItem::GlobalId => Some(Input::GlobalId),
        WorkItem::GroupId => Some(Input::GroupId),
        WorkItem::LocalId => Some(Input::LocalId),
        WorkItem::LocalSize => Some(Input::LocalSize),
        _ => None,
    };
    let device = input.map(|input| {
        let vector = builder.value(Op::Input(input), &[], Type::Vector(Scalar::I32, 3));
        extract(builder, vector)
    });
    let launch = states(query).first().map(|&which| {
        let vector = load_state(builder, interface, which);
        extract(builder, vector)
    });
    match (device, launch) {
        (Some(device), Some(launch)) => builder.binary(BinaryOp::Add, device, launch),
        (Some(value), None) | (None, Some(value)) => value,
        (None, None) => unreachable!("a query by dimension has a vector"),
    }
}

/// `get_global_linear_id` (OpenCL C 6.15.1): the linearized id, without the offset.
fn global_linear_id(builder: &mut Builder<'_>, interface: &Interface) -> ValueId {
    let id = builder.value(Op::Input(Input::GlobalId), &[], Type::Vector(Scalar::I32, 3));
    let region = load_state(builder, interface, State::RegionOffset);
    let offset = load_state(builder, interface, State::GlobalOffset);
    let size = load_state(builder, interface, State::GlobalSize);
    let id = builder.binary(BinaryOp::Add, id, region);
    let id = builder.binary(BinaryOp::Sub, id, offset);
    let mut linear = builder.extract(id, 2);
    for dimension in [1, 0] {
        let width = builder.extract(size, dimension);
        let scaled = builder.binary(BinaryOp::Mul, linear, width);
        let own = builder.extract(id, dimension);
        linear = builder.binary(BinaryOp::Add, scaled, own);
    }
    linear
}

/// A vector of the launch state. `bind_arguments` has assigned words to each state that is read.
fn load_state(builder: &mut Builder<'_>, interface: &Interface, which: State) -> ValueId {
    let first = interface.first_word(which).expect("the state has words");
    let words = [0, 1, 2].map(|index| {
        builder.value(Op::LaunchWord(LaunchMemory::PushConstants, first + index), &[], Type::I32)
    });
    builder.construct(&words, Type::Vector(Scalar::I32, 3))
}
