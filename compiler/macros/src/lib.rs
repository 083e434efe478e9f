//! Compiles OpenCL C kernels in place, as an alternative to a build script.
//!
//! ```
//! use kiln_runtime::{Instance, Options, Selector};
//!
//! mod scale {
//!     kiln_macros::kernel! {
//!         "kernel void scale(global float *x) { x[get_global_id(0)] *= FACTOR; }",
//!         define = "FACTOR=3"
//!     }
//! }
//!
//! # fn main() -> kiln_runtime::Result<()> {
//! let device = Instance::new(Options::default())?.device(&Selector::from("vulkan-reference"))?;
//! let queue = device.queue()?;
//! let numbers = device.buffer_from(&[1.0f32, 2.0, 4.0])?;
//! // SAFETY: the kernel stays within its buffer.
//! unsafe { scale::Program::load(&device)?.scale(&queue, 3, &numbers)? };
//! assert_eq!(queue.read(&numbers)?, [3.0, 6.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! `kernel_file!("kernels/blur.cl", define = "RADIUS=3")` compiles a file.
//!
//! The macros expand to the bindings of `kiln-build`. Options follow the source: `std = "CL3.0"`, `define =
//! "NAME=value"`, `include = "folder"`, `extension = "+name"`, `fast_relaxed_math = true`, `warnings_as_errors =
//! true`. Paths are relative to the package directory. This crate owns the macros' grammar; `kiln-build` compiles and
//! generates bindings.

mod input;

use std::{env, fs, path::Path};

use kiln_build::{
    Compiled, Source,
    bindings::{Module, rust},
    compile,
};
use proc_macro::{Span, TokenStream, TokenTree};

use crate::input::{Input, Problem};

/// Compiles a source file and expands to its bindings.
#[proc_macro]
pub fn kernel_file(input: TokenStream) -> TokenStream {
    expand(input, |input| {
        let path = Path::new(&input.folder).join(&input.text);
        let text = fs::read(&path)
            .map_err(|error| input.problem(format!("cannot read `{}`: {error}", input.text)))?;
        let compiled = compiled(input, input.text.clone(), text)?;
        Ok((input.text.clone(), compiled, vec![path.to_string_lossy().into_owned()]))
    })
}

/// Compiles the source in a string literal and expands to its bindings.
#[proc_macro]
pub fn kernel(input: TokenStream) -> TokenStream {
    expand(input, |input| {
        let source = "kernel!".to_owned();
        let compiled = compiled(input, source.clone(), input.text.clone().into_bytes())?;
        Ok((source, compiled, Vec::new()))
    })
}

/// Compiles the program and generates the bindings. Also tracks the files that were read.
fn expand(
    input: TokenStream,
    make: impl FnOnce(&Input) -> Result<(String, Compiled, Vec<String>), Problem>,
) -> TokenStream {
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| ".".to_owned());
    let made = input::parse(input, folder).and_then(|input| {
        let (source, compiled, mut read) = make(&input)?;
        read.extend(input.read.iter().chain(&compiled.dependencies).cloned());
        // rustc cannot see which files a macro reads. `include_bytes!` makes it expand the macro again when one
        // changes.
        let tracked: String =
            read.iter().map(|path| format!("const _: &[u8] = include_bytes!({path:?});")).collect();
        Ok(rust(&compiled.interface, &source, &Module::Bytes(compiled.bytes())) + &tracked)
    });
    match made {
        Ok(code) => code.parse().expect("the bindings are Rust"),
        Err(Problem { span, text }) => error(span, &text),
    }
}

fn compiled(input: &Input, name: String, text: Vec<u8>) -> Result<Compiled, Problem> {
    compile(Source { name, text }, &input.options).map_err(|error| input.problem(error.to_string()))
}

/// Emits `compile_error!` at this location.
fn error(span: Span, text: &str) -> TokenStream {
    let code: TokenStream = format!("compile_error!({text:?});").parse().expect("it is Rust");
    let at = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    code.into_iter().map(at).collect()
}
