//! Detects data races by OpenCL's memory model (OpenCL API 3.3.4 to 3.3.6) and by Vulkan's (appendix "Memory Model").
//!
//! Owns the rule: two conflicting accesses that are not ordered are a race, unless both are atomic with scopes that
//! include each other. `clock` computes the order, `shadow` stores the accesses. Must not depend on operations.
//!
//! In OpenCL happens-before is sufficient. Vulkan's location-order between two work-items requires more: both
//! accesses are non-private, a write is made available before the other access, and made visible to a read. The
//! clocks track all three. Where Vulkan's rules are more precise (memory domains, chains, references), this uses the
//! weaker requirement: every report is a race, but some races may be missed.

mod clock;
mod explain;
mod shadow;

use rustc_hash::FxHashMap;

use clock::{GLOBAL, IMAGE, LOCAL, Member, Release, SPACES, acquires, releases, spaces_of};
pub(crate) use clock::{Past, Thread};
use shadow::RecordedAccess;
pub(crate) use shadow::Shadow;

use super::undefined::Undefined;
use crate::{
    Environment, ItemId,
    code::{Scope, Semantics},
    memory::{Location, Space},
    report::{Agent, Problem},
};

/// The program-wide index of an operation.
pub(crate) type Site = u32;

/// The race detection state of a launch.
#[derive(Debug)]
pub(crate) struct Races {
    environment: Environment,
    global: Shadow,
    /// The texels of images and the packets of pipes, by handle.
    handles: Shadow,
    /// The reservations of pipes that the running kernel has not committed.
    reservations: Vec<Reserved>,
    /// The undefined bytes of global memory, which exist as long as this state.
    pub(crate) undefined: Undefined,
    /// The releases at an atomic object, with its group if it is in local memory.
    releases: FxHashMap<(u32, u64), Vec<Release>>,
    agents: Agents,
    /// The group after those of the running kernel.
    end: u32,
    /// What happens before the running kernel.
    start: Past,
    /// What the running kernel has acquired from kernels that need not have ended before it.
    acquired: Past,
}

/// The agents of accesses.
#[derive(Debug, Default)]
struct Agents {
    members: Vec<Member>,
    /// The kernels of the launch that have started, with their first groups. The last one runs.
    kernels: Vec<(u32, String)>,
}

/// What an enqueued kernel waits for (OpenCL C 6.15.19.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    Kernel,
    Group,
}

/// This bit marks the groups of asynchronous copies, which barriers do not include.
const COPIES: u32 = 1 << 31;
/// The number of work-items whose accesses are remembered when the next kernel of a launch starts.
const MAX_MEMBERS: usize = 1 << 22;

/// A reservation of packets of a pipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved {
    /// The handle of the pipe.
    pipe: u64,
    id: u64,
    pub(crate) at: Site,
    /// The group in the kernel of the work-item that made it, and its index in the group.
    pub(crate) group: u32,
    pub(crate) index: u32,
}

/// The synchronization of an atomic operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Synchronization {
    pub(crate) scope: Scope,
    pub(crate) semantics: Semantics,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// An access: how, and by which operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessInfo {
    pub(crate) is_write: bool,
    /// The scope and size, if it is atomic.
    pub(crate) atomic: Option<(Scope, u8)>,
    pub(crate) at: Site,
    /// Whether it is non-private; in OpenCL every access is.
    pub(crate) is_shared: bool,
}

impl Races {
    pub(crate) fn new(environment: Environment) -> Self {
        Self {
            environment,
            global: Shadow::default(),
            handles: Shadow::default(),
            reservations: Vec::new(),
            undefined: Undefined::default(),
            releases: FxHashMap::default(),
            agents: Agents::default(),
            end: 0,
            start: Past::default(),
            acquired: Past::default(),
        }
    }

    /// Whether copies in the module have no types.
    pub(crate) fn is_untyped(&self) -> bool {
        self.environment == Environment::Vulkan
    }

    /// Starts a kernel of the launch, after what has happened. Returns whether earlier kernels are still known; if not,
    /// what happened before is unknown, too.
    pub(crate) fn begin_kernel(&mut self, name: &str, groups: u64, past: &Past) -> bool {
        let is_known =
            self.agents.members.len() < MAX_MEMBERS && groups.saturating_add(self.end.into()) < COPIES.into();
        if !is_known {
            *self = Self::new(self.environment);
        }
        self.agents.kernels.push((self.end, name.to_owned()));
        self.end = groups.saturating_add(self.end.into()).min((COPIES - 1).into()) as u32;
        self.start = if is_known { past.clone() } else { Past::default() };
        self.acquired = Past::default();
        is_known
    }

    /// Records a reservation of a pipe.
    pub(crate) fn reserve(&mut self, thread: &Thread, pipe: u64, id: u64, at: Site) {
        let Member { group, index } = thread.member;
        self.reservations.push(Reserved { pipe, id, at, group: group - self.agents.first(), index });
    }

    /// Records that a reservation was committed.
    pub(crate) fn commit(&mut self, pipe: u64, id: u64) {
        self.reservations.retain(|reserved| (reserved.pipe, reserved.id) != (pipe, id));
    }

    /// The first reservation of the kernel that was not committed.
    pub(crate) fn uncommitted(&self) -> Option<Reserved> {
        self.reservations.first().copied()
    }

    /// What has happened when the running kernel has ended.
    pub(crate) fn end_kernel(&mut self) -> Past {
        // No later kernel has the local memory of these groups.
        self.releases.retain(|object, _| object.0 == 0);
        let mut past = self.start.clone();
        past.join(&self.acquired);
        past.join_groups(self.agents.first()..self.end);
        past
    }

    /// What happens before a kernel that a work-item enqueues now. OpenCL API 3.3.7.5 orders the work-item's accesses before
    /// the kernel only in memory with fine-grained sharing; this orders them in all memory, because a buffer has
    /// no record of how it is shared.
    pub(crate) fn enqueue(&self, thread: &mut Thread, wait: Wait) -> Past {
        let mut past = thread.past();
        match wait {
            Wait::Nothing => {}
            Wait::Kernel => past.join_groups(self.agents.first()..self.end),
            Wait::Group => past.join_groups(thread.member.group..thread.member.group + 1),
        }
        past
    }

    /// Forgets the accesses to a buffer.
    pub(crate) fn forget(&mut self, address: u64) {
        if let Some(location) = Location::from_address(address) {
            self.global.forget(location.object);
        }
    }

    /// What the running kernel has acquired from others.
    pub(crate) fn acquired(&self) -> &Past {
        &self.acquired
    }

    /// Starts a work-item.
    pub(crate) fn begin(&mut self, group: u32, index: u32) -> Thread {
        let Agents { members, kernels } = &mut self.agents;
        let first = kernels.last().map_or(0, |kernel| kernel.0);
        let (number, member) = (members.len() as u32, Member { group: first + group, index });
        members.push(member);
        let known = self.start.clocks();
        Thread { number, member, epoch: 1, environment: self.environment, known, ..Thread::default() }
    }

    /// Starts a thread for the asynchronous copies of a work-group.
    pub(crate) fn begin_copying(&mut self, group: u32) -> Thread {
        self.begin(group | COPIES, 0)
    }

    /// A barrier of these work-items: orders everything before it before everything after it, in the spaces of its
    /// flags.
    pub(crate) fn barrier<'t>(
        &mut self,
        threads: impl Iterator<Item = &'t mut Thread>,
        is_whole_group: bool,
        scope: Scope,
        semantics: Semantics,
    ) {
        clock::barrier(threads.collect(), is_whole_group, scope, semantics);
    }

    /// An atomic operation: records the access and its synchronization.
    pub(crate) fn atomic(
        &mut self,
        local: &mut Shadow,
        thread: &mut Thread,
        (address, size): (u64, u8),
        how: Synchronization,
        at: Site,
    ) -> Result<(), Problem> {
        let Some(location) = Location::from_address(address) else { return Ok(()) };
        if !matches!(location.space, Space::Global | Space::Local) {
            return Ok(());
        }
        let access =
            AccessInfo { is_write: how.writes, atomic: Some((how.scope, size)), at, is_shared: true };
        self.record_access(local, thread, location, size.into(), access)?;
        let is_local = location.space == Space::Local;
        let own = if is_local { LOCAL } else { GLOBAL };
        let is_vulkan = self.environment == Environment::Vulkan;
        let mut spaces = spaces_of(how.semantics);
        // In OpenCL an atomic operation orders the memory of its object; in Vulkan only the memory in its semantics.
        spaces[own] |= !is_vulkan;
        let order = how.semantics.order;
        let publishes = how.writes && (releases(order) || !thread.fences.is_empty());
        let makes_visible = how.reads && acquires(order) && how.semantics.visible;
        if self.releases.is_empty() && !publishes {
            if makes_visible {
                thread.make_visible(spaces);
            }
            return Ok(());
        }
        let object = (if is_local { thread.member.group + 1 } else { 0 }, address);
        let has_releases = self.read_releases(object, thread, how, (own, spaces));
        if makes_visible {
            thread.make_visible(spaces);
        }
        if how.writes && (publishes || has_releases) {
            self.publish(object, thread, how, (own, spaces));
        }
        Ok(())
    }

    /// Synchronizes with the releases of an object, if the atomic operation reads it. Returns whether there are any.
    fn read_releases(
        &mut self,
        object: (u32, u64),
        thread: &mut Thread,
        how: Synchronization,
        (own, spaces): (usize, [bool; SPACES]),
    ) -> bool {
        let Some(releases) = self.releases.get(&object) else { return false };
        if !how.reads {
            return true;
        }
        let first = self.agents.first();
        for release in releases {
            if acquires(how.semantics.order) {
                thread.acquire(release, how.scope, spaces);
            }
            thread.record_read_release(release, own);
            if release.member.group & !COPIES < first {
                self.acquired.join_release(release);
            }
        }
        true
    }

    /// Ends the release sequences that an atomic write ends, and begins those of the fences before it and of the write itself.
    fn publish(
        &mut self,
        object: (u32, u64),
        thread: &mut Thread,
        how: Synchronization,
        (own, spaces): (usize, [bool; SPACES]),
    ) {
        let is_vulkan = self.environment == Environment::Vulkan;
        let sequence = self.releases.entry(object).or_default();
        // A store by another work-item ends release sequences (OpenCL API 3.3.4); in Vulkan any store does.
        sequence.retain(|release| how.reads || release.number == thread.number && !is_vulkan);
        let mut publish = |new: Release| {
            // Releases that the new one covers are redundant.
            sequence.retain(|old| {
                !new.covers(old)
                    || old.scope > new.scope
                    || old.spaces.iter().zip(new.spaces).any(|(old, new)| *old && !new)
            });
            sequence.push(new);
        };
        // A Vulkan fence synchronizes only through objects in the memory that its semantics contain.
        for fence in thread.fences.iter().filter(|fence| !is_vulkan || fence.spaces[own]) {
            publish(fence.clone());
        }
        if releases(how.semantics.order) {
            publish(thread.release(how.scope, spaces, how.semantics.available));
            thread.epoch += 1;
        }
    }

    /// Records an access to a range of bytes.
    #[inline]
    pub(crate) fn record_access(
        &mut self,
        local: &mut Shadow,
        thread: &Thread,
        location: Location,
        size: u64,
        access: AccessInfo,
    ) -> Result<(), Problem> {
        let (shadow, space) = match location.space {
            Space::Global => (&mut self.global, GLOBAL),
            Space::Local => (local, LOCAL),
            Space::Private | Space::Input | Space::Resource => return Ok(()),
        };
        let Ok(start) = u64::try_from(location.offset) else { return Ok(()) };
        let mut words = shadow.object(location.object);
        let end = start + size.max(1);
        for index in start / 4..end.div_ceil(4) {
            let from = start.saturating_sub(index * 4).min(4);
            let to = (end - index * 4).min(4);
            let mask = ((1u8 << to) - 1) & !((1u8 << from) - 1);
            if let Some(earlier) =
                record(&self.agents.members, words.word(index), thread, space, mask, access)
            {
                return Err(explain::race(&earlier, &self.agents, thread, access, space, Some(location)));
            }
        }
        Ok(())
    }

    /// The writes of the running kernel that are recorded for the word at a location: the agent and the location of
    /// each.
    pub(crate) fn writes(&self, local: &Shadow, location: Location) -> Vec<(Option<ItemId>, Site)> {
        let shadow = match location.space {
            Space::Global => &self.global,
            Space::Local => local,
            Space::Private | Space::Input | Space::Resource => return Vec::new(),
        };
        let Ok(offset) = u64::try_from(location.offset) else { return Vec::new() };
        let accesses = shadow.find(location.object, offset / 4).map(shadow::Word::all).into_iter().flatten();
        let writes = accesses.filter(|earlier| earlier.is_write && earlier.mask & 1 << (offset % 4) != 0);
        writes
            .filter_map(|earlier| match self.agents.agent(earlier.thread) {
                Agent::WorkItem { group, index } => Some((Some(ItemId { group, index }), earlier.at)),
                Agent::Copy => Some((None, earlier.at)),
                Agent::Kernel(_) => None,
            })
            .collect()
    }

    /// Records an access to a texel of an image or a packet of a pipe, by index.
    pub(crate) fn record_handle_access(
        &mut self,
        thread: &Thread,
        handle: u64,
        number: u64,
        access: AccessInfo,
    ) -> Result<(), Problem> {
        let mut words = self.handles.object(handle as u32);
        match record(&self.agents.members, words.word(number), thread, IMAGE, 0xf, access) {
            Some(earlier) => Err(explain::race(&earlier, &self.agents, thread, access, IMAGE, None)),
            None => Ok(()),
        }
    }
}

impl Agents {
    /// The first group of the running kernel.
    fn first(&self) -> u32 {
        self.kernels.last().map_or(0, |kernel| kernel.0)
    }

    /// Whether a work-item or a copy is of an earlier kernel.
    fn is_earlier(&self, member: Member) -> bool {
        member.group & !COPIES < self.first()
    }

    /// The agent for a report.
    fn agent(&self, thread: u32) -> Agent {
        let member = self.members[thread as usize];
        let Member { group, index } = member;
        if self.is_earlier(member) {
            let after = self.kernels.partition_point(|kernel| kernel.0 <= group & !COPIES);
            let name = after.checked_sub(1).and_then(|at| self.kernels.get(at));
            return Agent::Kernel(name.map(|kernel| kernel.1.clone()).unwrap_or_default());
        }
        match group & COPIES {
            0 => Agent::WorkItem { group: group - self.first(), index },
            _ => Agent::Copy,
        }
    }
}

/// Records an access to bytes of a word. Returns an earlier access that races with it.
#[inline]
fn record(
    members: &[Member],
    word: &mut shadow::Word,
    thread: &Thread,
    space: usize,
    mask: u8,
    AccessInfo { is_write, atomic, at, is_shared }: AccessInfo,
) -> Option<RecordedAccess> {
    let number = thread.number;
    let new = RecordedAccess { thread: number, epoch: thread.epoch, at, mask, is_write, atomic, is_shared };
    let first = word.first;
    if first.mask == 0 && word.is_alone() {
        word.first = new;
        return None;
    }
    if first.thread == number && first.atomic == atomic && first.is_shared == is_shared {
        // Redundant: any access that races with this one also races with the recorded one.
        let is_covered = first.epoch == new.epoch && mask & !first.mask == 0 && (first.is_write || !is_write);
        if is_covered && (word.is_alone() || !is_write) {
            return None;
        }
        if word.is_alone() && mask == first.mask && is_write == first.is_write {
            word.first = new;
            return None;
        }
    }
    let happened = |earlier: &RecordedAccess| {
        earlier.thread == number
            || earlier.is_shared
                && is_shared
                && thread.is_ordered(space, earlier, members[earlier.thread as usize], is_write)
    };
    let is_together = |earlier: &RecordedAccess| match (earlier.atomic, atomic) {
        (Some((one, one_size)), Some((other, other_size))) => {
            let there = members[earlier.thread as usize];
            let is_same_object = one_size == other_size || thread.environment == Environment::OpenCl;
            is_same_object && there.covers(one, thread.member) && thread.member.covers(other, there)
        }
        _ => false,
    };
    let conflict = word.all().find(|earlier| {
        earlier.mask & mask != 0
            && (earlier.is_write || is_write)
            && !is_together(earlier)
            && !happened(earlier)
    });
    if let Some(earlier) = conflict {
        return Some(*earlier);
    }
    word.retain(|earlier| {
        let is_covered = earlier.mask & !mask == 0;
        // Any access that races with the earlier one also races with this one, which replaces it.
        let is_same = earlier.atomic == atomic
            && (atomic.is_none() || members[earlier.thread as usize].group == thread.member.group);
        let stands_for = if is_write { atomic.is_none() || is_same } else { !earlier.is_write && is_same };
        let is_as_private = earlier.is_shared || !is_shared;
        !(is_covered && stands_for && is_as_private && happened(earlier))
    });
    word.push(new);
    None
}

#[cfg(test)]
mod tests;
