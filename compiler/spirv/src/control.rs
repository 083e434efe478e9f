//! Structured control flow: emits the IR's constructs as basic blocks, merge instructions and phis.

use kiln_ir::{BlockId, Case, Inst, InstId, Op as IrOp, Scalar, Type, ValueId};
use kiln_types::ops::LoopHints;
use rspirv::{
    dr::Operand,
    spirv::{LoopControl, Op, SelectionControl, Word},
};

use super::body::Body;

/// A construct whose blocks are being emitted.
#[derive(Default)]
pub(super) struct Construct {
    /// The merge block: the target of `Exit`.
    merge: Word,
    /// Whether a merge instruction refers to the merge block: the block is then emitted even if no exit reaches it.
    needs_merge: bool,
    /// The blocks that branch there, with their arguments.
    exits: Vec<(Word, Vec<Word>)>,
    /// The continue target of a loop.
    continuing: Word,
    /// The blocks that branch there, with their arguments.
    continues: Vec<(Word, Vec<Word>)>,
    /// The header of a loop (the target of `Next`), and its phis.
    header: Word,
    phis: Vec<Word>,
    /// The number of the header among the blocks of the function.
    header_number: usize,
}

/// An `if` that decides whether a loop continues: one of its blocks only exits the loop, the other only the `if`.
struct LoopTest {
    /// The index of the `if` in the loop's body.
    at: usize,
    inst: InstId,
    /// The block that exits the loop.
    exit_block: BlockId,
    /// The block that stays in the loop.
    continue_block: BlockId,
    /// Whether the true branch exits the loop.
    exits_if_true: bool,
}

impl Body<'_, '_> {
    /// `If`
    pub(super) fn emit_if(&mut self, id: InstId, inst: &Inst, then: BlockId, otherwise: BlockId) {
        let merge = self.open_construct(id);
        let condition = self.value(inst.args[0]);
        let (then_target, else_target) = (self.jump_target(then), self.jump_target(otherwise));
        // A phi cannot distinguish two edges between the same blocks.
        let else_target = else_target.filter(|jump_target| Some(jump_target) != then_target.as_ref());
        let arms =
            [(then, then_target), (otherwise, else_target)].map(|(block, jump_target)| match jump_target {
                Some(_) => (self.add_edge(block), None),
                None => (self.emitter.writer.id(), Some(block)),
            });
        self.selection_merge(merge);
        let labels = arms.iter().map(|(label, _)| *label);
        let operands = std::iter::once(condition).chain(labels).map(Operand::IdRef).collect();
        self.terminate(Op::BranchConditional, operands);
        for (label, block) in arms {
            if let Some(block) = block {
                self.start_labeled(label);
                self.block(block);
            }
        }
        self.close_construct(id, inst);
    }

    /// The jump target of a block that contains only a jump: the construct, and whether the jump is an exit from it.
    fn jump_target(&self, block: BlockId) -> Option<(InstId, bool)> {
        let [only] = self.function.blocks[block].insts[..] else { return None };
        match self.function.insts[only].op {
            IrOp::Exit(target) => Some((target, true)),
            IrOp::Continue(target) => Some((target, false)),
            _ => None,
        }
    }

    /// Records the current basic block as a predecessor of the jump's target, and returns the label there.
    fn add_edge(&mut self, block: BlockId) -> Word {
        let jump = &self.function.insts[self.function.blocks[block].insts[0]];
        match jump.op {
            IrOp::Exit(target) => self.add_exit_edge(target, jump),
            IrOp::Continue(target) => self.add_continue_edge(target, jump),
            _ => unreachable!("`jump_target` returned a jump"),
        }
    }

    /// `Switch`
    pub(super) fn emit_switch(&mut self, id: InstId, inst: &Inst, cases: &[Case], default: BlockId) {
        let merge = self.open_construct(id);
        let selector = self.value(inst.args[0]);
        let is_wide = self.type_of(inst.args[0]) == Type::Scalar(Scalar::I64);
        let labels: Vec<Word> = cases.iter().map(|_| self.emitter.writer.id()).collect();
        let default_label = self.emitter.writer.id();
        let mut operands = vec![Operand::IdRef(selector), Operand::IdRef(default_label)];
        for (case, &label) in cases.iter().zip(&labels) {
            for &value in &case.values {
                operands.push(if is_wide {
                    Operand::LiteralBit64(value)
                } else {
                    Operand::LiteralBit32(value as u32)
                });
                operands.push(Operand::IdRef(label));
            }
        }
        self.selection_merge(merge);
        self.terminate(Op::Switch, operands);
        let blocks = cases.iter().map(|case| case.block).zip(labels);
        for (block, label) in blocks.chain([(default, default_label)]) {
            self.start_labeled(label);
            self.block(block);
        }
        self.close_construct(id, inst);
    }

    /// A block that can be left from anywhere inside. If merges are required, a switch with only a default.
    pub(super) fn emit_block(&mut self, id: InstId, inst: &Inst, block: BlockId) {
        let merge = self.open_construct(id);
        if self.is_vulkan() {
            let zero = self.emitter.u32(0);
            let label = self.emitter.writer.id();
            self.selection_merge(merge);
            self.terminate(Op::Switch, vec![Operand::IdRef(zero), Operand::IdRef(label)]);
            self.start_labeled(label);
        }
        self.block(block);
        self.close_construct(id, inst);
    }

    /// `Loop`
    pub(super) fn emit_loop(
        &mut self,
        id: InstId,
        inst: &Inst,
        (body, continuing): (BlockId, BlockId),
        hints: LoopHints,
    ) {
        let merge = self.open_construct(id);
        let before = self.current();
        let inits: Vec<Word> = inst.args.iter().map(|&arg| self.value(arg)).collect();
        let (header, continue_label) = (self.emitter.writer.id(), self.emitter.writer.id());
        self.terminate(Op::Branch, vec![Operand::IdRef(header)]);

        self.start_labeled(header);
        let header_number = self.block_number();
        let params = self.function.blocks[body].params.clone();
        let mut phis = Vec::new();
        for (&param, &init) in params.iter().zip(&inits) {
            let ty = self.type_of(param);
            let phi = self.op(Op::Phi, ty, vec![Operand::IdRef(init), Operand::IdRef(before)]);
            self.define(param, phi);
            phis.push(phi);
        }
        let construct = self.constructs.entry(id).or_default();
        (construct.header, construct.continuing) = (header, continue_label);
        construct.header_number = header_number;
        construct.phis.clone_from(&phis);
        construct.needs_merge = hints != LoopHints::default();
        let merge_operands = (construct.needs_merge || self.is_vulkan()).then(|| {
            let mut operands = vec![Operand::IdRef(merge), Operand::IdRef(continue_label)];
            operands.extend(loop_control(hints));
            operands
        });
        let first = self.emitter.writer.id();
        let test = self.loop_test(id, body);
        self.in_scope(|this| {
            let insts = &this.function.blocks[body].insts;
            let (head, rest) = insts.split_at(test.as_ref().map_or(0, |test| test.at));
            this.instructions(head);
            let end = test.as_ref().map(|test| this.loop_test_branch(test, first));
            if let Some(operands) = merge_operands {
                this.effect(Op::LoopMerge, operands);
            }
            match end {
                Some(operands) => this.terminate(Op::BranchConditional, operands),
                None => this.terminate(Op::Branch, vec![Operand::IdRef(first)]),
            }
            this.start_labeled(first);
            this.instructions(if test.is_some() { &rest[1..] } else { rest });
        });

        let continues = self.constructs.get_mut(&id).map(|it| std::mem::take(&mut it.continues));
        let continues = continues.unwrap_or_default();
        self.start_labeled(continue_label);
        let params = self.function.blocks[continuing].params.clone();
        self.emit_phis(&params, &continues);
        if continues.is_empty() {
            // Nothing continues the loop: emit the required back edge, which is never taken.
            let undefined: Vec<Word> = phis.iter().zip(&inits).map(|(_, &init)| init).collect();
            self.back_edge(id, &undefined);
        } else {
            self.block(continuing);
        }
        self.close_construct(id, inst);
    }

    /// The `if` at the start of a loop body that decides whether the loop continues. Only computations may precede it; they
    /// and the branch are emitted in the loop header.
    fn loop_test(&self, id: InstId, body: BlockId) -> Option<LoopTest> {
        let function = self.function;
        let insts = &function.blocks[body].insts;
        let at = insts.iter().position(|&inst| function.insts[inst].op.is_construct())?;
        let IrOp::If { then, otherwise } = function.insts[insts[at]].op else { return None };
        let (exit, stay) = ((id, true), (insts[at], true));
        let exits_if_true = match (self.jump_target(then)?, self.jump_target(otherwise)?) {
            targets if targets == (exit, stay) => true,
            targets if targets == (stay, exit) => false,
            _ => return None,
        };
        let (exit_block, continue_block) = if exits_if_true { (then, otherwise) } else { (otherwise, then) };
        Some(LoopTest { at, inst: insts[at], exit_block, continue_block, exits_if_true })
    }

    /// The operands of the branch at the end of a loop header, to the loop exit or to the label `stay`.
    fn loop_test_branch(&mut self, test: &LoopTest, stay: Word) -> Vec<Operand> {
        let function = self.function;
        let inst = &function.insts[test.inst];
        let condition = self.value(inst.args[0]);
        let exit = self.add_edge(test.exit_block);
        let jump = function.blocks[test.continue_block].insts[0];
        for (&result, &value) in inst.results.iter().zip(&function.insts[jump].args) {
            let word = self.value(value);
            self.define(result, word);
        }
        let targets = if test.exits_if_true { [exit, stay] } else { [stay, exit] };
        std::iter::once(condition).chain(targets).map(Operand::IdRef).collect()
    }

    /// `Exit`
    pub(super) fn emit_exit(&mut self, target: InstId, inst: &Inst) {
        let merge = self.add_exit_edge(target, inst);
        self.terminate(Op::Branch, vec![Operand::IdRef(merge)]);
    }

    fn add_exit_edge(&mut self, target: InstId, inst: &Inst) -> Word {
        let values: Vec<Word> = inst.args.iter().map(|&arg| self.value(arg)).collect();
        let from = self.current();
        let construct = self.constructs.entry(target).or_default();
        construct.exits.push((from, values));
        construct.merge
    }

    /// `Continue`
    pub(super) fn emit_continue(&mut self, target: InstId, inst: &Inst) {
        let label = self.add_continue_edge(target, inst);
        self.terminate(Op::Branch, vec![Operand::IdRef(label)]);
    }

    fn add_continue_edge(&mut self, target: InstId, inst: &Inst) -> Word {
        let values: Vec<Word> = inst.args.iter().map(|&arg| self.value(arg)).collect();
        let from = self.current();
        let construct = self.constructs.entry(target).or_default();
        construct.continues.push((from, values));
        construct.continuing
    }

    /// `Next`
    pub(super) fn emit_next(&mut self, target: InstId, inst: &Inst) {
        let values: Vec<Word> = inst.args.iter().map(|&arg| self.value(arg)).collect();
        self.back_edge(target, &values);
    }

    fn back_edge(&mut self, id: InstId, values: &[Word]) {
        let from = self.current();
        let construct = self.constructs.entry(id).or_default();
        let (header, number, phis) = (construct.header, construct.header_number, construct.phis.clone());
        for (phi, &value) in phis.into_iter().zip(values) {
            self.patch(number, phi, vec![Operand::IdRef(value), Operand::IdRef(from)]);
        }
        self.terminate(Op::Branch, vec![Operand::IdRef(header)]);
    }

    fn open_construct(&mut self, id: InstId) -> Word {
        let merge = self.emitter.writer.id();
        self.constructs.insert(id, Construct { merge, ..Construct::default() });
        merge
    }

    /// Emits the merge block, with phis for the results of the construct. The results of an unreachable merge block are unused.
    fn close_construct(&mut self, id: InstId, inst: &Inst) {
        let Construct { merge, needs_merge, exits, .. } = self.constructs.remove(&id).unwrap_or_default();
        if exits.is_empty() && !needs_merge && !self.is_vulkan() {
            return;
        }
        self.start_labeled(merge);
        self.emit_phis(&inst.results, &exits);
        if exits.is_empty() {
            self.terminate(Op::Unreachable, Vec::new());
        }
    }

    /// Emits phis for values from several predecessors.
    fn emit_phis(&mut self, values: &[ValueId], from: &[(Word, Vec<Word>)]) {
        for (index, &value) in values.iter().enumerate() {
            let ty = self.type_of(value);
            let word = match from {
                [] => {
                    let ty = self.emitter.ty(ty);
                    self.emitter.writer.interned(Op::Undef, Some(ty), Vec::new())
                }
                [(_, only)] => only[index],
                _ => {
                    let pairs = from.iter().flat_map(|(label, values)| [values[index], *label]);
                    let operands = pairs.map(Operand::IdRef).collect();
                    self.op(Op::Phi, ty, operands)
                }
            };
            self.define(value, word);
        }
    }

    fn selection_merge(&mut self, merge: Word) {
        if self.is_vulkan() {
            let control = Operand::SelectionControl(SelectionControl::NONE);
            self.effect(Op::SelectionMerge, vec![Operand::IdRef(merge), control]);
        }
    }
}

fn loop_control(hints: LoopHints) -> Vec<Operand> {
    let control = match hints.unroll {
        None => LoopControl::NONE,
        Some(1) => LoopControl::DONT_UNROLL,
        Some(_) => LoopControl::UNROLL,
    };
    vec![Operand::LoopControl(control)]
}
