//! `kiln-oracle FILE`: runs one launch, as `kiln run` does, on another OpenCL implementation, from source (`.cl`) or
//! from a SPIR-V module (`.spv`). `kiln-oracle serve` runs many launches, because initializing OpenCL takes longer
//! than most of them.
//!
//! Owns the boundary to OpenCL's C interface. Must not depend on Kiln's compiler, whose results are compared with its
//! own. The loader's environment selects the OpenCL implementation (`OCL_ICD_VENDORS`).

mod exit;
#[path = "../../../compiler/cli/src/run/fill.rs"]
mod fill;
mod launch;
mod names;
mod opencl;
#[path = "../../../compiler/cli/src/paths.rs"]
#[allow(dead_code, reason = "shared with the command line")]
mod paths;
#[path = "../../../compiler/cli/src/run/value.rs"]
mod value;

use std::{
    env, fs,
    io::{self, BufRead as _, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;

use crate::{exit::Failure, opencl::Platform};

/// Runs a kernel of an OpenCL C source or of a SPIR-V module on another OpenCL implementation. The launch options are
/// those of `kiln run`. With `serve` as the only argument, each line of standard input contains the arguments of one run,
/// separated by tabs; its output ends with a line `done`, or `failed: ` and the reason.
#[derive(Parser)]
#[command(name = "kiln-oracle")]
struct Arguments {
    /// Source, or a module with the extension `.spv`
    file: PathBuf,
    /// Part of the platform's name
    #[arg(long, default_value = "")]
    platform: String,
    /// Options of clBuildProgram
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
    #[command(flatten)]
    launch: launch::Launch,
}

fn main() -> ExitCode {
    let outcome = if env::args().nth(1).is_some_and(|word| word == "serve") {
        serve().map_err(|e| Failure(format!("cannot speak: {e}")))
    } else {
        run(&Arguments::parse(), &mut None)
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            eprintln!("kiln-oracle: error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs one launch after another, reusing the platform while its name stays the same.
fn serve() -> io::Result<()> {
    let mut platform = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let outcome = Arguments::try_parse_from(["kiln-oracle"].into_iter().chain(line.split('\t')))
            .map_err(|e| Failure(e.to_string()))
            .and_then(|arguments| run(&arguments, &mut platform));
        match outcome {
            Ok(()) => println!("done"),
            Err(Failure(message)) => println!("failed: {}", message.replace('\n', " ")),
        }
        io::stdout().flush()?;
    }
    Ok(())
}

/// Runs a launch on the current platform, or opens another one if the name differs.
fn run(arguments: &Arguments, platform: &mut Option<(String, Platform)>) -> Result<(), Failure> {
    let file = &arguments.file;
    let bytes = fs::read(file).map_err(|e| Failure(format!("cannot read `{}`: {e}", file.display())))?;
    let is_module = file.extension().is_some_and(|ending| ending == "spv");
    let name = &arguments.platform;
    let at_hand = platform.take().filter(|(its, _)| its == name);
    let found = at_hand.map_or_else(|| Platform::find(name), |(_, platform)| Ok(platform))?;
    let (_, platform) = platform.insert((name.clone(), found));
    let program = if is_module {
        platform.load(&bytes, &arguments.options)?
    } else {
        platform.compile(&String::from_utf8_lossy(&bytes), &arguments.options)?
    };
    launch::launch(&program, &arguments.launch)
}
