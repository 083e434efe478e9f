//! Sequential consistency and OpenCL's release sequences for targets that have neither: rules R1 to R7.
//!
//! Selects the replacement of one operation, given facts about the program. Must not depend on the IR: a pass computes the
//! [`ProgramFacts`] and builds the [`Replacement`]. `docs/memory-model.md` contains the rules and their evidence.

use super::{Access, MappingRule, Operation, Spaces, Sync};
use kiln_vocabulary::opencl::{Environment, Order, Scope};

/// The facts about the program that the replacement of an operation depends on. If a fact is unknown, `true` and larger
/// sets are safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramFacts {
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
    /// expected one, it starts over: the value that a failure returns must differ from the expected one.
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
    facts: &ProgramFacts,
) -> Replacement {
    explained_replacement(environment, operation, sync, facts).0
}

/// The replacement of an operation, and the rules that changed it.
pub fn explained_replacement(
    environment: Environment,
    operation: Operation,
    sync: Sync,
    facts: &ProgramFacts,
) -> (Replacement, Vec<MappingRule>) {
    let mut strengthen = Strengthen { facts, rules: Vec::new() };
    let replacement = match environment {
        Environment::OpenCl => Replacement::Same(sync),
        Environment::Vulkan => match operation {
            Operation::Atomic(access, object) => strengthen.atomic(access, object, sync),
            Operation::Fence => strengthen.fence(sync),
            Operation::Barrier(_) => Replacement::Same(strengthen.order_both(sync)),
        },
    };
    (replacement, strengthen.rules)
}

/// Strengthens one operation.
struct Strengthen<'a> {
    facts: &'a ProgramFacts,
    /// The rules that changed the operation so far.
    rules: Vec<MappingRule>,
}

impl Strengthen<'_> {
    fn atomic(&mut self, access: Access, object: Spaces, sync: Sync) -> Replacement {
        match (access, sync.order) {
            (_, Order::SeqCst) => self.seq_cst(access, object, sync),
            (Access::Load | Access::CompareExchange, _) => {
                let sync = self.order_both(sync);
                Replacement::Same(self.widen_for_seq_cst(object, sync))
            }
            (Access::Store, _) => {
                let sync = self.order_both(sync);
                let store = self.after_release(sync);
                if self.facts.seq_cst_on_object {
                    self.rules.push(MappingRule::StoresExchange);
                    Replacement::StoreAsExchange(store)
                } else {
                    Replacement::Same(store)
                }
            }
            (Access::Modify, _) => Replacement::Same(self.order_both(sync)),
        }
    }

    /// R1: a seq_cst operation becomes an acquire-release operation on both classes of memory. R5: a compare-exchange reads
    /// again if it fails with seq_cst.
    fn seq_cst(&mut self, access: Access, object: Spaces, sync: Sync) -> Replacement {
        self.rules.push(MappingRule::SeqCstModifies);
        let strict = |scope| Sync { order: Order::AcqRel, failure: None, scope, spaces: Spaces::BOTH };
        let widest = widest_scope(object, sync.scope);
        match (access, sync.failure) {
            (Access::Load, _) => Replacement::LoadAsModify(strict(widest)),
            (Access::Store, _) => Replacement::StoreAsExchange(strict(sync.scope)),
            (Access::Modify, _) => Replacement::Same(strict(sync.scope)),
            (Access::CompareExchange, None | Some(Order::SeqCst)) => {
                self.rules.push(MappingRule::FailureRereads);
                Replacement::CompareExchange {
                    attempt: Sync { failure: Some(Order::Relaxed), ..strict(widest) },
                    reread: strict(widest),
                }
            }
            (Access::CompareExchange, failure) => Replacement::Same(Sync { failure, ..strict(widest) }),
        }
    }

    /// R6, or R7 for a weaker fence.
    fn fence(&mut self, sync: Sync) -> Replacement {
        match sync.order {
            Order::SeqCst => {
                self.rules.push(MappingRule::FenceThroughWord);
                let both = |order| Sync { order, failure: None, scope: Scope::Device, spaces: Spaces::BOTH };
                Replacement::FenceThroughWord {
                    before: both(Order::Acquire),
                    word: both(Order::AcqRel),
                    after: both(Order::Release),
                }
            }
            Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel => {
                Replacement::Same(self.order_both(sync))
            }
        }
    }

    /// R3: a seq_cst load of the same object is a write after R1.
    fn widen_for_seq_cst(&mut self, object: Spaces, sync: Sync) -> Sync {
        if !self.facts.seq_cst_on_object {
            return sync;
        }
        self.changed(MappingRule::WidestScope, sync, Sync { scope: widest_scope(object, sync.scope), ..sync })
    }

    /// R4: only read-modify-writes continue a release sequence on Vulkan, so a relaxed store that continues one in OpenCL
    /// must be a release store.
    fn after_release(&mut self, store: Sync) -> Sync {
        if store.order != Order::Relaxed || self.facts.released.is_empty() {
            return store;
        }
        self.rules.push(MappingRule::ReleaseSequence);
        self.order_both(Sync { order: Order::Release, spaces: self.facts.released, ..store })
    }

    /// R7: if a program has seq_cst operations and orders both global and local memory, each operation that orders one of them
    /// orders both.
    fn order_both(&mut self, sync: Sync) -> Sync {
        let is_plain = !sync.ordered().intersection(Spaces::BOTH).is_empty();
        if !self.facts.orders_both || !is_plain {
            return sync;
        }
        self.changed(MappingRule::OrdersBoth, sync, Sync { spaces: sync.spaces.union(Spaces::BOTH), ..sync })
    }

    /// Records the rule if the operation changed. Returns the operation after the change.
    fn changed(&mut self, rule: MappingRule, before: Sync, after: Sync) -> Sync {
        if before != after {
            self.rules.push(rule);
        }
        after
    }
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
