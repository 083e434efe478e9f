//! Interned strings: names and the spellings of literals.

use std::sync::LazyLock;

use string_interner::{StringInterner, Symbol as _, backend::StringBackend, symbol::SymbolU32};

use crate::{predeclared, token::Keyword};

/// An interned string. Equal symbols have equal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(SymbolU32);

impl Symbol {
    /// The keyword with this spelling. Keywords are the first symbols of every interner.
    pub fn keyword(self) -> Option<Keyword> {
        Keyword::ALL.get(self.index()).map(|(_, keyword)| *keyword)
    }

    /// The symbol with this index.
    pub(crate) fn at(index: usize) -> Self {
        Self(SymbolU32::try_from_usize(index).expect("fewer than 2^32 names"))
    }

    /// The index of the symbol, in the order of interning.
    pub fn index(self) -> usize {
        self.0.to_usize()
    }
}

/// Owns the text of symbols. Keywords are interned first, so that recognizing one is a comparison. Predeclared type
/// names and other names that the parser needs follow.
#[derive(Clone)]
pub struct Interner(StringInterner<StringBackend<SymbolU32>, rustc_hash::FxBuildHasher>);

impl Interner {
    /// An interner with the predefined symbols.
    pub fn new() -> Self {
        static FIRST: LazyLock<Interner> = LazyLock::new(|| {
            // Space for the predefined symbols and the names of a small source.
            let mut interner = StringInterner::with_capacity_and_hasher(1024, rustc_hash::FxBuildHasher);
            for (spelling, _) in Keyword::ALL {
                interner.get_or_intern_static(spelling);
            }
            predeclared::each(|name, _| {
                interner.get_or_intern_static(name);
            });
            for name in predeclared::VECTOR_ATTRIBUTES {
                interner.get_or_intern_static(name);
            }
            Interner(interner)
        });
        FIRST.clone()
    }

    /// Interns a string.
    pub fn intern(&mut self, text: &str) -> Symbol {
        Symbol(self.0.get_or_intern(text))
    }

    /// The symbol for a text, if it has been interned.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.0.get(text).map(Symbol)
    }

    /// The text of a symbol of this interner.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.0.resolve(symbol.0).unwrap_or_default()
    }
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_the_first_symbols() {
        let mut interner = Interner::new();
        for (spelling, keyword) in Keyword::ALL {
            assert_eq!(interner.intern(spelling).keyword(), Some(*keyword), "{spelling}");
        }
        assert_eq!(interner.intern("name").keyword(), None);
    }

    #[test]
    fn predeclared_names_follow() {
        let mut interner = Interner::new();
        let mut position = Keyword::ALL.len();
        predeclared::each(|name, _| {
            assert_eq!(interner.intern(name), Symbol::at(position), "{name}");
            position += 1;
        });
        for name in predeclared::VECTOR_ATTRIBUTES {
            assert_eq!(interner.intern(name), Symbol::at(position), "{name}");
            position += 1;
        }
    }
}
