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
///
/// ```
/// mod histogram {
///     kiln_macros::kernel_file!(
///         "../../examples/histogram/histogram.cl",
///         std = "CL2.0",
///         device_profile = "lavapipe"
///     );
/// }
///
/// assert_eq!(histogram::SPIRV[..4], 0x0723_0203_u32.to_le_bytes());
/// ```
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

/// Compiles the source in a string literal and expands to its bindings. They have the names and the layouts of the
/// program:
///
/// ```
/// mod things {
///     kiln_macros::kernel! {
///         r#"
///         enum mode { SLOW, FAST = 7 };
///         typedef struct {
///             float x; float4 v; float3 w[2]; char c; global int *p; union { int i; float f; } u;
///         } thing;
///         struct __attribute__((packed)) odd { char a; int b; };
///         kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1)))
///         void type(global thing *self, constant float *range, local float4 *scratch, thing one,
///                   global struct odd *fn, uint n, enum mode mode, read_only image2d_t picture,
///                   sampler_t sampler, const global void *)
///         {
///             self[0].x = range[0] + one.x + fn[0].b + mode + n;
///         }
///         "#,
///         define = "WIDTH=64"
///     }
/// }
///
/// use things::{Anonymous0, FAST, SLOW, TYPE_WORK_GROUP_SIZE, odd, thing};
///
/// assert_eq!((SLOW, FAST), (0, 7));
/// assert_eq!(TYPE_WORK_GROUP_SIZE, [64, 1, 1]);
/// assert_eq!((size_of::<thing>(), align_of::<thing>(), size_of::<odd>()), (96, 16, 5));
/// let one = thing { x: 1.0, p: 8, u: Anonymous0 { bytes: 5i32.to_ne_bytes() }, ..Default::default() };
/// assert_eq!((std::mem::offset_of!(thing, u), one.u.bytes), (80, 5i32.to_ne_bytes()));
/// assert_eq!(things::SPIRV[..4], 0x0723_0203_u32.to_le_bytes());
/// ```
// The tests of the macros are examples: a test program would make clippy build the whole compiler for them.
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
