//! Components of vectors (SPIR-V 3.49.12), and hints.

use kiln_ir::{Builder, Op as IrOp, Scalar, Type, ValueId};
use rspirv::spirv::Op;

use super::{Lowered, Operation, none, one};

/// A component of a shuffle that may be anything.
const ANYTHING: u32 = u32::MAX;

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::VectorShuffle => shuffle(builder, operation),
        Op::VectorExtractDynamic => extract(builder, operation),
        Op::VectorInsertDynamic => insert(builder, operation),
        // SPV_KHR_expect_assume: assumptions do not change results.
        Op::ExpectKHR => operation.args().and_then(|[value]| one(value)),
        Op::AssumeTrueKHR => none(),
        _ => return None,
    })
}

fn shuffle(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    let (first, second) = (builder.ty(a), builder.ty(b));
    let count = first.count() + second.count();
    let mut components = Vec::new();
    for &component in &operation.literals {
        match component {
            ANYTHING => components.push(0),
            _ if component < u32::from(count) => components.push(component as u8),
            _ => return Err(format!("there is no component {component} among {count}")),
        }
    }
    if !first.is_vector() || !second.is_vector() || components.len() < 2 {
        return Err("its operands and its result are not all vectors".to_owned());
    }
    one(builder.shuffle(a, b, &components))
}

fn index(builder: &mut Builder<'_>, index: ValueId) -> Result<ValueId, String> {
    match builder.ty(index) {
        Type::Scalar(scalar) if scalar.is_int() => Ok(builder.resize(index, Scalar::I32, false)),
        _ => Err("its index is not an integer".to_owned()),
    }
}

fn extract(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [vector, at] = operation.args()?;
    let at = index(builder, at)?;
    let ty = builder.ty(vector).with_count(1);
    one(builder.value(IrOp::ExtractDynamic, &[vector, at], ty))
}

fn insert(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [vector, scalar, at] = operation.args()?;
    let at = index(builder, at)?;
    let ty = builder.ty(vector);
    one(builder.value(IrOp::InsertDynamic, &[vector, scalar, at], ty))
}
