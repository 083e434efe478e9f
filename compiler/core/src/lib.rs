//! The Kiln compiler: compiles OpenCL C to SPIR-V, a kernel interface and diagnostics.
//!
//! The crate is pure: no I/O, no clock, no environment variables, no threads. Included files are read through the
//! caller's `Loader`.
//!
//! This file is the pipeline. Each stage is a function in its own module, and the result of each stage can be
//! printed.
//!
//! ```
//! use kiln_compiler::{
//!     Artifact, Emit, compile,
//!     session::{NoFiles, Options, Source},
//! };
//!
//! let source = Source { name: "a.cl".into(), text: b"kernel void k(global int *p) { *p = 1; }".to_vec() };
//! let output = compile(source, &Options::default(), &NoFiles, &Emit::Spirv);
//! assert!(matches!(output.artifact, Some(Artifact::Module(_))));
//! ```

#[cfg(test)]
mod growth;
mod imports;
mod limits;
mod link;
mod no_kernel;
mod part;
mod stage;
mod translate;

pub use kiln_builtins as builtins;
pub use kiln_frontend::{hir, interface, sema, survey};
pub use kiln_memory as memory;
pub use kiln_read::{Problem, needs_reader};
pub use kiln_session as session;
pub use kiln_session::{diag, extensions, source};
pub use kiln_spirv::with_proved_launch;
pub use kiln_types::ty;
pub use kiln_verify as verify;
pub use kiln_vocabulary::reflection::ProvedLaunch;
pub use kiln_vocabulary::{debug, driver_bugs, opencl, precision, target, tuning};
pub use link::link;
pub use part::{Part, PartError};
pub use stage::{Artifact, Emit};
pub use translate::{Il, is_kernel_module, translate};

use std::sync::Arc;

use kiln_frontend::syntax;
use kiln_ir::Module;
use kiln_lower as lower;
use kiln_memory::MappingRule;
use kiln_passes::{self as passes, Providers};
use kiln_preprocessor as pp;
use kiln_spirv as spirv;
use kiln_syntax::{Arena, Interner, Span};

use crate::{
    diag::{Diagnostic, Sink},
    interface::Interface,
    session::{Loader, Options, Source},
    source::SourceMap,
    verify::{InvalidModule, VerifiedModule},
};

/// The functions of other packages that the passes use.
const PROVIDERS: Providers =
    Providers { has_instruction: spirv::has_instruction, library_function: kiln_library::find };

/// The result of a compilation.
pub struct Output {
    /// The requested artifact. `None` on errors.
    pub artifact: Option<Artifact>,
    /// The kernels and program-scope objects that the host can use. `None` on errors, or if type checking did not
    /// run.
    pub interface: Option<Interface>,
    /// The SPIR-V rules that the emitted module breaks. This is a bug in the compiler, not in the source. `artifact`
    /// is `None` then.
    pub invalid_module: Option<InvalidModule>,
    /// Errors and warnings, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of errors beyond the limit, which are counted but not listed.
    pub hidden_errors: usize,
    /// The rules of docs/memory-model.md that changed operations, with the operations' spans.
    pub mapping_rules: Vec<(Span, MappingRule)>,
    /// Maps the spans in the diagnostics to files and lines.
    pub sources: SourceMap,
    /// Maps symbols to names.
    pub interner: Interner,
    /// The included files, without duplicates, in the order of first use.
    pub dependencies: Vec<String>,
}

impl Output {
    /// Whether compilation failed.
    pub fn has_errors(&self) -> bool {
        self.artifact.is_none()
    }
}

/// Runs the pipeline up to the stage that `emit` selects. Mistakes in the source become diagnostics, never panics.
pub fn compile(source: Source, options: &Options, loader: &dyn Loader, emit: &Emit) -> Output {
    let mut sources = SourceMap::default();
    let mut interner = Interner::new();
    let mut sink = Sink::new(options.warnings.clone());
    let name = source.name.clone();
    let preprocessed = match emit {
        Emit::Preprocessed => {
            pp::preprocess_to_print(options, source, loader, &mut sources, &mut interner, &mut sink)
        }
        _ => pp::preprocess(options, source, loader, &mut sources, &mut interner, &mut sink, None),
    };
    let mut interface = None;
    let emitted = match emit {
        Emit::Preprocessed => {
            let text = pp::print(&preprocessed.tokens, &sources, &interner, pp::LineMarkers::Omit);
            Ok(Some(Artifact::Text(text)))
        }
        _ => stages(
            (&name, preprocessed.tokens),
            options,
            &sources,
            &mut interner,
            &mut sink,
            emit,
            &mut interface,
        ),
    };
    finish(emitted, interface, preprocessed.dependencies, sink, sources, interner)
}

/// The result of a compilation, from the last stage that ran.
fn finish(
    emitted: Result<Option<Artifact>, InvalidModule>,
    interface: Option<Interface>,
    dependencies: Vec<String>,
    mut sink: Sink,
    sources: SourceMap,
    interner: Interner,
) -> Output {
    let (artifact, invalid_module) = match emitted {
        Ok(artifact) => (artifact.filter(|_| !sink.has_errors()), None),
        Err(invalid_module) => (None, Some(invalid_module)),
    };
    let mapping_rules = sink.take_mapping();
    let (diagnostics, hidden_errors) = sink.finish(|span| sources.order(span));
    Output {
        interface: interface.filter(|_| artifact.is_some()),
        artifact,
        invalid_module,
        diagnostics,
        hidden_errors,
        mapping_rules,
        sources,
        interner,
        dependencies,
    }
}

/// The variables of a program, for a debugger. Empty if the source has errors.
pub fn variables(source: Source, options: &Options, loader: &dyn Loader) -> debug::Variables {
    let mut sources = SourceMap::default();
    let mut interner = Interner::new();
    let mut sink = Sink::new(options.warnings.clone());
    let tokens = pp::preprocess(options, source, loader, &mut sources, &mut interner, &mut sink, None).tokens;
    let arena = Arena::default();
    let parsed = kiln_syntax::parse::parse(&tokens, &arena, &sources, options.max_depth);
    let unit_kind = sema::UnitKind::Program;
    let hir = survey::check(parsed, unit_kind, options, &sources, &mut interner, &mut sink, None);
    if sink.has_errors() {
        return debug::Variables::default();
    }
    kiln_frontend::variables::variables(&hir, &sources, &interner)
}

/// Runs the stages after the preprocessor. Returns `None` if one of them reports errors.
fn stages(
    (name, tokens): (&str, Vec<kiln_syntax::token::Token>),
    options: &Options,
    sources: &SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    emit: &Emit,
    interface: &mut Option<Interface>,
) -> Result<Option<Artifact>, InvalidModule> {
    let arena = Arena::default();
    let parsed = kiln_syntax::parse::parse(&tokens, &arena, sources, options.max_depth);
    drop(tokens);
    if *emit == Emit::Ast {
        syntax::report(&parsed.errors, sources, interner, sink);
        return Ok(Some(Artifact::Text(kiln_syntax::print::print(&parsed.unit, interner))));
    }
    let unit_kind = match emit {
        Emit::Nothing => sema::UnitKind::Source,
        _ if options.is_part || *emit == Emit::Part => sema::UnitKind::Part,
        _ => sema::UnitKind::Program,
    };
    let hir = survey::check(parsed, unit_kind, options, sources, interner, sink, None);
    if sink.has_errors() {
        return Ok(None);
    }
    *interface = Some(Interface::from_module(&hir, interner));
    match emit {
        Emit::Nothing => return Ok(Some(Artifact::Text(String::new()))),
        Emit::Hir => {
            let position = |span| position(sources, span);
            let positions: Option<hir::Positions<'_>> = options.debug.then_some(&position);
            return Ok(Some(Artifact::Text(hir::print(&hir, interner, positions))));
        }
        _ => {}
    }
    if unit_kind == sema::UnitKind::Program
        && options.target.environment == opencl::Environment::Vulkan
        && no_kernel::report(&hir, sources, sink)
    {
        return Ok(None);
    }
    let module = lower::lower(&hir, interner, sink, options.overflow);
    // Free the tree before the passes allocate new instructions.
    drop(hir);
    if *emit == Emit::Part {
        let part = Part::new(name, module, options, sources, interface.clone());
        return Ok(Some(Artifact::Part(Box::new(part))));
    }
    back_end(module, options, sources, sink, emit)
}

/// The presumed file and line of a span, and its column.
pub fn presumed_position(sources: &SourceMap, span: Span) -> Option<(Arc<str>, u32, u32)> {
    let location = sources.resolve(span)?;
    let (file, line) = sources.presumed(location.file, location.range.start);
    Some((file.clone(), line, sources.position(location.file, location.range.start).column))
}

/// `file:line:column`
fn position(sources: &SourceMap, span: Span) -> Option<String> {
    presumed_position(sources, span).map(|(file, line, column)| format!("{file}:{line}:{column}"))
}

/// Runs the passes and the emitter. Verifies every module before it becomes an artifact, in release builds too.
fn back_end(
    mut module: Module,
    options: &Options,
    sources: &SourceMap,
    sink: &mut Sink,
    emit: &Emit,
) -> Result<Option<Artifact>, InvalidModule> {
    let text = |module: &Module| match options.debug {
        true => module.text_with_positions(&|span| position(sources, span)),
        false => module.to_string(),
    };
    if *emit == Emit::Ir {
        return Ok(Some(Artifact::Text(text(&module))));
    }
    let mut wanted = None;
    let mut after = |pass: &str, module: &Module| {
        if matches!(emit, Emit::IrAfter(name) if name == pass) {
            wanted = Some(text(module));
        }
    };
    let is_watched = matches!(emit, Emit::IrAfter(_));
    passes::run(&mut module, options, &PROVIDERS, sink, if is_watched { Some(&mut after) } else { None });
    if sink.has_errors() {
        return Ok(None);
    }
    if let Emit::IrAfter(_) = emit {
        return Ok(Some(Artifact::Text(wanted.unwrap_or_else(|| text(&module)))));
    }
    let position_text = |span| position(sources, span).unwrap_or_default();
    if let Some(bounds) = &mut module.bounds {
        bounds.positions = bounds.sites.iter().map(|&(site, _)| position_text(site)).collect();
    }
    for trap in &mut module.interface.traps {
        trap.position = position_text(trap.span);
    }
    let position = |span| presumed_position(sources, span);
    let emitted = spirv::emit(&module, options, (options.debug && !options.strip).then_some(&position));
    let verified = emitted.map(|words| VerifiedModule::new(words, Some(&options.target)));
    let module = match verified {
        Ok(Ok(verified)) => verified,
        Ok(Err(invalid)) if invalid.findings.iter().any(|it| it.exceeded_limit().is_none()) => {
            return Err(invalid);
        }
        Ok(Err(_)) | Err(spirv::OversizedInstruction) => {
            limits::report(&module, options, sink);
            return Ok(None);
        }
    };
    Ok(Some(match emit {
        Emit::Assembly => Artifact::Text(spirv::disassemble(module.words())),
        _ => Artifact::Module(module),
    }))
}
