//! Scopes of type names, which C's grammar depends on (C99 6.2.1). The only property of types is whether they are
//! vectors, because the meaning of `(float4)(a, b).x` depends on that.

use crate::symbol::Symbol;

/// The kind of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// Undeclared: possibly a built-in function, or an error.
    #[default]
    Unknown,
    /// An object, a function or an enumerator.
    Value,
    /// A typedef name.
    Type,
    /// A typedef name of a vector.
    Vector,
}

impl NameKind {
    /// Whether it is a type name.
    pub(crate) fn is_type(self) -> bool {
        matches!(self, Self::Type | Self::Vector)
    }
}

/// The visible declarations, with an undo log.
#[derive(Default)]
pub(crate) struct Scopes {
    /// By symbol index.
    kinds: Vec<NameKind>,
    /// The shadowed kind of each declared name, innermost last.
    shadowed: Vec<(Symbol, NameKind)>,
}

/// A position in the undo log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checkpoint(usize);

impl Scopes {
    /// The current kind of a name.
    pub(crate) fn kind(&self, name: Symbol) -> NameKind {
        self.kinds.get(name.index()).copied().unwrap_or_default()
    }

    /// Declares a name until the end of the scope.
    pub(crate) fn declare(&mut self, name: Symbol, kind: NameKind) {
        let shadowed = self.predeclare(name, kind);
        self.shadowed.push((name, shadowed));
    }

    /// Declares a name permanently, outside all scopes.
    pub(crate) fn predeclare(&mut self, name: Symbol, kind: NameKind) -> NameKind {
        if self.kinds.len() <= name.index() {
            self.kinds.resize(name.index() + 1, NameKind::Unknown);
        }
        std::mem::replace(&mut self.kinds[name.index()], kind)
    }

    /// The current position in the undo log, at the start of a scope.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.shadowed.len())
    }

    /// Ends the scope that started at `checkpoint`.
    pub(crate) fn restore(&mut self, checkpoint: Checkpoint) {
        while self.shadowed.len() > checkpoint.0 {
            if let Some((name, kind)) = self.shadowed.pop() {
                self.kinds[name.index()] = kind;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Interner;

    #[test]
    fn inner_declarations_shadow_outer_ones() {
        let t = Interner::new().intern("T");
        let mut scopes = Scopes::default();
        assert_eq!(scopes.kind(t), NameKind::Unknown);
        scopes.predeclare(t, NameKind::Vector);
        let outer = scopes.checkpoint();
        scopes.declare(t, NameKind::Type);
        let inner = scopes.checkpoint();
        scopes.declare(t, NameKind::Value);
        scopes.declare(t, NameKind::Type);
        scopes.restore(inner);
        assert_eq!(scopes.kind(t), NameKind::Type);
        scopes.restore(outer);
        assert_eq!(scopes.kind(t), NameKind::Vector);
    }
}
