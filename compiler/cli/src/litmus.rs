//! `kiln litmus`: every outcome of a small launch, by the memory models of OpenCL and Vulkan.

mod certificate;
mod cheapest;
mod claim;
mod findings;
mod herd;
mod json;
mod names;
mod progress;
mod races;
mod stress;
mod suite;
mod text;
mod vulkan;

use clap::{ArgMatches, Args};
use kiln_compiler::session::Source;
use kiln_memory_model::{draw, text::VulkanTest, weakest};
use kiln_runtime::{Instance, Options as RuntimeOptions, Selector};

use crate::{
    arguments::LaunchArguments,
    exit::{Failure, Outcome, failure},
    files::{Files, write_output},
    options::CompileOptions,
    run::bytes,
};

pub(crate) use certificate::certify;
use findings::{Bounds, Compiler, Exploration, Findings};
pub(crate) use races::races;
use stress::{Limit, Observations, Stress};

/// The end of `kiln litmus --help`.
pub(crate) const HELP: &str = "\
The launch is that of `kiln run`: in the source's leading comment, or as options. Arguments are
buffers (buf:int[1]=0), values (int:5) and local memory (local:16). An outcome is the final value
of each element of a buffer that the kernel writes.

Each work-item runs for all values that its reads can return. Loops that access shared memory are
explored up to --iterations iterations. The table shows which outcomes OpenCL allows, and which the
module for Vulkan allows; for a forbidden outcome it names the rule of the specification.

--cheapest shows the cheapest instruction, order, memory and scope of each operation of the module
with which this launch stays sound, why it can have that, and what would go wrong with less.

--run also shows what a device does. It runs many instances of the launch at a time, each in its own
memory and with random partners, while other work-items continually access other memory.

--progress shows whether every run ends. OpenCL does not promise that work-groups or work-items run
while others wait for them: a lock can hang on one device, and never on another. The schedulers are
those of the literature: FAIR, LOBE, HSA_OBE, OBE, HSA and UNFAIR.

Exit code 1: the module allows an outcome that OpenCL forbids, which is a bug in Kiln; or, with
--progress, the launch can hang even if every work-item runs. Exit code 3: the launch has a data
race, or a barrier that not all work-items of a group reach. Exit code 4: with --run, the device
shows an outcome that Vulkan forbids for the module.";

/// The number of executions to check before giving up.
pub(crate) const BUDGET: u64 = 5_000_000;

/// Show every outcome that the memory models of OpenCL and Vulkan allow for a small launch
#[derive(Debug, Args)]
pub(crate) struct LitmusCommand {
    /// The source, a litmus test in herd's format for OpenCL or C11 or Dat3M's for Vulkan, or `-` for standard input
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
    /// Find the cheapest instructions, orders and scopes with which the module for Vulkan stays sound for this launch
    #[arg(long, conflicts_with = "thin_air")]
    pub(crate) cheapest: bool,
    /// Show under which schedulers every run of the launch ends, instead of the outcomes
    #[arg(long, conflicts_with_all = ["executions", "weakest", "cheapest", "svg", "run", "thin_air"])]
    pub(crate) progress: bool,
    /// Write a picture of an execution of each outcome into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "executions")]
    pub(crate) json: bool,
    /// The maximum number of iterations to explore of a loop that accesses shared memory
    #[arg(long = "iterations", alias = "rounds", value_name = "N", default_value_t = 3)]
    pub(crate) max_iterations: u32,
    /// The number of work-items in a sub-group
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) sub_group: u32,
    /// The number of executions to check before giving up
    #[arg(long, value_name = "N", default_value_t = BUDGET)]
    pub(crate) budget: u64,
    /// Let reads of atomic objects return values out of thin air: constants of the kernel, numbers in the condition of a
    /// litmus test, and values that stores compute from these
    #[arg(long)]
    pub(crate) thin_air: bool,
    /// Run the launch on a device under stress, and count the outcomes
    #[arg(long)]
    pub(crate) run: bool,
    /// With --run: part of the device's name, or its index in `kiln devices` [default: $KILN_DEVICE, or the first]
    #[arg(long, value_name = "NAME|INDEX", requires = "run")]
    pub(crate) device: Option<String>,
    /// With --run: the number of instances, rounded up to whole launches
    #[arg(long, value_name = "N", requires = "run", default_value_t = 100_000)]
    pub(crate) instances: u64,
    /// With --run: begin no launch after this time
    #[arg(long, value_name = "SECONDS", requires = "run")]
    pub(crate) seconds: Option<f64>,
    /// Repeat whenever an input file changes
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
}

pub(crate) fn litmus(
    command: &LitmusCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    let mut source = files.source(&command.source)?;
    let mut text = String::from_utf8_lossy(&source.text).into_owned();
    if VulkanTest::recognizes(&text) {
        if command.progress {
            return failure("--progress needs a kernel, which a test in Dat3M's Vulkan format does not have");
        }
        let (table, outcome) = vulkan::explore_test(&text, command.budget, command.thin_air)?;
        write_output("-", table.as_bytes())?;
        return Ok(outcome);
    }
    let mut test = herd::Test::default();
    if herd::is_test(&text) {
        let kernel = herd::kernel(&text)?;
        source.text = kernel.source.clone().into_bytes();
        (text, test) = (kernel.source, kernel.test);
    }
    if command.translate {
        write_output("-", text.as_bytes())?;
        return Ok(Outcome::Success);
    }
    let given = bytes::launch(&command.launch, &text)?;
    let compiler = Compiler { files, shown: &command.options, matches: Some(matches) };
    let bounds = Bounds {
        max_iterations: command.max_iterations,
        sub_group: command.sub_group,
        budget: command.budget,
        thin_air: command.thin_air,
    };
    if command.progress {
        let table = match progress::Table::new(&compiler, &source, &given, test, bounds)? {
            Ok(table) => table,
            Err(outcome) => return Ok(outcome),
        };
        write_output("-", if command.json { table.json() } else { table.text() }.as_bytes())?;
        return Ok(table.outcome());
    }
    explore(command, &compiler, source, &given, test, bounds)
}

/// Explores a launch, and writes the findings.
fn explore(
    command: &LitmusCommand,
    compiler: &Compiler<'_>,
    source: Source,
    given: &LaunchArguments,
    test: herd::Test,
    bounds: Bounds,
) -> Result<Outcome, Failure> {
    if command.cheapest && !test.devices.is_empty() {
        return failure("--cheapest: the module runs on one device, and this test runs on several");
    }
    if command.run && (test.shared_local.is_some() || !test.devices.is_empty()) {
        return failure(
            "--run: no kernel can share a local object between work-groups, or run on several devices",
        );
    }
    let mut exploration = match Exploration::new(compiler, source, given, test, bounds)? {
        Ok(exploration) => exploration,
        Err(outcome) => return Ok(outcome),
    };
    if command.run {
        match run_on_device(command, compiler, &exploration)? {
            Ok(observations) => exploration.findings.observations = Some(observations),
            Err(outcome) => return Ok(outcome),
        }
    }
    let Exploration { source, launch, mut findings, .. } = exploration;
    if command.cheapest {
        match cheapest::find(compiler, &source, &launch, bounds)? {
            Ok(found) => findings.cheapest = Some(found),
            Err(outcome) => return Ok(outcome),
        }
    }
    if command.weakest {
        findings.weaker = Some(weakest(&findings.opencl.skeleton, bounds.options())?);
    }
    if let Some(folder) = &command.svg {
        write_pictures(&findings, &crate::paths::path(folder))?;
    }
    let shown = if command.json { json::json(&findings) } else { text::text(&findings, command.executions) };
    write_output("-", shown.as_bytes())?;
    Ok(findings.outcome())
}

/// The cheapest forms for the launch in the leading comment of a source, as text.
pub(crate) fn cheapest_of_source(
    source: &Source,
    shown: &CompileOptions,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Result<String, Outcome>, Failure> {
    let text = String::from_utf8_lossy(&source.text).into_owned();
    let given = bytes::launch(&LaunchArguments::default(), &text)?;
    let compiler = Compiler { files, shown, matches: Some(matches) };
    let bounds = Bounds { max_iterations: 3, sub_group: 1, budget: BUDGET, thin_air: false };
    let exploration =
        match Exploration::new(&compiler, source.clone(), &given, herd::Test::default(), bounds)? {
            Ok(exploration) => exploration,
            Err(outcome) => return Ok(Err(outcome)),
        };
    let Exploration { source, launch, findings, .. } = exploration;
    let found = cheapest::find(&compiler, &source, &launch, bounds)?;
    Ok(found.map(|found| cheapest::text(&found, &findings.names)))
}

/// Runs the launch on a device.
fn run_on_device(
    command: &LitmusCommand,
    compiler: &Compiler<'_>,
    exploration: &Exploration,
) -> Result<Result<Observations, Outcome>, Failure> {
    let selector = command.device.as_deref().map_or(Selector::Default, Selector::from);
    let device = Instance::for_device(runtime_options(), &selector)?.device(&selector)?;
    let mut stress = match Stress::new(compiler, exploration, &device)? {
        Ok(stress) => stress,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let mut observations = Observations::on(device.info());
    let time = command.seconds.map(stress::duration).transpose()?;
    stress.run(Limit { instances: command.instances, time }, &mut observations)?;
    Ok(Ok(observations))
}

/// The options of the runtime: a launch that does not end is stopped.
fn runtime_options() -> RuntimeOptions {
    let mut options = RuntimeOptions::from_env();
    options.watchdog.get_or_insert(std::time::Duration::from_secs(60));
    options
}

/// Writes `1.svg` … for the outcomes that OpenCL allows.
fn write_pictures(findings: &Findings, folder: &std::path::Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    for (number, (outcome, witness)) in (1..).zip(&findings.opencl.found.allowed) {
        let title = findings.names.outcome(outcome);
        let svg = draw::svg(witness, &title, &|location| findings.names.location(location));
        std::fs::write(folder.join(format!("{number}.svg")), svg)?;
    }
    Ok(())
}
