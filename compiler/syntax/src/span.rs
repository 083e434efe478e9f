//! Positions. One `u32` space covers every file and every macro expansion; who owns which part is the
//! business of the compiler's `SourceMap`.

use std::fmt;

/// A half-open range of positions, 8 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first position.
    pub lo: u32,
    /// The position after the last.
    pub hi: u32,
}

impl Span {
    /// From two positions.
    pub const fn new(lo: u32, hi: u32) -> Self {
        Self { lo, hi }
    }

    /// So much farther on; backwards by what wraps.
    pub const fn shifted(self, by: u32) -> Self {
        Self { lo: self.lo.wrapping_add(by), hi: self.hi.wrapping_add(by) }
    }

    /// From the beginning of `self` to the end of `end`. The two may lie in different expansions; the source
    /// map resolves each end by itself.
    pub const fn to(self, end: Self) -> Self {
        Self { lo: self.lo, hi: end.hi }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

/// A thing and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The thing.
    pub node: T,
    /// Where it stands.
    pub span: Span,
}
