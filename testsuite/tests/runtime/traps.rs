//! Traps through the runtime: which waits report the failed launch, and what stays unchanged.

use std::sync::mpsc;

use kiln_runtime::{Device, Error, Kernel, NdRange, UserEvent};

use crate::{compile, launch, printing::Text};

const SOURCE: &str = "#include <kiln/assert.h>
kernel void put(global uint *out, uint bad) {
    uint i = get_global_id(0);
    assert(i != bad);                                   // line 4
    out[i] = i + 1;
}
kernel void tell(global uint *out, uint bad) {
    printf(\"%u\\n\", (uint)get_global_id(0));
    assert(get_global_id(0) != bad);                    // line 9
    *out = 1;
}
kernel void meet(global uint *out, local uint *part, uint bad) {
    uint i = get_local_id(0);
    part[i] = i;
    assert(get_global_id(0) != bad);                    // line 15
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[(i + 1) % get_local_size(0)] + 1;
}";

/// The line, the work-item and the message.
fn trap<T: std::fmt::Debug>(result: kiln_runtime::Result<T>) -> (u32, [u64; 3], String) {
    match result {
        Err(Error::Trap { site, work_item, message, .. }) => {
            (site.split(':').nth(1).unwrap_or_default().parse().unwrap_or(0), work_item, message)
        }
        other => panic!("{other:?}"),
    }
}

fn set_bad_item(kernel: &mut Kernel, bad: u32) -> &Kernel {
    kernel.set(1, bad).unwrap()
}

/// Only the work-item that traps stops, and no other memory changes.
pub(crate) fn launches_fail(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.queue().unwrap());
    let whole = device.buffer_from(&[99u32; 200]).unwrap();
    let out = whole.slice(50..150).unwrap();
    let mut kernel = program.kernel("put").unwrap();
    kernel.set(0, &out).unwrap();
    let event = launch(&queue, set_bad_item(&mut kernel, 37), 100).unwrap();
    let expected = (4, [37, 0, 0], "assertion failed: i != bad".to_owned());
    assert_eq!(trap(event.wait()), expected);
    assert_eq!(trap(event.wait()), expected);
    assert_eq!(trap(event.status()), expected);
    let found = queue.read(&whole).unwrap();
    for (at, value) in found.into_iter().enumerate() {
        let item = at.wrapping_sub(50);
        assert_eq!(value as usize, if item < 100 && item != 37 { item + 1 } else { 99 }, "{at}");
    }
    // The device still works.
    launch(&queue, set_bad_item(&mut kernel, 1000), 100).unwrap().wait().unwrap();
    assert_eq!(queue.read(&out).unwrap(), (1..=100).collect::<Vec<u32>>());
}

/// A wait for the queue reports the error once, at the first wait.
pub(crate) fn queues_report(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.queue().unwrap());
    let out = device.buffer_from(&[0u32; 8]).unwrap();
    let mut kernel = program.kernel("put").unwrap();
    kernel.set(0, &out).unwrap();
    let item = |result: kiln_runtime::Result<()>| trap(result).1[0];
    for bad in [3, 5] {
        launch(&queue, set_bad_item(&mut kernel, bad), 8).unwrap();
    }
    assert_eq!(item(queue.read(&out).map(drop)), 3);
    assert_eq!(item(queue.finish()), 5);
    assert_eq!(queue.read(&out).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    launch(&queue, set_bad_item(&mut kernel, 2), 8).unwrap();
    assert_eq!(item(queue.read_later(&out).unwrap().wait().map(drop)), 2);
    // An error that an event has reported is not reported again, and other queues are not affected.
    let event = launch(&queue, set_bad_item(&mut kernel, 1), 8).unwrap();
    device.queue().unwrap().after([&event]).read(&out).unwrap();
    assert_eq!(item(event.wait()), 1);
    queue.finish().unwrap();
    // Callbacks get the error, too.
    let (sender, receiver) = mpsc::channel();
    let event = launch(&queue, set_bad_item(&mut kernel, 6), 8).unwrap();
    event.on_end(move |result| sender.send(result).unwrap());
    assert_eq!(item(receiver.recv().unwrap()), 6);
    queue.finish().unwrap();
}

/// Launches that are held back, and that print.
pub(crate) fn held_back(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.unordered_queue().unwrap());
    let text = Text::default();
    device.print_to(text.clone());
    let out = device.buffer_from(&[0u32]).unwrap();
    let mut kernel = program.kernel("tell").unwrap();
    kernel.set(0, &out).unwrap();
    let gate = UserEvent::new();
    let event = launch(&queue.after([gate.event()]), set_bad_item(&mut kernel, 0), 1).unwrap();
    assert!(!event.is_complete().unwrap());
    gate.complete();
    assert_eq!(trap(event.wait()), (9, [0; 3], "assertion failed: get_global_id(0) != bad".to_owned()));
    assert_eq!((text.take().as_str(), queue.read(&out).unwrap()), ("0\n", vec![0]));
    launch(&queue, set_bad_item(&mut kernel, 7), 1).unwrap().wait().unwrap();
    assert_eq!((text.take().as_str(), queue.read(&out).unwrap()), ("0\n", vec![1]));
    device.print_to(std::io::stdout());
}

/// On every driver, the other work-items of a group pass the barrier without the stopped one. In Vulkan, a barrier that
/// not all work-items reach is undefined, so the reference device reports it.
pub(crate) fn barriers(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.queue().unwrap());
    let out = device.buffer_from(&[0u32; 128]).unwrap();
    let mut kernel = program.kernel("meet").unwrap();
    kernel
        .set(0, &out)
        .unwrap()
        .set(1, kiln_runtime::Local::array::<u32>(64))
        .unwrap()
        .set(2, 70u32)
        .unwrap();
    let event = launch(&queue, &kernel, NdRange::from(128).local(64)).unwrap();
    if device.info().is_strict {
        let reported = event.wait().unwrap_err();
        assert!(matches!(&reported, Error::Strict(report) if report.kind == "divergence"), "{reported:?}");
        return;
    }
    assert_eq!(trap(event.wait()).1, [70, 0, 0]);
    let expected: Vec<u32> = (0..128).map(|i| if i == 70 { 0 } else { (i + 1) % 64 + 1 }).collect();
    assert_eq!(queue.read(&out).unwrap(), expected);
}

/// With bounds checks, both errors are reported, the out-of-bounds access first.
pub(crate) fn with_bounds_checks(device: &Device) {
    let program = crate::compile_checked(device, SOURCE);
    let queue = device.queue().unwrap();
    let out = device.buffer_from(&[0u32; 8]).unwrap();
    let mut kernel = program.kernel("put").unwrap();
    kernel.set(0, &out).unwrap();
    assert_eq!(trap(queue.launch_checked(set_bad_item(&mut kernel, 5), 8)).1, [5, 0, 0]);
    assert!(matches!(
        queue.launch_checked(set_bad_item(&mut kernel, 5), 9),
        Err(Error::OutsideBuffers { .. })
    ));
    queue.launch_checked(set_bad_item(&mut kernel, 9), 8).unwrap();
    queue.finish().unwrap();
}

/// The reported work-item is one of those that trap, even if there are many.
pub(crate) fn many_at_once(device: &Device) {
    let source = "#include <kiln/assert.h>
        kernel void k(global uint *out) {
            uint i = get_global_linear_id();
            assert(i % 3 != 1);
            atomic_inc(out);
        }";
    let (program, queue) = (compile(device, source), device.queue().unwrap());
    let out = device.buffer_from(&[0u32]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &out).unwrap();
    for _ in 0..20 {
        let (_, [x, y, z], _) = trap(launch(&queue, &kernel, NdRange::from([30, 10, 10])).unwrap().wait());
        assert_eq!(((z * 10 + y) * 30 + x) % 3, 1);
    }
    assert_eq!(queue.read(&out).unwrap(), [20 * 2000]);
}
