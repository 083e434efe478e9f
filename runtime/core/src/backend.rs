//! The interface between the runtime and the back ends that execute kernels.
//!
//! Owns the traits that every back end implements, and the lowered form of a launch. The runtime has already applied
//! the rules of OpenCL: a back end sets constants, binds memory and dispatches groups. Must not depend on arguments
//! or index spaces.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::capabilities::DeviceInfo;
use crate::error::{Error, Result};
use crate::event::{Status, Times};
use crate::image::{ImageDesc, ImageFormat, ImageKind, ImageRegion, ImageSupport, Texel};
use crate::interface::{ArgumentLocation, Binding, SpecId};
use crate::module::Module;
use crate::rect::{Grid, Size};
use crate::sampler::Sampler;

/// Device memory, freed when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Memory {
    /// The address that kernels see; 0 for memory that only transfers access.
    pub(crate) address: u64,
    pub(crate) handle: Arc<dyn Allocation>,
    /// Whether the host may access it while commands use it.
    pub(crate) is_shared: bool,
}

impl Memory {
    /// Whether both are the same allocation.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }
}

/// A back end's allocation.
pub(crate) trait Allocation: Any + Send + Sync {
    /// The host address, if the memory is host-visible: valid for the lifetime of the allocation, and coherent.
    fn host(&self) -> Option<NonNull<u8>>;
}

/// The preferred location of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Device-local.
    Device,
    /// Visible to both host and device.
    Shared,
    /// Written by the host and copied from by the device; needs no address.
    Upload,
    /// Copied to by the device and read by the host; needs no address.
    Download,
    /// Copied from and to by the device, and used by the host between many commands; needs no address.
    Pinned,
}

/// A device image, freed when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct ImageMemory {
    pub(crate) handle: Arc<dyn Any + Send + Sync>,
    /// The level that transfers and writes of kernels access.
    pub(crate) level: u32,
}

impl ImageMemory {
    /// A level of the same image.
    pub(crate) fn at_level(&self, level: u32) -> Self {
        Self { level, ..self.clone() }
    }

    /// Whether both are the same level of the same image.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle) && self.level == other.level
    }
}

/// A program, as the back end represents it.
pub(crate) type ProgramHandle = Arc<dyn Any + Send + Sync>;

/// An open device that executes kernels.
pub(crate) trait Backend: Send + Sync {
    fn info(&self) -> &DeviceInfo;
    /// The time at which the device was opened: time zero for all timestamps.
    fn open_time(&self) -> Instant;
    /// Whether a command failed because the device was lost.
    fn is_lost(&self) -> bool {
        false
    }
    /// The maximum number of work-groups in one dispatch.
    fn max_groups(&self) -> [u32; 3];
    /// Allocates memory with undefined contents, at a multiple of 128 bytes. Every placement but `Device` is
    /// host-visible.
    fn allocate(&self, size: u64, placement: Placement) -> Result<Memory>;
    /// Imports host memory without copying it. The memory has the alignment that the capabilities require.
    ///
    /// # Safety
    /// The host memory must have this many bytes and outlive the result. The host must not access it while commands
    /// use it.
    #[allow(unsafe_code, reason = "the lifetime of the host's memory cannot be known here")]
    unsafe fn import(&self, _host: NonNull<u8>, _size: u64) -> Result<Memory> {
        Err(no_host_memory(self.info()))
    }
    /// How kernels can access images of a shape and format.
    fn image_support(&self, kind: ImageKind, format: ImageFormat) -> ImageSupport;
    /// The maximum image size in each dimension, layers last.
    fn image_limit(&self, kind: ImageKind) -> [u32; 3];
    /// Creates an image whose format and size have been checked. `ImageCommand::Prepare` must be its first command.
    fn image(&self, desc: &ImageDesc) -> Result<ImageMemory>;
    /// Creates an image that views the texels of a buffer from an offset: of kind `Buffer`, or of kind `D2` with a row
    /// pitch of `row` texels. `ImageCommand::Prepare` must be the first command on one of kind `D2`.
    fn buffer_image(&self, memory: &Memory, offset: u64, desc: &ImageDesc, row: u32) -> Result<ImageMemory>;
    /// Creates an image that views the texels of another with this description, which has another format.
    fn image_of_image(&self, image: &ImageMemory, desc: &ImageDesc) -> Result<ImageMemory>;
    /// Creates an empty pipe that kernels access by a handle. `None` if kernels access pipes in memory, by address.
    fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Option<Memory>>;
    fn load(&self, module: &Module, kernels: Vec<KernelLayout>) -> Result<ProgramHandle>;
    fn queue(&self, purpose: Purpose) -> Result<Arc<dyn BackendQueue>>;
    /// Takes the messages of the validation layer since the last call.
    fn take_messages(&self) -> Vec<String>;
}

/// The error for a device without [`Backend::import`].
pub(crate) fn no_host_memory(info: &DeviceInfo) -> Error {
    let feature = "buffers in memory of the host".to_owned();
    Error::MissingFeature { feature, device: info.name.clone() }
}

/// The purpose of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// User commands, with timestamps if profiled.
    Commands { profiled: bool },
    /// Initialization of memory: all commands flushed here precede all commands flushed later on any queue.
    FirstContents,
}

/// A queue of commands whose dependencies the device itself can enforce. Dropping it flushes it.
///
/// Commands are in the order of `push`. A command sees the writes of other queues' commands that the host had seen
/// complete when it was flushed.
pub(crate) trait BackendQueue: Send + Sync {
    /// Enqueues a command, which may be deferred until `flush`.
    fn push(&self, command: Command, start: Start<'_>) -> Result<Arc<dyn Completion>>;
    /// Submits all commands enqueued so far.
    fn flush(&self) -> Result<()>;
}

/// The constraints on when a command may start.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    /// If set, the command starts after every earlier command of its queue, and sees their writes. Otherwise it may
    /// run concurrently with commands since the last flush or ordered command.
    pub(crate) ordered: bool,
    /// Commands of other queues that must complete first, and whose writes are visible. They have been flushed.
    pub(crate) after: &'a [Arc<dyn Completion>],
    /// When the command was enqueued.
    pub(crate) queued: Instant,
}

/// The completion of a command.
pub(crate) trait Completion: Any + Send + Sync {
    /// Flushes and waits, with an optional timeout.
    fn wait(&self, timeout: Option<Duration>) -> Result<()>;
    /// Records that a wait has timed out, so that dropping the queue does not wait indefinitely for this command.
    fn give_up(&self);
    fn status(&self) -> Result<Status>;
    /// When the command ran; `None` until it is complete.
    fn times(&self) -> Option<Times>;
}

/// A command for a queue. Ranges are in bytes, within their memory, and never empty.
pub(crate) enum Command {
    /// Does nothing, but takes part in ordering.
    Nothing,
    Launch(Box<Launch>),
    Copy {
        source: Memory,
        from: u64,
        target: Memory,
        to: u64,
        bytes: u64,
    },
    /// Copies a box of this size, in bytes, rows and slices. The boxes do not overlap.
    CopyRect {
        source: Memory,
        from: Grid,
        target: Memory,
        to: Grid,
        size: Size,
    },
    Image(ImageCommand),
    /// `at` and `bytes` are multiples of four.
    Fill {
        target: Memory,
        at: u64,
        bytes: u64,
        word: u32,
    },
}

/// A command on an image. Regions are within their images. In memory, texels are tightly packed from the offset `at`,
/// which is a multiple of their size.
pub(crate) enum ImageCommand {
    /// Must be the first command on an image. Leaves its contents undefined.
    Prepare {
        image: ImageMemory,
    },
    Upload {
        source: Memory,
        at: u64,
        target: ImageMemory,
        region: ImageRegion,
    },
    Download {
        source: ImageMemory,
        region: ImageRegion,
        target: Memory,
        at: u64,
    },
    Copy {
        source: ImageMemory,
        region: ImageRegion,
        target: ImageMemory,
        to: [u32; 3],
    },
    Fill {
        target: ImageMemory,
        texel: Texel,
    },
}

/// The descriptors and push constants that a back end prepares for a kernel.
#[derive(Debug, Clone)]
pub(crate) struct KernelLayout {
    pub(crate) name: Arc<str>,
    pub(crate) bindings: Vec<Binding>,
    /// The name and the location of each argument that is the address of a buffer. Messages contain the name.
    pub(crate) pointers: Vec<(String, ArgumentLocation)>,
}

/// A launch, ready to execute.
pub(crate) struct Launch {
    pub(crate) program: ProgramHandle,
    /// The kernel's index in the program.
    pub(crate) kernel: usize,
    /// The kernel's name, for messages.
    pub(crate) name: Arc<str>,
    /// The bound resources, in the order of the kernel's bindings.
    pub(crate) bound: Vec<Bound>,
    /// The dispatches, which may run concurrently.
    pub(crate) dispatches: SmallVec<[Dispatch; 1]>,
    /// Memory that must live until the launch is complete.
    pub(crate) _keep: SmallVec<[Memory; 4]>,
}

/// A resource bound to one descriptor.
pub(crate) enum Bound {
    Bytes(Vec<u8>),
    Memory { memory: Memory, offset: u64, size: u64 },
    Image(ImageMemory),
    Sampler(Sampler),
}

/// The values of specialization constants, in id order.
pub(crate) type Specialization = SmallVec<[(SpecId, u32); 8]>;

/// The bytes of push constants, which few devices extend beyond 128.
pub(crate) type PushConstants = SmallVec<[u8; 128]>;

/// Work-groups of one size.
pub(crate) struct Dispatch {
    pub(crate) specialization: Specialization,
    pub(crate) push_constants: PushConstants,
    pub(crate) groups: [u32; 3],
    /// The global id of the first work-item, for messages.
    pub(crate) first_item: [u32; 3],
}
