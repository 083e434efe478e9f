//! Rewrites jumps into forms that SPIR-V's structured control flow allows.
//!
//! An `if` nested in a construct may jump to the end of that construct, and a switch or block in a loop may leave the
//! loop. An `if` may only be left from its own two blocks. Any other exit is split into steps: a private selector
//! variable records the target, the jump leaves the innermost construct, and the selector is tested after it. Runs
//! before `promote`, so that the values that a jump carries can be variables too.

use kiln_ir::{
    Access, BlockId, Builder, CompareKind, Convert, Function, InstId, Op, Type, ValueDef, ValueId, Var, VarId,
};
use kiln_session::Options;
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn structure_exits(function: &mut Function, _: &Options) {
    enclose_ifs(function);
    let body = function.body;
    let mut pass = Pass {
        builder: Builder::new(function),
        around: Vec::new(),
        selectors: FxHashMap::default(),
        carried: FxHashMap::default(),
    };
    pass.rewrite_block(body);
}

/// Wraps every `if` that a nested construct leaves in a block, and makes the jump leave the block instead.
fn enclose_ifs(function: &mut Function) {
    let mut owners: FxHashMap<BlockId, InstId> = FxHashMap::default();
    let mut parents: FxHashMap<InstId, BlockId> = FxHashMap::default();
    let mut exits: Vec<InstId> = Vec::new();
    let mut enclosed: FxHashSet<InstId> = FxHashSet::default();
    for block in function.block_order() {
        for &id in &function.blocks[block].insts {
            let op = &function.insts[id].op;
            owners.extend(op.blocks().into_iter().map(|nested| (nested, id)));
            if op.is_construct() {
                parents.insert(id, block);
            }
            if let Op::Exit(target) = *op {
                exits.push(id);
                if matches!(function.insts[target].op, Op::If { .. }) && owners.get(&block) != Some(&target) {
                    enclosed.insert(target);
                }
            }
        }
    }
    let mut instead: FxHashMap<InstId, InstId> = FxHashMap::default();
    for &id in &enclosed {
        instead.insert(id, wrap_in_block(function, id, parents[&id]));
    }
    for id in exits {
        if let Op::Exit(target) = &mut function.insts[id].op
            && let Some(block) = instead.get(target)
        {
            *target = *block;
        }
    }
}

/// Wraps a construct in a block with the same results.
fn wrap_in_block(function: &mut Function, id: InstId, parent: BlockId) -> InstId {
    let span = function.insts[id].span;
    let inside = function.add_block(&[]);
    let block = function.add_inst(Op::Block(inside), &[], &[], span);
    let end = function.add_inst(Op::Unreachable, &[], &[], span);
    function.insts[block].results = std::mem::take(&mut function.insts[id].results);
    for (number, result) in (0..).zip(function.insts[block].results.clone()) {
        function.values[result].def = ValueDef::Result(block, number);
    }
    function.blocks[inside].insts = vec![id, end];
    let insts = &mut function.blocks[parent].insts;
    let at = insts.iter().position(|&inst| inst == id).expect("a construct is in its block");
    insts[at] = block;
    block
}

#[derive(Clone, Copy, PartialEq)]
enum ConstructKind {
    If,
    Breakable,
    Loop,
}

/// The target of a jump: a construct, and whether its end or its `continuing` block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ExitTarget {
    target: InstId,
    is_exit: bool,
}

/// The selector variable of a construct, and the targets that are dispatched after it, numbered from 1.
struct ExitSelector {
    var: VarId,
    targets: Vec<ExitTarget>,
}

struct Pass<'f> {
    builder: Builder<'f>,
    /// The enclosing constructs, outermost first.
    around: Vec<(InstId, ConstructKind)>,
    selectors: FxHashMap<InstId, ExitSelector>,
    /// The variables for the values that jumps to a target carry.
    carried: FxHashMap<ExitTarget, Vec<(VarId, Type)>>,
}

impl Pass<'_> {
    fn rewrite_block(&mut self, block: BlockId) {
        let mut index = 0;
        while let Some(&id) = self.builder.function.blocks[block].insts.get(index) {
            index += 1;
            let kind = match self.builder.function.insts[id].op {
                Op::If { .. } => ConstructKind::If,
                Op::Switch { .. } | Op::Block(_) => ConstructKind::Breakable,
                Op::Loop { .. } => ConstructKind::Loop,
                Op::Exit(target) => {
                    self.rewrite_jump(block, id, ExitTarget { target, is_exit: true });
                    return;
                }
                Op::Continue(target) => {
                    self.rewrite_jump(block, id, ExitTarget { target, is_exit: false });
                    return;
                }
                _ => continue,
            };
            self.around.push((id, kind));
            for nested in self.builder.function.insts[id].op.blocks() {
                self.rewrite_block(nested);
            }
            self.around.pop();
            if let Some(selector) = self.selectors.remove(&id) {
                self.builder.span = self.builder.function.insts[id].span;
                self.builder.at(block, index - 1);
                let none = self.builder.i32(0);
                self.store_var(selector.var, none);
                // Continue after the construct.
                let (block, at) = self.builder.insertion_point();
                self.builder.at(block, at + 1);
                self.dispatch_on_selector(&selector);
                index = self.builder.insertion_point().1;
            }
        }
    }

    /// After a construct: dispatches on the selector.
    fn dispatch_on_selector(&mut self, selector: &ExitSelector) {
        let (block, at) = self.builder.insertion_point();
        let next = self.builder.function.blocks[block].insts[at];
        let is_left_normally = !matches!(self.builder.function.insts[next].op, Op::Unreachable);
        let selected = self.load_var(selector.var, Type::I32);
        let tested = if is_left_normally { selector.targets.len() } else { selector.targets.len() - 1 };
        for (number, exit_target) in (1..).zip(&selector.targets[..tested]) {
            let number = self.builder.i32(number);
            let is_selected = self.builder.compare(CompareOp::Equal, CompareKind::Unsigned, selected, number);
            let test = self.builder.open_if(is_selected, &[]);
            let (block, at) = self.builder.insertion_point();
            self.builder.at_end(test.otherwise);
            self.builder.exit(test.inst, &[]);
            self.builder.at_end(test.then);
            self.around.push((test.inst, ConstructKind::If));
            self.emit_jump(*exit_target);
            self.around.pop();
            self.builder.at(block, at);
        }
        if let Some(exit_target) = selector.targets.get(tested) {
            let (block, at) = self.builder.insertion_point();
            self.builder.function.blocks[block].insts.truncate(at);
            self.emit_jump(*exit_target);
        }
    }

    /// Rewrites an existing jump.
    fn rewrite_jump(&mut self, block: BlockId, id: InstId, exit_target: ExitTarget) {
        if self.next_construct_to_leave(exit_target).is_none() {
            return;
        }
        self.builder.function.blocks[block].insts.pop();
        self.builder.at_end(block);
        self.builder.span = self.builder.function.insts[id].span;
        let values = self.builder.function.insts[id].args.clone();
        if !self.carried.contains_key(&exit_target) {
            let carried = values.iter().map(|&value| {
                let ty = self.builder.function.ty(value);
                (add_private_var(self.builder.function, "carried", ty), ty)
            });
            let carried = carried.collect();
            self.carried.insert(exit_target, carried);
        }
        for ((var, _), value) in self.carried[&exit_target].clone().into_iter().zip(values) {
            self.store_var(var, value);
        }
        self.emit_jump(exit_target);
    }

    /// Emits a jump whose values are in variables: to the target if that is allowed here, otherwise its first step.
    fn emit_jump(&mut self, exit_target: ExitTarget) {
        let Some(step) = self.next_construct_to_leave(exit_target) else {
            let carried = self.carried.get(&exit_target).cloned().unwrap_or_default();
            let values: Vec<ValueId> = carried.into_iter().map(|(var, ty)| self.load_var(var, ty)).collect();
            match exit_target.is_exit {
                true => self.builder.exit(exit_target.target, &values),
                false => self.builder.continue_loop(exit_target.target, &values),
            }
            return;
        };
        let function = &mut *self.builder.function;
        let selector = self.selectors.entry(step).or_insert_with(|| ExitSelector {
            var: add_private_var(function, "leaving", Type::I32),
            targets: Vec::new(),
        });
        let known = selector.targets.iter().position(|known| *known == exit_target);
        let number = known.unwrap_or_else(|| {
            selector.targets.push(exit_target);
            selector.targets.len() - 1
        });
        let var = selector.var;
        let number = self.builder.i32(number as i32 + 1);
        self.store_var(var, number);
        let results: Vec<Type> =
            self.builder.function.insts[step].results.iter().map(|&result| self.builder.ty(result)).collect();
        let undefined: Vec<ValueId> = results.into_iter().map(|ty| self.builder.undefined(ty)).collect();
        self.builder.exit(step, &undefined);
    }

    /// The construct to leave first, if the jump would cross a construct that it must not cross.
    fn next_construct_to_leave(&self, exit_target: ExitTarget) -> Option<InstId> {
        let position = self.around.iter().rposition(|(id, _)| *id == exit_target.target)?;
        let (_, target) = self.around[position];
        let between = &self.around[position + 1..];
        let is_obstacle = |kind: ConstructKind| match target {
            ConstructKind::Loop => kind == ConstructKind::Loop,
            ConstructKind::Breakable | ConstructKind::If => kind != ConstructKind::If,
        };
        if !between.iter().any(|(_, kind)| is_obstacle(*kind)) {
            return None;
        }
        // The outermost construct that can be left from here.
        let mut step = None;
        for (id, kind) in between.iter().rev().filter(|(_, kind)| *kind != ConstructKind::If) {
            if *kind == ConstructKind::Loop {
                return Some(*id);
            }
            step = step.or(Some(*id));
        }
        step
    }

    fn store_var(&mut self, var: VarId, value: ValueId) {
        let value = match self.builder.ty(value) {
            Type::BOOL => self.builder.convert(Convert::ZeroExtend, value, Type::I32),
            _ => value,
        };
        let access = self.access_to(var);
        let pointer = self.builder.private_var(var);
        self.builder.store(pointer, value, access);
    }

    fn load_var(&mut self, var: VarId, ty: Type) -> ValueId {
        let access = self.access_to(var);
        let pointer = self.builder.private_var(var);
        if ty != Type::BOOL {
            return self.builder.load(pointer, ty, access);
        }
        let (value, zero) = (self.builder.load(pointer, Type::I32, access), self.builder.i32(0));
        self.builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, value, zero)
    }

    fn access_to(&self, var: VarId) -> Access {
        Access { is_shared: false, align: self.builder.function.vars[var].align as u32, is_volatile: false }
    }
}

fn add_private_var(function: &mut Function, name: &str, ty: Type) -> VarId {
    let stored = if ty == Type::BOOL { Type::I32 } else { ty };
    let size = stored.size().unwrap_or(8).next_power_of_two();
    function.vars.push(Var::new(name, AddressSpace::Private, (size, size), function.span))
}
