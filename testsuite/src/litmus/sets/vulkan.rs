//! The tests for Vulkan: Dat3M's, and those of Khronos' formal model.

use std::path::Path;

use kiln_memory_model::{
    Model,
    explore::Options,
    text::{Assertion, Khronos, VulkanTest},
};

use super::{Question, Verdict, ends, read};

/// The verdict on a test of Dat3M.
pub(super) fn verdict(test: &Path, question: Question, model: Model) -> Result<Verdict, String> {
    let options = Options { budget: 5_000_000, ..Options::default() };
    if let Question::Ends(scheduler) = question {
        let test = VulkanTest::read_for_progress(&read(test)?)?;
        return ends(&test.skeletons[0], model, scheduler, options);
    }
    // Neither Khronos' formal model nor Dat3M's excludes values out of thin air.
    let test = VulkanTest::read_with_thin_air(&read(test)?)?;
    let decides = |outcome: &[u64]| question == Question::Condition && test.decides(outcome);
    let found = test.explore(model, options, &decides).map_err(|e| e.to_string())?;
    let counts = |outcome: &Vec<u64>| match &test.filter {
        None => Some(true),
        Some(filter) => filter.is_satisfied(&|name| test.value(outcome, name)),
    };
    let not_understood = || "the condition is not understood".to_owned();
    if question == Question::NoRace {
        let racing: Option<Vec<bool>> = found.racing.iter().map(counts).collect();
        return Ok(Verdict { holds: !racing.ok_or_else(not_understood)?.contains(&true) });
    }
    let condition = test.condition.as_ref().ok_or_else(not_understood)?;
    let mut satisfied = Vec::new();
    for outcome in found.allowed.keys() {
        if counts(outcome).ok_or_else(not_understood)? {
            let holds = condition.is_satisfied(&|name| test.value(outcome, name));
            satisfied.push(holds.ok_or_else(not_understood)?);
        }
    }
    Ok(Verdict { holds: condition.verdict(satisfied.into_iter()) })
}

/// An assertion, and whether it is true.
type Asserted = (String, Result<Verdict, String>);

/// The assertions of a test of Khronos.
pub(super) fn assertions(test: &Path) -> Result<Vec<Asserted>, String> {
    let test = Khronos::read(&read(test)?)?;
    let verdict = |assertion: &Assertion| {
        let verdict = match assertion.has_other_conditions {
            true => Err("it is about more than consistent executions and races".to_owned()),
            false => test.holds(assertion).map(|holds| Verdict { holds }).map_err(|e| e.to_string()),
        };
        (assertion.text.clone(), verdict)
    };
    Ok(test.assertions.iter().map(verdict).collect())
}
