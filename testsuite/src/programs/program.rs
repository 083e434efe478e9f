//! Generates a whole program: types, tables, functions, the kernel.

use super::{
    Enclosing, Function, Generator, Parameter,
    dice::Dice,
    group::CELLS,
    lines::Lines,
    scope::{Object, Scopes, Space},
    types::{INT, INTEGERS, Member, MemberKind, Returned, Scalar, Struct, Ty},
};
use crate::compositions;

/// The kind of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// OpenCL C 1.2: every pointer has a named address space.
    Plain,
    /// OpenCL C 1.2 with loops whose start, bound and step are values.
    Counting,
    /// OpenCL C 2.0: functions take generic pointers.
    Generic,
    /// Any of OpenCL C 1.2, 2.0 and 3.0: many atomic objects (`compositions`).
    Composition,
}

/// The contents of a buffer before the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Zeros.
    Zeros,
    /// Random words; `kiln run` makes them from this seed.
    Random(u32),
}

/// A program and its launch.
#[derive(Clone, Debug)]
pub struct Program {
    /// The OpenCL C source.
    pub source: String,
    /// The language version, as in `-cl-std=`.
    pub std: &'static str,
    /// The global size.
    pub global: Vec<usize>,
    /// The local size.
    pub local: Vec<usize>,
    /// The number of words in `sums`, and their contents.
    pub sums: (usize, Initial),
    /// The size in bytes of the local argument.
    pub local_bytes: usize,
}

impl Program {
    /// The name of each buffer argument, its number of words, and their contents, in order.
    pub fn buffers(&self) -> [(&'static str, usize, Initial); 4] {
        let items: usize = self.global.iter().product();
        let (cells, initial) = self.sums;
        [
            ("out", items, Initial::Zeros),
            ("own", items * OWN, Initial::Random(5)),
            ("in", 64, Initial::Random(9)),
            ("sums", cells, initial),
        ]
    }

    /// The options of `kiln run` that launch it and print its results.
    pub fn launch(&self) -> Vec<String> {
        let sizes = |sizes: &[usize]| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let mut words = vec!["--kernel".to_owned(), "k".to_owned()];
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        option("global", sizes(&self.global));
        option("local", sizes(&self.local));
        for (_, length, initial) in self.buffers() {
            let initial = match initial {
                Initial::Zeros => String::new(),
                Initial::Random(seed) => format!("=random({seed})"),
            };
            option("arg", format!("buf:u32[{length}]{initial}"));
        }
        option("arg", "u32:3".to_owned());
        option("arg", format!("local:{}", self.local_bytes));
        for (name, length, _) in self.buffers().into_iter().filter(|(name, ..)| *name != "in") {
            option("print", format!("{name}[0..{length}]"));
        }
        words
    }
}

/// The number of words of global memory that belong to each work-item.
const OWN: usize = 16;

/// Small index spaces, with groups of 4 or 8.
const SPACES: [(&[usize], &[usize]); 7] = [
    (&[16], &[4]),
    (&[16], &[8]),
    (&[16], &[8]),
    (&[8, 2], &[4, 1]),
    (&[4, 4], &[4, 2]),
    (&[4, 2, 2], &[2, 2, 1]),
    (&[4, 2, 2], &[2, 2, 2]),
];

/// Index spaces with partial groups, which need OpenCL C 2.0.
const RAGGED: [(&[usize], &[usize]); 2] = [(&[13], &[4]), (&[5, 3], &[2, 2])];

/// Generates a program; it depends only on the seed.
pub fn program(seed: u64, kind: ProgramKind) -> Program {
    if kind == ProgramKind::Composition {
        return compositions::composition(seed);
    }
    let mut dice = Dice::new(seed);
    let is_ragged = kind == ProgramKind::Generic && dice.one_in(4);
    let (global, local) = *if is_ragged { dice.pick(&RAGGED) } else { dice.pick(&SPACES) };
    let has_double = dice.one_in(6);
    let mut generator = Generator {
        dice,
        kind,
        has_double,
        dimensions: global.len(),
        structs: Vec::new(),
        functions: Vec::new(),
        scopes: Scopes::default(),
        lines: Lines::default(),
        names: 0,
        is_in_kernel: false,
        around: Enclosing::default(),
        budget: 0,
    };
    generator.scopes.open();
    generator.line(
        "uint mix(uint h, ulong v) { return rotate(h ^ (uint)v, 7u) * 0x9e3779b1u + (uint)(v >> 32); }",
    );
    for _ in 0..generator.dice.below(4) {
        generator.structure();
    }
    if generator.dice.one_in(4) {
        generator.enumeration();
    }
    for _ in 0..generator.dice.below(3) {
        generator.table();
    }
    for _ in 0..generator.dice.below(5) {
        generator.function();
    }
    generator.kernel(local.iter().product());
    Program {
        source: generator.lines.text(),
        std: if kind == ProgramKind::Generic { "CL2.0" } else { "CL1.2" },
        global: global.to_vec(),
        local: local.to_vec(),
        sums: (CELLS, Initial::Random(3)),
        local_bytes: local.iter().product::<usize>() * 2 * 4,
    }
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
                        let ty = self.some_type();
                        MemberKind::Array(ty, *self.dice.pick(&[2, 3, 4]))
                    }
                    2 if !self.structs.is_empty() => MemberKind::Struct(self.dice.below(self.structs.len())),
                    _ => MemberKind::Value(self.some_type()),
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
        // The address of a packed member can be misaligned for its type.
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
            1 => MemberKind::Value(Ty::scalar(scalar)),
            2 | 4 | 8 | 16 if self.dice.one_in(2) => MemberKind::Value(Ty { scalar, count }),
            _ => MemberKind::Array(Ty::scalar(scalar), count),
        }
    }

    /// A table of constants at program scope.
    fn table(&mut self) {
        let name = self.name('c');
        if !self.structs.is_empty() && self.dice.one_in(4) {
            let number = self.dice.below(self.structs.len());
            let values = [self.constant_braces(number), self.constant_braces(number)];
            let ty = self.structs[number].name.clone();
            self.line(format!("constant {ty} {name}[2] = {{{}}};", values.join(", ")));
            for index in 0..2 {
                self.add_struct(&format!("{name}[{index}]"), number, Space::Constant);
            }
            return;
        }
        let ty = if self.dice.one_in(2) { self.some_type() } else { Ty::scalar(*self.dice.pick(&INTEGERS)) };
        let length = *self.dice.pick(&[4, 5, 8, 16]);
        let values: Vec<String> = (0..length).map(|_| self.constant_of(ty)).collect();
        // OpenCL C 2.0 also allows read-only data in global memory.
        let is_global = self.kind == ProgramKind::Generic && self.dice.one_in(3);
        let space = if is_global { Space::Global } else { Space::Constant };
        self.line(format!("{} {} {name}[{length}] = {{{}}};", space.name(), ty.name(), values.join(", ")));
        self.scopes.add(Object {
            text: name,
            ty,
            space,
            length: Some(length),
            is_writable: false,
            is_pointer: false,
            has_address: true,
        });
    }

    fn enumeration(&mut self) {
        let names = [(); 3].map(|()| self.name('E'));
        let [one, two, three] = &names;
        let first = self.dice.below(1000);
        self.line(format!("enum {{ {one} = {first}, {two}, {three} = -{two} }};"));
        for text in names {
            self.scopes.add(Object {
                text,
                ty: Ty::scalar(INT),
                space: Space::Constant,
                length: None,
                is_writable: false,
                is_pointer: false,
                has_address: false,
            });
        }
    }

    fn function(&mut self) {
        let result = match self.structs.len() {
            1.. if self.dice.one_in(5) => Returned::Struct(self.dice.below(self.structs.len())),
            _ => Returned::Value(self.some_type()),
        };
        let is_generic = self.kind == ProgramKind::Generic;
        let name = self.name('f');
        let mut parameters = Vec::new();
        let is_plain = self.dice.one_in(2);
        for _ in 0..1 + self.dice.below(3) {
            let mut space = *self.dice.pick(&[Space::Private, Space::Private, Space::Local, Space::Global]);
            parameters.push(match self.dice.below(7) {
                0 | 1 if !is_plain => {
                    let ty = if space == Space::Global { Self::WORD } else { self.some_type() };
                    space = if is_generic { Space::Generic } else { space };
                    Parameter::Pointer(space, ty, *self.dice.pick(&[1, 2, 4]))
                }
                2 if !is_plain && !self.structs.is_empty() => {
                    Parameter::Struct(self.dice.below(self.structs.len()))
                }
                3 if !is_plain && !self.structs.is_empty() => {
                    space = if is_generic {
                        Space::Generic
                    } else {
                        *self.dice.pick(&[Space::Private, Space::Local])
                    };
                    Parameter::StructPointer(space, self.dice.below(self.structs.len()))
                }
                _ => Parameter::Value(self.some_type()),
            });
        }
        let names: Vec<String> = parameters.iter().map(|_| self.name('g')).collect();
        let texts: Vec<String> = parameters
            .iter()
            .zip(&names)
            .map(|(parameter, name)| match parameter {
                Parameter::Value(ty) => format!("{} {name}", ty.name()),
                Parameter::Struct(number) => format!("{} {name}", self.structs[*number].name),
                Parameter::Pointer(space, ty, _) => format!("{} {} *{name}", space.name(), ty.name()),
                Parameter::StructPointer(space, number) => {
                    format!("{} {} *{name}", space.name(), self.structs[*number].name)
                }
            })
            .collect();
        let returned = match result {
            Returned::Value(ty) => ty.name(),
            Returned::Struct(number) => self.structs[number].name.clone(),
        };
        let head = format!("{returned} {name}({})", texts.join(", "));
        let word = *self.dice.pick(&["", "", "static ", "static inline "]);
        if self.dice.one_in(4) {
            self.line(format!("{word}{head};"));
        }
        self.open(format!("{word}{head} {{"));
        for (parameter, name) in parameters.iter().zip(names) {
            match parameter {
                Parameter::Value(ty) => self.add(name, *ty, None, Space::Private, true),
                Parameter::Struct(number) => self.add_struct(&name, *number, Space::Private),
                Parameter::StructPointer(space, number) => self.add_pointed(&name, *number, *space),
                Parameter::Pointer(space, ty, length) => self.scopes.add(Object {
                    text: name,
                    ty: *ty,
                    space: *space,
                    length: Some(*length),
                    is_writable: true,
                    is_pointer: true,
                    has_address: true,
                }),
            }
        }
        self.around = Enclosing { returns: Some(result), ..Enclosing::default() };
        self.budget = 12;
        let count = 1 + self.dice.below(5);
        self.statements(count);
        let value = match result {
            Returned::Value(ty) => self.stored(ty, 3),
            Returned::Struct(number) => self.struct_value(number),
        };
        self.line(format!("return {value};"));
        self.close("}");
        self.functions.push(Function { name, result, parameters });
    }

    fn kernel(&mut self, group: usize) {
        let has_parcel = self.dice.one_in(3);
        if has_parcel {
            self.line("typedef struct { uint n; global uint *p; } W;");
            self.line(
                "uint open(W w, W *v, uint i) { v->n ^= w.n; w.p[i & 3] += w.n; w.p++; return w.p[i & 1]; }",
            );
        }
        self.open("kernel void k(global uint *out, global uint *own, global const uint *in, global uint *sums, uint n, local uint *shared) {");
        self.is_in_kernel = true;
        let [gid, lid] = ["global", "local"].map(|of| match self.dimensions {
            1 => format!("get_{of}_id(0)"),
            2 => format!("get_{of}_id(1) * get_{of}_size(0) + get_{of}_id(0)"),
            _ => format!(
                "(get_{of}_id(2) * get_{of}_size(1) + get_{of}_id(1)) * get_{of}_size(0) + get_{of}_id(0)"
            ),
        });
        let size = "get_local_size(0) * get_local_size(1) * get_local_size(2)";
        self.line(format!("size_t gid = {gid}; size_t lid = {lid}; uint size = {size}; own += gid * {OWN};"));
        let mut numbers =
            ["gid", "lid", "n", "size", "get_work_dim()"].map(|it| format!("(uint){it}")).to_vec();
        for function in ["group_id", "local_size", "num_groups", "global_size", "global_offset", "local_id"] {
            numbers.push(format!("(uint)get_{function}({})", self.dice.below(3)));
        }
        for text in numbers {
            self.scopes.add(Object {
                text,
                ty: Self::WORD,
                space: Space::Private,
                length: None,
                is_writable: false,
                is_pointer: false,
                has_address: false,
            });
        }
        self.add("own".to_owned(), Self::WORD, Some(OWN), Space::Global, true);
        self.scopes.add(Object {
            text: "in".to_owned(),
            ty: Self::WORD,
            space: Space::Global,
            length: Some(64),
            is_writable: false,
            is_pointer: false,
            has_address: true,
        });
        if has_parcel {
            let (at, value) = (self.dice.below(OWN - 3), self.expression(Self::WORD, 2));
            self.line(format!("W w = {{{value}, own + {at}}}; W w2 = w;"));
            let value = self.expression(Self::WORD, 2);
            self.line(format!("w2.p = own + 8; uint opened = open(w2, &w, {value}); w.n += opened;"));
            self.add("w.p".to_owned(), Self::WORD, Some(OWN - at), Space::Global, true);
            self.add("w.n".to_owned(), Self::WORD, None, Space::Private, true);
        }
        for _ in 0..self.dice.below(3) {
            self.local_rows(group);
        }
        self.around = Enclosing::default();
        self.budget = 40;
        for _ in 0..2 + self.dice.below(3) {
            let count = 2 + self.dice.below(6);
            self.statements(count);
            if self.dice.one_in(2) {
                self.group_operation(group);
            }
        }
        if self.dice.one_in(4) {
            let condition = self.condition(3);
            self.line(format!("if {condition} {{ out[gid] = lid; return; }}"));
        }
        self.line("uint h = 1;");
        for object in self.scopes.objects().to_vec() {
            let is_of_program =
                matches!(object.space, Space::Global | Space::Constant) && !object.is_writable;
            // Counts an object that is accessible in two ways only once.
            let is_seen = object.text.contains(['[', '>', '*']) && self.dice.one_in(2);
            if is_of_program || is_seen {
                continue;
            }
            match object.length {
                None => self.digest(&object.text, object.ty),
                Some(length) => {
                    self.open(format!("for (int i = 0; i < {length}; ++i) {{"));
                    self.digest(&format!("{}[i]", object.text), object.ty);
                    self.close("}");
                }
            }
        }
        self.line("out[gid] = h;");
        self.close("}");
    }

    /// An array in local memory with one row for each work-item.
    fn local_rows(&mut self, group: usize) {
        let name = self.name('x');
        if !self.structs.is_empty() && self.dice.one_in(3) {
            let number = self.dice.below(self.structs.len());
            let value = self.struct_value(number);
            let ty = self.structs[number].name.clone();
            self.line(format!("local {ty} {name}[{group}]; {name}[lid] = {value};"));
            return self.add_struct(&format!("{name}[lid]"), number, Space::Local);
        }
        let ty = self.some_type();
        let length = *self.dice.pick(&[2, 3, 4, 8]);
        // On one line, so that reduction removes it as a whole.
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
