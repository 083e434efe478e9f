//! Runs litmus tests on a device: many instances concurrently, by the binary `kiln`, and counts the outcomes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{Outcome, Setting, Space, Test, matches, sources::VALUES};
use crate::device;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Stress {
    /// The path of `kiln`.
    pub kiln: PathBuf,
    /// Additional options of `kiln run`, such as `--device` and `--seq-cst`.
    pub options: Vec<String>,
    /// The minimum number of instances of a test to run.
    pub rounds: u64,
    /// The number of instances that run concurrently: groups, or sets of groups. A power of two.
    pub teams: u64,
    /// The number of work-items of each role in a group. A power of two.
    pub width: u64,
    /// The number of rounds in one launch. A power of two.
    pub iterations: u64,
    /// The number of launches in one process. A power of two.
    pub launches: u64,
    /// The time limit of a launch.
    pub limit: Duration,
}

/// The number of times that each outcome was observed.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The counts by outcome.
    pub seen: BTreeMap<Outcome, u64>,
    /// The count of outcomes with values that no work-item writes.
    pub strange: u64,
}

impl Counts {
    /// The number of instances that were run.
    pub fn total(&self) -> u64 {
        self.seen.values().sum::<u64>() + self.strange
    }

    /// The number of times that an outcome matched one of these patterns.
    pub fn matching(&self, patterns: &[Outcome]) -> u64 {
        let is = |outcome: &Outcome| patterns.iter().any(|pattern| matches(outcome, pattern));
        self.seen.iter().filter(|(outcome, _)| is(outcome)).map(|(_, count)| count).sum()
    }
}

impl Stress {
    /// Runs a test. `prepare` selects the device for the command.
    pub fn run(
        &self,
        test: &Test,
        setting: Setting,
        prepare: &dyn Fn(&mut Command) -> Result<(), String>,
    ) -> Result<Counts, String> {
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        let source = scratch.path().join("litmus.cl");
        fs::write(&source, test.stress_source(setting)).map_err(|e| e.to_string())?;
        let mut counts = Counts::default();
        while counts.total() < self.rounds {
            let mut command = self.command(test, setting, &source);
            prepare(&mut command)?;
            let finished = device::launch_beside_others(&mut command, self.limit)?;
            if !finished.status.success() {
                return Err(format!("kiln ended with {}:\n{}", finished.status, finished.stderr));
            }
            self.add(test, &finished.text(), &mut counts)?;
        }
        Ok(counts)
    }

    /// The number of instances in one process.
    fn instances(&self) -> u64 {
        self.teams * self.width * self.iterations * self.launches
    }

    fn command(&self, test: &Test, setting: Setting, source: &Path) -> Command {
        let roles = test.work_items.len() as u64;
        let instances = self.instances();
        let (groups, local) = if setting.one_group {
            (self.teams, self.width * roles)
        } else {
            (self.teams * roles, self.width)
        };
        let parts = test.parts().len() as u64;
        let mut words: Vec<String> = Vec::new();
        for launch in 0..self.launches {
            if launch > 0 {
                words.push("then".to_owned());
            }
            words.extend(["--kernel".into(), "test".into()]);
            words.extend(["--global".into(), (groups * local).to_string()]);
            words.extend(["--local".into(), local.to_string()]);
            let buffer = |name: &str, count: u64, fill: &str| match launch {
                0 => format!("buf:int[{count}]={fill}"),
                _ => name.to_owned(),
            };
            let mut arg = |word: String| words.extend(["--arg".to_owned(), word]);
            for object in &test.objects {
                arg(buffer(&format!("all_{}", object.name), instances, "0"));
            }
            for object in &test.objects {
                if object.space_in(setting) == Space::Local {
                    arg(format!("local:{}", self.width * 4));
                }
            }
            // Initializes results to a value that no work-item writes.
            arg(buffer("result", instances * parts, "0-1"));
            arg(buffer("latch", self.teams, "0"));
            let all_rounds = self.iterations * self.launches;
            for value in [instances - 1, all_rounds, launch * self.iterations, self.iterations] {
                arg(format!("uint:{value}"));
            }
            for value in super::explore::PARAMETERS {
                arg(format!("int:{value}"));
            }
        }
        words.extend(["then", "--kernel", "count", "--global"].map(str::to_owned));
        words.push(instances.to_string());
        let mut arg = |word: String| words.extend(["--arg".to_owned(), word]);
        for object in &test.objects {
            arg(format!("all_{}", object.name));
        }
        arg("result".to_owned());
        let buckets = u64::from(VALUES).pow(parts as u32) + 1;
        arg(format!("buf:uint[{buckets}]=0"));
        arg(format!("uint:{}", instances - 1));
        words.extend(["--print".to_owned(), format!("histogram[0..{buckets}]")]);
        let mut command = Command::new(&self.kiln);
        command.arg("run").args(&self.options).args(["-w", "-cl-std=CL2.0"]).arg(source).args(words);
        command
    }

    /// Parses `histogram[0..17] = 0 1 …`.
    fn add(&self, test: &Test, text: &str, counts: &mut Counts) -> Result<(), String> {
        let numbers = text
            .lines()
            .find(|line| line.starts_with("histogram["))
            .and_then(|line| line.split_once(" = "))
            .ok_or_else(|| format!("kiln printed\n{text}"))?
            .1;
        let numbers: Vec<u64> = numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let parts = test.parts();
        let buckets = (VALUES as usize).pow(parts.len() as u32);
        if numbers.len() != buckets + 1 || numbers.iter().sum::<u64>() != self.instances() {
            return Err(format!("the counts are not those of {} instances:\n{text}", self.instances()));
        }
        counts.strange += numbers[buckets];
        for (code, count) in numbers[..buckets].iter().enumerate().filter(|(_, count)| **count > 0) {
            let mut outcome = Outcome::new();
            let mut code = code as u32;
            for part in parts.iter().rev() {
                outcome.insert(part.clone(), code % VALUES);
                code /= VALUES;
            }
            *counts.seen.entry(outcome).or_default() += count;
        }
        Ok(())
    }
}

/// Formats an outcome as tests write it.
pub fn shown(outcome: &Outcome) -> String {
    outcome.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}
