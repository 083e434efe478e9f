//! Reports programs without kernels, which a Vulkan module cannot be, and names the functions that may be meant as kernels.

use kiln_frontend::hir::{ExprKind, Function, FunctionId, Module, visit};
use kiln_syntax::Span;

use crate::{
    diag::{Code, Diagnostic, Sink},
    opencl::AddressSpace,
    source::{FileRange, SourceMap},
    ty::{Ty, TyId, Types},
};

/// Whether the program has no kernel, which is reported.
pub(crate) fn report(hir: &Module, sources: &SourceMap, sink: &mut Sink) -> bool {
    if hir.functions.iter().any(|function| function.kernel.is_some()) {
        return false;
    }
    let at = |span| {
        let message = "this program has no kernel, and a Vulkan module must have one";
        Diagnostic::new(Code::TargetFeature, span, message)
    };
    let diagnostic = match meant(hir).split_first() {
        None => {
            let first = hir.functions.iter().next();
            at(first.map_or_else(Span::default, |function| function.span))
                .help("add a kernel, or compile for `--env opencl`")
        }
        Some((first, others)) => {
            let diagnostic =
                at(first.span).label("this may be a kernel").help("write `kernel` before `void`");
            let diagnostic = others.iter().fold(diagnostic, |diagnostic, function| {
                diagnostic.also(function.span, "this may be a kernel, too")
            });
            match start_of_void(first.span, sources) {
                Some(start) => diagnostic.fix(start, "write `kernel`", "kernel "),
                None => diagnostic,
            }
        }
    };
    sink.report(diagnostic);
    true
}

/// The functions that could be kernels: not called, without a result, and with a pointer to memory of the host.
fn meant(hir: &Module) -> Vec<&Function> {
    let called = called(hir);
    let functions = hir.functions.entries().filter(|(id, function)| {
        function.body.is_some()
            && function.result == TyId::VOID
            && !called.contains(id)
            && takes_buffer(function, &hir.types)
    });
    functions.map(|(_, function)| function).collect()
}

fn called(hir: &Module) -> Vec<FunctionId> {
    let mut called = Vec::new();
    for function in hir.functions.iter() {
        visit::expressions(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Call { function, .. } = &expr.kind {
                called.push(*function);
            }
        });
    }
    called
}

/// Whether a parameter is a pointer to global memory, and none is one that a kernel cannot have.
fn takes_buffer(function: &Function, types: &Types) -> bool {
    let mut spaces =
        function.parameters.iter().filter_map(|&local| match types.get(function.locals[local].ty.ty) {
            Ty::Pointer(to) => Some(to.quals.space),
            _ => None,
        });
    let is_of_kernel = |space: &Option<AddressSpace>| {
        matches!(space, Some(AddressSpace::Global | AddressSpace::Constant | AddressSpace::Local))
    };
    let first = spaces.clone().find(|space| *space == Some(AddressSpace::Global));
    first.is_some() && spaces.all(|space| is_of_kernel(&space))
}

/// The position of the `void` before a function's name, if a declaration starts with it.
fn start_of_void(name: Span, sources: &SourceMap) -> Option<Span> {
    let at = sources.resolve(name)?;
    let before = sources.text(&FileRange { file: at.file, range: 0..at.range.start });
    let before = before.trim_end().strip_suffix("void")?;
    let is_first = before.is_empty() || before.ends_with(['\n', ';', '}']);
    is_first.then(|| sources.span(at.file, before.len()..before.len()))
}
