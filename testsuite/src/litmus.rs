//! Litmus tests: small programs of a few work-items, with the outcomes that OpenCL forbids and those that it allows.
//!
//! `litmus/*.md` contain the tests, one under each heading. `sources` generates their kernels, `stress` runs those
//! many times on devices, and `explore` enumerates the outcomes that a memory model permits for the emitted module.

pub mod explore;
pub mod generated;
pub mod random;
pub mod sets;
pub mod sources;
pub mod stress;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use kiln_memory_model::Space;

use crate::markdown;

/// The embedded files, for programs that run without the repository.
const FILES: [(&str, &str); 5] = [
    ("breaking", include_str!("../litmus/breaking.md")),
    ("coherence", include_str!("../litmus/coherence.md")),
    ("order", include_str!("../litmus/order.md")),
    ("run_time", include_str!("../litmus/run_time.md")),
    ("seq_cst", include_str!("../litmus/seq_cst.md")),
];

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The file and the heading.
    pub name: String,
    /// The shared objects; initially zero.
    pub objects: Vec<Object>,
    /// The statements of each work-item.
    pub work_items: Vec<String>,
    /// The objects whose final values are part of the outcome.
    pub finals: Vec<String>,
    /// Outcomes that OpenCL forbids.
    pub forbidden: Vec<Outcome>,
    /// Outcomes that OpenCL allows.
    pub allowed: Vec<Outcome>,
    /// Forbidden outcomes that become possible if seq_cst is weakened to acquire and release.
    pub weak: Vec<Outcome>,
}

/// A shared object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name, which is that of a pointer to it.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Its memory; `None` if the setting decides.
    pub space: Option<Space>,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An `atomic_int`.
    Atomic,
    /// An `atomic_flag`.
    Flag,
    /// An `int`.
    Plain,
}

/// Values of registers `r0` … and final values of objects; those not named are arbitrary.
pub type Outcome = BTreeMap<String, u32>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    objects: Vec<String>,
    #[serde(default, rename = "final")]
    finals: Vec<String>,
    #[serde(default)]
    forbidden: Vec<String>,
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    weak: Vec<String>,
}

/// How to run a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The address space of objects that do not specify one.
    pub space: Space,
    /// Whether the work-items are in one work-group.
    pub one_group: bool,
}

impl Setting {
    /// A readable name.
    pub fn name(self) -> &'static str {
        match (self.space, self.one_group) {
            (Space::Global, false) => "global memory, several groups",
            (Space::Global, true) => "global memory, one group",
            (Space::Local, _) => "local memory",
        }
    }
}

/// All tests.
pub fn tests() -> Vec<Test> {
    FILES
        .iter()
        .flat_map(|(file, text)| read(file, text).unwrap_or_else(|e| panic!("{file}.md: {e}")))
        .collect()
}

fn read(file: &str, text: &str) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for section in markdown::parse(text)? {
        let Some(settings) = section.blocks.iter().find(|block| block.language == "toml") else { continue };
        let name = format!("{file}: {}", section.path.last().map_or("", String::as_str));
        let settings: Settings = toml::from_str(&settings.text).map_err(|e| format!("{name}: {e}"))?;
        let outcomes = |list: &[String]| -> Result<Vec<Outcome>, String> {
            list.iter().map(|text| outcome(text).ok_or(format!("{name}: what is {text}?"))).collect()
        };
        tests.push(Test {
            objects: settings.objects.iter().map(|text| object(text)).collect::<Result<_, _>>()?,
            work_items: section
                .blocks
                .iter()
                .filter(|block| block.language == "cl")
                .map(|block| block.text.clone())
                .collect(),
            forbidden: outcomes(&settings.forbidden)?,
            allowed: outcomes(&settings.allowed)?,
            weak: outcomes(&settings.weak)?,
            finals: settings.finals,
            name,
        });
    }
    Ok(tests)
}

fn object(text: &str) -> Result<Object, String> {
    let mut words = text.split_whitespace();
    let name = words.next().ok_or("an object without a name")?.to_owned();
    let mut object = Object { name, kind: Kind::Atomic, space: None };
    for word in words {
        match word {
            "plain" => object.kind = Kind::Plain,
            "flag" => object.kind = Kind::Flag,
            "global" => object.space = Some(Space::Global),
            "local" => object.space = Some(Space::Local),
            other => return Err(format!("an object cannot be `{other}`")),
        }
    }
    Ok(object)
}

fn outcome(text: &str) -> Option<Outcome> {
    let pair = |word: &str| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    text.split_whitespace().map(pair).collect()
}

/// Whether an observed outcome matches a pattern.
pub fn matches(seen: &Outcome, pattern: &Outcome) -> bool {
    pattern.iter().all(|(name, value)| seen.get(name) == Some(value))
}

impl Test {
    /// The applicable settings. If an object specifies its memory, the work-items are in one group.
    pub fn settings(&self) -> Vec<Setting> {
        if self.objects.iter().any(|object| object.space.is_some()) {
            return vec![Setting { space: Space::Global, one_group: true }];
        }
        vec![
            Setting { space: Space::Global, one_group: false },
            Setting { space: Space::Global, one_group: true },
            Setting { space: Space::Local, one_group: true },
        ]
    }

    /// The registers that a work-item sets, in order.
    pub fn registers(&self, work_item: usize) -> Vec<String> {
        let text = &self.work_items[work_item];
        let is_set = |name: &String| text.contains(&format!("{name} ="));
        (0..8).map(|index| format!("r{index}")).filter(is_set).collect()
    }

    /// The parts of an outcome: the registers of all work-items, and final values of objects.
    pub fn parts(&self) -> Vec<String> {
        let registers = (0..self.work_items.len()).flat_map(|index| self.registers(index));
        let mut parts: Vec<String> = registers.collect();
        parts.sort();
        parts.extend(self.finals.iter().cloned());
        parts
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn tests_are_complete() {
        let tests = tests();
        assert!(tests.len() > 40, "only {} tests", tests.len());
        for test in tests {
            let parts = test.parts();
            assert!(!test.objects.is_empty() && !test.work_items.is_empty(), "{}", test.name);
            assert!(!test.forbidden.is_empty() || !test.allowed.is_empty(), "{}", test.name);
            for outcome in test.forbidden.iter().chain(&test.allowed).chain(&test.weak) {
                for name in outcome.keys() {
                    assert!(parts.contains(name), "{}: {name} is not part of an outcome", test.name);
                }
            }
            // A weak outcome must also be listed as forbidden.
            assert!(test.weak.iter().all(|it| test.forbidden.contains(it)), "{}", test.name);
            assert!(!test.allowed.iter().any(|it| test.forbidden.contains(it)), "{}", test.name);
        }
    }
}
