//! A whole program: types, tables, functions, the kernel.

use super::{
    Around, Function, Generator, Parameter,
    dice::Dice,
    scope::{Place, Scopes, Space},
    types::{INTEGERS, Member, MemberKind, Scalar, Struct, Ty},
};

/// Which language a program may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// OpenCL C 1.2: every pointer names its address space.
    Plain,
    /// OpenCL C 2.0: functions take generic pointers.
    Generic,
}

/// A program and how it is launched.
#[derive(Clone, Debug)]
pub struct Program {
    /// OpenCL C.
    pub source: String,
    /// Work-items.
    pub global: usize,
    /// Work-items of a group.
    pub local: usize,
}

impl Program {
    /// The words of `kiln run` that launch it and print its results.
    pub fn launch(&self) -> Vec<String> {
        let (items, group) = (self.global, self.local);
        let words = [
            "--kernel",
            "k",
            "--global",
            &items.to_string(),
            "--local",
            &group.to_string(),
            "--arg",
            &format!("buf:u32[{items}]"),
            "--arg",
            &format!("buf:u32[{}]=random(5)", items * OWN),
            "--arg",
            "buf:u32[64]=random(9)",
            "--arg",
            "u32:3",
            "--arg",
            &format!("local:{}", group * 2 * 4),
            "--print",
            &format!("out[0..{items}]"),
            "--print",
            &format!("own[0..{}]", items * OWN),
        ];
        words.map(str::to_owned).to_vec()
    }
}

/// Words of global memory that belong to each work-item.
const OWN: usize = 16;

/// A program; the same for the same seed.
pub fn program(seed: u64, sort: Sort) -> Program {
    let mut generator = Generator {
        dice: Dice::new(seed),
        structs: Vec::new(),
        functions: Vec::new(),
        scopes: Scopes::default(),
        lines: Vec::new(),
        depth: 0,
        names: 0,
        around: Around::default(),
        budget: 0,
    };
    generator.scopes.open();
    generator.line(
        "uint mix(uint h, ulong v) { return rotate(h ^ (uint)v, 7u) * 0x9e3779b1u + (uint)(v >> 32); }",
    );
    for _ in 0..generator.dice.below(4) {
        generator.structure();
    }
    for _ in 0..generator.dice.below(3) {
        generator.table();
    }
    for _ in 0..generator.dice.below(5) {
        generator.function(sort);
    }
    let local = *generator.dice.pick(&[4, 8]);
    generator.kernel(local);
    Program { source: generator.lines.join("\n") + "\n", global: 16, local }
}

impl Generator {
    fn structure(&mut self) {
        let name = self.name('T');
        let is_union = self.dice.one_in(4);
        let count = 1 + self.dice.below(5);
        let mut members = Vec::new();
        let bytes = *self.dice.pick(&[4, 8, 16]);
        for _ in 0..count {
            let kind = if is_union {
                self.union_member(bytes)
            } else {
                match self.dice.below(8) {
                    0 | 1 => {
                        let ty = Ty::random(&mut self.dice);
                        MemberKind::Array(ty, *self.dice.pick(&[2, 3, 4]))
                    }
                    2 if !self.structs.is_empty() => MemberKind::Struct(self.dice.below(self.structs.len())),
                    _ => MemberKind::Value(Ty::random(&mut self.dice)),
                }
            };
            members.push(Member { name: self.name('m'), kind });
        }
        let packed = if !is_union && self.dice.one_in(5) { "__attribute__((packed)) " } else { "" };
        let word = if is_union { "union" } else { "struct" };
        self.open(format!("typedef {word} {packed}{{"));
        for Member { name, kind } in &members {
            let text = match kind {
                MemberKind::Value(ty) => format!("{} {name};", ty.name()),
                MemberKind::Array(ty, length) => format!("{} {name}[{length}];", ty.name()),
                MemberKind::Struct(number) => format!("{} {name};", self.structs[*number].name.clone()),
            };
            self.line(text);
        }
        self.close(format!("}} {name};"));
        // The address of a packed member is not aligned as pointers to its type promise.
        let is_packed = !packed.is_empty();
        self.structs.push(Struct { name, is_union, is_packed, members });
    }

    /// A member that covers all bytes of its union.
    fn union_member(&mut self, bytes: usize) -> MemberKind {
        let shapes: Vec<(Scalar, usize)> = INTEGERS
            .into_iter()
            .filter(|it| it.bits as usize / 8 <= bytes)
            .map(|it| (it, bytes / (it.bits as usize / 8)))
            .collect();
        let (scalar, count) = *self.dice.pick(&shapes);
        match count {
            1 => MemberKind::Value(Ty::of(scalar)),
            2 | 4 | 8 | 16 if self.dice.one_in(2) => MemberKind::Value(Ty { scalar, count }),
            _ => MemberKind::Array(Ty::of(scalar), count),
        }
    }

    /// Constants at program scope.
    fn table(&mut self) {
        let scalar = *self.dice.pick(&INTEGERS);
        let length = *self.dice.pick(&[4, 5, 8, 16]);
        let name = self.name('c');
        let values: Vec<String> = (0..length)
            .map(|_| format!("({})0x{:x}", scalar.name, self.dice.bits() >> self.dice.below(56)))
            .collect();
        self.line(format!("constant {} {name}[{length}] = {{{}}};", scalar.name, values.join(", ")));
        self.add(name, Ty::of(scalar), Some(length), Space::Constant, false);
    }

    fn function(&mut self, sort: Sort) {
        let result = Ty::random(&mut self.dice);
        let name = self.name('f');
        let mut parameters = Vec::new();
        let is_plain = self.dice.one_in(2);
        for _ in 0..1 + self.dice.below(3) {
            parameters.push(match self.dice.below(6) {
                0 | 1 if !is_plain => {
                    let space =
                        *self.dice.pick(&[Space::Private, Space::Private, Space::Local, Space::Global]);
                    let ty = if space == Space::Global { Self::WORD } else { Ty::random(&mut self.dice) };
                    Parameter::Pointer(space, ty, *self.dice.pick(&[1, 2, 4]))
                }
                2 if !is_plain && !self.structs.is_empty() => {
                    Parameter::Struct(self.dice.below(self.structs.len()))
                }
                _ => Parameter::Value(Ty::random(&mut self.dice)),
            });
        }
        let names: Vec<String> = parameters.iter().map(|_| self.name('g')).collect();
        let texts: Vec<String> = parameters
            .iter()
            .zip(&names)
            .map(|(parameter, name)| match parameter {
                Parameter::Value(ty) => format!("{} {name}", ty.name()),
                Parameter::Struct(number) => format!("{} {name}", self.structs[*number].name),
                Parameter::Pointer(space, ty, _) => {
                    let space = if sort == Sort::Generic { "" } else { space.name() };
                    format!("{space} {} *{name}", ty.name())
                }
            })
            .collect();
        self.open(format!("{} {name}({}) {{", result.name(), texts.join(", ")));
        for (parameter, name) in parameters.iter().zip(names) {
            match parameter {
                Parameter::Value(ty) => self.add(name, *ty, None, Space::Private, true),
                Parameter::Struct(number) => self.add_struct(&name, *number),
                Parameter::Pointer(space, ty, length) => self.scopes.add(Place {
                    text: name,
                    ty: *ty,
                    space: *space,
                    length: Some(*length),
                    is_writable: true,
                    is_pointer: true,
                    has_address: sort == Sort::Plain,
                }),
            }
        }
        self.around = Around { returns: Some(result), ..Around::default() };
        self.budget = 12;
        let count = 1 + self.dice.below(5);
        self.statements(count);
        let value = self.stored(result, 3);
        self.line(format!("return {value};"));
        self.close("}");
        self.functions.push(Function { name, result, parameters });
    }

    fn kernel(&mut self, group: usize) {
        self.open("kernel void k(global uint *out, global uint *own, global const uint *in, uint n, local uint *shared) {");
        self.line(format!(
            "size_t gid = get_global_id(0); size_t lid = get_local_id(0); own += gid * {OWN};"
        ));
        for name in ["gid", "lid", "n"] {
            self.scopes.add(Place {
                text: format!("(uint){name}"),
                ty: Self::WORD,
                space: Space::Private,
                length: None,
                is_writable: false,
                is_pointer: false,
                has_address: false,
            });
        }
        self.add("own".to_owned(), Self::WORD, Some(OWN), Space::Global, true);
        self.scopes.add(Place {
            text: "in".to_owned(),
            ty: Self::WORD,
            space: Space::Global,
            length: Some(64),
            is_writable: false,
            is_pointer: false,
            has_address: false,
        });
        for _ in 0..self.dice.below(3) {
            self.local_rows(group);
        }
        self.around = Around::default();
        self.budget = 40;
        for _ in 0..2 + self.dice.below(3) {
            let count = 2 + self.dice.below(6);
            self.statements(count);
            if self.dice.one_in(2) {
                self.together(group);
            }
        }
        self.line("uint h = 1;");
        for place in self.scopes.places().to_vec() {
            if place.text == "in" || place.space == Space::Constant {
                continue;
            }
            match place.length {
                None => self.digest(&place.text, place.ty),
                Some(length) => {
                    self.open(format!("for (int i = 0; i < {length}; ++i) {{"));
                    self.digest(&format!("{}[i]", place.text), place.ty);
                    self.close("}");
                }
            }
        }
        self.line("out[gid] = h;");
        self.close("}");
    }

    /// Local memory of which each work-item has a row.
    fn local_rows(&mut self, group: usize) {
        let ty = Ty::random(&mut self.dice);
        let length = *self.dice.pick(&[2, 3, 4, 8]);
        let name = self.name('x');
        // On one line, so that it goes as a whole when programs are made smaller.
        let mut line = format!("local {} {name}[{group}][{length}];", ty.name());
        for index in 0..length {
            let value = self.stored(ty, 1);
            line += &format!(" {name}[lid][{index}] = {value};");
        }
        self.line(line);
        self.add(format!("{name}[lid]"), ty, Some(length), Space::Local, true);
    }

    fn digest(&mut self, text: &str, ty: Ty) {
        for part in Self::mixed(text, ty) {
            self.line(format!("h = mix(h, {part});"));
        }
    }
}
