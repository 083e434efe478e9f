//! Merges modules and removes entries. Updates the references in functions and initial values.
//!
//! For modules that no pass has changed: `Module::interface` and `Module::bounds` are empty.

use kiln_types::index::{Id, Table};

use super::{Data, FuncId, Function, Module, Op, VarId};

impl Module {
    /// Appends the objects and functions of another module.
    pub fn append(&mut self, mut other: Self) {
        let (vars, functions) = (self.vars.len(), self.functions.len());
        other.rename(
            |var| VarId::from_index(var.index() + vars),
            |function| FuncId::from_index(function.index() + functions),
        );
        for var in other.vars.iter_mut() {
            self.vars.push(var.clone());
        }
        for function in other.functions.iter_mut() {
            self.functions
                .push(std::mem::replace(function, Function::new(String::new(), &[], None, function.span)));
        }
    }

    /// Keeps only some objects and functions. `vars` and `functions` map each id to a kept one: the id itself, or for a removed
    /// entry, its replacement in all references.
    pub fn retain(
        &mut self,
        vars: impl Fn(VarId) -> VarId,
        functions: impl Fn(FuncId) -> FuncId,
        keeps_var: impl Fn(VarId) -> bool,
        keeps_function: impl Fn(FuncId) -> bool,
    ) {
        let new_vars = new_ids(self.vars.ids(), keeps_var);
        let new_functions = new_ids(self.functions.ids(), keeps_function);
        let mut old_vars = std::mem::take(&mut self.vars);
        let mut old_functions = std::mem::take(&mut self.functions);
        for (var, new) in old_vars.iter_mut().zip(&new_vars) {
            if new.is_some() {
                self.vars.push(var.clone());
            }
        }
        for (function, new) in old_functions.iter_mut().zip(&new_functions) {
            if new.is_some() {
                let empty = Function::new(String::new(), &[], None, function.span);
                self.functions.push(std::mem::replace(function, empty));
            }
        }
        // References to removed entries are unchanged, so that the verifier reports them.
        self.rename(
            |var| new_vars.get(vars(var).index()).copied().flatten().unwrap_or(var),
            |function| new_functions.get(functions(function).index()).copied().flatten().unwrap_or(function),
        );
    }

    /// Renames all references to objects and functions of the module.
    fn rename(&mut self, var: impl Fn(VarId) -> VarId, function: impl Fn(FuncId) -> FuncId) {
        for entry in self.vars.iter_mut() {
            let relocations = entry.init.iter_mut().flat_map(|Data { relocations, .. }| relocations);
            relocations.for_each(|(_, target, _)| *target = var(*target));
        }
        for entry in self.functions.iter_mut() {
            entry.objects.iter_mut().for_each(|(_, object)| *object = var(*object));
            for inst in entry.insts.iter_mut() {
                match &mut inst.op {
                    Op::ModuleVar(target) | Op::ElementCount(target) => *target = var(*target),
                    Op::Function(target) | Op::Call(target) => *target = function(*target),
                    _ => {}
                }
            }
        }
    }
}

/// The new ids of the kept entries.
fn new_ids<I: Id>(ids: impl Iterator<Item = I>, keeps: impl Fn(I) -> bool) -> Vec<Option<I>> {
    let mut count = 0;
    ids.map(|id| {
        keeps(id).then(|| {
            count += 1;
            I::from_index(count - 1)
        })
    })
    .collect()
}

impl Function {
    /// The functions that this one refers to, each with the instruction, in program order.
    pub fn callees(&self) -> impl Iterator<Item = (FuncId, super::InstId)> {
        let insts = self.insts_where(|op| matches!(op, Op::Function(_) | Op::Call(_)));
        insts.into_iter().filter_map(|inst| match self.insts[inst].op {
            Op::Function(callee) | Op::Call(callee) => Some((callee, inst)),
            _ => None,
        })
    }
}

/// For each function, whether it is reachable from a root.
pub fn reachable_functions(module: &Module, is_root: impl Fn(&Function) -> bool) -> Table<FuncId, bool> {
    let mut reached: Table<FuncId, bool> = Table::new();
    let mut work = Vec::new();
    for (id, function) in module.functions.entries() {
        reached.push(is_root(function));
        if is_root(function) {
            work.push(id);
        }
    }
    while let Some(id) = work.pop() {
        for (callee, _) in module.functions[id].callees() {
            if !std::mem::replace(&mut reached[callee], true) {
                work.push(callee);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, verify};

    const ONE: &str = r#"var @0 "a" exported global size 8 align 8 init "0000000000000000" relocation 0 @1 4
var @1 "b" imported global size 8 align 4

function #0 "f" exported(%0: i32) -> i32 {
  %1: ptr<global> = module_var @1
  %2: i32 = load align 4 %1
  return %2
}
"#;
    const TWO: &str = r#"var @0 "b" exported global size 8 align 4

function #0 "f" imported(%0: i32) -> i32 {
  unreachable
}

kernel #1 "k"() {
  %0: i32 = call #0 i32 3
  %1: ptr<global> = module_var @0
  store align 4 %1, %0
  return
}
"#;

    #[test]
    fn merging_updates_references() {
        let mut module = parse(ONE).expect("the text is sound");
        module.append(parse(TWO).expect("the text is sound"));
        assert_eq!(verify(&module), Vec::<String>::new());
        let [a, b, shared] = [0, 1, 2].map(VarId::from_index);
        let [f, imported, k] = [0, 1, 2].map(FuncId::from_index);
        assert_eq!((module.vars[a].init.as_ref().unwrap().relocations[0].1, b), (b, b));
        module.retain(
            |var| if var == b { shared } else { var },
            |function| if function == imported { f } else { function },
            |var| var != b,
            |function| function != imported,
        );
        assert_eq!(verify(&module), Vec::<String>::new());
        let text = module.to_string();
        assert!(text.contains("relocation 0 @1 4") && text.contains("call #0 i32 3"), "{text}");
        assert_eq!((module.vars.len(), module.functions.len(), k.index()), (2, 2, 2));
        let reached = reachable_functions(&module, |function| function.kernel.is_some());
        assert!(reached.iter().all(|is_reached| *is_reached));
    }
}
