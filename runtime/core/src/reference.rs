//! The reference back end: interprets modules in this process, both as a device of the OpenCL environment and as one
//! of the Vulkan environment.
//!
//! Owns the translation between launches and `kiln-reference`; `opencl` and `vulkan` translate those of each
//! environment. Commands run synchronously, on the thread that enqueues them. Must not depend on arguments or index
//! spaces.

mod describe;
mod image;
mod opencl;
mod vulkan;

use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use describe::{describe, is_part_of_name};
pub(crate) use image::texel_bytes;
use kiln_reference::{Checks, Monitor, Statements};

use crate::backend::{
    Allocation, Backend, BackendQueue, Command, Completion, ImageMemory, KernelLayout, Launch, Memory,
    Placement, ProgramHandle, Purpose, Start,
};
use crate::capabilities::{DeviceInfo, Environment};
use crate::device::Options;
use crate::error::{Error, Result};
use crate::event::{Status, Times};
use crate::image::{ImageDesc, ImageFormat, ImageKind, ImageSupport};
use crate::module::Module;
use crate::printf::Output;
use crate::rect;

/// The device's name in messages.
const NAME: &str = "the reference device";
/// The number of groups in one dispatch that Vulkan guarantees.
const VULKAN_GROUPS: u32 = 65_535;

/// The open device.
pub(crate) struct Reference {
    info: DeviceInfo,
    memory: kiln_reference::Memory,
    options: Options,
    output: Output,
    open_time: Instant,
    monitor: Option<Arc<dyn Monitor>>,
}

struct Queue {
    memory: kiln_reference::Memory,
    options: Options,
    output: Output,
    open_time: Instant,
    monitor: Option<Arc<dyn Monitor>>,
}

/// Memory of this device.
enum Block {
    Buffer(kiln_reference::Buffer),
    /// Kept alive while kernels may use it.
    Pipe(#[expect(dead_code, reason = "freed when it is dropped")] kiln_reference::Pipe),
}

/// A loaded program.
enum Program {
    OpenCl(Box<opencl::Program>),
    Vulkan(vulkan::Program),
}

/// A command that has been executed.
struct Executed {
    result: Result<()>,
    times: Times,
}

/// Opens the device, under a debugger if a monitor is given.
pub(crate) fn open(
    info: &DeviceInfo,
    options: Options,
    output: Output,
    monitor: Option<Arc<dyn Monitor>>,
) -> Arc<dyn Backend> {
    let memory = kiln_reference::Memory::with_limit(info.capabilities.global_memory);
    Arc::new(Reference { info: info.clone(), memory, options, output, open_time: Instant::now(), monitor })
}

impl Backend for Reference {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn open_time(&self) -> Instant {
        self.open_time
    }

    fn max_groups(&self) -> [u32; 3] {
        match self.info.environment {
            Environment::OpenCl => [u32::MAX; 3],
            Environment::Vulkan => [VULKAN_GROUPS; 3],
        }
    }

    fn allocate(&self, size: u64, placement: Placement) -> Result<Memory> {
        let none = || Error::OutOfMemory { bytes: size, device: NAME.to_owned() };
        let buffer = self.memory.allocate(size).ok_or_else(none)?;
        let is_shared = matches!(placement, Placement::Shared | Placement::Pinned);
        Ok(Memory { address: buffer.address(), handle: Arc::new(Block::Buffer(buffer)), is_shared })
    }

    fn image_support(&self, kind: ImageKind, format: ImageFormat) -> ImageSupport {
        image::support(self.info.environment, kind, format)
    }

    fn image_limit(&self, kind: ImageKind) -> [u32; 3] {
        image::limit(kind)
    }

    fn image(&self, desc: &ImageDesc) -> Result<ImageMemory> {
        image::image(&self.memory, desc)
    }

    fn image_of_image(&self, image: &ImageMemory, desc: &ImageDesc) -> Result<ImageMemory> {
        image::image_of_image(&self.memory, image, desc.format)
    }

    fn buffer_image(&self, memory: &Memory, offset: u64, desc: &ImageDesc, row: u32) -> Result<ImageMemory> {
        image::buffer_image(&self.memory, memory, offset, desc, row)
    }

    fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Option<Memory>> {
        if self.info.environment == Environment::Vulkan {
            return Ok(None);
        }
        let bytes = u64::from(packet_size) * u64::from(max_packets);
        let none = || Error::OutOfMemory { bytes, device: NAME.to_owned() };
        let pipe = self.memory.pipe(packet_size, max_packets).ok_or_else(none)?;
        Ok(Some(Memory { address: pipe.handle(), handle: Arc::new(Block::Pipe(pipe)), is_shared: false }))
    }

    fn load(&self, module: &Module, kernels: Vec<KernelLayout>) -> Result<ProgramHandle> {
        let (memory, checks) = (&self.memory, self.checks());
        Ok(Arc::new(match self.info.environment {
            Environment::OpenCl => {
                let statements = match self.monitor {
                    Some(_) => Statements::Marked,
                    None => Statements::Unmarked,
                };
                Program::OpenCl(Box::new(opencl::Program::new(module, &kernels, memory, checks, statements)?))
            }
            Environment::Vulkan => {
                let results = self.options.results;
                Program::Vulkan(vulkan::Program::new(module, kernels, memory, (checks, results))?)
            }
        }))
    }

    fn queue(&self, _purpose: Purpose) -> Result<Arc<dyn BackendQueue>> {
        let (options, open_time) = (self.options.clone(), self.open_time);
        let (output, monitor) = (self.output.clone(), self.monitor.clone());
        Ok(Arc::new(Queue { memory: self.memory.clone(), options, output, open_time, monitor }))
    }

    fn take_messages(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Reference {
    fn checks(&self) -> Checks {
        if self.options.unchecked { Checks::Off } else { Checks::On }
    }
}

impl Allocation for Block {
    fn host(&self) -> Option<NonNull<u8>> {
        self.buffer().ok()?.host()
    }
}

impl Block {
    fn buffer(&self) -> Result<&kiln_reference::Buffer> {
        match self {
            Self::Buffer(buffer) => Ok(buffer),
            Self::Pipe(_) => Err(Error::WrongDevice { object: "a pipe".to_owned() }),
        }
    }
}

impl BackendQueue for Queue {
    fn push(&self, command: Command, start: Start<'_>) -> Result<Arc<dyn Completion>> {
        let begin = Instant::now();
        let result = match command {
            Command::Nothing => Ok(()),
            Command::Launch(launch) => self.launch(&launch, begin),
            Command::Copy { source, from, target, to, bytes } => {
                block(&source)?.buffer()?.copy_to(from, block(&target)?.buffer()?, to, bytes);
                Ok(())
            }
            Command::CopyRect { source, from, target, to, size } => {
                let (source, target) = (block(&source)?, block(&target)?);
                for (from, to, bytes) in rect::parts(from, to, size) {
                    source.buffer()?.copy_to(from, target.buffer()?, to, bytes);
                }
                Ok(())
            }
            Command::Image(command) => image::command(&command),
            Command::Fill { target, at, bytes, word } => {
                let pattern = word.to_le_bytes().repeat((bytes / 4) as usize);
                block(&target)?.buffer()?.write(at, &pattern);
                Ok(())
            }
        };
        let time = |moment: Instant| moment.saturating_duration_since(self.open_time).as_nanos() as u64;
        let (submitted, end) = (time(begin), time(Instant::now()));
        let queued = time(start.queued).min(submitted);
        Ok(Arc::new(Executed { result, times: Times { queued, submitted, start: submitted, end } }))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

impl Completion for Executed {
    fn wait(&self, _timeout: Option<Duration>) -> Result<()> {
        self.result.clone()
    }

    fn give_up(&self) {}

    fn status(&self) -> Result<Status> {
        self.result.clone().map(|()| Status::Complete)
    }

    fn times(&self) -> Option<Times> {
        Some(self.times)
    }
}

/// The allocation of a handle.
fn block(memory: &Memory) -> Result<Arc<Block>> {
    let any: Arc<dyn Any + Send + Sync> = memory.handle.clone();
    any.downcast().map_err(|_| Error::WrongDevice { object: "a buffer".to_owned() })
}

impl Queue {
    fn launch(&self, launch: &Launch, begin: Instant) -> Result<()> {
        let program = launch.program.clone().downcast::<Program>();
        let program = program.map_err(|_| Error::WrongDevice { object: "a program".to_owned() })?;
        match &*program {
            Program::OpenCl(program) => program.launch(launch, |it| self.run(it, &launch.name, begin)),
            Program::Vulkan(program) => program.launch(launch, |it| self.run(it, &launch.name, begin)),
        }
    }

    fn run(&self, launch: &kiln_reference::Launch<'_>, name: &str, begin: Instant) -> Result<()> {
        let checks = if self.options.unchecked { Checks::Off } else { Checks::On };
        let watchdog = self.options.watchdog;
        let options = kiln_reference::Options {
            checks,
            deadline: watchdog.map(|time| begin + time),
            seed: self.options.seed,
            ..kiln_reference::Options::default()
        };
        let outcome = match &self.monitor {
            Some(monitor) => launch.debug(&self.memory, &options, &**monitor),
            None => launch.run(&self.memory, &options),
        };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.write_all(&outcome.printed).and_then(|()| output.flush()) {
            tracing::error!("the output of kernel `{name}` cannot be written: {error}");
        }
        match outcome.report {
            None => Ok(()),
            Some(report) if report.is_timeout() => Err(Error::Timeout {
                kernel: Some(report.kernel.clone()),
                after: watchdog.unwrap_or_else(|| begin.elapsed()),
            }),
            Some(report) if report.is_trap() => Err(Error::Trap {
                site: report
                    .location
                    .map(|location| format!("{}:{}", location.file, location.line))
                    .unwrap_or_default(),
                kernel: report.kernel,
                work_item: report.work_item,
                message: report.message,
            }),
            Some(report) => Err(Error::Strict(Box::new(report))),
        }
    }
}
