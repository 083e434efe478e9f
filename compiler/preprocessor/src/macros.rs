//! Macro definitions, and the table of defined macros.

use std::rc::Rc;

use kiln_syntax::{Span, Symbol, token::Punct};

use super::{
    predefined,
    token::{Flags, Kind, Tok},
};

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Symbol,
    /// The span of its name in the definition.
    pub(super) definition: Span,
    pub(super) kind: MacroKind,
    /// The replacement list, with parameters and operators resolved.
    pub(super) body: Vec<Tok>,
    /// The indices of tokens in the body that are not simply copied.
    pub(super) special: Vec<u32>,
    /// Whether the body contains `#`, `##` or `__VA_OPT__`.
    pub(super) has_operators: bool,
}

/// The kind of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MacroKind {
    Object,
    Function(Parameters),
    /// A macro whose replacement depends on its position (C99 6.10.8).
    Dynamic(Dynamic),
}

/// The parameters of a function-like macro.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Their names. `...` is `__VA_ARGS__`, unless it has its own name (GNU).
    pub(super) names: Vec<Symbol>,
    /// Whether the last parameter takes the remaining arguments.
    pub(super) variadic: bool,
}

/// Macros whose replacement depends on their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamic {
    Line,
    File,
    Counter,
    IncludeLevel,
    /// The main source file.
    BaseFile,
    /// A fixed text.
    Text(&'static str),
}

impl Macro {
    /// Creates a macro with this replacement list.
    pub(super) fn new(name: Symbol, definition: Span, kind: MacroKind, body: Vec<Tok>) -> Self {
        let mut made = Self { name, definition, kind, body, special: Vec::new(), has_operators: false };
        for at in 0..made.body.len() {
            match made.body[at].kind {
                Kind::Parameter(index) if made.is_pasted(at) => made.body[at].kind = Kind::Operand(index),
                Kind::Parameter(_) => {}
                Kind::Stringize(_) | Kind::Paste | Kind::Optional(_) => made.has_operators = true,
                _ if made.follows_operator(at) => {}
                _ => continue,
            }
            made.special.push(at as u32);
        }
        made
    }

    /// The span of the body in its source file.
    pub(super) fn body_span(&self) -> Span {
        match (self.body.first(), self.body.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => self.definition,
        }
    }

    /// C99 6.10.3 paragraphs 1 and 2: whether two definitions are equivalent.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let space = |index: usize, token: &Tok| index != 0 && token.flags.is_spaced();
        let digraph = |token: &Tok| token.flags.has(Flags::DIGRAPH);
        self.kind == other.kind
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).enumerate().all(|(index, (a, b))| {
                a.kind == b.kind && space(index, a) == space(index, b) && digraph(a) == digraph(b)
            })
    }

    /// The variadic parameter, if the `##` at this index of the body is between `,` and that parameter.
    pub(super) fn rest_after_comma(&self, at: usize) -> Option<usize> {
        let MacroKind::Function(parameters) = &self.kind else { return None };
        let is_paste = self.body.get(at)?.kind == Kind::Paste;
        let comma = self.body.get(at.checked_sub(1)?)?.is(Punct::Comma);
        let Kind::Parameter(index) = self.body.get(at + 1)?.kind else { return None };
        let index = usize::from(index);
        (is_paste && comma && parameters.variadic && index + 1 == parameters.names.len()).then_some(index)
    }

    /// Whether the parameter at this index is an operand of `##`.
    fn is_pasted(&self, at: usize) -> bool {
        let is_paste = |at: usize| self.body.get(at).is_some_and(|token| token.kind == Kind::Paste);
        let before = at.checked_sub(1);
        (before.is_some_and(is_paste) || is_paste(at + 1))
            && before.is_none_or(|before| self.rest_after_comma(before).is_none())
    }

    fn follows_operator(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.body[before].kind);
        matches!(before, Some(Kind::Paste | Kind::Optional(_)))
    }
}

/// The definition of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A macro, by index in this table.
    Defined(u32),
    /// A predefined macro that has not been used yet.
    Predefined(predefined::Row),
}

/// The defined macros, by symbol.
#[derive(Default)]
pub(super) struct Macros {
    slots: Vec<Option<Entry>>,
    macros: Vec<Rc<Macro>>,
    /// The definitions that `#pragma push_macro` has saved, the last one at the end.
    saved: Vec<(Symbol, Option<Entry>)>,
}

impl Macros {
    pub(super) fn entry(&self, name: Symbol) -> Option<Entry> {
        self.slots.get(name.index()).copied().flatten()
    }

    pub(super) fn is_defined(&self, name: Symbol) -> bool {
        self.entry(name).is_some()
    }

    pub(super) fn get(&self, index: u32) -> Rc<Macro> {
        self.macros[index as usize].clone()
    }

    pub(super) fn define(&mut self, definition: Macro) -> u32 {
        let index = self.macros.len() as u32;
        self.set(definition.name, Some(Entry::Defined(index)));
        self.macros.push(Rc::new(definition));
        index
    }

    pub(super) fn predefine(&mut self, name: Symbol, row: predefined::Row) {
        self.set(name, Some(Entry::Predefined(row)));
    }

    pub(super) fn undefine(&mut self, name: Symbol) {
        self.set(name, None);
    }

    /// `#pragma push_macro`
    pub(super) fn save(&mut self, name: Symbol) {
        self.saved.push((name, self.entry(name)));
    }

    /// `#pragma pop_macro`. Without a saved definition, it has no effect.
    pub(super) fn restore(&mut self, name: Symbol) {
        if let Some(last) = self.saved.iter().rposition(|(saved, _)| *saved == name) {
            let (_, entry) = self.saved.remove(last);
            self.set(name, entry);
        }
    }

    fn set(&mut self, name: Symbol, entry: Option<Entry>) {
        if self.slots.len() <= name.index() {
            self.slots.resize(name.index() + 1, None);
        }
        self.slots[name.index()] = entry;
    }
}
