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
pub(super) struct Object {
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
    objects: Vec<Object>,
    structs: Vec<Whole>,
    marks: Vec<(usize, usize)>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.marks.push((self.objects.len(), self.structs.len()));
    }

    pub(super) fn close(&mut self) {
        let (objects, structs) = self.marks.pop().unwrap_or_default();
        self.objects.truncate(objects);
        self.structs.truncate(structs);
    }

    pub(super) fn add(&mut self, object: Object) {
        self.objects.push(object);
    }

    pub(super) fn add_struct(&mut self, whole: Whole) {
        self.structs.push(whole);
    }

    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The objects that satisfy a predicate.
    pub(super) fn objects_that(&self, are: impl Fn(&Object) -> bool) -> Vec<Object> {
        self.objects.iter().filter(|object| are(object)).cloned().collect()
    }

    pub(super) fn structs(&self) -> &[Whole] {
        &self.structs
    }
}
