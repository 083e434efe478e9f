//! Kiln's library of built-in functions: the IR of the OpenCL C sources in `lib/*.cl`.
//!
//! The name of a library function is the built-in function's name with the parameter types: `sin_float`.
//! `cargo xtask library` compiles the functions and writes `generated`: their binary forms (`kiln_ir::Function::to_bytes`),
//! with all calls of other library functions inlined, and the index. A test compares the committed files with the sources. So
//! calls of built-in functions need no parsing, checking or lowering. Independent of targets.
//!
//! ```
//! use kiln_syntax::Span;
//! use kiln_vocabulary::precision::Precision;
//!
//! let function = kiln_library::find("sin", "float", false, Precision::default(), Span::default()).expect("a body");
//! assert_eq!(function.name, "sin_float");
//! ```

mod generated {
    pub(super) mod index;

    /// A name, and the range of each variant of its body: precise, relaxed, and both with precise instructions of the driver.
    pub(super) type Entry = (&'static str, [(u32, u32); 4]);

    /// The range of a body that does not exist.
    pub(super) const NONE: (u32, u32) = (0, 0);

    /// The bodies, one after another.
    pub(super) static BODIES: &[u8] = include_bytes!("generated/bodies.bin");
}

use kiln_ir::Function;
use kiln_syntax::Span;
use kiln_vocabulary::precision::Precision;

use self::generated::{BODIES, index::INDEX};

/// The function `name_types` for the built-in function `name`, if the library has it. It calls no other library functions,
/// and all its instructions get this position. `is_relaxed` selects a shorter, less accurate variant. `precision` selects a
/// variant that uses the driver's instructions, if they are precise.
pub fn find(name: &str, types: &str, is_relaxed: bool, precision: Precision, span: Span) -> Option<Function> {
    let is_native = precision.is_fma_fused && precision.is_sqrt_precise && precision.is_exp2_precise;
    let full = format!("{name}_{types}");
    let entry = INDEX.binary_search_by_key(&full.as_str(), |(known, _)| known).ok()?;
    let (start, end) = INDEX[entry].1[usize::from(is_relaxed) + 2 * usize::from(is_native)];
    let body = &BODIES[start as usize..end as usize];
    // `NONE` is an empty range. A test reads all bodies.
    (!body.is_empty()).then(|| Function::from_bytes(body, &full, span)).flatten()
}

#[cfg(test)]
mod tests {
    use kiln_ir::Module;

    use super::*;

    #[test]
    fn all_bodies_are_sound() {
        let mut module = Module::default();
        for (name, bodies) in &INDEX {
            for &(start, end) in bodies.iter().filter(|(start, end)| start < end) {
                let body = &BODIES[start as usize..end as usize];
                let function = Function::from_bytes(body, name, Span::default());
                module.functions.push(function.unwrap_or_else(|| panic!("{name}: unreadable")));
            }
        }
        assert!(module.functions.len() > INDEX.len());
        assert_eq!(kiln_ir::verify(&module), Vec::<String>::new());
    }

    #[test]
    fn precision_selects_a_body() {
        let precise = Precision {
            is_fma_fused: true,
            is_sqrt_precise: true,
            is_exp2_precise: true,
            ..Precision::GUARANTEED
        };
        let size = |is_relaxed, precision| {
            let function = find("sqrt", "float", is_relaxed, precision, Span::default()).expect("a body");
            function.insts.len()
        };
        assert!(size(false, precise) < size(false, Precision::default()));
        assert!(find("sqrt", "int", false, Precision::default(), Span::default()).is_none());
    }
}
