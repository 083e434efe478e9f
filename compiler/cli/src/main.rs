//! The `kiln` command line: arguments, files and terminals. Other packages compile and run kernels.

mod arguments;
mod assistance;
mod bench;
mod compile;
mod crash;
mod dap;
mod devices;
mod exit;
mod explain;
mod files;
mod fmt;
mod heap;
mod link;
mod litmus;
mod options;
mod paths;
mod profile;
mod progress;
mod project;
mod reflect;
mod response;
mod run;
mod spelling;
mod translate;
mod verify;
mod watch;

use crate::arguments::Command;

fn main() -> std::process::ExitCode {
    heap::prepare();
    match arguments::parse(std::env::args_os()) {
        Ok(line) => {
            crash::prepare(line.words);
            let outcome = crash::guarded(None, || {
                let mut worst = exit::Outcome::Success;
                for (command, matches) in line.commands {
                    worst = worst.max(execute(command, &matches)?);
                }
                Ok(worst)
            });
            exit::report(outcome.unwrap_or(Ok(exit::Outcome::Crash)))
        }
        Err(error) => exit::usage(&error),
    }
}

fn execute(command: Command, matches: &clap::ArgMatches) -> Result<exit::Outcome, exit::Failure> {
    match command {
        Command::Compile(command) => {
            watch::each_change(command.watch, |files| compile::compile(&command, matches, files))
        }
        Command::Link(command) => watch::each_change(false, |files| link::link(&command, matches, files)),
        Command::Translate(command) => translate::translate(&command, matches),
        Command::Check(command) => {
            watch::each_change(command.watch, |files| compile::check(&command, matches, files))
        }
        Command::Run(command) => {
            watch::each_change(command.watch, |files| run::run(&command, matches, files))
        }
        Command::Litmus(command) => {
            watch::each_change(command.watch, |files| litmus::litmus(&command, matches, files))
        }
        Command::Bench(command) => {
            watch::each_change(command.run.watch, |files| bench::bench(&command, matches, files))
        }
        Command::Profile(command) => {
            watch::each_change(command.run.watch, |files| profile::profile(&command, matches, files))
        }
        Command::Fmt(command) => fmt::fmt(&command),
        Command::Verify(command) => verify::verify(&command),
        Command::Reflect(command) => reflect::reflect(&command),
        Command::Devices(command) => devices::devices(&command),
        Command::Lsp(_) => match kiln_lsp::serve(litmus::races)? {
            true => Ok(exit::Outcome::Success),
            false => Ok(exit::Outcome::Diagnostics),
        },
        Command::Dap(_) => dap::serve(),
        Command::Completions(command) => assistance::completions(&command),
        Command::Man(command) => assistance::man(&command),
        Command::Explain(command) => {
            watch::each_change(false, |files| explain::explain(&command, matches, files))
        }
    }
}
