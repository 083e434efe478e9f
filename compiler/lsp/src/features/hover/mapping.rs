//! Hover for atomic operations, fences and barriers: what the call becomes on Vulkan.

use kiln_frontend::hir::{Atomic, Expr, ExprKind, Known, visit};
use kiln_memory::{Access, Group, Operation, ProgramFacts, Replacement, Spaces, Sync, explained_replacement};
use kiln_types::ty::Ty;
use kiln_vocabulary::opencl::{AddressSpace, Environment};

use crate::{
    analysis::{Analysis, Cursor},
    names::Name,
};

/// What this call becomes on Vulkan, and why. Empty for other calls, and if an argument is known only at run time.
pub(super) fn text(cursor: &Cursor<'_>, name: &Name) -> String {
    let analysis = cursor.analysis;
    let mut found = None;
    for function in analysis.survey.program.functions.iter() {
        visit::expressions(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            let is_here = || {
                let location = analysis.spelling(expr.span);
                location.is_some_and(|it| {
                    it.file == name.location.file && it.range.start == name.location.range.start
                })
            };
            if let Some(operation) = operation(analysis, expr).filter(|_| found.is_none() && is_here()) {
                found = Some(operation);
            }
        });
    }
    let Some((operation, sync)) = found else { return String::new() };
    let with = |sync: Sync| {
        let order = sync.order.short_name();
        format!("{order}, {} scope", sync.scope.short_name())
    };
    let (replacement, rules) =
        explained_replacement(Environment::Vulkan, operation, sync, &ProgramFacts::default());
    let becomes = match replacement {
        Replacement::Same(sync) => format!("the same operation, {}", with(sync)),
        Replacement::LoadAsModify(sync) => format!("`OpAtomicOr` with 0, {}", with(sync)),
        Replacement::StoreAsExchange(sync) => format!("`OpAtomicExchange`, {}", with(sync)),
        Replacement::CompareExchange { attempt, .. } => {
            format!("the same operation, {}, and `OpAtomicOr` with 0 if it fails", with(attempt))
        }
        Replacement::FenceThroughWord { word, .. } => {
            format!(
                "an addition of 0 to a word that all work-items share, {}, between two fences",
                with(word)
            )
        }
    };
    let reasons: String = rules.iter().map(|rule| format!(" {}: {}.", rule.name(), rule.reason())).collect();
    format!(
        "On Vulkan: {becomes}.{reasons} Other operations of the program can require more; `kiln explain --mapping` shows all."
    )
}

/// The operation of an expression, if its arguments are constants.
fn operation(analysis: &Analysis, expr: &Expr) -> Option<(Operation, Sync)> {
    Some(match &expr.kind {
        ExprKind::Atomic(atomic) => {
            let access = Access::from(atomic.op);
            let object = object_spaces(analysis, atomic);
            let failure = match &atomic.failure {
                Some(failure) => Some(constant(failure)?),
                None => None,
            };
            let sync = Sync::atomic(object, constant(&atomic.order)?, constant(&atomic.scope)?);
            (Operation::Atomic(access, object), Sync { failure, ..sync })
        }
        ExprKind::Fence(fence) => {
            let flags = constant(&fence.flags)?;
            (Operation::Fence, Sync::fence(flags, constant(&fence.order)?, constant(&fence.scope)?))
        }
        ExprKind::Barrier(barrier) => {
            let sync = Sync::barrier(constant(&barrier.flags)?, constant(&barrier.scope)?);
            (Operation::Barrier(Group::from_scope(barrier.execution)), sync)
        }
        _ => return None,
    })
}

fn constant<T: Copy>(value: &Known<T>) -> Option<T> {
    match value {
        Known::Constant(value) => Some(*value),
        Known::Dynamic(_) => None,
    }
}

/// The memory that can contain the object.
fn object_spaces(analysis: &Analysis, atomic: &Atomic) -> Spaces {
    let space = match analysis.survey.program.types.get(atomic.object.ty) {
        Ty::Pointer(to) => to.quals.space,
        _ => None,
    };
    match space {
        Some(AddressSpace::Global) => Spaces::GLOBAL,
        Some(AddressSpace::Local) => Spaces::LOCAL,
        _ => Spaces::BOTH,
    }
}
