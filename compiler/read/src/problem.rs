//! Why a module cannot be read.

use std::fmt;

use kiln_verify::{Finding, Place};

use crate::words::Instruction;

/// A mistake in a module, or a feature that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// The instruction. `None` if it concerns the whole module.
    pub place: Option<Box<Place>>,
}

/// The result of reading something.
pub(crate) type Outcome<T> = Result<T, Problem>;

impl Problem {
    /// A problem whose place the caller adds with [`Problem::at`].
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None }
    }

    /// Adds the place, if there is none.
    pub(crate) fn at(mut self, inst: &Instruction<'_>) -> Self {
        self.place.get_or_insert_with(|| {
            Box::new(Place { offset: inst.offset, instruction: inst.name(), result: inst.id, line: None })
        });
        self
    }
}

impl From<Finding> for Problem {
    fn from(finding: Finding) -> Self {
        let Finding { rule, message, place } = finding;
        Self { message: format!("{message} [{rule}]"), place: place.map(Box::new) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
