//! Prints the HIR, for `--emit=hir` and tests.
//!
//! Objects are `@number`, locals `%number`; declarations include the name. An expression is printed as
//! `(operation:type operands)`, a constant as `value:type`, a load as the lvalue that it reads.

use std::{cell::RefCell, fmt::Write};

use kiln_syntax::{Interner, Span};
use kiln_types::{
    index::Id,
    ty::{QualTy, TyId},
};
use kiln_vocabulary::opencl::{FenceFlags, Order, Scope};

use super::{
    Atomic, Barrier, BinaryOp, Case, CompareOp, Conditional, Const, Expr, ExprKind, Fence, Function, If,
    Image, Known, Local, LocalId, LogicalOp, Loop, Lvalue, LvalueKind, Module, Printf, Rounding, Stmt,
    StmtKind, UnaryOp, UpdateResult,
};

/// Formats a source position. `None` for code without one.
pub type Positions<'p> = &'p dyn Fn(Span) -> Option<String>;

/// Prints a program. With `positions`, a comment above each statement contains its position, if it differs from the one
/// before.
pub fn print(module: &Module, interner: &Interner, positions: Option<Positions<'_>>) -> String {
    let (out, position) = (String::new(), RefCell::default());
    let mut printer = Printer { module, interner, positions, position: &position, out, depth: 0 };
    for (id, global) in module.globals.entries() {
        let name = global.name.map_or("", |name| interner.text(name));
        let ty = printer.ty(global.ty);
        printer.line(&format!("global @{} {name}: {ty}{}", id.index(), Printer::image(global.init.as_ref())));
    }
    for (id, function) in module.functions.entries() {
        printer.function(id.index(), function);
    }
    printer.out
}

struct Printer<'m> {
    module: &'m Module,
    interner: &'m Interner,
    positions: Option<Positions<'m>>,
    /// The position of the last statement that has one.
    position: &'m RefCell<String>,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.depth * 2);
    }

    fn ty(&self, ty: impl Into<QualTy>) -> String {
        let ty = ty.into();
        self.module.types.show(ty, self.interner)
    }

    fn image(image: Option<&Image>) -> String {
        let Some(image) = image else { return String::new() };
        let mut text = " = ".to_owned();
        for byte in &image.bytes {
            let _ = write!(text, "{byte:02x}");
        }
        for relocation in &image.relocations {
            let (offset, target, addend) = (relocation.offset, relocation.target.index(), relocation.addend);
            let _ = write!(text, " [{offset}]=@{target}{addend:+}");
        }
        text
    }

    fn function(&mut self, id: usize, function: &Function) {
        let word = if function.kernel.is_some() { "kernel" } else { "function" };
        let parameters: Vec<_> =
            function.parameters.iter().map(|&id| self.local(id, &function.locals[id])).collect();
        let name = self.interner.text(function.name);
        let result = self.ty(function.result);
        let mut head = format!("{word} @{id} {name}({}) -> {result}", parameters.join(", "));
        if let Some(kernel) = &function.kernel {
            for (word, size) in [("required_size", kernel.required_size), ("size_hint", kernel.size_hint)] {
                if let Some([x, y, z]) = size {
                    let _ = write!(head, " {word}({x}, {y}, {z})");
                }
            }
            if let Some(ty) = kernel.vec_type_hint {
                let _ = write!(head, " vec_type_hint({})", self.ty(ty));
            }
        }
        let Some(body) = &function.body else { return self.line(&head) };
        self.line(&format!("{head} {{"));
        self.depth += 1;
        for (id, local) in function.locals.entries().skip(function.parameters.len()) {
            let text = self.local(id, local);
            self.line(&text);
        }
        self.stmts(body);
        self.depth -= 1;
        self.line("}");
    }

    fn local(&self, id: LocalId, local: &Local) -> String {
        let name = local.name.map_or("", |name| self.interner.text(name));
        let align = local.align.map_or_else(String::new, |align| format!(" align {align}"));
        format!("%{} {name}: {}{align}", id.index(), self.ty(local.ty))
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.position(stmt.span);
            self.stmt(stmt);
        }
    }

    /// Prints a comment with the position, if it differs from the last one.
    fn position(&mut self, span: Span) {
        let Some(position) = self.positions.and_then(|positions| positions(span)) else { return };
        if *self.position.borrow() != position {
            // Names of files may contain any character.
            let shown: String = position.chars().filter(|c| !c.is_control()).collect();
            self.line(&format!("// {shown}"));
            self.position.replace(position);
        }
    }

    fn block(&mut self, head: &str, body: &[Stmt], tail: &str) {
        self.line(&format!("{head}{{"));
        self.depth += 1;
        self.stmts(body);
        self.depth -= 1;
        self.line(&format!("}}{tail}"));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(local) => self.line(&format!("declare %{}", local.index())),
            StmtKind::Expr(value) => {
                let text = self.expr(value);
                self.line(&text);
            }
            StmtKind::Block(body) => self.block("", body, ""),
            StmtKind::If(branch) => {
                let If { condition, then, otherwise } = &**branch;
                let condition = self.expr(condition);
                self.block(
                    &format!("if {condition} "),
                    then,
                    if otherwise.is_empty() { "" } else { " else {" },
                );
                if !otherwise.is_empty() {
                    self.depth += 1;
                    self.stmts(otherwise);
                    self.depth -= 1;
                    self.line("}");
                }
            }
            StmtKind::Loop(node) => {
                let Loop { test_first, condition, step, body, hints } = &**node;
                let mut head = if *test_first { "while".to_owned() } else { "do-while".to_owned() };
                let _ = match condition {
                    Some(condition) => write!(head, " {}", self.expr(condition)),
                    None => write!(head, " true"),
                };
                if let Some(step) = step {
                    let _ = write!(head, " step {}", self.expr(step));
                }
                if let Some(unroll) = hints.unroll {
                    let _ = write!(head, " unroll {unroll}");
                }
                self.block(&format!("{head} "), body, "");
            }
            StmtKind::Switch(switch) => {
                let value = self.expr(&switch.value);
                self.block(&format!("switch {value} "), &switch.body, "");
            }
            StmtKind::Case(case) => {
                let Case { low, high } = **case;
                self.line(&if low == high {
                    format!("case {low}")
                } else {
                    format!("case {low} ... {high}")
                });
            }
            StmtKind::Default => self.line("default"),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(value)) => {
                let value = self.expr(value);
                self.line(&format!("return {value}"));
            }
            StmtKind::Label(name) => self.line(&format!("label {}", self.interner.text(*name))),
            StmtKind::Goto(name) => self.line(&format!("goto {}", self.interner.text(*name))),
        }
    }

    fn lvalue(&self, lvalue: &Lvalue) -> String {
        match &lvalue.kind {
            LvalueKind::Local(local) => format!("%{}", local.index()),
            LvalueKind::Global(global) => format!("@{}", global.index()),
            LvalueKind::Deref(pointer) => format!("*{}", self.expr(pointer)),
            LvalueKind::Field(field) => format!("{}.{}", self.lvalue(&field.base), field.offset),
            LvalueKind::Element(element) => {
                format!("{}[{}]", self.lvalue(&element.base), self.expr(&element.index))
            }
            LvalueKind::Swizzle(node) => format!("{}.{}", self.lvalue(&node.base), swizzle(&node.components)),
            LvalueKind::Temporary(value) => self.expr(value),
        }
    }

    /// `(operation:type operands)`
    fn list(&self, operation: &str, ty: TyId, operands: &[&Expr]) -> String {
        let mut text = format!("({operation}:{}", self.ty(ty));
        for operand in operands {
            let _ = write!(text, " {}", self.expr(operand));
        }
        text.push(')');
        text
    }

    fn expr(&self, expr: &Expr) -> String {
        let ty = expr.ty;
        match &expr.kind {
            ExprKind::Const(value) => format!("{}:{}", constant(value, self.is_signed(ty)), self.ty(ty)),
            ExprKind::Load(lvalue) => self.lvalue(lvalue),
            ExprKind::AddressOf(lvalue) => format!("&{}", self.lvalue(lvalue)),
            ExprKind::Unary(op, operand) => self.list(unary(*op), ty, &[operand]),
            ExprKind::Exact(inner) => format!("(exact {})", self.expr(inner)),
            ExprKind::Binary(op, operands) => {
                let [left, right] = &**operands;
                self.list(binary(*op), ty, &[left, right])
            }
            ExprKind::Compare(op, operands) => {
                let [left, right] = &**operands;
                self.list(compare(*op), ty, &[left, right])
            }
            ExprKind::LogicalNot(operand) => self.list("not", ty, &[operand]),
            ExprKind::Logical(op, operands) => {
                let [left, right] = &**operands;
                self.list(logical(*op), ty, &[left, right])
            }
            ExprKind::VectorLogical(op, operands) => {
                let [left, right] = &**operands;
                self.list(&format!("vector-{}", logical(*op)), ty, &[left, right])
            }
            ExprKind::Conditional(parts) => {
                let Conditional { condition, then, otherwise } = &**parts;
                self.list("if", ty, &[condition, then, otherwise])
            }
            ExprKind::VectorSelect(parts) => {
                let Conditional { condition, then, otherwise } = &**parts;
                self.list("select", ty, &[condition, then, otherwise])
            }
            ExprKind::Convert(how, operand) => {
                let mut word = "convert".to_owned();
                if how.saturate {
                    word.push_str("-sat");
                }
                word.push_str(match how.rounding {
                    None => "",
                    Some(Rounding::ToEven) => "-rte",
                    Some(Rounding::ToZero) => "-rtz",
                    Some(Rounding::ToPositive) => "-rtp",
                    Some(Rounding::ToNegative) => "-rtn",
                });
                self.list(&word, ty, &[operand])
            }
            ExprKind::Bitcast(operand) => self.list("as", ty, &[operand]),
            ExprKind::PointerCast(operand) => self.list("pointer-cast", ty, &[operand]),
            ExprKind::PointerToInt(operand) => self.list("pointer-to-int", ty, &[operand]),
            ExprKind::IntToPointer(operand) => self.list("int-to-pointer", ty, &[operand]),
            ExprKind::Splat(operand) => self.list("splat", ty, &[operand]),
            ExprKind::Vector(parts) => self.list("vector", ty, &parts.iter().collect::<Vec<_>>()),
            ExprKind::Swizzle(node) => format!("{}.{}", self.expr(&node.base), swizzle(&node.components)),
            ExprKind::Offset(offset) => self.list("offset", ty, &[&offset.pointer, &offset.index]),
            ExprKind::Difference { left, right } => self.list("difference", ty, &[left, right]),
            ExprKind::Assign(assign) => {
                format!("{} = {}", self.lvalue(&assign.lvalue), self.expr(&assign.value))
            }
            ExprKind::Update(update) => {
                let word = match update.result {
                    UpdateResult::Old => "update-old",
                    UpdateResult::New => "update",
                };
                format!("({word} {} {})", self.lvalue(&update.lvalue), self.expr(&update.new))
            }
            ExprKind::Current => "current".to_owned(),
            ExprKind::Comma(left, right) => format!("({}, {})", self.expr(left), self.expr(right)),
            ExprKind::Statements(parts) => {
                let (stmts, value) = &**parts;
                let mut inner = Printer { out: String::new(), depth: self.depth + 1, ..*self };
                inner.stmts(stmts);
                let end = "  ".repeat(inner.depth);
                format!("({{\n{}{end}{}\n{}}})", inner.out, self.expr(value), "  ".repeat(self.depth))
            }
            ExprKind::Call { function, arguments } => {
                self.list(&format!("call @{}", function.index()), ty, &arguments.iter().collect::<Vec<_>>())
            }
            ExprKind::Builtin { builtin, arguments } => {
                self.list(&format!("builtin {builtin}"), ty, &arguments.iter().collect::<Vec<_>>())
            }
            ExprKind::Atomic(atomic) => self.atomic(atomic, ty),
            ExprKind::Fence(fence) => {
                let Fence { flags, order, scope } = &**fence;
                format!("(fence {} {} {})", self.flags(flags), self.order(order), self.scope(scope))
            }
            ExprKind::Barrier(barrier) => {
                let Barrier { execution, flags, scope } = &**barrier;
                format!("(barrier {} {} {})", execution.spelling(), self.flags(flags), self.scope(scope))
            }
            ExprKind::Printf(printf) => {
                let Printf { format, arguments } = &**printf;
                let text = String::from_utf8_lossy(format);
                self.list(&format!("printf {text:?}"), ty, &arguments.iter().collect::<Vec<_>>())
            }
            ExprKind::Trap { message } => format!("(trap {:?})", String::from_utf8_lossy(message)),
            ExprKind::Block { function, captures } => {
                self.list(&format!("block @{}", function.index()), ty, &captures.iter().collect::<Vec<_>>())
            }
            ExprKind::Aggregate(parts) => {
                let parts: Vec<_> =
                    parts.iter().map(|(offset, part)| format!("[{offset}] {}", self.expr(part))).collect();
                format!("{{{}}}:{}", parts.join(", "), self.ty(ty))
            }
        }
    }

    fn atomic(&self, atomic: &Atomic, ty: TyId) -> String {
        let op =
            if atomic.is_legacy { format!("legacy {:?}", atomic.op) } else { format!("{:?}", atomic.op) };
        let mut text = format!("(atomic {op}:{} {}", self.ty(ty), self.expr(&atomic.object));
        for (word, part) in [("operand", &atomic.operand), ("expected", &atomic.expected)] {
            if let Some(part) = part {
                let _ = write!(text, " {word} {}", self.expr(part));
            }
        }
        let _ = write!(text, " {}", self.order(&atomic.order));
        if let Some(failure) = &atomic.failure {
            let _ = write!(text, " failure {}", self.order(failure));
        }
        let _ = write!(text, " {})", self.scope(&atomic.scope));
        text
    }

    fn known<T>(&self, value: &Known<T>, show: impl Fn(&T) -> String) -> String {
        match value {
            Known::Constant(value) => show(value),
            Known::Dynamic(expr) => format!("dynamic {}", self.expr(expr)),
        }
    }

    fn order(&self, order: &Known<Order>) -> String {
        self.known(order, |order| order.spelling().to_owned())
    }

    fn scope(&self, scope: &Known<Scope>) -> String {
        self.known(scope, |scope| scope.spelling().to_owned())
    }

    fn flags(&self, flags: &Known<FenceFlags>) -> String {
        self.known(flags, |flags| format!("({flags})"))
    }

    fn is_signed(&self, ty: TyId) -> bool {
        self.module.types.components(ty).is_none_or(|(scalar, _)| scalar.is_signed())
    }
}

fn constant(value: &Const, is_signed: bool) -> String {
    match value {
        Const::Int(bits) if is_signed => (*bits as i64).to_string(),
        Const::Int(bits) => bits.to_string(),
        Const::Float(value) => format!("{value:?}"),
        Const::Vector(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| constant(part, is_signed)).collect();
            format!("({})", parts.join(", "))
        }
        Const::NullPointer => "null".to_owned(),
        Const::Zero => "zero".to_owned(),
        Const::Undefined => "undefined".to_owned(),
    }
}

/// Prints components in OpenCL C's notation.
fn swizzle(components: &[u8]) -> String {
    let digits = components.iter().filter_map(|&component| char::from_digit(u32::from(component), 16));
    std::iter::once('s').chain(digits).collect()
}

const fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "neg",
        UnaryOp::BitNot => "bitnot",
    }
}

const fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "sub",
        BinaryOp::Multiply => "mul",
        BinaryOp::Divide => "div",
        BinaryOp::Remainder => "rem",
        BinaryOp::ShiftLeft => "shl",
        BinaryOp::ShiftRight => "shr",
        BinaryOp::BitAnd => "bitand",
        BinaryOp::BitXor => "bitxor",
        BinaryOp::BitOr => "bitor",
    }
}

const fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Less => "lt",
        CompareOp::LessEqual => "le",
        CompareOp::Greater => "gt",
        CompareOp::GreaterEqual => "ge",
        CompareOp::Equal => "eq",
        CompareOp::NotEqual => "ne",
    }
}

const fn logical(op: LogicalOp) -> &'static str {
    match op {
        LogicalOp::And => "and",
        LogicalOp::Or => "or",
    }
}
