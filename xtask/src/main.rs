//! The chores of this repository: `cargo xtask <command>`. Each command has its file; this one only names them.

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

mod grammar;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of this repository")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Regenerate the parser from compiler/syntax/src/grammar.lalrpop
    Grammar,
}

/// What a command answers: the text of its failure is for people.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Grammar => grammar::run(),
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
