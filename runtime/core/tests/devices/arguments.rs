//! Arguments: how they reach the kernel, and which ones are rejected.

use kiln_runtime::{Device, Error, Local, Null, Program};

use crate::launch;
use crate::module;

pub(crate) fn argument_blocks(device: &Device) {
    let program = Program::from_spirv(device, &module::block()).unwrap();
    let queue = device.queue().unwrap();
    let out = device.buffer_from(&[0u32; 3]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    // Each launch has its own block, even before the earlier one has run.
    for i in 0..20u32 {
        kernel.set(0, &out).unwrap().set(1, i).unwrap().set(2, [i + 1, i + 2]).unwrap();
        launch(&queue, &kernel, 1).unwrap();
        if i % 7 == 0 {
            assert_eq!(queue.read(&out).unwrap(), [i, i + 1, i + 2]);
        }
    }
    assert_eq!(queue.read(&out).unwrap(), [19, 20, 21]);
}

pub(crate) fn bound_buffers(device: &Device) {
    let program = Program::from_spirv(device, &module::bound()).unwrap();
    let queue = device.queue().unwrap();
    let data = device.buffer_from(&(0..8u32).collect::<Vec<_>>()).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &data).unwrap();
    launch(&queue, &kernel, 8).unwrap();
    assert_eq!(queue.read(&data).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
}

pub(crate) fn program_scope_variables(device: &Device) {
    let words = module::variables();
    let program = Program::from_spirv(device, &words).unwrap();
    assert_eq!(program.interface().variables.as_ref().unwrap().bytes.len(), 16);
    let queue = device.queue().unwrap();
    let out = device.buffer::<u32>(2).unwrap();
    let launch = |program: &Program| {
        let mut kernel = program.kernel("k").unwrap();
        kernel.set(0, &out).unwrap();
        launch(&queue, &kernel, 1).unwrap();
        queue.read(&out).unwrap()
    };
    // Program-scope variables keep their values between launches. Each program has its own.
    assert_eq!(launch(&program), [5, 42]);
    assert_eq!(launch(&program), [6, 42]);
    assert_eq!(launch(&program.clone()), [7, 42]);
    assert_eq!(launch(&Program::from_spirv(device, &words).unwrap()), [5, 42]);
}

pub(crate) fn wrong_arguments_are_rejected(device: &Device) {
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let queue = device.queue().unwrap();
    let buffer = device.buffer_from(&[0u32; 4]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(kernel.set(2, 1u64).unwrap_err()),
        "argument 2 (`n`) of kernel `k` is a value of 8 bytes; pass a value of 4 bytes (uint)"
    );
    assert_eq!(
        text(kernel.set(2, &buffer).unwrap_err()),
        "argument 2 (`n`) of kernel `k` is a buffer; pass a value of 4 bytes (uint)"
    );
    assert_eq!(
        text(kernel.set(0, 7u32).unwrap_err()),
        "argument 0 (`in`) of kernel `k` is a value of 4 bytes; pass a buffer (uint*)"
    );
    assert!(matches!(kernel.set(1, Local(64)), Err(Error::WrongArgument { index: 1, .. })));
    assert!(matches!(kernel.set(2, Null), Err(Error::WrongArgument { index: 2, .. })));
    assert_eq!(
        text(kernel.set(3, 7u32).unwrap_err()),
        "kernel `k` has no argument 3; it has 0 (`in`), 1 (`out`), 2 (`n`)"
    );
    assert!(text(kernel.set_named("count", 7u32).unwrap_err()).contains("no argument `count`"));
    kernel.set(0, &buffer).unwrap().set(1, Null).unwrap();
    let unset = launch(&queue, &kernel, 4).unwrap_err();
    assert_eq!(text(unset), "argument 2 (`n`) of kernel `k` is not set; set it before the launch");
    // A null pointer may be passed, as long as it is not followed.
    kernel.set(2, 0u32).unwrap();
    launch(&queue, &kernel, 4).unwrap().wait().unwrap();

    let mut local = Program::from_spirv(device, &module::reverse()).unwrap().kernel("k").unwrap();
    assert!(text(local.set(1, Local(0)).unwrap_err()).contains("local memory above 0"));
    assert!(matches!(local.set(1, &buffer), Err(Error::WrongArgument { index: 1, .. })));
    local.set(0, &buffer).unwrap().set(1, Local(1 << 30)).unwrap();
    let large = launch(&queue, &local, 4).unwrap_err();
    assert!(text(large).contains("1073741824 bytes of local memory"));
}
