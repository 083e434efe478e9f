//! Scopes: names and their meanings (C99 6.2.1).
//!
//! Stores open scopes and their declarations. `decl` and `function` check redeclarations.

use std::cell::Cell;

use kiln_syntax::{Span, Symbol};
use kiln_types::ty::{EnumId, QualTy, RecordId, TyId};
use rustc_hash::FxHashMap;

use crate::hir::{Const, FunctionId, GlobalId, LocalId};

/// The properties of a typedef that are not part of its type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TypedefProperties {
    /// The alignment that a typedef requests.
    pub(crate) align: Option<u64>,
    /// `size_t` and similar types, whose size on the host is unknown (OpenCL C 6.11.m).
    pub(crate) is_host_sized: bool,
}

/// The meaning of an ordinary name.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A parameter or variable, and the function or block that owns it. A block literal captures the locals of other
    /// functions.
    Local(FunctionId, LocalId),
    /// An object with static lifetime.
    Global(GlobalId),
    /// A function of the program.
    Function(FunctionId),
    /// Functions of the program with the same name: clang's `__attribute__((overloadable))`.
    Overloads(Vec<FunctionId>),
    /// A type name.
    Typedef { ty: QualTy, typedef_properties: TypedefProperties },
    /// An enumerator.
    Enumerator { value: Const, ty: TyId },
    /// An invalid declaration, which has been reported. Compatible with everything.
    Error,
}

/// The meaning of a tag (C99 6.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Record(RecordId),
    Enum(EnumId),
}

/// A meaning, and the position of its declaration.
#[derive(Clone, Debug)]
pub(crate) struct Binding<T> {
    pub(crate) meaning: T,
    pub(crate) span: Span,
    /// The number of uses of the name, without those that only assign to it.
    uses: Cell<usize>,
    /// Whether a statement assigns to it.
    is_assigned: Cell<bool>,
}

/// An open scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    names: FxHashMap<Symbol, Binding<Entity>>,
    tags: FxHashMap<Symbol, Binding<Tag>>,
}

/// The open scopes, outermost first. There is always at least one.
#[derive(Debug)]
pub(crate) struct Scopes(Vec<Scope>);

impl Default for Scopes {
    fn default() -> Self {
        Self(vec![Scope::default()])
    }
}

impl<T> Binding<T> {
    fn new(meaning: T, span: Span) -> Self {
        Self { meaning, span, uses: Cell::new(0), is_assigned: Cell::new(false) }
    }

    /// Whether a statement assigns to it.
    pub(crate) fn is_assigned(&self) -> bool {
        self.is_assigned.get()
    }
}

impl Scopes {
    /// Opens a scope.
    pub(crate) fn push(&mut self) {
        self.0.push(Scope::default());
    }

    /// Closes the innermost scope. The outermost one stays open.
    pub(crate) fn pop(&mut self) -> Scope {
        if self.0.len() > 1 { self.0.pop().unwrap_or_default() } else { Scope::default() }
    }

    /// Whether only program scope is open.
    pub(crate) fn at_program_scope(&self) -> bool {
        self.0.len() == 1
    }

    /// The number of open scopes.
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    /// Looks up a name, and marks it as used.
    pub(crate) fn lookup(&self, name: Symbol) -> Option<&Binding<Entity>> {
        let binding = self.binding(name)?;
        binding.uses.set(binding.uses.get() + 1);
        Some(binding)
    }

    /// The number of uses of a name.
    pub(crate) fn uses(&self, name: Symbol) -> usize {
        self.binding(name).map_or(0, |binding| binding.uses.get())
    }

    /// Marks a name as assigned. The assignment does not count as a use.
    pub(crate) fn assign_only(&self, name: Symbol) {
        if let Some(binding) = self.binding(name) {
            binding.uses.set(binding.uses.get().saturating_sub(1));
            binding.is_assigned.set(true);
        }
    }

    /// Looks up a name. Does not mark it as used.
    pub(crate) fn binding(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.0.iter().rev().find_map(|scope| scope.names.get(&name))
    }

    /// Looks up a name in the innermost scope only. Does not mark it as used.
    pub(crate) fn lookup_innermost(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.0.last()?.names.get(&name)
    }

    /// Looks up a name at program scope only. Does not mark it as used.
    pub(crate) fn lookup_program(&self, name: Symbol) -> Option<&Binding<Entity>> {
        self.0.first()?.names.get(&name)
    }

    /// Looks up a tag.
    pub(crate) fn lookup_tag(&self, tag: Symbol) -> Option<&Binding<Tag>> {
        self.0.iter().rev().find_map(|scope| scope.tags.get(&tag))
    }

    /// Looks up a tag in the innermost scope only.
    pub(crate) fn lookup_tag_innermost(&self, tag: Symbol) -> Option<&Binding<Tag>> {
        self.0.last()?.tags.get(&tag)
    }

    /// Declares a name in the innermost scope, replacing a previous declaration there.
    pub(crate) fn declare(&mut self, name: Symbol, meaning: Entity, span: Span) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name, Binding::new(meaning, span));
        }
    }

    /// Declares a name at program scope, unless it is declared there.
    pub(crate) fn declare_at_program_scope(&mut self, name: Symbol, meaning: Entity, span: Span) {
        if let Some(scope) = self.0.first_mut() {
            scope.names.entry(name).or_insert_with(|| Binding::new(meaning, span));
        }
    }

    /// Replaces the meaning of a name at program scope.
    pub(crate) fn replace_at_program_scope(&mut self, name: Symbol, meaning: Entity) {
        if let Some(binding) = self.0.first_mut().and_then(|scope| scope.names.get_mut(&name)) {
            binding.meaning = meaning;
        }
    }

    /// Declares a tag in the innermost scope.
    pub(crate) fn declare_tag(&mut self, tag: Symbol, meaning: Tag, span: Span) {
        if let Some(scope) = self.0.last_mut() {
            scope.tags.insert(tag, Binding::new(meaning, span));
        }
    }

    /// All visible ordinary names, for suggestions.
    pub(crate) fn visible_names(&self) -> impl Iterator<Item = (Symbol, &Entity)> {
        self.0.iter().flat_map(|scope| scope.names.iter().map(|(name, binding)| (*name, &binding.meaning)))
    }
}

impl Scope {
    /// The names of this scope that are not used, or only assigned to, in the order of declaration.
    pub(crate) fn unused(&self) -> Vec<(Symbol, &Binding<Entity>)> {
        let mut unused: Vec<_> = self
            .names
            .iter()
            .filter(|(_, binding)| binding.uses.get() == 0)
            .map(|(name, binding)| (*name, binding))
            .collect();
        unused.sort_by_key(|(_, binding)| binding.span.lo);
        unused
    }
}
