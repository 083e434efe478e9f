//! Pointers with different types or address spaces: messages for conversions that `Types` rejects or flags (OpenCL C
//! 6.7.9, C99 6.5.16.1), and the common type of two pointers.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::{ConversionError, Implicit, Pointee, PointerChange, QualTy, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::{Sema, convert::AssignContext};

impl Sema<'_> {
    /// Reports an implicit pointer conversion that C99 6.5.16.1 does not allow.
    pub(crate) fn warn_pointer_change(
        &mut self,
        change: PointerChange,
        from: TyId,
        to: TyId,
        span: Span,
        context: AssignContext,
    ) {
        let drops = change.dropped.is_const || change.dropped.is_volatile;
        let code = match change.pointee {
            Pointee::Other => Code::IncompatiblePointers,
            Pointee::Sign => Code::PointerSign,
            Pointee::Compatible if drops => Code::DiscardedQualifiers,
            Pointee::Compatible => return,
        };
        if !self.sink.is_enabled(code) {
            return;
        }
        let (from_shown, to_shown) = (self.show(from), self.show(to));
        let context = context.describe();
        if code != Code::DiscardedQualifiers {
            self.report(
                Diagnostic::new(
                    code,
                    span,
                    format!(
                        "`{from_shown}` becomes `{to_shown}` {context} though they point to different types"
                    ),
                )
                .help("cast it to reinterpret the object as another type")
                .note("C99 6.5.16.1: the types pointed to are compatible, or one is `void`"),
            );
        } else {
            let dropped = if change.dropped.is_const { "const" } else { "volatile" };
            self.report(
                Diagnostic::new(
                    code,
                    span,
                    format!("`{from_shown}` becomes `{to_shown}` {context}, which drops `{dropped}`"),
                )
                .note("C99 6.5.16.1: the type pointed to keeps all the qualifiers that it had"),
            );
        }
    }

    /// Reports a pointer conversion that is invalid because of address spaces (OpenCL C 6.7.9).
    pub(crate) fn report_spaces(
        &mut self,
        error: ConversionError,
        from: TyId,
        to: TyId,
        span: Span,
        context: AssignContext,
    ) {
        let (from_shown, to_shown) = (self.show(from), self.show(to));
        let message = format!("`{from_shown}` cannot become `{to_shown}` {}", context.describe());
        let diagnostic = Diagnostic::new(Code::AddressSpace, span, message);
        let ConversionError::Spaces { from, to } = error else {
            self.report(
                diagnostic
                    .label("the inner pointers have different address spaces")
                    .help("cast it if you know where it points")
                    .note("OpenCL C 6.7.9: for nested pointers, implicit conversions between address spaces are disallowed"),
            );
            return;
        };
        let diagnostic = diagnostic.label(format!("points to {} memory", from.spelling()));
        let is_stored = matches!(context, AssignContext::Assign | AssignContext::Initialize);
        self.report(match (from, to) {
            (AddressSpace::Constant, AddressSpace::Generic)
            | (AddressSpace::Generic, AddressSpace::Constant) => {
                let help = match from {
                    AddressSpace::Constant if is_stored => {
                        "declare the pointer with `constant`, or copy the data"
                    }
                    AddressSpace::Constant => "copy the data, or let the function take a `constant` pointer",
                    _ => "point to an object that is declared `constant`",
                };
                diagnostic
                    .help(help)
                    .note("OpenCL C 6.7.9: the constant address space is not part of the generic one")
            }
            (AddressSpace::Generic, to) => diagnostic
                .help(format!(
                    "cast it if it is known to point to {0} memory, or use `to_{0}(…)`",
                    to.spelling()
                ))
                .note("OpenCL C 6.7.9: a generic pointer becomes a named one only by a cast"),
            (from, to) => {
                let help = if is_stored {
                    format!("declare the pointer with `{}`, or copy the data", from.spelling())
                } else {
                    format!(
                        "let the function take a `{}` pointer, or copy the data to {} memory first",
                        from.spelling(),
                        to.spelling()
                    )
                };
                diagnostic.help(help).note("OpenCL C 6.7.9: the named address spaces are disjoint")
            }
        });
    }

    /// Reports a cast between disjoint address spaces (OpenCL C 6.7.9).
    pub(crate) fn report_cast_spaces(
        &mut self,
        (from_space, to_space): (AddressSpace, AddressSpace),
        from: TyId,
        to: TyId,
        span: Span,
    ) {
        let (from_shown, to_shown) = (self.show(from), self.show(to));
        self.report(
            Diagnostic::new(
                Code::AddressSpace,
                span,
                format!("`{from_shown}` cannot be cast to `{to_shown}`"),
            )
            .label(format!("{} and {} memory do not overlap", from_space.spelling(), to_space.spelling()))
            .help(format!("point to {} memory, or copy the data", from_space.spelling()))
            .note("OpenCL C 6.7.9: casting between pointers to non-overlapping address spaces is illegal"),
        );
    }

    /// The common type of two pointers in `==`, `<`, `-` and `?:`: the enclosing address space, with the qualifiers
    /// of both. Reports disjoint address spaces and returns `None`. `what` is the start of the messages, and `code` that of the
    /// message about different types.
    pub(crate) fn common_pointer(
        &mut self,
        left: QualTy,
        right: QualTy,
        span: Span,
        (what, code): (&str, Code),
    ) -> Option<TyId> {
        let (left_ty, right_ty) = (self.types.pointer(left), self.types.pointer(right));
        let (left_shown, right_shown) = (self.show(left_ty), self.show(right_ty));
        let (left_space, right_space) = (space(left), space(right));
        if !left_space.overlaps(right_space) {
            self.report(
                Diagnostic::new(
                    Code::AddressSpace,
                    span,
                    format!("{what} `{left_shown}` and `{right_shown}`, which point into different memory"),
                )
                .label(format!(
                    "{} and {} memory do not overlap",
                    left_space.spelling(),
                    right_space.spelling()
                ))
                .note("OpenCL C 6.7.9: both operands point into overlapping address spaces"),
            );
            return None;
        }
        let mut common = left;
        common.quals = left.quals.union(right.quals);
        common.quals.is_restrict = false;
        common.quals.space = Some(if left_space == right_space { left_space } else { AddressSpace::Generic });
        let pointee = match self.pointee_relation(left, right) {
            Some(Pointee::Compatible) => {
                if right.ty == TyId::VOID {
                    common.ty = TyId::VOID;
                }
                return Some(self.types.pointer(common));
            }
            found => found,
        };
        let code = if pointee == Some(Pointee::Sign) { Code::PointerSign } else { code };
        self.report(
            Diagnostic::new(
                code,
                span,
                format!("{what} `{left_shown}` and `{right_shown}`, which point to different types"),
            )
            .help("cast one of them to make the conversion explicit"),
        );
        common.ty = TyId::VOID;
        Some(self.types.pointer(common))
    }

    /// Compares the pointee types of two pointers, ignoring their address spaces and qualifiers.
    fn pointee_relation(&mut self, left: QualTy, right: QualTy) -> Option<Pointee> {
        let left = self.types.pointer(left.ty.plain());
        let right = self.types.pointer(right.ty.plain());
        match self.types.implicit(left, right) {
            Implicit::Same => Some(Pointee::Compatible),
            Implicit::Pointer(change) => Some(change.pointee),
            _ => None,
        }
    }
}

/// The address space of a pointee.
fn space(pointee: QualTy) -> AddressSpace {
    pointee.quals.space.unwrap_or(AddressSpace::Private)
}
