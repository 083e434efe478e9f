//! `cargo xtask litmus-sets FOLDER`: compares `kiln litmus` with the published verdicts of litmus tests.
//!
//! The folder is a checkout of Dat3M (github.com/hernanponcedeleon/Dat3M), of which nothing is in this repository. Its lists of expected
//! results name tests in herd's OpenCL format: whether the condition of a test is possible, and whether it has no data race.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use crate::{Outcome, limited::on_all, process};

/// The location of the tests.
#[derive(Args)]
pub(crate) struct LitmusSets {
    /// The folder
    folder: PathBuf,
    /// Binary to use instead of a release build
    #[arg(long)]
    kiln: Option<PathBuf>,
}

/// What a list says of its tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Condition,
    NoRace,
}

/// The lists: their names, files, and questions.
const SETS: [(&str, &str, Question); 2] = [
    ("OpenCL, outcomes", "dartagnan/src/test/resources/OPENCL-expected.csv", Question::Condition),
    ("OpenCL, races", "dartagnan/src/test/resources/OPENCL-DR-expected.csv", Question::NoRace),
];

/// A verdict, or why there is none.
enum Verdict {
    Same,
    Other(bool),
    Inexpressible(String),
}

/// Compares all sets, and prints a table and what differs.
pub(crate) fn litmus_sets(arguments: &LitmusSets) -> Outcome {
    let kiln = arguments.kiln.clone().map_or_else(process::release_kiln, Ok)?;
    let mut details = String::new();
    println!("| set | tests | expressible | agree |\n| --- | --- | --- | --- |");
    for (name, file, question) in SETS {
        let list = arguments.folder.join(file);
        let list = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
        let tests: Vec<(&str, bool)> = list
            .lines()
            .filter_map(|line| line.split_once(','))
            .map(|(path, verdict)| (path, verdict.trim() == "1"))
            .collect();
        let verdicts = on_all(&tests, |(path, expected)| {
            judge(&kiln, &arguments.folder.join(path), question, *expected)
        });
        let (mut expressible, mut same) = (0, 0);
        for ((path, _), verdict) in tests.iter().zip(verdicts) {
            match verdict {
                Verdict::Same => same += 1,
                Verdict::Other(found) => {
                    details.push_str(&format!("{name}: {path}: kiln says {found}\n"));
                }
                Verdict::Inexpressible(why) => {
                    details.push_str(&format!("{name}: {path}: not expressible: {why}\n"));
                    continue;
                }
            }
            expressible += 1;
        }
        println!("| {name} | {} | {expressible} | {same} |", tests.len());
    }
    print!("\n{details}");
    Ok(())
}

fn judge(kiln: &Path, test: &Path, question: Question, expected: bool) -> Verdict {
    let found = verdict(kiln, test, question);
    match found {
        Ok(found) if found == expected => Verdict::Same,
        Ok(found) => Verdict::Other(found),
        Err(why) => Verdict::Inexpressible(why),
    }
}

/// The verdict of `kiln litmus`.
fn verdict(kiln: &Path, test: &Path, question: Question) -> Result<bool, String> {
    let text = fs::read_to_string(test).map_err(|e| e.to_string())?;
    let output = Command::new(kiln)
        .arg("litmus")
        .arg(test)
        .output()
        .map_err(|e| format!("{}: {e}", kiln.display()))?;
    let shown = String::from_utf8_lossy(&output.stdout);
    if !shown.contains("Consistent executions:") {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(reason.lines().next().unwrap_or("no reason").to_owned());
    }
    if question == Question::NoRace {
        return Ok(!shown.contains("data race: "));
    }
    let condition = Condition::of(&text).ok_or("the condition is not understood")?;
    condition.holds(&outcomes(&shown)).ok_or_else(|| "the condition is not understood".to_owned())
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

/// The last line of a test: `exists (1:r0=1 /\ x=0)`, `~exists …` or `forall …`.
struct Condition<'t> {
    quantifier: &'t str,
    expression: &'t str,
    initial: Parts,
}

impl<'t> Condition<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (at, quantifier) =
            ["exists", "forall"].into_iter().filter_map(|word| Some((text.rfind(word)?, word))).max()?;
        let is_negated = text[..at].trim_end().ends_with(['~', '!']);
        let initial = text.split_once('{')?.1.split_once('}')?.0;
        let value = |part: &str| {
            let (name, value) = part.split_once('=')?;
            let name = name.trim().trim_matches(['[', ']']).rsplit(' ').next()?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        };
        Some(Self {
            quantifier: if is_negated { "~exists" } else { quantifier },
            expression: text[at + quantifier.len()..].split("(* ").next()?,
            initial: initial.split(';').filter_map(value).collect(),
        })
    }

    /// Whether it holds for these outcomes. `None` if it is not understood.
    fn holds(&self, outcomes: &[Parts]) -> Option<bool> {
        let values: Option<Vec<bool>> = outcomes
            .iter()
            .map(|outcome| {
                let mut parser = Parser { rest: self.expression.trim(), outcome, initial: &self.initial };
                let value = parser.any()?;
                parser.rest.trim().is_empty().then_some(value)
            })
            .collect();
        let values = values?;
        Some(match self.quantifier {
            "exists" => values.contains(&true),
            "~exists" => !values.contains(&true),
            _ => !values.contains(&false),
        })
    }
}

/// Evaluates a condition in an outcome.
struct Parser<'t> {
    rest: &'t str,
    outcome: &'t Parts,
    initial: &'t Parts,
}

impl<'t> Parser<'t> {
    fn eat(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.eat("\\/") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.eat("/\\") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        if self.eat("~") || self.eat("not ") {
            return Some(!self.one()?);
        }
        if self.eat("(") {
            let value = self.any()?;
            return self.eat(")").then_some(value);
        }
        let name = self.operand()?;
        let is_equal = !self.eat("!=");
        if is_equal && !self.eat("==") && !self.eat("=") {
            return None;
        }
        let value: i64 = self.operand()?.parse().ok()?;
        // What is never written keeps its initial value. A variable of a process begins with 0.
        let found = self.outcome.get(name).or_else(|| self.initial.get(name)).copied();
        let found = found.or_else(|| (!name.contains(':')).then_some(0))?;
        Some((found == value) == is_equal)
    }

    fn operand(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_alphanumeric() || "_:[]-".contains(c);
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        (end > 0).then(|| rest[..end].trim_matches(['[', ']']))
    }
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
            Condition::of(&text).and_then(|condition| condition.holds(&outcomes))
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
