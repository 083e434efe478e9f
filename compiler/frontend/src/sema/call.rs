//! Calls of program functions (C99 6.5.2.2). Calls of built-in functions start here and continue in `builtin.rs`.

use kiln_builtins as builtins;
use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{Span, Symbol, ast};
use kiln_types::ty::{QualTy, Ty, TyId};
use smallvec::SmallVec;

use super::{Callee, Entity, Meaning, Role, Sema, conversion_name, convert::AssignContext, expr::Operand};
use crate::{
    foreign,
    hir::{Expr, ExprKind, FunctionId, Lvalue},
};

/// Words that stand before parentheses, which the parser takes for a call if they are misspelled.
const BEFORE_PARENTHESES: [&str; 6] = ["for", "if", "return", "sizeof", "switch", "while"];

impl Sema<'_> {
    /// `callee(arguments)`
    pub(crate) fn call(&mut self, callee: &ast::Expr, arguments: &[ast::Expr], span: Span) -> Expr {
        let callee = self.called(callee);
        let name = called_name(callee);
        if let Some(name) = name {
            match self.lookup(name).map(|binding| &binding.meaning) {
                None => return self.call_predeclared(name, callee.span, arguments, span),
                Some(Entity::Overloads(functions)) => {
                    let (functions, name) = (functions.clone(), self.text(name).to_owned());
                    return self.call_overloaded(&name, &functions, callee.span, arguments, span);
                }
                Some(_) => {}
            }
        }
        match self.operand(callee) {
            Operand::Function(function, _) => self.call_function(function, callee.span, arguments, span),
            Operand::Builtin(builtin) => {
                // A built-in function must be called by its name, not as `(*f)(x)`.
                self.report_not_called_by_name(builtin);
                self.error_value(span)
            }
            Operand::Lvalue(lvalue) if matches!(self.types.get(lvalue.ty.ty), Ty::Block(_)) => {
                let block = self.load(lvalue);
                self.call_block(block, arguments, span)
            }
            Operand::Value(value) if matches!(self.types.get(value.ty), Ty::Block(_)) => {
                self.call_block(value, arguments, span)
            }
            operand => {
                let ty = match &operand {
                    Operand::Lvalue(Lvalue { ty: QualTy { ty, .. }, .. })
                    | Operand::Value(Expr { ty, .. }) => *ty,
                    _ => TyId::ERROR,
                };
                if ty != TyId::ERROR {
                    self.report_not_callable(name, ty, callee.span);
                }
                self.unused_arguments(arguments);
                self.error_value(span)
            }
        }
    }

    /// The first argument of an atomic function, which is a pointer. An atomic object is reported without reading it.
    pub(super) fn pointer_to_atomic(&mut self, argument: &ast::Expr, name: &str) -> Expr {
        match self.operand(argument) {
            Operand::Lvalue(lvalue) if self.is_atomic(lvalue.ty.ty) => {
                let message =
                    format!("`{name}` takes a pointer to `{}`, not the object", self.show(lvalue.ty.ty));
                self.report(
                    Diagnostic::new(Code::ArgumentType, argument.span, message)
                        .help("write `&` before the object")
                        .prefix(argument.span, "&"),
                );
                self.error_value(argument.span)
            }
            operand => self.evaluate(operand),
        }
    }

    /// A call of a name that the program does not declare.
    fn call_predeclared(&mut self, name: Symbol, callee: Span, arguments: &[ast::Expr], span: Span) -> Expr {
        let mut text = self.text(name).to_owned();
        let mut name = name;
        if let Some(builtin) = text.strip_prefix(builtins::RESERVED).filter(|it| self.is_builtin(it)) {
            name = self.interner.intern(builtin);
            text = builtin.to_owned();
        }
        if self.is_builtin(&text) {
            self.note(callee, Meaning::Builtin(name), Role::Use);
            return self.call_builtin(&text, callee, arguments, span);
        }
        if kiln_types::ty::constant(&text).is_some() {
            self.report_not_callable(Some(name), TyId::INT, callee);
        } else if self.is_first_report(&text) {
            let mut diagnostic =
                Diagnostic::new(Code::UndeclaredFunction, callee, format!("there is no function `{text}`"));
            let mut note = "OpenCL C 6.11.v: a function is declared before it is called";
            if let Some(meant) = foreign::function_for(&text, |name| self.is_builtin(name)) {
                diagnostic = diagnostic.help(format!("write `{meant}`"));
                match meant.split_once('(') {
                    None | Some(("", _)) => diagnostic = diagnostic.replace(callee, meant),
                    // A whole call, which replaces one without arguments.
                    Some((function, _)) if arguments.is_empty() && self.is_builtin(function) => {
                        let title = format!("replace with `{meant}`");
                        diagnostic = diagnostic.rewrite(span, title, [Piece::Text(meant)]);
                    }
                    Some(_) => {}
                }
            } else if let Some(advice) = foreign::advice(&text) {
                diagnostic = diagnostic.help(advice);
                if let ([argument], foreign::SATURATE) = (arguments, advice) {
                    let (open, close) = (Piece::Text("clamp("), Piece::Text(", 0.0f, 1.0f)"));
                    let pieces = [open, Piece::Source(argument.span), close];
                    diagnostic = diagnostic.rewrite(span, "write `clamp`", pieces);
                }
            } else if let Some(advice) = conversion_name::advise(&text) {
                diagnostic = diagnostic.help(advice.help);
                note = advice.note.unwrap_or(note);
                if let Some(meant) = advice.meant {
                    diagnostic = diagnostic.replace(callee, meant);
                }
            } else if let Some(near) = self.similar_function(&text) {
                diagnostic =
                    diagnostic.help(format!("there is a similar function `{near}`")).replace(callee, near);
            } else if let Some(near) = kiln_session::diag::closest(&text, BEFORE_PARENTHESES) {
                // No fix, because the result may not be a complete statement.
                diagnostic = diagnostic.help(format!("there is a similar word `{near}`"));
            }
            self.report(diagnostic.note(note));
        }
        self.unused_arguments(arguments);
        self.error_value(span)
    }

    /// Checks the arguments of an invalid call for their own errors.
    pub(crate) fn unused_arguments(&mut self, arguments: &[ast::Expr]) {
        for argument in arguments {
            self.operand(argument);
        }
    }

    fn report_not_callable(&mut self, name: Option<Symbol>, ty: TyId, span: Span) {
        let shown = self.show(ty);
        let what = name.map_or("this".to_owned(), |name| format!("`{}`", self.text(name)));
        let mut diagnostic = Diagnostic::new(
            Code::NotCallable,
            span,
            format!("{what} has type `{shown}` and is not a function"),
        )
        .note("C99 6.5.2.2: only functions can be called");
        if matches!(self.types.get(ty), Ty::Pointer(_) | Ty::Array(..)) {
            diagnostic = diagnostic.help("an index is written in brackets");
        }
        self.report(diagnostic);
    }

    fn report_not_called_by_name(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::FunctionPointer, span, "a built-in function is called by its name")
                .note("OpenCL C 6.11.a: pointers to functions are not allowed"),
        );
    }

    /// A call of a program function.
    fn call_function(
        &mut self,
        function: FunctionId,
        callee: Span,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        self.note_call(callee, arguments, || Callee::Function(function));
        let called = &self.module.functions[function];
        let (result, declared) = (called.result, called.span);
        let parameters: SmallVec<[QualTy; 8]> =
            called.parameters.iter().map(|local| called.locals[*local].ty).collect();
        let name = called.name;
        if result != TyId::VOID && !self.types.is_complete(result) {
            let (name, shown) = (self.text(name).to_owned(), self.show(result));
            self.report(
                Diagnostic::new(
                    Code::IncompleteType,
                    callee,
                    format!("`{name}` returns `{shown}`, which is declared but not defined"),
                )
                .also(declared, "declared here")
                .note("C99 6.5.2.2: a function that is called returns `void` or a complete type"),
            );
            self.unused_arguments(arguments);
            return self.error_value(span);
        }
        match self.arguments(Some(name), &parameters, arguments, callee, Some(declared)) {
            Some(arguments) => {
                Expr { kind: ExprKind::Call { function, arguments: arguments.into() }, ty: result, span }
            }
            None => self.error_value(span),
        }
    }

    /// Converts arguments to parameter types. `name` is `None` for a block. Reports arguments that do not match and
    /// returns `None`.
    pub(crate) fn arguments(
        &mut self,
        name: Option<Symbol>,
        parameters: &[QualTy],
        arguments: &[ast::Expr],
        callee: Span,
        declared: Option<Span>,
    ) -> Option<Vec<Expr>> {
        let mut values = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            values.push(match parameters.get(index) {
                // The parameter's error has been reported. Do not report its argument too.
                Some(QualTy { ty: TyId::ERROR, .. }) => {
                    self.operand(argument);
                    self.error_value(argument.span)
                }
                _ => self.value(argument),
            });
        }
        if values.len() != parameters.len() {
            let (wanted, given) = (parameters.len(), values.len());
            let plural = if wanted == 1 { "" } else { "s" };
            let name = name.map_or("the block", |name| self.text(name));
            let mut diagnostic = Diagnostic::new(
                Code::ArgumentCount,
                // Point to the first excess argument.
                arguments.get(wanted).map_or(callee, |argument| argument.span),
                format!("`{name}` takes {wanted} argument{plural}, not {given}"),
            )
            .note("C99 6.5.2.2: the number of arguments agrees with the number of parameters");
            if let Some(declared) = declared {
                diagnostic = diagnostic.also(declared, "declared here");
            }
            self.report(diagnostic);
            return None;
        }
        let convert = |(index, (value, parameter)): (usize, (Expr, &QualTy))| {
            self.assign_convert(value, *parameter, AssignContext::Argument(index + 1))
        };
        let converted: Vec<Expr> = values.into_iter().zip(parameters).enumerate().map(convert).collect();
        converted.iter().all(|value| value.ty != TyId::ERROR).then_some(converted)
    }

    /// A program or built-in function with a similar name.
    fn similar_function(&self, text: &str) -> Option<String> {
        if !self.is_worth_suggesting() {
            return None;
        }
        let is_function = |entity: &Entity| matches!(entity, Entity::Function(_) | Entity::Overloads(_));
        let mut names: Vec<&str> = Vec::new();
        names.extend(
            self.scopes.visible_names().filter(|(_, it)| is_function(it)).map(|(name, _)| self.text(name)),
        );
        let context = self.builtin_context();
        for name in builtins::near(text, &context) {
            names.push(name);
        }
        kiln_session::diag::closest(text, names)
    }
}

/// The name of the callee, without parentheses: `(f)(x)` calls `f`.
pub(crate) fn called_name(callee: &ast::Expr) -> Option<Symbol> {
    let mut callee = callee;
    loop {
        match &callee.kind {
            ast::ExprKind::Name(name) => return Some(*name),
            ast::ExprKind::Paren(inner) => callee = inner,
            _ => return None,
        }
    }
}
