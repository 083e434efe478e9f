//! The program of `cargo xtask library`: compiles the bodies of built-in functions to the IR, so that the compiler does
//! not have to. The result is committed, so building Kiln requires no OpenCL C compiler.

mod index;
mod items;
mod sources;

use std::{fs, path::PathBuf, process::ExitCode};

use self::index::Generated;

fn main() -> ExitCode {
    let Generated { index, bodies } = index::generate();
    let written = fs::create_dir_all(folder())
        .and_then(|()| fs::write(folder().join("index.rs"), index))
        .and_then(|()| fs::write(folder().join("bodies.bin"), bodies));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write to {}: {error}", folder().display());
            ExitCode::FAILURE
        }
    }
}

/// The folder of the generated files.
fn folder() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).expect("a package in the repository");
    root.join("compiler/library/src/generated")
}

#[cfg(test)]
mod tests {
    use kiln_ir::{Function, Module};
    use kiln_syntax::Span;

    use super::*;

    #[test]
    fn the_committed_bodies_are_up_to_date() {
        let Generated { index, bodies } = index::generate();
        let is_fresh = fs::read_to_string(folder().join("index.rs"))
            .is_ok_and(|committed| committed == index)
            && fs::read(folder().join("bodies.bin")).is_ok_and(|committed| committed == bodies);
        assert!(is_fresh, "the compiled library is out of date: run `cargo xtask library`");
    }

    #[test]
    fn bodies_of_each_precision_are_distinguished() {
        let bodies = index::bodies("half_sin_float").expect("the library has it");
        let [exact, relaxed, native, _] = &bodies;
        assert!(exact.is_some() && native.is_some());
        assert_ne!(exact, relaxed);
        assert_ne!(exact, native);
        let mut module = Module::default();
        for body in bodies.iter().flatten() {
            let function = Function::from_bytes(body, "half_sin_float", Span::default()).expect("a function");
            module.functions.push(function);
        }
        assert_eq!(kiln_ir::verify(&module), Vec::<String>::new());
    }
}
