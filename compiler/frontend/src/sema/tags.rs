//! `struct`, `union` and `enum`: their tags, members and enumerators (C99 6.7.2.1–6.7.2.3).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span, Symbol,
    ast::{self, RecordKind},
};
use kiln_types::ty::{
    Enum, EnumId, Field, MemberLayout, QualTy, Record, RecordAttributes, RecordId, Scalar, Ty, TyId, lay_out,
};
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Entity, Meaning, Role, Sema, Tag, attributes::Target};
use crate::hir::Const;

/// The members of a record during its definition.
#[derive(Default)]
struct Members {
    fields: Vec<Field>,
    layouts: Vec<MemberLayout>,
    /// All accessible member names, including those of anonymous members.
    names: FxHashMap<Symbol, Span>,
}

/// The state of tags beyond their scopes.
#[derive(Default)]
pub(crate) struct Tags {
    /// The tags whose definitions are being checked.
    open: Vec<Tag>,
    /// Records with a member whose size on the host is unknown (OpenCL C 6.11.m).
    pub(super) host_sized: FxHashSet<RecordId>,
}

impl Tags {
    /// Whether the definition of a tag is being checked.
    fn is_open(&self, tag: Tag) -> bool {
        self.open.contains(&tag)
    }
}

impl Sema<'_> {
    /// The keyword for a tag.
    pub(super) fn tag_word(&self, tag: Tag) -> &'static str {
        match tag {
            Tag::Record(id) => record_word(self.types.records[id].kind),
            Tag::Enum(_) => "enum",
        }
    }

    /// `struct tag`, `struct tag { … }` and the same for `union` (C99 6.7.2.1).
    pub(super) fn record_specifier(&mut self, specifier: &ast::RecordSpecifier, span: Span) -> TyId {
        let Some(members) = &specifier.members else {
            self.attributes(specifier.attributes, Target::TypeName);
            return match specifier.tag {
                Some(tag) => match self.scopes.lookup_tag(tag.node).map(|binding| binding.meaning) {
                    Some(Tag::Record(id)) if self.types.records[id].kind == specifier.kind => {
                        self.note_tag(specifier.tag, Tag::Record(id), Role::Use);
                        self.types.intern(Ty::Record(id))
                    }
                    Some(_) => self.report_other_tag(tag.node, record_word(specifier.kind), span),
                    None => {
                        let id = self.new_record(specifier, span);
                        self.note_tag(specifier.tag, Tag::Record(id), Role::Declaration);
                        self.types.intern(Ty::Record(id))
                    }
                },
                None => TyId::ERROR,
            };
        };
        let known = specifier.tag.and_then(|tag| self.scopes.lookup_tag_innermost(tag.node).cloned());
        let id = match known.map(|binding| (binding.meaning, binding.span)) {
            Some((Tag::Record(id), _))
                if self.types.records[id].kind == specifier.kind
                    && self.types.records[id].fields.is_none()
                    && !self.tags.is_open(Tag::Record(id)) =>
            {
                self.types.records[id].span = span;
                id
            }
            Some((Tag::Record(id), first)) if self.types.records[id].kind == specifier.kind => {
                self.report_tag_redefined(specifier.tag, first, span);
                self.new_record(specifier, span)
            }
            Some(_) => {
                let tag = specifier.tag.map(|tag| tag.node);
                let error = tag.map(|tag| self.report_other_tag(tag, record_word(specifier.kind), span));
                if let Some(error) = error {
                    return error;
                }
                self.new_record(specifier, span)
            }
            None => self.new_record(specifier, span),
        };
        self.note_tag(specifier.tag, Tag::Record(id), Role::Definition);
        self.tags.open.push(Tag::Record(id));
        self.record_members(id, members, specifier.attributes);
        self.tags.open.pop();
        self.types.intern(Ty::Record(id))
    }

    /// Creates an incomplete record and declares its tag.
    fn new_record(&mut self, specifier: &ast::RecordSpecifier, span: Span) -> RecordId {
        let name = specifier.tag.map(|tag| tag.node);
        let has_tag = name.is_some();
        let record = Record { kind: specifier.kind, name, has_tag, fields: None, size: 0, align: 1, span };
        let id = self.types.records.push(record);
        self.declare_tag(specifier.tag, Tag::Record(id));
        id
    }

    /// Declares a tag at its definition, even if the definition is invalid.
    fn declare_tag(&mut self, tag: Option<ast::Ident>, meaning: Tag) {
        let Some(tag) = tag else { return };
        let known = self.scopes.lookup_tag_innermost(tag.node).map(|binding| binding.meaning);
        if !known.is_some_and(|known| self.tags.is_open(known)) {
            self.scopes.declare_tag(tag.node, meaning, tag.span);
        }
    }

    /// Whether a record has a wanted member, or an array of them, at any depth.
    pub(super) fn has_member(&self, id: RecordId, is_wanted: &dyn Fn(TyId) -> bool) -> bool {
        self.types.records[id].fields.iter().flatten().any(|field| {
            let ty = self.element_type(field.ty.ty);
            match *self.types.get(ty) {
                Ty::Record(inner) => self.has_member(inner, is_wanted),
                _ => is_wanted(ty),
            }
        })
    }

    fn report_tag_redefined(&mut self, tag: Option<ast::Ident>, first: Span, span: Span) {
        let name = tag.map_or_else(String::new, |tag| self.text(tag.node).to_owned());
        let span = tag.map_or(span, |tag| tag.span);
        self.report(
            Diagnostic::new(Code::Redefinition, span, format!("`{name}` is defined twice"))
                .also(first, "the first definition"),
        );
    }

    /// C99 6.7.2.3: a tag names one kind of type.
    fn report_other_tag(&mut self, tag: Symbol, word: &str, span: Span) -> TyId {
        let (name, binding) = (self.text(tag).to_owned(), self.scopes.lookup_tag(tag).cloned());
        let mut diagnostic =
            Diagnostic::new(Code::ConflictingDeclaration, span, format!("`{name}` is not a `{word}`"))
                .note("C99 6.7.2.3: a tag is declared with the same word each time");
        if let Some(binding) = binding {
            let other = self.tag_word(binding.meaning);
            diagnostic = diagnostic.also(binding.span, format!("it is declared as `{other}` here"));
        }
        self.report(diagnostic);
        TyId::ERROR
    }

    /// Checks the members in braces.
    fn record_members(&mut self, id: RecordId, declarations: &[ast::Member], attributes: &[ast::Attribute]) {
        let attributes = self.attributes(attributes, Target::Record);
        let mut members = Members::default();
        for (number, declaration) in declarations.iter().enumerate() {
            if self.member_declaration(declaration, number + 1 == declarations.len(), &mut members) {
                self.tags.host_sized.insert(id);
            }
        }
        let span = self.types.records[id].span;
        if members.fields.is_empty() && declarations.is_empty() {
            let word = record_word(self.types.records[id].kind);
            self.report(
                Diagnostic::new(Code::EmptyRecord, span, format!("this `{word}` has no members"))
                    .note("C99 6.7.2.1: a structure or union has at least one member"),
            );
        }
        let kind = self.types.records[id].kind;
        let layout = lay_out(
            kind,
            &members.layouts,
            RecordAttributes {
                is_packed: attributes.packed.is_some(),
                aligned: attributes.aligned,
                max_member_align: self.pragmas.packing,
            },
        );
        for (field, offset) in members.fields.iter_mut().zip(&layout.offsets) {
            field.offset = *offset;
        }
        if !self.note_record(id, &members.fields, span) {
            members.fields.clear();
        }
        let record = &mut self.types.records[id];
        record.fields = Some(members.fields);
        record.size = layout.size;
        record.align = layout.align;
    }

    /// Checks one member declaration. Returns whether a member has a type whose size on the host is unknown.
    fn member_declaration(
        &mut self,
        declaration: &ast::Member,
        is_last: bool,
        members: &mut Members,
    ) -> bool {
        let specified = self.specifiers(&declaration.specifiers);
        self.no_storage(&specified, "a member");
        if declaration.declarators.is_empty() {
            self.anonymous_member(specified.ty, declaration, members);
            return false;
        }
        let mut is_host_sized = false;
        for (number, one) in declaration.declarators.iter().enumerate() {
            let declared = self.declarator(specified.ty, one.declarator);
            let target = Target::Member(declared.ty.ty);
            let all = declaration.specifiers.attributes.iter().chain(one.declarator.attributes);
            let attributes = self.attributes(all, target);
            if let Some(width) = &one.width {
                self.report(
                    Diagnostic::new(Code::BitField, width.span, "a member cannot be a bit-field")
                        .help("use a whole member, or shifts and masks")
                        .note("OpenCL C 6.11.c: bit-field struct members are not supported"),
                );
                if declared.name.is_none() {
                    continue;
                }
            }
            let is_last = is_last && number + 1 == declaration.declarators.len();
            let ty = self.member_type(declared.ty, declared.span, is_last);
            let typedef_properties = specified.typedef_properties_of(one.declarator);
            is_host_sized |= typedef_properties.is_host_sized
                && matches!(self.types.get(self.element_type(ty.ty)), Ty::Scalar(_));
            if let Some(name) = declared.name {
                self.note(name.span, Meaning::Member(declared.span), Role::Definition);
            }
            if let Some(name) = declared.name
                && let Some(first) = members.names.insert(name.node, name.span)
            {
                self.report_member_twice(name.node, first, name.span);
            }
            let field =
                Field { name: declared.name.map(|name| name.node), ty, offset: 0, span: declared.span };
            members.push(
                field,
                MemberLayout {
                    size: self.types.size_of(ty.ty).unwrap_or(0),
                    align: self.types.align_of(ty.ty).unwrap_or(1),
                    is_packed: attributes.packed.is_some(),
                    aligned: attributes.aligned.or(typedef_properties.align),
                },
            );
        }
        is_host_sized
    }

    /// Checks a `struct` or `union` member without a name. Its members belong to the enclosing record (C11 6.7.2.1).
    fn anonymous_member(&mut self, ty: QualTy, declaration: &ast::Member, members: &mut Members) {
        let attributes = self.attributes(declaration.specifiers.attributes, Target::Member(ty.ty));
        let Ty::Record(id) = *self.types.get(ty.ty) else {
            if ty.ty != TyId::ERROR {
                self.report(Diagnostic::new(
                    Code::DeclaresNothing,
                    declaration.span,
                    "this declares no member",
                ));
            }
            return;
        };
        let record = &self.types.records[id];
        let (is_anonymous, is_complete) = (record.name.is_none(), record.fields.is_some());
        if !is_anonymous || !is_complete {
            self.report(
                Diagnostic::new(Code::DeclaresNothing, declaration.span, "this declares no member")
                    .help("give the member a name"),
            );
            return;
        }
        let mut names = Vec::new();
        self.names_of_members(id, &mut names);
        for (name, span) in names {
            if let Some(first) = members.names.insert(name, span) {
                self.report_member_twice(name, first, span);
            }
        }
        let layout = MemberLayout {
            size: self.types.size_of(ty.ty).unwrap_or(0),
            align: self.types.align_of(ty.ty).unwrap_or(1),
            is_packed: attributes.packed.is_some(),
            aligned: attributes.aligned,
        };
        members.push(Field { name: None, ty, offset: 0, span: declaration.span }, layout);
    }

    /// All names that are accessible as members of a record.
    fn names_of_members(&self, id: RecordId, names: &mut Vec<(Symbol, Span)>) {
        for field in self.types.records[id].fields.iter().flatten() {
            match (field.name, self.types.get(field.ty.ty)) {
                (Some(name), _) => names.push((name, field.span)),
                (None, Ty::Record(inner)) => self.names_of_members(*inner, names),
                _ => {}
            }
        }
    }

    fn report_member_twice(&mut self, name: Symbol, first: Span, span: Span) {
        let name = self.text(name).to_owned();
        self.report(
            Diagnostic::new(Code::Redefinition, span, format!("there are two members `{name}`"))
                .also(first, "the first one"),
        );
    }

    fn report_member_space(&mut self, space: AddressSpace, span: Span) {
        let word = space.spelling();
        self.report(
            Diagnostic::new(
                Code::AddressSpacePlacement,
                span,
                format!("a member is in the memory of its structure and cannot be `{word}`"),
            )
            .help(format!("declare the variable `{word}`"))
            .note("OpenCL C 6.7: address spaces qualify objects, not members"),
        );
    }

    /// The type of a member, or the error type if it is not allowed (C99 6.7.2.1; OpenCL C 6.7, 6.11).
    fn member_type(&mut self, mut ty: QualTy, span: Span, is_last: bool) -> QualTy {
        if let Some(space) = ty.quals.space.take()
            && ty.ty != TyId::ERROR
        {
            self.report_member_space(space, span);
        }
        let element = self.element_type(ty.ty);
        let (code, what, note) = match self.types.get(element) {
            Ty::Error => return TyId::ERROR.plain(),
            Ty::Image(_) => (
                Code::OpaqueTypeUse,
                "an image",
                "OpenCL C 6.11.b: an image type cannot be used to declare a structure or union field",
            ),
            Ty::Sampler => (
                Code::OpaqueTypeUse,
                "a sampler",
                "OpenCL C 6.11.b: the sampler type cannot be used to declare a structure or union field",
            ),
            Ty::Event => (
                Code::OpaqueTypeUse,
                "an event",
                "OpenCL C 6.11.r: the event type cannot be used to declare a structure or union field",
            ),
            Ty::Pipe(..) => (
                Code::OpaqueTypeUse,
                "a pipe",
                "OpenCL C 6.15.18.1: a pipe can only be an argument of a function",
            ),
            Ty::Block(_) => (
                Code::BlockType,
                "a block",
                "OpenCL C 6.14.5: blocks as structure and union members are not supported",
            ),
            Ty::Function(_) => {
                (Code::MemberDeclaration, "a function", "C99 6.7.2.1: a member has an object type")
            }
            _ if matches!(self.types.get(ty.ty), Ty::Array(_, None)) => {
                let last = if is_last { "" } else { ", and it is not the last one" };
                self.report(
                    Diagnostic::new(
                        Code::FlexibleArray,
                        span,
                        format!("an array member needs a length{last}"),
                    )
                    .help("give it a length, or put the data behind a pointer")
                    .note("OpenCL C 6.11.d: structures with flexible (or unsized) arrays are not supported"),
                );
                return TyId::ERROR.plain();
            }
            _ if !self.types.is_complete(ty.ty) => {
                let shown = self.show(ty.ty);
                self.report(
                    Diagnostic::new(Code::IncompleteType, span, format!("`{shown}` is not complete here"))
                        .note("C99 6.7.2.1: a structure cannot contain itself or what is defined later; a pointer can"),
                );
                return TyId::ERROR.plain();
            }
            _ => return ty,
        };
        self.report(Diagnostic::new(code, span, format!("{what} cannot be a member")).note(note));
        TyId::ERROR.plain()
    }

    /// `enum tag`, `enum tag { … }` (C99 6.7.2.2).
    pub(super) fn enum_specifier(&mut self, specifier: &ast::EnumSpecifier, span: Span) -> TyId {
        let attributes = self.attributes(specifier.attributes, Target::Enum);
        let Some(enumerators) = &specifier.enumerators else {
            let Some(tag) = specifier.tag else { return TyId::ERROR };
            return match self.scopes.lookup_tag(tag.node).map(|binding| binding.meaning) {
                Some(Tag::Enum(id)) => {
                    self.note_tag(specifier.tag, Tag::Enum(id), Role::Use);
                    self.types.intern(Ty::Enum(id))
                }
                Some(_) => self.report_other_tag(tag.node, "enum", span),
                None => {
                    self.report_gnu("an `enum` that is defined later", span, "C99 6.7.2.3");
                    let id = self.new_enum(specifier, span);
                    self.note_tag(specifier.tag, Tag::Enum(id), Role::Declaration);
                    self.types.intern(Ty::Enum(id))
                }
            };
        };
        let known = specifier.tag.and_then(|tag| self.scopes.lookup_tag_innermost(tag.node).cloned());
        let id = match known.map(|binding| (binding.meaning, binding.span)) {
            Some((tag @ Tag::Enum(id), _))
                if !self.types.enums[id].is_complete && !self.tags.is_open(tag) =>
            {
                id
            }
            Some((Tag::Enum(_), first)) => {
                self.report_tag_redefined(specifier.tag, first, span);
                self.new_enum(specifier, span)
            }
            Some((Tag::Record(_), _)) => {
                return specifier
                    .tag
                    .map_or(TyId::ERROR, |tag| self.report_other_tag(tag.node, "enum", span));
            }
            None => self.new_enum(specifier, span),
        };
        self.note_tag(specifier.tag, Tag::Enum(id), Role::Definition);
        self.tags.open.push(Tag::Enum(id));
        if enumerators.is_empty() {
            self.report(
                Diagnostic::new(Code::Syntax, span, "an enumeration has at least one value")
                    .note("C99 6.7.2.2: the list of enumerators is not empty"),
            );
        }
        let enumerators = self.enumerators(enumerators);
        self.tags.open.pop();
        // Include zero: an enum without enumerators has type `uint`.
        let values = enumerators.iter().map(|&(_, value)| value);
        let (min, max) = (values.clone().fold(0, i128::min), values.fold(0, i128::max));
        let entry = &mut self.types.enums[id];
        entry.underlying = enum_type(min, max, attributes.packed.is_some());
        // Values beyond 64 bits have been reported.
        entry.enumerators = enumerators.iter().map(|&(name, value)| (name, value as i64)).collect();
        entry.is_complete = true;
        entry.span = span;
        self.types.intern(Ty::Enum(id))
    }

    fn new_enum(&mut self, specifier: &ast::EnumSpecifier, span: Span) -> EnumId {
        let name = specifier.tag.map(|tag| tag.node);
        let id = self.types.enums.push(Enum {
            name,
            underlying: Scalar::UInt,
            is_complete: false,
            enumerators: Vec::new(),
            span,
        });
        self.declare_tag(specifier.tag, Tag::Enum(id));
        id
    }

    /// Declares enumerators as `int` (`uint` for values that do not fit). Returns them with their values.
    fn enumerators(&mut self, enumerators: &[ast::Enumerator]) -> Vec<(Symbol, i128)> {
        let mut next: i128 = 0;
        // Report once per enum: if one value is too large, others often are too.
        let mut is_reported = false;
        let mut values = Vec::with_capacity(enumerators.len());
        for enumerator in enumerators {
            let name = enumerator.name;
            let written = enumerator.value.as_ref();
            if let Some(value) =
                written.and_then(|it| self.integer_constant(it, "the value of an enumerator"))
            {
                next = value;
            }
            let has_run_over = written.is_none() && next == i128::from(i32::MAX) + 1;
            let ty = match next {
                _ if i32::try_from(next).is_ok() => TyId::INT,
                _ if u32::try_from(next).is_ok() => TyId::UINT,
                _ if i64::try_from(next).is_ok() => TyId::LONG,
                _ => TyId::ULONG,
            };
            let is_wide = ty == TyId::LONG || ty == TyId::ULONG || has_run_over;
            if is_wide && !std::mem::replace(&mut is_reported, true) {
                self.report(
                    Diagnostic::new(Code::EnumValue, name.span, format!("{next} is not a value of `int`"))
                        .help("use a `constant` variable or a macro for wide values")
                        .note("C99 6.7.2.2: the value of an enumerator is representable as an `int`"),
                );
            }
            if let Some(first) = self.scopes.lookup_innermost(name.node) {
                let first = first.span;
                let text = self.text(name.node).to_owned();
                self.report(
                    Diagnostic::new(Code::Redefinition, name.span, format!("`{text}` is declared twice"))
                        .also(first, "the first declaration"),
                );
            }
            let value = Const::Int(next as u64);
            self.scopes.declare(name.node, Entity::Enumerator { value, ty }, name.span);
            self.note(name.span, Meaning::Enumerator(name.span), Role::Definition);
            values.push((name.node, next));
            next += 1;
        }
        values
    }
}

impl Members {
    fn push(&mut self, field: Field, layout: MemberLayout) {
        self.fields.push(field);
        self.layouts.push(layout);
    }
}

const fn record_word(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Struct => "struct",
        RecordKind::Union => "union",
    }
}

/// The type of an enum: `uint`, or `int` if there are negative values, or the smallest type if it is packed (OpenCL C
/// 6.13.1).
fn enum_type(min: i128, max: i128, is_packed: bool) -> Scalar {
    let fits = |scalar: Scalar| {
        let bits = u32::try_from(scalar.size() * 8).unwrap_or(64);
        let (low, high) = if scalar.is_signed() {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        low <= min && max <= high
    };
    let candidates: &[Scalar] = if is_packed {
        &[Scalar::UChar, Scalar::Char, Scalar::UShort, Scalar::Short, Scalar::UInt, Scalar::Int]
    } else {
        &[Scalar::UInt, Scalar::Int]
    };
    candidates.iter().copied().find(|scalar| fits(*scalar)).unwrap_or(Scalar::Long)
}
