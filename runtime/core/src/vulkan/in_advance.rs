//! A test of pipelines that are built when a program is loaded, because the last such program used them.

use std::sync::Arc;

use super::exhaustion::module;
use super::instance::Instance;
use super::{program, replaced};
use crate::cache::Cache;
use crate::device::{Device, Options, Validation};
use crate::ndrange::NdRange;
use crate::printf::Prints;
use crate::program::Program;

/// The number of pipelines of the program's kernel.
fn pipelines(program: &Program) -> usize {
    let program: Option<&program::Program> = program.inner.handle.downcast_ref();
    program.expect("a program for Vulkan").kernel(0).pipelines().len()
}

/// Loads a program and launches its kernel with each number of work-items. Returns the number of pipelines that the load and the
/// launches built.
#[allow(unsafe_code, reason = "launches trust their kernels")]
fn built(device: &Device, launches: &[usize]) -> [usize; 2] {
    let program = Program::from_spirv(device, &module::bound()).expect("a program");
    let loaded = pipelines(&program);
    let queue = device.queue().expect("a queue");
    let data = device.buffer_from(&[0u32; 8]).expect("a buffer");
    for items in launches {
        let mut kernel = program.kernel("k").expect("a kernel");
        kernel.set(0, &data).expect("an argument");
        // SAFETY: the kernel increments a word for each work-item, up to eight.
        unsafe { queue.launch(&kernel, NdRange::from(*items).local(*items)) }.expect("a launch");
    }
    queue.finish().expect("complete launches");
    [loaded, pipelines(&program) - loaded]
}

#[test]
fn a_second_load_builds_what_the_first_one_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let instance = Instance::new(Validation::Off).expect("a driver");
    let info = replaced::usable_device(&instance);
    let cache = Some(Cache::new(folder.path()));
    let handle = instance.open_handle(&info, cache).expect("an open device");
    let device = Device::new(Arc::new(handle), Options::default(), Prints::new(None)).expect("a device");
    assert_eq!(built(&device, &[8, 4, 8]), [0, 2]);
    assert_eq!(built(&device, &[8, 4]), [2, 0]);
    // The next load knows what the last one used, if that used anything.
    assert_eq!(built(&device, &[]), [2, 0]);
    assert_eq!(built(&device, &[2]), [2, 1]);
    assert_eq!(built(&device, &[2]), [1, 0]);
}
