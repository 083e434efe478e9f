//! Visits the expressions of statements in preorder.

use super::{Atomic, Conditional, Expr, ExprKind, Fence, Known, Lvalue, LvalueKind, Stmt, StmtKind};

/// Calls `visit` for every expression in these statements.
pub fn expressions<'h>(stmts: &'h [Stmt], visit: &mut impl FnMut(&'h Expr)) {
    statements(stmts, &mut |expr| expression(expr, visit));
}

/// Calls `visit` for the direct expressions of these statements, but not for their operands.
pub fn statements<'h>(stmts: &'h [Stmt], visit: &mut impl FnMut(&'h Expr)) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Expr(expr) => visit(expr),
            StmtKind::Return(Some(value)) => visit(value),
            StmtKind::Block(body) => statements(body, visit),
            StmtKind::If(branch) => {
                visit(&branch.condition);
                statements(&branch.then, visit);
                statements(&branch.otherwise, visit);
            }
            StmtKind::Loop(node) => {
                node.condition.iter().chain(&node.step).for_each(&mut *visit);
                statements(&node.body, visit);
            }
            StmtKind::Switch(switch) => {
                visit(&switch.value);
                statements(&switch.body, visit);
            }
            StmtKind::Declare(_)
            | StmtKind::Case(_)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Label(_)
            | StmtKind::Goto(_) => {}
        }
    }
}

/// Calls `visit` for the expression and all its operands, recursively.
pub fn expression<'h>(expr: &'h Expr, visit: &mut impl FnMut(&'h Expr)) {
    visit(expr);
    operands(expr, &mut |operand| expression(operand, visit));
}

/// Calls `visit` for the direct operands of an expression, including those in its lvalues.
pub fn operands<'h>(expr: &'h Expr, visit: &mut impl FnMut(&'h Expr)) {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Current | ExprKind::Trap { .. } => {}
        ExprKind::Load(inner) => lvalue(inner, visit),
        ExprKind::AddressOf(inner) => lvalue(inner, visit),
        ExprKind::Unary(_, inner)
        | ExprKind::Exact(inner)
        | ExprKind::LogicalNot(inner)
        | ExprKind::Convert(_, inner)
        | ExprKind::Bitcast(inner)
        | ExprKind::PointerCast(inner)
        | ExprKind::PointerToInt(inner)
        | ExprKind::IntToPointer(inner)
        | ExprKind::Splat(inner) => visit(inner),
        ExprKind::Swizzle(swizzle) => visit(&swizzle.base),
        ExprKind::Binary(_, operands)
        | ExprKind::Compare(_, operands)
        | ExprKind::Logical(_, operands)
        | ExprKind::VectorLogical(_, operands) => operands.iter().for_each(visit),
        ExprKind::Offset(offset) => {
            visit(&offset.pointer);
            visit(&offset.index);
        }
        ExprKind::Comma(left, right) | ExprKind::Difference { left, right } => {
            visit(left);
            visit(right);
        }
        ExprKind::Conditional(parts) | ExprKind::VectorSelect(parts) => {
            let Conditional { condition, then, otherwise } = &**parts;
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Statements(parts) => {
            let (stmts, value) = &**parts;
            statements(stmts, visit);
            visit(value);
        }
        ExprKind::Vector(parts)
        | ExprKind::Call { arguments: parts, .. }
        | ExprKind::Builtin { arguments: parts, .. }
        | ExprKind::Block { captures: parts, .. } => parts.iter().for_each(visit),
        ExprKind::Printf(printf) => printf.arguments.iter().for_each(visit),
        ExprKind::Assign(assign) => {
            lvalue(&assign.lvalue, visit);
            visit(&assign.value);
        }
        ExprKind::Update(update) => {
            lvalue(&update.lvalue, visit);
            visit(&update.new);
        }
        ExprKind::Atomic(operation) => atomic(operation, visit),
        ExprKind::Fence(fence) => {
            let Fence { flags, order, scope } = &**fence;
            known(flags, visit);
            known(order, visit);
            known(scope, visit);
        }
        ExprKind::Barrier(barrier) => {
            known(&barrier.flags, visit);
            known(&barrier.scope, visit);
        }
        ExprKind::Aggregate(parts) => parts.iter().for_each(|(_, part)| visit(part)),
    }
}

/// Calls `visit` for the direct operands of an lvalue.
pub fn lvalue<'h>(inner: &'h Lvalue, visit: &mut impl FnMut(&'h Expr)) {
    match &inner.kind {
        LvalueKind::Local(_) | LvalueKind::Global(_) => {}
        LvalueKind::Deref(pointer) | LvalueKind::Temporary(pointer) => visit(pointer),
        LvalueKind::Field(field) => lvalue(&field.base, visit),
        LvalueKind::Swizzle(swizzle) => lvalue(&swizzle.base, visit),
        LvalueKind::Element(element) => {
            lvalue(&element.base, visit);
            visit(&element.index);
        }
    }
}

fn atomic<'h>(operation: &'h Atomic, visit: &mut impl FnMut(&'h Expr)) {
    visit(&operation.object);
    for part in operation.operand.iter().chain(&operation.expected) {
        visit(part);
    }
    known(&operation.order, visit);
    if let Some(failure) = &operation.failure {
        known(failure, visit);
    }
    known(&operation.scope, visit);
}

fn known<'h, T>(value: &'h Known<T>, visit: &mut impl FnMut(&'h Expr)) {
    if let Known::Dynamic(expr) = value {
        visit(expr);
    }
}
