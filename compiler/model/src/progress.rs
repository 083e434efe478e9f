//! Forward progress: whether every run of a launch ends, which depends on the work-items that the scheduler runs.
//!
//! A launch is *stuck* if a work-item repeats a loop that changes nothing, or waits at a barrier that others never reach. The
//! other work-items have ended, are stuck too, or are those that the scheduler need not run. A loop that is repeated forever
//! is assumed to see the last value of each object that it reads.
//!
//! The schedulers are those of "Specifying and Testing GPU Workgroup Progress Models" (Sorensen et al., OOPSLA 2021), at each
//! level of the index space: work-groups of the launch, sub-groups of a work-group, and work-items of a sub-group.

mod goal;
mod scheduler;
#[cfg(test)]
mod tests;

pub use scheduler::{Progress, Scheduler};

use std::collections::BTreeSet;

use crate::{
    event::{Action, End, Skeleton, Trace},
    explore::{Error, Model, Options, Witness, search},
};

use goal::Search;

/// The finding for a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Every run ends.
    Ends,
    /// Loops have more iterations than are explored. No stuck run was found.
    Unknown,
    /// A run does not end.
    Stuck(Box<Stuck>),
}

/// A launch that does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// What the work-items have done.
    pub witness: Witness,
    /// The state of each work-item.
    pub states: Vec<State>,
}

/// The state of a work-item that takes no further step, or repeats its last ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has ended.
    Done,
    /// It repeats its events from this one of the execution forever.
    Spins(usize),
    /// It is in a loop with more iterations than are explored.
    Runs,
    /// It waits at the barrier of this event.
    Waits(usize),
    /// The scheduler does not run it, after its events in the execution.
    Stopped,
    /// The scheduler has not started it.
    NotStarted,
}

impl State {
    /// Whether it could take a step.
    fn is_schedulable(self) -> bool {
        !matches!(self, Self::Done | Self::Waits(_))
    }

    /// Whether the run can end in this state.
    fn is_final(self) -> bool {
        !matches!(self, Self::Stopped | Self::NotStarted)
    }
}

/// Finds for each of at most 64 schedulers whether every run of a launch ends. The launch of the skeleton
/// [keeps spins](crate::Launch::keeps_spins).
pub fn study(
    skeleton: &Skeleton,
    model: Model,
    schedulers: &[Progress],
    options: Options,
) -> Result<Vec<Finding>, Error> {
    let is_fair = schedulers.iter().all(|it| it.is_fair());
    let traces = skeleton.traces.iter().map(|traces| with_prefixes(traces, is_fair)).collect();
    let partial = Skeleton { traces, ..skeleton.clone() };
    let mut goal = Search::new(&partial.positions, schedulers);
    search(&partial, model, Options { explains: false, ..options }, &mut goal)?;
    Ok(goal.findings())
}

/// The runs, and the prefixes of runs after which the scheduler can leave a work-item. A fair scheduler leaves it only at a
/// barrier. A prefix that ends with a read has the same effect as without the read.
fn with_prefixes(traces: &[Trace], is_fair: bool) -> Vec<Trace> {
    let mut all = traces.to_vec();
    // The values that a work-item reads determine its events.
    let mut known: BTreeSet<Vec<u64>> = BTreeSet::new();
    for trace in traces {
        let mut key = Vec::new();
        for (index, event) in trace.events.iter().enumerate() {
            let last = index.checked_sub(1).map(|last| &trace.events[last]);
            let is_barrier = last.is_some_and(|last| last.action == Action::Arrive);
            let can_stop = is_barrier || !is_fair && last.is_none_or(|last| last.writes());
            if can_stop && known.insert(key.clone()) {
                let events = trace.events[..index].to_vec();
                all.push(Trace { events, results: Vec::new(), end: End::Paused, is_assumed: false });
            }
            key.extend([u64::from(event.site), event.read]);
        }
    }
    all
}
