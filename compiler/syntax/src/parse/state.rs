//! What the actions of the grammar and the adaptor of tokens share while a parser runs.

use std::cell::{Cell, OnceCell, RefCell};

use super::{
    layout::{Layout, Line},
    nesting::Nesting,
    scopes::{Moment, NameKind, Scopes},
};
use crate::{
    arena::Arena,
    ast::{Item, Qualifier},
    predeclared::{self, VECTOR_ATTRIBUTES},
    symbol::Symbol,
    token::{Keyword, Token},
};

/// Shared by interior mutability: the parser owns the adaptor and hands this to every action.
pub(crate) struct State<'t, 'a> {
    /// The input, prepared.
    pub(super) tokens: &'t [Token],
    /// Where the tree stands.
    pub(crate) arena: &'a Arena,
    /// Which names are types.
    pub(super) scopes: RefCell<Scopes>,
    /// How deep the input nests.
    pub(super) nesting: RefCell<Nesting>,
    /// Everything at program scope that is complete.
    pub(super) items: RefCell<Vec<Item<'a>>>,
    /// Where the next item begins.
    pub(super) boundary: Cell<Boundary>,
    /// Where the complete items began.
    pub(super) past: RefCell<Vec<Boundary>>,
    /// Where lines begin.
    layout: &'t dyn Layout,
    /// The lines of the tokens, once somebody asks.
    lines: OnceCell<Vec<Option<Line>>>,
    /// What the parser looks at.
    pub(super) looking_at: Cell<Place>,
    vector_attributes: [Symbol; VECTOR_ATTRIBUTES.len()],
    keywords: [Symbol; Keyword::ALL.len()],
}

/// A place in the edited input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// The next token.
    pub(super) token: usize,
    /// The next edit.
    pub(super) edit: usize,
}

/// A place between two items, from where parsing can start again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Boundary {
    /// Where the next item begins.
    pub(super) place: Place,
    /// How many items are complete.
    pub(super) items: usize,
    /// The declarations in force.
    pub(super) scopes: Moment,
}

impl<'t, 'a> State<'t, 'a> {
    /// At the beginning of the input.
    pub(super) fn new(tokens: &'t [Token], arena: &'a Arena, layout: &'t dyn Layout, max_depth: u16) -> Self {
        let mut scopes = Scopes::default();
        // Every interner begins with the keywords and these names, and then has the attributes.
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
    pub(crate) fn enter(&self) -> Moment {
        self.scopes.borrow().moment()
    }

    /// Closes the scope that opened then.
    pub(crate) fn leave(&self, scope: Moment) {
        self.scopes.borrow_mut().back_to(scope);
    }

    /// From here on the name is a type wherever nothing declares it. Whether that is new.
    pub(super) fn assume_type(&self, name: Symbol) -> bool {
        let mut scopes = self.scopes.borrow_mut();
        let new = scopes.kind(name) == NameKind::Unknown;
        if new {
            scopes.predeclare(name, NameKind::Type);
        }
        new
    }

    /// The end of what is read when the parser looks at the next token.
    pub(crate) fn end(&self) -> u32 {
        self.end_before(self.looking_at.get().token)
    }

    /// The position behind the token before this one, or that of the first.
    pub(super) fn end_before(&self, token: usize) -> u32 {
        match token.checked_sub(1).and_then(|i| self.tokens.get(i)) {
            Some(before) => before.span.hi,
            None => self.tokens.first().map_or(0, |first| first.span.lo),
        }
    }

    /// Takes an item at program scope that is complete. The next begins at the token that the parser looks at.
    pub(crate) fn finish_item(&self, item: Item<'a>) {
        let mut items = self.items.borrow_mut();
        items.push(item);
        self.past.borrow_mut().push(self.boundary.get());
        self.boundary.set(Boundary {
            place: self.looking_at.get(),
            items: items.len(),
            scopes: self.enter(),
        });
    }

    /// Where the item begins that follows the one with this token; the end of the input if none is known.
    pub(super) fn next_item(&self, token: usize) -> usize {
        let past = self.past.borrow();
        let later = past.get(past.partition_point(|begin| begin.place.token <= token)).copied();
        let next = later.unwrap_or(self.boundary.get()).place.token;
        if next > token { next } else { self.tokens.len() }
    }

    /// An element of a list has ended.
    pub(crate) fn end_element(&self) {
        self.nesting.borrow_mut().end_element();
    }

    /// Whether the attribute of this name makes a vector.
    pub(crate) fn makes_vector(&self, name: Symbol) -> bool {
        self.vector_attributes.contains(&name)
    }

    /// `_Alignas`, which the tree has as an attribute of this name.
    pub(crate) fn alignas(&self) -> Symbol {
        self.keywords[Keyword::Alignas as usize]
    }

    /// The spelling of a qualifier where only its name counts.
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
            Qualifier::Uniform => Keyword::Uniform,
            Qualifier::Pipe => Keyword::Pipe,
        } as usize]
    }
}
