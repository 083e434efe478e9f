//! The findings as JSON.

use kiln_memory_model::{draw, scope, semantics};
use serde_json::{Map, Value, json as object};

use super::{
    cheapest,
    findings::{Explored, Findings},
};

/// An object with the outcomes of both models, the races, and the weaker orders.
pub(super) fn json(findings: &Findings) -> String {
    let names = |location| findings.names.location(location);
    let outcome = |values: &Vec<u64>| {
        let parts = findings.names.parts(values);
        Value::Object(parts.map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<Map<_, _>>())
    };
    let model = |explored: &Explored| {
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
                "outcome": outcome(values),
                "rule": reason.rule.to_string(),
                "section": reason.rule.section(),
            })
        });
        object!({
            "allowed": explored.found.allowed.keys().map(outcome).collect::<Vec<_>>(),
            "forbidden": forbidden.collect::<Vec<_>>(),
            "undefined": undefined.collect::<Vec<_>>(),
            "executions": explored.found.executions,
            "is_cut": explored.skeleton.is_cut,
        })
    };
    let weaker = findings.weaker.as_ref().map(|all| {
        let one = |(order, scope): (u32, u32)| {
            object!({ "order": semantics::order_name(order), "scope": scope::opencl_name(scope) })
        };
        let each = all.iter().map(|it| object!({ "line": it.line, "from": one(it.from), "to": one(it.to) }));
        each.collect::<Vec<_>>()
    });
    let unsound: Vec<Value> = findings.unsound().map(outcome).collect();
    let device = findings.observations.as_ref().map(|observations| {
        let known = observations.counts.iter().filter(|(_, count)| **count > 0);
        let one = |(values, count): (&Vec<u64>, &u64)| {
            object!({
                "outcome": outcome(values),
                "count": count,
                "is_allowed": findings.vulkan.found.allowed.contains_key(values),
            })
        };
        object!({
            "name": observations.device,
            "driver": observations.driver,
            "instances": observations.instances,
            "outcomes": known.map(one).collect::<Vec<_>>(),
            "other": observations.others,
            "other_examples": observations.examples.iter().map(outcome).collect::<Vec<_>>(),
            "forbidden": findings.violations(),
        })
    });
    let condition = findings.verdicts().flatten();
    let condition = condition.map(|[opencl, vulkan]| object!({ "opencl": opencl, "vulkan": vulkan }));
    let all = object!({
        "condition": condition,
        "device": device,
        "opencl": model(&findings.opencl),
        "vulkan": model(&findings.vulkan),
        "unsound": unsound,
        "weaker": weaker,
        "cheapest": findings.cheapest.as_ref().map(|found| cheapest::json(found, &findings.names)),
    });
    format!("{all:#}\n")
}
