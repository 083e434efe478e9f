//! The seam between the runtime and what executes kernels.
//!
//! Owns the traits that every back end implements, and the form of a launch in which every rule of OpenCL is already applied:
//! a back end sets constants, binds bytes and dispatches groups. It must never know arguments or index spaces.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::capabilities::DeviceInfo;
use crate::error::{Error, Result};
use crate::event::{Status, Times};
use crate::image::{ImageDesc, ImageFormat, ImageKind, ImageRegion, ImageSupport, Texel};
use crate::interface::{Binding, SpecId};
use crate::module::Module;
use crate::sampler::Sampler;

/// Memory of a device, freed when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Memory {
    /// The address that kernels see; 0 for memory that only transfers reach.
    pub(crate) address: u64,
    pub(crate) handle: Arc<dyn Allocation>,
    /// Whether the host may look at it while commands use it.
    pub(crate) is_shared: bool,
}

/// What a back end made memory of.
pub(crate) trait Allocation: Any + Send + Sync {
    /// Where the host sees the bytes, if it does: for as long as the allocation lives, without flushes of caches.
    fn host(&self) -> Option<NonNull<u8>>;
}

/// Where memory had best lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// With the device.
    Device,
    /// Where both see it.
    Shared,
    /// Where the host writes and the device copies from; it needs no address.
    Upload,
    /// Where the device copies to and the host reads; it needs no address.
    Download,
}

/// An image of a device, freed when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct ImageMemory {
    pub(crate) handle: Arc<dyn Any + Send + Sync>,
}

impl ImageMemory {
    /// Whether it is the same image.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }
}

/// A program in the form of the back end.
pub(crate) type ProgramHandle = Arc<dyn Any + Send + Sync>;

/// A device that executes kernels.
pub(crate) trait Backend: Send + Sync {
    fn info(&self) -> &DeviceInfo;
    /// Groups in one dispatch.
    fn max_groups(&self) -> [u32; 3];
    /// Allocates memory whose contents are undefined and whose address is a multiple of 128. All but `Device` is seen by the host.
    fn allocate(&self, size: u64, placement: Placement) -> Result<Memory>;
    /// Makes memory of the device of memory of the host, at the place where it lies, aligned as the capabilities tell.
    ///
    /// # Safety
    /// The host's memory must have that many bytes and outlive the result; the host must not use it while commands do.
    #[allow(unsafe_code, reason = "the lifetime of the host's memory cannot be known here")]
    unsafe fn import(&self, _host: NonNull<u8>, _size: u64) -> Result<Memory> {
        Err(no_host_memory(self.info()))
    }
    /// What kernels can do with images of a shape and format.
    fn image_support(&self, kind: ImageKind, format: ImageFormat) -> ImageSupport;
    /// The most texels in each dimension, layers last.
    fn image_limit(&self, kind: ImageKind) -> [u32; 3];
    /// An image whose format and size have been checked. `ImageCommand::Prepare` must be its first command.
    fn image(&self, desc: &ImageDesc) -> Result<ImageMemory>;
    /// So many texels of a buffer, from an offset, as an image.
    fn buffer_image(
        &self,
        memory: &Memory,
        offset: u64,
        texels: u32,
        format: ImageFormat,
    ) -> Result<ImageMemory>;
    /// An empty pipe, which never is at the host: its address is what kernels are given.
    fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Memory>;
    fn load(&self, module: &Module, kernels: Vec<KernelLayout>) -> Result<ProgramHandle>;
    fn queue(&self, purpose: Purpose) -> Result<Arc<dyn BackendQueue>>;
    /// What the checking layer said since the last call.
    fn take_messages(&self) -> Vec<String>;
}

/// Why [`Backend::import`] is not possible at all.
pub(crate) fn no_host_memory(info: &DeviceInfo) -> Error {
    let feature = "buffers in memory of the host".to_owned();
    Error::MissingFeature { feature, device: info.name.clone() }
}

/// What a queue is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Commands of the user; they can tell their times if it is profiled.
    Commands { profiled: bool },
    /// What gives memory its first contents: whatever is flushed there comes before all that is flushed later anywhere.
    FirstContents,
}

/// A queue that takes commands whose dependencies the device itself can keep. Dropping it flushes it.
///
/// Its commands are in the order of `push`. A command sees what commands of other queues wrote that were complete for the host
/// when it was flushed.
pub(crate) trait BackendQueue: Send + Sync {
    /// Takes a command, which need not begin before `flush`.
    fn push(&self, command: Command, start: Start<'_>) -> Result<Arc<dyn Completion>>;
    /// Lets every command begin that was taken before.
    fn flush(&self) -> Result<()>;
}

/// When a command may begin.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    /// Only when every command before it in its queue is complete, and seeing what they wrote; otherwise it may run beside those
    /// since the last flush or the last ordered command.
    pub(crate) ordered: bool,
    /// Only when these commands of other queues are complete, which have been flushed, and seeing what they wrote.
    pub(crate) after: &'a [Arc<dyn Completion>],
    /// When the user asked for it.
    pub(crate) queued: Instant,
}

/// The end of a command.
pub(crate) trait Completion: Any + Send + Sync {
    /// Flushes, and waits, at most as long as told.
    fn wait(&self, timeout: Option<Duration>) -> Result<()>;
    /// Somebody has waited too long: the end of the queue must not wait for this command without end.
    fn give_up(&self);
    fn status(&self) -> Result<Status>;
    /// When the command ran, once it is complete.
    fn times(&self) -> Option<Times>;
}

/// What a queue can be told to do. Ranges are in bytes, inside their memory, and never empty.
pub(crate) enum Command {
    /// Nothing, but in its place.
    Nothing,
    Launch(Box<Launch>),
    Copy {
        source: Memory,
        from: u64,
        target: Memory,
        to: u64,
        bytes: u64,
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

/// What is done with an image. Regions are inside their images; in memory, texels stand one behind the other from the beginning.
pub(crate) enum ImageCommand {
    /// The first: afterwards its contents are undefined.
    Prepare {
        image: ImageMemory,
    },
    Upload {
        source: Memory,
        target: ImageMemory,
        region: ImageRegion,
    },
    Download {
        source: ImageMemory,
        region: ImageRegion,
        target: Memory,
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

/// What a back end must prepare for a kernel.
#[derive(Debug, Clone)]
pub(crate) struct KernelLayout {
    pub(crate) name: Arc<str>,
    pub(crate) bindings: Vec<Binding>,
}

/// A launch, ready to be executed.
pub(crate) struct Launch {
    pub(crate) program: ProgramHandle,
    /// The kernel's index in the program.
    pub(crate) kernel: usize,
    /// The kernel's name, for messages.
    pub(crate) name: Arc<str>,
    /// In the order of the kernel's bindings.
    pub(crate) bound: Vec<Bound>,
    /// They may run at the same time.
    pub(crate) dispatches: SmallVec<[Dispatch; 1]>,
    /// Memory that must live until the launch is complete.
    pub(crate) _keep: SmallVec<[Memory; 4]>,
}

/// What is bound at one place.
pub(crate) enum Bound {
    Bytes(Vec<u8>),
    Memory { memory: Memory, offset: u64, size: u64 },
    Image(ImageMemory),
    Sampler(Sampler),
}

/// The values of specialisation constants, in the order of their ids.
pub(crate) type Specialisation = SmallVec<[(SpecId, u32); 8]>;

/// The bytes of push constants: few devices have more.
pub(crate) type PushConstants = SmallVec<[u8; 128]>;

/// Work-groups of one size.
pub(crate) struct Dispatch {
    pub(crate) specialisation: Specialisation,
    pub(crate) push_constants: PushConstants,
    pub(crate) groups: [u32; 3],
    /// The global id of the first work-item, for messages.
    pub(crate) first_item: [u32; 3],
}
