//! Functions: declarations, definitions, bodies (C99 6.7.5.3, 6.9.1; OpenCL C 6.9, 6.11).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span, Symbol,
    ast::{self, Ident, Storage},
};
use kiln_types::{
    index::Table,
    ty::{FunctionTy, Ty, TyId},
};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rustc_hash::FxHashMap;

use super::{
    Entity, Meaning, Role, Sema,
    attributes::{Attributes, Target},
    declarator::{Declared, Parameter},
    program::{Uses, check_uninitialized, check_unsequenced},
    specifiers::Specified,
};
use crate::hir::{Function, FunctionId, Local, LocalId, Stmt};

/// The expected result of `return` statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// A value of this type, or no value for `void`.
    Type(TyId),
    /// The type of the first `return` of a block literal, once seen (OpenCL C 6.14.3).
    Inferred(Option<TyId>),
}

/// The linkage that the first declaration of a function determines (C99 6.2.2, 6.7.4). Overloaded functions are not exported.
fn linkage(specified: &Specified, is_overloaded: bool) -> Linkage {
    let storage = specified.storage.map(|storage| storage.node);
    let is_inline = specified.inline.is_some() && storage != Some(Storage::Extern);
    if storage == Some(Storage::Static) || is_inline || is_overloaded {
        Linkage::Internal
    } else {
        Linkage::Exported
    }
}

/// Compares types. An error type equals every type.
fn is_same(left: TyId, right: TyId) -> bool {
    left == right || left == TyId::ERROR || right == TyId::ERROR
}

/// The state of the body being checked.
#[derive(Debug)]
pub(crate) struct Body {
    /// The function or block. `None` outside functions.
    pub(crate) function: Option<FunctionId>,
    pub(super) returns: Returns,
    /// Whether it is the body of a kernel, and not of a block inside one.
    pub(super) is_kernel: bool,
    /// The scope depth of its outermost block.
    outermost_depth: usize,
    /// The last expression whose value is not used.
    pub(super) discarded: Span,
    pub(super) jumps: Jumps,
    /// The loop without a body before the current block or indented item.
    pub(super) ended_loop: Option<EndedLoop>,
}

/// A loop whose body is a `;`, before a block or an indented item that was meant as its body.
#[derive(Debug)]
pub(crate) struct EndedLoop {
    /// `for` or `while`.
    pub(super) word: &'static str,
    /// The variables that it declares.
    pub(super) names: Vec<Symbol>,
    /// The loop.
    pub(super) start: Span,
    /// The `;`.
    pub(super) semicolon: Span,
    /// Whether an error for one of the variables explains the mistake.
    pub(super) is_reported: bool,
}

/// The targets of jumps in a body.
#[derive(Debug, Default)]
pub(crate) struct Jumps {
    /// The number of loops around the current statement.
    pub(super) loops: usize,
    /// The enclosing `switch` statements, outermost first.
    pub(super) switches: Vec<super::switch::Labels>,
    /// Labels, and whether a `goto` refers to them.
    pub(super) labels: FxHashMap<Symbol, (Span, bool)>,
    /// Every `goto`.
    pub(super) gotos: Vec<Ident>,
}

impl Body {
    /// The state outside functions.
    pub(crate) fn none() -> Self {
        Self {
            function: None,
            returns: Returns::Type(TyId::VOID),
            is_kernel: false,
            outermost_depth: usize::MAX,
            discarded: Span::default(),
            jumps: Jumps::default(),
            ended_loop: None,
        }
    }

    /// Whether the scope at this depth is the outermost block of a kernel.
    pub(super) fn is_outermost_of_kernel(&self, depth: usize) -> bool {
        self.is_kernel && depth == self.outermost_depth
    }
}

impl Sema<'_> {
    /// Checks a function declaration (C99 6.7.5.3).
    pub(super) fn function_declaration(
        &mut self,
        name: Ident,
        declared: &Declared,
        specified: &Specified,
        attributes: &Attributes,
    ) {
        let in_function = !self.scopes.at_program_scope();
        if in_function
            && let Some(storage) = specified.storage
            && storage.node == Storage::Static
        {
            self.report(
                Diagnostic::new(
                    Code::StorageClass,
                    storage.span,
                    "a function declared in a function cannot be `static`",
                )
                .help("declare it at program scope")
                .note("C99 6.7.1"),
            );
        }
        if let Some(id) = self.function(name, declared, specified, attributes) {
            self.note(name.span, Meaning::Function(id), Role::Declaration);
        }
    }

    /// Checks a function definition (C99 6.9.1).
    pub(super) fn function_definition(&mut self, definition: &ast::FunctionDefinition) {
        let specified = self.specifiers(&definition.specifiers);
        let declared = self.declarator(specified.ty, &definition.declarator);
        let target = if specified.kernel.is_some() { Target::Kernel } else { Target::Function };
        let all = definition.specifiers.attributes.iter().chain(definition.declarator.attributes);
        let attributes = self.attributes(all, target);
        if let Some(storage) = specified.storage
            && storage.node == Storage::Typedef
        {
            self.report(Diagnostic::new(Code::StorageClass, storage.span, "a `typedef` has no body"));
        }
        let Some(name) = declared.name else {
            self.report(Diagnostic::new(Code::DeclaresNothing, declared.span, "this function has no name"));
            return;
        };
        let is_function = matches!(self.types.get(declared.ty.ty), Ty::Function(_));
        let (true, Some(parameters)) = (is_function, &declared.parameters) else {
            if declared.ty.ty != TyId::ERROR {
                self.report(
                    Diagnostic::new(
                        Code::OldStyleFunction,
                        name.span,
                        "a function is defined with its parameters",
                    )
                    .note("C99 6.9.1: the declarator of a definition has the parameter list"),
                );
            }
            self.scopes.declare(name.node, Entity::Error, name.span);
            return self.check_body_alone(definition);
        };
        self.warn_builtin_name(name);
        let Some(id) = self.function(name, &declared, &specified, &attributes) else {
            return self.check_body_alone(definition);
        };
        self.note(name.span, Meaning::Function(id), Role::Definition);
        if self.module.functions[id].body.is_some() {
            let first = self.module.functions[id].span;
            self.report_redefinition(name, first);
            return self.check_body_alone(definition);
        }
        let function = &mut self.module.functions[id];
        function.span = name.span;
        // A recursive call needs the parameters, so set them before checking the body.
        self.set_parameters(id, parameters);
        self.check_parameters(parameters);
        if self.module.functions[id].kernel.is_some() {
            self.check_kernel(id, parameters);
        }
        let result = self.module.functions[id].result;
        let errors = self.sink.errors();
        self.note_scope(scope_span(definition));
        let (body, _) = self.body(id, parameters, Returns::Type(result), definition.body.items);
        let what = format!("`{}`", self.text(name.node));
        self.check_missing_return(&what, result, &body, definition.body.span);
        // After an error, the body is incomplete and its uses are unknown.
        if self.sink.errors() == errors {
            let uses = Uses::in_function(&self.module.functions[id], &body);
            let (function, interner) = (&self.module.functions[id], &*self.interner);
            check_uninitialized(function, &uses, &self.types, interner, self.sink);
            check_unsequenced(function, &body, &self.module, interner, self.sink);
            self.uses.insert(id, uses);
        }
        self.module.functions[id].body = Some(body);
    }

    /// Checks the body of a function with an invalid declaration for its own errors.
    fn check_body_alone(&mut self, definition: &ast::FunctionDefinition) {
        let function = Function::new(self.interner.intern(""), TyId::ERROR, definition.body.span);
        let declared = {
            let mut quiet = Vec::new();
            if let Some(ast::Derivation { kind: ast::DerivationKind::Function(function), .. }) =
                definition.declarator.derivations.first()
            {
                quiet.extend(function.parameters.iter().filter_map(|parameter| parameter.declarator.name));
                quiet.extend(function.old_style);
            }
            quiet
        };
        let id = self.module.functions.push(function);
        let parameters: Vec<Parameter> = declared
            .into_iter()
            .map(|name| Parameter::plain(Some(name), TyId::ERROR.plain(), name.span))
            .collect();
        self.set_parameters(id, &parameters);
        self.note_scope(scope_span(definition));
        self.body(id, &parameters, Returns::Type(TyId::ERROR), definition.body.items);
    }

    /// The function that a declaration refers to: a new one, or one declared before (C99 6.2.7).
    fn function(
        &mut self,
        name: Ident,
        declared: &Declared,
        specified: &Specified,
        attributes: &Attributes,
    ) -> Option<FunctionId> {
        let Ty::Function(function) = self.types.get(declared.ty.ty).clone() else { return None };
        if self.text(name.node) == "main" {
            self.report_main(name.span);
        }
        if let Some(space) = declared.ty.quals.space {
            self.report_function_space(name, space);
        }
        let here = self.scopes.lookup_innermost(name.node).cloned();
        if let Some(here) = &here
            && !matches!(here.meaning, Entity::Function(_) | Entity::Overloads(_))
        {
            if !matches!(here.meaning, Entity::Error) {
                self.report_redefinition(name, here.span);
            }
            return None;
        }
        let mut known_ids = self.declared_functions(name)?;
        let same = known_ids.iter().copied().find(|id| self.agrees(*id, &function));
        if same.is_none()
            && let Some(first) = known_ids.iter().copied().find(|id| self.has_same_parameters(*id, &function))
        {
            self.report_conflict(name, first);
            return None;
        }
        let is_static = specified.storage.is_some_and(|storage| storage.node == Storage::Static);
        let id = match (same, known_ids.first()) {
            (Some(id), _) => {
                if is_static && !self.declarations.is_static(Meaning::Function(id)) {
                    self.report_linkage(name, self.module.functions[id].span, true);
                }
                id
            }
            (None, Some(&first)) if !attributes.is_overloadable => {
                self.report_conflict(name, first);
                return None;
            }
            (None, _) => {
                let id = self.new_function(name, &function, declared);
                if is_static {
                    self.declarations.add_static(Meaning::Function(id));
                }
                known_ids.push(id);
                let is_overloaded = attributes.is_overloadable || known_ids.len() > 1;
                self.module.functions[id].linkage = linkage(specified, is_overloaded);
                let meaning = if is_overloaded { Entity::Overloads(known_ids) } else { Entity::Function(id) };
                self.scopes.declare_at_program_scope(name.node, meaning.clone(), name.span);
                self.scopes.replace_at_program_scope(name.node, meaning);
                id
            }
        };
        if here.is_none() && !self.scopes.at_program_scope() {
            self.scopes.declare(name.node, Entity::Function(id), name.span);
        }
        self.kernel_attributes(id, specified, attributes);
        Some(id)
    }

    /// The functions with this name that were declared before. Reports a redefinition and returns `None` if the name is
    /// something else.
    fn declared_functions(&mut self, name: Ident) -> Option<Vec<FunctionId>> {
        let known = self.scopes.lookup_program(name.node).cloned();
        match known.as_ref().map(|binding| &binding.meaning) {
            Some(Entity::Function(id)) => Some(vec![*id]),
            Some(Entity::Overloads(ids)) => Some(ids.clone()),
            Some(Entity::Error) => None,
            Some(_) => {
                self.report_redefinition(name, known.map_or(name.span, |binding| binding.span));
                None
            }
            None => Some(Vec::new()),
        }
    }

    fn report_function_space(&mut self, name: Ident, space: AddressSpace) {
        let message = format!("the function `{}` cannot be `{}`", self.text(name.node), space.spelling());
        self.report(
            Diagnostic::new(Code::AddressSpacePlacement, name.span, message)
                .note("OpenCL C 6.7: address spaces cannot be used with a function type"),
        );
    }

    /// Creates a function that was not declared before.
    fn new_function(&mut self, name: Ident, function: &FunctionTy, declared: &Declared) -> FunctionId {
        let id = self.module.functions.push(Function::new(name.node, function.result.ty, name.span));
        let unnamed = || {
            let types = function.parameters.iter();
            types.map(|ty| Parameter::plain(None, *ty, name.span)).collect()
        };
        let parameters = declared.parameters.clone().unwrap_or_else(unnamed);
        self.set_parameters(id, &parameters);
        id
    }

    /// C99 6.2.2: a name has one linkage. `extern`, or no storage class on a function, inherits the linkage of a
    /// prior declaration.
    pub(super) fn report_linkage(&mut self, name: Ident, first: Span, is_static: bool) {
        let text = self.text(name.node).to_owned();
        let (here, before) = if is_static { ("is", "without") } else { ("is not", "with") };
        self.report(
            Diagnostic::new(
                Code::ConflictingDeclaration,
                name.span,
                format!("`{text}` {here} `static` here, unlike in its earlier declaration"),
            )
            .also(first, format!("declared {before} `static`"))
            .help("make the declarations agree: both with `static`, or both without")
            .note("C99 6.2.2: the same name with both internal and external linkage has no meaning"),
        );
    }

    fn report_conflict(&mut self, name: Ident, first: FunctionId) {
        let text = self.text(name.node).to_owned();
        let was = self.function_ty(first);
        let (was, span) = (self.show(was), self.module.functions[first].span);
        self.report(
            Diagnostic::new(
                Code::ConflictingDeclaration,
                name.span,
                format!("`{text}` was declared with other types"),
            )
            .also(span, format!("as `{was}`"))
            .help("choose another name, or write `__attribute__((overloadable))` before both")
            .note("C99 6.7: declarations of one function have compatible types"),
        );
    }

    /// Whether a declaration matches the previous type of the function.
    fn agrees(&self, id: FunctionId, function: &FunctionTy) -> bool {
        let known = self.module.functions[id].result;
        is_same(known, function.result.ty) && self.has_same_parameters(id, function)
    }

    /// Whether the parameter types match. Overloaded functions differ in them.
    fn has_same_parameters(&self, id: FunctionId, function: &FunctionTy) -> bool {
        let known = &self.module.functions[id];
        known.parameters.len() == function.parameters.len()
            && known
                .parameters
                .iter()
                .zip(&function.parameters)
                .all(|(&left, right)| is_same(known.locals[left].ty.ty, right.ty))
    }

    /// The type of a program function.
    pub(crate) fn function_ty(&mut self, id: FunctionId) -> TyId {
        let function = &self.module.functions[id];
        let parameters =
            function.parameters.iter().map(|&parameter| function.locals[parameter].ty.ty.plain()).collect();
        let ty = FunctionTy { result: function.result.plain(), parameters, is_variadic: false };
        self.types.intern(Ty::Function(ty))
    }

    /// Makes the parameters the first locals of the function.
    pub(super) fn set_parameters(&mut self, id: FunctionId, parameters: &[Parameter]) {
        let mut locals: Table<LocalId, Local> = Table::new();
        let ids = parameters
            .iter()
            .map(|parameter| {
                locals.push(Local {
                    name: parameter.name.map(|name| name.node),
                    ty: parameter.ty,
                    align: parameter.align,
                    span: parameter.span,
                })
            })
            .collect();
        let function = &mut self.module.functions[id];
        function.parameters = ids;
        function.locals = locals;
    }

    /// Checks the parameters of a definition: each needs a name and a complete type (C99 6.9.1).
    fn check_parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            if parameter.name.is_none() {
                self.report(
                    Diagnostic::new(Code::ParameterName, parameter.span, "this parameter has no name")
                        .note("C99 6.9.1: the parameters of a definition have names"),
                );
            }
            if !self.types.is_complete(parameter.ty.ty) {
                let shown = self.show(parameter.ty.ty);
                self.report(
                    Diagnostic::new(
                        Code::IncompleteType,
                        parameter.span,
                        format!("a parameter has the incomplete type `{shown}`"),
                    )
                    .note("C99 6.9.1: the parameters of a definition have complete types"),
                );
            }
        }
    }

    fn report_main(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::MainFunction, span, "a function cannot be called `main`")
                .help("choose another name")
                .note("OpenCL C 6.11.u: a function in an OpenCL program cannot be called `main`"),
        );
    }

    fn warn_builtin_name(&mut self, name: Ident) {
        let text = self.text(name.node);
        if self.is_builtin(text) && self.scopes.at_program_scope() {
            let message = format!("this replaces the built-in function `{text}`");
            self.report(
                Diagnostic::new(Code::BuiltinRedefined, name.span, message)
                    .help("choose another name")
                    .note("C99 7.1.3: the names of the library are reserved"),
            );
        }
    }

    /// Checks the body of a function or block literal. Its locals are those of `id`, and its parameters are its first
    /// locals. Also returns the result type.
    pub(crate) fn body(
        &mut self,
        id: FunctionId,
        parameters: &[Parameter],
        returns: Returns,
        items: &[ast::BlockItem],
    ) -> (Vec<Stmt>, Returns) {
        let body = Body {
            function: Some(id),
            returns,
            is_kernel: self.module.functions[id].kernel.is_some(),
            outermost_depth: self.scopes.depth() + 1,
            ..Body::none()
        };
        let outer_body = std::mem::replace(&mut self.body, body);
        self.scopes.push();
        let locals = self.module.functions[id].parameters.clone();
        for (parameter, local) in parameters.iter().zip(locals) {
            let Some(name) = parameter.name else { continue };
            if let Some(first) = self.scopes.lookup_innermost(name.node) {
                let first = first.span;
                self.report_redefinition(name, first);
            }
            self.scopes.declare(name.node, Entity::Local(id, local), name.span);
            self.note(name.span, Meaning::Local(id, local), Role::Definition);
            if parameter.is_unused {
                self.scopes.lookup(name.node);
            }
        }
        let stmts = self.block_items(items);
        let scope = self.scopes.pop();
        self.warn_unused(&scope);
        self.check_labels();
        self.check_inner_jumps(&stmts);
        let body = std::mem::replace(&mut self.body, outer_body);
        (stmts, body.returns)
    }
}

/// The span from the parameters to the end of the body.
fn scope_span(definition: &ast::FunctionDefinition) -> Span {
    Span::new(definition.declarator.span.lo, definition.body.span.hi)
}
