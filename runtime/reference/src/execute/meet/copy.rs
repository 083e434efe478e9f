//! Asynchronous copies between local and global memory, and waiting for them (OpenCL C 6.15.11).
//!
//! Owns the events of a group. A copy runs immediately, but for race detection it runs concurrently with the
//! work-items until they have waited for its event.

use super::{Surroundings, agree};
use crate::{
    code::{Meet, Slot, Together},
    execute::{
        item::{Item, Private},
        races::{Site, Thread},
        view::{View, Watch},
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
    under_way: Vec<UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    event: u64,
    copying: Thread,
    at: Site,
}

impl Copies {
    /// The location of a copy that no work-item has waited for.
    pub(crate) fn forgotten(&self) -> Option<Site> {
        self.under_way.first().map(|copy| copy.at)
    }
}

/// Executes a copy; all work-items pass the same arguments.
pub(super) fn copy<const CHECKS: bool>(
    meet: &Meet,
    live: &mut [Item],
    chosen: &[usize],
    surroundings: &mut Surroundings<'_>,
) -> Result<(), Problem> {
    let Together::Copy { from, elements, stride, bytes, to_local, event } = meet.what else { return Ok(()) };
    let operands = [meet.to, from, elements, stride];
    if CHECKS {
        for slot in operands.into_iter().chain([event]) {
            agree(live, chosen, slot, 1)?;
        }
    }
    let first = &mut live[chosen[0]];
    let [target, source, elements, stride] = operands.map(|slot: Slot| first.values(slot, 1)[0]);
    let given = first.values(event, 1)[0];
    let copies = &mut *surroundings.copies;
    if given == 0 {
        copies.events += 1;
    }
    let number = if given == 0 { copies.events } else { given };
    for &index in chosen {
        live[index].values(event, 1)[0] = number;
    }
    let mut copying = match copies.idle.pop() {
        Some(copying) => copying,
        None if CHECKS => surroundings.races.begin_copying(surroundings.group),
        None => Thread::default(),
    };
    let mut nothing = Private::default();
    let watch = if CHECKS {
        copying.copies_for(chosen.iter().map(|&index| &live[index].thread));
        let (races, shadow) = (&mut *surroundings.races, &mut *surroundings.shadow);
        Some(Watch { races, shadow, thread: &mut copying, at: surroundings.at, is_shared: true })
    } else {
        None
    };
    let mut view = View {
        global: surroundings.global,
        resources: &[],
        local: surroundings.local,
        private: &mut nothing,
        watch,
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
        surroundings.copies.under_way.push(UnderWay { event: number, copying, at: surroundings.at });
    } else {
        surroundings.copies.idle.push(copying);
    }
    Ok(())
}

/// Waits for the copies of an event list, which each work-item has in its own memory.
pub(super) fn wait<const CHECKS: bool>(
    count: Slot,
    events: Slot,
    live: &mut [Item],
    chosen: &[usize],
    surroundings: &mut Surroundings<'_>,
) -> Result<(), Problem> {
    if !CHECKS {
        return Ok(());
    }
    agree(live, chosen, count, 1)?;
    let wanted = live[chosen[0]].values(count, 1)[0];
    let mut ended = Vec::new();
    for (member, &index) in chosen.iter().enumerate() {
        let item = &mut live[index];
        let address = item.values(events, 1)[0];
        let Surroundings { global, local, races, shadow, at, .. } = &mut *surroundings;
        let watch = Watch { races, shadow, thread: &mut item.thread, at: *at, is_shared: true };
        let mut view = View { global, resources: &[], local, private: &mut item.private, watch: Some(watch) };
        let mut own = Vec::new();
        for event in 0..wanted.min(1 << 16) {
            let event_address = address.wrapping_add(8 * event);
            let found = view.reach::<CHECKS>(event_address, 8, Access::Read)?;
            let why = found.poison.as_deref().map_or(0, of_bytes);
            if why != 0 {
                return Err(Problem::Poison(why, Use::Operand));
            }
            own.push(found.cells.load(found.at, 8));
        }
        if member == 0 {
            ended = own;
        } else if ended != own {
            return Err(Problem::Differing);
        }
    }
    let copies = &mut *surroundings.copies;
    if ended.iter().any(|event| !(1..=copies.events).contains(event)) {
        let message = "waits for an event that no asynchronous copy of this work-group made".to_owned();
        return Err(Problem::Misuse { kind: "asynchronous-copy", message });
    }
    let (done, left): (Vec<UnderWay>, Vec<UnderWay>) =
        std::mem::take(&mut copies.under_way).into_iter().partition(|copy| ended.contains(&copy.event));
    copies.under_way = left;
    for UnderWay { mut copying, .. } in done {
        for &index in chosen {
            live[index].thread.join_copy(&copying);
        }
        copying.next_copy();
        copies.idle.push(copying);
    }
    Ok(())
}
