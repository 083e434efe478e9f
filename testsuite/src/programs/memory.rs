//! Declarations of variables, arrays and structures.

use super::{
    Generator,
    scope::{Object, Space, Whole},
    types::{MemberKind, Scalar, Struct, Ty, UINT},
};

impl Generator {
    /// Declares a variable with an initializer.
    pub(super) fn declare_value(&mut self) {
        let ty = self.some_type();
        let value = self.stored(ty, 3);
        let name = self.name('v');
        let volatile = if self.dice.one_in(25) { "volatile " } else { "" };
        self.line(format!("{volatile}{} {name} = {value};", ty.name()));
        self.add(name, ty, None, Space::Private, volatile.is_empty());
    }

    /// Declares an array with initializers.
    pub(super) fn declare_array(&mut self) {
        let mut ty = self.some_type();
        if self.dice.one_in(2) {
            ty.count = 1;
        }
        let length = *self.dice.pick(&[2, 3, 4, 8, 8, 16]);
        let values: Vec<String> = (0..length).map(|_| self.stored(ty, 1)).collect();
        let name = self.name('a');
        // Omitted elements are zero.
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
        self.scopes.add(Object { text, ty, space, length, is_writable, is_pointer: false, has_address });
    }

    /// Declares a constant index below this length.
    fn declare_index(&mut self, length: usize) -> String {
        let value = self.index(length, 2);
        let name = self.name('j');
        self.line(format!("const uint {name} = {value};"));
        let object = Object {
            text: name.clone(),
            ty: Ty::scalar(UINT),
            space: Space::Private,
            length: None,
            is_writable: false,
            is_pointer: false,
            has_address: false,
        };
        self.scopes.add(object);
        name
    }

    /// Declares an array of arrays.
    pub(super) fn declare_rows(&mut self) {
        let mut ty = self.some_type();
        ty.count = ty.count.min(4);
        let (rows, length) = (2 + self.dice.below(2), *self.dice.pick(&[2, 3, 4]));
        let index = self.declare_index(rows);
        let mut values = Vec::new();
        for _ in 0..rows {
            let row: Vec<String> = (0..length).map(|_| self.stored(ty, 1)).collect();
            values.push(format!("{{{}}}", row.join(", ")));
        }
        let name = self.name('a');
        self.line(format!("{} {name}[{rows}][{length}] = {{{}}};", ty.name(), values.join(", ")));
        for row in (0..rows).map(|row| row.to_string()).chain([index]) {
            self.add(format!("{name}[{row}]"), ty, Some(length), Space::Private, true);
        }
    }

    /// Declares an array of structures.
    pub(super) fn declare_structs(&mut self) {
        if self.structs.is_empty() {
            return self.declare_rows();
        }
        let number = self.dice.below(self.structs.len());
        let count = 2 + self.dice.below(2);
        let index = self.declare_index(count);
        let values: Vec<String> = (0..count).map(|_| self.braces(number)).collect();
        let name = self.name('s');
        self.line(format!("{} {name}[{count}] = {{{}}};", self.structs[number].name, values.join(", ")));
        for object in (0..count).map(|at| at.to_string()).chain([index]) {
            self.add_struct(&format!("{name}[{object}]"), number, Space::Private);
        }
    }

    /// A value of a structure type: an existing variable or a new value.
    pub(super) fn struct_value(&mut self, number: usize) -> String {
        let wholes = self.scopes.structs().iter().filter(|whole| whole.number == number);
        let same: Vec<String> = wholes.map(|whole| whole.text.clone()).collect();
        if !same.is_empty() && self.dice.one_in(2) {
            return self.dice.pick(&same).clone();
        }
        format!("({}){}", self.structs[number].name.clone(), self.braces(number))
    }

    /// Declares a variable of a structure type with an initializer.
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
        self.add_struct(&name, number, Space::Private);
    }

    /// The initializer `{…}` of a structure.
    fn braces(&mut self, number: usize) -> String {
        let description = self.structs[number].clone();
        let members = if description.is_union { &description.members[..1] } else { &description.members[..] };
        // Designated initializers; omitted members are zero.
        let is_named = self.dice.one_in(4);
        let mut values = Vec::new();
        for member in members {
            let value = match &member.kind {
                MemberKind::Value(ty) => self.stored(*ty, 1),
                MemberKind::Array(ty, length) => {
                    let values: Vec<String> = (0..*length).map(|_| self.stored(*ty, 1)).collect();
                    format!("{{{}}}", values.join(", "))
                }
                MemberKind::Struct(number) => self.braces(*number),
            };
            values.push(if is_named { format!(".{} = {value}", member.name) } else { value });
        }
        if is_named && values.len() > 1 && self.dice.one_in(2) {
            values.remove(self.dice.below(values.len()));
        }
        format!("{{{}}}", values.join(", "))
    }

    /// The constant initializer `{…}` of a structure.
    pub(super) fn constant_braces(&mut self, number: usize) -> String {
        let description = self.structs[number].clone();
        let members = if description.is_union { &description.members[..1] } else { &description.members[..] };
        let values: Vec<String> = members
            .iter()
            .map(|member| match &member.kind {
                MemberKind::Value(ty) => self.constant_of(*ty),
                MemberKind::Array(ty, length) => {
                    let values: Vec<String> = (0..*length).map(|_| self.constant_of(*ty)).collect();
                    format!("{{{}}}", values.join(", "))
                }
                MemberKind::Struct(number) => self.constant_braces(*number),
            })
            .collect();
        format!("{{{}}}", values.join(", "))
    }

    /// A constant of this type.
    pub(super) fn constant_of(&mut self, ty: Ty) -> String {
        let one = |generator: &mut Self, scalar: Scalar| match scalar.is_float() {
            true => format!("({}){}", scalar.name, generator.dice.below(2048)),
            false => format!("({})0x{:x}", scalar.name, generator.dice.bits() >> generator.dice.below(56)),
        };
        if ty.count == 1 {
            return one(self, ty.scalar);
        }
        let values: Vec<String> = (0..ty.count).map(|_| one(self, ty.scalar)).collect();
        format!("({})({})", ty.name(), values.join(", "))
    }

    /// Adds a structure and its members to the scope.
    pub(super) fn add_struct(&mut self, text: &str, number: usize, space: Space) {
        self.add_whole(text.to_owned(), number, space, true);
        self.add_members(&format!("{text}."), number, space, true);
    }

    /// Adds the structure that a pointer points to, and its members, to the scope.
    pub(super) fn add_pointed(&mut self, pointer: &str, number: usize, space: Space) {
        self.add_whole(format!("(*{pointer})"), number, space, true);
        self.add_members(&format!("{pointer}->"), number, space, true);
    }

    fn add_whole(&mut self, text: String, number: usize, space: Space, has_address: bool) {
        self.scopes.add_struct(Whole { text, number, space, has_address });
    }

    fn add_members(&mut self, before: &str, number: usize, space: Space, is_aligned: bool) {
        let Struct { members, is_packed, .. } = self.structs[number].clone();
        let has_address = is_aligned && !is_packed;
        for member in members {
            let inside = format!("{before}{}", member.name);
            match member.kind {
                MemberKind::Value(ty) => self.add(inside, ty, None, space, has_address),
                MemberKind::Array(ty, length) => self.add(inside, ty, Some(length), space, has_address),
                MemberKind::Struct(number) => {
                    self.add_whole(inside.clone(), number, space, has_address);
                    self.add_members(&format!("{inside}."), number, space, has_address);
                }
            }
        }
    }
}
