//! `kiln-compiler`: OpenCL C in, SPIR-V words, reflection and diagnostics out.
//!
//! Pure: no IO, no clock, no environment, no threads of its own. Files are reached through the caller's `Loader`.
//! This page is the pipeline; each stage is a function in a module of its own and prints what it makes.

mod binary16;
pub mod builtins;
pub mod diag;
pub mod emit;
pub mod extensions;
pub mod fold;
pub mod hir;
pub mod index;
pub mod interface;
pub mod ir;
mod library;
pub mod lower;
pub mod memory;
pub mod passes;
pub mod pp;
pub mod pragma;
pub mod sema;
pub mod session;
pub mod source;
mod stage;
pub mod survey;
pub mod syntax;
pub mod ty;

pub use kiln_verify as verify;
pub use kiln_vocabulary::{faults, opencl, target};
pub use stage::{Artifact, Emit};

use kiln_syntax::{Arena, Interner};

use crate::{
    diag::{Diagnostic, Sink},
    interface::Interface,
    session::{Loader, Options, Source},
    source::SourceMap,
    verify::{InvalidModule, VerifiedModule},
};

/// What a compilation gives.
pub struct Output {
    /// What was asked for; none when there are errors.
    pub artifact: Option<Artifact>,
    /// What the program offers to its host; none when there are errors, or when the type checker was not come to.
    pub interface: Option<Interface>,
    /// The rules of SPIR-V that the emitted module breaks. That is a fault of the compiler, not of the source; there is no
    /// artifact then.
    pub invalid_module: Option<InvalidModule>,
    /// Errors and warnings in the order found.
    pub diagnostics: Vec<Diagnostic>,
    /// Errors beyond the limit that are only counted.
    pub hidden_errors: usize,
    /// What the diagnostics' positions mean.
    pub sources: SourceMap,
    /// The names in them.
    pub interner: Interner,
    /// The files that were included, each once, in the order of their first use.
    pub dependencies: Vec<String>,
}

impl Output {
    /// Whether there was an error.
    pub fn has_errors(&self) -> bool {
        self.artifact.is_none()
    }
}

/// Compiles a source as far as `emit` asks. A user's mistake is a diagnostic, never a panic.
pub fn compile(source: Source, options: &Options, loader: &dyn Loader, emit: &Emit) -> Output {
    let mut sources = SourceMap::default();
    let mut interner = Interner::new();
    let mut sink = Sink::new(options.warnings.clone());
    let preprocessed = pp::preprocess(options, source, loader, &mut sources, &mut interner, &mut sink, None);
    let mut interface = None;
    let emitted = match emit {
        Emit::Preprocessed => {
            let text = pp::print(&preprocessed.tokens, &sources, &interner, pp::LineMarkers::Left);
            Ok(Some(Artifact::Text(text)))
        }
        _ => stages(preprocessed.tokens, options, &sources, &mut interner, &mut sink, emit, &mut interface),
    };
    let (artifact, invalid_module) = match emitted {
        Ok(artifact) => (artifact.filter(|_| !sink.has_errors()), None),
        Err(invalid_module) => (None, Some(invalid_module)),
    };
    let (diagnostics, hidden_errors) = sink.finish(|span| sources.order(span));
    Output {
        interface: interface.filter(|_| artifact.is_some()),
        artifact,
        invalid_module,
        diagnostics,
        hidden_errors,
        sources,
        interner,
        dependencies: preprocessed.dependencies,
    }
}

/// Everything behind the preprocessor; none when it stops at errors. Whatever the build, a module is verified before it is
/// an artifact.
fn stages(
    tokens: Vec<kiln_syntax::token::Token>,
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
    let extent = match emit {
        Emit::Nothing => sema::Extent::Source,
        _ if options.is_part => sema::Extent::Part,
        _ => sema::Extent::Program,
    };
    let hir = survey::check(parsed, extent, options, sources, interner, sink, None);
    if sink.has_errors() {
        return Ok(None);
    }
    *interface = Some(Interface::of(&hir, interner));
    match emit {
        Emit::Nothing => return Ok(Some(Artifact::Text(String::new()))),
        Emit::Hir => return Ok(Some(Artifact::Text(hir::print(&hir, interner)))),
        _ => {}
    }
    let mut module = lower::lower(&hir, interner, sink, options.overflow);
    // The passes make new instructions in its memory.
    drop(hir);
    if *emit == Emit::Ir {
        return Ok(Some(Artifact::Text(module.to_string())));
    }
    let mut wanted = None;
    passes::run(&mut module, options, sink, &mut |pass, module| {
        if matches!(emit, Emit::IrAfter(name) if name == pass) {
            wanted = Some(module.to_string());
        }
    });
    if sink.has_errors() {
        return Ok(None);
    }
    if let Emit::IrAfter(_) = emit {
        return Ok(Some(Artifact::Text(wanted.unwrap_or_else(|| module.to_string()))));
    }
    let spot = |span| {
        let place = sources.resolve(span)?;
        let (file, line) = sources.presumed(place.file, place.range.start);
        Some((file.clone(), line, sources.position(place.file, place.range.start).column))
    };
    let place =
        |span| spot(span).map(|(file, line, column)| format!("{file}:{line}:{column}")).unwrap_or_default();
    if let Some(bounds) = &mut module.bounds {
        bounds.places = bounds.sites.iter().map(|&(site, _)| place(site)).collect();
    }
    for trap in &mut module.interface.traps {
        trap.place = place(trap.span);
    }
    let words = emit::emit(&module, options, (options.debug && !options.strip).then_some(&spot));
    let module = VerifiedModule::new(words, Some(&options.target))?;
    Ok(Some(match emit {
        Emit::Assembly => Artifact::Text(emit::disassemble(module.words())),
        _ => Artifact::Module(module),
    }))
}
