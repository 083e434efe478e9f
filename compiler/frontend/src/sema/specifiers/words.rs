//! Combinations of keywords that name a type: `unsigned long int` and similar (C99 6.7.2).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span,
    ast::{self, FunctionSpecifier, Storage, TypeSpecifierKind},
};
use kiln_types::ty::{QualTy, Scalar, Ty, TyId};

use super::Named;
use crate::sema::Sema;

/// The number of occurrences of each keyword.
#[derive(Default)]
pub(super) struct Words {
    signed: u8,
    unsigned: u8,
    short: u8,
    long: u8,
    int: u8,
    complex: u8,
    /// The last `long`.
    last_long: Span,
    /// Keywords that are types by themselves.
    bases: Vec<TyId>,
}

impl Words {
    /// Counts a specifier if it is a keyword. Returns whether it is one.
    pub(super) fn take(&mut self, specifier: &TypeSpecifierKind, span: Span) -> bool {
        let count = match specifier {
            TypeSpecifierKind::Signed => &mut self.signed,
            TypeSpecifierKind::Unsigned => &mut self.unsigned,
            TypeSpecifierKind::Short => &mut self.short,
            TypeSpecifierKind::Long => {
                self.last_long = span;
                &mut self.long
            }
            TypeSpecifierKind::Int => &mut self.int,
            TypeSpecifierKind::Complex | TypeSpecifierKind::Imaginary => &mut self.complex,
            _ => {
                let base = match specifier {
                    TypeSpecifierKind::Void => TyId::VOID,
                    TypeSpecifierKind::Char => TyId::scalar(Scalar::Char),
                    TypeSpecifierKind::Float => TyId::FLOAT,
                    TypeSpecifierKind::Double => TyId::scalar(Scalar::Double),
                    TypeSpecifierKind::Half => TyId::scalar(Scalar::Half),
                    TypeSpecifierKind::Bool => TyId::BOOL,
                    _ => return false,
                };
                self.bases.push(base);
                return true;
            }
        };
        *count = count.saturating_add(1);
        true
    }

    /// Whether there are no keywords.
    pub(super) fn is_empty(&self) -> bool {
        self.bases.is_empty() && self.modifiers() == 0 && self.complex == 0
    }

    fn modifiers(&self) -> u32 {
        [self.signed, self.unsigned, self.short, self.long, self.int].into_iter().map(u32::from).sum()
    }
}

impl Sema<'_> {
    /// C99 6.7.2: each declaration has at least one type specifier.
    pub(super) fn check_has_type(&mut self, words: &Words, specifiers: &ast::Specifiers, span: Span) {
        // `storage_class` reports `auto` without a type.
        if !words.is_empty() || specifiers.storage.iter().any(|word| word.node == Storage::Auto) {
            return;
        }
        let kernel = specifiers.functions.iter().find(|word| word.node == FunctionSpecifier::Kernel);
        let diagnostic = Diagnostic::new(Code::ImplicitInt, span, "this declaration has no type")
            .note("C99 6.7.2: each declaration has at least one type specifier");
        self.report(match kernel {
            Some(word) => diagnostic.help("write `void`, the type of each kernel").fix(
                word.span,
                "insert `void`",
                "kernel void",
            ),
            None => diagnostic.help("declare its type"),
        });
    }

    /// The type that the keywords name together.
    pub(super) fn type_of_words(&mut self, words: &Words, span: Span) -> TyId {
        if words.complex > 0 {
            self.report(
                Diagnostic::new(Code::UnsupportedType, span, "OpenCL C has no complex types")
                    .note("OpenCL C 6.3.4: the names of complex types are reserved"),
            );
            return TyId::ERROR;
        }
        let unsigned = words.unsigned == 1;
        match (words.bases.as_slice(), (words.signed, words.unsigned, words.short, words.long, words.int)) {
            // `check_has_type` reports it.
            ([], (0, 0, 0, 0, 0)) => TyId::ERROR,
            ([base], (0, 0, 0, 0, 0)) if *base == TyId::scalar(Scalar::Double) => {
                self.available(Scalar::Double, span)
            }
            ([base], (0, 0, 0, 0, 0)) => *base,
            ([base], (0..=1, 0..=1, 0, 0, 0))
                if *base == TyId::scalar(Scalar::Char) && words.signed + words.unsigned == 1 =>
            {
                TyId::scalar(if unsigned { Scalar::UChar } else { Scalar::Char })
            }
            ([base], (0, 0, 0, 1, 0)) if *base == TyId::scalar(Scalar::Double) => {
                self.report(
                    Diagnostic::new(Code::LongLong, span, "`long double` is treated as `double`")
                        .help("write `double`")
                        .remove(words.last_long, "write `double`")
                        .note("OpenCL C 6.3.4: `long double` is reserved"),
                );
                self.available(Scalar::Double, span)
            }
            ([], (0..=1, 0..=1, short @ 0..=1, long @ 0..=2, 0..=1))
                if words.signed + words.unsigned <= 1 && (short == 0 || long == 0) =>
            {
                if long == 2 {
                    self.warn_long_long(span, unsigned, words.last_long);
                }
                let (plain, without_sign) = match (short, long) {
                    (1, _) => (Scalar::Short, Scalar::UShort),
                    (_, 0) => (Scalar::Int, Scalar::UInt),
                    _ => (Scalar::Long, Scalar::ULong),
                };
                self.available(if unsigned { without_sign } else { plain }, span)
            }
            _ => {
                let sign = if words.unsigned > 0 { "unsigned" } else { "signed" };
                let has_only_sign = words.modifiers() == 1 && words.signed + words.unsigned == 1;
                let message = match words.bases[..] {
                    [base] if has_only_sign => format!("`{}` cannot be `{sign}`", self.show(base)),
                    _ => "these words do not form a type".to_owned(),
                };
                self.report(
                    Diagnostic::new(Code::TypeSpecifiers, span, message)
                        .note("C99 6.7.2 lists the combinations"),
                );
                TyId::ERROR
            }
        }
    }

    /// `ulong long` is `unsigned long long`. All other keywords next to a type name are errors.
    pub(super) fn words_beside_name(&mut self, named: Named, words: &Words) -> Named {
        if named.ty.ty == TyId::ERROR {
            return named;
        }
        let is_long = matches!(*self.types.get(named.ty.ty), Ty::Scalar(Scalar::ULong));
        if is_long
            && words.bases.is_empty()
            && words.complex == 0
            && words.modifiers() == 1
            && words.long == 1
        {
            self.warn_long_long(named.span, true, words.last_long);
            return named;
        }
        let shown = self.show(named.ty.ty);
        self.report(
            Diagnostic::new(
                Code::TypeSpecifiers,
                named.span,
                format!("`{shown}` is a complete type and cannot be combined with other type words"),
            )
            .note("C99 6.7.2: a typedef name is the only type specifier"),
        );
        Named { ty: QualTy { ty: TyId::ERROR, ..named.ty }, ..named }
    }

    fn warn_long_long(&mut self, span: Span, is_unsigned: bool, last_long: Span) {
        let (written, meant) =
            if is_unsigned { ("unsigned long long", "ulong") } else { ("long long", "long") };
        self.report(
            Diagnostic::new(
                Code::LongLong,
                span,
                format!("`{written}` is treated as `{meant}`, with 64 bits"),
            )
            .help(format!("write `{meant}`"))
            .remove(last_long, "remove `long`")
            .note("OpenCL C 6.3.4: `long long` is reserved for 128 bits"),
        );
    }

    /// The type of keywords, after checking that it is supported.
    fn available(&mut self, scalar: Scalar, span: Span) -> TyId {
        let missing = scalar.named_condition().missing(self.options.std, self.extensions);
        if !missing.is_empty() {
            self.report_missing(&format!("the type `{}`", scalar.spelling()), &missing, span);
            return TyId::ERROR;
        }
        TyId::scalar(scalar)
    }
}
