//! Schedulers: the work-items that must make progress.

use std::fmt;

use super::State;
use crate::event::Position;

/// Which parts of a group must make progress: the work-groups of a launch, the sub-groups of a work-group, or the
/// work-items of a sub-group. At least one that can take a step always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheduler {
    /// All.
    #[default]
    Fair,
    /// Those that have started, and those before one that has started (LOBE, linear occupancy-bound execution).
    Linear,
    /// Those that have started, and the first that can take a step (HSA and OBE).
    FirstAndOccupant,
    /// Those that have started (OBE, occupancy-bound execution).
    Occupant,
    /// The first that can take a step (HSA, Heterogeneous System Architecture).
    First,
    /// None in particular.
    Unfair,
}

impl Scheduler {
    /// All schedulers.
    pub const ALL: [Self; 6] =
        [Self::Fair, Self::Linear, Self::FirstAndOccupant, Self::Occupant, Self::First, Self::Unfair];

    /// The parts that must make progress, given for each whether it has started and whether it can take a step.
    fn required(self, parts: &[(bool, bool)]) -> Vec<bool> {
        let is_first = |index: usize| parts[..index].iter().all(|(_, can_step)| !can_step);
        let each = |index: usize| match self {
            Self::Fair => true,
            Self::Linear => parts[index..].iter().any(|(has_started, _)| *has_started),
            Self::FirstAndOccupant => parts[index].0 || is_first(index),
            Self::Occupant => parts[index].0,
            Self::First => is_first(index),
            Self::Unfair => false,
        };
        (0..parts.len()).map(each).collect()
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fair => "FAIR",
            Self::Linear => "LOBE",
            Self::FirstAndOccupant => "HSA_OBE",
            Self::Occupant => "OBE",
            Self::First => "HSA",
            Self::Unfair => "UNFAIR",
        })
    }
}

/// A scheduler for each level of the index space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// For the work-groups of the launch.
    pub groups: Scheduler,
    /// For the sub-groups of a work-group.
    pub sub_groups: Scheduler,
    /// For the work-items of a sub-group.
    pub items: Scheduler,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "work-groups {}, sub-groups {}, work-items {}", self.groups, self.sub_groups, self.items)
    }
}

impl Progress {
    /// Whether every work-item makes progress.
    pub(super) fn is_fair(self) -> bool {
        self == Self::default()
    }

    /// Whether the scheduler can leave the work-items in these states forever.
    pub(super) fn permits(self, positions: &[Position], states: &[State]) -> bool {
        let all: Vec<usize> = (0..states.len()).collect();
        // The queues of all families make progress.
        let levels: [(Scheduler, Level); 4] = [
            (Scheduler::Fair, |it, _| it.family),
            (self.groups, |it, _| it.group),
            (self.sub_groups, |it, _| it.sub_group),
            (self.items, |_, index| index as u32),
        ];
        let launch = Launch { positions, states, levels };
        launch.can_rest(&all, 0)
    }
}

/// The number of a work-item's part at a level.
type Level = fn(&Position, usize) -> u32;

struct Launch<'s> {
    positions: &'s [Position],
    states: &'s [State],
    levels: [(Scheduler, Level); 4],
}

impl Launch<'_> {
    /// Whether these work-items, a part of the launch that makes progress, can stay in their states.
    fn can_rest(&self, items: &[usize], depth: usize) -> bool {
        let Some((scheduler, level)) = self.levels.get(depth) else {
            return items.iter().all(|item| self.states[*item].is_final());
        };
        let number = |item: &usize| level(&self.positions[*item], *item);
        let mut numbers: Vec<u32> = items.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let parts: Vec<Vec<usize>> = numbers
            .iter()
            .map(|part| items.iter().copied().filter(|item| number(item) == *part).collect())
            .collect();
        let has_started = |part: &[usize]| part.iter().any(|it| self.states[*it] != State::NotStarted);
        let can_step = |part: &[usize]| part.iter().any(|it| self.states[*it].is_schedulable());
        let facts: Vec<(bool, bool)> = parts.iter().map(|it| (has_started(it), can_step(it))).collect();
        let required = scheduler.required(&facts);
        let rests = |part: &[usize]| self.can_rest(part, depth + 1);
        let each = || parts.iter().zip(&facts).zip(&required).map(|((part, facts), it)| (part, facts.1, *it));
        let is_served = each().all(|(.., is_required)| !is_required)
            || each().filter(|it| it.2).all(|(part, ..)| rests(part));
        // At least one part that can take a step makes progress.
        let is_any_served = || {
            let none_can_step = each().all(|(_, can_step, _)| !can_step);
            none_can_step
                || each().any(|(part, can_step, is_required)| can_step && (is_required || rests(part)))
        };
        is_served && is_any_served()
    }
}
