//! Records the meanings of names, the types of expressions and the targets of calls, if requested by the
//! language server. The type checker itself must not read them.

use kiln_builtins::Overload;
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::ty::{EnumId, QualTy, RecordId};

use super::{Entity, Sema, Tag, expr::Operand, scope::Binding};
use crate::hir::{Const, Expr, ExprKind, FunctionId, GlobalId, LocalId};

/// What the type checker recorded about a program, for editors. Each list is in the order of the checks.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Occurrences of names, with their meanings.
    pub occurrences: Vec<Occurrence>,
    /// The types of expressions. Operands precede the expressions that contain them.
    pub expressions: Vec<Typed>,
    /// Calls by name, with their targets.
    pub calls: Vec<Called>,
    /// The functions, blocks and `for` statements, which limit where local names are visible. Inner ones follow outer ones.
    pub scopes: Vec<Span>,
}

/// An occurrence of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its span.
    pub span: Span,
    /// Its meaning.
    pub meaning: Meaning,
    /// Its role.
    pub role: Role,
}

/// The role of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A definition: with a body, members or storage.
    Definition,
    /// A declaration that is not a definition.
    Declaration,
    /// A use.
    Use,
}

/// The meaning of a name. Equal meanings refer to the same entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// A parameter or a variable of a function.
    Local(FunctionId, LocalId),
    /// An object with static lifetime.
    Global(GlobalId),
    /// A function of the program.
    Function(FunctionId),
    /// The typedef declared at this span.
    Typedef(Span),
    /// The enumerator declared at this span.
    Enumerator(Span),
    /// The member declared at this span.
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
    /// Its type. The type of an lvalue has its address space.
    pub ty: QualTy,
    /// Its value, if constant. Boxed, because few expressions are constant.
    pub value: Option<Box<Const>>,
}

/// A resolved call: the spans of its parts, and the callee.
#[derive(Clone, Debug)]
pub struct Called {
    /// The span of the callee's name.
    pub callee: Span,
    /// The spans of the arguments.
    pub arguments: Vec<Span>,
    /// The callee.
    pub target: Callee,
}

/// The target of a call.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function of the program.
    Function(FunctionId),
    /// A built-in function.
    Builtin(Overload),
}

impl Facts {
    /// Records the use of an ordinary name.
    pub(super) fn note_use(&mut self, span: Span, binding: &Binding<Entity>) {
        let meaning = match &binding.meaning {
            Entity::Local(function, local) => Meaning::Local(*function, *local),
            Entity::Global(global) => Meaning::Global(*global),
            Entity::Function(function) => Meaning::Function(*function),
            Entity::Typedef { .. } => Meaning::Typedef(binding.span),
            Entity::Enumerator { .. } => Meaning::Enumerator(binding.span),
            // The call records which overload is selected.
            Entity::Overloads(_) | Entity::Error => return,
        };
        self.occurrences.push(Occurrence { span, meaning, role: Role::Use });
    }

    /// Records the type of an expression.
    pub(super) fn note_type(&mut self, span: Span, operand: &Operand) {
        let (ty, value) = match operand {
            Operand::Lvalue(lvalue) => (lvalue.ty, None),
            Operand::Value(Expr { kind: ExprKind::Const(value), ty, .. }) => {
                (ty.plain(), Some(Box::new(value.clone())))
            }
            Operand::Value(value) => (value.ty.plain(), None),
            Operand::Function(..) | Operand::Builtin(_) => return,
        };
        self.expressions.push(Typed { span, ty, value });
    }
}

impl Sema<'_> {
    /// Records a scope of local names.
    pub(super) fn note_scope(&mut self, span: Span) {
        if let Some(facts) = &mut self.facts {
            facts.scopes.push(span);
        }
    }

    /// Records an occurrence of a name.
    pub(super) fn note(&mut self, span: Span, meaning: Meaning, role: Role) {
        if let Some(facts) = &mut self.facts {
            facts.occurrences.push(Occurrence { span, meaning, role });
        }
    }

    /// Records an occurrence of a tag.
    pub(super) fn note_tag(&mut self, tag: Option<ast::Ident>, meaning: Tag, role: Role) {
        if let Some(tag) = tag {
            let meaning = match meaning {
                Tag::Record(id) => Meaning::Record(id),
                Tag::Enum(id) => Meaning::Enum(id),
            };
            self.note(tag.span, meaning, role);
        }
    }

    /// Records a call.
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
