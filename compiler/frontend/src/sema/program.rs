//! Checks of the whole program, after all of its declarations are checked.
//!
//! Independent of the state of the type checker: the checks only read the typed tree and what its functions use.

mod bounds;
mod definitions;
mod divergence;
mod mixed;
mod recursion;
mod uninitialized;
mod unsequenced;
mod uses;

use kiln_session::diag::{Diagnostic, Sink};
use kiln_syntax::{Interner, Symbol};
use kiln_types::index::Table;
use rustc_hash::{FxHashMap, FxHashSet};

use super::UnitKind;
use crate::hir::{FunctionId, GlobalId, Module};

pub(super) use uninitialized::check_uninitialized;
pub(super) use unsequenced::check_unsequenced;
pub(super) use uses::Uses;

/// A checked program.
struct Program<'p> {
    module: &'p mut Module,
    interner: &'p Interner,
    sink: &'p mut Sink,
    /// Objects with a definition, not only an `extern` declaration.
    defined: &'p FxHashSet<GlobalId>,
    /// The uses of each function.
    uses: &'p Table<FunctionId, Uses>,
}

/// Checks a program. `known` contains the uses of the functions that were checked without errors.
pub(super) fn check(
    module: &mut Module,
    mut known: FxHashMap<FunctionId, Uses>,
    defined: &FxHashSet<GlobalId>,
    unit_kind: UnitKind,
    interner: &Interner,
    sink: &mut Sink,
) {
    let mut uses: Table<FunctionId, Uses> = Table::new();
    for (id, function) in module.functions.entries() {
        let body = function.body.as_deref().unwrap_or_default();
        uses.push(known.remove(&id).unwrap_or_else(|| Uses::in_function(function, body)));
    }
    let mut program = Program { module, interner, sink, defined, uses: &uses };
    program.check_recursion();
    program.finalize_linkage(unit_kind);
    program.check_definitions(unit_kind);
    program.check_divergence();
    program.check_mixed_access();
    program.check_bounds();
}

impl Program<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
    }

    fn text(&self, name: Symbol) -> &str {
        self.interner.text(name)
    }

    fn name_of(&self, function: FunctionId) -> String {
        self.text(self.module.functions[function].name).to_owned()
    }
}
