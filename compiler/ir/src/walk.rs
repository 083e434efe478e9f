//! Read-only queries on functions and instructions: types, order, nesting, uses.

use kiln_types::index::Id as _;
use smallvec::SmallVec;

use super::{
    Access, BinaryOp, Block, BlockId, Const, FuncId, Function, ImageAction, Input, Inst, InstId, Module, Op,
    Scalar, TexelKind, Type, ValueDef, ValueId,
};

impl TexelKind {
    /// The type of a texel.
    pub const fn ty(self) -> Type {
        match self {
            Self::Float => Type::Vector(Scalar::F32, 4),
            Self::Signed | Self::Unsigned => Type::Vector(Scalar::I32, 4),
        }
    }
}

/// The known alignment of an address plus an offset.
pub const fn align_at_offset(align: u64, bytes: u64) -> u64 {
    let joint = align | bytes;
    joint & joint.wrapping_neg()
}

impl Access {
    /// The access at an offset in bytes.
    #[must_use]
    pub const fn at_offset(self, bytes: u64) -> Self {
        Self { align: align_at_offset(self.align as u64, bytes) as u32, ..self }
    }
}

impl Input {
    /// The number of I32 values.
    pub const fn count(self) -> u8 {
        match self {
            Self::LocalId | Self::LocalSize | Self::GroupId | Self::GlobalId => 3,
            Self::WorkDim
            | Self::LocalIndex
            | Self::SubGroupSize
            | Self::SubGroupId
            | Self::SubGroupLocalId => 1,
        }
    }
}

impl Const {
    /// A scalar constant.
    pub fn scalar(bits: u64) -> Self {
        Self::Bits(SmallVec::from_slice(&[bits]))
    }

    /// The bits of a scalar constant.
    pub fn as_scalar(&self) -> Option<u64> {
        match self {
            Self::Bits(bits) if bits.len() == 1 => Some(bits[0]),
            _ => None,
        }
    }

    /// The bits of each component, if all are equal.
    pub fn as_splat(&self) -> Option<u64> {
        match self {
            Self::Bits(bits) => bits.iter().all(|it| *it == bits[0]).then(|| bits[0]),
            Self::Undefined => None,
        }
    }
}

impl Op {
    /// Whether it is a division or remainder of integers.
    pub const fn is_integer_division(&self) -> bool {
        let (Self::Binary(op) | Self::Exact(op)) = self else { return false };
        matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem)
    }

    /// The blocks that the instruction owns, in program order.
    #[inline]
    pub fn blocks(&self) -> SmallVec<[BlockId; 2]> {
        if self.is_construct() { self.own_blocks() } else { SmallVec::new() }
    }

    fn own_blocks(&self) -> SmallVec<[BlockId; 2]> {
        match self {
            Self::If { then, otherwise } => SmallVec::from_slice(&[*then, *otherwise]),
            Self::Loop { body, continuing, .. } => SmallVec::from_slice(&[*body, *continuing]),
            Self::Switch { cases, default } => {
                cases.iter().map(|case| case.block).chain([*default]).collect()
            }
            Self::Block(body) => SmallVec::from_slice(&[*body]),
            _ => SmallVec::new(),
        }
    }

    /// Whether it owns blocks.
    pub const fn is_construct(&self) -> bool {
        matches!(self, Self::If { .. } | Self::Loop { .. } | Self::Switch { .. } | Self::Block(_))
    }

    /// Whether it ends a block.
    pub const fn is_terminator(&self) -> bool {
        matches!(self, Self::Exit(_) | Self::Continue(_) | Self::Next(_) | Self::Return | Self::Unreachable)
    }

    /// The construct that a terminator refers to.
    pub const fn target(&self) -> Option<InstId> {
        match self {
            Self::Exit(target) | Self::Continue(target) | Self::Next(target) => Some(*target),
            _ => None,
        }
    }

    /// Whether the operation is numeric: it has no pointer operands or results and does not access memory.
    pub const fn is_numeric(&self) -> bool {
        matches!(
            self,
            Self::Unary(_)
                | Self::Binary(_)
                | Self::Exact(_)
                | Self::Convert(_)
                | Self::Construct
                | Self::Extract(_)
                | Self::Insert(_)
                | Self::Shuffle(_)
        )
    }

    /// Whether the results depend only on the arguments and there are no effects, so that an unused instruction can
    /// be removed and equal ones can be merged. Loads, calls, built-in functions and constructs are not considered.
    pub const fn is_pure(&self) -> bool {
        match self {
            Self::Unary(_)
            | Self::Binary(_)
            | Self::Exact(_)
            | Self::Compare(_)
            | Self::Select
            | Self::Convert(_)
            | Self::Bitcast
            | Self::Construct
            | Self::Extract(_)
            | Self::ExtractDynamic
            | Self::Insert(_)
            | Self::InsertDynamic
            | Self::Shuffle(_)
            | Self::Any
            | Self::All
            | Self::Function(_)
            | Self::ModuleVar(_)
            | Self::PrivateVar(_)
            | Self::ElementCount(_)
            | Self::Offset { .. }
            | Self::Element
            | Self::LaunchWord(..)
            | Self::LaunchAddress(_)
            | Self::Descriptor(_)
            | Self::Input(_)
            | Self::PointerCast
            | Self::PointerToInt
            | Self::IntToPointer
            | Self::Image(
                ImageAction::Size
                | ImageAction::ChannelOrder
                | ImageAction::ChannelType
                | ImageAction::Levels,
            )
            | Self::WorkItem(_) => true,
            Self::Load(_)
            | Self::Store(_)
            | Self::Copy { .. }
            | Self::Zero { .. }
            | Self::Atomic(_)
            | Self::Fence { .. }
            | Self::Barrier { .. }
            | Self::Call(_)
            | Self::Builtin(..)
            | Self::Printf(_)
            | Self::Trap(_)
            | Self::Image(ImageAction::Load(_) | ImageAction::Sample | ImageAction::Store(_))
            | Self::If { .. }
            | Self::Loop { .. }
            | Self::Switch { .. }
            | Self::Block(_)
            | Self::Exit(_)
            | Self::Continue(_)
            | Self::Next(_)
            | Self::Return
            | Self::Unreachable => false,
        }
    }
}

impl Block {
    /// The last instruction.
    pub fn terminator(&self) -> Option<InstId> {
        self.insts.last().copied()
    }
}

impl Function {
    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Type {
        self.values[value].ty
    }

    /// The constant for a value, if it is one.
    pub fn constant(&self, value: ValueId) -> Option<&Const> {
        match &self.values[value].def {
            ValueDef::Const(constant) => Some(constant),
            _ => None,
        }
    }

    /// The bits of a value that is a scalar constant.
    pub fn constant_bits(&self, value: ValueId) -> Option<u64> {
        self.constant(value)?.as_scalar()
    }

    /// The bits of each component of a value that is a constant with equal components.
    pub fn splat_bits(&self, value: ValueId) -> Option<u64> {
        self.constant(value)?.as_splat()
    }

    /// The instruction that defines a value.
    pub fn def(&self, value: ValueId) -> Option<&Inst> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(&self.insts[inst]),
            _ => None,
        }
    }

    /// The function's parameters.
    pub fn params(&self) -> &[ValueId] {
        &self.blocks[self.body].params
    }

    /// The only result of an instruction.
    pub fn result(&self, inst: InstId) -> ValueId {
        self.insts[inst].results[0]
    }

    /// The reachable blocks in program order; each precedes its nested blocks.
    pub fn block_order(&self) -> Vec<BlockId> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut stack = Vec::with_capacity(self.blocks.len());
        stack.push(self.body);
        while let Some(block) = stack.pop() {
            order.push(block);
            let first = stack.len();
            for &inst in &self.blocks[block].insts {
                let op = &self.insts[inst].op;
                if op.is_construct() {
                    stack.extend(op.own_blocks());
                }
            }
            stack[first..].reverse();
        }
        order
    }

    /// Whether any instruction satisfies a predicate, including unreachable ones.
    pub fn may_contain(&self, predicate: impl Fn(&Op) -> bool) -> bool {
        self.insts.iter().any(|inst| predicate(&inst.op))
    }

    /// The reachable instructions, block by block in the order of `block_order`.
    pub fn inst_order(&self) -> Vec<InstId> {
        let mut order = Vec::with_capacity(self.insts.len());
        for block in self.block_order() {
            order.extend_from_slice(&self.blocks[block].insts);
        }
        order
    }

    /// The reachable instructions whose operation satisfies a predicate, in the order of `inst_order`.
    pub fn insts_where(&self, predicate: impl Fn(&Op) -> bool) -> Vec<InstId> {
        let mut found = Vec::new();
        // Most functions have no such instruction.
        if self.may_contain(&predicate) {
            for block in self.block_order() {
                let insts = self.blocks[block].insts.iter().copied();
                found.extend(insts.filter(|&inst| predicate(&self.insts[inst].op)));
            }
        }
        found
    }

    /// The functions that it calls, one for each call, in program order.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = FuncId> {
        let calls = self.insts_where(|op| matches!(op, Op::Call(_)));
        calls.into_iter().filter_map(|call| match self.insts[call].op {
            Op::Call(callee) => Some(callee),
            _ => None,
        })
    }

    /// The number of uses of each value, by the index of its id.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.values.len()];
        for block in self.block_order() {
            for &inst in &self.blocks[block].insts {
                for &arg in &self.insts[inst].args {
                    counts[arg.index()] += 1;
                }
            }
        }
        counts
    }
}

impl Module {
    /// A function and its transitive callees.
    pub fn reachable_from(&self, root: FuncId) -> Vec<FuncId> {
        let mut found = vec![root];
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            let function = &self.functions[id];
            for callee in function.calls() {
                if !found.contains(&callee) {
                    found.push(callee);
                }
            }
            next += 1;
        }
        found
    }

    /// For each function, the roots that reach it: kernels, and functions without a caller.
    pub fn roots(&self) -> Vec<Vec<FuncId>> {
        let mut is_called = vec![false; self.functions.len()];
        for callee in self.functions.iter().flat_map(Function::calls) {
            is_called[callee.index()] = true;
        }
        let mut roots = vec![Vec::new(); self.functions.len()];
        for (id, function) in self.functions.entries() {
            if function.kernel.is_some() || !is_called[id.index()] {
                for reached in self.reachable_from(id) {
                    roots[reached.index()].push(id);
                }
            }
        }
        roots
    }

    /// The functions in an order where callees precede callers. OpenCL C forbids recursion.
    pub fn callees_first(&self) -> Vec<FuncId> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.functions.len()];
        let mut stack = Vec::new();
        for root in self.functions.ids() {
            stack.push((root, false));
            while let Some((id, is_done)) = stack.pop() {
                if is_done {
                    order.push(id);
                } else if !std::mem::replace(&mut seen[id.index()], true) {
                    stack.push((id, true));
                    let calls = self.functions[id].calls();
                    stack.extend(calls.rev().map(|callee| (callee, false)));
                }
            }
        }
        order
    }
}
