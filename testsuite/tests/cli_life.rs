//! The command line over time and on failures: watching files, crash reports, terminals.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use kiln_compiler::session::defect::Defect;
use kiln_testsuite::{
    kiln::{self, LIMIT},
    process,
};

const KERNEL: &str = "#include \"size.h\"\nkernel void k(global int *out) { out[0] = SIZE; }\n";

/// A `kiln` process that watches files, and its output lines.
struct Watcher {
    process: Child,
    lines: Receiver<String>,
}

impl Watcher {
    fn new(folder: &Path, words: &[&str]) -> Self {
        let mut command = kiln::command();
        let mut process = command
            .current_dir(folder)
            .args(words)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("kiln starts");
        let stderr = BufReader::new(process.stderr.take().expect("it is piped"));
        let (said, lines) = mpsc::channel();
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
        Self { process, lines }
    }

    /// The output until it waits for the next change.
    fn round(&self) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("silent after {said:?}"));
            if line.starts_with("kiln: watching ") {
                return said;
            }
            said.push(line);
        }
    }

    /// Waits for a round that satisfies the predicate. On a busy machine, an earlier round may have read a half-written
    /// file.
    fn until(&self, is_done: impl Fn(&[String]) -> bool) {
        while !is_done(&self.round()) {}
    }

    fn is_silent(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(500)).is_err()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn watching_repeats_after_each_change_of_a_dependency() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("k.cl", KERNEL);
    let watcher = Watcher::new(folder.path(), &["check", "--watch", "--diagnostic-format", "gcc", "k.cl"]);
    let first = watcher.round();
    assert!(first[0].starts_with("k.cl:1:"), "{first:?}");
    // Missing files that were searched for are watched, too.
    write("size.h", "#define SIZE 3\n");
    watcher.until(<[_]>::is_empty);
    write("size.h", "#define SIZE nothing\n");
    watcher.until(|said| said.iter().any(|line| line.contains("`nothing` is not declared")));
    write("other.txt", "of no concern");
    assert!(watcher.is_silent());
    // An editor may write another file and rename it.
    write("size.tmp", "#define SIZE 4\n");
    fs::rename(folder.path().join("size.tmp"), folder.path().join("size.h")).expect("a file");
    assert_eq!(watcher.round(), [""; 0]);
    fs::remove_file(folder.path().join("k.cl")).expect("it was there");
    assert!(watcher.round()[0].contains("cannot read `k.cl`"));
}

#[test]
fn watching_compiles_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |text: &str| fs::write(folder.path().join("k.cl"), text).expect("a file");
    write("kernel void k(global int *out) { out[0] = 1; }\n");
    let watcher = Watcher::new(folder.path(), &["compile", "--watch", "k.cl"]);
    watcher.round();
    let first = fs::read(folder.path().join("k.spv")).expect("a module");
    write("kernel void k(global int *out) { out[0] = 2; }\n");
    watcher.until(|_| fs::read(folder.path().join("k.spv")).expect("a module") != first);
}

#[test]
fn a_crash_writes_a_reproducer() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("size.h", "#define SIZE EXTENT\n");
    write("k.cl", KERNEL);
    write("other.cl", "kernel void other(void) { }\n");
    write("k.spv", "what was there before");
    // It is created.
    let reproducers = folder.path().join("crashes/today");
    let kiln = |words: &[&str]| {
        let mut command = kiln::command();
        command.env("KILN_PANIC_ON", "void k(").env("KILN_CRASH_DIR", &reproducers);
        command.current_dir(folder.path()).args(words);
        process::finish(&mut command, LIMIT)
    };
    let reports = || -> Vec<String> {
        let names =
            fs::read_dir(&reproducers).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| name.starts_with("kiln-crash-"))
            .collect()
    };
    let crashed = kiln(&["compile", "-DEXTENT=7", "-O0", "k.cl", "other.cl"]);
    assert_eq!(crashed.code(), Some(70), "{}", crashed.stderr);
    let names = reports();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    assert!(crashed.stderr.contains("internal error: a requested panic"), "{}", crashed.stderr);
    assert!(crashed.stderr.contains(name.as_str()), "{}", crashed.stderr);
    // Nothing is half written, and the other source has its module.
    assert_eq!(fs::read_to_string(folder.path().join("k.spv")).expect("a file"), "what was there before");
    assert!(folder.path().join("other.spv").exists());
    let report = fs::read_to_string(reproducers.join(name)).expect("a report");
    assert!(report.starts_with(&format!("// kiln {}", env!("CARGO_PKG_VERSION"))), "{report}");
    assert!(report.contains("// command: kiln compile '-DEXTENT=7' -O0 k.cl other.cl\n"), "{report}");
    assert!(report.contains("out[0] = 7;") && report.contains("crash.rs"), "{report}");
    fs::copy(reproducers.join(name), folder.path().join(name)).expect("a copy");
    // The report needs no other file.
    fs::remove_file(folder.path().join("size.h")).expect("it was there");
    let again = report.lines().find_map(|line| line.strip_prefix("// again: kiln ")).expect("a command");
    assert_eq!(again, format!("compile -O0 {name}"));
    let again: Vec<&str> = again.split(' ').collect();
    assert_eq!(kiln(&again).code(), Some(70));
    // Without the word that makes it crash, the reproducer compiles.
    let mut command = kiln::command();
    command.current_dir(folder.path()).args(["check", name]);
    assert_eq!(process::finish(&mut command, LIMIT).code(), Some(0));
}

/// Makes the emitter fail: for every requested output, `kiln` exits with 70 and writes nothing.
#[test]
fn an_invalid_module_is_never_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("size.h"), "#define SIZE EXTENT\n").expect("a file");
    fs::write(path("k.cl"), KERNEL).expect("a file");
    let kiln = |words: &[&str]| {
        let mut command = kiln::command();
        command.env("KILN_DEFECT", "id_bound").env("KILN_CRASH_DIR", folder.path());
        command.current_dir(folder.path()).args(words);
        process::finish(&mut command, LIMIT)
    };
    let files = || -> Vec<String> {
        let entries = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let commands: [&[&str]; 6] = [
        &["compile", "-DEXTENT=7", "k.cl"],
        &["compile", "-DEXTENT=7", "--env", "opencl", "k.cl", "-o", "kept.spv", "-MD"],
        &["compile", "-DEXTENT=7", "--emit", "asm", "k.cl"],
        &["compile", "-DEXTENT=7", "--emit", "header", "k.cl"],
        &["compile", "-DEXTENT=7", "--emit", "rust", "k.cl"],
        &[
            "run",
            "-DEXTENT=7",
            "--device",
            "reference",
            "k.cl",
            "--kernel",
            "k",
            "--global",
            "1",
            "--arg",
            "out:int:1",
        ],
    ];
    fs::write(path("kept.spv"), "what was there before").expect("a file");
    for words in commands {
        let failed = kiln(words);
        assert_eq!(failed.code(), Some(70), "{words:?}: {}", failed.stderr);
        assert_eq!(failed.text(), "", "{words:?}");
        let expected = "internal error: the module is invalid: ";
        assert!(failed.stderr.contains(expected), "{}", failed.stderr);
        assert!(failed.stderr.contains("[SPIRV-id-bound]"), "{}", failed.stderr);
        let names = files();
        let ["k.cl", "kept.spv", report, "size.h"] = names.iter().map(String::as_str).collect::<Vec<_>>()[..]
        else {
            panic!("{words:?}: {names:?}")
        };
        let text = fs::read_to_string(path(report)).expect("a report");
        assert!(text.contains("[SPIRV-id-bound]") && text.contains("out[0] = 7;"), "{text}");
        fs::remove_file(path(report)).expect("it is there");
    }
    assert_eq!(fs::read_to_string(path("kept.spv")).expect("a file"), "what was there before");
    // Commands that write no module do not need the emitter.
    assert_eq!(kiln(&["check", "-DEXTENT=7", "k.cl"]).code(), Some(0));
}

/// `KILN_DEFECT`, which a user may export by mistake, does not change results without a warning.
#[test]
fn requested_defects_are_announced() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.cl"), "kernel void k(global int *out) { out[0] = 7; }\n")
        .expect("a file");
    for defect in Defect::ALL {
        let mut command = kiln::command();
        command.env("KILN_DEFECT", defect.name()).env("KILN_CRASH_DIR", folder.path());
        command.current_dir(folder.path()).args(["compile", "k.cl", "-o", "k.spv"]);
        let finished = process::finish(&mut command, LIMIT);
        let wanted = format!("warning: KILN_DEFECT is set to `{}`: the output is", defect.name());
        assert_eq!(finished.stderr.matches(&wanted).count(), 1, "{}", finished.stderr);
    }
}

/// The inputs of these commands are modules: the report names them in the command.
#[test]
fn an_invalid_module_is_never_linked_or_translated() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("k.cl"), "kernel void k(global int *out) { out[0] = 7; }\n").expect("a file");
    let kiln = |defect: Option<&str>, words: &[&str]| {
        let mut command = kiln::command();
        command.envs(defect.map(|defect| ("KILN_DEFECT", defect))).env("KILN_CRASH_DIR", path("reports"));
        command.current_dir(folder.path()).args(words);
        process::finish(&mut command, LIMIT)
    };
    assert_eq!(kiln(None, &["compile", "-c", "k.cl", "-o", "k.part"]).code(), Some(0));
    assert_eq!(kiln(None, &["compile", "--env", "opencl", "k.cl", "-o", "k.spv"]).code(), Some(0));
    for words in [["link", "k.part", "-o", "out.spv"], ["translate", "k.spv", "-o", "out.spv"]] {
        fs::create_dir(path("reports")).expect("a folder");
        let failed = kiln(Some("id_bound"), &words);
        assert_eq!(failed.code(), Some(70), "{words:?}: {}", failed.stderr);
        assert!(failed.stderr.contains("internal error: the module is invalid: "), "{}", failed.stderr);
        assert!(!path("out.spv").exists());
        let report =
            fs::read_dir(path("reports")).expect("a folder").next().expect("a report").expect("an entry");
        let text = fs::read_to_string(report.path()).expect("a report");
        let command = format!("command: kiln {}\n", words.join(" "));
        assert!(text.contains(&command) && text.contains("[SPIRV-id-bound]"), "{text}");
        fs::remove_dir_all(path("reports")).expect("it is there");
    }
}

#[test]
fn terminals_have_colors_unless_disabled() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bad.cl"), "kernel void k(void) { missing; }\n").expect("a file");
    let on_terminal = |colors: &[(&str, &str)], options: &str| {
        let line = format!("{} check {options} bad.cl", kiln::binary().display());
        let mut command = Command::new("script");
        command.current_dir(folder.path()).args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        kiln::COLORS.iter().for_each(|variable| _ = command.env_remove(variable));
        command.env("TERM", "xterm").envs(colors.iter().copied());
        let finished = process::finish(&mut command, LIMIT);
        assert_eq!(finished.code(), Some(1));
        assert!(finished.text().contains("missing"));
        finished.text().contains('\x1b')
    };
    assert!(on_terminal(&[], ""));
    assert!(!on_terminal(&[("NO_COLOR", "1")], ""));
    assert!(!on_terminal(&[("TERM", "dumb")], ""));
    assert!(!on_terminal(&[], "--color never"));
    assert!(on_terminal(&[("NO_COLOR", "1")], "--color always"));
}
