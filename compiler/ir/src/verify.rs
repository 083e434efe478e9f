//! Verifies the invariants that every pass must preserve. Running it after each pass finds the pass that has a bug:
//! 1. every block belongs to one construct, and every instruction to one block;
//! 2. a block ends with a terminator and contains no other;
//! 3. a value is visible at its uses;
//! 4. a terminator refers to an enclosing construct, and leaves `continuing` only by `Next`;
//! 5. arguments and results have the types that the operation documents (`check.rs`);
//! 6. the variables, functions and arguments that an instruction refers to exist.

use std::fmt::Write;

use super::{BlockId, FuncId, Function, Inst, InstId, Module, Op, Type, ValueDef, ValueId, check};
use kiln_types::index::{Id, Table};

/// All problems of a module, one sentence each. Empty if the module is valid.
pub fn verify(module: &Module) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, var) in module.vars.entries() {
        for (offset, target, _) in var.init.iter().flat_map(|init| &init.relocations) {
            if module.vars.get(*target).is_none() || offset + 8 > var.size {
                problems.push(format!("@{}: a relocation refers to a missing object", id.index()));
            }
        }
        if !var.align.is_power_of_two() {
            problems.push(format!("@{}: its alignment is not a power of two", id.index()));
        }
        if var.init.as_ref().is_some_and(|init| init.bytes.len() as u64 > var.size) {
            problems.push(format!("@{}: it is initialized beyond its end", id.index()));
        }
    }
    for id in module.functions.ids() {
        problems.extend(verify_function(module, id));
    }
    problems
}

/// In debug builds, panics if the module is invalid after a stage.
pub fn check_after(module: &Module, stage: &str) {
    if !cfg!(debug_assertions) {
        return;
    }
    let problems = verify(module);
    assert!(problems.is_empty(), "after {stage}:\n{}\n\n{module}", problems.join("\n"));
}

fn verify_function(module: &Module, id: FuncId) -> Vec<String> {
    let function = &module.functions[id];
    let mut verifier = Verifier {
        module,
        function,
        problems: Vec::new(),
        visible: vec![false; function.values.len()],
        seen_blocks: vec![false; function.blocks.len()],
        seen_insts: vec![false; function.insts.len()],
        around: Vec::new(),
    };
    let params = function.params().len();
    if function.kernel.as_ref().is_some_and(|kernel| params != 0 && kernel.arguments.len() != params) {
        verifier.problem(None, "it does not have one argument for each parameter");
    }
    verifier.block(function.body, true);
    verifier.problems
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    problems: Vec<String>,
    visible: Vec<bool>,
    seen_blocks: Vec<bool>,
    seen_insts: Vec<bool>,
    /// The enclosing constructs, outermost first, and whether each is entered through the `continuing` block of a
    /// loop.
    around: Vec<(InstId, bool)>,
}

impl Verifier<'_> {
    fn problem(&mut self, inst: Option<&Inst>, what: &str) {
        let mut text = format!("{}: ", self.function.name);
        if let Some(inst) = inst {
            let types: Vec<String> = inst.args.iter().map(|&arg| self.ty(arg).to_string()).collect();
            let results: Vec<String> = inst.results.iter().map(|&value| self.ty(value).to_string()).collect();
            let _ = write!(text, "{:?} ({}) -> ({}): ", inst.op, types.join(", "), results.join(", "));
        }
        self.problems.push(text + what);
    }

    fn ty(&self, value: ValueId) -> Type {
        self.function.values.get(value).map_or(Type::Sampler, |value| value.ty)
    }

    fn block(&mut self, id: BlockId, may_have_params: bool) {
        let Some(block) = Self::first_visit(&self.function.blocks, &mut self.seen_blocks, id) else {
            return self.problem(None, "a block is missing or belongs to two constructs");
        };
        if !may_have_params && !block.params.is_empty() {
            self.problem(None, "a block has parameters, but no jump passes arguments to it");
        }
        let mut defined = Vec::new();
        self.define(&block.params, &mut defined, |index| ValueDef::Param(id, index));
        for (index, &inst) in block.insts.iter().enumerate() {
            self.inst(inst, index + 1 == block.insts.len(), &mut defined);
        }
        if block.insts.is_empty() {
            self.problem(None, "a block has no terminator");
        }
        for value in defined {
            self.visible[value.index()] = false;
        }
    }

    /// Returns the entry, unless it was visited before.
    fn first_visit<'t, I: Id, T>(table: &'t Table<I, T>, seen: &mut [bool], id: I) -> Option<&'t T> {
        let entry = table.get(id)?;
        (!std::mem::replace(&mut seen[id.index()], true)).then_some(entry)
    }

    fn define(&mut self, values: &[ValueId], defined: &mut Vec<ValueId>, def: impl Fn(u32) -> ValueDef) {
        for (index, &value) in values.iter().enumerate() {
            match self.function.values.get(value) {
                Some(entry) if entry.def == def(index as u32) => {
                    self.visible[value.index()] = true;
                    defined.push(value);
                }
                _ => self.problem(None, "the definition of a value is wrong"),
            }
        }
    }

    fn inst(&mut self, id: InstId, is_last: bool, defined: &mut Vec<ValueId>) {
        let Some(inst) = Self::first_visit(&self.function.insts, &mut self.seen_insts, id) else {
            return self.problem(None, "an instruction is missing or occurs twice");
        };
        let mut is_sound = true;
        for &arg in &inst.args {
            is_sound &= match self.function.values.get(arg) {
                Some(value) => matches!(value.def, ValueDef::Const(_)) || self.visible[arg.index()],
                None => false,
            };
        }
        if !is_sound {
            self.problem(Some(inst), "it uses a value that is not visible here");
        }
        if inst.op.is_terminator() != is_last {
            self.problem(Some(inst), "a block must end with its only terminator");
        }
        if let Some(problem) = self.target_problem(&inst.op) {
            self.problem(Some(inst), problem);
        } else if let Some(problem) = check::problem(self.module, self.function, inst) {
            self.problem(Some(inst), problem);
        }
        self.nested(id, &inst.op);
        self.define(&inst.results, defined, |index| ValueDef::Result(id, index));
    }

    fn nested(&mut self, id: InstId, op: &Op) {
        let continuing = match op {
            Op::Loop { continuing, .. } => Some(*continuing),
            _ => None,
        };
        for block in op.blocks() {
            self.around.push((id, continuing == Some(block)));
            self.block(block, continuing.is_some());
            self.around.pop();
        }
    }

    fn target_problem(&self, op: &Op) -> Option<&'static str> {
        let innermost_continuing = self.around.iter().rposition(|(_, is_continuing)| *is_continuing);
        let reachable = &self.around[innermost_continuing.map_or(0, |index| index + 1)..];
        let is_valid = match op {
            Op::Exit(target) => reachable.contains(&(*target, false)),
            Op::Continue(target) => {
                reachable.contains(&(*target, false))
                    && matches!(self.function.insts[*target].op, Op::Loop { .. })
            }
            // `Next` may also leave constructs inside `continuing`.
            Op::Next(target) => {
                innermost_continuing.is_some_and(|index| self.around[index] == (*target, true))
            }
            Op::Return => innermost_continuing.is_none(),
            _ => true,
        };
        (!is_valid).then_some("its target is not an enclosing construct, or not reachable from here")
    }
}
