//! State that grammar actions and the adaptor share during parsing.

use std::cell::{Cell, OnceCell, RefCell};

use super::{
    layout::{Layout, Line},
    nesting::Nesting,
    scopes::{Checkpoint, NameKind, Scopes},
};
use crate::{
    arena::Arena,
    ast::{Item, Qualifier},
    predeclared::{self, VECTOR_ATTRIBUTES},
    span::Span,
    symbol::Symbol,
    token::{Keyword, Token},
};

/// The shared state. It has interior mutability, because the adaptor and every grammar action borrow it.
pub(crate) struct State<'t, 'a> {
    /// The prepared input.
    pub(super) tokens: &'t [Token],
    /// Owns the tree.
    pub(crate) arena: &'a Arena,
    /// The visible type names.
    pub(super) scopes: RefCell<Scopes>,
    /// The nesting depth of the input.
    pub(super) nesting: RefCell<Nesting>,
    /// Complete top-level items.
    pub(super) items: RefCell<Vec<Item<'a>>>,
    /// The start of the next item.
    pub(super) boundary: Cell<Boundary>,
    /// The starts of the complete items.
    pub(super) past: RefCell<Vec<Boundary>>,
    /// The indentation of lines.
    layout: &'t dyn Layout,
    /// The lines of the tokens. Computed on demand.
    lines: OnceCell<Vec<Option<Line>>>,
    /// The position of the parser's lookahead.
    pub(super) looking_at: Cell<Position>,
    vector_attributes: [Symbol; VECTOR_ATTRIBUTES.len()],
    keywords: [Symbol; Keyword::ALL.len()],
}

/// A position in the edited input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    /// The next token.
    pub(super) token: usize,
    /// The next edit.
    pub(super) edit: usize,
}

/// A position between two items, from which parsing can restart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Boundary {
    /// The start of the next item.
    pub(super) position: Position,
    /// The number of complete items.
    pub(super) items: usize,
    /// The visible declarations.
    pub(super) scopes: Checkpoint,
}

impl<'t, 'a> State<'t, 'a> {
    /// The source text of a token.
    pub(super) fn text(&self, span: Span) -> &str {
        self.layout.text(span)
    }

    /// The state at the start of the input.
    pub(super) fn new(tokens: &'t [Token], arena: &'a Arena, layout: &'t dyn Layout, max_depth: u16) -> Self {
        let mut scopes = Scopes::default();
        // Every interner starts with the keywords and these names, followed by the attributes.
        let mut position = Keyword::ALL.len();
        predeclared::each(|_, vector| {
            let kind = if vector { NameKind::Vector } else { NameKind::Type };
            scopes.predeclare(Symbol::at(position), kind);
            position += 1;
        });
        Self {
            tokens,
            arena,
            scopes: RefCell::new(scopes),
            nesting: RefCell::new(Nesting::new(max_depth)),
            items: RefCell::default(),
            boundary: Cell::default(),
            past: RefCell::default(),
            layout,
            lines: OnceCell::new(),
            looking_at: Cell::default(),
            vector_attributes: std::array::from_fn(|index| Symbol::at(position + index)),
            keywords: std::array::from_fn(Symbol::at),
        }
    }

    /// The line of each token.
    pub(super) fn lines(&self) -> &[Option<Line>] {
        self.lines.get_or_init(|| self.tokens.iter().map(|token| self.layout.line(token.span.lo)).collect())
    }

    /// Opens a scope.
    pub(crate) fn enter(&self) -> Checkpoint {
        self.scopes.borrow().checkpoint()
    }

    /// Closes a scope.
    pub(crate) fn leave(&self, scope: Checkpoint) {
        self.scopes.borrow_mut().restore(scope);
    }

    /// Declares an undeclared name as a type from here on. Returns whether it was undeclared.
    pub(super) fn assume_type(&self, name: Symbol) -> bool {
        let mut scopes = self.scopes.borrow_mut();
        let new = scopes.kind(name) == NameKind::Unknown;
        if new {
            scopes.predeclare(name, NameKind::Type);
        }
        new
    }

    /// The end of the parsed input before the lookahead.
    pub(crate) fn end(&self) -> u32 {
        self.end_before(self.looking_at.get().token)
    }

    /// The end position of the token before this one. For the first token, its start.
    pub(super) fn end_before(&self, token: usize) -> u32 {
        match token.checked_sub(1).and_then(|i| self.tokens.get(i)) {
            Some(before) => before.span.hi,
            None => self.tokens.first().map_or(0, |first| first.span.lo),
        }
    }

    /// Adds a complete top-level item. The next one starts at the lookahead.
    pub(crate) fn finish_item(&self, item: Item<'a>) {
        let mut items = self.items.borrow_mut();
        items.push(item);
        self.past.borrow_mut().push(self.boundary.get());
        self.boundary.set(Boundary {
            position: self.looking_at.get(),
            items: items.len(),
            scopes: self.enter(),
        });
    }

    /// The start of the item after the one with this token. The end of the input if unknown.
    pub(super) fn next_item(&self, token: usize) -> usize {
        let past = self.past.borrow();
        let later = past.get(past.partition_point(|begin| begin.position.token <= token)).copied();
        let next = later.unwrap_or(self.boundary.get()).position.token;
        if next > token { next } else { self.tokens.len() }
    }

    /// Ends an element of a list.
    pub(crate) fn end_element(&self) {
        self.nesting.borrow_mut().end_element();
    }

    /// Whether this attribute makes a vector type.
    pub(crate) fn makes_vector(&self, name: Symbol) -> bool {
        self.vector_attributes.contains(&name)
    }

    /// The name for `_Alignas`, which the tree represents as an attribute.
    pub(crate) fn alignas(&self) -> Symbol {
        self.keywords[Keyword::Alignas as usize]
    }

    /// The spelling of a qualifier.
    pub(crate) fn qualifier_name(&self, qualifier: Qualifier) -> Symbol {
        self.keywords[match qualifier {
            Qualifier::Const => Keyword::Const,
            Qualifier::Volatile => Keyword::Volatile,
            Qualifier::Restrict => Keyword::Restrict,
            Qualifier::Atomic => Keyword::Atomic,
            Qualifier::Global => Keyword::Global,
            Qualifier::Local => Keyword::Local,
            Qualifier::Constant => Keyword::Constant,
            Qualifier::Private => Keyword::Private,
            Qualifier::Generic => Keyword::Generic,
            Qualifier::ReadOnly => Keyword::ReadOnly,
            Qualifier::WriteOnly => Keyword::WriteOnly,
            Qualifier::ReadWrite => Keyword::ReadWrite,
            Qualifier::Pipe => Keyword::Pipe,
        } as usize]
    }
}
