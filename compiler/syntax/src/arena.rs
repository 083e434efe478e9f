//! Where a syntax tree stands: in a few large pieces of memory that are given back at once. Its nodes are plain references, so that
//! making one costs next to nothing, and no walk over the tree frees it.

/// Owns syntax trees.
#[derive(Default)]
pub struct Arena(bumpalo::Bump);

impl Arena {
    /// Puts a node in.
    pub(crate) fn node<T: Copy>(&self, node: T) -> &T {
        self.0.alloc(node)
    }

    /// Puts a list in.
    pub(crate) fn list<T: Copy>(&self, list: &[T]) -> &[T] {
        if list.is_empty() { &[] } else { self.0.alloc_slice_copy(list) }
    }
}
