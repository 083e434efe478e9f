//! Reinterprets the bits of components as components of another size.

use kiln_ir::{Builder, Scalar, Type, ValueId};

/// Regroups components into components of type `to` with the same bits in sequence.
pub(crate) fn regroup(builder: &mut Builder<'_>, components: &[ValueId], to: Scalar) -> Vec<ValueId> {
    let from = components.first().and_then(|&it| builder.ty(it).scalar()).unwrap_or(to);
    if from.size() == to.size() {
        return components.iter().map(|&it| builder.bitcast(it, Type::Scalar(to))).collect();
    }
    // Between 8 or 16 and 64 bits, go through 32 bits only: the target may not support the other widths.
    if from.size() < to.size() {
        let step = to.size().min(if from.size() < 4 { 4 } else { 8 }) / from.size();
        let next = Scalar::int_of_size(step * from.size());
        let wider: Vec<ValueId> = components
            .chunks(step as usize)
            .map(|part| {
                let vector = builder.construct(part, Type::vector(from, step as u8));
                builder.bitcast(vector, Type::Scalar(next))
            })
            .collect();
        return regroup(builder, &wider, to);
    }
    let next = Scalar::int_of_size(if from.size() == 8 { 4 } else { to.size() });
    let step = (from.size() / next.size()) as u8;
    let mut narrower = Vec::with_capacity(usize::from(step) * components.len());
    for &component in components {
        let vector = builder.bitcast(component, Type::vector(next, step));
        narrower.extend((0..step).map(|part| builder.extract(vector, part)));
    }
    regroup(builder, &narrower, to)
}
