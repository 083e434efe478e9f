//! The command line's interface to shells, build tools and editors: exit codes, streams, files, formats.

mod cheapest;
mod debugger;
mod explain;
mod fixes;
mod frontends;
mod kernel_modules;
mod libraries;
mod linking;
mod litmus;
mod measuring;
mod modules;
mod targets;
mod translation;

use std::{fs, path::Path, process::Command};

use kiln_testsuite::{
    kiln::{self, LIMIT},
    process::{self, Finished},
    root,
};
use tempfile::TempDir;

const GOOD: &str = "kernel void k(global int *out) { out[0] = 1; }\n";
const BAD: &str = "kernel void k(global int *out) {\n    out[0] = missing;\n}\n";
const WARNED: &str = "#define A 1\n#define A 2\nkernel void k(global int *out) { out[0] = A; }\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn command(folder: &TempDir, words: &[&str]) -> Command {
    let mut command = kiln::command();
    command.current_dir(folder.path()).args(words);
    command
}

fn kiln(folder: &TempDir, words: &[&str]) -> Finished {
    kiln_with(&mut command(folder, words), "")
}

fn kiln_with(command: &mut Command, input: &str) -> Finished {
    process::run(command, input.as_bytes(), LIMIT).unwrap_or_else(|reason| panic!("{reason}"))
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn is_module(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.starts_with(&0x0723_0203_u32.to_le_bytes()))
}

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
fn macros_are_defined_and_undefined_in_order() {
    let source = "#ifndef N\n#error no N\n#endif\n#if N != 3\n#error a different N\n#endif\n";
    let folder = folder(&[("a.cl", &format!("{source}{GOOD}"))]);
    for (options, code) in [
        (&["-DN=3"][..], 0),
        (&["-D", "N=3"], 0),
        (&["-DN"], 1),
        (&[], 1),
        (&["-DN=3", "-UN"], 1),
        (&["-UN", "-DN=3"], 0),
        (&["-DN=3", "-U", "N", "-DN=3"], 0),
    ] {
        let finished = kiln(&folder, &[&["check", "a.cl"], options].concat());
        assert_eq!(finished.code(), Some(code), "{options:?}\n{}", finished.stderr);
    }
}

#[test]
fn includes_are_searched_beside_the_source_and_in_include_folders() {
    let folder =
        folder(&[("a.cl", &format!("#include \"beside.h\"\n#include <far.h>\n{GOOD}")), ("beside.h", "")]);
    fs::create_dir(folder.path().join("inc")).expect("a folder");
    fs::write(folder.path().join("inc/far.h"), "\n").expect("a file");
    assert_eq!(kiln(&folder, &["check", "a.cl"]).code(), Some(1));
    for options in [&["-Iinc"][..], &["-I", "inc"], &["-Inowhere", "-I", "inc"]] {
        let finished = kiln(&folder, &[&["check", "a.cl"], options].concat());
        assert_eq!(finished.code(), Some(0), "{options:?}\n{}", finished.stderr);
    }
}

#[test]
fn language_versions_have_the_spelling_of_opencl() {
    let folder = folder(&[("a.cl", "#if __OPENCL_C_VERSION__ != WANTED\n#error\n#endif\n")]);
    for (std, version) in [("CL1.2", "120"), ("CL2.0", "200"), ("CL3.0", "300"), ("CL3.1", "310")] {
        let finished =
            kiln(&folder, &["check", "a.cl", &format!("-cl-std={std}"), &format!("-DWANTED={version}")]);
        assert_eq!(finished.code(), Some(0), "{std}\n{}", finished.stderr);
    }
    assert_eq!(kiln(&folder, &["check", "a.cl", "-DWANTED=200"]).code(), Some(0), "2.0 is the default");
}

#[test]
fn gcc_format_has_a_line_for_each_message() {
    let folder = folder(&[("bad.cl", BAD), ("warned.cl", WARNED)]);
    let text = kiln(&folder, &["check", "--diagnostic-format", "gcc", "bad.cl"]).stderr;
    assert!(text.starts_with("bad.cl:2:14: error: "), "{text}");
    let text = kiln(&folder, &["check", "--diagnostic-format=gcc", "warned.cl"]).stderr;
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("warned.cl:2:9: warning: ") && first.ends_with(" [-Wmacro-redefined]"),
        "{text}"
    );
    let text = kiln(&folder, &["check", "--diagnostic-format=gcc", "-Werror", "warned.cl"]).stderr;
    assert!(text.contains(": error: ") && text.contains("[-Werror=macro-redefined]"), "{text}");
}

#[test]
fn json_format_has_an_object_for_each_message() {
    let folder = folder(&[("bad.cl", BAD), ("warned.cl", WARNED)]);
    let diagnostics = kiln::diagnostics(&kiln(&folder, &["check", "--diagnostic-format", "json", "bad.cl"]));
    let diagnostics = diagnostics.unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(diagnostics.len(), 1);
    let location = diagnostics[0].location.as_ref().expect("a location");
    assert_eq!(
        (diagnostics[0].severity.as_str(), location.file.as_str(), location.line),
        ("error", "bad.cl", 2)
    );

    let diagnostics =
        kiln::diagnostics(&kiln(&folder, &["check", "--diagnostic-format", "json", "warned.cl"]));
    let diagnostics = diagnostics.unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(
        (diagnostics[0].severity.as_str(), diagnostics[0].code.as_str()),
        ("warning", "macro-redefined")
    );
}

#[test]
fn warnings_can_be_disabled() {
    let folder = folder(&[("warned.cl", WARNED)]);
    for (options, seen) in [(&[][..], true), (&["-w"], false), (&["-Wno-macro-redefined"], false)] {
        let finished = kiln(&folder, &[&["check", "warned.cl"], options].concat());
        assert_eq!(finished.stderr.contains("macro-redefined"), seen, "{options:?}\n{}", finished.stderr);
        assert_eq!(finished.code(), Some(0));
    }
}

#[test]
fn the_last_of_repeated_options_applies() {
    let folder = folder(&[(
        "std.cl",
        "#if __OPENCL_C_VERSION__ != 300\n#error version\n#endif\nkernel void k(void) {}\n",
    )]);
    let given =
        ["check", "-w", "-w", "-O2", "-O0", "-cl-std=CL1.2", "-cl-std=CL3.0", "-DA=1", "-DB=2", "std.cl"];
    let finished = kiln(&folder, &given);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
}

#[test]
fn colors_are_used_on_terminals_and_on_request() {
    let folder = folder(&[("bad.cl", BAD)]);
    let colored = |options: &[&str], variable: Option<&str>| {
        let mut command = command(&folder, &[&["check", "bad.cl"], options].concat());
        variable.map(|name| command.env(name, "1"));
        kiln_with(&mut command, "").stderr.contains("\x1b[")
    };
    assert!(!colored(&[], None), "standard error is not a terminal");
    assert!(!colored(&["--color", "never"], Some("CLICOLOR_FORCE")));
    assert!(!colored(&[], Some("NO_COLOR")));
    assert!(colored(&["--color", "always"], None));
    assert!(colored(&["--color", "always"], Some("NO_COLOR")), "an option overrides the environment");
}

#[test]
fn every_stage_can_be_printed() {
    let folder = folder(&[("good.cl", GOOD)]);
    for stage in ["pp", "ast", "hir", "ir", "asm"] {
        let finished = kiln(&folder, &["compile", "good.cl", "--emit", stage]);
        assert_eq!(finished.code(), Some(0), "{stage}\n{}", finished.stderr);
        assert!(!finished.text().trim().is_empty(), "{stage}");
    }
    for stage in ["hir", "ir", "ir-after=dead_code_early"] {
        let finished = kiln(&folder, &["compile", "good.cl", "-g", "--emit", stage]);
        assert!(finished.text().contains("// good.cl:1:"), "{stage}\n{}", finished.text());
    }
    assert_eq!(names(&folder), ["good.cl"], "text goes to standard output");
}

#[test]
fn checking_writes_nothing() {
    let folder = folder(&[("good.cl", GOOD)]);
    let finished = kiln(&folder, &["check", "good.cl"]);
    assert_eq!((finished.code(), finished.text().as_str(), finished.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(names(&folder), ["good.cl"]);
}

#[test]
fn the_interface_is_emitted_as_json_c_and_rust() {
    let source = "struct pair { char a; float4 b; };\nkernel void k(global struct pair *p, local int *scratch) { p->a = 1; }\n";
    let folder = folder(&[("pairs.cl", source)]);
    let json = kiln(&folder, &["compile", "pairs.cl", "--emit", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["records"][0]["members"][1]["offset"], 16);
    assert_eq!(json["kernels"][0]["parameters"][1]["kind"], "local");
    for (form, name, wanted) in
        [("header", "pairs.h", "KERNEL_K_SCRATCH 1"), ("rust", "pairs.rs", "pub unsafe fn k(")]
    {
        assert_eq!(kiln(&folder, &["compile", "pairs.cl", "--emit", form]).code(), Some(0));
        let text = fs::read_to_string(folder.path().join(name)).expect("a file");
        assert!(text.contains(wanted), "{text}");
    }
    // A C compiler checks the assertions in the header, and reads the module in it.
    let user = "#include \"pairs.h\"\nint main(void) { return pairs_spirv[0] != 0x07230203 || sizeof(struct pair) != 32; }\n";
    fs::write(folder.path().join("user.c"), user).expect("a file");
    let run = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        let finished = process::run(command.current_dir(folder.path()).args(&words[1..]), b"", LIMIT);
        let finished = finished.unwrap_or_else(|reason| panic!("{reason}"));
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    };
    run(&["cc", "-std=c11", "-Wall", "-Werror", "user.c", "-o", "user"]);
    run(&["./user"]);
    // The same file is C++.
    fs::copy(folder.path().join("user.c"), folder.path().join("user.cpp")).expect("a file");
    for compiler in ["g++", "clang++-15"] {
        for standard in ["-std=c++11", "-std=c++20"] {
            run(&[compiler, standard, "-Wall", "-Wextra", "-Werror", "user.cpp", "-o", "user"]);
            run(&["./user"]);
        }
    }
    run(&["clang-15", "-std=c17", "-Wall", "-Wextra", "-Werror", "user.c", "-o", "user"]);
}

#[test]
fn dependency_files_have_the_format_of_clang() {
    let source = "#include \"a b.h\"\n#include \"c.h\"\nkernel void k() {}\n";
    let folder = folder(&[("k.cl", source), ("a b.h", "#include \"c.h\"\n"), ("c.h", "#pragma once\n")]);
    let rule = "k.spv: \\\n  k.cl \\\n  a\\ b.h \\\n  c.h\n";
    assert_eq!(kiln(&folder, &["compile", "k.cl", "-M"]).text(), rule);
    assert_eq!(kiln(&folder, &["compile", "k.cl", "-M", "-MFm.d", "-o", "none"]).text(), "");
    assert_eq!(fs::read_to_string(folder.path().join("m.d")).expect("a file"), rule);
    assert!(!folder.path().join("k.spv").exists() && !folder.path().join("none").exists());
    assert_eq!(kiln(&folder, &["compile", "k.cl", "-MD", "-MT", "$(X)", "-MP"]).code(), Some(0));
    let written = fs::read_to_string(folder.path().join("k.d")).expect("a file");
    assert_eq!(written, rule.replace("k.spv", "$(X)") + "a\\ b.h:\nc.h:\n");
    assert!(is_module(&folder.path().join("k.spv")));
    // The output of clang for the same source, except for its name of the target.
    let mut clang = Command::new("clang-15");
    clang.current_dir(folder.path()).args(["-x", "cl", "-cl-std=CL2.0", "-M", "-MT", "k.spv", "k.cl"]);
    match process::run(&mut clang, b"", LIMIT) {
        Ok(finished) => {
            let files = |text: &str| {
                let words = text.split_whitespace().filter(|word| *word != "\\" && !word.starts_with('/'));
                words.map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(files(&finished.text()), files(rule));
        }
        // clang is optional.
        Err(reason) => assert!(reason.contains("cannot start"), "{reason}"),
    }
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
fn arguments_can_be_in_a_file() {
    let folder = folder(&[
        ("k.cl", "kernel void k(global int *out) { out[0] = N; }\n"),
        ("args", "-D N=1\n-cl-std=CL3.0 'k.cl'\n"),
    ]);
    assert_eq!(kiln(&folder, &["check", "@args"]).code(), Some(0));
    let missing = kiln(&folder, &["check", "@missing"]);
    assert_eq!(missing.code(), Some(2));
    assert!(missing.stderr.contains("missing"), "{}", missing.stderr);
}

#[test]
fn short_options_preprocess_and_assemble() {
    let folder = folder(&[("k.cl", "#define N 5\nkernel void k(global int *out) { out[0] = N; }\n")]);
    assert!(kiln(&folder, &["compile", "-E", "k.cl"]).text().contains("out[0] = 5;"));
    assert!(kiln(&folder, &["compile", "-S", "k.cl"]).text().contains("OpEntryPoint"));
}

/// The assembler of SPIRV-Tools reads the output of `-S` and produces the same module.
#[test]
fn assembly_can_be_assembled() {
    let folder = folder(&[]);
    let odd = "constant float t[] = { INFINITY, -0.0f, 1e-40f, 0.1f, 3e38f, NAN };
        kernel void k(global float *x, global half *h, global double *d, int i, global char *c) {
            x[0] = t[i]; vstore_half_rtz(x[1], 0, h); d[0] = -INFINITY; d[1] = 0.1;
            switch (c[0]) { case -1: x[2] = 1; break; case 5: x[2] = 2; }
            printf(\"%d \\\"x\\\"\\n\", i);
        }\n";
    fs::write(folder.path().join("odd.cl"), odd).expect("written");
    let histogram = root().join("examples/histogram/histogram.cl").to_string_lossy().into_owned();
    for (source, env, version, more) in [
        (&histogram[..], "vulkan", "spv1.5", "-g"),
        (&histogram, "opencl", "spv1.2", "-O2"),
        ("odd.cl", "vulkan", "spv1.5", "-g"),
        ("odd.cl", "opencl", "spv1.2", "-O0"),
    ] {
        let common = ["compile", source, "--env", env, more];
        let text = kiln(&folder, &[&common[..], &["-S", "-o", "a.spvasm"]].concat());
        assert_eq!(text.code(), Some(0), "{}", text.text());
        kiln(&folder, &[&common[..], &["-o", "a.spv"]].concat());
        let mut assembler = Command::new("spirv-as");
        assembler.current_dir(folder.path());
        assembler.args(["--preserve-numeric-ids", "--target-env", version, "a.spvasm", "-o", "b.spv"]);
        let assembled = process::run(&mut assembler, b"", LIMIT).expect("an assembler");
        assert_eq!(assembled.code(), Some(0), "{source} for {env}: {}", assembled.text());
        // The generator differs, and the bound may differ.
        let words = |name: &str| fs::read(folder.path().join(name)).expect("a module").split_off(20);
        assert!(words("a.spv") == words("b.spv"), "{source} for {env} is a different module");
    }
}

#[test]
fn options_of_clang_are_accepted() {
    let folder = folder(&[("k.cl", "#include <far.h>\nkernel void k(global int *out) { out[0] = N; }\n")]);
    fs::create_dir(folder.path().join("inc")).expect("a folder");
    fs::write(folder.path().join("inc/far.h"), "#define N __OPENCL_C_VERSION__\n").expect("a file");
    let line = "-x cl -std=CL2.0 -isystem inc -Wall -Wextra -pedantic -Os -g -g0 -ffast-math k.cl -o k.spv";
    let words: Vec<&str> = line.split(' ').collect();
    let finished = kiln(&folder, &words);
    assert_eq!((finished.code(), finished.stderr.as_str()), (Some(0), ""));
    assert!(is_module(&folder.path().join("k.spv")));
    assert!(kiln(&folder, &["-E", "-std=CL3.0", "-isystem", "inc", "k.cl"]).text().contains("out[0] = 300;"));
    let finished = kiln(&folder, &["-c", "-fPIC", "-Iinc", "k.cl"]);
    assert_eq!(finished.code(), Some(0));
    assert_eq!(finished.stderr, "kiln: note: `-fPIC` has no effect here\n");
    assert!(folder.path().join("k.o").exists());
    let finished = kiln(&folder, &["-emit-llvm", "-Iinc", "k.cl"]);
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr.contains("write `-S` for SPIR-V assembly"), "{}", finished.stderr);
}

#[test]
fn control_characters_are_escaped_in_messages() {
    let source = "int a = b; // \x1b]0;title\x07 \u{202E}\n#error \x1b[31m\u{9b}\n";
    let folder = folder(&[("k.cl", source)]);
    for format in ["rich", "short", "gcc"] {
        let finished = kiln(&folder, &["check", "--color", "never", "--diagnostic-format", format, "k.cl"]);
        let is_shown = |c: char| c == '\n' || !c.is_control() && !('\u{202A}'..='\u{202E}').contains(&c);
        assert!(finished.stderr.chars().all(is_shown), "{:?}", finished.stderr);
        assert!(
            finished.stderr.contains("the character U+001B is a control character"),
            "{}",
            finished.stderr
        );
    }
}

#[test]
fn a_project_file_configures_the_sources_below_it() {
    let source = "#include <n.h>\nkernel void k(global int *out) { out[0] = N; }\n";
    let folder = folder(&[
        (
            "kiln.toml",
            "define = [\"BASE=7\"]\ninclude = [\"inc\"]\nflags = [\"-pedantic\"]\nenv = \"opencl\"\n",
        ),
        ("k.cl", source),
    ]);
    for (name, text) in [
        ("inc/n.h", "#define N BASE\n"),
        ("inner/kiln.toml", "define = [\"N=5\"]\n"),
        ("inner/n.h", ""),
        ("inner/k.cl", "#include \"n.h\"\nkernel void k(global int *out) { out[0] = N; }\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let text = |words: &[&str]| {
        let finished = kiln(&folder, words);
        assert_eq!(finished.code(), Some(0), "{words:?}: {}", finished.stderr);
        finished.text()
    };
    assert!(text(&["-E", "k.cl"]).contains("out[0] = 7;"));
    assert!(text(&["-E", "-DBASE=9", "-w", "k.cl"]).contains("out[0] = 9;"));
    assert!(text(&["-S", "k.cl"]).contains("OpMemoryModel Physical64 OpenCL"));
    assert!(text(&["-S", "--env", "vulkan", "k.cl"]).contains("Vulkan"));
    let both = text(&["-E", "k.cl", "inner/k.cl"]);
    assert!(both.contains("out[0] = 7;") && both.contains("out[0] = 5;"), "{both}");
    let launch = ["--device", "reference", "--global", "1", "--arg", "buf:int[1]", "--check", "out[0]=5"];
    text(&[&["run", "inner/k.cl"], &launch[..]].concat());
    text(&["k.cl", "-MD"]);
    let rule = fs::read_to_string(folder.path().join("k.d")).expect("the rule");
    assert_eq!(rule, "k.spv: \\\n  k.cl \\\n  inc/n.h \\\n  kiln.toml\n");
    assert_eq!(kiln(&folder, &["check", "--no-config", "k.cl"]).code(), Some(1));
    for (content, message) in [
        ("std = \"CL2.0\"\ninclud = []\n", "kiln.toml:2: there is no key `includ`"),
        ("flags = [\"--nosuch\"]\n", "kiln.toml: unexpected argument '--nosuch' found"),
    ] {
        fs::write(folder.path().join("kiln.toml"), content).expect("a file");
        let finished = kiln(&folder, &["check", "k.cl"]);
        assert_eq!(finished.code(), Some(2));
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
        assert!(!finished.stderr.contains("Usage"), "{}", finished.stderr);
    }
}

#[test]
fn utf_16_is_one_error() {
    let folder = folder(&[]);
    let units = "kernel void k() {}\n".encode_utf16();
    let little: Vec<u8> = units.clone().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xFEFF].into_iter().chain(units).flat_map(u16::to_be_bytes).collect();
    for (name, bytes) in [("little.cl", little), ("big.cl", big)] {
        fs::write(folder.path().join(name), bytes).expect("a file");
        let finished = kiln(&folder, &["check", "--diagnostic-format", "gcc", name]);
        assert_eq!(finished.code(), Some(1));
        let lines: Vec<&str> = finished.stderr.lines().collect();
        let message = format!("{name}:1:1: error: `{name}` is encoded in UTF-16");
        assert_eq!(lines, [message, format!("{name}:1:1: note: save it in UTF-8")]);
    }
}

#[test]
fn sources_without_kernels_need_the_opencl_environment() {
    let folder = folder(&[("h.cl", "int twice(int x) { return 2 * x; }\n")]);
    assert_eq!(kiln(&folder, &["h.cl", "--env", "opencl", "-o", "h.spv"]).code(), Some(0));
    assert!(is_module(&folder.path().join("h.spv")));
    let vulkan = kiln(&folder, &["h.cl", "-o", "v.spv"]);
    assert_eq!(vulkan.code(), Some(1));
    assert!(vulkan.stderr.contains("this program has no kernel"), "{}", vulkan.stderr);
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

#[test]
fn unknown_warning_options_are_reported() {
    let folder = folder(&[("good.cl", GOOD)]);
    let check = |word| {
        let run = kiln(&folder, &["check", "-c", "-x", "cl", word, "good.cl"]);
        (run.code(), run.stderr)
    };
    let wanted = "kiln: warning: unknown warning `unused-variabel`; did you mean `unused-variable`?\n";
    assert_eq!(check("-Wunused-variabel"), (Some(0), wanted.to_owned()));
    for word in ["-Wno-unheard-of", "-Wall", "-Wextra", "-Wpedantic", "-Werror=unused-variable"] {
        assert_eq!(check(word), (Some(0), String::new()), "{word}");
    }
}

#[test]
fn unknown_extensions_are_reported() {
    let folder = folder(&[("good.cl", GOOD)]);
    let check = |list: &str| {
        let run = kiln(&folder, &["check", "-cl-ext", list, "good.cl"]);
        (run.code(), run.stderr)
    };
    let wanted = "kiln: warning: unknown extension `cl_khr_int64_base_atomic`; did you mean `cl_khr_int64_base_atomics`?\n";
    assert_eq!(check("+cl_khr_int64_base_atomic,-cl_khr_none"), (Some(0), wanted.to_owned()));
    assert_eq!(check("all,+cl_khr_fp16,+cl_amd_fp64"), (Some(0), String::new()));
}

#[test]
fn a_full_disk_is_not_an_internal_error() {
    let folder = folder(&[("k.cl", GOOD)]);
    let kiln = kiln::command().get_program().to_string_lossy().into_owned();
    let run = |words: &str| {
        let line = format!("{kiln} {words}");
        let finished =
            process::run(Command::new("sh").current_dir(folder.path()).args(["-c", &line]), b"", LIMIT);
        let finished = finished.expect("a shell");
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

#[test]
fn response_files_contain_arguments() {
    let files = [
        ("k.cl", GOOD),
        ("words", "'-DNAME=a b' @more\n"),
        ("more", "k.cl -o k.spv\n"),
        ("cycle", "@cycle"),
        ("open", "'k.cl"),
    ];
    let folder = folder(&files);
    assert_eq!(kiln(&folder, &["compile", "@words"]).code(), Some(0));
    assert!(is_module(&folder.path().join("k.spv")));
    let fails = |word| {
        let run = kiln(&folder, &["compile", word]);
        assert_eq!(run.code(), Some(2), "{word}");
        run.stderr
    };
    assert_eq!(fails("@cycle"), "error: response files are nested more than 16 deep: `cycle`\n");
    assert_eq!(fails("@open"), "error: the response file `open` has an unmatched quotation mark\n");
    assert!(fails("@none").starts_with("error: the response file `none` cannot be read: "));
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
fn buffer_contents_are_bounded() {
    let source = "kernel void k(global int *o) {}\n";
    let folder = folder(&[("k.cl", source), ("nine", "123456789")]);
    let run = |argument: &str| {
        let words =
            ["run", "k.cl", "--device", "reference", "--global", "1", "--arg", argument, "--print", "o"];
        let run = kiln(&folder, &words);
        (run.code(), run.text().to_owned() + &run.stderr)
    };
    assert_eq!(run("buf:int[2]=file:/dev/zero"), (Some(0), "o[0..2] = 0 0\n".to_owned()));
    let wanted = "kiln: error: `nine` has more than the 8 bytes of the buffer\n";
    assert_eq!(run("buf:int[2]=file:nine"), (Some(2), wanted.to_owned()));
    let wanted = "kiln: error: `0..99999999999` has too many numbers; write a formula of `iota`\n";
    assert_eq!(run("buf:int[2]=0..99999999999"), (Some(2), wanted.to_owned()));
    let folder_as_file = "kiln: error: cannot read `.`: Is a directory (os error 21)\n";
    assert_eq!(run("buf:int[2]=file:."), (Some(2), folder_as_file.to_owned()));
}

#[test]
fn a_source_after_two_dashes_is_not_an_option() {
    let folder = folder(&[("-MD.cl", GOOD)]);
    assert_eq!(kiln(&folder, &["compile", "-o", "k.spv", "--", "-MD.cl"]).code(), Some(0));
    assert!(is_module(&folder.path().join("k.spv")));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = folder(&[("long.cl", &"int a;\n".repeat(100_000))]);
    let line = format!("{} compile -E long.cl | head -1", kiln::command().get_program().to_string_lossy());
    let printed = process::run(Command::new("sh").current_dir(folder.path()).args(["-c", &line]), b"", LIMIT);
    assert_eq!(printed.expect("a shell").text(), "int a;\n");
}

#[test]
fn expectations_in_comments_are_checked() {
    let good = "kernel void k(global int *out) {\n    out[0] = missing; // expected-error{{missing}}\n    // expected-error@+1 {{undeclared}}\n    out[1] = undeclared;\n}\n";
    let folder = folder(&[
        ("good.cl", good),
        ("unseen.cl", "kernel void k() {} // expected-warning {{nothing}}\n"),
        ("unexpected.cl", &good.replace("// expected-error{{missing}}", "")),
        ("silent.cl", "// expected-no-diagnostics\nkernel void k() {}\n"),
        ("unsaid.cl", "kernel void k() {}\n"),
    ]);
    for (name, code, expected) in [
        ("good.cl", 0, ""),
        ("silent.cl", 0, ""),
        ("unseen.cl", 1, "unseen.cl: line 1: expected warning is missing: nothing"),
        ("unexpected.cl", 1, "unexpected.cl: line 2: unexpected error: "),
        ("unsaid.cl", 1, "no `expected-"),
    ] {
        let finished = kiln(&folder, &["check", "--verify", name]);
        assert_eq!(finished.code(), Some(code), "{name}: {}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{name}: {}", finished.stderr);
    }
}

#[test]
fn completions_and_manual_pages_contain_the_commands() {
    let folder = folder(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(kiln(&folder, &["completions", shell]).text().contains("diagnostic-format"), "{shell}");
    }
    assert_eq!(kiln(&folder, &["man", "pages"]).code(), Some(0));
    let page = fs::read_to_string(folder.path().join("pages/kiln-compile.1")).expect("a page");
    assert!(page.contains(".TH kiln-compile 1  \"kiln ") && page.contains("cl\\-std"), "{page}");
}

#[test]
fn sarif_output_is_one_log() {
    let folder = folder(&[("a b.cl", BAD), ("c.cl", WARNED)]);
    let finished = kiln(&folder, &["check", "--diagnostic-format", "sarif", "a b.cl", "c.cl"]);
    let log: serde_json::Value = serde_json::from_str(&finished.stderr).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    // GitHub rejects several runs of one tool.
    let [run] = log["runs"].as_array().expect("runs").as_slice() else { panic!("{log}") };
    let results = run["results"].as_array().expect("results");
    let (first, last) = (&results[0], results.last().expect("results"));
    let location = &first["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b.cl");
    assert_eq!(
        (&location["region"]["startLine"], &location["region"]["startColumn"]),
        (&2.into(), &14.into())
    );
    assert_eq!((&first["level"], &last["level"]), (&"error".into(), &"warning".into()));
    assert_eq!(last["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "c.cl");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index");
        assert_eq!(rules[index as usize]["id"], result["ruleId"]);
    }
}

#[test]
fn cyclic_address_initializers_are_rejected_if_unsupported() {
    let source = "struct node { global struct node *next; };\nextern global struct node a;\n\
                  global struct node b = { &a };\nglobal struct node a = { &b };\n\
                  kernel void k(global int *out) { out[0] = a.next->next == &a; }\n";
    let folder = folder(&[("circle.cl", source)]);
    assert_eq!(kiln(&folder, &["compile", "--env", "vulkan", "circle.cl"]).code(), Some(0));
    let rejected = kiln(&folder, &["compile", "--env", "opencl", "circle.cl"]);
    assert_eq!(rejected.code(), Some(1));
    assert!(rejected.stderr.contains("each other's addresses"), "{}", rejected.stderr);
}

#[test]
fn short_format_has_a_line_for_each_message() {
    let folder = folder(&[("bad.cl", BAD)]);
    let text = kiln(&folder, &["check", "--diagnostic-format", "short", "bad.cl"]).stderr;
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.starts_with("bad.cl:2:14: error[undeclared-name]: ") && text.ends_with("\n1 error\n"),
        "{text}"
    );
}

#[test]
fn sums_of_thousands_of_terms_do_not_overflow_the_stack() {
    let sum = |terms: usize| {
        let terms = vec!["a"; terms].join(" + ");
        format!("kernel void k(global int *out) {{ int a = out[0]; out[1] = {terms}; }}\n")
    };
    let folder = folder(&[("long.cl", &sum(1500)), ("endless.cl", &sum(100_000))]);
    for environment in ["vulkan", "opencl"] {
        let words = ["compile", "--env", environment, "long.cl", "-o", "out.spv"];
        assert_eq!(kiln(&folder, &words).code(), Some(0), "{environment}");
        assert!(is_module(&folder.path().join("out.spv")));
    }
    let rejected = kiln(&folder, &["check", "endless.cl"]);
    assert_eq!(rejected.code(), Some(1));
    assert_eq!(rejected.stderr.matches("error[nesting-depth]").count(), 1, "{}", rejected.stderr);
}
