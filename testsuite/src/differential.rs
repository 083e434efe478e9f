//! Random programs on Kiln and on the OpenCL of others: the results must be the same.

use std::{fmt, fs, path::Path, process::Command};

use crate::{
    device::{self, Device},
    kiln,
    oracle::Oracle,
    programs::{self, Program, Sort},
};

/// A way to run a program.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Others compile the source.
    Source(Oracle),
    /// Kiln compiles for Vulkan, at this level, and runs on this device.
    Vulkan(&'static Device, &'static str),
    /// Kiln compiles for OpenCL, at this level, and others run the module.
    Module(Oracle, &'static str),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(oracle) => write!(f, "{oracle:?} from source"),
            Self::Vulkan(device, level) => write!(f, "{} {level}", device.name),
            Self::Module(oracle, level) => write!(f, "{oracle:?} from a module {level}"),
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The numbers, as text.
    Results(String),
    /// The device lacks what the program needs, and Kiln says so.
    Refused,
    /// Something else.
    Failed(String),
}

/// Programs that can be compared, and how.
pub struct Comparison {
    /// The language of the programs.
    pub sort: Sort,
    /// What is right. Programs about which these disagree are not judged.
    pub references: Vec<Oracle>,
    /// What is tried.
    pub ways: Vec<Way>,
}

impl Comparison {
    /// Against PoCL, which CI has.
    pub fn with_pocl() -> Self {
        Self { sort: Sort::Plain, references: vec![Oracle::Pocl], ways: vulkan() }
    }

    /// Against Intel's runtime, with modules for OpenCL and with generic pointers if wanted.
    pub fn with_intel(sort: Sort) -> Self {
        let mut ways = vulkan();
        ways.extend(["-O0", "-O3"].map(|level| Way::Module(Oracle::Intel, level)));
        Self { sort, references: Self::references(sort), ways }
    }

    /// Every reference that has the language: each of them has mistakes.
    fn references(sort: Sort) -> Vec<Oracle> {
        match sort {
            Sort::Plain => vec![Oracle::Pocl, Oracle::Intel],
            Sort::Generic => vec![Oracle::Intel],
        }
    }

    /// Generates a program and runs it in all ways. An error is what differs, for people.
    pub fn check(&self, seed: u64, scratch: &Path) -> Result<Tally, String> {
        self.compare(&programs::program(seed, self.sort), scratch)
    }

    /// Runs a program in all ways.
    pub fn compare(&self, program: &Program, scratch: &Path) -> Result<Tally, String> {
        let mut tally = Tally::default();
        let file = scratch.join("program.cl");
        fs::write(&file, &program.source).map_err(|e| e.to_string())?;
        let mut rights = Vec::new();
        for &reference in &self.references {
            match self.run(Way::Source(reference), program, &file, scratch)? {
                Outcome::Results(results) => rights.push(results),
                Outcome::Refused | Outcome::Failed(_) => break,
            }
        }
        rights.dedup();
        let [right] = &rights[..] else {
            tally.unjudged += 1;
            return Ok(tally);
        };
        let mut complaints = Vec::new();
        for &way in &self.ways {
            match self.run(way, program, &file, scratch)? {
                Outcome::Results(results) if results == *right => tally.same += 1,
                Outcome::Results(results) => {
                    complaints.push(format!("{way}: {}", difference(right, &results)))
                }
                Outcome::Refused => tally.refused += 1,
                Outcome::Failed(reason) => complaints.push(format!("{way}: {reason}")),
            }
        }
        if complaints.is_empty() { Ok(tally) } else { Err(complaints.join("\n")) }
    }

    /// This with one way only, and with every reference that the language has.
    pub fn narrowed(&self, way: Way) -> Self {
        Self { sort: self.sort, references: Self::references(self.sort), ways: vec![way] }
    }

    /// Whether Kiln takes it for a program.
    pub fn accepts(&self, program: &Program, scratch: &Path) -> bool {
        let file = scratch.join("program.cl");
        let mut command = kiln::command();
        command.args(["check", "-w", self.version()]).arg(&file);
        fs::write(&file, &program.source).is_ok()
            && kiln::run(&mut command).is_ok_and(|finished| finished.status.success())
    }

    fn version(&self) -> &'static str {
        if self.sort == Sort::Plain { "-cl-std=CL1.2" } else { "-cl-std=CL2.0" }
    }

    fn run(&self, way: Way, program: &Program, file: &Path, scratch: &Path) -> Result<Outcome, String> {
        let version = self.version();
        let finished = match way {
            Way::Source(oracle) => {
                let mut command = oracle.command(scratch)?;
                Oracle::run(command.arg(file).args(["--options", version]).args(program.launch()))
            }
            Way::Vulkan(device, level) => {
                let mut command = kiln::command();
                device.only(&mut command)?;
                device::launch(
                    command.arg("run").arg(file).args([version, level, "-w"]).args(program.launch()),
                )
            }
            Way::Module(oracle, level) => {
                let module = scratch.join("program.spv");
                let mut compiler: Command = kiln::command();
                compiler
                    .args(["compile", "--env", "opencl", version, level, "-w", "-o"])
                    .arg(&module)
                    .arg(file);
                let compiled = kiln::run(&mut compiler)?;
                if !compiled.status.success() {
                    return Ok(Outcome::Failed(format!("is not compiled: {}", compiled.stderr)));
                }
                let mut command = oracle.command(scratch)?;
                // Readers choose their built-in functions by it.
                let options = ["--options", "-cl-std=CL2.0"];
                Oracle::run(command.arg(&module).args(options).args(program.launch()))
            }
        };
        Ok(match finished {
            Ok(finished) if finished.status.success() => Outcome::Results(finished.text()),
            Ok(finished) if device::lacks_a_feature(&finished.stderr) => Outcome::Refused,
            Ok(finished) => {
                let text = device::without_greetings(&finished.stderr);
                Outcome::Failed(format!("ended with {}: {text}", finished.status))
            }
            Err(reason) => Outcome::Failed(reason),
        })
    }
}

fn vulkan() -> Vec<Way> {
    // clang has levels of its own.
    let ways = |device: &'static Device| match device.is_for_clang() {
        true => vec![Way::Vulkan(device, "-O3")],
        false => ["-O0", "-O3"].map(|level| Way::Vulkan(device, level)).to_vec(),
    };
    device::all().flat_map(ways).collect()
}

/// How programs ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Runs with the right results.
    pub same: usize,
    /// Runs that a device has not the features for.
    pub refused: usize,
    /// Programs that the reference does not run.
    pub unjudged: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.same += other.same;
        self.refused += other.refused;
        self.unjudged += other.unjudged;
    }
}

/// Where two texts of numbers begin to differ.
fn difference(right: &str, found: &str) -> String {
    for (right, found) in right.lines().zip(found.lines()) {
        let words = right.split(' ').zip(found.split(' ')).enumerate();
        for (index, (one, other)) in words {
            if one != other {
                let name = right.split(' ').next().unwrap_or_default();
                return format!("{name} differs in word {index}: {other} and not {one}");
            }
        }
    }
    "the results have other lines".to_owned()
}
