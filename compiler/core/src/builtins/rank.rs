//! How well an argument fits a parameter.

use smallvec::SmallVec;

use crate::{
    opencl::AddressSpace,
    ty::{QualTy, Scalar, Ty, TyId, Types},
};

use super::pattern::{Param, Shape};

/// An argument: its type after the decay of arrays, and whether it is a null pointer constant (C99 6.3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgTy {
    /// The type.
    pub ty: TyId,
    /// Whether it is a constant zero.
    pub is_zero: bool,
}

impl From<TyId> for ArgTy {
    fn from(ty: TyId) -> Self {
        Self { ty, is_zero: false }
    }
}

/// How well an argument fits a parameter; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The same type.
    Same,
    /// Qualifiers are added.
    Qualified,
    /// The space becomes generic.
    Generic,
    /// Both.
    GenericQualified,
    /// To `int` from a smaller type, to `double` from `float`.
    Promotion,
    /// Between arithmetic types, to `void *`, and zero to a pointer.
    Conversion,
    /// To `void *` with qualifiers added.
    QualifiedConversion,
    /// A scalar to a vector.
    Widening,
    /// Qualifiers are dropped: C takes it, with a warning.
    Dropped,
    /// That, and the space becomes generic.
    DroppedGeneric,
    /// Between pointers to different types: likewise.
    Pointee,
    /// That, and the space becomes generic.
    PointeeGeneric,
}

/// The ranks of all arguments of a call.
pub(super) type Ranks = SmallVec<[Rank; 5]>;

/// Whether no argument converts worse and one converts better. What C takes with a warning only is worse than
/// anything else, whatever the other arguments.
pub(super) fn is_better(left: &[Rank], right: &[Rank]) -> bool {
    let is_bad = |rank: &Rank| *rank >= Rank::Dropped;
    let mut differing =
        left.iter().zip(right).filter(|(left, right)| is_bad(left) != is_bad(right)).peekable();
    if differing.peek().is_some() {
        return differing.all(|(left, _)| !is_bad(left));
    }
    left.iter().zip(right).all(|(left, right)| left <= right) && left != right
}

/// An argument, ready for comparison with many parameters.
pub(super) struct View {
    /// Its type.
    pub(super) ty: TyId,
    /// Set for a pointer: what it points to.
    pub(super) target: Option<QualTy>,
    /// What takes the place of a parameter's `any`: the target of a pointer, the packet of a pipe.
    pub(super) any: Option<TyId>,
    /// What it is, or what it points to; none for what no parameter takes.
    shape: Option<Shape>,
    /// Set for a scalar, and for an enum, which counts as its integer type.
    scalar: Option<Scalar>,
    is_zero: bool,
}

impl View {
    pub(super) fn new(types: &Types, argument: ArgTy) -> Self {
        let ty = types.get(argument.ty);
        let (target, any, shape) = match *ty {
            Ty::Pointer(target) => (Some(target), Some(target.ty), Shape::of(types.get(target.ty))),
            Ty::Pipe(packet, _) => (None, Some(packet), Shape::of(ty)),
            _ => (None, None, Shape::of(ty)),
        };
        let scalar = types.components(argument.ty).filter(|(_, count)| *count == 1).map(|(scalar, _)| scalar);
        Self { ty: argument.ty, target, any, shape, scalar, is_zero: argument.is_zero }
    }

    /// How well it fits; none if it does not.
    pub(super) fn rank(&self, parameter: &Param) -> Option<Rank> {
        match (self.target, parameter.pointer) {
            (Some(target), Some(quals)) => {
                let space = target.quals.space.unwrap_or(AddressSpace::Private);
                let wanted = quals.space.unwrap_or(AddressSpace::Private);
                if space != wanted && (wanted != AddressSpace::Generic || space == AddressSpace::Constant) {
                    return None;
                }
                let changes = target.quals.without(quals);
                let gains = quals.without(target.quals);
                let drops = changes.is_const || changes.is_volatile;
                let keeps = !drops && !gains.is_const && !gains.is_volatile;
                let is_target = parameter.base == Shape::Any || self.shape == Some(parameter.base);
                let is_void = parameter.base == Shape::Void || self.shape == Some(Shape::Void);
                Some(match space == wanted {
                    true if is_target && keeps => Rank::Same,
                    true if is_target && !drops => Rank::Qualified,
                    true if is_target => Rank::Dropped,
                    false if is_target && keeps => Rank::Generic,
                    false if is_target && !drops => Rank::GenericQualified,
                    false if is_target => Rank::DroppedGeneric,
                    _ if is_void && keeps => Rank::Conversion,
                    _ if is_void && !drops => Rank::QualifiedConversion,
                    true => Rank::Pointee,
                    false => Rank::PointeeGeneric,
                })
            }
            (None, Some(_)) => self.is_zero.then_some(Rank::Conversion),
            (Some(_), None) => None,
            (None, None) => self.rank_value(parameter.base),
        }
    }

    fn rank_value(&self, wanted: Shape) -> Option<Rank> {
        let shape = self.shape?;
        if shape == wanted {
            return Some(Rank::Same);
        }
        let from = self.scalar?;
        match wanted {
            Shape::Number(to, 1) => Some(match (from, to) {
                (Scalar::Float, Scalar::Double) => Rank::Promotion,
                _ if from.promoted() == to && shape != wanted => Rank::Promotion,
                _ => Rank::Conversion,
            }),
            Shape::Number(..) => Some(Rank::Widening),
            Shape::Enum(_) | Shape::Sampler => (!from.is_float()).then_some(Rank::Conversion),
            // OpenCL C 6.15.11: zero is no event.
            Shape::Event | Shape::Queue | Shape::ClkEvent | Shape::ReserveId => {
                self.is_zero.then_some(Rank::Same)
            }
            _ => None,
        }
    }
}
