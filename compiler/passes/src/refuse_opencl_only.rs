//! Reports features that Vulkan lacks, with their source position: device-side enqueue.

use kiln_builtins::{self as builtins, Lowering};
use kiln_ir::{Function, Handle, Inst, Module, Op, Type};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_syntax::Span;

pub(super) fn refuse_opencl_only(module: &mut Module, _: &Options, sink: &mut Sink) {
    for function in module.functions.iter() {
        let is_in_params = function.params().iter().any(|&param| is_enqueue(function.ty(param)));
        if !is_in_params && !function.insts.iter().any(|inst| uses(function, inst)) {
            continue;
        }
        let order = function.inst_order();
        let first = order.into_iter().map(|id| &function.insts[id]).find(|inst| uses(function, inst));
        // A parameter that is used is reported at its first use.
        if let Some(span) = first.map(|inst| inst.span).or(is_in_params.then_some(function.span)) {
            sink.report(diagnostic(span));
        }
    }
}

fn diagnostic(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::TargetFeature,
        span,
        "this needs device-side enqueue, which Vulkan does not have".to_owned(),
    )
    .help("compile it for `--env opencl`, which has it, or launch from the host")
    .note("OpenCL C 6.2.1: a device need not have this feature; programs ask for it by its feature macro")
}

fn uses(function: &Function, inst: &Inst) -> bool {
    match inst.op {
        Op::Builtin(builtin, _) => matches!(builtins::row(builtin).lowering, Lowering::Enqueue(_)),
        _ => inst.results.iter().any(|&result| is_enqueue(function.ty(result))),
    }
}

const fn is_enqueue(ty: Type) -> bool {
    matches!(ty, Type::Handle(Handle::Queue | Handle::DeviceEvent | Handle::Function))
}
