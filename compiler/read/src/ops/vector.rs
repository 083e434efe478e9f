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
    let count = u32::from(first.count()) + u32::from(second.count());
    let mut components = Vec::new();
    for &component in &operation.literals {
        match component {
            ANYTHING => components.push(0),
            _ if component < count => components.push(component as u8),
            _ => return Err(format!("there is no component {component} among {count}")),
        }
    }
    if first.is_vector() && second.is_vector() && components.len() > 1 {
        return one(builder.shuffle(a, b, &components));
    }
    // A vector of one component is a scalar.
    let component = |at: u8| {
        let (from, ty, at) =
            if at < first.count() { (a, first, at) } else { (b, second, at - first.count()) };
        if ty.is_vector() { builder.extract(from, at) } else { from }
    };
    let parts: Vec<ValueId> = components.into_iter().map(component).collect();
    let ty = first.with_count(parts.len() as u8);
    match parts[..] {
        [] => Err("its result has no components".to_owned()),
        [only] => one(only),
        _ => one(builder.construct(&parts, ty)),
    }
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
    let ty = builder.ty(vector);
    if !ty.is_vector() {
        return one(vector);
    }
    one(builder.value(IrOp::ExtractDynamic, &[vector, at], ty.with_count(1)))
}

fn insert(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [vector, scalar, at] = operation.args()?;
    let at = index(builder, at)?;
    let ty = builder.ty(vector);
    if !ty.is_vector() {
        return one(scalar);
    }
    one(builder.value(IrOp::InsertDynamic, &[vector, scalar, at], ty))
}
