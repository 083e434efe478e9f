//! Sets of byte offsets in an object: a start, and steps of known strides.

use smallvec::SmallVec;

/// A set of byte offsets from the start of an object: `offset`, plus any number of steps of each term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OffsetSet {
    /// The minimum, unless a term has no limit.
    pub(super) offset: i64,
    /// The terms, sorted by stride; each stride occurs once.
    pub(super) terms: SmallVec<[Term; 2]>,
}

/// Steps of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term {
    /// The size of a step in bytes.
    pub(super) stride: u64,
    /// The number of steps is less than this. `None`: any number of steps, in either direction.
    pub(super) count: Option<u64>,
}

/// What pointer arithmetic adds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addend {
    /// Constant bytes.
    Bytes(i64),
    /// An index that is not constant.
    Index(Term),
}

/// The maximum number of terms, beyond which a set becomes coarser.
const TERMS: usize = 6;

impl OffsetSet {
    /// The start of an object.
    pub(super) fn start() -> Self {
        Self { offset: 0, terms: SmallVec::new() }
    }

    /// The whole object.
    pub(super) fn anywhere() -> Self {
        Self { offset: 0, terms: SmallVec::from_slice(&[Term { stride: 1, count: None }]) }
    }

    /// The minimum and maximum offset, if there are limits.
    pub(super) fn limits(&self) -> Option<(i64, i64)> {
        let mut end = self.offset;
        for term in &self.terms {
            let steps = i64::try_from(term.stride.checked_mul(term.count?.saturating_sub(1))?).ok()?;
            end = end.checked_add(steps)?;
        }
        Some((self.offset, end))
    }

    /// The set moved by a number of bytes.
    fn moved(&self, bytes: i64) -> Self {
        match self.offset.checked_add(bytes) {
            Some(offset) => Self { offset, terms: self.terms.clone() }.normal(),
            None => Self::anywhere(),
        }
    }

    /// The set with an optional additional step.
    fn with_term(&self, term: Option<Term>) -> Self {
        term.map_or_else(|| self.clone(), |term| self.stepped(term))
    }

    /// The set with additional steps.
    fn stepped(&self, term: Term) -> Self {
        let mut offsets = self.clone();
        offsets.terms.push(term);
        offsets.normal()
    }

    /// The set after pointer arithmetic. `past_end` is the step past the end of the array that the pointer points into. The
    /// pointer can have moved there before, and can then only move back, by constant bytes or by an index without a limit.
    pub(super) fn advanced(&self, by: Addend, past_end: Option<Term>) -> Self {
        match by {
            Addend::Bytes(bytes) => self.with_term(past_end.filter(|_| bytes < 0)).moved(bytes),
            Addend::Index(term) => self.with_term(past_end.filter(|_| term.count.is_none())).stepped(term),
        }
    }

    /// The union of two sets, or a superset.
    pub(super) fn join(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        let mut terms = self.terms.clone();
        for term in &other.terms {
            match terms.iter_mut().find(|own| own.stride == term.stride) {
                Some(own) => own.count = own.count.zip(term.count).map(|(own, count)| own.max(count)),
                None => terms.push(*term),
            }
        }
        let distance = self.offset.abs_diff(other.offset);
        if distance > 0 {
            terms.push(Term { stride: distance, count: Some(2) });
        }
        Self { offset: self.offset.min(other.offset), terms }.normal()
    }

    /// The set without limits.
    pub(super) fn widened(mut self) -> Self {
        for term in &mut self.terms {
            term.count = None;
        }
        self.normal()
    }

    /// The normal form: sorted terms, without those that another one covers.
    pub(super) fn normal(mut self) -> Self {
        let is_coarse = self.terms.len() > TERMS;
        let endless = self.terms.iter().filter(|term| is_coarse || term.count.is_none());
        let stride = endless.fold(0, |all, term| gcd(all, term.stride));
        let mut limited: SmallVec<[Term; 2]> = SmallVec::new();
        for term in self.terms {
            let Some(count) = term.count.filter(|&count| count > 1 && term.stride > 0) else { continue };
            if stride > 0 && term.stride.is_multiple_of(stride) {
                continue;
            }
            match limited.iter_mut().find(|known| known.stride == term.stride) {
                Some(known) => known.count = known.count.map(|known| known.saturating_add(count - 1)),
                None => limited.push(term),
            }
        }
        if stride > 0 {
            limited.push(Term { stride, count: None });
            self.offset = i64::try_from(stride).map_or(0, |stride| self.offset.rem_euclid(stride));
        }
        limited.sort_unstable();
        Self { offset: self.offset, terms: limited }
    }
}

/// Whether accesses at two sets of offsets can overlap. Each set has the size of its accesses. True if unknown.
pub(super) fn may_overlap((one, size): (&OffsetSet, u64), (other, other_size): (&OffsetSet, u64)) -> bool {
    let strides = one.terms.iter().chain(&other.terms).map(|term| term.stride);
    let are_apart = |period: Option<u64>| {
        let rest = |offsets: &OffsetSet| {
            let mut rest = offsets.clone();
            rest.terms.retain(|term| period.is_none_or(|period| !term.stride.is_multiple_of(period)));
            rest.limits()
        };
        let (Some((low, high)), Some((other_low, other_high))) = (rest(one), rest(other)) else {
            return false;
        };
        // The distance from the first byte of the other access to the first byte of this one.
        let (min, max) = (low.saturating_sub(other_high), high.saturating_sub(other_low));
        let (before, behind) = (size as i64, other_size as i64);
        match period.and_then(|period| i64::try_from(period).ok()) {
            None => max <= -before || min >= behind,
            // No repetition of one access overlaps the other.
            Some(period) => {
                let start = min.rem_euclid(period);
                start >= behind && start + (max - min) <= period - before
            }
        }
    };
    !std::iter::once(None).chain(strides.map(Some)).any(are_apart)
}

/// Whether every access at the first set of offsets is part of an access at the second set. Both sets can be supersets, so
/// this is certain only if both objects are at known offsets or have the same indices. False if unknown.
pub(super) fn is_part((one, size): (&OffsetSet, u64), (other, other_size): (&OffsetSet, u64)) -> bool {
    let mut rest = one.clone();
    rest.terms.retain(|term| !other.terms.contains(term));
    let Some((low, high)) = rest.limits() else { return false };
    // An index without limits also lost the minimum.
    let mut distance = low.saturating_sub(other.offset);
    for term in other.terms.iter().rev().filter(|term| !one.terms.contains(term)) {
        let (Some(count), Ok(stride)) = (term.count, i64::try_from(term.stride)) else { return false };
        let last = i64::try_from(count.saturating_sub(1)).unwrap_or(i64::MAX);
        distance -= distance.div_euclid(stride).clamp(0, last).saturating_mul(stride);
    }
    let end = distance.saturating_add(high - low).saturating_add_unsigned(size);
    distance >= 0 && u64::try_from(end).is_ok_and(|end| end <= other_size)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{OffsetSet, Term, is_part, may_overlap};

    fn offsets(offset: i64, terms: &[(u64, Option<u64>)]) -> OffsetSet {
        let terms = terms.iter().map(|&(stride, count)| Term { stride, count }).collect();
        OffsetSet { offset, terms }.normal()
    }

    #[test]
    fn accesses_to_different_members_do_not_overlap() {
        let overlap = |one: &OffsetSet, size, other: &OffsetSet, other_size| {
            let forward = may_overlap((one, size), (other, other_size));
            assert_eq!(forward, may_overlap((other, other_size), (one, size)));
            forward
        };
        let (flag, value) = (offsets(0, &[(64, None)]), offsets(4, &[(64, None)]));
        assert!(!overlap(&flag, 4, &value, 4));
        assert!(!overlap(&flag, 4, &value, 60));
        assert!(overlap(&flag, 4, &value, 61));
        assert!(overlap(&flag, 8, &value, 4));
        // An array in the structure: its last element ends where the next structure begins.
        let array = offsets(4, &[(64, None), (4, Some(15))]);
        assert!(!overlap(&flag, 4, &array, 4));
        assert!(overlap(&flag, 4, &offsets(4, &[(64, None), (4, Some(16))]), 4));
        assert!(overlap(&flag, 4, &offsets(4, &[(4, None)]), 4));
        assert!(!overlap(&offsets(8, &[]), 4, &offsets(0, &[(4, Some(2))]), 4));
        assert!(overlap(&offsets(8, &[]), 4, &offsets(0, &[(4, Some(3))]), 4));
        assert!(overlap(&OffsetSet::anywhere(), 1, &flag, 4));
    }

    #[test]
    fn parts_are_at_known_offsets_or_indexed_alike() {
        let word = offsets(8, &[]);
        assert!(is_part((&offsets(10, &[]), 2), (&word, 4)));
        assert!(is_part((&offsets(8, &[(1, Some(4))]), 1), (&word, 4)));
        assert!(!is_part((&offsets(8, &[(1, Some(5))]), 1), (&word, 4)));
        assert!(!is_part((&offsets(7, &[]), 1), (&word, 4)));
        assert!(!is_part((&offsets(8, &[(2, None)]), 2), (&word, 4)));
        let (array, endless) = (offsets(8, &[(4, Some(3))]), offsets(8, &[(4, None)]));
        assert!(is_part((&offsets(17, &[]), 1), (&array, 4)));
        assert!(!is_part((&offsets(20, &[]), 1), (&array, 4)));
        assert!(is_part((&offsets(9, &[(4, Some(3))]), 1), (&array, 4)));
        assert!(is_part((&offsets(9, &[(4, None)]), 1), (&endless, 4)));
        assert!(!is_part((&offsets(9, &[]), 1), (&endless, 4)));
    }
}
