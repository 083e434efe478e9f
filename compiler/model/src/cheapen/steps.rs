//! The steps to cheaper forms of an operation, and the order of costs.

use std::fmt;

use spirv::{Capability, Op};

use crate::{
    event::{
        scope,
        semantics::{
            ACQUIRE, ACQUIRE_RELEASE, ACQUIRES, MAKE_AVAILABLE, MAKE_VISIBLE, ORDERS, RELEASE, RELEASES,
        },
    },
    module::{
        Module,
        edit::{Form, ORDERING},
    },
};

/// `Volatile`: such an operation keeps its instruction.
const VOLATILE: u32 = spirv::MemorySemantics::VOLATILE.bits();

/// A step to a cheaper form of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Without the operation.
    Drop,
    /// With one fence instead of this one and the next.
    Merge,
    /// As a load.
    Load,
    /// As a store.
    Store,
    /// Without an order.
    Relaxed,
    /// With acquire instead of both orders.
    Acquire,
    /// With release instead of both orders.
    Release,
    /// A compare-exchange that fails without an order.
    RelaxedFailure,
    /// Without ordering the memory of this storage class.
    Memory(u32),
    /// With this scope.
    Scope(u32),
}

/// The step in words that follow the name of an operation: "as a load".
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop => f.write_str("without it"),
            Self::Merge => f.write_str("as one fence with the next"),
            Self::Load => f.write_str("as a load"),
            Self::Store => f.write_str("as a store"),
            Self::Relaxed => f.write_str("as Relaxed"),
            Self::Acquire => f.write_str("with Acquire only"),
            Self::Release => f.write_str("with Release only"),
            Self::RelaxedFailure => f.write_str("as Relaxed if it fails"),
            Self::Memory(class) => {
                write!(f, "without {}", crate::module::semantics_name(*class))
            }
            Self::Scope(scope) => write!(f, "for the scope {}", crate::module::scope_name(*scope)),
        }
    }
}

/// The cost of a form: its kind, then its scope, then the number of its orders, then the number of its storage classes.
///
/// A read-modify-write executes at the cache that all work-items of its scope share, and waits for it. A fence waits for all
/// earlier accesses. A load or store with an order waits for some of them. A relaxed operation waits for none. A scope beyond the
/// work-group leaves the core's own cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    kind: u8,
    scope: u8,
    orders: u8,
    classes: u8,
}

/// The storage classes of a mask.
pub(super) fn classes(mask: u32) -> u32 {
    mask & !(ORDERING | VOLATILE)
}

pub(super) fn cost(form: &Form) -> Cost {
    let orders = u8::from(form.semantics & ACQUIRES != 0) + u8::from(form.semantics & RELEASES != 0);
    let kind = match form.op {
        Op::Nop => 0,
        Op::MemoryBarrier => 3,
        Op::AtomicLoad | Op::AtomicStore | Op::AtomicFlagClear | Op::ControlBarrier => {
            1 + u8::from(orders > 0)
        }
        _ => 4,
    };
    let scope = if form.op == Op::Nop { 0 } else { scope::width(form.scope) };
    Cost { kind, scope, orders, classes: classes(form.semantics).count_ones() as u8 }
}

/// A mask with other orders, and the bits that belong to them.
pub(super) fn with_orders(mask: u32, orders: u32) -> u32 {
    let acquire = if orders & ACQUIRES == 0 { 0 } else { mask & MAKE_VISIBLE };
    let release = if orders & RELEASES == 0 { 0 } else { mask & MAKE_AVAILABLE };
    match orders {
        0 => mask & VOLATILE,
        _ => mask & VOLATILE | classes(mask) | orders | acquire | release,
    }
}

/// A form with other orders. The semantics of failure are at most as strong.
fn ordered(form: &Form, orders: u32) -> Form {
    let semantics = with_orders(form.semantics, orders);
    let failure = form.failure.map(|it| if orders & ACQUIRES == 0 { with_orders(it, 0) } else { it });
    // A barrier that orders nothing has the scope of the work-items that wait.
    let scope = form.execution.filter(|_| orders == 0).unwrap_or(form.scope);
    Form { semantics, failure, scope, ..form.clone() }
}

/// The cheaper forms of an operation that differ in one step, cheapest first.
pub(super) fn steps(module: &Module, site: usize, form: &Form) -> Vec<(Step, Form)> {
    let mut all = Vec::new();
    let orders = form.semantics & ORDERS;
    if form.semantics & VOLATILE == 0 {
        replacements(module, site, form, &mut all);
    }
    let mut order = |step: Step, new: u32| all.push((step, ordered(form, new)));
    // A fence without an order is no instruction.
    if orders != 0 && form.op != Op::MemoryBarrier {
        order(Step::Relaxed, 0);
    }
    if orders == ACQUIRE_RELEASE {
        order(Step::Acquire, ACQUIRE);
        order(Step::Release, RELEASE);
    }
    if let Some(failure) = form.failure.filter(|it| it & ORDERS != 0) {
        let failure = Some(with_orders(failure, 0));
        all.push((Step::RelaxedFailure, Form { failure, ..form.clone() }));
    }
    let own = classes(form.semantics);
    if own.count_ones() > 1 {
        for bit in (0..32).map(|bit| 1 << bit).filter(|bit| own & bit != 0) {
            // A mask of failure without a storage class has no order.
            let failure = form.failure.map(|it| match classes(it) & !bit {
                0 => with_orders(it, 0),
                _ => it & !bit,
            });
            all.push((Step::Memory(bit), Form { semantics: form.semantics & !bit, failure, ..form.clone() }));
        }
    }
    let narrowest = form.execution.map_or(0, scope::width);
    let has_sub_groups = module.has_capability(Capability::GroupNonUniform);
    for scope in [scope::SUBGROUP, scope::WORKGROUP] {
        let is_possible = scope == scope::WORKGROUP || has_sub_groups;
        if is_possible && scope::width(scope) < scope::width(form.scope) && scope::width(scope) >= narrowest {
            all.push((Step::Scope(scope), Form { scope, ..form.clone() }));
        }
    }
    all
}

/// The forms with another instruction.
fn replacements(module: &Module, site: usize, form: &Form, all: &mut Vec<(Step, Form)>) {
    let acquire = if form.semantics & ACQUIRES == 0 { 0 } else { ACQUIRE };
    let release = if form.semantics & RELEASES == 0 { 0 } else { RELEASE };
    let replaced = |op: Op, orders: u32| {
        let semantics = with_orders(form.semantics, orders);
        Form { op, scope: form.scope, semantics, failure: None, execution: None }
    };
    let changes_nothing = form.op == Op::AtomicLoad || module.writes_back(site);
    if form.op == Op::MemoryBarrier || changes_nothing && module.is_unused(site) {
        all.push((Step::Drop, Form::dropped()));
    }
    if module.writes_back(site) {
        all.push((Step::Load, replaced(Op::AtomicLoad, acquire)));
    }
    if form.op == Op::AtomicExchange && module.is_unused(site) {
        all.push((Step::Store, replaced(Op::AtomicStore, release)));
    }
}

/// One fence instead of two.
pub(super) fn merged(first: &Form, second: &Form) -> Form {
    let both = first.semantics | second.semantics;
    let bits = |of: u32| u8::from(both & of != 0);
    let orders = match (bits(ACQUIRES), bits(RELEASES)) {
        (1, 1) => ACQUIRE_RELEASE,
        (1, 0) => ACQUIRE,
        _ => RELEASE,
    };
    let scope =
        if scope::width(second.scope) > scope::width(first.scope) { second.scope } else { first.scope };
    Form { semantics: both & !ORDERS | orders, scope, ..first.clone() }
}
