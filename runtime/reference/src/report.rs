//! Reports of undefined behavior: what happened, the source location, the work-item, and the memory.
//!
//! Owns the messages. Must not depend on how a problem was detected.

use std::fmt;

use crate::{
    Resume,
    code::{NoResult, Overflow},
    poison::{self, Poison},
};

/// A source location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file name in the module.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Why a launch ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// The message, without a full stop.
    pub message: String,
    /// The location, if the module contains line information.
    pub location: Option<SourceLine>,
    /// The work-item's global id.
    pub work_item: [u64; 3],
    /// Further notes, one sentence each.
    pub notes: Vec<String>,
    /// The kind of problem, such as `out-of-bounds`.
    pub kind: &'static str,
}

/// The kind of a trap.
const TRAP: &str = "trap";
/// The kinds of reports that a debugger causes.
const REWOUND: &str = "rewound";
const ENDED: &str = "ended";

impl Report {
    /// Whether the program itself raised the error, by a trap.
    pub fn is_trap(&self) -> bool {
        self.kind == TRAP
    }

    /// Whether a debugger ended the launch.
    pub fn is_ended(&self) -> bool {
        self.kind == ENDED
    }

    /// Whether a debugger executes the launch again from its start.
    pub(crate) fn is_rewound(&self) -> bool {
        self.kind == REWOUND
    }

    /// How a debugger has ended a launch.
    pub(crate) fn of_debugger(kernel: &str, resume: Resume) -> Option<Self> {
        let (kind, message) = match resume {
            Resume::Continue => return None,
            Resume::Rewind => (REWOUND, "is executed again"),
            Resume::End => (ENDED, "was ended by the debugger"),
        };
        let (kernel, message) = (kernel.to_owned(), message.to_owned());
        Some(Self { kernel, message, location: None, work_item: [0; 3], notes: Vec::new(), kind })
    }

    /// Whether the launch timed out.
    pub fn is_timeout(&self) -> bool {
        self.kind == Problem::Timeout.kind() && self.message == Problem::Timeout.message()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.work_item;
        write!(f, "kernel `{}`", self.kernel)?;
        if let Some(SourceLine { file, line }) = &self.location {
            write!(f, ", {file}:{line}")?;
        }
        write!(f, ", work-item ({x}, {y}, {z}): {} [{}]", self.message, self.kind)?;
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// A problem that ends the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// An access outside every object.
    OutOfBounds {
        address: u64,
        size: u64,
        access: Access,
    },
    Null {
        access: Access,
    },
    Misaligned {
        address: u64,
        align: u64,
        access: Access,
    },
    /// A use of a poison value.
    Poison(Poison, Use),
    DivisionByZero,
    DivisionOverflow,
    Shift {
        amount: u64,
        bits: u8,
    },
    Conversion,
    /// An index outside an array or a vector.
    Index {
        index: i64,
        length: u64,
    },
    NoResult(NoResult),
    /// Arguments that differ between work-items but must be uniform.
    NotUniform,
    Overflow(Overflow),
    Unreachable,
    /// A trap of the program.
    Trap(String),
    /// A call of a function without a body.
    Missing(String),
    Depth,
    Steps(u64),
    Timeout,
    Memory,
    /// Divergent work-items at a barrier: some have returned, or wait at another one.
    Divergence {
        others: String,
    },
    /// An invalid use of a function, described in words.
    Misuse {
        kind: &'static str,
        message: String,
    },
    /// Two unordered conflicting accesses.
    Race(Box<Race>),
}

/// A kind of memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Atomic,
}

/// A use of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Branch,
    Address,
    Stored,
    Operand,
}

/// A data race, for the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) this: Access,
    pub(crate) by: Agent,
    pub(crate) other: Access,
    /// The operation of the other access.
    pub(crate) other_at: u32,
    pub(crate) other_by: Agent,
    pub(crate) reason: String,
    /// The address, unless the memory is accessed by handle.
    pub(crate) address: Option<u64>,
}

/// The agent of an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agent {
    WorkItem {
        group: u32,
        /// The index in its work-group.
        index: u32,
    },
    /// An asynchronous copy.
    Copy,
    /// A kernel of the same launch that has run before, by its name.
    Kernel(String),
}

impl Problem {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::OutOfBounds { .. } => "out-of-bounds",
            Self::Null { .. } => "null-pointer",
            Self::Misaligned { .. } => "misaligned",
            Self::Poison(why, _) => poison::words(*why).0,
            Self::DivisionByZero => "division-by-zero",
            Self::DivisionOverflow | Self::Overflow(_) => "overflow",
            Self::Shift { .. } => "shift",
            Self::Conversion => "conversion",
            Self::Index { .. } => "index",
            Self::NoResult(_) => "no-result",
            Self::NotUniform => "divergence",
            Self::Unreachable => "unreachable",
            Self::Trap(_) => TRAP,
            Self::Missing(_) => "missing-function",
            Self::Depth => "recursion",
            Self::Steps(_) | Self::Timeout => "endless",
            Self::Memory => "memory",
            Self::Divergence { .. } => "divergence",
            Self::Misuse { kind, .. } => kind,
            Self::Race(_) => "data-race",
        }
    }

    pub(crate) fn message(&self) -> String {
        let verb = |access: &Access| match access {
            Access::Read => "reads",
            Access::Write => "writes",
            Access::Atomic => "accesses atomically",
        };
        match self {
            Self::OutOfBounds { size, access, .. } => {
                format!("{} {size} bytes outside of any object", verb(access))
            }
            Self::Null { access } => format!("{} through a null pointer", verb(access)),
            Self::Misaligned { align, access, .. } => {
                format!("{} an object whose address is not a multiple of {align}", verb(access))
            }
            Self::Poison(why, how) => format!(
                "{} {}",
                poison::words(*why).1,
                match how {
                    Use::Branch => "determines control flow",
                    Use::Address => "is used as an address",
                    Use::Stored => "is stored in global memory",
                    Use::Operand => "is the operand of an operation with side effects",
                }
            ),
            Self::DivisionByZero => "divides an integer by zero".to_owned(),
            Self::DivisionOverflow => "divides the smallest integer by -1".to_owned(),
            Self::Shift { amount, bits } => format!("shifts an integer of {bits} bits by {amount}"),
            Self::Overflow(operation) => format!(
                "{} signed integers whose result overflows",
                match operation {
                    Overflow::Add => "adds",
                    Overflow::Subtract => "subtracts",
                    Overflow::Multiply => "multiplies",
                }
            ),
            Self::Conversion => {
                "converts a number outside the range of the integer type, without saturation".to_owned()
            }
            Self::Index { index, length } => format!("accesses element {index} of {length}"),
            Self::NoResult(why) => match why {
                NoResult::Range => "clamps to a range whose minimum is above its maximum",
                NoResult::Edges => "interpolates between edges that are out of order",
                NoResult::Field => "accesses a bit field outside its integer",
                NoResult::Texel => "writes an integer that does not fit into the channels of the image",
                NoResult::Broadcast => "broadcasts the value of a work-item that the group does not have",
                NoResult::Cluster => "combines the values of a cluster that is larger than a sub-group",
                NoResult::Stride => "copies elements with a stride of 0",
            }
            .to_owned(),
            Self::NotUniform => {
                "passes different arguments than the other work-items of its group, which must pass the same"
                    .to_owned()
            }
            Self::Unreachable => "reaches code that is marked as unreachable".to_owned(),
            Self::Trap(message) => message.clone(),
            Self::Missing(name) => format!("calls `{name}`, which has no body"),
            Self::Depth => "calls functions too deeply".to_owned(),
            Self::Steps(steps) => format!("does not end within {steps} steps"),
            Self::Timeout => "does not end in time".to_owned(),
            Self::Memory => "needs more private memory than available".to_owned(),
            Self::Divergence { .. } => {
                "waits at a barrier that not all work-items of its group reach".to_owned()
            }
            Self::Misuse { message, .. } => message.clone(),
            Self::Race(race) => {
                let name = |who: &Agent, otherwise| match who {
                    Agent::Copy => "an asynchronous copy",
                    Agent::Kernel(_) => "another kernel",
                    Agent::WorkItem { .. } => otherwise,
                };
                let (by, other) = (name(&race.by, ""), name(&race.other_by, "another work-item"));
                let what = format!("{by} {} what {other} {}", verb(&race.this), verb(&race.other));
                format!("{}, and nothing orders them", what.trim_start())
            }
        }
    }

    /// The address whose object the report describes.
    pub(crate) fn address(&self) -> Option<u64> {
        match self {
            Self::OutOfBounds { address, .. } | Self::Misaligned { address, .. } => Some(*address),
            Self::Race(race) => race.address,
            _ => None,
        }
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        match self {
            Self::Divergence { others } => vec![others.clone()],
            Self::Race(race) => vec![race.reason.clone()],
            _ => Vec::new(),
        }
    }
}
