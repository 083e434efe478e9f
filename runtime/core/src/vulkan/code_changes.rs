//! A test of the workaround for `DriverBug::StaleKernelCode`: no thread submits commands while another creates or destroys
//! pipelines. Several threads may create and destroy pipelines at the same time.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ash::vk;
use kiln_vocabulary::driver_bugs::{Driver, DriverBug};

use super::exhaustion::module;
use super::instance::Instance;
use super::replaced::{self, Original};
use crate::device::{Device, Options, Validation};
use crate::ndrange::NdRange;
use crate::printf::Prints;
use crate::program::Program;

static SUBMIT: Original = Original::new();
static CREATE: Original = Original::new();
static DESTROY: Original = Original::new();

/// The threads that create or destroy pipelines, and [`SUBMISSION`] for each one that submits.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
const SUBMISSION: usize = 1 << 16;
/// Calls that found a thread inside that they exclude.
static OVERLAPS: AtomicUsize = AtomicUsize::new(0);
/// All calls.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Calls a function of the driver, slowly. `weight` is 1 or [`SUBMISSION`].
fn slowly<R>(weight: usize, call: impl FnOnce() -> R) -> R {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let others = INSIDE.fetch_add(weight, Ordering::SeqCst);
    if others >= SUBMISSION || others > 0 && weight == SUBMISSION {
        OVERLAPS.fetch_add(1, Ordering::Relaxed);
    }
    thread::sleep(Duration::from_micros(300));
    let result = call();
    INSIDE.fetch_sub(weight, Ordering::SeqCst);
    result
}

unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the arguments are passed on unchanged.
    slowly(SUBMISSION, || unsafe { SUBMIT.function::<vk::PFN_vkQueueSubmit>()(queue, count, submits, fence) })
}

unsafe extern "system" fn create(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    made: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: the arguments are passed on unchanged.
    slowly(1, || unsafe {
        let real = CREATE.function::<vk::PFN_vkCreateComputePipelines>();
        real(device, cache, count, infos, callbacks, made)
    })
}

unsafe extern "system" fn destroy(
    device: vk::Device,
    pipeline: vk::Pipeline,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the arguments are passed on unchanged.
    slowly(1, || unsafe { DESTROY.function::<vk::PFN_vkDestroyPipeline>()(device, pipeline, callbacks) });
}

/// Opens a device with replaced functions, as if its driver were NVIDIA's.
fn open(instance: &Instance) -> Device {
    let mut info = replaced::usable_device(instance);
    info.known_driver = Driver::parse("nvidia 580.159.4");
    assert!(info.driver_bugs().any(|bug| bug == DriverBug::StaleKernelCode));
    let handle = replaced::open(instance, &info, |name| match name.to_bytes() {
        b"vkQueueSubmit" => Some((&SUBMIT, submit as *const c_void)),
        b"vkCreateComputePipelines" => Some((&CREATE, create as *const c_void)),
        b"vkDestroyPipeline" => Some((&DESTROY, destroy as *const c_void)),
        _ => None,
    });
    Device::new(Arc::new(handle), Options::default(), Prints::new(None)).expect("a device")
}

#[test]
#[allow(unsafe_code, reason = "launches trust their kernels")]
fn code_changes_only_between_submissions() {
    let instance = Instance::new(Validation::Off).expect("a driver");
    let device = open(&instance);
    let module = module::bound();
    let (threads, rounds) = (4, 8);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let queue = device.queue().unwrap();
                for round in 0..rounds {
                    let data = device.buffer_from(&[round; 8]).unwrap();
                    let mut kernel = Program::from_spirv(&device, &module).unwrap().kernel("k").unwrap();
                    kernel.set(0, &data).unwrap();
                    // SAFETY: the kernel increments the eight words.
                    unsafe { queue.launch(&kernel, NdRange::from(8)) }.unwrap();
                    assert_eq!(queue.read(&data).unwrap(), [round + 1; 8]);
                }
            });
        }
    });
    drop(device);
    // A pipeline and at least one submission for each round.
    assert!(CALLS.load(Ordering::Relaxed) >= 3 * threads * rounds as usize);
    assert_eq!(OVERLAPS.load(Ordering::Relaxed), 0);
}
