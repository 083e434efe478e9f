//! Random OpenCL C programs without undefined behaviour: what every right implementation gives the same results for.
//!
//! It owns what is generated and why it is defined. It must never know who compiles it. A program is a kernel
//! `k(global uint *out, global uint *own, global const uint *in, global uint *sums, uint n, local uint *shared)` that leaves
//! a number for each work-item in `out`, and sums and the like of all of them in `sums`.

mod builtin;
mod dice;
mod expression;
mod float;
mod group;
mod memory;
mod neighbors;
mod pointers;
mod program;
mod scope;
mod statement;
mod types;

pub use neighbors::with_neighbors;
pub use program::{Program, Sort, program};

use dice::Dice;
use scope::Scopes;
use types::Struct;

/// What is generated so far.
struct Generator {
    dice: Dice,
    sort: Sort,
    /// Whether the program may use the type.
    has_double: bool,
    /// Of the index space.
    dimensions: usize,
    structs: Vec<Struct>,
    functions: Vec<Function>,
    scopes: Scopes,
    lines: Vec<String>,
    depth: usize,
    /// How many names there are.
    names: usize,
    /// Not in a function that it calls.
    is_in_kernel: bool,
    /// What kind of jumps are allowed here.
    around: Around,
    /// Statements that may still be made: programs stay small.
    budget: usize,
}

/// What a statement stands in.
#[derive(Clone, Copy, Default)]
struct Around {
    is_in_loop: bool,
    /// A switch is nearer than the loop.
    is_in_switch: bool,
    /// How many loops are around: rounds multiply.
    loops: usize,
    /// What `return` gives, if it may be used.
    returns: Option<types::Returned>,
}

/// A function that can be called.
#[derive(Clone)]
struct Function {
    name: String,
    result: types::Returned,
    parameters: Vec<Parameter>,
}

/// A parameter of a function.
#[derive(Clone)]
enum Parameter {
    Value(types::Ty),
    Struct(usize),
    /// To one.
    StructPointer(scope::Space, usize),
    /// To so many elements.
    Pointer(scope::Space, types::Ty, usize),
}

impl Generator {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth), text.as_ref()));
    }

    fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
        self.scopes.open();
    }

    fn close(&mut self, text: impl AsRef<str>) {
        self.scopes.close();
        self.depth -= 1;
        self.line(text);
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }
}
