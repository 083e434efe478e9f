//! Arena for syntax trees. Memory is allocated in large blocks and freed together, so nodes are plain references:
//! creating one is cheap, and dropping a tree does not traverse it.

/// The allocator that owns the nodes of syntax trees.
#[derive(Default)]
pub struct Arena(bumpalo::Bump);

impl Arena {
    /// Allocates a node.
    pub(crate) fn node<T: Copy>(&self, node: T) -> &T {
        self.0.alloc(node)
    }

    /// Allocates a list.
    pub(crate) fn list<T: Copy>(&self, list: &[T]) -> &[T] {
        if list.is_empty() { &[] } else { self.0.alloc_slice_copy(list) }
    }
}
