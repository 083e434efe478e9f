//! Shadow memory: the last accesses to every word.
//!
//! Owns their storage. Must not depend on the definition of a race.

use super::Site;
use crate::code::Scope;

/// A recorded access. A mask of 0 means none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordedAccess {
    pub(super) thread: u32,
    pub(super) epoch: u32,
    pub(super) at: Site,
    /// The accessed bytes of the word.
    pub(super) mask: u8,
    pub(super) is_write: bool,
    pub(super) atomic: Option<(Scope, u8)>,
    pub(super) is_shared: bool,
}

/// The accesses to a word. Most words have one access, so the others are stored separately.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) first: RecordedAccess,
    #[expect(clippy::box_collection, reason = "a word has room for a pointer, not for three")]
    rest: Option<Box<Vec<RecordedAccess>>>,
}

impl Word {
    /// Whether there is at most one access.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        self.rest.is_none()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &RecordedAccess> {
        let first = (self.first.mask != 0).then_some(&self.first);
        first.into_iter().chain(self.rest.iter().flat_map(|rest| rest.iter()))
    }

    /// Removes accesses.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&RecordedAccess) -> bool) {
        if let Some(rest) = &mut self.rest {
            rest.retain(&mut keeps);
        }
        if self.first.mask != 0 && !keeps(&self.first) {
            self.first = self.rest.as_mut().and_then(|rest| rest.pop()).unwrap_or_default();
        }
        self.rest.take_if(|rest| rest.is_empty());
    }

    /// Adds an access. If there are too many, evicts an older read.
    pub(super) fn push(&mut self, earlier: RecordedAccess) {
        if self.first.mask == 0 {
            self.first = earlier;
            return;
        }
        let rest = self.rest.get_or_insert_default();
        if rest.len() < MAX_RECORDED - 1 {
            rest.push(earlier);
        } else {
            let read = rest.iter().position(|earlier| !earlier.is_write);
            rest[read.unwrap_or(earlier.thread as usize % (MAX_RECORDED - 1))] = earlier;
        }
    }
}

/// The maximum number of accesses recorded for a word.
const MAX_RECORDED: usize = 6;
/// The number of words allocated together.
const PAGE: usize = 64;

type Page = Option<Box<[Word]>>;

/// The accesses to the objects of a memory, by object number.
#[derive(Debug, Default)]
pub(crate) struct Shadow(Vec<Vec<Page>>);

impl Shadow {
    /// The recorded accesses to a word of an object.
    pub(super) fn find(&self, object: u32, index: u64) -> Option<&Word> {
        let page = self.0.get(object as usize)?.get(index as usize / PAGE)?;
        page.as_ref()?.get(index as usize % PAGE)
    }

    /// Removes the accesses to an object.
    pub(super) fn forget(&mut self, object: u32) {
        if let Some(pages) = self.0.get_mut(object as usize) {
            pages.clear();
        }
    }

    /// The words of an object.
    #[inline]
    pub(super) fn object(&mut self, number: u32) -> Words<'_> {
        let number = number as usize;
        if number >= self.0.len() {
            self.0.resize_with(number + 1, Vec::new);
        }
        Words(&mut self.0[number])
    }
}

/// The words of an object.
pub(super) struct Words<'s>(&'s mut Vec<Page>);

impl Words<'_> {
    #[inline]
    pub(super) fn word(&mut self, index: u64) -> &mut Word {
        let (page, at) = (index as usize / PAGE, index as usize % PAGE);
        if page >= self.0.len() {
            self.0.resize_with(page + 1, || None);
        }
        let words = self.0[page].get_or_insert_with(|| (0..PAGE).map(|_| Word::default()).collect());
        &mut words[at]
    }
}
