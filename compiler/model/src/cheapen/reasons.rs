//! Why an operation can have a cheaper form.

use std::fmt;

use spirv::Op;

use super::steps::classes;
use crate::{
    event::{
        Action, Event, Location, Object, Skeleton, Space, scope,
        semantics::{ACQUIRES, RELEASES, UNIFORM_MEMORY, WORKGROUP_MEMORY},
    },
    module::edit::Form,
};

/// Why an operation can have a cheaper form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A narrower scope contains all work-items.
    OneGroup,
    /// No other work-item acquires what it releases.
    NoAcquire,
    /// No other work-item releases what it acquires.
    NoRelease,
    /// Work-items share no memory of this storage class.
    NotShared(Space),
    /// The fence before it does the same.
    Merged,
    /// Every outcome that OpenCL forbids stays forbidden.
    SameOutcomes,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneGroup => "all work-items are in one work-group",
            Self::NoAcquire => "no other work-item acquires this",
            Self::NoRelease => "no other work-item releases to this",
            Self::NotShared(Space::Local) => "work-items share no local memory",
            Self::NotShared(Space::Global) => "work-items share no global memory",
            Self::Merged => "the fence before it orders the same accesses",
            Self::SameOutcomes => "every outcome that OpenCL forbids stays forbidden",
        })
    }
}

/// Why the operation at this position can change from one form to another; for each part of the change that needs no
/// exploration, the fact, and otherwise that the outcomes are the same.
pub(super) fn reasons(skeleton: &Skeleton, site: u32, from: &Form, to: &Form) -> Vec<Reason> {
    let mut all = Vec::new();
    if from == to {
        return all;
    }
    let mut is_explained = true;
    let mut add = |holds: bool, reason: Reason| {
        all.extend(holds.then_some(reason));
        is_explained &= holds;
    };
    let lost = |orders: u32| from.semantics & orders != 0 && to.semantics & orders == 0;
    if lost(RELEASES) {
        add(!has_partner(skeleton, site, &|it| it.acquires()), Reason::NoAcquire);
    }
    if lost(ACQUIRES) {
        add(!has_partner(skeleton, site, &|it| it.releases()), Reason::NoRelease);
    }
    if to.op != Op::Nop && scope::width(to.scope) < scope::width(from.scope) {
        let group = skeleton.positions.first().map(|it| it.group);
        add(skeleton.positions.iter().all(|it| Some(it.group) == group), Reason::OneGroup);
    }
    let dropped = classes(from.semantics) & !classes(to.semantics);
    let space = match dropped {
        UNIFORM_MEMORY => Some(Space::Global),
        WORKGROUP_MEMORY => Some(Space::Local),
        _ => None,
    };
    if classes(to.semantics) != 0
        && let Some(space) = space
    {
        add(!is_shared(skeleton, space), Reason::NotShared(space));
    }
    // Another instruction can change the order of writes.
    if !is_explained || from.op != to.op || all.is_empty() {
        all.push(Reason::SameOutcomes);
    }
    all
}

/// Whether another work-item has an operation on the other end of a synchronization with the operation at this position: with
/// the order, and if both access a location, at the same one. A fence can synchronize by any atomic access.
fn has_partner(skeleton: &Skeleton, site: u32, is_ordered: &dyn Fn(&Event) -> bool) -> bool {
    let events = || {
        let items = skeleton.traces.iter().enumerate();
        items.flat_map(|(item, traces)| {
            traces.iter().flat_map(move |it| it.events.iter().map(move |it| (item, it)))
        })
    };
    let own: Vec<(usize, Option<Location>)> =
        events().filter(|(_, it)| it.site == site).map(|(item, it)| (item, it.location)).collect();
    events().filter(|(_, it)| is_ordered(it)).any(|(item, partner)| {
        own.iter().any(|(own, location)| {
            *own != item
                && (location.is_none() || partner.location.is_none() || partner.location == *location)
        })
    })
}

/// Whether several work-items access memory of this kind.
fn is_shared(skeleton: &Skeleton, space: Space) -> bool {
    let events = skeleton.traces.iter().flatten().flat_map(|trace| &trace.events);
    let is_access = |it: &Event| !matches!(it.action, Action::Fence | Action::Arrive | Action::Leave);
    events
        .filter(|it| is_access(it) && it.space == space)
        .any(|it| it.location.is_some_and(|it| !matches!(it.object, Object::Unshared(..))))
}
