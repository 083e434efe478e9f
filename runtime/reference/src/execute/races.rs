//! Data races by OpenCL's memory model (OpenCL API 3.3.4 to 3.3.6).
//!
//! Owns the two happens-before relations, of global and of local memory, as vector clocks, and the last accesses of every word.
//! An access that is not ordered behind a conflicting one is a race, unless both are atomic and their scopes include each other.
//! It must never know operations.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::{
    code::{Order, Position, Scope, Semantics},
    memory::{Place, Space},
    report::{Access as Kind, Problem, Race},
};

/// How far each work-item was when this was known: pairs in the order of work-items.
type Clock = Rc<Vec<(u32, u32)>>;

/// A work-item as the memory model sees it.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// Its number among all that have begun.
    pub(crate) id: u32,
    group: u32,
    sub_group: u32,
    /// Grows with every release.
    epoch: u32,
    /// What happens before: in global memory, and in local memory.
    known: [Clock; 2],
    /// What the release fences so far let later atomic stores publish.
    fences: Vec<Release>,
    /// What atomic loads so far have met, for an acquire fence.
    seen: Vec<Release>,
}

/// What a release publishes.
#[derive(Debug, Clone)]
struct Release {
    thread: u32,
    group: u32,
    sub_group: u32,
    epoch: u32,
    known: [Clock; 2],
    scope: Scope,
    spaces: [bool; 2],
}

/// An access that is remembered.
#[derive(Debug, Clone, Copy)]
struct Past {
    thread: u32,
    group: u32,
    sub_group: u32,
    epoch: u32,
    /// Bytes of the word.
    mask: u8,
    is_write: bool,
    atomic: Option<Scope>,
    at: (u32, Position),
}

/// The accesses to a memory: pages of words.
#[derive(Debug, Default)]
struct Shadow(FxHashMap<(u32, u64), Vec<Vec<Past>>>);

const PAGE: u64 = 64;
/// Accesses that are remembered for a word; older reads make room.
const REMEMBERED: usize = 6;
/// Releases that a work-item remembers for its next acquire fence.
const SEEN: usize = 64;

/// All that a launch has to know.
#[derive(Debug, Default)]
pub(crate) struct Races {
    global: Shadow,
    /// Of each group.
    local: FxHashMap<u32, Shadow>,
    /// What was released at an atomic object, by its group if it is local.
    releases: FxHashMap<(u32, u64), Vec<Release>>,
    /// The global ids of the work-items.
    ids: Vec<[u64; 3]>,
}

/// The synchronisation of an atomic operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Synchronisation {
    pub(crate) scope: Scope,
    pub(crate) semantics: Semantics,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

fn index(space: Space) -> usize {
    usize::from(space == Space::Local)
}

fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcquireRelease | Order::SeqCst)
}

fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcquireRelease | Order::SeqCst)
}

/// Whether a scope at one work-item includes another one.
fn covers(scope: Scope, one: (u32, u32), other: (u32, u32)) -> bool {
    match scope {
        Scope::WorkItem => false,
        Scope::SubGroup => one == other,
        Scope::WorkGroup => one.0 == other.0,
        Scope::Device | Scope::AllDevices => true,
    }
}

/// Both clocks, and one more entry.
fn merged(a: &Clock, b: &Clock, entry: (u32, u32)) -> Clock {
    let mut all = Vec::with_capacity(a.len().max(b.len()) + 1);
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    let mut extra = Some(entry);
    let mut push = |pair: (u32, u32)| match all.last_mut() {
        Some((thread, epoch)) if *thread == pair.0 => *epoch = pair.1.max(*epoch),
        _ => all.push(pair),
    };
    loop {
        let next = [left.peek().map(|it| **it), right.peek().map(|it| **it), extra];
        let Some(first) = next.into_iter().flatten().min_by_key(|pair| pair.0) else { break };
        push(first);
        if left.peek() == Some(&&first) {
            left.next();
        } else if right.peek() == Some(&&first) {
            right.next();
        } else {
            extra = None;
        }
    }
    Rc::new(all)
}

fn known(clock: &Clock, thread: u32) -> u32 {
    clock.binary_search_by_key(&thread, |pair| pair.0).map_or(0, |at| clock[at].1)
}

impl Thread {
    fn place(&self) -> (u32, u32) {
        (self.group, self.sub_group)
    }

    fn release(&self, scope: Scope, spaces: [bool; 2]) -> Release {
        Release {
            thread: self.id,
            group: self.group,
            sub_group: self.sub_group,
            epoch: self.epoch,
            known: self.known.clone(),
            scope,
            spaces,
        }
    }

    /// What was released happens before all that follows, in the spaces of both sides.
    fn acquire(&mut self, release: &Release, scope: Scope, spaces: [bool; 2]) {
        let there = (release.group, release.sub_group);
        let is_inclusive = covers(release.scope, there, self.place()) && covers(scope, self.place(), there);
        if release.thread == self.id || !is_inclusive {
            return;
        }
        for (space, _) in spaces.iter().enumerate().filter(|(_, is_acquired)| **is_acquired) {
            if release.spaces[space] && known(&self.known[space], release.thread) < release.epoch {
                let entry = (release.thread, release.epoch);
                self.known[space] = merged(&self.known[space], &release.known[space], entry);
            }
        }
    }

    /// A fence (OpenCL C 6.15.12.2).
    pub(crate) fn fence(&mut self, scope: Scope, semantics: Semantics) {
        let spaces = [semantics.global, semantics.local];
        if acquires(semantics.order) {
            for release in std::mem::take(&mut self.seen) {
                self.acquire(&release, scope, spaces);
                self.seen.push(release);
            }
        }
        if releases(semantics.order) {
            let covered =
                |old: &Release| old.scope <= scope && (0..2).all(|space| spaces[space] || !old.spaces[space]);
            self.fences.retain(|old| !covered(old));
            self.fences.push(self.release(scope, spaces));
            self.epoch += 1;
        }
    }

    /// Whether all of a release is known to happen before.
    fn knows(&self, release: &Release) -> bool {
        let known = |space: usize| known(&self.known[space], release.thread) >= release.epoch;
        release.thread == self.id || (0..2).all(|space| !release.spaces[space] || known(space))
    }

    fn see(&mut self, release: &Release) {
        if self.knows(release) {
            return;
        }
        if self.seen.len() == SEEN {
            self.seen.remove(0);
        }
        self.seen.push(release.clone());
    }
}

impl Release {
    /// Whether who acquires this acquires the older one too, in the same spaces.
    fn covers(&self, old: &Self) -> bool {
        let known = |space: usize| known(&self.known[space], old.thread) >= old.epoch;
        old.thread == self.thread && old.epoch <= self.epoch
            || (0..2).all(|space| !old.spaces[space] || known(space))
    }
}

impl Races {
    /// A work-item begins.
    pub(crate) fn begin(&mut self, group: u32, sub_group: u32, global_id: [u64; 3]) -> Thread {
        let id = self.ids.len() as u32;
        self.ids.push(global_id);
        Thread { id, group, sub_group, epoch: 1, ..Thread::default() }
    }

    /// All work-items of a group are done.
    pub(crate) fn end_group(&mut self, group: u32) {
        self.local.remove(&group);
    }

    /// A barrier that these have reached: everything before it, in the spaces of its flags, happens before everything behind it.
    pub(crate) fn barrier<'t>(
        &mut self,
        threads: impl Iterator<Item = &'t mut Thread>,
        is_whole_group: bool,
        scope: Scope,
        semantics: Semantics,
    ) {
        let mut threads: Vec<&mut Thread> = threads.collect();
        let half = |order| Semantics { order, ..semantics };
        for thread in &mut threads {
            thread.fence(scope, half(Order::Acquire));
        }
        let flags = [semantics.global, semantics.local];
        for space in (0..2).filter(|space| flags[*space]) {
            let mut all: FxHashMap<u32, u32> = FxHashMap::default();
            let mut done: Vec<*const Vec<(u32, u32)>> = Vec::new();
            for thread in &threads {
                let clock = Rc::as_ptr(&thread.known[space]);
                // After a barrier all of them have the same clock.
                if !done.contains(&clock) {
                    done.push(clock);
                    for &(other, epoch) in thread.known[space].iter() {
                        let known = all.entry(other).or_default();
                        *known = epoch.max(*known);
                    }
                }
            }
            for thread in &threads {
                all.insert(thread.id, thread.epoch);
            }
            let mut all: Vec<(u32, u32)> = all.into_iter().collect();
            all.sort_unstable();
            let clock = Rc::new(all);
            for thread in &mut threads {
                thread.known[space] = clock.clone();
            }
        }
        if flags.contains(&true) {
            for thread in &mut threads {
                thread.epoch += 1;
                // To the group itself the barrier has published everything already.
                if scope > Scope::WorkGroup {
                    thread.fence(scope, half(Order::Release));
                }
            }
        }
        if semantics.local
            && is_whole_group
            && let Some(thread) = threads.first()
        {
            self.local.remove(&thread.group);
        }
    }

    /// An atomic operation: an access, and what it orders.
    pub(crate) fn atomic(
        &mut self,
        thread: &mut Thread,
        address: u64,
        size: u8,
        how: Synchronisation,
        at: (u32, Position),
    ) -> Result<(), Problem> {
        let Some(place) = Place::of(address) else { return Ok(()) };
        if !matches!(place.space, Space::Global | Space::Local) {
            return Ok(());
        }
        self.touch(thread, address, size.into(), how.writes, Some(how.scope), at)?;
        let mut spaces = [how.semantics.global, how.semantics.local];
        spaces[index(place.space)] = true;
        let group = if place.space == Space::Local { thread.group + 1 } else { 0 };
        let order = how.semantics.order;
        if how.reads
            && let Some(found) = self.releases.get(&(group, address))
        {
            for release in found {
                if acquires(order) {
                    thread.acquire(release, how.scope, spaces);
                }
                thread.see(release);
            }
        }
        let publishes = releases(order) || !thread.fences.is_empty();
        if how.writes && (publishes || self.releases.contains_key(&(group, address))) {
            let sequence = self.releases.entry((group, address)).or_default();
            // A store by another work-item ends the release sequences (OpenCL API 3.3.4).
            sequence.retain(|release| how.reads || release.thread == thread.id);
            let mut publish = |new: Release| {
                // What it publishes as well is not needed any more.
                sequence.retain(|old| {
                    !new.covers(old)
                        || old.scope > new.scope
                        || (0..2).any(|space| old.spaces[space] && !new.spaces[space])
                });
                sequence.push(new);
            };
            for fence in &thread.fences {
                publish(fence.clone());
            }
            if releases(order) {
                publish(thread.release(how.scope, spaces));
                thread.epoch += 1;
            }
        }
        Ok(())
    }

    /// An access to some bytes.
    pub(crate) fn touch(
        &mut self,
        thread: &Thread,
        address: u64,
        size: u64,
        is_write: bool,
        atomic: Option<Scope>,
        at: (u32, Position),
    ) -> Result<(), Problem> {
        let Some(place) = Place::of(address) else { return Ok(()) };
        let shadow = match place.space {
            Space::Global => &mut self.global,
            Space::Local => self.local.entry(thread.group).or_default(),
            Space::Private | Space::Input => return Ok(()),
        };
        let Ok(start) = u64::try_from(place.offset) else { return Ok(()) };
        let clock = &thread.known[index(place.space)];
        let (first, last) = (start / 4, (start + size.max(1) - 1) / 4);
        let mut word = first;
        while word <= last {
            let page = shadow.0.entry((place.object, word / PAGE));
            let page = page.or_insert_with(|| vec![Vec::new(); PAGE as usize]);
            let end = last.min(word / PAGE * PAGE + PAGE - 1);
            for word in word..=end {
                let from = start.saturating_sub(word * 4).min(4);
                let to = (start + size - word * 4).min(4);
                let mask = ((1u8 << to) - 1) & !((1u8 << from) - 1);
                let past = &mut page[(word % PAGE) as usize];
                if let [only] = past.as_mut_slice()
                    && (only.thread, only.mask, only.is_write, only.atomic)
                        == (thread.id, mask, is_write, atomic)
                {
                    (only.epoch, only.at) = (thread.epoch, at);
                    continue;
                }
                let conflict = past.iter().find(|past| {
                    past.thread != thread.id
                        && past.mask & mask != 0
                        && (past.is_write || is_write)
                        && !are_atomic_together(past, thread, atomic)
                        && known(clock, past.thread) < past.epoch
                });
                if let Some(&past) = conflict {
                    let race = race(&past, thread, is_write, atomic, place.space, address);
                    let other_item = self.ids[past.thread as usize];
                    return Err(Problem::Race(Box::new(Race { other_item, ..race })));
                }
                past.retain(|past| {
                    let is_covered = past.mask & !mask == 0;
                    let is_own = past.thread == thread.id;
                    let is_same = is_own && past.is_write == is_write && past.atomic == atomic;
                    // What happened before a write is found through the write.
                    let is_before =
                        is_write && atomic.is_none() && (is_own || known(clock, past.thread) >= past.epoch);
                    !(is_covered && (is_same || is_before))
                });
                if past.len() >= REMEMBERED {
                    let oldest = past.iter().position(|past| !past.is_write).unwrap_or(0);
                    past.remove(oldest);
                }
                let (group, sub_group) = thread.place();
                past.push(Past {
                    thread: thread.id,
                    group,
                    sub_group,
                    epoch: thread.epoch,
                    mask,
                    is_write,
                    atomic,
                    at,
                });
            }
            word = end + 1;
        }
        Ok(())
    }
}

fn are_atomic_together(past: &Past, thread: &Thread, atomic: Option<Scope>) -> bool {
    match (past.atomic, atomic) {
        (Some(one), Some(other)) => {
            let there = (past.group, past.sub_group);
            covers(one, there, thread.place()) && covers(other, thread.place(), there)
        }
        _ => false,
    }
}

/// The race as it will be told.
fn race(
    past: &Past,
    thread: &Thread,
    is_write: bool,
    atomic: Option<Scope>,
    space: Space,
    address: u64,
) -> Race {
    let is_together = past.group == thread.group;
    let where_they_are =
        if is_together { "work-items of one work-group" } else { "work-items of different work-groups" };
    let (memory, flag) = match space {
        Space::Local => ("local", "CLK_LOCAL_MEM_FENCE"),
        _ => ("global", "CLK_GLOBAL_MEM_FENCE"),
    };
    let elsewhere = known(&thread.known[1 - index(space)], past.thread) >= past.epoch;
    let reason = match (past.atomic, atomic) {
        (Some(one), Some(other)) => format!(
            "both are atomic, but their scopes do not include each other: {} and {}, {where_they_are}",
            name(one),
            name(other)
        ),
        _ if elsewhere => format!("what orders them does not order {memory} memory: it lacks {flag}"),
        (None, None) if is_together => {
            format!(
                "nothing orders them: between them is no barrier with {flag}, nor a release that is acquired"
            )
        }
        (None, None) => format!(
            "nothing orders them: {where_they_are} are ordered only by a release that the other one acquires"
        ),
        _ => "nothing orders them, and only one of them is atomic".to_owned(),
    };
    let kind = |is_write: bool, atomic: Option<Scope>| match (is_write, atomic) {
        (_, Some(_)) => Kind::Atomic,
        (true, None) => Kind::Write,
        (false, None) => Kind::Read,
    };
    Race {
        this: kind(is_write, atomic),
        other: kind(past.is_write, past.atomic),
        other_at: past.at,
        other_item: [0; 3],
        reason,
        address,
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

#[cfg(test)]
mod tests {
    use super::*;

    const AT: (u32, Position) = (0, 0);

    fn how(order: Order, scope: Scope, reads: bool, writes: bool) -> Synchronisation {
        let semantics = Semantics { order, local: false, global: true };
        Synchronisation { scope, semantics, reads, writes }
    }

    /// One writes data and a flag, the other reads the flag and the data.
    fn message(write: Order, read: Order, scope: Scope, group: u32) -> bool {
        let mut races = Races::default();
        let (data, flag) = (Space::Global.address(0), Space::Global.address(1));
        let mut writer = races.begin(0, 0, [0; 3]);
        let mut reader = races.begin(group, 0, [1, 0, 0]);
        races.touch(&writer, data, 4, true, None, AT).unwrap();
        races.atomic(&mut writer, flag, 4, how(write, scope, false, true), AT).unwrap();
        races.atomic(&mut reader, flag, 4, how(read, scope, true, false), AT).is_err()
            || races.touch(&reader, data, 4, false, None, AT).is_err()
    }

    #[test]
    fn messages_are_ordered_by_release_and_acquire() {
        assert!(!message(Order::Release, Order::Acquire, Scope::Device, 1));
        assert!(!message(Order::SeqCst, Order::SeqCst, Scope::WorkGroup, 0));
        assert!(message(Order::Relaxed, Order::Acquire, Scope::Device, 1));
        assert!(message(Order::Release, Order::Relaxed, Scope::Device, 1));
        assert!(message(Order::Release, Order::Acquire, Scope::WorkGroup, 1));
    }

    #[test]
    fn barriers_order_the_memory_of_their_flags() {
        for (global, is_race) in [(true, false), (false, true)] {
            let mut races = Races::default();
            let data = Space::Global.address(0);
            let mut threads = [races.begin(0, 0, [0; 3]), races.begin(0, 0, [1, 0, 0])];
            races.touch(&threads[0], data, 4, true, None, AT).unwrap();
            let semantics = Semantics { order: Order::AcquireRelease, local: true, global };
            races.barrier(threads.iter_mut(), true, Scope::WorkGroup, semantics);
            assert_eq!(races.touch(&threads[1], data, 4, false, None, AT).is_err(), is_race);
        }
    }

    #[test]
    fn neighbouring_bytes_are_apart() {
        let mut races = Races::default();
        let data = Space::Global.address(0);
        let threads = [races.begin(0, 0, [0; 3]), races.begin(0, 0, [1, 0, 0])];
        races.touch(&threads[0], data + 1, 1, true, None, AT).unwrap();
        races.touch(&threads[1], data + 2, 2, true, None, AT).unwrap();
        assert!(races.touch(&threads[1], data, 8, false, None, AT).is_err());
    }

    #[test]
    fn clocks_merge() {
        let clock = |pairs: &[(u32, u32)]| Rc::new(pairs.to_vec());
        let both = merged(&clock(&[(1, 5), (3, 1)]), &clock(&[(1, 2), (2, 2)]), (3, 4));
        assert_eq!(*both, [(1, 5), (2, 2), (3, 4)]);
    }
}
