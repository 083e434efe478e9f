//! Fences and barriers (SPIR-V 3.49.20), in OpenCL's terms.
//!
//! OpenCL C's barriers are acquire-release. Other compilers write `work_group_barrier` as a sequentially consistent
//! barrier of work-group scope; within a work-group that is the same, because the barrier itself orders the accesses.
//! A sequentially consistent barrier of a wider scope also takes part in the total order, as a fence does. A barrier that
//! only acquires or only releases becomes acquire-release, which is stronger.

use kiln_ir::{Builder, Known, Op as IrOp, ValueId};
use kiln_memory::{self as memory, Spaces};
use kiln_vocabulary::opencl::{FenceFlags, Order, Scope};
use rspirv::spirv::Op;

use super::{
    Lowered, Operation,
    atomic::constant,
    none,
    semantics::{self, DynamicOperand, Mask},
};

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::ControlBarrier => barrier(builder, operation),
        Op::MemoryBarrier => fence(builder, operation),
        _ => return None,
    })
}

fn barrier(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [execution, scope, mask] = operation.args()?;
    let execution = semantics::constant_scope(builder, execution, "execution scope")?;
    if !matches!(execution, Scope::WorkGroup | Scope::SubGroup) {
        return Err(format!("a barrier cannot wait for {}", execution.spelling()));
    }
    let (scope, dynamic) = semantics::scope(builder, scope)?;
    let decoded = match semantics::mask(builder, mask)? {
        Mask::Known(decoded) => decoded,
        Mask::Dynamic(mask) => {
            let flags = semantics::dynamic_flags(builder, mask);
            let args: Vec<ValueId> = [Some(flags), dynamic].into_iter().flatten().collect();
            builder.inst(IrOp::Barrier { execution, flags: Known::Dynamic, scope }, &args, &[]);
            return none();
        }
    };
    let spaces = if decoded.order == Order::Relaxed { Spaces::NONE } else { decoded.spaces };
    let is_wide = !matches!(scope, Known::Constant(Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup));
    if decoded.order == Order::SeqCst && is_wide {
        plain_fence(builder, spaces.intersection(Spaces::BOTH), Order::SeqCst, (scope, dynamic));
    }
    // The scope includes at least the work-items that wait.
    let scope = match scope {
        Known::Constant(Scope::WorkItem) => Known::Constant(execution),
        Known::Constant(Scope::SubGroup) if execution == Scope::WorkGroup => Known::Constant(execution),
        other => other,
    };
    for (flags, scope, dynamic) in divided(execution, spaces, (scope, dynamic)) {
        let flags = Known::Constant(flags);
        builder.inst(IrOp::Barrier { execution, flags, scope }, dynamic.as_slice(), &[]);
    }
    none()
}

/// With image memory, the scope of a work-group barrier is the work-group (OpenCL C 6.15.8), so other memory may need a
/// barrier of its own.
fn divided(
    execution: Scope,
    spaces: Spaces,
    (scope, dynamic): DynamicOperand<Scope>,
) -> Vec<(FenceFlags, Known<Scope>, Option<ValueId>)> {
    let group = memory::Group::from_scope(execution);
    let is_legal = memory::check_barrier(group, Some(spaces.flags()), constant(scope)).is_ok();
    let others = spaces.intersection(Spaces::BOTH);
    if is_legal || !spaces.contains(Spaces::IMAGE) {
        return vec![(spaces.flags(), scope, dynamic)];
    }
    let image = (FenceFlags::IMAGE, Known::Constant(Scope::WorkGroup), None);
    if others.is_empty() { vec![image] } else { vec![image, (others.flags(), scope, dynamic)] }
}

fn fence(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [scope, mask] = operation.args()?;
    let given = semantics::scope(builder, scope)?;
    let decoded = match semantics::mask(builder, mask)? {
        Mask::Known(decoded) => decoded,
        Mask::Dynamic(mask) => {
            let flags = semantics::dynamic_flags(builder, mask);
            let (_, order) = Mask::Dynamic(mask).order(builder);
            let (scope, dynamic) = given;
            let args: Vec<ValueId> = [Some(flags), order, dynamic].into_iter().flatten().collect();
            let op = IrOp::Fence { flags: Known::Dynamic, order: Known::Dynamic, scope };
            builder.inst(op, &args, &[]);
            return none();
        }
    };
    if decoded.spaces.contains(Spaces::IMAGE) && decoded.order != Order::Relaxed {
        // OpenCL C 6.15.15: an image fence is acquire-release, of a work-item.
        if given.0 != Known::Constant(Scope::WorkItem) {
            let bits = builder.function.constant_bits(mask).unwrap_or_default();
            return Err(format!(
                "the memory semantics {bits:#x} order image memory beyond a work-item, which only a barrier can do"
            ));
        }
        let op = IrOp::Fence {
            flags: Known::Constant(FenceFlags::IMAGE),
            order: Known::Constant(Order::AcqRel),
            scope: Known::Constant(Scope::WorkItem),
        };
        builder.inst(op, &[], &[]);
    }
    plain_fence(builder, decoded.spaces.intersection(Spaces::BOTH), decoded.order, given);
    none()
}

/// A fence of global and local memory. Emits no instruction if it orders nothing between work-items.
fn plain_fence(
    builder: &mut Builder<'_>,
    spaces: Spaces,
    order: Order,
    (scope, dynamic): DynamicOperand<Scope>,
) {
    if spaces.is_empty() || order == Order::Relaxed || scope == Known::Constant(Scope::WorkItem) {
        return;
    }
    let (flags, order) = (Known::Constant(spaces.flags()), Known::Constant(order));
    builder.inst(IrOp::Fence { flags, order, scope }, dynamic.as_slice(), &[]);
}
