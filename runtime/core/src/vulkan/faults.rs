//! Tests of failing drivers: replaces functions of a real driver to simulate device loss and memory exhaustion.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::device;
use super::instance::Instance;
use super::replaced::{self, Original};
use crate::backend::{Backend, BackendQueue, Command, Completion, Placement, Purpose, Start};
use crate::device::Validation;
use crate::error::{Error, Result};
use crate::event::Status;

const USUAL: Purpose = Purpose::Commands { profiled: false };

/// The results of the replaced functions; 0 leaves that of the original.
static SUBMIT: Failure = Failure::new();
static WAIT: Failure = Failure::new();
static CREATE: Failure = Failure::new();

/// The injected result of a function, and the original function.
struct Failure {
    result: AtomicI32,
    original: Original,
}

impl Failure {
    const fn new() -> Self {
        Self { result: AtomicI32::new(0), original: Original::new() }
    }

    fn set(&self, result: vk::Result) {
        self.result.store(result.as_raw(), Ordering::Relaxed);
    }

    /// The injected result, or else that of the original.
    fn or<F: Copy>(&self, call: impl FnOnce(F) -> vk::Result) -> vk::Result {
        self.injected().unwrap_or_else(|| self.original(call))
    }

    /// Calls the original, then returns the injected result if there is one.
    fn after<F: Copy>(&self, call: impl FnOnce(F) -> vk::Result) -> vk::Result {
        let real = self.original(call);
        self.injected().unwrap_or(real)
    }

    fn injected(&self) -> Option<vk::Result> {
        let result = self.result.load(Ordering::Relaxed);
        (result != 0).then(|| vk::Result::from_raw(result))
    }

    fn original<F: Copy>(&self, call: impl FnOnce(F) -> vk::Result) -> vk::Result {
        // SAFETY: each use names the type of its function.
        call(unsafe { self.original.function() })
    }
}

unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the arguments are passed on unchanged.
    SUBMIT.or(|real: vk::PFN_vkQueueSubmit| unsafe { real(queue, count, submits, fence) })
}

/// A lost device executes nothing more, but the driver below does: the work must end before its objects are destroyed.
unsafe extern "system" fn wait(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: the arguments are passed on unchanged.
    WAIT.after(|real: vk::PFN_vkWaitSemaphores| unsafe { real(device, info, timeout) })
}

unsafe extern "system" fn create(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: the arguments are passed on unchanged.
    CREATE.or(|real: vk::PFN_vkCreateBuffer| unsafe { real(device, info, callbacks, buffer) })
}

/// Opens a device with replaced functions. Their state is global, so a mutex serializes the tests.
fn open() -> (std::sync::MutexGuard<'static, ()>, device::Handle) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let instance = Instance::new(Validation::Off).expect("a driver");
    let handle =
        replaced::open(&instance, &replaced::usable_device(&instance), |name| match name.to_bytes() {
            b"vkQueueSubmit" => Some((&SUBMIT.original, submit as *const c_void)),
            b"vkWaitSemaphores" => Some((&WAIT.original, wait as *const c_void)),
            b"vkCreateBuffer" => Some((&CREATE.original, create as *const c_void)),
            _ => None,
        });
    (turn, handle)
}

fn push(queue: &Arc<dyn BackendQueue>) -> Result<Arc<dyn Completion>> {
    queue.push(Command::Nothing, Start { ordered: true, after: &[], queued: std::time::Instant::now() })
}

#[test]
fn a_device_lost_at_submission() {
    let (_turn, device) = open();
    let queue = device.queue(USUAL).unwrap();
    let first = push(&queue).unwrap();
    first.wait(None).unwrap();
    let [second, third] = [0; 2].map(|_| push(&queue).unwrap());
    SUBMIT.set(vk::Result::ERROR_DEVICE_LOST);
    let lost = Error::DeviceLost { kernel: None };
    assert!(!device.is_lost());
    assert_eq!(queue.flush(), Err(lost.clone()));
    assert_eq!(second.wait(None), Err(lost.clone()));
    assert_eq!(third.status(), Err(lost));
    assert_eq!(first.status(), Ok(Status::Complete));
    assert!(device.is_lost());
    SUBMIT.set(vk::Result::SUCCESS);
    // If the driver recovers, so does the queue.
    push(&queue).unwrap().wait(None).unwrap();
}

#[test]
fn a_device_lost_while_waiting() {
    let (_turn, device) = open();
    let queue = device.queue(USUAL).unwrap();
    let event = push(&queue).unwrap();
    queue.flush().unwrap();
    WAIT.set(vk::Result::ERROR_DEVICE_LOST);
    assert_eq!(event.wait(None), Err(Error::DeviceLost { kernel: None }));
    assert!(device.is_lost());
    // Dropping everything does not hang either.
    drop((event, queue, device));
    WAIT.set(vk::Result::SUCCESS);
}

#[test]
fn used_up_memory() {
    let (_turn, device) = open();
    CREATE.set(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    let name = device.info().name.clone();
    let placements =
        [Placement::Device, Placement::Shared, Placement::Upload, Placement::Download, Placement::Pinned];
    for placement in placements {
        let rejected = device.allocate(1 << 16, placement).map(drop);
        assert_eq!(rejected, Err(Error::OutOfMemory { bytes: 1 << 16, device: name.clone() }));
    }
    CREATE.set(vk::Result::SUCCESS);
    device.allocate(1000, Placement::Device).unwrap();
    SUBMIT.set(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    let queue = device.queue(USUAL).unwrap();
    let event = push(&queue).unwrap();
    assert!(matches!(event.wait(None), Err(Error::OutOfMemory { .. })));
    SUBMIT.set(vk::Result::SUCCESS);
    push(&queue).unwrap().wait(None).unwrap();
}
