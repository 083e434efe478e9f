//! The legal combinations of operations, orders, scopes and flags (OpenCL C 6.15.8 and 6.15.12).
//!
//! Each rule gets the constant arguments (`None` if not constant) and returns a [`Problem`]: a diagnostic as data, to
//! which `sema` adds the span.

use super::{Access, Group, Operation, failure_orders};
use kiln_vocabulary::opencl::{AtomicOp, FenceFlags, Order, Scope};

/// The argument that a problem refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// The pointer to the atomic object.
    Object,
    /// The order, of success for a compare-exchange.
    Order,
    /// The order of failure.
    Failure,
    /// The scope.
    Scope,
    /// The fence flags.
    Flags,
}

/// A rule on orders, scopes and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the diagnostics")]
pub enum Rule {
    AtomicOrderFailure,
    AtomicOrderStore,
    AtomicOrderLoad,
    ScopeWorkItem,
    FenceImage,
    BarrierImageScope,
    OrderUnsupported,
    ScopeUnsupported,
    OrderValue,
    ScopeValue,
    FenceFlagsValue,
    AtomicObject,
    SeqCstUnavailable,
    SubGroupUnavailable,
    AtomicPrivate,
    SeqCstScope,
    FenceRelaxed,
    MemFenceImage,
    BarrierLocalScope,
    SeqCstWeakened,
    FenceFlagsEmpty,
}

/// An error or warning about an operation, in the user's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule.
    pub rule: Rule,
    /// The argument.
    pub argument: Argument,
    /// The message: lower-case start, one sentence.
    pub message: String,
    /// The label of the argument.
    pub label: &'static str,
    /// The suggestion.
    pub help: &'static str,
    /// The reason, with the section of the specification.
    pub note: &'static str,
    /// The corresponding rule of the Vulkan specification, if there is one.
    pub vuid: Option<&'static str>,
}

impl Problem {
    /// The order or scope that the suggestion names first, for this argument.
    pub fn replacement(&self) -> Option<&'static str> {
        let prefix = match self.argument {
            Argument::Order | Argument::Failure => "memory_order_",
            Argument::Scope => "memory_scope_",
            Argument::Object | Argument::Flags => return None,
        };
        let words = self.help.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.into_iter().find(|word| word.starts_with(prefix))
    }
}

/// The optional orders and scopes that a compilation supports (OpenCL C 6.15.12.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// `__opencl_c_atomic_order_acq_rel`, or OpenCL C 2.0
    pub acq_rel: bool,
    /// `__opencl_c_atomic_order_seq_cst`, or OpenCL C 2.0
    pub seq_cst: bool,
    /// `__opencl_c_atomic_scope_device`, or OpenCL C 2.0
    pub device: bool,
    /// `__opencl_c_atomic_scope_all_devices`, or OpenCL C 2.0
    pub all_devices: bool,
    /// `__opencl_c_subgroups` or `cl_khr_subgroups`
    pub sub_groups: bool,
}

/// Checks the orders and the scope of an atomic function (OpenCL C 6.15.12.4 and 6.15.12.7.1 to 6.15.12.7.8).
pub fn check_atomic(
    op: AtomicOp,
    order: Option<Order>,
    failure: Option<Order>,
    scope: Option<Scope>,
) -> Result<(), Problem> {
    check_access(op.into(), order, failure, scope)
}

/// Like [`check_atomic`], given the kind of access, on which the rules depend.
pub(super) fn check_access(
    access: Access,
    order: Option<Order>,
    failure: Option<Order>,
    scope: Option<Scope>,
) -> Result<(), Problem> {
    if let Some(order) = order.filter(|order| !access.orders().contains(order)) {
        return Err(wrong_order(access, order));
    }
    if let (Access::CompareExchange, Some(failure)) = (access, failure) {
        check_failure(order, failure)?;
    }
    match scope {
        Some(Scope::WorkItem) => Err(work_item_scope("an atomic operation cannot have work_item scope")),
        None | Some(Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices) => Ok(()),
    }
}

/// OpenCL C 6.15.12.7.4: the failure order is not a release, and not stronger than the success order.
fn check_failure(success: Option<Order>, failure: Order) -> Result<(), Problem> {
    // If the success order is unknown, the failure order must be legal for the most permissive one.
    if failure_orders(success.unwrap_or(Order::SeqCst)).contains(&failure) {
        return Ok(());
    }
    let problem = |message, label, help, note, vuid| Problem {
        rule: Rule::AtomicOrderFailure,
        argument: Argument::Failure,
        message,
        label,
        help,
        note,
        vuid: Some(vuid),
    };
    Err(match (failure, success) {
        (Order::Release | Order::AcqRel, _) => problem(
            format!("a compare-exchange cannot have {} order when it fails", failure.short_name()),
            "a compare-exchange that fails writes nothing",
            "use memory_order_acquire, or memory_order_relaxed if a failure needs no order",
            "OpenCL C 6.15.12.7.4 allows relaxed, acquire and seq_cst for the failure order",
            "VUID-StandaloneSpirv-UnequalMemorySemantics-10875",
        ),
        (Order::Relaxed | Order::Acquire | Order::SeqCst, success) => problem(
            format!(
                "the failure order {} is stronger than the success order {}",
                failure.short_name(),
                success.unwrap_or(Order::SeqCst).short_name()
            ),
            "stronger than the success order",
            "strengthen the success order, or weaken this one",
            "OpenCL C 6.15.12.7.4: the failure order shall be no stronger than the success order",
            "VUID-StandaloneSpirv-UnequalMemorySemantics-10876",
        ),
    })
}

fn wrong_order(access: Access, order: Order) -> Problem {
    let problem = |rule, subject, label, help, note, vuid| Problem {
        rule,
        argument: Argument::Order,
        message: format!("a {subject} cannot have {} order", order.short_name()),
        label,
        help,
        note,
        vuid: Some(vuid),
    };
    match access {
        Access::Store => problem(
            Rule::AtomicOrderStore,
            "store",
            "acquire belongs to loads",
            "use memory_order_release to publish the writes before this store",
            "OpenCL C 6.15.12.7.1 and 6.15.12.7.8 allow relaxed, release and seq_cst",
            "VUID-StandaloneSpirv-MemorySemantics-10867",
        ),
        Access::Load | Access::Modify | Access::CompareExchange => problem(
            Rule::AtomicOrderLoad,
            "load",
            "release belongs to stores",
            "use memory_order_acquire to see the writes before the store that this load reads",
            "OpenCL C 6.15.12.7.2 allows relaxed, acquire and seq_cst",
            "VUID-StandaloneSpirv-MemorySemantics-10868",
        ),
    }
}

fn work_item_scope(message: &str) -> Problem {
    Problem {
        rule: Rule::ScopeWorkItem,
        argument: Argument::Scope,
        message: message.to_owned(),
        label: "orders nothing between work-items",
        help: "use memory_scope_work_group or a wider scope",
        note: "OpenCL C 6.15.12.4 allows memory_scope_work_item only in atomic_work_item_fence with \
               CLK_IMAGE_MEM_FENCE",
        vuid: Some("VUID-StandaloneSpirv-None-04641"),
    }
}

/// Checks the arguments of `atomic_work_item_fence` (OpenCL C 6.15.12.4, 6.15.12.5 and 6.15.15).
pub fn check_fence(
    flags: Option<FenceFlags>,
    order: Option<Order>,
    scope: Option<Scope>,
) -> Result<(), Problem> {
    let images = flags.is_some_and(|flags| flags.contains(FenceFlags::IMAGE));
    let only_images = flags.is_none_or(|flags| flags == FenceFlags::IMAGE);
    let image_fence = |argument, message: String, label| Problem {
        rule: Rule::FenceImage,
        argument,
        message,
        label,
        help: if only_images {
            "use memory_order_acq_rel and memory_scope_work_item"
        } else {
            "order image memory with a separate fence"
        },
        note: "OpenCL C 6.15.15: with CLK_IMAGE_MEM_FENCE, only memory_order_acq_rel and \
               memory_scope_work_item are valid",
        vuid: None,
    };
    match (order, scope) {
        (Some(order @ (Order::Relaxed | Order::Acquire | Order::Release | Order::SeqCst)), _) if images => {
            Err(image_fence(
                Argument::Order,
                format!("a fence of image memory cannot have {} order", order.short_name()),
                "an image fence is acq_rel",
            ))
        }
        (_, Some(scope @ (Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices)))
            if images =>
        {
            Err(image_fence(
                Argument::Scope,
                format!("a fence of image memory cannot have {} scope", scope.short_name()),
                "an image fence is between the accesses of one work-item",
            ))
        }
        (_, Some(Scope::WorkItem)) if !only_images => {
            Err(work_item_scope("a fence of global or local memory cannot have work_item scope"))
        }
        (
            None | Some(Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst),
            None
            | Some(Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices),
        ) => Ok(()),
    }
}

/// Checks the arguments of `work_group_barrier` and `sub_group_barrier` (OpenCL C 6.15.8, 6.15.12.4).
pub fn check_barrier(group: Group, flags: Option<FenceFlags>, scope: Option<Scope>) -> Result<(), Problem> {
    let images = flags.is_some_and(|flags| flags.contains(FenceFlags::IMAGE));
    match scope {
        Some(Scope::WorkItem) => Err(work_item_scope("a barrier cannot have work_item scope")),
        Some(scope @ (Scope::SubGroup | Scope::Device | Scope::AllSvmDevices))
            if images && group == Group::Work =>
        {
            Err(Problem {
                rule: Rule::BarrierImageScope,
                argument: Argument::Scope,
                message: format!("a barrier for image memory cannot have {} scope", scope.short_name()),
                label: "must be memory_scope_work_group",
                help: if flags == Some(FenceFlags::IMAGE) {
                    "use memory_scope_work_group"
                } else {
                    "order image memory with a separate barrier of the work-group"
                },
                note: "OpenCL C 6.15.8: with CLK_IMAGE_MEM_FENCE the scope must be memory_scope_work_group",
                vuid: None,
            })
        }
        None | Some(Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices) => Ok(()),
    }
}

/// Checks orders and scopes that require a feature (OpenCL C 6.15.12.10). Fences require none for acquire, release and
/// acq_rel. For functions without a scope or order argument, pass the default.
pub fn check_support(
    operation: Operation,
    order: Option<Order>,
    scope: Option<Scope>,
    support: Support,
) -> Result<(), Problem> {
    let atomic = match operation {
        Operation::Atomic(..) => true,
        Operation::Fence | Operation::Barrier(_) => false,
    };
    let missing = |rule, argument, what: &str, feature, help| Problem {
        rule,
        argument,
        message: format!("{what} needs {feature}"),
        label: "not available here",
        help,
        note: "OpenCL C 6.15.12.10; in OpenCL C 3.0 these orders and scopes are optional features",
        vuid: None,
    };
    let order_problem = |order: Order, feature, help| {
        Err(missing(Rule::OrderUnsupported, Argument::Order, order.spelling(), feature, help))
    };
    match order {
        Some(order @ (Order::Acquire | Order::Release | Order::AcqRel)) if atomic && !support.acq_rel => {
            return order_problem(
                order,
                "the feature __opencl_c_atomic_order_acq_rel",
                "use memory_order_relaxed with an atomic_work_item_fence, which needs no feature",
            );
        }
        Some(Order::SeqCst) if !support.seq_cst => {
            return order_problem(
                Order::SeqCst,
                "the feature __opencl_c_atomic_order_seq_cst",
                "name a weaker order; the functions without an order argument use seq_cst",
            );
        }
        None | Some(Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst) => {}
    }
    let scope_problem = |scope: Scope, feature, help| {
        Err(missing(Rule::ScopeUnsupported, Argument::Scope, scope.spelling(), feature, help))
    };
    match scope {
        Some(Scope::SubGroup) if !support.sub_groups => scope_problem(
            Scope::SubGroup,
            "cl_khr_subgroups or the feature __opencl_c_subgroups",
            "use memory_scope_work_group, which includes the sub-group",
        ),
        Some(Scope::Device) if !support.device => scope_problem(
            Scope::Device,
            "the feature __opencl_c_atomic_scope_device",
            "name memory_scope_work_group; the functions without a scope argument use the device scope",
        ),
        Some(Scope::AllSvmDevices) if !support.all_devices => scope_problem(
            Scope::AllSvmDevices,
            "the feature __opencl_c_atomic_scope_all_devices",
            "use memory_scope_device if no other device takes part",
        ),
        None
        | Some(Scope::WorkItem | Scope::SubGroup | Scope::WorkGroup | Scope::Device | Scope::AllSvmDevices) => {
            Ok(())
        }
    }
}

/// The order with the value of a constant argument (OpenCL C 6.15.12.3).
pub fn order_of_value(value: i64, argument: Argument) -> Result<Order, Problem> {
    Order::from_value(value).ok_or_else(|| Problem {
        rule: Rule::OrderValue,
        argument,
        message: format!("{value} is not a memory order"),
        label: "not a memory_order",
        help: "use memory_order_relaxed, acquire, release, acq_rel or seq_cst",
        note: "OpenCL C 6.15.12.3 has five orders; C11's consume is not among them",
        vuid: None,
    })
}

/// The scope with the value of a constant argument (OpenCL C 6.15.12.4).
pub fn scope_of_value(value: i64) -> Result<Scope, Problem> {
    Scope::from_value(value).ok_or_else(|| Problem {
        rule: Rule::ScopeValue,
        argument: Argument::Scope,
        message: format!("{value} is not a memory scope"),
        label: "not a memory_scope",
        help: "use memory_scope_sub_group, work_group, device or all_svm_devices",
        note: "OpenCL C 6.15.12.4 lists the scopes",
        vuid: None,
    })
}

/// The fence flags with the value of a constant argument (OpenCL C 6.15.8, 6.15.12.5).
pub fn flags_of_value(value: i64) -> Result<FenceFlags, Problem> {
    FenceFlags::from_value(value).ok_or_else(|| Problem {
        rule: Rule::FenceFlagsValue,
        argument: Argument::Flags,
        message: format!("{value:#x} is not a combination of fence flags"),
        label: "has bits that are not flags",
        help: "combine CLK_GLOBAL_MEM_FENCE, CLK_LOCAL_MEM_FENCE and CLK_IMAGE_MEM_FENCE with |",
        note: "OpenCL C 6.15.12.5: with any other value the behavior is undefined",
        vuid: None,
    })
}

/// The result of [`super::check`] for an object that no other work-item can access.
pub(super) fn object_not_shared() -> Problem {
    Problem {
        rule: Rule::AtomicObject,
        argument: Argument::Object,
        message: "an atomic operation needs an object in global or local memory".to_owned(),
        label: "neither global nor local",
        help: "declare the object local or global",
        note: "OpenCL C 6.15.12.3: memory orders are for atomic operations on global or local memory",
        vuid: Some("VUID-StandaloneSpirv-None-04686"),
    }
}

/// The result of [`super::check`] for seq_cst on Vulkan.
pub(super) fn seq_cst_unavailable() -> Problem {
    Problem {
        rule: Rule::SeqCstUnavailable,
        argument: Argument::Order,
        message: "the target has no sequentially consistent operations".to_owned(),
        label: "must be replaced first",
        help: "use acquire and release orders",
        note: "docs/memory-model.md, rules R1, R5 and R6",
        vuid: Some("VUID-StandaloneSpirv-MemorySemantics-10866"),
    }
}

/// The result of [`super::check`] for a sub-group barrier on a device without sub-groups.
pub(super) fn sub_groups_unavailable() -> Problem {
    Problem {
        rule: Rule::SubGroupUnavailable,
        argument: Argument::Scope,
        message: "the target has no sub-groups".to_owned(),
        label: "needs sub-groups",
        help: "use work_group_barrier, or a target with sub-groups",
        note: "OpenCL C 6.15.8: sub_group_barrier needs the feature __opencl_c_subgroups",
        vuid: Some("VUID-StandaloneSpirv-SubgroupVoteKHR-07951"),
    }
}
