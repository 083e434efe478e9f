//! The synchronization of operations in the terms of `memory`. The only translation from IR to [`Sync`].

use super::{Atomic, Function, InstId, Known, Op, Type};
use kiln_memory::{Access, Group, Operation, Spaces, Sync, failure_orders};
use kiln_vocabulary::opencl::{FenceFlags, Order, Scope};

impl<T> Known<T> {
    /// The constant, or this value for a dynamic operand.
    pub fn unwrap_or(self, strongest: T) -> T {
        match self {
            Self::Constant(value) => value,
            Self::Dynamic => strongest,
        }
    }
}

impl Function {
    /// The memory that the object of an operation can be in: the pointee of its first argument.
    pub fn object_spaces(&self, id: InstId) -> Spaces {
        match self.insts[id].args.first().map(|&pointer| self.ty(pointer)) {
            Some(Type::Pointer(space)) => Spaces::for_pointer(space),
            _ => Spaces::NONE,
        }
    }
}

impl Atomic {
    /// The synchronization of the operation on an object in these spaces. Dynamic operands count as the strongest legal ones.
    pub fn sync(&self, object: Spaces) -> Sync {
        let order = self.order.unwrap_or(Access::from(self.op).strongest());
        let plain = Sync::atomic(object, order, self.scope.unwrap_or(Scope::AllSvmDevices));
        let strongest = failure_orders(order).last().copied().unwrap_or(Order::Relaxed);
        Sync {
            failure: self.failure.map(|failure| failure.unwrap_or(strongest)),
            spaces: self.spaces.map_or(plain.spaces, Spaces::from),
            ..plain
        }
    }

    /// Replaces the synchronization.
    pub fn set_sync(&mut self, sync: Sync) {
        self.order = Known::Constant(sync.order);
        self.failure = sync.failure.map(Known::Constant);
        self.scope = Known::Constant(sync.scope);
        self.spaces = Some(sync.spaces.flags());
    }
}

/// The synchronization of a fence. Dynamic operands count as the strongest ones.
pub fn fence_sync(flags: Known<FenceFlags>, order: Known<Order>, scope: Known<Scope>) -> Sync {
    let (order, scope) = (order.unwrap_or(Order::SeqCst), scope.unwrap_or(Scope::AllSvmDevices));
    Sync::fence(flags.unwrap_or(FenceFlags::ALL), order, scope)
}

/// The synchronization of a barrier. Dynamic operands count as the strongest ones.
pub fn barrier_sync(flags: Known<FenceFlags>, scope: Known<Scope>) -> Sync {
    Sync::barrier(flags.unwrap_or(FenceFlags::ALL), scope.unwrap_or(Scope::AllSvmDevices))
}

impl Op {
    /// A fence.
    pub const fn fence(sync: Sync) -> Self {
        Self::Fence {
            flags: Known::Constant(sync.spaces.flags()),
            order: Known::Constant(sync.order),
            scope: Known::Constant(sync.scope),
        }
    }

    /// A barrier with this execution scope.
    pub const fn barrier(execution: Scope, sync: Sync) -> Self {
        Self::Barrier {
            execution,
            flags: Known::Constant(sync.spaces.flags()),
            scope: Known::Constant(sync.scope),
        }
    }

    /// Whether this is an atomic operation, a fence or a barrier.
    pub const fn synchronizes(&self) -> bool {
        matches!(self, Self::Atomic(_) | Self::Fence { .. } | Self::Barrier { .. })
    }

    /// The number of trailing arguments that are orders, scopes and flags.
    pub fn dynamic_count(&self) -> usize {
        fn is_dynamic<T>(value: &Known<T>) -> usize {
            usize::from(matches!(value, Known::Dynamic))
        }
        match self {
            Self::Atomic(atomic) => {
                is_dynamic(&atomic.order)
                    + atomic.failure.as_ref().map_or(0, is_dynamic)
                    + is_dynamic(&atomic.scope)
            }
            Self::Fence { flags, order, scope } => is_dynamic(flags) + is_dynamic(order) + is_dynamic(scope),
            Self::Barrier { flags, scope, .. } => is_dynamic(flags) + is_dynamic(scope),
            _ => 0,
        }
    }

    /// The operation and its synchronization; `None` if it does not synchronize. `object` is the memory that the object of an
    /// atomic operation can be in. Dynamic operands count as the strongest legal ones.
    pub fn synchronization(&self, object: Spaces) -> Option<(Operation, Sync)> {
        match self {
            Self::Atomic(atomic) => Some((Operation::Atomic(atomic.op.into(), object), atomic.sync(object))),
            Self::Fence { flags, order, scope } => {
                Some((Operation::Fence, fence_sync(*flags, *order, *scope)))
            }
            Self::Barrier { execution, flags, scope } => {
                Some((Operation::Barrier(Group::from_scope(*execution)), barrier_sync(*flags, *scope)))
            }
            _ => None,
        }
    }

    /// Replaces the synchronization of an operation that synchronizes.
    pub fn set_synchronization(&mut self, sync: Sync) {
        match self {
            Self::Atomic(atomic) => atomic.set_sync(sync),
            Self::Fence { .. } => *self = Self::fence(sync),
            Self::Barrier { execution, .. } => *self = Self::barrier(*execution, sync),
            _ => {}
        }
    }
}
