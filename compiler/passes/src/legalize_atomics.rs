//! Lowers atomic operations and fences that the target lacks to those that it has.
//!
//! `memory::replacement` selects the replacements (rules R1 to R7 of docs/memory-model.md), and this pass builds them. Flags
//! become words, and floats become integers with their bits. An order, a scope or flags that are known only at run time
//! become the strongest legal constant.

mod loads_mixed_with_seq_cst;
mod resolve_dynamic_operands;
mod seq_cst;
pub(super) mod unshared;

use kiln_ir::{
    Atomic, Builder, CompareKind, InstId, Known, Module, Op, Replacements, Scalar, Type, UnaryOp, ValueId,
    Var, VarId,
};
use kiln_memory::{Spaces, Sync};
use kiln_session::{Options, SeqCst, diag::Sink};
use kiln_types::{
    index::Id as _,
    ops::{CompareOp, LoopHints},
};
use kiln_vocabulary::{
    driver_bugs::DriverBug,
    opencl::{AddressSpace, AtomicOp, Environment, FetchKey, Order},
    target::Target,
};

use crate::rewrite::rewrite_only;

pub(super) fn legalize_atomics(module: &mut Module, options: &Options, sink: &mut Sink) {
    for function in module.functions.iter_mut() {
        rewrite_only(function, Op::synchronizes, |builder, id, replaced| {
            if let Some(value) = unshared::replace(builder, id) {
                replaced.insert(builder.function.insts[id].results[0], value);
            }
        });
        rewrite_only(function, Op::synchronizes, |builder, id, _| {
            resolve_dynamic_operands::resolve_dynamic_operands(builder, id)
        });
        rewrite_only(function, Op::synchronizes, |builder, id, replaced| {
            if let Some(value) = as_integer(builder, id, options.target.environment) {
                replaced.insert(builder.function.insts[id].results[0], value);
            }
        });
    }
    match options.target.environment {
        Environment::Vulkan => {
            if options.seq_cst == SeqCst::AcqRel {
                weaken_seq_cst(module);
            }
            loads_mixed_with_seq_cst::make_atomic(module, sink);
            seq_cst::replace_operations(module, sink);
        }
        Environment::OpenCl => {}
    }
    for function in module.functions.iter_mut() {
        rewrite_only(function, Op::synchronizes, |builder, id, replaced| {
            as_loop(builder, id, options, replaced)
        });
    }
}

/// Converts flags to words if the target has no flags, and moves and compares floats as integers. Returns the replacement of
/// the result.
fn as_integer(builder: &mut Builder<'_>, id: InstId, environment: Environment) -> Option<ValueId> {
    let inst = builder.function.insts[id].clone();
    let Op::Atomic(mut atomic) = inst.op else {
        builder.insert(id);
        return None;
    };
    let is_flag = matches!(atomic.op, AtomicOp::FlagTestAndSet | AtomicOp::FlagClear);
    let is_move = !matches!(atomic.op, AtomicOp::Fetch(_));
    if is_flag && environment == Environment::Vulkan {
        let ty = Type::Scalar(Scalar::I32);
        (atomic.ty, atomic.op) = (
            Scalar::I32,
            match atomic.op {
                AtomicOp::FlagTestAndSet => AtomicOp::Exchange,
                _ => AtomicOp::Store,
            },
        );
        let is_set = atomic.op == AtomicOp::Exchange;
        let word = builder.i32(i32::from(is_set));
        let results: &[Type] = if is_set { &[ty] } else { &[] };
        let new = builder.inst(Op::Atomic(atomic), &[inst.args[0], word], results);
        return is_set.then(|| {
            let (old, zero) = (builder.function.result(new), builder.i32(0));
            builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, old, zero)
        });
    }
    // There are no 16-bit atomic integers, and half operations never compare.
    let stays = atomic.ty == Scalar::F16 && environment == Environment::OpenCl;
    if !(atomic.ty.is_float() && is_move) || stays {
        builder.insert(id);
        return None;
    }
    let (float, integer) = (Type::Scalar(atomic.ty), Scalar::int_of_size(atomic.ty.size()));
    let integer_ty = Type::Scalar(integer);
    let mut args = vec![inst.args[0]];
    args.extend(inst.args[1..].iter().map(|&arg| builder.bitcast(arg, integer_ty)));
    atomic.ty = integer;
    let results: Vec<Type> = inst.results.iter().map(|_| integer_ty).collect();
    let new = builder.inst(Op::Atomic(atomic), &args, &results);
    let &old = builder.function.insts[new].results.first()?;
    Some(builder.bitcast(old, float))
}

/// Replaces a read-modify-write that the target lacks by a compare-exchange loop. These are operations on floating-point
/// numbers, except `half`: a device with cl_ext_float_atomics has those natively. A native subtraction becomes an addition.
fn as_loop(builder: &mut Builder<'_>, id: InstId, options: &Options, replaced: &mut Replacements) {
    let inst = builder.function.insts[id].clone();
    let Op::Atomic(atomic) = &inst.op else { return builder.insert(id) };
    let AtomicOp::Fetch(key) = atomic.op else { return builder.insert(id) };
    let is_native = match (options.target.environment, atomic.ty) {
        (Environment::Vulkan, Scalar::F32) => {
            key == FetchKey::Add && options.target.features.float32_atomic_add
        }
        (Environment::OpenCl, Scalar::F16) => true,
        _ => !atomic.ty.is_float(),
    };
    if is_native {
        if atomic.ty.is_float() && key == FetchKey::Sub {
            let add = Atomic { op: AtomicOp::Fetch(FetchKey::Add), ..atomic.clone() };
            let negated = builder.unary(UnaryOp::FNeg, inst.args[1]);
            builder.function.insts[id].op = Op::Atomic(add);
            builder.function.insts[id].args[1] = negated;
        }
        return builder.insert(id);
    }
    let old = fetch_loop(builder, id, atomic, key, LoopOrder::for_target(&options.target));
    if let Some(&result) = inst.results.first() {
        replaced.insert(result, old);
    }
}

/// A loop that exchanges the object's bits. Returns the old value.
fn fetch_loop(
    builder: &mut Builder<'_>,
    id: InstId,
    atomic: &Atomic,
    key: FetchKey,
    order: LoopOrder,
) -> ValueId {
    let object = builder.function.object_spaces(id);
    let &[pointer, operand] = &builder.function.insts[id].args[..] else {
        unreachable!("all orders are known")
    };
    let (ty, integer) = (Type::Scalar(atomic.ty), Scalar::int_of_size(atomic.ty.size()));
    let old = exchange_loop(builder, order, (pointer, object), integer, atomic, |builder, expected| {
        let value = builder.bitcast(expected, ty);
        let new = unshared::fetched(builder, atomic, key, value, operand);
        builder.bitcast(new, Type::Scalar(integer))
    });
    builder.bitcast(old, ty)
}

/// Which operations give a compare-exchange loop its memory order.
#[derive(Clone, Copy)]
pub(super) enum LoopOrder {
    /// The attempt that succeeds.
    Exchange,
    /// Fences around the loop, for drivers with `DriverBug::EarlyGroupEnd`: all sub-groups pass the same number of them.
    Fences,
}

impl LoopOrder {
    /// The order of loops on a target.
    pub(super) const fn for_target(target: &Target) -> Self {
        if target.workarounds.contains(DriverBug::EarlyGroupEnd) { Self::Fences } else { Self::Exchange }
    }
}

/// Applies `compute` to an integer in a compare-exchange loop. Returns the old value. `pointer` is its address and the
/// memory that may contain it; order and scope are those of `atomic`.
pub(super) fn exchange_loop(
    builder: &mut Builder<'_>,
    order: LoopOrder,
    (pointer, object): (ValueId, Spaces),
    integer: Scalar,
    atomic: &Atomic,
    compute: impl FnOnce(&mut Builder<'_>, ValueId) -> ValueId,
) -> ValueId {
    let sync = atomic.sync(object);
    let (before, at, after) = match order {
        LoopOrder::Exchange => (None, sync.order, None),
        LoopOrder::Fences => {
            let (releases, acquires) = (sync.order.releases(), sync.order.acquires());
            (releases.then_some(Order::Release), Order::Relaxed, acquires.then_some(Order::Acquire))
        }
    };
    let fence = |builder: &mut Builder<'_>, order: Option<Order>| {
        if let Some(order) = order {
            builder.inst(Op::fence(Sync { order, failure: None, ..sync }), &[], &[]);
        }
    };
    fence(builder, before);
    let bits = Type::Scalar(integer);
    let relaxed = |op| Atomic {
        op,
        ty: integer,
        order: Known::Constant(Order::Relaxed),
        failure: None,
        spaces: None,
        ..atomic.clone()
    };
    let first = builder.value(Op::Atomic(relaxed(AtomicOp::Load)), &[pointer], bits);
    let open = builder.open_loop(&[first], &[bits], &[bits], LoopHints::default());
    let outside = builder.insertion_point();
    let expected = builder.function.blocks[open.body].params[0];
    builder.at_end(open.body);
    let new = compute(builder, expected);
    let exchange = Atomic {
        op: AtomicOp::CompareExchangeStrong,
        order: Known::Constant(at),
        failure: Some(Known::Constant(Order::Relaxed)),
        spaces: atomic.spaces,
        ..relaxed(AtomicOp::Load)
    };
    let old = builder.value(Op::Atomic(exchange), &[pointer, new, expected], bits);
    let same = builder.compare(CompareOp::Equal, CompareKind::Unsigned, old, expected);
    let test = builder.open_if(same, &[]);
    builder.unreachable();
    builder.at_end(test.then);
    builder.exit(open.inst, &[old]);
    builder.at_end(test.otherwise);
    builder.continue_loop(open.inst, &[old]);
    builder.close_loop(&open, outside);
    fence(builder, after);
    builder.function.insts[open.inst].results[0]
}

/// `--seq-cst=acq-rel`: replaces seq_cst by acquire-release.
fn weaken_seq_cst(module: &mut Module) {
    for function in module.functions.iter_mut() {
        for id in function.inst_order() {
            let object = function.object_spaces(id);
            let op = &mut function.insts[id].op;
            if let Some((operation, sync)) = op.synchronization(object) {
                op.set_synchronization(sync.without_seq_cst(operation));
            }
        }
    }
}

/// The hidden word of seq_cst fences (R6): an ordinary program-scope variable.
fn hidden_word(module: &mut Module) -> VarId {
    let var = Var::new("seq_cst_word", AddressSpace::Global, (4, 4), kiln_syntax::Span::default());
    let known = module.vars.entries().find(|(_, it)| it.name == var.name).map(|(id, _)| id);
    known.unwrap_or_else(|| VarId::from_index(module.vars.push(var).index()))
}
