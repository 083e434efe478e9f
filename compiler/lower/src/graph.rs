//! The control-flow graph of a function with jumps across its structure.
//!
//! Built from statements, with expressions not yet lowered. `structure` turns it into constructs. No SSA values cross
//! nodes: data between nodes is in private objects.

use kiln_frontend::hir::{Case, Expr, If, LocalId, Stmt, StmtKind};
use kiln_ir::flow::{self, NodeId};
use kiln_syntax::Symbol;
use kiln_types::index::Table;
use rustc_hash::FxHashMap;

/// A basic block with its terminator.
#[derive(Debug)]
pub(super) struct Node<'h> {
    pub(super) items: Vec<Item<'h>>,
    pub(super) terminator: Terminator<'h>,
}

/// A non-terminator item of a node.
#[derive(Clone, Debug)]
pub(super) enum Item<'h> {
    /// The start of a variable's lifetime.
    Declare(LocalId),
    /// The evaluation of an expression.
    Expr(&'h Expr),
}

/// The terminator of a node.
#[derive(Clone, Debug)]
pub(super) enum Terminator<'h> {
    /// Jumps to a node.
    Jump(NodeId),
    /// Branches on a condition.
    Branch(&'h Expr, NodeId, NodeId),
    /// Switches on a value: ranges, and the default.
    Switch(&'h Expr, Vec<(i128, i128, NodeId)>, NodeId),
    /// Returns from the function.
    Return(Option<&'h Expr>),
    /// Reaches the end of the function.
    Off,
}

/// The flow graph of a function.
#[derive(Debug)]
pub(super) struct Graph<'h> {
    pub(super) nodes: Table<NodeId, Node<'h>>,
    pub(super) entry: NodeId,
}

impl Terminator<'_> {
    /// The successors, in order. Equal targets of a switch occur once.
    fn targets(&self) -> Vec<NodeId> {
        match self {
            Self::Jump(target) => vec![*target],
            Self::Branch(_, then, otherwise) => vec![*then, *otherwise],
            Self::Switch(_, cases, default) => {
                let mut targets: Vec<NodeId> = Vec::new();
                for (_, _, target) in cases {
                    if !targets.contains(target) {
                        targets.push(*target);
                    }
                }
                targets.push(*default);
                targets
            }
            Self::Return(_) | Self::Off => Vec::new(),
        }
    }
}

impl Graph<'_> {
    /// The nodes and edges, with the same ids.
    pub(super) fn shape(&self) -> flow::Graph {
        let mut nodes = Table::new();
        for Node { terminator, .. } in self.nodes.iter() {
            let is_construct =
                !matches!(terminator, Terminator::Jump(_) | Terminator::Return(_) | Terminator::Off);
            nodes.push(flow::Node::new(terminator.targets(), is_construct));
        }
        flow::Graph::new(nodes, self.entry)
    }
}

/// Builds the graph of a function's statements.
pub(super) fn graph(stmts: &[Stmt]) -> Graph<'_> {
    let mut nodes = Table::new();
    let entry = nodes.push(Node { items: Vec::new(), terminator: Terminator::Off });
    let mut builder = GraphBuilder {
        nodes,
        current: entry,
        labels: FxHashMap::default(),
        jump_targets: JumpTargets::default(),
        last_case: None,
    };
    builder.add_stmts(stmts);
    Graph { nodes: builder.nodes, entry }
}

/// The targets of `break` and `continue`, and the switch that `case` labels belong to.
#[derive(Clone, Copy, Default)]
struct JumpTargets {
    break_target: Option<NodeId>,
    continue_target: Option<NodeId>,
    switch: Option<NodeId>,
}

struct GraphBuilder<'h> {
    nodes: Table<NodeId, Node<'h>>,
    current: NodeId,
    labels: FxHashMap<Symbol, NodeId>,
    jump_targets: JumpTargets,
    /// The node of the last `case` or `default`.
    last_case: Option<NodeId>,
}

impl<'h> GraphBuilder<'h> {
    fn add_node(&mut self) -> NodeId {
        self.nodes.push(Node { items: Vec::new(), terminator: Terminator::Off })
    }

    /// Ends the current node and continues with another.
    fn terminate_node(&mut self, terminator: Terminator<'h>, next: NodeId) {
        self.nodes[self.current].terminator = terminator;
        self.current = next;
    }

    fn label_node(&mut self, name: Symbol) -> NodeId {
        match self.labels.get(&name) {
            Some(node) => *node,
            None => {
                let node = self.add_node();
                self.labels.insert(name, node);
                node
            }
        }
    }

    fn add_stmts(&mut self, stmts: &'h [Stmt]) {
        stmts.iter().for_each(|stmt| self.add_stmt(stmt));
    }

    fn add_jump(&mut self, target: Option<NodeId>) {
        let dead = self.add_node();
        let terminator = target.map_or(Terminator::Off, Terminator::Jump);
        self.terminate_node(terminator, dead);
    }

    fn add_stmt(&mut self, stmt: &'h Stmt) {
        match &stmt.kind {
            StmtKind::Declare(local) => self.nodes[self.current].items.push(Item::Declare(*local)),
            StmtKind::Expr(expr) => self.nodes[self.current].items.push(Item::Expr(expr)),
            StmtKind::Block(body) => self.add_stmts(body),
            StmtKind::If(branch) => {
                let If { condition, then, otherwise } = &**branch;
                let [first, second, after] = [self.add_node(), self.add_node(), self.add_node()];
                self.terminate_node(Terminator::Branch(condition, first, second), first);
                self.add_stmts(then);
                self.terminate_node(Terminator::Jump(after), second);
                self.add_stmts(otherwise);
                self.terminate_node(Terminator::Jump(after), after);
            }
            StmtKind::Loop(of) => {
                self.add_loop(of.test_first, of.condition.as_ref(), of.step.as_ref(), &of.body);
            }
            StmtKind::Switch(switch) => self.add_switch(&switch.value, &switch.body),
            StmtKind::Case(case) => {
                let Case { low, high } = **case;
                let node = self.case_node();
                if let Some(switch) = self.jump_targets.switch
                    && let Terminator::Switch(_, cases, _) = &mut self.nodes[switch].terminator
                {
                    cases.push((low, high, node));
                }
            }
            StmtKind::Default => {
                let node = self.case_node();
                if let Some(switch) = self.jump_targets.switch
                    && let Terminator::Switch(_, _, default) = &mut self.nodes[switch].terminator
                {
                    *default = node;
                }
            }
            StmtKind::Break => self.add_jump(self.jump_targets.break_target),
            StmtKind::Continue => self.add_jump(self.jump_targets.continue_target),
            StmtKind::Return(value) => {
                let dead = self.add_node();
                self.terminate_node(Terminator::Return(value.as_deref()), dead);
            }
            StmtKind::Label(name) => {
                let node = self.label_node(*name);
                self.terminate_node(Terminator::Jump(node), node);
            }
            StmtKind::Goto(name) => {
                let target = self.label_node(*name);
                self.add_jump(Some(target));
            }
        }
    }

    /// A node that the preceding code falls through to. Adjacent labels share one.
    fn case_node(&mut self) -> NodeId {
        if self.last_case == Some(self.current) && self.nodes[self.current].items.is_empty() {
            return self.current;
        }
        let node = self.add_node();
        self.terminate_node(Terminator::Jump(node), node);
        self.last_case = Some(node);
        node
    }

    fn add_loop(
        &mut self,
        test_first: bool,
        condition: Option<&'h Expr>,
        step: Option<&'h Expr>,
        body: &'h [Stmt],
    ) {
        let [first, test, next, after] = [self.add_node(), self.add_node(), self.add_node(), self.add_node()];
        self.terminate_node(Terminator::Jump(if test_first { test } else { first }), test);
        self.terminate_node(
            condition
                .map_or(Terminator::Jump(first), |condition| Terminator::Branch(condition, first, after)),
            first,
        );
        let jump_targets =
            JumpTargets { break_target: Some(after), continue_target: Some(next), ..self.jump_targets };
        let outer = std::mem::replace(&mut self.jump_targets, jump_targets);
        self.add_stmts(body);
        self.jump_targets = outer;
        self.terminate_node(Terminator::Jump(next), next);
        self.nodes[next].items.extend(step.map(Item::Expr));
        self.terminate_node(Terminator::Jump(test), after);
    }

    fn add_switch(&mut self, value: &'h Expr, body: &'h [Stmt]) {
        let [before_labels, after] = [self.add_node(), self.add_node()];
        let switch = self.current;
        self.terminate_node(Terminator::Switch(value, Vec::new(), after), before_labels);
        let jump_targets =
            JumpTargets { break_target: Some(after), switch: Some(switch), ..self.jump_targets };
        let outer = std::mem::replace(&mut self.jump_targets, jump_targets);
        self.add_stmts(body);
        self.jump_targets = outer;
        self.terminate_node(Terminator::Jump(after), after);
    }
}
