//! A test of the workaround for `DriverBug::StaleKernelCode`: no thread submits commands while another creates or destroys
//! pipelines.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ash::vk;
use kiln_vocabulary::driver_bugs::{Driver, DriverBug};

use super::exhaustion::module;
use super::instance::Instance;
use crate::device::{Device, Options, Validation};
use crate::ndrange::NdRange;
use crate::printf::Prints;
use crate::program::Program;

static SUBMIT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static CREATE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DESTROY: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// The threads in one of the functions, and the calls that found another thread there.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static OVERLAPS: AtomicUsize = AtomicUsize::new(0);
/// All calls.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Calls a function of the driver, slowly.
fn alone<R>(call: impl FnOnce() -> R) -> R {
    CALLS.fetch_add(1, Ordering::Relaxed);
    if INSIDE.fetch_add(1, Ordering::SeqCst) > 0 {
        OVERLAPS.fetch_add(1, Ordering::Relaxed);
    }
    thread::sleep(Duration::from_micros(300));
    let result = call();
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    result
}

/// The function of the driver in a slot.
fn real<F: Copy>(slot: &AtomicPtr<c_void>) -> F {
    let pointer = slot.load(Ordering::Relaxed);
    assert!(!pointer.is_null() && size_of::<F>() == size_of_val(&pointer));
    // SAFETY: `open` stored the function of this type in this slot.
    unsafe { std::mem::transmute_copy(&pointer) }
}

unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the arguments are passed on unchanged.
    alone(|| unsafe { real::<vk::PFN_vkQueueSubmit>(&SUBMIT)(queue, count, submits, fence) })
}

unsafe extern "system" fn create(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    made: *mut vk::Pipeline,
) -> vk::Result {
    let real = real::<vk::PFN_vkCreateComputePipelines>(&CREATE);
    // SAFETY: the arguments are passed on unchanged.
    alone(|| unsafe { real(device, cache, count, infos, callbacks, made) })
}

unsafe extern "system" fn destroy(
    device: vk::Device,
    pipeline: vk::Pipeline,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the arguments are passed on unchanged.
    alone(|| unsafe { real::<vk::PFN_vkDestroyPipeline>(&DESTROY)(device, pipeline, callbacks) });
}

/// Opens a device with replaced functions, as if its driver were NVIDIA's.
fn open(instance: &Instance) -> Device {
    let infos = instance.devices().expect("devices");
    let mut info = infos.iter().find(|info| info.lacks.is_empty()).expect("a usable device").clone();
    info.known_driver = Driver::parse("nvidia 580.159.4");
    assert!(info.driver_bugs().any(|bug| bug == DriverBug::StaleKernelCode));
    let mut handle = instance.open_handle(&info, None).expect("an open device");
    let device = Arc::get_mut(&mut handle.0).expect("this is the only reference");
    let raw = instance.raw();
    let load = |name: &CStr| -> *const c_void {
        // SAFETY: the device belongs to the instance.
        let real = unsafe { (raw.fp_v1_0().get_device_proc_addr)(device.raw.handle(), name.as_ptr()) };
        let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
        let (slot, fake) = match name.to_bytes() {
            b"vkQueueSubmit" => (&SUBMIT, submit as *const c_void),
            b"vkCreateComputePipelines" => (&CREATE, create as *const c_void),
            b"vkDestroyPipeline" => (&DESTROY, destroy as *const c_void),
            _ => return real,
        };
        slot.store(real.cast_mut(), Ordering::Relaxed);
        fake
    };
    // SAFETY: every function is the device's, or calls it.
    device.raw = unsafe { ash::Device::load_with(load, device.raw.handle()) };
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
