//! Rejects operations that the target does not support and no pass lowers. The message names the feature.

mod cycles;

use kiln_ir::{Function, ImageAction, Inst, Module, Op, Scalar, Type};
use kiln_memory::{self as memory, Spaces};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_syntax::Span;
use kiln_types::ty::Access;
use kiln_vocabulary::{
    opencl::{Environment, Scope},
    target::Target,
};

pub(super) fn reject_unsupported(module: &mut Module, options: &Options, sink: &mut Sink) {
    let target = &options.target;
    if target.environment == Environment::Vulkan && !module.functions.iter().any(|it| it.kernel.is_some()) {
        let span = module.functions.iter().next().map_or_else(Span::default, |function| function.span);
        sink.report(
            Diagnostic::new(
                Code::TargetFeature,
                span,
                "this program has no kernel, and a Vulkan module must have one",
            )
            .help("add a kernel, or compile for `--env opencl`"),
        );
    }
    if target.environment == Environment::OpenCl {
        for var in cycles::cycles(module) {
            let message = "the initializers of program-scope variables contain each other's addresses, which a module for OpenCL cannot express";
            let diagnostic = Diagnostic::new(Code::TargetFeature, module.vars[var].span, message);
            sink.report(diagnostic.help("store one of the addresses in a kernel that runs first"));
        }
    }
    // Report each source position once, however often its function was inlined.
    let mut reported: Vec<Span> = Vec::new();
    for function in module.functions.iter() {
        for id in function.inst_order() {
            let inst = &function.insts[id];
            let found = missing_feature(function, inst, target)
                .map(|what| with_profile(missing_feature_error(inst.span, what), target))
                .or_else(|| {
                    let (operation, sync) = inst.op.synchronization(function.object_spaces(id))?;
                    let problem = memory::check(target, operation, sync).err()?;
                    let diagnostic = Diagnostic::of_problem(problem, inst.span);
                    Some(if diagnostic.code == Code::TargetFeature {
                        with_profile(diagnostic, target)
                    } else {
                        diagnostic
                    })
                });
            if let Some(diagnostic) = found
                && !reported.contains(&inst.span)
            {
                reported.push(inst.span);
                sink.report(diagnostic);
            }
        }
    }
}

/// Adds the target profile that lacks the feature to a diagnostic.
pub(super) fn with_profile(diagnostic: Diagnostic, target: &Target) -> Diagnostic {
    match &target.profile {
        Some(name) => diagnostic.note(format!("the module is for the device profile `{name}`")),
        None => diagnostic,
    }
}

fn missing_feature_error(span: Span, what: &str) -> Diagnostic {
    let message = format!("this needs {what}");
    Diagnostic::new(Code::TargetFeature, span, message).help("avoid it here, or choose another device")
}

/// Whether the instruction's image is writable.
fn is_written(function: &Function, inst: &Inst) -> bool {
    matches!(function.ty(inst.args[0]), Type::Image(image) if image.access != Access::ReadOnly)
}

/// The feature that an instruction needs and the target lacks.
fn missing_feature(function: &Function, inst: &Inst, target: &Target) -> Option<&'static str> {
    let features = &target.features;
    let values = || inst.args.iter().chain(&inst.results).map(|&value| function.ty(value));
    if !features.fp64 && values().any(|ty| ty.scalar() == Some(Scalar::F64)) {
        return Some("64-bit floating-point numbers (double), which the device lacks");
    }
    let is_vulkan = target.environment == Environment::Vulkan;
    match &inst.op {
        // OpenCL C has none; a kernel module can.
        Op::Load { .. } | Op::Store { .. }
            if is_vulkan && values().any(|ty| matches!(ty, Type::Image(_))) =>
        {
            Some("images in memory, which Vulkan lacks")
        }
        Op::Image(ImageAction::Load(_)) if !features.read_write_images && is_written(function, inst) => {
            Some("images that are read and written, which the device lacks")
        }
        Op::Barrier { execution: Scope::SubGroup, .. } if !features.subgroups => {
            Some("sub-groups, which the device lacks")
        }
        Op::Atomic(atomic) if atomic.ty.size() == 8 => {
            let spaces = inst.args.first().map_or(Spaces::NONE, |&object| match function.ty(object) {
                Type::Pointer(space) => Spaces::for_pointer(space),
                _ => Spaces::GLOBAL,
            });
            let lacks = (spaces.contains(Spaces::GLOBAL) && !features.int64_global_atomics)
                || (spaces.contains(Spaces::LOCAL) && !features.int64_local_atomics);
            lacks.then_some("64-bit atomic operations, which the device lacks")
        }
        Op::Atomic(atomic) if atomic.ty.size() < 4 && (is_vulkan || !atomic.ty.is_float()) => {
            Some("atomic operations of less than 32 bits, which the device lacks")
        }
        _ => None,
    }
}
