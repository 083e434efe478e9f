//! Commands on buffers, without kernels.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use kiln_runtime::{Device, Error, PinnedMemory, Program, Rect, UserEvent};

use crate::module;

pub(crate) fn buffers_keep_their_contents(device: &Device) {
    let queue = device.queue().unwrap();
    let numbers: Vec<u32> = (0..10_000).map(|i| i * 7).collect();
    let buffer = device.buffer_from(&numbers).unwrap();
    assert_eq!(queue.read(&buffer).unwrap(), numbers);
    queue.write(&buffer, &[1, 2, 3]).unwrap();
    assert_eq!(queue.read(&buffer.slice(..4).unwrap()).unwrap(), [1, 2, 3, 21]);
    let odd = device.buffer_from(b"seventeen bytes!!").unwrap();
    assert_eq!(queue.read(&odd).unwrap(), b"seventeen bytes!!");
    assert_eq!(buffer.address() % 128, 0);
    assert_eq!(odd.address() % 128, 0);
}

pub(crate) fn fills_repeat_their_pattern(device: &Device) {
    let queue = device.queue().unwrap();
    let bytes = device.buffer::<u8>(1003).unwrap();
    queue.fill(&bytes, 7u8).unwrap();
    queue.fill(&bytes.slice(1..4).unwrap(), 9u8).unwrap();
    let mut expected = vec![7u8; 1003];
    expected[1..4].fill(9);
    assert_eq!(queue.read(&bytes).unwrap(), expected);

    let words = device.buffer::<u16>(500).unwrap();
    queue.fill(&words, 0xabcdu16).unwrap();
    assert_eq!(queue.read(&words).unwrap(), [0xabcd; 500]);

    let vectors = device.buffer::<[u32; 4]>(200_000).unwrap();
    queue.fill(&vectors, [1, 2, 3, 4]).unwrap();
    assert!(queue.read(&vectors).unwrap().iter().all(|vector| *vector == [1, 2, 3, 4]));

    let triples = device.buffer::<[u8; 3]>(4).unwrap();
    assert_eq!(queue.fill(&triples, [1, 2, 3]).unwrap_err(), Error::FillPattern { bytes: 3 });
}

pub(crate) fn copies_and_parts(device: &Device) {
    let queue = device.queue().unwrap();
    let source = device.buffer_from(&(0..64u32).collect::<Vec<_>>()).unwrap();
    let target = device.buffer::<u32>(64).unwrap();
    queue.fill(&target, 0).unwrap();
    queue.copy(&source.slice(8..16).unwrap(), &target.slice(32..).unwrap()).unwrap();
    let read = queue.read(&target).unwrap();
    assert_eq!(read[32..40], [8, 9, 10, 11, 12, 13, 14, 15]);
    assert!(read[..32].iter().chain(&read[40..]).all(|word| *word == 0));
    queue.copy(&source.slice(..8).unwrap(), &source.slice(8..).unwrap()).unwrap();
    assert_eq!(queue.read(&source).unwrap()[6..10], [6, 7, 0, 1]);
    let overlapping = queue.copy(&source.slice(..8).unwrap(), &source.slice(4..).unwrap());
    assert_eq!(overlapping.unwrap_err(), Error::OverlappingCopy { from: 0, to: 16, bytes: 32 });
    let bytes = source.cast::<u8>().unwrap();
    assert_eq!((bytes.len(), queue.read(&bytes.slice(4..8).unwrap()).unwrap()), (256, vec![1, 0, 0, 0]));
    let partial = bytes.slice(..7).unwrap().cast::<u32>();
    assert!(matches!(partial, Err(Error::PartialElement { bytes: 7, element: 4, .. })));
}

pub(crate) fn transfers_out_of_bounds_are_rejected(device: &Device) {
    let queue = device.queue().unwrap();
    let buffer = device.buffer::<u32>(4).unwrap();
    let outside = Error::OutOfBounds { start: 0, end: 20, size: 16 };
    assert_eq!(queue.write(&buffer, &[0; 5]).unwrap_err(), outside);
    assert_eq!(queue.read_into(&buffer, &mut [0; 5]).unwrap_err(), outside);
    assert!(matches!(buffer.slice(2..9), Err(Error::OutOfBounds { start: 8, end: 36, size: 16 })));
    assert!(matches!(buffer.slice(4..), Err(Error::OutOfBounds { .. })));
    assert!(matches!(buffer.slice(usize::MAX..), Err(Error::OutOfBounds { .. })));
    queue.write(&buffer, &[]).unwrap().wait().unwrap();
}

pub(crate) fn impossible_buffers_are_rejected(device: &Device) {
    let limit = device.capabilities().max_allocation;
    assert_eq!(device.buffer::<u32>(0).unwrap_err(), Error::BufferSize { bytes: 0, limit });
    assert!(matches!(device.buffer::<[u64; 16]>(usize::MAX), Err(Error::BufferSize { .. })));
    assert!(matches!(device.buffer::<u8>(limit as usize + 1), Err(Error::BufferSize { .. })));
    // The device still works.
    let queue = device.queue().unwrap();
    assert_eq!(queue.read(&device.buffer_from(&[5u32]).unwrap()).unwrap(), [5]);
}

/// Larger than a piece of staging memory, at odd offsets.
pub(crate) fn large_transfers_are_complete(device: &Device) {
    let queue = device.queue().unwrap();
    let numbers: Vec<u32> = (0..5_000_001u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let buffer = device.buffer::<u32>(numbers.len() + 3).unwrap();
    let part = buffer.slice(3..).unwrap();
    queue.write(&part, &numbers).unwrap();
    assert!(queue.read(&part).unwrap() == numbers);
    let reading = queue.read_later(&part).unwrap();
    queue.fill(&part, 1).unwrap();
    assert!(reading.wait().unwrap() == numbers);
    let initialized = device.buffer_from(&numbers).unwrap();
    queue.copy(&initialized, &part).unwrap();
    // Held back by the host, and in pieces nevertheless.
    let gate = kiln_runtime::UserEvent::new();
    let held = queue.after([gate.event()]).write(&part, &vec![7; numbers.len()]).unwrap();
    gate.complete();
    held.wait().unwrap();
    assert!(queue.read(&part).unwrap().iter().all(|number| *number == 7));
}

pub(crate) fn mapped_buffers_are_written_back(device: &Device) {
    let queue = device.queue().unwrap();
    let buffer = device.buffer_from(&[1u32, 2, 3, 4]).unwrap();
    let mut mapped = queue.map(&buffer).unwrap();
    assert_eq!(*mapped, [1, 2, 3, 4]);
    mapped[2] = 30;
    mapped.unmap().unwrap();
    assert_eq!(queue.read(&buffer).unwrap(), [1, 2, 30, 4]);
    let seen = queue.map(&buffer).unwrap();
    queue.fill(&buffer, 5).unwrap();
    // The mapping was not changed, so nothing is written back.
    assert_eq!(seen[3], 4);
    seen.unmap().unwrap().wait().unwrap();
    assert_eq!(queue.read(&buffer).unwrap(), [5; 4]);
    queue.map(&buffer.slice(1..3).unwrap()).unwrap().fill(6);
    assert_eq!(queue.read(&buffer).unwrap(), [5, 6, 6, 5]);
}

/// The device uses host memory in place: each side sees the other's writes without a copy.
#[allow(unsafe_code, reason = "memory of the host that a device uses")]
pub(crate) fn memory_of_the_host(device: &Device) {
    const LEN: usize = 1 << 16;
    let layout = Layout::array::<u32>(LEN).unwrap().align_to(1 << 16).unwrap();
    // SAFETY: the size is not 0.
    let words = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap().cast::<u32>();
    let all = NonNull::slice_from_raw_parts(words, LEN);
    // SAFETY: the memory is freed at the end of this test, after the buffers; the host uses it between commands.
    let over = |memory: NonNull<[u32]>| unsafe { device.buffer_over(memory) };
    let Some(alignment) = device.capabilities().host_memory_alignment else {
        assert!(matches!(over(all), Err(Error::MissingFeature { .. })));
        // SAFETY: it was allocated with this layout.
        return unsafe { dealloc(words.cast().as_ptr(), layout) };
    };
    let short = NonNull::slice_from_raw_parts(words, LEN - 1);
    // SAFETY: the result is inside the allocation.
    let moved = NonNull::slice_from_raw_parts(unsafe { words.add(1) }, LEN / 2);
    for (bad, at, len) in [(short, 0, LEN - 1), (moved, 4, LEN / 2)] {
        let address = words.as_ptr() as u64 + at;
        assert_eq!(over(bad).unwrap_err(), Error::HostMemory { address, bytes: 4 * len as u64, alignment });
    }
    assert!(matches!(over(NonNull::slice_from_raw_parts(words, 0)), Err(Error::BufferSize { .. })));
    {
        let (buffer, queue) = (over(all).unwrap(), device.queue().unwrap());
        // SAFETY: no command uses the memory where the host does.
        let host = |at: usize| unsafe { words.add(at).as_mut() };
        (0..LEN).for_each(|at| *host(at) = at as u32);
        assert!(queue.read(&buffer).unwrap().iter().zip(0..).all(|(word, at)| *word == at));
        // A kernel copies from one half to the other.
        let [from, to] = [buffer.slice(..LEN / 2).unwrap(), buffer.slice(LEN / 2..).unwrap()];
        let program = Program::from_spirv(device, &module::copy()).unwrap();
        let mut kernel = program.kernel("k").unwrap();
        kernel.set(0, &from).unwrap().set(1, &to).unwrap().set(2, (LEN / 2) as u32).unwrap();
        crate::launch(&queue, &kernel, LEN / 2).unwrap().wait().unwrap();
        assert!((0..LEN / 2).all(|at| *host(LEN / 2 + at) == at as u32));
        // Commands of each kind access the memory.
        queue.fill(&from, 7).unwrap();
        queue.write(&to, &[8; 5]).unwrap().wait().unwrap();
        assert_eq!([0, LEN / 2 - 1, LEN / 2, LEN / 2 + 5].map(|at| *host(at)), [7, 7, 8, 5]);
        *host(1) = 9;
        let elsewhere = device.buffer::<u32>(2).unwrap();
        queue.copy(&buffer.slice(..2).unwrap(), &elsewhere).unwrap();
        assert_eq!(queue.read(&elsewhere).unwrap(), [7, 9]);
    }
    // SAFETY: it was allocated with this layout, and the buffers over it are gone with their commands.
    unsafe { dealloc(words.cast().as_ptr(), layout) };
}

/// Reads to and writes from host memory that the device can access are ordered like other transfers.
#[allow(unsafe_code, reason = "memory of the host that a device uses")]
pub(crate) fn transfers_of_memory_of_the_device(device: &Device) {
    const LEN: usize = 3000;
    let queue = device.queue().unwrap();
    let shared = device.host_buffer::<u8>(LEN).unwrap();
    let pinned = match device.pinned(LEN) {
        Err(Error::MissingFeature { .. }) => None,
        made => Some(made.unwrap()),
    };
    assert!(pinned.iter().all(|pinned| pinned.len() == LEN));
    let bytes: Vec<u8> = (0..LEN).map(|at| (at * 7) as u8).collect();
    let addresses = [pinned.as_ref().map(PinnedMemory::host_address), shared.host_address()];
    for first in addresses.into_iter().flatten() {
        let buffer = device.buffer_from(&bytes).unwrap();
        let part = |at: usize, len| {
            // SAFETY: the part is inside the memory.
            NonNull::slice_from_raw_parts(unsafe { first.add(at) }, len)
        };
        // SAFETY: it is called only while no command uses the memory.
        let host = |at: usize, len| unsafe { part(at, len).as_mut() };
        host(0, LEN).fill(1);
        let gate = UserEvent::new();
        let gated = queue.after([gate.event()]);
        // SAFETY: the host uses the memory only after the last command.
        unsafe {
            gated.read_to(&buffer.slice(..100).unwrap(), part(11, 100)).unwrap();
            queue.write_from(&buffer.slice(500..).unwrap(), part(1, 110)).unwrap();
        }
        gate.complete();
        queue.finish().unwrap();
        assert!(host(0, 11).iter().chain(host(111, LEN - 111).iter()).all(|byte| *byte == 1));
        assert_eq!(host(11, 100), &bytes[..100]);
        let read = queue.read(&buffer).unwrap();
        assert_eq!(
            (&read[..500], &read[500..510], &read[510..610]),
            (&bytes[..500], &[1; 10][..], &bytes[..100])
        );
        // A blocking write leaves the memory.
        host(0, LEN).fill(2);
        // SAFETY: the write is complete when it returns.
        unsafe { queue.blocking().write_from(&buffer, part(0, LEN)).unwrap() };
        host(0, LEN).fill(3);
        assert_eq!(queue.read(&buffer).unwrap(), [2; LEN]);
    }
    for first in addresses.into_iter().flatten() {
        boxes_in_memory_of_the_device(device, first);
    }
    // Within one allocation.
    let first = shared.host_address().unwrap();
    // SAFETY: no command uses the memory yet.
    unsafe { NonNull::slice_from_raw_parts(first, LEN).as_mut() }.copy_from_slice(&bytes);
    // SAFETY: the host uses the memory only after the command, which uses parts of it.
    unsafe {
        let target = NonNull::slice_from_raw_parts(first.add(10), 100);
        queue.read_to(&shared.slice(..100).unwrap(), target).unwrap().wait().unwrap();
    }
    assert_eq!(queue.read(&shared).unwrap()[10..110], bytes[..100]);
}

/// Short rows go through staging memory, long and contiguous ones do not. All are in the order of the queue.
#[allow(unsafe_code, reason = "memory of the host that a device uses")]
fn boxes_in_memory_of_the_device(device: &Device, first: NonNull<u8>) {
    let queue = device.queue().unwrap();
    let bytes: Vec<u8> = (0..3000).map(|at| (at * 7) as u8).collect();
    for (width, pitch, apart, rows) in [(10, 20, 500, 5), (10, 10, 50, 50), (1100, 1300, 1150, 2)] {
        let (buffer, copy) = (device.buffer_from(&bytes).unwrap(), device.buffer_from(&[5u8; 3000]).unwrap());
        let size = [width, rows, 1];
        let rect = |origin, pitch| Rect { origin, row_pitch: pitch, slice_pitch: 0 };
        let gate = UserEvent::new();
        let gated = queue.after([gate.event()]);
        // SAFETY: the boxes are inside the memory, which the host uses only after the last command.
        unsafe {
            gated.read_to(&buffer, NonNull::slice_from_raw_parts(first, 3000)).unwrap();
            queue
                .write_rect_from(&copy, rect([1, 0, 0], apart), first, rect([3, 0, 0], pitch), size)
                .unwrap();
            queue.read_rect_to(&copy, rect([1, 0, 0], apart), first, rect([0; 3], pitch), size).unwrap();
        }
        // Rows of the buffer that are too short for a box.
        // SAFETY: as above.
        let wrong = unsafe { queue.read_rect_to(&copy, rect([2999, 0, 0], 0), first, rect([0; 3], 0), size) };
        assert!(matches!(wrong, Err(Error::OutOfBounds { .. })));
        gate.complete();
        queue.finish().unwrap();
        let mut expected = vec![5; 3000];
        let mut host = bytes.clone();
        for row in 0..rows as usize {
            let [width, pitch, apart] = [width, pitch, apart].map(|number| number as usize);
            let moved = &bytes[3 + row * pitch..][..width];
            expected[1 + row * apart..][..width].copy_from_slice(moved);
            host[row * pitch..][..width].copy_from_slice(moved);
        }
        assert_eq!(queue.read(&copy).unwrap(), expected);
        // SAFETY: no command uses the memory now.
        assert_eq!(unsafe { NonNull::slice_from_raw_parts(first, 3000).as_ref() }, host);
    }
}
