//! Makes a flow graph reducible. A cycle with several entries gets a dispatcher node, which branches on a selector
//! that the former entry edges set.

use kiln_types::index::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Graph, Node, NodeId, Step};

impl Graph {
    /// The reachable nodes in reverse postorder.
    pub fn reachable(&self) -> Vec<NodeId> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        let mut stack = vec![(self.entry, false)];
        while let Some((node, is_done)) = stack.pop() {
            if is_done {
                order.push(node);
            } else if !std::mem::replace(&mut seen[node.index()], true) {
                stack.push((node, true));
                // The first target is pushed last, visited last, and therefore first in reverse postorder.
                stack.extend(self.nodes[node].targets.iter().map(|&target| (target, false)));
            }
        }
        order.reverse();
        order
    }

    /// Transforms every cycle to have one entry.
    pub(super) fn make_reducible(&mut self) {
        let mut pending = vec![self.reachable()];
        let mut search = Tarjan::default();
        let mut sources = self.source_counts();
        while let Some(nodes) = pending.pop() {
            for mut cycle in search.cycles(self, &nodes) {
                let mut entries = self.entries(&cycle, &sources);
                if entries.len() > 1 {
                    let dispatcher = self.dispatch(&cycle, &entries);
                    sources = self.source_counts();
                    cycle.push(dispatcher);
                    entries = vec![dispatcher];
                }
                // Next, handle inner cycles that do not contain the entry.
                cycle.retain(|node| !entries.contains(node));
                pending.push(cycle);
            }
        }
    }

    /// By node: the number of edges that lead to it from reachable nodes.
    fn source_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.nodes.len()];
        for node in self.reachable() {
            self.nodes[node].targets.iter().for_each(|target| counts[target.index()] += 1);
        }
        counts
    }

    /// The nodes of a cycle with predecessors outside it.
    fn entries(&self, cycle: &[NodeId], sources: &[u32]) -> Vec<NodeId> {
        let mut inside: FxHashMap<NodeId, u32> = cycle.iter().map(|&node| (node, 0)).collect();
        for target in cycle.iter().flat_map(|&node| &self.nodes[node].targets) {
            if let Some(count) = inside.get_mut(target) {
                *count += 1;
            }
        }
        let is_entry = |node: &NodeId| *node == self.entry || inside[node] < sources[node.index()];
        cycle.iter().copied().filter(is_entry).collect()
    }

    /// Creates a dispatcher before the entries of a cycle. All edges to the entries are redirected to it. Edges from
    /// outside and inside use separate nodes, so that those from outside are not part of the cycle.
    fn dispatch(&mut self, cycle: &[NodeId], entries: &[NodeId]) -> NodeId {
        let number = self.dispatchers;
        self.dispatchers += 1;
        let sources: Vec<NodeId> = self.nodes.ids().collect();
        let step = Some(Step::Dispatch(number));
        let dispatcher = self.nodes.push(Node { targets: entries.to_vec(), is_construct: true, step });
        let [outside, inside] = [(); 2].map(|()| {
            let steps = entries.iter().zip(0..).map(|(&entry, index)| {
                let step = Some(Step::Enter(number, index));
                (entry, self.nodes.push(Node { targets: vec![dispatcher], is_construct: false, step }))
            });
            steps.collect::<FxHashMap<_, _>>()
        });
        let cycle: FxHashSet<NodeId> = cycle.iter().copied().collect();
        for node in sources {
            let steps = if cycle.contains(&node) { &inside } else { &outside };
            for target in &mut self.nodes[node].targets {
                *target = steps.get(target).copied().unwrap_or(*target);
            }
        }
        self.entry = outside.get(&self.entry).copied().unwrap_or(self.entry);
        dispatcher
    }
}

/// Finds cycles. Its tables have an element for each node of the graph, and are used again for each part of it.
#[derive(Default)]
struct Tarjan {
    is_inside: Vec<bool>,
    /// Discovery order. 0 if not visited.
    number: Vec<u32>,
    low: Vec<u32>,
    is_on_stack: Vec<bool>,
    stack: Vec<NodeId>,
    count: u32,
    cycles: Vec<Vec<NodeId>>,
}

impl Tarjan {
    /// The strongly connected components of these nodes (Tarjan 1972, without recursion).
    fn cycles(&mut self, graph: &Graph, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        let size = graph.nodes.len();
        self.is_inside.resize(size, false);
        self.number.resize(size, 0);
        self.low.resize(size, 0);
        self.is_on_stack.resize(size, false);
        self.count = 0;
        for node in nodes {
            self.is_inside[node.index()] = true;
            self.number[node.index()] = 0;
        }
        for &node in nodes {
            if self.number[node.index()] == 0 {
                self.visit(graph, node);
            }
        }
        nodes.iter().for_each(|node| self.is_inside[node.index()] = false);
        std::mem::take(&mut self.cycles)
    }

    fn discover(&mut self, graph: &Graph, node: NodeId) -> (NodeId, Vec<NodeId>) {
        self.count += 1;
        (self.number[node.index()], self.low[node.index()]) = (self.count, self.count);
        self.is_on_stack[node.index()] = true;
        self.stack.push(node);
        let mut targets = graph.nodes[node].targets.clone();
        targets.retain(|target| self.is_inside[target.index()]);
        (node, targets)
    }

    fn visit(&mut self, graph: &Graph, root: NodeId) {
        let mut path = vec![self.discover(graph, root)];
        while let Some((node, targets)) = path.last_mut() {
            let node = *node;
            match targets.pop() {
                Some(target) if self.number[target.index()] == 0 => path.push(self.discover(graph, target)),
                Some(target) if self.is_on_stack[target.index()] => {
                    self.low[node.index()] = self.low[node.index()].min(self.number[target.index()]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        self.low[parent.index()] = self.low[parent.index()].min(self.low[node.index()]);
                    }
                    if self.low[node.index()] == self.number[node.index()] {
                        self.pop_component(graph, node);
                    }
                }
            }
        }
    }

    fn pop_component(&mut self, graph: &Graph, root: NodeId) {
        let mut set = Vec::new();
        while let Some(node) = self.stack.pop() {
            self.is_on_stack[node.index()] = false;
            set.push(node);
            if node == root {
                break;
            }
        }
        if set.len() > 1 || graph.nodes[root].targets.contains(&root) {
            self.cycles.push(set);
        }
    }
}
