//! Device discovery, selection and opening.
//!
//! Owns selection and its options. Must not depend on how a back end talks to its devices.

use std::fmt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytemuck::Pod;
use kiln_reference::{Monitor, Results};

use crate::backend::{Backend, Command, ImageCommand, ImageMemory, Memory, Placement, Purpose};
use crate::buffer::Buffer;
use crate::cache::{self, Cache};
use crate::capabilities::{Capabilities, DeviceInfo, Environment, Features};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::printf::Prints;
use crate::queue::{Queue, QueueOptions};
use crate::schedule::{Lane, Order, QueueOrder};
use crate::shared_memory::SharedMemory;
use crate::staging::Arrival;
use crate::svm::Svm;
use crate::{reference, staging, svm, vulkan};

/// The options of the runtime and of its devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Which checks the Vulkan validation layer performs.
    pub validation: Validation,
    /// Timeout for any wait. When it expires, the wait fails with an error that names the kernel. `None` waits
    /// forever.
    pub watchdog: Option<Duration>,
    /// Disables the reference device's checks for undefined behavior.
    pub unchecked: bool,
    /// Seed of the order in which the reference device schedules work-items and enqueued kernels.
    pub seed: u64,
    /// Which results the reference device for Vulkan returns where Vulkan allows several.
    pub results: Results,
    /// Directory that caches compiled pipelines between processes. `None` disables the cache.
    pub cache: Option<PathBuf>,
}

/// Whether `VK_LAYER_KHRONOS_validation` checks calls to the driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Validation {
    /// No checks.
    #[default]
    Off,
    /// The layer's default checks.
    On,
    /// The default checks and synchronization hazards between commands.
    Synchronization,
}

/// A choice of device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selector {
    /// The device that `KILN_DEVICE` names, or else the most capable kind of device.
    #[default]
    Default,
    /// The device at this index of [`Instance::devices`].
    Index(usize),
    /// The first usable device whose name contains this string, ignoring case.
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
/// // The built-in reference device, for tests without a driver.
/// let device = instance.device(&Selector::from("reference"))?;
/// let buffer = device.buffer_from(&[1u8, 2, 3])?;
/// assert_eq!(device.queue()?.read(&buffer)?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct Instance {
    /// The Vulkan instance, or why there is none. `None` if it is not needed.
    vulkan: Option<Result<vulkan::Instance>>,
    options: Options,
    devices: Vec<DeviceInfo>,
}

/// An open device. Clones refer to the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Arc<dyn Backend>,
    /// The lane that initializes buffers.
    transfers: Arc<Lane>,
    options: Options,
    prints: Prints,
    /// Whether the warning about missing workarounds was already printed.
    warned_of_bugs: AtomicBool,
    /// The host memory that commands can access.
    shared_memory: SharedMemory,
}

/// Two timers at the same moment, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timers {
    /// The device's timer: the time since it was opened.
    pub device: u64,
    /// The host's timer, which all devices of a process share.
    pub host: u64,
}

impl Timers {
    /// The host's timer now (`clGetHostTimer`).
    pub fn host() -> u64 {
        host_time(Instant::now())
    }
}

/// The time on the host's timer, which starts shortly before its first use.
fn host_time(moment: Instant) -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // A monotonic clock with a nonzero first value.
    let start = *START.get_or_init(|| moment.checked_sub(Duration::from_secs(1)).unwrap_or(moment));
    moment.saturating_duration_since(start).as_nanos() as u64
}

impl Options {
    /// Reads options from the environment: `KILN_VALIDATION` (`1`, or `sync` for [`Validation::Synchronization`]),
    /// `KILN_WATCHDOG` (seconds), `KILN_CHECKS` (`0` sets [`Options::unchecked`]), `KILN_SEED` (a number), `KILN_RESULTS`
    /// (`lowest` or `highest`), and `KILN_CACHE` (a directory, or `off`; the default is `kiln` in the user's cache
    /// directory).
    pub fn from_env() -> Self {
        let value = |name| std::env::var(name).unwrap_or_default();
        Self {
            validation: match value("KILN_VALIDATION").as_str() {
                "" | "0" => Validation::Off,
                "sync" => Validation::Synchronization,
                _ => Validation::On,
            },
            unchecked: value("KILN_CHECKS") == "0",
            seed: value("KILN_SEED").parse().unwrap_or(0),
            results: match value("KILN_RESULTS").as_str() {
                "lowest" => Results::Lowest,
                "highest" => Results::Highest,
                _ => Results::Nearest,
            },
            watchdog: value("KILN_WATCHDOG")
                .parse()
                .ok()
                .filter(|seconds: &f64| *seconds > 0.0)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            cache: cache::usual_folder(),
        }
    }
}

impl Selector {
    /// The choice, with the default replaced by what `KILN_DEVICE` names.
    fn resolved(&self) -> Self {
        match self {
            Self::Default => Self::from(std::env::var("KILN_DEVICE").unwrap_or_default().as_str()),
            chosen => chosen.clone(),
        }
    }
}

impl From<&str> for Selector {
    /// Parses a number as an index, any other text as part of a name, and empty text as the default.
    fn from(text: &str) -> Self {
        match (text.trim(), text.trim().parse()) {
            ("", _) => Self::Default,
            (_, Ok(index)) => Self::Index(index),
            (name, Err(_)) => Self::Name(name.to_owned()),
        }
    }
}

impl Instance {
    /// Enumerates the devices of this machine.
    pub fn new(options: Options) -> Result<Self> {
        let vulkan = vulkan::Instance::new(options.validation);
        let devices = vulkan.as_ref().map_or(Ok(Vec::new()), vulkan::Instance::devices)?;
        Ok(Self::with_reference_devices(Some(vulkan), options, devices))
    }

    /// Enumerates the devices for a program that opens only this one. Loading Vulkan drivers takes most of the time, so
    /// this loads none for a reference device.
    pub fn for_device(options: Options, selector: &Selector) -> Result<Self> {
        match selector.resolved() {
            Selector::Name(part) if reference::is_part_of_name(&part) => {
                Ok(Self::with_reference_devices(None, options, Vec::new()))
            }
            _ => Self::new(options),
        }
    }

    fn with_reference_devices(
        vulkan: Option<Result<vulkan::Instance>>,
        options: Options,
        mut devices: Vec<DeviceInfo>,
    ) -> Self {
        for environment in [Environment::OpenCl, Environment::Vulkan] {
            devices.push(reference::describe(devices.len(), environment));
        }
        Self { vulkan, options, devices }
    }

    /// All devices, including unusable ones ([`DeviceInfo::lacks`]).
    pub fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    /// Why Vulkan is unavailable; `None` if it is available or [was not needed](Self::for_device).
    pub fn without_vulkan(&self) -> Option<&Error> {
        self.vulkan.as_ref()?.as_ref().err()
    }

    /// Takes the messages that the validation layer has reported since the last call, including those about devices
    /// already closed.
    pub fn validation_messages(&self) -> Vec<String> {
        let vulkan = self.vulkan.as_ref().and_then(|vulkan| vulkan.as_ref().ok());
        vulkan.map(vulkan::Instance::take_messages).unwrap_or_default()
    }

    /// Opens a device.
    pub fn device(&self, selector: &Selector) -> Result<Device> {
        let info = self.choose(selector)?;
        let options = self.options.clone();
        let prints = Prints::new(options.watchdog);
        let backend = match &self.vulkan {
            Some(vulkan) if !info.is_strict => {
                vulkan.as_ref().map_err(Error::clone)?.open(info, options.cache.as_deref().map(Cache::new))?
            }
            _ => reference::open(info, options.clone(), prints.output(), None),
        };
        Device::new(backend, options, prints)
    }

    /// Opens the reference device of the OpenCL environment for a debugger, which can stop its launches. Waits have no
    /// timeout.
    pub fn debugged(&self, monitor: Arc<dyn Monitor>) -> Result<Device> {
        let is_debuggable = |info: &&DeviceInfo| info.is_strict && info.environment == Environment::OpenCl;
        let info = self.devices.iter().find(is_debuggable).ok_or_else(|| Error::NoSuitableDevice {
            reasons: vec!["there is no reference device".to_owned()],
        })?;
        let options = Options { watchdog: None, ..self.options.clone() };
        let prints = Prints::new(None);
        let backend = reference::open(info, options.clone(), prints.output(), Some(monitor));
        Device::new(backend, options, prints)
    }

    fn choose(&self, selector: &Selector) -> Result<&DeviceInfo> {
        let (wanted, candidates): (String, Vec<&DeviceInfo>) = match selector.resolved() {
            Selector::Default => {
                // Without any driver, the reference device remains. Other failures are returned.
                match self.without_vulkan() {
                    None | Some(Error::NoLoader { .. } | Error::NoDriver) => {}
                    Some(error) => return Err(error.clone()),
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
            Selector::Index(index) => (index.to_string(), self.devices.get(index).into_iter().collect()),
            Selector::Name(name) => {
                let part = name.to_lowercase();
                let matches = |info: &&DeviceInfo| info.name.to_lowercase().contains(&part);
                (name, self.devices.iter().filter(matches).collect())
            }
        };
        match candidates.iter().find(|info| info.lacks.is_empty()).or(candidates.first()) {
            Some(info) if info.lacks.is_empty() => Ok(info),
            Some(info) => {
                Err(Error::UnsuitableDevice { device: info.name.clone(), lacks: info.lacks.clone() })
            }
            None if let Some(error) = self.without_vulkan() => Err(error.clone()),
            None => Err(Error::NoSuchDevice {
                wanted,
                found: self.devices.iter().map(|info| format!("{}: {}", info.index, info.name)).collect(),
            }),
        }
    }
}

impl Device {
    pub(crate) fn new(backend: Arc<dyn Backend>, options: Options, prints: Prints) -> Result<Self> {
        let transfers = Lane::new(backend.queue(Purpose::FirstContents)?, Order::InOrder, None);
        Ok(Self {
            inner: Arc::new(Inner {
                backend,
                transfers,
                options,
                prints,
                warned_of_bugs: AtomicBool::new(false),
                shared_memory: SharedMemory::default(),
            }),
        })
    }

    /// Opens the default device, with options from the environment.
    pub fn open() -> Result<Self> {
        Instance::for_device(Options::from_env(), &Selector::Default)?.device(&Selector::Default)
    }

    /// Identity, capabilities and features of the device.
    pub fn info(&self) -> &DeviceInfo {
        self.inner.backend.info()
    }

    /// Whether a command failed because the device was lost. Later commands fail too; open the device again.
    pub fn is_lost(&self) -> bool {
        self.backend().is_lost()
    }

    /// `CL_DEVICE_NAME`
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// What the device supports, in OpenCL terms.
    pub fn capabilities(&self) -> &Capabilities {
        &self.info().capabilities
    }

    /// Features that the compiler needs to target this device.
    pub fn features(&self) -> &Features {
        &self.info().features
    }

    /// Creates an in-order queue.
    pub fn queue(&self) -> Result<Queue> {
        self.queue_with(QueueOptions::default())
    }

    /// Creates a queue that orders commands by wait lists only.
    pub fn unordered_queue(&self) -> Result<Queue> {
        self.queue_with(QueueOptions { order: Order::OutOfOrder, ..QueueOptions::default() })
    }

    /// Creates a queue with these options.
    pub fn queue_with(&self, options: QueueOptions) -> Result<Queue> {
        Queue::new(self.clone(), options)
    }

    /// Allocates a buffer of `len` elements with undefined contents.
    pub fn buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(self, len, Placement::Device)
    }

    /// Allocates a buffer with these contents.
    pub fn buffer_from<T: Pod>(&self, contents: &[T]) -> Result<Buffer<T>> {
        let buffer = Buffer::allocate(self, contents.len(), Placement::Device)?;
        self.initialize(&buffer, contents)?;
        Ok(buffer)
    }

    /// Allocates a buffer of `len` elements that the host can map without a copy (`CL_MEM_ALLOC_HOST_PTR`), with
    /// undefined contents. [`Buffer::host_address`] is its address.
    pub fn host_buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let buffer = Buffer::allocate(self, len, Placement::Shared)?;
        self.add_shared_memory(&buffer);
        Ok(buffer)
    }

    /// Allocates a buffer with these contents that the host can map without a copy.
    pub fn host_buffer_from<T: Pod>(&self, contents: &[T]) -> Result<Buffer<T>> {
        let buffer = self.host_buffer(contents.len())?;
        if !svm::initialize(&buffer, contents) {
            self.initialize(&buffer, contents)?;
        }
        Ok(buffer)
    }

    /// Wraps host memory in a buffer without copying it (`CL_MEM_USE_HOST_PTR`). A launch sees what the host wrote
    /// before it, and the host sees what the launch wrote once its event is complete. Address and size must be
    /// multiples of [`Capabilities::host_memory_alignment`].
    ///
    /// # Safety
    /// The memory must be valid for reads and writes until the buffer, its clones and slices, and all commands on
    /// them are gone. The host must not write the memory while commands use it, nor read it while commands write it.
    #[allow(unsafe_code, reason = "the lifetime of the memory lies with the caller")]
    pub unsafe fn buffer_over<T: Pod>(&self, memory: NonNull<[T]>) -> Result<Buffer<T>> {
        // Without an alignment the device cannot import memory, and the back end returns the error.
        let alignment = self.capabilities().host_memory_alignment.unwrap_or(1);
        let (first, len) = (memory.cast::<u8>(), memory.len());
        let (address, bytes) = (first.as_ptr().expose_provenance() as u64, (len * size_of::<T>()) as u64);
        if !address.is_multiple_of(alignment) || !bytes.is_multiple_of(alignment) {
            return Err(Error::HostMemory { address, bytes, alignment });
        }
        let buffer = Buffer::new(self, len, |bytes| {
            // SAFETY: the caller guarantees what `import` requires.
            unsafe { self.backend().import(first, bytes) }
        })?;
        self.inner.shared_memory.add(&buffer.memory, first, buffer.bytes());
        Ok(buffer)
    }

    /// Allocates `len` zeroed elements of shared virtual memory (`clSVMAlloc`).
    pub fn svm<T: Pod>(&self, len: usize) -> Result<Svm<T>> {
        let svm = Svm::allocate(self, len)?;
        self.add_shared_memory(svm.memory());
        Ok(svm)
    }

    fn add_shared_memory<T>(&self, buffer: &Buffer<T>) {
        if let Some(first) = buffer.memory.handle.host() {
            self.inner.shared_memory.add(&buffer.memory, first, buffer.bytes());
        }
    }

    /// The host memory that commands can access.
    pub(crate) fn shared_memory(&self) -> &SharedMemory {
        &self.inner.shared_memory
    }

    /// The device's timer and the host's at the same moment (`clGetDeviceAndHostTimer`). [`Event::times`] are times of
    /// the device's timer.
    pub fn timers(&self) -> Timers {
        let now = Instant::now();
        let device = now.saturating_duration_since(self.backend().open_time()).as_nanos() as u64;
        Timers { device, host: host_time(now) }
    }

    /// Takes the messages that the validation layer has reported since the last call. Empty if validation is off.
    pub fn validation_messages(&self) -> Vec<String> {
        self.inner.backend.take_messages()
    }

    /// Redirects `printf` output of kernels, which goes to standard output by default.
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

    /// Returns `true` on the first call only, so that a device warns once about missing workarounds.
    pub(crate) fn is_first_warning_of_bugs(&self) -> bool {
        !self.inner.warned_of_bugs.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.inner.options.watchdog
    }

    /// Writes a new buffer and makes the contents visible to every queue.
    pub(crate) fn initialize<T: Pod>(&self, buffer: &Buffer<T>, contents: &[T]) -> Result<()> {
        let contents: &[u8] = bytemuck::cast_slice(contents);
        let target = (&buffer.memory, buffer.offset);
        self.send(target, contents.len() as u64, staging::from_slice(contents))?;
        Ok(())
    }

    /// Writes memory in chunks, which `fill` writes from their offset on, outside of all queues. Commands that are flushed
    /// after it see the contents.
    pub(crate) fn send(
        &self,
        target: (&Memory, u64),
        total: u64,
        fill: impl Fn(u64, &mut [u8]),
    ) -> Result<Event> {
        let (enqueue, flush) = (|command| self.transfer(command), || self.inner.transfers.flush());
        let event = staging::send(self.backend(), target, total, fill, enqueue, flush)?;
        flush()?;
        Ok(event)
    }

    /// Reads memory in chunks, blocking, outside of all queues: what commands wrote that the host has seen complete. Calls `read`
    /// with the offset and the bytes of each chunk, on several threads.
    pub(crate) fn receive(
        &self,
        (source, offset): (&Memory, u64),
        total: u64,
        read: impl Fn(u64, &[u8]) + Sync,
    ) -> Result<()> {
        let request = |at, bytes| {
            Arrival::request(self.backend(), (source, offset + at), bytes, |command| self.transfer(command))
        };
        staging::receive_on_threads(total, request, || self.inner.transfers.flush(), read)
    }

    /// Enqueues a command outside of all queues.
    fn transfer(&self, command: Command) -> Result<Event> {
        Ok(Event::of_host(self.inner.transfers.enqueue(command, &Arc::default(), QueueOrder::USUAL)?))
    }

    /// Transitions a new image before any command uses it.
    pub(crate) fn initialize_image(&self, image: &ImageMemory) -> Result<()> {
        self.transfer(Command::Image(ImageCommand::Prepare { image: image.clone() }))?;
        self.inner.transfers.flush()
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
    fn selectors_are_parsed() {
        assert_eq!(Selector::from(""), Selector::Default);
        assert_eq!(Selector::from(" 2 "), Selector::Index(2));
        assert_eq!(Selector::from("H100"), Selector::Name("H100".to_owned()));
    }
}
