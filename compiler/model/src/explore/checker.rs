//! Checks the consistency of an execution of one frame in a memory model. Choices are added one at a time, and can be undone.

use super::Model;
use crate::{
    execution::{Execution, Frame},
    opencl,
    relation::Mark,
    verdict::{Rule, Verdict, Violation},
    vulkan,
};

/// The state of a memory model for one frame.
pub(super) enum ConsistencyChecker {
    Vulkan(Box<vulkan::Model>),
    OpenCl(Box<opencl::Model>),
}

/// A state of the relations of a model.
pub(super) enum State {
    Vulkan(vulkan::State),
    OpenCl([Mark; 2]),
}

impl ConsistencyChecker {
    /// Returns `None` if there are too many events.
    pub(super) fn new(frame: &Frame, model: Model) -> Option<Self> {
        let vulkan = |has_chains| Some(Self::Vulkan(Box::new(vulkan::Model::new(frame, has_chains)?)));
        match model {
            Model::Vulkan => vulkan(true),
            Model::VulkanWithoutChains => vulkan(false),
            Model::OpenCl => Some(Self::OpenCl(Box::new(opencl::Model::new(frame)))),
        }
    }

    /// Whether no execution of the frame is consistent.
    pub(super) fn is_impossible(&self) -> bool {
        match self {
            Self::Vulkan(_) => false,
            Self::OpenCl(model) => model.is_cyclic(),
        }
    }

    /// The present state.
    pub(super) fn state(&self) -> State {
        match self {
            Self::Vulkan(model) => State::Vulkan(model.state()),
            Self::OpenCl(model) => State::OpenCl(model.state()),
        }
    }

    /// Returns to a state.
    pub(super) fn undo(&mut self, state: &State) {
        match (self, state) {
            (Self::Vulkan(model), State::Vulkan(state)) => model.undo(state),
            (Self::OpenCl(model), State::OpenCl(state)) => model.undo(*state),
            _ => {}
        }
    }

    /// Adds an access whose source or position is known. Returns whether the known part can be part of a consistent execution.
    pub(super) fn add(&mut self, execution: &Execution, access: usize) -> bool {
        match self {
            Self::Vulkan(model) => model.add(execution, access),
            Self::OpenCl(model) => model.add(execution, access),
        }
    }

    /// Checks the entire known part of an execution, unlike `add`.
    pub(super) fn check(&mut self, execution: &Execution) -> Result<(), Violation> {
        match self {
            Self::Vulkan(model) => model.check(execution),
            Self::OpenCl(model) => model.check(execution),
        }
    }

    /// Whether an access is before another one of its location, by happens-before or Vulkan's location order.
    pub(super) fn is_before(&self, execution: &Execution, a: usize, b: usize) -> bool {
        match self {
            Self::Vulkan(model) => model.is_located_before(a, b),
            Self::OpenCl(model) => model.happens_before(execution, a, b),
        }
    }

    /// Whether no modification order of the model contains both writes. Then the read-modify-write need not read from the other
    /// write.
    pub(super) fn are_unordered(&self, modify: usize, other: usize) -> bool {
        match self {
            Self::Vulkan(model) => !model.are_ordered(modify, other),
            Self::OpenCl(_) => false,
        }
    }

    /// The verdict on an execution that is consistent except for the order of seq_cst operations.
    pub(super) fn verdict(&mut self, execution: &Execution) -> Verdict {
        match self {
            Self::Vulkan(model) => model.verdict(),
            Self::OpenCl(model) => model.verdict(execution),
        }
    }

    /// The rule that is checked last.
    pub(super) fn last_rule(&self, frame: &Frame) -> Rule {
        match self {
            Self::Vulkan(model) => model.last_rule(frame),
            Self::OpenCl(model) => model.last_rule(),
        }
    }
}
