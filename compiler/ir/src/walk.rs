//! Read-only queries on functions and instructions: types, order, nesting, uses.

use kiln_types::{index::Id as _, ty};
use smallvec::SmallVec;

use super::{
    Access, BinaryOp, Block, BlockId, Const, FuncId, Function, ImageAction, Input, Inst, InstId, Interface,
    Module, Op, Scalar, State, TexelKind, Type, ValueDef, ValueId,
};

impl From<ty::Scalar> for Scalar {
    fn from(scalar: ty::Scalar) -> Self {
        match scalar {
            ty::Scalar::Bool => Self::Bool,
            ty::Scalar::Char | ty::Scalar::UChar => Self::I8,
            ty::Scalar::Short | ty::Scalar::UShort => Self::I16,
            ty::Scalar::Int | ty::Scalar::UInt => Self::I32,
            ty::Scalar::Long | ty::Scalar::ULong => Self::I64,
            ty::Scalar::Half => Self::F16,
            ty::Scalar::Float => Self::F32,
            ty::Scalar::Double => Self::F64,
        }
    }
}

impl Scalar {
    /// The OpenCL C type. For an integer, the signed or unsigned one.
    pub const fn opencl(self, is_signed: bool) -> ty::Scalar {
        match (self, is_signed) {
            (Self::Bool, _) => ty::Scalar::Bool,
            (Self::I8, true) => ty::Scalar::Char,
            (Self::I8, false) => ty::Scalar::UChar,
            (Self::I16, true) => ty::Scalar::Short,
            (Self::I16, false) => ty::Scalar::UShort,
            (Self::I32, true) => ty::Scalar::Int,
            (Self::I32, false) => ty::Scalar::UInt,
            (Self::I64, true) => ty::Scalar::Long,
            (Self::I64, false) => ty::Scalar::ULong,
            (Self::F16, _) => ty::Scalar::Half,
            (Self::F32, _) => ty::Scalar::Float,
            (Self::F64, _) => ty::Scalar::Double,
        }
    }

    /// The size of a value in bytes; a `Bool` is one byte in memory.
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::I8 => 1,
            Self::I16 | Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// The width in bits: 1 for `Bool`.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            _ => 8 * self.size() as u32,
        }
    }

    /// Whether it is `F16`, `F32` or `F64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Whether it is `I8` to `I64`.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The integer type of this size in bytes: 1, 2, 4 or 8.
    pub fn int_of_size(bytes: u64) -> Self {
        match bytes {
            1 => Self::I8,
            2 => Self::I16,
            4 => Self::I32,
            8 => Self::I64,
            _ => panic!("no integer has {bytes} bytes"),
        }
    }

    /// The bits of a value of this type.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The bits of the fraction of the floating-point type with this size.
    pub const fn fraction_mask(self) -> u64 {
        match self.bits() {
            16 => (1 << 10) - 1,
            64 => (1 << 52) - 1,
            _ => (1 << 23) - 1,
        }
    }
}

impl State {
    /// Whether it is an address.
    pub const fn is_address(self) -> bool {
        matches!(self, Self::Variables | Self::Printf | Self::Queue | Self::Command)
    }

    /// The number of words.
    pub const fn words(self) -> u32 {
        if self.is_address() { 2 } else { 3 }
    }
}

impl Interface {
    /// The first word of a launch state, if a kernel reads it.
    pub fn first_word(&self, state: State) -> Option<u32> {
        self.state.iter().find(|(known, _)| *known == state).map(|(_, word)| *word)
    }
}

impl TexelKind {
    /// The type of a texel.
    pub const fn ty(self) -> Type {
        match self {
            Self::Float => Type::Vector(Scalar::F32, 4),
            Self::Signed | Self::Unsigned => Type::Vector(Scalar::I32, 4),
        }
    }
}

impl Type {
    /// `Bool`
    pub const BOOL: Self = Self::Scalar(Scalar::Bool);
    /// `I8`
    pub const I8: Self = Self::Scalar(Scalar::I8);
    /// `I32`
    pub const I32: Self = Self::Scalar(Scalar::I32);
    /// `I64`
    pub const I64: Self = Self::Scalar(Scalar::I64);

    /// The maximum number of components of a vector: as many as a `ulong16` has bytes.
    pub const MAX_COUNT: u8 = 128;

    /// A vector, or the scalar itself for one component.
    pub const fn vector(scalar: Scalar, count: u8) -> Self {
        if count == 1 { Self::Scalar(scalar) } else { Self::Vector(scalar, count) }
    }

    /// The component type of a scalar or vector.
    pub const fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) | Self::Vector(scalar, _) => Some(scalar),
            _ => None,
        }
    }

    /// The number of components: 1 for everything other than vectors.
    pub const fn count(self) -> u8 {
        match self {
            Self::Vector(_, count) => count,
            _ => 1,
        }
    }

    /// The type for values of an OpenCL C type.
    pub fn scalar_or_vector(scalar: ty::Scalar, count: u8) -> Self {
        Self::vector(scalar.into(), count)
    }

    /// The same number of components of another scalar.
    pub const fn with_scalar(self, scalar: Scalar) -> Self {
        Self::vector(scalar, self.count())
    }

    /// `Bool` for each component: the type of a comparison of this type.
    pub const fn with_bool(self) -> Self {
        match self {
            Self::Scalar(_) | Self::Vector(..) => self.with_scalar(Scalar::Bool),
            _ => Self::BOOL,
        }
    }

    /// A vector of this number of components of the same scalar.
    pub const fn with_count(self, count: u8) -> Self {
        match self {
            Self::Scalar(scalar) | Self::Vector(scalar, _) => Self::vector(scalar, count),
            _ => self,
        }
    }

    /// The size of a value in bytes, without padding after three components. `None` for types without a size.
    pub const fn size(self) -> Option<u64> {
        match self {
            Self::Scalar(scalar) => Some(scalar.size()),
            Self::Vector(scalar, count) => Some(scalar.size() * count as u64),
            Self::Pointer(_) => Some(8),
            Self::Image(_) | Self::Sampler | Self::Handle(_) => None,
        }
    }

    /// Whether it is a vector.
    pub const fn is_vector(self) -> bool {
        matches!(self, Self::Vector(..))
    }

    /// Whether it is a pointer.
    pub const fn is_pointer(self) -> bool {
        matches!(self, Self::Pointer(_))
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
