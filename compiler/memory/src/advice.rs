//! Warnings: operations that are legal but probably unintended.
//!
//! These checks do not affect encoding.

use super::legal::{Argument, Problem, Rule};
use kiln_vocabulary::opencl::{AddressSpace, FenceFlags, Order, Scope};

/// Warnings for atomic functions.
pub fn advise_atomic(
    order: Option<Order>,
    scope: Option<Scope>,
    object: Option<AddressSpace>,
) -> Option<Problem> {
    if object == Some(AddressSpace::Private) {
        return Some(Problem {
            rule: Rule::AtomicPrivate,
            argument: Argument::Object,
            message: "an atomic operation on a private object is undefined".to_owned(),
            label: "only this work-item sees the object",
            help: "declare the object local or global, or use plain operations",
            note: "OpenCL C 6.15.12.10: atomic operations on objects in the private address space are undefined",
            vuid: Some("VUID-StandaloneSpirv-None-04686"),
        });
    }
    match (order, scope, object) {
        (Some(Order::SeqCst), Some(Scope::SubGroup | Scope::WorkGroup), Some(AddressSpace::Global)) => {
            Some(Problem {
                rule: Rule::SeqCstScope,
                argument: Argument::Scope,
                message: "seq_cst with a scope narrower than the device has no total order".to_owned(),
                label: "narrower than the device",
                help: "use memory_scope_device, or acquire and release if no total order is needed",
                note: "OpenCL API 3.3.6: the total order exists only if every seq_cst operation has device \
                       scope, or every one all_svm_devices",
                vuid: None,
            })
        }
        (
            None | Some(Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst),
            _,
            _,
        ) => None,
    }
}

/// Warnings for `atomic_work_item_fence`.
pub fn advise_fence(flags: Option<FenceFlags>, order: Option<Order>) -> Option<Problem> {
    if flags == Some(FenceFlags::NONE) {
        return Some(no_flags());
    }
    (order == Some(Order::Relaxed)).then(|| Problem {
        rule: Rule::FenceRelaxed,
        argument: Argument::Order,
        message: "a fence with relaxed order has no effect".to_owned(),
        label: "orders nothing",
        help: "use memory_order_acquire, release or acq_rel, or remove the fence",
        note: "OpenCL C 6.15.12.5",
        vuid: Some("VUID-StandaloneSpirv-MemorySemantics-10869"),
    })
}

/// Warnings for `mem_fence`, `read_mem_fence` and `write_mem_fence` (OpenCL C 6.15.9).
pub fn advise_legacy_fence(flags: Option<FenceFlags>) -> Option<Problem> {
    match flags {
        Some(FenceFlags::NONE) => Some(no_flags()),
        Some(flags) if flags.contains(FenceFlags::IMAGE) => Some(Problem {
            rule: Rule::MemFenceImage,
            argument: Argument::Flags,
            message: "this fence does not order image memory".to_owned(),
            label: "CLK_IMAGE_MEM_FENCE has no effect here",
            help: if flags == FenceFlags::IMAGE {
                "use atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item)"
            } else {
                "order image memory with a separate atomic_work_item_fence"
            },
            note: "OpenCL C 6.15.9 takes CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE only",
            vuid: None,
        }),
        Some(_) | None => None,
    }
}

/// Warnings for barriers.
pub fn advise_barrier(flags: Option<FenceFlags>, scope: Option<Scope>) -> Option<Problem> {
    match (flags, scope) {
        (Some(FenceFlags::LOCAL), Some(Scope::Device | Scope::AllSvmDevices)) => Some(Problem {
            rule: Rule::BarrierLocalScope,
            argument: Argument::Scope,
            message: "the scope of a barrier for local memory is always the work-group".to_owned(),
            label: "has no effect",
            help: "remove the scope, or add CLK_GLOBAL_MEM_FENCE if global memory is meant",
            note: "OpenCL C 6.15.8: with CLK_LOCAL_MEM_FENCE the value of scope is ignored",
            vuid: None,
        }),
        (Some(_) | None, _) => None,
    }
}

/// The warning for an order that can be seq_cst if the options weaken seq_cst: the emitted operation permits outcomes
/// that OpenCL forbids.
pub fn advise_weakened(order: Option<Order>) -> Option<Problem> {
    match order {
        Some(Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel) => None,
        Some(Order::SeqCst) | None => Some(Problem {
            rule: Rule::SeqCstWeakened,
            argument: Argument::Order,
            message: "seq_cst is weakened to acquire and release here".to_owned(),
            label: "without a total order",
            help: "leave out --seq-cst=acq-rel, or name the weaker order if it is enough",
            note: "OpenCL API 3.3.6: all seq_cst operations appear in one total order; weakened, work-items may \
                   disagree, and a store may be seen after a later load",
            vuid: None,
        }),
    }
}

fn no_flags() -> Problem {
    Problem {
        rule: Rule::FenceFlagsEmpty,
        argument: Argument::Flags,
        message: "a fence without flags orders no memory".to_owned(),
        label: "no memory is named",
        help: "use CLK_GLOBAL_MEM_FENCE, CLK_LOCAL_MEM_FENCE or both",
        note: "OpenCL C 6.15.12.5: the flags must be a combination of the three CLK_*_MEM_FENCE values",
        vuid: Some("VUID-StandaloneSpirv-MemorySemantics-10870"),
    }
}
