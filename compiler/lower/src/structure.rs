//! Turns a reducible flow graph into constructs (after Ramsey, "Beyond Relooper", ICFP 2022).
//!
//! A node is emitted inside the branch that dominates it, or after the construct that all its predecessors leave.
//! Nodes after a loop exit follow the loop.

use super::{
    access::Address,
    body::Body,
    cases::Label,
    graph::{End, Graph, Item, NodeId, graph},
};
use kiln_frontend::hir::{LoopHints, Stmt};
use kiln_ir::{InstId, Type};
use kiln_types::index::Id;

/// Where each node is emitted.
#[derive(Clone, Debug, Default)]
struct Plan {
    /// By node: the nodes to emit after the loop that it heads, in order.
    behind_loop: Vec<Vec<NodeId>>,
    /// By node: the nodes to emit after its construct, in order.
    behind_node: Vec<Vec<NodeId>>,
    /// By node: whether it is a loop header.
    is_header: Vec<bool>,
    /// By node: its index in reverse postorder.
    rank: Vec<usize>,
}

/// A graph that is being turned into constructs.
struct Structure<'h> {
    graph: Graph<'h>,
    plan: Plan,
    /// By node: the construct whose end leads to it.
    exits: Vec<Option<InstId>>,
    /// By node: the loop that it heads.
    loops: Vec<Option<InstId>>,
    /// The selector variables of dispatcher nodes.
    dispatchers: Vec<Address>,
}

impl<'a> Body<'_, 'a> {
    /// Lowers a function through its flow graph.
    pub(super) fn structured(&mut self, stmts: &'a [Stmt]) {
        let mut graph = graph(stmts);
        for node in graph.nodes.iter_mut() {
            if let End::Branch(condition, then, otherwise) = node.end
                && let Some(holds) = self.known_condition(condition)
            {
                node.end = End::Jump(if holds { then } else { otherwise });
            }
        }
        graph.make_reducible();
        let count = graph.nodes.len();
        let dispatchers = (0..graph.dispatchers).map(|_| self.temporary(4, 4)).collect();
        let (entry, plan) = (graph.entry, plan(&graph));
        let (exits, loops) = (vec![None; count], vec![None; count]);
        let mut structure = Structure { graph, plan, exits, loops, dispatchers };
        self.tree(&mut structure, entry);
    }

    /// Emits a node with all nodes nested in it or following it. Ends the block.
    fn tree(&mut self, structure: &mut Structure<'a>, node: NodeId) {
        let behind = structure.plan.behind_loop[node.index()].clone();
        self.around_loop(structure, node, &behind);
    }

    fn around_loop(&mut self, structure: &mut Structure<'a>, node: NodeId, behind: &[NodeId]) {
        if let [inner @ .., last] = behind
            && !inner.is_empty()
        {
            return self.enclosed(structure, *last, |body, structure| {
                body.around_loop(structure, node, inner);
            });
        }
        let inside = structure.plan.behind_node[node.index()].clone();
        if !structure.plan.is_header[node.index()] {
            return self.around_node(structure, node, &inside);
        }
        let block = self.builder.place().0;
        let open = self.builder.open_loop(&[], &[], &[], LoopHints::default());
        structure.loops[node.index()] = Some(open.inst);
        if let [behind] = behind {
            structure.exits[behind.index()] = Some(open.inst);
        }
        self.builder.at_end(open.body);
        self.loops += 1;
        self.around_node(structure, node, &inside);
        self.loops -= 1;
        self.builder.at_end(open.continuing);
        self.builder.next(open.inst, &[]);
        self.builder.at_end(block);
        match behind {
            [behind] => self.tree(structure, *behind),
            _ => self.builder.unreachable(),
        }
    }

    fn around_node(&mut self, structure: &mut Structure<'a>, node: NodeId, behind: &[NodeId]) {
        let is_construct =
            !matches!(structure.graph.nodes[node].end, End::Jump(_) | End::Return(_) | End::Off);
        match behind {
            [inner @ .., last] if !inner.is_empty() || !is_construct => {
                self.enclosed(structure, *last, |body, structure| body.around_node(structure, node, inner));
            }
            _ => self.node(structure, node, behind.first().copied()),
        }
    }

    /// Emits a block whose exit leads to this node, and then the node.
    fn enclosed(
        &mut self,
        structure: &mut Structure<'a>,
        behind: NodeId,
        fill: impl FnOnce(&mut Self, &mut Structure<'a>),
    ) {
        let block = self.builder.place().0;
        let (construct, inside) = self.builder.open_block(&[]);
        structure.exits[behind.index()] = Some(construct);
        self.builder.at_end(inside);
        fill(self, structure);
        self.builder.at_end(block);
        self.tree(structure, behind);
    }

    /// Emits the contents and terminator of a node. `behind` is emitted after the construct that ends it.
    fn node(&mut self, structure: &mut Structure<'a>, node: NodeId, behind: Option<NodeId>) {
        self.is_reachable = true;
        let items = std::mem::take(&mut structure.graph.nodes[node].items);
        for item in items {
            match item {
                Item::Declare(local) => self.declare(local),
                Item::Expr(expr) => {
                    self.effect(expr);
                    self.fresh = None;
                }
                Item::Enter(dispatcher, number) => {
                    let number = self.builder.i32(number as i32);
                    let address = structure.dispatchers[dispatcher];
                    self.store(&address, number);
                }
            }
        }
        let block = self.builder.place().0;
        let (construct, ways) = match structure.graph.nodes[node].end.clone() {
            End::Jump(target) => return self.go(structure, node, target),
            End::Return(value) => return self.return_value(value),
            End::Off => return self.end(),
            End::Branch(condition, then, otherwise) => {
                self.builder.span = condition.span;
                let condition = self.condition(condition);
                let open = self.builder.open_if(condition, &[]);
                (open.inst, vec![(open.then, then), (open.otherwise, otherwise)])
            }
            End::Switch(value, cases, default) => {
                self.builder.span = value.span;
                let value = self.value(value);
                let mut targets: Vec<NodeId> = Vec::new();
                let mut labels = Vec::new();
                for (low, high, target) in cases {
                    let known = targets.iter().position(|known| *known == target);
                    let target = known.unwrap_or_else(|| {
                        targets.push(target);
                        targets.len() - 1
                    });
                    labels.push(Label { low, high, target });
                }
                let choice = self.choice(value, &labels, targets.len());
                let open = self.builder.open_switch(choice.value, choice.cases, &[]);
                let ways = open.cases.into_iter().zip(targets).chain([(open.default, default)]).collect();
                (open.inst, ways)
            }
            End::Dispatch(dispatcher, targets) => {
                let address = structure.dispatchers[dispatcher];
                let value = self.load(&address, Type::I32);
                let cases = (0..targets.len() as u64 - 1).map(|index| vec![index]).collect();
                let open = self.builder.open_switch(value, cases, &[]);
                let blocks = open.cases.into_iter().chain([open.default]);
                (open.inst, blocks.zip(targets).collect())
            }
        };
        if let Some(behind) = behind {
            structure.exits[behind.index()] = Some(construct);
        }
        for (block, target) in ways {
            self.builder.at_end(block);
            self.go(structure, node, target);
        }
        self.builder.at_end(block);
        match behind {
            Some(behind) => self.tree(structure, behind),
            None => self.builder.unreachable(),
        }
    }

    /// Emits an edge.
    fn go(&mut self, structure: &mut Structure<'a>, from: NodeId, to: NodeId) {
        let is_back = structure.plan.rank[to.index()] <= structure.plan.rank[from.index()];
        match (is_back, structure.loops[to.index()], structure.exits[to.index()]) {
            (true, Some(construct), _) => self.builder.continue_loop(construct, &[]),
            (_, _, Some(construct)) => self.builder.exit(construct, &[]),
            _ => self.tree(structure, to),
        }
    }
}

/// Computes where each node is emitted.
fn plan(graph: &Graph<'_>) -> Plan {
    let order = graph.reachable();
    let count = graph.nodes.len();
    let mut rank = vec![usize::MAX; count];
    order.iter().enumerate().for_each(|(index, node)| rank[node.index()] = index);
    let mut sources: Vec<Vec<NodeId>> = vec![Vec::new(); count];
    for &node in &order {
        for target in graph.nodes[node].end.targets() {
            sources[target.index()].push(node);
        }
    }
    let dominators = dominators(&order, &rank, &sources);
    let mut plan = Plan {
        behind_loop: vec![Vec::new(); count],
        behind_node: vec![Vec::new(); count],
        is_header: vec![false; count],
        rank: rank.clone(),
    };
    let mut cycles: Vec<(NodeId, Vec<bool>)> = Vec::new();
    for &header in &order {
        let is_back = |source: &&NodeId| rank[source.index()] >= rank[header.index()];
        let backs: Vec<NodeId> = sources[header.index()].iter().filter(is_back).copied().collect();
        if !backs.is_empty() {
            plan.is_header[header.index()] = true;
            cycles.push((header, cycle(header, backs, &sources)));
        }
    }
    for &node in order.iter().skip(1) {
        let dominator = dominators[node.index()];
        // Outer cycles come first.
        let left = cycles.iter().find(|(_, nodes)| nodes[dominator.index()] && !nodes[node.index()]);
        let is_forward = |source: &&NodeId| rank[source.index()] < rank[node.index()];
        match left {
            Some((header, _)) => plan.behind_loop[header.index()].push(node),
            None if sources[node.index()].iter().filter(is_forward).count() > 1 => {
                plan.behind_node[dominator.index()].push(node);
            }
            None => {}
        }
    }
    plan
}

/// The nodes of the natural loop with these back edges.
fn cycle(header: NodeId, backs: Vec<NodeId>, sources: &[Vec<NodeId>]) -> Vec<bool> {
    let mut nodes = vec![false; sources.len()];
    nodes[header.index()] = true;
    let mut work = backs;
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut nodes[node.index()], true) {
            work.extend(&sources[node.index()]);
        }
    }
    nodes
}

/// The immediate dominator of each node (Cooper, Harvey and Kennedy 2001).
fn dominators(order: &[NodeId], rank: &[usize], sources: &[Vec<NodeId>]) -> Vec<NodeId> {
    let entry = order[0];
    let mut dominators: Vec<Option<NodeId>> = vec![None; rank.len()];
    dominators[entry.index()] = Some(entry);
    let mut changes = true;
    while changes {
        changes = false;
        for &node in &order[1..] {
            let mut common: Option<NodeId> = None;
            for &source in &sources[node.index()] {
                if dominators[source.index()].is_none() {
                    continue;
                }
                common = Some(common.map_or(source, |mut other| {
                    let mut source = source;
                    while other != source {
                        let later =
                            if rank[other.index()] > rank[source.index()] { &mut other } else { &mut source };
                        *later = dominators[later.index()].unwrap_or(entry);
                    }
                    other
                }));
            }
            changes |= dominators[node.index()] != common;
            dominators[node.index()] = common;
        }
    }
    dominators.into_iter().map(|dominator| dominator.unwrap_or(entry)).collect()
}
