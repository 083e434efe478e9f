//! Declarations of variables, arrays, structures and pointers.

use super::{
    Generator,
    scope::{Place, Space},
    types::{INTEGERS, MemberKind, Struct, Ty},
};

impl Generator {
    /// A variable with its first value.
    pub(super) fn declare_value(&mut self) {
        let ty = Ty::random(&mut self.dice);
        let value = self.stored(ty, 3);
        let name = self.name('v');
        let volatile = if self.dice.one_in(25) { "volatile " } else { "" };
        self.line(format!("{volatile}{} {name} = {value};", ty.name()));
        self.add(name, ty, None, Space::Private, volatile.is_empty());
    }

    /// An array with its first values.
    pub(super) fn declare_array(&mut self) {
        let mut ty = Ty::random(&mut self.dice);
        if self.dice.one_in(2) {
            ty.count = 1;
        }
        let length = *self.dice.pick(&[2, 3, 4, 8, 8, 16]);
        let values: Vec<String> = (0..length).map(|_| self.stored(ty, 1)).collect();
        let name = self.name('a');
        // Elements that are left out are zero.
        let given = if self.dice.one_in(4) { 1 + self.dice.below(length) } else { length };
        self.line(format!("{} {name}[{length}] = {{{}}};", ty.name(), values[..given].join(", ")));
        self.add(name, ty, Some(length), Space::Private, true);
    }

    pub(super) fn add(
        &mut self,
        text: String,
        ty: Ty,
        length: Option<usize>,
        space: Space,
        has_address: bool,
    ) {
        let is_writable = space != Space::Constant;
        self.scopes.add(Place { text, ty, space, length, is_writable, is_pointer: false, has_address });
    }

    /// A variable of a structure type with its first value.
    pub(super) fn declare_struct(&mut self) {
        if self.structs.is_empty() {
            return self.declare_value();
        }
        let number = self.dice.below(self.structs.len());
        let same: Vec<String> = self
            .scopes
            .structs()
            .iter()
            .filter(|whole| whole.number == number)
            .map(|whole| whole.text.clone())
            .collect();
        let value = if !same.is_empty() && self.dice.one_in(3) {
            self.dice.pick(&same).clone()
        } else {
            self.braces(number)
        };
        let name = self.name('s');
        self.line(format!("{} {name} = {value};", self.structs[number].name.clone()));
        self.add_struct(&name, number);
    }

    /// `{…}` for a structure.
    fn braces(&mut self, number: usize) -> String {
        let description = self.structs[number].clone();
        let members = if description.is_union { &description.members[..1] } else { &description.members[..] };
        let values: Vec<String> = members
            .iter()
            .map(|member| match &member.kind {
                MemberKind::Value(ty) => self.stored(*ty, 1),
                MemberKind::Array(ty, length) => {
                    let values: Vec<String> = (0..*length).map(|_| self.stored(*ty, 1)).collect();
                    format!("{{{}}}", values.join(", "))
                }
                MemberKind::Struct(number) => self.braces(*number),
            })
            .collect();
        format!("{{{}}}", values.join(", "))
    }

    /// Makes a structure and its members known.
    pub(super) fn add_struct(&mut self, text: &str, number: usize) {
        self.scopes.add_struct(text.to_owned(), number);
        self.add_members(text, number, true);
    }

    fn add_members(&mut self, text: &str, number: usize, is_aligned: bool) {
        let Struct { members, is_packed, .. } = self.structs[number].clone();
        let has_address = is_aligned && !is_packed;
        for member in members {
            let inside = format!("{text}.{}", member.name);
            match member.kind {
                MemberKind::Value(ty) => self.add(inside, ty, None, Space::Private, has_address),
                MemberKind::Array(ty, length) => {
                    self.add(inside, ty, Some(length), Space::Private, has_address)
                }
                MemberKind::Struct(number) => {
                    self.scopes.add_struct(inside.clone(), number);
                    self.add_members(&inside, number, has_address);
                }
            }
        }
    }

    /// The places that a pointer to so many elements of this type can be set to.
    pub(super) fn targets(&self, space: Space, ty: Ty, length: usize) -> Vec<Place> {
        let places = self.scopes.places().iter();
        places
            .filter(|place| {
                let room = if place.is_writable { place.length.unwrap_or(1) } else { 0 };
                place.space == space && place.ty == ty && room >= length && place.has_address
            })
            .cloned()
            .collect()
    }

    /// An expression that points to so many elements.
    pub(super) fn pointer_to(&mut self, target: &Place, length: usize) -> String {
        match target.length {
            None => format!("&{}", target.text),
            Some(all) => {
                let index = self.index(all - length + 1, 1);
                if self.dice.one_in(2) {
                    format!("&{}[{index}]", target.text)
                } else {
                    format!("{} + ({index})", target.text)
                }
            }
        }
    }

    /// A pointer to something that is there.
    pub(super) fn declare_pointer(&mut self) {
        let places: Vec<Place> = self
            .scopes
            .places()
            .iter()
            .filter(|place| place.is_writable && place.has_address)
            .cloned()
            .collect();
        if places.is_empty() {
            return self.declare_array();
        }
        let Place { ty, space, length, .. } = self.dice.pick(&places).clone();
        let length = 1 + self.dice.below(length.unwrap_or(1));
        let targets = self.targets(space, ty, length);
        let target = self.dice.pick(&targets).clone();
        let value = self.pointer_to(&target, length);
        let name = self.name('p');
        self.line(format!("{} {} *{name} = {value};", space.name(), ty.name()));
        let place = Place {
            text: name,
            ty,
            space,
            length: Some(length),
            is_writable: true,
            is_pointer: true,
            has_address: true,
        };
        self.scopes.add(place);
    }

    /// An array of pointers, read through an index at once.
    pub(super) fn through_array_of_pointers(&mut self) {
        let places: Vec<Place> = self
            .scopes
            .places()
            .iter()
            .filter(|place| place.is_writable && place.has_address && place.space == Space::Private)
            .cloned()
            .collect();
        if places.is_empty() {
            return self.declare_value();
        }
        let ty = self.dice.pick(&places).ty;
        let targets = self.targets(Space::Private, ty, 1);
        let pointers: Vec<String> = (0..2 + self.dice.below(3))
            .map(|_| {
                let target = self.dice.pick(&targets).clone();
                self.pointer_to(&target, 1)
            })
            .collect();
        let name = self.name('q');
        self.line(format!(
            "private {} *{name}[{}] = {{{}}};",
            ty.name(),
            pointers.len(),
            pointers.join(", ")
        ));
        let index = self.index(pointers.len(), 1);
        let value = self.stored(ty, 2);
        self.line(format!("*{name}[{index}] = {value};"));
    }

    /// Bytes of an array of integers, through a pointer of another type.
    pub(super) fn through_other_type(&mut self) {
        let places: Vec<Place> = self
            .scopes
            .places()
            .iter()
            .filter(|place| {
                let whole = place.is_writable && place.has_address && !place.ty.scalar.is_float();
                whole && place.ty.count != 3 && place.length.is_some()
            })
            .cloned()
            .collect();
        if places.is_empty() {
            return self.declare_array();
        }
        let place = self.dice.pick(&places).clone();
        let bytes = place.ty.scalar.bits as usize / 8 * place.ty.count * place.length.unwrap_or(1);
        let narrower: Vec<_> = INTEGERS
            .into_iter()
            .filter(|it| it.bits <= place.ty.scalar.bits * place.ty.count as u32)
            .collect();
        let scalar = *self.dice.pick(&narrower);
        let length = bytes / (scalar.bits as usize / 8);
        let name = self.name('p');
        self.line(format!(
            "{space} {ty} *{name} = ({space} {ty} *)&{}[0];",
            place.text,
            space = place.space.name(),
            ty = scalar.name,
        ));
        let place = Place {
            text: name,
            ty: Ty::of(scalar),
            space: place.space,
            length: Some(length),
            is_writable: true,
            is_pointer: true,
            has_address: true,
        };
        self.scopes.add(place);
    }
}
