//! Compiles every atomic function, fence and barrier with every order, scope, type and address space. Each call is
//! rejected with the code that the specification requires, or becomes part of a module that Kiln's verifier and spirv-val
//! accept.
//!
//! All combinations take minutes; without `--nightly` the tests run a sample of each kind.

mod configurations;
mod rules;
mod sources;

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use kiln_compiler::{
    Artifact, Emit, diag::Severity, opencl::Environment, session::NoFiles, session::Source, verify,
};
use kiln_testsuite::{module, nightly};

use configurations::Configuration;
use sources::Program;

/// The distance between the programs of a sample.
const STEP: usize = 29;

#[derive(Debug, Default)]
struct Counts {
    tried: usize,
    rejected: usize,
    lacking: usize,
    emitted: usize,
    modules: usize,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.tried += other.tried;
        self.rejected += other.rejected;
        self.lacking += other.lacking;
        self.emitted += other.emitted;
        self.modules += other.modules;
    }
}

#[test]
fn every_call_is_rejected_or_emitted() {
    let configurations = configurations::all();
    let mut tasks = Vec::new();
    for configuration in &configurations {
        for program in sources::all(configuration) {
            tasks.push((configuration, program));
        }
    }
    let all = tasks.len();
    // A prime step selects every function, type and configuration.
    let step =
        if nightly::count("programs of atomic calls", all.div_ceil(STEP), all) == all { 1 } else { STEP };
    tasks = tasks.into_iter().step_by(step).collect();
    let next = AtomicUsize::new(0);
    let total = Mutex::new((Counts::default(), Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((configuration, program)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = try_program(configuration, program);
                    let (counts, failures) = &mut *total.lock().expect("no worker panics with the lock");
                    match outcome {
                        Ok(more) => counts.add(&more),
                        Err(failure) => {
                            failures.push(format!("{} {}: {failure}", configuration.name, program.name));
                        }
                    }
                }
            });
        }
    });
    let (counts, failures) = total.into_inner().expect("no worker panicked");
    println!(
        "{} of {all} programs: {} calls tried, {} rejected, {} lacking a feature, {} emitted in {} modules",
        tasks.len(),
        counts.tried,
        counts.rejected,
        counts.lacking,
        counts.emitted,
        counts.modules
    );
    assert!(failures.is_empty(), "{} programs fail:\n{}", failures.len(), failures.join("\n"));
    assert!(counts.rejected > 1000 && counts.emitted > 1000, "hardly anything was tried");
}

/// The diagnostics of a program by line, and the module if there is one.
struct Compiled {
    errors: BTreeMap<usize, Vec<(String, String)>>,
    words: Option<Vec<u32>>,
}

fn compile(configuration: &Configuration, text: &str, emit: &Emit) -> Result<Compiled, String> {
    let options = configuration.options();
    let source = Source { name: "atomics.cl".to_owned(), text: text.as_bytes().to_vec() };
    let compile = || kiln_compiler::compile(source, &options, &NoFiles, emit);
    let output = std::panic::catch_unwind(compile).map_err(|_| format!("the compiler panics on\n{text}"))?;
    let mut errors: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
    for diagnostic in output.diagnostics.iter().filter(|it| it.severity == Severity::Error) {
        let line = output
            .sources
            .resolve(diagnostic.span)
            .map_or(0, |at| output.sources.position(at.file, at.range.start).line as usize);
        let reported = (diagnostic.code.name().to_owned(), diagnostic.message.clone());
        errors.entry(line).or_default().push(reported);
    }
    if let Some(invalid) = output.invalid_module {
        return Err(format!("{invalid}\n{text}"));
    }
    let words = match output.artifact {
        Some(Artifact::Module(module)) => Some(module.into_words()),
        _ => None,
    };
    Ok(Compiled { errors, words })
}

fn try_program(configuration: &Configuration, program: &Program) -> Result<Counts, String> {
    let mut counts = Counts { tried: program.calls.len(), ..Counts::default() };
    let (text, lines) = program.text(&vec![true; program.calls.len()]);
    let checked = compile(configuration, &text, &Emit::Nothing)?;
    let mut legal = vec![true; program.calls.len()];
    let mut failures = Vec::new();
    for (index, call) in program.calls.iter().enumerate() {
        let wanted = &call.rejections;
        let reported =
            lines[index].and_then(|line| checked.errors.get(&line)).map_or(&[][..], |reported| reported);
        legal[index] = wanted.is_empty();
        counts.rejected += usize::from(!wanted.is_empty());
        let is_correct = if wanted.is_empty() {
            reported.is_empty()
        } else {
            !reported.is_empty() && reported.iter().all(|(code, _)| wanted.contains(code.as_str()))
        };
        if !is_correct {
            failures.push(format!("{}\n    should be {wanted:?}, is {reported:?}", call.text));
        }
    }
    let lines: Vec<usize> = lines.iter().flatten().copied().collect();
    let elsewhere = checked.errors.iter().filter(|(line, _)| !lines.contains(line));
    failures.extend(elsewhere.map(|(line, reported)| format!("line {line}: {reported:?}")));
    if !failures.is_empty() {
        return Err(format!("{} calls\n{}", failures.len(), failures[..failures.len().min(4)].join("\n")));
    }
    let Some(words) = emit(configuration, program, &mut legal, &mut counts)? else { return Ok(counts) };
    counts.emitted = legal.iter().filter(|it| **it).count();
    counts.modules = 1;
    let findings = verify::verify(&words, Some(&configuration.target));
    if let Some(finding) = findings.first() {
        return Err(finding.to_string());
    }
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = scratch.path().join("module.spv");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(&path, bytes).map_err(|error| error.to_string())?;
    let environment = match configuration.target.environment {
        Environment::Vulkan => "vulkan",
        Environment::OpenCl => "opencl",
    };
    module::check(&path, environment)?;
    let min =
        program.calls.iter().zip(&legal).filter(|(call, is_legal)| call.is_visible && **is_legal).count();
    let found = sources::synchronizing_instructions(&words);
    if found < min {
        return Err(format!("{found} instructions for {min} calls"));
    }
    Ok(counts)
}

/// Compiles the legal calls. Removes those that are rejected because the target lacks a feature, and compiles again.
fn emit(
    configuration: &Configuration,
    program: &Program,
    legal: &mut [bool],
    counts: &mut Counts,
) -> Result<Option<Vec<u32>>, String> {
    for _ in 0..4 {
        if !legal.contains(&true) {
            return Ok(None);
        }
        let (text, lines) = program.text(legal);
        let compiled = compile(configuration, &text, &Emit::Spirv)?;
        if let Some(words) = compiled.words {
            return Ok(Some(words));
        }
        let mut removed = 0;
        for (line, reported) in &compiled.errors {
            let is_by_name =
                reported.iter().all(|(code, _)| code == "target-feature" || code == "sub-group-unavailable");
            let index = lines.iter().position(|call| *call == Some(*line)).filter(|_| is_by_name);
            let Some(index) = index else { return Err(format!("line {line}: {reported:?} in\n{text}")) };
            legal[index] = false;
            removed += 1;
        }
        counts.lacking += removed;
        if removed == 0 {
            return Err("no module, and no reason".to_owned());
        }
    }
    Err("each compilation rejects other calls".to_owned())
}
