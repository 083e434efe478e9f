//! `cargo xtask oracle NAME …`: runs `kiln-oracle` with an environment that contains only this OpenCL implementation.

use std::{env, process::ExitCode};

use kiln_testsuite::oracle::Oracle;

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let Some(oracle) = words.next().as_deref().and_then(Oracle::named) else {
        eprintln!(
            "the first argument is `pocl`, `intel` or `oclgrind`; `kiln-oracle --help` lists the others"
        );
        return ExitCode::from(2);
    };
    let scratch = tempfile::tempdir().expect("a folder for files");
    let ended = oracle.command(scratch.path()).and_then(|mut command| {
        command.args(words).status().map_err(|e| format!("kiln-oracle does not start: {e}"))
    });
    match ended {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}
