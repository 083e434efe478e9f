//! The rules for scopes and memory semantics, as functions of the operands' values.
//!
//! Written from the specifications, independently of the compiler's table, which is tested against these rules.

use rspirv::spirv::{MemorySemantics, Scope};

use super::Rule;
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[
    VK_ONE_ORDER,
    VK_SEQ_CST,
    VK_STORE,
    VK_LOAD,
    VK_FENCE_RELAXED,
    VK_NO_CLASS,
    VK_RELAXED_CLASS,
    VK_AVAILABLE,
    VK_VISIBLE,
    VK_VOLATILE,
    VK_UNEQUAL_RELEASE,
    VK_UNEQUAL_STRONGER,
    VK_UNEQUAL_CLASS,
    VK_UNEQUAL_VISIBLE,
    VK_UNEQUAL_VOLATILE,
    VK_EXECUTION,
    VK_MEMORY,
    VK_INVOCATION,
    VK_GROUP,
    BITS,
    ONE_ORDER,
    STORE,
    LOAD,
    MODEL_BITS,
    UNEQUAL_RELEASE,
    UNEQUAL_STRONGER,
    CL_EXECUTION,
    CL_MEMORY,
    CL_ATOMIC,
    CL_ASYNC,
];

const VK_ONE_ORDER: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10865",
    text: "at most one of Acquire, Release and AcquireRelease",
};
const VK_SEQ_CST: Rule =
    Rule { id: "VUID-StandaloneSpirv-MemorySemantics-10866", text: "no SequentiallyConsistent on Vulkan" };
const VK_STORE: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10867",
    text: "no Acquire or AcquireRelease with OpAtomicStore",
};
const VK_LOAD: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10868",
    text: "no Release or AcquireRelease with OpAtomicLoad",
};
const VK_FENCE_RELAXED: Rule =
    Rule { id: "VUID-StandaloneSpirv-MemorySemantics-10869", text: "OpMemoryBarrier is not relaxed" };
const VK_NO_CLASS: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10870",
    text: "an order that is not relaxed names at least one storage class of Vulkan",
};
const VK_RELAXED_CLASS: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10871",
    text: "a mask that names a storage class has an order that is not relaxed",
};
const VK_AVAILABLE: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10872",
    text: "MakeAvailable requires Release or AcquireRelease",
};
const VK_VISIBLE: Rule = Rule {
    id: "VUID-StandaloneSpirv-MemorySemantics-10873",
    text: "MakeVisible requires Acquire or AcquireRelease",
};
const VK_VOLATILE: Rule =
    Rule { id: "VUID-StandaloneSpirv-MemorySemantics-13551", text: "no Volatile on barriers" };
const VK_UNEQUAL_RELEASE: Rule = Rule {
    id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10875",
    text: "Unequal is neither Release nor AcquireRelease",
};
const VK_UNEQUAL_STRONGER: Rule = Rule {
    id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10876",
    text: "Unequal is no stronger than Equal",
};
const VK_UNEQUAL_CLASS: Rule = Rule {
    id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10877",
    text: "Unequal names no storage class that Equal does not name",
};
const VK_UNEQUAL_VISIBLE: Rule = Rule {
    id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10878",
    text: "Unequal has MakeVisible only if Equal has it",
};
const VK_UNEQUAL_VOLATILE: Rule = Rule {
    id: "VUID-StandaloneSpirv-UnequalMemorySemantics-10879",
    text: "both Equal and Unequal have Volatile, or neither has it",
};
const VK_EXECUTION: Rule =
    Rule { id: "VUID-StandaloneSpirv-None-04636", text: "the execution scope is Workgroup or Subgroup" };
const VK_MEMORY: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-04638",
    text: "the memory scope is Device, QueueFamily, Workgroup, ShaderCallKHR, Subgroup or Invocation",
};
const VK_INVOCATION: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-04641",
    text: "with memory scope Invocation, the order is relaxed",
};
const VK_GROUP: Rule =
    Rule { id: "VUID-StandaloneSpirv-None-04642", text: "the scope of group operations is Subgroup" };
const BITS: Rule = Rule {
    id: "SPIRV-MemorySemantics-bits",
    text: "a memory semantics mask has only bits that SPIR-V defines",
};
const ONE_ORDER: Rule = Rule {
    id: "SPIRV-MemorySemantics-order",
    text: "at most one of Acquire, Release, AcquireRelease and SequentiallyConsistent",
};
const STORE: Rule = Rule {
    id: "OpenCL-atomic-store-order",
    text: "a store is neither Acquire nor AcquireRelease (OpenCL C 6.15.12.7.1)",
};
const LOAD: Rule = Rule {
    id: "OpenCL-atomic-load-order",
    text: "a load is neither Release nor AcquireRelease (OpenCL C 6.15.12.7.2)",
};
const MODEL_BITS: Rule = Rule {
    id: "SPIRV-MemorySemantics-VulkanMemoryModel",
    text: "MakeAvailable, MakeVisible, Volatile and OutputMemory need the VulkanMemoryModel capability",
};
const UNEQUAL_RELEASE: Rule = Rule {
    id: "SPIRV-OpAtomicCompareExchange-Unequal-release",
    text: "Unequal is neither Release nor AcquireRelease",
};
const UNEQUAL_STRONGER: Rule =
    Rule { id: "SPIRV-OpAtomicCompareExchange-Unequal-stronger", text: "Unequal is no stronger than Equal" };
const CL_EXECUTION: Rule = Rule {
    id: "OpenCL-execution-scope",
    text: "the execution scope is Workgroup or Subgroup (OpenCL SPIR-V environment, validation rules)",
};
const CL_MEMORY: Rule = Rule {
    id: "OpenCL-memory-scope",
    text: "the memory scope is CrossDevice, Device, Workgroup, Subgroup or Invocation",
};
const CL_ATOMIC: Rule =
    Rule { id: "OpenCL-atomic-scope", text: "the memory scope of an atomic operation is not Invocation" };
const CL_ASYNC: Rule = Rule {
    id: "OpenCL-async-scope",
    text: "the scope of OpGroupAsyncCopy and OpGroupWaitEvents is Workgroup",
};

/// The kinds of instructions that the rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `OpAtomicLoad`
    AtomicLoad,
    /// `OpAtomicStore` and other instructions that only store.
    AtomicStore,
    /// Atomics that read and write.
    AtomicModify,
    /// `OpMemoryBarrier`
    MemoryBarrier,
    /// `OpControlBarrier`
    ControlBarrier,
}

/// The kinds of instructions with an execution scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// A barrier.
    Barrier,
    /// An operation over a group.
    Group,
    /// An asynchronous copy.
    Async,
}

const ORDERS: MemorySemantics = MemorySemantics::ACQUIRE
    .union(MemorySemantics::RELEASE)
    .union(MemorySemantics::ACQUIRE_RELEASE)
    .union(MemorySemantics::SEQUENTIALLY_CONSISTENT);
const ACQUIRES: MemorySemantics = MemorySemantics::ACQUIRE.union(MemorySemantics::ACQUIRE_RELEASE);
const RELEASES: MemorySemantics = MemorySemantics::RELEASE.union(MemorySemantics::ACQUIRE_RELEASE);
/// Vulkan's storage classes.
const VULKAN_CLASSES: MemorySemantics = MemorySemantics::UNIFORM_MEMORY
    .union(MemorySemantics::WORKGROUP_MEMORY)
    .union(MemorySemantics::IMAGE_MEMORY)
    .union(MemorySemantics::OUTPUT_MEMORY);
const MODEL: MemorySemantics = MemorySemantics::MAKE_AVAILABLE
    .union(MemorySemantics::MAKE_VISIBLE)
    .union(MemorySemantics::VOLATILE)
    .union(MemorySemantics::OUTPUT_MEMORY);

/// The rules that a memory semantics mask violates.
pub fn violated_by_mask(
    environment: Environment,
    vulkan_model: bool,
    kind: Kind,
    mask: u32,
) -> Vec<&'static Rule> {
    let Some(mask) = MemorySemantics::from_bits(mask) else { return vec![&BITS] };
    let orders = (mask & ORDERS).bits().count_ones();
    let mut broken = Vec::new();
    let mut check = |holds: bool, rule| {
        if !holds {
            broken.push(rule);
        }
    };
    let store_acquires = kind == Kind::AtomicStore && mask.intersects(ACQUIRES);
    let load_releases = kind == Kind::AtomicLoad && mask.intersects(RELEASES);
    check(vulkan_model || !mask.intersects(MODEL), &MODEL_BITS);
    match environment {
        Environment::OpenCl => {
            check(orders <= 1, &ONE_ORDER);
            check(!store_acquires, &STORE);
            check(!load_releases, &LOAD);
        }
        Environment::Vulkan => {
            let barrier = matches!(kind, Kind::MemoryBarrier | Kind::ControlBarrier);
            let names_class = mask.intersects(VULKAN_CLASSES);
            check(orders <= 1, &VK_ONE_ORDER);
            check(!mask.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT), &VK_SEQ_CST);
            check(!store_acquires, &VK_STORE);
            check(!load_releases, &VK_LOAD);
            check(kind != Kind::MemoryBarrier || orders != 0, &VK_FENCE_RELAXED);
            check(orders == 0 || names_class, &VK_NO_CLASS);
            check(orders != 0 || !names_class, &VK_RELAXED_CLASS);
            check(
                !mask.contains(MemorySemantics::MAKE_AVAILABLE) || mask.intersects(RELEASES),
                &VK_AVAILABLE,
            );
            check(!mask.contains(MemorySemantics::MAKE_VISIBLE) || mask.intersects(ACQUIRES), &VK_VISIBLE);
            check(!barrier || !mask.contains(MemorySemantics::VOLATILE), &VK_VOLATILE);
        }
    }
    broken
}

/// The rules that the two masks of a compare-exchange violate together.
pub fn violated_by_pair(environment: Environment, equal: u32, unequal: u32) -> Vec<&'static Rule> {
    let (equal, unequal) =
        (MemorySemantics::from_bits_truncate(equal), MemorySemantics::from_bits_truncate(unequal));
    let mut broken = Vec::new();
    let mut check = |holds: bool, rule| {
        if !holds {
            broken.push(rule);
        }
    };
    let keeps_writes = !unequal.intersects(RELEASES);
    // Acquire and Release are not comparable.
    let no_stronger = rank(unequal) <= rank(equal);
    match environment {
        Environment::OpenCl => {
            check(keeps_writes, &UNEQUAL_RELEASE);
            check(no_stronger, &UNEQUAL_STRONGER);
        }
        Environment::Vulkan => {
            check(keeps_writes, &VK_UNEQUAL_RELEASE);
            check(no_stronger, &VK_UNEQUAL_STRONGER);
            check(equal.contains(unequal & VULKAN_CLASSES), &VK_UNEQUAL_CLASS);
            check(equal.contains(unequal & MemorySemantics::MAKE_VISIBLE), &VK_UNEQUAL_VISIBLE);
            let volatile = MemorySemantics::VOLATILE;
            check(equal.contains(volatile) == unequal.contains(volatile), &VK_UNEQUAL_VOLATILE);
        }
    }
    broken
}

fn rank(mask: MemorySemantics) -> u8 {
    if mask.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
        3
    } else if mask.contains(MemorySemantics::ACQUIRE_RELEASE) {
        2
    } else {
        u8::from(mask.intersects(ORDERS))
    }
}

/// The rules that a memory scope violates, given the semantics of the same instruction.
pub fn violated_by_memory_scope(
    environment: Environment,
    kind: Kind,
    scope: u32,
    masks: &[u32],
) -> Vec<&'static Rule> {
    let scope = Scope::from_u32(scope);
    let orders = masks.iter().any(|mask| mask & ORDERS.bits() != 0);
    match environment {
        Environment::Vulkan => match scope {
            Some(
                Scope::Device
                | Scope::QueueFamily
                | Scope::Workgroup
                | Scope::ShaderCallKHR
                | Scope::Subgroup,
            ) => Vec::new(),
            Some(Scope::Invocation) if orders => vec![&VK_INVOCATION],
            Some(Scope::Invocation) => Vec::new(),
            Some(Scope::CrossDevice) | None => vec![&VK_MEMORY],
        },
        Environment::OpenCl => match (scope, kind) {
            (Some(Scope::CrossDevice | Scope::Device | Scope::Workgroup | Scope::Subgroup), _)
            | (Some(Scope::Invocation), Kind::MemoryBarrier | Kind::ControlBarrier) => Vec::new(),
            (Some(Scope::Invocation), Kind::AtomicLoad | Kind::AtomicStore | Kind::AtomicModify) => {
                vec![&CL_ATOMIC]
            }
            (Some(Scope::QueueFamily | Scope::ShaderCallKHR) | None, _) => vec![&CL_MEMORY],
        },
    }
}

/// The rules that an execution scope violates.
pub fn violated_by_execution_scope(
    environment: Environment,
    execution: Execution,
    scope: u32,
) -> Vec<&'static Rule> {
    let scope = Scope::from_u32(scope);
    let group = matches!(scope, Some(Scope::Workgroup | Scope::Subgroup));
    match (environment, execution) {
        (Environment::Vulkan, Execution::Group) if scope != Some(Scope::Subgroup) => vec![&VK_GROUP],
        (Environment::Vulkan, _) if !group => vec![&VK_EXECUTION],
        (Environment::OpenCl, Execution::Async) if scope != Some(Scope::Workgroup) => vec![&CL_ASYNC],
        (Environment::OpenCl, _) if !group => vec![&CL_EXECUTION],
        (Environment::Vulkan | Environment::OpenCl, _) => Vec::new(),
    }
}
