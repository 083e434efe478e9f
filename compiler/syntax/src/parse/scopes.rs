//! Which names are type names where: all that C's grammar needs to know of declarations (C99 6.2.1). It knows
//! no types but one thing about them, whether they are vectors, because `(float4)(a, b).x` hangs on it.

use crate::symbol::Symbol;

/// What a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// Nothing declares it: perhaps a built-in function, perhaps a mistake.
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
    /// Whether it names a type.
    pub(crate) fn is_type(self) -> bool {
        matches!(self, Self::Type | Self::Vector)
    }
}

/// The declarations in force, and how to take them back.
#[derive(Default)]
pub(crate) struct Scopes {
    /// By index of symbol.
    kinds: Vec<NameKind>,
    /// What each declaration covered, the innermost last.
    covered: Vec<(Symbol, NameKind)>,
}

/// A moment to come back to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment(usize);

impl Scopes {
    /// What this name stands for here.
    pub(crate) fn kind(&self, name: Symbol) -> NameKind {
        self.kinds.get(name.index()).copied().unwrap_or_default()
    }

    /// From here on, until the scope ends.
    pub(crate) fn declare(&mut self, name: Symbol, kind: NameKind) {
        let covered = self.predeclare(name, kind);
        self.covered.push((name, covered));
    }

    /// From the beginning, for good.
    pub(crate) fn predeclare(&mut self, name: Symbol, kind: NameKind) -> NameKind {
        if self.kinds.len() <= name.index() {
            self.kinds.resize(name.index() + 1, NameKind::Unknown);
        }
        std::mem::replace(&mut self.kinds[name.index()], kind)
    }

    /// The beginning of a scope.
    pub(crate) fn moment(&self) -> Moment {
        Moment(self.covered.len())
    }

    /// The end of the scope that began then.
    pub(crate) fn back_to(&mut self, moment: Moment) {
        while self.covered.len() > moment.0 {
            if let Some((name, kind)) = self.covered.pop() {
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
    fn an_inner_declaration_covers_the_outer_until_its_scope_ends() {
        let t = Interner::new().intern("T");
        let mut scopes = Scopes::default();
        assert_eq!(scopes.kind(t), NameKind::Unknown);
        scopes.predeclare(t, NameKind::Vector);
        let outer = scopes.moment();
        scopes.declare(t, NameKind::Type);
        let inner = scopes.moment();
        scopes.declare(t, NameKind::Value);
        scopes.declare(t, NameKind::Type);
        scopes.back_to(inner);
        assert_eq!(scopes.kind(t), NameKind::Type);
        scopes.back_to(outer);
        assert_eq!(scopes.kind(t), NameKind::Vector);
    }
}
