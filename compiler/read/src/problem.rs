//! Why a module cannot be read.

use std::fmt;

use kiln_verify::{Finding, Position};

use crate::words::Instruction;

/// A mistake in a module, or a feature that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// The instruction. `None` if it concerns the whole module.
    pub position: Option<Box<Position>>,
}

/// The result of reading something.
pub(crate) type Outcome<T> = Result<T, Problem>;

impl Problem {
    /// A problem whose position the caller adds with [`Problem::at`].
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), position: None }
    }

    /// Adds the position, if there is none.
    pub(crate) fn at(mut self, inst: &Instruction<'_>) -> Self {
        self.position.get_or_insert_with(|| {
            Box::new(Position {
                offset: inst.offset,
                instruction: Some(inst.name()),
                result: inst.id,
                line: None,
            })
        });
        self
    }
}

impl From<Finding> for Problem {
    fn from(finding: Finding) -> Self {
        let Finding { rule, message, position, .. } = finding;
        Self { message: format!("{message} [{rule}]"), position: position.map(Box::new) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
