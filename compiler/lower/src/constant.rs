//! Converts constants of the HIR to bits.

use kiln_frontend::hir::Const;
use kiln_ir::{self as ir, Scalar, Type, ValueId};
use kiln_types::binary16;
use smallvec::SmallVec;

use super::body::Body;

impl Body<'_, '_> {
    /// Creates a constant of this type.
    pub(super) fn constant(&mut self, constant: &Const, ty: Type) -> ValueId {
        let constant = match constant {
            Const::Undefined => ir::Const::Undefined,
            _ => {
                let mut bits = SmallVec::new();
                component_bits(constant, ty.scalar(), usize::from(ty.count()), &mut bits);
                ir::Const::Bits(bits)
            }
        };
        self.builder.constant(ty, constant)
    }
}

/// Appends the bits of `count` components.
fn component_bits(constant: &Const, scalar: Option<Scalar>, count: usize, bits: &mut SmallVec<[u64; 2]>) {
    let number = match constant {
        Const::Vector(parts) => {
            return parts.iter().for_each(|part| component_bits(part, scalar, 1, bits));
        }
        Const::Int(number) => number & scalar.map_or(u64::MAX, Scalar::mask),
        Const::Float(number) => float_bits(*number, scalar),
        Const::NullPointer | Const::Zero | Const::Undefined => 0,
    };
    bits.extend(std::iter::repeat_n(number, count));
}

/// The bits of a number that the type represents exactly.
fn float_bits(number: f64, scalar: Option<Scalar>) -> u64 {
    match scalar {
        Some(Scalar::F16) => u64::from(binary16::from_f64(number)),
        Some(Scalar::F32) => u64::from((number as f32).to_bits()),
        _ => number.to_bits(),
    }
}
