//! Exit codes, and output to files and standard streams: where it goes, when it is written.

use std::{fs, path::Path, process::Command};

use kiln_testsuite::{
    kiln::LIMIT,
    process::{self, Finished},
};
use tempfile::TempDir;

use crate::{BAD, GOOD, WARNED, command, folder, is_module, kiln, kiln_with, names};

#[test]
fn exit_codes_of_success_diagnostics_and_usage_errors() {
    let folder = folder(&[("good.cl", GOOD), ("bad.cl", BAD), ("warned.cl", WARNED)]);
    for (words, code) in [
        (&["compile", "good.cl", "-o", "out.spv"][..], 0),
        (&["check", "good.cl"], 0),
        (&["check", "warned.cl"], 0),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["compile", "bad.cl", "-o", "out.spv"], 1),
        (&["check", "bad.cl"], 1),
        (&["check", "-Werror", "warned.cl"], 1),
        (&["compile", "no-such-file.cl"], 2),
        (&["compile", "good.cl", "-o", "no/such/folder/out.spv"], 2),
        (&["compile", "--no-such-option", "good.cl"], 2),
        (&["compile", "-cl-std=CL9.9", "good.cl"], 2),
        (&["compile", "--emit", "nonsense", "good.cl"], 2),
        (&["no-such-command"], 2),
        (&[], 2),
    ] {
        let finished = kiln(&folder, words);
        assert_eq!(finished.code(), Some(code), "{words:?}\n{}", finished.stderr);
        assert!(!finished.stderr.contains("panicked"), "{words:?}\n{}", finished.stderr);
    }
}

#[test]
fn undefined_behavior_has_its_own_exit_code() {
    let race = "kernel void k(global int *out) { out[0] = get_global_id(0); }\n";
    let outside = "kernel void k(global int *out) { out[get_global_id(0) + 4] = 1; }\n";
    let folder = folder(&[("race.cl", race), ("outside.cl", outside)]);
    for source in ["race.cl", "outside.cl"] {
        let words = ["run", source, "--device", "reference", "--global", "4", "--arg", "buf:int[4]"];
        let finished = kiln(&folder, &words);
        assert_eq!(finished.code(), Some(3), "{}", finished.stderr);
    }
    let checked = kiln(&folder, &["run", "outside.cl", "--checked", "--global", "4", "--arg", "buf:int[4]"]);
    assert_eq!(checked.code(), Some(3), "{}", checked.stderr);
    let wrong = [
        "run",
        "race.cl",
        "--device",
        "reference",
        "--global",
        "1",
        "--arg",
        "buf:int[1]",
        "--check",
        "out=7",
    ];
    assert_eq!(kiln(&folder, &wrong).code(), Some(1));
}

#[test]
fn errors_name_their_cause() {
    let folder = folder(&[("good.cl", GOOD)]);
    assert!(kiln(&folder, &["compile", "absent.cl"]).stderr.contains("absent.cl"));
    assert!(kiln(&folder, &["compile", "good.cl", "-o", "no/out.spv"]).stderr.contains("no/out.spv"));
}

#[test]
fn the_default_output_is_beside_the_source() {
    let folder = folder(&[("good.cl", GOOD)]);
    assert_eq!(kiln(&folder, &["compile", "good.cl"]).code(), Some(0));
    assert_eq!(names(&folder), ["good.cl", "good.spv"]);
    assert!(is_module(&folder.path().join("good.spv")));
}

#[test]
fn a_dash_selects_standard_input_and_output() {
    let folder = folder(&[]);
    let finished = kiln_with(&mut command(&folder, &["compile", "-", "-o", "-"]), GOOD);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert!(
        finished.stdout.starts_with(&0x0723_0203_u32.to_le_bytes())
            && finished.stdout.len().is_multiple_of(4)
    );
    assert_eq!(names(&folder), [""; 0]);

    let finished = kiln_with(&mut command(&folder, &["compile", "-", "-o", "out.spv"]), GOOD);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert!(is_module(&folder.path().join("out.spv")));

    let finished = kiln_with(&mut command(&folder, &["check", "-", "--diagnostic-format", "gcc"]), BAD);
    assert_eq!(finished.code(), Some(1));
    assert!(finished.stderr.starts_with("<stdin>:2:14: error: "), "{}", finished.stderr);
}

#[test]
fn output_is_deterministic() {
    let folder = folder(&[("good.cl", GOOD)]);
    let [first, second] = [(), ()].map(|()| kiln(&folder, &["compile", "good.cl", "-o", "-"]).stdout);
    assert!(!first.is_empty() && first == second);
}

#[test]
fn errors_prevent_output() {
    let folder = folder(&[("bad.cl", BAD), ("out.spv", "what was there before")]);
    for words in [&["compile", "bad.cl", "-o", "out.spv"][..], &["compile", "bad.cl"], &["check", "bad.cl"]] {
        let finished = kiln(&folder, words);
        assert_eq!((finished.code(), finished.stdout.len()), (Some(1), 0));
    }
    assert_eq!(names(&folder), ["bad.cl", "out.spv"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("out.spv")).expect("it is there"),
        "what was there before"
    );
    assert_eq!(kiln(&folder, &["compile", "bad.cl", "-o", "-"]).stdout, b"");
}

#[test]
fn outputs_are_replaced_atomically() {
    let folder = folder(&[("good.cl", GOOD), ("out.spv", "what was there before")]);
    // A process that has the old file open continues to see it, because the new one is another file.
    let mut old = fs::File::open(folder.path().join("out.spv")).expect("it is there");
    assert_eq!(kiln(&folder, &["compile", "good.cl", "-o", "out.spv"]).code(), Some(0));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut old, &mut text).expect("it can be read");
    assert_eq!(text, "what was there before");
    assert!(is_module(&folder.path().join("out.spv")));
    assert_eq!(names(&folder), ["good.cl", "out.spv"]);
}

#[test]
fn an_output_can_be_a_device() {
    let folder = folder(&[("good.cl", GOOD)]);
    assert_eq!(kiln(&folder, &["compile", "good.cl", "-o", "/dev/null"]).code(), Some(0));
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn checking_writes_nothing() {
    let folder = folder(&[("good.cl", GOOD)]);
    let finished = kiln(&folder, &["check", "good.cl"]);
    assert_eq!((finished.code(), finished.text().as_str(), finished.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(names(&folder), ["good.cl"]);
}

#[test]
fn several_sources_are_compiled_in_order() {
    let folder = folder(&[("a.cl", BAD), ("b.cl", GOOD), ("c.cl", BAD)]);
    let finished = kiln(&folder, &["compile", "--diagnostic-format", "gcc", "a.cl", "b.cl", "c.cl"]);
    assert_eq!(finished.code(), Some(1));
    let files: Vec<&str> = finished.stderr.lines().filter_map(|line| line.split(':').next()).collect();
    assert!(
        files.starts_with(&["a.cl"]) && files.ends_with(&["c.cl"]) && !files.contains(&"b.cl"),
        "{files:?}"
    );
    assert_eq!(names(&folder), ["a.cl", "b.cl", "b.spv", "c.cl"]);
    assert_eq!(kiln(&folder, &["compile", "a.cl", "b.cl", "-o", "x.spv"]).code(), Some(2));
    assert_eq!(kiln(&folder, &["check", "b.cl", "missing.cl"]).code(), Some(2));
}

#[test]
fn an_output_does_not_replace_an_input() {
    let folder = folder(&[("k.cl", &format!("#include \"k.h\"\n{GOOD}")), ("k.h", "")]);
    for words in [
        &["k.cl", "-o", "k.cl"][..],
        &["k.cl", "-o", "./k.cl"],
        &["k.cl", "-o", "k.h"],
        &["k.cl", "-MD", "-MF", "k.cl"],
    ] {
        let finished = kiln(&folder, words);
        assert_eq!(finished.code(), Some(2), "{words:?}");
        assert!(finished.stderr.contains("would replace the input"), "{}", finished.stderr);
    }
    assert_eq!(fs::read_to_string(folder.path().join("k.h")).expect("a file"), "");
}

/// A writable file in a read-only folder is overwritten.
#[cfg(unix)]
#[test]
fn an_output_in_a_read_only_folder_is_written() {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    const NOBODY: u32 = 65534;
    let folder = folder(&[("k.cl", GOOD), ("k.spv", "before")]);
    let allow = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).expect("permissions");
    };
    allow("k.spv", 0o666);
    allow("", 0o555);
    let mut compile = command(&folder, &["k.cl", "-o", "k.spv"]);
    // root can write everywhere.
    if fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
        compile.uid(NOBODY);
    }
    let finished = kiln_with(&mut compile, "");
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert!(is_module(&folder.path().join("k.spv")));
    assert_eq!(names(&folder), ["k.cl", "k.spv"]);
    allow("", 0o755);
}

fn shell(folder: &TempDir, line: &str) -> Finished {
    process::finish(Command::new("sh").current_dir(folder.path()).args(["-c", line]), LIMIT)
}

#[test]
fn a_full_disk_is_not_an_internal_error() {
    let folder = folder(&[("k.cl", GOOD)]);
    let kiln = kiln::command().get_program().to_string_lossy().into_owned();
    let run = |words: &str| {
        let line = format!("{kiln} {words}");
        let finished = shell(&folder, &line);
        (finished.code(), finished.stderr)
    };
    for words in
        ["--help", "devices", "verify --rules", "explain syntax", "completions bash", "compile -S -o - k.cl"]
    {
        let (code, stderr) = run(&format!("{words} > /dev/full"));
        assert_eq!(code, Some(2), "{words}");
        assert!(stderr.starts_with("kiln: error: cannot write standard output: "), "{words}: {stderr}");
    }
    for words in ["compile none.cl", "run none.cl", "verify k.cl", "check -Wnone none.cl"] {
        assert_eq!(run(&format!("{words} 2> /dev/full")).0, Some(2), "{words}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_work() {
    use std::os::unix::ffi::OsStrExt;
    let name = |bytes: &'static [u8]| std::ffi::OsStr::from_bytes(bytes);
    let folder = folder(&[]);
    let inner = folder.path().join(name(b"d\xe4"));
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("n.h"), "#define N 5\n").unwrap();
    let source = "#include <n.h>\nkernel void k(global int *o) { o[0] = N; }\n";
    std::fs::write(inner.join(name(b"a\xff.cl")), source).unwrap();
    let path = name(b"d\xe4/a\xff.cl");
    let mut command = command(&folder, &["compile"]);
    command.arg(path).arg(name(b"-Id\xe4")).arg("-MD");
    let run = kiln_with(&mut command, "");
    assert_eq!((run.code(), run.stderr.as_str()), (Some(0), ""));
    assert!(inner.join(name(b"a\xff.spv")).is_file());
    let rule = std::fs::read(inner.join(name(b"a\xff.d"))).unwrap();
    assert_eq!(rule, b"d\xe4/a\xff.spv: \\\n  d\xe4/a\xff.cl \\\n  d\xe4/n.h\n");

    // Messages show a replacement character.
    let mut command = self::command(&folder, &["check"]);
    let run = kiln_with(command.arg(path), "");
    assert_eq!(run.code(), Some(1));
    assert!(run.stderr.contains("d\u{fffd}/a\u{fffd}.cl:1:10"), "{}", run.stderr);
    let mut command = self::command(&folder, &["check"]);
    let run = kiln_with(command.arg(name(b"b\xff.cl")), "");
    assert_eq!(run.code(), Some(2));
    assert!(run.stderr.starts_with("kiln: error: cannot read `b\u{fffd}.cl`: "), "{}", run.stderr);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = folder(&[("long.cl", &"int a;\n".repeat(100_000))]);
    let line = format!("{} compile -E long.cl | head -1", kiln::command().get_program().to_string_lossy());
    assert_eq!(shell(&folder, &line).text(), "int a;\n");
}
