//! Random compositions of atomic objects: programs with objects of several types in structures, unions and arrays, in
//! local and global memory, whose results do not depend on the order of work-items.
//!
//! Owns the programs and the reasons why they are well-defined. Must not depend on the compilers under test; it computes
//! no result. The operations on one object commute (`types::Role`). Plain accesses are ordered by barriers, by release
//! and acquire operations, or by a counter: the last work-item that increments it reads all of global memory. Scopes
//! include all work-items that access an object.
//!
//! A program has the kernel and the arguments of `programs`. Its objects in `sums` are zero at first.

mod calls;
mod kernel;
mod operation;
mod types;

use crate::programs::{Initial, Program, dice::Dice, lines::Lines};

use types::{ITEMS, Record, Ty};

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Local,
    Global,
    Generic,
}

impl Space {
    /// The qualifier, followed by a space.
    fn name(self) -> &'static str {
        match self {
            Self::Local => "local ",
            Self::Global => "global ",
            Self::Generic => "",
        }
    }
}

/// An object or an array of objects.
#[derive(Clone, Debug)]
struct Object {
    /// The lvalue without an index.
    text: String,
    space: Space,
    ty: Ty,
    length: Option<usize>,
}

/// A function that operates on an object.
#[derive(Clone, Debug)]
struct Helper {
    name: String,
    space: Space,
    ty: Ty,
}

/// The generator's state.
struct Generator {
    dice: Dice,
    lines: Lines,
    std: &'static str,
    /// The features that the program may use.
    has_wide: bool,
    has_double: bool,
    has_half: bool,
    /// Whether orders other than relaxed are in use.
    has_orders: bool,
    has_seq_cst: bool,
    has_sub_groups: bool,
    /// Whether the launch has one work-group.
    is_one_group: bool,
    records: Vec<Record>,
    helpers: Vec<Helper>,
    objects: Vec<Object>,
    /// The number of names used so far.
    names: usize,
    is_in_kernel: bool,
    /// The lvalue that sums results, and the number of the work-item, here.
    acc: &'static str,
    id: &'static str,
    /// The loop counter, if there is a loop.
    counter: Option<String>,
    /// For the calls of functions with several pointers, in some programs.
    calls: Option<Dice>,
}

/// Index spaces: one or several groups. No more work-items than `ITEMS`.
const SPACES: [(usize, usize); 6] = [(8, 8), (16, 16), (16, 8), (16, 8), (16, 4), (12, 4)];

/// Words of `sums`: the results of the program, and then its objects.
const SUMS: usize = 1024;

/// Bytes of the local argument.
const SHARED: usize = 2048;

/// Generates a composition; it depends only on the seed.
pub(crate) fn composition(seed: u64) -> Program {
    // Differs from the programs of `programs` with the same seed.
    let mut dice = Dice::new(seed ^ 0xA70_31C5);
    let std = *dice.pick(&["CL1.2", "CL2.0", "CL2.0", "CL2.0", "CL3.0"]);
    let (global, local) = *dice.pick(&SPACES);
    let is_new = std != "CL1.2";
    let has_wide = dice.one_in(2);
    let mut generator = Generator {
        has_double: is_new && has_wide && dice.one_in(4),
        has_half: is_new && dice.one_in(6),
        // In groups of several sub-groups, lavapipe fails on loops with orders (driver bug `early_group_end`).
        has_orders: is_new && local <= 8,
        has_seq_cst: is_new && local <= 8 && dice.one_in(2),
        has_sub_groups: is_new && dice.one_in(8),
        has_wide,
        dice,
        lines: Lines::default(),
        std,
        is_one_group: global == local,
        records: Vec::new(),
        helpers: Vec::new(),
        objects: Vec::new(),
        names: 0,
        is_in_kernel: false,
        acc: "*acc",
        id: "id",
        counter: None,
        // Numbers of their own, so that the rest of the program does not depend on them.
        calls: seed.is_multiple_of(3).then(|| Dice::new(seed ^ 0x5A17_C0DE)),
    };
    generator.prologue();
    for _ in 0..1 + generator.dice.below(4) {
        if generator.dice.one_in(4) { generator.union() } else { generator.structure() }
    }
    generator.choose_objects();
    generator.accessors();
    for _ in 0..generator.dice.below(5) {
        generator.helper();
    }
    if generator.calls.is_some() {
        generator.functions_with_pointers();
    }
    generator.kernel(global);
    Program {
        source: generator.lines.text(),
        std,
        global: vec![global],
        local: vec![local],
        sums: (SUMS, Initial::Zeros),
        local_bytes: SHARED,
    }
}

impl Generator {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.line(text);
    }

    fn open(&mut self, text: impl AsRef<str>) {
        self.lines.open(text);
    }

    fn close(&mut self, text: impl AsRef<str>) {
        self.lines.close(text);
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }
}
