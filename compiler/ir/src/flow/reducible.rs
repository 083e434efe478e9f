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
        while let Some(nodes) = pending.pop() {
            for mut cycle in self.cycles(&nodes) {
                let mut entries = self.entries(&cycle);
                if entries.len() > 1 {
                    let dispatcher = self.dispatch(&cycle, &entries);
                    cycle.push(dispatcher);
                    entries = vec![dispatcher];
                }
                // Next, handle inner cycles that do not contain the entry.
                cycle.retain(|node| !entries.contains(node));
                pending.push(cycle);
            }
        }
    }

    /// The nodes of a cycle that have predecessors outside it.
    fn entries(&self, cycle: &[NodeId]) -> Vec<NodeId> {
        let mut is_inside = vec![false; self.nodes.len()];
        cycle.iter().for_each(|node| is_inside[node.index()] = true);
        let mut is_entry = vec![false; self.nodes.len()];
        is_entry[self.entry.index()] = is_inside[self.entry.index()];
        for node in self.reachable() {
            for target in &self.nodes[node].targets {
                is_entry[target.index()] |= is_inside[target.index()] && !is_inside[node.index()];
            }
        }
        cycle.iter().copied().filter(|node| is_entry[node.index()]).collect()
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

    /// The strongly connected components of these nodes (Tarjan 1972, without recursion).
    fn cycles(&self, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        let mut search = Tarjan {
            is_inside: vec![false; self.nodes.len()],
            number: vec![0; self.nodes.len()],
            low: vec![0; self.nodes.len()],
            is_on_stack: vec![false; self.nodes.len()],
            stack: Vec::new(),
            count: 0,
            cycles: Vec::new(),
        };
        nodes.iter().for_each(|node| search.is_inside[node.index()] = true);
        for &node in nodes {
            if search.number[node.index()] == 0 {
                search.visit(self, node);
            }
        }
        search.cycles
    }
}

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
