//! Turns a reducible flow graph into constructs (after Ramsey, "Beyond Relooper", ICFP 2022).
//!
//! A node is emitted inside the branch that dominates it, or after the construct that all its predecessors leave.
//! Nodes after a loop exit follow the loop.

use kiln_types::{index::Id, ops::LoopHints};
use kiln_vocabulary::opencl::AddressSpace;

use super::{Graph, NodeId, Step};
use crate::{Access, BlockId, Builder, InstId, Type, Var, VarId};

/// Emits the contents of a graph's nodes.
pub trait Code<'f> {
    /// Why a node cannot be emitted.
    type Error;

    /// The builder. The insertion point is where the contents belong.
    fn builder(&mut self) -> &mut Builder<'f>;

    /// Emits the contents of a node and opens the construct that ends it.
    fn node(&mut self, node: NodeId) -> Result<NodeEnd, Self::Error>;

    /// Emits the code of an edge: from this node to its successor with this index.
    fn edge(&mut self, _from: NodeId, _index: usize) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The unrolling hints of the loop that a node heads.
    fn hints(&self, _header: NodeId) -> LoopHints {
        LoopHints::default()
    }

    /// Called when the insertion point enters a block of a construct, or the body of a loop.
    fn enter(&mut self, _block: BlockId, _is_loop: bool) {}

    /// Called when the insertion point returns from that block to the enclosing one.
    fn leave(&mut self, _block: BlockId, _is_loop: bool) {}

    /// The error for a graph that nests too deeply.
    fn too_deep(&self) -> Self::Error;
}

/// How the emitted code of a node ends.
#[derive(Clone, Debug)]
pub enum NodeEnd {
    /// It returns, or its end is unreachable. Its block is complete.
    Done,
    /// It jumps to its only successor.
    Jump,
    /// A construct, with a block for each successor, in order.
    Construct(InstId, Vec<BlockId>),
}

/// The maximum nesting depth of constructs. Passes are recursive.
const MAX_DEPTH: u32 = 400;

/// The position of each node in the constructs.
#[derive(Clone, Debug, Default)]
struct Plan {
    /// By node: the nodes to emit after the loop that it heads, in order.
    after_loop: Vec<Vec<NodeId>>,
    /// By node: the nodes to emit after its construct, in order.
    after_node: Vec<Vec<NodeId>>,
    /// By node: whether it is a loop header.
    is_header: Vec<bool>,
    /// By node: its index in reverse postorder.
    rank: Vec<usize>,
}

/// A graph that is being turned into constructs.
struct Structure<'c, C> {
    graph: Graph,
    plan: Plan,
    /// By node: the construct whose exit leads to it.
    exits: Vec<Option<InstId>>,
    /// By node: the loop that it heads.
    loops: Vec<Option<InstId>>,
    /// The selector variables of dispatcher nodes.
    dispatchers: Vec<VarId>,
    code: &'c mut C,
    depth: u32,
}

/// The node to emit next at the insertion point. `None` if the block is complete.
type Next = Option<NodeId>;

const SELECTOR: Access = Access { is_shared: false, align: 4, is_volatile: false };

impl Graph {
    /// Emits the graph as constructs. Ends the block.
    pub fn structure<'f, C: Code<'f>>(mut self, code: &mut C) -> Result<(), C::Error> {
        self.make_reducible();
        let count = self.nodes.len();
        let builder = code.builder();
        let (span, space) = (builder.span, AddressSpace::Private);
        let dispatchers = (0..self.dispatchers)
            .map(|_| builder.function.vars.push(Var::new("", space, (4, 4), span)))
            .collect();
        let (entry, plan) = (self.entry, plan(&self));
        let (exits, loops) = (vec![None; count], vec![None; count]);
        Structure { graph: self, plan, exits, loops, dispatchers, code, depth: 0 }.emit_tree(Some(entry))
    }
}

impl<'f, C: Code<'f>> Structure<'_, C> {
    /// Emits a node with all nodes nested in it or following it. Ends the block.
    fn emit_tree(&mut self, mut next: Next) -> Result<(), C::Error> {
        while let Some(node) = next {
            let following = self.plan.after_loop[node.index()].clone();
            next = self.around_loop(node, &following)?;
        }
        Ok(())
    }

    /// Emits the contents of a block.
    fn emit_block(
        &mut self,
        block: BlockId,
        is_loop: bool,
        fill: impl FnOnce(&mut Self) -> Result<Next, C::Error>,
    ) -> Result<(), C::Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.code.too_deep());
        }
        let outer = self.code.builder().insertion_point().0;
        self.code.builder().at_end(block);
        self.code.enter(block, is_loop);
        let next = fill(self)?;
        self.emit_tree(next)?;
        self.code.leave(block, is_loop);
        self.code.builder().at_end(outer);
        self.depth -= 1;
        Ok(())
    }

    fn around_loop(&mut self, node: NodeId, following: &[NodeId]) -> Result<Next, C::Error> {
        if let [inner @ .., last] = following
            && !inner.is_empty()
        {
            return self.enclosed(*last, |it| it.around_loop(node, inner));
        }
        let inside = self.plan.after_node[node.index()].clone();
        if !self.plan.is_header[node.index()] {
            return self.around_node(node, &inside);
        }
        let hints = self.code.hints(node);
        let open = self.code.builder().open_loop(&[], &[], &[], hints);
        self.loops[node.index()] = Some(open.inst);
        if let [following] = following {
            self.exits[following.index()] = Some(open.inst);
        }
        self.emit_block(open.body, true, |it| it.around_node(node, &inside))?;
        let builder = self.code.builder();
        let block = builder.insertion_point().0;
        builder.at_end(open.continuing);
        builder.next(open.inst, &[]);
        builder.at_end(block);
        Ok(self.continue_after(following.first().copied()))
    }

    /// Continues after a construct. The end of a construct without a following node is unreachable.
    fn continue_after(&mut self, following: Next) -> Next {
        if following.is_none() {
            self.code.builder().unreachable();
        }
        following
    }

    fn around_node(&mut self, node: NodeId, following: &[NodeId]) -> Result<Next, C::Error> {
        match following {
            [inner @ .., last] if !inner.is_empty() || !self.graph.nodes[node].is_construct => {
                self.enclosed(*last, |it| it.around_node(node, inner))
            }
            _ => self.node(node, following.first().copied()),
        }
    }

    /// Emits a block whose exit leads to this node, and then the node.
    fn enclosed(
        &mut self,
        following: NodeId,
        fill: impl FnOnce(&mut Self) -> Result<Next, C::Error>,
    ) -> Result<Next, C::Error> {
        let (construct, inside) = self.code.builder().open_block(&[]);
        self.exits[following.index()] = Some(construct);
        self.emit_block(inside, false, fill)?;
        Ok(Some(following))
    }

    /// Emits the contents and terminator of a node. `following` is emitted after the construct that ends it.
    fn node(&mut self, node: NodeId, following: Next) -> Result<Next, C::Error> {
        let ending = match self.graph.nodes[node].step {
            None => self.code.node(node)?,
            Some(step) => self.emit_step(node, step),
        };
        let (construct, blocks) = match ending {
            NodeEnd::Done => return Ok(None),
            NodeEnd::Jump => return self.emit_edge(node, 0),
            NodeEnd::Construct(construct, blocks) => (construct, blocks),
        };
        let following = following.or_else(|| self.not_jumped_to(node));
        if let Some(following) = following {
            self.exits[following.index()] = Some(construct);
        }
        for (index, block) in blocks.into_iter().enumerate() {
            self.emit_block(block, false, |it| it.emit_edge(node, index))?;
        }
        Ok(self.continue_after(following))
    }

    /// Of the two successors of a node, the one to which no construct leads yet, if one leads to the other. It can follow the
    /// construct: `if (c) break; …` instead of `if (c) break; else { … }`.
    fn not_jumped_to(&self, node: NodeId) -> Next {
        let [first, second] = self.graph.nodes[node].targets[..] else { return None };
        let is_jump = |to: NodeId| {
            let is_back = self.plan.rank[to.index()] <= self.plan.rank[node.index()];
            is_back && self.loops[to.index()].is_some() || self.exits[to.index()].is_some()
        };
        match (is_jump(first), is_jump(second)) {
            (true, false) => Some(second),
            (false, true) => Some(first),
            _ => None,
        }
    }

    /// Emits a node that `make_reducible` created.
    fn emit_step(&mut self, node: NodeId, step: Step) -> NodeEnd {
        let builder = self.code.builder();
        let count = self.graph.nodes[node].targets.len() as u64;
        match step {
            Step::Enter(dispatcher, number) => {
                let number = builder.i32(number as i32);
                let pointer = builder.private_var(self.dispatchers[dispatcher]);
                builder.store(pointer, number, SELECTOR);
                NodeEnd::Jump
            }
            Step::Dispatch(dispatcher) => {
                let pointer = builder.private_var(self.dispatchers[dispatcher]);
                let value = builder.load(pointer, Type::I32, SELECTOR);
                let cases = (0..count - 1).map(|index| vec![index]).collect();
                let open = builder.open_switch(value, cases, &[]);
                NodeEnd::Construct(open.inst, open.cases.into_iter().chain([open.default]).collect())
            }
        }
    }

    /// Emits an edge.
    fn emit_edge(&mut self, from: NodeId, index: usize) -> Result<Next, C::Error> {
        if self.graph.nodes[from].step.is_none() {
            self.code.edge(from, index)?;
        }
        let to = self.graph.nodes[from].targets[index];
        let is_back = self.plan.rank[to.index()] <= self.plan.rank[from.index()];
        match (is_back, self.loops[to.index()], self.exits[to.index()]) {
            (true, Some(construct), _) => self.code.builder().continue_loop(construct, &[]),
            (_, _, Some(construct)) => self.code.builder().exit(construct, &[]),
            _ => return Ok(Some(to)),
        }
        Ok(None)
    }
}

/// Computes the position of each node.
fn plan(graph: &Graph) -> Plan {
    let order = graph.reachable();
    let count = graph.nodes.len();
    let mut rank = vec![usize::MAX; count];
    order.iter().enumerate().for_each(|(index, node)| rank[node.index()] = index);
    let mut sources: Vec<Vec<NodeId>> = vec![Vec::new(); count];
    for &node in &order {
        for target in graph.nodes[node].targets.iter().copied() {
            sources[target.index()].push(node);
        }
    }
    let dominators = dominators(&order, &rank, &sources);
    let mut plan = Plan {
        after_loop: vec![Vec::new(); count],
        after_node: vec![Vec::new(); count],
        is_header: vec![false; count],
        rank: rank.clone(),
    };
    let cycles = Cycles::find(&order, &rank, &sources);
    for &node in &order {
        plan.is_header[node.index()] = cycles.headed[node.index()];
    }
    for &node in order.iter().skip(1) {
        let dominator = dominators[node.index()];
        let is_forward = |source: &&NodeId| rank[source.index()] < rank[node.index()];
        match cycles.outermost_left_loop(dominator, node) {
            Some(header) => plan.after_loop[header.index()].push(node),
            None if sources[node.index()].iter().filter(is_forward).count() > 1 => {
                plan.after_node[dominator.index()].push(node);
            }
            None => {}
        }
    }
    plan
}

/// The natural loops of a graph, named by their headers, and how they are nested.
struct Cycles {
    /// By node: whether it heads a loop.
    headed: Vec<bool>,
    /// By node: the header of the innermost loop that contains it. For a header, of the loop around its own.
    around: Vec<Option<NodeId>>,
}

impl Cycles {
    fn find(order: &[NodeId], rank: &[usize], sources: &[Vec<NodeId>]) -> Self {
        let count = sources.len();
        let mut cycles = Self { headed: vec![false; count], around: vec![None; count] };
        // By node: a header of a loop that contains it. Leads to the outermost loop that is known.
        let mut outer: Vec<NodeId> = (0..count).map(NodeId::from_index).collect();
        let mut work = Vec::new();
        // Inner loops first.
        for &header in order.iter().rev() {
            let is_back = |source: &&NodeId| rank[source.index()] >= rank[header.index()];
            work.extend(sources[header.index()].iter().filter(is_back));
            cycles.headed[header.index()] = !work.is_empty();
            while let Some(node) = work.pop() {
                let node = outermost(&mut outer, node);
                if node != header {
                    outer[node.index()] = header;
                    cycles.around[node.index()] = Some(header);
                    work.extend(&sources[node.index()]);
                }
            }
        }
        cycles
    }

    /// The header of the outermost loop that contains the dominator of a node but not the node.
    fn outermost_left_loop(&self, dominator: NodeId, node: NodeId) -> Option<NodeId> {
        // Every loop around the node that it does not head contains its dominator.
        let common = self.around[node.index()];
        let innermost = match self.headed[dominator.index()] {
            true => Some(dominator),
            false => self.around[dominator.index()],
        };
        let out = |header: &NodeId| self.around[header.index()];
        std::iter::successors(innermost, out).take_while(|header| Some(*header) != common).last()
    }
}

/// Follows `outer` to its end, with path compression.
fn outermost(outer: &mut [NodeId], mut node: NodeId) -> NodeId {
    while outer[node.index()] != node {
        let next = outer[outer[node.index()].index()];
        outer[node.index()] = next;
        node = next;
    }
    node
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
