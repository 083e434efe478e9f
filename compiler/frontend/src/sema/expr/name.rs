//! Names in expressions (C99 6.5.1), and suggestions for undeclared ones.

use kiln_builtins as builtins;
use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::ty::{self, Ty};
use kiln_vocabulary::opencl::{Order, Scope};

use super::Operand;
use crate::{
    foreign,
    hir::{Expr, ExprKind, FunctionId, LocalId, Lvalue, LvalueKind},
    sema::{Entity, Meaning, Role, Sema, function::EndedLoop},
};

/// The maximum number of undeclared names for which suggestions are computed.
const MAX_SUGGESTIONS: usize = 64;

/// The reserved words that can be a whole statement.
const STATEMENTS: [&str; 3] = ["break", "continue", "return"];

impl Sema<'_> {
    /// Resolves a name.
    pub(super) fn named(&mut self, name: Symbol, span: Span) -> Operand {
        let Some(binding) = self.scopes.lookup(name) else { return self.predeclared_name(name, span) };
        if let Some(facts) = &mut self.facts {
            facts.note_use(span, binding);
        }
        match binding.meaning {
            Entity::Local(function, local) => self.local_lvalue(function, local, span),
            Entity::Global(global) => {
                let ty = self.module.globals[global].ty;
                Operand::Lvalue(Lvalue { kind: LvalueKind::Global(global), ty, span })
            }
            Entity::Function(function) => Operand::Function(function, span),
            Entity::Overloads(ref functions) => match functions.first() {
                Some(function) => Operand::Function(*function, span),
                None => Operand::Value(self.error_value(span)),
            },
            Entity::Enumerator { ref value, ty } => {
                Operand::Value(Expr { kind: ExprKind::Const(value.clone()), ty, span })
            }
            Entity::Typedef { .. } => {
                let text = self.text(name).to_owned();
                self.report_undeclared(&text, span);
                Operand::Value(self.error_value(span))
            }
            Entity::Error => Operand::Value(self.error_value(span)),
        }
    }

    fn local_lvalue(&mut self, function: FunctionId, local: LocalId, span: Span) -> Operand {
        if self.body.function.or(self.outside) != Some(function) {
            return self.captured(function, local, span);
        }
        let ty = self.module.functions[function].locals[local].ty;
        Operand::Lvalue(Lvalue { kind: LvalueKind::Local(local), ty, span })
    }

    /// Resolves a name that the program has not declared. OpenCL C may predeclare it.
    fn predeclared_name(&mut self, name: Symbol, span: Span) -> Operand {
        let text = self.text(name).to_owned();
        if let Some(constant) = ty::constant(&text) {
            if let Some(missing) = constant.missing(self.options.std, self.extensions) {
                self.report_missing(&format!("`{text}`"), &missing, span);
                return Operand::Value(self.error_value(span));
            }
            let ty = constant.ty(&mut self.types);
            self.note(span, Meaning::Constant(name), Role::Use);
            return Operand::Value(Expr { kind: ExprKind::Const(constant.value), ty, span });
        }
        if self.is_builtin(&text) {
            self.note(span, Meaning::Builtin(name), Role::Use);
            return Operand::Builtin(span);
        }
        if text == "__func__" || text == "__FUNCTION__" || text == "__PRETTY_FUNCTION__" {
            return self.function_name(span);
        }
        self.report_undeclared(&text, span);
        Operand::Value(self.error_value(span))
    }

    /// `__func__` (C99 6.4.2.2), in the constant address space.
    fn function_name(&mut self, span: Span) -> Operand {
        let bytes = match self.body.function {
            Some(function) => self.text(self.module.functions[function].name).as_bytes().to_vec(),
            None => Vec::new(),
        };
        self.constant_string(bytes, span)
    }

    /// Whether this undeclared name has not been reported in this function yet.
    pub(crate) fn is_first_report(&mut self, text: &str) -> bool {
        self.undeclared.insert((self.body.function, text.to_owned()))
    }

    /// Whether to compute suggestions, which takes time. Not for sources with many errors.
    pub(crate) fn is_worth_suggesting(&self) -> bool {
        self.undeclared.len() <= MAX_SUGGESTIONS
    }

    fn report_undeclared(&mut self, text: &str, span: Span) {
        if !self.is_first_report(text) {
            return;
        }
        let diagnostic = self.undeclared(text, span);
        let is_of_loop = self.ended_loop_with(text).is_some();
        if let Some(ended) = self.body.ended_loop.as_mut().filter(|_| is_of_loop) {
            ended.is_reported = true;
        }
        self.report(diagnostic);
    }

    /// The loop before this block, whose body is a `;`, if it declares this name.
    fn ended_loop_with(&self, text: &str) -> Option<&EndedLoop> {
        let declares = |ended: &&EndedLoop| ended.names.iter().any(|name| self.text(*name) == text);
        self.body.ended_loop.as_ref().filter(declares)
    }

    /// The report of an undeclared name, with a suggestion if there is one.
    fn undeclared(&self, text: &str, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(Code::UndeclaredName, span, format!("`{text}` is not declared"));
        if let Some(ended) = self.ended_loop_with(text) {
            diagnostic = diagnostic
                .also(ended.semicolon, "the loop that declares it ends here")
                .help("remove the `;`: it is the body of the loop")
                .fix(ended.semicolon, "remove `;`", "");
        } else if let Some(meant) = foreign::value_for(text) {
            diagnostic = diagnostic.help(format!("write `{meant}`"));
            let function = meant.strip_suffix("()");
            if !meant.contains('(') || function.is_some_and(|function| self.is_builtin(function)) {
                diagnostic = diagnostic.replace(span, meant);
            }
        } else if let Some(near) = self.similar_name(text) {
            diagnostic = diagnostic.help(format!("there is a similar name `{near}`")).replace(span, near);
        } else if let Some(meant) = foreign::likely_value_for(text) {
            diagnostic = diagnostic.help(format!("write `{meant}`")).replace(span, meant);
        } else if let Some(near) = kiln_session::diag::closest(text, STATEMENTS) {
            // No fix, because the result may not be a complete statement.
            diagnostic = diagnostic.help(format!("there is a similar word `{near}`"));
        } else if matches!(text, "cout" | "cerr" | "endl") {
            diagnostic = diagnostic.help("print with `printf`, as in `printf(\"%d\\n\", n)`");
        } else if text == "memory_order_consume" {
            diagnostic = diagnostic
                .help("use `memory_order_acquire`, which is stronger")
                .replace(span, "memory_order_acquire")
                .note("OpenCL C 6.15.12.3: the consume order of C11 is not supported");
        }
        diagnostic
    }

    /// Reports an assignment to an undeclared name as a missing declaration. Returns whether it was one.
    pub(super) fn is_missing_declaration(&mut self, expr: &ast::Expr) -> bool {
        let ast::ExprKind::Assign(assign) = &expr.kind else { return false };
        let (None, ast::ExprKind::Name(name)) = (assign.op.node, &assign.left.kind) else { return false };
        let text = self.text(*name).to_owned();
        if self.scopes.binding(*name).is_some() || ty::constant(&text).is_some() || self.is_builtin(&text) {
            return false;
        }
        let span = assign.left.span;
        let mut diagnostic = self.undeclared(&text, span);
        if !diagnostic.help.is_empty() || !self.is_first_report(&text) {
            return false;
        }
        let value = self.operator_value(&assign.right);
        if matches!(self.types.get(value.ty), Ty::Scalar(_) | Ty::Vector(..) | Ty::Pointer(_)) {
            let declared = format!("{} ", self.show(value.ty));
            let help = format!("declare it: write `{}` before it", declared.trim_end());
            let pieces = [Piece::Text(&declared), Piece::Source(span)];
            diagnostic = diagnostic.help(help.clone()).rewrite(span, help, pieces);
        }
        self.report(diagnostic);
        true
    }

    /// A visible name with similar spelling.
    pub(crate) fn similar_name(&self, text: &str) -> Option<String> {
        if !self.is_worth_suggesting() {
            return None;
        }
        let is_value = |entity: &Entity| !matches!(entity, Entity::Typedef { .. } | Entity::Error);
        let mut names: Vec<&str> = Vec::new();
        names.extend(
            self.scopes.visible_names().filter(|(_, it)| is_value(it)).map(|(name, _)| self.text(name)),
        );
        names.extend(Order::ALL.iter().map(|order| order.spelling()));
        names.extend(Scope::ALL.iter().map(|scope| scope.spelling()));
        let context = self.builtin_context();
        for name in kiln_preprocessor::constants(context.version, context.extensions) {
            names.push(name);
        }
        names.extend(["false", "true"]);
        for name in builtins::near(text, &context) {
            names.push(name);
        }
        let prefix = format!("{text}_");
        let begun = names.iter().find(|name| text.len() > 3 && name.starts_with(&prefix));
        let begun = begun.map(|name| (*name).to_owned());
        kiln_session::diag::closest(text, names).or(begun)
    }
}
