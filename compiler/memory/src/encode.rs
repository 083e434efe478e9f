//! Translates an operation and its synchronization to SPIR-V's scopes and semantics.
//!
//! All matches are without wildcard arms, so a new order, scope, space or environment does not compile until each rule
//! handles it. Atomic operations, fences and barriers have operands of different types. `check` rejects operations that
//! `legal` rejects or that the target cannot express; the operands of all others are valid.

use super::{
    Access, Group, Operation, Problem, Semantics, Spaces, SpirvScope, Sync, check_barrier, check_fence,
    failure_orders,
    legal::{check_access, object_not_shared, seq_cst_unavailable, sub_groups_unavailable},
};
use kiln_vocabulary::{
    opencl::{Environment, Order, Scope},
    target::Target,
};

/// The operands of an atomic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AtomicOperands {
    /// The memory scope.
    pub scope: SpirvScope,
    /// The semantics; for OpAtomicCompareExchange, those if the values are equal.
    pub semantics: Semantics,
    /// The semantics of OpAtomicCompareExchange if the values are not equal. Other instructions have none.
    pub unequal: Option<Semantics>,
}

impl AtomicOperands {
    /// The operands for a volatile object. Only the Vulkan memory model has volatile operations; both masks of a
    /// compare-exchange must agree (VUID-StandaloneSpirv-UnequalMemorySemantics-10879). Barriers cannot be volatile
    /// (VUID-StandaloneSpirv-MemorySemantics-13551).
    #[must_use]
    pub fn on_volatile(self, environment: Environment) -> Self {
        match environment {
            Environment::OpenCl => self,
            Environment::Vulkan => Self {
                semantics: self.semantics.union(Semantics::VOLATILE),
                unequal: self.unequal.map(|unequal| unequal.union(Semantics::VOLATILE)),
                ..self
            },
        }
    }
}

/// The operands of OpMemoryBarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FenceOperands {
    /// The memory scope.
    pub scope: SpirvScope,
    /// The semantics.
    pub semantics: Semantics,
}

/// The operands of OpControlBarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierOperands {
    /// The execution scope.
    pub execution: SpirvScope,
    /// The memory scope.
    pub memory: SpirvScope,
    /// The semantics.
    pub semantics: Semantics,
}

/// Checks whether an operation is legal and the target can express it. Otherwise its operands are invalid.
///
/// On Vulkan, seq_cst must already be replaced (see [`super::replacement`]).
pub fn check(target: &Target, operation: Operation, sync: Sync) -> Result<(), Problem> {
    match operation {
        Operation::Atomic(access, object) => {
            check_access(access, Some(sync.order), sync.failure, Some(sync.scope))?;
            if object.intersection(Spaces::BOTH).is_empty() {
                return Err(object_not_shared());
            }
        }
        Operation::Fence => check_fence(Some(sync.spaces.flags()), Some(sync.order), Some(sync.scope))?,
        Operation::Barrier(group) => {
            check_barrier(group, Some(sync.spaces.flags()), Some(sync.scope))?;
            if group == Group::Sub && !target.features.subgroups {
                return Err(sub_groups_unavailable());
            }
        }
    }
    check_expressible(target, sync)
}

/// The operands of an atomic operation with this access to an object in these spaces.
pub fn encode_atomic(target: &Target, access: Access, object: Spaces, sync: Sync) -> AtomicOperands {
    let scope = memory_scope(target, narrow_scope(object, sync.scope));
    let spaces = Sync { spaces: sync.spaces.union(object), ..sync }.ordered();
    let semantics = |order| semantics(target.environment, order, spaces);
    match access {
        Access::Load | Access::Store | Access::Modify => {
            AtomicOperands { scope, semantics: semantics(sync.order), unequal: None }
        }
        Access::CompareExchange => {
            let failure = failure_order(sync);
            let equal = semantics(joined_order(sync.order, failure));
            AtomicOperands { scope, semantics: equal, unequal: Some(semantics(failure)) }
        }
    }
}

/// The operands of a fence. `None` if the fence needs no instruction, because it orders nothing, or because the target
/// already orders those accesses.
pub fn encode_fence(target: &Target, sync: Sync) -> Option<FenceOperands> {
    let spaces = sync.ordered();
    let is_needed = match (target.environment, sync.scope) {
        // The accesses of one invocation through one image are always ordered.
        (Environment::Vulkan, Scope::WorkItem) => false,
        (Environment::OpenCl, Scope::WorkItem)
        | (
            Environment::Vulkan | Environment::OpenCl,
            Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices,
        ) => !spaces.is_empty(),
    };
    is_needed.then(|| FenceOperands {
        scope: memory_scope(target, narrow_scope(spaces, sync.scope)),
        semantics: semantics(target.environment, sync.order, spaces),
    })
}

/// The operands of a barrier. The memory scope includes at least the work-items that wait. Without flags, the barrier only
/// waits.
pub fn encode_barrier(target: &Target, group: Group, sync: Sync) -> BarrierOperands {
    let spaces = sync.ordered();
    let execution = bare_scope(target.environment, group.scope());
    if spaces.is_empty() {
        return BarrierOperands { execution, memory: execution, semantics: Semantics::RELAXED };
    }
    BarrierOperands {
        execution,
        memory: memory_scope(target, narrow_scope(spaces, wider_scope(sync.scope, group.scope()))),
        semantics: semantics(target.environment, sync.order, spaces),
    }
}

/// VUID-StandaloneSpirv-MemorySemantics-10866: Vulkan has no sequentially consistent operations. The failure order is no
/// stronger than the order, so checking the order is enough.
fn check_expressible(target: &Target, sync: Sync) -> Result<(), Problem> {
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
fn failure_order(sync: Sync) -> Order {
    sync.failure.unwrap_or_else(|| match failure_orders(sync.order) {
        [.., strongest] => *strongest,
        [] => Order::Relaxed,
    })
}

/// The weakest order that is as strong as both: `Equal` must not be weaker than `Unequal`
/// (VUID-StandaloneSpirv-UnequalMemorySemantics-10876), and release with acquire on failure needs both.
fn joined_order(success: Order, failure: Order) -> Order {
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
fn narrow_scope(memory: Spaces, scope: Scope) -> Scope {
    match scope {
        Scope::Device | Scope::AllSvmDevices if memory == Spaces::LOCAL => Scope::WorkGroup,
        Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices => scope,
    }
}

/// The wider of two scopes.
fn wider_scope(a: Scope, b: Scope) -> Scope {
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
    order.union(storage_classes(environment, spaces))
}

/// The storage classes of these spaces.
fn storage_classes(environment: Environment, spaces: Spaces) -> Semantics {
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
