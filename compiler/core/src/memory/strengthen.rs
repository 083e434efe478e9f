//! Sequential consistency and OpenCL's release sequences where the target has neither: the rules R1 to R7.
//!
//! Says, for one operation and what is known of the program around it, which operations take its place. It knows
//! no IR: the pass answers the questions of [`Surroundings`] and builds what [`Replacement`] names. The rules and
//! the evidence for them stand in `docs/memory-model.md`.

use super::{Access, Operation, Spaces, Sync};
use crate::opencl::{Environment, Order, Scope};

/// What an operation may meet in its program. In doubt, the stronger answer is correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Surroundings {
    /// A seq_cst operation may touch the same object (R2, R3).
    pub seq_cst_on_object: bool,
    /// What the earlier release or seq_cst stores and read-modify-writes order that may precede this operation
    /// in its work-item and touch the same object (R4).
    pub released: Spaces,
    /// The program has seq_cst operations on global objects and on local objects (R7).
    pub seq_cst_in_both: bool,
}

/// What takes the place of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Replacement {
    /// The same operation.
    Same(Sync),
    /// In place of a load, a read-modify-write that changes nothing: `or` with 0.
    LoadAsModify(Sync),
    /// In place of a store, an exchange whose result is dropped.
    StoreAsExchange(Sync),
    /// A compare-exchange that, when it fails, reads again by a read-modify-write that changes nothing. If that
    /// value is the expected one, a strong compare-exchange starts over and a weak one has failed.
    CompareExchange {
        /// The compare-exchange.
        attempt: Sync,
        /// The read after a failure.
        reread: Sync,
    },
    /// In place of a fence, an addition of 0 to the hidden word of global memory between two fences.
    FenceThroughWord {
        /// The fence before.
        before: Sync,
        /// The read-modify-write of the word.
        word: Sync,
        /// The fence after.
        after: Sync,
    },
}

/// The operations to emit in place of this one. Only Vulkan needs any.
pub fn replacement(
    environment: Environment,
    operation: Operation,
    sync: Sync,
    around: &Surroundings,
) -> Replacement {
    match environment {
        Environment::OpenCl => Replacement::Same(sync),
        Environment::Vulkan => match operation {
            Operation::Atomic(access, object) => atomic(access, object, sync, around),
            Operation::Fence => fence(sync, around),
            Operation::WorkGroupBarrier | Operation::SubGroupBarrier => {
                Replacement::Same(in_both(sync, around))
            }
        },
    }
}

fn atomic(access: Access, object: Spaces, sync: Sync, around: &Surroundings) -> Replacement {
    // An acquire-release operation on both classes of memory, as R1 wants it for seq_cst.
    let strict = |scope| Sync { order: Order::AcqRel, failure: None, scope, spaces: Spaces::BOTH };
    let ordinary = in_both(sync, around);
    // R3: what the source has as a load meets, as R1 has it, a write.
    let beside_seq_cst = |sync: Sync| {
        if around.seq_cst_on_object { Sync { scope: widest(object, sync.scope), ..sync } } else { sync }
    };
    match (access, sync.order) {
        (Access::Load, Order::SeqCst) => Replacement::LoadAsModify(strict(widest(object, sync.scope))),
        (Access::Load, Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel) => {
            Replacement::Same(beside_seq_cst(ordinary))
        }
        (Access::Store, Order::SeqCst) => Replacement::StoreAsExchange(strict(sync.scope)),
        (Access::Store, Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel) => {
            let store = after_release(ordinary, around);
            if around.seq_cst_on_object {
                Replacement::StoreAsExchange(store)
            } else {
                Replacement::Same(store)
            }
        }
        (Access::Modify, Order::SeqCst) => Replacement::Same(strict(sync.scope)),
        (Access::Modify, Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel) => {
            Replacement::Same(ordinary)
        }
        (Access::CompareExchange, Order::SeqCst) => {
            let scope = widest(object, sync.scope);
            match sync.failure {
                None | Some(Order::SeqCst) => Replacement::CompareExchange {
                    attempt: Sync { failure: Some(Order::Relaxed), ..strict(scope) },
                    reread: strict(scope),
                },
                Some(failure @ (Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel)) => {
                    Replacement::Same(Sync { failure: Some(failure), ..strict(scope) })
                }
            }
        }
        (Access::CompareExchange, Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel) => {
            Replacement::Same(beside_seq_cst(ordinary))
        }
    }
}

/// R6, or R7 for a weaker fence.
fn fence(sync: Sync, around: &Surroundings) -> Replacement {
    match sync.order {
        Order::SeqCst => {
            let both = |order| Sync { order, failure: None, scope: Scope::Device, spaces: Spaces::BOTH };
            Replacement::FenceThroughWord {
                before: both(Order::Acquire),
                word: both(Order::AcqRel),
                after: both(Order::Release),
            }
        }
        Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel => {
            Replacement::Same(in_both(sync, around))
        }
    }
}

/// R4: only read-modify-writes continue a release sequence on Vulkan, so that a relaxed store which continues
/// one in OpenCL has to release by itself.
fn after_release(store: Sync, around: &Surroundings) -> Sync {
    match store.order {
        Order::Relaxed if !around.released.is_empty() => {
            in_both(Sync { order: Order::Release, spaces: around.released, ..store }, around)
        }
        Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst => store,
    }
}

/// R7: with seq_cst operations on both sides, what orders global or local memory orders both.
fn in_both(sync: Sync, around: &Surroundings) -> Sync {
    let plain = !sync.ordered().intersection(Spaces::BOTH).is_empty();
    if around.seq_cst_in_both && plain {
        Sync { spaces: sync.spaces.union(Spaces::BOTH), ..sync }
    } else {
        sync
    }
}

/// The scope in which every pair of operations on such an object is mutually ordered: R1 makes writes of loads,
/// and two loads in the source need no common scope.
fn widest(object: Spaces, scope: Scope) -> Scope {
    match scope {
        Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup if object == Spaces::LOCAL => Scope::WorkGroup,
        Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup | Scope::Device => Scope::Device,
        Scope::AllSvmDevices => Scope::AllSvmDevices,
    }
}
