//! Tests in the format of Khronos' formal model of Vulkan's memory model.
//!
//! ```text
//! NEWWG
//! NEWSG
//! NEWTHREAD
//! st.av.scopedev.sc0 x = 1
//! st.atom.rel.scopewg.sc0.semsc0 y = 1
//! NEWSG
//! NEWTHREAD
//! ld.atom.acq.scopewg.sc0.semsc0 y = 1
//! ld.vis.scopedev.sc0 x
//! SATISFIABLE consistent[X] && #dr=0
//! NOSOLUTION consistent[X] && #dr>0
//! ```
//!
//! A load with a value must return it; an access without one has any value.

use super::{
    Words,
    program::{Instruction, Operand, Program, Thread, Wanted, barrier},
};
use crate::{
    event::{Action, Event, Position, Skeleton, scope},
    explore::{Error, Model, Options, explore},
};

/// A litmus test in the format of Khronos' formal model.
#[derive(Clone, Debug)]
pub struct Khronos {
    /// The runs of its work-items.
    pub skeleton: Skeleton,
    /// Its assertions.
    pub assertions: Vec<Assertion>,
}

/// An assertion about the executions of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The line.
    pub text: String,
    /// Whether there is such an execution.
    pub exists: bool,
    /// Whether the model has chains of availability and visibility operations.
    pub has_chains: bool,
    /// Whether the execution has a data race; `None` if that does not matter.
    pub races: Option<bool>,
    /// Whether the line has other conditions, which are not checked.
    pub has_other_conditions: bool,
}

impl Khronos {
    /// Parses a test.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader::default();
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
        for line in lines.filter(|line| !line.is_empty()) {
            reader.line(line)?;
        }
        let skeleton = reader.program.skeleton()?;
        Ok(Self { skeleton, assertions: reader.assertions })
    }

    /// Whether an assertion is true.
    pub fn holds(&self, assertion: &Assertion) -> Result<bool, Error> {
        let model = if assertion.has_chains { Model::Vulkan } else { Model::VulkanWithoutChains };
        let found = explore(&self.skeleton, model, Options::default())?;
        let exists = match assertion.races {
            None => found.executions > 0,
            Some(true) => !found.racing.is_empty(),
            Some(false) => !found.racefree.is_empty(),
        };
        Ok(exists == assertion.exists)
    }
}

#[derive(Default)]
struct Reader {
    program: Program,
    assertions: Vec<Assertion>,
    position: Position,
    /// The numbers of the threads, which SSW uses.
    numbers: Vec<usize>,
    /// A counter for the values of accesses without one.
    fresh: u64,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["NEWQF"] => self.position.family += 1,
            ["NEWWG"] => self.position.group += 1,
            ["NEWSG"] => self.position.sub_group += 1,
            ["NEWTHREAD", ref rest @ ..] => {
                let next = self.numbers.last().map_or(0, |last| last + 1);
                let given = rest.first().and_then(|it| it.parse().ok());
                self.numbers.push(given.unwrap_or(next));
                self.program.threads.push(Thread { position: self.position, ..Thread::default() });
            }
            ["SSW", first, second] => {
                let find = |word: &str| {
                    let number = word.parse::<usize>().ok();
                    self.numbers.iter().position(|known| Some(*known) == number)
                };
                let (Some(first), Some(second)) = (find(first), find(second)) else {
                    return Err(format!("not understood: {line}"));
                };
                self.program.system.push((first, second));
            }
            ["SLOC", first, second] => self.share(first, second),
            [kind @ ("SATISFIABLE" | "NOSOLUTION"), ..] => self.assertions.push(assertion(line, kind)),
            _ => self.instruction(line, &words)?,
        }
        Ok(())
    }

    /// Makes two names references to one location.
    fn share(&mut self, first: &str, second: &str) {
        let (location, _) = self.program.location(first);
        let (old, _) = self.program.location(second);
        let reference = self.program.names.len() as u32;
        self.program.names.insert(second.to_owned(), (location, reference));
        let code = self.program.threads.iter_mut().flat_map(|thread| &mut thread.code);
        for instruction in code {
            if let Instruction::Access { event, .. } = instruction
                && event.location == Some(old)
            {
                (event.location, event.reference) = (Some(location), reference);
            }
        }
    }

    fn instruction(&mut self, line: &str, parts: &[&str]) -> Result<(), String> {
        let unknown = || format!("not understood: {line}");
        let (name, rest) = (parts[0], &parts[1..]);
        let mut words = Words::default();
        let order = |action| Instruction::Order(Event::fence(action, scope::DEVICE, 0));
        let code = match name {
            "avdevice" => vec![order(Action::MakeAvailable)],
            "visdevice" => vec![order(Action::MakeVisible)],
            _ => {
                if !name.split('.').all(|word| words.add(word)) {
                    return Err(unknown());
                }
                let is = |word: &str| name.split('.').any(|it| it == word);
                if is("membar") {
                    let scope = words.scope.ok_or_else(unknown)?;
                    vec![Instruction::Order(Event::fence(Action::Fence, scope, words.mask()))]
                } else if is("cbar") {
                    let instance = rest.first().and_then(|it| it.parse().ok()).ok_or_else(unknown)?;
                    let execution = words.scope.ok_or_else(unknown)?;
                    barrier(words, instance, execution).map(Instruction::Order).into()
                } else {
                    vec![self.access(words, rest).ok_or_else(unknown)?]
                }
            }
        };
        let thread = self.program.threads.last_mut().ok_or_else(unknown)?;
        thread.code.extend(code);
        Ok(())
    }

    /// `x = 1`, or `x = 1 2` for a read-modify-write.
    fn access(&mut self, words: Words, parts: &[&str]) -> Option<Instruction> {
        let event = self.program.access(words, parts.first()?);
        let values: Vec<u64> =
            parts.get(2..).unwrap_or_default().iter().filter_map(|it| it.parse().ok()).collect();
        let wanted = match (words.reads, values.first()) {
            (true, Some(value)) => Wanted::Only(*value),
            _ => Wanted::Any,
        };
        let written = if words.reads { values.get(1) } else { values.first() };
        self.fresh += 1;
        let value = Operand::Number(written.copied().unwrap_or(1000 + self.fresh));
        Some(Instruction::Access { event, register: None, wanted, value, compute: None })
    }
}

fn assertion(line: &str, kind: &str) -> Assertion {
    let has = |text: &str| line.contains(text);
    let races = if has("#dr>0") { Some(true) } else { has("#dr=0").then_some(false) };
    Assertion {
        text: line.to_owned(),
        exists: kind == "SATISFIABLE",
        has_chains: !has("NOCHAINS"),
        races,
        has_other_conditions: has("#rs") || !has("consistent[X]"),
    }
}
