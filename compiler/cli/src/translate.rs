//! `kiln translate`: kernel SPIR-V of any compiler to SPIR-V for Vulkan.

use std::io::IsTerminal as _;

use clap::{Arg, ArgMatches, Args};
use kiln_compiler::{Artifact, Emit, Il, Output, Part, is_kernel_module, session::Options};

use crate::{
    arguments::{DeviceOptions, EnvironmentArgument, spirv_version, target},
    compile::{bytes, report, show},
    crash,
    exit::{Failure, Outcome, failure, stderr_line},
    files::{read_module, write_output},
    options::CompileOptions,
};

/// Translate kernel SPIR-V of any compiler to SPIR-V for Vulkan
#[derive(Debug, Args)]
#[command(mut_args(hide_language_option))]
pub(crate) struct TranslateCommand {
    /// A module of the OpenCL environment, or `-` for standard input
    #[arg(value_name = "MODULE")]
    pub(crate) module: String,
    /// Output file, or `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// Output format: spirv or asm; part, for `kiln link`; ir or ir-after=PASS for the state of a compiler stage
    #[arg(long, value_name = "FORM", default_value = "spirv", value_parser = emit)]
    pub(crate) emit: Emit,
    /// The environment of the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) env: EnvironmentArgument,
    /// The value of a specialization constant: its `SpecId`, and its bits as a number [default: as in the module]
    #[arg(long = "spec", value_name = "ID=BITS", value_parser = specialization)]
    pub(crate) specialization: Vec<(u32, u64)>,
    /// Omit names and the kernel interface, which a device does not need
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

/// Hides an option that has no effect on a module.
fn hide_language_option(arg: Arg) -> Arg {
    let has_none =
        ["define", "undefine", "include_dirs", "include", "std", "extensions", "warnings", "no_config"];
    let is_hidden = arg.is_hide_set() || has_none.contains(&arg.get_id().as_str());
    arg.hide(is_hidden)
}

fn emit(text: &str) -> Result<Emit, String> {
    match Emit::parse(text) {
        Some(found @ (Emit::Spirv | Emit::Assembly | Emit::Part | Emit::Ir | Emit::IrAfter(_))) => Ok(found),
        _ => Err("one of spirv, asm, part, ir, ir-after=PASS is expected".to_owned()),
    }
}

/// A number in decimal or, after `0x`, in hexadecimal.
fn specialization(text: &str) -> Result<(u32, u64), String> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok().or_else(|| text.parse::<i64>().ok().map(|number| number as u64)),
    };
    let found = text.split_once('=').and_then(|(id, bits)| Some((id.parse().ok()?, number(bits)?)));
    found.ok_or_else(|| "write `ID=BITS`, such as 7=64 or 7=0x40".to_owned())
}

pub(crate) fn translate(command: &TranslateCommand, matches: &ArgMatches) -> Result<Outcome, Failure> {
    let target = target(command.env, &command.device, command.spirv_version).map_err(Failure)?;
    let mut options = command.options.to_options(target, matches);
    options.strip = command.strip;
    let words = read_module(&command.module)?;
    let name = if command.module == "-" { "<stdin>" } else { &command.module };
    let il = Il { name, words: &words, specialization: &command.specialization };
    let output = match translated(&il, &options, &command.emit, &command.options)? {
        Ok(output) => output,
        Err(outcome) => return Ok(outcome),
    };
    let Some(artifact) = &output.artifact else { return Ok(Outcome::Diagnostics) };
    let is_module = matches!(artifact, Artifact::Module(_));
    if command.output == "-" && is_module && std::io::stdout().is_terminal() {
        return failure("a module cannot be written to a terminal; name a file with -o, or use --emit asm");
    }
    if command.output != "-" && command.output == command.module {
        return failure(format!(
            "the output `{}` would replace the input; name another file",
            command.output
        ));
    }
    write_output(&command.output, &bytes(artifact))?;
    Ok(Outcome::Success)
}

/// Translates a module, and prints its problems.
pub(crate) fn translated(
    il: &Il<'_>,
    options: &Options,
    emit: &Emit,
    shown: &CompileOptions,
) -> Result<Result<Output, Outcome>, Failure> {
    match kiln_compiler::translate(il, options, emit) {
        Err(problems) => {
            for problem in &problems {
                stderr_line!("{}: error: {problem}", il.name);
            }
            Ok(Err(Outcome::Diagnostics))
        }
        Ok(output) => {
            if let Some(invalid) = &output.invalid_module {
                crash::invalid_module(None, invalid);
                return Ok(Err(Outcome::Crash));
            }
            show(&[report(&output, shown)], shown);
            Ok(Ok(output))
        }
    }
}

/// A part of a program from a module.
pub(crate) fn part(
    path: &str,
    options: &Options,
    shown: &CompileOptions,
) -> Result<Result<Part, Outcome>, Failure> {
    let words = read_module(path)?;
    if !is_kernel_module(&words) {
        return failure(format!(
            "{path}: it is a SPIR-V module, not a part; make parts with `kiln compile -c`"
        ));
    }
    let il = Il { name: path, words: &words, specialization: &[] };
    Ok(translated(&il, options, &Emit::Part, shown)?.and_then(|output| match output.artifact {
        Some(Artifact::Part(part)) => Ok(*part),
        _ => Err(Outcome::Diagnostics),
    }))
}
