//! Freezes loop-exit values, for the driver bug `freeze_loop_exit_values`.
//!
//! Works around lockstep drivers (lavapipe <= 23.2, SwiftShader) that recompute loop-exit values after a lane left. They
//! run the lanes of a sub-group together. They mask memory accesses and block parameters of lanes that have left a loop,
//! but recompute all other values in every iteration. A value that depends on a load then changes, because the masked
//! load gives zero. So does a value that depends on a block parameter whose register already contains the next value
//! when the lane leaves (`registers`). Only the parameters of the enclosing loops are certain to stay block parameters in
//! the driver's code: it turns selections into `select`, folds conditions and unrolls loops.
//!
//! This pass duplicates the exit that passes such a value; the copy passes zero. No lane takes the copy, but the driver
//! cannot merge both exits, because the copy contains a store. So the value becomes a block parameter.
//!
//! Runs late, because other passes create loops.

mod registers;

use kiln_ir::{
    Access, BlockId, Builder, CompareKind, Function, Input, Inst, InstId, Op, OpenIf, Scalar, Type, ValueDef,
    ValueId,
};
use kiln_session::Options;
use kiln_types::ops::CompareOp;
use rustc_hash::FxHashSet;

use self::registers::{Position, Registers};
use super::block_params::BlockParams;

pub(super) fn freeze_loop_exit_values(function: &mut Function, options: &Options) {
    let address =
        if options.target.features.int64 { Type::Scalar(Scalar::I64) } else { Type::Vector(Scalar::I32, 2) };
    let order = function.inst_order();
    if !order.iter().any(|&id| matches!(function.insts[id].op, Op::Loop { .. })) {
        return;
    }
    let block_params = BlockParams::find(function);
    let mut search = Search {
        function,
        registers: Registers::find(function, &block_params),
        block_params,
        loops: Vec::new(),
        frozen: FxHashSet::default(),
        exits: Vec::new(),
    };
    search.block(function.body);
    let exits = search.exits;
    let mut builder = Builder::new(function);
    for (block, exit, values) in exits {
        freeze_values(&mut builder, address, block, exit, &values);
    }
}

/// Finds values that a later iteration may change.
struct Search<'f> {
    function: &'f Function,
    block_params: BlockParams,
    registers: Registers,
    /// The enclosing loops.
    loops: Vec<InstId>,
    /// Loop results that will get two exits.
    frozen: FxHashSet<ValueId>,
    /// The exits to change: block, instruction and values.
    exits: Vec<(BlockId, InstId, Vec<ValueId>)>,
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) {
        for &id in &self.function.blocks[block].insts {
            let op = &self.function.insts[id].op;
            let is_loop = matches!(op, Op::Loop { .. });
            if is_loop {
                self.loops.push(id);
            }
            for nested in op.blocks() {
                self.block(nested);
            }
            if is_loop {
                self.loops.pop();
            }
            match *op {
                Op::Exit(target) if self.loops.contains(&target) => self.record_exit(block, id, Some(target)),
                Op::Return if !self.loops.is_empty() => self.record_exit(block, id, None),
                _ => {}
            }
        }
    }

    /// An exit from a loop, or from the function.
    fn record_exit(&mut self, block: BlockId, id: InstId, left: Option<InstId>) {
        let inst = &self.function.insts[id];
        // Pointers to local memory have no zero value. They are rarely loaded from memory.
        let is_number = |it: ValueId| matches!(self.function.ty(it), Type::Scalar(_) | Type::Vector(..));
        let args = inst.args.iter().copied();
        let mut values: Vec<ValueId> =
            args.filter(|&it| is_number(it) && self.is_recomputed_after_exit(it, id, left)).collect();
        if let Some(left) = left {
            let results = self.function.insts[left].results.iter().zip(&inst.args);
            self.frozen.extend(results.filter(|(_, arg)| values.contains(arg)).map(|(&result, _)| result));
        }
        values.sort_unstable();
        values.dedup();
        if !values.is_empty() {
            self.exits.push((block, id, values));
        }
    }

    /// Whether the driver may recompute the value in an iteration after this exit with different operands.
    fn is_recomputed_after_exit(&self, value: ValueId, exit: InstId, left: Option<InstId>) -> bool {
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            let Some(since) = self.live_since(value, left) else { continue };
            match (self.block_params.construct(self.function, value), &self.function.values[value].def) {
                (Some(construct), _) => {
                    let is_frozen = self.frozen.contains(&value);
                    if let Some(source) = self.only_source(value).filter(|_| !is_frozen) {
                        pending.push(source);
                        continue;
                    }
                    if self.registers.next_write(value, since) < self.registers.begin(exit) {
                        return true;
                    }
                    if !is_frozen && !self.loops.contains(&construct) {
                        pending.extend(self.block_params.sources(self.function, value));
                        self.push_condition_operands(construct, &mut pending);
                    }
                }
                (None, &ValueDef::Result(id, _)) => {
                    let inst = &self.function.insts[id];
                    if !inst.op.is_pure() {
                        return true;
                    }
                    pending.extend(&inst.args);
                }
                (None, _) => {}
            }
        }
        false
    }

    /// The position since which a value is not recomputed before the exit. `None` if it is defined outside the loop.
    fn live_since(&self, value: ValueId, left: Option<InstId>) -> Option<Position> {
        let mut around = self.defining_loop(value);
        let mut since = around.map(|_| self.registers.definition(self.function, value))?;
        while around != left {
            let inner = around?;
            if !self.loops.contains(&inner) {
                since = self.registers.end(inner);
            }
            around = self.registers.loop_around(inner);
        }
        Some(since)
    }

    /// Pushes the operands that determine the result of a choice.
    fn push_condition_operands(&self, choice: InstId, pending: &mut Vec<ValueId>) {
        let inst = &self.function.insts[choice];
        pending.extend(&inst.args);
        for nested in inst.op.blocks() {
            for &id in &self.function.blocks[nested].insts {
                if self.function.insts[id].op.is_construct() {
                    self.push_condition_operands(id, pending);
                }
            }
        }
    }

    /// The innermost loop that contains the definition of a value.
    fn defining_loop(&self, value: ValueId) -> Option<InstId> {
        match self.function.values[value].def {
            ValueDef::Result(id, _) => self.registers.loop_around(id),
            ValueDef::Param(..) => self.block_params.construct(self.function, value),
            ValueDef::Const(_) => None,
        }
    }

    /// The only value that a block parameter or construct result receives.
    fn only_source(&self, value: ValueId) -> Option<ValueId> {
        let mut sources = self.block_params.sources(self.function, value).filter(|&it| it != value);
        let first = sources.next()?;
        sources.all(|it| it == first).then_some(first)
    }
}

/// Duplicates an exit.
fn freeze_values(builder: &mut Builder<'_>, address: Type, block: BlockId, exit: InstId, values: &[ValueId]) {
    let at = builder.function.blocks[block].insts.len() - 1;
    builder.at(block, at);
    let choice = open_choice(builder, address, exit, &[]);
    let Inst { op, args, .. } = builder.function.insts[exit].clone();
    builder.at_end(choice.then);
    let zeros: Vec<ValueId> = args
        .iter()
        .map(|&arg| if values.contains(&arg) { builder.bits(builder.ty(arg), 0) } else { arg })
        .collect();
    builder.inst(op.clone(), &zeros, &[]);
    builder.at_end(choice.otherwise);
    builder.inst(op, &args, &[]);
    builder.function.insts[exit].op = Op::Unreachable;
    builder.function.insts[exit].args.clear();
}

/// An `if` whose first branch is never taken and contains a store.
fn open_choice(builder: &mut Builder<'_>, address: Type, before: InstId, results: &[Type]) -> OpenIf {
    builder.span = builder.function.insts[before].span;
    let index = builder.value(Op::Input(Input::LocalIndex), &[], Type::I32);
    let never = builder.i32(-1);
    let is_never = builder.compare(CompareOp::Equal, CompareKind::Unsigned, index, never);
    let choice = builder.open_if(is_never, results);
    builder.at_end(choice.then);
    let (nowhere, zero) = (builder.bits(address, 0), builder.i32(0));
    builder.store(nowhere, zero, Access { is_shared: false, align: 4, is_volatile: false });
    choice
}
