//! Random OpenCL C programs without undefined behavior: every correct implementation gives the same results.
//!
//! Owns the generated programs and the reasons why they are well-defined. Must not depend on the compilers under
//! test. A program is a kernel `k(global uint *out, global uint *own, global const uint *in, global uint *sums, uint
//! n, local uint *shared)` that writes a number for each work-item to `out`, and sums and similar results of all
//! work-items to `sums`.

mod builtin;
pub(crate) mod dice;
mod expression;
mod float;
mod group;
pub(crate) mod lines;
mod memory;
mod neighbors;
mod pointers;
mod program;
mod scope;
mod statement;
mod types;

pub use neighbors::with_neighbors;
pub use program::{Initial, Program, ProgramKind, program};

use dice::Dice;
use lines::Lines;
use scope::Scopes;
use types::Struct;

/// The generator's state.
struct Generator {
    dice: Dice,
    kind: ProgramKind,
    /// Whether the program may use `double`.
    has_double: bool,
    /// The number of dimensions of the index space.
    dimensions: usize,
    structs: Vec<Struct>,
    functions: Vec<Function>,
    scopes: Scopes,
    lines: Lines,
    /// The number of names used so far.
    names: usize,
    /// `false` in functions that the kernel calls.
    is_in_kernel: bool,
    /// The kinds of jumps allowed here.
    around: Enclosing,
    /// The number of statements left, to keep programs small.
    budget: usize,
}

/// The constructs around a statement.
#[derive(Clone, Copy, Default)]
struct Enclosing {
    is_in_loop: bool,
    /// Whether the innermost construct to break from is a switch.
    is_in_switch: bool,
    /// The number of enclosing loops, because their iterations multiply.
    loops: usize,
    /// The type to return, if `return` is allowed.
    returns: Option<types::Returned>,
}

/// A callable function.
#[derive(Clone)]
struct Function {
    name: String,
    result: types::Returned,
    parameters: Vec<Parameter>,
}

/// A function parameter.
#[derive(Clone)]
enum Parameter {
    Value(types::Ty),
    Struct(usize),
    /// A pointer to one structure.
    StructPointer(scope::Space, usize),
    /// A pointer to this many elements.
    Pointer(scope::Space, types::Ty, usize),
}

impl Generator {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.line(text);
    }

    fn open(&mut self, text: impl AsRef<str>) {
        self.lines.open(text);
        self.scopes.open();
    }

    fn close(&mut self, text: impl AsRef<str>) {
        self.scopes.close();
        self.lines.close(text);
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }
}
