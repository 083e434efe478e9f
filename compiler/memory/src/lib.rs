//! The mapping from OpenCL's orders, scopes and fences to SPIR-V's scopes and memory semantics.
//!
//! Owns every scope and every semantics mask that Kiln emits, the rules for their use in programs, and the
//! construction of sequential consistency for targets without it. Uses only the OpenCL vocabulary and the description
//! of the target; must not depend on syntax, types, the IR or a SPIR-V library. `docs/memory-model.md` is rendered
//! from this module.
//!
//! ```
//! use kiln_memory::{Sync, encode_fence};
//! use kiln_vocabulary::{
//!     opencl::{Environment, FenceFlags, Order, Scope},
//!     target::Target,
//! };
//!
//! let target = Target::full(Environment::Vulkan);
//! let fence = Sync::fence(FenceFlags::GLOBAL, Order::Acquire, Scope::Device);
//! let operands = encode_fence(&target, fence).expect("an instruction");
//! // Acquire + UniformMemory + MakeVisible
//! assert_eq!(operands.semantics.value(), 0x4042);
//! ```

mod advice;
mod decode;
mod encode;
mod legal;
mod mapping_rule;
mod page;
mod spirv;
mod strengthen;
#[cfg(test)]
mod tests;

use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FenceFlags, Order, Scope};

pub use advice::{advise_atomic, advise_barrier, advise_fence, advise_legacy_fence, advise_weakened};
pub use decode::{Decoded, decode_scope, decode_semantics};
pub use encode::{
    AtomicOperands, BarrierOperands, FenceOperands, check, encode_atomic, encode_barrier, encode_fence,
};
pub use legal::{
    Argument, Problem, Rule, Support, check_atomic, check_barrier, check_fence, check_support,
    flags_of_value, order_of_value, scope_of_value,
};
pub use mapping_rule::MappingRule;
pub use page::render_markdown;
pub use spirv::{Semantics, SpirvScope};
pub use strengthen::{ProgramFacts, Replacement, explained_replacement, replacement};

/// A set of kinds of memory: those that an operation orders, or those that its object can be in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spaces(FenceFlags);

impl Spaces {
    /// No memory.
    pub const NONE: Self = Self(FenceFlags::NONE);
    /// Global memory.
    pub const GLOBAL: Self = Self(FenceFlags::GLOBAL);
    /// Local memory.
    pub const LOCAL: Self = Self(FenceFlags::LOCAL);
    /// Image memory.
    pub const IMAGE: Self = Self(FenceFlags::IMAGE);
    /// Global and local memory.
    pub const BOTH: Self = Self(FenceFlags::GLOBAL.union(FenceFlags::LOCAL));

    /// The kinds of memory that a pointer to this address space can point to, for atomic operations. Private and
    /// constant objects are not shared, so they are not included.
    pub const fn for_pointer(space: AddressSpace) -> Self {
        match space {
            AddressSpace::Global => Self::GLOBAL,
            AddressSpace::Local => Self::LOCAL,
            AddressSpace::Generic => Self::BOTH,
            AddressSpace::Private | AddressSpace::Constant => Self::NONE,
        }
    }

    /// The fence flags of these spaces in OpenCL C.
    pub const fn flags(self) -> FenceFlags {
        self.0
    }

    /// Whether every space of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0.contains(other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The spaces of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0.union(other.0))
    }

    /// The spaces that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0.intersection(other.0))
    }
}

impl From<FenceFlags> for Spaces {
    fn from(flags: FenceFlags) -> Self {
        Self(flags)
    }
}

/// How an atomic operation accesses memory, which determines its legal orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A read.
    Load,
    /// A write.
    Store,
    /// An atomic read and write.
    Modify,
    /// A read, and a write if the value is the expected one.
    CompareExchange,
}

impl Access {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Load, Self::Store, Self::Modify, Self::CompareExchange];

    /// The legal orders of the operation (OpenCL C 6.15.12.7.1 to 6.15.12.7.8), weakest first.
    pub const fn orders(self) -> &'static [Order] {
        match self {
            Self::Load => &[Order::Relaxed, Order::Acquire, Order::SeqCst],
            Self::Store => &[Order::Relaxed, Order::Release, Order::SeqCst],
            Self::Modify | Self::CompareExchange => &Order::ALL,
        }
    }

    /// The strongest legal order, which replaces an order that is known only at run time.
    pub const fn strongest(self) -> Order {
        Order::SeqCst
    }
}

impl From<AtomicOp> for Access {
    fn from(op: AtomicOp) -> Self {
        match op {
            AtomicOp::Load => Self::Load,
            AtomicOp::Store | AtomicOp::FlagClear => Self::Store,
            AtomicOp::Exchange | AtomicOp::Fetch(_) | AtomicOp::FlagTestAndSet => Self::Modify,
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => Self::CompareExchange,
        }
    }
}

/// The legal orders of a compare-exchange on failure: no release, and none stronger than on success
/// (OpenCL C 6.15.12.7.4). Release and acquire are not comparable.
pub const fn failure_orders(success: Order) -> &'static [Order] {
    match success {
        Order::Relaxed => &[Order::Relaxed],
        Order::Acquire | Order::Release | Order::AcqRel => &[Order::Relaxed, Order::Acquire],
        Order::SeqCst => &[Order::Relaxed, Order::Acquire, Order::SeqCst],
    }
}

/// An operation that can synchronize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// An atomic operation on an object in one of these spaces.
    Atomic(Access, Spaces),
    /// `atomic_work_item_fence`
    Fence,
    /// `work_group_barrier` or `sub_group_barrier`
    Barrier(Group),
}

/// The work-items that wait at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// All work-items of the work-group.
    Work,
    /// All work-items of the sub-group.
    Sub,
}

impl Group {
    /// The group of a barrier's execution scope.
    pub const fn from_scope(execution: Scope) -> Self {
        match execution {
            Scope::WorkItem | Scope::SubGroup => Self::Sub,
            Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices => Self::Work,
        }
    }

    /// The scope that contains these work-items.
    pub const fn scope(self) -> Scope {
        match self {
            Self::Work => Scope::WorkGroup,
            Self::Sub => Scope::SubGroup,
        }
    }
}

/// How an operation synchronizes, in OpenCL's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sync {
    /// The order; for a compare-exchange, the order on success. A barrier is acquire-release.
    pub order: Order,
    /// The order of a compare-exchange on failure; `None` for other operations.
    pub failure: Option<Order>,
    /// The scope.
    pub scope: Scope,
    /// The memory that is ordered.
    pub spaces: Spaces,
}

impl Sync {
    /// An atomic operation orders the memory of its object. seq_cst orders both global and local memory
    /// (OpenCL API 3.3.6).
    pub const fn atomic(object: Spaces, order: Order, scope: Scope) -> Self {
        let spaces = match order {
            Order::SeqCst => Spaces::BOTH,
            Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel => object,
        };
        Self { order, failure: None, scope, spaces }
    }

    /// A compare-exchange with these orders for success and failure.
    pub const fn compare_exchange(object: Spaces, order: Order, failure: Order, scope: Scope) -> Self {
        Self { failure: Some(failure), ..Self::atomic(object, order, scope) }
    }

    /// An atomic function of OpenCL C 1.x, which is relaxed (OpenCL C 6.15.12.8). Existing kernels use these functions across
    /// work-groups, so they have device scope, although the specification says work-group scope.
    pub const fn legacy_atomic(object: Spaces) -> Self {
        Self { failure: Some(Order::Relaxed), ..Self::atomic(object, Order::Relaxed, Scope::Device) }
    }

    /// `atomic_work_item_fence` (OpenCL C 6.15.12.5).
    pub const fn fence(flags: FenceFlags, order: Order, scope: Scope) -> Self {
        Self { order, failure: None, scope, spaces: Spaces(flags) }
    }

    /// A barrier: a release fence before, an acquire fence after (OpenCL API 3.3.6.3 and 3.3.6.4).
    pub const fn barrier(flags: FenceFlags, scope: Scope) -> Self {
        Self::fence(flags, Order::AcqRel, scope)
    }

    /// The memory that is ordered, independently of `spaces`: relaxed orders nothing, seq_cst orders both global and local
    /// memory (OpenCL API 3.3.6).
    ///
    /// On Vulkan, plain accesses to a space that an operation of the kernel orders must be non-private. The memory model
    /// orders no other accesses, so without this a correctly synchronized program has a data race.
    pub fn ordered(&self) -> Spaces {
        match self.order {
            Order::Relaxed => Spaces::NONE,
            Order::Acquire | Order::Release | Order::AcqRel => self.spaces,
            Order::SeqCst => self.spaces.union(Spaces::BOTH),
        }
    }

    /// Replaces seq_cst by acquire, release or both. Users can choose this instead of the rules for seq_cst; it permits
    /// outcomes that OpenCL forbids.
    #[must_use]
    pub fn without_seq_cst(self, operation: Operation) -> Self {
        let weaken = |order, by| if order == Order::SeqCst { by } else { order };
        let by = match operation {
            Operation::Atomic(Access::Load, _) => Order::Acquire,
            Operation::Atomic(Access::Store, _) => Order::Release,
            Operation::Atomic(Access::Modify | Access::CompareExchange, _)
            | Operation::Fence
            | Operation::Barrier(_) => Order::AcqRel,
        };
        Self {
            order: weaken(self.order, by),
            failure: self.failure.map(|failure| weaken(failure, Order::Acquire)),
            spaces: self.ordered(),
            ..self
        }
    }
}

/// The spaces whose plain accesses must be non-private in a kernel with these operations (see [`Sync::ordered`]).
pub fn synchronized(operations: impl IntoIterator<Item = Sync>) -> Spaces {
    operations.into_iter().fold(Spaces::NONE, |spaces, sync| spaces.union(sync.ordered()))
}

/// The fences to emit for a fence with non-constant arguments: they order at least what any legal values of the unknown
/// arguments order. Image fences are separate, because OpenCL C 6.15.15 gives them another order and scope.
pub fn strongest_fence(flags: Option<FenceFlags>, order: Option<Order>, scope: Option<Scope>) -> Vec<Sync> {
    let plain = flags.map_or(Spaces::BOTH, |flags| Spaces::from(flags).intersection(Spaces::BOTH));
    let image = flags.is_none_or(|flags| flags.contains(FenceFlags::IMAGE))
        && order.is_none_or(|order| order == Order::AcqRel)
        && scope.is_none_or(|scope| scope == Scope::WorkItem);
    let plain = (!plain.is_empty() && scope != Some(Scope::WorkItem)).then(|| {
        Sync::fence(plain.flags(), order.unwrap_or(Order::SeqCst), scope.unwrap_or(Scope::AllSvmDevices))
    });
    let image = image.then(|| Sync::fence(FenceFlags::IMAGE, Order::AcqRel, Scope::WorkItem));
    plain.into_iter().chain(image).collect()
}

/// The barriers to emit for a barrier with non-constant arguments: they order at least what any legal values of the
/// unknown arguments order. With image memory, the scope of a work-group barrier is the work-group (OpenCL C 6.15.8).
pub fn strongest_barrier(group: Group, flags: Option<FenceFlags>, scope: Option<Scope>) -> Vec<Sync> {
    let is_narrow = |flags: FenceFlags| group == Group::Work && flags.contains(FenceFlags::IMAGE);
    let scope = scope.filter(|scope| *scope != Scope::WorkItem);
    match (flags, scope) {
        (Some(flags), Some(scope)) => vec![Sync::barrier(flags, scope)],
        (Some(flags), None) if is_narrow(flags) => vec![Sync::barrier(flags, Scope::WorkGroup)],
        (Some(flags), None) => vec![Sync::barrier(flags, Scope::AllSvmDevices)],
        (None, Some(scope)) if scope != Scope::WorkGroup && is_narrow(FenceFlags::ALL) => {
            vec![Sync::barrier(Spaces::BOTH.flags(), scope)]
        }
        (None, Some(scope)) => vec![Sync::barrier(FenceFlags::ALL, scope)],
        (None, None) if is_narrow(FenceFlags::ALL) => vec![
            Sync::barrier(FenceFlags::IMAGE, Scope::WorkGroup),
            Sync::barrier(Spaces::BOTH.flags(), Scope::AllSvmDevices),
        ],
        (None, None) => vec![Sync::barrier(FenceFlags::ALL, Scope::AllSvmDevices)],
    }
}
