//! Declarations at program scope and in functions: typedefs, variables, their linkage and redeclaration
//! (C99 6.2.2, 6.7, 6.9.2; OpenCL C 6.7, 6.10).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span,
    ast::{self, Ident, Storage},
};
use kiln_types::ty::{self, QualTy, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};

use super::{
    Entity, Meaning, Role, Sema, TypedefProperties,
    attributes::{Attributes, Target},
    constant::Object,
    convert::AssignContext,
    declarator::Declared,
    placement::Variable,
    specifiers::Specified,
};
use crate::hir::{Assign, Expr, ExprKind, Global, GlobalId, Local, Lvalue, LvalueKind, Stmt, StmtKind};

impl Sema<'_> {
    /// Checks the declarations at program scope, in order (C99 6.9).
    pub(super) fn unit(&mut self, unit: ast::TranslationUnit) {
        for item in unit.items {
            match *item {
                ast::Item::Function(function) => self.function_definition(function),
                ast::Item::Declaration(declaration) => {
                    self.declaration(declaration, &mut Vec::new());
                }
                ast::Item::StaticAssert(assertion) => self.static_assertion(assertion),
                ast::Item::Asm(span) => self.report_assembly(span),
                ast::Item::Pragma(text) => {
                    self.pragma(text.node);
                }
                ast::Item::Empty(span) => self.report_gnu("a `;` without a declaration", span, "C99 6.9"),
                ast::Item::Error(_) => {}
            }
        }
    }

    /// `_Static_assert` (C11 6.7.10), which OpenCL C compilers accept.
    pub(super) fn static_assertion(&mut self, assertion: &ast::StaticAssertion) {
        let condition = self.integer_constant(&assertion.condition, "the condition of a static assertion");
        if condition != Some(0) {
            return;
        }
        let mut message = "this static assertion fails".to_owned();
        if !assertion.message.is_empty() {
            let bytes = self.string_bytes(assertion.message);
            let text = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
            message = format!("{message}: {}", String::from_utf8_lossy(text));
        }
        self.report(Diagnostic::new(Code::StaticAssertion, assertion.condition.span, message));
    }

    pub(super) fn report_assembly(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::InlineAssembly, span, "OpenCL C has no inline assembly")
                .help("use the built-in functions"),
        );
    }

    /// Checks a declaration. Appends the statements for its run-time effects to `out` (C99 6.7).
    pub(crate) fn declaration(&mut self, declaration: &ast::Declaration, out: &mut Vec<Stmt>) {
        let specified = self.specifiers(&declaration.specifiers);
        if declaration.declarators.is_empty() {
            return self.declaration_without_names(declaration, &specified);
        }
        for one in declaration.declarators {
            if self.declares_printf(&one.declarator) {
                continue;
            }
            let mut declared = self.declarator(specified.ty, &one.declarator);
            let Some(name) = declared.name else {
                self.report(Diagnostic::new(Code::DeclaresNothing, declared.span, "this declares no name"));
                continue;
            };
            let all = declaration.specifiers.attributes.iter().chain(one.declarator.attributes);
            let all_attributes = all.clone();
            let is_typedef = specified.storage.is_some_and(|storage| storage.node == Storage::Typedef);
            let is_function = matches!(self.types.get(declared.ty.ty), Ty::Function(_));
            let target = match () {
                () if is_typedef => Target::Typedef,
                () if is_function && specified.kernel.is_some() => Target::Kernel,
                () if is_function => Target::Function,
                () => Target::Variable(declared.ty.ty),
            };
            let mut attributes = self.attributes(all, target);
            let mut typedef_properties = specified.typedef_properties_of(&one.declarator);
            typedef_properties.align = attributes.aligned.or(typedef_properties.align);
            attributes.aligned = typedef_properties.align;
            if is_typedef {
                declared.ty.ty = self.vector_of(declared.ty.ty, &attributes);
                self.warn_lower_alignment(declared.ty.ty, attributes.aligned, all_attributes);
                self.typedef(name, &declared, typedef_properties, one.init.is_some());
            } else if is_function {
                if let Some(init) = &one.init {
                    let span = initializer_span(init);
                    self.report(Diagnostic::new(
                        Code::InitializerShape,
                        span,
                        "a function has no initializer",
                    ));
                }
                self.function_declaration(name, &declared, &specified, &attributes);
            } else {
                self.variable(name, &declared, &specified, &attributes, one.init.as_ref(), out);
            }
        }
    }

    /// OpenCL C 6.13.1: `aligned` of a type name only increases the alignment.
    fn warn_lower_alignment<'a>(
        &mut self,
        ty: TyId,
        aligned: Option<u64>,
        mut attributes: impl Iterator<Item = &'a ast::Attribute<'a>>,
    ) {
        let (Some(aligned), Some(natural)) = (aligned, self.types.align_of(ty)) else { return };
        let is_aligned =
            |attribute: &&ast::Attribute<'_>| self.text(attribute.name.node).trim_matches('_') == "aligned";
        let Some(attribute) = attributes.find(is_aligned).filter(|_| aligned < natural) else { return };
        let shown = self.show(ty);
        let help = match self.types.components(ty) {
            Some((_, count @ 2..)) => {
                format!("to access vectors at any address, write `vload{count}` and `vstore{count}`")
            }
            _ => "to lower the alignment, declare a structure with the attribute `packed`".to_owned(),
        };
        self.report(
            Diagnostic::new(
                Code::LowerAlignment,
                attribute.span,
                format!("this does not lower the alignment of `{shown}`, which is {natural}"),
            )
            .help(help)
            .note("OpenCL C 6.13.1: `aligned` can only increase the alignment"),
        );
    }

    /// OpenCL C 6.11.e: only `printf` is variadic. A declaration of it has no effect.
    fn declares_printf(&self, declarator: &ast::Declarator) -> bool {
        let is_printf = declarator.name.is_some_and(|name| self.text(name.node) == "printf");
        is_printf
            && self.scopes.at_program_scope()
            && matches!(
                declarator.derivations,
                [ast::Derivation { kind: ast::DerivationKind::Function(function), .. }]
                    if function.variadic.is_some() && function.parameters.len() == 1
            )
    }

    /// `struct S { … };` and similar declarations (C99 6.7). They must declare a tag or enumerators.
    fn declaration_without_names(&mut self, declaration: &ast::Declaration, specified: &Specified) {
        self.attributes(declaration.specifiers.attributes, Target::TypeName);
        if let Some(word) = declaration.specifiers.qualifiers.last()
            && !specified.has_tag
            && word.span.lo > declaration.specifiers.types.last().map_or(word.span.lo, |ty| ty.span.lo)
        {
            self.report(
                Diagnostic::new(
                    Code::ReservedWord,
                    word.span,
                    "this word is a qualifier and cannot be a name",
                )
                .help("choose another name")
                .note("OpenCL C 6.7, 6.8: the names of qualifiers shall not be used otherwise"),
            );
            return;
        }
        if !specified.has_tag && specified.ty.ty != TyId::ERROR {
            self.report(
                Diagnostic::new(Code::DeclaresNothing, declaration.span, "this declares nothing")
                    .note("C99 6.7: a declaration declares an object, a function, a tag or enumerators"),
            );
        }
    }

    /// `typedef` (C99 6.7.7).
    fn typedef(
        &mut self,
        name: Ident,
        declared: &Declared,
        typedef_properties: TypedefProperties,
        has_init: bool,
    ) {
        let text = self.text(name.node).to_owned();
        if has_init {
            self.report(Diagnostic::new(Code::InitializerShape, name.span, "a type has no initializer"));
        }
        if ty::is_reserved(&text) {
            self.report(
                Diagnostic::new(
                    Code::ReservedTypeName,
                    name.span,
                    format!("the type name `{text}` is reserved"),
                )
                .help("choose another name")
                .note(
                    "OpenCL C 6.3.4: reserved data type names cannot be used by applications as type names",
                ),
            );
        }
        if let Some(first) = self.scopes.lookup_innermost(name.node) {
            let first_span = first.span;
            match first.meaning {
                Entity::Typedef { ty, .. } if ty == declared.ty || declared.ty.ty == TyId::ERROR => return,
                Entity::Error => return,
                _ => self.report_redefinition(name, first_span),
            }
        }
        if let Ty::Record(id) = *self.types.get(declared.ty.ty)
            && self.types.records[id].name.is_none()
        {
            self.types.records[id].name = Some(name.node);
        }
        self.scopes.declare(name.node, Entity::Typedef { ty: declared.ty, typedef_properties }, name.span);
        self.note(name.span, Meaning::Typedef(name.span), Role::Definition);
    }

    pub(crate) fn report_redefinition(&mut self, name: Ident, first: Span) {
        let text = self.text(name.node).to_owned();
        self.report(
            Diagnostic::new(Code::Redefinition, name.span, format!("`{text}` is declared twice"))
                .also(first, "the first declaration"),
        );
    }

    /// Declares a variable (C99 6.7, 6.9.2).
    fn variable(
        &mut self,
        name: Ident,
        declared: &Declared,
        specified: &Specified,
        attributes: &Attributes,
        init: Option<&ast::Initializer>,
        out: &mut Vec<Stmt>,
    ) {
        self.no_function_specifier(specified);
        let text = self.text(name.node).to_owned();
        let mut variable =
            Variable { name: &text, ty: declared.ty, storage: specified.storage, span: name.span };
        let is_static = self.scopes.at_program_scope() || specified.storage.is_some();
        let space = match self.check_variable_type(variable) {
            true if is_static => self.static_address_space(variable),
            true => self.automatic_address_space(variable),
            false => None,
        };
        let Some(space) = space else {
            // If the type of a block is invalid, checking its literal would report the error again.
            let is_block = |init: &&ast::Initializer| {
                matches!(init, ast::Initializer::Expr(ast::Expr { kind: ast::ExprKind::Block(_), .. }))
            };
            if let Some(init) = init.filter(|init| declared.ty.ty != TyId::ERROR || !is_block(init)) {
                self.initializer(TyId::ERROR.plain(), init, name.span);
            }
            return self.scopes.declare(name.node, Entity::Error, name.span);
        };
        variable.ty.quals.space = Some(space);
        if matches!(self.types.get(variable.ty.ty), Ty::Block(_) | Ty::Sampler) {
            variable.ty = self.with_quals(variable.ty, ty::Quals { is_const: true, ..ty::Quals::default() });
        }
        let align = attributes.aligned;
        if is_static || space == AddressSpace::Constant {
            self.static_variable(name, variable, align, init, attributes);
        } else {
            self.automatic_variable(name, variable, align, init, attributes, out);
        }
    }

    /// Declares an automatic variable, or a `local` variable of a function.
    fn automatic_variable(
        &mut self,
        name: Ident,
        variable: Variable<'_>,
        align: Option<u64>,
        init: Option<&ast::Initializer>,
        attributes: &Attributes,
        out: &mut Vec<Stmt>,
    ) {
        if let Some(first) = self.scopes.lookup_innermost(name.node) {
            let first = first.span;
            self.report_redefinition(name, first);
        }
        let Some(function) = self.body.function else { return };
        let is_open = matches!(self.types.get(variable.ty.ty), Ty::Array(_, None));
        let takes_length = is_open && init.is_some();
        if !takes_length && !self.types.is_complete(variable.ty.ty) {
            self.report_incomplete_variable(variable);
            return self.scopes.declare(name.node, Entity::Error, name.span);
        }
        let local = self.local(Local { name: Some(name.node), ty: variable.ty, align, span: name.span });
        self.scopes.declare(name.node, Entity::Local(function, local), name.span);
        self.note(name.span, Meaning::Local(function, local), Role::Definition);
        if attributes.is_unused {
            self.scopes.lookup(name.node);
        }
        out.push(Stmt { kind: StmtKind::Declare(local), span: name.span });
        self.check_needs_initializer(variable, init.is_some());
        let Some(init) = init else { return };
        let span = initializer_span(init);
        if variable.ty.quals.space == Some(AddressSpace::Local) {
            self.report(
                Diagnostic::new(
                    Code::LocalInitializer,
                    span,
                    format!("`{}` is `local` and cannot be initialized", variable.name),
                )
                .help("assign to it in one work-item, followed by `barrier(CLK_LOCAL_MEM_FENCE)`")
                .note("OpenCL C 6.7.7: variables in the local address space cannot be initialized"),
            );
            self.initializer(TyId::ERROR.plain(), init, name.span);
            return;
        }
        self.check_atomic_initializer(variable, span);
        let (ty, value) = self.initializer(variable.ty, init, name.span);
        self.module.functions[function].locals[local].ty = ty;
        if value.ty == TyId::ERROR {
            // The block is unknown, which has been reported.
            if matches!(self.types.get(ty.ty), Ty::Block(_)) {
                self.scopes.declare(name.node, Entity::Error, name.span);
            }
        } else {
            self.remember_initializer(Object::Local(function, local), ty, &value);
        }
        let lvalue = Lvalue { kind: LvalueKind::Local(local), ty, span: name.span };
        let kind = ExprKind::Assign(Box::new(Assign { lvalue, value }));
        out.push(Stmt { kind: StmtKind::Expr(Expr { kind, ty: ty.ty, span }), span });
    }

    /// Declares an object with static lifetime: at program scope, `static` or `extern` in a function, or `constant` in
    /// a kernel.
    fn static_variable(
        &mut self,
        name: Ident,
        variable: Variable<'_>,
        align: Option<u64>,
        init: Option<&ast::Initializer>,
        attributes: &Attributes,
    ) {
        let is_extern = variable.storage.is_some_and(|storage| storage.node == Storage::Extern);
        let at_program_scope = self.scopes.at_program_scope();
        if is_extern && matches!(self.types.get(variable.ty.ty), Ty::Block(_)) {
            self.report(
                Diagnostic::new(Code::BlockType, name.span, "a block variable cannot be `extern`")
                    .note("OpenCL C 6.14.5: `extern` cannot be used with program scope block variables"),
            );
        }
        if is_extern
            && !at_program_scope
            && let Some(init) = init
        {
            let span = initializer_span(init);
            self.report(
                Diagnostic::new(
                    Code::InitializerShape,
                    span,
                    "an `extern` variable in a function has no initializer",
                )
                .help("initialize it where it is defined, at program scope")
                .note("C99 6.7.8"),
            );
        }
        let Some(global) = self.global(name, variable, align, is_extern) else { return };
        if attributes.is_unused {
            self.scopes.lookup(name.node);
        }
        let is_definition = !is_extern || init.is_some();
        let role = if is_definition { Role::Definition } else { Role::Declaration };
        self.note(name.span, Meaning::Global(global), role);
        if !is_definition {
            return;
        }
        self.declarations.define(global);
        self.check_needs_initializer(variable, init.is_some());
        let is_open = matches!(self.types.get(variable.ty.ty), Ty::Array(_, None));
        if init.is_none() && !at_program_scope && !self.types.is_complete(variable.ty.ty) {
            return self.report_incomplete_variable(variable);
        }
        let Some(init) = init else { return };
        let span = initializer_span(init);
        if !self.declarations.initialize(global) {
            let first = self.module.globals[global].span;
            return self.report_redefinition(name, first);
        }
        if !is_open && !self.types.is_complete(variable.ty.ty) {
            self.initializer(TyId::ERROR.plain(), init, name.span);
            return self.report_incomplete_variable(variable);
        }
        self.check_atomic_initializer(variable, span);
        let (ty, value) = self.initializer(variable.ty, init, name.span);
        self.module.globals[global].ty = ty;
        self.module.globals[global].span = name.span;
        if value.ty == TyId::ERROR {
            return;
        }
        self.remember_initializer(Object::Global(global), ty, &value);
        if let Some(image) = self.static_image(&value, ty) {
            self.module.globals[global].init = image.is_nonzero().then_some(image);
        }
    }

    /// The global that a declaration refers to: a new one, or one declared before (C99 6.2.2, 6.2.7).
    fn global(
        &mut self,
        name: Ident,
        variable: Variable<'_>,
        align: Option<u64>,
        is_extern: bool,
    ) -> Option<GlobalId> {
        let at_program_scope = self.scopes.at_program_scope();
        let has_linkage = at_program_scope || is_extern;
        let here = self.scopes.lookup_innermost(name.node).cloned();
        if let Some(here) = &here
            && !(has_linkage && matches!(here.meaning, Entity::Global(_)))
        {
            if !matches!(here.meaning, Entity::Error) {
                self.report_redefinition(name, here.span);
            }
            return None;
        }
        let is_static = variable.storage.is_some_and(|storage| storage.node == Storage::Static);
        let known = if has_linkage { self.scopes.lookup_program(name.node).cloned() } else { None };
        let global = match known.as_ref().map(|binding| &binding.meaning) {
            Some(Entity::Global(global)) => {
                let global = *global;
                self.merge_global(name, global, variable.ty);
                if !is_extern && is_static != self.declarations.is_static(Meaning::Global(global)) {
                    self.report_linkage(name, self.module.globals[global].span, is_static);
                }
                global
            }
            Some(Entity::Error) => return None,
            Some(_) if !at_program_scope => {
                let first = known.map_or(name.span, |binding| binding.span);
                self.report_redefinition(name, first);
                return None;
            }
            _ => {
                let is_shared = has_linkage
                    && !is_static
                    && !matches!(self.types.get(variable.ty.ty), Ty::Block(_) | Ty::Sampler);
                let global = self.module.globals.push(Global {
                    name: Some(name.node),
                    ty: variable.ty,
                    align: None,
                    init: None,
                    linkage: if is_shared { Linkage::Exported } else { Linkage::Internal },
                    span: name.span,
                });
                if is_static {
                    self.declarations.add_static(Meaning::Global(global));
                }
                if has_linkage {
                    self.scopes.declare_at_program_scope(name.node, Entity::Global(global), name.span);
                }
                global
            }
        };
        let entry = &mut self.module.globals[global];
        entry.align = entry.align.max(align);
        if here.is_none() && !at_program_scope {
            self.scopes.declare(name.node, Entity::Global(global), name.span);
        }
        Some(global)
    }

    /// Checks that declarations of one object agree, and forms the composite type (C99 6.2.7).
    fn merge_global(&mut self, name: Ident, global: GlobalId, ty: QualTy) {
        let first = &self.module.globals[global];
        let (before, span) = (first.ty, first.span);
        if before == ty || ty.ty == TyId::ERROR {
            return;
        }
        let merged = match (self.types.get(before.ty), self.types.get(ty.ty)) {
            (Ty::Array(left, None), Ty::Array(right, _)) if left == right => Some(ty),
            (Ty::Array(left, _), Ty::Array(right, None)) if left == right => Some(before),
            _ => None,
        };
        if let Some(merged) = merged.filter(|_| before.quals == ty.quals) {
            self.module.globals[global].ty = merged;
            return;
        }
        let (text, was) = (self.text(name.node).to_owned(), self.show(before));
        self.report(
            Diagnostic::new(
                Code::ConflictingDeclaration,
                name.span,
                format!("`{text}` was declared with another type"),
            )
            .also(span, format!("as `{was}`")),
        );
    }

    /// Completes tentative definitions at the end of the program (C99 6.9.2). An array without a length gets one
    /// element.
    pub(super) fn check_tentative_definitions(&mut self) {
        let tentative: Vec<_> = self
            .module
            .globals
            .entries()
            .filter(|(id, global)| {
                let is_open = matches!(self.types.get(global.ty.ty), Ty::Array(_, None));
                self.declarations.is_defined(*id) && !is_open && !self.types.is_complete(global.ty.ty)
            })
            .filter_map(|(_, global)| Some((global.name?, global.ty, global.span)))
            .collect();
        for (name, ty, span) in tentative {
            let name = self.text(name).to_owned();
            self.report_incomplete_variable(Variable { name: &name, ty, storage: None, span });
        }
    }

    fn report_incomplete_variable(&mut self, variable: Variable<'_>) {
        let shown = self.show(variable.ty.ty);
        let mut diagnostic = Diagnostic::new(
            Code::IncompleteType,
            variable.span,
            format!("`{}` has the incomplete type `{shown}`", variable.name),
        )
        .note("C99 6.7: an object has a complete type");
        if let Ty::Record(id) = *self.types.get(variable.ty.ty) {
            let span = self.types.records[id].span;
            diagnostic = diagnostic.also(span, "the type is declared but not defined here");
        }
        self.report(diagnostic);
    }

    /// Reports variables that must have an initializer (OpenCL C 6.7.7, 6.14.5, 6.15.15.1).
    fn check_needs_initializer(&mut self, variable: Variable<'_>, has_init: bool) {
        if has_init {
            return;
        }
        let note = match self.types.get(variable.ty.ty) {
            Ty::Block(_) => "OpenCL C 6.14.5: all block variables must be initialized at declaration time",
            Ty::Sampler => "OpenCL C 6.15.15.1: samplers in the program source are initialized by a constant",
            _ if variable.ty.quals.space == Some(AddressSpace::Constant) => {
                "OpenCL C 6.7.7: variables in the constant address space are required to be initialized"
            }
            _ => return,
        };
        self.report(
            Diagnostic::new(
                Code::MissingInitializer,
                variable.span,
                format!("`{}` needs an initializer", variable.name),
            )
            .note(note),
        );
    }

    /// OpenCL C 6.15.12.1: only atomic objects at program scope in the global address space can have an initializer.
    fn check_atomic_initializer(&mut self, variable: Variable<'_>, span: Span) {
        if !matches!(self.types.get(variable.ty.ty), Ty::Atomic(_) | Ty::AtomicFlag)
            || variable.ty.quals.space == Some(AddressSpace::Global)
        {
            return;
        }
        self.report(
            Diagnostic::new(
                Code::AtomicInitializer,
                span,
                "an atomic object can only be initialized in global memory",
            )
            .help("declare it at program scope, or use `atomic_init`")
            .note("OpenCL C 6.15.12.1: `ATOMIC_VAR_INIT` initializes atomic objects in program scope in the global address space"),
        );
    }

    /// Checks an initializer that is one expression, as if by assignment.
    pub(crate) fn initial_value(&mut self, expr: &ast::Expr, ty: QualTy) -> Expr {
        let value = self.value_for(ty.ty, expr, Self::value);
        self.assign_convert(value, ty, AssignContext::Initialize)
    }
}

/// The span of an initializer.
pub(crate) fn initializer_span(init: &ast::Initializer) -> Span {
    match init {
        ast::Initializer::Expr(expr) => expr.span,
        ast::Initializer::List(list) => list.span,
    }
}
