//! `cargo xtask corpus DIR…`: compiles every kernel in the folders for each environment, and counts the results. For
//! kernels of other projects, whose meaning is not tested.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;

use crate::{
    Outcome,
    limited::{End, Ended, Limits, on_all, run},
    process, setup, spirv,
};

/// The files to compile, and the options.
#[derive(Args)]
pub(crate) struct Corpus {
    /// Files and folders with `.cl` and `.ocl` files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Count only files that clang-15 accepts
    #[arg(long)]
    clang: bool,
    /// The language version
    #[arg(long, default_value = "CL2.0")]
    std: String,
    /// Compile only for this environment
    #[arg(long)]
    env: Option<String>,
    /// Option for every compiler, such as `-DTYPE=float`; can be repeated
    #[arg(long = "option", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Binary to use instead of a release build
    #[arg(long)]
    kiln: Option<PathBuf>,
    /// CPU time limit for a file in seconds
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Memory limit for a file in megabytes
    #[arg(long, default_value_t = 4096)]
    megabytes: u64,
    /// List each file that is not accepted, with its first message
    #[arg(long)]
    list: bool,
}

/// The result of one file in one environment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Verdict {
    /// A module was written, and spirv-val accepts it.
    Accepted,
    /// Compilation failed with errors.
    Rejected,
    /// A module was written, and spirv-val rejects it.
    Invalid,
    /// The compiler panicked or was killed.
    Crashed,
    /// The compiler exceeded the time limit.
    OutOfTime,
}

struct Answer {
    verdict: Verdict,
    /// The first line of the explanation.
    reason: String,
    time: Duration,
}

/// Compiles all files and counts the results.
pub(crate) fn corpus(arguments: &Corpus) -> Outcome {
    setup::install(setup::TESTS)?;
    let kiln = arguments.kiln.clone().map_or_else(process::release_kiln, Ok)?;
    let mut files = Vec::new();
    for path in &arguments.paths {
        let path = path.canonicalize().map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
        let top = if path.is_dir() { &path } else { path.parent().unwrap_or(&path) };
        collect(&path, top, &mut files)?;
    }
    files.sort();
    let found = files.len();
    if arguments.clang {
        setup::install(setup::BENCH)?;
        files = accepted_by_clang(arguments, files)?;
        println!("{found} files, {} of them accepted by clang-15", files.len());
    } else {
        println!("{found} files");
    }
    let environments = match arguments.env.as_deref() {
        Some(one) => vec![one],
        None => vec!["vulkan", "opencl"],
    };
    let mut crashed = 0;
    for environment in environments {
        let answers = on_all(&files, |file| compile(&kiln, file, environment, arguments));
        let answers = answers.into_iter().collect::<Result<Vec<_>, String>>()?;
        crashed += answers.iter().filter(|answer| answer.verdict == Verdict::Crashed).count();
        report(environment, &files, &answers, arguments.list);
    }
    if crashed == 0 { Ok(()) } else { Err(format!("{crashed} crashes")) }
}

/// A source, and a folder that its includes may be relative to, besides its own.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kernel {
    path: PathBuf,
    top: PathBuf,
}

fn collect(path: &Path, top: &Path, files: &mut Vec<Kernel>) -> Outcome {
    if !path.is_dir() {
        files.push(Kernel { path: path.to_owned(), top: top.to_owned() });
        return Ok(());
    }
    let unreadable = |e| format!("cannot read `{}`: {e}", path.display());
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_kernel = path.extension().is_some_and(|ending| ending == "cl" || ending == "ocl");
        // Symbolic links can form cycles.
        let is_link = path.is_symlink();
        if !is_link && (path.is_dir() || is_kernel) {
            collect(&path, top, files)?;
        }
    }
    Ok(())
}

impl Kernel {
    /// The options that all compilers share.
    fn options(&self, arguments: &Corpus) -> Vec<String> {
        let folder = self.path.parent().unwrap_or(&self.top);
        let mut options = vec![
            format!("-cl-std={}", arguments.std),
            format!("-I{}", folder.display()),
            format!("-I{}", self.top.display()),
        ];
        options.extend(arguments.options.iter().cloned());
        options
    }
}

fn limits(arguments: &Corpus) -> Limits {
    Limits { seconds: arguments.seconds, megabytes: arguments.megabytes }
}

fn accepted_by_clang(arguments: &Corpus, files: Vec<Kernel>) -> Result<Vec<Kernel>, String> {
    let answers = on_all(&files, |file| {
        let mut words = ["-x", "cl", "-fsyntax-only", "-w", "--target=spir64"].map(str::to_owned).to_vec();
        words.extend(file.options(arguments));
        words.push(file.path.display().to_string());
        run(Path::new("clang-15"), &words, limits(arguments)).map(|ended| ended.end == End::Code(0))
    });
    let accepted = answers.into_iter().collect::<Result<Vec<bool>, String>>()?;
    Ok(files.into_iter().zip(accepted).filter(|(_, accepted)| *accepted).map(|(file, _)| file).collect())
}

fn compile(kiln: &Path, file: &Kernel, environment: &str, arguments: &Corpus) -> Result<Answer, String> {
    let module = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?.into_temp_path();
    let mut words =
        ["compile", "-w", "--diagnostic-format", "gcc", "--env", environment].map(str::to_owned).to_vec();
    words.extend(file.options(arguments));
    words.extend(["-o".to_owned(), module.display().to_string(), file.path.display().to_string()]);
    let ended = run(kiln, &words, limits(arguments))?;
    let mut answer = classify(&ended);
    if answer.verdict == Verdict::Accepted
        && let Some(reason) = spirv::rejection(&module, environment, limits(arguments))?
    {
        (answer.verdict, answer.reason) = (Verdict::Invalid, reason);
    }
    Ok(answer)
}

fn classify(ended: &Ended) -> Answer {
    let line_with = |word: &str| ended.text.lines().find(|line| line.contains(word)).map(str::to_owned);
    let (verdict, reason) = match ended.end {
        End::Code(0) => (Verdict::Accepted, None),
        End::Code(1) => (Verdict::Rejected, line_with("error: ")),
        End::Code(2) => (Verdict::Rejected, ended.text.lines().next().map(str::to_owned)),
        End::Code(code) => {
            let location = line_with("panicked at").unwrap_or_else(|| format!("exit code {code}"));
            (Verdict::Crashed, Some(location))
        }
        End::Signal(signal) => (Verdict::Crashed, Some(format!("signal {signal}"))),
        End::Time => (Verdict::OutOfTime, Some("out of time".to_owned())),
    };
    Answer { verdict, reason: reason.unwrap_or_default(), time: ended.time }
}

fn report(environment: &str, files: &[Kernel], answers: &[Answer], list: bool) {
    let count = |verdict| answers.iter().filter(|answer| answer.verdict == verdict).count();
    let accepted = count(Verdict::Accepted);
    let share = 100.0 * accepted as f64 / answers.len().max(1) as f64;
    let mut times: Vec<Duration> = answers.iter().map(|answer| answer.time).collect();
    times.sort_unstable();
    let time =
        |share: usize| times.get(times.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
    println!(
        "\n{environment}: {accepted} accepted ({share:.1} %), {} rejected, {} invalid, {} crashed, {} out of time",
        count(Verdict::Rejected),
        count(Verdict::Invalid),
        count(Verdict::Crashed),
        count(Verdict::OutOfTime)
    );
    println!(
        "  wall time of a file: median {:.1?}, 99 % {:.1?}, longest {:.1?}",
        time(50),
        time(99),
        time(100)
    );

    let mut reasons: BTreeMap<(Verdict, String), usize> = BTreeMap::new();
    for (file, answer) in files.iter().zip(answers) {
        if answer.verdict != Verdict::Accepted {
            *reasons.entry((answer.verdict, general(&answer.reason))).or_default() += 1;
            if list {
                println!("  {:?} {}: {}", answer.verdict, file.path.display(), answer.reason);
            }
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for ((verdict, reason), count) in reasons.iter().take(25) {
        println!("  {count:>5} {verdict:?}: {reason}");
    }
}

/// A reason without locations and names, so that it is the same for different files.
fn general(reason: &str) -> String {
    let text = reason.split_once("error: ").map_or(reason, |(_, message)| message);
    let mut quoted = false;
    let mut general = String::new();
    for part in text.split_inclusive(['`', '\'']) {
        let kept = if quoted { "…" } else { part.trim_end_matches(['`', '\'']) };
        general.push_str(kept);
        if part.ends_with(['`', '\'']) {
            general.push('`');
            quoted = !quoted;
        }
    }
    general.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit_status(end: End, text: &str) -> Ended {
        Ended { end, text: text.to_owned(), time: Duration::ZERO }
    }

    #[test]
    fn exit_statuses_are_classified() {
        assert_eq!(classify(&exit_status(End::Code(0), "")).verdict, Verdict::Accepted);
        let rejected = classify(&exit_status(
            End::Code(1),
            "a.cl:1:1: warning: w\na.cl:2:1: error: `x` is not declared\n",
        ));
        assert_eq!(rejected.verdict, Verdict::Rejected);
        assert_eq!(general(&rejected.reason), "`…` is not declared");
        assert_eq!(
            classify(&exit_status(End::Code(101), "thread 'main' panicked at a.rs:1:1:\n")).verdict,
            Verdict::Crashed
        );
        assert_eq!(classify(&exit_status(End::Signal(11), "")).verdict, Verdict::Crashed);
        assert_eq!(classify(&exit_status(End::Time, "")).verdict, Verdict::OutOfTime);
    }
}
