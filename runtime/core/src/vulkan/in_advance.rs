//! A test of pipelines that are built when a program is loaded, because an earlier load used them.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ash::vk;

use super::exhaustion::module;
use super::instance::Instance;
use super::replaced::{self, Original};
use crate::cache::Cache;
use crate::device::{Device, Options, Validation};
use crate::ndrange::NdRange;
use crate::printf::Prints;
use crate::program::Program;

static CREATE: Original = Original::new();
/// The pipelines built so far.
static BUILT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "system" fn create(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    made: *mut vk::Pipeline,
) -> vk::Result {
    BUILT.fetch_add(count as usize, Ordering::Relaxed);
    // SAFETY: the arguments are passed on unchanged.
    unsafe {
        let real = CREATE.function::<vk::PFN_vkCreateComputePipelines>();
        real(device, cache, count, infos, callbacks, made)
    }
}

/// Loads a program and launches its kernel with each number of work-items. Returns the number of pipelines that the load and the
/// launches built.
#[allow(unsafe_code, reason = "launches trust their kernels")]
fn built(device: &Device, launches: &[usize]) -> [usize; 2] {
    let before = BUILT.load(Ordering::Relaxed);
    let program = Program::from_spirv(device, &module::bound()).expect("a program");
    let loaded = BUILT.load(Ordering::Relaxed);
    let queue = device.queue().expect("a queue");
    let data = device.buffer_from(&[0u32; 8]).expect("a buffer");
    for items in launches {
        let mut kernel = program.kernel("k").expect("a kernel");
        kernel.set(0, &data).expect("an argument");
        // SAFETY: the kernel increments a word for each work-item, up to eight.
        unsafe { queue.launch(&kernel, NdRange::from(*items).local(*items)) }.expect("a launch");
    }
    queue.finish().expect("complete launches");
    [loaded - before, BUILT.load(Ordering::Relaxed) - loaded]
}

#[test]
fn a_second_load_builds_what_the_first_one_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let instance = Instance::new(Validation::Off).expect("a driver");
    let info = replaced::usable_device(&instance);
    let mut handle = replaced::open(&instance, &info, |name| {
        (name == c"vkCreateComputePipelines").then_some((&CREATE, create as *const c_void))
    });
    Arc::get_mut(&mut handle.0).expect("this is the only reference").cache = Some(Cache::new(folder.path()));
    let device = Device::new(Arc::new(handle), Options::default(), Prints::new(None)).expect("a device");
    assert_eq!(built(&device, &[8, 4, 8]), [0, 2]);
    assert_eq!(built(&device, &[8, 4]), [2, 0]);
    // The next load knows what the last one used, if that used anything.
    assert_eq!(built(&device, &[]), [2, 0]);
    assert_eq!(built(&device, &[2]), [2, 1]);
    assert_eq!(built(&device, &[2]), [1, 0]);
}
