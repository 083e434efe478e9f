//! Resolves orders, scopes and flags that are not constant in the source. Operands that inlining made constant get their
//! value; operands that are known only at run time become the strongest legal constant.

use kiln_ir::{Builder, Function, InstId, Known, Op, ValueId};
use kiln_memory::{self as memory, Group, Sync};
use kiln_vocabulary::opencl::{FenceFlags, Order, Scope};

/// Makes all orders, scopes and flags of an operation constant.
pub(super) fn resolve_dynamic_operands(builder: &mut Builder<'_>, id: InstId) {
    let unknown = builder.function.insts[id].op.dynamic_count();
    if unknown == 0 {
        return builder.insert(id);
    }
    let args = &mut builder.function.insts[id].args;
    let rest: Vec<ValueId> = args.drain(args.len() - unknown..).collect();
    let mut rest = rest.into_iter();
    let function = &*builder.function;
    match function.insts[id].op.clone() {
        Op::Atomic(mut atomic) => {
            let access = memory::Access::from(atomic.op);
            let order = constant_operand(function, atomic.order, &mut rest, Order::from_value)
                .filter(|order| access.orders().contains(order))
                .unwrap_or(access.strongest());
            let failures = memory::failure_orders(order);
            let failure = atomic.failure.map(|failure| {
                constant_operand(function, failure, &mut rest, Order::from_value)
                    .filter(|failure| failures.contains(failure))
                    .or(failures.last().copied())
                    .unwrap_or(Order::Relaxed)
            });
            let scope = constant_operand(function, atomic.scope, &mut rest, Scope::from_value)
                .filter(|scope| *scope != Scope::WorkItem)
                .unwrap_or(Scope::AllSvmDevices);
            atomic.order = Known::Constant(order);
            atomic.failure = failure.map(Known::Constant);
            atomic.scope = Known::Constant(scope);
            builder.function.insts[id].op = Op::Atomic(atomic);
            builder.insert(id);
        }
        Op::Barrier { execution, flags, scope } => {
            let flags = constant_operand(function, flags, &mut rest, FenceFlags::from_value);
            let scope = constant_operand(function, scope, &mut rest, Scope::from_value);
            for sync in memory::strongest_barrier(Group::from_scope(execution), flags, scope) {
                builder.inst(Op::barrier(execution, sync), &[], &[]);
            }
        }
        Op::Fence { flags, order, scope } => {
            let flags = constant_operand(function, flags, &mut rest, FenceFlags::from_value);
            let order = constant_operand(function, order, &mut rest, Order::from_value);
            let scope = constant_operand(function, scope, &mut rest, Scope::from_value);
            let fences: Vec<Sync> = memory::strongest_fence(flags, order, scope);
            for sync in fences {
                builder.inst(Op::fence(sync), &[], &[]);
            }
        }
        _ => builder.insert(id),
    }
}

/// The constant value, if it is known. A dynamic operand uses the next of the `rest` arguments.
fn constant_operand<T: Copy>(
    function: &Function,
    value: Known<T>,
    rest: &mut impl Iterator<Item = ValueId>,
    of_value: fn(i64) -> Option<T>,
) -> Option<T> {
    match value {
        Known::Constant(value) => Some(value),
        Known::Dynamic => {
            let bits = function.constant_bits(rest.next()?)?;
            of_value(i64::from(bits as u32 as i32))
        }
    }
}
