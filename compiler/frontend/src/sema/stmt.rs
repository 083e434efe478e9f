//! Statements (C99 6.8): scopes, loops, jumps and labels.
//!
//! `switch` has its own file. `flow` determines whether the end of a function is reachable.

use kiln_session::{
    diag::{Code, Diagnostic, Piece},
    source::FileRange,
};
use kiln_syntax::{
    Span,
    ast::{self, BlockItem, ForInit, Ident, StatementKind as Ast, Storage},
};
use kiln_types::ty::TyId;

use super::{
    Entity, Meaning, Role, Sema,
    attributes::Target,
    convert::AssignContext,
    function::{EndedLoop, Returns},
    scope::Scope,
};
use crate::hir::{Expr, ExprKind, If, Loop, LoopHints, Stmt, StmtKind, jumps, visit};

impl Sema<'_> {
    /// A block in its own scope (C99 6.8.2).
    pub(crate) fn block_body(&mut self, block: &ast::Block) -> Vec<Stmt> {
        self.note_scope(block.span);
        self.scopes.push();
        let stmts = self.block_items(block.items);
        let scope = self.scopes.pop();
        self.warn_unused(&scope);
        stmts
    }

    /// The declarations and statements of a block, in the innermost scope.
    pub(super) fn block_items(&mut self, items: &[BlockItem]) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(items.len());
        let mut hints = LoopHints::default();
        let mut hint_at = None;
        // `FP_CONTRACT` in a block applies until the end of the block (C99 7.12.2).
        let contracts = self.pragmas.contracts;
        for (at, item) in items.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| items.get(before));
            let ended = before.and_then(ended_loop).filter(|ended| self.looks_like_body(item, ended));
            let outer = ended.map(|ended| self.body.ended_loop.replace(ended));
            match item {
                BlockItem::Declaration(declaration) => self.declaration(declaration, &mut out),
                BlockItem::Statement(statement) => {
                    hint_at = hint_at.filter(|_| !begins_loop(statement));
                    self.warn_unused_hint(hint_at.take());
                    let hints = std::mem::take(&mut hints);
                    self.statement(statement, hints, &mut out);
                }
                BlockItem::Pragma(text) => {
                    if let Some(unroll) = self.pragma(text.node) {
                        hints.unroll = Some(unroll);
                        hint_at = Some(text.span);
                    }
                }
                BlockItem::StaticAssert(assertion) => self.static_assertion(assertion),
                BlockItem::Function(function) => {
                    self.report(
                        Diagnostic::new(
                            Code::NestedFunction,
                            function.declarator.span,
                            "a function cannot be defined in a function",
                        )
                        .help("move it to program scope")
                        .note("C99 6.9.1: function definitions are external definitions"),
                    );
                    if let Some(name) = function.declarator.name {
                        self.scopes.declare(name.node, Entity::Error, name.span);
                    }
                }
            }
            if let Some(outer) = outer {
                self.warn_ended_loop(outer, item);
            }
        }
        self.warn_unused_hint(hint_at);
        self.pragmas.contracts = contracts;
        out
    }

    /// Warns about a pragma for a loop without a loop after it.
    fn warn_unused_hint(&mut self, pragma: Option<Span>) {
        let Some(pragma) = pragma else { return };
        self.report(
            Diagnostic::new(Code::MisplacedAttribute, pragma, "this pragma has no effect: no loop follows")
                .help("write it on the line before `for`, `while` or `do`"),
        );
    }

    /// The body of another statement, in its own scope (C99 6.8.4, 6.8.5).
    pub(super) fn body_statement(&mut self, statement: &ast::Statement) -> Vec<Stmt> {
        let mut out = Vec::new();
        self.scopes.push();
        match &statement.kind {
            // A block as a body needs no second scope.
            Ast::Block(block) => {
                self.note_scope(block.span);
                self.attributes(statement.attributes, Target::Statement);
                out = self.block_items(block.items);
            }
            _ => {
                out.reserve_exact(1);
                self.statement(statement, LoopHints::default(), &mut out);
            }
        }
        let scope = self.scopes.pop();
        self.warn_unused(&scope);
        out
    }

    /// Checks a statement. Appends the result to `out`. `hints` are those of a preceding pragma.
    fn statement(&mut self, statement: &ast::Statement, hints: LoopHints, out: &mut Vec<Stmt>) {
        let is_loop = matches!(statement.kind, Ast::While { .. } | Ast::Do { .. } | Ast::For(_));
        let target = if is_loop { Target::Loop } else { Target::Statement };
        let attributes = self.attributes(statement.attributes, target);
        let hints = LoopHints { unroll: attributes.unroll.or(hints.unroll) };
        let span = statement.span;
        let kind = match &statement.kind {
            Ast::Empty | Ast::Error => return,
            Ast::Expr(expr) => {
                if let Some(block) = as_statements(expr) {
                    self.warn_statement_expression(expr.span);
                    let body = self.block_body(block);
                    out.push(Stmt { kind: StmtKind::Block(body), span });
                    return;
                }
                let value = self.discarded(expr);
                if value.ty == TyId::ERROR {
                    return;
                }
                StmtKind::Expr(value)
            }
            Ast::Block(block) => StmtKind::Block(self.block_body(block)),
            Ast::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                if otherwise.is_none() {
                    self.warn_empty_body(then);
                    self.warn_dangling_else(then);
                }
                let then = self.body_statement(then);
                let otherwise = otherwise.as_ref().map(|it| self.body_statement(it)).unwrap_or_default();
                StmtKind::If(Box::new(If { condition, then, otherwise }))
            }
            Ast::Switch { value, body } => return self.switch(value, body, span, out),
            Ast::Case { low, high, body } => {
                self.case(low, high.as_deref(), span, out);
                return self.statement(body, hints, out);
            }
            Ast::Default { body } => {
                self.default_label(span, out);
                return self.statement(body, hints, out);
            }
            Ast::Label { name, body } => {
                self.label(*name);
                out.push(Stmt { kind: StmtKind::Label(name.node), span: name.span });
                return self.statement(body, hints, out);
            }
            Ast::While { condition, body } => {
                let condition = Some(self.loop_condition(condition));
                let body = self.loop_body(body);
                StmtKind::Loop(Box::new(Loop { test_first: true, condition, step: None, body, hints }))
            }
            Ast::Do { body, condition } => {
                let body = self.loop_body(body);
                let condition = Some(self.loop_condition(condition));
                StmtKind::Loop(Box::new(Loop { test_first: false, condition, step: None, body, hints }))
            }
            Ast::For(node) => StmtKind::Block(self.for_loop(node, hints, span)),
            Ast::Goto(name) => {
                if let Some(function) = self.body.function {
                    self.note(name.span, Meaning::Label(function, name.node), Role::Use);
                }
                self.body.jumps.gotos.push(*name);
                StmtKind::Goto(name.node)
            }
            Ast::Continue if self.may_continue(span) => StmtKind::Continue,
            Ast::Break if self.may_break(span) => StmtKind::Break,
            Ast::Continue | Ast::Break => return,
            Ast::Return(value) => return self.return_statement(value.as_ref(), span, out),
            Ast::Asm => return self.report_assembly(span),
        };
        out.push(Stmt { kind, span });
    }

    /// Whether a `continue` is in a loop. Reports it otherwise.
    fn may_continue(&mut self, span: Span) -> bool {
        let is_valid = self.body.jumps.loops > 0;
        if !is_valid {
            let help = "`continue` begins the next iteration of a loop; write `return` to end the function";
            self.report_jump("continue", help, span);
        }
        is_valid
    }

    /// Whether a `break` is in a loop or a `switch`. Reports it otherwise.
    fn may_break(&mut self, span: Span) -> bool {
        let is_valid = self.body.jumps.loops > 0 || !self.body.jumps.switches.is_empty();
        if !is_valid {
            let help = "`break` ends a loop or a `switch`; write `return` to end the function";
            self.report_jump("break", help, span);
        }
        is_valid
    }

    /// The body of a loop.
    fn loop_body(&mut self, body: &ast::Statement) -> Vec<Stmt> {
        self.body.jumps.loops += 1;
        let body = self.body_statement(body);
        self.body.jumps.loops -= 1;
        body
    }

    /// `for` (C99 6.8.5.3). Its declarations are not visible after it.
    fn for_loop(&mut self, node: &ast::For, hints: LoopHints, span: Span) -> Vec<Stmt> {
        self.note_scope(span);
        self.scopes.push();
        let mut out = Vec::new();
        match &node.init {
            ForInit::None => {}
            ForInit::Expr(expr) => {
                let value = self.discarded(expr);
                out.push(Stmt { kind: StmtKind::Expr(value), span: expr.span });
            }
            ForInit::Declaration(declaration) => {
                self.check_for_declaration(declaration);
                self.declaration(declaration, &mut out);
            }
        }
        let condition = node.condition.as_ref().map(|condition| self.loop_condition(condition));
        let step = node.step.as_ref().map(|step| self.discarded(step));
        let body = self.loop_body(node.body);
        let loop_stmt = Loop { test_first: true, condition, step, body, hints };
        out.push(Stmt { kind: StmtKind::Loop(Box::new(loop_stmt)), span });
        let scope = self.scopes.pop();
        self.warn_unused(&scope);
        out
    }

    /// C99 6.8.5: declarations in `for` must have automatic storage.
    fn check_for_declaration(&mut self, declaration: &ast::Declaration) {
        let storage = declaration.specifiers.storage.iter().find_map(|storage| {
            matches!(storage.node, Storage::Typedef | Storage::Extern | Storage::Static)
                .then_some(storage.span)
        });
        let is_function = |declarator: &&ast::Declarator| {
            let innermost = declarator.derivations.first().map(|derivation| &derivation.kind);
            matches!(innermost, Some(ast::DerivationKind::Function(_)))
        };
        let function = declaration.declarators.iter().map(|one| &one.declarator).find(is_function);
        if let Some(span) = storage.or_else(|| function.map(|declarator| declarator.span)) {
            self.report(
                Diagnostic::new(Code::StorageClass, span, "a `for` declares variables of the loop only")
                    .help("declare this before the loop")
                    .note("C99 6.8.5: the declaration in a `for` declares objects of storage class `auto` or `register`"),
            );
        }
    }

    /// GNU C's `({ … })`. Its value is that of the last expression.
    pub(crate) fn statement_expression(&mut self, block: &ast::Block, span: Span) -> Expr {
        self.warn_statement_expression(span);
        self.note_scope(block.span);
        self.scopes.push();
        let (before, last) = if let Some((BlockItem::Statement(last), before)) = block.items.split_last()
            && let Ast::Expr(last) = &last.kind
        {
            (before, Some(last))
        } else {
            (block.items, None)
        };
        let stmts = self.block_items(before);
        let value = match last {
            Some(last) => self.value(last),
            None => self.nothing(span),
        };
        let scope = self.scopes.pop();
        self.warn_unused(&scope);
        if let Some(jump) = jumps::first_unstructured_jump(&stmts) {
            self.report_jump_in_expression(jump.span);
            return self.error_value(span);
        }
        let is_plain = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Declare(_) | StmtKind::Expr(_));
        if !stmts.iter().all(is_plain) {
            return Expr { ty: value.ty, kind: ExprKind::Statements(Box::new((stmts, value))), span };
        }
        let parts = stmts.into_iter().filter_map(|stmt| match stmt.kind {
            StmtKind::Expr(expr) => Some(expr),
            _ => None,
        });
        parts.rev().fold(value, |rest, part| Expr {
            ty: rest.ty,
            kind: ExprKind::Comma(Box::new(part), Box::new(rest)),
            span,
        })
    }

    /// At the end of a function with jumps across its structure: checks that statements inside expressions do not
    /// jump out of them. Such a function has no loop constructs that they could leave.
    pub(super) fn check_inner_jumps(&mut self, body: &[Stmt]) {
        if jumps::first_unstructured_jump(body).is_none() {
            return;
        }
        let mut leaving = Vec::new();
        visit::expressions(body, &mut |expr| {
            if let ExprKind::Statements(parts) = &expr.kind {
                leaving.extend(jumps::outward_jump(&parts.0).map(|stmt| stmt.span));
            }
        });
        leaving.into_iter().for_each(|span| self.report_jump_in_expression(span));
    }

    fn report_jump_in_expression(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::StatementExpressionBody, span, "this is not allowed in an expression")
                .help("write a function, or make it a statement of its own"),
        );
    }

    fn warn_statement_expression(&mut self, span: Span) {
        self.report(
            Diagnostic::new(
                Code::StatementExpression,
                span,
                "a statement in an expression is an extension of GNU C",
            )
            .help("write a function, or give the result a variable"),
        );
    }

    /// Warns about a `;` as the body of an `if`, which is rarely intended.
    fn warn_empty_body(&mut self, body: &ast::Statement) {
        if is_semicolon(body) {
            self.warn_semicolon(body.span, "this `if` does nothing");
        }
    }

    /// Warns about an `else` after nested `if` statements: it belongs to the inner one, but its layout can suggest the
    /// outer one.
    fn warn_dangling_else(&mut self, then: &ast::Statement) {
        let Ast::If { otherwise: Some(otherwise), .. } = &then.kind else { return };
        self.report(
            Diagnostic::new(
                Code::DanglingElse,
                otherwise.span,
                "the `else` before this belongs to the inner `if`",
            )
            .also(then.span, "without braces")
            .help("put braces around the inner `if`")
            .rewrite(
                then.span,
                "put braces around the inner `if`",
                [Piece::Text("{ "), Piece::Source(then.span), Piece::Text(" }")],
            )
            .note("C99 6.8.4.1: an `else` belongs to the nearest `if`"),
        );
    }

    fn warn_semicolon(&mut self, semicolon: Span, message: impl Into<String>) {
        self.report(
            Diagnostic::new(Code::EmptyBody, semicolon, message)
                .help("remove the `;`, or write `{}` for an empty body")
                .fix(semicolon, "write `{}`", "{}"),
        );
    }

    /// Whether an item after a loop whose body is a `;` looks like its body: a block, or an indented item. A `;` on its
    /// own line is assumed to be intended.
    fn looks_like_body(&self, item: &BlockItem, ended: &EndedLoop) -> bool {
        let span = match item {
            BlockItem::Statement(ast::Statement { kind: Ast::Block(_), .. }) => return true,
            BlockItem::Statement(statement) => statement.span,
            BlockItem::Declaration(declaration) => declaration.span,
            _ => return false,
        };
        let position = |span: Span| {
            let range = self.sources.resolve(span)?;
            Some((range.file, self.sources.position(range.file, range.range.start)))
        };
        let (Some((file, start)), Some((_, semicolon)), Some((same, next))) =
            (position(ended.start), position(ended.semicolon), position(span))
        else {
            return false;
        };
        let text =
            self.sources.text(&FileRange { file, range: self.sources.line_range(file, semicolon.line) });
        let is_alone = text.trim_start().starts_with(';');
        file == same && next.line > semicolon.line && next.column > start.column && !is_alone
    }

    /// Warns about the `;` of a loop after the item that was meant as its body, unless an error in it explains the `;`.
    fn warn_ended_loop(&mut self, outer: Option<EndedLoop>, item: &BlockItem) {
        let ended = std::mem::replace(&mut self.body.ended_loop, outer);
        if let Some(EndedLoop { word, semicolon, is_reported: false, .. }) = ended {
            let what = match item {
                BlockItem::Statement(ast::Statement { kind: Ast::Block(_), .. }) => "block",
                BlockItem::Statement(_) => "statement",
                _ => "declaration",
            };
            let message = format!("the body of this `{word}` is empty, and the {what} after it runs once");
            self.warn_semicolon(semicolon, message);
        }
    }

    fn report_jump(&mut self, word: &str, help: &str, span: Span) {
        self.report(
            Diagnostic::new(Code::MisplacedJump, span, format!("`{word}` is not in a loop"))
                .help(help)
                .note("C99 6.8.6.2, 6.8.6.3"),
        );
    }

    /// `return` (C99 6.8.6.4).
    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span, out: &mut Vec<Stmt>) {
        let wanted = match self.body.returns {
            Returns::Type(result) => result,
            Returns::Inferred(first) => first.unwrap_or(TyId::VOID),
        };
        let value = value.map(|value| (self.value_for(wanted, value, Self::value), value.span));
        let result = match self.body.returns {
            Returns::Type(result) => result,
            Returns::Inferred(None) => {
                let ty = value.as_ref().map_or(TyId::VOID, |(value, _)| value.ty);
                self.body.returns = Returns::Inferred(Some(ty));
                ty
            }
            Returns::Inferred(Some(first)) => {
                let ty = value.as_ref().map_or(TyId::VOID, |(value, _)| value.ty);
                if ty != first && ty != TyId::ERROR && first != TyId::ERROR {
                    let (first, shown) = (self.show(first), self.show(ty));
                    self.report(
                        Diagnostic::new(
                            Code::ReturnValue,
                            span,
                            format!("this returns `{shown}`, and an earlier `return` of the block `{first}`"),
                        )
                        .help("write the type of the result after the `^`")
                        .note("OpenCL C 6.14.3: all return statements return a value of the same type"),
                    );
                    return;
                }
                first
            }
        };
        let value = match value {
            None if result == TyId::VOID || result == TyId::ERROR => None,
            None => {
                let shown = self.show(result);
                self.report(
                    Diagnostic::new(
                        Code::ReturnValue,
                        span,
                        format!("this function returns `{shown}`, and here it returns nothing"),
                    )
                    .note("C99 6.8.6.4: `return` without a value is only allowed in functions that return `void`"),
                );
                None
            }
            Some((value, _)) if value.ty == TyId::ERROR || result == TyId::ERROR => {
                out.push(Stmt { kind: StmtKind::Expr(value), span });
                None
            }
            Some((value, value_span)) if result == TyId::VOID => {
                if value.ty != TyId::VOID {
                    self.report(
                        Diagnostic::new(Code::ReturnValue, value_span, "this function returns nothing")
                            .help("leave the value out, or change the type of the function")
                            .note("C99 6.8.6.4: `return` with a value is not allowed in functions that return `void`"),
                    );
                }
                // GNU C: `return f();` with a `void` function.
                out.push(Stmt { kind: StmtKind::Expr(value), span });
                None
            }
            Some((value, _)) => {
                self.warn_stack_address(&value);
                Some(self.assign_convert(value, result.plain(), AssignContext::Return))
            }
        };
        out.push(Stmt { kind: StmtKind::Return(value.map(Box::new)), span });
    }

    /// Warns about returning the address of a variable of the function (C99 6.2.4).
    fn warn_stack_address(&mut self, value: &Expr) {
        let name = match &value.kind {
            ExprKind::PointerCast(inner) => return self.warn_stack_address(inner),
            ExprKind::Offset(offset) => return self.warn_stack_address(&offset.pointer),
            ExprKind::AddressOf(lvalue) => lvalue
                .local()
                .zip(self.body.function)
                .and_then(|(local, function)| self.module.functions[function].locals[local].name),
            _ => None,
        };
        let Some(name) = name else { return };
        let text = self.text(name).to_owned();
        self.report(
            Diagnostic::new(
                Code::ReturnStackAddress,
                value.span,
                format!("this returns the address of `{text}`, whose lifetime ends with the function"),
            )
            .help("return the value, or let the caller pass a pointer to the result")
            .note("C99 6.2.4: the pointer is indeterminate when the object that it points to ends"),
        );
    }

    /// Labels have function scope (C99 6.2.1, 6.8.1).
    fn label(&mut self, name: Ident) {
        if let Some(function) = self.body.function {
            self.note(name.span, Meaning::Label(function, name.node), Role::Definition);
        }
        if let Some(&(first, _)) = self.body.jumps.labels.get(&name.node) {
            let text = self.text(name.node).to_owned();
            self.report(
                Diagnostic::new(
                    Code::DuplicateLabel,
                    name.span,
                    format!("the label `{text}` is defined twice in this function"),
                )
                .also(first, "the first one")
                .note("C99 6.8.1"),
            );
            return;
        }
        self.body.jumps.labels.insert(name.node, (name.span, false));
    }

    /// Checks, at the end of a function, that every `goto` has a label and every label is used.
    pub(super) fn check_labels(&mut self) {
        for name in std::mem::take(&mut self.body.jumps.gotos) {
            if let Some((_, is_used)) = self.body.jumps.labels.get_mut(&name.node) {
                *is_used = true;
                continue;
            }
            let text = self.text(name.node).to_owned();
            let names = self.body.jumps.labels.keys().map(|label| self.text(*label));
            let near = kiln_session::diag::closest(&text, names);
            let mut diagnostic = Diagnostic::new(
                Code::UndefinedLabel,
                name.span,
                format!("there is no label `{text}` in this function"),
            )
            .note("C99 6.8.6.1: `goto` names a label in the enclosing function");
            if let Some(near) = near {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?")).replace(name.span, near);
            }
            self.report(diagnostic);
        }
        let mut unused: Vec<_> = self
            .body
            .jumps
            .labels
            .iter()
            .filter(|(_, label)| !label.1)
            .map(|(name, label)| (*name, label.0))
            .collect();
        unused.sort_by_key(|(_, span)| span.lo);
        for (name, span) in unused {
            let text = self.text(name).to_owned();
            self.report(Diagnostic::new(
                Code::UnusedLabel,
                span,
                format!("no `goto` uses the label `{text}`"),
            ));
        }
    }

    /// Warns about unused variables and parameters of a scope.
    pub(super) fn warn_unused(&mut self, scope: &Scope) {
        for (name, binding) in scope.unused() {
            let (code, sort) = match binding.meaning {
                Entity::Local(function, local)
                    if self.module.functions[function].parameters.contains(&local) =>
                {
                    (Code::UnusedParameter, "parameter")
                }
                Entity::Local(..) | Entity::Global(_) => (Code::UnusedVariable, "variable"),
                _ => continue,
            };
            let text = self.text(name).to_owned();
            let what = if binding.is_assigned() { "assigned but never read" } else { "not used" };
            let diagnostic = Diagnostic::new(code, binding.span, format!("the {sort} `{text}` is {what}"));
            match binding.meaning {
                Entity::Local(function, local) if binding.is_assigned() => {
                    let ty = self.module.functions[function].locals[local].ty;
                    if ty.quals.is_volatile {
                        continue;
                    }
                    self.report(match self.is_pointer(ty.ty) {
                        true => diagnostic.help(format!("`*{text} = …` stores to its memory")),
                        false => diagnostic,
                    });
                }
                _ => self.report(diagnostic),
            }
        }
    }
}

/// Whether a statement is a loop, possibly with labels before it.
fn begins_loop(statement: &ast::Statement) -> bool {
    match &statement.kind {
        Ast::While { .. } | Ast::Do { .. } | Ast::For(_) => true,
        Ast::Case { body, .. } | Ast::Default { body } | Ast::Label { body, .. } => begins_loop(body),
        _ => false,
    }
}

/// Whether a body is only a `;`.
fn is_semicolon(body: &ast::Statement) -> bool {
    matches!(body.kind, Ast::Empty) && body.attributes.is_empty()
}

/// The loop whose body is a `;`.
fn ended_loop(item: &BlockItem) -> Option<EndedLoop> {
    let BlockItem::Statement(statement) = item else { return None };
    let (word, body, init) = match &statement.kind {
        Ast::While { body, .. } => ("while", *body, &ForInit::None),
        Ast::For(node) => ("for", node.body, &node.init),
        _ => return None,
    };
    if !is_semicolon(body) {
        return None;
    }
    let declarators = match init {
        ForInit::Declaration(declaration) => declaration.declarators,
        ForInit::None | ForInit::Expr(_) => &[],
    };
    let names = declarators.iter().filter_map(|one| Some(one.declarator.name?.node)).collect();
    Some(EndedLoop { word, names, start: statement.span, semicolon: body.span, is_reported: false })
}

/// The block of a `({ … });` statement.
fn as_statements<'a>(mut expr: &'a ast::Expr<'a>) -> Option<&'a ast::Block<'a>> {
    while let ast::ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    match &expr.kind {
        ast::ExprKind::StatementExpr(block) => Some(block),
        _ => None,
    }
}
