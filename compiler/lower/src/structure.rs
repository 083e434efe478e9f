//! Lowers a function with jumps across its structure: `graph` has its nodes, `kiln_ir::flow` nests them in constructs.

use super::{
    body::Body,
    cases::Label,
    graph::{Graph, Item, Terminator, graph},
};
use kiln_frontend::hir::Stmt;
use kiln_ir::{
    BlockId, Builder,
    flow::{Code, NodeEnd, NodeId},
};
use kiln_session::diag::{Code as DiagnosticCode, Diagnostic};

/// The statements of a function by node, and the function's body.
struct Nodes<'b, 'l, 'a> {
    graph: Graph<'a>,
    body: &'b mut Body<'l, 'a>,
}

impl<'a> Body<'_, 'a> {
    /// Lowers a function through its flow graph.
    pub(super) fn structured(&mut self, stmts: &'a [Stmt]) {
        let mut graph = graph(stmts);
        for node in graph.nodes.iter_mut() {
            if let Terminator::Branch(condition, then, otherwise) = node.terminator
                && let Some(holds) = self.known_condition(condition)
            {
                node.terminator = Terminator::Jump(if holds { then } else { otherwise });
            }
        }
        let shape = graph.shape();
        let span = self.hir.span;
        if let Err(TooDeep) = shape.structure(&mut Nodes { graph, body: self }) {
            self.lowering.sink.report(
                Diagnostic::new(
                    DiagnosticCode::NestingDepth,
                    span,
                    "the jumps of this function nest too deeply",
                )
                .help("divide it into several functions"),
            );
        }
    }
}

/// The graph nests too deeply.
struct TooDeep;

impl<'b> Code<'b> for Nodes<'_, 'b, '_> {
    type Error = TooDeep;

    fn builder(&mut self) -> &mut Builder<'b> {
        &mut self.body.builder
    }

    fn node(&mut self, node: NodeId) -> Result<NodeEnd, TooDeep> {
        self.body.is_reachable = true;
        for item in std::mem::take(&mut self.graph.nodes[node].items) {
            match item {
                Item::Declare(local) => self.body.declare(local),
                Item::Expr(expr) => {
                    self.body.effect(expr);
                    self.body.fresh = None;
                }
            }
        }
        Ok(self.emit_terminator(&self.graph.nodes[node].terminator.clone()))
    }

    fn enter(&mut self, _block: BlockId, is_loop: bool) {
        self.body.loops += usize::from(is_loop);
    }

    fn leave(&mut self, _block: BlockId, is_loop: bool) {
        self.body.loops -= usize::from(is_loop);
    }

    fn too_deep(&self) -> TooDeep {
        TooDeep
    }
}

impl Nodes<'_, '_, '_> {
    fn emit_terminator(&mut self, terminator: &Terminator<'_>) -> NodeEnd {
        let body = &mut *self.body;
        match terminator {
            Terminator::Jump(_) => NodeEnd::Jump,
            Terminator::Return(value) => {
                body.return_value(*value);
                NodeEnd::Done
            }
            Terminator::Off => {
                body.end();
                NodeEnd::Done
            }
            Terminator::Branch(condition, ..) => {
                body.builder.span = condition.span;
                let condition = body.condition(condition);
                let open = body.builder.open_if(condition, &[]);
                NodeEnd::Construct(open.inst, vec![open.then, open.otherwise])
            }
            Terminator::Switch(value, cases, _) => {
                body.builder.span = value.span;
                let value = body.value(value);
                let mut targets: Vec<NodeId> = Vec::new();
                let mut labels = Vec::new();
                for &(low, high, target) in cases {
                    let known = targets.iter().position(|known| *known == target);
                    let target = known.unwrap_or_else(|| {
                        targets.push(target);
                        targets.len() - 1
                    });
                    labels.push(Label { low, high, target });
                }
                let choice = body.choice(value, &labels, targets.len());
                let open = body.builder.open_switch(choice.value, choice.cases, &[]);
                NodeEnd::Construct(open.inst, open.cases.into_iter().chain([open.default]).collect())
            }
        }
    }
}
