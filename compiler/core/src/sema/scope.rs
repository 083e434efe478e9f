//! Names and what they mean, scope by scope (C99 6.2.1).

use kiln_syntax::{Span, Symbol};
use rustc_hash::FxHashMap;

use crate::{
    hir::{Const, FunctionId, GlobalId, LocalId},
    ty::{EnumId, QualTy, RecordId, TyId},
};

/// What an ordinary name means.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A parameter or a variable of the function.
    Local(LocalId),
    /// An object with static lifetime.
    Global(GlobalId),
    /// A function of the program.
    Function(FunctionId),
    /// A type name.
    Typedef(QualTy),
    /// An enumerator.
    Enumerator { value: Const, ty: TyId },
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
}

#[derive(Debug, Default)]
struct Scope {
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
