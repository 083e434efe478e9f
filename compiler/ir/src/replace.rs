//! Replaces the uses of values with other values.

use super::{Function, ValueId};
use kiln_types::index::Id as _;

/// A map from values to their replacements, as a table by id: most passes replace many values of a function.
#[derive(Clone, Debug, Default)]
pub struct Replacements(Vec<Option<ValueId>>);

impl Replacements {
    /// Replaces a value with another. Returns the previous replacement.
    pub fn insert(&mut self, value: ValueId, other: ValueId) -> Option<ValueId> {
        let index = value.index();
        if index >= self.0.len() {
            self.0.resize(index + 1, None);
        }
        self.0[index].replace(other)
    }

    /// The final replacement of a value, following chains.
    pub fn resolve(&self, mut value: ValueId) -> ValueId {
        while let Some(&Some(other)) = self.0.get(value.index()) {
            value = other;
        }
        value
    }
}

impl Extend<(ValueId, ValueId)> for Replacements {
    fn extend<T: IntoIterator<Item = (ValueId, ValueId)>>(&mut self, pairs: T) {
        for (value, other) in pairs {
            self.insert(value, other);
        }
    }
}

impl FromIterator<(ValueId, ValueId)> for Replacements {
    fn from_iter<T: IntoIterator<Item = (ValueId, ValueId)>>(pairs: T) -> Self {
        let mut replacements = Self::default();
        replacements.extend(pairs);
        replacements
    }
}

impl Function {
    /// Applies the replacements to all uses.
    pub fn replace_uses(&mut self, replacements: &Replacements) {
        if replacements.0.is_empty() {
            return;
        }
        for block in self.block_order() {
            for &inst in &self.blocks[block].insts {
                for arg in &mut self.insts[inst].args {
                    *arg = replacements.resolve(*arg);
                }
            }
        }
    }
}
