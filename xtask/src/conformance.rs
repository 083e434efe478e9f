//! `cargo xtask conformance [DIR]`: tests the compiler with programs derived from the specification.
//!
//! The folder contains `invalid/`, programs with one violation each, which line 1 names; `invalid_fixed/`, the same
//! programs without the violation; and `valid/`, programs whose optional kernel `check` tests their meaning. Its
//! README.md has the details.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;

use crate::{
    Outcome,
    limited::{End, Ended, Limits, on_all, run},
    process, spirv,
};

/// The location of the programs.
#[derive(Args)]
pub(crate) struct Conformance {
    /// The folder
    #[arg(default_value = "../shared/conformance")]
    folder: PathBuf,
    /// Binary to use instead of a release build
    #[arg(long)]
    kiln: Option<PathBuf>,
    /// Do not run programs, only compile them
    #[arg(long)]
    no_run: bool,
}

const LIMITS: Limits = Limits { seconds: 20, megabytes: 8192 };

/// A program with the contents of its first two lines.
struct Program {
    path: PathBuf,
    /// The kind of an invalid program: `error`, `diagnostic`, `pedantic` or `lint`.
    kind: String,
    /// The line where a diagnostic is expected.
    line: usize,
    /// Command-line options.
    options: Vec<String>,
    /// The number of results of the kernel `check`.
    check: Option<usize>,
    tags: Vec<String>,
}

/// The class of a program, and the failure, if any.
type Finding = (String, Option<String>);

/// Compiles and runs all programs, and counts the results.
pub(crate) fn conformance(arguments: &Conformance) -> Outcome {
    let kiln = arguments.kiln.clone().map_or_else(process::release_kiln, Ok)?;
    let mut failures = 0;
    let mut judge_all = |folder: &str, judge: &(dyn Fn(&Program) -> Result<Vec<Finding>, String> + Sync)| {
        let programs = programs(&arguments.folder.join(folder))?;
        let findings = on_all(&programs, judge);
        let mut classes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        println!("{folder}: {} programs", programs.len());
        for (program, found) in programs.iter().zip(findings) {
            for (class, failure) in found? {
                let (good, all) = classes.entry(class.clone()).or_default();
                *all += 1;
                match failure {
                    None => *good += 1,
                    Some(reason) => {
                        failures += 1;
                        println!("  {} [{class}] {reason}", program.name());
                    }
                }
            }
        }
        for (class, (good, all)) in classes {
            println!("  {class:<24} {good:>4} of {all:>4} ({:.1} %)", 100.0 * good as f64 / all as f64);
        }
        Ok::<(), String>(())
    };
    judge_all("invalid", &|program| invalid(&kiln, program))?;
    judge_all("invalid_fixed", &|program| accepted(&kiln, program))?;
    judge_all("valid", &|program| valid(&kiln, program, !arguments.no_run))?;
    if failures == 0 { Ok(()) } else { Err(format!("{failures} failures")) }
}

fn programs(folder: &Path) -> Result<Vec<Program>, String> {
    let unreadable = |e| format!("cannot read `{}`: {e}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "cl") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(Program::read).collect()
}

impl Program {
    fn read(path: PathBuf) -> Result<Self, String> {
        let text = fs::read(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines();
        let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let kind = between(first, "[", "]").unwrap_or_default().to_owned();
        let line = word_after(first, "line ").and_then(|word| word.parse().ok()).unwrap_or(0);
        let mut options = vec![format!("-cl-std={}", word_after(second, "std: ").unwrap_or("CL2.0"))];
        options.extend(word_after(second, "features: ").map(|features| format!("-cl-ext={features}")));
        let check = word_after(second, "check: ").and_then(|word| word.parse().ok());
        let tags = second.split_once("tags: ").map_or("", |(_, tags)| tags);
        let tags = tags.split([' ', ',']).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
        Ok(Self { path, kind, line, options, check, tags })
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn is(&self, tag: &str) -> bool {
        self.tags.iter().any(|other| other == tag)
    }

    fn run(&self, kiln: &Path, command: &str, more: &[&str]) -> Result<Ended, String> {
        let mut words = vec![command.to_owned(), "--diagnostic-format".to_owned(), "gcc".to_owned()];
        words.extend(self.options.iter().cloned());
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words.push(self.path.display().to_string());
        run(kiln, &words, LIMITS)
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    Some(text.split_once(open)?.1.split_once(close)?.0)
}

fn word_after<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.split_once(label)?.1.split_whitespace().next()
}

/// Parses the location and text of messages in the format `file:line:col: error: …`.
fn messages(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().filter_map(|line| {
        let (position, _) = line.split_once(": ")?;
        let severity = line[position.len() + 2..].split(':').next()?;
        let number = position.rsplit(':').nth(1)?.parse().ok()?;
        Some((number, severity))
    })
}

/// Checks that a violation is diagnosed on its line with the default options.
fn invalid(kiln: &Path, program: &Program) -> Result<Vec<Finding>, String> {
    let ended = program.run(kiln, "check", &[])?;
    let all = program.run(kiln, "check", &["-Weverything"])?;
    let said = messages(&ended.text).count() > 0;
    let on_line = |wanted: &[&str], text: &str| {
        messages(text).any(|(line, severity)| line == program.line && wanted.contains(&severity))
    };
    let any: &[&str] = &["error", "warning"];
    let (seen, is_on_line): (bool, bool) = match program.kind.as_str() {
        "error" => (ended.end == End::Code(1), on_line(&["error"], &ended.text)),
        "lint" => (ended.end == End::Code(0) && on_line(any, &all.text), on_line(any, &all.text)),
        "pedantic" => (on_line(any, &all.text) || said, on_line(any, &all.text)),
        _ => (said, on_line(any, &ended.text)),
    };
    let first = ended.text.lines().next().unwrap_or("no message").to_owned();
    let mut findings =
        vec![(format!("{} seen", program.kind), (!seen).then(|| format!("{:?}: {first}", ended.end)))];
    if seen {
        let elsewhere = format!("wanted on line {}: {first}", program.line);
        findings.push((format!("{} on its line", program.kind), (!is_on_line).then_some(elsewhere)));
    }
    Ok(findings)
}

/// Checks that the program passes the front end, and compiles to a valid module for each environment.
fn accepted(kiln: &Path, program: &Program) -> Result<Vec<Finding>, String> {
    let reason = |ended: &Ended| {
        let line = ended.text.lines().find(|line| line.contains("error") || line.contains("panicked"));
        (ended.end != End::Code(0)).then(|| format!("{:?}: {}", ended.end, line.unwrap_or(&ended.text)))
    };
    let failure = reason(&program.run(kiln, "check", &[])?);
    let is_rejected = failure.is_some();
    let mut findings = vec![("front end accepts".to_owned(), failure)];
    for environment in ["vulkan", "opencl"] {
        if is_rejected || environment == "vulkan" && program.is("vulkan-hard") {
            continue;
        }
        let module = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?.into_temp_path();
        let path = module.display().to_string();
        let mut failure = reason(&program.run(kiln, "compile", &["--env", environment, "-o", &path])?);
        if failure.is_none() {
            failure = spirv::rejection(&module, environment, LIMITS)?;
        }
        findings.push((format!("valid for {environment}"), failure));
    }
    Ok(findings)
}

fn valid(kiln: &Path, program: &Program, run: bool) -> Result<Vec<Finding>, String> {
    let mut findings = accepted(kiln, program)?;
    let Some(count) = program.check.filter(|_| run) else { return Ok(findings) };
    let check = format!("out[0..{count}]=1");
    let mut words = vec![
        "--kernel",
        "check",
        "--global",
        "1",
        "--local",
        "1",
        "--arg",
        "raw:int[64]=0",
        "--check",
        &check,
    ];
    if program.is("extra-local-arg") {
        words.extend(["--arg", "local:64"]);
    }
    if program.is("extra-global-buffer") {
        words.extend(["--arg", "raw:uchar[256]=0"]);
    }
    let mut runs = |class: &str, more: &[&str]| {
        let ended = program.run(kiln, "run", &[&words[..], more].concat())?;
        let failure =
            (ended.end != End::Code(0)).then(|| ended.text.lines().next().unwrap_or_default().to_owned());
        findings.push((class.to_owned(), failure));
        Ok::<(), String>(())
    };
    if !program.is("vulkan-hard") {
        runs("runs right", &[])?;
    }
    runs("on the reference device", &["--device", "reference"])?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    if let Some(module) = clang(program, scratch.path())? {
        runs("there, clang's module", &["--device", "reference", "--module", &module])?;
    }
    Ok(findings)
}

/// Compiles the program by clang-15 and llvm-spirv-15. Returns the path of the module, if they produce one.
fn clang(program: &Program, scratch: &Path) -> Result<Option<String>, String> {
    let [bitcode, module] = ["k.bc", "k.spv"].map(|name| scratch.join(name).display().to_string());
    let source = program.path.display().to_string();
    let version = &program.options[0];
    let mut words: Vec<&str> =
        "-x cl --target=spir64 -O2 -fno-discard-value-names -w -c -emit-llvm".split(' ').collect();
    words.extend(["-Xclang", "-cl-ext=+all", version, &source, "-o", &bitcode]);
    let compile: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let translate = ["--spirv-ext=+all", &bitcode, "-o", &module].map(str::to_owned);
    for (compiler, words) in [("clang-15", &compile[..]), ("llvm-spirv-15", &translate[..])] {
        if run(Path::new(compiler), words, LIMITS)?.end != End::Code(0) {
            return Ok(None);
        }
    }
    Ok(Some(module))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_parsed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text =
            "// INVALID[error] line 7 6.15.12: a rule\n// std: CL3.0 features: -a,-b check: 3 tags: x y\n";
        fs::write(file.path(), text).unwrap();
        let program = Program::read(file.path().to_owned()).unwrap();
        assert_eq!((program.kind.as_str(), program.line, program.check), ("error", 7, Some(3)));
        assert_eq!(program.options, ["-cl-std=CL3.0", "-cl-ext=-a,-b"]);
        assert!(program.is("y") && !program.is("z"));
    }

    #[test]
    fn messages_are_parsed() {
        let text = "a.cl:4:1: error: no\n  note: x\nb/c.cl:12:3: warning: w [-Wx]\n";
        assert_eq!(messages(text).collect::<Vec<_>>(), [(4, "error"), (12, "warning")]);
    }
}
