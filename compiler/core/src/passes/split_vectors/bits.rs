//! The same bits as components of another size.

use crate::ir::{Builder, Scalar, Type, ValueId};

/// Components of this type that have the same bits in a row.
pub(super) fn regroup(builder: &mut Builder<'_>, components: &[ValueId], to: Scalar) -> Vec<ValueId> {
    let from = components.first().and_then(|&it| builder.ty(it).scalar()).unwrap_or(to);
    if from.size() == to.size() {
        return components.iter().map(|&it| builder.bitcast(it, Type::Scalar(to))).collect();
    }
    // By one halving or doubling after the other, no vector on the way has more than two components.
    if from.size() < to.size() {
        let next = Scalar::int_of_size(2 * from.size());
        let wider: Vec<ValueId> = components
            .chunks(2)
            .map(|pair| {
                let vector = builder.construct(pair, Type::Vector(from, 2));
                builder.bitcast(vector, Type::Scalar(next))
            })
            .collect();
        return regroup(builder, &wider, to);
    }
    let next = Scalar::int_of_size(from.size() / 2);
    let mut narrower = Vec::with_capacity(2 * components.len());
    for &component in components {
        let vector = builder.bitcast(component, Type::Vector(next, 2));
        narrower.extend([0, 1].map(|half| builder.extract(vector, half)));
    }
    regroup(builder, &narrower, to)
}
