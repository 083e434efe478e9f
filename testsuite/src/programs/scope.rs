//! What can be named where a statement stands.

use super::types::Ty;

/// Where an object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Private,
    Local,
    Global,
    Constant,
    /// Any but constant memory: nothing is said in a declaration.
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

    /// Whether a pointer to this space may point to what lies there.
    pub(super) fn has(self, other: Self) -> bool {
        self == other || self == Self::Generic && other != Self::Constant
    }
}

/// Objects that can be read, and perhaps written.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// An expression of postfix form.
    pub(super) text: String,
    pub(super) ty: Ty,
    pub(super) space: Space,
    /// How many elements it has, if it is indexed.
    pub(super) length: Option<usize>,
    pub(super) is_writable: bool,
    /// Whether it is a pointer that can be set to other elements.
    pub(super) is_pointer: bool,
    /// `&` of it is allowed: no pointer's target may end before the pointer.
    pub(super) has_address: bool,
}

/// A variable of structure type.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) number: usize,
    pub(super) space: Space,
    /// `&` of it is allowed, and it is where its type's alignment says.
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

    /// Those of which this is true.
    pub(super) fn places_that(&self, are: impl Fn(&Place) -> bool) -> Vec<Place> {
        self.places.iter().filter(|place| are(place)).cloned().collect()
    }

    pub(super) fn structs(&self) -> &[Whole] {
        &self.structs
    }
}
