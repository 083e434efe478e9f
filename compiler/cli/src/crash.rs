//! Internal errors: for a panic or an invalid module, writes a reproducer.
//!
//! A reproducer is a source. Its leading comment contains the version, the command, the location of the failure and
//! the backtrace. The preprocessed source follows, so that no other file is needed. Independent of the stages
//! of a compilation.

use std::{
    backtrace::Backtrace,
    cell::Cell,
    env,
    fmt::Write as _,
    fs,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    path::PathBuf,
    process,
    sync::{
        Mutex, Once, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use kiln_compiler::{
    Artifact, Emit,
    session::{Loader, Options, Source, defect::Defect},
    verify::InvalidModule,
};

use crate::{exit::stderr_line, files::write_output};

/// The variable that names the directory of reproducers, which is created. The default is the directory for temporary files.
const FOLDER: &str = "KILN_CRASH_DIR";

/// For tests: a source with this word makes the compiler panic.
const PANIC_ON: &str = "KILN_PANIC_ON";

/// For tests: the variable that names a defect for the compiler to simulate.
const DEFECT: &str = "KILN_DEFECT";

/// Options with a value to omit from the command of a reproducer: preprocessing has applied them, or they name other
/// outputs.
const OMITTED_WITH_VALUE: &[&str] =
    &["-D", "-U", "-I", "-include", "--include", "-o", "--output", "-MF", "-MT", "-MQ"];

/// Options without a value to omit for the same reasons.
const OMITTED_ALONE: &[&str] = &["-M", "-MM", "-MD", "-MMD", "-MP", "--watch"];

thread_local! {
    /// Whether `guarded` reports panics of this thread.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The messages of all panics, in order.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The command line without the program name.
static WORDS: OnceLock<Vec<String>> = OnceLock::new();

/// The compilation in progress, from which the reproducer is made.
pub(crate) struct CrashContext<'a> {
    /// The source.
    pub(crate) source: Source,
    /// The compiler options.
    pub(crate) options: &'a Options,
    /// The loader of included files.
    pub(crate) loader: &'a dyn Loader,
}

/// Installs the panic hook for a command.
pub(crate) fn prepare(words: Vec<String>) {
    // Called only once.
    let _ = WORDS.set(words);
    let default_hook = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if IS_GUARDED.get() {
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(describe(panic));
        } else {
            default_hook(panic);
        }
    }));
}

/// The panic message with its location and backtrace.
fn describe(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let sentence =
        payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    let sentence = sentence.unwrap_or("a panic without a message").replace('\n', " ");
    let location = panic.location().map(|location| format!(" ({location})")).unwrap_or_default();
    format!("{sentence}{location}\n{}", Backtrace::force_capture())
}

/// Runs a closure. If it panics, reports that with the path of the reproducer, and returns `None`.
pub(crate) fn guarded<T>(context: Option<&CrashContext<'_>>, work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_GUARDED.replace(true);
    // The state that a panic leaves inconsistent is dropped.
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        if let (Some(context), Ok(word)) = (context, env::var(PANIC_ON)) {
            assert!(
                !String::from_utf8_lossy(&context.source.text).contains(&word),
                "a requested panic on `{word}`"
            );
        }
        work()
    }));
    IS_GUARDED.set(before);
    match result {
        Ok(value) => Some(value),
        Err(_) => {
            report_panic(context);
            None
        }
    }
}

/// The defect that tests request. A warning reports it, because the verifier does not detect every defect.
pub(crate) fn defect() -> Option<Defect> {
    static WARNED: Once = Once::new();
    let defect = Defect::named(env::var_os(DEFECT)?.to_str()?)?;
    WARNED.call_once(|| {
        let name = defect.name();
        stderr_line!("kiln: warning: {DEFECT} is set to `{name}`: the output is deliberately wrong");
    });
    Some(defect)
}

/// Reports an invalid module that the compiler emitted, with the path of the reproducer. Without a source, the reproducer is the
/// command, which names its inputs.
pub(crate) fn invalid_module(context: Option<&CrashContext<'_>>, invalid: &InvalidModule) {
    let findings: Vec<String> = invalid.findings.iter().map(ToString::to_string).collect();
    report_internal_error(context, &format!("the module is invalid: {invalid}"), "invalid", &findings);
}

fn report_panic(context: Option<&CrashContext<'_>>) {
    let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
    let first = panics.first().and_then(|text| text.lines().next()).unwrap_or("a panic").to_owned();
    report_internal_error(context, &first, "panic", &panics);
}

/// Reports an internal error in one sentence, and writes the reproducer, with each detail under this label.
fn report_internal_error(context: Option<&CrashContext<'_>>, first: &str, label: &str, details: &[String]) {
    stderr_line!("kiln: error: internal error: {first}");
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("kiln-crash-{}-{}.cl", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = env::var_os(FOLDER).map_or_else(env::temp_dir, PathBuf::from);
    // If this fails, so does `write_output`, which reports it.
    let _ = fs::create_dir_all(&folder);
    let path = folder.join(&name).to_string_lossy().into_owned();
    match write_output(&path, report(&name, context, label, details).as_bytes()) {
        Ok(()) => {
            stderr_line!("kiln: note: a reproducer is in `{path}`; please report it");
        }
        Err(failure) => stderr_line!("kiln: note: {}", failure.0),
    }
}

fn report(name: &str, context: Option<&CrashContext<'_>>, label: &str, details: &[String]) -> String {
    let words = WORDS.get().map(Vec::as_slice).unwrap_or_default();
    let mut comment =
        format!("kiln {}, {} {}\n", env!("CARGO_PKG_VERSION"), env::consts::ARCH, env::consts::OS);
    let _ = writeln!(comment, "command: kiln {}", quoted(words));
    if let Some(context) = context {
        let _ = writeln!(comment, "source: {}", context.source.name);
        let _ = writeln!(comment, "again: kiln {}", quoted(&reproducer_command(words, name)));
    }
    for detail in details {
        let _ = writeln!(comment, "{label}: {detail}");
    }
    let source = context.map(flat).unwrap_or_default();
    // A trailing backslash would continue the comment on the next line.
    let lines = comment.lines().map(|line| format!("// {}\n", line.trim_end().trim_end_matches('\\')));
    lines.chain([source]).collect()
}

/// The source without directives, or unchanged if preprocessing fails.
fn flat(context: &CrashContext<'_>) -> String {
    let before = IS_GUARDED.replace(true);
    let preprocessed = panic::catch_unwind(AssertUnwindSafe(|| {
        kiln_compiler::compile(context.source.clone(), context.options, context.loader, &Emit::Preprocessed)
            .artifact
    }));
    IS_GUARDED.set(before);
    match preprocessed {
        Ok(Some(Artifact::Text(text))) => text,
        _ => String::from_utf8_lossy(&context.source.text).into_owned(),
    }
}

/// The command that reproduces the failure from this file, without the options that preprocessing has applied.
fn reproducer_command(words: &[String], name: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if OMITTED_WITH_VALUE.contains(&word.as_str()) {
            words.next();
            continue;
        }
        let is_joined =
            ["-D", "-U", "-I", "-o", "--include=", "--output="].iter().any(|done| word.starts_with(done));
        let is_source = word == "-" || word.ends_with(".cl");
        if !is_joined && !is_source && !OMITTED_ALONE.contains(&word.as_str()) {
            kept.push(word.clone());
        }
    }
    kept.push(name.to_owned());
    kept
}

fn quoted(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_omits_what_the_reproducer_contains() {
        let words = "compile -O0 -DN=1 -D M=2 -I inc -cl-std=CL3.0 a.cl b.cl -o a.spv -MD -MF a.d -g";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(reproducer_command(&words, "r.cl").join(" "), "compile -O0 -cl-std=CL3.0 -g r.cl");
    }
}
