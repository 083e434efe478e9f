//! Happens-before by vector clocks, compressed for work-groups that synchronize at barriers.
//!
//! Owns happens-before and, for Vulkan, availability and visibility. Must not depend on accesses or objects.

use std::{ops::Range, sync::Arc};

use super::{COPIES, shadow::RecordedAccess};
use crate::{
    Environment,
    code::{Order, Scope, Semantics},
};

/// Global memory, local memory and images: each has its own happens-before (OpenCL API 3.3.4).
pub(super) const SPACES: usize = 3;
pub(super) const GLOBAL: usize = 0;
pub(super) const LOCAL: usize = 1;
pub(super) const IMAGE: usize = 2;

/// The spaces that the semantics contain.
pub(super) fn spaces_of(semantics: Semantics) -> [bool; SPACES] {
    [semantics.global, semantics.local, semantics.image]
}

/// A work-item, identified among all that have started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) group: u32,
    /// The index in its group.
    pub(super) index: u32,
}

impl Member {
    fn sub_group(self) -> u32 {
        self.index / crate::SUB_GROUP_SIZE
    }

    /// Whether this scope of the work-item includes another one.
    pub(super) fn covers(self, scope: Scope, other: Self) -> bool {
        match scope {
            Scope::WorkItem => self == other,
            Scope::SubGroup => (self.group, self.sub_group()) == (other.group, other.sub_group()),
            Scope::WorkGroup => self.group == other.group,
            Scope::Device | Scope::AllDevices => true,
        }
    }
}

/// A vector clock: the known epoch of each work-item. Epochs count from 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    /// The epoch of the whole own group.
    floor: u32,
    others: Option<Arc<Others>>,
}

/// Epochs of whole groups and of single work-items, ordered by number.
#[derive(Debug, Clone, Default)]
struct Others {
    groups: Vec<(u32, u32)>,
    work_items: Vec<(u32, u32)>,
    /// Groups that have ended: disjoint ranges of their numbers, in order.
    ended: Vec<(u32, u32)>,
}

/// The epoch of a number in a list.
fn epoch(list: &[(u32, u32)], number: u32) -> u32 {
    list.binary_search_by_key(&number, |pair| pair.0).map_or(0, |at| list[at].1)
}

/// Merges two lists, taking the later epoch of common entries.
fn merged(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut left, mut right) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    while let (Some(&one), Some(&other)) = (left.peek(), right.peek()) {
        if one.0 <= other.0 {
            left.next();
        }
        if other.0 <= one.0 {
            right.next();
        }
        all.push(match one.0.cmp(&other.0) {
            std::cmp::Ordering::Less => one,
            std::cmp::Ordering::Equal => (one.0, one.1.max(other.1)),
            std::cmp::Ordering::Greater => other,
        });
    }
    all.extend(left.chain(right));
    all
}

/// Whether one of the ranges contains a number.
fn contains(ranges: &[(u32, u32)], number: u32) -> bool {
    let after = ranges.partition_point(|range| range.0 <= number);
    after.checked_sub(1).is_some_and(|at| number < ranges[at].1)
}

/// The union of ranges. Adjacent ones become one.
fn united(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup_by(|later, earlier| {
        let touches = later.0 <= earlier.1;
        if touches {
            earlier.1 = earlier.1.max(later.1);
        }
        touches
    });
    all
}

/// The intersection of ranges.
fn intersected(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let all = a.iter().flat_map(|one| b.iter().map(|other| (one.0.max(other.0), one.1.min(other.1))));
    all.filter(|range| range.0 < range.1).collect()
}

/// Intersects two lists, taking the earlier epochs.
fn common(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let both = a.iter().map(|&(number, until)| (number, until.min(epoch(b, number))));
    both.filter(|pair| pair.1 > 0).collect()
}

impl Clock {
    /// Whether the clock, in a group, includes a work-item up to an epoch.
    #[inline]
    pub(super) fn includes(&self, own: u32, number: u32, other: Member, until: u32) -> bool {
        if other.group == own && until <= self.floor {
            return true;
        }
        self.others.as_ref().is_some_and(|others| {
            epoch(&others.groups, other.group) >= until
                || epoch(&others.work_items, number) >= until
                || contains(&others.ended, other.group & !COPIES)
        })
    }

    /// Joins the clock of a work-item in `group`.
    fn join(&mut self, own: u32, other: &Self, group: u32) {
        if group == own {
            self.floor = self.floor.max(other.floor);
        } else if other.floor > 0 {
            self.add(Others { groups: vec![(group, other.floor)], ..Others::default() });
        }
        match (&self.others, &other.others) {
            (_, None) => {}
            (Some(mine), Some(theirs)) if Arc::ptr_eq(mine, theirs) => {}
            (None, Some(theirs)) => self.others = Some(theirs.clone()),
            (Some(_), Some(theirs)) => self.add(Others::clone(theirs)),
        }
        if let Some(others) = &self.others {
            self.floor = self.floor.max(epoch(&others.groups, own));
        }
    }

    fn add(&mut self, new: Others) {
        self.others = Some(Arc::new(match &self.others {
            None => new,
            Some(others) => Others {
                groups: merged(&others.groups, &new.groups),
                work_items: merged(&others.work_items, &new.work_items),
                ended: united(&others.ended, &new.ended),
            },
        }));
    }

    /// Joins the epochs of some work-items, ordered by number.
    pub(super) fn join_epochs(&mut self, work_items: Vec<(u32, u32)>) {
        self.add(Others { work_items, ..Others::default() });
    }

    /// The meet of two clocks.
    fn common(&self, other: &Self) -> Self {
        let others = match (&self.others, &other.others) {
            (Some(one), Some(two)) if !Arc::ptr_eq(one, two) => Some(Arc::new(Others {
                groups: common(&one.groups, &two.groups),
                work_items: common(&one.work_items, &two.work_items),
                ended: intersected(&one.ended, &two.ended),
            })),
            (Some(one), Some(_)) => Some(one.clone()),
            _ => None,
        };
        Self { floor: self.floor.min(other.floor), others }
    }
}

/// What happens before a kernel starts, or before an event is complete, in each space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past([Clock; SPACES]);

/// A number that no group has.
const NO_GROUP: u32 = u32::MAX;

impl Past {
    /// The clocks of a work-item that starts after this.
    pub(super) fn clocks(&self) -> [Clock; SPACES] {
        self.0.clone()
    }

    /// Adds what happens before another kernel or event.
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.join(NO_GROUP, theirs, NO_GROUP);
        }
    }

    /// Adds all accesses of these groups. They have ended before anything that follows starts.
    pub(super) fn join_groups(&mut self, groups: Range<u32>) {
        for clock in &mut self.0 {
            clock.add(Others { ended: vec![(groups.start, groups.end)], ..Others::default() });
        }
    }

    /// Adds what another work-item has released.
    pub(super) fn join_release(&mut self, release: &Release) {
        for (space, clock) in self.0.iter_mut().enumerate() {
            clock.join(NO_GROUP, &release.known[space], release.member.group);
            clock.join_epochs(vec![(release.number, release.epoch)]);
        }
    }
}

/// The published state of a release.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) number: u32,
    pub(super) member: Member,
    pub(super) epoch: u32,
    known: [Clock; SPACES],
    available: [Clock; SPACES],
    pub(super) scope: Scope,
    pub(super) spaces: [bool; SPACES],
}

impl Release {
    /// Whether acquiring this release also acquires the older one, in the same spaces.
    pub(super) fn covers(&self, old: &Self) -> bool {
        let known =
            |space: usize| self.known[space].includes(self.member.group, old.number, old.member, old.epoch);
        old.number == self.number && old.epoch <= self.epoch
            || (0..SPACES).all(|space| !old.spaces[space] || known(space))
    }
}

/// A work-item in the memory model.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// The number among all that have started.
    pub(super) number: u32,
    pub(super) member: Member,
    /// Incremented by every release.
    pub(super) epoch: u32,
    pub(super) environment: Environment,
    /// The accesses that happen before the next one, in each space.
    pub(super) known: [Clock; SPACES],
    /// Vulkan: the writes that are available, and those of them that are visible here.
    pub(super) available: [Clock; SPACES],
    pub(super) visible: [Clock; SPACES],
    /// The release fences that later atomic stores publish.
    pub(super) fences: Vec<Release>,
    /// The releases that atomic loads have read, for a later acquire fence, with the space of their objects.
    pub(super) read_releases: Vec<(Release, usize)>,
    /// The address after its last store to global memory.
    pub(crate) stored: u64,
}

/// The maximum number of releases to remember for the next acquire fence.
const MAX_READ_RELEASES: usize = 64;

pub(super) fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcquireRelease | Order::SeqCst)
}

pub(super) fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcquireRelease | Order::SeqCst)
}

impl Thread {
    /// Whether another work-item's accesses up to an epoch happen before what follows.
    #[inline]
    pub(super) fn includes(&self, space: usize, number: u32, other: Member, epoch: u32) -> bool {
        self.known[space].includes(self.member.group, number, other, epoch)
    }

    /// Whether the model orders an access before what follows here, in a different work-item.
    #[inline]
    pub(super) fn is_ordered(
        &self,
        space: usize,
        earlier: &RecordedAccess,
        there: Member,
        is_write: bool,
    ) -> bool {
        let clock = match (self.environment, earlier.is_write, is_write) {
            (Environment::OpenCl, ..) | (Environment::Vulkan, false, _) => &self.known[space],
            (Environment::Vulkan, true, true) => &self.available[space],
            (Environment::Vulkan, true, false) => &self.visible[space],
        };
        clock.includes(self.member.group, earlier.thread, there, earlier.epoch)
    }

    /// Whether a write was made available before what follows.
    pub(super) fn is_available(&self, space: usize, earlier: &RecordedAccess, there: Member) -> bool {
        self.available[space].includes(self.member.group, earlier.thread, there, earlier.epoch)
    }

    /// The state to release, after making the own writes available if requested.
    pub(super) fn release(&mut self, scope: Scope, spaces: [bool; SPACES], makes_available: bool) -> Release {
        let Self { number, member, epoch, .. } = *self;
        if makes_available {
            for (space, _) in spaces.iter().enumerate().filter(|(_, is_named)| **is_named) {
                self.available[space].join_epochs(vec![(number, epoch)]);
            }
        }
        let (known, available) = (self.known.clone(), self.available.clone());
        Release { number, member, epoch, known, available, scope, spaces }
    }

    /// A point that later work of other kernels is ordered after (OpenCL API 3.3.7.5: the call that enqueues a command).
    pub(super) fn past(&mut self) -> Past {
        let mut past = Past::default();
        past.join_release(&self.release(Scope::AllDevices, [true; SPACES], false));
        self.epoch += 1;
        past
    }

    /// A visibility operation: available writes become visible here.
    pub(super) fn make_visible(&mut self, spaces: [bool; SPACES]) {
        for (space, _) in spaces.iter().enumerate().filter(|(_, is_named)| **is_named) {
            self.visible[space] = self.available[space].clone();
        }
    }

    /// Orders a release before all that follows, in the spaces of both sides.
    pub(super) fn acquire(&mut self, release: &Release, scope: Scope, spaces: [bool; SPACES]) {
        let there = release.member;
        let is_inclusive = there.covers(release.scope, self.member) && self.member.covers(scope, there);
        if release.number == self.number || !is_inclusive {
            return;
        }
        for (space, _) in spaces.iter().enumerate().filter(|(_, is_acquired)| **is_acquired) {
            if release.spaces[space] && !self.includes(space, release.number, there, release.epoch) {
                let clock = &mut self.known[space];
                clock.join(self.member.group, &release.known[space], there.group);
                clock.join_epochs(vec![(release.number, release.epoch)]);
            }
            if release.spaces[space] && self.environment == Environment::Vulkan {
                self.available[space].join(self.member.group, &release.available[space], there.group);
            }
        }
    }

    /// A fence (OpenCL C 6.15.12.5).
    pub(crate) fn fence(&mut self, scope: Scope, semantics: Semantics) {
        let spaces = spaces_of(semantics);
        if acquires(semantics.order) {
            for (release, through) in std::mem::take(&mut self.read_releases) {
                // A Vulkan fence synchronizes only through objects in the memory that its semantics contain.
                if self.environment == Environment::OpenCl || spaces[through] {
                    self.acquire(&release, scope, spaces);
                }
                self.read_releases.push((release, through));
            }
            if semantics.visible {
                self.make_visible(spaces);
            }
        }
        if releases(semantics.order) {
            let covered = |old: &Release| {
                old.scope <= scope && (0..SPACES).all(|space| spaces[space] || !old.spaces[space])
            };
            self.fences.retain(|old| !covered(old));
            let release = self.release(scope, spaces, semantics.available);
            self.fences.push(release);
            self.epoch += 1;
        }
    }

    /// Records that an atomic load has read a release, from an object in a space.
    pub(super) fn record_read_release(&mut self, release: &Release, through: usize) {
        let known = |space: usize| self.includes(space, release.number, release.member, release.epoch);
        if release.number == self.number || (0..SPACES).all(|space| !release.spaces[space] || known(space)) {
            return;
        }
        if self.read_releases.len() == MAX_READ_RELEASES {
            self.read_releases.remove(0);
        }
        self.read_releases.push((release.clone(), through));
    }

    /// Orders an asynchronous copy before what follows.
    pub(crate) fn join_copy(&mut self, copy: &Self) {
        self.known.iter_mut().for_each(|clock| clock.join_epochs(vec![(copy.number, copy.epoch)]));
    }

    /// Ends a copy; the next copy by this thread is ordered after it.
    pub(crate) fn next_copy(&mut self) {
        self.epoch += 1;
    }

    /// Orders an asynchronous copy after everything that happens before all of these work-items, but not after actions
    /// of only one of them (OpenCL C 6.15.11).
    pub(crate) fn copies_for<'t>(&mut self, mut threads: impl Iterator<Item = &'t Self>) {
        let Some(first) = threads.next() else { return };
        self.known = first.known.clone();
        let mut is_alone = true;
        for thread in threads {
            is_alone = false;
            for (mine, theirs) in self.known.iter_mut().zip(&thread.known) {
                *mine = mine.common(theirs);
            }
        }
        for clock in &mut self.known {
            // A copy has its own group.
            if clock.floor > 0 {
                clock.add(Others { groups: vec![(first.member.group, clock.floor)], ..Others::default() });
            }
            clock.floor = 0;
            if is_alone {
                clock.join_epochs(vec![(first.number, first.epoch)]);
            }
        }
    }
}

/// Orders everything before a barrier before everything after it, in the spaces of its flags.
pub(super) fn barrier(
    mut threads: Vec<&mut Thread>,
    is_whole_group: bool,
    scope: Scope,
    semantics: Semantics,
) {
    let half = |order| Semantics { order, ..semantics };
    for thread in &mut threads {
        thread.fence(scope, half(Order::Acquire));
    }
    let last = threads.iter().map(|thread| thread.epoch).max().unwrap_or(0);
    let spaces = spaces_of(semantics);
    for space in (0..SPACES).filter(|space| spaces[*space]) {
        let own = threads[0].member.group;
        let mut all = threads[0].known[space].clone();
        for thread in &threads[1..] {
            all.join(own, &thread.known[space], own);
        }
        if is_whole_group {
            all.floor = last;
        } else {
            let mut epochs: Vec<(u32, u32)> = threads.iter().map(|it| (it.number, it.epoch)).collect();
            epochs.sort_unstable();
            all.join_epochs(epochs);
        }
        for thread in &mut threads {
            thread.known[space] = all.clone();
        }
        if threads[0].environment == Environment::Vulkan {
            share_available(&mut threads, space, is_whole_group, last, semantics);
        }
    }
    if spaces.contains(&true) {
        for thread in &mut threads {
            thread.epoch = if is_whole_group { last + 1 } else { thread.epoch + 1 };
            // Within the group itself, the barrier has already published everything.
            if scope > (if is_whole_group { Scope::WorkGroup } else { Scope::SubGroup }) {
                thread.fence(scope, half(Order::Release));
            }
        }
    }
}

/// The availability and visibility operations of a barrier.
fn share_available(
    threads: &mut [&mut Thread],
    space: usize,
    is_whole_group: bool,
    last: u32,
    semantics: Semantics,
) {
    let own = threads[0].member.group;
    let mut all = threads[0].available[space].clone();
    for thread in &threads[1..] {
        all.join(own, &thread.available[space], own);
    }
    if semantics.available && is_whole_group {
        all.floor = last;
    } else if semantics.available {
        let mut epochs: Vec<(u32, u32)> = threads.iter().map(|it| (it.number, it.epoch)).collect();
        epochs.sort_unstable();
        all.join_epochs(epochs);
    }
    for thread in threads {
        if semantics.visible {
            thread.visible[space] = all.clone();
        }
        thread.available[space] = all.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_merge() {
        assert_eq!(merged(&[(1, 5), (3, 1)], &[(1, 2), (2, 2)]), [(1, 5), (2, 2), (3, 1)]);
        assert_eq!(merged(&[], &[(1, 2)]), [(1, 2)]);
    }

    #[test]
    fn ranges_unite() {
        let (a, b) = ([(1, 3), (7, 8)], [(3, 4), (6, 9), (12, 13)]);
        let all = united(&a, &b);
        assert_eq!((&all[..], intersected(&a, &b)), (&[(1, 4), (6, 9), (12, 13)][..], vec![(7, 8)]));
        assert_eq!(
            [0, 1, 3, 4, 8, 12].map(|number| contains(&all, number)),
            [false, true, true, false, true, true]
        );
    }

    #[test]
    fn a_clock_can_include_whole_groups() {
        let mut clock = Clock::default();
        let other = Clock { floor: 4, others: None };
        clock.join(0, &other, 7);
        let member = |group| Member { group, index: 0 };
        assert!(clock.includes(0, 33, member(7), 4) && !clock.includes(0, 33, member(7), 5));
        assert!(!clock.includes(0, 1, member(0), 1));
        clock.join(0, &other, 0);
        assert!(clock.includes(0, 1, member(0), 4));
    }
}
