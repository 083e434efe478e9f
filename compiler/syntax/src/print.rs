//! Prints the syntax tree as OpenCL C, with one statement per line and explicit parentheses. The output parses to a tree that
//! prints as the same text.

mod declaration;
mod expression;

use crate::{
    ast::*,
    symbol::{Interner, Symbol},
};

/// Prints a translation unit.
pub fn print(unit: &TranslationUnit, interner: &Interner) -> String {
    let mut printer = Printer { interner, text: String::new(), indent: 0 };
    for item in unit.items {
        printer.item(item);
    }
    printer.text
}

/// Accumulates the text. Methods keep their stack frames small, because trees are deep.
struct Printer<'a> {
    interner: &'a Interner,
    text: String,
    indent: usize,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&mut self, name: Symbol) {
        let text = self.interner.text(name);
        self.text.push_str(text);
    }

    /// Starts a line.
    fn begin(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.push("    ");
        }
        self.push(text);
    }

    /// Ends a line.
    fn end(&mut self, text: &str) {
        self.push(text);
        self.push("\n");
    }

    fn line(&mut self, text: &str) {
        self.begin(text);
        self.end("");
    }

    /// Prints elements with separators.
    fn list<T>(&mut self, elements: &[T], between: &str, print: impl Fn(&mut Self, &T)) {
        for (i, element) in elements.iter().enumerate() {
            if i > 0 {
                self.push(between);
            }
            print(self, element);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Function(function) => self.function(function),
            Item::Declaration(declaration) => self.declaration_line(declaration),
            Item::Pragma(pragma) => self.pragma(pragma),
            Item::StaticAssert(assertion) => self.static_assertion(assertion),
            Item::Empty(_) => self.line(";"),
            Item::Asm(_) => self.line("__asm__();"),
            Item::Error(_) => self.line("<error>"),
        }
    }

    fn pragma(&mut self, pragma: &Ident) {
        self.begin("#pragma ");
        let text = self.interner.text(pragma.node).trim();
        self.text.push_str(text);
        self.end("");
    }

    fn function(&mut self, function: &FunctionDefinition) {
        self.begin("");
        self.declared(&function.specifiers, &function.declarator);
        self.end("");
        self.indent += 1;
        for declaration in function.old_style {
            self.declaration_line(declaration);
        }
        self.indent -= 1;
        self.block_lines(&function.body);
    }

    fn declaration_line(&mut self, declaration: &Declaration) {
        self.begin("");
        self.declaration(declaration);
        self.end("");
    }

    fn static_assertion(&mut self, assertion: &StaticAssertion) {
        self.begin("_Static_assert(");
        self.operand(&assertion.condition);
        if !assertion.message.is_empty() {
            self.push(", ");
            self.strings(assertion.message);
        }
        self.end(");");
    }

    fn block_lines(&mut self, block: &Block) {
        self.begin("");
        self.block(block);
        self.end("");
    }

    /// Prints the lines of a block. The caller starts the first line and ends the last one.
    fn block(&mut self, block: &Block) {
        self.end("{");
        self.indent += 1;
        for item in block.items {
            self.block_item(item);
        }
        self.indent -= 1;
        self.begin("}");
    }

    fn block_item(&mut self, item: &BlockItem) {
        match item {
            BlockItem::Declaration(declaration) => self.declaration_line(declaration),
            BlockItem::Statement(statement) => self.statement(statement),
            BlockItem::Pragma(pragma) => self.pragma(pragma),
            BlockItem::StaticAssert(assertion) => self.static_assertion(assertion),
            BlockItem::Function(function) => self.function(function),
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if !statement.attributes.is_empty() {
            self.begin("");
            self.attributes(statement.attributes);
            self.end("");
        }
        match &statement.kind {
            StatementKind::Empty => self.line(";"),
            StatementKind::Expr(e) => self.print_with_expression("", e, ";"),
            StatementKind::Block(block) => self.block_lines(block),
            StatementKind::If { condition, then, otherwise } => {
                self.print_with_expression("if (", condition, ")");
                self.nested(then);
                if let Some(otherwise) = otherwise {
                    self.line("else");
                    self.nested(otherwise);
                }
            }
            StatementKind::Switch { value, body } => {
                self.print_with_expression("switch (", value, ")");
                self.nested(body);
            }
            StatementKind::While { condition, body } => {
                self.print_with_expression("while (", condition, ")");
                self.nested(body);
            }
            StatementKind::Do { body, condition } => {
                self.line("do");
                self.nested(body);
                self.print_with_expression("while (", condition, ");");
            }
            StatementKind::For(node) => {
                let For { init, condition, step, body } = &**node;
                self.for_head(init, condition.as_ref(), step.as_ref());
                self.nested(body);
            }
            StatementKind::Case { low, high, body } => {
                self.case(low, high.as_deref());
                self.nested(body);
            }
            StatementKind::Default { body } => {
                self.line("default:");
                self.nested(body);
            }
            StatementKind::Label { name, body } => {
                self.print_with_name("", name, ":");
                self.nested(body);
            }
            StatementKind::Goto(name) => self.print_with_name("goto ", name, ";"),
            StatementKind::Continue => self.line("continue;"),
            StatementKind::Break => self.line("break;"),
            StatementKind::Return(None) => self.line("return;"),
            StatementKind::Return(Some(e)) => self.print_with_expression("return ", e, ";"),
            StatementKind::Asm => self.line("__asm__();"),
            StatementKind::Error => self.line("<error>"),
        }
    }

    /// Prints the body of another statement.
    fn nested(&mut self, body: &Statement) {
        self.indent += 1;
        self.statement(body);
        self.indent -= 1;
    }

    /// Prints a line with an expression.
    fn print_with_expression(&mut self, before: &str, expr: &Expr, after: &str) {
        self.begin(before);
        self.expression(expr);
        self.end(after);
    }

    /// Prints a line with a name.
    fn print_with_name(&mut self, before: &str, name: &Ident, after: &str) {
        self.begin(before);
        self.name(name.node);
        self.end(after);
    }

    fn for_head(&mut self, init: &ForInit, condition: Option<&Expr>, step: Option<&Expr>) {
        self.begin("for (");
        match init {
            ForInit::None => self.push(";"),
            ForInit::Expr(e) => {
                self.expression(e);
                self.push(";");
            }
            ForInit::Declaration(declaration) => self.declaration(declaration),
        }
        if let Some(condition) = condition {
            self.push(" ");
            self.expression(condition);
        }
        self.push(";");
        if let Some(step) = step {
            self.push(" ");
            self.expression(step);
        }
        self.end(")");
    }

    fn case(&mut self, low: &Expr, high: Option<&Expr>) {
        self.begin("case ");
        self.operand(low);
        if let Some(high) = high {
            self.push(" ... ");
            self.operand(high);
        }
        self.end(":");
    }
}
