//! Asynchronous copies between local and global memory, and waiting for them (OpenCL C 6.15.11).
//!
//! Owns the events of a group. A copy runs immediately, but for race detection it runs concurrently with the
//! work-items until they have waited for its event.

use super::{CollectiveContext, check_uniform_operand};
use crate::{
    code::{Collective, CollectiveKind, NoResult, Slot},
    execute::{
        item::{Item, Private},
        races::{Site, Thread},
        view::{RaceCheck, View},
    },
    poison::of_bytes,
    report::{Access, Problem, Use},
};

/// The asynchronous copies of a group.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The number of events so far.
    events: u64,
    /// Race-detection threads for copies; idle ones are reused.
    idle: Vec<Thread>,
    running: Vec<RunningCopy>,
}

#[derive(Debug)]
struct RunningCopy {
    event: u64,
    copying: Thread,
    at: Site,
}

impl Copies {
    /// The location of a copy that no work-item has waited for.
    pub(crate) fn unawaited(&self) -> Option<Site> {
        self.running.first().map(|copy| copy.at)
    }
}

/// Executes a copy; all work-items pass the same arguments.
pub(super) fn copy<const CHECKS: bool>(
    operation: &Collective,
    live: &mut [Item],
    chosen: &[usize],
    context: &mut CollectiveContext<'_>,
) -> Result<(), Problem> {
    let CollectiveKind::Copy { from, elements, stride, bytes, to_local, event } = operation.kind else {
        return Ok(());
    };
    let operands = [operation.to, from, elements, stride];
    if CHECKS {
        for slot in operands.into_iter().chain([event]) {
            check_uniform_operand(live, chosen, slot, 1)?;
        }
    }
    let first = &mut live[chosen[0]];
    let [target, source, elements, stride] = operands.map(|slot: Slot| first.values(slot, 1)[0]);
    if CHECKS && stride == 0 {
        return Err(Problem::NoResult(NoResult::Stride));
    }
    let given = first.values(event, 1)[0];
    let copies = &mut *context.copies;
    if given == 0 {
        copies.events += 1;
    }
    let number = if given == 0 { copies.events } else { given };
    for &index in chosen {
        live[index].values(event, 1)[0] = number;
    }
    let mut copying = match copies.idle.pop() {
        Some(copying) => copying,
        None if CHECKS => context.races.begin_copying(context.group),
        None => Thread::default(),
    };
    let mut nothing = Private::default();
    let race_check = if CHECKS {
        copying.copies_for(chosen.iter().map(|&index| &live[index].thread));
        let (races, shadow) = (&mut *context.races, &mut *context.shadow);
        Some(RaceCheck { races, shadow, thread: &mut copying, at: context.at, is_shared: true })
    } else {
        None
    };
    let mut view = View {
        global: context.global,
        resources: &[],
        local: context.local,
        private: &mut nothing,
        race_check,
    };
    // The stride applies to global memory, in elements.
    let bytes = u64::from(bytes);
    for element in 0..elements {
        let near = element.wrapping_mul(bytes);
        let far = element.wrapping_mul(stride).wrapping_mul(bytes);
        let (to_step, from_step) = if to_local { (near, far) } else { (far, near) };
        view.copy::<CHECKS>(target.wrapping_add(to_step), source.wrapping_add(from_step), bytes)?;
    }
    if CHECKS {
        context.copies.running.push(RunningCopy { event: number, copying, at: context.at });
    } else {
        context.copies.idle.push(copying);
    }
    Ok(())
}

/// Waits for the copies of an event list, which each work-item has in its own memory.
pub(super) fn wait<const CHECKS: bool>(
    count: Slot,
    events: Slot,
    live: &mut [Item],
    chosen: &[usize],
    context: &mut CollectiveContext<'_>,
) -> Result<(), Problem> {
    if !CHECKS {
        return Ok(());
    }
    check_uniform_operand(live, chosen, count, 1)?;
    let wanted = live[chosen[0]].values(count, 1)[0];
    let mut ended = Vec::new();
    for (member, &index) in chosen.iter().enumerate() {
        let item = &mut live[index];
        let address = item.values(events, 1)[0];
        let CollectiveContext { global, local, races, shadow, at, .. } = &mut *context;
        let race_check = RaceCheck { races, shadow, thread: &mut item.thread, at: *at, is_shared: true };
        let mut view =
            View { global, resources: &[], local, private: &mut item.private, race_check: Some(race_check) };
        let mut own = Vec::new();
        for event in 0..wanted.min(1 << 16) {
            let event_address = address.wrapping_add(8 * event);
            let found = view.resolve::<CHECKS>(event_address, 8, Access::Read)?;
            let why = found.poison.as_deref().map_or(0, of_bytes);
            if why != 0 {
                return Err(Problem::Poison(why, Use::Operand));
            }
            own.push(found.cells.load(found.at, 8));
        }
        if member == 0 {
            ended = own;
        } else if ended != own {
            return Err(Problem::NotUniform);
        }
    }
    let copies = &mut *context.copies;
    if ended.iter().any(|event| !(1..=copies.events).contains(event)) {
        let message = "waits for an event that no asynchronous copy of this work-group made".to_owned();
        return Err(Problem::Misuse { kind: "asynchronous-copy", message });
    }
    let (done, left): (Vec<RunningCopy>, Vec<RunningCopy>) =
        std::mem::take(&mut copies.running).into_iter().partition(|copy| ended.contains(&copy.event));
    copies.running = left;
    for RunningCopy { mut copying, .. } in done {
        for &index in chosen {
            live[index].thread.join_copy(&copying);
        }
        copying.next_copy();
        copies.idle.push(copying);
    }
    Ok(())
}
