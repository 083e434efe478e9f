//! Dat3M's SPIR-V modules for OpenCL and Vulkan, whose expected results are in its Java tests. `spirv-as` assembles them.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use kiln_memory_model::{
    AnnotatedTest, Model, Module, TestOptions, Undefined,
    explore::{Options, explore},
    progress::{Progress, Scheduler},
    text::Quantifier,
};

use super::{Compared, Question, Verdict, on_all, read};

/// A test with its expected result.
struct Test {
    path: String,
    question: Question,
    /// Whether only the outcomes count that the test selects.
    is_filtered: bool,
    /// The iterations of loops.
    bound: u32,
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Pass,
    Fail,
    /// No violation is found, but loops can be longer.
    Unknown,
}

/// Compares all tests of one environment.
pub(super) fn compare(
    folder: &Path,
    environment: &str,
    model: Model,
    (filter, budget): (&str, u64),
) -> Result<Vec<Compared>, String> {
    let name = |question| {
        let question = match question {
            Question::Condition => "outcomes",
            Question::NoRace => "races",
            Question::Ends(_) => "termination",
        };
        let model = if model == Model::OpenCl { "OpenCL" } else { "Vulkan" };
        format!("SPIR-V for {model}, {question}")
    };
    let mut tests = Vec::new();
    for file in files(&folder.join("dartagnan/src/test/java/com/dat3m/dartagnan/spirv").join(environment))? {
        tests.extend(list(&read(&file)?));
    }
    tests.retain(|test| name(test.question).contains(filter) || test.path.contains(filter));
    let resources = folder.join("dartagnan/src/test/resources");
    let verdicts = on_all(&tests, |test| verdict(&resources.join(&test.path), test, (model, budget)));
    let mut lists = Vec::new();
    for question in [Question::Condition, Question::NoRace, Question::Ends(Progress::default())] {
        let list = name(question);
        let mut compared = Compared::new(&list, 0);
        for (test, verdict) in tests.iter().zip(&verdicts).filter(|(test, _)| name(test.question) == list) {
            compared.tests += 1;
            let scheduler = match test.question {
                Question::Ends(progress) => format!(", {progress}"),
                Question::Condition | Question::NoRace => String::new(),
            };
            let name = format!("{} (bound {}{scheduler})", test.path, test.bound);
            compared.add(&name, test.expected != Expected::Fail, verdict.clone());
        }
        if compared.tests > 0 {
            lists.push(compared);
        }
    }
    Ok(lists)
}

/// The Java files with tests.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(files(&path)?);
        } else if path.extension().is_some_and(|it| it == "java") {
            all.push(path);
        }
    }
    Ok(all)
}

/// The tests in a Java file: rows such as `{"mp.spvasm", 2, PASS}`.
fn list(java: &str) -> Vec<Test> {
    let between = |from: &str, to: &str| Some(java.split_once(from)?.1.split_once(to)?.0);
    let Some(folder) = between("getTestResourcePath(\"", "\"") else { return Vec::new() };
    let schedulers = schedulers(java);
    let question = |words: &[&str]| match between("EnumSet.of(", ")")? {
        "PROGRAM_SPEC" => Some(Question::Condition),
        "CAT_SPEC" => Some(Question::NoRace),
        _ => schedulers.iter().find(|it| words.contains(&it.0)).map(|it| Question::Ends(it.1)),
    };
    let row = |line: &str| {
        let row = line.trim().strip_prefix("{\"")?.split_once('}')?.0;
        let words: Vec<&str> = row.split(',').map(|it| it.trim().trim_end_matches('"')).collect();
        let expected = match *words.last()? {
            "PASS" => Expected::Pass,
            "FAIL" => Expected::Fail,
            "UNKNOWN" => Expected::Unknown,
            _ => return None,
        };
        Some(Test {
            path: format!("{folder}{}", words[0]),
            question: question(&words)?,
            is_filtered: !words.contains(&"false"),
            bound: words[1..].iter().find_map(|it| it.parse().ok()).unwrap_or(1),
            expected,
        })
    };
    java.lines().filter_map(row).collect()
}

/// The schedulers that a Java file names: a scheduler for all levels, or for a level each.
fn schedulers(java: &str) -> Vec<(&str, Progress)> {
    let declared = java.split("ProgressModel.Hierarchy ").filter_map(|it| it.split_once(" = "));
    let progress = |text: &str| {
        let at = |level: &str| {
            let word = text.split_once(level)?.1.split_once("ProgressModel.")?.1;
            let end = word.find(|c: char| !(c.is_ascii_uppercase() || c == '_'))?;
            Scheduler::ALL.into_iter().find(|it| it.to_string() == word[..end])
        };
        let all = at("uniform(").unwrap_or_default();
        let level = |name: &str| at(name).unwrap_or(all);
        Progress { groups: level("QUEUE_FAMILY"), sub_groups: level("WORK_GROUP"), items: level("SUB_GROUP") }
    };
    declared.filter_map(|(name, rest)| Some((name, progress(rest.split_once(';')?.0)))).collect()
}

/// Whether every run of a test ends.
fn ends(
    (module, text): (&Module, &str),
    test: &Test,
    (model, budget): (Model, u64),
    scheduler: Progress,
) -> Result<Verdict, String> {
    let options = TestOptions { max_iterations: test.bound + 2, keeps_spins: true, ..TestOptions::default() };
    let found = AnnotatedTest::read(module, text, options).map_err(|e| e.to_string())?;
    super::ends(&found.skeleton, model, scheduler, Options { budget, ..Options::default() })
}

/// Whether a test has no violation, for each choice of the values that it does not initialize.
fn verdict(path: &Path, test: &Test, (model, budget): (Model, u64)) -> Result<Verdict, String> {
    let question = test.question;
    let text = read(path)?;
    let module = Module::new(&assemble(&text)?);
    if let Question::Ends(scheduler) = question {
        return ends((&module, &text), test, (model, budget), scheduler);
    }
    let max_iterations = match test.expected {
        Expected::Unknown => test.bound,
        Expected::Pass | Expected::Fail => 2 * test.bound + 2,
    };
    let mut satisfied = Vec::new();
    let (mut is_cut, mut quantifier) = (false, None);
    for undefined in [Undefined::Zero, Undefined::Distinct] {
        let options = TestOptions { max_iterations, undefined, ..TestOptions::default() };
        let found = AnnotatedTest::read(&module, &text, options).map_err(|e| e.to_string())?;
        let stops_at_race = question == Question::NoRace && (found.filter.is_none() || !test.is_filtered);
        let options = Options { budget, stops_at_race, ..Options::default() };
        let outcomes = explore(&found.skeleton, model, options).map_err(|e| e.to_string())?;
        is_cut |= outcomes.is_cut;
        let not_understood = || "the condition is not understood".to_owned();
        let counts = |outcome: &Vec<u64>| match &found.filter {
            Some(filter) if test.is_filtered => filter.is_satisfied(&|name| found.value(outcome, name)),
            _ => Some(true),
        };
        if question == Question::NoRace {
            let racing: Option<Vec<bool>> = outcomes.racing.iter().map(counts).collect();
            if racing.ok_or_else(not_understood)?.contains(&true) {
                return Ok(Verdict { holds: false });
            }
            continue;
        }
        let Some(condition) = &found.condition else { continue };
        quantifier = Some(condition.quantifier);
        for outcome in outcomes.allowed.keys() {
            if counts(outcome).ok_or_else(not_understood)? {
                let holds = condition.is_satisfied(&|name| found.value(outcome, name));
                satisfied.push(holds.ok_or_else(not_understood)?);
            }
        }
    }
    let holds = quantifier.is_none_or(|it| it.verdict(satisfied.into_iter()));
    // Longer loops can add outcomes, so only what one outcome shows is certain.
    let can_change = holds != (quantifier == Some(Quantifier::Exists));
    match can_change && is_cut && test.expected != Expected::Unknown {
        true => Err("its loops have more iterations than the bound".to_owned()),
        false => Ok(Verdict { holds }),
    }
}

/// Assembles a test. Each name becomes an `OpName` with `@` before it. The languages of some tests are unknown to older
/// assemblers, which also reject negative numbers of unsigned types.
fn assemble(text: &str) -> Result<Vec<u32>, String> {
    let mut source = String::new();
    let mut names = Vec::new();
    let unsigned: Vec<(&str, u32)> = text
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.trim().split_once(" = OpTypeInt ")?;
            let (width, sign) = rest.trim().split_once(' ')?;
            Some((name.trim(), width.parse().ok().filter(|_| sign.trim() == "0")?))
        })
        .collect();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("OpSource ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, "=", op, ty, number @ ..] = &words[..] {
            names.push(name.trim_start_matches('%'));
            let width = unsigned.iter().find(|(name, _)| name == ty).map(|it| it.1);
            let negative = number.first().and_then(|it| it.parse::<i64>().ok()).filter(|it| *it < 0);
            if let (true, Some(width), Some(number)) = (op.contains("Constant"), width, negative) {
                let number = number as u64 & (u64::MAX >> (64 - width.clamp(1, 64)));
                source.push_str(&format!("{name} = {op} {ty} {number}\n"));
                continue;
            }
        }
        source.push_str(line);
        source.push('\n');
    }
    for name in names {
        source.push_str(&format!("OpName %{name} \"@{name}\"\n"));
    }
    let start = |e: std::io::Error| format!("spirv-as: {e}");
    let mut child = Command::new("spirv-as")
        .args(["--target-env", "spv1.6", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start)?;
    let mut input = child.stdin.take().ok_or("spirv-as has no input")?;
    input.write_all(source.as_bytes()).map_err(start)?;
    drop(input);
    let output = child.wait_with_output().map_err(start)?;
    if !output.status.success() {
        return Err(format!("spirv-as: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
    Ok(output.stdout.chunks_exact(4).map(word).collect())
}
