//! Puts the larger operand of a bitwise operation first, for drivers that combine an operation with its first operand before they
//! look at the second (`Tuning::combines_first_operands`).
//!
//! Such a driver has one instruction for a function of three integers (PTX: `lop3`). In `a & b | c & (a | b)`, it combines the
//! disjunction with `a & b`: a function of `a`, `b` and the second operand, which stays an instruction of its own. With the
//! operands exchanged, all four operations become one instruction.

use kiln_ir::{BinaryOp, Function, Op, Scalar, UnaryOp, ValueId};
use kiln_session::Options;
use kiln_types::index::Id as _;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The number of integers that such an instruction combines.
const MOST: usize = 3;

/// The integers that a bitwise expression combines.
type Leaves = SmallVec<[ValueId; MOST]>;

pub(super) fn order_operands(function: &mut Function, options: &Options) {
    if !options.optimize
        || !options.target.tuning.combines_first_operands
        || !function.may_contain(is_bitwise)
    {
        return;
    }
    let uses = function.use_counts();
    // Of the values of bitwise operations with at most three.
    let mut known: FxHashMap<ValueId, Leaves> = FxHashMap::default();
    for id in function.inst_order() {
        let inst = &function.insts[id];
        if !is_bitwise(&inst.op) || !function.ty(inst.results[0]).scalar().is_some_and(Scalar::is_int) {
            continue;
        }
        let leaves_of = |value: ValueId| match known.get(&value) {
            Some(leaves) if uses[value.index()] == 1 => leaves.clone(),
            _ => SmallVec::from_slice(&[value]),
        };
        let mut leaves = leaves_of(inst.args[0]);
        let second = inst.args.get(1).map(|&second| leaves_of(second)).unwrap_or_default();
        let is_second_larger = second.len() > leaves.len();
        for leaf in second {
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
        if leaves.len() <= MOST {
            known.insert(inst.results[0], leaves);
        }
        if is_second_larger {
            function.insts[id].args.swap(0, 1);
        }
    }
}

const fn is_bitwise(op: &Op) -> bool {
    matches!(op, Op::Unary(UnaryOp::Not) | Op::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor))
}
