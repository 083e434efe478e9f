//! Names and what they mean, scope by scope (C99 6.2.1).
//!
//! It knows which scopes are open and what was declared in them; what a redeclaration may do is the business
//! of `decl` and `function`.

use std::cell::Cell;

use kiln_syntax::{Span, Symbol};
use rustc_hash::FxHashMap;

use crate::{
    hir::{Const, FunctionId, GlobalId, LocalId},
    ty::{EnumId, QualTy, RecordId, TyId},
};

/// What the words for a type say beyond the type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sugar {
    /// The alignment that a typedef asks for.
    pub(crate) align: Option<u64>,
    /// `size_t` and its kin, whose size on the host is not known (OpenCL C 6.11.m).
    pub(crate) is_host_sized: bool,
}

/// What an ordinary name means.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A parameter or a variable, and the function or block that it belongs to: inside a block literal, a local
    /// of another function is captured.
    Local(FunctionId, LocalId),
    /// An object with static lifetime.
    Global(GlobalId),
    /// A function of the program.
    Function(FunctionId),
    /// Functions of the program that share a name: `__attribute__((overloadable))` of clang.
    Overloads(Vec<FunctionId>),
    /// A type name.
    Typedef { ty: QualTy, sugar: Sugar },
    /// An enumerator.
    Enumerator { value: Const, ty: TyId },
    /// A declaration that was reported; everything goes with it.
    Error,
}

/// What a tag means (C99 6.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Record(RecordId),
    Enum(EnumId),
}

/// A name's meaning and where it was given.
#[derive(Clone, Debug)]
pub(crate) struct Binding<T> {
    pub(crate) meaning: T,
    pub(crate) span: Span,
    /// Whether the name was looked up since.
    is_used: Cell<bool>,
}

/// One open scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    names: FxHashMap<Symbol, Binding<Entity>>,
    tags: FxHashMap<Symbol, Binding<Tag>>,
}

/// The scopes that are open, outermost first; there is always one.
#[derive(Debug)]
pub(crate) struct Scopes(Vec<Scope>);

impl Default for Scopes {
    fn default() -> Self {
        Self(vec![Scope::default()])
    }
}

impl<T> Binding<T> {
    fn new(meaning: T, span: Span) -> Self {
        Self { meaning, span, is_used: Cell::new(false) }
    }
}

impl Scopes {
    /// Opens a scope.
    pub(crate) fn push(&mut self) {
        self.0.push(Scope::default());
    }

    /// Closes the innermost scope; the outermost stays.
    pub(crate) fn pop(&mut self) -> Scope {
        if self.0.len() > 1 { self.0.pop().unwrap_or_default() } else { Scope::default() }
    }

    /// Whether only program scope is open.
    pub(crate) fn at_program_scope(&self) -> bool {
        self.0.len() == 1
    }

    /// How many scopes are open.
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    /// What the name means here; counts as a use of it.
    pub(crate) fn lookup(&self, name: Symbol) -> Option<&Binding<Entity>> {
        let binding = self.0.iter().rev().find_map(|scope| scope.names.get(&name))?;
        binding.is_used.set(true);
        Some(binding)
    }

    /// What the name means if it was declared in the innermost scope; no use of it.
    pub(crate) fn lookup_innermost(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.0.last()?.names.get(&name)
    }

    /// What the name means at program scope; no use of it.
    pub(crate) fn lookup_program(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.0.first()?.names.get(&name)
    }

    /// What the tag means here.
    pub(crate) fn lookup_tag(&self, tag: Symbol) -> Option<&Binding<Tag>> {
        self.0.iter().rev().find_map(|scope| scope.tags.get(&tag))
    }

    /// What the tag means if it was declared in the innermost scope.
    pub(crate) fn lookup_tag_innermost(&self, tag: Symbol) -> Option<&Binding<Tag>> {
        self.0.last()?.tags.get(&tag)
    }

    /// Gives the name a meaning in the innermost scope, in place of one that it had there.
    pub(crate) fn declare(&mut self, name: Symbol, meaning: Entity, span: Span) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name, Binding::new(meaning, span));
        }
    }

    /// Gives the name a meaning at program scope, unless it has one there.
    pub(crate) fn declare_at_program_scope(&mut self, name: Symbol, meaning: Entity, span: Span) {
        if let Some(scope) = self.0.first_mut() {
            scope.names.entry(name).or_insert_with(|| Binding::new(meaning, span));
        }
    }

    /// Gives a name of program scope another meaning.
    pub(crate) fn replace_at_program_scope(&mut self, name: Symbol, meaning: Entity) {
        if let Some(binding) = self.0.first_mut().and_then(|scope| scope.names.get_mut(&name)) {
            binding.meaning = meaning;
        }
    }

    /// Gives the tag a meaning in the innermost scope.
    pub(crate) fn declare_tag(&mut self, tag: Symbol, meaning: Tag, span: Span) {
        if let Some(scope) = self.0.last_mut() {
            scope.tags.insert(tag, Binding::new(meaning, span));
        }
    }

    /// Every ordinary name that can be seen here, for suggestions.
    pub(crate) fn visible_names(&self) -> impl Iterator<Item = (Symbol, &Entity)> {
        self.0.iter().flat_map(|scope| scope.names.iter().map(|(name, binding)| (*name, &binding.meaning)))
    }
}

impl Scope {
    /// The names of this scope that were never looked up, in the order of their declarations.
    pub(crate) fn unused(&self) -> Vec<(Symbol, &Binding<Entity>)> {
        let mut unused: Vec<_> = self
            .names
            .iter()
            .filter(|(_, binding)| !binding.is_used.get())
            .map(|(name, binding)| (*name, binding))
            .collect();
        unused.sort_by_key(|(_, binding)| binding.span.lo);
        unused
    }
}
