//! Computes 64-bit integers with 32 bits, if only their lower halves are used (LLVM: TruncInstCombine).
//!
//! Kernels compute indices from `size_t` values and store them in `int` variables. 64-bit arithmetic is slow on most devices, and
//! a lower half is a register that needs no instruction.

use kiln_ir::{BinaryOp, BlockId, Builder, Const, Convert, Function, Op, Scalar, UnaryOp, ValueDef, ValueId};
use kiln_session::Options;
use kiln_types::index::Id as _;

use crate::rewrite::rewrite_only;

/// The maximum depth of operations to narrow for a truncation.
const DEPTH: u32 = 16;

pub(super) fn narrow_arithmetic(function: &mut Function, options: &Options) {
    let is_truncation = |op: &Op| matches!(op, Op::Convert(Convert::Truncate));
    if !options.optimize || !function.may_contain(is_truncation) {
        return;
    }
    let narrowing = Narrowing::new(function);
    rewrite_only(function, is_truncation, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        let (wide, result) = (inst.args[0], inst.results[0]);
        let ty = builder.ty(result);
        let block = narrowing.blocks[id.index()];
        let Some(to) = ty.scalar().filter(|_| narrowing.is_narrowable(builder, wide, block, DEPTH)) else {
            return builder.insert(id);
        };
        let half = narrowing.low_half(builder, wide, block, DEPTH);
        let low = builder.resize(half, to, false);
        replaced.insert(result, low);
    });
}

/// Facts about a function, computed before the pass changes it.
struct Narrowing {
    /// The number of uses of each value.
    uses: Vec<u32>,
    /// The block of each instruction.
    blocks: Vec<Option<BlockId>>,
}

impl Narrowing {
    fn new(function: &Function) -> Self {
        let mut blocks = vec![None; function.insts.len()];
        for block in function.block_order() {
            for inst in &function.blocks[block].insts {
                blocks[inst.index()] = Some(block);
            }
        }
        Self { uses: function.use_counts(), blocks }
    }

    /// Whether a value is the result of 64-bit arithmetic in this block and has one use. The arithmetic of another block stays
    /// there, because this block may be in a loop.
    fn is_narrowable(
        &self,
        builder: &Builder<'_>,
        value: ValueId,
        block: Option<BlockId>,
        depth: u32,
    ) -> bool {
        let function = &*builder.function;
        let ValueDef::Result(id, _) = function.values[value].def else { return false };
        let inst = &function.insts[id];
        depth > 0
            && self.uses.get(value.index()) == Some(&1)
            && self.blocks.get(id.index()) == Some(&block)
            && function.ty(value).scalar() == Some(Scalar::I64)
            && match inst.op {
                Op::Unary(UnaryOp::Neg | UnaryOp::Not) | Op::Select => true,
                Op::Binary(op) | Op::Exact(op) => match op {
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor => true,
                    BinaryOp::Shl => function
                        .splat_bits(inst.args[1])
                        .is_some_and(|shift| shift < Scalar::I32.bits().into()),
                    _ => false,
                },
                _ => false,
            }
    }

    /// The lower half of a 64-bit value.
    fn low_half(
        &self,
        builder: &mut Builder<'_>,
        value: ValueId,
        block: Option<BlockId>,
        depth: u32,
    ) -> ValueId {
        let ty = builder.ty(value).with_scalar(Scalar::I32);
        if let Some(Const::Bits(bits)) = builder.function.constant(value) {
            let low = bits.iter().map(|bits| bits & Scalar::I32.mask()).collect();
            return builder.constant(ty, Const::Bits(low));
        }
        if !self.is_narrowable(builder, value, block, depth) {
            return builder.convert(Convert::Truncate, value, ty);
        }
        let Some(inst) = builder.function.def(value).cloned() else { return value };
        let half = |builder: &mut Builder<'_>, index: usize| {
            self.low_half(builder, inst.args[index], block, depth - 1)
        };
        match inst.op {
            Op::Unary(op) => {
                let operand = half(builder, 0);
                builder.value(Op::Unary(op), &[operand], ty)
            }
            Op::Select => {
                let [then, otherwise] = [half(builder, 1), half(builder, 2)];
                builder.select(inst.args[0], then, otherwise)
            }
            Op::Binary(op) | Op::Exact(op) => {
                let [left, right] = [half(builder, 0), half(builder, 1)];
                builder.binary(op, left, right)
            }
            _ => unreachable!("`is_narrowable` accepts no other operation"),
        }
    }
}
