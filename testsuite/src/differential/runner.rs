//! The environment of program runs: a folder, and a running process of each OpenCL implementation. Each thread has its
//! own.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{Comparison, Configuration, Outcome};
use crate::{
    clang, device, kiln,
    oracle::Oracle,
    process::{self, Finished},
    programs::Program,
    server::{Ending, Server},
};

/// The environment.
pub struct Runner {
    scratch: TempDir,
    servers: Vec<(Oracle, Server)>,
}

impl Default for Runner {
    fn default() -> Self {
        Self::new()
    }
}

impl Runner {
    /// Creates an empty environment.
    pub fn new() -> Self {
        Self { scratch: tempfile::tempdir().expect("a folder for files"), servers: Vec::new() }
    }

    /// Whether Kiln accepts the program, and it has no part of an address in its results: each device has other addresses.
    pub fn accepts(&self, program: &Program) -> bool {
        let file = self.scratch.path().join("program.cl");
        let mut command = kiln::command();
        command.args(["check", "-w", "-Werror=pointer-to-small-integer", &version(program)]).arg(&file);
        fs::write(&file, &program.source).is_ok()
            && kiln::run(&mut command).is_ok_and(|finished| finished.status.success())
    }

    /// Runs a program in one configuration, and measures the time.
    pub(super) fn run(
        &mut self,
        configuration: Configuration,
        program: &Program,
        of: &Comparison,
    ) -> (Outcome, Duration) {
        let begin = Instant::now();
        let outcome = self.outcome(configuration, program, of).unwrap_or_else(Outcome::Failed);
        (outcome, begin.elapsed())
    }

    fn outcome(
        &mut self,
        configuration: Configuration,
        program: &Program,
        of: &Comparison,
    ) -> Result<Outcome, String> {
        let version = &version(program);
        let file = self.scratch.path().join("program.cl");
        fs::write(&file, &program.source).map_err(|e| e.to_string())?;
        let module = self.scratch.path().join("program.spv");
        match configuration {
            Configuration::Source(oracle) => self.serve(oracle, &file, version, program, of.limit),
            Configuration::Device(device, level) => {
                let mut command = kiln::command();
                device.only(&mut command)?;
                command.arg("run").arg(&file).args([version, level, "-w"]).args(program.launch());
                // No work-group waits for another, so launches may run in parallel.
                let outcome = outcome_of(if device.is_for_clang() {
                    // llvm-spirv gives the atomics of OpenCL 1.x work-group scope.
                    clang::launch(command.arg("--no-checks"), of.limit)
                } else {
                    process::run(&mut command, b"", of.limit)
                });
                Ok(outcome)
            }
            Configuration::Lesser(device, changes) => {
                let target = ["--device-profile", device.name, "--feature", changes];
                if let Err(outcome) = compile(&file, &module, version, &target)? {
                    return Ok(outcome);
                }
                crate::module::check(&module, "vulkan")?;
                let mut command = kiln::command();
                device.only(&mut command)?;
                command.arg("run").arg(&module).args(program.launch());
                Ok(outcome_of(process::run(&mut command, b"", of.limit)))
            }
            Configuration::Driver(device) => {
                let outcome = self.serve(Oracle::Kiln(device.name), &file, version, program, of.limit)?;
                Ok(match outcome {
                    Outcome::Failed(reason) if device::lacks_a_feature(&reason) => Outcome::Rejected,
                    outcome => outcome,
                })
            }
            Configuration::Module(oracle, level) => {
                if let Err(outcome) = compile(&file, &module, version, &["--env", "opencl", level])? {
                    return Ok(outcome);
                }
                // Implementations that read SPIR-V select their built-in functions by this option.
                self.serve(oracle, &module, "-cl-std=CL2.0", program, of.limit)
            }
        }
    }

    fn serve(
        &mut self,
        oracle: Oracle,
        file: &Path,
        version: &str,
        program: &Program,
        limit: Duration,
    ) -> Result<Outcome, String> {
        let at = match self.servers.iter().position(|(its, _)| *its == oracle) {
            Some(at) => at,
            None => {
                self.servers.push((oracle, oracle.server(self.scratch.path())?));
                self.servers.len() - 1
            }
        };
        let mut words: Vec<String> = oracle.platform().iter().map(|&word| word.to_owned()).collect();
        words.extend([file.display().to_string(), format!("--options={version}")]);
        words.extend(program.launch());
        Ok(match self.servers[at].1.run(&words, limit)? {
            Ok(results) => Outcome::Results(results),
            Err(Ending::Late) => Outcome::Late,
            Err(Ending::Failed(reason)) => Outcome::Failed(reason),
        })
    }
}

/// Compiles a module; the inner error is the outcome if there is none.
fn compile(file: &Path, module: &Path, version: &str, words: &[&str]) -> Result<Result<(), Outcome>, String> {
    let mut compiler = kiln::command();
    compiler.args(["compile", version, "-w"]).args(words).arg("-o").arg(module).arg(file);
    let compiled = kiln::run(&mut compiler)?;
    Ok(match compiled.status.success() {
        true => Ok(()),
        false if device::lacks_a_feature(&compiled.stderr) => Err(Outcome::Rejected),
        false => Err(Outcome::Failed(format!("is not compiled: {}", compiled.stderr))),
    })
}

/// Converts the result of a launch.
fn outcome_of(launch: Result<Finished, String>) -> Outcome {
    match launch {
        Ok(finished) if finished.status.success() => Outcome::Results(finished.text()),
        Ok(finished) if device::lacks_a_feature(&finished.stderr) => Outcome::Rejected,
        // Kiln's own timeout.
        Ok(finished) if finished.stderr.contains("did not finish within") => Outcome::Late,
        Ok(finished) => {
            let text = device::without_greetings(&finished.stderr);
            Outcome::Failed(format!("ended with {}: {text}", finished.status))
        }
        Err(reason) if reason.contains("does not end") => Outcome::Late,
        Err(reason) => Outcome::Failed(reason),
    }
}

fn version(program: &Program) -> String {
    format!("-cl-std={}", program.std)
}
