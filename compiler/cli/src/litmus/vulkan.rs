//! Litmus tests for Vulkan, which have no source in OpenCL C: their outcomes by Vulkan's memory model, and their condition.

use std::fmt::Write as _;

use kiln_memory_model::{Model, explore::Options, text::VulkanTest};

use crate::exit::{Failure, Outcome};

/// The table of a test.
pub(super) fn explore_test(text: &str, budget: u64, thin_air: bool) -> Result<(String, Outcome), Failure> {
    let read = if thin_air { VulkanTest::read_with_thin_air } else { VulkanTest::read };
    let test = read(text).map_err(|what| Failure(format!("the litmus test: {what}")))?;
    let options = Options { budget, ..Options::default() };
    let found = test.explore(Model::Vulkan, options, &|_| false)?;
    let named = |outcome: &Vec<u64>| -> String {
        let part =
            |(name, _): &(String, _)| format!("{name}={}", test.value(outcome, name).unwrap_or_default());
        test.parts.iter().map(part).collect::<Vec<_>>().join(" ")
    };
    let rows: Vec<(String, &Vec<u64>)> = found.allowed.keys().map(|it| (named(it), it)).collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("outcome".len());
    let mut table = format!("{:width$}  Vulkan\n", "outcome");
    for (name, outcome) in &rows {
        let race = if found.racing.contains(*outcome) { ", with a data race" } else { "" };
        let _ = writeln!(table, "{name:width$}  allowed{race}");
    }
    let is_counted = |outcome: &&Vec<u64>| match &test.filter {
        None => true,
        Some(filter) => filter.is_satisfied(&|name| test.value(outcome, name)) == Some(true),
    };
    if let Some(condition) = &test.condition {
        let satisfied: Option<Vec<bool>> = found
            .allowed
            .keys()
            .filter(is_counted)
            .map(|outcome| condition.is_satisfied(&|name| test.value(outcome, name)))
            .collect();
        let verdict = satisfied.map(|all| condition.verdict(all.into_iter()));
        let verdict = verdict.ok_or_else(|| Failure("the condition is not understood".to_owned()))?;
        let _ = writeln!(table, "\nThe condition is {verdict}.");
    }
    if found.is_cut {
        table.push_str("Loops were cut after a few iterations: outcomes of longer runs are missing.\n");
    }
    let has_race = found.racing.iter().any(|outcome| is_counted(&outcome));
    Ok((table, if has_race { Outcome::Undefined } else { Outcome::Success }))
}
