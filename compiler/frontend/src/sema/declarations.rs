//! Properties of the program's objects and functions that later declarations depend on (C99 6.2.2, 6.9.2).

use rustc_hash::FxHashSet;

use super::Meaning;
use crate::hir::GlobalId;

/// Facts about objects and functions, collected from the declarations so far.
#[derive(Default)]
pub(crate) struct Declarations {
    /// Names whose first declaration was `static`.
    statics: FxHashSet<Meaning>,
    /// Objects with a definition, not only an `extern` declaration.
    defined: FxHashSet<GlobalId>,
    /// Objects with an initializer.
    initialized: FxHashSet<GlobalId>,
}

impl Declarations {
    /// Whether the first declaration of an object or function was `static`.
    pub(super) fn is_static(&self, meaning: Meaning) -> bool {
        self.statics.contains(&meaning)
    }

    /// Records that the first declaration was `static`.
    pub(super) fn add_static(&mut self, meaning: Meaning) {
        self.statics.insert(meaning);
    }

    /// Whether an object is defined.
    pub(super) fn is_defined(&self, global: GlobalId) -> bool {
        self.defined.contains(&global)
    }

    /// Records a definition, which may be tentative.
    pub(super) fn define(&mut self, global: GlobalId) {
        self.defined.insert(global);
    }

    /// Records an initializer. `false` if the object had one.
    pub(super) fn initialize(&mut self, global: GlobalId) -> bool {
        self.initialized.insert(global)
    }

    /// The objects with a definition.
    pub(super) fn into_defined(self) -> FxHashSet<GlobalId> {
        self.defined
    }
}
