//! Prints specifiers, declarators, attributes and initializers.

use super::Printer;
use crate::{ast::*, span::Spanned};

impl Printer<'_> {
    /// Prints a declaration, including its semicolon.
    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        self.specifiers(&declaration.specifiers);
        for (i, declared) in declaration.declarators.iter().enumerate() {
            self.push(if i > 0 { ", " } else { " " });
            self.declarator(&declared.declarator);
            if let Some(init) = &declared.init {
                self.push(" = ");
                self.initializer(init);
            }
        }
        self.push(";");
    }

    /// Prints specifiers and one declarator.
    pub(super) fn declared(&mut self, specifiers: &Specifiers, declarator: &Declarator) {
        self.specifiers(specifiers);
        if declarator.name.is_some() || !declarator.derivations.is_empty() {
            self.push(" ");
            self.declarator(declarator);
        }
    }

    pub(super) fn type_name(&mut self, name: &TypeName) {
        self.declared(&name.specifiers, &name.declarator);
    }

    /// Prints specifiers grouped by kind, as in the tree.
    fn specifiers(&mut self, specifiers: &Specifiers) {
        let begin = self.text.len();
        for word in specifiers.storage {
            self.word(storage(word.node));
        }
        for word in specifiers.functions {
            self.word(function(word.node));
        }
        if !specifiers.attributes.is_empty() {
            self.attributes(specifiers.attributes);
            self.push(" ");
        }
        for word in specifiers.qualifiers {
            self.word(qualifier(word.node));
        }
        for ty in specifiers.types {
            self.type_specifier(&ty.kind);
            self.push(" ");
        }
        // Remove the trailing space.
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end.max(begin));
    }

    fn word(&mut self, word: &str) {
        self.push(word);
        self.push(" ");
    }

    fn type_specifier(&mut self, ty: &TypeSpecifierKind) {
        match ty {
            TypeSpecifierKind::Void => self.push("void"),
            TypeSpecifierKind::Char => self.push("char"),
            TypeSpecifierKind::Short => self.push("short"),
            TypeSpecifierKind::Int => self.push("int"),
            TypeSpecifierKind::Long => self.push("long"),
            TypeSpecifierKind::Float => self.push("float"),
            TypeSpecifierKind::Double => self.push("double"),
            TypeSpecifierKind::Half => self.push("half"),
            TypeSpecifierKind::Signed => self.push("signed"),
            TypeSpecifierKind::Unsigned => self.push("unsigned"),
            TypeSpecifierKind::Bool => self.push("bool"),
            TypeSpecifierKind::Complex => self.push("_Complex"),
            TypeSpecifierKind::Imaginary => self.push("_Imaginary"),
            TypeSpecifierKind::Name(name) => self.name(*name),
            TypeSpecifierKind::Record(record) => self.record(record),
            TypeSpecifierKind::Enum(enumeration) => self.enumeration(enumeration),
            TypeSpecifierKind::Atomic(name) => {
                self.push("_Atomic(");
                self.type_name(name);
                self.push(")");
            }
            TypeSpecifierKind::TypeofExpr(operand) => {
                self.push("__typeof__(");
                self.expression(operand);
                self.push(")");
            }
            TypeSpecifierKind::TypeofType(name) => {
                self.push("__typeof__(");
                self.type_name(name);
                self.push(")");
            }
        }
    }

    fn tagged(&mut self, word: &str, tag: Option<Ident>, attributes: &[Attribute]) {
        self.push(word);
        if !attributes.is_empty() {
            self.push(" ");
            self.attributes(attributes);
        }
        if let Some(tag) = tag {
            self.push(" ");
            self.name(tag.node);
        }
    }

    fn record(&mut self, record: &RecordSpecifier) {
        let word = match record.kind {
            RecordKind::Struct => "struct",
            RecordKind::Union => "union",
        };
        self.tagged(word, record.tag, record.attributes);
        if let Some(members) = &record.members {
            self.push(" { ");
            for member in *members {
                self.member(member);
                self.push(" ");
            }
            self.push("}");
        }
    }

    fn member(&mut self, member: &Member) {
        self.specifiers(&member.specifiers);
        for (i, declared) in member.declarators.iter().enumerate() {
            self.push(if i > 0 { ", " } else { " " });
            self.declarator(declared.declarator);
            if let Some(width) = &declared.width {
                self.push(" : ");
                self.operand(width);
            }
        }
        self.push(";");
    }

    fn enumeration(&mut self, enumeration: &EnumSpecifier) {
        self.tagged("enum", enumeration.tag, enumeration.attributes);
        if let Some(enumerators) = &enumeration.enumerators {
            self.push(" { ");
            self.list(enumerators, ", ", Self::enumerator);
            self.push(" }");
        }
    }

    fn enumerator(&mut self, enumerator: &Enumerator) {
        self.name(enumerator.name.node);
        if let Some(value) = &enumerator.value {
            self.push(" = ");
            self.operand(value);
        }
    }

    /// Pointers precede the name, in reverse order. Arrays and functions follow it; after a pointer, with
    /// parentheses.
    pub(super) fn declarator(&mut self, declarator: &Declarator) {
        let derivations = &declarator.derivations;
        let is_pointer = |derivation: &Derivation| {
            matches!(derivation.kind, DerivationKind::Pointer(..) | DerivationKind::Block(_))
        };
        let encloses =
            |i: usize| is_pointer(&derivations[i]) && derivations.get(i + 1).is_some_and(|c| !is_pointer(c));
        for (i, derivation) in derivations.iter().enumerate().rev() {
            if encloses(i) {
                self.push("(");
            }
            let inner = i > 0 && (is_pointer(&derivations[i - 1]) || declarator.name.is_some());
            let named = inner || declarator.name.is_some();
            match &derivation.kind {
                DerivationKind::Pointer(qualifiers, attributes) => {
                    self.pointer("*", qualifiers, attributes, named)
                }
                DerivationKind::Block(qualifiers) => self.pointer("^", qualifiers, &[], named),
                DerivationKind::Array(_) | DerivationKind::Function(_) => {}
            }
        }
        if let Some(name) = declarator.name {
            self.name(name.node);
        }
        for (i, derivation) in derivations.iter().enumerate() {
            match &derivation.kind {
                DerivationKind::Pointer(..) | DerivationKind::Block(_) => {}
                DerivationKind::Array(array) => self.array(array),
                DerivationKind::Function(function) => self.parameters(function),
            }
            if encloses(i) {
                self.push(")");
            }
        }
        if !declarator.attributes.is_empty() {
            self.push(" ");
            self.attributes(declarator.attributes);
        }
    }

    fn pointer(
        &mut self,
        mark: &str,
        qualifiers: &[Spanned<Qualifier>],
        attributes: &[Attribute],
        named: bool,
    ) {
        self.push(mark);
        self.list(qualifiers, " ", |p, word| p.push(qualifier(word.node)));
        if !attributes.is_empty() {
            if !qualifiers.is_empty() {
                self.push(" ");
            }
            self.attributes(attributes);
        }
        if named && !(qualifiers.is_empty() && attributes.is_empty()) {
            self.push(" ");
        }
    }

    fn array(&mut self, array: &ArrayDerivation) {
        self.push("[");
        if array.is_static {
            self.word("static");
        }
        for word in array.qualifiers {
            self.word(qualifier(word.node));
        }
        match &array.size {
            ArraySize::Unspecified => {}
            ArraySize::Star => self.push("*"),
            ArraySize::Expr(size) => self.element(size),
        }
        self.push("]");
    }

    pub(super) fn parameters(&mut self, function: &FunctionDerivation) {
        self.push("(");
        self.list(function.parameters, ", ", |p, parameter| {
            p.declared(&parameter.specifiers, &parameter.declarator)
        });
        self.list(function.old_style, ", ", |p, name| p.name(name.node));
        if function.variadic.is_some() {
            self.push(if function.parameters.is_empty() { "..." } else { ", ..." });
        } else if function.parameters.is_empty() && function.old_style.is_empty() {
            self.push("void");
        }
        self.push(")");
    }

    pub(super) fn attributes(&mut self, attributes: &[Attribute]) {
        self.push("__attribute__((");
        self.list(attributes, ", ", Self::attribute);
        self.push("))");
    }

    fn attribute(&mut self, attribute: &Attribute) {
        self.name(attribute.name.node);
        if !attribute.arguments.is_empty() {
            self.push("(");
            self.arguments(attribute.arguments);
            self.push(")");
        }
    }

    fn initializer(&mut self, initializer: &Initializer) {
        match initializer {
            Initializer::Expr(e) => self.element(e),
            Initializer::List(list) => self.initializer_list(list),
        }
    }

    pub(super) fn initializer_list(&mut self, list: &InitializerList) {
        if list.items.is_empty() {
            return self.push("{ }");
        }
        self.push("{ ");
        self.list(list.items, ", ", Self::initializer_item);
        self.push(" }");
    }

    fn initializer_item(&mut self, item: &InitializerItem) {
        for designator in item.designators {
            self.designator(designator);
        }
        if !item.designators.is_empty() {
            self.push(" = ");
        }
        self.initializer(&item.value);
    }

    pub(super) fn designator(&mut self, designator: &Designator) {
        match designator {
            Designator::Member(name) => {
                self.push(".");
                self.name(name.node);
            }
            Designator::Index(index) => {
                self.push("[");
                self.element(index);
                self.push("]");
            }
            Designator::Range(low, high) => {
                self.push("[");
                self.operand(low);
                self.push(" ... ");
                self.operand(high);
                self.push("]");
            }
        }
    }
}

fn storage(storage: Storage) -> &'static str {
    match storage {
        Storage::Typedef => "typedef",
        Storage::Extern => "extern",
        Storage::Static => "static",
        Storage::Auto => "auto",
        Storage::Register => "register",
        Storage::ThreadLocal => "_Thread_local",
    }
}

fn function(function: FunctionSpecifier) -> &'static str {
    match function {
        FunctionSpecifier::Inline => "inline",
        FunctionSpecifier::Kernel => "kernel",
        FunctionSpecifier::Noreturn => "_Noreturn",
    }
}

fn qualifier(qualifier: Qualifier) -> &'static str {
    match qualifier {
        Qualifier::Const => "const",
        Qualifier::Volatile => "volatile",
        Qualifier::Restrict => "restrict",
        Qualifier::Atomic => "_Atomic",
        Qualifier::Global => "global",
        Qualifier::Local => "local",
        Qualifier::Constant => "constant",
        Qualifier::Private => "private",
        Qualifier::Generic => "generic",
        Qualifier::ReadOnly => "read_only",
        Qualifier::WriteOnly => "write_only",
        Qualifier::ReadWrite => "read_write",
        Qualifier::Pipe => "pipe",
    }
}
