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
mod session;
mod structure;
mod undefined;
pub(crate) mod value;

use clap::ArgMatches;
use kiln_compiler::interface::Interface;
use kiln_runtime::{
    Device, Program,
    driver_bugs::{DriverBug, Remedy},
};

pub(crate) use self::{
    buffers::Memory,
    check::{Results, print_and_check, results},
    output::Output,
    session::{Debuggee, Session, bind, debuggee, open},
    undefined::is_undefined,
};
use crate::{
    arguments::{LaunchArguments, RunCommand},
    exit::{Failure, Outcome, stderr_line},
    files::Files,
    progress,
};

/// The description of the launch language in `kiln run --help`.
pub(crate) const HELP: &str = "\
Arguments, one --arg for each parameter of the kernel, in order:
  buf:TYPE[N]=FILL      a buffer of N elements; without =FILL, zeros
  TYPE:VALUE            a value; the components of a vector are separated by commas
  struct:{1,2.5,{3,4}}  a struct, as in a C initializer; {.y=2} names a member; omitted members are
                        zero
  buf:struct[N]=FILL    a buffer of the struct that the parameter points to
  raw:TYPE[N]=FILL      a buffer of elements of a different type from the parameter's
  local:TYPE[N]         local memory for each work-group; also local:BYTES
  image2d:FORMAT[W,H]=FILL
                        an image; also image1d[W], image3d[W,H,D], image1d_array[W,LAYERS],
                        image2d_array[W,H,LAYERS], image1d_buffer[W]; [W,H,levels=N] has N levels,
                        whose texels follow each other
  sampler:WORDS         a sampler: normalized; none, edge, clamp, repeat or mirrored; nearest or
                        linear; mip-nearest or mip-linear; lod=LEAST..MOST
  pipe:TYPE[N]          an empty pipe for N packets; also pipe:struct[N]
  queue:BYTES           a queue for device-side enqueue, with room for this many bytes of commands;
                        the default queue then has this size too
  null                  a null pointer
  NAME                  the buffer of parameter NAME in an earlier launch

TYPE is u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64, or OpenCL's uchar … double; a vector is u32x4
or uint4. It must be the parameter's type, except for the sign; a buffer of scalars can be passed
for one of vectors.
FORMAT is the channels and their type, such as rgba-unorm8, r-float, bgra-unorm8, rg-int16 or
depth-float. FILL, --print and --check use the numbers in memory: rgba-unorm8 is u8x4.
FILL is a list {1,2,3} (the braces can be omitted), file:PATH, or a formula of numbers, iota
(0, 1, 2 …), random(SEED) (32 bits), and + - * / %:
  buf:u32[4096]=iota   buf:f32[64]=iota*0.5+1   buf:i32[256]=random(7)%100

After the launch, the output of `printf` appears, and then:
  --print out[0..16]            prints `out[0..16] = v v v …`, by the parameter's name; whole numbers in
                                full, other floats with the fewest digits that are read as the same
                                value of their type
  --check out[0..4]=1,2,3,4     fails unless the elements have these values; a single value is for
                                all elements; 5..8 means 5,6,7,8; < <= > >= != compare each element;
                                values are rounded to the type of the elements
  --expect FILE                 fails unless the output equals the contents of FILE

Further launches on the same buffers follow after `then`:
  kiln run stack.cl --kernel push … then --kernel walk --global 1 --arg head …

Without --kernel and --global, the source's leading comment contains the launches: lines that
begin with `kiln run`, and the more deeply indented lines that follow. All of them run. Words with
blanks are in quotes, as in a shell.";

pub(crate) fn run(command: &RunCommand, matches: &ArgMatches, files: &Files) -> Result<Outcome, Failure> {
    let Session { device, program, interface, sequences } = match open(command, matches, files)? {
        Ok(session) => session,
        Err(outcome) => return Ok(outcome),
    };
    let output = Output::default();
    device.print_to(output.clone());
    let mut outcome = Outcome::Success;
    for sequence in &sequences {
        let mut memory = Memory::default();
        for launch in sequence {
            let ended = self::launch(&device, &program, &interface, launch, &mut memory, &output, command)?;
            outcome = outcome.max(ended);
            if ended == Outcome::Undefined {
                return Ok(outcome);
            }
        }
    }
    let messages = device.validation_messages();
    for message in &messages {
        stderr_line!("validation: {message}");
    }
    if outcome == Outcome::Diagnostics {
        let applied = program.interface().workarounds;
        let is_avoided =
            |bug: &DriverBug| applied.contains(*bug) || matches!(bug.remedy(), Remedy::Runtime(_));
        for bug in device.info().driver_bugs().filter(|bug| !is_avoided(bug)) {
            stderr_line!("kiln: note: a known bug of {}: {}", device.name(), bug.symptom());
        }
    }
    Ok(if messages.is_empty() { outcome } else { Outcome::Diagnostics })
}

fn launch(
    device: &Device,
    program: &Program,
    interface: &Interface,
    launch: &LaunchArguments,
    memory: &mut Memory,
    output: &Output,
    command: &RunCommand,
) -> Result<Outcome, Failure> {
    let (kernel, range) = bind(device, program, interface, launch, memory)?;
    let queue = device.queue()?;
    // SAFETY: the user guarantees that the kernel stays within its buffers.
    #[allow(unsafe_code, reason = "launching is unsafe because a kernel may write anywhere")]
    let launched = unsafe { queue.launch(&kernel, range) };
    // A launch with bounds checks has ended here.
    let ended = launched.and_then(|event| {
        progress::show_while(&|| format!("kernel `{}` is running", kernel.name()), || event.wait())
    });
    if let Err(error) = ended {
        if !is_undefined(&error) {
            return Err(error.into());
        }
        stderr_line!("{}", undefined::message(&error, command.options.diagnostic_format));
        return Ok(Outcome::Undefined);
    }
    print_and_check(&queue, launch, memory, output.take())
}
