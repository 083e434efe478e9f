//! Programs that a SPIR-V module cannot contain: reports the limits of SPIR-V that they exceed.

use std::sync::Arc;

use kiln_ir::Module;
use kiln_spirv as spirv;
use kiln_syntax::Span;
use kiln_verify::verify;

use crate::{
    diag::{Code, Diagnostic, Sink},
    session::Options,
};

/// Reports each limit that the emitted module exceeds, once.
pub(crate) fn report(module: &Module, options: &Options, sink: &mut Sink) {
    let kernel = module.functions.iter().find(|function| function.kernel.is_some());
    let whole = kernel.map(|kernel| kernel.span).unwrap_or_default();
    // The verifier returns the lines of its findings, and here a line is a span.
    let file: Arc<str> = Arc::default();
    let position = |span: Span| Some((file.clone(), span.lo, span.hi));
    let Ok(words) = spirv::emit(module, options, Some(&position)) else {
        exceeded("an instruction has at most 65535 words", whole, None, sink);
        return;
    };
    let mut reported: Vec<&str> = Vec::new();
    for finding in verify(&words, Some(&options.target)) {
        let Some(rule) = finding.exceeded_limit().filter(|rule| !reported.contains(&rule.id)) else {
            continue;
        };
        reported.push(rule.id);
        let line = finding.position.and_then(|position| position.line);
        let span = line.map_or(whole, |line| Span { lo: line.line, hi: line.column });
        exceeded(rule.text, span, Some(finding.message), sink);
    }
}

fn exceeded(limit: &str, span: Span, label: Option<String>, sink: &mut Sink) {
    let message = format!("the program exceeds a limit of SPIR-V: {limit}");
    let mut diagnostic = Diagnostic::new(Code::ProgramSize, span, message);
    if let Some(label) = label {
        diagnostic = diagnostic.label(label);
    }
    sink.report(diagnostic.note("SPIR-V 2.17 lists the limits"));
}
