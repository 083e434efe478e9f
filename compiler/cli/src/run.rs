//! `kiln run`: compiles for a device, launches, prints and checks results, without a host program.

mod buffers;
pub(crate) mod bytes;
mod check;
mod fill;
mod header;
mod images;
mod output;
mod parameter;
mod range;
mod structure;
pub(crate) mod target;
pub(crate) mod value;

use std::time::Duration;

use clap::ArgMatches;
use kiln_compiler::{interface::Interface, opencl::Overflow, target::Target};
use kiln_runtime::{Device, Environment, Instance, Kernel, NdRange, Program, Selector, Validation};

use crate::{
    arguments::{LaunchArguments, RunCommand},
    compile,
    exit::{Failure, Outcome, failure},
    files::Files,
    progress,
    run::{buffers::Memory, output::Output, parameter::Parameter},
};

/// The description of the launch language in `kiln run --help`.
pub(crate) const HELP: &str = "\
Arguments, one --arg for each parameter of the kernel, in order:
  buf:TYPE[N]=FILL      a buffer of N elements; without =FILL, zeros
  TYPE:VALUE            a value; the components of a vector are separated by commas
  struct:{1,2.5,{3,4}}  a struct, as in a C initializer; {.y=2} names a member; omitted members are
                        zero
  buf:struct[N]=FILL    a buffer of the struct that the parameter points to
  raw:TYPE[N]=FILL      a buffer of elements of another type than the parameter's
  local:BYTES           local memory for each work-group
  image2d:FORMAT[W,H]=FILL
                        an image; also image1d[W], image3d[W,H,D], image1d_array[W,LAYERS],
                        image2d_array[W,H,LAYERS], image1d_buffer[W]
  sampler:WORDS         a sampler: normalized; none, edge, clamp, repeat or mirrored; nearest or
                        linear
  pipe:TYPE[N]          an empty pipe for N packets, on the reference device
  null                  a null pointer
  NAME                  the buffer of parameter NAME in an earlier launch

TYPE is u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64, or OpenCL's uchar … double; a vector is u32x4
or uint4. It must be the parameter's type, except for the sign; a buffer of scalars can be passed
for one of vectors.
FORMAT is the channels and their type, such as rgba-unorm8, r-float, bgra-unorm8, rg-int16 or
depth-float. FILL, --print and --check use the numbers in memory: rgba-unorm8 is u8x4.
FILL is a list {1,2,3}, file:PATH, or a formula of numbers, iota (0, 1, 2 …), random(SEED) (32
bits), and + - * / %:
  buf:u32[4096]=iota   buf:f32[64]=iota*0.5+1   buf:i32[256]=random(7)%100

After the launch, the output of `printf` appears, and then:
  --print out[0..16]            prints `out[0..16] = v v v …`, by the parameter's name
  --check out[0..4]=1,2,3,4     fails unless the elements have these values; a single value is for
                                all elements; 5..8 means 5,6,7,8; < <= > >= != compare each element
  --expect FILE                 fails unless the output equals the contents of FILE

Further launches on the same buffers follow after `then`:
  kiln run stack.cl --kernel push … then --kernel walk --global 1 --arg head …

Without --kernel and --global, the source's leading comment contains the launches: lines that
begin with `kiln run`, and the more deeply indented lines that follow. All of them run.";

/// The magic number of a module, which is not compiled.
const SPIRV: [u8; 4] = 0x0723_0203u32.to_le_bytes();

pub(crate) fn run(command: &RunCommand, matches: &ArgMatches, files: &Files) -> Result<Outcome, Failure> {
    let source = files.source(&command.source)?;
    let sequences = sequences(command, &String::from_utf8_lossy(&source.text))?;
    let instance = Instance::new(runtime_options(command))?;
    let selector = command.device.as_deref().map_or(Selector::Default, Selector::from);
    let device = instance.device(&selector)?;
    if let (Some(reason), Environment::OpenCl) = (instance.without_vulkan(), device.info().environment)
        && command.device.is_none()
        && std::env::var("KILN_DEVICE").is_err()
    {
        anstream::eprintln!("kiln: note: {reason}; this runs on the {}", device.name());
    }
    let module = command.module.as_deref().map(|module| files.source(module)).transpose()?;
    let mut interface = Interface::default();
    let program = if let Some(module) = module {
        if !source.text.starts_with(&SPIRV) {
            let target = Target::full(kiln_compiler::opencl::Environment::OpenCl);
            let options = command.options.to_options(target, matches);
            interface = compile::interface(source, &options, files);
        }
        Program::from_bytes(&device, &module.text)?
    } else if source.text.starts_with(&SPIRV) {
        Program::from_bytes(&device, &source.text)?
    } else {
        let mut target = target::target(device.info());
        command.target.apply(&mut target).map_err(Failure)?;
        let mut options = command.options.to_options(target, matches);
        options.bounds_checks = command.checked;
        // The reference device reports source lines and, in the OpenCL environment, which object an access overflows.
        options.debug |= device.info().is_strict;
        if device.info().environment == Environment::OpenCl {
            options.overflow = Overflow::Told;
        }
        match compile::module(source, &options, files, &command.options) {
            Ok((module, types)) => {
                interface = types;
                Program::from_verified(&device, &module)?
            }
            Err(outcome) => return Ok(outcome),
        }
    };
    let missing = program.missing_workarounds();
    if !missing.is_empty() {
        anstream::eprintln!(
            "kiln: warning: the driver of {} has faults that the module does not work around: {missing}",
            device.name()
        );
    }
    let output = Output::default();
    device.print_to(output.clone());
    let mut outcome = Outcome::Success;
    for sequence in &sequences {
        let mut memory = Memory::default();
        for launch in sequence {
            let ended = self::launch(&device, &program, &interface, launch, &mut memory, &output)?;
            outcome = outcome.max(ended);
            if ended == Outcome::Undefined {
                return Ok(outcome);
            }
        }
    }
    let messages = device.validation_messages();
    for message in &messages {
        anstream::eprintln!("validation: {message}");
    }
    if outcome == Outcome::Diagnostics {
        let applied = program.interface().workarounds;
        for fault in device.info().faults().filter(|fault| !applied.contains(*fault)) {
            anstream::eprintln!("kiln: note: a known fault of {}: {}", device.name(), fault.symptom());
        }
    }
    Ok(if messages.is_empty() { outcome } else { Outcome::Diagnostics })
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

fn launch(
    device: &Device,
    program: &Program,
    interface: &Interface,
    launch: &LaunchArguments,
    memory: &mut Memory,
    output: &Output,
) -> Result<Outcome, Failure> {
    let name = kernel_name(program, launch)?;
    let mut kernel = program.kernel(name)?;
    let queue = device.queue()?;
    let parameters = parameters(&kernel, interface);
    if launch.arg.len() != parameters.len() {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        return failure(format!(
            "kernel `{name}` takes {} arguments ({}), but {} are given",
            parameters.len(),
            names.join(", "),
            launch.arg.len()
        ));
    }
    for (index, (text, parameter)) in launch.arg.iter().zip(&parameters).enumerate() {
        let value = memory.argument(device, text, parameter)?;
        if let Err(error) = kernel.set(index, value) {
            let example = parameter.example().map(|example| format!("; write `{example}`"));
            return failure(format!("{error}{}", example.unwrap_or_default()));
        }
    }
    let global = launch.global.as_deref().ok_or_else(|| Failure("--global is missing".to_owned()))?;
    let mut range = NdRange::from(range::sizes(global)?);
    if let Some(local) = &launch.local {
        range = range.local(range::sizes(local)?);
    }
    if let Some(offset) = &launch.offset {
        range = range.offset(range::sizes(offset)?);
    }
    // SAFETY: the user guarantees that the kernel stays within its buffers.
    #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
    let event = unsafe { queue.launch(&kernel, range) }?;
    let ended = progress::during(&|| format!("kernel `{name}` is running"), || event.wait());
    if let Err(error) = ended {
        if !is_undefined(&error) {
            return Err(error.into());
        }
        anstream::eprintln!("kiln: error: {error}");
        return Ok(Outcome::Undefined);
    }
    check::after(&queue, launch, memory, output.take())
}

/// Whether a launch failed because the kernel has undefined behavior.
fn is_undefined(error: &kiln_runtime::Error) -> bool {
    use kiln_runtime::Error;
    match error {
        Error::OutsideBuffers { .. } | Error::OutsideObject { .. } => true,
        Error::Strict(report) => !report.is_trap() && !report.is_timeout(),
        _ => false,
    }
}

/// The kernel's parameters: of the source, or if only a module is known, of the module.
fn parameters<'i>(kernel: &Kernel, interface: &'i Interface) -> Vec<Parameter<'i>> {
    match interface.kernels.iter().find(|known| known.name == kernel.name()) {
        Some(known) => {
            let parameters = known.parameters.iter().enumerate();
            parameters.map(|(index, it)| Parameter::of_source(interface, it, index)).collect()
        }
        None => {
            let arguments = kernel.interface().arguments.iter().enumerate();
            arguments.map(|(index, it)| Parameter::of_module(it, index)).collect()
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
