//! Completes orders, scopes and fence flags as arguments, restricted to those that OpenCL C 6.15.12 allows.

use kiln_builtins::{self as builtins, Fence, Lowering};
use kiln_memory::{Access, Group, check_barrier, check_fence, failure_orders};
use kiln_types::ty;
use kiln_vocabulary::opencl::{FenceFlags, LanguageVersion, Order, Scope};
use lsp_types::{CompletionItem, CompletionItemKind, Documentation};

use crate::{analysis::Cursor, call::OpenCall, documentation};

/// The values allowed at the cursor, whose word starts at `start`, most likely first.
pub(super) fn complete(cursor: &Cursor<'_>, start: usize) -> Vec<CompletionItem> {
    let text = cursor.text();
    let Some(call) = cursor.open_call(start) else { return Vec::new() };
    let name = &text[call.name.clone()];
    let Some(row) = builtins::first_row(name).map(builtins::row) else { return Vec::new() };
    let parameters = documentation::parameters(name, usize::from(u8::MAX));
    let context = &cursor.analysis.survey.context;
    let is_defined = |word: &str| {
        ty::constant(word).is_none_or(|it| it.missing(context.version, context.extensions).is_none())
    };
    let words = match parameters.get(call.argument) {
        Some(&"order" | &"success") => orders(row.lowering, None),
        Some(&"failure") => orders(row.lowering, Some(success(text, &call))),
        Some(&"scope") => scopes(row.lowering, known_flags(text, &call)),
        Some(&"flags") => flags(row.lowering, context.version),
        _ => return Vec::new(),
    };
    let words = words.into_iter().filter(|word| is_defined(word)).enumerate();
    words
        .map(|(number, word)| CompletionItem {
            label: word.to_owned(),
            kind: Some(CompletionItemKind::ENUM_MEMBER),
            documentation: documentation::word(word).map(|text| Documentation::String(text.to_owned())),
            sort_text: Some(format!("0{number}")),
            preselect: Some(number == 0),
            ..CompletionItem::default()
        })
        .collect()
}

/// The success order, if it is written as a name.
fn success(text: &str, call: &OpenCall) -> Order {
    let before = call.argument.checked_sub(1).and_then(|index| call.arguments.get(index));
    let written = before.map_or("", |range| text[range.clone()].trim());
    Order::ALL.into_iter().find(|order| order.spelling() == written).unwrap_or(Order::SeqCst)
}

/// The flags, which are the first argument, if they are written as names.
fn known_flags(text: &str, call: &OpenCall) -> Option<FenceFlags> {
    let written = &text[call.arguments.first()?.clone()];
    let mut flags = FenceFlags::NONE;
    for word in written.split('|') {
        let (_, flag) = FLAGS.iter().find(|(name, _)| *name == word.trim())?;
        flags = flags.union(*flag);
    }
    Some(flags)
}

const FLAGS: [(&str, FenceFlags); 3] = [
    ("CLK_LOCAL_MEM_FENCE", FenceFlags::LOCAL),
    ("CLK_GLOBAL_MEM_FENCE", FenceFlags::GLOBAL),
    ("CLK_IMAGE_MEM_FENCE", FenceFlags::IMAGE),
];

fn orders(lowering: Lowering, failure_of: Option<Order>) -> Vec<&'static str> {
    let legal: &[Order] = match (lowering, failure_of) {
        (Lowering::Atomic(_), Some(success)) => failure_orders(success),
        (Lowering::Atomic(form), None) => Access::from(form.op).orders(),
        _ => &Order::ALL,
    };
    legal.iter().map(|order| order.spelling()).collect()
}

fn scopes(lowering: Lowering, flags: Option<FenceFlags>) -> Vec<&'static str> {
    let is_legal = |scope: &Scope| match lowering {
        Lowering::Fence(_) => check_fence(flags, None, Some(*scope)).is_ok(),
        Lowering::Barrier(barrier) => {
            check_barrier(Group::from_scope(barrier.execution), flags, Some(*scope)).is_ok()
        }
        _ => *scope != Scope::WorkItem,
    };
    Scope::ALL.iter().filter(|scope| is_legal(scope)).map(|scope| scope.spelling()).collect()
}

fn flags(lowering: Lowering, version: LanguageVersion) -> Vec<&'static str> {
    // OpenCL C 6.15.9: the fences of 1.x have no flag for images.
    let is_old =
        matches!(lowering, Lowering::Fence(Fence::MemFence | Fence::ReadMemFence | Fence::WriteMemFence));
    let knows_images = version >= LanguageVersion::Cl20 && !is_old;
    let legal = FLAGS.iter().filter(|(_, flag)| knows_images || *flag != FenceFlags::IMAGE);
    legal.map(|(name, _)| *name).collect()
}
