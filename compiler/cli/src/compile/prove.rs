//! `kiln compile --prove`: compares the module with the source, by `kiln_memory_model::refine`.

use std::fmt::Write as _;

use kiln_compiler::{
    Artifact, Emit, Output,
    interface::{Interface, Kernel, ParameterKind},
    opencl::Environment,
    session::{Options, Source},
    target::Target,
};
use kiln_memory_model::{
    Argument, Launch, Module,
    refine::{Unproved, refine},
};

use crate::files::Files;

/// The number of contexts in which each kernel is compared.
const CONTEXTS: u64 = 32;

/// The maximum number of iterations of a loop.
const MAX_ITERATIONS: u32 = 64;
/// The size of each local memory argument.
const LOCAL_BYTES: u32 = 4096;

/// Compares each kernel of a compiled module. Returns what was proved as text, and whether all of it was.
pub(super) fn prove(source: &Source, output: &Output, options: &Options, files: &Files) -> (String, bool) {
    let (Some(Artifact::Module(module)), Some(interface)) = (&output.artifact, &output.interface) else {
        return ("kiln: error: --prove needs a module for Vulkan\n".to_owned(), false);
    };
    let target = Target::full(Environment::OpenCl);
    let plain = Options { target, optimize: false, debug: true, strip: false, ..options.clone() };
    let original = super::output(source.clone(), &plain, files, &Emit::Spirv);
    let Some(Artifact::Module(original)) = original.and_then(|output| output.artifact) else {
        return ("kiln: error: --prove cannot compile the source for OpenCL\n".to_owned(), false);
    };
    let (original, module) = (Module::new(original.words()), Module::new(module.words()));
    let (mut text, mut is_proved) = (String::new(), true);
    for kernel in &interface.kernels {
        let launches = (0..CONTEXTS).map(|seed| launch(interface, kernel, seed)).collect::<Option<Vec<_>>>();
        let Some(launches) = launches else {
            is_proved = false;
            let _ = writeln!(
                text,
                "kiln: error: kernel `{}` is not proved: it has images or other handles",
                kernel.name
            );
            continue;
        };
        match refine(&original, &module, &launches) {
            Ok(proved) => {
                let _ = writeln!(
                    text,
                    "kiln: kernel `{}` is proved in {} runs with {} atomic operations, fences and barriers",
                    kernel.name, proved.runs, proved.operations
                );
                if proved.cut > 0 {
                    let _ = writeln!(
                        text,
                        "kiln: note: {} runs have loops of more than {MAX_ITERATIONS} iterations",
                        proved.cut
                    );
                }
            }
            Err(why) => {
                is_proved = false;
                let verdict = match why {
                    Unproved::Differs(_) => "differs from its source",
                    Unproved::Unsupported(_) => "is not proved",
                };
                let _ = writeln!(text, "kiln: error: kernel `{}` {verdict}: {why}", kernel.name);
            }
        }
    }
    (text, is_proved)
}

/// The launch of a kernel in a context. `seed` selects the values of its arguments; the context itself determines the
/// contents of buffers. `None` if the kernel has images or other handles.
fn launch(interface: &Interface, kernel: &Kernel, seed: u64) -> Option<Launch> {
    let argument = |(index, kind): (usize, &ParameterKind)| match kind {
        ParameterKind::Buffer { .. } => Some(Argument::Buffer(Vec::new())),
        ParameterKind::Local(_) => Some(Argument::Local(LOCAL_BYTES)),
        ParameterKind::Value(ty) => {
            let size = interface.size_of(ty) as usize;
            let word = (seed >> (index % 4)) as u32 % 4;
            Some(Argument::Value(word.to_le_bytes().into_iter().cycle().take(size).collect()))
        }
        _ => None,
    };
    let kinds = kernel.parameters.iter().map(|parameter| &parameter.kind);
    let local = kernel.required_size.unwrap_or([2, 1, 1]);
    Some(Launch {
        kernel: kernel.name.clone(),
        global: [local[0] * 2, local[1], local[2]],
        local,
        sub_group: 1,
        arguments: kinds.enumerate().map(argument).collect::<Option<_>>()?,
        max_iterations: MAX_ITERATIONS,
        ..Launch::default()
    })
}
