//! Queues for device-side enqueue (OpenCL API 3.2.3, OpenCL C 6.15.19), and launches of kernels that use them.
//!
//! Owns the memory of a queue, which each launch allocates, and the host command that runs the enqueued kernels. It
//! ends with the last child, so the parent completes only then (OpenCL API 3.2.3). Must not depend on how the children
//! are ordered (`device_queue/commands.rs`).

mod commands;
mod records;
mod waves;

use kiln_vocabulary::device_queue::{self as format, QueueLayout, header};

use crate::backend::{Command, Memory, Placement};
use crate::error::Result;
use crate::event::Event;
use crate::interface::ArgumentKind;
use crate::kernel::{Arg, ArgValue, Kernel};
use crate::launch;
use crate::ndrange::NdRange;
use crate::printf::Printing;
use crate::queue::Queue;
use crate::staging;
use waves::Waves;

/// A queue of the device, to which kernels enqueue commands. Every launch has its own commands and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceQueue {
    size: u32,
}

impl DeviceQueue {
    /// The size of a queue by default in bytes (`CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE`).
    pub const PREFERRED_SIZE: u32 = format::PREFERRED_SIZE;
    /// The largest size of a queue in bytes (`CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE`).
    pub const MAX_SIZE: u32 = format::MAX_SIZE;
    /// The number of events of a launch (`CL_DEVICE_MAX_ON_DEVICE_EVENTS`).
    pub const EVENTS: u32 = format::EVENTS;
    /// The handle of a queue in kernels.
    pub(crate) const HANDLE: u64 = 1;

    /// A queue for this many bytes of commands at a time (`CL_QUEUE_SIZE`), at most [`Self::MAX_SIZE`].
    pub fn new(size: u32) -> Self {
        Self { size: size.min(Self::MAX_SIZE) }
    }

    /// The size in bytes.
    pub fn size(&self) -> u32 {
        self.size
    }
}

impl Default for DeviceQueue {
    fn default() -> Self {
        Self::new(Self::PREFERRED_SIZE)
    }
}

impl Arg for DeviceQueue {
    fn into_value(self) -> ArgValue {
        ArgValue::Queue(self)
    }
}

/// The memory of a queue.
#[derive(Clone)]
struct Store {
    memory: Memory,
    layout: QueueLayout,
}

impl Store {
    /// The memory for a launch of this kernel: as large as its largest queue.
    fn new(kernel: &Kernel) -> Result<Self> {
        let passed = kernel.arguments.iter().flatten().filter_map(|argument| match argument {
            ArgValue::Queue(queue) => Some(queue.size),
            _ => None,
        });
        let size = passed.chain(kernel.default_queue.map(|queue| queue.size)).max();
        let layout = QueueLayout::new(size.unwrap_or(DeviceQueue::PREFERRED_SIZE));
        let backend = kernel.program.inner.device.backend();
        Ok(Self { memory: backend.allocate(layout.bytes, Placement::Device)?, layout })
    }

    /// The header of an empty queue.
    fn header(&self, kernel: &Kernel) -> [u32; header::WORDS as usize] {
        let program = &kernel.program.inner;
        let capabilities = program.device.capabilities();
        let position = program.interface.position;
        let is_raw = position.raw_global_id || position.raw_group_id || position.raw_num_groups;
        let is_uniform = program.interface.local_size.is_none() || is_raw;
        let word = |byte: u64| (byte / 4) as u32;
        let mut words = [0; header::WORDS as usize];
        let mut set = |index: u32, value: u32| words[index as usize] = value;
        set(header::CAPACITY, self.layout.capacity);
        set(header::EVENTS, format::EVENTS);
        set(header::FREE, format::EVENTS);
        set(header::SLOTS, word(self.layout.slots));
        set(header::RECORDS, word(self.layout.records));
        set(header::DEFAULT, kernel.default_queue.map_or(0, |_| DeviceQueue::HANDLE as u32));
        set(header::GROUP_SIZE, capabilities.max_work_group_size);
        set(
            header::SUB_GROUP_SIZE,
            capabilities.sub_groups.as_ref().map_or(1, |groups| groups.max_size.max(1)),
        );
        set(header::LOCAL_MEMORY, local_memory(kernel));
        for (dimension, size) in (0..).zip(capabilities.max_work_item_sizes) {
            set(header::ITEM_SIZES + dimension, size);
        }
        set(header::IS_UNIFORM, is_uniform.into());
        words
    }
}

/// The local memory that remains for the parameters of any block. Their sizes are rounded up to whole elements.
fn local_memory(kernel: &Kernel) -> u32 {
    let program = &kernel.program.inner;
    let own = program.interface.blocks.iter().map(|block| {
        let rounding = block.arguments.iter().map(|argument| match argument.kind {
            ArgumentKind::Local { element_size, .. } => element_size.saturating_sub(1),
            _ => 0,
        });
        rounding.fold(block.static_local_size, u32::saturating_add)
    });
    let all = u32::try_from(program.device.capabilities().local_memory).unwrap_or(u32::MAX);
    all.saturating_sub(own.max().unwrap_or(0))
}

impl Queue {
    /// Launches a kernel that enqueues commands: clears its queue, launches it, and runs the commands until there are no
    /// more.
    pub(crate) fn launch_enqueuing(
        &self,
        kernel: &Kernel,
        range: &NdRange,
        printing: Option<Printing>,
    ) -> Result<Event> {
        let store = Store::new(kernel)?;
        let Some(launch) =
            launch::prepare(kernel, range, printing.as_ref(), Some((&store.memory, commands::TOP)))?
        else {
            return self.enqueue(Command::Nothing);
        };
        let words = store.header(kernel);
        let source = staging::filled(self.device().backend(), bytemuck::bytes_of(&words))?;
        let bytes = size_of_val(&words) as u64;
        let target = store.memory.clone();
        let cleared = self.enqueue(Command::Copy { source, from: 0, target, to: 0, bytes })?;
        let launched = self.waiting_for(cleared).launch_prepared(launch, printing)?;
        let written = waves::read_start(&self.waiting_for(launched.clone()), &store)?;
        let (ready, kernel, queue) = (written.event.clone(), kernel.clone(), self.clone());
        let run = move || Waves::new(&queue, &kernel, store).run(written);
        let last = self.waiting_for(ready).host(run)?;
        let (launch_error, own) = (launched.launch_error.clone(), Some(launched.node.clone()));
        Ok(Event { launch_error, own, ..Event::of_parts(Some(launched), Some(last)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_queues_are_limited() {
        assert_eq!(DeviceQueue::new(u32::MAX).size(), DeviceQueue::MAX_SIZE);
        assert_eq!(DeviceQueue::default().size(), DeviceQueue::PREFERRED_SIZE);
    }
}
