//! Kernels and their arguments, which are checked against the kernel's interface.
//!
//! Owns arguments. Must not depend on index spaces, nor on how a value reaches the device.

use std::fmt;

use bytemuck::NoUninit;

use crate::buffer::Buffer;
use crate::capabilities::Environment;
use crate::device_queue::DeviceQueue;
use crate::error::{Error, Result};
use crate::image::{ChannelOrder, Image};
use crate::interface::{Argument, ArgumentKind, BindingClass, ImageFact, ImageFactKind, KernelInterface};
use crate::launch;
use crate::layout::Layout;
use crate::ndrange::NdRange;
use crate::pipe::Pipe;
use crate::program::Program;
use crate::sampler::Sampler;

/// A kernel of a program, with its arguments. Each clone has its own arguments.
///
/// Setting an argument, by position or by name, checks it against the kernel's interface:
///
/// ```
/// # fn example(device: kiln_runtime::Device, program: kiln_runtime::Program) -> kiln_runtime::Result<()> {
/// use kiln_runtime::{Addressing, Filter, Local, NdRange, Null, Sampler};
/// let data = device.buffer_from(&[0u32; 1024])?;
/// let mut kernel = program.kernel("blur")?;
/// kernel
///     .set(0, &data)?                                   // a pointer
///     .set(1, &data.slice(512..)?)?                     // to a part
///     .set(2, Null)?                                    // to nothing
///     .set_named("factor", 0.5f32)?                     // a value
///     .set_named("origin", [1i32, 2])?                  // an int2
///     .set_named("scratch", Local::array::<f32>(64))?;  // local memory
/// let sampler = Sampler { normalized: true, addressing: Addressing::Repeat, filter: Filter::Linear, ..Sampler::default() };
/// kernel.set_named("sampler", sampler)?;
/// // The local size that a launch with this global size uses by default.
/// let local = kernel.local_size(NdRange::from([640, 480]))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Kernel {
    pub(crate) program: Program,
    pub(crate) index: usize,
    pub(crate) arguments: Vec<Option<ArgValue>>,
    /// Memory that the kernel accesses through pointers stored in memory.
    pub(crate) reached: Vec<ArgValue>,
    /// The result of `get_default_queue`.
    pub(crate) default_queue: Option<DeviceQueue>,
}

/// A value that can be passed as an argument: `&Buffer`, plain values such as `u32` or `[f32; 4]`, [`Local`],
/// [`Null`].
pub trait Arg {
    /// Converts the argument to its general form.
    fn into_value(self) -> ArgValue;
}

/// The general form of an argument.
#[derive(Debug, Clone)]
pub enum ArgValue {
    /// A pointer to this buffer.
    Buffer(Buffer),
    /// The bytes of a plain value, in memory layout (a 3-component vector has the size of a 4-component one).
    Bytes(Vec<u8>),
    /// Local memory of this many bytes.
    Local(usize),
    /// A device address (`clSetKernelArgSVMPointer`); 0 for a null pointer.
    Pointer(u64),
    /// An image.
    Image(Image),
    /// A pipe.
    Pipe(Pipe),
    /// A queue for device-side enqueue.
    Queue(DeviceQueue),
}

/// Local memory for each work-group, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local(pub usize);

/// A null pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Null;

/// A pointer as kernels see it, such as the result of [`Svm::pointer`](crate::Svm::pointer). The contract of
/// [`Queue::launch`](crate::Queue::launch) requires that its memory lives until the launch is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer(pub u64);

impl Local {
    /// Local memory for `len` elements of `T`.
    pub fn array<T>(len: usize) -> Self {
        Self(len.saturating_mul(size_of::<T>()))
    }
}

impl Arg for ArgValue {
    fn into_value(self) -> ArgValue {
        self
    }
}

impl<T> Arg for &Buffer<T> {
    fn into_value(self) -> ArgValue {
        ArgValue::Buffer(self.untyped())
    }
}

impl<T: NoUninit> Arg for T {
    fn into_value(self) -> ArgValue {
        ArgValue::Bytes(bytemuck::bytes_of(&self).to_vec())
    }
}

impl Arg for Local {
    fn into_value(self) -> ArgValue {
        ArgValue::Local(self.0)
    }
}

impl Arg for Pointer {
    fn into_value(self) -> ArgValue {
        ArgValue::Pointer(self.0)
    }
}

impl Arg for Null {
    fn into_value(self) -> ArgValue {
        ArgValue::Pointer(0)
    }
}

/// `CL_KERNEL_ARG_ACCESS_READ_WRITE`
const READ_WRITE_ACCESS: u32 = 0x11a2;

impl Kernel {
    pub(crate) fn new(program: Program, index: usize) -> Self {
        let arguments = vec![None; program.entry_point(index).arguments.len()];
        let default_queue = Some(DeviceQueue::default());
        Self { program, index, arguments, reached: Vec::new(), default_queue }
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.interface().name
    }

    /// The kernel's interface.
    pub fn interface(&self) -> &KernelInterface {
        self.program.entry_point(self.index)
    }

    /// The local size of a launch over this range: the given or required size, or else the one that the runtime
    /// chooses for this device (`clGetKernelSuggestedLocalWorkSizeKHR`). Fails if such a launch is impossible.
    pub fn local_size(&self, range: impl Into<NdRange>) -> Result<[usize; 3]> {
        launch::local_size(self, &range.into()).map(|size| size.map(|size| size as usize))
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.program.inner.layouts[self.index]
    }

    /// Sets the argument at this index.
    pub fn set(&mut self, index: usize, argument: impl Arg) -> Result<&mut Self> {
        let value = argument.into_value();
        let taken = self.interface().arguments.get(index).ok_or_else(|| self.no_such(index.to_string()))?;
        self.check_argument(index, taken, &value)?;
        self.arguments[index] = Some(value);
        Ok(self)
    }

    /// Sets the argument with this name, if the module contains argument names.
    pub fn set_named(&mut self, name: &str, argument: impl Arg) -> Result<&mut Self> {
        let index = self.interface().argument(name).ok_or_else(|| self.no_such(format!("`{name}`")))?;
        self.set(index, argument)
    }

    /// Declares memory that the kernel accesses through pointers stored in memory (`clSetKernelExecInfo`,
    /// `CL_KERNEL_EXEC_INFO_SVM_PTRS`). Launches keep it alive until they are complete, and bounds checks allow
    /// accesses to it.
    pub fn reaches(&mut self, memory: impl Arg) -> &mut Self {
        self.reached.push(memory.into_value());
        self
    }

    /// Sets the queue that `get_default_queue` returns (`clSetDefaultDeviceCommandQueue`); `None` removes it. By
    /// default a kernel has one.
    pub fn set_default_queue(&mut self, queue: Option<DeviceQueue>) -> &mut Self {
        self.default_queue = queue;
        self
    }

    fn no_such(&self, wanted: String) -> Error {
        let names =
            self.interface().arguments.iter().map(|argument| argument.name().unwrap_or_default().to_owned());
        Error::NoSuchArgument { kernel: self.name().to_owned(), wanted, names: names.collect() }
    }

    /// Whether the kernel can write images of this channel order: one that writes sRGB on Vulkan converts the texels, and reads
    /// the order for that. It does not convert what it reads from such an image.
    fn writes(&self, index: usize, order: ChannelOrder) -> bool {
        let is_order =
            |fact: &ImageFact| fact.argument as usize == index && fact.what == ImageFactKind::ChannelOrder;
        let is_opencl = self.program.inner.device.info().environment == Environment::OpenCl;
        let access = self.interface().arguments[index].info.as_ref().and_then(|info| info.access);
        let reads_too = access == Some(READ_WRITE_ACCESS);
        is_opencl || !order.is_srgb() || (!reads_too && self.interface().image_facts.iter().any(is_order))
    }

    fn check_argument(&self, index: usize, taken: &Argument, value: &ArgValue) -> Result<()> {
        let owner = match value {
            ArgValue::Buffer(buffer) => Some(buffer.device()),
            ArgValue::Image(image) => Some(image.device()),
            ArgValue::Pipe(pipe) => Some(pipe.device()),
            _ => None,
        };
        if owner.is_some_and(|owner| !owner.is(&self.program.inner.device)) {
            return Err(Error::WrongDevice {
                object: format!("argument {index} of kernel `{}`", self.name()),
            });
        }
        let fits = match (taken.kind, value) {
            (ArgumentKind::Unused, _)
            | (ArgumentKind::Pointer(_), ArgValue::Buffer(_) | ArgValue::Pointer(_))
            | (ArgumentKind::Buffer(_), ArgValue::Buffer(_)) => true,
            (ArgumentKind::Value { size, .. }, ArgValue::Bytes(bytes)) => bytes.len() == size as usize,
            (ArgumentKind::Pipe(_), ArgValue::Pipe(_))
            | (ArgumentKind::Queue(_), ArgValue::Queue(_) | ArgValue::Pointer(0)) => true,
            (ArgumentKind::Local { .. }, ArgValue::Local(bytes)) => *bytes > 0,
            (ArgumentKind::Sampler(_), ArgValue::Bytes(bytes)) => Sampler::from_bytes(bytes).is_some(),
            (ArgumentKind::Image(binding), ArgValue::Image(image)) => {
                image_fits(taken, binding.class, image)
                    && (!is_written(binding.class) || self.writes(index, image.desc().format.order))
            }
            _ => false,
        };
        if fits {
            return Ok(());
        }
        Err(Error::WrongArgument {
            kernel: self.name().to_owned(),
            index,
            name: taken.name().map(str::to_owned),
            expected: describe_expected(taken),
            found: describe_found(value),
        })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).field("arguments", &self.arguments).finish()
    }
}

/// Whether this image fits the argument: its type must match, if the module contains it, and it must be writable if
/// written.
fn image_fits(taken: &Argument, class: BindingClass, image: &Image) -> bool {
    let type_name = taken.info.as_ref().map_or("", |info| info.type_name.as_str());
    let support = image.device().image_support(image.desc().kind, image.desc().format);
    (type_name.is_empty() || type_name == image.type_name())
        && if is_written(class) { support.write } else { support.read }
}

fn is_written(class: BindingClass) -> bool {
    matches!(class, BindingClass::StorageImage | BindingClass::StorageTexels)
}

fn describe_expected(taken: &Argument) -> String {
    let what = match taken.kind {
        ArgumentKind::Unused => "anything".to_owned(),
        ArgumentKind::Pointer(_) | ArgumentKind::Buffer(_) => "a buffer".to_owned(),
        ArgumentKind::Value { size, .. } => format!("a value of {size} bytes"),
        ArgumentKind::Local { .. } => "a size of local memory above 0".to_owned(),
        ArgumentKind::Image(binding) if is_written(binding.class) => {
            "an image that can be written".to_owned()
        }
        ArgumentKind::Image(_) => "an image".to_owned(),
        ArgumentKind::Sampler(_) => "a sampler, which repeats only with normalized coordinates".to_owned(),
        ArgumentKind::Pipe(_) => "a pipe".to_owned(),
        ArgumentKind::Queue(_) => "a queue of the device".to_owned(),
        ArgumentKind::Unsupported(what) => what.to_owned(),
    };
    match taken.info.as_ref().map(|info| info.type_name.as_str()) {
        None | Some("") => what,
        Some(type_name) => format!("{what} ({type_name})"),
    }
}

fn describe_found(value: &ArgValue) -> String {
    match value {
        ArgValue::Buffer(_) => "a buffer".to_owned(),
        ArgValue::Bytes(bytes) => format!("a value of {} bytes", bytes.len()),
        ArgValue::Local(bytes) => format!("{bytes} bytes of local memory"),
        ArgValue::Pointer(0) => "a null pointer".to_owned(),
        ArgValue::Pointer(_) => "a pointer".to_owned(),
        ArgValue::Queue(_) => "a queue of the device".to_owned(),
        ArgValue::Pipe(pipe) => format!("a pipe for packets of {} bytes", pipe.packet_size()),
        ArgValue::Image(image) => format!("{} of format {}", image.type_name(), image.desc().format),
    }
}
