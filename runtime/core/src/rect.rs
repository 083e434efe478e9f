//! Rectangular transfers: boxes of bytes in buffers and in memory of the host.
//!
//! Owns origins and pitches (OpenCL API 5.2.3). Must not depend on how bytes are copied.

#![allow(unsafe_code, reason = "memory of the caller; each states why it is sound")]

use std::ptr::NonNull;

use bytemuck::Pod;

use crate::backend::{Command, Memory, Placement};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::host::HostRows;
use crate::queue::Queue;
use crate::staging::Arrival;

/// The size of a box: bytes of a row, rows of a slice, and slices.
pub(crate) type Size = [u64; 3];

/// Where a box of bytes starts in memory, and how far apart its rows and slices are.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// use kiln_runtime::Rect;
/// // Copies an 8 by 8 tile of a picture with 640 bytes in each row to a packed buffer.
/// let (picture, tile) = (device.buffer::<u8>(640 * 480)?, device.buffer::<u8>(64)?);
/// let from = Rect { origin: [16, 32, 0], row_pitch: 640, slice_pitch: 0 };
/// queue.copy_rect(&picture, from, &tile, Rect::default(), [8, 8, 1])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rect {
    /// The first byte, row and slice.
    pub origin: [u64; 3],
    /// The bytes from one row to the next. 0 means the bytes of a row of the box.
    pub row_pitch: u64,
    /// The bytes from one slice to the next. 0 means all rows of a slice of the box.
    pub slice_pitch: u64,
}

/// The host copies shorter rows faster than the device, if they are apart.
const MIN_DIRECT_ROW: u64 = 1024;

/// A checked [`Rect`]: the offset of the first byte, and both pitches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    first: u64,
    row_pitch: u64,
    slice_pitch: u64,
}

impl Rect {
    /// Checks the pitches for a box of this size.
    pub(crate) fn grid(self, [width, rows, slices]: Size) -> Result<Grid> {
        let rejected = |reason: String| Err(Error::Rect { reason });
        if [width, rows, slices].contains(&0) {
            return rejected(format!("a box of {width} bytes, {rows} rows and {slices} slices is empty"));
        }
        let row_pitch = if self.row_pitch == 0 { width } else { self.row_pitch };
        let slice = rows.saturating_mul(row_pitch);
        let slice_pitch = if self.slice_pitch == 0 { slice } else { self.slice_pitch };
        if row_pitch < width {
            return rejected(format!("its rows have {width} bytes and are {row_pitch} bytes apart"));
        }
        if slice_pitch < slice || !slice_pitch.is_multiple_of(row_pitch) {
            return rejected(format!(
                "its slices are {slice_pitch} bytes apart, which is not a multiple of {row_pitch} of at least {slice}"
            ));
        }
        let [x, y, z] = self.origin;
        let first = y.checked_mul(row_pitch).zip(z.checked_mul(slice_pitch));
        let first = first.and_then(|(y, z)| x.checked_add(y)?.checked_add(z));
        let grid = first.map(|first| Grid { first, row_pitch, slice_pitch });
        let end = grid.and_then(|grid| grid.end([width, rows, slices]));
        match grid.filter(|_| end.is_some()) {
            Some(grid) => Ok(grid),
            None => rejected("its last byte has no address".to_owned()),
        }
    }
}

impl Grid {
    /// The offset of the first byte of a row.
    pub(crate) fn at(self, row: u64, slice: u64) -> u64 {
        self.first + row * self.row_pitch + slice * self.slice_pitch
    }

    /// One past the last byte; `None` if it is not representable.
    fn end(self, [width, rows, slices]: Size) -> Option<u64> {
        let last = (rows - 1).checked_mul(self.row_pitch)?;
        let last = last.checked_add((slices - 1).checked_mul(self.slice_pitch)?)?;
        self.first.checked_add(last)?.checked_add(width)
    }

    /// The same pitches from another first byte.
    pub(crate) fn starting_at(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// Moves the grid by this number of bytes.
    fn offset_by(self, offset: u64) -> Self {
        Self { first: self.first + offset, ..self }
    }

    /// Whether the two boxes of this size share a byte.
    fn overlaps(self, other: Self, [width, rows, slices]: Size) -> bool {
        // The rows of a box ascend and have gaps or none, so it is enough to compare neighbors.
        let starts = |grid: Self| (0..slices).flat_map(move |z| (0..rows).map(move |y| grid.at(y, z)));
        let (mut ours, mut theirs) = (starts(self).peekable(), starts(other).peekable());
        while let (Some(&own), Some(&foreign)) = (ours.peek(), theirs.peek()) {
            if own.abs_diff(foreign) < width {
                return true;
            }
            let _ = if own < foreign { ours.next() } else { theirs.next() };
        }
        false
    }
}

/// The contiguous parts of a copy between two boxes: their offsets in both, and their size.
pub(crate) fn parts(from: Grid, to: Grid, size: Size) -> impl Iterator<Item = (u64, u64, u64)> {
    let [mut width, mut rows, mut slices] = size;
    let dense = |pitch: fn(Grid) -> u64, bytes| pitch(from) == bytes && pitch(to) == bytes;
    if rows == 1 || dense(|grid| grid.row_pitch, width) {
        (width, rows) = (width * rows, 1);
        if dense(|grid| grid.slice_pitch, width) {
            (width, slices) = (width * slices, 1);
        }
    }
    (0..slices).flat_map(move |z| (0..rows).map(move |y| (from.at(y, z), to.at(y, z), width)))
}

impl Queue {
    /// Copies a box of bytes from one buffer to another (`clEnqueueCopyBufferRect`). In one buffer, the boxes must not
    /// overlap.
    pub fn copy_rect<T: Pod, U: Pod>(
        &self,
        source: &Buffer<T>,
        from: Rect,
        target: &Buffer<U>,
        to: Rect,
        size: [u64; 3],
    ) -> Result<Event> {
        self.check_device(source)?;
        self.check_device(target)?;
        let (from, to) = (grid(source, from, size)?, grid(target, to, size)?);
        if source.memory.is(&target.memory) && from.overlaps(to, size) {
            let bytes = size.iter().product();
            return Err(Error::OverlappingCopy { from: from.first, to: to.first, bytes });
        }
        let (source, target) = (source.memory.clone(), target.memory.clone());
        self.enqueue(Command::CopyRect { source, from, target, to, size })
    }

    /// Writes a box of bytes of a slice to a box of a buffer (`clEnqueueWriteBufferRect`). The slice may be reused as
    /// soon as this returns.
    pub fn write_rect<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        to: Rect,
        contents: &[u8],
        from: Rect,
        size: [u64; 3],
    ) -> Result<Event> {
        check_box(contents.len(), from, size)?;
        let start = NonNull::from(contents).cast();
        // SAFETY: the box is within the slice, which is only read, and before this returns.
        let host = unsafe { HostRows::new(start, from, size)? };
        let (to, packed) = (self.target(buffer, to, size)?, Rect::default().grid(size)?);
        let source = self.device().backend().allocate(host.bytes(), Placement::Upload)?;
        crate::staging::fill(&source, host.bytes(), |bytes| host.gather(0, bytes))?;
        let target = buffer.memory.clone();
        self.enqueue(Command::CopyRect { source, from: packed, target, to, size })
    }

    /// Reads a box of a buffer into a box of bytes of a slice, blocking (`clEnqueueReadBufferRect`).
    pub fn read_rect<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        from: Rect,
        contents: &mut [u8],
        to: Rect,
        size: [u64; 3],
    ) -> Result<()> {
        check_box(contents.len(), to, size)?;
        let start = NonNull::from(contents).cast();
        // SAFETY: the box is within the slice, which is borrowed exclusively and written before this returns.
        let host = unsafe { HostRows::new(start, to, size)? };
        let arrival = self.copy_to_staging(buffer, from, size)?;
        arrival.event.wait()?;
        arrival.with(host.bytes(), |packed| host.scatter(0, packed))?;
        self.failures().report()
    }

    /// Reads a box of a buffer into a box in memory of the caller, without blocking (`clEnqueueReadBufferRect`).
    ///
    /// # Safety
    /// The bytes of the box that starts at `target` must be valid for writes, and nothing else may access them, until
    /// the event has ended.
    pub unsafe fn read_rect_to<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        from: Rect,
        target: NonNull<u8>,
        to: Rect,
        size: [u64; 3],
    ) -> Result<Event> {
        // SAFETY: the caller guarantees it.
        let host = unsafe { HostRows::new(target, to, size)? };
        if let Some((target, to)) = self.shared_box(&host, &buffer.memory) {
            let (source, from) = (buffer.memory.clone(), self.target(buffer, from, size)?);
            let to = host.grid_from(to);
            return self.copy_directly(Command::CopyRect { source, from, target, to, size });
        }
        let arrival = self.copy_to_staging(buffer, from, size)?;
        self.deliver(vec![(0, host.bytes(), arrival)], host)
    }

    /// Writes a box in memory of the caller to a box of a buffer, without blocking (`clEnqueueWriteBufferRect`). The
    /// memory is read as by [`write_from`](Self::write_from).
    ///
    /// # Safety
    /// The bytes of the box that starts at `source` must be valid for reads, and nothing else may write them, until the
    /// event has ended. Earlier commands of the queue and commands of the wait list may.
    pub unsafe fn write_rect_from<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        to: Rect,
        source: NonNull<u8>,
        from: Rect,
        size: [u64; 3],
    ) -> Result<Event> {
        // SAFETY: the caller guarantees it.
        let host = unsafe { HostRows::new(source, from, size)? };
        let (to, packed) = (self.target(buffer, to, size)?, Rect::default().grid(size)?);
        if let Some((source, from)) = self.shared_box(&host, &buffer.memory) {
            let (target, from) = (buffer.memory.clone(), host.grid_from(from));
            return self.copy_directly(Command::CopyRect { source, from, target, to, size });
        }
        self.collect(host, u64::MAX, |source, _, _| {
            let target = buffer.memory.clone();
            Command::CopyRect { source, from: packed, target, to, size }
        })
    }

    /// As [`shared_rows`](Self::shared_rows), unless the device would copy many short rows.
    fn shared_box(&self, host: &HostRows, other: &Memory) -> Option<(Memory, u64)> {
        let is_fast = host.is_packed() || host.width() >= MIN_DIRECT_ROW;
        if is_fast { self.shared_rows(host, Some(other)) } else { None }
    }

    fn target<T: Pod>(&self, buffer: &Buffer<T>, to: Rect, size: Size) -> Result<Grid> {
        self.check_device(buffer)?;
        grid(buffer, to, size)
    }

    /// Copies a box of a buffer to staging memory, packed.
    fn copy_to_staging<T: Pod>(&self, buffer: &Buffer<T>, from: Rect, size: Size) -> Result<Arrival> {
        let (from, to) = (self.target(buffer, from, size)?, Rect::default().grid(size)?);
        let memory = self.device().backend().allocate(size.iter().product(), Placement::Download)?;
        let (source, target) = (buffer.memory.clone(), memory.clone());
        let event = self.enqueue(Command::CopyRect { source, from, target, to, size })?;
        Ok(Arrival { event, memory })
    }
}

/// The grid of a box in the memory of a buffer.
fn grid<T: Pod>(buffer: &Buffer<T>, rect: Rect, size: Size) -> Result<Grid> {
    check_box(buffer.bytes() as usize, rect, size).map(|grid| grid.offset_by(buffer.offset))
}

/// Checks that a box is within this many bytes.
pub(crate) fn check_box(bytes: usize, rect: Rect, size: Size) -> Result<Grid> {
    let grid = rect.grid(size)?;
    match grid.end(size) {
        Some(end) if end <= bytes as u64 => Ok(grid),
        end => {
            let end = end.unwrap_or(u64::MAX);
            Err(Error::OutOfBounds { start: grid.first, end, size: bytes as u64 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(origin: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Rect {
        Rect { origin, row_pitch, slice_pitch }
    }

    #[test]
    fn pitches_are_checked() {
        let grid = rect([1, 2, 3], 0, 0).grid([10, 4, 2]).unwrap();
        assert_eq!((grid.first, grid.row_pitch, grid.slice_pitch), (1 + 20 + 120, 10, 40));
        for (wrong, size) in [
            (rect([0; 3], 9, 0), [10, 4, 2]),
            (rect([0; 3], 10, 39), [10, 4, 2]),
            (rect([0; 3], 10, 45), [10, 4, 2]),
            (rect([0; 3], 0, 0), [10, 0, 2]),
            (rect([0, 2, 0], u64::MAX, 0), [10, 1, 1]),
            (rect([0; 3], u64::MAX / 2, 0), [10, 4, 1]),
        ] {
            assert!(matches!(wrong.grid(size), Err(Error::Rect { .. })), "{wrong:?}");
        }
        let beyond = Error::OutOfBounds { start: 0, end: 20 * 3 + 10, size: 69 };
        assert_eq!(check_box(69, rect([0; 3], 20, 0), [10, 4, 1]), Err(beyond));
        assert!(check_box(70, rect([0; 3], 20, 0), [10, 4, 1]).is_ok());
    }

    /// Overlaps are found as by marking every byte.
    #[test]
    fn overlaps_are_exact() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut counts = [0; 2];
        for _ in 0..5000 {
            let size = [1 + random(4), 1 + random(3), 1 + random(3)];
            let [a, b] = [0; 2].map(|_| {
                let row = size[0] + random(3);
                let slice = row * (size[1] + random(2));
                let origin = [random(6), random(4), random(3)];
                rect(origin, row, slice).grid(size).unwrap()
            });
            let bytes = |grid: Grid| {
                let rows = parts(grid, grid, size);
                rows.flat_map(|(at, _, bytes)| at..at + bytes).collect::<std::collections::HashSet<_>>()
            };
            let shared = !bytes(a).is_disjoint(&bytes(b));
            assert_eq!(a.overlaps(b, size), shared, "{a:?} {b:?} {size:?}");
            assert_eq!(b.overlaps(a, size), shared);
            counts[usize::from(shared)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
    }

    #[test]
    fn dense_rows_are_one_copy() {
        let packed = Rect::default().grid([8, 4, 2]).unwrap();
        assert_eq!(parts(packed, packed, [8, 4, 2]).collect::<Vec<_>>(), [(0, 0, 64)]);
        let rows = rect([0; 3], 10, 0).grid([8, 2, 1]).unwrap();
        assert_eq!(parts(rows, packed, [8, 2, 1]).collect::<Vec<_>>(), [(0, 0, 8), (10, 8, 8)]);
        let slices = rect([0; 3], 8, 48).grid([8, 4, 2]).unwrap();
        assert_eq!(parts(slices, packed, [8, 4, 2]).collect::<Vec<_>>(), [(0, 0, 32), (48, 32, 32)]);
    }
}
