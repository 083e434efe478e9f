//! The command line's grammar.

use std::ffi::OsString;

use clap::{
    ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use kiln_compiler::{
    Emit,
    driver_bugs::Workarounds,
    opencl::Environment,
    target::{Target, profile},
};

use crate::{
    compile::DependencyOptions,
    litmus::LitmusCommand,
    options::CompileOptions,
    paths, project, response,
    spelling::{Respelled, respell},
    translate::TranslateCommand,
};

/// Compiles OpenCL C kernels to SPIR-V and runs them on Vulkan.
// A repeated option replaces the first, as in clang: build systems append users' options to their own.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, propagate_version = true, args_override_self = true, after_help = crate::exit::HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Only the given command is built: building commands is most of `kiln`'s start-up time.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Compile kernel sources to SPIR-V
    Compile(CompileCommand),
    /// Link parts of a program to SPIR-V
    Link(LinkCommand),
    /// Translate kernel SPIR-V of any compiler to SPIR-V for Vulkan
    Translate(TranslateCommand),
    /// Report the errors and warnings of kernel sources, without writing output
    Check(CheckCommand),
    /// Compile a kernel source and run its kernels
    #[command(after_long_help = crate::run::HELP)]
    Run(RunCommand),
    /// Show every outcome that the memory models of OpenCL and Vulkan allow for a small launch
    #[command(after_long_help = crate::litmus::HELP)]
    Litmus(LitmusCommand),
    /// Measure the launches of a kernel source, and compare them with another source or device
    #[command(after_long_help = crate::bench::HELP)]
    Bench(crate::bench::BenchCommand),
    /// Record when the launches of a kernel source run, as a trace for Perfetto and chrome://tracing
    #[command(after_long_help = crate::profile::HELP)]
    Profile(crate::profile::ProfileCommand),
    /// Format kernel sources
    #[command(after_help = crate::fmt::HELP)]
    Fmt(FmtCommand),
    /// Validate SPIR-V modules
    Verify(VerifyCommand),
    /// Print the kernels and arguments of SPIR-V modules
    Reflect(ReflectCommand),
    /// List the devices and their capabilities
    Devices(DevicesCommand),
    /// Explain a diagnostic and show how to fix it
    Explain(ExplainCommand),
    /// Run the language server on standard input and output
    Lsp(LspCommand),
    /// Run the debug adapter on standard input and output
    #[command(after_long_help = crate::dap::HELP)]
    Dap(DapCommand),
    /// Print a shell's completion script
    Completions(CompletionsCommand),
    /// Write a manual page for each command into a folder
    Man(ManCommand),
}

/// Compile kernel sources to SPIR-V
#[derive(Debug, Args)]
pub(crate) struct CompileCommand {
    /// The sources, or `-` for standard input
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Output file, or `-` for standard output [default: the source's name with the extension of the format]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Only preprocess, as --emit pp
    #[arg(short = 'E', conflicts_with_all = ["emit", "assemble"])]
    pub(crate) preprocess: bool,
    /// Write assembly, as --emit asm
    #[arg(short = 'S', conflicts_with = "emit")]
    pub(crate) assemble: bool,
    /// Output format: spirv or asm; part or object, which are not linked; json, header or rust for host programs; pp,
    /// ast, hir, ir or ir-after=PASS for the state of a compiler stage, with source positions in hir and ir by -g
    #[arg(long, value_name = "FORM", default_value = "spirv")]
    pub(crate) emit: EmitArgument,
    /// The kernel environment
    #[arg(long, value_enum, default_value_t)]
    pub(crate) env: EnvironmentArgument,
    /// Omit names, source positions and the kernel interface, which a device does not need. On Vulkan, `kiln run` and
    /// clvk cannot launch such a kernel, and its `printf` output cannot be printed
    #[arg(long, conflicts_with = "debug")]
    pub(crate) strip: bool,
    /// Compile without linking, as `clCompileProgram` does: writes a part for `kiln link`, whose functions and variables
    /// need no definition. With -S or --emit object, writes an object with linkage attributes for other linkers, which
    /// requires --env opencl
    #[arg(short = 'c')]
    pub(crate) is_part: bool,
    /// Prove that the module orders memory as the source does, and write it only then. Not for kernels with images or
    /// floating-point functions
    #[arg(long, conflicts_with_all = ["strip", "is_part", "emit", "preprocess", "assemble"])]
    pub(crate) prove: bool,
    /// Give atomic operations, fences and barriers the cheapest forms that are proved for the launch in the source's leading
    /// comment. The module is valid only for this launch
    #[arg(long, conflicts_with_all = ["prove", "strip", "is_part", "emit", "preprocess", "assemble"])]
    pub(crate) cheapest: bool,
    /// Minimum SPIR-V version: 1.5 or 1.6 for Vulkan, 1.0 to 1.6 for OpenCL [default: 1.5 and 1.2]
    #[arg(long, value_name = "VERSION", value_parser = spirv_version)]
    pub(crate) spirv_version: Option<(u8, u8)>,
    /// Repeat whenever an input file changes
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) device: DeviceOptions,
    #[command(flatten)]
    pub(crate) dependencies: DependencyOptions,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
    /// The `kiln.toml` of the sources, on which the outputs depend
    #[arg(skip)]
    pub(crate) project: Option<String>,
}

/// Link parts of a program to SPIR-V
#[derive(Debug, Args)]
pub(crate) struct LinkCommand {
    /// Parts, written by `kiln compile -c`; modules of the OpenCL environment; or sources
    #[arg(required = true, value_name = "FILE")]
    pub(crate) inputs: Vec<String>,
    /// Output file, or `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// Write a library: a part that other parts are linked with, as clLinkProgram does with -create-library
    #[arg(long)]
    pub(crate) library: bool,
    /// Write assembly
    #[arg(short = 'S', conflicts_with = "library")]
    pub(crate) assemble: bool,
    /// The kernel environment of all parts
    #[arg(long, value_enum, default_value_t)]
    pub(crate) env: EnvironmentArgument,
    /// Omit names, source positions and the kernel interface, which a device does not need
    #[arg(long, conflicts_with = "debug")]
    pub(crate) strip: bool,
    /// Minimum SPIR-V version: 1.5 or 1.6 for Vulkan, 1.0 to 1.6 for OpenCL [default: 1.5 and 1.2]
    #[arg(long, value_name = "VERSION", value_parser = spirv_version)]
    pub(crate) spirv_version: Option<(u8, u8)>,
    #[command(flatten)]
    pub(crate) device: DeviceOptions,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
}

// The device to compile for. Not a doc comment: clap would use it as the summary of the command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Target device")]
pub(crate) struct DeviceOptions {
    /// Target device: minimal, swiftshader, lavapipe, lavapipe-25, nvidia, full, or a file written by `kiln devices --profile`
    /// [default: full, or the device that `kiln run` opens]
    #[arg(long, value_name = "NAME|FILE")]
    device_profile: Option<String>,
    /// Enable or disable device features, such as `+fp64,-int8`; a profile lists their names
    #[arg(long = "feature", value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    features: Vec<String>,
    /// Driver bugs to work around: names from docs/driver-bugs.md, `all` or `none` [default: those of the driver of
    /// the profile, or of the device that `kiln run` opens]
    #[arg(long, value_name = "LIST|all|none", value_parser = Workarounds::parse)]
    workarounds: Option<Workarounds>,
}

/// Report the errors and warnings of kernel sources, without writing output
#[derive(Debug, Args)]
pub(crate) struct CheckCommand {
    /// The sources, or `-` for standard input
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Compare the diagnostics with `expected-error{{text}}` comments in the source, as clang does
    #[arg(long, conflicts_with = "diagnostic_format")]
    pub(crate) verify: bool,
    /// Apply the fixes of the diagnostics to the sources, and report what is left
    #[arg(long, conflicts_with_all = ["verify", "watch"])]
    pub(crate) fix: bool,
    /// Accept only the features of this kernel environment [default: all features of the language]
    #[arg(long, value_enum)]
    pub(crate) env: Option<EnvironmentArgument>,
    /// Repeat whenever an input file changes
    #[arg(long)]
    pub(crate) watch: bool,
    /// Accepted for compatibility with C compilers
    #[arg(short = 'c', hide = true)]
    pub(crate) is_part: bool,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
}

/// Compile a kernel source and run its kernels
#[derive(Clone, Debug, Args)]
pub(crate) struct RunCommand {
    /// The source or a module, or `-` for standard input
    pub(crate) source: String,
    /// Device: part of its name, or its index in `kiln devices` [default: $KILN_DEVICE, or the first]
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) device: Option<String>,
    /// Enable the Vulkan validation layers, and fail if they report an error
    #[arg(long)]
    pub(crate) validate: bool,
    /// On the reference device, do not look for races and other undefined behavior
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Run this SPIR-V module, compiled from the source, possibly by another compiler
    #[arg(long, value_name = "FILE")]
    pub(crate) module: Option<String>,
    /// Check every memory access against the bounds of its buffer or array, and report the first one out of bounds
    #[arg(long)]
    pub(crate) checked: bool,
    /// Stop waiting for a launch after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    /// Repeat whenever an input file changes
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) target: DeviceOptions,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    /// Further launches: `then` and their options
    #[arg(skip)]
    pub(crate) following: Vec<LaunchArguments>,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
}

// One launch, on the command line or in the source's leading comment.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Launch")]
pub(crate) struct LaunchArguments {
    /// Kernel to launch [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Global size: work-items in each dimension, such as `1024` or `64,64`
    #[arg(long, value_name = "SIZES", allow_negative_numbers = true)]
    pub(crate) global: Option<String>,
    /// Local size: work-items of a work-group in each dimension [default: chosen by the device]
    #[arg(long, value_name = "SIZES", allow_negative_numbers = true)]
    pub(crate) local: Option<String>,
    /// First global id in each dimension
    #[arg(long, value_name = "SIZES", allow_negative_numbers = true)]
    pub(crate) offset: Option<String>,
    /// Kernel argument, in the order of the parameters; see below
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) arg: Vec<String>,
    /// Print part of a buffer after the launch, such as `out[0..16]`
    #[arg(long, value_name = "NAME[A..B]")]
    pub(crate) print: Vec<String>,
    /// Fail unless part of a buffer has these values, such as `out[0..4]=1,2,3,4`; a vector is its components
    #[arg(long, value_name = "NAME[A..B]=VALUES")]
    pub(crate) check: Vec<String>,
    /// Fail unless the output equals the contents of this file
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<String>,
}

/// Format kernel sources
#[derive(Debug, Args)]
pub(crate) struct FmtCommand {
    /// The sources, which are replaced
    #[arg(required_unless_present = "stdin", value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Change nothing; name the sources that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Format standard input to standard output
    #[arg(long, conflicts_with = "sources")]
    pub(crate) stdin: bool,
    /// With --stdin: look for the `.clang-format` of this source
    #[arg(long, value_name = "SOURCE", requires = "stdin")]
    pub(crate) assume_filename: Option<String>,
    /// Print which `.clang-format` is used, and which of its options have no effect
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyCommand {
    /// The modules, or `-` for standard input
    #[arg(required_unless_present = "rules", value_name = "MODULE")]
    pub(crate) modules: Vec<String>,
    /// Print each violation as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// List the rules
    #[arg(long, conflicts_with = "modules")]
    pub(crate) rules: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReflectCommand {
    /// The modules, or `-` for standard input
    #[arg(required = true, value_name = "MODULE")]
    pub(crate) modules: Vec<String>,
    /// Print a JSON object for each module
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DevicesCommand {
    /// Print this device's features as a profile for `kiln compile --device-profile`
    #[arg(long, value_name = "NAME|INDEX", conflicts_with = "json")]
    pub(crate) profile: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Run litmus tests under stress on a device: print the weak outcomes that it shows, and with --json a certificate.
    /// Exit code 4 means that it shows an outcome that its memory model forbids
    #[arg(long, conflicts_with = "profile")]
    pub(crate) litmus: bool,
    /// With --litmus: part of the device's name, or its index [default: $KILN_DEVICE, or the first]
    #[arg(long, value_name = "NAME|INDEX", requires = "litmus")]
    pub(crate) device: Option<String>,
    /// With --litmus: the number of instances of all tests together, rounded up to whole launches
    #[arg(long, value_name = "N", requires = "litmus", default_value_t = 100_000_000)]
    pub(crate) instances: u64,
    /// With --litmus: the time for all tests together; each runs at least a few launches
    #[arg(long, value_name = "SECONDS", requires = "litmus", default_value_t = 120.0)]
    pub(crate) seconds: f64,
    /// With --litmus: run only tests with this text in their names, such as `MP` or `seq_cst, one group`
    #[arg(long, value_name = "TEXT", requires = "litmus")]
    pub(crate) filter: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LspCommand {
    /// Accepted for editors that pass it: the server always uses standard input and output
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DapCommand {
    /// Accepted for editors that pass it: the adapter always uses standard input and output
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainCommand {
    /// Code from the brackets of a message [default: list all codes]
    pub(crate) code: Option<String>,
    /// Show what each atomic operation, fence and barrier of a source becomes on Vulkan, and why
    #[arg(long, value_name = "SOURCE", conflicts_with = "code")]
    pub(crate) mapping: Option<String>,
    /// With --mapping: also show the cheapest sound form of each operation for the launch in the source's leading comment
    #[arg(long, requires = "mapping")]
    pub(crate) cheapest: bool,
    #[command(flatten)]
    pub(crate) options: CompileOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsCommand {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManCommand {
    /// Output folder, created if it does not exist
    pub(crate) folder: String,
}

/// The argument of `--emit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EmitArgument {
    /// The output of a compiler stage.
    Stage(Emit),
    /// A module with linkage attributes, for other linkers.
    Object,
    /// The interface as JSON.
    Json,
    /// A C header: interface and module.
    Header,
    /// Rust: interface and module.
    Rust,
}

impl Default for EmitArgument {
    fn default() -> Self {
        Self::Stage(Emit::Spirv)
    }
}

fn read_profile(name: &str) -> Result<String, String> {
    std::fs::read_to_string(paths::path(name)).map_err(|error| {
        let names: Vec<_> = profile::names().collect();
        format!("the device profile `{name}` is neither {} nor a readable file: {error}", names.join(", "))
    })
}

pub(crate) fn spirv_version(text: &str) -> Result<(u8, u8), String> {
    let parts =
        text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts
        .filter(|&(major, minor)| major == 1 && minor <= 6)
        .ok_or_else(|| "1.0 to 1.6 is expected".to_owned())
}

impl DeviceOptions {
    /// Applies the options to a target. The error is a message for the user.
    pub(crate) fn apply(&self, target: &mut Target) -> Result<(), String> {
        if let Some(name) = &self.device_profile {
            let profile = match profile::named(name) {
                Some(profile) => profile,
                None => profile::parse(&read_profile(name)?).map_err(|why| format!("{name}: {why}"))?,
            };
            target.workarounds = profile.workarounds();
            target.precision = profile.precision();
            target.tuning = profile.tuning();
            target.features = profile.features;
        }
        // Only Vulkan drivers have known bugs.
        if let Some(workarounds) = self.workarounds.filter(|_| target.environment == Environment::Vulkan) {
            target.workarounds = workarounds;
        }
        for change in &self.features {
            profile::apply(&mut target.features, change)?;
        }
        if self.device_profile.is_some() || !self.features.is_empty() {
            let mut name = self.device_profile.clone().unwrap_or_else(|| "full".to_owned());
            self.features.iter().for_each(|change| name += &format!(" {change}"));
            target.profile = Some(name);
        }
        Ok(())
    }
}

/// The target of a module. The error is a message if the environment does not support the SPIR-V version.
pub(crate) fn target(
    env: EnvironmentArgument,
    device: &DeviceOptions,
    spirv_version: Option<(u8, u8)>,
) -> Result<Target, String> {
    let mut target = Target::full(env.into());
    let workarounds = device.workarounds.unwrap_or_default();
    if target.environment == Environment::OpenCl && !workarounds.is_empty() {
        return Err("--workarounds is for modules for Vulkan, not --env opencl".to_owned());
    }
    device.apply(&mut target)?;
    if let Some(version) = spirv_version {
        // Vulkan 1.2 accepts all versions up to 1.5, but before 1.5 the memory model needs an extension.
        if matches!(env, EnvironmentArgument::Vulkan) && version < (1, 5) {
            return Err(format!(
                "modules for Vulkan have SPIR-V 1.5 or 1.6, not {}.{}",
                version.0, version.1
            ));
        }
        target.spirv = version;
    }
    Ok(target)
}

impl LinkCommand {
    pub(crate) fn target(&self) -> Result<Target, String> {
        target(self.env, &self.device, self.spirv_version)
    }

    /// The requested output.
    pub(crate) fn emit(&self) -> Emit {
        match (self.library, self.assemble) {
            (true, _) => Emit::Part,
            (_, true) => Emit::Assembly,
            _ => Emit::Spirv,
        }
    }
}

impl CompileCommand {
    pub(crate) fn target(&self) -> Result<Target, String> {
        target(self.env, &self.device, self.spirv_version)
    }

    /// The requested output, from --emit or one of its short options.
    pub(crate) fn emit(&self) -> EmitArgument {
        match (self.preprocess, self.assemble) {
            (true, _) => EmitArgument::Stage(Emit::Preprocessed),
            (_, true) => EmitArgument::Stage(Emit::Assembly),
            _ if self.is_part && self.emit == EmitArgument::default() => EmitArgument::Stage(Emit::Part),
            _ => self.emit.clone(),
        }
    }
}

impl EmitArgument {
    /// The last compiler stage that the output needs.
    pub(crate) fn stage(&self) -> &Emit {
        match self {
            Self::Stage(emit) => emit,
            Self::Json => &Emit::Nothing,
            Self::Object | Self::Header | Self::Rust => &Emit::Spirv,
        }
    }
}

impl std::str::FromStr for EmitArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "object" => Ok(Self::Object),
            "json" => Ok(Self::Json),
            "header" => Ok(Self::Header),
            "rust" => Ok(Self::Rust),
            _ => Emit::parse(text).map(Self::Stage).ok_or_else(|| {
                "one of spirv, asm, part, object, json, header, rust, pp, ast, hir, ir, ir-after=PASS is expected"
                    .to_owned()
            }),
        }
    }
}

/// `--env`
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum EnvironmentArgument {
    /// Vulkan 1.2 with the Vulkan memory model and buffer device addresses
    #[default]
    Vulkan,
    /// OpenCL 2.2, for clCreateProgramWithIL
    Opencl,
}

impl From<EnvironmentArgument> for kiln_compiler::opencl::Environment {
    fn from(argument: EnvironmentArgument) -> Self {
        match argument {
            EnvironmentArgument::Vulkan => Self::Vulkan,
            EnvironmentArgument::Opencl => Self::OpenCl,
        }
    }
}

/// A parsed command line.
pub(crate) struct Line {
    /// The commands, each with its matches. There are several if the sources have different `kiln.toml`.
    pub(crate) commands: Vec<(Command, ArgMatches)>,
    /// The arguments after the program's name, as given.
    pub(crate) words: Vec<String>,
}

/// Parses the command line. Further launches, each after a `then`, are parsed separately.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Line, clap::Error> {
    let arguments = arguments.map(|argument| OsString::from(paths::text(&argument)));
    let arguments =
        response::expand(arguments).map_err(|why| clap::Error::raw(ErrorKind::Io, format!("{why}\n")))?;
    let words = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = commands(arguments).map_err(|why| match why {
        Mistake::Usage(error) => *error,
        Mistake::Other(why) => Cli::command().error(ErrorKind::UnknownArgument, why),
        // The usage of the command does not help with a mistake in a file.
        Mistake::Project(why) => clap::Error::raw(ErrorKind::Io, format!("{why}\n")),
    })?;
    Ok(Line { commands: parsed, words })
}

/// A mistake in the command line.
enum Mistake {
    Usage(Box<clap::Error>),
    /// A mistake in a `kiln.toml`.
    Project(String),
    Other(String),
}

impl From<String> for Mistake {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<clap::Error> for Mistake {
    fn from(error: clap::Error) -> Self {
        Self::Usage(Box::new(error))
    }
}

/// The commands of a command line: one for each `kiln.toml` of its sources.
fn commands(arguments: Vec<OsString>) -> Result<Vec<(Command, ArgMatches)>, Mistake> {
    // Leaked: freeing the grammar when the process ends would only take time.
    let grammar = Box::leak(Box::new(Cli::command()));
    let names: Vec<String> = grammar.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let Respelled { arguments, hints } = respell(arguments, &names)?;
    for hint in hints {
        crate::exit::stderr_line!("kiln: note: {hint}");
    }
    let (command, matches) = one_command(grammar, &arguments)?;
    let (sources, options) = match &command {
        Command::Compile(command) => (command.sources.clone(), &command.options),
        Command::Check(command) => (command.sources.clone(), &command.options),
        Command::Run(command) => (vec![command.source.clone()], &command.options),
        Command::Bench(command) => (vec![command.run.source.clone()], &command.run.options),
        Command::Profile(command) => (vec![command.run.source.clone()], &command.run.options),
        _ => return Ok(vec![(command, matches)]),
    };
    if options.no_config {
        return Ok(vec![(command, matches)]);
    }
    let name = arguments[1].to_string_lossy().into_owned();
    let projects = project::projects(&sources, &name).map_err(Mistake::Project)?;
    if projects.iter().all(|project| project.file.is_none()) {
        return Ok(vec![(command, matches)]);
    }
    let mut commands = Vec::new();
    for project in projects {
        // The options of the command line follow, and so override those of the file.
        let flags = project.flags.iter().map(|flag| OsString::from(paths::text(flag)));
        let flags = arguments[..2].iter().cloned().chain(flags).collect();
        let file = project.file.map(|file| paths::text(file.as_os_str()));
        let project_mistake = |why: String| {
            let why = why.lines().next().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            Mistake::Project(format!("{}: {why}", file.as_deref().unwrap_or_default()))
        };
        let mut words = respell(flags, &names).map_err(project_mistake)?.arguments;
        words.extend_from_slice(&arguments[2..]);
        // The options of the command line are valid, so an error comes from those of the file.
        let parsed = one_command(grammar, &words).map_err(|error| project_mistake(error.to_string()));
        let (mut command, matches) = parsed?;
        match &mut command {
            Command::Compile(command) => {
                command.sources = project.sources;
                command.project = file;
            }
            Command::Check(command) => command.sources = project.sources,
            _ => {}
        }
        commands.push((command, matches));
    }
    Ok(commands)
}

/// Parses arguments in Kiln's spelling.
fn one_command(
    grammar: &mut clap::Command,
    arguments: &[OsString],
) -> Result<(Command, ArgMatches), clap::Error> {
    let mut parts = arguments.split(|argument| argument == "then");
    let matches = grammar.try_get_matches_from_mut(parts.next().unwrap_or_default())?;
    let mut command = Cli::from_arg_matches(&matches)?.command;
    let following = parts.map(parse_launch).collect::<Result<Vec<_>, _>>()?;
    match &mut command {
        Command::Run(run) => run.following = following,
        Command::Bench(bench) => bench.run.following = following,
        Command::Profile(profile) => profile.run.following = following,
        _ if !following.is_empty() => {
            return Err(Cli::command()
                .error(ErrorKind::UnknownArgument, "only `kiln run`, `bench` and `profile` accept `then`"));
        }
        _ => {}
    }
    let (_, matches) = { matches }.remove_subcommand().expect("a command is required");
    Ok((command, matches))
}

/// Whether an option, such as `-D` or `--cl-std`, is one of the compiler.
fn is_compile_option(option: &str) -> bool {
    let compiler = CompileOptions::augment_args(clap::Command::new("kiln"));
    compiler.get_arguments().any(|it| match (option.strip_prefix("--"), option.strip_prefix('-')) {
        (Some(long), _) => it.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        (None, Some(short)) => it.get_short().is_some_and(|letter| short.starts_with(letter)),
        _ => false,
    })
}

/// Parses the options of one launch.
pub(crate) fn parse_launch<T: Into<OsString> + Clone>(words: &[T]) -> Result<LaunchArguments, clap::Error> {
    #[derive(Parser)]
    #[command(name = "kiln run", no_binary_name = true, disable_help_flag = true)]
    struct Launch {
        #[command(flatten)]
        launch: LaunchArguments,
    }
    let parsed = Launch::try_parse_from(words.iter().cloned());
    parsed.map(|parsed| parsed.launch).map_err(explain_unknown_option)
}

/// All launches of a source share one program, and editors compile it too, so a launch has no options of the compiler.
fn explain_unknown_option(error: clap::Error) -> clap::Error {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if is_compile_option(option) => clap::Error::raw(
            ErrorKind::UnknownArgument,
            format!(
                "`{option}` is an option of the compiler, not of a launch; put it into `kiln.toml`, or at the start of the command line\n"
            ),
        ),
        _ => error,
    }
}
