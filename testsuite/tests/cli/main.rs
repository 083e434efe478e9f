//! The command line's interface to shells, build tools and editors. This file has the helpers of the tests.

mod cheapest;
mod debugger;
mod diagnostics;
mod explain;
mod fixes;
mod frontends;
mod kernel_modules;
mod libraries;
mod linking;
mod litmus;
mod measuring;
mod modules;
mod options;
mod outputs;
mod programs;
mod stages;
mod targets;
mod translation;

use std::{fs, path::Path, process::Command};

use kiln_testsuite::{
    kiln::{self, LIMIT},
    process::{self, Finished},
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

/// Runs another program in the folder, which must succeed. Returns its standard output.
#[track_caller]
fn succeed(folder: &TempDir, words: &[&str]) -> String {
    process::succeed(Command::new(words[0]).current_dir(folder.path()).args(&words[1..]), LIMIT)
}

/// Assembles a module to `k.spv`.
fn assemble(folder: &TempDir, version: &str, source: &str) {
    fs::write(folder.path().join("k.spvasm"), source).expect("a file");
    succeed(folder, &["spirv-as", "--target-env", version, "k.spvasm", "-o", "k.spv"]);
}

/// A folder with the module `k.spv`.
fn folder_with_module(version: &str, source: &str) -> TempDir {
    let folder = folder(&[]);
    assemble(&folder, version, source);
    folder
}

/// The names of the files in a folder, sorted.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn is_module(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.starts_with(&0x0723_0203_u32.to_le_bytes()))
}
