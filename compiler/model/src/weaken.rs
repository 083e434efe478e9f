//! Finds the weakest orders and scopes with which a program in the OpenCL model has the same outcomes.

use std::collections::BTreeMap;

use crate::{
    event::{Action, Event, Skeleton, Space, scope, semantics},
    explore::{Error, Model, Options, explore},
};

/// A weaker order and scope of an operation, with which the outcomes are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// The source line.
    pub line: u32,
    /// The instruction.
    pub site: u32,
    /// The order and scope in the program.
    pub from: (u32, u32),
    /// The sufficient order and scope.
    pub to: (u32, u32),
}

/// The orders, weakest first.
const ORDERS: [u32; 5] = [
    0,
    semantics::ACQUIRE,
    semantics::RELEASE,
    semantics::ACQUIRE_RELEASE,
    semantics::SEQUENTIALLY_CONSISTENT,
];

/// The scopes that are tried, narrowest first.
const SCOPES: [u32; 3] = [scope::WORKGROUP, scope::DEVICE, scope::CROSS_DEVICE];

/// Whether an operation with this action can have the order.
fn is_legal(action: Action, order: u32) -> bool {
    match action {
        Action::Read => order & (semantics::RELEASE | semantics::ACQUIRE_RELEASE) == 0,
        Action::Write => order & (semantics::ACQUIRE | semantics::ACQUIRE_RELEASE) == 0,
        Action::Modify | Action::Fence => true,
        Action::Arrive | Action::Leave | Action::MakeAvailable | Action::MakeVisible => false,
    }
}

/// Gives an event an order and a scope. A compare-exchange that fails cannot release.
fn change(event: &mut Event, order: u32, scope: u32) {
    let order = match (event.action, order) {
        (Action::Read, semantics::ACQUIRE_RELEASE) => semantics::ACQUIRE,
        (Action::Read, semantics::RELEASE) => 0,
        (_, order) => order,
    };
    let own = match event.space {
        _ if event.is_fence() => event.semantics & !semantics::ORDERS,
        Space::Global => semantics::CROSS_WORKGROUP_MEMORY,
        Space::Local => semantics::WORKGROUP_MEMORY,
    };
    let both = semantics::CROSS_WORKGROUP_MEMORY | semantics::WORKGROUP_MEMORY;
    event.semantics = match order {
        0 => 0,
        semantics::SEQUENTIALLY_CONSISTENT => order | both,
        _ => order | own,
    };
    event.scope = scope;
}

/// Weakens the operations one by one, in the order of their instructions, while the outcomes stay the same and the
/// behavior stays defined. The result is one of possibly several weakest programs.
pub fn weakest(skeleton: &Skeleton, options: Options) -> Result<Vec<Weakening>, Error> {
    let options = Options { explains: false, ..options };
    let found = explore(skeleton, Model::OpenCl, options)?;
    if !found.undefined.is_empty() {
        return Ok(Vec::new());
    }
    let is_same = |changed: &Skeleton| {
        explore(changed, Model::OpenCl, options)
            .map(|other| other.undefined.is_empty() && other.allowed.keys().eq(found.allowed.keys()))
    };
    let mut current = skeleton.clone();
    let mut weaker = Vec::new();
    for (site, operation) in operations(&mut current) {
        let from = (operation.semantics & semantics::ORDERS, operation.scope);
        let orders = ORDERS.into_iter().filter(|order| is_legal(operation.action, *order));
        let pairs = orders.flat_map(|order| SCOPES.map(|scope| (order, scope)));
        let is_weaker = |pair: &(u32, u32)| {
            let at = |order| ORDERS.iter().position(|it| *it == order);
            let is_incomparable = [pair.0, from.0] == [semantics::ACQUIRE, semantics::RELEASE];
            // On a local object all scopes are the work-group.
            let width = |scope| SCOPES.iter().position(|it| *it == scope).unwrap_or(0);
            let is_local = operation.space == Space::Local && operation.location.is_some();
            at(pair.0) <= at(from.0)
                && !is_incomparable
                && if is_local { pair.1 == from.1 } else { width(pair.1) <= width(from.1) }
                && *pair != from
        };
        for (order, scope) in pairs.filter(is_weaker) {
            let mut changed = current.clone();
            let here = changed.events_mut().filter(|it| it.site == site && is_operation(it));
            here.for_each(|event| change(event, order, scope));
            if is_same(&changed)? {
                weaker.push(Weakening { line: operation.line, site, from, to: (order, scope) });
                current = changed;
                break;
            }
        }
    }
    Ok(weaker)
}

/// Whether an event has an order.
fn is_operation(event: &Event) -> bool {
    event.is_atomic || event.action == Action::Fence
}

/// The operations of a program; for a compare-exchange, the event that succeeds.
fn operations(skeleton: &mut Skeleton) -> BTreeMap<u32, Event> {
    let mut operations: BTreeMap<u32, Event> = BTreeMap::new();
    for event in skeleton.events_mut().filter(|event| is_operation(event)) {
        let entry = operations.entry(event.site).or_insert_with(|| event.clone());
        if event.action == Action::Modify {
            *entry = event.clone();
        }
    }
    operations
}
