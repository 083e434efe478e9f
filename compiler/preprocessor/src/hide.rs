//! Hide sets (Prosser's algorithm; C99 6.10.3.4): the macros that must not expand a token.
//!
//! A set is a linked list that shares its tail with other sets, so that each nested expansion adds only one node.

use kiln_syntax::Symbol;
use rustc_hash::FxHashMap;

/// A hide set. The default is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct HideSet(u32);

struct Link {
    name: Symbol,
    rest: HideSet,
    /// A Bloom filter: rejects most names that are not members.
    filter: u64,
}

/// Owns the nodes of all sets.
#[derive(Default)]
pub(super) struct HideSets {
    links: Vec<Link>,
    with: FxHashMap<(HideSet, Symbol), HideSet>,
    unions: FxHashMap<(HideSet, HideSet), HideSet>,
    intersections: FxHashMap<(HideSet, HideSet), HideSet>,
    /// The number of visited nodes, for the preprocessor's budget.
    pub(super) steps: usize,
}

impl HideSets {
    pub(super) fn contains(&mut self, set: HideSet, name: Symbol) -> bool {
        let mut at = set;
        while let Some(link) = self.link(at) {
            if link.filter & bit(name) == 0 {
                return false;
            }
            if link.name == name {
                return true;
            }
            at = link.rest;
            self.steps += 1;
        }
        false
    }

    /// Adds a name to a set.
    pub(super) fn with(&mut self, set: HideSet, name: Symbol) -> HideSet {
        if self.contains(set, name) {
            return set;
        }
        let filter = self.link(set).map_or(0, |link| link.filter) | bit(name);
        let links = &mut self.links;
        *self.with.entry((set, name)).or_insert_with(|| {
            links.push(Link { name, rest: set, filter });
            HideSet(links.len() as u32)
        })
    }

    pub(super) fn union(&mut self, a: HideSet, b: HideSet) -> HideSet {
        if a == b || b == HideSet::default() {
            return a;
        }
        if a == HideSet::default() {
            return b;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let mut result = a;
        for name in self.members(b) {
            result = self.with(result, name);
        }
        self.unions.insert((a, b), result);
        result
    }

    pub(super) fn intersection(&mut self, a: HideSet, b: HideSet) -> HideSet {
        if a == b {
            return a;
        }
        if a == HideSet::default() || b == HideSet::default() {
            return HideSet::default();
        }
        if let Some(known) = self.intersections.get(&(a, b)) {
            return *known;
        }
        let mut result = HideSet::default();
        for name in self.members(a) {
            if self.contains(b, name) {
                result = self.with(result, name);
            }
        }
        self.intersections.insert((a, b), result);
        result
    }

    /// The members of a set, oldest first.
    fn members(&mut self, set: HideSet) -> Vec<Symbol> {
        let mut names = Vec::new();
        let mut at = set;
        while let Some(link) = self.link(at) {
            names.push(link.name);
            at = link.rest;
        }
        self.steps += names.len();
        names.reverse();
        names
    }

    fn link(&self, set: HideSet) -> Option<&Link> {
        self.links.get((set.0 as usize).wrapping_sub(1))
    }
}

fn bit(name: Symbol) -> u64 {
    1 << (name.index() % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertion_union_and_intersection() {
        let mut interner = kiln_syntax::Interner::new();
        let [a, b, c] = ["a", "b", "c"].map(|text| interner.intern(text));
        let mut sets = HideSets::default();
        let none = HideSet::default();
        let set_a = sets.with(none, a);
        let set_ab = sets.with(set_a, b);
        assert_eq!(sets.with(set_ab, a), set_ab);
        assert_eq!(sets.with(set_a, b), set_ab);
        let set_bc = sets.with(none, b);
        let set_bc = sets.with(set_bc, c);
        let all = sets.union(set_ab, set_bc);
        assert!([a, b, c].into_iter().all(|name| sets.contains(all, name)));
        let common = sets.intersection(set_ab, set_bc);
        assert!(sets.contains(common, b) && !sets.contains(common, a) && !sets.contains(common, c));
        assert_eq!(sets.intersection(set_a, none), none);
    }
}
