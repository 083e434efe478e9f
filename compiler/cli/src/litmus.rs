//! `kiln litmus`: every outcome of a small launch, by the memory models of OpenCL and Vulkan.

mod herd;
mod json;
mod names;
mod text;

use std::mem;

use clap::{ArgMatches, Args};
use kiln_compiler::{interface::Interface, opencl::Environment, target::Target};
use kiln_memory_model::{
    Launch, Location, Model, Module, Object, Skeleton, Weaker, draw,
    explore::{Options, Outcomes, explore},
    weakest,
};

use crate::{
    arguments::LaunchArguments,
    compile,
    exit::{Failure, Outcome},
    files::{Files, write_output},
    options::CompileOptions,
    run::bytes::{self, Bytes},
};

use names::Names;

/// The end of `kiln litmus --help`.
pub(crate) const HELP: &str = "\
The launch is that of `kiln run`: in the source's leading comment, or as options. Arguments are
buffers (buf:int[1]=0), values (int:5) and local memory (local:16). An outcome is the final value
of each element of a buffer that the kernel writes.

Each work-item runs for all values that its reads can return. Loops that access shared memory are
followed for --rounds rounds. The table shows which outcomes OpenCL allows, and which the module
for Vulkan allows; for a forbidden outcome it names the rule of the specification.

Exit code 1: the module allows an outcome that OpenCL forbids, a bug in Kiln. Exit code 3: the
launch has a data race, or a barrier that not all work-items of a group reach.";

/// Show every outcome that the memory models of OpenCL and Vulkan allow for a small launch
#[derive(Debug, Args)]
pub(crate) struct LitmusCommand {
    /// The source, a litmus test in herd's OpenCL format, or `-` for standard input
    pub(crate) source: String,
    /// Print the kernel of a test in herd's format, to whose lines the findings refer
    #[arg(long)]
    pub(crate) translate: bool,
    /// Print an execution for each outcome
    #[arg(long)]
    pub(crate) executions: bool,
    /// Find the weakest orders and scopes with the same outcomes
    #[arg(long)]
    pub(crate) weakest: bool,
    /// Write a picture of an execution of each outcome into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<std::path::PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "executions")]
    pub(crate) json: bool,
    /// The rounds of a loop that are followed if it accesses shared memory
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: u32,
    /// The number of work-items in a sub-group
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) sub_group: u32,
    /// The number of executions to check before giving up
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    pub(crate) budget: u64,
    /// Repeat whenever an input file changes
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
}

/// The result for one environment.
struct Explored {
    skeleton: Skeleton,
    found: Outcomes,
}

impl Explored {
    /// Reduces the outcomes to these parts.
    fn project(&mut self, parts: &[Location]) {
        let skeleton = &self.skeleton;
        let value = |outcome: &[u64], part: &Location| {
            let index = skeleton.parts.iter().position(|known| known == part);
            let initial = || skeleton.initial.iter().find(|(known, _)| known == part).map_or(0, |it| it.1);
            index.map_or_else(initial, |index| outcome[index])
        };
        let projected =
            |outcome: Vec<u64>| -> Vec<u64> { parts.iter().map(|part| value(&outcome, part)).collect() };
        let found = &mut self.found;
        found.allowed =
            mem::take(&mut found.allowed).into_iter().map(|(key, it)| (projected(key), it)).collect();
        let forbidden = mem::take(&mut found.forbidden).into_iter().map(|(key, it)| (projected(key), it));
        found.forbidden = forbidden.filter(|(key, _)| !found.allowed.contains_key(key)).collect();
    }
}

/// All that is printed.
struct Findings {
    names: Names,
    opencl: Explored,
    vulkan: Explored,
    weaker: Option<Vec<Weaker>>,
}

impl Findings {
    /// The outcomes that the module allows and OpenCL does not.
    fn unsound(&self) -> impl Iterator<Item = &Vec<u64>> {
        let is_defined = self.opencl.found.undefined.is_empty();
        let vulkan = self.vulkan.found.allowed.keys().filter(move |_| is_defined);
        vulkan.filter(|outcome| !self.opencl.found.allowed.contains_key(*outcome))
    }

    fn outcome(&self) -> Outcome {
        let has_new_race = !self.vulkan.found.undefined.is_empty();
        match self.opencl.found.undefined.is_empty() {
            false => Outcome::Undefined,
            true if has_new_race || self.unsound().next().is_some() => Outcome::Diagnostics,
            true => Outcome::Success,
        }
    }
}

pub(crate) fn litmus(
    command: &LitmusCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    let mut source = files.source(&command.source)?;
    let mut text = String::from_utf8_lossy(&source.text).into_owned();
    let mut registers = Vec::new();
    if herd::is_test(&text) {
        let kernel = herd::kernel(&text)?;
        source.text = kernel.source.clone().into_bytes();
        (text, registers) = (kernel.source, kernel.registers);
    }
    if command.translate {
        write_output("-", text.as_bytes())?;
        return Ok(Outcome::Success);
    }
    let given = bytes::launch(&command.launch, &text)?;
    let compiled = |environment: Environment| -> Result<(Module, Interface), Outcome> {
        let mut options = command.options.to_options(Target::full(environment), matches);
        options.debug = true;
        options.warnings.none |= environment == Environment::Vulkan;
        let (module, interface) = compile::module(source.clone(), &options, files, &command.options)?;
        Ok((Module::new(&module.into_words()), interface))
    };
    let modules =
        compiled(Environment::OpenCl).and_then(|opencl| Ok((opencl, compiled(Environment::Vulkan)?)));
    let ((opencl, interface), (vulkan, _)) = match modules {
        Ok(modules) => modules,
        Err(outcome) => return Ok(outcome),
    };
    let Bytes { mut launch, parameters } = bytes::bytes(&given, &interface)?;
    launch.rounds = command.rounds;
    launch.sub_group = command.sub_group;
    let options = Options { budget: command.budget, explains: true };
    let mut opencl = explored(&opencl, &launch, Model::OpenCl, options)?;
    let mut vulkan = explored(&vulkan, &launch, Model::Vulkan, options)?;
    // The host sees buffers. The module may write what the source only reads: a seq_cst load is a read-modify-write.
    let is_visible = |part: &Location| matches!(part.object, Object::Argument(_));
    let parts: Vec<Location> = opencl.skeleton.parts.iter().copied().filter(is_visible).collect();
    opencl.project(&parts);
    vulkan.project(&parts);
    let findings = Findings {
        names: Names::new(parameters, &opencl.skeleton, parts, registers),
        weaker: command.weakest.then(|| weakest(&opencl.skeleton, options)).transpose()?,
        vulkan,
        opencl,
    };
    if let Some(folder) = &command.svg {
        pictures(&findings, folder)?;
    }
    let shown = if command.json { json::json(&findings) } else { text::text(&findings, command.executions) };
    write_output("-", shown.as_bytes())?;
    Ok(findings.outcome())
}

fn explored(module: &Module, launch: &Launch, model: Model, options: Options) -> Result<Explored, Failure> {
    let skeleton = module.skeleton(launch)?;
    // Forbidden outcomes are explained in OpenCL's terms. If they are too many, the allowed ones may not be.
    let explains = model == Model::OpenCl;
    let found = explore(&skeleton, model, Options { explains, ..options })
        .or_else(|_| explore(&skeleton, model, Options { explains: false, ..options }))?;
    Ok(Explored { skeleton, found })
}

/// Writes `1.svg` … for the outcomes that OpenCL allows.
fn pictures(findings: &Findings, folder: &std::path::Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    for (number, (outcome, witness)) in (1..).zip(&findings.opencl.found.allowed) {
        let title = findings.names.outcome(outcome);
        let svg = draw::svg(witness, &title, &|location| findings.names.location(location));
        std::fs::write(folder.join(format!("{number}.svg")), svg)?;
    }
    Ok(())
}
