//! Tables with typed ids, so that an id of one table cannot be used in another.

use std::{
    marker::PhantomData,
    ops::{Index, IndexMut},
};

/// An id: an index into a table.
pub trait Id: Copy {
    /// Creates an id from an index.
    fn from_index(index: usize) -> Self;
    /// The index.
    fn index(self) -> usize;
}

/// Declares an id type.
#[macro_export]
macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::index::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table of fewer than 2^32 entries"))
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

/// A table of `T` indexed by `I`.
#[derive(Clone, Debug)]
pub struct Table<I, T>(Vec<T>, PhantomData<fn(I)>);

impl<I: Id, T> Table<I, T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self(Vec::new(), PhantomData)
    }

    /// An empty table with space for this many entries.
    pub fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count), PhantomData)
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        let id = I::from_index(self.0.len());
        self.0.push(entry);
        id
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The entries, in order, as mutable references.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// The ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.0.len()).map(I::from_index)
    }

    /// The ids and entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = (I, &T)> {
        self.0.iter().enumerate().map(|(index, entry)| (I::from_index(index), entry))
    }

    /// The entry with this id, if it exists.
    pub fn get(&self, id: I) -> Option<&T> {
        self.0.get(id.index())
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.0[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.0[id.index()]
    }
}
