//! Qualifiers: C99's, address spaces (OpenCL C 6.7), access qualifiers (6.8) and `pipe` (6.15.18).
//!
//! The qualifiers of an array are stored on its element type, except for the address space, which is stored on the
//! array. So equal array types compare equal, however they were written (C99 6.7.3).

use kiln_session::{
    diag::{Code, Diagnostic, Piece},
    extensions::Extension,
};
use kiln_syntax::{Span, Spanned, ast::Qualifier};
use kiln_types::ty::{Access, ImageDim, QualTy, Quals, Scalar, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, LanguageVersion};

use super::Named;
use crate::sema::Sema;

/// The qualifiers in one list.
#[derive(Clone, Copy, Default)]
pub(in crate::sema) struct Qualifiers {
    is_const: Option<Span>,
    is_volatile: Option<Span>,
    is_restrict: Option<Span>,
    pub(in crate::sema) space: Option<Spanned<AddressSpace>>,
    access: Option<Spanned<Access>>,
    pipe: Option<Span>,
    /// An `_Atomic` qualifier was reported.
    is_wrong: bool,
}

impl Sema<'_> {
    /// Checks a list of qualifiers, and reports those that are never allowed.
    pub(in crate::sema) fn qualifiers(&mut self, list: &[Spanned<Qualifier>]) -> Qualifiers {
        let mut found = Qualifiers::default();
        for word in list {
            let span = word.span;
            match word.node {
                Qualifier::Const => found.is_const = Some(span),
                Qualifier::Volatile => found.is_volatile = Some(span),
                Qualifier::Restrict => found.is_restrict = Some(span),
                Qualifier::Atomic => {
                    self.report_atomic_qualifier(span, None);
                    found.is_wrong = true;
                }
                Qualifier::Global => self.take_space(&mut found, AddressSpace::Global, span),
                Qualifier::Local => self.take_space(&mut found, AddressSpace::Local, span),
                Qualifier::Constant => self.take_space(&mut found, AddressSpace::Constant, span),
                Qualifier::Private => self.take_space(&mut found, AddressSpace::Private, span),
                Qualifier::Generic => self.take_generic(&mut found, span),
                Qualifier::ReadOnly => self.take_access(&mut found, Access::ReadOnly, span),
                Qualifier::WriteOnly => self.take_access(&mut found, Access::WriteOnly, span),
                Qualifier::ReadWrite => self.take_access(&mut found, Access::ReadWrite, span),
                Qualifier::Pipe if found.pipe.is_some() => self.report(
                    Diagnostic::new(Code::PipeType, span, "the packets of a pipe cannot be pipes").note(
                        "OpenCL C 6.15.18.1: packets are scalars, vectors, or structs and unions of those",
                    ),
                ),
                Qualifier::Pipe => found.pipe = Some(span),
            }
        }
        found
    }

    /// OpenCL C 6.7: multiple address space qualifiers are not allowed.
    fn take_space(&mut self, found: &mut Qualifiers, space: AddressSpace, span: Span) {
        match found.space {
            Some(first) if first.node != space => self.report_two_spaces(first.node, space, span),
            _ => found.space = Some(Spanned { node: space, span }),
        }
    }

    /// OpenCL C 6.7 reserves `generic` as a keyword without a meaning. Programs use it for the generic address space,
    /// including Khronos' conformance tests, because clang accepts it.
    fn take_generic(&mut self, found: &mut Qualifiers, span: Span) {
        let note = "OpenCL C 6.7: the names `generic` and `__generic` are reserved for future use";
        if self.has_generic() {
            self.report(
                Diagnostic::new(
                    Code::GenericQualifier,
                    span,
                    "`generic` is an extension: the word is reserved",
                )
                .help("remove it: a pointer without an address space is generic in this version")
                .remove(span, "remove the qualifier")
                .note(note),
            );
        } else {
            self.report(
                Diagnostic::new(Code::ReservedWord, span, "`generic` is reserved")
                    .help("qualify the pointer with the address space of its object, or compile with `-cl-std=CL2.0`")
                    .note(note),
            );
        }
        self.take_space(found, AddressSpace::Generic, span);
    }

    fn report_two_spaces(&mut self, first: AddressSpace, second: AddressSpace, span: Span) {
        self.report(
            Diagnostic::new(
                Code::AddressSpaceConflict,
                span,
                format!("a type cannot be both `{}` and `{}`", first.spelling(), second.spelling()),
            )
            .help("keep one; a qualifier after `*` applies to the pointer itself")
            .note("OpenCL C 6.7: multiple address space qualifiers are not allowed"),
        );
    }

    fn take_access(&mut self, found: &mut Qualifiers, access: Access, span: Span) {
        match found.access {
            Some(first) if first.node != access => {
                let diagnostic =
                    Diagnostic::new(Code::AccessQualifier, span, "a type has at most one access qualifier")
                        .also(first.span, "the first is here")
                        .note("OpenCL C 6.8");
                let are_both = [first.node, access].iter().all(|it| *it != Access::ReadWrite);
                let are_adjacent = first.span.hi + 1 == span.lo;
                self.report(match are_both {
                    true if are_adjacent => diagnostic.help("write `read_write`").fix(
                        first.span.to(span),
                        "write `read_write`",
                        "read_write",
                    ),
                    true => diagnostic.help("an image that is read and written is `read_write`"),
                    false => diagnostic,
                });
            }
            _ => found.access = Some(Spanned { node: access, span }),
        }
    }

    /// Reports `_Atomic` (OpenCL C 6.15.12.10). `fix` contains the span of qualifier and type, and the atomic type that
    /// replaces them.
    pub(in crate::sema) fn report_atomic_qualifier(&mut self, span: Span, fix: Option<(Span, &str)>) {
        let diagnostic = Diagnostic::new(Code::UnsupportedQualifier, span, "OpenCL C has no `_Atomic`")
            .note("OpenCL C 6.15.12.10: the `_Atomic` type specifier and qualifier are not supported");
        self.report(match fix {
            Some((whole, name)) => {
                let title = format!("write `{name}`");
                diagnostic.help(title.clone()).rewrite(whole, title, [Piece::Text(name)])
            }
            None => diagnostic.help("declare the object with an atomic type, such as that of `int`"),
        });
    }

    /// The atomic type of a scalar, if it needs no extension.
    pub(super) fn atomic_of(&self, ty: QualTy) -> Option<&'static str> {
        match self.types.get(ty.ty) {
            Ty::Scalar(Scalar::Int) => Some("atomic_int"),
            Ty::Scalar(Scalar::UInt) => Some("atomic_uint"),
            Ty::Scalar(Scalar::Float) => Some("atomic_float"),
            _ => None,
        }
    }

    /// Reports `_Atomic` next to a type, with no other qualifier between them. Returns whether it did.
    fn reports_atomic_type(&mut self, named: Named, list: &[Spanned<Qualifier>]) -> bool {
        let Some(word) = list.iter().find(|word| word.node == Qualifier::Atomic) else { return false };
        let Some(name) = self.atomic_of(named.ty) else { return false };
        let whole = word.span.to(named.span);
        let is_inside = |other: &Spanned<Qualifier>| whole.lo < other.span.lo && other.span.hi < whole.hi;
        if list.iter().any(is_inside) {
            return false;
        }
        self.report_atomic_qualifier(word.span, Some((whole, name)));
        true
    }

    /// Applies the qualifiers among the specifiers to a type.
    pub(super) fn qualified(&mut self, named: Named, list: &[Spanned<Qualifier>]) -> QualTy {
        if self.reports_atomic_type(named, list) {
            return TyId::ERROR.plain();
        }
        let found = self.qualifiers(list);
        let Named { mut ty, span, .. } = named;
        if let Some(pipe) = found.pipe {
            if pipe.lo > span.lo {
                self.report(
                    Diagnostic::new(Code::PipeType, pipe, "`pipe` must be before the type of its packets")
                        .note("OpenCL C 6.3.9, 6.15.18.1: `pipe` is reserved and cannot be a name"),
                );
                return TyId::ERROR.plain();
            }
            ty = self.pipe_of(ty, found.access, pipe);
        } else if let Some(access) = found.access {
            ty.ty = self.with_access(named, access);
        }
        self.qualify(ty, found)
    }

    /// Adds qualifiers to a type. For an array, to its elements (C99 6.7.3).
    pub(in crate::sema) fn qualify(&mut self, ty: QualTy, found: Qualifiers) -> QualTy {
        if ty.ty == TyId::ERROR || found.is_wrong {
            return TyId::ERROR.plain();
        }
        let cv = found.is_const.or(found.is_volatile).or(found.is_restrict);
        if let Some(span) = cv
            && matches!(self.types.get(ty.ty), Ty::Image(_))
        {
            self.report(
                Diagnostic::new(Code::QualifierTarget, span, "an image type takes no such qualifier")
                    .help("say how the image is used with `read_only`, `write_only` or `read_write`")
                    .note(
                        "OpenCL C 6.11.q: `const`, `restrict` and `volatile` cannot be used with image types",
                    ),
            );
            return ty;
        }
        let mut is_restrict = found.is_restrict.is_some();
        if let Some(span) = found.is_restrict
            && !matches!(self.types.get(self.element_type(ty.ty)), Ty::Pointer(_))
        {
            self.report(
                Diagnostic::new(Code::QualifierTarget, span, "only a pointer can be `restrict`")
                    .help("write it after the `*`, or remove it")
                    .remove(span, "remove `restrict`")
                    .note("OpenCL C 6.11.q: types other than pointer types shall not use `restrict`"),
            );
            is_restrict = false;
        }
        let mut ty = self.with_quals(
            ty,
            Quals {
                is_const: found.is_const.is_some(),
                is_volatile: found.is_volatile.is_some(),
                is_restrict,
                space: None,
            },
        );
        if let Some(space) = found.space {
            match ty.quals.space {
                Some(first) if first != space.node => self.report_two_spaces(first, space.node, space.span),
                _ => ty.quals.space = Some(space.node),
            }
        }
        ty
    }

    /// Adds `const`, `volatile` and `restrict` to a type, or to the elements of an array.
    pub(in crate::sema) fn with_quals(&mut self, ty: QualTy, quals: Quals) -> QualTy {
        if let Ty::Array(element, count) = *self.types.get(ty.ty) {
            let element = self.with_quals(element, quals);
            return QualTy { ty: self.types.intern(Ty::Array(element, count)), quals: ty.quals };
        }
        QualTy {
            ty: ty.ty,
            quals: Quals {
                is_const: ty.quals.is_const | quals.is_const,
                is_volatile: ty.quals.is_volatile | quals.is_volatile,
                is_restrict: ty.quals.is_restrict | quals.is_restrict,
                space: ty.quals.space,
            },
        }
    }

    /// The innermost element type of an array. Other types are returned unchanged.
    pub(in crate::sema) fn element_type(&self, mut ty: TyId) -> TyId {
        while let Ty::Array(element, _) = *self.types.get(ty) {
            ty = element.ty;
        }
        ty
    }

    /// OpenCL C 6.15.18.1: `pipe gentype`.
    fn pipe_of(&mut self, packet: QualTy, access: Option<Spanned<Access>>, span: Span) -> QualTy {
        if packet.ty == TyId::ERROR {
            return packet;
        }
        let missing: Vec<String> = if self.options.std < LanguageVersion::Cl20 {
            vec!["OpenCL C 2.0".into()]
        } else if !self.extensions.has(Extension::Pipes) {
            vec![Extension::Pipes.name().into()]
        } else {
            Vec::new()
        };
        if !missing.is_empty() {
            self.report_missing("`pipe`", &missing, span);
            return TyId::ERROR.plain();
        }
        if !self.types.is_complete(packet.ty) || self.is_opaque(packet.ty) {
            let shown = self.show(packet.ty);
            self.report(
                Diagnostic::new(
                    Code::PipeType,
                    span,
                    format!("packets of a pipe cannot have type `{shown}`"),
                )
                .note("OpenCL C 6.15.18.1: a packet is of a scalar, vector or user-defined type"),
            );
            return TyId::ERROR.plain();
        }
        if let Some(access) = access
            && access.node == Access::ReadWrite
        {
            self.report(
                Diagnostic::new(Code::AccessQualifier, access.span, "a pipe cannot be `read_write`")
                    .help("pass it twice, `read_only` and `write_only`, to different kernels")
                    .note("OpenCL C 6.15.18.1"),
            );
        }
        let access = access.map_or(Access::ReadOnly, |access| access.node);
        let ty = self.types.intern(Ty::Pipe(packet.ty, access));
        QualTy { ty, quals: packet.quals }
    }

    /// OpenCL C 6.8: applies an access qualifier to an image type. An image type from a typedef already has one; the
    /// default is `read_only`.
    fn with_access(&mut self, named: Named, access: Spanned<Access>) -> TyId {
        let Named { ty: QualTy { ty, .. }, span, .. } = named;
        let image = match *self.types.get(ty) {
            Ty::Error => return ty,
            Ty::Image(image) => image,
            _ => {
                let shown = self.show(ty);
                self.report(
                    Diagnostic::new(
                        Code::AccessQualifier,
                        access.span,
                        format!("`{shown}` takes no access qualifier"),
                    )
                    .also(span, "neither an image nor a pipe")
                    .note("OpenCL C 6.8: access qualifiers are for image and pipe arguments"),
                );
                return ty;
            }
        };
        if named.is_defined && image.access != access.node {
            let shown = self.show(ty);
            self.report(
                Diagnostic::new(
                    Code::AccessQualifier,
                    access.span,
                    format!("a type has at most one access qualifier, and this is a `{shown}`"),
                )
                .help("write the qualifier in the typedef, or none there and the image type itself here")
                .note("OpenCL C 6.8"),
            );
        }
        let missing = match access.node {
            Access::ReadOnly => None,
            Access::WriteOnly if image.dim != ImageDim::D3 => None,
            Access::WriteOnly => {
                let is_there = [Extension::Image3dWrites, Extension::Khr3dImageWrites]
                    .into_iter()
                    .any(|extension| self.extensions.has(extension));
                (!is_there).then_some("cl_khr_3d_image_writes")
            }
            Access::ReadWrite if self.options.std < LanguageVersion::Cl20 => Some("OpenCL C 2.0"),
            Access::ReadWrite => (!self.extensions.has(Extension::ReadWriteImages))
                .then_some(Extension::ReadWriteImages.name()),
        };
        if let Some(missing) = missing {
            self.report_missing("this use of the image", &[missing.to_owned()], access.span);
            return TyId::ERROR;
        }
        self.types.intern(Ty::Image(kiln_types::ty::ImageTy { access: access.node, ..image }))
    }
}
