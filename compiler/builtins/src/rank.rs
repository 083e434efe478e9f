//! Ranks of argument conversions.

use kiln_types::ty::{QualTy, Scalar, Ty, TyId, Types};
use kiln_vocabulary::opencl::AddressSpace;
use smallvec::SmallVec;

use super::pattern::{ConcreteType, Param};

/// An argument: its type after array decay, and whether it is a null pointer constant (C99 6.3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgTy {
    /// The type.
    pub ty: TyId,
    /// Whether it is a null pointer constant.
    pub is_zero: bool,
}

impl From<TyId> for ArgTy {
    fn from(ty: TyId) -> Self {
        Self { ty, is_zero: false }
    }
}

/// The rank of a conversion. Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The same type.
    Same,
    /// Adds qualifiers.
    Qualified,
    /// Changes the address space to generic.
    Generic,
    /// `Generic` and `Qualified`.
    GenericQualified,
    /// From a smaller type to `int`, or from `float` to `double`.
    Promotion,
    /// Between arithmetic types, to `void *`, or from zero to a pointer.
    Conversion,
    /// To `void *`, adding qualifiers.
    QualifiedConversion,
    /// A scalar to a vector.
    Widening,
    /// Drops qualifiers. C accepts this with a warning.
    Dropped,
    /// `Dropped` and `Generic`.
    DroppedGeneric,
    /// Between pointers to different types. C accepts this with a warning.
    Pointee,
    /// `Pointee` and `Generic`.
    PointeeGeneric,
}

/// The ranks of a call's arguments.
pub(super) type Ranks = SmallVec<[Rank; 5]>;

/// Whether no argument converts worse and at least one converts better. An overload with a conversion that causes a warning
/// in C is worse than every overload without one.
pub(super) fn is_better(left: &[Rank], right: &[Rank]) -> bool {
    let warns = |rank: &Rank| *rank >= Rank::Dropped;
    let mut differing = left.iter().zip(right).filter(|(left, right)| warns(left) != warns(right)).peekable();
    if differing.peek().is_some() {
        return differing.all(|(left, _)| !warns(left));
    }
    left.iter().zip(right).all(|(left, right)| left <= right) && left != right
}

/// An argument, prepared for matching with many parameters.
pub(super) struct PreparedArg {
    /// Its type.
    pub(super) ty: TyId,
    /// The pointee, for a pointer.
    pub(super) target: Option<QualTy>,
    /// The type that replaces a parameter's `any`: the pointee of a pointer, or the packet of a pipe.
    pub(super) any: Option<TyId>,
    /// Its concrete type, or that of the pointee. `None` if no parameter accepts it.
    concrete: Option<ConcreteType>,
    /// Set for a scalar or enum. An enum counts as its underlying type.
    scalar: Option<Scalar>,
    is_zero: bool,
}

impl PreparedArg {
    pub(super) fn new(types: &Types, argument: ArgTy) -> Self {
        let ty = types.get(argument.ty);
        let (target, any, concrete) = match *ty {
            Ty::Pointer(target) => {
                (Some(target), Some(target.ty), ConcreteType::from_ty(types.get(target.ty)))
            }
            Ty::Pipe(packet, _) => (None, Some(packet), ConcreteType::from_ty(ty)),
            _ => (None, None, ConcreteType::from_ty(ty)),
        };
        let scalar = types.components(argument.ty).filter(|(_, count)| *count == 1).map(|(scalar, _)| scalar);
        Self { ty: argument.ty, target, any, concrete, scalar, is_zero: argument.is_zero }
    }

    /// The rank of converting the argument. `None` if it does not match.
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
                let is_target = parameter.base == ConcreteType::Any || self.concrete == Some(parameter.base);
                let is_void =
                    parameter.base == ConcreteType::Void || self.concrete == Some(ConcreteType::Void);
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

    fn rank_value(&self, wanted: ConcreteType) -> Option<Rank> {
        let concrete = self.concrete?;
        if concrete == wanted {
            return Some(Rank::Same);
        }
        let from = self.scalar?;
        match wanted {
            ConcreteType::Number(to, 1) => Some(match (from, to) {
                (Scalar::Float, Scalar::Double) => Rank::Promotion,
                _ if from.promoted() == to && concrete != wanted => Rank::Promotion,
                _ => Rank::Conversion,
            }),
            ConcreteType::Number(..) => Some(Rank::Widening),
            ConcreteType::Enum(_) | ConcreteType::Sampler => (!from.is_float()).then_some(Rank::Conversion),
            // OpenCL C 6.15.11: zero is a null event.
            ConcreteType::Event | ConcreteType::Queue | ConcreteType::ClkEvent | ConcreteType::ReserveId => {
                self.is_zero.then_some(Rank::Same)
            }
            _ => None,
        }
    }
}
