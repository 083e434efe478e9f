//! Finalizes the linkage of functions and objects, and reports undefined ones that are used (C99 6.9).

use kiln_session::diag::{Code, Diagnostic};
use kiln_vocabulary::opencl::Linkage;
use rustc_hash::FxHashSet;

use super::{Program, UnitKind, uses::Uses};
use crate::hir::{Function, FunctionId};

impl Program<'_> {
    /// Finalizes linkage. Until now, all external functions and objects were treated as definitions for other
    /// modules.
    pub(super) fn finalize_linkage(&mut self, unit_kind: UnitKind) {
        let settled = |linkage, is_defined| match (linkage, unit_kind) {
            (Linkage::Internal, _) | (_, UnitKind::Program | UnitKind::Source) => Linkage::Internal,
            _ if is_defined => Linkage::Exported,
            _ => Linkage::Imported,
        };
        for function in self.module.functions.iter_mut() {
            function.linkage = settled(function.linkage, function.body.is_some());
        }
        for id in self.module.globals.ids() {
            let global = &mut self.module.globals[id];
            global.linkage = settled(global.linkage, self.defined.contains(&id));
        }
    }

    /// Reports undefined functions and variables that a kernel uses: a program is one translation unit, unless it is
    /// compiled in parts. For a source that is only checked, this is a warning. Functions that no kernel reaches may
    /// use undefined names, as in a source that is part of a larger program. They lose their bodies.
    pub(super) fn check_definitions(&mut self, unit_kind: UnitKind) {
        let mut reported = FxHashSet::default();
        let mut told_globals = FxHashSet::default();
        let reached = self.reached();
        self.drop_incomplete(&reached);
        let (function_code, variable_code) = match unit_kind {
            UnitKind::Program | UnitKind::Part => (Code::UndefinedFunction, Code::UndefinedVariable),
            UnitKind::Source => (Code::ExternalDefinition, Code::ExternalDefinition),
        };
        for (_, found) in self.uses.entries().filter(|(id, _)| reached.contains(id)) {
            for (callee, span) in found.functions() {
                let function = &self.module.functions[callee];
                let is_there = function.body.is_some() || function.linkage == Linkage::Imported;
                if is_there || !reported.insert(callee) {
                    continue;
                }
                let (name, declared) = (self.name_of(callee), self.module.functions[callee].span);
                self.report(
                    Diagnostic::new(function_code, span, format!("`{name}` is called but not defined"))
                        .also(declared, "it is only declared here"),
                );
            }
            for &(global, span) in &found.globals {
                let entry = &self.module.globals[global];
                let Some(name) = entry.name else { continue };
                let is_there = self.defined.contains(&global) || entry.linkage == Linkage::Imported;
                if is_there || !told_globals.insert(global) {
                    continue;
                }
                let (name, declared) = (self.text(name).to_owned(), entry.span);
                self.report(
                    Diagnostic::new(variable_code, span, format!("`{name}` is used but not defined"))
                        .also(declared, "it is only declared here"),
                );
            }
        }
    }

    /// The kernels, the functions that other parts may call, and all their callees.
    fn reached(&self) -> FxHashSet<FunctionId> {
        let is_root =
            |function: &Function| function.kernel.is_some() || function.linkage == Linkage::Exported;
        let roots = self.module.functions.entries().filter(|(_, function)| is_root(function));
        let mut work: Vec<FunctionId> = roots.map(|(id, _)| id).collect();
        let mut reached: FxHashSet<FunctionId> = work.iter().copied().collect();
        while let Some(function) = work.pop() {
            for (callee, _) in self.uses[function].functions() {
                if reached.insert(callee) {
                    work.push(callee);
                }
            }
        }
        reached
    }

    /// Removes the bodies of functions that no kernel reaches and that use undefined names, directly or through
    /// calls.
    fn drop_incomplete(&mut self, reached: &FxHashSet<FunctionId>) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for (id, found) in self.uses.entries().filter(|(id, _)| !reached.contains(id)) {
                if self.module.functions[id].body.is_some() && self.uses_undefined(found) {
                    self.module.functions[id].body = None;
                    again = true;
                }
            }
        }
    }

    fn uses_undefined(&self, found: &Uses) -> bool {
        let is_imported = |linkage| linkage == Linkage::Imported;
        found.functions().any(|(callee, _)| {
            let function = &self.module.functions[callee];
            function.body.is_none() && !is_imported(function.linkage)
        }) || found.globals.iter().any(|(id, _)| {
            let global = &self.module.globals[*id];
            global.name.is_some() && !self.defined.contains(id) && !is_imported(global.linkage)
        })
    }
}
