//! Flow graphs: converts control flow with arbitrary jumps to constructs.
//!
//! A graph contains only nodes and edges. The caller emits the contents of each node ([`Code`]). `reducible` makes the graph
//! reducible and `structure` emits the constructs.

mod reducible;
mod structure;

pub use structure::{Code, NodeEnd};

use kiln_types::{id_type, index::Table};

id_type! {
    /// A node of a flow graph.
    NodeId
}

/// A flow graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The nodes.
    pub nodes: Table<NodeId, Node>,
    /// The first node.
    pub entry: NodeId,
    /// The number of dispatchers.
    dispatchers: usize,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its successors, in order. A target may occur several times.
    pub targets: Vec<NodeId>,
    /// Whether it ends with a construct, such as an `If`. Otherwise it has at most one successor.
    pub is_construct: bool,
    /// Set for nodes that `make_reducible` creates.
    step: Option<Step>,
}

/// The contents of a node that `make_reducible` creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Sets the selector of a dispatcher (by index) to this entry.
    Enter(usize, u32),
    /// Switches on the selector of this dispatcher.
    Dispatch(usize),
}

impl Graph {
    /// A graph of these nodes.
    pub const fn new(nodes: Table<NodeId, Node>, entry: NodeId) -> Self {
        Self { nodes, entry, dispatchers: 0 }
    }
}

impl Node {
    /// A node with these successors.
    pub const fn new(targets: Vec<NodeId>, is_construct: bool) -> Self {
        Self { targets, is_construct, step: None }
    }
}
