//! Pointers of different types and address spaces: which becomes which, and what two of them have in common
//! (OpenCL C 6.7.9, C99 6.5.16.1). It knows types only; casts and operators ask it.

use kiln_syntax::Span;

use super::{Sema, convert::AssignContext};
use crate::{
    diag::{Code, Diagnostic},
    opencl::AddressSpace,
    ty::{QualTy, Ty, TyId},
};

/// How what one pointer points to stands to what another points to, spaces of the outermost level aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pointees {
    /// The same, or `void`.
    Compatible,
    /// The same but for qualifiers further in.
    InnerQualifiers,
    /// The same but for address spaces further in.
    InnerSpaces,
    /// Two types.
    Different,
}

/// The space of what a pointer points to.
pub(crate) fn space_of(pointee: QualTy) -> AddressSpace {
    pointee.quals.space.unwrap_or(AddressSpace::Private)
}

/// Whether a pointer to `from` becomes one to `to` without a cast.
fn encloses(to: AddressSpace, from: AddressSpace) -> bool {
    from == to || (to == AddressSpace::Generic && from != AddressSpace::Constant)
}

impl Sema<'_> {
    /// Checks the implicit conversion of a pointer; tells whether it is possible. Warnings do not stand in its way.
    pub(crate) fn check_pointer_conversion(
        &mut self,
        from: QualTy,
        to: QualTy,
        span: Span,
        context: AssignContext,
    ) -> bool {
        if !encloses(space_of(to), space_of(from)) {
            self.report_spaces(from, to, span, context);
            return false;
        }
        let (from_ty, to_ty) = (self.types.pointer(from), self.types.pointer(to));
        match self.pointees(from.ty, to.ty) {
            Pointees::InnerSpaces => {
                let message = format!(
                    "`{}` cannot become `{}` {}",
                    self.show(from_ty),
                    self.show(to_ty),
                    context.describe()
                );
                self.sink.report(
                    Diagnostic::new(Code::AddressSpace, span, message)
                        .label("differs in an address space further in")
                        .help("cast it if you know where it points")
                        .note("OpenCL C 6.7.9: for nested pointers, implicit conversions between address spaces are disallowed"),
                );
                return false;
            }
            Pointees::Different => {
                let message = format!(
                    "`{}` becomes `{}` {} though they point to different types",
                    self.show(from_ty),
                    self.show(to_ty),
                    context.describe()
                );
                self.sink.report(
                    Diagnostic::new(Code::IncompatiblePointers, span, message)
                        .help("cast it if the object is meant to be seen as another type")
                        .note("C99 6.5.16.1: the types pointed to are compatible, or one is `void`"),
                );
            }
            relation => {
                let drops_const = from.quals.is_const && !to.quals.is_const;
                let drops_volatile = from.quals.is_volatile && !to.quals.is_volatile;
                if drops_const || drops_volatile || relation == Pointees::InnerQualifiers {
                    let dropped = match (drops_const, drops_volatile) {
                        (true, _) => "drops `const`",
                        (_, true) => "drops `volatile`",
                        _ => "changes qualifiers further in",
                    };
                    let message = format!(
                        "`{}` becomes `{}` {}, which {dropped}",
                        self.show(from_ty),
                        self.show(to_ty),
                        context.describe()
                    );
                    self.sink.report(Diagnostic::new(Code::DiscardedQualifiers, span, message).note(
                        "C99 6.5.16.1: the type pointed to keeps all the qualifiers that it had",
                    ));
                }
            }
        }
        true
    }

    /// Reports a conversion between spaces that do not enclose each other.
    fn report_spaces(&mut self, from: QualTy, to: QualTy, span: Span, context: AssignContext) {
        let (from_space, to_space) = (space_of(from), space_of(to));
        let (from_ty, to_ty) = (self.types.pointer(from), self.types.pointer(to));
        let message =
            format!("`{}` cannot become `{}` {}", self.show(from_ty), self.show(to_ty), context.describe());
        let mut diagnostic = Diagnostic::new(Code::AddressSpace, span, message)
            .label(format!("points to {} memory", from_space.spelling()));
        diagnostic = match (from_space, to_space) {
            (AddressSpace::Generic, to) if to != AddressSpace::Constant => diagnostic
                .help(format!("cast it if it is known to point to {} memory, or ask `to_{}(…)`", to.spelling(), to.spelling()))
                .note("OpenCL C 6.7.9: a generic pointer becomes a named one only by a cast"),
            (AddressSpace::Constant, AddressSpace::Generic) | (AddressSpace::Generic, _) => {
                diagnostic.note("OpenCL C 6.7.9: the constant address space is not part of the generic one")
            }
            (from, to) => {
                let diagnostic = if context == AssignContext::Assign || context == AssignContext::Initialize {
                    diagnostic.help(format!("declare the pointer with `{}`, or copy the data", from.spelling()))
                } else {
                    diagnostic.help(format!("copy the data to {} memory first", to.spelling()))
                };
                diagnostic.note("OpenCL C 6.7.9: the named address spaces are disjoint")
            }
        };
        self.sink.report(diagnostic);
    }

    /// Checks an explicit cast between pointers (OpenCL C 6.7.9): the outermost spaces must overlap.
    pub(crate) fn check_pointer_cast(&mut self, from: QualTy, to: QualTy, span: Span) -> bool {
        let (from_space, to_space) = (space_of(from), space_of(to));
        if from_space.overlaps(to_space) {
            return true;
        }
        let (from_ty, to_ty) = (self.types.pointer(from), self.types.pointer(to));
        let (from_shown, to_shown) = (self.show(from_ty), self.show(to_ty));
        self.sink.report(
            Diagnostic::new(Code::AddressSpace, span, format!("`{from_shown}` cannot be cast to `{to_shown}`"))
                .label(format!(
                    "{} and {} memory do not overlap",
                    from_space.spelling(),
                    to_space.spelling()
                ))
                .help(format!("point to {} memory, or copy the data", from_space.spelling()))
                .note("OpenCL C 6.7.9: casting between pointers to non-overlapping address spaces is illegal"),
        );
        false
    }

    /// The type that two pointers share in `==`, `<`, `-` and `?:`: that of the enclosing space, with the
    /// qualifiers of both. None, reported, if their spaces are disjoint.
    pub(crate) fn common_pointer(
        &mut self,
        left: QualTy,
        right: QualTy,
        span: Span,
        what: &str,
    ) -> Option<TyId> {
        let (left_space, right_space) = (space_of(left), space_of(right));
        if !left_space.overlaps(right_space) {
            let (left_ty, right_ty) = (self.types.pointer(left), self.types.pointer(right));
            let (left_shown, right_shown) = (self.show(left_ty), self.show(right_ty));
            self.sink.report(
                Diagnostic::new(
                    Code::AddressSpace,
                    span,
                    format!("{what} `{left_shown}` and `{right_shown}`, which point into different memory"),
                )
                .label(format!("{} and {} memory do not overlap", left_space.spelling(), right_space.spelling()))
                .note("OpenCL C 6.7.9: both operands point into overlapping address spaces"),
            );
            return None;
        }
        let mut common = if self.types.get(left.ty) == &Ty::Void { left } else { right };
        match self.pointees(left.ty, right.ty) {
            Pointees::Compatible | Pointees::InnerQualifiers => {
                if left.ty == TyId::VOID || right.ty == TyId::VOID {
                    common.ty = TyId::VOID;
                }
            }
            Pointees::InnerSpaces | Pointees::Different => {
                let (left_ty, right_ty) = (self.types.pointer(left), self.types.pointer(right));
                let (left_shown, right_shown) = (self.show(left_ty), self.show(right_ty));
                self.sink.report(
                    Diagnostic::new(
                        Code::IncompatiblePointers,
                        span,
                        format!("{what} `{left_shown}` and `{right_shown}`, which point to different types"),
                    )
                    .help("cast one of them if that is meant"),
                );
                common.ty = TyId::VOID;
            }
        }
        common.quals.is_const = left.quals.is_const || right.quals.is_const;
        common.quals.is_volatile = left.quals.is_volatile || right.quals.is_volatile;
        common.quals.is_restrict = false;
        common.quals.space =
            Some(if left_space == AddressSpace::Generic { left_space } else { right_space });
        Some(self.types.pointer(common))
    }

    /// How the types that two pointers point to stand to each other (C99 6.7.5.1, 6.5.16.1).
    fn pointees(&self, from: TyId, to: TyId) -> Pointees {
        if from == to || from == TyId::VOID || to == TyId::VOID || from == TyId::ERROR || to == TyId::ERROR {
            return Pointees::Compatible;
        }
        match (self.types.get(from), self.types.get(to)) {
            (Ty::Pointer(from), Ty::Pointer(to)) => {
                let inner = self.pointees_exactly(from.ty, to.ty);
                if space_of(*from) != space_of(*to) && inner != Pointees::Different {
                    return Pointees::InnerSpaces;
                }
                match inner {
                    Pointees::Compatible if unspaced(*from) != unspaced(*to) => Pointees::InnerQualifiers,
                    inner => inner,
                }
            }
            (Ty::Array(from, from_count), Ty::Array(to, to_count))
                if from_count.is_none() || to_count.is_none() || from_count == to_count =>
            {
                match self.pointees_exactly(from.ty, to.ty) {
                    Pointees::Compatible if unspaced(*from) != unspaced(*to) => Pointees::InnerQualifiers,
                    inner => inner,
                }
            }
            (Ty::Enum(id), Ty::Scalar(scalar)) | (Ty::Scalar(scalar), Ty::Enum(id))
                if self.types.enums[*id].underlying == *scalar =>
            {
                Pointees::Compatible
            }
            _ => Pointees::Different,
        }
    }

    /// The same one level further in, where `void` stands for itself only.
    fn pointees_exactly(&self, from: TyId, to: TyId) -> Pointees {
        match (from == TyId::VOID, to == TyId::VOID) {
            (true, true) | (false, false) => self.pointees(from, to),
            _ => Pointees::Different,
        }
    }
}

/// The qualifiers that say nothing of address spaces.
fn unspaced(ty: QualTy) -> (bool, bool) {
    (ty.quals.is_const, ty.quals.is_volatile)
}
