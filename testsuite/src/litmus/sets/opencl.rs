//! Dat3M's tests in herd's OpenCL format, by `kiln litmus --thin-air`: neither the text of the specification nor Dat3M's
//! model excludes values out of thin air.

use std::{collections::BTreeMap, path::Path, process::Command};

use kiln_memory_model::text::Condition;

use super::{Question, Verdict, read};

/// The verdict of `kiln litmus`.
pub(super) fn verdict(kiln: &Path, test: &Path, question: Question) -> Result<Verdict, String> {
    let text = read(test)?;
    let output = Command::new(kiln)
        .args(["litmus", "--thin-air"])
        .arg(test)
        .output()
        .map_err(|e| format!("{}: {e}", kiln.display()))?;
    let shown = String::from_utf8_lossy(&output.stdout);
    if !shown.contains("Consistent executions:") {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(reason.lines().next().unwrap_or("no reason").to_owned());
    }
    if question == Question::NoRace {
        return Ok(Verdict { holds: !shown.contains("data race: ") });
    }
    let not_understood = || "the condition is not understood".to_owned();
    let condition = Condition::parse(&text).ok_or_else(not_understood)?;
    let holds = verdict_of(&condition, &initial(&text), &outcomes(&shown)).ok_or_else(not_understood)?;
    Ok(Verdict { holds })
}

/// An outcome: the value of each part.
type Parts = BTreeMap<String, i64>;

/// The outcomes that OpenCL allows, in the table of `kiln litmus`.
fn outcomes(table: &str) -> Vec<Parts> {
    let is_allowed = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.iter().find(|word| ["allowed", "forbidden"].contains(word)) == Some(&"allowed")
    };
    let part = |word: &str| {
        let (name, value) = word.split_once('=')?;
        let value: i64 = value.parse().ok()?;
        Some((name.to_owned(), i64::from(value as i32)))
    };
    let parts =
        |line: &str| line.split_whitespace().take_while(|word| *word != "allowed").filter_map(part).collect();
    table.lines().filter(is_allowed).map(parts).collect()
}

/// The initial state of a test.
fn initial(text: &str) -> Parts {
    let initial = text.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |it| it.0);
    let value = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = name.trim().trim_matches(['[', ']']).rsplit(' ').next()?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    initial.split(';').filter_map(value).collect()
}

/// Whether a condition holds for these outcomes. `None` if its syntax is not supported.
fn verdict_of(condition: &Condition, initial: &Parts, outcomes: &[Parts]) -> Option<bool> {
    let satisfied: Option<Vec<bool>> = outcomes
        .iter()
        .map(|outcome| {
            // An object that is never written keeps its initial value.
            let value = |name: &str| {
                let found = outcome.get(name).or_else(|| initial.get(name)).copied();
                found.or_else(|| (!name.contains(':')).then_some(0))
            };
            condition.is_satisfied(&value)
        })
        .collect();
    Some(condition.verdict(satisfied?.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_evaluated_in_the_outcomes_that_are_allowed() {
        let table = "outcome  OpenCL  module for Vulkan\n\
            x=1 0:r0=1  allowed    allowed\n\
            x=1 0:r0=0  forbidden  forbidden  a rule\n\
            x=2 0:r0=4294967295  allowed    forbidden\n";
        let outcomes = outcomes(table);
        assert_eq!(outcomes.len(), 2);
        let holds = |condition: &str| {
            let text = format!("OPENCL a\n{{ [x]=0; y=7; }}\nP0@wg 0, dev 0 () {{ }}\n{condition}");
            Condition::parse(&text).and_then(|condition| verdict_of(&condition, &initial(&text), &outcomes))
        };
        for (condition, expected) in [
            ("exists (x=1 /\\ 0:r0=1)", Some(true)),
            ("exists (x=1 /\\ 0:r0=0)", Some(false)),
            ("exists (x=3 \\/ (0:r0=-1 /\\ ~(x=1)))", Some(true)),
            ("~exists (x=1 /\\ 0:r0=0)", Some(true)),
            ("forall (0:r0!=0 /\\ [y]=7 /\\ z=0)", Some(true)),
            ("forall (x=1)", Some(false)),
            ("exists (x=1", None),
            ("exists (5:r0=1)", None),
        ] {
            assert_eq!(holds(condition), expected, "{condition}");
        }
    }
}
