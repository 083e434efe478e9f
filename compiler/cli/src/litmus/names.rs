//! Locations and outcomes in the words of the source: `x`, `out[2]`.

use std::fmt::Write as _;

use kiln_memory_model::{Location, Object, Skeleton};

use crate::run::value::ElementType;

/// The names of the parameters, with the types of their elements, and the parts of an outcome.
pub(super) struct Names {
    parameters: Vec<(String, Option<ElementType>)>,
    parts: Vec<Location>,
    /// Whether elements other than the first one of each parameter appear. The first one alone needs no index.
    is_array: Vec<bool>,
    /// The names of the elements of the last parameter, if they are variables of a litmus test.
    registers: Vec<String>,
    /// The names of the parts.
    labels: Vec<String>,
}

impl Names {
    pub(super) fn new(
        parameters: Vec<(String, Option<ElementType>)>,
        skeleton: &Skeleton,
        parts: Vec<Location>,
        registers: Vec<String>,
    ) -> Self {
        let mut is_array = vec![false; parameters.len()];
        let events = skeleton.traces.iter().flatten().flat_map(|trace| &trace.events);
        for location in skeleton.parts.iter().copied().chain(events.filter_map(|event| event.location)) {
            if let Object::Argument(number) | Object::LocalArgument(number, _) = location.object
                && let Some(array) = is_array.get_mut(number as usize)
            {
                *array |= location.offset > 0;
            }
        }
        let mut names = Self { parameters, parts, is_array, registers, labels: Vec::new() };
        names.labels = names.parts.iter().map(|part| names.location(*part)).collect();
        names
    }

    pub(super) fn location(&self, location: Location) -> String {
        let (number, group) = match location.object {
            Object::Argument(number) => (number as usize, None),
            Object::LocalArgument(number, group) => (number as usize, Some(group)),
            Object::LocalVariable(..) => return format!("a local variable, byte {}", location.offset),
            Object::Program => return format!("a program-scope variable, byte {}", location.offset),
            Object::Unshared(..) => return "an object of this work-item".to_owned(),
        };
        if number + 1 == self.parameters.len()
            && let Some(register) = self.registers.get(location.offset as usize / 4)
        {
            return register.clone();
        }
        let Some((name, ty)) = self.parameters.get(number) else { return format!("argument {number}") };
        let stride = ty.as_ref().map_or(4, |ty| ty.stride.max(1) as u32);
        let index = match (self.is_array[number], location.offset % stride) {
            (false, _) => String::new(),
            (true, 0) => format!("[{}]", location.offset / stride),
            (true, rest) => format!("[{}]+{rest}", location.offset / stride),
        };
        match group {
            Some(group) if group > 0 => format!("{name}{index} of group {group}"),
            _ => format!("{name}{index}"),
        }
    }

    /// The locations of the parts of an outcome.
    pub(super) fn locations(&self) -> &[Location] {
        &self.parts
    }

    /// The name and the value of each part of an outcome.
    pub(super) fn parts(&self, outcome: &[u64]) -> impl Iterator<Item = (&str, u64)> {
        self.labels.iter().map(String::as_str).zip(outcome.iter().copied())
    }

    pub(super) fn outcome(&self, outcome: &[u64]) -> String {
        if self.labels.is_empty() {
            return "(nothing is written)".to_owned();
        }
        let mut text = String::new();
        for (name, value) in self.parts(outcome) {
            let space = if text.is_empty() { "" } else { " " };
            let _ = write!(text, "{space}{name}={value}");
        }
        text
    }
}
