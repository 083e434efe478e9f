//! Checks that need the whole program: recursion (OpenCL C 6.11.k), and functions and variables that are used but not
//! defined (C99 6.9).

use kiln_session::diag::{Code, Diagnostic};
use kiln_types::index::{Id, Table};
use kiln_vocabulary::opencl::Linkage;
use rustc_hash::FxHashSet;

use super::{Extent, Sema, uses::Uses};
use crate::hir::{Function, FunctionId};

/// The state of Tarjan's algorithm for strongly connected components of the call graph.
struct Circles<'g> {
    uses: &'g Table<FunctionId, Uses>,
    /// The order in which each function was reached, starting at 1.
    order: Vec<usize>,
    /// The earliest function on the stack that each function reaches.
    low: Vec<usize>,
    stack: Vec<FunctionId>,
    is_on_stack: Vec<bool>,
    /// The component of each function.
    group: Vec<usize>,
    reached: usize,
    groups: usize,
}

impl Sema<'_> {
    /// Checks the whole program. Returns what its functions use.
    pub(super) fn check_whole_program(&mut self, extent: Extent) -> Table<FunctionId, Uses> {
        let mut uses: Table<FunctionId, Uses> = Table::new();
        for (id, function) in self.module.functions.entries() {
            let body = function.body.as_deref().unwrap_or_default();
            uses.push(self.uses.remove(&id).unwrap_or_else(|| Uses::of(function, body)));
        }
        self.check_recursion(&uses);
        self.settle_linkage(extent);
        self.check_definitions(&uses, extent);
        uses
    }

    /// Finalizes linkage. Until now, all external functions and objects were treated as definitions for other
    /// modules.
    fn settle_linkage(&mut self, extent: Extent) {
        let settled = |linkage, is_defined| match (linkage, extent) {
            (Linkage::Internal, _) | (_, Extent::Program | Extent::Source) => Linkage::Internal,
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

    /// OpenCL C 6.11.k: reports every call between members of a cycle. Enqueuing a block is not a call: a block may
    /// enqueue itself (6.15.19).
    fn check_recursion(&mut self, uses: &Table<FunctionId, Uses>) {
        let group = circles(uses);
        for (caller, found) in uses.entries() {
            let mut told = FxHashSet::default();
            for &(callee, span) in &found.calls {
                if group[caller.index()] != group[callee.index()] || !told.insert(callee) {
                    continue;
                }
                let is_circle = caller != callee;
                let (from, to) = (self.name_of(caller), self.name_of(callee));
                let message = if is_circle {
                    format!("`{from}` calls `{to}`, which calls `{from}` again")
                } else {
                    format!("`{from}` calls itself")
                };
                self.report(
                    Diagnostic::new(Code::Recursion, span, message)
                        .help("use a loop, with an array as the stack if one is needed")
                        .note("OpenCL C 6.11.k: recursion is not supported"),
                );
            }
        }
    }

    /// Reports undefined functions and variables that a kernel uses: a program is one translation unit, unless it is
    /// compiled in parts. For a source that is only checked, this is a warning. Functions that no kernel reaches may
    /// use undefined names, as in a source that is part of a larger program. They lose their bodies.
    fn check_definitions(&mut self, uses: &Table<FunctionId, Uses>, extent: Extent) {
        let mut told = FxHashSet::default();
        let mut told_globals = FxHashSet::default();
        let reached = self.reached(uses);
        self.drop_incomplete(uses, &reached);
        let (function_code, variable_code) = match extent {
            Extent::Program | Extent::Part => (Code::UndefinedFunction, Code::UndefinedVariable),
            Extent::Source => (Code::ExternalDefinition, Code::ExternalDefinition),
        };
        for (_, found) in uses.entries().filter(|(id, _)| reached.contains(id)) {
            for (callee, span) in found.functions() {
                let function = &self.module.functions[callee];
                let is_there = function.body.is_some() || function.linkage == Linkage::Imported;
                if is_there || !told.insert(callee) {
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
    fn reached(&self, uses: &Table<FunctionId, Uses>) -> FxHashSet<FunctionId> {
        let is_root =
            |function: &Function| function.kernel.is_some() || function.linkage == Linkage::Exported;
        let roots = self.module.functions.entries().filter(|(_, function)| is_root(function));
        let mut work: Vec<FunctionId> = roots.map(|(id, _)| id).collect();
        let mut reached: FxHashSet<FunctionId> = work.iter().copied().collect();
        while let Some(function) = work.pop() {
            for (callee, _) in uses[function].functions() {
                if reached.insert(callee) {
                    work.push(callee);
                }
            }
        }
        reached
    }

    /// Removes the bodies of functions that no kernel reaches and that use undefined names, directly or through
    /// calls.
    fn drop_incomplete(&mut self, uses: &Table<FunctionId, Uses>, reached: &FxHashSet<FunctionId>) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for (id, found) in uses.entries().filter(|(id, _)| !reached.contains(id)) {
                if self.module.functions[id].body.is_some() && self.uses_what_is_missing(found) {
                    self.module.functions[id].body = None;
                    again = true;
                }
            }
        }
    }

    fn uses_what_is_missing(&self, found: &Uses) -> bool {
        let is_imported = |linkage| linkage == Linkage::Imported;
        found.functions().any(|(callee, _)| {
            let function = &self.module.functions[callee];
            function.body.is_none() && !is_imported(function.linkage)
        }) || found.globals.iter().any(|(id, _)| {
            let global = &self.module.globals[*id];
            global.name.is_some() && !self.defined.contains(id) && !is_imported(global.linkage)
        })
    }

    fn name_of(&self, function: FunctionId) -> String {
        self.text(self.module.functions[function].name).to_owned()
    }
}

/// The component of each function. Two functions of one component call each other recursively.
fn circles(uses: &Table<FunctionId, Uses>) -> Vec<usize> {
    let count = uses.len();
    let mut search = Circles {
        uses,
        order: vec![0; count],
        low: vec![0; count],
        stack: Vec::new(),
        is_on_stack: vec![false; count],
        group: vec![0; count],
        reached: 0,
        groups: 0,
    };
    for function in uses.ids() {
        if search.order[function.index()] == 0 {
            search.from(function);
        }
    }
    search.group
}

impl Circles<'_> {
    /// Visits the calls from one function, with an explicit stack: call chains can be long.
    fn from(&mut self, start: FunctionId) {
        let mut work = vec![(start, 0)];
        self.enter(start);
        while let Some(&mut (caller, ref mut next)) = work.last_mut() {
            let call = self.uses[caller].calls.get(*next).map(|call| call.0);
            *next += 1;
            match call {
                Some(callee) if self.order[callee.index()] == 0 => {
                    self.enter(callee);
                    work.push((callee, 0));
                }
                Some(callee) if self.is_on_stack[callee.index()] => {
                    let order = self.order[callee.index()];
                    let low = &mut self.low[caller.index()];
                    *low = (*low).min(order);
                }
                Some(_) => {}
                None => {
                    self.leave(caller);
                    work.pop();
                    if let Some(&(outer, _)) = work.last() {
                        let inner = self.low[caller.index()];
                        let low = &mut self.low[outer.index()];
                        *low = (*low).min(inner);
                    }
                }
            }
        }
    }

    fn enter(&mut self, function: FunctionId) {
        self.reached += 1;
        self.order[function.index()] = self.reached;
        self.low[function.index()] = self.reached;
        self.is_on_stack[function.index()] = true;
        self.stack.push(function);
    }

    /// Completes the component of a function that reaches no earlier one. A component with one function is recursive
    /// only if the function calls itself, which is checked at the call.
    fn leave(&mut self, function: FunctionId) {
        if self.low[function.index()] != self.order[function.index()] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.is_on_stack[member.index()] = false;
            self.group[member.index()] = self.groups;
            if member == function {
                break;
            }
        }
        self.groups += 1;
    }
}
