//! Reverse execution: the launch is executed again from its start, which is possible because it is deterministic.
//!
//! Owns what such an execution looks for. Statements are counted from 1.

use kiln_reference::ItemId;

/// An execution from the start of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    /// It stops at this statement.
    Seek(u64),
    /// It looks for the last statement before `until` that is the goal.
    Search { until: u64, goal: Goal, found: Option<u64> },
}

/// A statement to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// One with a breakpoint, or one that changes watched memory.
    Breakpoint,
    /// A line of this work-item, outside calls that are deeper than this.
    Step(ItemId, usize),
}
