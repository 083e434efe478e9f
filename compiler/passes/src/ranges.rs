//! Splits an object into ranges that no access crosses. Each range becomes a variable.
//!
//! A range is a part of the object, or the same member of all structures in an array. Splitting repeats two steps: a range is
//! cut between accesses, or folded by the stride at which its accesses repeat and then cut.

use smallvec::SmallVec;

use crate::offset_set::OffsetSet;

/// An access to the object.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// Its number in the caller's list of accesses.
    pub(super) number: usize,
    /// The position in the object or in the range.
    pub(super) offsets: OffsetSet,
    /// The size of the access in bytes.
    pub(super) size: u64,
    /// The size of the widest element that suits the access, a power of two.
    pub(super) widest: u64,
}

/// Converts an offset in an object to an offset in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rebase {
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
    pub(super) steps: SmallVec<[Rebase; 2]>,
    /// The size in bytes; `None` for an object whose length the launch sets.
    pub(super) size: Option<u64>,
    /// The accesses to it.
    pub(super) uses: Vec<Use>,
}

impl Range {
    /// Splits a range that is a whole object, then its parts, as long as `is_to_split` selects them. Folds ranges only if
    /// `may_fold`.
    pub(super) fn split(self, may_fold: bool, is_to_split: impl Fn(&Self) -> bool) -> Vec<Self> {
        let (mut open, mut done) = (vec![self], Vec::new());
        while let Some(range) = open.pop() {
            let parts =
                || range.split_at_gaps().or_else(|| if may_fold { range.fold_by_stride() } else { None });
            match is_to_split(&range).then(parts).flatten() {
                Some(parts) => open.extend(parts),
                None => done.push(range),
            }
        }
        // A deterministic order.
        done.sort_by_key(|range| range.uses.iter().map(|it| (it.offsets.offset, it.number)).min());
        done
    }

    /// The first byte in the object and the one after the last, if the range is not folded. The bytes before the first access
    /// do not count.
    pub(super) fn bounds(&self) -> Option<(u64, u64)> {
        let mut start = 0;
        for step in &self.steps {
            match step {
                Rebase::Skip(bytes) => start += bytes,
                Rebase::Fold { .. } => return None,
            }
        }
        let offsets = self.uses.iter().filter_map(|one| u64::try_from(one.offsets.offset).ok());
        Some((start + offsets.min().unwrap_or(0), start + self.size?))
    }

    /// Cuts the range between accesses, if possible.
    fn split_at_gaps(&self) -> Option<Vec<Self>> {
        let mut spans = Vec::new();
        for (number, one) in self.uses.iter().enumerate() {
            let (low, high) = one.offsets.limits()?;
            spans.push((u64::try_from(low).ok()?, u64::try_from(high).ok()?.checked_add(one.size)?, number));
        }
        let groups = merge_overlapping(spans)?;
        let parts = groups.into_iter().map(|(low, high, numbers)| {
            let start = low & !(self.widest_element(&numbers) - 1);
            let uses = numbers.into_iter().map(|number| {
                let mut one = self.uses[number].clone();
                one.offsets.offset -= start as i64;
                one
            });
            let mut steps = self.steps.clone();
            if start > 0 {
                steps.push(Rebase::Skip(start));
            }
            Self { steps, size: Some(high - start), uses: uses.collect() }
        });
        Some(parts.collect())
    }

    /// Folds the range by a stride of its accesses, if it can be cut then.
    fn fold_by_stride(&self) -> Option<Vec<Self>> {
        let size = self.size?;
        let terms = self.uses.iter().flat_map(|one| &one.offsets.terms);
        let mut periods: Vec<u64> = terms.map(|term| term.stride).collect();
        periods.sort_unstable();
        periods.dedup();
        periods.into_iter().rev().find_map(|period| self.fold_by(period, size))
    }

    /// The size of the widest element that suits one of these accesses. A range begins at a multiple of it, so that its elements
    /// stay aligned.
    fn widest_element(&self, numbers: &[usize]) -> u64 {
        numbers.iter().map(|&number| self.uses[number].widest).max().unwrap_or(1)
    }

    fn fold_by(&self, period: u64, size: u64) -> Option<Vec<Self>> {
        // Keeps the alignment of the object's elements.
        let grain = 1 << period.trailing_zeros().min(3);
        if self.uses.iter().any(|one| one.widest > grain) {
            return None;
        }
        let signed = i64::try_from(period).ok()?;
        let mut spans = Vec::new();
        for (number, one) in self.uses.iter().enumerate() {
            let mut rest = one.offsets.clone();
            rest.terms.retain(|term| !term.stride.is_multiple_of(period));
            rest.offset = rest.offset.rem_euclid(signed);
            let (low, high) = rest.limits()?;
            let end = u64::try_from(high).ok()?.checked_add(one.size)?;
            if end > period {
                return None;
            }
            spans.push((low as u64, end, number));
        }
        let groups = merge_overlapping(spans)?;
        let parts = groups.into_iter().map(|(low, high, numbers)| {
            let widest = self.widest_element(&numbers);
            let start = low & !(widest - 1);
            let length = (high - start).next_multiple_of(widest);
            let uses = numbers.into_iter().map(|number| {
                let mut one = self.uses[number].clone();
                let offset = one.offsets.offset;
                one.offsets.offset =
                    offset.div_euclid(signed) * length as i64 + offset.rem_euclid(signed) - start as i64;
                for term in &mut one.offsets.terms {
                    if term.stride.is_multiple_of(period) {
                        term.stride = term.stride / period * length;
                    }
                }
                one.offsets = one.offsets.normal();
                one
            });
            let mut steps = self.steps.clone();
            steps.push(Rebase::Fold { period, start, length });
            Self { steps, size: Some(size.div_ceil(period) * length), uses: uses.collect() }
        });
        Some(parts.collect())
    }
}

/// Merges overlapping spans into groups: start, end, and the numbers in the group. `None` if there is only one group.
fn merge_overlapping(mut spans: Vec<(u64, u64, usize)>) -> Option<Vec<(u64, u64, Vec<usize>)>> {
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
