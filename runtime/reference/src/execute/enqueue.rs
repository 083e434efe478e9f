//! Device-side enqueue (OpenCL C 6.15.19), and events.
//!
//! Owns the queue. Enqueued kernels run after the kernel that enqueued them, one at a time in an order that their
//! events allow; every enqueue flag permits that. For the race detector, the queue records what happens before each
//! kernel. Must not depend on how a kernel is executed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    Region, clock,
    races::{Past, Wait},
    view::View,
};
use crate::{
    code::{Enqueue, Enqueued, Slot},
    poison::Poison,
    report::{Access, Problem, Use},
};

/// The maximum size of a work-group.
pub(crate) const MAX_GROUP_SIZE: u32 = 1024;
/// The maximum number of waiting kernels.
const MAX_WAITING: usize = 1 << 16;
/// The maximum number of kernels that a launch may enqueue, at any depth.
pub(crate) const MAX_ENQUEUED: u32 = 1 << 20;
/// The work-group size that the device chooses.
const USUAL_GROUP_SIZE: u32 = 64;

/// Return values of the functions.
mod status {
    pub(super) const SUCCESS: i32 = 0;
    pub(super) const INVALID_ARG_SIZE: i32 = -51;
    pub(super) const INVALID_EVENT_WAIT_LIST: i32 = -57;
    pub(super) const INVALID_QUEUE: i32 = -102;
    pub(super) const INVALID_NDRANGE: i32 = -160;
    pub(super) const DEVICE_QUEUE_FULL: i32 = -161;
}

/// `CLK_ENQUEUE_FLAGS_WAIT_KERNEL` and `CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP`.
const WAIT_KERNEL: u64 = 1;
const WAIT_WORK_GROUP: u64 = 2;

/// `CL_SUBMITTED`, the initial status of an event.
const SUBMITTED: i32 = 2;

/// An index space, partitioned into regions.
#[derive(Debug, Clone)]
pub(crate) struct IndexSpace {
    pub(crate) dims: u32,
    pub(crate) offset: [u32; 3],
    pub(crate) global: [u32; 3],
    pub(crate) local: [u32; 3],
    pub(crate) groups: [u32; 3],
    pub(crate) regions: Vec<Region>,
}

/// A kernel to execute.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) block: u32,
    /// The captures of the block.
    pub(crate) literal: Vec<u8>,
    pub(crate) locals: Vec<u64>,
    pub(crate) space: IndexSpace,
    wait: Wait,
}

/// A waiting kernel or marker.
#[derive(Debug)]
struct Waiting {
    /// `None` for a marker.
    child: Option<Child>,
    wait: Vec<u64>,
    /// The completion event.
    event: u64,
    /// What happens before, besides the events.
    past: Past,
}

#[derive(Debug)]
struct Event {
    /// 0 if complete, negative after an error.
    status: i32,
    is_user: bool,
    count: i64,
    /// The event of the kernel that enqueued the command; 0 for the launch.
    parent: u64,
    /// The number of incomplete children, plus one until the command itself has ended (OpenCL API 3.2.3).
    open: u32,
    /// When the kernel started and ended, and when it was complete, in nanoseconds.
    times: [u64; 3],
    /// The addresses for profiling data.
    profiles: Vec<u64>,
    /// What has happened when the event is complete.
    past: Past,
    /// What the kernel has acquired from others.
    acquired: Past,
}

/// The kernels enqueued by a launch.
#[derive(Debug)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Debug)]
struct State {
    waiting: Vec<Waiting>,
    /// The events. The first one is that of the launched kernel, which no kernel has.
    events: Vec<Event>,
    taken: u32,
    /// The event of the running kernel.
    running: u64,
}

/// The event of the launched kernel.
pub(crate) const LAUNCH: u64 = 1;

/// Times to store: the addresses, and the nanoseconds.
pub(crate) type Profile = (Vec<u64>, [u64; 2]);

/// The next step of the queue.
pub(crate) enum Next {
    Nothing,
    /// A kernel, its completion event, and what happens before it.
    Kernel(Box<Child>, u64, Past),
    /// All remaining commands wait for events that cannot complete.
    Stuck,
    TooMany,
}

impl Queue {
    /// An empty queue, when the launched kernel runs.
    pub(crate) fn new() -> Self {
        let mut state = State { waiting: Vec::new(), events: Vec::new(), taken: 0, running: 0 };
        state.running = state.new_event(false, 0);
        Self(Mutex::new(state))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a kernel whose wait list is complete.
    pub(crate) fn next(&self, seed: u64) -> Next {
        let mut state = self.lock();
        loop {
            let ready =
                |state: &State, waiting: &Waiting| waiting.wait.iter().all(|&it| state.status(it) <= 0);
            let all: Vec<usize> =
                (0..state.waiting.len()).filter(|&index| ready(&state, &state.waiting[index])).collect();
            let Some(&chosen) = all.get((seed % all.len().max(1) as u64) as usize) else {
                return if state.waiting.is_empty() { Next::Nothing } else { Next::Stuck };
            };
            let Waiting { child, wait, event, mut past } = state.waiting.remove(chosen);
            // OpenCL C 6.15.19.1: a command that waits for a failed one is not executed.
            let failed = wait.iter().map(|&event| state.status(event)).find(|status| *status < 0);
            for &event in &wait {
                if let Some(event) = state.event(event) {
                    past.join(&event.past);
                }
            }
            match (child, failed) {
                (Some(child), None) => {
                    state.taken += 1;
                    if state.taken > MAX_ENQUEUED {
                        return Next::TooMany;
                    }
                    let parent = state.event(event).map_or(0, |event| event.parent);
                    if let Some(parent) = state.event(parent).filter(|_| child.wait != Wait::Nothing) {
                        past.join(&parent.acquired);
                    }
                    if let Some(event) = state.event(event) {
                        event.times[0] = clock::nanoseconds();
                    }
                    state.running = event;
                    return Next::Kernel(Box::new(child), event, past);
                }
                (_, failed) => {
                    if let Some(event) = state.event(event) {
                        event.past = past;
                    }
                    state.end(event, failed.unwrap_or(0));
                }
            }
        }
    }

    /// Forgets what has happened before the running kernel.
    pub(crate) fn forget(&self) {
        let mut state = self.lock();
        state.waiting.iter_mut().for_each(|waiting| waiting.past = Past::default());
        for event in &mut state.events {
            (event.past, event.acquired) = Default::default();
        }
    }

    /// Records that a kernel has ended, with what has happened then and what it has acquired. Returns the profiling data of
    /// events that are complete.
    pub(crate) fn complete(&self, event: u64, past: &Past, acquired: &Past) -> Vec<Profile> {
        let mut state = self.lock();
        if let Some(event) = state.event(event) {
            event.times[1] = clock::nanoseconds();
            event.past.join(past);
            event.acquired = acquired.clone();
        }
        state.end(event, 0)
    }
}

impl Event {
    /// The nanoseconds from the start of the kernel until it has ended, and until it is complete.
    fn durations(&self) -> [u64; 2] {
        let [start, end, complete] = self.times;
        [end, complete].map(|until| until.saturating_sub(start))
    }
}

impl State {
    fn event(&mut self, handle: u64) -> Option<&mut Event> {
        self.events.get_mut(usize::try_from(handle.checked_sub(1)?).ok()?)
    }

    fn status(&self, handle: u64) -> i32 {
        let index = handle.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.events.get(index)).map_or(0, |event| event.status)
    }

    /// Ends a command. Its event is complete if its children are, too, and so may be those of its parents.
    fn end(&mut self, mut handle: u64, mut status: i32) -> Vec<Profile> {
        let mut profiles = Vec::new();
        while let Some(event) = self.event(handle) {
            event.open -= 1;
            if event.open > 0 {
                break;
            }
            event.status = status;
            event.times[2] = clock::nanoseconds();
            if !event.profiles.is_empty() {
                profiles.push((std::mem::take(&mut event.profiles), event.durations()));
            }
            let (parent, past) = (event.parent, event.past.clone());
            // No command waits for the launched kernel.
            if let Some(parent) = self.event(parent).filter(|_| parent != LAUNCH) {
                parent.past.join(&past);
            }
            (handle, status) = (parent, 0);
        }
        profiles
    }

    /// The incomplete commands, except the running kernel and its parents.
    fn incomplete(&self) -> Vec<u64> {
        let mut parents = Vec::new();
        let mut next = self.running;
        while let Some(event) = next.checked_sub(1).and_then(|index| self.events.get(index as usize)) {
            parents.push(next);
            next = event.parent;
        }
        let all = self
            .events
            .iter()
            .zip(1..)
            .filter(|(event, handle)| event.status > 0 && !event.is_user && !parents.contains(handle));
        all.map(|(_, handle)| handle).collect()
    }

    fn new_event(&mut self, is_user: bool, count: i64) -> u64 {
        let parent = if is_user { 0 } else { self.running };
        if let Some(parent) = self.event(parent) {
            parent.open += 1;
        }
        self.events.push(Event {
            status: SUBMITTED,
            is_user,
            count,
            parent,
            open: 1,
            times: [clock::nanoseconds(); 3],
            profiles: Vec::new(),
            past: Past::default(),
            acquired: Past::default(),
        });
        self.events.len() as u64
    }

    /// Whether this event has a reference.
    fn is_held(&mut self, handle: u64) -> bool {
        self.event(handle).is_some_and(|event| event.count > 0)
    }
}

/// Executes a function of OpenCL C 6.15.19.
pub(crate) fn perform<const CHECKS: bool>(
    view: &mut View<'_>,
    queue: &Queue,
    op: &Enqueue,
    regs: &mut [u64],
    poison: &mut [Poison],
) -> Result<(), Problem> {
    if CHECKS && let Some(&slot) = op.operands().iter().find(|slot| poison[**slot as usize] != 0) {
        return Err(Problem::Poison(poison[slot as usize], Use::Operand));
    }
    let value = |slot: Slot| regs[slot as usize];
    let (to, result) = match op {
        Enqueue::Kernel(op) => (op.to, enqueue::<CHECKS>(view, queue, op, regs)? as u32 as u64),
        Enqueue::Marker { to, queue: on, count, wait, event } => {
            let status = match value(*on) {
                0 => status::INVALID_QUEUE,
                _ => mark::<CHECKS>(view, queue, (value(*count), value(*wait)), value(*event))?,
            };
            (*to, status as u32 as u64)
        }
        Enqueue::SubGroups { to, space } => {
            let items = index_space(regs, *space).map_or(0, |space| space.local.iter().product::<u32>());
            (*to, items.div_ceil(crate::SUB_GROUP_SIZE).into())
        }
        Enqueue::LocalSize { to, count } => {
            let size = value(*count) * u64::from(crate::SUB_GROUP_SIZE);
            (*to, if size <= MAX_GROUP_SIZE.into() { size } else { 0 })
        }
        Enqueue::UserEvent { to } => (*to, queue.lock().new_event(true, 1)),
        Enqueue::IsValid { to, event } => (*to, queue.lock().is_held(value(*event)).into()),
        Enqueue::Count { event, by } => {
            let mut state = queue.lock();
            if !state.is_held(value(*event)) {
                return Err(misuse("retains or releases a nonexistent event"));
            }
            if let Some(event) = state.event(value(*event)) {
                event.count += by;
            }
            return Ok(());
        }
        Enqueue::Status { event, status } => return set_status(view, queue, value(*event), value(*status)),
        Enqueue::Profile { event, pointer } => {
            return profile::<CHECKS>(view, queue, value(*event), value(*pointer));
        }
    };
    regs[to as usize] = result;
    if CHECKS {
        poison[to as usize] = 0;
    }
    Ok(())
}

/// `enqueue_marker` in a valid queue, with this wait list. Returns its result.
fn mark<const CHECKS: bool>(
    view: &mut View<'_>,
    queue: &Queue,
    (count, list): (u64, u64),
    event: u64,
) -> Result<i32, Problem> {
    let listed = wait_list(view, count, list)?;
    let mut state = queue.lock();
    let Some(listed) = listed.filter(|listed| listed.iter().all(|&event| state.is_held(event))) else {
        return Ok(status::INVALID_EVENT_WAIT_LIST);
    };
    // Without a wait list, waits for everything enqueued before.
    let wait = if listed.is_empty() { state.incomplete() } else { listed };
    push::<CHECKS>(view, &mut state, None, wait, Past::default(), event)
}

/// `set_user_event_status`
fn set_status(view: &mut View<'_>, queue: &Queue, event: u64, status: u64) -> Result<(), Problem> {
    let status = status as i32;
    let past = past(view, Wait::Nothing);
    match queue.lock().event(event) {
        Some(event) if event.is_user && event.status > 0 && status <= 0 => {
            (event.status, event.past) = (status, past);
            Ok(())
        }
        _ => {
            Err(misuse("sets the status of an event that is not a waiting user event, or an invalid status"))
        }
    }
}

/// `capture_event_profiling_info`: stores the times at the pointer, or later if the command is not complete.
fn profile<const CHECKS: bool>(
    view: &mut View<'_>,
    queue: &Queue,
    event: u64,
    pointer: u64,
) -> Result<(), Problem> {
    view.locate(pointer, 16, Access::Write)?;
    match queue.lock().event(event) {
        Some(event) if event.is_user => return Err(misuse("queries the times of a user event")),
        Some(event) if event.status <= 0 => {
            if CHECKS {
                view.check_races(pointer, 16, true)?;
            }
            let (cells, at) = view.locate(pointer, 16, Access::Write)?;
            for (time, offset) in event.durations().into_iter().zip([0, 8]) {
                cells.store(at + offset, 8, time);
            }
        }
        Some(event) => event.profiles.push(pointer),
        None => return Err(misuse("queries the times of a nonexistent event")),
    }
    Ok(())
}

/// `enqueue_kernel`: returns its result.
fn enqueue<const CHECKS: bool>(
    view: &mut View<'_>,
    queue: &Queue,
    op: &Enqueued,
    regs: &[u64],
) -> Result<i32, Problem> {
    let value = |slot: Slot| regs[slot as usize];
    if value(op.queue) == 0 {
        return Ok(status::INVALID_QUEUE);
    }
    let Some(space) = index_space(regs, op.space) else { return Ok(status::INVALID_NDRANGE) };
    let locals: Vec<u64> = op.locals.iter().map(|&slot| value(slot)).collect();
    if locals.iter().any(|&bytes| bytes == 0 || bytes > 1 << 30) {
        return Ok(status::INVALID_ARG_SIZE);
    }
    let (cells, at) = view.locate(value(op.literal), value(op.size), Access::Read)?;
    let mut literal = vec![0; value(op.size) as usize];
    cells.read(at, &mut literal);
    let listed = wait_list(view, value(op.count), value(op.wait))?;
    let mut state = queue.lock();
    let Some(wait) = listed.filter(|listed| listed.iter().all(|&event| state.is_held(event))) else {
        return Ok(status::INVALID_EVENT_WAIT_LIST);
    };
    let waits_for = match value(op.flags) {
        WAIT_KERNEL => Wait::Kernel,
        WAIT_WORK_GROUP => Wait::Group,
        _ => Wait::Nothing,
    };
    let child = Child { block: op.block, literal, locals, space, wait: waits_for };
    let past = past(view, waits_for);
    push::<CHECKS>(view, &mut state, Some(child), wait, past, value(op.event))
}

/// What happens before a command that a work-item enqueues now.
fn past(view: &mut View<'_>, wait: Wait) -> Past {
    view.race_check.as_mut().map_or_else(Past::default, |check| check.races.enqueue(check.thread, wait))
}

/// Adds a command, and stores its event if requested.
fn push<const CHECKS: bool>(
    view: &mut View<'_>,
    state: &mut State,
    child: Option<Child>,
    wait: Vec<u64>,
    past: Past,
    wanted: u64,
) -> Result<i32, Problem> {
    if state.waiting.len() >= MAX_WAITING {
        return Ok(status::DEVICE_QUEUE_FULL);
    }
    let event = state.new_event(false, i64::from(wanted != 0));
    if wanted != 0 {
        if CHECKS {
            view.check_races(wanted, 8, true)?;
        }
        let (cells, at) = view.locate(wanted, 8, Access::Write)?;
        cells.store(at, 8, event);
        if CHECKS && let Some(poison) = view.poison(wanted, 8) {
            poison.fill(0);
        }
    }
    state.waiting.push(Waiting { child, wait, event, past });
    Ok(status::SUCCESS)
}

/// The events of a wait list; `None` if count and address are inconsistent.
fn wait_list(view: &View<'_>, count: u64, address: u64) -> Result<Option<Vec<u64>>, Problem> {
    if (count == 0) != (address == 0) {
        return Ok(None);
    }
    let (cells, at) = match count {
        0 => return Ok(Some(Vec::new())),
        _ => view.locate(address, count.saturating_mul(8), Access::Read)?,
    };
    Ok(Some((0..count).map(|index| cells.load(at + 8 * index, 8)).collect()))
}

/// The index space in registers; `None` if it is invalid.
fn index_space(regs: &[u64], slot: Slot) -> Option<IndexSpace> {
    let all = &regs[slot as usize..][..10];
    let dims = u32::try_from(all[0]).ok().filter(|dims| (1..=3).contains(dims))?;
    let take = |from: usize, absent: u32| -> Option<[u32; 3]> {
        let mut values = [absent; 3];
        for (lane, value) in values.iter_mut().enumerate().take(dims as usize) {
            *value = u32::try_from(all[from + lane]).ok()?;
        }
        Some(values)
    };
    let (offset, given, global) = (take(1, 0)?, take(4, 1)?, take(7, 1)?);
    let has_end = (0..3).all(|lane| offset[lane].checked_add(global[lane]).is_some());
    if global.contains(&0) || !has_end {
        return None;
    }
    let local = match given.contains(&0) {
        // The device chooses the largest divisor within its limit.
        true => {
            [(1..=USUAL_GROUP_SIZE).rev().find(|size| global[0].is_multiple_of(*size)).unwrap_or(1), 1, 1]
        }
        false => given,
    };
    let items = local.iter().try_fold(1u32, |all, &size| all.checked_mul(size))?;
    if items > MAX_GROUP_SIZE {
        return None;
    }
    let groups = [0, 1, 2].map(|lane| global[lane].div_ceil(local[lane]));
    Some(IndexSpace { dims, offset, global, local, groups, regions: regions(offset, global, local) })
}

/// Work-groups of the full size, and partial ones at the edges (OpenCL C 6.15.1: work-groups need not be uniform).
fn regions(offset: [u32; 3], global: [u32; 3], local: [u32; 3]) -> Vec<Region> {
    // In each dimension: the group size, the number of groups, and the first group.
    let parts = [0, 1, 2].map(|lane: usize| {
        let (whole, rest) = (global[lane] / local[lane], global[lane] % local[lane]);
        let parts = [(local[lane], whole, 0), (rest, 1, whole)];
        parts.into_iter().filter(|(size, count, _)| *size > 0 && *count > 0).collect::<Vec<_>>()
    });
    let mut regions = Vec::new();
    for &z in &parts[2] {
        for &y in &parts[1] {
            for &x in &parts[0] {
                let all = [x, y, z];
                let first_group = all.map(|part| part.2);
                regions.push(Region {
                    local: all.map(|part| part.0),
                    groups: all.map(|part| part.1),
                    first_group,
                    first_item: [0, 1, 2].map(|lane| offset[lane] + first_group[lane] * local[lane]),
                    pipeline: 0,
                });
            }
        }
    }
    regions
}

fn misuse(message: &str) -> Problem {
    Problem::Misuse { kind: "enqueue", message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_spaces_are_divided_at_group_boundaries() {
        let space = index_space(&[2, 1, 0, 0, 4, 2, 0, 10, 3, 0], 0).unwrap();
        assert_eq!((space.groups, space.regions.len()), ([3, 2, 1], 4));
        assert_eq!(space.regions[3].first_item, [9, 2, 0]);
        assert_eq!((space.regions[3].local, space.regions[3].groups), ([2, 1, 1], [1, 1, 1]));
        assert_eq!(index_space(&[1, 0, 0, 0, 0, 0, 0, 100, 0, 0], 0).unwrap().local, [50, 1, 1]);
        assert!(index_space(&[1, 0, 0, 0, 2000, 0, 0, 4000, 0, 0], 0).is_none());
        assert!(index_space(&[4, 0, 0, 0, 1, 0, 0, 1, 0, 0], 0).is_none());
    }
}
