//! A built-in function: the overload that is called here, what it does, which orders it may have, and what it needs.

use kiln_compiler::{
    builtins::{self, Lowering},
    extensions::Extensions,
    memory::{Access, failure_orders},
    opencl::{LanguageVersion, Order},
    sema::Callee,
};

use super::{code, declared, join};
use crate::{
    analysis::{Analysis, Cursor},
    documentation,
    names::Name,
};

/// More forms than these are counted.
const MOST_FORMS: usize = 6;

/// Of the function that is called here.
pub(super) fn text(cursor: &Cursor<'_>, name: &Name, text: &str) -> String {
    let lines = called(cursor, name).map_or_else(|| few_forms(cursor.analysis, text), |line| vec![line]);
    join([code(&lines.join("\n")), about(text)])
}

/// What a function does, without its forms.
pub(crate) fn about(name: &str) -> String {
    let rows = documentation::builtin(name);
    let documentation = rows.first().map(|row| row.text.to_owned()).unwrap_or_default();
    let section = rows.first().map(|row| format!("*{}*", row.section)).unwrap_or_default();
    join([documentation, orders(name), needs(name), section])
}

/// The overload that this call means.
fn called(cursor: &Cursor<'_>, name: &Name) -> Option<String> {
    let analysis = cursor.analysis;
    let mut calls = analysis.survey.facts.calls.iter();
    let call = calls.find(|call| analysis.spelling(call.callee).is_some_and(|place| place == name.place))?;
    let Callee::Builtin(overload) = &call.target else { return None };
    let text = builtins::row(overload.builtin).name;
    let names = documentation::parameters(text, overload.parameters.len());
    let mut parameters: Vec<String> = overload
        .parameters
        .iter()
        .enumerate()
        .map(|(number, ty)| declared(analysis, *ty, names.get(number).copied().unwrap_or_default()))
        .collect();
    if overload.is_variadic {
        parameters.push("...".to_owned());
    }
    Some(format!("{} {text}({})", analysis.show(overload.result), parameters.join(", ")))
}

fn few_forms(analysis: &Analysis, name: &str) -> Vec<String> {
    let mut forms = forms(analysis, name);
    if forms.len() > MOST_FORMS {
        let more = forms.len() - MOST_FORMS;
        forms.truncate(MOST_FORMS);
        forms.push(format!("// and {more} more"));
    }
    forms
}

/// The forms of a function in the words of the specification.
pub(crate) fn forms(analysis: &Analysis, name: &str) -> Vec<String> {
    let set = builtins::lookup(name, &analysis.survey.context)
        .or_else(|| builtins::lookup(name, &with(Extensions::all(LanguageVersion::Cl30))));
    let mut forms: Vec<String> = Vec::new();
    for (_, row) in set.iter().flat_map(builtins::Set::rows) {
        let form = row.show_generic_with(&documentation::parameters(name, row.parameter_count()));
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    // Those that are made by rule have the type in their names.
    if forms.is_empty() {
        forms.push(format!("{name}({})", documentation::parameters(name, 1).join(", ")));
    }
    forms
}

fn with(extensions: Extensions) -> builtins::Context {
    builtins::Context { version: LanguageVersion::Cl30, extensions }
}

/// The orders and scopes that an atomic function may have (OpenCL C 6.15.12.7).
fn orders(name: &str) -> String {
    let Some(row) = builtins::first_row(name).map(builtins::row) else { return String::new() };
    let Lowering::Atomic(form) = row.lowering else { return String::new() };
    if form.is_legacy {
        return "Order: relaxed; scope: device, or work_group for local memory.".to_owned();
    }
    if !form.is_explicit {
        return "Order: seq_cst; scope: device.".to_owned();
    }
    let list = |orders: &[Order]| {
        let short = |order: &Order| order.spelling().trim_start_matches("memory_order_").to_owned();
        orders.iter().map(short).collect::<Vec<_>>().join(", ")
    };
    let access = Access::from(form.op);
    let failure = match access {
        Access::CompareExchange => format!("; on failure {}", list(failure_orders(Order::SeqCst))),
        _ => String::new(),
    };
    format!(
        "Orders: {}{failure}. Scopes: sub_group, work_group, device, all_svm_devices.",
        list(access.orders())
    )
}

/// The feature or extension without which there is no such function.
fn needs(name: &str) -> String {
    match builtins::needs(name, &with(Extensions::NONE)) {
        Some(missing) if !missing.is_empty() => format!("Needs `{}`.", missing.join("` and `")),
        _ => String::new(),
    }
}
