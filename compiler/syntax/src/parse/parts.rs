//! Constructs under construction, with lists that still grow. When complete, they are moved to the arena.

// The parser's stack contains boxes, because its elements are moved often.
#![allow(clippy::boxed_local)]

use super::state::State;
use crate::{
    ast::*,
    span::{Span, Spanned},
};

/// Specifiers under construction. The grammar's lists are right-recursive, so they are built in reverse and reversed
/// at the end.
#[derive(Default)]
pub(crate) struct SpecifierParts<'a> {
    storage: Vec<Spanned<Storage>>,
    types: Vec<TypeSpecifier<'a>>,
    qualifiers: Vec<Spanned<Qualifier>>,
    functions: Vec<Spanned<FunctionSpecifier>>,
    attributes: Vec<Attribute<'a>>,
}

/// A specifier other than a type or an attribute.
pub(crate) enum Modifier {
    Storage(Spanned<Storage>),
    Qualifier(Spanned<Qualifier>),
    Function(Spanned<FunctionSpecifier>),
}

impl<'a> SpecifierParts<'a> {
    pub(crate) fn modified(mut self: Box<Self>, modifier: Modifier) -> Box<Self> {
        match modifier {
            Modifier::Storage(storage) => self.storage.push(storage),
            Modifier::Qualifier(qualifier) => self.qualifiers.push(qualifier),
            Modifier::Function(function) => self.functions.push(function),
        }
        self
    }

    pub(crate) fn with_attributes(mut self: Box<Self>, attributes: Vec<Attribute<'a>>) -> Box<Self> {
        self.attributes.extend(attributes.into_iter().rev());
        self
    }

    pub(crate) fn typed(mut self: Box<Self>, ty: Spanned<TypeSpecifierKind<'a>>) -> Box<Self> {
        self.types.push(TypeSpecifier { kind: ty.node, span: ty.span });
        self
    }

    pub(crate) fn in_order(
        mut self: Box<Self>,
        state: &State<'_, 'a>,
        lo: u32,
        hi: u32,
    ) -> &'a Specifiers<'a> {
        self.storage.reverse();
        self.types.reverse();
        self.qualifiers.reverse();
        self.functions.reverse();
        self.attributes.reverse();
        state.arena.node(Specifiers {
            storage: state.arena.list(&self.storage),
            types: state.arena.list(&self.types),
            qualifiers: state.arena.list(&self.qualifiers),
            functions: state.arena.list(&self.functions),
            attributes: state.arena.list(&self.attributes),
            span: Span::new(lo, hi),
        })
    }
}

/// A declarator under construction.
#[derive(Default)]
pub(crate) struct DeclaratorParts<'a> {
    name: Option<Ident>,
    derivations: Vec<Derivation<'a>>,
    attributes: Vec<Attribute<'a>>,
    span: Span,
}

impl<'a> DeclaratorParts<'a> {
    pub(crate) fn named(name: Ident) -> Box<Self> {
        Box::new(Self { name: Some(name), span: name.span, ..Self::default() })
    }

    pub(crate) fn with_derivation(mut self: Box<Self>, derivation: Derivation<'a>) -> Box<Self> {
        self.derivations.push(derivation);
        self
    }

    /// The pointer nearest to the name is applied first.
    pub(crate) fn with_pointers(mut self: Box<Self>, pointers: Vec<Derivation<'a>>) -> Box<Self> {
        self.derivations.extend(pointers.into_iter().rev());
        self
    }

    /// Adds attributes after it.
    pub(crate) fn with_tail(
        mut self: Box<Self>,
        lo: u32,
        attributes: Vec<Attribute<'a>>,
        hi: u32,
    ) -> Box<Self> {
        self.attributes = attributes;
        self.span = Span::new(lo, hi);
        self
    }

    /// Adds attributes before it.
    pub(crate) fn with_attributes(mut self: Box<Self>, mut attributes: Vec<Attribute<'a>>) -> Box<Self> {
        attributes.append(&mut self.attributes);
        self.attributes = attributes;
        self
    }

    pub(crate) fn finish(self: Box<Self>, state: &State<'_, 'a>) -> Declarator<'a> {
        Declarator {
            name: self.name,
            derivations: state.arena.list(&self.derivations),
            attributes: state.arena.list(&self.attributes),
            span: self.span,
        }
    }
}

/// A declaration under construction.
pub(crate) struct DeclarationParts<'a> {
    pub(crate) specifiers: &'a Specifiers<'a>,
    pub(crate) declarators: Vec<InitDeclarator<'a>>,
}

impl<'a> DeclarationParts<'a> {
    pub(crate) fn new(specifiers: &'a Specifiers<'a>) -> Box<Self> {
        Box::new(Self { specifiers, declarators: vec![] })
    }

    /// Sets the initializer of the last declarator.
    pub(crate) fn initialized(mut self: Box<Self>, init: Initializer<'a>) -> Box<Self> {
        if let Some(last) = self.declarators.last_mut() {
            last.init = Some(init);
        }
        self
    }

    pub(crate) fn finish(self: Box<Self>, state: &State<'_, 'a>, lo: u32, hi: u32) -> &'a Declaration<'a> {
        state.arena.node(Declaration {
            specifiers: *self.specifiers,
            declarators: state.arena.list(&self.declarators),
            span: Span::new(lo, hi),
        })
    }
}
