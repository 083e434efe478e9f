//! Reports features that Vulkan lacks, with their source position: pipes and device-side enqueue.

use kiln_builtins::{self as builtins, Lowering};
use kiln_ir::{Function, Handle, Inst, Module, Op, Type};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_syntax::Span;

const PIPES: &str = "pipes, which Vulkan does not have";
const ENQUEUE: &str = "device-side enqueue, which Vulkan does not have";

pub(super) fn refuse_opencl_only(module: &mut Module, _: &Options, sink: &mut Sink) {
    for function in module.functions.iter() {
        let params = function.params().iter().find_map(|&param| of_type(function.ty(param)));
        if params.is_none() && !function.insts.iter().any(|inst| used(function, inst).is_some()) {
            continue;
        }
        let uses: Vec<(Span, &str)> = function
            .inst_order()
            .into_iter()
            .filter_map(|id| used(function, &function.insts[id]).map(|what| (function.insts[id].span, what)))
            .collect();
        // Report a parameter that is used at its uses.
        let found = if uses.is_empty() {
            params.map(|what| (function.span, what)).into_iter().collect()
        } else {
            uses
        };
        let mut told = None;
        for (span, what) in found {
            if told != Some(what) {
                sink.report(diagnostic(span, what));
            }
            told = Some(what);
        }
    }
}

fn diagnostic(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(Code::TargetFeature, span, format!("this needs {what}"))
        .help("compile it for `--env opencl`, which has it, or pass data through buffers and launch from the host")
        .note("OpenCL C 6.2.1: a device need not have this feature; programs ask for it by its feature macro")
}

fn used(function: &Function, inst: &Inst) -> Option<&'static str> {
    match inst.op {
        Op::Builtin(builtin, _) => match builtins::row(builtin).lowering {
            Lowering::Pipe(..) => Some(PIPES),
            Lowering::Enqueue(_) => Some(ENQUEUE),
            _ => None,
        },
        _ => inst.results.iter().find_map(|&result| of_type(function.ty(result))),
    }
}

const fn of_type(ty: Type) -> Option<&'static str> {
    match ty {
        Type::Handle(Handle::Pipe { .. } | Handle::ReserveId) => Some(PIPES),
        Type::Handle(Handle::Queue | Handle::DeviceEvent | Handle::Function) => Some(ENQUEUE),
        _ => None,
    }
}
