//! The verdict of a memory model on an execution.

use std::fmt;

/// A rule that makes an execution impossible. The variants are in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A read returns a value that no write provides.
    Value,
    /// Happens-before has a cycle.
    Cycle,
    /// OpenCL's coherence.
    Coherence,
    /// Vulkan's location order.
    LocationOrder,
    /// Vulkan's modification orders, reads-from and from-reads.
    Consistency,
    /// Vulkan's plain reads, which see the last write before them.
    LastWrite,
    /// In executions with values out of thin air: plain reads see only writes that happen before them.
    Visibility,
    /// OpenCL's total order of seq_cst operations.
    TotalOrder,
}

impl Rule {
    /// The section of the specification.
    pub fn section(self) -> &'static str {
        match self {
            Self::Value => "OpenCL API 3.3.6",
            Self::Cycle => "OpenCL API 3.3.6, happens-before",
            Self::Coherence => "OpenCL API 3.3.6, coherence",
            Self::LocationOrder => "Vulkan, Memory Model, Location-Ordered",
            Self::Consistency => "Vulkan, Memory Model, Inter-Invocation Consistency",
            Self::LastWrite => "Vulkan, Memory Model, Value of a Read",
            Self::Visibility => "OpenCL API 3.3.6, visible side effects",
            Self::TotalOrder => "OpenCL API 3.3.6.1, total order S",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "no operation writes a value that is read",
            Self::Cycle => "happens-before has a cycle",
            Self::Coherence => {
                "the second access happens after the first, but reads or writes an older value"
            }
            Self::LocationOrder => "the accesses are ordered, and their writes in the opposite order",
            Self::Consistency => "the order of accesses, writes and reads has a cycle",
            Self::LastWrite => "a plain read does not see the last write before it",
            Self::Visibility => "a plain read sees a write that does not happen before it",
            Self::TotalOrder => "seq_cst operations have no total order in which reads see the last write",
        })
    }
}

/// Why an execution is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    /// The events that violate it; the same one twice if it is a cycle.
    pub(crate) first: usize,
    pub(crate) second: usize,
}

impl Violation {
    pub(crate) fn new(rule: Rule, first: usize, second: usize) -> Self {
        Self { rule, first, second }
    }
}

/// The verdict on a whole execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is inconsistent.
    Impossible(Violation),
    /// It is consistent.
    Possible,
    /// It is consistent, and these events race.
    Race(usize, usize),
}
