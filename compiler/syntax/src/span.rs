//! Positions: one `u32` space for all files and macro expansions. The compiler's `SourceMap` assigns ranges to them.

use std::fmt;

/// A half-open range of positions. 8 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first position.
    pub lo: u32,
    /// The position after the last.
    pub hi: u32,
}

impl Span {
    /// Creates a span from two positions.
    pub const fn new(lo: u32, hi: u32) -> Self {
        Self { lo, hi }
    }

    /// Shifts a span. Wraps around, so that it can also shift backwards.
    pub const fn shifted(self, by: u32) -> Self {
        Self { lo: self.lo.wrapping_add(by), hi: self.hi.wrapping_add(by) }
    }

    /// From the start of `self` to the end of `end`. The two may be in different expansions: the source map resolves
    /// each end separately.
    pub const fn to(self, end: Self) -> Self {
        Self { lo: self.lo, hi: end.hi }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

/// A value with its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// Its span.
    pub span: Span,
}
