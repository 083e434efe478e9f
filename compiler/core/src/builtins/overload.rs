//! Which overload a call means: the ranking that OpenCL C compilers take from C++ (OpenCL C 6.15 leaves it open).
//!
//! Each argument's conversion has a rank; an overload is better if no argument converts worse and one converts
//! better. What is best of all is meant; without such a one the call is ambiguous. Clang's ranking is followed:
//! exact, promotion, conversion, scalar to vector, and pointers that differ in what they point to.

use smallvec::SmallVec;

use crate::{
    opencl::AddressSpace,
    ty::{QualTy, Scalar, Ty, TyId, Types},
};

use super::{
    BuiltinId, Overload, Set,
    pattern::{Candidate, Param, Shape},
    row,
};

/// An argument: its type after the decay of arrays, and whether it is a null pointer constant (C99 6.3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Why no overload is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which of the reasons.
    pub kind: FailureKind,
    /// The overloads in question as a user reads them: for too many arguments and for unfit ones the generic
    /// forms, for an ambiguous call those that tie.
    pub candidates: Vec<String>,
}

/// The reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No overload takes so many arguments; these numbers are taken.
    Count(Vec<usize>),
    /// No overload takes these arguments; this one fits least often.
    Argument(usize),
    /// Several overloads fit equally well.
    Ambiguous,
    /// An argument has an error, which has been reported.
    Silent,
}

/// How well an argument fits a parameter; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The same type.
    Same,
    /// Qualifiers are added.
    Qualified,
    /// The space becomes generic.
    Generic,
    /// To `int` from a smaller type, to `double` from `float`.
    Promotion,
    /// Between arithmetic types, to `void *`, and zero to a pointer.
    Conversion,
    /// A scalar to a vector.
    Widening,
    /// Between pointers to different types, or dropping qualifiers: C takes it, with a warning.
    Pointee,
}

/// Chooses the overload that these arguments mean.
pub fn resolve(set: &Set, types: &mut Types, arguments: &[ArgTy]) -> Result<Overload, Failure> {
    if arguments.iter().any(|argument| argument.ty == TyId::ERROR) {
        return Err(Failure { kind: FailureKind::Silent, candidates: Vec::new() });
    }
    let views: SmallVec<[View; 5]> = arguments.iter().map(|argument| View::new(types, *argument)).collect();
    let mut search = Search { views: &views, best: Vec::new(), misfits: SmallVec::new() };
    search.misfits.resize(arguments.len(), 0);
    for (id, row) in set.rows() {
        let count = row.signature.parameters.len();
        if count == views.len() || (row.signature.is_variadic && count < views.len()) {
            row.signature.candidates(&set.context, &mut |candidate| search.consider(id, candidate));
        }
    }
    match search.winner() {
        Some(found) => Ok(found.overload(types, &views)),
        None => Err(search.failure(set)),
    }
}

/// An argument, ready for comparison with many parameters.
struct View {
    /// What it is, or what it points to; none for what no parameter takes.
    shape: Option<Shape>,
    /// Set for a pointer.
    target: Option<QualTy>,
    is_zero: bool,
    is_enum: bool,
}

impl View {
    fn new(types: &Types, argument: ArgTy) -> Self {
        let view = |shape, target, is_enum| Self { shape, target, is_zero: argument.is_zero, is_enum };
        match types.get(argument.ty) {
            Ty::Pointer(target) => view(Shape::of(types.get(target.ty)), Some(*target), false),
            // Enums of the program count as their integer type.
            ty @ Ty::Enum(_) => {
                let own = Shape::of(ty).filter(|shape| matches!(shape, Shape::Enum(_)));
                view(own, None, true)
            }
            ty => view(Shape::of(ty), None, false),
        }
    }

    fn rank(&self, parameter: &Param) -> Option<Rank> {
        match (self.target, parameter.pointer) {
            (Some(target), Some(quals)) => {
                let space = target.quals.space.unwrap_or(AddressSpace::Private);
                let wanted = quals.space.unwrap_or(AddressSpace::Private);
                if space != wanted && (wanted != AddressSpace::Generic || space == AddressSpace::Constant) {
                    return None;
                }
                let drops = target.quals.is_const && !quals.is_const
                    || target.quals.is_volatile && !quals.is_volatile;
                let gains =
                    target.quals.is_const != quals.is_const || target.quals.is_volatile != quals.is_volatile;
                match self.shape {
                    _ if drops => Some(Rank::Pointee),
                    Some(shape) if shape == parameter.base => Some(match () {
                        () if space != wanted => Rank::Generic,
                        () if gains => Rank::Qualified,
                        () => Rank::Same,
                    }),
                    _ if parameter.base == Shape::Void => Some(Rank::Conversion),
                    Some(Shape::Void) => Some(Rank::Conversion),
                    _ => Some(Rank::Pointee),
                }
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
        let from = match shape {
            Shape::Number(scalar, 1) => scalar,
            Shape::Enum(_) => Scalar::Int,
            Shape::Image(image) => {
                // A `read_write` image is not taken where another access is wanted (OpenCL C 6.6).
                let _ = image;
                return None;
            }
            _ => return None,
        };
        match wanted {
            Shape::Number(to, 1) => Some(match (from, to) {
                (Scalar::Float, Scalar::Double) => Rank::Promotion,
                _ if self.is_enum && to == Scalar::Int => Rank::Promotion,
                _ if from.promoted() == to && from != to => Rank::Promotion,
                _ => Rank::Conversion,
            }),
            Shape::Number(..) => Some(Rank::Widening),
            Shape::Enum(_) => (!from.is_float()).then_some(Rank::Conversion),
            // OpenCL C 6.15.11: zero is no event.
            Shape::Event | Shape::Queue | Shape::ClkEvent | Shape::ReserveId => {
                self.is_zero.then_some(Rank::Same)
            }
            Shape::Sampler => (!from.is_float()).then_some(Rank::Conversion),
            _ => None,
        }
    }
}

/// An overload that fits, with the ranks of its arguments.
struct Found {
    id: BuiltinId,
    candidate: Candidate,
    ranks: SmallVec<[Rank; 5]>,
}

struct Search<'a> {
    views: &'a [View],
    /// Overloads of which none is better than another.
    best: Vec<Found>,
    /// How often each argument does not fit.
    misfits: SmallVec<[usize; 5]>,
}

impl Search<'_> {
    fn consider(&mut self, id: BuiltinId, candidate: &Candidate) {
        let mut ranks = SmallVec::new();
        for (index, (view, parameter)) in self.views.iter().zip(&candidate.parameters).enumerate() {
            match view.rank(parameter) {
                Some(rank) => ranks.push(rank),
                None => {
                    self.misfits[index] += 1;
                    return;
                }
            }
        }
        if self.best.iter().any(|best| is_better(&best.ranks, &ranks) || best.candidate == *candidate) {
            return;
        }
        self.best.retain(|best| !is_better(&ranks, &best.ranks));
        self.best.push(Found { id, candidate: candidate.clone(), ranks });
    }

    fn winner(&self) -> Option<&Found> {
        match self.best.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    fn failure(self, set: &Set) -> Failure {
        if !self.best.is_empty() {
            let candidates =
                self.best.iter().map(|found| row(found.id).show(&found.candidate)).take(8).collect();
            return Failure { kind: FailureKind::Ambiguous, candidates };
        }
        let candidates = set.rows().map(|(_, row)| row.show_generic()).collect();
        let mut counts: Vec<usize> = set.rows().map(|(_, row)| row.signature.parameters.len()).collect();
        counts.sort_unstable();
        counts.dedup();
        let kind = if self.misfits.iter().all(|misfits| *misfits == 0) {
            FailureKind::Count(counts)
        } else {
            let worst = self
                .misfits
                .iter()
                .enumerate()
                .max_by_key(|(index, misfits)| (**misfits, usize::MAX - index));
            FailureKind::Argument(worst.map_or(0, |(index, _)| index))
        };
        Failure { kind, candidates }
    }
}

/// Whether no argument converts worse and one converts better. What C takes with a warning only is worse than
/// anything else, whatever the other arguments.
fn is_better(left: &[Rank], right: &[Rank]) -> bool {
    let is_bad = |rank: &Rank| *rank == Rank::Pointee;
    if let Some((left, _)) = left.iter().zip(right).find(|(left, right)| is_bad(left) != is_bad(right)) {
        return !is_bad(left);
    }
    left.iter().zip(right).all(|(left, right)| left <= right) && left != right
}

impl Found {
    fn overload(&self, types: &mut Types, views: &[View]) -> Overload {
        let parameters = self.candidate.parameters.iter().enumerate().map(|(index, parameter)| {
            // What takes a generic pointer takes one into a named space as it is.
            let own = views.get(index).and_then(|view| view.target).and_then(|target| target.quals.space);
            let mut parameter = *parameter;
            if let (Some(quals), Some(space)) = (&mut parameter.pointer, own) {
                quals.space = Some(space);
            }
            parameter.ty(types).plain()
        });
        Overload {
            builtin: self.id,
            parameters: parameters.collect(),
            result: self.candidate.result.ty(types),
            is_variadic: row(self.id).signature.is_variadic,
        }
    }
}
