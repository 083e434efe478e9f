//! Translates an operation and its synchronization to SPIR-V's scopes and semantics.
//!
//! All matches are without wildcard arms, so a new order, scope, space or environment does not compile until each rule
//! handles it. Rejects what `legal` rejects, and what the target cannot express.

use super::{
    Access, Operation, Problem, Semantics, Spaces, SpirvScope, Sync, check_barrier, check_fence,
    failure_orders,
    legal::{check_access, object_not_shared, seq_cst_unavailable, sub_groups_unavailable},
};
use kiln_vocabulary::{
    opencl::{Environment, Order, Scope},
    target::Target,
};

/// The instruction to emit, with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoded {
    /// No instruction: the operation orders nothing, or only what the target orders anyway.
    Nothing,
    /// OpAtomicLoad, OpAtomicStore or a read-modify-write.
    Atomic {
        /// The memory scope.
        scope: SpirvScope,
        /// The semantics.
        semantics: Semantics,
    },
    /// OpAtomicCompareExchange.
    CompareExchange {
        /// The memory scope.
        scope: SpirvScope,
        /// The semantics if the values are equal.
        equal: Semantics,
        /// The semantics if they are not equal.
        unequal: Semantics,
    },
    /// OpMemoryBarrier.
    MemoryBarrier {
        /// The memory scope.
        scope: SpirvScope,
        /// The semantics.
        semantics: Semantics,
    },
    /// OpControlBarrier.
    ControlBarrier {
        /// The execution scope.
        execution: SpirvScope,
        /// The memory scope.
        memory: SpirvScope,
        /// The semantics.
        semantics: Semantics,
    },
}

impl Encoded {
    /// The same operation on a volatile object. Only the Vulkan memory model has volatile operations; both masks of a
    /// compare-exchange must agree (VUID-StandaloneSpirv-UnequalMemorySemantics-10879), and barriers cannot be
    /// volatile (VUID-StandaloneSpirv-MemorySemantics-13551).
    #[must_use]
    pub const fn on_volatile(self, environment: Environment) -> Self {
        match (environment, self) {
            (Environment::Vulkan, Self::Atomic { scope, semantics }) => {
                Self::Atomic { scope, semantics: semantics.union(Semantics::VOLATILE) }
            }
            (Environment::Vulkan, Self::CompareExchange { scope, equal, unequal }) => Self::CompareExchange {
                scope,
                equal: equal.union(Semantics::VOLATILE),
                unequal: unequal.union(Semantics::VOLATILE),
            },
            (
                Environment::Vulkan,
                Self::Nothing | Self::MemoryBarrier { .. } | Self::ControlBarrier { .. },
            )
            | (Environment::OpenCl, _) => self,
        }
    }
}

/// The SPIR-V form of an operation for this target, or the reason why there is none.
///
/// On Vulkan, seq_cst must already be replaced (see [`super::replacement`]).
pub fn encode(target: &Target, operation: Operation, sync: Sync) -> Result<Encoded, Problem> {
    match operation {
        Operation::Atomic(access, object) => {
            check_access(access, Some(sync.order), sync.failure, Some(sync.scope))?;
            if object.intersection(Spaces::BOTH).is_empty() {
                return Err(object_not_shared());
            }
            expressible(target, sync)?;
            let scope = memory_scope(target, bounded(object, sync.scope));
            let spaces = Sync { spaces: sync.spaces.union(object), ..sync }.ordered();
            let semantics = |order| semantics(target.environment, order, spaces);
            Ok(match access {
                Access::Load | Access::Store | Access::Modify => {
                    Encoded::Atomic { scope, semantics: semantics(sync.order) }
                }
                Access::CompareExchange => {
                    let failure = failure(sync);
                    let equal = semantics(join(sync.order, failure));
                    Encoded::CompareExchange { scope, equal, unequal: semantics(failure) }
                }
            })
        }
        Operation::Fence => {
            check_fence(Some(sync.spaces.flags()), Some(sync.order), Some(sync.scope))?;
            expressible(target, sync)?;
            let spaces = sync.ordered();
            let fence = Encoded::MemoryBarrier {
                scope: memory_scope(target, bounded(spaces, sync.scope)),
                semantics: semantics(target.environment, sync.order, spaces),
            };
            Ok(match (target.environment, sync.scope) {
                (Environment::Vulkan | Environment::OpenCl, _) if spaces.is_empty() => Encoded::Nothing,
                // The accesses of one invocation through one image are always ordered.
                (Environment::Vulkan, Scope::WorkItem) => Encoded::Nothing,
                (Environment::OpenCl, Scope::WorkItem)
                | (
                    Environment::Vulkan | Environment::OpenCl,
                    Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices,
                ) => fence,
            })
        }
        Operation::WorkGroupBarrier => barrier(target, operation, sync, Scope::WorkGroup),
        Operation::SubGroupBarrier => barrier(target, operation, sync, Scope::SubGroup),
    }
}

/// The memory scope of a barrier includes at least the work-items that wait. Without flags, the barrier only waits.
fn barrier(target: &Target, operation: Operation, sync: Sync, execution: Scope) -> Result<Encoded, Problem> {
    check_barrier(operation, Some(sync.spaces.flags()), Some(sync.scope))?;
    expressible(target, sync)?;
    if execution == Scope::SubGroup && !target.features.subgroups {
        return Err(sub_groups_unavailable());
    }
    let spaces = sync.ordered();
    let who = bare_scope(target.environment, execution);
    Ok(if spaces.is_empty() {
        Encoded::ControlBarrier { execution: who, memory: who, semantics: Semantics::RELAXED }
    } else {
        let scope = bounded(spaces, wider(sync.scope, execution));
        Encoded::ControlBarrier {
            execution: who,
            memory: memory_scope(target, scope),
            semantics: semantics(target.environment, sync.order, spaces),
        }
    })
}

/// VUID-StandaloneSpirv-MemorySemantics-10866: Vulkan has no sequentially consistent operations. The failure order is no
/// stronger than the order, so checking the order is enough.
fn expressible(target: &Target, sync: Sync) -> Result<(), Problem> {
    match (target.environment, sync.order) {
        (Environment::Vulkan, Order::SeqCst) => Err(seq_cst_unavailable()),
        (Environment::Vulkan, Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel)
        | (
            Environment::OpenCl,
            Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst,
        ) => Ok(()),
    }
}

/// The given failure order, or the strongest one that the success order allows.
fn failure(sync: Sync) -> Order {
    sync.failure.unwrap_or_else(|| match failure_orders(sync.order) {
        [.., strongest] => *strongest,
        [] => Order::Relaxed,
    })
}

/// The weakest order that is as strong as both: `Equal` must not be weaker than `Unequal`
/// (VUID-StandaloneSpirv-UnequalMemorySemantics-10876), and release with acquire on failure needs both.
fn join(success: Order, failure: Order) -> Order {
    match (success, failure) {
        (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
        (Order::AcqRel, _) | (_, Order::AcqRel) => Order::AcqRel,
        (Order::Release, Order::Acquire) | (Order::Acquire, Order::Release) => Order::AcqRel,
        (Order::Release, Order::Relaxed | Order::Release) | (Order::Relaxed, Order::Release) => {
            Order::Release
        }
        (Order::Acquire, Order::Relaxed | Order::Acquire) | (Order::Relaxed, Order::Acquire) => {
            Order::Acquire
        }
        (Order::Relaxed, Order::Relaxed) => Order::Relaxed,
    }
}

/// Only one work-group accesses local memory, so wider scopes are narrowed to the work-group (OpenCL API 3.3.5).
fn bounded(memory: Spaces, scope: Scope) -> Scope {
    match scope {
        Scope::Device | Scope::AllSvmDevices if memory == Spaces::LOCAL => Scope::WorkGroup,
        Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices => scope,
    }
}

/// The wider of two scopes.
fn wider(a: Scope, b: Scope) -> Scope {
    const fn rank(scope: Scope) -> u8 {
        match scope {
            Scope::WorkItem => 0,
            Scope::SubGroup => 1,
            Scope::WorkGroup => 2,
            Scope::Device => 3,
            Scope::AllSvmDevices => 4,
        }
    }
    if rank(a) > rank(b) { a } else { b }
}

/// The SPIR-V scope in this environment, regardless of the target's features.
const fn bare_scope(environment: Environment, scope: Scope) -> SpirvScope {
    match (environment, scope) {
        (_, Scope::WorkItem) => SpirvScope::Invocation,
        (_, Scope::SubGroup) => SpirvScope::Subgroup,
        (_, Scope::WorkGroup) => SpirvScope::Workgroup,
        (_, Scope::Device) => SpirvScope::Device,
        // VUID-StandaloneSpirv-None-04638. Without fine-grained SVM atomics, the device scope is equivalent
        // (OpenCL API 3.3.5).
        (Environment::Vulkan, Scope::AllSvmDevices) => SpirvScope::Device,
        (Environment::OpenCl, Scope::AllSvmDevices) => SpirvScope::CrossDevice,
    }
}

/// The memory scope. On Vulkan, a device without availability chains gets at least Device (R10), a device without the device
/// scope gets QueueFamily instead (the runtime uses one queue family), and a device without sub-groups gets Workgroup
/// instead of Subgroup.
fn memory_scope(target: &Target, scope: Scope) -> SpirvScope {
    let bare = bare_scope(target.environment, scope);
    match target.environment {
        Environment::OpenCl => bare,
        Environment::Vulkan => {
            let features = &target.features;
            let widened = match bare {
                SpirvScope::Subgroup | SpirvScope::Workgroup if !features.availability_chains => {
                    SpirvScope::Device
                }
                SpirvScope::Subgroup if !features.subgroups => SpirvScope::Workgroup,
                SpirvScope::CrossDevice
                | SpirvScope::Device
                | SpirvScope::Workgroup
                | SpirvScope::Subgroup
                | SpirvScope::Invocation
                | SpirvScope::QueueFamily => bare,
            };
            match widened {
                SpirvScope::Device if !features.device_scope => SpirvScope::QueueFamily,
                SpirvScope::CrossDevice
                | SpirvScope::Device
                | SpirvScope::Workgroup
                | SpirvScope::Subgroup
                | SpirvScope::Invocation
                | SpirvScope::QueueFamily => widened,
            }
        }
    }
}

/// The mask: an order with the storage classes that it orders, or 0
/// (VUID-StandaloneSpirv-MemorySemantics-10870 and -10871).
fn semantics(environment: Environment, order: Order, spaces: Spaces) -> Semantics {
    let available = match environment {
        Environment::Vulkan => Semantics::MAKE_AVAILABLE,
        Environment::OpenCl => Semantics::RELAXED,
    };
    let visible = match environment {
        Environment::Vulkan => Semantics::MAKE_VISIBLE,
        Environment::OpenCl => Semantics::RELAXED,
    };
    let order = match order {
        Order::Relaxed => return Semantics::RELAXED,
        Order::Acquire => Semantics::ACQUIRE.union(visible),
        Order::Release => Semantics::RELEASE.union(available),
        Order::AcqRel => Semantics::ACQUIRE_RELEASE.union(available).union(visible),
        Order::SeqCst => Semantics::SEQUENTIALLY_CONSISTENT,
    };
    order.union(classes(environment, spaces))
}

/// The storage classes of these spaces.
fn classes(environment: Environment, spaces: Spaces) -> Semantics {
    let global = match environment {
        Environment::Vulkan => Semantics::UNIFORM_MEMORY,
        Environment::OpenCl => Semantics::CROSS_WORKGROUP_MEMORY,
    };
    [
        (Spaces::GLOBAL, global),
        (Spaces::LOCAL, Semantics::WORKGROUP_MEMORY),
        (Spaces::IMAGE, Semantics::IMAGE_MEMORY),
    ]
    .into_iter()
    .filter(|(space, _)| spaces.contains(*space))
    .fold(Semantics::RELAXED, |mask, (_, class)| mask.union(class))
}
