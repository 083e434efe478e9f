//! Prepares launches: opens the device, compiles the source for it, and binds the arguments of each launch.

use std::{sync::Arc, time::Duration};

use clap::ArgMatches;
use kiln_compiler::{
    Artifact, Emit, Il, debug::Variables, interface::Interface, is_kernel_module, needs_reader,
    opencl::Overflow, session::Source, target::Target,
};
use kiln_runtime::{
    ArgValue, Device, Environment, Instance, Kernel, Monitor, NdRange, Program, Selector, Validation,
};

use super::{buffers::Memory, header, parameter::Parameter, range};
use crate::{
    arguments::{LaunchArguments, RunCommand},
    compile,
    exit::{Failure, Outcome, failure, stderr_line},
    files::{Files, is_module},
    translate,
};

/// A device, and a program compiled for it, ready for launches.
pub(crate) struct Session {
    pub(crate) device: Device,
    pub(crate) program: Program,
    pub(crate) interface: Interface,
    /// The sequences of launches. Launches of one sequence share their buffers.
    pub(crate) sequences: Vec<Vec<LaunchArguments>>,
}

/// Opens the device, and compiles the source for it. Returns an outcome if the source has errors.
pub(crate) fn open(
    command: &RunCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Result<Session, Outcome>, Failure> {
    let source = files.source(&command.source)?;
    let sequences = sequences(command, &String::from_utf8_lossy(&source.text))?;
    let selector = command.device.as_deref().map_or(Selector::Default, Selector::from);
    let instance = Instance::for_device(runtime_options(command), &selector)?;
    let device = instance.device(&selector)?;
    if let (Some(reason), Environment::OpenCl) = (instance.without_vulkan(), device.info().environment)
        && command.device.is_none()
        && std::env::var("KILN_DEVICE").is_err()
    {
        stderr_line!("kiln: note: {reason}; this runs on the {}", device.name());
    }
    let module = command.module.as_deref().map(|module| files.source(module)).transpose()?;
    let mut interface = Interface::default();
    let program = if let Some(module) = module {
        if !is_module(&source.text) {
            let target = Target::full(kiln_compiler::opencl::Environment::OpenCl);
            let options = command.options.to_options(target, matches);
            interface = compile::interface(source, &options, files);
        }
        load(command, matches, &device, &module)?
    } else if is_module(&source.text) {
        load(command, matches, &device, &source)?
    } else {
        let mut options = command.options.to_options(target(command, &device)?, matches);
        options.bounds_checks = command.checked;
        // The reference device reports source lines and, in the OpenCL environment, which object an access overflows.
        options.debug |= device.info().is_strict;
        if device.info().environment == Environment::OpenCl {
            options.overflow = Overflow::Marked;
        }
        match compile::module(source, &options, files, &command.options) {
            Ok((module, types)) => {
                interface = types;
                Ok(Program::from_verified(&device, &module)?)
            }
            Err(outcome) => Err(outcome),
        }
    };
    let program = match program {
        Ok(program) => program,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let missing = program.missing_workarounds();
    if !missing.is_empty() {
        stderr_line!(
            "kiln: warning: the driver of {} has bugs that the module does not work around: {missing}",
            device.name()
        );
    }
    Ok(Ok(Session { device, program, interface, sequences }))
}

/// The target for the device and the command's options.
fn target(command: &RunCommand, device: &Device) -> Result<Target, Failure> {
    let mut target = device.info().target();
    command.target.apply(&mut target).map_err(Failure)?;
    if device.info().is_strict {
        // The reference device checks what Vulkan defines, not what the driver of the profile does.
        target.precision.defines_all_roots = false;
    }
    Ok(target)
}

/// A program for the debugger.
pub(crate) struct Debuggee {
    pub(crate) session: Session,
    pub(crate) module: Vec<u32>,
    pub(crate) variables: Variables,
    /// Warnings about the source.
    pub(crate) report: String,
}

/// Compiles the source for the debugger, and opens the device that it controls. A failure contains the errors of the
/// source.
pub(crate) fn debuggee(
    command: &RunCommand,
    matches: &ArgMatches,
    files: &Files,
    monitor: Arc<dyn Monitor>,
) -> Result<Debuggee, Failure> {
    let source = files.source(&command.source)?;
    let sequences = sequences(command, &String::from_utf8_lossy(&source.text))?;
    let device =
        Instance::for_device(runtime_options(command), &Selector::from("reference"))?.debugged(monitor)?;
    let mut options = command.options.to_options(target(command, &device)?, matches);
    (options.debug, options.keep_variables, options.optimize) = (true, true, false);
    options.overflow = Overflow::Marked;
    let module = command.module.as_deref().map(|module| files.source(module)).transpose()?;
    let module = module.or_else(|| is_module(&source.text).then(|| source.clone()));
    if let Some(module) = module {
        let program = Program::from_bytes(&device, &module.text)?;
        let (words, _) = module.text.as_chunks::<4>();
        let module = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let mut interface = Interface::default();
        if !is_module(&source.text) {
            interface = compile::interface(source, &options, files);
        }
        let session = Session { device, program, interface, sequences };
        return Ok(Debuggee { session, module, variables: Variables::default(), report: String::new() });
    }
    let variables = kiln_compiler::variables(source.clone(), &options, files);
    let crash =
        || Failure("internal error: the compiler failed; `kiln compile` writes a reproducer".to_owned());
    let output = compile::output(source, &options, files, &Emit::Spirv).ok_or_else(crash)?;
    let report = compile::report(&output, &command.options);
    let Some(Artifact::Module(module)) = output.artifact else { return Err(Failure(report)) };
    let program = Program::from_verified(&device, &module)?;
    let session = Session { device, program, interface: output.interface.unwrap_or_default(), sequences };
    Ok(Debuggee { session, module: module.words().to_vec(), variables, report })
}

/// Loads a module. Translates a module of the OpenCL environment for a Vulkan device, and if only the reader supports it.
fn load(
    command: &RunCommand,
    matches: &ArgMatches,
    device: &Device,
    module: &Source,
) -> Result<Result<Program, Outcome>, Failure> {
    let (words, rest) = module.text.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let is_translated = rest.is_empty()
        && is_kernel_module(&words)
        && (device.info().environment == Environment::Vulkan || needs_reader(&words));
    if !is_translated {
        return Ok(Ok(Program::from_bytes(device, &module.text)?));
    }
    let mut options = command.options.to_options(target(command, device)?, matches);
    options.bounds_checks = command.checked;
    // As for sources: the reference device reports source lines.
    options.debug |= device.info().is_strict;
    let il = Il { name: &module.name, words: &words, specialization: &[] };
    Ok(match translate::translated(&il, &options, &Emit::Spirv, &command.options)? {
        Ok(output) => match &output.artifact {
            Some(Artifact::Module(module)) => Ok(Program::from_verified(device, module)?),
            _ => Err(Outcome::Diagnostics),
        },
        Err(outcome) => Err(outcome),
    })
}

/// The sequences of launches. Launches of one sequence share their buffers.
fn sequences(command: &RunCommand, text: &str) -> Result<Vec<Vec<LaunchArguments>>, Failure> {
    let first = &command.launch;
    if first.kernel.is_none() && first.global.is_none() && first.arg.is_empty() {
        let found = header::launches(text)?;
        if !found.is_empty() {
            return Ok(found);
        }
        return failure(
            "there is no launch: use --kernel, --global and --arg, or put a `kiln run` line into the source's \
             leading comment",
        );
    }
    let mut launches = vec![first.clone()];
    launches.extend(command.following.iter().cloned());
    Ok(vec![launches])
}

fn runtime_options(command: &RunCommand) -> kiln_runtime::Options {
    let mut options = kiln_runtime::Options::from_env();
    if command.validate && options.validation == Validation::Off {
        options.validation = Validation::On;
    }
    options.unchecked |= command.no_checks;
    options.watchdog.get_or_insert(Duration::from_secs(command.timeout));
    options
}

/// The kernel of a launch with its arguments, and the index space.
pub(crate) fn bind(
    device: &Device,
    program: &Program,
    interface: &Interface,
    launch: &LaunchArguments,
    memory: &mut Memory,
) -> Result<(Kernel, NdRange), Failure> {
    let name = kernel_name(program, launch)?;
    let mut kernel = program.kernel(name)?;
    let parameters = parameters(&kernel, interface);
    if launch.arg.len() != parameters.len() {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let (wanted, given) = (parameters.len(), launch.arg.len());
        let plural = if wanted == 1 { "" } else { "s" };
        let list = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        return failure(format!("kernel `{name}` takes {wanted} argument{plural}{list}, not {given}"));
    }
    for (index, (text, parameter)) in launch.arg.iter().zip(&parameters).enumerate() {
        let value = memory.argument(device, text, parameter)?;
        if let ArgValue::Queue(queue) = &value {
            // A launch has one memory for all its queues: a larger default queue would replace the size that the user chose.
            kernel.set_default_queue(Some(*queue));
        }
        if let Err(error) = kernel.set(index, value) {
            let example = parameter.example().map(|example| format!("; write `{example}`"));
            return failure(format!("{error}{}", example.unwrap_or_default()));
        }
    }
    memory.bound();
    let global = launch.global.as_deref().ok_or_else(|| Failure("--global is missing".to_owned()))?;
    let mut range = NdRange::from(range::sizes(global)?);
    if let Some(local) = &launch.local {
        range = range.local(range::sizes(local)?);
    }
    if let Some(offset) = &launch.offset {
        range = range.offset(range::sizes(offset)?);
    }
    Ok((kernel, range))
}

/// The kernel's parameters: of the source, or if only a module is known, of the module.
fn parameters<'i>(kernel: &Kernel, interface: &'i Interface) -> Vec<Parameter<'i>> {
    match interface.kernels.iter().find(|known| known.name == kernel.name()) {
        Some(known) => {
            let parameters = known.parameters.iter().enumerate();
            parameters.map(|(index, it)| Parameter::from_source(interface, it, index)).collect()
        }
        None => {
            let arguments = kernel.interface().arguments.iter().enumerate();
            arguments.map(|(index, it)| Parameter::from_module(it, index)).collect()
        }
    }
}

fn kernel_name<'p>(program: &'p Program, launch: &'p LaunchArguments) -> Result<&'p str, Failure> {
    match (&launch.kernel, program.kernels()) {
        (Some(name), _) => Ok(name),
        (None, [only]) => Ok(&only.name),
        (None, kernels) => {
            let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            failure(format!("--kernel is missing; the source has {}", names.join(", ")))
        }
    }
}
