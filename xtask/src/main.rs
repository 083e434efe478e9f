//! The development tasks of this repository: `cargo xtask <command>`. Each command has its own file.

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

mod bench;
mod check_targets;
mod clean_machine;
mod conformance;
mod corpus;
mod demo;
mod fuzz;
mod install;
mod limited;
mod memcheck;
mod playground;
mod process;
mod release;
mod rust_web;
mod setup;
mod spirv;
mod test;
mod testsuite_programs;
mod tidy;
mod vscode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The development tasks of this repository")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install the requirements of the other commands
    Setup(setup::Setup),
    /// Install the command-line tool, the OpenCL driver, libkiln, manual pages, completion scripts and the CMake package
    Install(install::Install),
    /// Build a Debian package of the installed files
    Deb(install::deb::Deb),
    /// Build the Python wheel
    Wheel(install::wheel::Wheel),
    /// Install the packages in new Debian systems, and use them there as documented; needs root
    CleanMachine(clean_machine::CleanMachine),
    /// Compile for Windows, macOS and Linux on ARM, without linking
    CheckTargets(check_targets::CheckTargets),
    /// Check the packages for a release, and publish them on crates.io
    Release(release::Release),
    /// Build the page that compiles and runs kernels in the browser
    Playground(playground::Playground),
    /// Build Kiln, run the histogram example and draw its result
    Demo,
    /// Run all tests and checks
    Test(test::Test),
    /// Run the runtime's tests under valgrind
    Memcheck(memcheck::Memcheck),
    /// Update the expected results of tests; review with `git diff`
    Bless(test::Test),
    /// Check the sources against the project's rules
    Tidy,
    /// Run benchmarks, compared with other implementations
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Compile all kernels of other projects and count the results
    Corpus(corpus::Corpus),
    /// Run conformance programs written from the specification
    Conformance(conformance::Conformance),
    /// Compare the memory models with published verdicts of litmus tests
    #[command(disable_help_flag = true)]
    LitmusSets(testsuite_programs::ProgramArguments),
    /// Explore generated programs in both memory models: check that Vulkan modules permit no outcome that OpenCL
    /// forbids
    #[command(disable_help_flag = true)]
    Models(testsuite_programs::ProgramArguments),
    /// Fuzz a part of the compiler
    Fuzz(fuzz::Fuzz),
    /// Compare random programs on Kiln and on other OpenCL implementations
    #[command(disable_help_flag = true)]
    Differential(testsuite_programs::ProgramArguments),
    /// Run a kernel on another OpenCL implementation: `pocl`, `intel` or `oclgrind`, followed by arguments of `kiln run`
    #[command(disable_help_flag = true)]
    Oracle(testsuite_programs::ProgramArguments),
    /// Run programs in C++ for OpenCL, HIP, Zig and SYCL, as kernel modules of their compilers
    #[command(disable_help_flag = true)]
    Frontends(testsuite_programs::ProgramArguments),
    /// Type-check, bundle and package the VS Code extension; needs node, npm and the npm registry
    Vscode(vscode::Vscode),
    /// Regenerate the parser from compiler/syntax/src/grammar.lalrpop, and the lexer from its tokens
    Grammar,
    /// Compile the bodies of built-in functions (compiler/library/lib), which the compiler contains as IR
    Library,
}

/// The result of a command; the error is a message for the user.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Setup(wanted) => setup::setup(&wanted),
        Command::Install(wanted) => install::install(&wanted),
        Command::Deb(wanted) => install::deb::deb(&wanted),
        Command::Wheel(wanted) => install::wheel::wheel(&wanted),
        Command::CleanMachine(wanted) => clean_machine::clean_machine(&wanted),
        Command::CheckTargets(wanted) => check_targets::check_targets(&wanted),
        Command::Release(wanted) => release::release(&wanted),
        Command::Playground(wanted) => playground::playground(&wanted),
        Command::Demo => demo::demo(),
        Command::Test(arguments) => test::test(&arguments),
        Command::Memcheck(arguments) => memcheck::memcheck(&arguments),
        Command::Bless(arguments) => test::bless(&arguments),
        Command::Tidy => tidy::tidy(),
        Command::Bench(what) => bench::bench(&what),
        Command::Corpus(arguments) => corpus::corpus(&arguments),
        Command::Conformance(arguments) => conformance::conformance(&arguments),
        Command::LitmusSets(arguments) => testsuite_programs::litmus_sets(&arguments),
        Command::Models(arguments) => testsuite_programs::models(&arguments),
        Command::Fuzz(arguments) => fuzz::fuzz(&arguments),
        Command::Differential(arguments) => testsuite_programs::differential(&arguments),
        Command::Oracle(arguments) => testsuite_programs::oracle(&arguments),
        Command::Frontends(arguments) => testsuite_programs::frontends(&arguments),
        Command::Vscode(options) => vscode::vscode(&options),
        // A separate package, so that the other commands do not wait for the build of LALRPOP.
        Command::Grammar => {
            process::run(process::cargo().args(["run", "--quiet", "--package", "kiln-generate"]))
        }
        Command::Library => {
            process::run(process::cargo().args(["run", "--quiet", "--package", "kiln-bodies"]))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("a package in the repository").to_path_buf()
}
