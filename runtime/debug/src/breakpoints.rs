//! Breakpoints and steps.
//!
//! Owns the decision whether a launch stops at a statement. Must not depend on the protocol.

use kiln_reference::{ItemId, Point, WorkItem};
use kiln_vocabulary::debug::Variables;

use crate::{
    expression::{self, Expr},
    scope,
    value::Reader,
};

/// A breakpoint at a line or at a function.
#[derive(Clone, Debug)]
pub(crate) struct Breakpoint {
    pub(crate) id: i64,
    pub(crate) location: Location,
    pub(crate) condition: Option<Expr>,
    /// The number of the hit at which it stops, from 1.
    pub(crate) after: u64,
    pub(crate) hits: u64,
    /// Instead of stopping, it prints this text with the values of expressions in braces.
    pub(crate) message: Option<String>,
}

/// The location of a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A line of a file of the module.
    Line(String, u32),
    /// The beginning of a function.
    Function(String),
    /// A line of a file that is not part of the program.
    Nowhere,
}

/// A breakpoint at a change of memory.
#[derive(Clone, Debug)]
pub(crate) struct Watchpoint {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// The work-item or the group that has the memory.
    pub(crate) owner: Owner,
    /// The bytes at the last statement.
    pub(crate) last: Option<Vec<u8>>,
}

/// The owner of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Launch,
    Group(u32),
    Item(ItemId),
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) item: ItemId,
    pub(crate) kind: StepKind,
    /// The call depth at its start.
    pub(crate) depth: usize,
}

/// Which statement ends a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// The next line, or the return of the function.
    Over,
    /// The next line, in this function or in a called one.
    In,
    /// The return of the function.
    Out,
}

/// The effect of a breakpoint.
pub(crate) enum Effect {
    Stop,
    Print(String),
}

impl Breakpoint {
    /// The effect of the breakpoint at a statement. A condition without a value stops the launch.
    pub(crate) fn effect_at(&mut self, point: &Point<'_>, variables: &Variables) -> Option<Effect> {
        let is_here = match &self.location {
            Location::Line(file, line) => *line == point.line && file == point.file,
            Location::Function(name) => point.item.frame(0).is_some_and(|frame| {
                let known = variables.functions.iter().find(|known| known.name == *name);
                frame.function == name && known.is_none_or(|known| known.first_line == point.line)
            }),
            Location::Nowhere => false,
        };
        if !is_here {
            return None;
        }
        if let Some(condition) = &self.condition {
            let value = scope::evaluate(condition, point.item, 0, variables);
            if !value.and_then(|value| expression::is_true(&value)).unwrap_or(true) {
                return None;
            }
        }
        self.hits += 1;
        if self.hits < self.after {
            return None;
        }
        Some(match &self.message {
            Some(message) => Effect::Print(interpolate(message, point.item, variables)),
            None => Effect::Stop,
        })
    }
}

/// Replaces expressions in braces with their values.
fn interpolate(message: &str, item: WorkItem<'_>, variables: &Variables) -> String {
    let reader = Reader { item, variables };
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, tail)) = after.split_once('}') else { break };
        text.push_str(before);
        let value = expression::parse(inside).and_then(|expr| scope::evaluate(&expr, item, 0, variables));
        text.push_str(&value.map_or_else(|why| format!("<{why}>"), |value| reader.text(&value)));
        rest = tail;
    }
    text.push_str(rest);
    text.push('\n');
    text
}

impl Watchpoint {
    /// Whether the memory has changed since the last statement.
    pub(crate) fn has_changed(&mut self, item: WorkItem<'_>) -> bool {
        if !self.owner.has(item.id()) {
            return false;
        }
        let now = item.read(self.address, self.size).map(|contents| contents.bytes);
        let changed = self.last.is_some() && now.is_some() && self.last != now;
        self.last = now;
        changed
    }
}

impl Owner {
    /// Whether a work-item sees the memory.
    pub(crate) fn has(self, id: ItemId) -> bool {
        match self {
            Self::Launch => true,
            Self::Group(group) => group == id.group,
            Self::Item(owner) => owner == id,
        }
    }
}

impl Step {
    /// Whether the step ends here.
    pub(crate) fn is_complete_at(self, point: &Point<'_>) -> bool {
        let depth = point.item.depth();
        point.item.id() == self.item
            && match self.kind {
                StepKind::Over => {
                    depth < self.depth && (point.returns || point.is_new_line)
                        || depth == self.depth && point.is_new_line
                }
                StepKind::In => point.is_new_line || depth < self.depth,
                StepKind::Out => depth < self.depth,
            }
    }
}
