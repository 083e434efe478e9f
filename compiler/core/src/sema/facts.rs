//! What the type checker found out on its way: which name means what, which type an expression has, whom a call calls. Kept only
//! for those who ask, editors mostly; the check itself must never look at it.

use kiln_syntax::{Span, Symbol, ast};

use super::{Entity, Sema, Tag, expr::Operand, scope::Binding};
use crate::{
    builtins::Overload,
    hir::{Const, Expr, ExprKind, FunctionId, GlobalId, LocalId},
    ty::{EnumId, QualTy, RecordId},
};

/// The facts, each list in the order of the check.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Where names stand, and what they mean there.
    pub occurrences: Vec<Occurrence>,
    /// The types of expressions, parts before wholes.
    pub expressions: Vec<Typed>,
    /// Calls by name, and whom they call.
    pub calls: Vec<Called>,
}

/// A name where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where.
    pub span: Span,
    /// What it means.
    pub meaning: Meaning,
    /// What it is there for.
    pub role: Role,
}

/// What an occurrence is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It gives the thing all that it has: a body, members, a place in memory.
    Definition,
    /// It announces the thing.
    Declaration,
    /// It uses the thing.
    Use,
}

/// What a name means. Equal meanings are the same thing of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// A parameter or a variable of a function.
    Local(FunctionId, LocalId),
    /// An object with static lifetime.
    Global(GlobalId),
    /// A function of the program.
    Function(FunctionId),
    /// The typedef that is declared there.
    Typedef(Span),
    /// The enumerator that is declared there.
    Enumerator(Span),
    /// The member that is declared there.
    Member(Span),
    /// The tag of a `struct` or `union`.
    Record(RecordId),
    /// The tag of an `enum`.
    Enum(EnumId),
    /// A label of a function.
    Label(FunctionId, Symbol),
    /// A built-in function.
    Builtin(Symbol),
    /// A predeclared constant, such as an order or a scope.
    Constant(Symbol),
    /// A predeclared type.
    Type(Symbol),
}

/// An expression and its type.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The expression.
    pub span: Span,
    /// Its type; that of a place has its address space.
    pub ty: QualTy,
    /// Its value, if it is a constant.
    pub value: Option<Const>,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Called {
    /// The name that is called.
    pub callee: Span,
    /// The arguments as they are written.
    pub arguments: Vec<Span>,
    /// Whom it calls.
    pub target: Callee,
}

/// Whom a call calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function of the program.
    Function(FunctionId),
    /// A built-in function.
    Builtin(Overload),
}

impl Facts {
    /// Notes the use of an ordinary name.
    pub(super) fn note_use(&mut self, span: Span, binding: &Binding<Entity>) {
        let meaning = match &binding.meaning {
            Entity::Local(function, local) => Meaning::Local(*function, *local),
            Entity::Global(global) => Meaning::Global(*global),
            Entity::Function(function) => Meaning::Function(*function),
            Entity::Typedef { .. } => Meaning::Typedef(binding.span),
            Entity::Enumerator { .. } => Meaning::Enumerator(binding.span),
            // A call tells which of them is meant.
            Entity::Overloads(_) | Entity::Error => return,
        };
        self.occurrences.push(Occurrence { span, meaning, role: Role::Use });
    }

    /// Notes the type of an expression.
    pub(super) fn note_type(&mut self, span: Span, operand: &Operand) {
        let (ty, value) = match operand {
            Operand::Place(place) => (place.ty, None),
            Operand::Value(Expr { kind: ExprKind::Const(value), ty, .. }) => {
                (ty.plain(), Some(value.clone()))
            }
            Operand::Value(value) => (value.ty.plain(), None),
            Operand::Function(..) | Operand::Builtin(_) => return,
        };
        self.expressions.push(Typed { span, ty, value });
    }
}

impl Sema<'_> {
    /// Notes a name.
    pub(super) fn note(&mut self, span: Span, meaning: Meaning, role: Role) {
        if let Some(facts) = &mut self.facts {
            facts.occurrences.push(Occurrence { span, meaning, role });
        }
    }

    /// Notes a tag.
    pub(super) fn note_tag(&mut self, tag: Option<ast::Ident>, meaning: Tag, role: Role) {
        if let Some(tag) = tag {
            let meaning = match meaning {
                Tag::Record(id) => Meaning::Record(id),
                Tag::Enum(id) => Meaning::Enum(id),
            };
            self.note(tag.span, meaning, role);
        }
    }

    /// Notes a call.
    pub(super) fn note_call(
        &mut self,
        callee: Span,
        arguments: &[ast::Expr],
        target: impl FnOnce() -> Callee,
    ) {
        if let Some(facts) = &mut self.facts {
            let arguments = arguments.iter().map(|argument| argument.span).collect();
            facts.calls.push(Called { callee, arguments, target: target() });
        }
    }
}
