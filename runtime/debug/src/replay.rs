//! Reverse execution: the launch is executed again from its start, which is possible because it is deterministic.
//!
//! Owns the goal of such an execution. Statements are counted from 1.

use kiln_reference::ItemId;

/// An execution from the start of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    /// Stops at this statement.
    Seek(u64),
    /// Searches for the last statement before `until` that matches the goal.
    Search { until: u64, goal: Goal, found: Option<u64> },
}

/// A statement to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A statement with a breakpoint, or one that changes watched memory.
    Breakpoint,
    /// A line of this work-item, at this call depth or an outer one.
    Step(ItemId, usize),
}
