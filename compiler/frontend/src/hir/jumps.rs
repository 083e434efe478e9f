//! Classifies jumps in statements: those that follow the structure of loops and branches, and those that cross it.
//!
//! `lower` uses this to choose how to lower a function.

use super::{Stmt, StmtKind};

/// The first statement with a jump across the structure: a `goto`, its label, or a `case` nested in a statement of
/// its switch.
pub fn first_unstructured_jump(stmts: &[Stmt]) -> Option<&Stmt> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Goto(_) | StmtKind::Label(_) => Some(stmt),
        StmtKind::Block(body) => first_unstructured_jump(body),
        StmtKind::Loop(node) => first_unstructured_jump(&node.body),
        StmtKind::If(branch) => {
            first_unstructured_jump(&branch.then).or_else(|| first_unstructured_jump(&branch.otherwise))
        }
        StmtKind::Switch(switch) => {
            first_unstructured_jump(&switch.body).or_else(|| nested_label(&switch.body))
        }
        _ => None,
    })
}

/// A label of this switch that is nested in a statement other than a plain block.
fn nested_label(body: &[Stmt]) -> Option<&Stmt> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Block(body) => nested_label(body),
        StmtKind::If(branch) => label(&branch.then).or_else(|| label(&branch.otherwise)),
        StmtKind::Loop(node) => label(&node.body),
        _ => None,
    })
}

/// A label in these statements that belongs to the enclosing switch.
pub fn label(stmts: &[Stmt]) -> Option<&Stmt> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Case(_) | StmtKind::Default => Some(stmt),
        StmtKind::Block(body) => label(body),
        StmtKind::Loop(node) => label(&node.body),
        StmtKind::If(branch) => label(&branch.then).or_else(|| label(&branch.otherwise)),
        _ => None,
    })
}

/// The first `break` or `continue` in these statements whose target encloses them.
pub fn outward_jump(stmts: &[Stmt]) -> Option<&Stmt> {
    find_leaving(stmts, true, true)
}

fn find_leaving(stmts: &[Stmt], breaks: bool, continues: bool) -> Option<&Stmt> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Break if breaks => Some(stmt),
        StmtKind::Continue if continues => Some(stmt),
        StmtKind::Block(body) => find_leaving(body, breaks, continues),
        StmtKind::If(branch) => find_leaving(&branch.then, breaks, continues)
            .or_else(|| find_leaving(&branch.otherwise, breaks, continues)),
        StmtKind::Switch(switch) => find_leaving(&switch.body, false, continues),
        _ => None,
    })
}
