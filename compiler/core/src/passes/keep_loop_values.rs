//! Values with which loops are left stay what they were when the work-item left.
//!
//! Software drivers run the work-items of a sub-group in lockstep and mask those that have left a loop. lavapipe (Mesa
//! up to 23.2) and SwiftShader mask accesses to memory and values that join, but compute all else again in every
//! round: what follows from something loaded becomes another value, as the masked load gives zero. A value that joins
//! is kept, so such values leave by one of two ways: by the other they would be zero. The two are not made one again
//! because something is stored on the other, which nobody goes.
//!
//! Late, because other passes make loops.

use rustc_hash::FxHashMap;

use crate::{
    diag::Sink,
    hir::CompareOp,
    ir::{
        Access, BlockId, Builder, CompareKind, Function, Input, Inst, InstId, Module, Op, OpenIf, Scalar,
        Type, ValueId,
    },
    session::Options,
    target::Driver,
};

pub(super) fn keep_loop_values(module: &mut Module, options: &Options, _: &mut Sink) {
    if options.target.driver == Driver::Hardware {
        return;
    }
    let address =
        if options.target.features.int64 { Type::Scalar(Scalar::I64) } else { Type::Vector(Scalar::I32, 2) };
    for function in module.functions.iter_mut() {
        let mut search =
            Search { function, fleeting: FxHashMap::default(), loops: Vec::new(), exits: Vec::new() };
        search.block(function.body);
        let exits = search.exits;
        let mut builder = Builder::new(function);
        for (block, exit, values) in exits {
            keep(&mut builder, address, block, exit, &values);
        }
    }
}

/// Looks for what a later round may change.
struct Search<'f> {
    function: &'f Function,
    /// Values that follow from more than what joins, and in how many loops that is made.
    fleeting: FxHashMap<ValueId, usize>,
    /// The loops around.
    loops: Vec<InstId>,
    /// Exits from loops that carry such values: where, and which.
    exits: Vec<(BlockId, InstId, Vec<ValueId>)>,
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) {
        for &id in &self.function.blocks[block].insts {
            let inst = &self.function.insts[id];
            let is_loop = matches!(inst.op, Op::Loop { .. });
            if is_loop {
                self.loops.push(id);
            }
            for nested in inst.op.blocks() {
                self.block(nested);
            }
            if let Op::Exit(target) = inst.op {
                self.exit(block, id, target);
            } else if is_loop {
                // What is kept at the exits is what comes out.
                self.loops.pop();
            } else {
                let made_in = match inst.op.is_pure() {
                    true => inst.args.iter().filter_map(|arg| self.fleeting.get(arg).copied()).max(),
                    false => Some(self.loops.len()),
                };
                // What is made outside of all loops is not made again.
                if let Some(made_in) = made_in.filter(|&it| it > 0) {
                    self.fleeting.extend(inst.results.iter().map(|&result| (result, made_in)));
                }
            }
        }
    }

    fn exit(&mut self, block: BlockId, id: InstId, target: InstId) {
        let Some(outside) = self.loops.iter().position(|&it| it == target) else { return };
        let mut values: Vec<ValueId> =
            self.function.insts[id].args.iter().copied().filter(|&it| self.is_lost(it, outside)).collect();
        values.sort_unstable();
        values.dedup();
        if !values.is_empty() {
            self.exits.push((block, id, values));
        }
    }

    /// Of pointers to local memory there is no zero; few come from memory.
    fn is_lost(&self, value: ValueId, outside: usize) -> bool {
        self.fleeting.get(&value).is_some_and(|&made_in| made_in > outside)
            && matches!(self.function.ty(value), Type::Scalar(_) | Type::Vector(..))
    }
}

/// Makes two ways of an exit.
fn keep(builder: &mut Builder<'_>, address: Type, block: BlockId, exit: InstId, values: &[ValueId]) {
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

/// A choice of which nobody takes the first way, on which something is stored.
fn open_choice(builder: &mut Builder<'_>, address: Type, before: InstId, results: &[Type]) -> OpenIf {
    builder.span = builder.function.insts[before].span;
    let index = builder.value(Op::Input(Input::LocalIndex), &[], Type::I32);
    let nobody = builder.i32(-1);
    let is_nobody = builder.compare(CompareOp::Equal, CompareKind::Unsigned, index, nobody);
    let choice = builder.open_if(is_nobody, results);
    builder.at_end(choice.then);
    let (nowhere, nothing) = (builder.bits(address, 0), builder.i32(0));
    builder.store(nowhere, nothing, Access { is_shared: false, align: 4, is_volatile: false });
    choice
}
