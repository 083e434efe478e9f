//! Tests of exhausted memory: each driver function that creates or allocates an object fails once in a scenario. The
//! scenario must end with an error, without leaks, and with a usable device.

use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};

use super::device;
use super::instance::Instance;
use super::replaced::{self, Original};
use crate::device::{Device, Options, Validation};
use crate::error::{Error, Result};
use crate::image::ImageDesc;
use crate::image::{ChannelOrder, ChannelType, ImageFormat};
use crate::ndrange::NdRange;
use crate::printf::Prints;
use crate::program::Program;
use crate::queue::QueueOptions;

#[allow(dead_code, reason = "other tests use the other modules")]
#[path = "../../tests/devices/module.rs"]
pub(super) mod module;

/// The replaced functions, which all have the same parameters.
const CREATE: [&CStr; 15] = [
    c"vkAllocateMemory",
    c"vkCreateBuffer",
    c"vkCreateBufferView",
    c"vkCreateCommandPool",
    c"vkCreateDescriptorPool",
    c"vkCreateDescriptorSetLayout",
    c"vkCreateImage",
    c"vkCreateImageView",
    c"vkCreatePipelineCache",
    c"vkCreatePipelineLayout",
    c"vkCreateQueryPool",
    c"vkCreateSampler",
    c"vkCreateSemaphore",
    c"vkCreateShaderModule",
    c"vkCreateFence",
];
/// The destructors of the objects that `CREATE` creates, in the same order.
const DESTROY: [&CStr; 15] = [
    c"vkFreeMemory",
    c"vkDestroyBuffer",
    c"vkDestroyBufferView",
    c"vkDestroyCommandPool",
    c"vkDestroyDescriptorPool",
    c"vkDestroyDescriptorSetLayout",
    c"vkDestroyImage",
    c"vkDestroyImageView",
    c"vkDestroyPipelineCache",
    c"vkDestroyPipelineLayout",
    c"vkDestroyQueryPool",
    c"vkDestroySampler",
    c"vkDestroySemaphore",
    c"vkDestroyShaderModule",
    c"vkDestroyFence",
];
/// Their results belong to a pool.
const ALLOCATE: [&CStr; 2] = [c"vkAllocateCommandBuffers", c"vkAllocateDescriptorSets"];

type Create = unsafe extern "system" fn(vk::Device, *const c_void, *const c_void, *mut u64) -> vk::Result;
type Destroy = unsafe extern "system" fn(vk::Device, u64, *const c_void);
type Allocate = unsafe extern "system" fn(vk::Device, *const c_void, *mut c_void) -> vk::Result;

static CREATED: [Original; 15] = [const { Original::new() }; 15];
static DESTROYED: [Original; 15] = [const { Original::new() }; 15];
static ALLOCATED: [Original; 2] = [const { Original::new() }; 2];
static PIPELINES: Original = Original::new();
static DESTROYED_PIPELINES: Original = Original::new();

/// The calls before the one that fails; negative after it.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);
/// The objects that exist.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// Whether this call fails.
fn fails() -> bool {
    LEFT.fetch_sub(1, Ordering::Relaxed) == 0
}

fn count(result: vk::Result) -> vk::Result {
    if result == vk::Result::SUCCESS {
        LIVE.fetch_add(1, Ordering::Relaxed);
    }
    result
}

unsafe extern "system" fn create<const N: usize>(
    device: vk::Device,
    info: *const c_void,
    callbacks: *const c_void,
    made: *mut u64,
) -> vk::Result {
    if fails() {
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    // SAFETY: the arguments are passed on unchanged.
    count(unsafe { CREATED[N].function::<Create>()(device, info, callbacks, made) })
}

unsafe extern "system" fn destroy<const N: usize>(device: vk::Device, object: u64, callbacks: *const c_void) {
    if object != 0 {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { DESTROYED[N].function::<Destroy>()(device, object, callbacks) }
}

unsafe extern "system" fn allocate<const N: usize>(
    device: vk::Device,
    info: *const c_void,
    made: *mut c_void,
) -> vk::Result {
    if fails() {
        return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { ALLOCATED[N].function::<Allocate>()(device, info, made) }
}

unsafe extern "system" fn create_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    number: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    made: *mut vk::Pipeline,
) -> vk::Result {
    if fails() {
        // SAFETY: there is room for the pipelines; those that are not created are null.
        unsafe { made.write_bytes(0, number as usize) };
        return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    }
    // SAFETY: the arguments are passed on unchanged.
    count(unsafe {
        let real = PIPELINES.function::<vk::PFN_vkCreateComputePipelines>();
        real(device, cache, number, infos, callbacks, made)
    })
}

unsafe extern "system" fn destroy_pipeline(device: vk::Device, object: u64, callbacks: *const c_void) {
    if object != 0 {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { DESTROYED_PIPELINES.function::<Destroy>()(device, object, callbacks) }
}

/// The replacements of `CREATE` and `DESTROY`.
macro_rules! each {
    ($function:ident, $kind:ty) => {{
        let each: [$kind; 15] = [
            $function::<0>,
            $function::<1>,
            $function::<2>,
            $function::<3>,
            $function::<4>,
            $function::<5>,
            $function::<6>,
            $function::<7>,
            $function::<8>,
            $function::<9>,
            $function::<10>,
            $function::<11>,
            $function::<12>,
            $function::<13>,
            $function::<14>,
        ];
        each
    }};
}

/// The place for the original function of this name, and its replacement.
fn replacement(name: &CStr) -> Option<(&'static Original, *const c_void)> {
    let at = |names: &[&CStr]| names.iter().position(|known| *known == name);
    if let Some(index) = at(&CREATE) {
        return Some((&CREATED[index], each!(create, Create)[index] as *const c_void));
    }
    if let Some(index) = at(&DESTROY) {
        return Some((&DESTROYED[index], each!(destroy, Destroy)[index] as *const c_void));
    }
    if let Some(index) = at(&ALLOCATE) {
        let each: [Allocate; 2] = [allocate::<0>, allocate::<1>];
        return Some((&ALLOCATED[index], each[index] as *const c_void));
    }
    match name.to_bytes() {
        b"vkCreateComputePipelines" => Some((&PIPELINES, create_pipelines as *const c_void)),
        b"vkDestroyPipeline" => Some((&DESTROYED_PIPELINES, destroy_pipeline as *const c_void)),
        _ => None,
    }
}

/// Opens a device with replaced functions.
fn open(instance: &Instance) -> device::Handle {
    let mut handle = replaced::open(instance, &replaced::usable_device(instance), replacement);
    let device = Arc::get_mut(&mut handle.0).expect("this is the only reference");
    let allocator = Allocator::new(&AllocatorCreateDesc {
        instance: instance.raw().clone(),
        device: device.raw.clone(),
        physical_device: device.physical,
        debug_settings: AllocatorDebugSettings::default(),
        buffer_device_address: true,
        // Small blocks, so that every allocation but the first allocates driver memory.
        allocation_sizes: AllocationSizes::new(1 << 16, 1 << 16),
    });
    let allocator = Mutex::new(ManuallyDrop::new(allocator.expect("an allocator")));
    let old = std::mem::replace(&mut device.allocator, allocator);
    drop(ManuallyDrop::into_inner(old.into_inner().expect("it is not locked")));
    handle
}

/// Uses objects of all kinds.
#[allow(unsafe_code, reason = "launches trust their kernels")]
fn scenario(device: &Device, modules: &[Vec<u32>; 2]) -> Result<()> {
    let queue = device.queue_with(QueueOptions { profiling: true, ..QueueOptions::default() })?;
    let data = device.buffer_from(&[1u32, 2, 3, 4, 5, 6, 7, 8])?;
    let mut bound = Program::from_spirv(device, &modules[0])?.kernel("k")?;
    bound.set(0, &data)?;
    // SAFETY: the kernel increments the eight words.
    unsafe { queue.launch(&bound, NdRange::from(8)) }?;
    let counts = device.host_buffer_from(&[0u32; 2])?;
    let mut variables = Program::from_spirv(device, &modules[1])?.kernel("k")?;
    variables.set(0, &counts)?;
    // SAFETY: the kernel writes the two words.
    unsafe { queue.launch(&variables, NdRange::from(1)) }?;
    let copy = device.buffer::<u32>(8)?;
    queue.copy(&data, &copy)?;
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8);
    let image = device.image(&ImageDesc::d2(format, 4, 4))?;
    let texels: Vec<u8> = (0..64).collect();
    queue.write_image(&image, &texels)?;
    let shared = device.svm::<u32>(16)?;
    let [other, unordered] = [device.queue()?, device.unordered_queue()?];
    other.fill(&device.buffer::<u32>(100_000)?, 7u32)?.wait()?;
    unordered.fill(&device.buffer::<u32>(10)?, 7u32)?.wait()?;
    assert_eq!(queue.read(&copy)?, [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(queue.read(&counts)?, [5, 42]);
    assert_eq!(queue.read_image::<u8>(&image)?, texels);
    drop(shared);
    Ok(())
}

#[test]
fn every_allocation_can_fail() {
    let instance = Instance::new(Validation::Off).expect("a driver");
    let modules = [module::bound(), module::variables()];
    let (mut failures, mut number) = (0, 0);
    loop {
        let options = Options::default();
        let handle = open(&instance);
        LEFT.store(number, Ordering::Relaxed);
        let opened = Device::new(Arc::new(handle), options.clone(), Prints::new(None));
        let result = opened.as_ref().map_err(Clone::clone).and_then(|device| scenario(device, &modules));
        let has_failed = LEFT.swap(i64::MAX, Ordering::Relaxed) < 0;
        if let Err(error) = &result {
            assert!(has_failed, "{error}");
            assert!(matches!(error, Error::OutOfMemory { .. }), "call {number}: {error:?}");
            failures += 1;
        }
        // The device works again.
        if let Ok(device) = &opened {
            scenario(device, &modules).unwrap_or_else(|error| panic!("after call {number}: {error}"));
        }
        if opened.is_ok() {
            assert!(LIVE.load(Ordering::Relaxed) > 3, "objects are counted");
        }
        drop(opened);
        assert_eq!(LIVE.swap(0, Ordering::Relaxed), 0, "objects are left after call {number} failed");
        if !has_failed {
            break;
        }
        number += 1;
    }
    assert!(failures > 20 && failures > number / 2, "{failures} of {number} calls failed");
}
