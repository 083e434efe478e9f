//! Splits an object into ranges that no access crosses. Each range becomes a variable.
//!
//! A range is a part of the object, or the same member of all structures in an array. Splitting repeats two steps: a range is
//! cut between accesses, or folded by the stride at which its accesses repeat and then cut.

use kiln_ir::{FuncId, InstId};
use kiln_types::index::Id as _;
use smallvec::SmallVec;

use super::Usage;
use crate::extent::Extent;

/// An access to the object.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The instruction.
    pub(super) at: (FuncId, InstId),
    /// The position in the object or in the range.
    pub(super) extent: Extent,
    /// The size of the access in bytes.
    pub(super) size: u64,
    /// The kind of access.
    pub(super) usage: Usage,
}

/// Converts an offset in an object to an offset in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Subtracts the number of bytes before the range.
    Skip(u64),
    /// The range consists of `length` bytes at `start` in every `period` bytes.
    Fold {
        /// The distance in bytes between repetitions.
        period: u64,
        /// The offset in each repetition.
        start: u64,
        /// The number of bytes in each repetition.
        length: u64,
    },
}

/// A part of an object.
#[derive(Clone, Debug)]
pub(super) struct Range {
    /// The steps from the object to the range.
    pub(super) steps: SmallVec<[Step; 2]>,
    /// The size in bytes; `None` for an object whose length the launch sets.
    pub(super) size: Option<u64>,
    /// The accesses to it.
    pub(super) uses: Vec<Use>,
}

impl Range {
    /// All accesses combined.
    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for one in &self.uses {
            usage.join(&one.usage);
        }
        usage
    }

    /// Splits the range of a whole object. Ranges with an element that suits all accesses are not split further.
    pub(super) fn split(self) -> Vec<Self> {
        let (mut open, mut done) = (vec![self], Vec::new());
        while let Some(range) = open.pop() {
            match range.usage().is_mixed().then(|| range.cut().or_else(|| range.fold())).flatten() {
                Some(parts) => open.extend(parts),
                None => done.push(range),
            }
        }
        // A deterministic order.
        done.sort_by_key(|range| {
            range.uses.iter().map(|it| (it.extent.offset, it.at.0.index(), it.at.1.index())).min()
        });
        done
    }

    /// Cuts the range between accesses, if possible.
    fn cut(&self) -> Option<Vec<Self>> {
        let mut spans = Vec::new();
        for (number, one) in self.uses.iter().enumerate() {
            let (low, high) = one.extent.limits()?;
            spans.push((u64::try_from(low).ok()?, u64::try_from(high).ok()?.checked_add(one.size)?, number));
        }
        let groups = groups(spans)?;
        let parts = groups.into_iter().map(|(low, high, numbers)| {
            let start = low & !7;
            let uses = numbers.into_iter().map(|number| {
                let mut one = self.uses[number].clone();
                one.extent.offset -= start as i64;
                one
            });
            let mut steps = self.steps.clone();
            if start > 0 {
                steps.push(Step::Skip(start));
            }
            Self { steps, size: Some(high - start), uses: uses.collect() }
        });
        Some(parts.collect())
    }

    /// Folds the range by a stride of its accesses, if it can be cut then.
    fn fold(&self) -> Option<Vec<Self>> {
        let size = self.size?;
        let terms = self.uses.iter().flat_map(|one| &one.extent.terms);
        let mut periods: Vec<u64> = terms.map(|term| term.stride).collect();
        periods.sort_unstable();
        periods.dedup();
        periods.into_iter().rev().find_map(|period| self.folded(period, size))
    }

    fn folded(&self, period: u64, size: u64) -> Option<Vec<Self>> {
        // Keeps the alignment of the object's elements.
        let grain = 1 << period.trailing_zeros().min(3);
        if self.uses.iter().any(|one| one.usage.widest() > grain) {
            return None;
        }
        let signed = i64::try_from(period).ok()?;
        let mut spans = Vec::new();
        for (number, one) in self.uses.iter().enumerate() {
            let mut rest = one.extent.clone();
            rest.terms.retain(|term| !term.stride.is_multiple_of(period));
            rest.offset = rest.offset.rem_euclid(signed);
            let (low, high) = rest.limits()?;
            let end = u64::try_from(high).ok()?.checked_add(one.size)?;
            if end > period {
                return None;
            }
            spans.push((low as u64, end, number));
        }
        let groups = groups(spans)?;
        let parts = groups.into_iter().map(|(low, high, numbers)| {
            let start = low & !(grain - 1);
            let length = (high - start).next_multiple_of(grain);
            let uses = numbers.into_iter().map(|number| {
                let mut one = self.uses[number].clone();
                let offset = one.extent.offset;
                one.extent.offset =
                    offset.div_euclid(signed) * length as i64 + offset.rem_euclid(signed) - start as i64;
                for term in &mut one.extent.terms {
                    if term.stride.is_multiple_of(period) {
                        term.stride = term.stride / period * length;
                    }
                }
                one.extent = one.extent.normal();
                one
            });
            let mut steps = self.steps.clone();
            steps.push(Step::Fold { period, start, length });
            Self { steps, size: Some(size.div_ceil(period) * length), uses: uses.collect() }
        });
        Some(parts.collect())
    }
}

/// Merges overlapping spans into groups: start, end, and the numbers in the group. `None` if there is only one group.
fn groups(mut spans: Vec<(u64, u64, usize)>) -> Option<Vec<(u64, u64, Vec<usize>)>> {
    spans.sort_unstable();
    let mut groups: Vec<(u64, u64, Vec<usize>)> = Vec::new();
    for (low, high, number) in spans {
        match groups.last_mut() {
            Some((_, end, numbers)) if low < *end => {
                *end = high.max(*end);
                numbers.push(number);
            }
            _ => groups.push((low, high, vec![number])),
        }
    }
    (groups.len() > 1).then_some(groups)
}
