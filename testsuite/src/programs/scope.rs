//! The names that are in scope at a statement.

use super::types::Ty;

/// The address space of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Private,
    Local,
    Global,
    Constant,
    /// Any space except constant; declared without a qualifier.
    Generic,
}

impl Space {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Local => "local",
            Self::Global => "global",
            Self::Constant => "constant",
            Self::Generic => "",
        }
    }

    /// Whether a pointer to this space may point to an object there.
    pub(super) fn has(self, other: Self) -> bool {
        self == other || self == Self::Generic && other != Self::Constant
    }
}

/// Readable objects, which may be writable.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// A postfix expression.
    pub(super) text: String,
    pub(super) ty: Ty,
    pub(super) space: Space,
    /// The number of elements, if it must be indexed.
    pub(super) length: Option<usize>,
    pub(super) is_writable: bool,
    /// Whether it is a pointer that can be reassigned.
    pub(super) is_pointer: bool,
    /// Whether `&` is allowed: a pointer's target must outlive the pointer.
    pub(super) has_address: bool,
}

/// A variable of structure type.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) number: usize,
    pub(super) space: Space,
    /// Whether `&` is allowed, and the address is aligned for the type.
    pub(super) has_address: bool,
}

/// The scopes, innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    places: Vec<Place>,
    structs: Vec<Whole>,
    marks: Vec<(usize, usize)>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.marks.push((self.places.len(), self.structs.len()));
    }

    pub(super) fn close(&mut self) {
        let (places, structs) = self.marks.pop().unwrap_or_default();
        self.places.truncate(places);
        self.structs.truncate(structs);
    }

    pub(super) fn add(&mut self, place: Place) {
        self.places.push(place);
    }

    pub(super) fn add_struct(&mut self, whole: Whole) {
        self.structs.push(whole);
    }

    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The objects that satisfy a predicate.
    pub(super) fn places_that(&self, are: impl Fn(&Place) -> bool) -> Vec<Place> {
        self.places.iter().filter(|place| are(place)).cloned().collect()
    }

    pub(super) fn structs(&self) -> &[Whole] {
        &self.structs
    }
}
