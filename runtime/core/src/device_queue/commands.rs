//! The order of commands that kernels have enqueued (OpenCL C 6.15.19).
//!
//! Owns the waiting commands and the events of commands. Commands whose wait lists are complete run together. A command
//! that waits only for kernels among them runs in the same submission after a barrier, unless those kernels can enqueue
//! commands themselves: an event is complete when the children of its kernel are, too (OpenCL API 3.2.3). Must not
//! depend on how kernels are launched.

use std::collections::{HashMap, HashSet};

use super::records::{Child, EventId, Record, Work};

/// The state of a command with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    /// It runs in this part of the submission. `is_leaf` if it enqueues nothing.
    Running {
        level: usize,
        is_leaf: bool,
    },
    /// Its kernel has ended, but some of its children have not.
    HasChildren,
    /// It has ended with this status: 0, or an error.
    Ended(i32),
}

/// The number of the kernel that the host launched.
pub(super) const TOP: u32 = 0;

/// A command whose kernel can enqueue others.
#[derive(Debug)]
struct Parent {
    event: Option<EventId>,
    parent: u32,
    /// The number of incomplete children, plus one until the kernel itself has ended.
    open: usize,
}

/// A command of the current submission.
#[derive(Debug)]
struct Running {
    event: Option<EventId>,
    parent: u32,
    /// Its number, if it is a parent.
    number: u32,
}

/// The commands of a launch.
#[derive(Debug, Default)]
pub(super) struct Commands {
    waiting: Vec<Record>,
    events: HashMap<EventId, State>,
    /// The times of events from start to end and to completion, in nanoseconds.
    times: HashMap<EventId, [u64; 2]>,
    running: Vec<Running>,
    /// The parents that are not complete, by number.
    parents: HashMap<u32, Parent>,
    /// The number of the last parent.
    last: u32,
    /// Whether kernels read the times of complete commands, which the host stores before it launches these kernels.
    reads_times: bool,
}

/// A kernel that is ready to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) child: Child,
    pub(super) event: Option<EventId>,
    /// The number that its kernel writes to records; [`TOP`] if it enqueues nothing.
    pub(super) number: u32,
}

/// Whether the wait list of a command lets it run.
enum Readiness {
    /// It cannot run yet.
    Wait,
    /// It never runs, because an event has this status.
    Fail(i32),
    /// It can run in this part of the submission.
    Run(usize),
}

impl Commands {
    /// No commands. `reads_times` if kernels call `capture_event_profiling_info`.
    pub(super) fn new(reads_times: bool) -> Self {
        Self { reads_times, ..Self::default() }
    }

    /// Adds the commands that kernels have written.
    pub(super) fn add(&mut self, records: Vec<Record>) {
        for record in &records {
            if matches!(record.work, Work::Profile { .. }) {
                continue;
            }
            if let Some(parent) = self.parents.get_mut(&record.parent) {
                parent.open += 1;
            }
            if let Some(event) = record.event {
                self.events.insert(event, State::Waiting);
            }
        }
        self.waiting.extend(records);
    }

    /// Whether no command waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a command waits for a user event.
    pub(super) fn waits_for_user(&self) -> bool {
        self.waiting.iter().flat_map(|record| &record.waits).any(|event| !self.events.contains_key(event))
    }

    /// Takes the kernels that can run now: each part of the list runs after the one before it. `user` is the status of user
    /// events, and `is_leaf` whether a block enqueues nothing.
    pub(super) fn take(
        &mut self,
        user: impl Fn(EventId) -> i32,
        is_leaf: impl Fn(u32) -> bool,
    ) -> Vec<Vec<Ready>> {
        let mut levels: Vec<Vec<Ready>> = Vec::new();
        let is_profile = |record: &&Record| matches!(record.work, Work::Profile { .. });
        let profiled = self.waiting.iter().filter(is_profile).filter_map(|record| record.event).collect();
        let mut has_parent = false;
        let mut has_moved = true;
        while has_moved {
            has_moved = false;
            let mut rest = Vec::new();
            for record in std::mem::take(&mut self.waiting) {
                let is_after_all = matches!(record.work, Work::Marker) && record.waits.is_empty();
                let turn = match is_after_all {
                    true if !rest.is_empty() || has_parent => Readiness::Wait,
                    true => Readiness::Run(levels.len()),
                    false => {
                        let reads_times = self.reads_times
                            && matches!(&record.work, Work::Kernel(child) if !is_leaf(child.block));
                        self.readiness(&record, reads_times, &profiled, &user)
                    }
                };
                let (status, level) = match turn {
                    Readiness::Wait => {
                        rest.push(record);
                        continue;
                    }
                    Readiness::Fail(status) => (status, None),
                    Readiness::Run(level) => (0, Some(level)),
                };
                has_moved = true;
                let Some(level) = level else {
                    if !matches!(record.work, Work::Profile { .. }) {
                        self.end(record.event, status, record.parent);
                    }
                    continue;
                };
                if let Some(ready) = self.begin(&record, level, &is_leaf) {
                    has_parent |= ready.number != TOP;
                    levels.resize_with(levels.len().max(level + 1), Vec::new);
                    levels[level].push(ready);
                }
            }
            self.waiting = rest;
        }
        levels
    }

    /// Determines whether a command can run. `reads_times`: the kernel may read the times of the events that it waits
    /// for. `profiled`: events whose times must be stored before later commands see them complete.
    fn readiness(
        &self,
        record: &Record,
        reads_times: bool,
        profiled: &HashSet<EventId>,
        user: impl Fn(EventId) -> i32,
    ) -> Readiness {
        let mut level = 0;
        let own = record.event.filter(|_| matches!(record.work, Work::Profile { .. }));
        for event in record.waits.iter().chain(&own) {
            match self.events.get(event) {
                // A user event has no times.
                None if own.is_some() => return Readiness::Fail(0),
                None => match user(*event) {
                    0 => {}
                    status if status < 0 => return Readiness::Fail(status),
                    _ => return Readiness::Wait,
                },
                Some(State::Ended(status)) if *status < 0 => return Readiness::Fail(*status),
                Some(State::Ended(_)) => {
                    level = level.max((own.is_none() && profiled.contains(event)).into());
                }
                Some(State::Running { level: before, is_leaf: true })
                    if own.is_none() && !reads_times && !profiled.contains(event) =>
                {
                    level = level.max(before + 1);
                }
                Some(State::Running { .. } | State::HasChildren | State::Waiting) => return Readiness::Wait,
            }
        }
        Readiness::Run(level)
    }

    /// Adds a command to a part of the submission. Returns its kernel, if it has one.
    fn begin(&mut self, record: &Record, level: usize, is_leaf: impl Fn(u32) -> bool) -> Option<Ready> {
        let Some(child) = self.child(record) else {
            // A marker ends with the events that it waits for.
            match level.checked_sub(1) {
                Some(level) => {
                    self.start(record, level, true);
                }
                None => self.end(record.event, 0, record.parent),
            }
            return None;
        };
        if !matches!(record.work, Work::Kernel(_)) {
            return Some(Ready { child, event: None, number: TOP });
        }
        let number = self.start(record, level, is_leaf(child.block));
        Some(Ready { child, event: record.event, number })
    }

    /// The kernel of a command; `None` for a marker.
    fn child(&mut self, record: &Record) -> Option<Child> {
        match &record.work {
            Work::Kernel(child) => Some(child.clone()),
            Work::Marker => None,
            Work::Profile { block, address } => {
                let times = self.times.get(&record.event?).copied().unwrap_or_default();
                let captures = address.iter().copied().chain(times.into_iter().flat_map(u64::to_le_bytes));
                Some(Child::single(*block, captures.collect()))
            }
        }
    }

    /// Marks a command as part of the submission. Returns its number.
    fn start(&mut self, record: &Record, level: usize, is_leaf: bool) -> u32 {
        let (event, parent) = (record.event, record.parent);
        if let Some(event) = event {
            self.events.insert(event, State::Running { level, is_leaf });
        }
        let mut number = TOP;
        if !is_leaf {
            self.last += 1;
            number = self.last;
            self.parents.insert(number, Parent { event, parent, open: 1 });
        }
        self.running.push(Running { event, parent, number });
        number
    }

    /// Records that a command is complete, and its parents whose last child it is.
    fn end(&mut self, event: Option<EventId>, status: i32, mut parent: u32) {
        if let Some(event) = event {
            self.events.insert(event, State::Ended(status));
        }
        while let Some(known) = self.parents.get_mut(&parent) {
            known.open -= 1;
            if known.open > 0 {
                return;
            }
            if let Some(event) = known.event {
                self.events.insert(event, State::Ended(0));
            }
            let next = known.parent;
            self.parents.remove(&parent);
            parent = next;
        }
    }

    /// Records the times of a command that has run.
    pub(super) fn record_times(&mut self, event: EventId, times: [u64; 2]) {
        self.times.insert(event, times);
    }

    /// Records that the kernels taken so far have ended. What they have enqueued must have been added.
    pub(super) fn end_all(&mut self) {
        for Running { event, parent, number } in std::mem::take(&mut self.running) {
            if number == TOP {
                self.end(event, 0, parent);
                continue;
            }
            if let Some(event) = event {
                self.events.insert(event, State::HasChildren);
            }
            // The kernel itself counts as open.
            self.end(None, 0, number);
        }
    }

    /// Forgets events that no kernel can use again, except those that commands need. Returns the ones that new commands
    /// can have.
    pub(super) fn forget(&mut self, unused: impl IntoIterator<Item = EventId>) -> Vec<EventId> {
        let waiting = self.waiting.iter().flat_map(|record| record.waits.iter().chain(&record.event));
        let open = self.parents.values().filter_map(|parent| parent.event);
        let running = self.running.iter().filter_map(|running| running.event);
        let needed: HashSet<EventId> = waiting.copied().chain(open).chain(running).collect();
        let free: Vec<_> = unused.into_iter().filter(|event| !needed.contains(event)).collect();
        for event in &free {
            self.events.remove(event);
            self.times.remove(event);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(block: u32, waits: &[EventId], event: EventId) -> Record {
        let work = Work::Kernel(Child::single(block, Vec::new()));
        let event = Some(event).filter(|event| *event != 0);
        Record { work, waits: waits.to_vec(), event, parent: TOP }
    }

    fn marker(waits: &[EventId], event: EventId) -> Record {
        Record { work: Work::Marker, ..kernel(0, waits, event) }
    }

    /// The blocks of each level. Blocks from 100 on enqueue commands, and user events are complete from 50 on.
    fn take(commands: &mut Commands) -> Vec<Vec<u32>> {
        let user = |event| match event {
            40 => -7,
            50.. => 0,
            _ => 2,
        };
        let levels = commands.take(user, |block| block < 100);
        levels.iter().map(|level| level.iter().map(|ready| ready.child.block).collect()).collect()
    }

    #[test]
    fn dependent_leaves_run_in_one_submission() {
        let mut commands = Commands::default();
        commands.add(vec![kernel(3, &[2], 0), kernel(1, &[], 1), kernel(4, &[], 0), kernel(2, &[1, 50], 2)]);
        assert_eq!(take(&mut commands), [vec![1, 4], vec![2], vec![3]]);
        assert!(commands.is_empty());
    }

    #[test]
    fn an_event_is_complete_when_children_are() {
        let mut commands = Commands::default();
        commands.add(vec![
            kernel(100, &[], 1),
            kernel(2, &[1], 0),
            kernel(3, &[], 0),
            marker(&[], 4),
            kernel(5, &[4], 0),
        ]);
        assert_eq!(take(&mut commands), [vec![100, 3]]);
        commands.add(vec![Record { parent: 1, ..kernel(101, &[], 0) }]);
        commands.end_all();
        assert_eq!(take(&mut commands), [vec![101]]);
        commands.add(vec![Record { parent: 2, ..kernel(6, &[], 0) }]);
        commands.end_all();
        assert_eq!(take(&mut commands), [vec![6]]);
        commands.end_all();
        assert_eq!(take(&mut commands), [vec![2], vec![5]]);
    }

    #[test]
    fn dependents_of_a_failed_command_do_not_run() {
        let mut commands = Commands::default();
        commands.add(vec![
            kernel(1, &[40], 1),
            kernel(2, &[1], 2),
            marker(&[2], 3),
            kernel(3, &[3], 0),
            kernel(4, &[41], 0),
        ]);
        assert!(commands.waits_for_user());
        assert_eq!(take(&mut commands), [[0; 0]; 0]);
        assert!(!commands.is_empty(), "event 41 is not complete");
    }

    #[test]
    fn profiling_times_are_stored_after_the_event() {
        let mut commands = Commands::default();
        let work = Work::Profile { block: 9, address: 0x1000u64.to_le_bytes() };
        let profile = Record { work, waits: Vec::new(), event: Some(1), parent: TOP };
        commands.add(vec![kernel(2, &[1], 0), kernel(1, &[], 1), profile]);
        assert_eq!(take(&mut commands), [[1]]);
        commands.record_times(1, [5, 6]);
        commands.end_all();
        let levels = commands.take(|_| 0, |_| true);
        let captures = [0x1000u64, 5, 6].map(u64::to_le_bytes).concat();
        let first = Ready { child: Child::single(9, captures), event: None, number: TOP };
        let second = Ready { child: Child::single(2, Vec::new()), event: None, number: TOP };
        assert_eq!(levels, [[first], [second]]);
    }

    /// A kernel that may read times runs after the host has stored them.
    #[test]
    fn profiling_times_are_stored_before_dependent_kernels_run() {
        let records = || vec![kernel(1, &[], 1), kernel(100, &[1], 0)];
        for (reads_times, levels) in [(false, vec![vec![1], vec![100]]), (true, vec![vec![1]])] {
            let mut commands = Commands::new(reads_times);
            commands.add(records());
            assert_eq!(take(&mut commands), levels);
        }
    }

    #[test]
    fn pending_events_are_kept() {
        let mut commands = Commands::default();
        commands.add(vec![kernel(1, &[41], 1)]);
        assert_eq!(commands.forget([1, 2, 41, 42]), [2, 42]);
    }
}
