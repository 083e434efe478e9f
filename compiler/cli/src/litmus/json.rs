//! The findings as JSON.

use kiln_memory_model::{draw, scope, semantics};
use serde_json::{Map, Value, json as object};

use super::{
    cheapest,
    findings::{Explored, Findings},
};

/// An object with the outcomes of both models, the races, and the weaker orders.
pub(super) fn json(findings: &Findings) -> String {
    let weaker = findings.weaker.as_ref().map(|all| {
        let one = |(order, scope): (u32, u32)| {
            object!({ "order": semantics::order_name(order), "scope": scope::opencl_name(scope) })
        };
        let each = all.iter().map(|it| object!({ "line": it.line, "from": one(it.from), "to": one(it.to) }));
        each.collect::<Vec<_>>()
    });
    let condition = findings.verdicts().flatten();
    let condition = condition.map(|[opencl, vulkan]| object!({ "opencl": opencl, "vulkan": vulkan }));
    let all = object!({
        "condition": condition,
        "device": device(findings),
        "opencl": model(findings, &findings.opencl),
        "vulkan": model(findings, &findings.vulkan),
        "unsound": findings.unsound().map(|values| outcome(findings, values)).collect::<Vec<_>>(),
        "weaker": weaker,
        "cheapest": findings.cheapest.as_ref().map(|found| cheapest::json(found, &findings.names)),
    });
    format!("{all:#}\n")
}

/// One member for each part of an outcome.
fn outcome(findings: &Findings, values: &[u64]) -> Value {
    let parts = findings.names.parts(values);
    Value::Object(parts.map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<Map<_, _>>())
}

/// What one memory model permits.
fn model(findings: &Findings, explored: &Explored) -> Value {
    let names = |location| findings.names.location(location);
    let undefined = explored.found.undefined.values().map(|it| match it.events {
        Some((a, b)) => {
            let access = |index: usize| {
                let (item, event) = &it.witness.events[index];
                object!({ "work_item": item, "line": event.line, "event": draw::label(event, &names) })
            };
            object!({ "kind": "race", "accesses": [access(a), access(b)] })
        }
        None => object!({ "kind": "barrier", "work_items": [it.items.0, it.items.1] }),
    });
    let forbidden = explored.found.forbidden.iter().map(|(values, reason)| {
        object!({
            "outcome": outcome(findings, values),
            "rule": reason.rule.to_string(),
            "section": reason.rule.section(),
        })
    });
    let allowed = explored.found.allowed.keys().map(|values| outcome(findings, values));
    object!({
        "allowed": allowed.collect::<Vec<_>>(),
        "forbidden": forbidden.collect::<Vec<_>>(),
        "undefined": undefined.collect::<Vec<_>>(),
        "executions": explored.found.executions,
        "is_cut": explored.skeleton.is_cut,
    })
}

/// What a device did, if the launch ran on one.
fn device(findings: &Findings) -> Option<Value> {
    let observations = findings.observations.as_ref()?;
    let known = observations.counts.iter().filter(|(_, count)| **count > 0).map(|(values, count)| {
        object!({
            "outcome": outcome(findings, values),
            "count": count,
            "is_allowed": findings.vulkan.found.allowed.contains_key(values),
        })
    });
    let examples = observations.examples.iter().map(|values| outcome(findings, values));
    Some(object!({
        "name": observations.device,
        "driver": observations.driver,
        "instances": observations.instances,
        "outcomes": known.collect::<Vec<_>>(),
        "other": observations.others,
        "other_examples": examples.collect::<Vec<_>>(),
        "forbidden": findings.violations(),
    }))
}
