//! Queues and their commands.
//!
//! Owns the commands and their checks. Must not depend on when commands run (`schedule.rs`), nor on how a back end
//! executes them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use crate::backend::{Command, Launch, Memory, Purpose};
use crate::buffer::Buffer;
use crate::capabilities::Environment;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::interface::BoundsTable;
use crate::kernel::{ArgValue, Kernel};
use crate::launch_error::Failures;
use crate::map::Mapped;
use crate::ndrange::NdRange;
use crate::printf::Printing;
use crate::schedule::{Lane, Order, QueueOrder, Task};
use crate::staging::{self, Arrival};
use crate::{bounds, launch};

/// A command queue. Clones refer to the same queue.
///
/// Commands are batched. A batch goes to the device on a wait for, or a status query of, one of its commands, on
/// [`flush`](Self::flush), when it is large, or when the queue is dropped. Only waits block. `printf` output of a
/// kernel appears at the first wait on the device after its launch is complete.
///
/// ```
/// # fn example(device: kiln_runtime::Device, kernel: kiln_runtime::Kernel) -> kiln_runtime::Result<()> {
/// use kiln_runtime::NdRange;
/// let queue = device.unordered_queue()?;
/// let (input, output) = (device.buffer_from(&[1.0f32; 4096])?, device.buffer::<f32>(4096)?);
/// let cleared = queue.fill(&output, 0.0f32)?;
/// let range = NdRange::from([64, 60]).local([16, 16]).offset([0, 4]);
/// // SAFETY: the kernel stays within its buffers.
/// let launched = unsafe { queue.after([&cleared]).launch(&kernel, range)? };
/// let copied = queue.after([&launched]).copy(&output.slice(..64)?, &input)?;
/// let reading = queue.after([&launched]).read_later(&output)?;
/// // … the host does something else meanwhile …
/// let results: Vec<f32> = reading.wait()?;
/// copied.wait()?;
/// # Ok(())
/// # }
/// ```
///
/// A launch fails if its kernel reaches a trap, such as a failed assertion. Waiting for its event then returns
/// [`Error::Trap`]. If nothing waits for the event, the next wait for the queue returns it: [`finish`](Self::finish)
/// or a read. Later commands may have run by then.
#[derive(Clone)]
pub struct Queue {
    device: Device,
    lane: Arc<Lane>,
    wait: Arc<[Event]>,
    /// Whether transfers of the caller's memory block.
    is_blocking: bool,
    failures: Failures,
    /// The lanes of commands that kernels enqueue, without and with profiling.
    children: Arc<[Mutex<Option<Arc<Lane>>>; 2]>,
}

/// Queue properties (`clCreateCommandQueueWithProperties`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// How its commands are ordered.
    pub order: Order,
    /// Whether events record when their commands ran (`CL_QUEUE_PROFILING_ENABLE`).
    pub profiling: bool,
}

impl Queue {
    pub(crate) fn new(device: Device, options: QueueOptions) -> Result<Self> {
        let purpose = Purpose::Commands { profiled: options.profiling };
        let clock = options.profiling.then(|| device.backend().open_time());
        let lane = Lane::new(device.backend().queue(purpose)?, options.order, clock);
        Ok(Self {
            device,
            lane,
            wait: Arc::default(),
            is_blocking: false,
            failures: Failures::default(),
            children: Arc::default(),
        })
    }

    /// The device that the queue belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns this queue with a wait list. Each command enqueued through the result starts only after these events
    /// are complete, and fails if one of them fails. Traps are an exception: they are detected only later and stop no
    /// command. The host waits for events of other devices.
    #[must_use]
    pub fn after<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Self {
        let wait = self.wait.iter().cloned().chain(events.into_iter().cloned()).collect();
        Self { wait, ..self.clone() }
    }

    /// Returns this queue with blocking transfers between its device and memory of the caller, such as
    /// [`read_to`](Self::read_to) and [`write_from`](Self::write_from): a read returns when the memory has the contents, and a
    /// write when the memory may be reused. The device may get the contents of a write later.
    #[must_use]
    pub fn blocking(&self) -> Self {
        Self { is_blocking: true, ..self.clone() }
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.is_blocking
    }

    /// Launches a kernel with its current arguments.
    ///
    /// # Safety
    /// A kernel accesses memory through raw addresses, as C does. It must stay within the buffers that its arguments
    /// and their contents point to. Those buffers must live until the launch is complete (the runtime keeps the
    /// arguments' own buffers alive). The kernel must not race with other commands or with the host. A program
    /// compiled with bounds checks accesses only the buffers passed and its own objects; its launches block until
    /// they are complete, and fail on an out-of-bounds access.
    #[allow(unsafe_code, reason = "the contract lies with the kernel, which the runtime cannot check")]
    pub unsafe fn launch(&self, kernel: &Kernel, range: impl Into<NdRange>) -> Result<Event> {
        if !kernel.program.inner.device.is(&self.device) {
            return Err(Error::WrongDevice { object: format!("kernel `{}`", kernel.name()) });
        }
        let program = &kernel.program.inner;
        if let (Some(bounds), Some(variables)) = (&program.interface.bounds, &program.variables) {
            return self.launch_guarded(kernel, &range.into(), bounds, variables);
        }
        self.launch_unguarded(kernel, &range.into())
    }

    /// Launches a kernel of a program compiled with bounds checks, which is safe: the kernel accesses only the
    /// buffers passed and its own objects. Blocks until the launch is complete, and fails if the kernel attempted an
    /// out-of-bounds access. Rejects shared virtual memory and imported host memory, because the host may access them
    /// at any time. Any module can claim to have bounds
    /// checks, so the caller must have vouched for them: [`Program::trust_bounds_checks`](crate::Program::trust_bounds_checks).
    #[allow(unsafe_code, reason = "the contract of `launch` is checked")]
    pub fn launch_checked(&self, kernel: &Kernel, range: impl Into<NdRange>) -> Result<Event> {
        let rejected =
            |reason: &str| Error::Launch { kernel: kernel.name().to_owned(), reason: reason.to_owned() };
        if kernel.program.inner.interface.bounds.is_none() {
            return Err(rejected("its program has no bounds checks; compile it with them, or use `launch`"));
        }
        if !kernel.program.has_trusted_checks {
            return Err(rejected(
                "its program's bounds checks are not trusted; call `Program::trust_bounds_checks`, or use `launch`",
            ));
        }
        let mut passed = kernel.arguments.iter().flatten().chain(&kernel.reached);
        if passed.any(|value| matches!(value, ArgValue::Buffer(buffer) if buffer.memory.is_shared)) {
            return Err(rejected("it has an argument in memory shared with the host; use `launch`"));
        }
        // SAFETY: `Program::trust_bounds_checks` guarantees that every access is checked against buffers. Only commands
        // of this device access these buffers, and the launch keeps them alive.
        unsafe { self.launch(kernel, range) }
    }

    fn launch_unguarded(&self, kernel: &Kernel, range: &NdRange) -> Result<Event> {
        let printing = Printing::for_kernel(kernel)?;
        if kernel.interface().uses_queue {
            return self.launch_enqueuing(kernel, range, printing);
        }
        match launch::prepare(kernel, range, printing.as_ref(), None)? {
            Some(launch) => self.launch_prepared(launch, printing),
            None => self.enqueue(Command::Nothing),
        }
    }

    pub(crate) fn launch_prepared(&self, launch: Box<Launch>, printing: Option<Printing>) -> Result<Event> {
        match printing {
            Some(printing) => self.launch_printing(launch, printing),
            None => self.enqueue_launch(launch),
        }
    }

    /// The queue for commands that kernels enqueue. A host command of this queue waits for them.
    pub(crate) fn children(&self, profiling: bool) -> Result<Self> {
        let lanes = &self.children;
        let cell = &lanes[usize::from(profiling)];
        let mut lane = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if lane.is_none() {
            let options = QueueOptions { order: Order::OutOfOrder, profiling };
            *lane = Some(Self::new(self.device.clone(), options)?.lane);
        }
        let lane = lane.clone().unwrap_or_else(|| self.lane.clone());
        Ok(Self { lane, wait: Arc::default(), ..self.clone() })
    }

    /// Launches a kernel with bounds checks, waits, and reports its out-of-bounds accesses.
    fn launch_guarded(
        &self,
        kernel: &Kernel,
        range: &NdRange,
        bounds: &BoundsTable,
        variables: &Buffer,
    ) -> Result<Event> {
        let _turn = kernel.program.inner.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = bounds::table(kernel, bounds)?;
        let table = variables.slice(bounds.offset as usize..)?;
        let written = self.write(&table, &contents)?;
        let launched = self.waiting_for(written).launch_unguarded(kernel, range)?;
        // An access that was skipped can cause a trap, so it is reported first.
        let trapped = match launched.wait() {
            Ok(()) => Ok(()),
            Err(trap @ Error::Trap { .. }) => Err(trap),
            Err(error) => return Err(error),
        };
        let mut header = [0; bounds::HEADER];
        self.waiting_for(launched.clone()).read_into(&table, &mut header)?;
        bounds::check_recorded_violation(kernel, bounds, header).and(trapped).map(|()| launched)
    }

    fn enqueue_launch(&self, launch: Box<Launch>) -> Result<Event> {
        let mut event = self.enqueue(Command::Launch(launch))?;
        // The reference device has already run the kernel and reports its errors itself.
        if self.device.info().environment == Environment::OpenCl
            && let Err(error) = event.status()
        {
            event.launch_error = Some(Arc::default());
            self.failures.add(event.launch_error.as_ref(), error);
        }
        Ok(event)
    }

    /// Enqueues a launch that prints: clears the printf buffer, launches, and copies the buffer to the host.
    fn launch_printing(&self, launch: Box<Launch>, printing: Printing) -> Result<Event> {
        let target = printing.buffer.clone();
        let kernel = launch.name.clone();
        let traps = &printing.printf.traps;
        let (has_traps, is_adjacent) = (!traps.sites.is_empty(), traps.offset == 4);
        let bytes = if has_traps && is_adjacent { 8 } else { 4 };
        let mut emptied = self.enqueue(Command::Fill { target: target.clone(), at: 0, bytes, word: 0 })?;
        if has_traps && !is_adjacent {
            let fill = Command::Fill { target, at: traps.offset.into(), bytes: 4, word: 0 };
            emptied = self.waiting_for(emptied).enqueue(fill)?;
        }
        let mut launched = self.waiting_for(emptied).enqueue(Command::Launch(launch))?;
        launched.launch_error = has_traps.then(Arc::default);
        let bytes = printing.printf.size.into();
        let arrival = self.waiting_for(launched.clone()).arrival(&printing.buffer, 0, bytes)?;
        self.device.prints().expect(&launched, arrival, printing.printf, kernel, &self.failures);
        Ok(launched)
    }

    /// Returns this queue with a wait list of this event only.
    pub(crate) fn waiting_for(&self, event: Event) -> Self {
        self.waiting_for_all(Arc::from([event]))
    }

    /// Returns this queue with a wait list of these events only.
    pub(crate) fn waiting_for_all(&self, wait: Arc<[Event]>) -> Self {
        Self { wait, ..self.clone() }
    }

    /// Whether neither the queue nor the wait list contains a command that is held back on the host.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.lane.holds_nothing() && !self.wait.iter().any(|event| event.node.is_held())
    }

    /// Writes to the start of a buffer. The slice may be reused as soon as this returns.
    pub fn write<T: Pod>(&self, buffer: &Buffer<T>, contents: &[T]) -> Result<Event> {
        self.check_device(buffer)?;
        let bytes: &[u8] = bytemuck::cast_slice(contents);
        if bytes.is_empty() {
            return self.nothing();
        }
        check_size(buffer, bytes.len() as u64)?;
        let target = (&buffer.memory, buffer.offset);
        let total = bytes.len() as u64;
        let (enqueue, flush) = (|command| self.enqueue(command), || self.flush());
        staging::send(self.device.backend(), target, total, staging::from_slice(bytes), enqueue, flush)
    }

    /// Reads a buffer, blocking. An in-order queue first completes the earlier commands.
    pub fn read<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        let mut contents = vec![T::zeroed(); buffer.len()];
        self.read_into(buffer, &mut contents)?;
        Ok(contents)
    }

    /// Reads the start of a buffer, blocking.
    pub fn read_into<T: Pod>(&self, buffer: &Buffer<T>, contents: &mut [T]) -> Result<()> {
        self.check_device(buffer)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(contents);
        if bytes.is_empty() {
            self.marker()?.wait()?;
            return self.failures.report();
        }
        let total = bytes.len() as u64;
        check_size(buffer, total)?;
        let request = |at, size| self.arrival(&buffer.memory, buffer.offset + at, size);
        let read = |at: u64, chunk: &[u8]| bytes[at as usize..][..chunk.len()].copy_from_slice(chunk);
        staging::receive(total, request, || self.flush(), read)?;
        self.failures.report()
    }

    /// Starts a read without blocking. Take the contents from the result.
    pub fn read_later<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Reading<T>> {
        self.check_device(buffer)?;
        let chunks = staging::chunks(buffer.bytes())
            .map(|(at, size)| self.arrival(&buffer.memory, buffer.offset + at, size))
            .collect::<Result<Vec<_>>>()?;
        Ok(Reading { chunks, len: buffer.len(), failures: self.failures.clone(), element: PhantomData })
    }

    /// Maps a buffer for reading and writing on the host, blocking (`clEnqueueMapBuffer`). Do not use the buffer
    /// otherwise until it is unmapped.
    pub fn map<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Mapped<T>> {
        Ok(Mapped::new(self.clone(), buffer.clone(), self.read(buffer)?))
    }

    /// Copies a range of device memory to host-visible memory.
    pub(crate) fn arrival(&self, source: &Memory, from: u64, bytes: u64) -> Result<Arrival> {
        Arrival::request(self.device.backend(), (source, from), bytes, |command| self.enqueue(command))
    }

    /// Copies one buffer to the start of another. Slices of one buffer must not overlap.
    pub fn copy<T: Pod>(&self, source: &Buffer<T>, target: &Buffer<T>) -> Result<Event> {
        self.check_device(source)?;
        self.check_device(target)?;
        let bytes = source.bytes();
        check_size(target, bytes)?;
        let same = source.memory.address == target.memory.address;
        if same && source.offset < target.offset + bytes && target.offset < source.offset + bytes {
            return Err(Error::OverlappingCopy { from: source.offset, to: target.offset, bytes });
        }
        let (from, to) = (source.offset, target.offset);
        let (source, target) = (source.memory.clone(), target.memory.clone());
        self.enqueue(Command::Copy { source, from, target, to, bytes })
    }

    /// Returns an event that completes when the wait list does or, without one, when all earlier commands do
    /// (`clEnqueueMarkerWithWaitList`).
    pub fn marker(&self) -> Result<Event> {
        let after_all = self.wait.is_empty();
        self.enqueue_at(Command::Nothing, QueueOrder { after_all, before_all: false })
    }

    /// Like [`marker`](Self::marker), and later commands start only after it is complete
    /// (`clEnqueueBarrierWithWaitList`).
    pub fn barrier(&self) -> Result<Event> {
        let after_all = self.wait.is_empty();
        self.enqueue_at(Command::Nothing, QueueOrder { after_all, before_all: true })
    }

    /// Submits all commands enqueued so far, without blocking (`clFlush`).
    pub fn flush(&self) -> Result<()> {
        self.lane.flush()
    }

    /// Waits until all commands are complete (`clFinish`).
    pub fn finish(&self) -> Result<()> {
        self.enqueue_at(Command::Nothing, QueueOrder { after_all: true, before_all: false })?.wait()?;
        self.failures.report()
    }

    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }

    pub(crate) fn enqueue(&self, task: impl Into<Task>) -> Result<Event> {
        self.enqueue_at(task, QueueOrder::USUAL)
    }

    pub(crate) fn enqueue_at(&self, task: impl Into<Task>, queue_order: QueueOrder) -> Result<Event> {
        let foreign = |event: &Event| event.device.as_ref().is_some_and(|device| !device.is(&self.device));
        let wait = if self.wait.iter().any(foreign) {
            let local = |event: &Event| if foreign(event) { event.bridge() } else { event.clone() };
            &self.wait.iter().map(local).collect()
        } else {
            &self.wait
        };
        let node = self.lane.enqueue(task, wait, queue_order)?;
        Ok(Event::new(node, self.device.clone()))
    }

    pub(crate) fn check_device<T>(&self, buffer: &Buffer<T>) -> Result<()> {
        if buffer.device().is(&self.device) {
            Ok(())
        } else {
            Err(Error::WrongDevice { object: "the buffer".to_owned() })
        }
    }
}

/// Buffer contents in transfer to the host.
pub struct Reading<T> {
    chunks: Vec<Arrival>,
    len: usize,
    failures: Failures,
    element: PhantomData<fn() -> T>,
}

impl<T: Pod> Reading<T> {
    /// The event of the transfer.
    pub fn event(&self) -> Event {
        self.chunks.last().map_or_else(Event::done, |chunk| chunk.event.clone())
    }

    /// Waits for the transfer and returns the contents.
    pub fn wait(self) -> Result<Vec<T>> {
        let mut contents = vec![T::zeroed(); self.len];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut contents);
        for (chunk, into) in self.chunks.into_iter().zip(bytes.chunks_mut(staging::CHUNK_BYTES as usize)) {
            chunk.copy_when_done(into)?;
        }
        self.failures.report()?;
        Ok(contents)
    }
}

/// Checks that a buffer has this many bytes.
pub(crate) fn check_size<T>(buffer: &Buffer<T>, bytes: u64) -> Result<()> {
    if bytes <= buffer.bytes() {
        Ok(())
    } else {
        Err(Error::OutOfBounds { start: 0, end: bytes, size: buffer.bytes() })
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("device", &self.device).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Reading<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("len", &self.len).finish_non_exhaustive()
    }
}
