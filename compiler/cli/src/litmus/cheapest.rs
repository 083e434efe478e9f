//! The cheapest sound forms of the operations of a module for a launch, by `kiln_memory_model::cheapen`.

use std::fmt::Write as _;

use kiln_compiler::{opencl::Environment, session::Source, target::Target, verify::VerifiedModule};
use kiln_memory_model::{
    Launch, Model, Module, Synchronization,
    cheapen::{Cheaper, Cheapest, Objection, Unchanged, cheapest, objection},
};
use serde_json::{Value, json as object};

use super::{
    findings::{Bounds, Compiler},
    names::Names,
};
use crate::{
    compile,
    exit::{Failure, Outcome},
};

/// The result of a search, or why nothing is changed.
pub(super) type Found = Result<Cheapest, Unchanged>;

/// Searches for the cheapest forms. The changed module is verified, and explored again from its words.
pub(super) fn find(
    compiler: &Compiler<'_>,
    source: &Source,
    launch: &Launch,
    bounds: Bounds,
) -> Result<Result<Found, Outcome>, Failure> {
    let words = |environment: Environment| {
        let mut options = compiler.options(Target::full(environment));
        options.debug = true;
        // The exploration of the launch has reported them.
        options.warnings.none = true;
        options.optimize &= environment == Environment::Vulkan;
        let (module, _) = compile::module(source.clone(), &options, compiler.files, compiler.shown)?;
        Ok(module.into_words())
    };
    let (opencl, vulkan) =
        match words(Environment::OpenCl).and_then(|it| Ok((it, words(Environment::Vulkan)?))) {
            Ok(both) => both,
            Err(outcome) => return Ok(Err(outcome)),
        };
    let opencl = Module::new(&opencl);
    let found = cheapest(&opencl, &vulkan, launch, Model::Vulkan, bounds.options());
    let Ok(it) = &found else { return Ok(Ok(found)) };
    let target = Target::full(Environment::Vulkan);
    let module = VerifiedModule::new(it.words.clone(), Some(&target))
        .map_err(|invalid| Failure(format!("internal error: the cheaper module is invalid: {invalid}")))?;
    match objection(&opencl, &Module::new(module.words()), launch, Model::Vulkan, bounds.options()) {
        Ok(None) => Ok(Ok(found)),
        Ok(Some(_)) => {
            Err(Failure("internal error: the cheaper module allows what OpenCL forbids".to_owned()))
        }
        Err(why) => Ok(Ok(Err(why))),
    }
}

/// The forms as text: for each operation its form, the cheapest form, why it can have that, and why no cheaper one.
pub(super) fn text(found: &Found, names: &Names) -> String {
    let found = match found {
        Ok(found) => found,
        Err(why) => return format!("No operation is changed: {why}.\n"),
    };
    if found.operations.is_empty() {
        return "The module has no atomic operations, fences or barriers.\n".to_owned();
    }
    let mut text = "The cheapest sound forms for this launch:\n".to_owned();
    for it in &found.operations {
        let _ = writeln!(text, "  line {}: {}", it.from.line, it.from);
        match &it.to {
            _ if !it.is_reached => text.push_str("      stays: the launch does not reach it\n"),
            Some(to) if it.is_changed() => {
                let _ = writeln!(text, "      -> {to}");
            }
            Some(_) => text.push_str("      stays\n"),
            None => text.push_str("      -> nothing\n"),
        }
        for reason in &it.reasons {
            let _ = writeln!(text, "      {reason}");
        }
        for (objection, steps) in objections(it) {
            let _ = writeln!(text, "      not {}: {}", steps.join(", or "), shown(objection, found, names));
        }
    }
    let changed = found.operations.iter().filter(|it| it.is_changed()).count();
    let _ = writeln!(
        text,
        "{changed} of {} operations can be cheaper. {} modules were explored.",
        found.operations.len(),
        found.explored
    );
    text
}

/// What would be wrong with cheaper forms, and the steps to all forms with that.
fn objections(it: &Cheaper) -> Vec<(&Objection, Vec<String>)> {
    let mut all: Vec<(&Objection, Vec<String>)> = Vec::new();
    for (step, objection) in &it.objections {
        match all.iter_mut().find(|(known, _)| *known == objection) {
            Some((_, steps)) => steps.push(step.to_string()),
            None => all.push((objection, vec![step.to_string()])),
        }
    }
    all
}

fn outcome(values: &[u64], found: &Cheapest, names: &Names) -> String {
    let parts = found.parts.iter().zip(values);
    let parts = parts.map(|(part, value)| format!("{}={value}", names.location(*part)));
    parts.collect::<Vec<_>>().join(" ")
}

/// What would be wrong with a form.
fn shown(objection: &Objection, found: &Cheapest, names: &Names) -> String {
    match objection {
        Objection::Outcome(values) => {
            format!("the module would allow {}", outcome(values, found, names))
        }
        Objection::Race(a, b) if a == b => format!("two accesses of line {a} would race"),
        Objection::Race(a, b) => format!("accesses of lines {a} and {b} would race"),
        Objection::Barrier => "not all work-items would reach a barrier".to_owned(),
        Objection::Cut => "a loop would have more iterations than are explored".to_owned(),
    }
}

/// The forms as JSON.
pub(super) fn json(found: &Found, names: &Names) -> Value {
    let found = match found {
        Ok(found) => found,
        Err(why) => return object!({ "unchanged": why.to_string(), "operations": [] }),
    };
    let form = |it: &Synchronization| it.to_string();
    let operations = found.operations.iter().map(|it| {
        let objections = it.objections.iter().map(|(step, objection)| {
            object!({ "step": step.to_string(), "objection": shown(objection, found, names) })
        });
        object!({
            "line": it.from.line,
            "from": form(&it.from),
            "to": it.to.as_ref().map(form),
            "is_reached": it.is_reached,
            "reasons": it.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "objections": objections.collect::<Vec<_>>(),
        })
    });
    object!({
        "unchanged": null,
        "operations": operations.collect::<Vec<_>>(),
        "explored": found.explored,
    })
}
