//! Builds instructions at an insertion point in a function, and deduplicates constants. Does not fold.

use std::hash::{Hash as _, Hasher as _};

use kiln_syntax::Span;
use kiln_types::{
    index::Table,
    ops::{CompareOp, LoopHints},
};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::{
    Access, BinaryOp, Block, BlockId, Case, Compare, CompareKind, Const, Convert, FuncId, Function, Inst,
    InstId, Op, Scalar, Type, UnaryOp, Value, ValueDef, ValueId, VarId,
};

/// A function under construction, with an insertion point.
pub struct Builder<'f> {
    /// The function.
    pub function: &'f mut Function,
    /// The source position for the next instructions.
    pub span: Span,
    block: BlockId,
    index: usize,
    /// The constants of the function by hash. Filled at the first request for a constant.
    constants: Option<FxHashMap<u64, SmallVec<[ValueId; 2]>>>,
}

/// An `If` whose blocks are still empty.
#[derive(Clone, Copy, Debug)]
pub struct OpenIf {
    /// The instruction.
    pub inst: InstId,
    /// The block for a true condition.
    pub then: BlockId,
    /// The block for a false condition.
    pub otherwise: BlockId,
}

/// A `Loop` whose blocks are still empty.
#[derive(Clone, Copy, Debug)]
pub struct OpenLoop {
    /// The instruction.
    pub inst: InstId,
    /// The body.
    pub body: BlockId,
    /// Jumps back to the body.
    pub continuing: BlockId,
}

/// A `Switch` whose blocks are still empty.
#[derive(Clone, Debug)]
pub struct OpenSwitch {
    /// The instruction.
    pub inst: InstId,
    /// The blocks for each list of values.
    pub cases: Vec<BlockId>,
    /// The block for all other values.
    pub default: BlockId,
}

impl Function {
    /// A function with this name and these parameter types, without instructions.
    pub fn new(name: String, params: &[Type], result: Option<Type>, span: Span) -> Self {
        let mut blocks = Table::new();
        let body = blocks.push(Block::default());
        let mut function = Self {
            name,
            result,
            kernel: None,
            linkage: Linkage::Internal,
            vars: Table::new(),
            objects: Vec::new(),
            is_simplified: false,
            values: Table::new(),
            insts: Table::new(),
            blocks,
            body,
            span,
        };
        for &ty in params {
            function.add_param(body, ty);
        }
        function
    }

    /// Creates a block with these parameter types. It is not part of a construct yet.
    pub fn add_block(&mut self, params: &[Type]) -> BlockId {
        let block = self.blocks.push(Block::default());
        for &ty in params {
            self.add_param(block, ty);
        }
        block
    }

    /// Adds a parameter to a block.
    pub fn add_param(&mut self, block: BlockId, ty: Type) -> ValueId {
        let number = self.blocks[block].params.len() as u32;
        let value = self.values.push(Value { ty, def: ValueDef::Param(block, number) });
        self.blocks[block].params.push(value);
        value
    }

    /// Adds a result to an instruction.
    pub fn add_result(&mut self, inst: InstId, ty: Type) -> ValueId {
        let number = self.insts[inst].results.len() as u32;
        let value = self.values.push(Value { ty, def: ValueDef::Result(inst, number) });
        self.insts[inst].results.push(value);
        value
    }

    /// Creates an instruction. It is not part of a block yet.
    pub fn add_inst(&mut self, op: Op, args: &[ValueId], results: &[Type], span: Span) -> InstId {
        let args = SmallVec::from_slice(args);
        let inst = self.insts.push(Inst { op, args, results: SmallVec::new(), span });
        for &ty in results {
            self.add_result(inst, ty);
        }
        inst
    }
}

fn hash(ty: Type, constant: &Const) -> u64 {
    let mut hasher = FxHasher::default();
    (ty, constant).hash(&mut hasher);
    hasher.finish()
}

/// The insertion point.
impl<'f> Builder<'f> {
    /// Inserts at the end of the function's outermost block.
    pub fn new(function: &'f mut Function) -> Self {
        let (block, span) = (function.body, function.span);
        let index = function.blocks[block].insts.len();
        Self { function, span, block, index, constants: None }
    }

    /// Moves the insertion point to the end of this block.
    pub fn at_end(&mut self, block: BlockId) {
        (self.block, self.index) = (block, self.function.blocks[block].insts.len());
    }

    /// Moves the insertion point into this block, before the instruction at this index. It advances past each new
    /// instruction.
    pub fn at(&mut self, block: BlockId, index: usize) {
        (self.block, self.index) = (block, index);
    }

    /// The insertion point.
    pub const fn insertion_point(&self) -> (BlockId, usize) {
        (self.block, self.index)
    }

    /// Inserts an instruction that is not part of a block.
    pub fn insert(&mut self, inst: InstId) {
        self.function.blocks[self.block].insts.insert(self.index, inst);
        self.index += 1;
    }

    /// Creates and inserts an instruction.
    pub fn inst(&mut self, op: Op, args: &[ValueId], results: &[Type]) -> InstId {
        let inst = self.function.add_inst(op, args, results, self.span);
        self.insert(inst);
        inst
    }

    /// Creates and inserts an instruction with one result.
    pub fn value(&mut self, op: Op, args: &[ValueId], ty: Type) -> ValueId {
        let inst = self.inst(op, args, &[ty]);
        self.function.result(inst)
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Type {
        self.function.ty(value)
    }
}

/// Constants.
impl Builder<'_> {
    /// Returns a constant. Creates it at the first request.
    pub fn constant(&mut self, ty: Type, constant: Const) -> ValueId {
        let values = &mut self.function.values;
        let known = self.constants.get_or_insert_with(|| {
            let mut known: FxHashMap<u64, SmallVec<_>> = FxHashMap::default();
            for (id, value) in values.entries() {
                if let ValueDef::Const(constant) = &value.def {
                    known.entry(hash(value.ty, constant)).or_default().push(id);
                }
            }
            known
        });
        let alike = known.entry(hash(ty, &constant)).or_default();
        let value = Value { ty, def: ValueDef::Const(constant) };
        if let Some(&same) = alike.iter().find(|&&it| values[it] == value) {
            return same;
        }
        let id = values.push(value);
        alike.push(id);
        id
    }

    /// A constant with these bits in every component, truncated to its width.
    pub fn bits(&mut self, ty: Type, bits: u64) -> ValueId {
        let bits = bits & ty.scalar().map_or(u64::MAX, Scalar::mask);
        let bits = SmallVec::from_elem(bits, usize::from(ty.count()));
        self.constant(ty, Const::Bits(bits))
    }

    /// An `I32` constant.
    pub fn i32(&mut self, value: i32) -> ValueId {
        self.bits(Type::I32, value as u64)
    }

    /// An `I64` constant.
    pub fn i64(&mut self, value: i64) -> ValueId {
        self.bits(Type::I64, value as u64)
    }

    /// A `Bool` constant.
    pub fn bool(&mut self, value: bool) -> ValueId {
        self.bits(Type::BOOL, u64::from(value))
    }

    /// An undefined value.
    pub fn undefined(&mut self, ty: Type) -> ValueId {
        self.constant(ty, Const::Undefined)
    }
}

/// Arithmetic. Result types are derived from the arguments if possible.
impl Builder<'_> {
    /// `op a`
    pub fn unary(&mut self, op: UnaryOp, a: ValueId) -> ValueId {
        let ty = self.ty(a);
        self.value(Op::Unary(op), &[a], ty)
    }

    /// `a op b`
    pub fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.ty(a);
        self.value(Op::Binary(op), &[a, b], ty)
    }

    /// `a op b`, where `b` is a constant with the same bits in every component.
    pub fn binary_bits(&mut self, op: BinaryOp, a: ValueId, b: u64) -> ValueId {
        let b = self.bits(self.ty(a), b);
        self.binary(op, a, b)
    }

    /// A comparison.
    pub fn compare(&mut self, op: CompareOp, kind: CompareKind, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.ty(a).with_bool();
        self.value(Op::Compare(Compare { op, kind }), &[a, b], ty)
    }

    /// `condition ? then : otherwise`
    pub fn select(&mut self, condition: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        let ty = self.ty(then);
        self.value(Op::Select, &[condition, then, otherwise], ty)
    }

    /// A conversion.
    pub fn convert(&mut self, convert: Convert, a: ValueId, to: Type) -> ValueId {
        self.value(Op::Convert(convert), &[a], to)
    }

    /// Reinterprets the bits as another type. No instruction if the type is equal.
    pub fn bitcast(&mut self, a: ValueId, to: Type) -> ValueId {
        if self.ty(a) == to { a } else { self.value(Op::Bitcast, &[a], to) }
    }

    /// Changes the width of an integer or integer vector. No instruction if the width is equal. The verifier rejects the
    /// conversion of anything else, which can come from a foreign module.
    pub fn resize(&mut self, a: ValueId, to: Scalar, is_signed: bool) -> ValueId {
        let ty = self.ty(a);
        let Some(from) = ty.scalar() else {
            return self.convert(Convert::Truncate, a, Type::Scalar(to));
        };
        if from == to {
            return a;
        }
        let convert = match (to.bits() < from.bits(), is_signed) {
            (true, _) => Convert::Truncate,
            (false, true) => Convert::SignExtend,
            (false, false) => Convert::ZeroExtend,
        };
        self.convert(convert, a, ty.with_scalar(to))
    }

    /// Builds a vector from scalars and vectors.
    pub fn construct(&mut self, parts: &[ValueId], ty: Type) -> ValueId {
        self.value(Op::Construct, parts, ty)
    }

    /// Replicates a scalar to this number of components. No instruction for one component.
    pub fn splat(&mut self, scalar: ValueId, count: u8) -> ValueId {
        if count == 1 {
            return scalar;
        }
        let ty = Type::vector(self.ty(scalar).scalar().expect("a scalar"), count);
        self.construct(&vec![scalar; usize::from(count)], ty)
    }

    /// Extracts a component.
    pub fn extract(&mut self, vector: ValueId, component: u8) -> ValueId {
        let ty = self.ty(vector).with_count(1);
        self.value(Op::Extract(component), &[vector], ty)
    }

    /// Replaces a component of a vector.
    pub fn insert_component(&mut self, vector: ValueId, scalar: ValueId, component: u8) -> ValueId {
        let ty = self.ty(vector);
        self.value(Op::Insert(component), &[vector, scalar], ty)
    }

    /// Selects components of two concatenated vectors by index.
    pub fn shuffle(&mut self, a: ValueId, b: ValueId, components: &[u8]) -> ValueId {
        let ty = self.ty(a).with_count(components.len() as u8);
        self.value(Op::Shuffle(SmallVec::from_slice(components)), &[a, b], ty)
    }
}

/// Memory and calls.
impl Builder<'_> {
    /// The address of an object of the module, in this address space.
    pub fn module_var(&mut self, var: VarId, space: AddressSpace) -> ValueId {
        self.value(Op::ModuleVar(var), &[], Type::Pointer(space))
    }

    /// The address of a private object.
    pub fn private_var(&mut self, var: VarId) -> ValueId {
        self.value(Op::PrivateVar(var), &[], Type::Pointer(AddressSpace::Private))
    }

    /// `pointer + index * stride` bytes.
    pub fn offset(&mut self, pointer: ValueId, index: ValueId, stride: u64) -> ValueId {
        let ty = self.ty(pointer);
        self.value(Op::Offset { stride, count: None }, &[pointer, index], ty)
    }

    /// Advances a pointer by this number of bytes. No instruction for 0.
    pub fn offset_bytes(&mut self, pointer: ValueId, bytes: i64) -> ValueId {
        if bytes == 0 {
            return pointer;
        }
        let index = self.i64(bytes);
        self.offset(pointer, index, 1)
    }

    /// Loads a value.
    pub fn load(&mut self, pointer: ValueId, ty: Type, access: Access) -> ValueId {
        self.value(Op::Load(access), &[pointer], ty)
    }

    /// Stores a value.
    pub fn store(&mut self, pointer: ValueId, value: ValueId, access: Access) {
        self.inst(Op::Store(access), &[pointer, value], &[]);
    }

    /// Calls a function.
    pub fn call(&mut self, callee: FuncId, arguments: &[ValueId], result: Option<Type>) -> Option<ValueId> {
        let inst = self.inst(Op::Call(callee), arguments, result.as_slice());
        self.function.insts[inst].results.first().copied()
    }
}

/// Constructs and terminators. The insertion point stays after the construct; use `at_end` to enter its blocks.
impl Builder<'_> {
    /// `if`, with results of these types.
    pub fn open_if(&mut self, condition: ValueId, results: &[Type]) -> OpenIf {
        let (then, otherwise) = (self.function.add_block(&[]), self.function.add_block(&[]));
        let inst = self.inst(Op::If { then, otherwise }, &[condition], results);
        OpenIf { inst, then, otherwise }
    }

    /// `loop`. The body's parameters have the types of their initial values.
    pub fn open_loop(
        &mut self,
        firsts: &[ValueId],
        continuing: &[Type],
        results: &[Type],
        hints: LoopHints,
    ) -> OpenLoop {
        let params: SmallVec<[Type; 4]> = firsts.iter().map(|&value| self.ty(value)).collect();
        let body = self.function.add_block(&params);
        let continuing = self.function.add_block(continuing);
        let inst = self.inst(Op::Loop { body, continuing, hints }, firsts, results);
        OpenLoop { inst, body, continuing }
    }

    /// `switch`, with a case for each list of values.
    pub fn open_switch(&mut self, value: ValueId, cases: Vec<Vec<u64>>, results: &[Type]) -> OpenSwitch {
        let cases: Vec<Case> =
            cases.into_iter().map(|values| Case { values, block: self.function.add_block(&[]) }).collect();
        let blocks = cases.iter().map(|case| case.block).collect();
        let default = self.function.add_block(&[]);
        let inst = self.inst(Op::Switch { cases, default }, &[value], results);
        OpenSwitch { inst, cases: blocks, default }
    }

    /// `block`: the construct and its body.
    pub fn open_block(&mut self, results: &[Type]) -> (InstId, BlockId) {
        let body = self.function.add_block(&[]);
        (self.inst(Op::Block(body), &[], results), body)
    }

    /// Jumps to the end of a construct.
    pub fn exit(&mut self, construct: InstId, results: &[ValueId]) {
        self.inst(Op::Exit(construct), results, &[]);
    }

    /// Jumps to the `continuing` block of a loop.
    pub fn continue_loop(&mut self, construct: InstId, arguments: &[ValueId]) {
        self.inst(Op::Continue(construct), arguments, &[]);
    }

    /// Jumps from the `continuing` block to the body.
    pub fn next(&mut self, construct: InstId, arguments: &[ValueId]) {
        self.inst(Op::Next(construct), arguments, &[]);
    }

    /// Ends a loop: passes the parameters of its `continuing` block to the body. Moves the insertion point to
    /// `point`.
    pub fn close_loop(&mut self, open: &OpenLoop, point: (BlockId, usize)) {
        self.at_end(open.continuing);
        let again = self.function.blocks[open.continuing].params.clone();
        self.next(open.inst, &again);
        self.at(point.0, point.1);
    }

    /// A loop over the indices below `count`, an I64, in ascending order.
    pub fn each_index(&mut self, count: ValueId, act: impl FnOnce(&mut Self, ValueId)) {
        let first = self.i64(0);
        let open = self.open_loop(&[first], &[Type::I64], &[], LoopHints::default());
        let after = self.insertion_point();
        let done = self.function.blocks[open.body].params[0];
        self.at_end(open.body);
        let is_inside = self.compare(CompareOp::Less, CompareKind::Unsigned, done, count);
        let test = self.open_if(is_inside, &[]);
        self.unreachable();
        self.at_end(test.then);
        act(self, done);
        let one = self.i64(1);
        let next = self.binary(BinaryOp::Add, done, one);
        self.continue_loop(open.inst, &[next]);
        self.at_end(test.otherwise);
        self.exit(open.inst, &[]);
        self.close_loop(&open, after);
    }

    /// Returns from the function.
    pub fn ret(&mut self, result: Option<ValueId>) {
        self.inst(Op::Return, result.as_slice(), &[]);
    }

    /// Ends the block as unreachable.
    pub fn unreachable(&mut self) {
        self.inst(Op::Unreachable, &[], &[]);
    }
}
