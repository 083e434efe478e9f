//! The findings as text.

use std::fmt::Write as _;

use kiln_memory_model::{
    draw,
    explore::{Forbidden, Undefined},
    scope, semantics,
};

use super::{cheapest, findings::Findings, stress::Observations};

/// The table of outcomes, with executions if requested, and the reasons for undefined behavior.
pub(super) fn text(findings: &Findings, has_executions: bool) -> String {
    let mut text = String::new();
    let (opencl, vulkan) = (&findings.opencl.found, &findings.vulkan.found);
    let names = |location| findings.names.location(location);
    for undefined in opencl.undefined.values() {
        let _ = writeln!(text, "{}", described(undefined, &names));
    }
    if !opencl.undefined.is_empty() {
        text.push_str("The behavior is undefined (OpenCL API 3.3.6): every outcome is possible.\n\n");
    }
    let observations = findings.observations.as_ref();
    let mut all = findings.outcomes();
    all.extend(observations.into_iter().flat_map(|observations| observations.examples.iter().cloned()));
    let shown: Vec<String> = all.iter().map(|outcome| findings.names.outcome(outcome)).collect();
    let width = shown.iter().map(String::len).max().unwrap_or(0).max(7);
    let _ = write!(text, "{:width$}  OpenCL     module for Vulkan", "outcome");
    text.push_str(if observations.is_some() { "  seen\n" } else { "\n" });
    for (outcome, shown) in all.iter().zip(shown) {
        let word = |is_allowed: bool| if is_allowed { "allowed" } else { "forbidden" };
        let by_opencl = opencl.allowed.get(outcome);
        let by_vulkan = vulkan.allowed.get(outcome);
        let row = format!(
            "{shown:width$}  {:9}  {:9}  {}{}",
            word(by_opencl.is_some()),
            word(by_vulkan.is_some()),
            observations
                .map_or_else(String::new, |observations| format!("{:>12}  ", count(observations, outcome))),
            opencl.forbidden.get(outcome).map(reason).unwrap_or_default()
        );
        let _ = writeln!(text, "{}", row.trim_end());
        if let Some(witness) = by_opencl.or(by_vulkan).filter(|_| has_executions) {
            text.push_str(&draw::text(witness, &names));
        }
    }
    conclusion(findings, &mut text);
    if let Some(observations) = observations {
        on_device(findings, observations, &mut text);
    }
    text
}

/// How often an outcome was seen.
fn count(observations: &Observations, outcome: &Vec<u64>) -> String {
    match observations.counts.get(outcome) {
        Some(count) => count.to_string(),
        None => "some".to_owned(),
    }
}

fn on_device(findings: &Findings, observations: &Observations, text: &mut String) {
    let kinds =
        observations.counts.values().filter(|count| **count > 0).count() + observations.examples.len();
    let _ = writeln!(
        text,
        "{} ({}): {} instances, {kinds} different outcomes.",
        observations.device, observations.driver, observations.instances
    );
    if observations.others > 0 {
        let _ =
            writeln!(text, "{} instances have outcomes that the models do not contain.", observations.others);
    }
    match findings.violations() {
        0 => {}
        1 => text.push_str("1 instance has an outcome that Vulkan forbids for the module.\n"),
        count => {
            let _ = writeln!(text, "{count} instances have outcomes that Vulkan forbids for the module.");
        }
    }
}

/// The rule that forbids an outcome, and the accesses that violate it.
fn reason(forbidden: &Forbidden) -> String {
    let access = |index: usize| {
        let (item, event) = &forbidden.witness.events[index];
        draw::position(*item, event)
    };
    let (a, b) = forbidden.events;
    let accesses = if a == b { access(a) } else { format!("{}; {}", access(a), access(b)) };
    format!("{} ({}): {accesses}", forbidden.rule, forbidden.rule.section())
}

/// A race or a diverging barrier in words.
pub(super) fn described(undefined: &Undefined, names: draw::Names<'_>) -> String {
    let (first, second) = undefined.items;
    let Some((a, b)) = undefined.events else {
        return format!(
            "not all barriers are reached by both work-item {first} and work-item {second} of a group"
        );
    };
    let shown = |index: usize| {
        let (item, event) = &undefined.witness.events[index];
        format!("{} ({})", draw::position(*item, event), draw::label(event, names))
    };
    format!("data race: {}, and {}", shown(a), shown(b))
}

fn conclusion(findings: &Findings, text: &mut String) {
    let (opencl, vulkan) = (&findings.opencl, &findings.vulkan);
    let _ = writeln!(
        text,
        "\nConsistent executions: {} in OpenCL with {} outcomes, {} of the module for Vulkan with {}.",
        opencl.found.executions,
        opencl.found.allowed.len(),
        vulkan.found.executions,
        vulkan.found.allowed.len()
    );
    match findings.verdicts() {
        None => {}
        Some(None) => text.push_str("The condition is not understood.\n"),
        Some(Some([opencl, vulkan])) => {
            let _ = writeln!(
                text,
                "The condition is {opencl} in OpenCL, and {vulkan} for the module for Vulkan."
            );
        }
    }
    if opencl.skeleton.is_cut || vulkan.skeleton.is_cut {
        text.push_str(
            "Loops were cut: runs with more iterations are not part of this. --iterations sets the number.\n",
        );
    }
    if opencl.found.undefined.is_empty() && !vulkan.found.undefined.is_empty() {
        text.push_str(
            "The module for Vulkan has a race that the source does not have. This is a bug in Kiln.\n",
        );
    }
    if findings.unsound().next().is_some() {
        text.push_str("The module for Vulkan allows what OpenCL forbids. This is a bug in Kiln.\n");
    }
    weakest(findings, text);
    if let Some(found) = &findings.cheapest {
        text.push_str(&cheapest::text(found, &findings.names));
    }
}

/// The weaker orders and scopes with the same outcomes.
fn weakest(findings: &Findings, text: &mut String) {
    let Some(weaker) = &findings.weaker else { return };
    if !findings.opencl.found.undefined.is_empty() {
        text.push_str("--weakest needs a launch with defined behavior.\n");
    } else if weaker.is_empty() {
        text.push_str("No order or scope can be weaker: each is needed.\n");
    } else {
        text.push_str("With these weaker orders and scopes, the outcomes stay the same:\n");
        for it in weaker {
            let shown = |(order, scope): (u32, u32)| {
                format!("{}, {}", semantics::order_name(order), scope::opencl_name(scope))
            };
            let _ = writeln!(text, "  line {}: {} -> {}", it.line, shown(it.from), shown(it.to));
        }
    }
}
