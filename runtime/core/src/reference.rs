//! The reference back end: executes modules of the OpenCL environment in this process.
//!
//! Owns the translation between launches and `kiln-reference`. Commands run when they are given, on the thread that gives them.
//! It must never know arguments or index spaces.

mod image;

use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use kiln_reference::{Argument, Checks, ParameterKind, Region};

use crate::backend::{
    Allocation, Backend, BackendQueue, Bound, Command, Completion, Dispatch, ImageMemory, KernelLayout,
    Launch, Memory, Placement, ProgramHandle, Purpose, Start,
};
use crate::capabilities::{
    Capabilities, DeviceInfo, DeviceKind, Environment, Features, Order, Scope, SubGroups,
};
use crate::device::Options;
use crate::error::{Error, Result};
use crate::event::{Status, Times};
use crate::image::{ImageDesc, ImageFormat, ImageKind, ImageSupport};
use crate::interface::SpecId;
use crate::layout::STATE_SIZE;
use crate::module::Module;
use crate::printf::Output;
use crate::signature::{self, LOCAL_SIZE, WORK_DIM};

/// The name by which it is chosen.
const NAME: &str = "Kiln reference device";
const LOCAL_MEMORY: u32 = 64 << 10;
const MAX_WORK_GROUP_SIZE: u32 = 1024;
const LARGEST_BUFFER: u64 = 16 << 30;
/// Room for execution state and arguments.
const ARGUMENTS: u32 = 16384;

/// The open device.
pub(crate) struct Reference {
    info: DeviceInfo,
    memory: kiln_reference::Memory,
    options: Options,
    output: Output,
    opened: Instant,
}

struct Queue {
    memory: kiln_reference::Memory,
    options: Options,
    output: Output,
    opened: Instant,
}

/// Memory of this device.
enum Block {
    Buffer(kiln_reference::Buffer),
    /// Kept for as long as kernels may use it.
    Pipe(#[expect(dead_code, reason = "freed when it is dropped")] kiln_reference::Pipe),
}

/// A loaded program.
struct Program {
    decoded: kiln_reference::Program,
    /// The kernels that the runtime counts, among those of the module.
    kernels: Vec<usize>,
}

/// A command that has been executed.
struct Executed {
    result: Result<()>,
    times: Times,
}

/// What the device is, as the list of devices has it.
pub(crate) fn describe(index: usize) -> DeviceInfo {
    let scopes = vec![Scope::SubGroup, Scope::WorkGroup, Scope::Device, Scope::AllDevices];
    DeviceInfo {
        index,
        name: NAME.to_owned(),
        driver: format!("in this process, {}", env!("CARGO_PKG_VERSION")),
        kind: DeviceKind::Other,
        environment: Environment::OpenCl,
        capabilities: Capabilities {
            atomic_orders: Order::ALL.to_vec(),
            atomic_scopes: scopes.clone(),
            fence_orders: Order::ALL.to_vec(),
            fence_scopes: [vec![Scope::WorkItem], scopes].concat(),
            int64_global_atomics: true,
            int64_local_atomics: true,
            float_atomic_add: true,
            int64: true,
            fp16: true,
            fp64: true,
            sub_groups: Some(SubGroups {
                max_size: kiln_reference::SUB_GROUP_SIZE,
                extensions: vec!["cl_khr_subgroups"],
            }),
            images: Some(image::LIMITS),
            max_work_group_size: MAX_WORK_GROUP_SIZE,
            max_work_item_sizes: [MAX_WORK_GROUP_SIZE; 3],
            local_memory: LOCAL_MEMORY.into(),
            global_memory: LARGEST_BUFFER,
            max_allocation: LARGEST_BUFFER,
            max_parameter_size: ARGUMENTS / 2,
            unified_memory: true,
            host_memory_alignment: None,
            // Its work-items and the host take turns at whole commands.
            svm_atomics: false,
            timer_resolution: 1.0,
        },
        features: Features {
            spirv: (1, 6),
            int8: true,
            int16: true,
            int64: true,
            fp16: true,
            fp64: true,
            storage8: true,
            storage16: true,
            push_constant8: true,
            push_constant16: true,
            int64_global_atomics: true,
            int64_local_atomics: true,
            float32_atomic_add: true,
            variable_pointers: true,
            workgroup_explicit_layout: true,
            device_scope: true,
            availability_chains: true,
            subgroups: true,
            subgroup_vote: true,
            subgroup_arithmetic: true,
            subgroup_ballot: true,
            subgroup_shuffle: true,
            subgroup_shuffle_relative: true,
            subgroup_clustered: true,
            subgroup_extended_types: true,
            push_constant_size: ARGUMENTS,
            local_memory: LOCAL_MEMORY,
            float_controls_preserve32: true,
            float_controls_preserve16: true,
            float_controls_preserve64: true,
            float_controls_denorm_preserve32: true,
            float_controls_denorm_preserve16: true,
            float_controls_denorm_preserve64: true,
            images: true,
            read_write_images: true,
            software_drivers: false,
            float_controls_rte32: true,
        },
        faults: Vec::new(),
        lacks: Vec::new(),
    }
}

/// Opens the device.
pub(crate) fn open(info: &DeviceInfo, options: Options, output: Output) -> Arc<dyn Backend> {
    let memory = kiln_reference::Memory::default();
    Arc::new(Reference { info: info.clone(), memory, options, output, opened: Instant::now() })
}

impl Backend for Reference {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn max_groups(&self) -> [u32; 3] {
        [u32::MAX; 3]
    }

    fn allocate(&self, size: u64, placement: Placement) -> Result<Memory> {
        let none = || Error::OutOfMemory { bytes: size, device: NAME.to_owned() };
        let buffer = self.memory.allocate(size).ok_or_else(none)?;
        let is_shared = placement == Placement::Shared;
        Ok(Memory { address: buffer.address(), handle: Arc::new(Block::Buffer(buffer)), is_shared })
    }

    fn image_support(&self, kind: ImageKind, format: ImageFormat) -> ImageSupport {
        image::support(kind, format)
    }

    fn image_limit(&self, kind: ImageKind) -> [u32; 3] {
        image::limit(kind)
    }

    fn image(&self, desc: &ImageDesc) -> Result<ImageMemory> {
        image::image(&self.memory, desc)
    }

    fn buffer_image(
        &self,
        memory: &Memory,
        offset: u64,
        texels: u32,
        format: ImageFormat,
    ) -> Result<ImageMemory> {
        image::buffer_image(&self.memory, memory, offset, texels, format)
    }

    fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Memory> {
        let bytes = u64::from(packet_size) * u64::from(max_packets);
        let none = || Error::OutOfMemory { bytes, device: NAME.to_owned() };
        let pipe = self.memory.pipe(packet_size, max_packets).ok_or_else(none)?;
        Ok(Memory { address: pipe.handle(), handle: Arc::new(Block::Pipe(pipe)), is_shared: false })
    }

    fn load(&self, module: &Module, kernels: Vec<KernelLayout>) -> Result<ProgramHandle> {
        let decoded = kiln_reference::Program::new(module.words(), &self.memory, self.checks());
        let decoded = decoded.map_err(|invalid| signature::bad(&invalid))?;
        let position = |layout: &KernelLayout| {
            let found = decoded.kernels().iter().position(|kernel| *kernel.name == *layout.name);
            found.ok_or_else(|| Error::BadModule { reason: format!("it has no kernel `{}`", layout.name) })
        };
        let kernels = kernels.iter().map(position).collect::<Result<_>>()?;
        Ok(Arc::new(Program { decoded, kernels }))
    }

    fn queue(&self, _purpose: Purpose) -> Result<Arc<dyn BackendQueue>> {
        let (options, opened) = (self.options.clone(), self.opened);
        Ok(Arc::new(Queue { memory: self.memory.clone(), options, output: self.output.clone(), opened }))
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
            Command::Image(command) => image::command(&command),
            Command::Fill { target, at, bytes, word } => {
                let pattern = word.to_le_bytes().repeat((bytes / 4) as usize);
                block(&target)?.buffer()?.write(at, &pattern);
                Ok(())
            }
        };
        let time = |moment: Instant| moment.saturating_duration_since(self.opened).as_nanos() as u64;
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

/// The memory behind a handle.
fn block(memory: &Memory) -> Result<Arc<Block>> {
    let any: Arc<dyn Any + Send + Sync> = memory.handle.clone();
    any.downcast().map_err(|_| Error::WrongDevice { object: "a buffer".to_owned() })
}

impl Queue {
    fn launch(&self, launch: &Launch, begin: Instant) -> Result<()> {
        let program = launch.program.clone().downcast::<Program>();
        let program = program.map_err(|_| Error::WrongDevice { object: "a program".to_owned() })?;
        let Some(first) = launch.dispatches.first() else { return Ok(()) };
        let kernel = program.kernels[launch.kernel];
        let regions: Vec<Region> = launch.dispatches.iter().map(region).collect();
        let arguments = arguments(&program.decoded.kernels()[kernel], launch, first)?;
        let checks = if self.options.unchecked { Checks::Off } else { Checks::On };
        let watchdog = self.options.watchdog;
        let options = kiln_reference::Options {
            checks,
            deadline: watchdog.map(|time| begin + time),
            seed: self.options.seed,
            ..kiln_reference::Options::default()
        };
        let outcome = kiln_reference::Launch {
            program: &program.decoded,
            kernel,
            arguments: &arguments,
            dims: constant(first, WORK_DIM).unwrap_or(1),
            offset: state(first, 0),
            global: state(first, 1),
            local: state(first, 2),
            groups: state(first, 3),
            regions: &regions,
        }
        .run(&self.memory, &options);
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.write_all(&outcome.printed).and_then(|()| output.flush()) {
            tracing::error!("what kernel `{}` printed cannot be written: {error}", launch.name);
        }
        match outcome.report {
            None => Ok(()),
            Some(report) if report.is_timeout() => Err(Error::Timeout {
                kernel: Some(report.kernel.clone()),
                after: watchdog.unwrap_or_else(|| begin.elapsed()),
            }),
            Some(report) if report.is_trap() => Err(Error::Trap {
                site: report.place.map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default(),
                kernel: report.kernel,
                work_item: report.work_item,
                message: report.message,
            }),
            Some(report) => Err(Error::Strict(Box::new(report))),
        }
    }
}

/// Three words of the execution state.
fn state(dispatch: &Dispatch, index: usize) -> [u32; 3] {
    let bytes = dispatch.push_constants.get(index * STATE_SIZE as usize..).unwrap_or_default();
    let (words, _) = bytes.as_chunks::<4>();
    [0, 1, 2].map(|d| words.get(d).map_or(0, |word| u32::from_le_bytes(*word)))
}

fn constant(dispatch: &Dispatch, wanted: SpecId) -> Option<u32> {
    dispatch.specialisation.iter().find(|(id, _)| *id == wanted).map(|(_, value)| *value)
}

fn region(dispatch: &Dispatch) -> Region {
    Region {
        local: LOCAL_SIZE.map(|id| constant(dispatch, id).unwrap_or(1)),
        groups: dispatch.groups,
        first_item: state(dispatch, 4),
        first_group: state(dispatch, 5),
    }
}

/// The arguments, from where `signature.rs` had them put: images are bound in the order of the parameters.
fn arguments(kernel: &kiln_reference::Kernel, launch: &Launch, dispatch: &Dispatch) -> Result<Vec<Argument>> {
    let mut bound = launch.bound.iter();
    let places = kernel.parameters.iter().zip(signature::offsets(kernel)).enumerate();
    places
        .map(|(ordinal, (parameter, offset))| {
            let offset = offset.map_or(0, |offset| offset as usize);
            let bytes = |length: u32| {
                let from = dispatch.push_constants.get(offset..).unwrap_or_default();
                from[..from.len().min(length as usize)].to_vec()
            };
            Ok(match parameter.kind {
                ParameterKind::Local => {
                    let bytes = constant(dispatch, signature::local_bytes(ordinal));
                    Argument::Local(bytes.map_or(0, u64::from))
                }
                ParameterKind::Value { size, .. } => Argument::Bytes(bytes(size)),
                ParameterKind::Pointer { .. } | ParameterKind::Pipe { .. } | ParameterKind::Other => {
                    Argument::Bytes(bytes(8))
                }
                ParameterKind::Sampler => Argument::Bytes([bytes(4), vec![0; 4]].concat()),
                ParameterKind::Image { .. } => match bound.next() {
                    Some(Bound::Image(memory)) => {
                        Argument::Bytes(image::found(memory)?.handle().to_le_bytes().to_vec())
                    }
                    _ => return Err(Error::WrongDevice { object: "an image".to_owned() }),
                },
            })
        })
        .collect()
}
