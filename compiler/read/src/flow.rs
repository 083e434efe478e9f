//! Reads the blocks of a function: its flow graph becomes constructs (`kiln_ir::flow`).
//!
//! An OpPhi is a private object. Each edge to its block stores to it, and its block loads it first. An edge loads all
//! values before it stores one, so the order of the phis does not matter.

use kiln_ir::{
    BlockId, Builder, InstId, Op as IrOp, Type, ValueId, VarId,
    flow::{Code, Graph, Node, NodeEnd, NodeId},
};
use kiln_types::{
    index::{Id as _, Table},
    ops::LoopHints,
};
use rspirv::spirv::{LoopControl, Op};
use rustc_hash::FxHashMap;

use crate::{
    body::{Body, Known, access},
    functions::{Param, ReturnKind},
    problem::{Outcome, Problem},
    words::Instruction,
};

/// A basic block.
#[derive(Debug)]
struct Block<'w> {
    /// Its instructions, with the label and the terminator.
    instructions: &'w [Instruction<'w>],
    /// The labels of its successors, in the order of the graph's edges.
    targets: Vec<u32>,
    /// For OpSwitch: the bits of each successor but the last.
    cases: Vec<Vec<u64>>,
}

/// The private object of an OpPhi.
#[derive(Clone, Copy, Debug)]
enum Merged {
    Value(VarId, Type),
    Object(VarId),
}

/// The blocks of a function by node, and the function's state.
struct Nodes<'b, 'r, 'w, 'f> {
    blocks: Vec<Block<'w>>,
    /// The nodes by label.
    nodes: FxHashMap<u32, usize>,
    /// The objects of the phis by id.
    merged: FxHashMap<u32, Merged>,
    body: &'b mut Body<'r, 'w, 'f>,
}

impl<'w> Body<'_, 'w, '_> {
    /// Reads a function.
    pub(crate) fn read(mut self, instructions: &'w [Instruction<'w>]) -> Outcome<()> {
        let function = &instructions[0];
        self.params(instructions).map_err(|problem| problem.at(function))?;
        self.private_constants(instructions)?;
        let starts: Vec<usize> =
            (0..instructions.len()).filter(|&at| instructions[at].op == Op::Label).collect();
        if starts.is_empty() {
            // A declaration without a body.
            self.builder.unreachable();
            return Ok(());
        }
        let ends = starts.iter().skip(1).copied().chain([instructions.len() - 1]);
        let mut blocks = Vec::new();
        let mut nodes = FxHashMap::default();
        for (&start, end) in starts.iter().zip(ends) {
            nodes.insert(instructions[start].result()?, blocks.len());
            blocks.push(self.block(&instructions[start..end])?);
        }
        let mut shape = Table::new();
        for block in &blocks {
            let targets =
                block.targets.iter().map(|label| nodes.get(label).map(|&node| NodeId::from_index(node)));
            let targets: Option<Vec<NodeId>> = targets.collect();
            let targets =
                targets.ok_or_else(|| Problem::new("a branch leads to another function").at(function))?;
            let is_construct = matches!(
                block.instructions.last().map(|inst| inst.op),
                Some(Op::BranchConditional | Op::Switch)
            ) && targets.len() > 1;
            shape.push(Node::new(targets, is_construct));
        }
        self.is_open = vec![false; self.builder.function.body.index() + 1];
        let body = self.builder.function.body;
        let mut code = Nodes { blocks, nodes, merged: FxHashMap::default(), body: &mut self };
        code.enter(body, false);
        Graph::new(shape, NodeId::from_index(0)).structure(&mut code).map_err(|problem| problem.at(function))
    }

    /// Defines the parameters.
    fn params(&mut self, instructions: &[Instruction<'_>]) -> Outcome<()> {
        let function = &instructions[0];
        let mut values = self.builder.function.params().to_vec().into_iter();
        let result = self.reader.result_kind(function.result_type()?)?;
        self.result = result;
        if let ReturnKind::Memory { .. } = result {
            self.returned = values.next();
        }
        let is_kernel = self.builder.function.kernel.is_some();
        let block = self.builder.function.body;
        for inst in instructions.iter().filter(|inst| inst.op == Op::FunctionParameter) {
            let (id, ty) = (inst.result()?, inst.result_type()?);
            let value = values.next().ok_or_else(|| Problem::new("a parameter is missing"))?;
            let known = match self.reader.param(id, ty)? {
                Param::Value(_) => Known::Value { value, block, slot: None },
                // A structure that is passed as a value does not change.
                Param::Copy { .. } if is_kernel || self.reader.types.is_aggregate(ty) => {
                    Known::Pointee(value)
                }
                Param::Copy { size, align } => {
                    let object = self.object((size, align));
                    let pointer = self.builder.private_var(object);
                    self.copy(pointer, value, size, access(align));
                    Known::Object(object)
                }
            };
            self.known.insert(id, known);
        }
        Ok(())
    }

    /// The successors of a block.
    fn block(&self, instructions: &'w [Instruction<'w>]) -> Outcome<Block<'w>> {
        let end = instructions[instructions.len() - 1];
        let mut cases: Vec<Vec<u64>> = Vec::new();
        let mut targets: Vec<u32> = Vec::new();
        match end.op {
            Op::Branch => targets.push(end.word(0)?),
            Op::BranchConditional => {
                let [then, otherwise] = [end.word(1)?, end.word(2)?];
                targets.push(then);
                if otherwise != then {
                    targets.push(otherwise);
                }
            }
            Op::Switch => {
                let default = end.word(1)?;
                let ty = self.type_of(end.word(0)?).and_then(|ty| self.reader.types.value(ty));
                let words = if ty.map_err(|problem| problem.at(&end))? == Type::I64 { 2 } else { 1 };
                for case in end.words(2).chunks_exact(words + 1) {
                    let bits = case[..words].iter().rev().fold(0, |bits, &word| bits << 32 | u64::from(word));
                    let target = case[words];
                    if target == default {
                        continue;
                    }
                    match targets.iter().position(|known| *known == target) {
                        Some(index) => cases[index].push(bits),
                        None => {
                            targets.push(target);
                            cases.push(vec![bits]);
                        }
                    }
                }
                targets.push(default);
            }
            _ => {}
        }
        Ok(Block { instructions, targets, cases })
    }
}

impl<'f> Code<'f> for Nodes<'_, '_, '_, 'f> {
    type Error = Problem;

    fn builder(&mut self) -> &mut Builder<'f> {
        &mut self.body.builder
    }

    fn node(&mut self, node: NodeId) -> Result<NodeEnd, Problem> {
        let instructions = self.blocks[node.index()].instructions;
        for inst in instructions.iter().filter(|inst| inst.op == Op::Phi) {
            self.enter_phi(inst).map_err(|problem| problem.at(inst))?;
        }
        let [inner @ .., end] = instructions else { return Ok(NodeEnd::Done) };
        for inst in inner {
            self.body.builder.span = self.body.reader.span(inst);
            self.body.instruction(inst).map_err(|problem| problem.at(inst))?;
        }
        self.body.builder.span = self.body.reader.span(end);
        self.end(node, end).map_err(|problem| problem.at(end))
    }

    fn edge(&mut self, from: NodeId, index: usize) -> Result<(), Problem> {
        let block = &self.blocks[from.index()];
        let Some(label) = block.instructions.first().and_then(|inst| inst.id) else { return Ok(()) };
        let Some(&target) = self.nodes.get(&block.targets[index]) else { return Ok(()) };
        let phis = self.blocks[target].instructions.iter().filter(|inst| inst.op == Op::Phi);
        let mut stores: Vec<(Merged, ValueId)> = Vec::new();
        for phi in phis {
            let store = self.edge_value(phi, label).map_err(|problem| problem.at(phi))?;
            stores.extend(store);
        }
        for (merged, value) in stores {
            match merged {
                Merged::Value(slot, _) => self.body.store_slot(slot, value),
                Merged::Object(object) => self.body.copy_to_object(object, value),
            }
        }
        Ok(())
    }

    fn hints(&self, header: NodeId) -> LoopHints {
        let instructions = self.blocks.get(header.index()).map_or(&[][..], |block| block.instructions);
        let merge = instructions.iter().find(|inst| inst.op == Op::LoopMerge);
        let control = merge.and_then(|inst| Some(LoopControl::from_bits_truncate(*inst.operands.get(2)?)));
        let unroll = match control {
            Some(control) if control.contains(LoopControl::DONT_UNROLL) => Some(1),
            Some(control) if control.contains(LoopControl::UNROLL) => Some(0),
            _ => None,
        };
        LoopHints { unroll }
    }

    fn enter(&mut self, block: BlockId, _is_loop: bool) {
        let index = block.index();
        if self.body.is_open.len() <= index {
            self.body.is_open.resize(index + 1, false);
        }
        self.body.is_open[index] = true;
    }

    fn leave(&mut self, block: BlockId, _is_loop: bool) {
        self.body.is_open[block.index()] = false;
    }

    fn too_deep(&self) -> Problem {
        Problem::new("the control flow of the function nests too deeply")
    }
}

impl Nodes<'_, '_, '_, '_> {
    /// The object of a phi, created at its first use.
    fn merged(&mut self, inst: &Instruction<'_>) -> Outcome<Merged> {
        let id = inst.result()?;
        if let Some(merged) = self.merged.get(&id) {
            return Ok(*merged);
        }
        let ty = inst.result_type()?;
        let merged = if self.body.reader.types.is_aggregate(ty) {
            Merged::Object(self.body.result_object(inst)?)
        } else {
            let ty = self.body.reader.types.value(ty)?;
            Merged::Value(self.body.slot(ty), ty)
        };
        self.merged.insert(id, merged);
        Ok(merged)
    }

    /// Loads a phi at the start of its block.
    fn enter_phi(&mut self, inst: &Instruction<'_>) -> Outcome<()> {
        match self.merged(inst)? {
            Merged::Value(slot, ty) => {
                let value = self.body.load_slot(slot, ty);
                self.body.define(inst, value)
            }
            Merged::Object(object) => {
                let copy = self.body.result_object(inst)?;
                let source = self.body.builder.private_var(object);
                self.body.copy_to_object(copy, source);
                self.body.define_object(inst, copy)
            }
        }
    }

    /// The value of a phi on the edge from this block. `None` if it is undefined.
    fn edge_value(&mut self, phi: &Instruction<'_>, from: u32) -> Outcome<Option<(Merged, ValueId)>> {
        let pairs = phi.operands.chunks_exact(2);
        let source = pairs.filter(|pair| pair[1] == from).map(|pair| pair[0]).next();
        let source =
            source.ok_or_else(|| Problem::new(format!("it has no value for the predecessor %{from}")))?;
        if self.body.is_undefined(source) {
            return Ok(None);
        }
        let merged = self.merged(phi)?;
        let value = match merged {
            Merged::Value(_, ty) => self.body.value_of(source, ty)?,
            Merged::Object(_) => {
                let (found, wanted) = (self.body.type_of(source)?, phi.result_type()?);
                if found != wanted {
                    return Err(Problem::new(format!("%{source} has a different type")));
                }
                self.body.aggregate(source)?
            }
        };
        Ok(Some((merged, value)))
    }

    /// Reads the terminator of a block.
    fn end(&mut self, node: NodeId, inst: &Instruction<'_>) -> Outcome<NodeEnd> {
        let (construct, blocks): (InstId, Vec<BlockId>) = match inst.op {
            Op::Branch => return Ok(NodeEnd::Jump),
            Op::BranchConditional | Op::Switch if self.blocks[node.index()].targets.len() == 1 => {
                return Ok(NodeEnd::Jump);
            }
            Op::BranchConditional => {
                let condition = self.body.value_of(inst.word(0)?, Type::BOOL)?;
                let open = self.body.builder.open_if(condition, &[]);
                (open.inst, vec![open.then, open.otherwise])
            }
            Op::Switch => {
                let value = self.body.value(inst.word(0)?)?;
                let scalar = self.body.builder.ty(value).scalar().filter(|scalar| scalar.is_int());
                let scalar = scalar.ok_or_else(|| Problem::new("its selector is not an integer"))?;
                let value = match scalar.bits() {
                    64 => value,
                    _ => self.body.builder.resize(value, kiln_ir::Scalar::I32, false),
                };
                let mut cases = self.blocks[node.index()].cases.clone();
                cases.iter_mut().flatten().for_each(|bits| *bits &= scalar.mask());
                let open = self.body.builder.open_switch(value, cases, &[]);
                (open.inst, open.cases.into_iter().chain([open.default]).collect())
            }
            Op::Return => {
                self.body.builder.ret(None);
                return Ok(NodeEnd::Done);
            }
            Op::ReturnValue => {
                self.body.return_value(inst.word(0)?)?;
                return Ok(NodeEnd::Done);
            }
            Op::Unreachable => {
                self.body.builder.inst(IrOp::Unreachable, &[], &[]);
                return Ok(NodeEnd::Done);
            }
            _ => return Err(Problem::new(format!("Op{} is not supported", inst.name()))),
        };
        Ok(NodeEnd::Construct(construct, blocks))
    }
}
