//! Rectangular transfers and fills, compared with the same operations on a slice.

use std::ptr::NonNull;

use fastrand::Rng;
use kiln_runtime::{Buffer, Device, Error, Event, Rect, UserEvent};

fn rect(random: &mut Rng, [width, rows, _]: [u64; 3]) -> Rect {
    let origin = [random.u64(..9), random.u64(..4), random.u64(..3)];
    let row_pitch = if random.u64(..3) == 0 { 0 } else { width + random.u64(..6) };
    let row = if row_pitch == 0 { width } else { row_pitch };
    let slice_pitch = if random.u64(..3) == 0 { 0 } else { row * (rows + random.u64(..3)) };
    Rect { origin, row_pitch, slice_pitch }
}

/// The offset of a row, by OpenCL's formula.
fn offset(rect: Rect, [width, rows, _]: [u64; 3], y: u64, z: u64) -> usize {
    let row = if rect.row_pitch == 0 { width } else { rect.row_pitch };
    let slice = if rect.slice_pitch == 0 { row * rows } else { rect.slice_pitch };
    ((rect.origin[2] + z) * slice + (rect.origin[1] + y) * row + rect.origin[0]) as usize
}

fn copy(from: &[u8], at: Rect, into: &mut [u8], to: Rect, size: [u64; 3]) {
    for z in 0..size[2] {
        for y in 0..size[1] {
            let (source, target) = (offset(at, size, y, z), offset(to, size, y, z));
            let width = size[0] as usize;
            into[target..][..width].copy_from_slice(&from[source..][..width]);
        }
    }
}

const BYTES: usize = 4096;

/// Copies, reads and writes boxes of random sizes and pitches, blocking and not.
#[allow(unsafe_code, reason = "the test keeps the slices")]
pub(crate) fn transfers(device: &Device) {
    let mut random = Rng::with_seed(7);
    let mut bytes = || (0..BYTES).map(|_| random.u8(..)).collect::<Vec<_>>();
    let (mut a, mut b, mut host) = (bytes(), bytes(), bytes());
    let queue = device.queue().unwrap();
    let [one, two] = [&a, &b].map(|bytes| {
        // A part of a buffer, so that offsets count.
        let buffer = device.buffer::<u8>(BYTES + 12).unwrap();
        let part = buffer.slice(12..).unwrap();
        queue.write(&part, bytes).unwrap();
        part
    });
    let mut random = Rng::with_seed(8);
    for round in 0..150 {
        let size = [1 + random.u64(..40), 1 + random.u64(..5), 1 + random.u64(..4)];
        let (from, to) = (rect(&mut random, size), rect(&mut random, size));
        match round % 5 {
            0 => {
                queue.copy_rect(&one, from, &two, to, size).unwrap();
                copy(&a, from, &mut b, to, size);
            }
            1 => {
                queue.write_rect(&one, to, &host, from, size).unwrap();
                copy(&host, from, &mut a, to, size);
            }
            2 => {
                queue.read_rect(&two, from, &mut host, to, size).unwrap();
                let mut expected = host.clone();
                copy(&b, from, &mut expected, to, size);
                assert!(host == expected, "{from:?} {to:?} {size:?}");
            }
            3 => {
                let mut expected = host.clone();
                copy(&a, from, &mut expected, to, size);
                let target = NonNull::from(&mut host[..]).cast();
                // SAFETY: the slice is not used until the event is complete.
                unsafe { queue.read_rect_to(&one, from, target, to, size).unwrap() }.wait().unwrap();
                assert!(host == expected, "{from:?} {to:?} {size:?}");
            }
            _ => {
                let gate = UserEvent::new();
                let held = queue.after([gate.event()]);
                let source = NonNull::from(&host[..]).cast();
                // SAFETY: as above.
                let event = unsafe { held.write_rect_from(&two, to, source, from, size).unwrap() };
                gate.complete();
                event.wait().unwrap();
                copy(&host, from, &mut b, to, size);
            }
        }
    }
    assert!(queue.read(&one).unwrap() == a && queue.read(&two).unwrap() == b);
}

/// Boxes outside their buffers, overlapping boxes and impossible pitches.
pub(crate) fn misuse(device: &Device) {
    let queue = device.queue().unwrap();
    let buffer = device.buffer_from(&[0u8; 100]).unwrap();
    let small = device.buffer_from(&[0u8; 60]).unwrap();
    let tens = Rect { origin: [0; 3], row_pitch: 10, slice_pitch: 0 };
    let size = [5, 7, 1];
    let error = |result: kiln_runtime::Result<Event>| result.unwrap_err();
    let copied = |from, target: &Buffer<u8>, to| queue.copy_rect(&buffer, from, target, to, size);
    let outside = Error::OutOfBounds { start: 0, end: 65, size: 60 };
    assert_eq!(error(copied(tens, &small, tens)), outside);
    let shifted = Rect { origin: [4, 0, 0], ..tens };
    assert!(matches!(error(copied(tens, &buffer, shifted)), Error::OverlappingCopy { from: 0, to: 4, .. }));
    // Adjacent boxes share rows, but no bytes.
    let beside = Rect { origin: [5, 0, 0], ..tens };
    copied(tens, &buffer, beside).unwrap().wait().unwrap();
    let wide = Rect { row_pitch: 11, ..beside };
    assert!(matches!(error(copied(tens, &buffer, wide)), Error::OverlappingCopy { from: 0, to: 5, .. }));
    // Other pitches.
    let dense = Rect { origin: [65, 0, 0], row_pitch: 5, slice_pitch: 0 };
    copied(tens, &buffer, dense).unwrap().wait().unwrap();
    assert!(matches!(error(copied(Rect { row_pitch: 4, ..tens }, &buffer, tens)), Error::Rect { .. }));
    let error = queue.read_rect(&buffer, tens, &mut [0; 30], tens, size).unwrap_err();
    assert_eq!(error, Error::OutOfBounds { start: 0, end: 65, size: 30 });
}

/// Fills of parts with patterns of all sizes.
pub(crate) fn fills(device: &Device) {
    let queue = device.queue().unwrap();
    let mut bytes = vec![0u8; BYTES];
    let buffer = device.buffer_from(&bytes).unwrap();
    let mut random = Rng::with_seed(9);
    for round in 0..40 {
        let size = 1 << (round % 8);
        let pattern: Vec<u8> = (0..size).map(|_| random.u8(..)).collect();
        let count = 1 + random.usize(..20);
        let start = random.usize(..BYTES / size - count) * size;
        let part = buffer.slice(start..start + count * size).unwrap();
        queue.fill_pattern(&part, &pattern).unwrap();
        bytes[start..start + count * size].copy_from_slice(&pattern.repeat(count));
        assert!(queue.read(&buffer).unwrap() == bytes, "{size} bytes at {start}");
    }
    let part = buffer.slice(..12).unwrap();
    assert_eq!(queue.fill_pattern(&part, &[0; 12]).unwrap_err(), Error::FillPattern { bytes: 12 });
    let partial = Error::PartialElement { bytes: 12, offset: 0, element: 8 };
    assert_eq!(queue.fill_pattern(&part, &[0; 8]).unwrap_err(), partial);
}
