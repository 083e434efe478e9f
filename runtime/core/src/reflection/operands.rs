//! The operands of a reflection instruction: ids of constants and strings.

use super::{facts::Facts, malformed};
use crate::error::Result;
use crate::interface::{Binding, BindingClass, SpecId, StateField, StateValue};

/// The operands of one reflection instruction.
pub(super) struct Operands<'a> {
    pub(super) facts: &'a Facts,
    pub(super) number: u32,
    pub(super) id: u32,
    pub(super) ids: &'a [u32],
}

impl Operands<'_> {
    pub(super) fn id(&self, index: usize) -> Result<u32> {
        self.ids.get(index).copied().ok_or_else(|| {
            malformed(format!("reflection instruction {} has no operand {index}", self.number))
        })
    }

    pub(super) fn constant(&self, index: usize) -> Result<u32> {
        let id = self.id(index)?;
        self.facts.constants.get(&id).copied().ok_or_else(|| {
            malformed(format!("operand {index} of reflection instruction {} is not a constant", self.number))
        })
    }

    pub(super) fn optional_number(&self, index: usize) -> Result<Option<u32>> {
        if index < self.ids.len() { self.constant(index).map(Some) } else { Ok(None) }
    }

    pub(super) fn text(&self, index: usize) -> Result<&str> {
        let id = self.id(index)?;
        self.facts.strings.get(&id).map(String::as_str).ok_or_else(|| {
            malformed(format!("operand {index} of reflection instruction {} is not a string", self.number))
        })
    }

    pub(super) fn optional_text(&self, index: usize) -> Result<&str> {
        if index < self.ids.len() { self.text(index) } else { Ok("") }
    }

    pub(super) fn spec_ids(&self) -> Result<[SpecId; 3]> {
        Ok([SpecId(self.constant(0)?), SpecId(self.constant(1)?), SpecId(self.constant(2)?)])
    }

    pub(super) fn binding(&self, at: usize, class: BindingClass) -> Result<Binding> {
        Ok(Binding { set: self.constant(at)?, binding: self.constant(at + 1)?, class })
    }

    /// The three words of an execution state value.
    pub(super) fn state(&self, value: StateValue) -> Result<StateField> {
        match self.constant(1)? {
            12 => Ok(StateField { value, offset: self.constant(0)? }),
            size => Err(malformed(format!("its execution state has a value of {size} bytes, not 12"))),
        }
    }

    pub(super) fn pointer_size(&self, index: usize) -> Result<()> {
        match self.constant(index)? {
            8 => Ok(()),
            size => Err(malformed(format!("it has an address of {size} bytes, not 8"))),
        }
    }
}
