//! Walks the syntax tree: items, declarations and statements, in preorder. Expressions are found through their types
//! instead.

use kiln_syntax::{
    Span,
    ast::{
        Block, BlockItem, Declaration, ForInit, FunctionDefinition, Item, Statement, StatementKind,
        TranslationUnit,
    },
};

/// A node of the tree.
#[derive(Clone, Copy)]
pub(crate) enum Node<'t> {
    /// A function with its body.
    Function(&'t FunctionDefinition<'t>),
    /// A declaration at any scope.
    Declaration(&'t Declaration<'t>),
    /// A statement.
    Statement(&'t Statement<'t>),
    /// The braces of a function body or of a compound statement.
    Block(&'t Block<'t>),
}

impl Node<'_> {
    /// The span of the whole node.
    pub(crate) fn span(self) -> Span {
        match self {
            Node::Function(function) => Span::new(start(function), function.body.span.hi),
            Node::Declaration(declaration) => declaration.span,
            Node::Statement(statement) => statement.span,
            Node::Block(block) => block.span,
        }
    }
}

fn start(function: &FunctionDefinition) -> u32 {
    let specifiers = function.specifiers.span;
    if specifiers == Span::default() { function.declarator.span.lo } else { specifiers.lo }
}

/// Calls `visit` for every node.
pub(crate) fn walk<'t>(unit: TranslationUnit<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    for item in unit.items {
        match item {
            Item::Function(function) => walk_function(function, visit),
            Item::Declaration(declaration) => visit(Node::Declaration(declaration)),
            Item::Pragma(_) | Item::StaticAssert(_) | Item::Empty(_) | Item::Asm(_) | Item::Error(_) => {}
        }
    }
}

fn walk_function<'t>(function: &'t FunctionDefinition<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    visit(Node::Function(function));
    walk_block(&function.body, visit);
}

fn walk_block<'t>(block: &'t Block<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    visit(Node::Block(block));
    for item in block.items {
        match item {
            BlockItem::Declaration(declaration) => visit(Node::Declaration(declaration)),
            BlockItem::Statement(statement) => walk_statement(statement, visit),
            BlockItem::Function(function) => walk_function(function, visit),
            BlockItem::Pragma(_) | BlockItem::StaticAssert(_) => {}
        }
    }
}

fn walk_statement<'t>(statement: &'t Statement<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    visit(Node::Statement(statement));
    match &statement.kind {
        StatementKind::Block(block) => walk_block(block, visit),
        StatementKind::If { then, otherwise, .. } => {
            walk_statement(then, visit);
            if let Some(otherwise) = otherwise {
                walk_statement(otherwise, visit);
            }
        }
        StatementKind::For(run) => {
            if let ForInit::Declaration(declaration) = &run.init {
                visit(Node::Declaration(declaration));
            }
            walk_statement(run.body, visit);
        }
        StatementKind::Switch { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::Do { body, .. }
        | StatementKind::Case { body, .. }
        | StatementKind::Default { body }
        | StatementKind::Label { body, .. } => walk_statement(body, visit),
        StatementKind::Empty
        | StatementKind::Expr(_)
        | StatementKind::Goto(_)
        | StatementKind::Continue
        | StatementKind::Break
        | StatementKind::Return(_)
        | StatementKind::Asm
        | StatementKind::Error => {}
    }
}
