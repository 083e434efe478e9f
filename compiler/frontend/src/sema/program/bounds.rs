//! Warns about calls of functions that access an element outside the array passed to them.
//!
//! Considers only accesses with a constant index that every call executes. Other accesses may depend on the size of the
//! array.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ty::{Ty, TyId};
use rustc_hash::FxHashMap;

use super::Program;
use crate::hir::{
    Const, Expr, ExprKind, Function, FunctionId, LocalId, Lvalue, LvalueKind, Stmt, StmtKind, visit,
};

/// An access to an element of a parameter.
#[derive(Clone, Copy)]
struct Access {
    parameter: LocalId,
    index: i64,
    span: Span,
}

/// The accesses of the functions that have some.
type Known = FxHashMap<FunctionId, Vec<Access>>;

impl Program<'_> {
    /// Warns about functions that access elements outside their arguments (C99 6.5.6).
    pub(super) fn check_bounds(&mut self) {
        if !self.sink.is_enabled(Code::ArrayBounds) {
            return;
        }
        let mut known = Known::default();
        for (id, function) in self.module.functions.entries() {
            let accesses = self.accesses(function, &known);
            if !accesses.is_empty() {
                known.insert(id, accesses);
            }
        }
        if known.is_empty() {
            return;
        }
        let functions = self.module.functions.entries();
        let bodies = functions.filter_map(|(_, function)| function.body.as_deref());
        let mut found = Vec::new();
        for body in bodies {
            visit::expressions(body, &mut |expr| found.extend(self.outside(expr, &known)));
        }
        found.into_iter().for_each(|diagnostic| self.report(diagnostic));
    }

    /// The warning about a call.
    fn outside(&self, call: &Expr, known: &Known) -> Option<Diagnostic> {
        let ExprKind::Call { function, arguments } = &call.kind else { return None };
        let accesses = known.get(function)?;
        let parameters = &self.module.functions[*function].parameters;
        parameters.iter().zip(arguments).find_map(|(&parameter, argument)| {
            let (count, skipped) = self.array(argument)?;
            let mut accesses = accesses.iter().filter(|access| access.parameter == parameter);
            accesses.find_map(|access| {
                let index = access.index.checked_add(skipped).filter(|index| !(0..count).contains(index))?;
                let name = self.name_of(*function);
                let message =
                    format!("`{name}` accesses element {index} of this array, which has {count} elements");
                Some(
                    Diagnostic::new(Code::ArrayBounds, argument.span, message)
                        .also(access.span, "the access"),
                )
            })
        })
    }

    /// The accesses to elements of parameters that each call executes.
    fn accesses(&self, function: &Function, known: &Known) -> Vec<Access> {
        let body = function.body.as_deref().unwrap_or_default();
        let is_pointer = |parameter: &LocalId| self.pointee(function.locals[*parameter].ty.ty).is_some();
        let mut parameters: Vec<LocalId> = function.parameters.iter().copied().filter(is_pointer).collect();
        if parameters.is_empty() || function.kernel.is_some() {
            return Vec::new();
        }
        // A pointer that changes does not point to its argument.
        visit::expressions(body, &mut |expr| {
            let changed = match &expr.kind {
                ExprKind::Assign(assign) => &assign.lvalue,
                ExprKind::Update(update) => &update.lvalue,
                ExprKind::AddressOf(lvalue) => lvalue,
                _ => return,
            };
            if let LvalueKind::Local(local) = changed.kind {
                parameters.retain(|parameter| *parameter != local);
            }
        });
        let mut found: Vec<Access> = Vec::new();
        executed(body, &mut |expr| match &expr.kind {
            ExprKind::Load(lvalue) => found.extend(access(lvalue)),
            ExprKind::Assign(assign) => found.extend(access(&assign.lvalue)),
            ExprKind::Update(update) => found.extend(access(&update.lvalue)),
            ExprKind::Call { function, arguments } => {
                let Some(accesses) = known.get(function) else { return };
                let passed = self.module.functions[*function].parameters.iter().zip(arguments);
                for (passed, (parameter, skipped)) in
                    passed.filter_map(|(it, value)| Some((*it, target(value)?)))
                {
                    let accesses = accesses.iter().filter(|access| access.parameter == passed);
                    found.extend(accesses.filter_map(|access| {
                        Some(Access { parameter, index: access.index.checked_add(skipped)?, ..*access })
                    }));
                }
            }
            _ => {}
        });
        found.retain(|access| parameters.contains(&access.parameter));
        found
    }

    /// The number of elements of the array that a pointer points into, and the index of the element. `None` for an
    /// array inside an array, because programs often use one index for all rows, and for an array of one element,
    /// which can be a flexible array.
    fn array(&self, pointer: &Expr) -> Option<(i64, i64)> {
        let element = self.pointee(pointer.ty)?;
        match &pointer.kind {
            ExprKind::PointerCast(inner) if self.pointee(inner.ty) == Some(element) => self.array(inner),
            ExprKind::Offset(offset) => {
                let (count, skipped) = self.array(&offset.pointer)?;
                Some((count, skipped.checked_add(constant(&offset.index)?)?))
            }
            ExprKind::AddressOf(lvalue) => {
                let (array, skipped) = match &lvalue.kind {
                    LvalueKind::Element(part) if lvalue.ty.ty == element => {
                        (&part.base, constant(&part.index)?)
                    }
                    _ => (&**lvalue, 0),
                };
                let is_whole = !matches!(array.kind, LvalueKind::Element(_));
                match self.module.types.get(array.ty.ty) {
                    Ty::Array(item, Some(count @ 2..)) if is_whole && item.ty == element => {
                        Some((i64::try_from(*count).ok()?, skipped))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn pointee(&self, ty: TyId) -> Option<TyId> {
        match self.module.types.get(ty) {
            Ty::Pointer(pointee) => Some(pointee.ty),
            _ => None,
        }
    }
}

/// An access to an element of a variable's array.
fn access(lvalue: &Lvalue) -> Option<Access> {
    let LvalueKind::Deref(pointer) = &lvalue.whole().kind else { return None };
    let (parameter, index) = target(pointer)?;
    Some(Access { parameter, index, span: lvalue.span })
}

/// The pointer variable, and the constant that is added to its value.
fn target(pointer: &Expr) -> Option<(LocalId, i64)> {
    match &pointer.kind {
        ExprKind::Load(Lvalue { kind: LvalueKind::Local(local), .. }) => Some((*local, 0)),
        ExprKind::Offset(offset) => {
            let (local, index) = target(&offset.pointer)?;
            Some((local, index.checked_add(constant(&offset.index)?)?))
        }
        _ => None,
    }
}

fn constant(index: &Expr) -> Option<i64> {
    match index.kind {
        ExprKind::Const(Const::Int(bits)) => Some(bits as i64),
        _ => None,
    }
}

/// Visits the expressions that these statements always evaluate. Returns whether the statement after them is always
/// executed.
fn executed<'h>(stmts: &'h [Stmt], visit: &mut impl FnMut(&'h Expr)) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Declare(_) => true,
        StmtKind::Expr(expr) => {
            evaluated(expr, visit);
            true
        }
        StmtKind::Block(body) => executed(body, visit),
        StmtKind::If(branch) => {
            evaluated(&branch.condition, visit);
            !leaves(&branch.then) && !leaves(&branch.otherwise)
        }
        StmtKind::Loop(node) => !leaves(&node.body),
        StmtKind::Return(Some(value)) => {
            evaluated(value, visit);
            false
        }
        _ => false,
    })
}

/// Whether these statements can jump past the statements after them.
fn leaves(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Declare(_) | StmtKind::Expr(_) | StmtKind::Case(_) | StmtKind::Default => false,
        StmtKind::Block(body) => leaves(body),
        StmtKind::If(branch) => leaves(&branch.then) || leaves(&branch.otherwise),
        StmtKind::Loop(node) => leaves(&node.body),
        StmtKind::Switch(switch) => leaves(&switch.body),
        StmtKind::Break | StmtKind::Continue => false,
        StmtKind::Return(_) | StmtKind::Label(_) | StmtKind::Goto(_) => true,
    })
}

/// Visits an expression and its operands that are always evaluated.
fn evaluated<'h>(expr: &'h Expr, visit: &mut impl FnMut(&'h Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Logical(_, operands) => evaluated(&operands[0], visit),
        ExprKind::Conditional(parts) => evaluated(&parts.condition, visit),
        ExprKind::Statements(_) => {}
        _ => visit::operands(expr, &mut |operand| evaluated(operand, visit)),
    }
}
