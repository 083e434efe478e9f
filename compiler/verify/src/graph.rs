//! The control-flow graph of a function, and its dominators (SPIR-V 2.2.5).
//!
//! Blocks are numbers, from 0 in the order of the module. Must not depend on the rules.

/// A block that does not exist.
const NONE: u32 = u32::MAX;

/// A directed graph of blocks, with an entry that is block 0.
pub(super) struct Graph {
    /// The index in `targets` of the first successor of each block, and at the end, the length of `targets`.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// The graph with these edges.
    pub(super) fn new(blocks: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; blocks + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for block in 0..blocks {
            starts[block + 1] += starts[block];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; edges.len()];
        for (from, to) in edges {
            let at = &mut next[*from as usize];
            targets[*at as usize] = *to;
            *at += 1;
        }
        Self { starts, targets }
    }

    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The blocks that follow a block, once for each edge.
    pub(super) fn successors(&self, block: u32) -> &[u32] {
        let at = block as usize;
        &self.targets[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The graph with all edges reversed.
    pub(super) fn reversed(&self) -> Self {
        let edges: Vec<(u32, u32)> = (0..self.len() as u32)
            .flat_map(|from| self.successors(from).iter().map(move |to| (*to, from)))
            .collect();
        Self::new(self.len(), &edges)
    }

    /// The reachable blocks in postorder, and the back edges: those to a block on the path of the traversal.
    pub(super) fn traverse(&self) -> (Vec<u32>, Vec<(u32, u32)>) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Closed,
        }
        let mut states = vec![State::New; self.len()];
        let (mut order, mut back) = (Vec::with_capacity(self.len()), Vec::new());
        let mut path = vec![(0u32, 0usize)];
        states[0] = State::Open;
        while let Some((block, taken)) = path.last_mut() {
            let Some(&next) = self.successors(*block).get(*taken) else {
                states[*block as usize] = State::Closed;
                order.push(*block);
                path.pop();
                continue;
            };
            *taken += 1;
            match states[next as usize] {
                State::New => {
                    states[next as usize] = State::Open;
                    path.push((next, 0));
                }
                State::Open => back.push((*block, next)),
                State::Closed => {}
            }
        }
        (order, back)
    }
}

/// The dominator tree of the reachable blocks.
pub(super) struct Dominators {
    /// The immediate dominator of each block; that of the entry is itself.
    parents: Vec<u32>,
    /// The first and the last position of the blocks that each block dominates, in a preorder of the tree.
    spans: Vec<(u32, u32)>,
}

impl Dominators {
    /// Computes the dominators by the algorithm of Cooper, Harvey and Kennedy. `postorder` has the reachable blocks.
    pub(super) fn new(predecessors: &Graph, postorder: &[u32]) -> Self {
        let count = predecessors.len();
        let mut numbers = vec![NONE; count];
        for (number, block) in postorder.iter().enumerate() {
            numbers[*block as usize] = number as u32;
        }
        let mut parents = vec![NONE; count];
        parents[0] = 0;
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &block in postorder.iter().rev().filter(|block| **block != 0) {
                let known = predecessors.successors(block).iter().copied();
                let known = known.filter(|it| parents[*it as usize] != NONE);
                let common = known.reduce(|a, b| common_dominator(&parents, &numbers, a, b));
                if let Some(parent) = common.filter(|parent| *parent != parents[block as usize]) {
                    parents[block as usize] = parent;
                    has_changed = true;
                }
            }
        }
        let spans = spans(&parents, postorder);
        Self { parents, spans }
    }

    /// Whether a path from the entry leads to a block.
    pub(super) fn reaches(&self, block: u32) -> bool {
        self.parents[block as usize] != NONE
    }

    /// The immediate dominator of a reachable block. `None` for the entry.
    pub(super) fn parent(&self, block: u32) -> Option<u32> {
        let parent = self.parents[block as usize];
        (parent != NONE && parent != block).then_some(parent)
    }

    /// Whether every path from the entry to `b`, which is reachable, leads through `a`.
    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        let ((first, last), (at, _)) = (self.spans[a as usize], self.spans[b as usize]);
        self.reaches(a) && first <= at && at <= last
    }
}

/// The last block that dominates both. A dominator has a higher number in postorder.
fn common_dominator(parents: &[u32], numbers: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while numbers[a as usize] < numbers[b as usize] {
            a = parents[a as usize];
        }
        while numbers[b as usize] < numbers[a as usize] {
            b = parents[b as usize];
        }
    }
    a
}

/// The span of each block in a preorder of the tree.
fn spans(parents: &[u32], postorder: &[u32]) -> Vec<(u32, u32)> {
    // In postorder, a block comes after all blocks that it dominates, so its size is complete before its parent needs it.
    let mut sizes = vec![1u32; parents.len()];
    for &block in postorder.iter().filter(|block| **block != 0) {
        sizes[parents[block as usize] as usize] += sizes[block as usize];
    }
    let mut spans = vec![(0, 0); parents.len()];
    // The next free position below each block.
    let mut free = vec![1u32; parents.len()];
    for &block in postorder.iter().rev() {
        let at = block as usize;
        let first = match block {
            0 => 0,
            _ => {
                let slot = &mut free[parents[at] as usize];
                std::mem::replace(slot, *slot + sizes[at])
            }
        };
        spans[at] = (first, first + sizes[at] - 1);
        free[at] = first + 1;
    }
    spans
}
