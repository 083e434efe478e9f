//! Extends a factor of 64-bit products of 32-bit integers as a pair of words, for the driver bug `extend_factors_as_pairs`.
//!
//! Works around NVIDIA's compiler: if both factors are zero-extended and the product is compared, LLVM forms
//! `llvm.umul.with.overflow`, which the driver does not compile. Only products that reach a comparison change.

use kiln_ir::{
    BinaryOp, Builder, Compare, CompareKind, Convert, Function, Inst, Op, Scalar, Type, ValueDef, ValueId,
};
use kiln_session::Options;
use kiln_types::index::Id as _;

use crate::rewrite::rewrite_only;

pub(super) fn extend_factors_as_pairs(function: &mut Function, _: &Options) {
    let compared = compared_products(function);
    if !compared.contains(&true) {
        return;
    }
    rewrite_only(function, is_product, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        if compared[id.index()] {
            let factor = zero_extend_as_pair(builder, inst.args[0]);
            let product = builder.binary(BinaryOp::Mul, factor, inst.args[1]);
            replaced.insert(inst.results[0], product);
        } else {
            builder.insert(id);
        }
    });
}

fn is_product(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::Mul))
}

/// For each instruction, whether it is a product of zero-extended factors that a comparison depends on.
fn compared_products(function: &Function) -> Vec<bool> {
    let mut products = vec![false; function.insts.len()];
    let mut seen = vec![false; function.insts.len()];
    let is_unsigned =
        |inst: &&Inst| matches!(inst.op, Op::Compare(Compare { kind: CompareKind::Unsigned, .. }));
    let order = function.inst_order();
    let comparisons = order.iter().map(|&id| &function.insts[id]).filter(is_unsigned);
    let mut operands: Vec<ValueId> = comparisons.flat_map(|inst| inst.args.iter().copied()).collect();
    while let Some(value) = operands.pop() {
        let ValueDef::Result(id, _) = function.values[value].def else { continue };
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let inst = &function.insts[id];
        match inst.op {
            Op::Binary(BinaryOp::Mul) => {
                products[id.index()] = inst.args.iter().all(|&factor| is_zero_extended(function, factor));
            }
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::And | BinaryOp::LShr)
            | Op::Convert(Convert::Truncate | Convert::ZeroExtend)
            | Op::Select => {
                operands.extend(&inst.args);
            }
            _ => {}
        }
    }
    products
}

/// Whether the upper half of a 64-bit integer is zero because of the instruction that defines it.
fn is_zero_extended(function: &Function, value: ValueId) -> bool {
    function.ty(value) == Type::I64
        && function.def(value).is_some_and(|inst| match inst.op {
            Op::Convert(Convert::ZeroExtend) => true,
            Op::Binary(BinaryOp::And) => inst
                .args
                .iter()
                .any(|&mask| function.constant_bits(mask).is_some_and(|bits| bits <= Scalar::I32.mask())),
            _ => false,
        })
}

/// The zero-extended value, with another instruction.
fn zero_extend_as_pair(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    let low = builder.resize(value, Scalar::I32, false);
    let high = builder.bits(Type::I32, 0);
    let pair = builder.construct(&[low, high], Type::Vector(Scalar::I32, 2));
    builder.bitcast(pair, Type::I64)
}
