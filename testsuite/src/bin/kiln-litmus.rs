//! `kiln-litmus`: runs the litmus tests on any device, with only the binary `kiln`. Outcomes that OpenCL forbids are
//! errors.
//!
//! kiln-litmus [--kiln PATH] [--rounds N] [--teams N] [--width N] [--iterations N] [--launches N] [--filter TEXT] [-- OPTIONS OF KILN]

use std::{env, path::PathBuf, process::ExitCode, time::Duration};

use kiln_testsuite::litmus::{
    self,
    stress::{Stress, shown},
};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let this = env::current_exe().map_err(|e| e.to_string())?;
    let mut stress = Stress {
        kiln: this.with_file_name("kiln"),
        options: Vec::new(),
        rounds: 1_000_000,
        teams: 1,
        width: 8,
        iterations: 64,
        launches: 256,
        limit: Duration::from_secs(600),
    };
    let mut filter = String::new();
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--" {
            stress.options = words.collect();
            break;
        }
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|e| format!("{word} {value}: {e}"));
        let power = || {
            number()
                .and_then(|it| it.is_power_of_two().then_some(it).ok_or(format!("{word}: a power of two")))
        };
        match word.as_str() {
            "--kiln" => stress.kiln = PathBuf::from(&value),
            "--rounds" => stress.rounds = number()?,
            "--teams" => stress.teams = power()?,
            "--width" => stress.width = power()?,
            "--iterations" => stress.iterations = power()?,
            "--launches" => stress.launches = power()?,
            "--filter" => filter = value,
            other => return Err(format!("there is no option {other}")),
        }
    }
    let (mut is_correct, mut total) = (true, 0);
    for test in litmus::tests().iter().filter(|test| test.name.contains(&filter)) {
        for setting in test.settings() {
            let counts = stress
                .run(test, setting, &|_| Ok(()))
                .map_err(|reason| format!("{}, {}: {reason}", test.name, setting.name()))?;
            total += counts.total();
            let forbidden = counts.matching(&test.forbidden) + counts.strange;
            is_correct &= forbidden == 0;
            let verdict = if forbidden == 0 { "ok" } else { "FORBIDDEN" };
            println!("{}, {}: {verdict}, {forbidden} of {}", test.name, setting.name(), counts.total());
            for (outcome, count) in &counts.seen {
                println!("    {} {count}", shown(outcome));
            }
        }
    }
    println!("{total} instances");
    Ok(is_correct)
}
