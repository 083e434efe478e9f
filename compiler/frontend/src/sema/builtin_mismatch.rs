//! Explains calls that match no overload of a built-in function: finds the wrong argument, and the types that would fit
//! the other arguments.
//!
//! Overload resolution allows C's pointer conversions, so a call with a wrong pointer can be ambiguous although no
//! overload takes that pointer. This file compares the types without such conversions.

use kiln_builtins::Set;
use kiln_session::diag::{Diagnostic, Piece};
use kiln_types::ty::{Implicit, Pointee, Scalar, Ty, TyId};

use super::Sema;
use crate::hir::{Expr, ExprKind};

/// The maximum number of types that a help lists.
const MAX_LISTED: usize = 4;

/// How an argument fits a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Without a conversion of its value.
    Same,
    /// A number of a different type.
    Close,
}

/// The parameter types of some overloads.
type Overloads = Vec<Vec<TyId>>;

impl Sema<'_> {
    /// The first argument that does not fit any of the overloads that the preceding arguments fit.
    pub(super) fn mismatched_argument(&mut self, set: &Set, arguments: &[Expr]) -> Option<usize> {
        let mut rest = set.parameter_types(&mut self.types, arguments.len());
        let mut first_close = None;
        for (index, argument) in arguments.iter().enumerate() {
            let fitting = |sema: &Self, wanted: Fit| -> Overloads {
                let fits =
                    |overload: &&Vec<TyId>| sema.fits_parameter(argument, overload[index]) == Some(wanted);
                rest.iter().filter(fits).cloned().collect()
            };
            let same = fitting(self, Fit::Same);
            rest = if same.is_empty() {
                first_close = first_close.or(Some(index));
                fitting(self, Fit::Close)
            } else {
                same
            };
            if rest.is_empty() {
                return Some(index);
            }
        }
        first_close.filter(|_| rest.len() > 1)
    }

    /// Adds a help with the types that this argument can have, according to the overloads that fit the other arguments.
    pub(super) fn with_accepted_types(
        &mut self,
        diagnostic: Diagnostic,
        set: &Set,
        arguments: &[Expr],
        index: usize,
    ) -> Diagnostic {
        let argument = &arguments[index];
        let taken = self.taken(set, arguments, index);
        if taken.is_empty() {
            return diagnostic;
        }
        if taken.iter().any(|ty| self.points_to(*ty, argument.ty))
            && matches!(argument.kind, ExprKind::Load(_))
        {
            return diagnostic.help("it takes a pointer: write the address of the object").rewrite(
                argument.span,
                "write its address",
                [Piece::Address(argument.span)],
            );
        }
        if let Some(cast) = self.cast_to_elements(argument.ty, &taken) {
            let help = format!("it takes a pointer to the elements: write `({cast})` before it");
            return diagnostic.help(help).prefix(argument.span, &format!("({cast})"));
        }
        if let Some(text) = self.conversion_to(argument.ty, &taken) {
            return match text.strip_prefix('(') {
                Some(_) => diagnostic.help(format!("write `{text}` before it")).prefix(argument.span, &text),
                None => diagnostic.help(format!("write `{text}(…)`")).rewrite(
                    argument.span,
                    format!("write `{text}(…)`"),
                    [Piece::Text(&text), Piece::Text("("), Piece::Source(argument.span), Piece::Text(")")],
                ),
            };
        }
        let are_pointers = taken.iter().all(|ty| self.is_pointer(*ty));
        if are_pointers && !self.is_pointer(argument.ty) {
            return diagnostic
                .help("it takes a pointer: store the value in a variable, and pass its address");
        }
        match self.describe(argument.ty, &taken) {
            Some(types) => diagnostic.help(format!("it takes {types}")),
            None => diagnostic,
        }
    }

    /// The types of a parameter in the overloads that fit the other arguments best.
    fn taken(&mut self, set: &Set, arguments: &[Expr], index: usize) -> Vec<TyId> {
        let all = set.parameter_types(&mut self.types, arguments.len());
        // The arguments to compare, and whether they must fit without conversion; the strictest filter first.
        let filters = [(arguments.len(), true), (arguments.len(), false), (index, false), (0, false)];
        let chosen = filters.into_iter().find_map(|(end, must_be_same)| {
            let fits = |overload: &[TyId], other: usize| {
                let fit = self.fits_parameter(&arguments[other], overload[other]);
                other == index || fit.is_some_and(|fit| fit == Fit::Same || !must_be_same)
            };
            let is_chosen = |overload: &&Vec<TyId>| (0..end).all(|other| fits(overload, other));
            let chosen: Vec<TyId> = all.iter().filter(is_chosen).map(|overload| overload[index]).collect();
            (!chosen.is_empty()).then_some(chosen)
        });
        let mut taken: Vec<TyId> = Vec::new();
        for ty in chosen.unwrap_or_default() {
            if !taken.contains(&ty) {
                taken.push(ty);
            }
        }
        taken
    }

    fn fits_parameter(&self, argument: &Expr, parameter: TyId) -> Option<Fit> {
        match self.types.implicit(argument.ty, parameter) {
            Implicit::Same => Some(Fit::Same),
            Implicit::Pointer(change) => (change.pointee == Pointee::Compatible).then_some(Fit::Same),
            Implicit::Arithmetic(_) => Some(Fit::Close),
            _ => {
                let takes_zero =
                    matches!(self.types.get(parameter), Ty::Pointer(_) | Ty::Event | Ty::Queue | Ty::Sampler);
                (takes_zero && self.is_null_constant(argument)).then_some(Fit::Same)
            }
        }
    }

    fn points_to(&self, pointer: TyId, pointee: TyId) -> bool {
        matches!(self.types.get(pointer), Ty::Pointer(to) if to.ty == pointee)
    }

    /// If the argument is a pointer to vectors and the function takes a pointer to their elements, the latter type.
    fn cast_to_elements(&mut self, argument: TyId, taken: &[TyId]) -> Option<String> {
        let Ty::Pointer(mut to) = *self.types.get(argument) else { return None };
        let Ty::Vector(element, _) = *self.types.get(to.ty) else { return None };
        to.ty = TyId::scalar(element);
        let elements = self.types.pointer(to);
        let is_compatible = |ty: &TyId| matches!(self.types.implicit(elements, *ty), Implicit::Pointer(change) if change.pointee == Pointee::Compatible);
        taken.iter().any(|ty| *ty == elements || is_compatible(ty)).then(|| self.show(elements))
    }

    /// The conversion of an integer to the only accepted type with the same number of components, as in `(int4)` or
    /// `convert_float3`. Of a signed and an unsigned type, selects the signed one. `None` for floating-point arguments,
    /// because the conversion would change their values.
    fn conversion_to(&mut self, argument: TyId, taken: &[TyId]) -> Option<String> {
        let (from, count) = self.types.components(argument)?;
        if from.is_float() {
            return None;
        }
        let numbers: Option<Vec<(Scalar, u8)>> = taken.iter().map(|ty| self.types.components(*ty)).collect();
        let numbers = numbers?;
        let (_, width) = *numbers.first()?;
        let with_count = |count: u8| -> Vec<Scalar> {
            numbers.iter().filter(|(_, other)| *other == count).map(|(element, _)| *element).collect()
        };
        let mut same = with_count(count);
        // A scalar in place of a vector.
        let is_splat = count == 1 && same.is_empty() && numbers.iter().all(|(_, other)| *other == width);
        if is_splat {
            same = with_count(width);
        }
        let element = match same.as_slice() {
            [one] => *one,
            [one, other] if one.unsigned_of_size() == *other => *one,
            _ if same.contains(&Scalar::Float) && same.iter().all(|it| it.is_float()) => Scalar::Float,
            _ => return None,
        };
        let name = element.spelling();
        Some(match (is_splat, count) {
            (true, _) => format!("({name}{width})"),
            (false, 1) => format!("({name})"),
            (false, _) => format!("convert_{name}{count}"),
        })
    }

    /// "`int4` or `uint4`", or the class of the types if there are many.
    fn describe(&mut self, argument: TyId, taken: &[TyId]) -> Option<String> {
        let narrowed = self.narrowed(argument, taken);
        if narrowed.len() <= MAX_LISTED {
            let mut shown: Vec<String> = Vec::new();
            for ty in narrowed {
                let ty = self.in_space_of(argument, ty);
                let name = format!("`{}`", self.show(ty));
                if !shown.contains(&name) {
                    shown.push(name);
                }
            }
            let last = shown.pop()?;
            return Some(if shown.is_empty() { last } else { format!("{} or {last}", shown.join(", ")) });
        }
        let all = |is_one: &dyn Fn(&Ty) -> bool| taken.iter().all(|ty| is_one(self.types.get(*ty)));
        let element = |ty: &Ty| match ty {
            Ty::Scalar(scalar) | Ty::Vector(scalar, _) => Some(*scalar),
            _ => None,
        };
        let has_scalar = taken.iter().any(|ty| matches!(self.types.get(*ty), Ty::Scalar(_)));
        let or_vector = |what: &str, vectors: &str| match has_scalar {
            true => format!("{what} or {vectors}"),
            false => vectors.to_owned(),
        };
        if all(&|ty| matches!(ty, Ty::Image(_))) {
            Some("an image".to_owned())
        } else if all(&|ty| element(ty).is_some_and(|it| !it.is_float())) {
            Some(or_vector("an integer", "a vector of integers"))
        } else if all(&|ty| element(ty).is_some_and(Scalar::is_float)) {
            Some(or_vector("a floating-point number", "a vector of floating-point numbers"))
        } else if all(&|ty| matches!(ty, Ty::Pointer(to) if matches!(self.types.get(to.ty), Ty::Atomic(_)))) {
            Some("a pointer to an atomic type".to_owned())
        } else if all(&|ty| matches!(ty, Ty::Pointer(to) if self.types.components(to.ty).is_some())) {
            Some("a pointer to numbers".to_owned())
        } else {
            None
        }
    }

    /// The types that are most like the argument's.
    fn narrowed(&self, argument: TyId, taken: &[TyId]) -> Vec<TyId> {
        let target = |ty: TyId| match self.types.get(ty) {
            Ty::Pointer(to) => Some(to.ty),
            _ => None,
        };
        let numbers = |ty: TyId| self.types.components(ty);
        let given = numbers(argument);
        let filters: [&dyn Fn(TyId) -> bool; 4] = [
            &|ty| target(argument).is_none() || target(ty) == target(argument),
            &|ty| given.is_none_or(|given| numbers(ty).is_some_and(|taken| taken.0 == given.0)),
            &|ty| given.is_none_or(|given| numbers(ty).is_some_and(|taken| taken.1 == given.1)),
            &|ty| match (self.types.get(argument), self.types.get(ty)) {
                (Ty::Image(given), Ty::Image(taken)) => given.access == taken.access,
                _ => true,
            },
        ];
        let mut rest = taken.to_vec();
        for filter in filters {
            let fewer: Vec<TyId> = rest.iter().copied().filter(|ty| filter(*ty)).collect();
            if !fewer.is_empty() {
                rest = fewer;
            }
        }
        rest
    }

    /// If `taken` is a pointer to the generic address space, replaces that by the address space of `given`.
    fn in_space_of(&mut self, given: TyId, taken: TyId) -> TyId {
        use kiln_vocabulary::opencl::AddressSpace::Generic;
        match (self.types.get(given), self.types.get(taken)) {
            (Ty::Pointer(from), Ty::Pointer(to)) if to.quals.space == Some(Generic) => {
                let mut to = *to;
                to.quals.space = from.quals.space;
                self.types.pointer(to)
            }
            _ => taken,
        }
    }
}
