//! The search for executions in which a launch is stuck.

use super::{Finding, Progress, State, Stuck};
use crate::{
    event::{Action, End, Event, Position, Trace, scope},
    execution::{Execution, Frame},
    explore::{Goal, Witness},
    relation::{Set, members},
};

/// The findings until now, and the runs that are being explored.
pub(super) struct Search<'s> {
    positions: &'s [Position],
    schedulers: &'s [Progress],
    findings: Vec<Finding>,
    /// The states of the work-items after the runs.
    states: Vec<State>,
    /// The schedulers that permit the states, and for which nothing is found yet.
    permitting: Vec<usize>,
}

impl<'s> Search<'s> {
    pub(super) fn new(positions: &'s [Position], schedulers: &'s [Progress]) -> Self {
        let findings = vec![Finding::Ends; schedulers.len()];
        Self { positions, schedulers, findings, states: Vec::new(), permitting: Vec::new() }
    }

    /// The finding for each scheduler, in order.
    pub(super) fn findings(self) -> Vec<Finding> {
        self.findings
    }

    /// The states after these runs. `None` if one of them has left a barrier that others do not reach.
    fn after(&self, traces: &[&Trace]) -> Option<Vec<State>> {
        let arrivals: Vec<Vec<Barrier>> = traces.iter().map(|it| barriers(it, Action::Arrive)).collect();
        let all_reach = |item: usize, barrier: &Barrier| {
            let shares = |other: &usize| match barrier.execution {
                scope::SUBGROUP => self.positions[*other].sub_group == self.positions[item].sub_group,
                _ => self.positions[*other].group == self.positions[item].group,
            };
            (0..traces.len()).filter(shares).all(|other| arrivals[other].contains(barrier))
        };
        let mut states = Vec::new();
        let mut first = 0;
        for (item, trace) in traces.iter().enumerate() {
            if !barriers(trace, Action::Leave).iter().all(|it| all_reach(item, it)) {
                return None;
            }
            let at_barrier = trace.events.last().is_some_and(|it| it.action == Action::Arrive);
            let last = arrivals[item].last().filter(|_| at_barrier);
            states.push(match trace.end {
                End::Done => State::Done,
                End::Cut => State::Runs,
                End::Spin(from) => State::Spins(first + from),
                End::Paused if last.is_some_and(|it| !all_reach(item, it)) => {
                    State::Waits(first + trace.events.len() - 1)
                }
                End::Paused if trace.events.is_empty() => State::NotStarted,
                End::Paused => State::Stopped,
            });
            first += trace.events.len();
        }
        Some(states)
    }

    /// The events that the work-item of this one repeats.
    fn repeated(frame: &Frame, from: usize, item: usize) -> impl Iterator<Item = usize> {
        (from..frame.count()).take_while(move |&index| frame.items[index] == item)
    }
}

impl Goal for Search<'_> {
    fn wants(&mut self, traces: &[&Trace]) -> bool {
        let Some(states) = self.after(traces) else { return false };
        let is_stuck = |it: &State| matches!(it, State::Spins(_) | State::Waits(_) | State::Runs);
        let is_cut = states.contains(&State::Runs);
        if !states.iter().any(is_stuck) {
            return false;
        }
        let is_open = |finding: &Finding| match finding {
            Finding::Ends => true,
            Finding::Unknown => !is_cut,
            Finding::Stuck(_) => false,
        };
        let open = (0..self.schedulers.len()).filter(|&it| is_open(&self.findings[it]));
        self.permitting = open.filter(|&it| self.schedulers[it].permits(self.positions, &states)).collect();
        self.states = states;
        !self.permitting.is_empty()
    }

    /// Each event that is repeated forever sees the last write to its location, except for writes that are repeated too.
    fn accepts(&self, execution: &Execution) -> bool {
        let frame = &execution.frame;
        let mut repeated: Set = 0;
        for (item, state) in self.states.iter().enumerate() {
            if let State::Spins(from) = state {
                repeated |= Self::repeated(frame, *from, item).fold(0, |set: Set, index| set | 1 << index);
            }
        }
        members(repeated & frame.reads).all(|read| {
            let rank =
                if frame.events[read].writes() { execution.rank[read] } else { execution.read_rank(read) };
            let later = execution.other_writes(read) & !repeated;
            members(later).all(|write| execution.rank[write] <= rank)
        })
    }

    fn record(&mut self, witness: Witness) {
        for scheduler in std::mem::take(&mut self.permitting) {
            self.findings[scheduler] = match self.states.contains(&State::Runs) {
                true => Finding::Unknown,
                false => {
                    Finding::Stuck(Box::new(Stuck { witness: witness.clone(), states: self.states.clone() }))
                }
            };
        }
    }
}

/// An execution of a barrier: the instruction, how often the work-item has executed it before, and its scope.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Barrier {
    site: u32,
    number: usize,
    execution: u32,
}

/// The barriers that a run enters or leaves.
fn barriers(trace: &Trace, action: Action) -> Vec<Barrier> {
    let mut all: Vec<Barrier> = Vec::new();
    for Event { site, execution, .. } in trace.events.iter().filter(|it| it.action == action) {
        let is_same = |it: &&Barrier| (it.site, it.execution) == (*site, *execution);
        let number = all.iter().filter(is_same).count();
        all.push(Barrier { site: *site, number, execution: *execution });
    }
    all
}
