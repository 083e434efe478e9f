//! Prints expressions with explicit grouping.

use super::Printer;
use crate::ast::*;

impl Printer<'_> {
    /// Prints an operand, in parentheses unless it is a primary or postfix expression.
    pub(super) fn operand(&mut self, expr: &Expr) {
        let primary = match &expr.kind {
            ExprKind::Unary(unary) => {
                matches!(unary.op.node, UnaryOp::PostIncrement | UnaryOp::PostDecrement)
            }
            ExprKind::Binary(_)
            | ExprKind::Assign(_)
            | ExprKind::Conditional(_)
            | ExprKind::Comma(_)
            | ExprKind::Cast(_)
            | ExprKind::SizeofExpr(_)
            | ExprKind::AlignofExpr(_)
            | ExprKind::VecStepExpr(_) => false,
            _ => true,
        };
        if primary {
            self.expression(expr);
        } else {
            self.push("(");
            self.expression(expr);
            self.push(")");
        }
    }

    /// Prints an expression where a comma operator is not allowed.
    pub(super) fn element(&mut self, expr: &Expr) {
        match expr.kind {
            ExprKind::Assign(_) | ExprKind::Comma(_) => self.operand(expr),
            _ => self.expression(expr),
        }
    }

    /// Prints an expression without parentheses around it.
    pub(super) fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(text)
            | ExprKind::Integer(text)
            | ExprKind::Floating(text)
            | ExprKind::Character(text) => self.name(*text),
            ExprKind::String(strings) => self.strings(strings),
            ExprKind::Paren(inner) => {
                self.push("(");
                self.expression(inner);
                self.push(")");
            }
            ExprKind::Index(node) => {
                let IndexExpr { base, index } = &**node;
                self.operand(base);
                self.push("[");
                self.expression(index);
                self.push("]");
            }
            ExprKind::Call(node) => {
                let CallExpr { callee, arguments } = &**node;
                self.operand(callee);
                self.push("(");
                self.list(arguments, ", ", Self::element);
                self.push(")");
            }
            ExprKind::Member(node) => self.member_of(&node.base, ".", &node.name),
            ExprKind::Arrow(node) => self.member_of(&node.base, "->", &node.name),
            ExprKind::Unary(node) => self.unary(node.op.node, &node.operand),
            ExprKind::Binary(node) => {
                let BinaryExpr { op, left, right } = &**node;
                self.operand(left);
                self.spaced(op.node.spelling());
                self.operand(right);
            }
            ExprKind::Assign(node) => {
                let AssignExpr { op, left, right } = &**node;
                self.operand(left);
                self.push(" ");
                self.push(op.node.map(BinaryOp::spelling).unwrap_or_default());
                self.push("= ");
                self.element(right);
            }
            ExprKind::Conditional(node) => {
                self.conditional(&node.condition, node.then.as_ref(), &node.otherwise);
            }
            ExprKind::Comma(node) => self.comma(&node.left, &node.right),
            ExprKind::Cast(node) => self.cast(node.ty, &node.operand),
            ExprKind::CompoundLiteral(node) => {
                self.enclosed("(", node.ty);
                self.initializer_list(&node.init);
            }
            ExprKind::SizeofExpr(operand) => self.query("sizeof ", operand),
            ExprKind::SizeofType(ty) => self.enclosed("sizeof(", ty),
            ExprKind::AlignofExpr(operand) => self.query("_Alignof ", operand),
            ExprKind::AlignofType(ty) => self.enclosed("_Alignof(", ty),
            ExprKind::VecStepExpr(operand) => self.query("vec_step ", operand),
            ExprKind::VecStepType(ty) => self.enclosed("vec_step(", ty),
            ExprKind::Astype(node) => {
                self.push("__builtin_astype(");
                self.element(&node.operand);
                self.enclosed(", ", node.ty);
            }
            ExprKind::Offsetof(node) => self.offsetof(node),
            ExprKind::Form(node) => {
                self.push(node.form.node.spelling());
                self.push("(");
                self.arguments(node.arguments);
                self.push(")");
            }
            ExprKind::Generic(node) => self.generic(node),
            ExprKind::Block(literal) => self.block_literal(literal),
            ExprKind::StatementExpr(block) => {
                self.push("(");
                self.inner_block(block);
                self.push(")");
            }
            ExprKind::Error => self.push("<error>"),
        }
    }

    fn offsetof(&mut self, node: &OffsetofExpr) {
        let OffsetofExpr { ty, member } = node;
        self.push("__builtin_offsetof(");
        self.type_name(ty);
        self.push(", ");
        for (i, designator) in member.iter().enumerate() {
            match designator {
                Designator::Member(name) if i == 0 => self.name(name.node),
                designator => self.designator(designator),
            }
        }
        self.push(")");
    }

    fn generic(&mut self, node: &GenericExpr) {
        let GenericExpr { control, associations } = node;
        self.push("_Generic(");
        self.element(control);
        for association in *associations {
            self.push(", ");
            match &association.ty {
                Some(ty) => self.type_name(ty),
                None => self.push("default"),
            }
            self.push(": ");
            self.element(&association.value);
        }
        self.push(")");
    }

    fn spaced(&mut self, text: &str) {
        self.push(" ");
        self.push(text);
        self.push(" ");
    }

    fn member_of(&mut self, base: &Expr, mark: &str, name: &Ident) {
        self.operand(base);
        self.push(mark);
        self.name(name.node);
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) {
        let (before, behind) = match op {
            UnaryOp::PreIncrement => ("++", ""),
            UnaryOp::PreDecrement => ("--", ""),
            UnaryOp::PostIncrement => ("", "++"),
            UnaryOp::PostDecrement => ("", "--"),
            UnaryOp::AddressOf => ("&", ""),
            UnaryOp::Dereference => ("*", ""),
            UnaryOp::Plus => ("+", ""),
            UnaryOp::Minus => ("-", ""),
            UnaryOp::BitNot => ("~", ""),
            UnaryOp::LogicalNot => ("!", ""),
        };
        self.push(before);
        self.operand(operand);
        self.push(behind);
    }

    fn conditional(&mut self, condition: &Expr, then: Option<&Expr>, otherwise: &Expr) {
        self.operand(condition);
        match then {
            Some(then) => {
                self.push(" ? ");
                self.operand(then);
                self.push(" : ");
            }
            None => self.push(" ?: "),
        }
        self.operand(otherwise);
    }

    /// Prints the arguments of an attribute or a builtin.
    pub(super) fn arguments(&mut self, arguments: &[Argument]) {
        self.list(arguments, ", ", |p, argument| match argument {
            Argument::Expr(expr) => p.element(expr),
            Argument::Type(ty) => p.type_name(ty),
        });
    }

    fn comma(&mut self, left: &Expr, right: &Expr) {
        match left.kind {
            ExprKind::Comma(_) => self.expression(left),
            _ => self.operand(left),
        }
        self.push(", ");
        self.operand(right);
    }

    /// Marks the extent of a vector literal with parentheses.
    fn cast(&mut self, ty: &TypeName, operand: &Expr) {
        self.enclosed("(", ty);
        match operand.kind {
            ExprKind::Index(_)
            | ExprKind::Call(_)
            | ExprKind::Member(_)
            | ExprKind::Arrow(_)
            | ExprKind::Unary(_) => {
                self.push("(");
                self.expression(operand);
                self.push(")");
            }
            _ => self.operand(operand),
        }
    }

    fn query(&mut self, word: &str, operand: &Expr) {
        self.push(word);
        self.operand(operand);
    }

    fn enclosed(&mut self, before: &str, ty: &TypeName) {
        self.push(before);
        self.type_name(ty);
        self.push(")");
    }

    fn block_literal(&mut self, literal: &BlockLiteral) {
        self.push("^");
        if let Some(result) = &literal.result {
            self.type_name(result);
        }
        if let Some(parameters) = &literal.parameters {
            self.parameters(parameters);
            self.push(" ");
        }
        self.inner_block(&literal.body);
    }

    /// Prints a block in an expression, which is indented further than the statement.
    fn inner_block(&mut self, block: &Block) {
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
    }

    pub(super) fn strings(&mut self, strings: &[Ident]) {
        self.list(strings, " ", |p, text| p.name(text.node));
    }
}
