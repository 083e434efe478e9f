//! The types of a composition: atomic objects in structures, unions and arrays, and the operations on each.

use super::Generator;

/// The number of elements of an array with one element for each work-item.
pub(super) const ITEMS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Signed,
    Unsigned,
    Float,
}

/// A type of values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) value: &'static str,
    pub(super) atomic: &'static str,
    pub(super) class: Class,
    pub(super) bytes: usize,
}

const fn scalar(value: &'static str, atomic: &'static str, class: Class, bytes: usize) -> Scalar {
    Scalar { value, atomic, class, bytes }
}

pub(super) static INT: Scalar = scalar("int", "atomic_int", Class::Signed, 4);
pub(super) static UINT: Scalar = scalar("uint", "atomic_uint", Class::Unsigned, 4);
pub(super) static LONG: Scalar = scalar("long", "atomic_long", Class::Signed, 8);
pub(super) static ULONG: Scalar = scalar("ulong", "atomic_ulong", Class::Unsigned, 8);
pub(super) static FLOAT: Scalar = scalar("float", "atomic_float", Class::Float, 4);
pub(super) static DOUBLE: Scalar = scalar("double", "atomic_double", Class::Float, 8);
/// `half`, or `float` on devices without atomic operations on `half`; the larger size is the bound.
pub(super) static HALF: Scalar = scalar("narrow", "atomic_narrow", Class::Float, 4);
static FLAG: Scalar = scalar("int", "atomic_flag", Class::Signed, 4);

static WORDS: [&Scalar; 2] = [&INT, &UINT];
static WIDE: [&Scalar; 6] = [
    &LONG,
    &ULONG,
    &scalar("intptr_t", "atomic_intptr_t", Class::Signed, 8),
    &scalar("uintptr_t", "atomic_uintptr_t", Class::Unsigned, 8),
    &scalar("size_t", "atomic_size_t", Class::Unsigned, 8),
    &scalar("ptrdiff_t", "atomic_ptrdiff_t", Class::Signed, 8),
];

/// Types of plain members.
static PLAIN: [&Scalar; 5] = [
    &scalar("uchar", "", Class::Unsigned, 1),
    &scalar("ushort", "", Class::Unsigned, 2),
    &INT,
    &UINT,
    &FLOAT,
];

/// The operations on an object. All operations of a role commute, so the order of work-items does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Add,
    Xor,
    Or,
    And,
    Min,
    Max,
    /// Counts by one. The sum of all results depends on the number of operations only.
    Ticket,
    /// Exchanges. The sum of all results and of the final value depends on the operands only.
    Chain,
    /// Stores of one constant; a load returns the constant or the initial value.
    Same,
    /// Compare-exchanges with zero: exactly one succeeds.
    Winner,
    /// Tests and sets a flag: exactly one work-item finds it clear.
    Flag,
    /// Plain accesses; each work-item accesses its own element.
    Plain,
}

impl Role {
    /// Whether the final value depends on the order of work-items.
    fn has_arbitrary_value(self) -> bool {
        matches!(self, Self::Chain | Self::Winner | Self::Flag)
    }
}

/// A scalar object of a structure, or alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) scalar: &'static Scalar,
    pub(super) role: Role,
    /// Whether its type is atomic. If not, functions of OpenCL C 1.x or casts access it.
    pub(super) is_atomic: bool,
    /// Whether an integer contains the bits of a positive `float`.
    pub(super) has_float_bits: bool,
    /// The constant of `Role::Same`.
    pub(super) constant: usize,
}

impl Cell {
    pub(super) fn declared(&self) -> &'static str {
        if self.is_atomic { self.scalar.atomic } else { self.scalar.value }
    }

    pub(super) fn is_float(&self) -> bool {
        self.scalar.class == Class::Float
    }

    /// The unsigned type of its size.
    pub(super) fn unsigned(&self) -> &'static str {
        if self.scalar.bytes == 8 { "ulong" } else { "uint" }
    }

    /// The value before the first operation in local memory.
    pub(super) fn initial(&self) -> String {
        let ty = self.scalar.value;
        match self.role {
            Role::And => format!("({ty})-1"),
            Role::Add | Role::Ticket | Role::Xor => format!("({ty}){}", self.constant % 7),
            _ => format!("({ty})0"),
        }
    }
}

/// The type of an object or a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Cell(Cell),
    /// A structure or union, by its number.
    Record(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) ty: Ty,
    /// The length of an array.
    pub(super) length: Option<usize>,
    /// Whether each work-item accesses only its own element.
    pub(super) is_own: bool,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) is_union: bool,
    pub(super) members: Vec<Member>,
    pub(super) bytes: usize,
    /// Whether final values depend on the order of work-items.
    pub(super) has_arbitrary_values: bool,
    /// Whether objects of two sizes share bytes. In global memory, operations of two sizes are a data race on Vulkan.
    pub(super) has_two_sizes: bool,
}

impl Generator {
    /// A random scalar object that is not in a union.
    pub(super) fn cell(&mut self) -> Cell {
        let is_old = self.std == "CL1.2";
        let kind = self.dice.below(16);
        let scalar = match kind {
            0..4 if self.has_wide => *self.dice.pick(if is_old { &WIDE[..2] } else { &WIDE[..] }),
            4..7 => &FLOAT,
            7 if self.has_double => &DOUBLE,
            8 if self.has_half => &HALF,
            9 if !is_old => &FLAG,
            _ => *self.dice.pick(&WORDS),
        };
        let all = [Role::Add, Role::Xor, Role::Or, Role::And, Role::Min, Role::Max, Role::Ticket];
        let role = match (scalar, self.dice.below(12)) {
            (scalar, _) if *scalar == FLAG => Role::Flag,
            (scalar, _) if is_old && scalar.class == Class::Float => Role::Chain,
            (scalar, roll) if scalar.class == Class::Float => match roll {
                0..5 => Role::Add,
                5 | 6 => Role::Min,
                7 | 8 => Role::Max,
                9 => Role::Same,
                _ => Role::Chain,
            },
            (_, 8) if !is_old => Role::Same,
            (_, 9 | 10) => Role::Chain,
            (_, 11) => Role::Winner,
            _ => *self.dice.pick(&all),
        };
        let is_atomic = !is_old && (*scalar == FLAG || scalar.class == Class::Float || !self.dice.one_in(4));
        Cell { scalar, role, is_atomic, has_float_bits: false, constant: 1 + self.dice.below(9) }
    }

    /// Declares a structure.
    pub(super) fn structure(&mut self) {
        let mut members = Vec::new();
        for _ in 0..1 + self.dice.below(5) {
            let member = match self.dice.below(10) {
                0 | 1 if !self.records.is_empty() => {
                    let ty = Ty::Record(self.dice.below(self.records.len()));
                    (ty, self.dice.one_in(2).then(|| 2 + self.dice.below(2)), false)
                }
                2 => {
                    let scalar = *self.dice.pick(&PLAIN);
                    (Ty::Cell(plain(scalar)), Some(ITEMS), true)
                }
                3 if self.std != "CL1.2" => (Ty::Cell(self.cell()), Some(ITEMS), true),
                4 | 5 => (Ty::Cell(self.cell()), Some(2 + self.dice.below(3)), false),
                _ => (Ty::Cell(self.cell()), None, false),
            };
            let (ty, length, is_own) = member;
            members.push(Member { name: self.name('m'), ty, length, is_own });
        }
        self.record(false, members);
    }

    /// Declares a union: objects of several types share their bytes. Their operations commute because they are
    /// bitwise, or because positive floats are ordered as their bits are.
    pub(super) fn union(&mut self) {
        let bytes = if self.has_wide { *self.dice.pick(&[4, 8, 8, 16]) } else { *self.dice.pick(&[4, 8]) };
        let is_old = self.std == "CL1.2";
        let is_float = !is_old && self.dice.one_in(3);
        let role = if is_float { Role::Max } else { *self.dice.pick(&[Role::Xor, Role::Or, Role::And]) };
        // One kind of member: on Vulkan, loads that are seq_cst write, and would race with plain reads.
        let is_atomic = !is_old && (is_float || !self.dice.one_in(4));
        let mut members = Vec::new();
        for number in 0..2 + self.dice.below(2) {
            let scalar = match number {
                0 if is_float => &FLOAT,
                1 if is_float => &INT,
                _ if !is_float && self.has_wide && bytes >= 8 && self.dice.one_in(2) => {
                    *self.dice.pick(&WIDE[..2])
                }
                _ => *self.dice.pick(&WORDS),
            };
            let has_float_bits = is_float && scalar.class != Class::Float;
            let cell = Cell { scalar, role, is_atomic, has_float_bits, constant: 0 };
            let count = bytes / scalar.bytes;
            let length = (count > 1).then_some(count);
            members.push(Member { name: self.name('m'), ty: Ty::Cell(cell), length, is_own: false });
        }
        self.record(true, members);
    }

    fn record(&mut self, is_union: bool, members: Vec<Member>) {
        let name = self.name('T');
        self.open(format!("typedef {} {{", if is_union { "union" } else { "struct" }));
        let (mut bytes, mut has_arbitrary_values, mut has_two_sizes) = (0, false, false);
        for Member { name, ty, length, .. } in &members {
            let (declared, size) = match *ty {
                Ty::Cell(cell) => (cell.declared().to_owned(), cell.scalar.bytes),
                Ty::Record(number) => (self.records[number].name.clone(), self.records[number].bytes),
            };
            has_arbitrary_values |= match *ty {
                Ty::Cell(cell) => cell.role.has_arbitrary_value(),
                Ty::Record(number) => self.records[number].has_arbitrary_values,
            };
            has_two_sizes |= match *ty {
                Ty::Cell(_) => is_union && size != self.bytes(members[0].ty),
                Ty::Record(number) => self.records[number].has_two_sizes,
            };
            let size = size * length.unwrap_or(1);
            // A bound: no member needs more padding.
            bytes = if is_union { bytes.max(size) } else { bytes + size + 8 };
            let array = length.map(|it| format!("[{it}]")).unwrap_or_default();
            self.line(format!("{declared} {name}{array};"));
        }
        self.close(format!("}} {name};"));
        let bytes = bytes.next_multiple_of(8);
        self.records.push(Record { name, is_union, members, bytes, has_arbitrary_values, has_two_sizes });
    }

    /// The name of a type, as declared.
    pub(super) fn spelling(&self, ty: Ty) -> String {
        match ty {
            Ty::Cell(cell) => cell.declared().to_owned(),
            Ty::Record(number) => self.records[number].name.clone(),
        }
    }

    pub(super) fn bytes(&self, ty: Ty) -> usize {
        match ty {
            Ty::Cell(cell) => cell.scalar.bytes,
            Ty::Record(number) => self.records[number].bytes,
        }
    }

    pub(super) fn has_two_sizes(&self, ty: Ty) -> bool {
        matches!(ty, Ty::Record(number) if self.records[number].has_two_sizes)
    }

    pub(super) fn has_arbitrary_values(&self, ty: Ty) -> bool {
        match ty {
            Ty::Cell(cell) => cell.role.has_arbitrary_value(),
            Ty::Record(number) => self.records[number].has_arbitrary_values,
        }
    }
}

fn plain(scalar: &'static Scalar) -> Cell {
    Cell { scalar, role: Role::Plain, is_atomic: false, has_float_bits: false, constant: 0 }
}
