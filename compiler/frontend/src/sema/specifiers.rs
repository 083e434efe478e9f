//! Declaration specifiers: converts the words before a declarator to a type with qualifiers (C99 6.7, OpenCL C 6.3).
//!
//! `declarator` derives the declared type, and `placement` determines the address space.

mod qualifiers;
mod words;

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span, Spanned, Symbol,
    ast::{self, FunctionSpecifier, Storage, TypeSpecifierKind},
};
use kiln_types::ty::{self, QualTy, Scalar, Ty, TyId};
use kiln_vocabulary::{extensions::Extension, opencl::AddressSpace};

use super::{Entity, Meaning, Role, Sema, TypedefProperties, attributes::Target};
use crate::foreign;

use words::Words;

/// The meaning of the specifiers of a declaration.
#[derive(Clone, Debug)]
pub(crate) struct Specified {
    /// The type. Has an address space only if one was written, here or in a typedef.
    pub(crate) ty: QualTy,
    /// Properties of the specifiers beyond the type.
    pub(crate) typedef_properties: TypedefProperties,
    /// The storage class.
    pub(crate) storage: Option<Spanned<Storage>>,
    /// `kernel`
    pub(crate) kernel: Option<Span>,
    /// `inline`
    pub(crate) inline: Option<Span>,
    /// Whether they contain a `struct`, `union` or `enum`.
    pub(crate) has_tag: bool,
}

impl Specified {
    /// The properties beyond the type that apply to this declarator. None if it derives a type other than an array.
    pub(crate) fn typedef_properties_of(&self, declarator: &ast::Declarator) -> TypedefProperties {
        let is_array =
            |derivation: &ast::Derivation| matches!(derivation.kind, ast::DerivationKind::Array(_));
        if declarator.derivations.iter().all(is_array) {
            self.typedef_properties
        } else {
            TypedefProperties::default()
        }
    }
}

/// The type that a name or construct refers to.
#[derive(Clone, Copy)]
struct Named {
    ty: QualTy,
    typedef_properties: TypedefProperties,
    /// Whether it comes from a typedef of the program.
    is_defined: bool,
    span: Span,
}

impl Named {
    fn new(ty: QualTy, span: Span) -> Self {
        Self { ty, typedef_properties: TypedefProperties::default(), is_defined: false, span }
    }
}

impl Sema<'_> {
    /// Checks declaration specifiers: type, storage class and function specifiers.
    pub(crate) fn specifiers(&mut self, specifiers: &ast::Specifiers) -> Specified {
        let (mut named, has_tag) = self.base_type(specifiers);
        named.ty = self.qualified(named, specifiers.qualifiers);
        let storage = self.storage_class(specifiers.storage, !specifiers.types.is_empty());
        let find =
            |wanted| specifiers.functions.iter().find(|word| word.node == wanted).map(|word| word.span);
        if let Some(span) = find(FunctionSpecifier::Noreturn) {
            self.report_c11("`_Noreturn`", span);
        }
        Specified {
            ty: named.ty,
            typedef_properties: named.typedef_properties,
            storage,
            kernel: find(FunctionSpecifier::Kernel),
            inline: find(FunctionSpecifier::Inline),
            has_tag,
        }
    }

    /// The type of a type name (C99 6.7.6). Has an address space only if one was written.
    pub(crate) fn type_name(&mut self, name: &ast::TypeName) -> QualTy {
        self.type_name_aligned(name).0
    }

    /// The type, and its alignment if a typedef has the attribute `aligned`.
    pub(crate) fn type_name_aligned(&mut self, name: &ast::TypeName) -> (QualTy, Option<u64>) {
        let specified = self.specifiers(&name.specifiers);
        self.attributes(name.specifiers.attributes, Target::TypeName);
        self.no_storage(&specified, "a type name");
        let align = specified.typedef_properties_of(&name.declarator).align;
        (self.declarator(specified.ty, &name.declarator).ty, align)
    }

    /// Reports a storage class or function specifier where none is allowed.
    pub(crate) fn no_storage(&mut self, specified: &Specified, what: &str) {
        if let Some(storage) = specified.storage {
            self.report(
                Diagnostic::new(Code::StorageClass, storage.span, format!("{what} has no storage class"))
                    .help("leave it out")
                    .remove(storage.span, "remove the storage class"),
            );
        }
        self.no_function_specifier(specified);
    }

    /// Reports `kernel` and `inline` where no function is declared.
    pub(crate) fn no_function_specifier(&mut self, specified: &Specified) {
        for span in [specified.kernel, specified.inline].into_iter().flatten() {
            self.report(
                Diagnostic::new(Code::FunctionSpecifier, span, "this is only allowed before a function")
                    .help("remove it; if it is a name, choose another one, because it is a keyword"),
            );
        }
    }

    /// The type without the qualifiers next to it, and whether the specifiers contain a tag.
    fn base_type(&mut self, specifiers: &ast::Specifiers) -> (Named, bool) {
        let mut words = Words::default();
        let mut named: Option<Named> = None;
        let mut has_tag = false;
        for specifier in specifiers.types {
            let span = specifier.span;
            if words.take(&specifier.kind, span) {
                continue;
            }
            has_tag |= matches!(specifier.kind, TypeSpecifierKind::Record(_) | TypeSpecifierKind::Enum(_));
            let found = self.named_type(specifier);
            if named.is_some() {
                self.report(Diagnostic::new(
                    Code::TypeSpecifiers,
                    span,
                    "this declaration already has a type",
                ));
                return (Named::new(TyId::ERROR.plain(), span), has_tag);
            }
            named = Some(found);
        }
        let span = specifiers.types.first().zip(specifiers.types.last());
        let span = span.map_or(specifiers.span, |(first, last)| first.span.to(last.span));
        let found = match named {
            Some(named) if words.is_empty() => named,
            Some(named) => self.words_beside_name(named, &words),
            None => {
                self.check_has_type(&words, specifiers, span);
                Named::new(self.type_of_words(&words, span).plain(), span)
            }
        };
        (found, has_tag)
    }

    /// The type of a specifier that is a name or construct.
    fn named_type(&mut self, specifier: &ast::TypeSpecifier) -> Named {
        let span = specifier.span;
        let ty = match &specifier.kind {
            TypeSpecifierKind::Name(name) => return self.type_of_name(*name, span),
            TypeSpecifierKind::Record(record) => self.record_specifier(record, span).plain(),
            TypeSpecifierKind::Enum(specifier) => self.enum_specifier(specifier, span).plain(),
            TypeSpecifierKind::Atomic(name) => {
                let named = self.type_name(name);
                let atomic = self.atomic_of(named);
                self.report_atomic_qualifier(span, atomic.map(|name| (span, name)));
                TyId::ERROR.plain()
            }
            TypeSpecifierKind::TypeofExpr(expr) => {
                self.warn_typeof(span);
                self.type_of_expression(expr)
            }
            TypeSpecifierKind::TypeofType(name) => {
                self.warn_typeof(span);
                self.type_name(name)
            }
            _ => TyId::ERROR.plain(),
        };
        Named::new(ty, span)
    }

    /// The type of a typedef name, predeclared or declared by the program (C99 6.7.7, OpenCL C 6.3).
    fn type_of_name(&mut self, name: Symbol, span: Span) -> Named {
        let error = Named::new(TyId::ERROR.plain(), span);
        match self.lookup(name).map(|binding| (&binding.meaning, binding.span)) {
            Some((Entity::Typedef { ty, typedef_properties }, declared)) => {
                let found =
                    Named { ty: *ty, typedef_properties: *typedef_properties, is_defined: true, span };
                self.note(span, Meaning::Typedef(declared), Role::Use);
                return found;
            }
            Some((Entity::Error, _)) => return error,
            Some(_) => {
                let message = format!("`{}` is not a type here", self.text(name));
                self.report(Diagnostic::new(Code::UnknownType, span, message));
                return error;
            }
            None => {}
        }
        let Some(found) = self.types.predeclared(self.interner.text(name)) else {
            self.report_unknown_type(name, span);
            return error;
        };
        let text = self.text(name).to_owned();
        if let Some(missing) = found.missing(self.options.std, self.extensions) {
            self.report_missing(&format!("the type `{text}`"), &missing, span);
            return error;
        }
        self.note(span, Meaning::Type(name), Role::Use);
        self.warn_not_enabled(found.ty, span);
        let is_host_sized = matches!(&*text, "size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t");
        Named {
            typedef_properties: TypedefProperties { align: None, is_host_sized },
            ..Named::new(found.ty.plain(), span)
        }
    }

    pub(super) fn report_unknown_type(&mut self, name: Symbol, span: Span) {
        let text = self.text(name).to_owned();
        if !self.is_first_report(&text) {
            return;
        }
        let text = text.as_str();
        let mut diagnostic = Diagnostic::new(Code::UnknownType, span, format!("there is no type `{text}`"));
        if let Some(tag) = self.scopes.lookup_tag(name) {
            let word = self.tag_word(tag.meaning);
            diagnostic = diagnostic.help(format!("write `{word} {text}`")).fix(
                span,
                format!("insert `{word}`"),
                format!("{word} {text}"),
            );
        } else if let Some(meant) = foreign::type_for(text) {
            diagnostic = diagnostic.help(format!("write `{meant}`")).replace(span, meant);
        } else if let Some(note) = foreign::explain_word(text) {
            diagnostic = diagnostic.note(note);
        } else if ty::is_reserved(text) {
            diagnostic = diagnostic.note("OpenCL C 6.3.4: the name is reserved for a future type");
        } else if let Some(similar) = self.similar_type(text) {
            diagnostic = diagnostic.help(format!("did you mean `{similar}`?")).replace(span, similar);
        }
        self.report(diagnostic);
    }

    /// Reports that something needs an unavailable extension, feature or version.
    pub(crate) fn report_missing(&mut self, what: &str, missing: &[String], span: Span) {
        let list = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let target = &self.options.target;
        let lacks = |name: &&String| Extension::parse(name).is_some_and(|it| it.is_missing_in(target));
        let help = match missing.iter().find(lacks) {
            Some(name) => format!(
                "the target device does not have `{name}`: use another device, or put the code that needs it between \
                 `#ifdef {name}` and `#endif`"
            ),
            None => "choose the version with `-cl-std=`, extensions and features with `-cl-ext=`".to_owned(),
        };
        self.report(Diagnostic::new(Code::MissingExtension, span, format!("{what} needs {list}")).help(help));
    }

    /// The storage class. At most one is allowed (C99 6.7.1, OpenCL C 6.10).
    fn storage_class(&mut self, storage: &[Spanned<Storage>], has_type: bool) -> Option<Spanned<Storage>> {
        let mut found: Option<Spanned<Storage>> = None;
        for &word in storage {
            let rejected = match word.node {
                Storage::Auto => Some("auto"),
                Storage::Register => Some("register"),
                Storage::ThreadLocal => Some("_Thread_local"),
                Storage::Typedef | Storage::Extern | Storage::Static => None,
            };
            if let Some(name) = rejected {
                let diagnostic = Diagnostic::new(
                    Code::StorageClass,
                    word.span,
                    format!("OpenCL C has no storage class `{name}`"),
                )
                .note("OpenCL C 6.10, 6.11.i: the storage classes are `typedef`, `extern` and `static`");
                self.report(match word.node {
                    Storage::ThreadLocal => diagnostic
                        .help("declare it in a function: each work-item has its own variables there"),
                    _ if has_type => {
                        diagnostic.help("leave it out").remove(word.span, format!("remove `{name}`"))
                    }
                    _ => diagnostic.help("OpenCL C does not deduce types: declare the type"),
                });
                continue;
            }
            match found {
                None => found = Some(word),
                Some(first) if first.node == word.node => {}
                Some(first) => self.report(
                    Diagnostic::new(Code::StorageClass, word.span, "a declaration has one storage class")
                        .also(first.span, "the first is here"),
                ),
            }
        }
        found
    }

    /// A usable type name with similar spelling.
    fn similar_type(&self, text: &str) -> Option<String> {
        let is_type = |entity: &Entity| matches!(entity, Entity::Typedef { .. });
        let mut predeclared = Vec::new();
        kiln_syntax::predeclared::each(|name, _| predeclared.push(name.to_owned()));
        predeclared.extend(Scalar::ALL.map(|scalar| scalar.spelling().to_owned()));
        let mut names: Vec<&str> = predeclared.iter().map(String::as_str).collect();
        names.extend(
            self.scopes.visible_names().filter(|(_, it)| is_type(it)).map(|(name, _)| self.text(name)),
        );
        // A misspelled keyword before a name, such as `retrun x`, looks like a type.
        names.extend(kiln_syntax::token::Keyword::ALL.iter().map(|(word, _)| *word));
        kiln_session::diag::closest(text, names)
    }

    fn warn_typeof(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::TypeofExtension, span, "`typeof` is an extension of GNU C")
                .note("OpenCL C is based on C99, which has no `typeof`"),
        );
    }

    /// The type of an unevaluated expression.
    fn type_of_expression(&mut self, expr: &ast::Expr) -> QualTy {
        let mut ty = self.unevaluated_type(expr);
        ty.quals.space = None;
        self.bounded(ty, expr.span)
    }

    /// The default address space of a pointee (OpenCL C 6.7.8).
    pub(crate) fn default_pointee_space(&self) -> AddressSpace {
        if self.has_generic() { AddressSpace::Generic } else { AddressSpace::Private }
    }

    /// Whether objects of this scalar type are storage only, as for `half` without its extension.
    pub(crate) fn is_storage_only(&self, ty: TyId) -> bool {
        matches!(self.types.get(ty), Ty::Scalar(scalar @ Scalar::Half)
            if !scalar.condition().holds(self.options.std, self.extensions))
    }
}
