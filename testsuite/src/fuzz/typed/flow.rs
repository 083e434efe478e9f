//! Changes of the control flow. The instructions OpPhi follow the edges.

use rspirv::{
    dr::{Block, Function, Instruction, Operand},
    spirv::{Op, Word},
};

use super::{At, Mutant, id_of};

/// Whether it ends a block, or is the merge instruction before that.
pub(super) fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::SelectionMerge
            | Op::LoopMerge
    )
}

/// The operands of the last instruction that are targets.
fn targets(block: &Block) -> Vec<usize> {
    let Some(last) = block.instructions.last() else { return Vec::new() };
    let ids = (0..last.operands.len()).filter(|&it| id_of(&last.operands[it]).is_some());
    match last.class.opcode {
        Op::Branch => ids.collect(),
        // The first operand is the condition or the selector.
        Op::BranchConditional | Op::Switch => ids.skip(1).collect(),
        _ => Vec::new(),
    }
}

fn successors(block: &Block) -> Vec<Word> {
    let last = block.instructions.last();
    targets(block).into_iter().filter_map(|it| id_of(&last?.operands[it])).collect()
}

fn label(function: &Function, block: usize) -> Option<Word> {
    function.blocks[block].label.as_ref()?.result_id
}

impl Mutant<'_> {
    /// The block of a random position, and the label of another that is not the first.
    fn edge(&mut self) -> Option<(At, Word)> {
        let at = self.position()?;
        let count = self.module.functions[at.function].blocks.len();
        let target = 1 + self.random.below(count.checked_sub(1).filter(|it| *it > 0)?);
        Some((at, label(&self.module.functions[at.function], target)?))
    }

    /// Redirects an edge to another block.
    pub(super) fn redirect_edge(&mut self) {
        let Some((at, label)) = self.edge() else { return };
        let block = &mut self.module.functions[at.function].blocks[at.block];
        let targets = targets(block);
        if let (false, Some(last)) = (targets.is_empty(), block.instructions.last_mut()) {
            last.operands[*self.random.pick(&targets)] = Operand::IdRef(label);
            self.update_phis(at.function);
        }
    }

    /// Makes a branch conditional, or ends a block with a branch.
    pub(super) fn add_edge(&mut self) {
        let Some((at, label)) = self.edge() else { return };
        let block = &self.module.functions[at.function].blocks[at.block];
        let end = At { index: block.instructions.len(), ..at };
        let other = successors(block);
        let is_branch = block.instructions.last().is_some_and(|it| it.class.opcode == Op::Branch);
        let last = match (is_branch, self.types.with_text("TypeBool"), self.types.with_text("TypeInt(32)(0)"))
        {
            (true, Some(ty), _) if self.random.below(3) != 0 => {
                let condition = self.value(ty, end);
                let targets = if self.random.below(2) == 0 { [label, other[0]] } else { [other[0], label] };
                Instruction::new(
                    Op::BranchConditional,
                    None,
                    None,
                    [condition, targets[0], targets[1]].map(Operand::IdRef).to_vec(),
                )
            }
            (true, _, Some(ty)) => {
                let selector = self.value(ty, end);
                let number = Operand::LiteralBit32(self.random.below(4) as u32);
                let operands =
                    vec![Operand::IdRef(selector), Operand::IdRef(other[0]), number, Operand::IdRef(label)];
                Instruction::new(Op::Switch, None, None, operands)
            }
            _ => Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(label)]),
        };
        let block = &mut self.module.functions[at.function].blocks[at.block];
        block.instructions.pop();
        block.instructions.push(last);
        self.update_phis(at.function);
    }

    /// Splits a block in two, or swaps two blocks.
    pub(super) fn split_block(&mut self) {
        let Some(at) = self.position() else { return };
        let count = self.module.functions[at.function].blocks.len();
        if at.block > 0 && self.random.below(4) == 0 {
            let other = 1 + self.random.below(count - 1);
            self.module.functions[at.function].blocks.swap(at.block, other);
            return;
        }
        let id = self.fresh();
        let function = &mut self.module.functions[at.function];
        let Some(old) = label(function, at.block) else { return };
        let block = &mut function.blocks[at.block];
        let is_movable = |it: &Instruction| !matches!(it.class.opcode, Op::Phi | Op::Variable);
        let merge = block.instructions.iter().position(|it| is_terminator(it.class.opcode)).unwrap_or(0);
        let index = at.index.min(merge);
        if !block.instructions[index..].iter().all(is_movable) {
            return;
        }
        let rest = block.instructions.split_off(index);
        block.instructions.push(Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(id)]));
        let label = Instruction::new(Op::Label, None, Some(id), Vec::new());
        function.blocks.insert(at.block + 1, Block { label: Some(label), instructions: rest });
        for phi in function.blocks.iter_mut().flat_map(|it| &mut it.instructions) {
            if phi.class.opcode == Op::Phi {
                for parent in phi.operands.iter_mut().skip(1).step_by(2) {
                    if id_of(parent) == Some(old) {
                        *parent = Operand::IdRef(id);
                    }
                }
            }
        }
    }

    /// Removes the values of edges that are gone, and adds values for new ones.
    fn update_phis(&mut self, function: usize) {
        let blocks = &self.module.functions[function].blocks;
        let edges: Vec<(Word, Vec<Word>)> = blocks
            .iter()
            .filter_map(|block| Some((block.label.as_ref()?.result_id?, successors(block))))
            .collect();
        for number in 0..edges.len() {
            let label = edges[number].0;
            let parents: Vec<Word> = edges
                .iter()
                .filter(|(_, targets)| targets.contains(&label))
                .map(|(parent, _)| *parent)
                .collect();
            let count = self.module.functions[function].blocks[number].instructions.len();
            for index in 0..count {
                let at = At { function, block: number, index };
                let phi = self.instruction(at).clone();
                let (Op::Phi, Some(ty)) = (phi.class.opcode, phi.result_type) else { continue };
                let mut operands = Vec::new();
                for &parent in &parents {
                    let pairs = phi.operands.chunks(2);
                    let mut known =
                        pairs.filter(|pair| id_of(&pair[1]) == Some(parent)).map(|pair| pair[0].clone());
                    let value = known.next_back().unwrap_or_else(|| Operand::IdRef(self.constant(ty)));
                    operands.extend([value, Operand::IdRef(parent)]);
                }
                self.instruction(at).operands = operands;
            }
        }
    }
}
