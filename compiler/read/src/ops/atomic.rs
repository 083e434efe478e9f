//! Atomic operations (SPIR-V 3.49.18), in OpenCL's terms: an order, a scope, and the memory that is ordered.

use kiln_ir::{self as ir, Builder, Known, Op as IrOp, Scalar, Type, ValueId};
use kiln_memory::{self as memory, Spaces};
use kiln_vocabulary::opencl::{AtomicOp, FetchKey, Order, Scope};
use rspirv::spirv::Op;

use super::{
    Lowered, Operation, none, one,
    semantics::{self, Mask},
};

/// The IR operation for an instruction.
#[derive(Clone, Copy)]
struct Form {
    op: AtomicOp,
    /// Whether minimum and maximum compare as signed.
    is_signed: bool,
    /// The operand is 1.
    by_one: bool,
}

const fn plain(op: AtomicOp) -> Form {
    Form { op, is_signed: false, by_one: false }
}

const fn fetch(key: FetchKey) -> Form {
    plain(AtomicOp::Fetch(key))
}

const fn signed(key: FetchKey) -> Form {
    Form { is_signed: true, ..fetch(key) }
}

const fn by_one(key: FetchKey) -> Form {
    Form { by_one: true, ..fetch(key) }
}

const fn form(op: Op) -> Option<Form> {
    Some(match op {
        Op::AtomicLoad => plain(AtomicOp::Load),
        Op::AtomicStore => plain(AtomicOp::Store),
        Op::AtomicExchange => plain(AtomicOp::Exchange),
        Op::AtomicCompareExchange => plain(AtomicOp::CompareExchangeStrong),
        Op::AtomicCompareExchangeWeak => plain(AtomicOp::CompareExchangeWeak),
        Op::AtomicIIncrement => by_one(FetchKey::Add),
        Op::AtomicIDecrement => by_one(FetchKey::Sub),
        Op::AtomicIAdd | Op::AtomicFAddEXT => fetch(FetchKey::Add),
        Op::AtomicISub => fetch(FetchKey::Sub),
        Op::AtomicAnd => fetch(FetchKey::And),
        Op::AtomicOr => fetch(FetchKey::Or),
        Op::AtomicXor => fetch(FetchKey::Xor),
        Op::AtomicUMin | Op::AtomicFMinEXT => fetch(FetchKey::Min),
        Op::AtomicUMax | Op::AtomicFMaxEXT => fetch(FetchKey::Max),
        Op::AtomicSMin => signed(FetchKey::Min),
        Op::AtomicSMax => signed(FetchKey::Max),
        Op::AtomicFlagTestAndSet => plain(AtomicOp::FlagTestAndSet),
        Op::AtomicFlagClear => plain(AtomicOp::FlagClear),
        _ => return None,
    })
}

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    form(operation.op).map(|form| atomic(builder, operation, form))
}

fn atomic(builder: &mut Builder<'_>, operation: &Operation, form: Form) -> Lowered {
    let [pointer, scope, mask] = operation.args()?;
    let is_exchange = matches!(form.op, AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak);
    let operands = &operation.args[if is_exchange { 4 } else { 3 }.min(operation.args.len())..];
    let ty = object_type(builder, operation, form, operands)?;
    let mut args = vec![pointer];
    args.extend(operands);
    if form.by_one {
        args.push(builder.bits(Type::Scalar(ty), 1));
    }
    let mask = semantics::mask(builder, mask)?;
    let (order, dynamic_order) = mask.order(builder);
    let (failure, dynamic_failure) = match operation.args.get(3) {
        Some(&mask) if is_exchange => {
            let (failure, value) = semantics::mask(builder, mask)?.order(builder);
            (Some(failure), value)
        }
        _ => (None, None),
    };
    let (scope, dynamic_scope) = semantics::scope(builder, scope)?;
    // SYCL has atomic operations of this scope. The narrowest scope of OpenCL C's includes it.
    let scope = match scope {
        Known::Constant(Scope::WorkItem) => Known::Constant(Scope::SubGroup),
        other => other,
    };
    check(form.op, order, failure, scope)?;
    args.extend([dynamic_order, dynamic_failure, dynamic_scope].into_iter().flatten());
    let op = IrOp::Atomic(ir::Atomic {
        op: form.op,
        ty,
        is_signed: form.is_signed,
        order,
        failure,
        scope,
        spaces: further_spaces(builder, pointer, mask),
        is_volatile: false,
    });
    let result = match form.op {
        AtomicOp::Store | AtomicOp::FlagClear => None,
        AtomicOp::FlagTestAndSet => Some(Type::BOOL),
        _ => Some(Type::Scalar(ty)),
    };
    let Some(result) = result else {
        builder.inst(op, &args, &[]);
        return none();
    };
    one(builder.value(op, &args, result))
}

/// The type of the object: that of the result or of the value. A flag is a 32-bit integer.
fn object_type(
    builder: &Builder<'_>,
    operation: &Operation,
    form: Form,
    operands: &[ValueId],
) -> Result<Scalar, String> {
    if matches!(form.op, AtomicOp::FlagTestAndSet | AtomicOp::FlagClear) {
        return Ok(Scalar::I32);
    }
    let ty = match operands.first() {
        Some(&value) => builder.ty(value),
        None => operation.result()?,
    };
    match ty {
        Type::Scalar(scalar) if scalar != Scalar::Bool => Ok(scalar),
        _ => Err("the object of an atomic operation must be an integer or a float".to_owned()),
    }
}

/// The rules of OpenCL C 6.15.12.7 for operands that are constant.
fn check(
    op: AtomicOp,
    order: Known<Order>,
    failure: Option<Known<Order>>,
    scope: Known<Scope>,
) -> Result<(), String> {
    let failure = failure.and_then(constant);
    memory::check_atomic(op, constant(order), failure, constant(scope)).map_err(|problem| problem.message)
}

/// The value of an operand, if it is constant.
pub(super) fn constant<T>(known: Known<T>) -> Option<T> {
    match known {
        Known::Constant(value) => Some(value),
        Known::Dynamic => None,
    }
}

/// The memory that the operation orders, if the mask names more than the object's memory. OpenCL C cannot express this.
fn further_spaces(
    builder: &Builder<'_>,
    pointer: ValueId,
    mask: Mask,
) -> Option<kiln_vocabulary::opencl::FenceFlags> {
    let (Type::Pointer(space), Mask::Known(decoded)) = (builder.ty(pointer), mask) else { return None };
    let named = decoded.spaces.intersection(Spaces::BOTH);
    if decoded.order == Order::Relaxed || Spaces::for_pointer(space).contains(named) {
        return None;
    }
    Some(Spaces::for_pointer(space).union(named).flags())
}
