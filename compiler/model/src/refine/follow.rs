//! Runs the emitted module in step with the source, in the same context.

use super::{
    record::{Facts, Record, Segment, atomic, is_ordered, is_plain},
    strength,
};
use crate::{
    event::{Action, Event, Location},
    module::Observer,
};

/// The observer of a run of the emitted module, which compares it with the record of the source.
pub(super) struct Follow<'r> {
    record: &'r Record,
    facts: &'r Facts,
    /// The number of operations of the source whose counterpart was seen.
    done: usize,
    /// The steps of the counterpart of a seq_cst fence that were seen.
    step: usize,
    /// The number of the segment, and its accesses.
    number: usize,
    segment: Segment,
    /// The line and the first difference.
    difference: Option<(u32, String)>,
}

impl<'r> Follow<'r> {
    pub(super) fn new(record: &'r Record, facts: &'r Facts) -> Self {
        let segment = Segment::default();
        Self { record, facts, done: 0, step: 0, number: 0, segment, difference: None }
    }

    /// The first difference, with its line.
    pub(super) fn finish(mut self, is_complete: bool) -> Option<(u32, String)> {
        if let Some(left) = self.record.operations.get(self.done) {
            self.differ(left.line, format!("{} has no counterpart in the module", strength::shown(left)));
        } else if !is_complete {
            self.differ(0, "the module runs longer than the source".to_owned());
        } else {
            self.compare(0);
        }
        self.difference
    }

    fn differ(&mut self, line: u32, what: String) {
        self.difference.get_or_insert((line, what));
    }

    /// The segment ends.
    fn compare(&mut self, line: u32) {
        let Some(wanted) = self.record.segments.get(self.number) else {
            return self.differ(line, "the module has more ordered operations than the source".to_owned());
        };
        let found = std::mem::take(&mut self.segment);
        if found.writes != wanted.writes {
            let what = "the plain writes before this operation differ from those of the source";
            self.differ(line, what.to_owned());
        }
        let is_known = |byte| wanted.reads.contains(byte) || wanted.writes.contains_key(byte);
        if !found.reads.iter().all(is_known) {
            let what = "the source has no such plain read before this operation";
            self.differ(line, what.to_owned());
        }
        self.number += 1;
    }

    /// An atomic operation, a fence, or a barrier.
    fn operation(&mut self, counterpart: &Event) {
        let (record, done) = (self.record, self.done);
        let Some(event) = record.operations.get(done) else {
            let what = format!("{} has no counterpart in the source", strength::shown(counterpart));
            return self.differ(counterpart.line, what);
        };
        let is_steps = event.action == Action::Fence && event.is_seq_cst();
        let result = match is_steps {
            true => strength::check_fence_step(counterpart, self.step),
            false => strength::check_counterpart(event, counterpart, &record.operations[..done], self.facts),
        };
        if let Err(lack) = result {
            // A compare-exchange that fails is read again with its order.
            let is_attempt = counterpart.action == Action::Read
                && event.action == Action::Read
                && event.location == counterpart.location
                && !is_ordered(counterpart);
            if !is_attempt {
                let what = format!("the counterpart of {} {lack}", strength::shown(event));
                self.differ(event.line, what);
            }
            return;
        }
        if is_steps && self.step < 2 {
            self.step += 1;
            return;
        }
        self.step = 0;
        self.done += 1;
        if is_ordered(event) {
            self.compare(event.line);
        }
    }
}

impl Observer for Follow<'_> {
    fn read(&mut self, location: Location, size: u64, is_atomic: bool) -> u64 {
        if !is_atomic {
            return self.segment.read(location, size, self.record.seed, self.number);
        }
        let event = self.record.operations.get(self.done);
        match event.filter(|event| event.location == Some(location) && event.reads()) {
            Some(event) => event.read,
            None => atomic(self.record.seed, location, size, self.done),
        }
    }

    fn write(&mut self, location: Location, size: u64, value: u64, is_atomic: bool) {
        if !is_atomic {
            self.segment.write(location, size, value);
        }
    }

    fn event(&mut self, event: &Event) {
        if !is_plain(event) {
            return self.operation(event);
        }
        let is_written = event.location.is_some_and(|it| self.facts.written.contains(&it.object));
        if !event.is_shared && is_written && self.facts.orders(event.space) {
            self.differ(event.line, format!("{} is private", strength::shown(event)));
        }
    }
}
