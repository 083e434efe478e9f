//! libkiln, the compiler as a library for C and C++: its symbols, its header, and the examples with an installed library.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use kiln_testsuite::{
    kiln::{self, LIMIT, program},
    process, root,
};
use tempfile::TempDir;

/// Runs a program that must succeed, and returns its output.
fn run(command: &mut Command) -> String {
    process::succeed(command, LIMIT)
}

fn header() -> PathBuf {
    root().join("compiler/capi/include/kiln.h")
}

/// The library exports the functions of the header, and no others.
#[test]
fn the_header_has_all_symbols() {
    let text = fs::read_to_string(header()).expect("a header");
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let declared: BTreeSet<&str> = code
        .match_indices('(')
        .filter_map(|(at, _)| code[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next())
        .filter(|name| name.starts_with("kiln_"))
        .collect();
    let listed = run(Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(kiln::library("libkiln.so")));
    let exported: BTreeSet<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(exported.len() > 20, "{listed}");
    assert_eq!(declared, exported);
}

#[test]
fn the_header_is_c_and_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    for (compilers, name, standard) in
        [(["gcc", "clang-15"], "a.c", "-std=c11"), (["g++", "clang++-15"], "a.cpp", "-std=c++11")]
    {
        let source = folder.path().join(name);
        fs::write(&source, "#include <kiln.h>\nint main(void) { return kiln_version() == 0; }\n")
            .expect("a file");
        for compiler in compilers {
            let mut command = Command::new(compiler);
            command.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"]);
            run(command.arg(header().parent().expect("a folder")).arg(&source));
        }
    }
}

/// The folder in which `cargo xtask install` installed Kiln for these tests.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<TempDir> = OnceLock::new();
    let folder = PREFIX.get_or_init(|| {
        let (built, prefix) = (kiln::built(), tempfile::tempdir().expect("a folder"));
        let mut install = Command::new(program("xtask"));
        run(install.arg("install").arg("--prefix").arg(prefix.path()).arg("--from").arg(built.path()));
        prefix
    });
    folder.path()
}

/// A program that uses the installed library.
fn installed(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LD_LIBRARY_PATH", prefix().join("lib"));
    command
}

const FIXED: &[&str] = &[
    "error[atomic-order-store]: a store cannot have acquire order",
    "atomic-order-store in line 6, column 36",
    "fix: replace with `memory_order_release`",
    "a module: 07230203, answer.h",
    "\"name\": \"publish\"",
];

fn assert_contains(text: &str, wanted: &[&str]) {
    for part in wanted {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn the_c_example_runs_with_pkg_config() {
    let mut flags = Command::new("pkg-config");
    flags.args(["--cflags", "--libs", "kiln"]).env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let flags = run(&mut flags);
    let program = prefix().join("fix");
    let mut compile = Command::new("gcc");
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"]).arg(&program);
    run(compile.arg(root().join("examples/libkiln/fix.c")).args(flags.split_whitespace()));
    assert_contains(&run(&mut installed(&program)), FIXED);
}

#[test]
fn the_examples_run_with_cmake() {
    let build = tempfile::tempdir().expect("a folder");
    let mut configure = Command::new("cmake");
    configure.args(["-G", "Ninja", "-S"]).arg(root().join("examples/libkiln")).arg("-B").arg(build.path());
    configure.arg("-DCMAKE_C_FLAGS=-Werror -Wall").arg("-DCMAKE_CXX_FLAGS=-Werror -Wall");
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display())));
    run(Command::new("cmake").arg("--build").arg(build.path()));
    // CMake writes the library's folder into the programs.
    assert_contains(&run(&mut Command::new(build.path().join("fix"))), FIXED);
    let text = run(&mut Command::new(build.path().join("variants")));
    assert_contains(&text, &["8 compilations, 5 modules", "errors without WIDTH: 1"]);
}

/// The static library has everything but the system's libraries, which `pkg-config --static` lists.
#[test]
fn the_library_can_be_linked_statically() {
    let mut flags = Command::new("pkg-config");
    flags
        .args(["--static", "--cflags", "--libs", "kiln"])
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let flags = run(&mut flags);
    let library = prefix().join("lib/libkiln.a").display().to_string();
    let flags = flags.split_whitespace().map(|flag| if flag == "-lkiln" { library.as_str() } else { flag });
    let program = prefix().join("fix-static");
    let mut compile = Command::new("gcc");
    compile.args(["-std=c11", "-o"]).arg(&program).arg(root().join("examples/libkiln/fix.c"));
    run(compile.args(flags));
    assert_contains(&run(&mut Command::new(&program)), FIXED);
}
