//! Finding devices, choosing one, opening it.
//!
//! Owns the choice and its options. It must never know how a back end talks to its devices.

use std::fmt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytemuck::Pod;

use crate::backend::{Backend, Command, ImageCommand, ImageMemory, Placement, Purpose};
use crate::buffer::Buffer;
use crate::cache::{self, Cache};
use crate::capabilities::{Capabilities, DeviceInfo, Environment, Features};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::printf::Prints;
use crate::queue::{Queue, QueueOptions};
use crate::schedule::{Lane, Order, Place};
use crate::svm::Svm;
use crate::{reference, staging, vulkan};

/// How the runtime behaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the use of the driver is checked.
    pub validation: Validation,
    /// How long any wait may take before it is an error that names the kernel. `None` waits for ever.
    pub watchdog: Option<Duration>,
    /// Whether the reference device looks only for what it cannot carry out.
    pub unchecked: bool,
    /// Chooses among the orders in which the reference device may let work-items and enqueued kernels run.
    pub seed: u64,
    /// The folder where what the driver makes of kernels is kept from process to process. `None` keeps nothing.
    pub cache: Option<PathBuf>,
}

/// Whether `VK_LAYER_KHRONOS_validation` checks the use of the driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Validation {
    /// No checks.
    #[default]
    Off,
    /// The layer's usual checks.
    On,
    /// Also hazards between commands.
    Synchronisation,
}

/// The choice of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selector {
    /// What `KILN_DEVICE` says, otherwise the most capable sort of device.
    #[default]
    Default,
    /// The device at this position of [`Instance::devices`].
    Index(usize),
    /// The first usable device whose name contains this, in upper or lower case.
    Name(String),
}

/// The devices of this machine.
///
/// ```
/// # fn main() -> kiln_runtime::Result<()> {
/// use kiln_runtime::{Instance, Options, Scope, Selector};
/// let instance = Instance::new(Options::from_env())?;
/// for info in instance.devices() {
///     let atomics = info.capabilities.atomic_scopes.contains(&Scope::Device);
///     println!("{}: {}, atomics between work-groups: {atomics}", info.index, info.name);
/// }
/// // A device in the process itself, for tests without a driver.
/// let device = instance.device(&Selector::from("reference"))?;
/// let buffer = device.buffer_from(&[1u8, 2, 3])?;
/// assert_eq!(device.queue()?.read(&buffer)?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct Instance {
    /// Or why there is none.
    vulkan: Result<vulkan::Instance>,
    options: Options,
    devices: Vec<DeviceInfo>,
}

/// An open device. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Arc<dyn Backend>,
    /// Initialises buffers.
    transfers: Arc<Lane>,
    options: Options,
    prints: Prints,
    /// Whether a warning about missing workarounds was given.
    warned_of_faults: AtomicBool,
}

impl Options {
    /// What the environment asks for: `KILN_VALIDATION` (`1`, or `sync` for [`Validation::Synchronisation`]), `KILN_WATCHDOG`
    /// (seconds), `KILN_CHECKS` (`0` for [`Options::unchecked`]), `KILN_SEED` (a number), and `KILN_CACHE` (a folder, or `off`;
    /// otherwise `kiln` in the user's folder for caches).
    pub fn from_env() -> Self {
        let value = |name| std::env::var(name).unwrap_or_default();
        Self {
            validation: match value("KILN_VALIDATION").as_str() {
                "" | "0" => Validation::Off,
                "sync" => Validation::Synchronisation,
                _ => Validation::On,
            },
            unchecked: value("KILN_CHECKS") == "0",
            seed: value("KILN_SEED").parse().unwrap_or(0),
            watchdog: value("KILN_WATCHDOG")
                .parse()
                .ok()
                .filter(|seconds: &f64| *seconds > 0.0)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            cache: cache::usual_folder(),
        }
    }
}

impl From<&str> for Selector {
    /// A number is an index, anything else a part of a name, nothing the default.
    fn from(text: &str) -> Self {
        match (text.trim(), text.trim().parse()) {
            ("", _) => Self::Default,
            (_, Ok(index)) => Self::Index(index),
            (name, Err(_)) => Self::Name(name.to_owned()),
        }
    }
}

impl Instance {
    /// Finds the devices of this machine.
    pub fn new(options: Options) -> Result<Self> {
        let vulkan = vulkan::Instance::new(options.validation);
        let mut devices = vulkan.as_ref().map_or(Ok(Vec::new()), vulkan::Instance::devices)?;
        for environment in [Environment::OpenCl, Environment::Vulkan] {
            devices.push(reference::describe(devices.len(), environment));
        }
        Ok(Self { vulkan, options, devices })
    }

    /// All devices, usable or not ([`DeviceInfo::lacks`]).
    pub fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    /// Why there are no devices of Vulkan, if there are none.
    pub fn without_vulkan(&self) -> Option<&Error> {
        self.vulkan.as_ref().err()
    }

    /// What the validation layer has said since the last call, of devices that are gone too: of what they left behind.
    pub fn validation_messages(&self) -> Vec<String> {
        self.vulkan.as_ref().map(vulkan::Instance::take_messages).unwrap_or_default()
    }

    /// Opens a device.
    pub fn device(&self, selector: &Selector) -> Result<Device> {
        let info = self.choose(selector)?;
        let options = self.options.clone();
        let prints = Prints::new(options.watchdog);
        let backend = match &self.vulkan {
            _ if info.is_strict => reference::open(info, options.clone(), prints.output()),
            Ok(vulkan) => vulkan.open(info, options.cache.as_deref().map(Cache::new))?,
            Err(error) => return Err(error.clone()),
        };
        let transfers = Lane::new(backend.queue(Purpose::FirstContents)?, Order::InOrder);
        Ok(Device {
            inner: Arc::new(Inner {
                backend,
                transfers,
                options,
                prints,
                warned_of_faults: AtomicBool::new(false),
            }),
        })
    }

    fn choose(&self, selector: &Selector) -> Result<&DeviceInfo> {
        let variable = std::env::var("KILN_DEVICE").unwrap_or_default();
        let selector = match selector {
            Selector::Default => &Selector::from(variable.as_str()),
            chosen => chosen,
        };
        let (wanted, candidates): (String, Vec<&DeviceInfo>) = match selector {
            Selector::Default => {
                // Without any driver there is the reference device; other failures are told.
                match &self.vulkan {
                    Ok(_) | Err(Error::NoLoader { .. } | Error::NoDriver) => {}
                    Err(error) => return Err(error.clone()),
                }
                let best = self
                    .devices
                    .iter()
                    .rev()
                    .filter(|info| info.lacks.is_empty())
                    .max_by_key(|info| info.kind);
                return best.ok_or_else(|| Error::NoSuitableDevice {
                    reasons: self
                        .devices
                        .iter()
                        .map(|info| format!("{} lacks {}", info.name, info.lacks.join(" and ")))
                        .collect(),
                });
            }
            Selector::Index(index) => (index.to_string(), self.devices.get(*index).into_iter().collect()),
            Selector::Name(name) => {
                let part = name.to_lowercase();
                let matches = |info: &&DeviceInfo| info.name.to_lowercase().contains(&part);
                (name.clone(), self.devices.iter().filter(matches).collect())
            }
        };
        match candidates.iter().find(|info| info.lacks.is_empty()).or(candidates.first()) {
            Some(info) if info.lacks.is_empty() => Ok(info),
            Some(info) => {
                Err(Error::UnsuitableDevice { device: info.name.clone(), lacks: info.lacks.clone() })
            }
            None if let Err(error) = &self.vulkan => Err(error.clone()),
            None => Err(Error::NoSuchDevice {
                wanted,
                found: self.devices.iter().map(|info| format!("{}: {}", info.index, info.name)).collect(),
            }),
        }
    }
}

impl Device {
    /// Opens the default device, with options from the environment.
    pub fn open() -> Result<Self> {
        Instance::new(Options::from_env())?.device(&Selector::Default)
    }

    /// Everything known of the device.
    pub fn info(&self) -> &DeviceInfo {
        self.inner.backend.info()
    }

    /// `CL_DEVICE_NAME`
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// What it offers, in OpenCL's words.
    pub fn capabilities(&self) -> &Capabilities {
        &self.info().capabilities
    }

    /// What a compiler must know of it.
    pub fn features(&self) -> &Features {
        &self.info().features
    }

    /// A new in-order queue.
    pub fn queue(&self) -> Result<Queue> {
        self.queue_with(QueueOptions::default())
    }

    /// A new queue whose commands are ordered by wait lists only.
    pub fn unordered_queue(&self) -> Result<Queue> {
        self.queue_with(QueueOptions { order: Order::OutOfOrder, ..QueueOptions::default() })
    }

    /// A new queue of this sort.
    pub fn queue_with(&self, options: QueueOptions) -> Result<Queue> {
        Queue::new(self.clone(), options)
    }

    /// A buffer of `len` elements whose contents are undefined.
    pub fn buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(self, len, Placement::Device)
    }

    /// A buffer with these contents.
    pub fn buffer_from<T: Pod>(&self, contents: &[T]) -> Result<Buffer<T>> {
        let buffer = Buffer::allocate(self, contents.len(), Placement::Device)?;
        self.initialise(&buffer, contents)?;
        Ok(buffer)
    }

    /// A buffer in memory of the host, which the device uses where it lies (`CL_MEM_USE_HOST_PTR`): what the host wrote before a
    /// launch is seen by it, and what a launch wrote is seen once its event is complete. Address and size must be multiples of
    /// [`Capabilities::host_memory_alignment`].
    ///
    /// # Safety
    /// The memory must be valid for reads and writes, and stay so until the buffer, its clones and parts, and the commands on them
    /// are gone. The host must not write it while commands use it, nor read it while they write it.
    #[allow(unsafe_code, reason = "the lifetime of the memory lies with the caller")]
    pub unsafe fn buffer_over<T: Pod>(&self, memory: NonNull<[T]>) -> Result<Buffer<T>> {
        // Where there is none, the back end refuses.
        let alignment = self.capabilities().host_memory_alignment.unwrap_or(1);
        let (first, len) = (memory.cast::<u8>(), memory.len());
        let (address, bytes) = (first.as_ptr().expose_provenance() as u64, (len * size_of::<T>()) as u64);
        if !address.is_multiple_of(alignment) || !bytes.is_multiple_of(alignment) {
            return Err(Error::HostMemory { address, bytes, alignment });
        }
        Buffer::new(self, len, |bytes| {
            // SAFETY: what is asked of it is asked of our caller.
            unsafe { self.backend().import(first, bytes) }
        })
    }

    /// Shared virtual memory of `len` elements, all zero (`clSVMAlloc`).
    pub fn svm<T: Pod>(&self, len: usize) -> Result<Svm<T>> {
        Svm::allocate(self, len)
    }

    /// What the validation layer has said since the last call; nothing where it is off. Silence is what tests demand.
    pub fn validation_messages(&self) -> Vec<String> {
        self.inner.backend.take_messages()
    }

    /// Sends what kernels print (`printf`) here instead of to standard output.
    ///
    /// ```
    /// # fn example(device: kiln_runtime::Device) -> std::io::Result<()> {
    /// device.print_to(std::fs::File::create("printed.txt")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn print_to(&self, output: impl std::io::Write + Send + 'static) {
        self.inner.prints.redirect(output);
    }

    pub(crate) fn prints(&self) -> &Prints {
        &self.inner.prints
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.inner.backend
    }

    /// Whether this is the first call: a device warns once of missing workarounds.
    pub(crate) fn is_first_fault(&self) -> bool {
        !self.inner.warned_of_faults.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.inner.options.watchdog
    }

    /// Writes a new buffer, and lets every queue see it.
    pub(crate) fn initialise<T: Pod>(&self, buffer: &Buffer<T>, contents: &[T]) -> Result<()> {
        let transfers = &self.inner.transfers;
        let enqueue = |command| {
            let node = transfers.enqueue(command, &Arc::default(), Place::USUAL)?;
            Ok(Event { node, device: None, verdict: None })
        };
        let target = (&buffer.memory, buffer.offset);
        let contents = bytemuck::cast_slice(contents);
        staging::send(self.backend(), target, contents, enqueue, || transfers.flush())?;
        transfers.flush()
    }

    /// Prepares a new image, before any command on it.
    pub(crate) fn initialise_image(&self, image: &ImageMemory) -> Result<()> {
        let transfers = &self.inner.transfers;
        let command = Command::Image(ImageCommand::Prepare { image: image.clone() });
        transfers.enqueue(command, &Arc::default(), Place::USUAL)?;
        transfers.flush()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("devices", &self.devices).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read() {
        assert_eq!(Selector::from(""), Selector::Default);
        assert_eq!(Selector::from(" 2 "), Selector::Index(2));
        assert_eq!(Selector::from("H100"), Selector::Name("H100".to_owned()));
    }
}
