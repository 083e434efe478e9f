//! Rectangles of buffers: read, write, copy (OpenCL API 5.2.2).

use std::ffi::c_void;

use opencl_sys::*;

use crate::error::{Result, ensure, fail};
use crate::ffi::{self, Host};
use crate::residence::Access;
use crate::work::Submission;

/// A rectangle in linear memory: rows of bytes, with the distances between rows and slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rect {
    origin: [usize; 3],
    first: usize,
    /// Bytes, rows, slices.
    region: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
}

impl Rect {
    /// A rectangle, whose pitches are tight where they are 0. Fails with `CL_INVALID_VALUE` if they are too small.
    pub(crate) fn new(
        origin: [usize; 3],
        region: [usize; 3],
        row_pitch: usize,
        slice_pitch: usize,
    ) -> Result<Self> {
        ensure(!region.contains(&0), CL_INVALID_VALUE)?;
        let row_pitch = if row_pitch == 0 { region[0] } else { row_pitch };
        let tight = region[1].saturating_mul(row_pitch);
        let slice_pitch = if slice_pitch == 0 { tight } else { slice_pitch };
        let is_valid =
            row_pitch >= region[0] && slice_pitch >= tight && slice_pitch.is_multiple_of(row_pitch);
        ensure(is_valid, CL_INVALID_VALUE)?;
        let offset = |index: usize, pitch: usize| origin[index].checked_mul(pitch);
        let first = offset(2, slice_pitch)
            .and_then(|slices| slices.checked_add(offset(1, row_pitch)?))
            .and_then(|rows| rows.checked_add(origin[0]));
        match first {
            Some(first) => Ok(Self { origin, first, region, row_pitch, slice_pitch }),
            None => fail(CL_INVALID_VALUE),
        }
    }

    /// The offset of the first byte.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The number of bytes from the first to the last, both included; the maximum if it overflows.
    pub(crate) fn extent(&self) -> usize {
        let slices = (self.region[2] - 1).saturating_mul(self.slice_pitch);
        let rows = (self.region[1] - 1).saturating_mul(self.row_pitch);
        slices.saturating_add(rows).saturating_add(self.region[0])
    }

    /// Checks that the rectangle is inside memory of this size.
    pub(crate) fn check_range(&self, size: usize) -> Result {
        let is_inside = self.first.checked_add(self.extent()).is_some_and(|end| end <= size);
        ensure(is_inside, CL_INVALID_VALUE)
    }

    /// The size of a row.
    pub(crate) fn row(&self) -> usize {
        self.region[0]
    }

    /// The distance between rows.
    pub(crate) fn row_pitch(&self) -> usize {
        self.row_pitch
    }

    /// The distance between slices.
    pub(crate) fn slice_pitch(&self) -> usize {
        self.slice_pitch
    }

    /// The offsets of the rows from the first byte.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { region, row_pitch, slice_pitch, .. } = *self;
        (0..region[2])
            .flat_map(move |slice| (0..region[1]).map(move |row| slice * slice_pitch + row * row_pitch))
    }

    /// The runtime's form.
    pub(crate) fn inner(&self) -> kiln_runtime::Rect {
        let [row_pitch, slice_pitch] = [self.row_pitch as u64, self.slice_pitch as u64];
        kiln_runtime::Rect { origin: self.origin.map(|at| at as u64), row_pitch, slice_pitch }
    }

    /// The size in bytes, rows and slices.
    fn size(&self) -> [u64; 3] {
        self.region.map(|size| size as u64)
    }
}

/// The rows of a rectangle of the application's memory, without gaps.
pub(crate) fn gather(source: Host, rect: &Rect) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rect.region.iter().product());
    for offset in rect.rows() {
        bytes.extend_from_slice(source.at(rect.first() + offset).bytes(rect.row()));
    }
    bytes
}

pub(crate) extern "C" fn read(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    target: *mut c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_READ_BUFFER_RECT, event)?;
        let memory = command.memory(buffer)?;
        memory.check_buffer()?;
        ensure(!target.is_null(), CL_INVALID_VALUE)?;
        let region = ffi::triple(region)?;
        let from = Rect::new(ffi::triple(buffer_origin)?, region, buffer_row_pitch, buffer_slice_pitch)?;
        let to = Rect::new(ffi::triple(host_origin)?, region, host_row_pitch, host_slice_pitch)?;
        from.check_range(memory.size)?;
        command.wait_for(count, waits)?;
        memory.host_access(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        command.migrate(&memory, Access::Read)?;
        let source = memory.buffer(command.queue().index())?;
        let target = Host::new(target.cast::<u8>());
        let queue = command.transfers(blocking);
        let done = ffi::read_rect(&queue, (&source, from.inner()), (target, to.inner()), from.size())?;
        command.finish(done, blocking)
    })
}

pub(crate) extern "C" fn write(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    source: *const c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_WRITE_BUFFER_RECT, event)?;
        let memory = command.memory(buffer)?;
        memory.check_buffer()?;
        ensure(!source.is_null(), CL_INVALID_VALUE)?;
        let region = ffi::triple(region)?;
        let to = Rect::new(ffi::triple(buffer_origin)?, region, buffer_row_pitch, buffer_slice_pitch)?;
        let from = Rect::new(ffi::triple(host_origin)?, region, host_row_pitch, host_slice_pitch)?;
        to.check_range(memory.size)?;
        command.wait_for(count, waits)?;
        memory.host_access(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        command.migrate(&memory, Access::Write)?;
        let target = memory.buffer(command.queue().index())?;
        let source = Host::new(source.cast::<u8>());
        let queue = command.transfers(blocking);
        let done = ffi::write_rect(&queue, (&target, to.inner()), (source, from.inner()), to.size())?;
        command.finish_write(done, blocking, region.iter().product())
    })
}

pub(crate) extern "C" fn copy(
    queue: cl_command_queue,
    source: cl_mem,
    target: cl_mem,
    source_origin: *const usize,
    target_origin: *const usize,
    region: *const usize,
    source_row_pitch: usize,
    source_slice_pitch: usize,
    target_row_pitch: usize,
    target_slice_pitch: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_COPY_BUFFER_RECT, event)?;
        let (source, target) = (command.memory(source)?, command.memory(target)?);
        source.check_buffer()?;
        target.check_buffer()?;
        let region = ffi::triple(region)?;
        let from = Rect::new(ffi::triple(source_origin)?, region, source_row_pitch, source_slice_pitch)?;
        let to = Rect::new(ffi::triple(target_origin)?, region, target_row_pitch, target_slice_pitch)?;
        from.check_range(source.size)?;
        to.check_range(target.size)?;
        if std::ptr::eq(&*source, &*target) {
            // The runtime checks that they do not overlap.
            let is_same = (from.row_pitch, from.slice_pitch) == (to.row_pitch, to.slice_pitch);
            ensure(is_same, CL_INVALID_VALUE)?;
        }
        command.wait_for(count, waits)?;
        command.migrate(&source, Access::Read)?;
        command.migrate(&target, Access::Write)?;
        let index = command.queue().index();
        let (source, target) = (source.buffer(index)?, target.buffer(index)?);
        let copied = command.inner().copy_rect(&source, from.inner(), &target, to.inner(), from.size())?;
        command.finish(copied, CL_FALSE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_the_pitches() {
        let rect = Rect::new([1, 1, 0], [2, 2, 2], 4, 12).expect("it is valid");
        assert_eq!(rect.first(), 5);
        assert_eq!(rect.rows().collect::<Vec<_>>(), [0, 4, 12, 16]);
        assert_eq!(rect.extent(), 18);
        assert!(rect.check_range(23).is_ok() && rect.check_range(22).is_err());
    }

    #[test]
    fn pitches_hold_their_rows() {
        assert!(Rect::new([0; 3], [8, 2, 1], 4, 0).is_err());
        assert!(Rect::new([0; 3], [8, 2, 1], 8, 12).is_err());
        assert!(Rect::new([0; 3], [8, 0, 1], 8, 16).is_err());
        assert_eq!(Rect::new([0; 3], [8, 2, 1], 0, 0).expect("it is valid").extent(), 16);
        assert!(Rect::new([usize::MAX; 3], [8, 2, 1], 0, 0).is_err());
    }
}
