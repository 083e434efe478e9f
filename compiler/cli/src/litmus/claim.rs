//! The condition of a litmus test, and whether it is true for the outcomes of a model.

use std::collections::{BTreeMap, BTreeSet};

use kiln_memory_model::text::Condition;

/// A value that no number in a condition has: the address of an object.
const ADDRESS: i64 = i64::MAX;

/// The condition, and the values that are not part of an outcome.
pub(super) struct Claim {
    pub(super) condition: Condition,
    /// The initial values of the objects. An object that no process writes keeps its value; the others are zero.
    pub(super) initial: BTreeMap<String, i64>,
    /// The parameters of the processes, such as `0:x`. Their values are addresses.
    pub(super) addresses: BTreeSet<String>,
}

impl Claim {
    /// Whether the condition is true, given the parts of each outcome. `None` if it is not understood.
    pub(super) fn holds<'a, P>(&self, outcomes: impl Iterator<Item = P>) -> Option<bool>
    where
        P: Iterator<Item = (&'a str, u64)>,
    {
        let satisfied: Option<Vec<bool>> = outcomes
            .map(|parts| {
                let parts: BTreeMap<&str, u64> = parts.collect();
                self.condition.is_satisfied(&|name| {
                    // Values are signed.
                    let found = parts.get(name).map(|value| i64::from(*value as i32));
                    found.or_else(|| self.constant(name))
                })
            })
            .collect();
        Some(self.condition.verdict(satisfied?.into_iter()))
    }

    /// The value of an object or parameter that no process writes.
    fn constant(&self, name: &str) -> Option<i64> {
        let initial = self.initial.get(name).copied();
        let address = || self.addresses.contains(name).then_some(ADDRESS);
        initial.or_else(address).or_else(|| (!name.contains(':')).then_some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_evaluated_in_the_outcomes_that_are_allowed() {
        let outcomes = [[("x", 1), ("0:r0", 1)], [("x", 2), ("0:r0", 4_294_967_295)]];
        let holds = |condition: &str| {
            let condition = Condition::parse(condition)?;
            let initial = BTreeMap::from([("y".to_owned(), 7)]);
            let claim = Claim { condition, initial, addresses: BTreeSet::from(["1:x".to_owned()]) };
            claim.holds(outcomes.iter().map(|it| it.iter().copied()))
        };
        for (condition, expected) in [
            ("exists (x=1 /\\ 0:r0=1)", Some(true)),
            ("exists (x=1 /\\ 0:r0=0)", Some(false)),
            ("exists (x=3 \\/ (0:r0=-1 /\\ ~(x=1)))", Some(true)),
            ("~exists (x=1 /\\ 0:r0=0)", Some(true)),
            ("forall (0:r0!=0 /\\ [y]=7 /\\ z=0)", Some(true)),
            ("forall (x=1)", Some(false)),
            ("exists (1:x=0)", Some(false)),
            ("exists (x=1", None),
            ("exists (5:r0=1)", None),
        ] {
            assert_eq!(holds(condition), expected, "{condition}");
        }
    }
}
