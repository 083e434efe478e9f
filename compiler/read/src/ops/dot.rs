//! Integer dot products (SPV_KHR_integer_dot_product): of vectors, or of four bytes in an integer.

use kiln_ir::{BinaryOp, Builder, Scalar, Type, ValueId};
use rspirv::spirv::Op;

use super::{Lowered, Operation, call, one};

/// Whether each operand is signed, and whether the sum is.
const fn signs(op: Op) -> Option<([bool; 2], bool)> {
    Some(match op {
        Op::SDot | Op::SDotAccSat => ([true, true], true),
        Op::UDot | Op::UDotAccSat => ([false, false], false),
        Op::SUDot | Op::SUDotAccSat => ([true, false], true),
        _ => return None,
    })
}

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    let (signs, is_signed) = signs(operation.op)?;
    Some(dot(builder, operation, signs, is_signed))
}

/// The products and their sum have the type of the result; overflow there is undefined, except in the accumulation, which
/// saturates.
fn dot(builder: &mut Builder<'_>, operation: &Operation, signs: [bool; 2], is_signed: bool) -> Lowered {
    let operands: [ValueId; 2] = operation.args()?;
    let result = operation.result()?;
    let scalar = result.scalar().ok_or("its result is not an integer")?;
    let mut widened = Vec::new();
    for (operand, is_signed) in operands.into_iter().zip(signs) {
        let vector = match builder.ty(operand) {
            Type::Vector(..) => operand,
            Type::I32 => builder.bitcast(operand, Type::Vector(Scalar::I8, 4)),
            _ => return Err("its operands are neither vectors nor 32-bit integers".to_owned()),
        };
        widened.push(builder.resize(vector, scalar, is_signed));
    }
    let products = builder.binary(BinaryOp::Mul, widened[0], widened[1]);
    let mut sum = builder.extract(products, 0);
    for component in 1..builder.ty(products).count() {
        let product = builder.extract(products, component);
        sum = builder.binary(BinaryOp::Add, sum, product);
    }
    match operation.args.get(2) {
        Some(&accumulator) => {
            one(call::value(builder, "add_sat", &[sum, accumulator], Some(is_signed), result)?)
        }
        None => one(sum),
    }
}
