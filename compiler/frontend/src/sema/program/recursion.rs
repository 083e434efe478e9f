//! Reports recursion (OpenCL C 6.11.k).

use kiln_session::diag::{Code, Diagnostic};
use kiln_types::index::{Id, Table};
use rustc_hash::FxHashSet;

use super::{Program, uses::Uses};
use crate::hir::FunctionId;

/// The state of Tarjan's algorithm for strongly connected components of the call graph.
struct Components<'g> {
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

impl Program<'_> {
    /// OpenCL C 6.11.k: reports every call between members of a cycle. Enqueuing a block is not a call: a block may
    /// enqueue itself (6.15.19).
    pub(super) fn check_recursion(&mut self) {
        let group = components(self.uses);
        for (caller, found) in self.uses.entries() {
            let mut reported = FxHashSet::default();
            for &(callee, span) in &found.calls {
                if group[caller.index()] != group[callee.index()] || !reported.insert(callee) {
                    continue;
                }
                let is_mutual = caller != callee;
                let (from, to) = (self.name_of(caller), self.name_of(callee));
                let message = if is_mutual {
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
}

/// The component of each function. Two functions of one component call each other recursively.
fn components(uses: &Table<FunctionId, Uses>) -> Vec<usize> {
    let count = uses.len();
    let mut search = Components {
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
            search.visit(function);
        }
    }
    search.group
}

impl Components<'_> {
    /// Visits the calls from one function, with an explicit stack: call chains can be long.
    fn visit(&mut self, start: FunctionId) {
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
