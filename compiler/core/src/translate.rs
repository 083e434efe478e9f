//! Programs from SPIR-V of the OpenCL environment, of any compiler (OpenCL API 5.8.1, `clCreateProgramWithIL`).
//!
//! The module becomes IR, then takes the same path as a source: it is linked by itself, or is a part for `link`. A mistake in
//! the module is a [`Problem`], which names the instruction and its word.

use kiln_ir::Module;
use kiln_read::{Problem, read};
use kiln_syntax::Interner;

use crate::{
    Artifact, Emit, Output, diag::Sink, finish, imports, link, part::Part, session::Options,
    source::SourceMap,
};

/// A module of the OpenCL environment, with values of its specialization constants.
#[derive(Clone, Copy, Debug)]
pub struct Il<'m> {
    /// Its name, for messages.
    pub name: &'m str,
    /// Its words, in the byte order of this machine.
    pub words: &'m [u32],
    /// The bits of specialization constants, by `SpecId`. Others have their default value.
    pub specialization: &'m [(u32, u64)],
}

/// Whether these are the words of a module of the OpenCL environment, by its memory model. The module may be invalid.
pub fn is_kernel_module(words: &[u32]) -> bool {
    const HEADER: usize = 5;
    const MEMORY_MODEL: u32 = 14;
    const OPENCL: u32 = 2;
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        let length = (first >> 16) as usize;
        if first & 0xffff == MEMORY_MODEL {
            return rest.get(2) == Some(&OPENCL);
        }
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    false
}

/// Translates a module for the target that the options select. With [`Emit::Part`], the result is a part for
/// [`link()`](crate::link), which may leave names undefined.
///
/// ```
/// use kiln_compiler::{Artifact, Emit, Il, compile, opencl::Environment, session::{NoFiles, Options, Source},
///     target::Target, translate};
///
/// let source = Source { name: "a.cl".into(), text: b"kernel void k(global int *p) { *p = 1; }".to_vec() };
/// let opencl = Options { target: Target::full(Environment::OpenCl), ..Options::default() };
/// let Some(Artifact::Module(module)) = compile(source, &opencl, &NoFiles, &Emit::Spirv).artifact else { panic!() };
/// let il = Il { name: "a.spv", words: module.words(), specialization: &[] };
/// let output = translate(&il, &Options::default(), &Emit::Spirv).expect("a valid module");
/// assert!(matches!(output.artifact, Some(Artifact::Module(_))));
/// ```
pub fn translate(il: &Il<'_>, options: &Options, emit: &Emit) -> Result<Output, Vec<Problem>> {
    let mut sources = SourceMap::default();
    let how = kiln_read::Options { specialization: il.specialization.to_vec() };
    let module = read(il.words, &how, &mut sources)?;
    Ok(output(il.name, module, sources, options, emit))
}

fn output(name: &str, mut module: Module, sources: SourceMap, options: &Options, emit: &Emit) -> Output {
    let mut sink = Sink::new(options.warnings.clone());
    imports::define(&mut module);
    let artifact = if *emit == Emit::Part {
        Ok(Some(Artifact::Part(Box::new(Part::new(name, module, options, &sources, None)))))
    } else {
        link::resolve(&mut module, &mut sink, false);
        if sink.has_errors() { Ok(None) } else { crate::back_end(module, options, &sources, &mut sink, emit) }
    };
    finish(artifact, None, Vec::new(), sink, sources, Interner::new())
}
