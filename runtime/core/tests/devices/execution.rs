//! The execution model: index spaces, local memory, order.

use kiln_runtime::{Device, Local, NdRange, Program, Queue, Sizes};

use crate::launch;
use crate::module::{self, ID_WORDS};

pub(crate) fn copy_kernel(device: &Device) {
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let kernel = &program.kernels()[0];
    let names: Vec<_> = kernel.arguments.iter().map(|argument| argument.name().unwrap()).collect();
    assert_eq!(names, ["in", "out", "n"]);
    let queue = device.queue().unwrap();
    let numbers: Vec<u32> = (0..1009).map(|i| i * i).collect();
    let source = device.buffer_from(&numbers).unwrap();
    let target = device.buffer::<u32>(1009).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set_named("out", &target).unwrap().set_named("in", &source).unwrap().set(2, 1000u32).unwrap();
    for range in [NdRange::from(1009), NdRange::from(1009).local(64), NdRange::from(500).local(50)] {
        queue.fill(&target, 0).unwrap();
        let event = launch(&queue, &kernel, range).unwrap();
        event.wait().unwrap();
        assert!(event.is_complete().unwrap());
        let covered = range.global_size()[0].min(1000);
        let read = queue.read(&target).unwrap();
        assert_eq!(read[..covered], numbers[..covered]);
        assert!(read[covered..].iter().all(|word| *word == 0));
    }
    // The kernel sees a part of a buffer as a separate buffer.
    queue.fill(&target, 0).unwrap();
    kernel.set(0, &source.slice(100..).unwrap()).unwrap();
    launch(&queue, &kernel, NdRange::from(900).offset(5)).unwrap();
    let read = queue.read(&target).unwrap();
    assert_eq!(read[..5], [0; 5]);
    assert_eq!(read[5..905], numbers[105..1005]);
}

/// Compares the ids and sizes of every work-item with the definition (OpenCL API 3.2.1).
fn check_ids(
    queue: &Queue,
    program: &Program,
    dims: u32,
    global: [usize; 3],
    local: [usize; 3],
    offset: [usize; 3],
) {
    let items: usize = global.iter().product();
    let device = queue.device();
    let out = device.buffer::<[u32; ID_WORDS]>(items.max(1)).unwrap();
    queue.fill(&out.cast::<u32>().unwrap(), 0xdead_beef).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &out).unwrap();
    let range = match dims {
        1 => range([global[0]], [local[0]], [offset[0]]),
        2 => range([global[0], global[1]], [local[0], local[1]], [offset[0], offset[1]]),
        _ => range(global, local, offset),
    };
    launch(queue, &kernel, range).unwrap();
    let records = queue.read(&out).unwrap();
    if items == 0 {
        assert_eq!(records, [[0xdead_beef; ID_WORDS]]);
        return;
    }
    for (linear, record) in records.iter().enumerate() {
        let at = [linear % global[0], linear / global[0] % global[1], linear / global[0] / global[1]];
        let of = |value: &dyn Fn(usize) -> usize| [0, 1, 2].map(|d| value(d) as u32);
        let expected = [
            of(&|d| offset[d] + at[d]),
            of(&|d| at[d] / local[d]),
            of(&|d| at[d] % local[d]),
            of(&|d| local[d].min(global[d] - at[d] / local[d] * local[d])),
            of(&|d| local[d]),
            of(&|d| global[d]),
            of(&|d| global[d].div_ceil(local[d])),
            of(&|d| offset[d]),
        ]
        .concat();
        assert_eq!(record[..24], expected, "item {linear} of {global:?} by {local:?} from {offset:?}");
        assert_eq!(record[24], dims);
    }
}

fn range<S: Sizes>(global: S, local: S, offset: S) -> NdRange {
    NdRange::from(global).local(local).offset(offset)
}

pub(crate) fn ids_sizes_offsets(device: &Device) {
    let program = Program::from_spirv(device, &module::ids()).unwrap();
    let queue = device.queue().unwrap();
    check_ids(&queue, &program, 1, [64, 1, 1], [16, 1, 1], [0, 0, 0]);
    check_ids(&queue, &program, 3, [9, 7, 5], [4, 2, 3], [3, 0, 11]);
    check_ids(&queue, &program, 2, [3, 3, 1], [8, 2, 1], [1, 2, 0]);
    check_ids(&queue, &program, 2, [0, 3, 1], [8, 2, 1], [0, 0, 0]);
    // Index spaces from a linear congruential generator: the same in every run.
    let mut state = 12345u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % below
    };
    for _ in 0..40 {
        let dims = 1 + random(3) as u32;
        let upto = |d: u32, below: usize, random: &mut dyn FnMut(usize) -> usize| {
            if d < dims { 1 + random(below) } else { 1 }
        };
        let global = [0, 1, 2].map(|d| upto(d, 20, &mut random));
        let local = [0, 1, 2].map(|d| upto(d, 6, &mut random));
        let offset = [0, 1, 2].map(|d| upto(d, 9, &mut random) - 1);
        check_ids(&queue, &program, dims, global, local, offset);
    }
}

pub(crate) fn local_arguments(device: &Device) {
    let program = Program::from_spirv(device, &module::reverse()).unwrap();
    let queue = device.queue().unwrap();
    let mut kernel = program.kernel("k").unwrap();
    // The last group is shorter, and reverses its own part.
    for (items, width) in [(64, 16), (100, 32), (7, 8)] {
        let data = device.buffer_from(&(0..items as u32).collect::<Vec<_>>()).unwrap();
        kernel.set(0, &data).unwrap().set(1, Local::array::<u32>(width)).unwrap();
        launch(&queue, &kernel, NdRange::from(items).local(width)).unwrap();
        let mut expected: Vec<u32> = (0..items as u32).collect();
        expected.chunks_mut(width).for_each(<[u32]>::reverse);
        assert_eq!(queue.read(&data).unwrap(), expected);
    }
}

pub(crate) fn commands_are_ordered(device: &Device) {
    let program = Program::from_spirv(device, &module::copy()).unwrap();
    let queue = device.queue().unwrap();
    let buffers: Vec<_> = (0..50).map(|_| device.buffer::<u32>(256).unwrap()).collect();
    queue.write(&buffers[0], &[42; 256]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    for pair in buffers.windows(2) {
        kernel.set(0, &pair[0]).unwrap().set(1, &pair[1]).unwrap().set(2, 256u32).unwrap();
        launch(&queue, &kernel, 256).unwrap();
    }
    drop(kernel);
    assert_eq!(queue.read(&buffers[49]).unwrap(), [42; 256]);
    // A queue may be dropped before its events.
    let event = device.queue().unwrap().marker().unwrap();
    event.wait().unwrap();
}

pub(crate) fn required_sizes(device: &Device) {
    let program = Program::from_spirv(device, &module::required()).unwrap();
    let queue = device.queue().unwrap();
    let data = device.buffer_from(&[0u32; 8]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.interface().required_local_size, Some([4, 2, 1]));
    kernel.set(0, &data).unwrap();
    launch(&queue, &kernel, [8, 2]).unwrap();
    assert_eq!(queue.read(&data).unwrap(), [2; 8]);
    let rejected = |range: NdRange| launch(&queue, &kernel, range).unwrap_err().to_string();
    assert!(rejected(NdRange::from([8, 2]).local([8, 2])).contains("required [4, 2, 1]"));
    assert!(rejected(NdRange::from([6, 2])).contains("uniform work-groups"));
    assert!(rejected(NdRange::from([8, 2]).offset([4, 0])).contains("without offsets"));
}
