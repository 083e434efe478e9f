//! The last accesses to every word of memory.
//!
//! Owns where they are kept. It must never know what a race is.

use super::Site;
use crate::code::Scope;

/// An access that is remembered. One of no bytes stands for none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    pub(super) thread: u32,
    pub(super) epoch: u32,
    pub(super) at: Site,
    /// Bytes of the word.
    pub(super) mask: u8,
    pub(super) is_write: bool,
    pub(super) atomic: Option<(Scope, u8)>,
    pub(super) is_shared: bool,
}

/// The accesses to a word. There are many words, and mostly one access: the others lie elsewhere.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) first: Past,
    #[expect(clippy::box_collection, reason = "a word has room for a pointer, not for three")]
    rest: Option<Box<Vec<Past>>>,
}

impl Word {
    /// Whether there is one access at most.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        self.rest.is_none()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Past> {
        let first = (self.first.mask != 0).then_some(&self.first);
        first.into_iter().chain(self.rest.iter().flat_map(|rest| rest.iter()))
    }

    /// Forgets accesses.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&Past) -> bool) {
        if let Some(rest) = &mut self.rest {
            rest.retain(&mut keeps);
        }
        if self.first.mask != 0 && !keeps(&self.first) {
            self.first = self.rest.as_mut().and_then(|rest| rest.pop()).unwrap_or_default();
        }
        self.rest.take_if(|rest| rest.is_empty());
    }

    /// Remembers one more; of too many, an older read goes.
    pub(super) fn push(&mut self, past: Past) {
        if self.first.mask == 0 {
            self.first = past;
            return;
        }
        let rest = self.rest.get_or_insert_default();
        if rest.len() < REMEMBERED - 1 {
            rest.push(past);
        } else {
            let read = rest.iter().position(|past| !past.is_write);
            rest[read.unwrap_or(past.thread as usize % (REMEMBERED - 1))] = past;
        }
    }
}

/// Accesses that are remembered for a word.
const REMEMBERED: usize = 6;
/// Words that are made room for together.
const PAGE: usize = 64;

type Page = Option<Box<[Word]>>;

/// The accesses to the objects of a memory, by the objects' numbers.
#[derive(Debug, Default)]
pub(crate) struct Shadow(Vec<Vec<Page>>);

impl Shadow {
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
