//! The reference back end: executes modules of the OpenCL environment in this process.
//!
//! Owns the translation between launches and `kiln-reference`. Commands run when they are given, on the thread that gives them.
//! It must never know arguments or index spaces.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use kiln_reference::{Argument, Checks, Region};

use crate::backend::{
    Allocation, Backend, BackendQueue, Command, Completion, Dispatch, ImageMemory, KernelLayout, Launch,
    Memory, Placement, ProgramHandle, Purpose, Start,
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
struct Block(kiln_reference::Buffer);

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
            images: None,
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
            images: false,
            read_write_images: false,
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
        Ok(Memory { address: buffer.address(), handle: Arc::new(Block(buffer)), is_shared })
    }

    fn image_support(&self, _kind: ImageKind, _format: ImageFormat) -> ImageSupport {
        ImageSupport::default()
    }

    fn image_limit(&self, _kind: ImageKind) -> [u32; 3] {
        [0; 3]
    }

    fn image(&self, desc: &ImageDesc) -> Result<ImageMemory> {
        Err(no_images(desc.format))
    }

    fn buffer_image(
        &self,
        _memory: &Memory,
        _offset: u64,
        _texels: u32,
        format: ImageFormat,
    ) -> Result<ImageMemory> {
        Err(no_images(format))
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
        self.0.host()
    }
}

impl BackendQueue for Queue {
    fn push(&self, command: Command, start: Start<'_>) -> Result<Arc<dyn Completion>> {
        let begin = Instant::now();
        let result = match command {
            Command::Nothing => Ok(()),
            Command::Launch(launch) => self.launch(&launch, begin),
            Command::Copy { source, from, target, to, bytes } => {
                block(&source)?.0.copy_to(from, &block(&target)?.0, to, bytes);
                Ok(())
            }
            Command::Image(_) => Err(Error::WrongDevice { object: "an image".to_owned() }),
            Command::Fill { target, at, bytes, word } => {
                let pattern = word.to_le_bytes().repeat((bytes / 4) as usize);
                block(&target)?.0.write(at, &pattern);
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

fn no_images(format: ImageFormat) -> Error {
    Error::ImageFormat { what: format!("image of format {format}"), device: NAME.to_owned() }
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
        let arguments = arguments(&program.decoded.kernels()[kernel], first);
        let checks = if self.options.unchecked { Checks::Off } else { Checks::On };
        let watchdog = self.options.watchdog;
        let options = kiln_reference::Options {
            checks,
            deadline: watchdog.map(|time| begin + time),
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

/// The arguments, from where `signature.rs` had them put.
fn arguments(kernel: &kiln_reference::Kernel, dispatch: &Dispatch) -> Vec<Argument> {
    let offsets = signature::offsets(kernel);
    let ends = offsets.iter().skip(1).map(|next| next.map_or(usize::MAX, |next| next as usize));
    let ends: Vec<usize> = ends.chain([usize::MAX]).collect();
    offsets
        .iter()
        .zip(ends)
        .enumerate()
        .map(|(ordinal, (offset, end))| match offset {
            Some(offset) => {
                let bytes = dispatch.push_constants.get(*offset as usize..).unwrap_or_default();
                let length = end.saturating_sub(*offset as usize).min(bytes.len());
                Argument::Bytes(bytes[..length].to_vec())
            }
            None => Argument::Local(constant(dispatch, signature::local_bytes(ordinal)).map_or(0, u64::from)),
        })
        .collect()
}
