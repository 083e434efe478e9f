//! Lowers a function with jumps across its structure: `graph` has its nodes, `kiln_ir::flow` nests them in constructs.

use super::{
    body::Body,
    cases::Label,
    graph::{End, Graph, Item, graph},
};
use kiln_frontend::hir::Stmt;
use kiln_ir::{
    BlockId, Builder,
    flow::{Code, Ending, NodeId},
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
            if let End::Branch(condition, then, otherwise) = node.end
                && let Some(holds) = self.known_condition(condition)
            {
                node.end = End::Jump(if holds { then } else { otherwise });
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

    fn node(&mut self, node: NodeId) -> Result<Ending, TooDeep> {
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
        Ok(self.emit_end(&self.graph.nodes[node].end.clone()))
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
    fn emit_end(&mut self, end: &End<'_>) -> Ending {
        let body = &mut *self.body;
        match end {
            End::Jump(_) => Ending::Jump,
            End::Return(value) => {
                body.return_value(*value);
                Ending::Done
            }
            End::Off => {
                body.end();
                Ending::Done
            }
            End::Branch(condition, ..) => {
                body.builder.span = condition.span;
                let condition = body.condition(condition);
                let open = body.builder.open_if(condition, &[]);
                Ending::Construct(open.inst, vec![open.then, open.otherwise])
            }
            End::Switch(value, cases, _) => {
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
                Ending::Construct(open.inst, open.cases.into_iter().chain([open.default]).collect())
            }
        }
    }
}
