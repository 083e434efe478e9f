//! Puts the body of every function in the place of each call, until only kernels are left. The language has no
//! recursion, so this ends.

use rustc_hash::FxHashMap;

use crate::{
    diag::Sink,
    index::Table,
    ir::{BlockId, Case, Function, InstId, Module, Op, Value, ValueDef, ValueId, VarId},
    session::Options,
};

pub(super) fn inline_calls(module: &mut Module, _: &Options, _: &mut Sink) {
    inline_all(module);
    let mut kernels = Table::new();
    for function in module.functions.iter().filter(|function| function.kernel.is_some()) {
        kernels.push(function.clone());
    }
    module.functions = kernels;
}

/// Leaves no calls, but the functions.
pub(super) fn inline_all(module: &mut Module) {
    for id in module.callees_first() {
        let mut function = module.functions[id].clone();
        for call in function.inst_order() {
            // Callees come first, so that what is put in has no calls itself.
            if let Op::Call(callee) = function.insts[call].op {
                inline(&mut function, call, &module.functions[callee]);
            }
        }
        module.functions[id] = function;
    }
}

/// The call becomes a block whose results are the callee's, and `Return` the way out of it.
fn inline(function: &mut Function, call: InstId, callee: &Function) {
    let arguments = function.insts[call].args.clone();
    let values = callee.params().iter().copied().zip(arguments).collect();
    let mut copy =
        Copy { function, callee, call, values, vars: FxHashMap::default(), insts: FxHashMap::default() };
    let body = copy.block(callee.body);
    let inst = &mut function.insts[call];
    inst.op = Op::Block(body);
    inst.args.clear();
}

/// A copy of a function's body under way, with the new name of each thing copied.
struct Copy<'a> {
    function: &'a mut Function,
    callee: &'a Function,
    call: InstId,
    values: FxHashMap<ValueId, ValueId>,
    vars: FxHashMap<VarId, VarId>,
    insts: FxHashMap<InstId, InstId>,
}

impl Copy<'_> {
    fn block(&mut self, from: BlockId) -> BlockId {
        let source = &self.callee.blocks[from];
        let is_body = from == self.callee.body;
        let to = self.function.add_block(&[]);
        for &param in source.params.iter().filter(|_| !is_body) {
            let value = self.function.add_param(to, self.callee.ty(param));
            self.values.insert(param, value);
        }
        for &inst in &source.insts {
            let copy = self.inst(inst);
            self.function.blocks[to].insts.push(copy);
        }
        to
    }

    fn inst(&mut self, from: InstId) -> InstId {
        let source = &self.callee.insts[from];
        let args: Vec<ValueId> = source.args.iter().map(|&arg| self.value(arg)).collect();
        let types: Vec<_> = source.results.iter().map(|&result| self.callee.ty(result)).collect();
        let to = self.function.add_inst(Op::Unreachable, &args, &types, source.span);
        self.insts.insert(from, to);
        for (&result, &copy) in source.results.iter().zip(&self.function.insts[to].results) {
            self.values.insert(result, copy);
        }
        let op = self.op(&source.op);
        self.function.insts[to].op = op;
        to
    }

    fn op(&mut self, op: &Op) -> Op {
        match op {
            Op::Return => Op::Exit(self.call),
            Op::Exit(target) => Op::Exit(self.insts[target]),
            Op::Continue(target) => Op::Continue(self.insts[target]),
            Op::Next(target) => Op::Next(self.insts[target]),
            Op::If { then, otherwise } => {
                Op::If { then: self.block(*then), otherwise: self.block(*otherwise) }
            }
            Op::Loop { body, continuing, hints } => {
                Op::Loop { body: self.block(*body), continuing: self.block(*continuing), hints: *hints }
            }
            Op::Switch { cases, default } => Op::Switch {
                cases: cases
                    .iter()
                    .map(|case| Case { values: case.values.clone(), block: self.block(case.block) })
                    .collect(),
                default: self.block(*default),
            },
            Op::Block(block) => Op::Block(self.block(*block)),
            Op::PrivateVar(var) => Op::PrivateVar(self.var(*var)),
            other => other.clone(),
        }
    }

    fn var(&mut self, from: VarId) -> VarId {
        let Self { function, callee, vars, .. } = self;
        *vars.entry(from).or_insert_with(|| function.vars.push(callee.vars[from].clone()))
    }

    fn value(&mut self, from: ValueId) -> ValueId {
        let Self { function, callee, values, .. } = self;
        *values.entry(from).or_insert_with(|| {
            let Value { ty, def } = callee.values[from].clone();
            debug_assert!(matches!(def, ValueDef::Const(_)), "every other value is copied before its use");
            function.values.push(Value { ty, def })
        })
    }
}
