//! Race reports: the two accesses, and why they are not ordered.

use super::{AccessInfo, Agents, COPIES, GLOBAL, IMAGE, LOCAL, Member, RecordedAccess, Thread};
use crate::{
    Environment,
    code::Scope,
    memory::Location,
    report::{Access as Kind, Problem, Race},
};

/// The report for an access and an earlier one.
pub(super) fn race(
    earlier: &RecordedAccess,
    agents: &Agents,
    thread: &Thread,
    access: AccessInfo,
    space: usize,
    location: Option<Location>,
) -> Problem {
    let there = agents.members[earlier.thread as usize];
    let copies = thread.member.group | there.group;
    let is_together = (thread.member.group ^ there.group) & !COPIES == 0;
    let where_they_are =
        if is_together { "work-items of one work-group" } else { "work-items of different work-groups" };
    let (memory, flag) = match space {
        LOCAL => ("local memory", "CLK_LOCAL_MEM_FENCE"),
        IMAGE => ("images", "CLK_IMAGE_MEM_FENCE"),
        _ => ("global memory", "CLK_GLOBAL_MEM_FENCE"),
    };
    let is_known = |space| thread.includes(space, earlier.thread, there, earlier.epoch);
    let elsewhere = [GLOBAL, LOCAL, IMAGE].into_iter().any(|other| other != space && is_known(other));
    let reason = match (earlier.atomic, access.atomic) {
        _ if thread.environment == Environment::Vulkan => vulkan(earlier, there, thread, access, space),
        _ if copies & COPIES != 0 && there.group & COPIES == 0 => {
            "the asynchronous copy is not ordered after accesses of single work-items: a barrier before the copy is missing"
                .to_owned()
        }
        _ if copies & COPIES != 0 => {
            "the copy may still be running: there is no wait_group_events with its event between them".to_owned()
        }
        (Some((one, _)), Some((other, _))) => format!(
            "both are atomic, but their scopes do not include each other: {} and {}, {where_they_are}",
            name(one),
            name(other)
        ),
        (None, None) if agents.is_earlier(there) => {
            "nothing orders the kernels: neither a flag of enqueue_kernel nor an event makes one wait for the other"
                .to_owned()
        }
        _ if elsewhere => format!("the synchronization between them does not order {memory}: {flag} is missing"),
        (None, None) if is_together => {
            format!(
                "nothing orders them: there is neither a barrier with {flag} between them nor a release that is acquired"
            )
        }
        (None, None) => format!(
            "nothing orders them: {where_they_are} are ordered only by a release that the other one acquires"
        ),
        _ => "nothing orders them, and only one of them is atomic".to_owned(),
    };
    let kind = |is_write: bool, atomic: Option<(Scope, u8)>| match (is_write, atomic) {
        (_, Some(_)) => Kind::Atomic,
        (true, None) => Kind::Write,
        (false, None) => Kind::Read,
    };
    Problem::Race(Box::new(Race {
        this: kind(access.is_write, access.atomic),
        by: agents.agent(thread.number),
        other: kind(earlier.is_write, earlier.atomic),
        other_at: earlier.at,
        other_by: agents.agent(earlier.thread),
        reason,
        address: location.map(Location::address),
    }))
}

/// Why Vulkan's memory model does not order two accesses: the first condition that is not met.
fn vulkan(
    earlier: &RecordedAccess,
    there: Member,
    thread: &Thread,
    access: AccessInfo,
    space: usize,
) -> String {
    let (flag, operand) = match space {
        LOCAL => ("WorkgroupMemory", "NonPrivatePointer"),
        IMAGE => ("ImageMemory", "NonPrivateTexel"),
        _ => ("UniformMemory", "NonPrivatePointer"),
    };
    if let (Some((one, one_size)), Some((other, other_size))) = (earlier.atomic, access.atomic) {
        return if one_size == other_size {
            format!("both are atomic, but their scopes do not include each other: {one:?} and {other:?}")
        } else {
            format!("both are atomic, but of {one_size} and of {other_size} bytes")
        };
    }
    if !earlier.is_shared || !access.is_shared {
        return format!("nothing orders a private access to another work-item's: {operand} is missing");
    }
    let is_known = |space| thread.includes(space, earlier.thread, there, earlier.epoch);
    let elsewhere = [GLOBAL, LOCAL, IMAGE].into_iter().any(|other| other != space && is_known(other));
    match (is_known(space), elsewhere) {
        (true, _) if thread.is_available(space, earlier, there) => {
            "the write was made available, but not visible here: MakeVisible is missing".to_owned()
        }
        (true, _) => "the write was not made available: MakeAvailable is missing".to_owned(),
        (false, true) => {
            format!("the synchronization between them does not order this memory: {flag} is missing")
        }
        (false, false) => {
            format!(
                "nothing orders them: there is neither a barrier with {flag} between them nor a release that is acquired"
            )
        }
    }
}

fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::WorkItem => "memory_scope_work_item",
        Scope::SubGroup => "memory_scope_sub_group",
        Scope::WorkGroup => "memory_scope_work_group",
        Scope::Device => "memory_scope_device",
        Scope::AllDevices => "memory_scope_all_devices",
    }
}
