//! `kiln`, the command line: arguments, files, terminals. What it knows of compiling and running is which library to ask.

mod arguments;
mod assistance;
mod compile;
mod devices;
mod exit;
mod explain;
mod files;
mod options;
mod run;
mod verify;

use crate::arguments::Command;

fn main() -> std::process::ExitCode {
    match arguments::parse(std::env::args_os()) {
        Ok((command, matches)) => exit::report(execute(command, &matches)),
        Err(error) => exit::usage(&error),
    }
}

fn execute(command: Command, matches: &clap::ArgMatches) -> Result<exit::Outcome, exit::Failure> {
    match command {
        Command::Compile(command) => compile::compile(&command, matches),
        Command::Check(command) => compile::check(&command, matches),
        Command::Run(command) => run::run(&command, matches),
        Command::Verify(command) => verify::verify(&command),
        Command::Devices(command) => devices::devices(&command),
        Command::Completions(command) => assistance::completions(&command),
        Command::Man(command) => assistance::man(&command),
        Command::Explain(command) => explain::explain(&command),
    }
}
