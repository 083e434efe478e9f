//! The inverse of `encode`: translates the operands of a module of the OpenCL environment to OpenCL's terms.
//!
//! Decodes numbers only; `legal` has the rules for the orders and scopes of operations.

use super::{Semantics, Spaces, SpirvScope};
use kiln_vocabulary::opencl::{Order, Scope};

/// The bits of a mask that name memory which modules of the OpenCL environment do not have.
const ABSENT: u32 = 0x40 | 0x80 | 0x400 | 0x1000;

/// A memory semantics mask in OpenCL's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The order.
    pub order: Order,
    /// The memory that the mask names.
    pub spaces: Spaces,
}

/// The scope with this number. `None` if OpenCL has no such scope.
pub fn decode_scope(number: u32) -> Option<Scope> {
    Some(match number {
        _ if number == SpirvScope::CrossDevice.value() => Scope::AllSvmDevices,
        _ if number == SpirvScope::Device.value() => Scope::Device,
        _ if number == SpirvScope::Workgroup.value() => Scope::WorkGroup,
        _ if number == SpirvScope::Subgroup.value() => Scope::SubGroup,
        _ if number == SpirvScope::Invocation.value() => Scope::WorkItem,
        _ => return None,
    })
}

/// The order and the memory of a mask. `None` if it has several orders, or bits of the Vulkan memory model.
pub fn decode_semantics(mask: u32) -> Option<Decoded> {
    let mut rest = mask & !ABSENT;
    let mut take = |bits: Semantics| {
        let is_set = rest & bits.value() != 0;
        rest &= !bits.value();
        is_set
    };
    let orders = [
        (Semantics::ACQUIRE, Order::Acquire),
        (Semantics::RELEASE, Order::Release),
        (Semantics::ACQUIRE_RELEASE, Order::AcqRel),
        (Semantics::SEQUENTIALLY_CONSISTENT, Order::SeqCst),
    ];
    let classes = [
        (Semantics::CROSS_WORKGROUP_MEMORY, Spaces::GLOBAL),
        (Semantics::WORKGROUP_MEMORY, Spaces::LOCAL),
        (Semantics::IMAGE_MEMORY, Spaces::IMAGE),
    ];
    let given: Vec<Order> =
        orders.into_iter().filter(|(bits, _)| take(*bits)).map(|(_, order)| order).collect();
    let named = classes.into_iter().filter(|(bits, _)| take(*bits));
    let spaces = named.fold(Spaces::NONE, |all, (_, space)| all.union(space));
    match given[..] {
        _ if rest != 0 => None,
        [] => Some(Decoded { order: Order::Relaxed, spaces }),
        [order] => Some(Decoded { order, spaces }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Operation, Sync, check, encode_atomic, encode_fence};
    use kiln_vocabulary::{
        opencl::{Environment, FenceFlags},
        target::Target,
    };

    #[test]
    fn scopes_are_decoded() {
        let known = Scope::ALL.map(|scope| (0..5).find(|&number| decode_scope(number) == Some(scope)));
        assert_eq!(known, [Some(4), Some(3), Some(2), Some(1), Some(0)]);
        assert_eq!(decode_scope(5), None);
        assert_eq!(decode_scope(u32::MAX), None);
    }

    /// Decoding the operands for the OpenCL environment returns the same order and memory.
    #[test]
    fn inverse_of_encode() {
        let target = Target::full(Environment::OpenCl);
        let mut count = 0;
        for space in [Spaces::GLOBAL, Spaces::LOCAL, Spaces::BOTH] {
            for order in Order::ALL {
                for scope in Scope::ALL {
                    for access in Access::ALL {
                        // The mask of a compare-exchange includes the order for failure.
                        let sync = match access {
                            Access::CompareExchange => {
                                Sync::compare_exchange(space, order, Order::Relaxed, scope)
                            }
                            Access::Load | Access::Store | Access::Modify => {
                                Sync::atomic(space, order, scope)
                            }
                        };
                        if check(&target, Operation::Atomic(access, space), sync).is_err() {
                            continue;
                        }
                        let operands = encode_atomic(&target, access, space, sync);
                        let decoded = decode_semantics(operands.semantics.value()).expect("a mask");
                        assert_eq!((decoded.order, decoded.spaces), (order, sync.ordered()));
                        let narrowed = if space == Spaces::LOCAL { Scope::WorkGroup } else { scope };
                        let decoded = decode_scope(operands.scope.value()).expect("a scope");
                        assert!(decoded == scope || decoded == narrowed, "{decoded:?}");
                        count += 1;
                    }
                    let sync = Sync::fence(space.flags(), order, scope);
                    if check(&target, Operation::Fence, sync).is_ok()
                        && let Some(operands) = encode_fence(&target, sync)
                    {
                        let decoded = decode_semantics(operands.semantics.value()).expect("a mask");
                        assert_eq!((decoded.order, decoded.spaces), (order, sync.ordered()));
                        count += 1;
                    }
                }
            }
        }
        assert!(count > 100, "{count}");
    }

    #[test]
    fn masks_are_decoded() {
        let decoded = |mask| decode_semantics(mask).map(|it| (it.order, it.spaces.flags()));
        assert_eq!(decoded(0), Some((Order::Relaxed, FenceFlags::NONE)));
        assert_eq!(decoded(0x110), Some((Order::SeqCst, FenceFlags::LOCAL)));
        assert_eq!(decoded(0x808), Some((Order::AcqRel, FenceFlags::IMAGE)));
        // A mask that DPC++ writes: SequentiallyConsistent, and SubgroupMemory, which kernels do not have.
        assert_eq!(decoded(0x390), Some((Order::SeqCst, FenceFlags::LOCAL.union(FenceFlags::GLOBAL))));
        // Two orders, MakeVisible, and a bit that does not exist.
        assert_eq!([0x6, 0x4002, 0x1_0000].map(decoded), [None; 3]);
    }
}
