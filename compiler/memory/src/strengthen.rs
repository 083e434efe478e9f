//! Sequential consistency and OpenCL's release sequences for targets that have neither: rules R1 to R7.
//!
//! Selects the replacement of one operation, given facts about the program. Must not depend on the IR: a pass computes
//! [`Surroundings`] and builds the [`Replacement`]. `docs/memory-model.md` contains the rules and their evidence.

use super::{Access, Operation, Spaces, Sync};
use kiln_vocabulary::opencl::{Environment, Order, Scope};

/// Facts about the program around an operation. If in doubt, the stronger value is correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Surroundings {
    /// Whether a seq_cst operation can access the same object (R2, R3).
    pub seq_cst_on_object: bool,
    /// The memory ordered by release or seq_cst stores and read-modify-writes that can precede this operation in its work-item
    /// and access the same object (R4).
    pub released: Spaces,
    /// Whether the program has seq_cst operations and orders both global and local memory, or has seq_cst fences (R7).
    pub orders_both: bool,
}

/// The replacement of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Replacement {
    /// The same operation.
    Same(Sync),
    /// Replaces a load by a read-modify-write that changes nothing: `or` with 0.
    LoadAsModify(Sync),
    /// Replaces a store by an exchange whose result is unused.
    StoreAsExchange(Sync),
    /// A compare-exchange that reads again on failure, with a read-modify-write that changes nothing. If that value is the
    /// expected one, a strong compare-exchange starts over, and a weak one has failed.
    CompareExchange {
        /// The compare-exchange.
        attempt: Sync,
        /// The read after a failure.
        reread: Sync,
    },
    /// Replaces a fence by an addition of 0 to the hidden word of global memory, between two fences.
    FenceThroughWord {
        /// The fence before.
        before: Sync,
        /// The read-modify-write of the word.
        word: Sync,
        /// The fence after.
        after: Sync,
    },
}

/// The replacement of an operation. Only Vulkan needs replacements.
pub fn replacement(
    environment: Environment,
    operation: Operation,
    sync: Sync,
    around: &Surroundings,
) -> Replacement {
    match environment {
        Environment::OpenCl => Replacement::Same(sync),
        Environment::Vulkan => match operation {
            Operation::Atomic(access, object) => strengthen_atomic(access, object, sync, around),
            Operation::Fence => strengthen_fence(sync, around),
            Operation::Barrier(_) => Replacement::Same(in_both(sync, around)),
        },
    }
}

fn strengthen_atomic(access: Access, object: Spaces, sync: Sync, around: &Surroundings) -> Replacement {
    // R1: a seq_cst operation becomes an acquire-release operation on both classes of memory.
    let strict = |scope| Sync { order: Order::AcqRel, failure: None, scope, spaces: Spaces::BOTH };
    let ordinary = in_both(sync, around);
    // R3: a seq_cst load of the same object is a write after R1.
    let beside_seq_cst = |sync: Sync| {
        if around.seq_cst_on_object { Sync { scope: widest_scope(object, sync.scope), ..sync } } else { sync }
    };
    match (access, sync.order) {
        (Access::Load, Order::SeqCst) => Replacement::LoadAsModify(strict(widest_scope(object, sync.scope))),
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
            let scope = widest_scope(object, sync.scope);
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
fn strengthen_fence(sync: Sync, around: &Surroundings) -> Replacement {
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

/// R4: only read-modify-writes continue a release sequence on Vulkan, so a relaxed store that continues one in OpenCL
/// must be a release store.
fn after_release(store: Sync, around: &Surroundings) -> Sync {
    match store.order {
        Order::Relaxed if !around.released.is_empty() => {
            in_both(Sync { order: Order::Release, spaces: around.released, ..store }, around)
        }
        Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst => store,
    }
}

/// R7: in a program with seq_cst operations that orders global and local memory, operations that order one order both.
fn in_both(sync: Sync, around: &Surroundings) -> Sync {
    let plain = !sync.ordered().intersection(Spaces::BOTH).is_empty();
    if around.orders_both && plain { Sync { spaces: sync.spaces.union(Spaces::BOTH), ..sync } } else { sync }
}

/// The scope in which every pair of operations on such an object is mutually ordered. R1 turns loads into writes, and two
/// loads in the source need no common scope.
fn widest_scope(object: Spaces, scope: Scope) -> Scope {
    match scope {
        Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup if object == Spaces::LOCAL => Scope::WorkGroup,
        Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup | Scope::Device => Scope::Device,
        Scope::AllSvmDevices => Scope::AllSvmDevices,
    }
}
