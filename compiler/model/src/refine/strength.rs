//! The required strength of an OpenCL operation on Vulkan. Must not depend on the compiler's table, which it checks.
//!
//! | operation | needs |
//! | --- | --- |
//! | with acquire | acquire and visibility of the same memory, in at least the same scope |
//! | with release | release and availability of the same memory, in at least the same scope |
//! | seq_cst, atomic | a read-modify-write with acquire and release of both memories; for a load, in the widest scope of its object |
//! | a seq_cst fence | a read-modify-write of a word that all work-items share, between two fences of both memories |
//! | a store to an object with seq_cst operations | a read-modify-write |
//! | a load of an object with seq_cst operations | the widest scope of its object |
//! | a store after a release operation of its work-item on its object | release of the same memory, or a read-modify-write |
//! | any with an order, if there are seq_cst operations on both memories | both memories |
//!
//! Vulkan has no total order S; read-modify-writes that acquire and release give it, since each reads from the one before
//! (docs/memory-model.md, R1 to R7).

use super::record::Facts;
use crate::event::{
    Action, Event, Space, scope,
    semantics::{
        CROSS_WORKGROUP_MEMORY, MAKE_AVAILABLE, MAKE_VISIBLE, RELEASES, UNIFORM_MEMORY, WORKGROUP_MEMORY,
        order_name,
    },
};

/// Both memories, in the terms of Vulkan.
const BOTH: u32 = UNIFORM_MEMORY | WORKGROUP_MEMORY;

/// The required properties of a counterpart in the module.
#[derive(Debug, Default)]
struct Requirements {
    is_modify: bool,
    acquires: u32,
    releases: u32,
    width: u8,
}

/// The memories of a mask of the OpenCL environment, in the terms of Vulkan.
fn memories(mask: u32) -> u32 {
    let global = if mask & CROSS_WORKGROUP_MEMORY != 0 { UNIFORM_MEMORY } else { 0 };
    global | mask & WORKGROUP_MEMORY
}

/// The requirements of an operation of the source, given the earlier operations of its work-item.
fn requirements(event: &Event, counterpart: &Event, before: &[Event], facts: &Facts) -> Requirements {
    let is_local = match event.location {
        Some(_) => event.space == Space::Local,
        None => memories(event.semantics) == WORKGROUP_MEMORY,
    };
    let max = if is_local { scope::width(scope::WORKGROUP) } else { scope::width(scope::DEVICE) };
    let mut requirements =
        Requirements { width: scope::width(event.scope).min(max), ..Requirements::default() };
    let ordered = if event.is_seq_cst() { BOTH } else { memories(event.semantics) };
    if event.acquires() {
        requirements.acquires = ordered;
    }
    if event.releases() {
        requirements.releases = ordered;
    }
    if let Some(location) = event.location {
        if event.is_seq_cst() {
            requirements = Requirements { is_modify: true, acquires: BOTH, releases: BOTH, ..requirements };
        }
        let is_beside = facts.seq_cst.contains(&location);
        requirements.is_modify |=
            event.action == Action::Modify || event.action == Action::Write && is_beside;
        if event.action == Action::Read && is_beside {
            requirements.width = max;
        }
        // Only read-modify-writes continue a release sequence on Vulkan.
        if event.action == Action::Write && counterpart.action != Action::Modify {
            let heads = before.iter().filter(|it| it.location == Some(location) && it.writes());
            let released = heads.filter(|it| it.semantics & RELEASES != 0);
            requirements.releases |= released.fold(0, |all, it| all | memories(it.semantics));
        }
    }
    if facts.orders_both {
        requirements.acquires = if requirements.acquires == 0 { 0 } else { BOTH };
        requirements.releases = if requirements.releases == 0 { 0 } else { BOTH };
    }
    requirements
}

/// Checks that an event of the module is the counterpart of an operation of the source. The error states the difference.
pub(super) fn check_counterpart(
    event: &Event,
    counterpart: &Event,
    before: &[Event],
    facts: &Facts,
) -> Result<(), String> {
    let is_barrier = matches!(event.action, Action::Arrive | Action::Leave);
    if is_barrier && (event.action, event.execution) != (counterpart.action, counterpart.execution) {
        return Err("is a different barrier, or not a barrier".to_owned());
    }
    if event.location != counterpart.location {
        return Err("is at another location".to_owned());
    }
    if event.action == Action::Fence && counterpart.action != Action::Fence {
        return Err("is not a fence".to_owned());
    }
    let requirements = requirements(event, counterpart, before, facts);
    if event.location.is_some() {
        if !counterpart.is_atomic {
            return Err("is not atomic".to_owned());
        }
        let written = if event.writes() { event.written } else { counterpart.read };
        if event.reads() && !counterpart.reads() || event.writes() && !counterpart.writes() {
            return Err("is an access of another kind".to_owned());
        }
        if counterpart.writes() && counterpart.written != written
            || event.reads() && counterpart.read != event.read
        {
            return Err("has other values".to_owned());
        }
        if requirements.is_modify && counterpart.action != Action::Modify {
            return Err("is not a read-modify-write".to_owned());
        }
    }
    check(&requirements, counterpart)
}

fn check(requirements: &Requirements, counterpart: &Event) -> Result<(), String> {
    let own = counterpart.semantics & BOTH;
    let acquired = if counterpart.acquires() && counterpart.semantics & MAKE_VISIBLE != 0 { own } else { 0 };
    let released =
        if counterpart.releases() && counterpart.semantics & MAKE_AVAILABLE != 0 { own } else { 0 };
    if requirements.acquires & !acquired != 0 {
        return Err("does not acquire all memory".to_owned());
    }
    if requirements.releases & !released != 0 {
        return Err("does not release all memory".to_owned());
    }
    let is_relaxed_fence =
        counterpart.location.is_none() && requirements.acquires | requirements.releases == 0;
    if requirements.width > scope::width(counterpart.scope) && !is_relaxed_fence {
        return Err("has a narrower scope".to_owned());
    }
    Ok(())
}

/// Whether an event is this step of the counterpart of a seq_cst fence: a fence that acquires, a read-modify-write of the
/// hidden word that changes nothing, a fence that releases.
pub(super) fn check_fence_step(counterpart: &Event, step: usize) -> Result<(), String> {
    let both = |acquires: bool, releases: bool| Requirements {
        is_modify: false,
        acquires: if acquires { BOTH } else { 0 },
        releases: if releases { BOTH } else { 0 },
        width: scope::width(scope::DEVICE),
    };
    let is_word = counterpart.action == Action::Modify
        && counterpart.location.is_some_and(|it| it.object == crate::Object::Program)
        && counterpart.read == counterpart.written;
    match step {
        0 if counterpart.action == Action::Fence => check(&both(true, false), counterpart),
        1 if is_word => check(&both(true, true), counterpart),
        2 if counterpart.action == Action::Fence => check(&both(false, true), counterpart),
        _ => Err("is another operation".to_owned()),
    }
}

/// An operation in words.
pub(super) fn shown(event: &Event) -> String {
    let kind = match event.action {
        Action::Read => "load",
        Action::Write => "store",
        Action::Modify => "read-modify-write",
        Action::Fence => "fence",
        Action::Arrive | Action::Leave => "barrier",
        Action::MakeAvailable | Action::MakeVisible => "operation of the device domain",
    };
    match event.is_atomic || event.location.is_none() {
        true => {
            format!("the {} {kind} for the {}", order_name(event.semantics), scope::opencl_name(event.scope))
        }
        false => format!("the {kind}"),
    }
}
