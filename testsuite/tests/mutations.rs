//! Valid programs with one token deleted, duplicated, inserted or replaced: the first error is on a line where a reader
//! would look, and there are at most two errors.
//!
//! `KILN_MUTANTS` sets the number of mutants of each program, `KILN_SEED` selects them; both print the failures.

use std::{
    env, fs,
    path::{Path, PathBuf},
    thread,
};

use kiln_compiler::{
    Emit, Output, compile,
    diag::Severity,
    opencl::{Environment, LanguageVersion},
    session::{NoFiles, Options, Source},
    target::Target,
};
use kiln_testsuite::{
    mutate::{Mutant, Program},
    random::Random,
    root,
};

/// The number of mutants of each program.
const MUTANTS: usize = 40;

/// The required share of mutants whose first error is on a correct line.
const RIGHT_LINE: f64 = 98.0;

/// The required share of mutants with at most two errors.
const AT_MOST_TWO: f64 = 95.0;

#[derive(Default)]
struct Tally {
    rejected: usize,
    right_line: usize,
    at_most_two: usize,
    misses: Vec<String>,
}

#[test]
fn mistakes_are_reported_once_and_in_place() {
    let variable = |name| env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let (count, seed) = (variable("KILN_MUTANTS"), variable("KILN_SEED").unwrap_or(1));
    let programs = programs();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(programs.len());
    let share = programs.len().div_ceil(workers);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let judge = |(number, part): (usize, &'_ [(PathBuf, String)])| {
            let mut tally = Tally::default();
            for (index, (path, text)) in part.iter().enumerate() {
                let random = Random::new((seed * 10_000 + number * share + index) as u64);
                tally.judge(path, text, random, count.unwrap_or(MUTANTS));
            }
            tally
        };
        let parts = programs.chunks(share).enumerate();
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || judge(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let sum = |part: fn(&Tally) -> usize| tallies.iter().map(part).sum::<usize>();
    let rejected = sum(|tally| tally.rejected);
    let percent = |part: usize| 100.0 * part as f64 / rejected as f64;
    let right_line = percent(sum(|tally| tally.right_line));
    let at_most_two = percent(sum(|tally| tally.at_most_two));
    println!(
        "{rejected} mutants: {right_line:.2} % on the right line, {at_most_two:.2} % with at most two errors"
    );
    if count.is_some() {
        tallies.iter().flat_map(|tally| &tally.misses).for_each(|miss| println!("{miss}"));
    }
    assert!(rejected > programs.len() * MUTANTS.min(count.unwrap_or(MUTANTS)) / 2, "most mutants are wrong");
    assert!(right_line >= RIGHT_LINE, "right line: {right_line:.2} %");
    assert!(at_most_two >= AT_MOST_TWO, "at most two errors: {at_most_two:.2} %");
}

/// The examples and the programs of `testsuite/programs`.
fn programs() -> Vec<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let folder =
        |path: PathBuf| fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    for path in folder(root().join("testsuite/programs"))
        .chain(folder(root().join("examples")).filter(|path| path.is_dir()).flat_map(folder))
    {
        if path.extension().is_some_and(|ending| ending == "cl") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).expect("a program"))).collect()
}

/// Whether the error is at the `#if` of a changed `#endif`.
fn is_open_conditional(text: &str, mutant: &Mutant, line: u32) -> bool {
    let starts = |line: u32, word| {
        let line = text.lines().nth(line.saturating_sub(1) as usize);
        line.is_some_and(|line| line.starts_with(word))
    };
    starts(line, "#if") && mutant.lines.iter().any(|&changed| starts(changed, "#endif"))
}

impl Tally {
    fn judge(&mut self, path: &Path, text: &str, mut random: Random, count: usize) {
        let std = version(text);
        let output = check(text, std);
        assert!(!output.has_errors(), "{} is not sound: {:?}", path.display(), output.diagnostics);
        let program = Program::new(text);
        for _ in 0..count {
            let mutant = program.mutant(&mut random);
            let output = check(&mutant.text, std);
            let errors: Vec<(u32, &str)> = errors(&output);
            let Some(&(line, _)) = errors.first() else { continue };
            self.rejected += 1;
            let is_correct = mutant.lines.contains(&line) || is_open_conditional(text, &mutant, line);
            self.right_line += usize::from(is_correct);
            self.at_most_two += usize::from(errors.len() <= 2);
            if !is_correct || errors.len() > 2 {
                self.misses.push(miss(path, text, &mutant, &errors));
            }
        }
    }
}

/// `// std: CL2.0` on the second line of a program.
fn version(text: &str) -> LanguageVersion {
    let line = text.lines().nth(1).unwrap_or_default();
    let name = line.strip_prefix("// std: ").and_then(|rest| rest.split_whitespace().next());
    name.map_or_else(LanguageVersion::default, |name| LanguageVersion::parse(name).expect("a version"))
}

fn check(text: &str, std: LanguageVersion) -> Output {
    let options = Options { std, target: Target::full(Environment::OpenCl), ..Options::default() };
    let source = Source { name: "program.cl".into(), text: text.as_bytes().to_vec() };
    compile(source, &options, &NoFiles, &Emit::Nothing)
}

/// Lines and messages.
fn errors(output: &Output) -> Vec<(u32, &str)> {
    let errors = output.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors
        .map(|error| {
            let location = output.sources.resolve(error.span);
            let line =
                location.map(|location| output.sources.position(location.file, location.range.start).line);
            (line.unwrap_or_default(), error.message.as_str())
        })
        .collect()
}

fn miss(path: &Path, text: &str, mutant: &Mutant, errors: &[(u32, &str)]) -> String {
    let mut shown = format!("{}: {:?} at {:?}\n", path.display(), mutant.mutation, mutant.lines);
    for (number, (before, now)) in text.lines().zip(mutant.text.lines()).enumerate() {
        if before != now {
            shown += &format!("  {:4} - {before}\n       + {now}\n", number + 1);
        }
    }
    for (line, message) in errors {
        shown += &format!("  {line:4}: {message}\n");
    }
    shown
}
