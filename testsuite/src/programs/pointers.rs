//! Pointers: to elements, to structures, to pointers, to bytes of a different type.

use super::{
    Generator, ProgramKind,
    scope::{Object, Space, Whole},
    types::{INTEGERS, Ty},
};

impl Generator {
    /// The objects that a pointer to this many elements of this type can point to.
    pub(super) fn targets(&self, space: Space, ty: Ty, length: usize) -> Vec<Object> {
        self.scopes.objects_that(|object| {
            let room = if object.is_writable { object.length.unwrap_or(1) } else { 0 };
            space.has(object.space) && object.ty == ty && room >= length && object.has_address
        })
    }

    /// A pointer expression for this many elements.
    pub(super) fn pointer_to(&mut self, target: &Object, length: usize) -> String {
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

    /// Declares a pointer to an existing object.
    pub(super) fn declare_pointer(&mut self) {
        let objects = self.scopes.objects_that(|object| object.is_writable && object.has_address);
        if objects.is_empty() {
            return self.declare_array();
        }
        let Object { ty, mut space, length, .. } = self.dice.pick(&objects).clone();
        if self.kind == ProgramKind::Generic && self.dice.one_in(2) {
            space = Space::Generic;
        }
        let length = 1 + self.dice.below(length.unwrap_or(1));
        let targets = self.targets(space, ty, length);
        let target = self.dice.pick(&targets).clone();
        let value = self.pointer_to(&target, length);
        let name = self.name('p');
        self.line(format!("{} {} *{name} = {value};", space.name(), ty.name()));
        let object = Object {
            text: name.clone(),
            ty,
            space,
            length: Some(length),
            is_writable: true,
            is_pointer: true,
            has_address: true,
        };
        self.scopes.add(object.clone());
        if self.dice.one_in(3) {
            self.declare_pointer_to_pointer(&name, object);
        }
    }

    /// Declares a pointer to a pointer, and may assign through it.
    fn declare_pointer_to_pointer(&mut self, pointer: &str, object: Object) {
        let Object { ty, space, length, .. } = object.clone();
        let targets: Vec<Object> = self.targets(space, ty, length.unwrap_or(1));
        let older: Vec<Object> = targets.into_iter().filter(|it| self.is_older(it, &object)).collect();
        let name = self.name('r');
        self.line(format!("{} {} *private *{name} = &{pointer};", space.name(), ty.name()));
        if let Some(target) = (!older.is_empty()).then(|| self.dice.pick(&older).clone()) {
            let value = self.pointer_to(&target, length.unwrap_or(1));
            self.line(format!("*{name} = {value};"));
        }
        self.scopes.add(Object { text: format!("(*{name})"), ..object });
    }

    /// Declares a pointer to an existing structure.
    pub(super) fn declare_struct_pointer(&mut self) {
        let wholes = self.scopes.structs().iter().filter(|whole| whole.has_address);
        let wholes: Vec<Whole> = wholes.cloned().collect();
        if wholes.is_empty() {
            return self.declare_struct();
        }
        let Whole { text, number, mut space, .. } = self.dice.pick(&wholes).clone();
        if self.kind == ProgramKind::Generic && space != Space::Constant && self.dice.one_in(2) {
            space = Space::Generic;
        }
        let name = self.name('p');
        self.line(format!("{} {} *{name} = &{text};", space.name(), self.structs[number].name));
        self.add_pointed(&name, number, space);
    }

    /// A pointer that iterates over an array.
    pub(super) fn walk(&mut self) {
        let objects = self
            .scopes
            .objects_that(|object| object.is_writable && object.has_address && object.length.is_some());
        if objects.is_empty() {
            return self.declare_array();
        }
        let Object { text, ty, space, length, .. } = self.dice.pick(&objects).clone();
        let length = length.unwrap_or(1);
        let name = self.name('w');
        let value = self.stored(ty, 2);
        let declaration = format!("{} {} *{name}", space.name(), ty.name());
        let line = match self.dice.below(3) {
            0 => format!(
                "for ({declaration} = {text}; {name} < {text} + {length}; ++{name}) *{name} = {value};"
            ),
            1 => format!(
                "for ({declaration} = &{text}[{length} - 1]; {name} - {text} > 0; --{name}) *{name} = {value};"
            ),
            _ => format!(
                "{{ {declaration} = {text}; while ({name} != &{text}[{length}]) *{name}++ = {value}; }}"
            ),
        };
        self.line(line);
    }

    /// An array of pointers, read with a dynamic index.
    pub(super) fn through_array_of_pointers(&mut self) {
        let objects = self.scopes.objects_that(|object| {
            object.is_writable && object.has_address && object.space == Space::Private
        });
        if objects.is_empty() {
            return self.declare_value();
        }
        let ty = self.dice.pick(&objects).ty;
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

    /// Accesses an integer array through a pointer of a different type: bytes, or integers of the same width. Other types
    /// violate aliasing rules (C99 6.5), which the reference compilers rely on.
    pub(super) fn through_other_type(&mut self) {
        let objects = self.scopes.objects_that(|object| {
            let whole = object.is_writable && object.has_address && !object.ty.scalar.is_float();
            whole && object.ty.count != 3 && object.length.is_some()
        });
        if objects.is_empty() {
            return self.declare_array();
        }
        let object = self.dice.pick(&objects).clone();
        let bytes = object.ty.scalar.bits as usize / 8 * object.ty.count * object.length.unwrap_or(1);
        let others: Vec<_> =
            INTEGERS.into_iter().filter(|it| it.bits == 8 || it.bits == object.ty.scalar.bits).collect();
        let scalar = *self.dice.pick(&others);
        let length = bytes / (scalar.bits as usize / 8);
        let name = self.name('p');
        self.line(format!(
            "{space} {ty} *{name} = ({space} {ty} *)&{}[0];",
            object.text,
            space = object.space.name(),
            ty = scalar.name,
        ));
        let object = Object {
            text: name,
            ty: Ty::scalar(scalar),
            space: object.space,
            length: Some(length),
            is_writable: true,
            is_pointer: true,
            has_address: true,
        };
        self.scopes.add(object);
    }

    /// Assigns another target to a pointer.
    pub(super) fn pointer_assignment(&mut self) {
        let pointers = self.scopes.objects_that(|object| object.is_pointer && object.text.starts_with('p'));
        if pointers.is_empty() {
            return self.declare_pointer();
        }
        let pointer = self.dice.pick(&pointers).clone();
        let length = pointer.length.unwrap_or(1);
        // A target must outlive the pointer, so it must be declared before.
        let targets: Vec<Object> = self
            .targets(pointer.space, pointer.ty, length)
            .into_iter()
            .filter(|target| self.is_older(target, &pointer))
            .collect();
        if targets.is_empty() {
            return self.declare_pointer();
        }
        let (one, other) = (self.dice.pick(&targets).clone(), self.dice.pick(&targets).clone());
        let first = self.pointer_to(&one, length);
        if self.dice.one_in(2) {
            return self.line(format!("{} = {first};", pointer.text));
        }
        let second = self.pointer_to(&other, length);
        let condition = if self.dice.one_in(3) {
            let op = *self.dice.pick(&["==", "!="]);
            format!("({} {op} {second})", pointer.text)
        } else {
            self.condition(2)
        };
        self.line(format!("{} = {condition} ? {first} : {second};", pointer.text));
    }

    fn is_older(&self, one: &Object, other: &Object) -> bool {
        let at = |object: &Object| self.scopes.objects().iter().position(|it| it.text == object.text);
        at(one) <= at(other)
    }
}
