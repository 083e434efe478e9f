//! Mapped buffers and images (OpenCL API 5.2.3, 5.3.6, 5.5.3).
//!
//! A mapping is a copy of the contents in host memory: that of the application with `CL_MEM_USE_HOST_PTR`, else memory of
//! the mapping (`pinned.rs`). Shared virtual memory and the buffers of CPU devices need no copy.

use std::ffi::c_void;
use std::sync::Arc;

use kiln_runtime::ImageRegion;
use opencl_sys::*;

use crate::copy::Rect;
use crate::error::{Result, ensure, fail};
use crate::ffi::{self, Host};
use crate::image_commands::region_of;
use crate::memory::Memory;
use crate::pinned::MapMemory;
use crate::residence::Access;
use crate::work::{Submission, check_range};

/// A mapped region.
#[derive(Clone)]
pub(crate) struct Map {
    /// The pointer that the application received.
    pointer: Host,
    flags: cl_map_flags,
    region: Region,
    /// The memory that the pointer points to, if it is neither the application's nor shared.
    copy: Option<Arc<MapMemory>>,
}

/// What is mapped.
#[derive(Clone, Copy)]
enum Region {
    /// Bytes of a buffer.
    Bytes { offset: usize, size: usize },
    /// Bytes of memory that the device shares with the host.
    Shared { offset: usize, size: usize },
    /// Texels of a level, and their layout in host memory.
    Texels { level: u32, region: ImageRegion, rect: Rect },
}

impl Map {
    fn is_written(&self) -> bool {
        self.flags & WRITES != 0
    }

    fn overlaps(&self, other: &Region) -> bool {
        match (self.region, *other) {
            (
                Region::Bytes { offset: a, size } | Region::Shared { offset: a, size },
                Region::Bytes { offset: b, size: other } | Region::Shared { offset: b, size: other },
            ) => a < b + other && b < a + size,
            (Region::Texels { level, region: a, .. }, Region::Texels { level: other, region: b, .. }) => {
                level == other
                    && (0..3).all(|axis| {
                        a.origin[axis] < b.origin[axis] + b.size[axis]
                            && b.origin[axis] < a.origin[axis] + a.size[axis]
                    })
            }
            _ => false,
        }
    }
}

const WRITES: cl_map_flags = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

/// Checks map flags (OpenCL API, table 14).
pub(crate) fn check_flags(flags: cl_map_flags) -> Result {
    let is_known = flags & !(CL_MAP_READ | WRITES) == 0;
    let is_exclusive =
        flags & CL_MAP_WRITE_INVALIDATE_REGION == 0 || flags & (CL_MAP_READ | CL_MAP_WRITE) == 0;
    ensure(is_known && is_exclusive, CL_INVALID_VALUE)
}

/// Checks the flags against those of the memory object.
fn check_access(memory: &Memory, flags: cl_map_flags) -> Result {
    if flags & CL_MAP_READ != 0 {
        memory.host_access(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;
    }
    if flags & WRITES != 0 {
        memory.host_access(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;
    }
    Ok(())
}

/// What the application does with a mapped region.
fn access(flags: cl_map_flags) -> Access {
    if flags & WRITES == 0 { Access::Read } else { Access::Write }
}

/// Registers a mapping; fails if it would write a region that another mapping writes.
fn register(memory: &Memory, map: Map) -> Result {
    let mut maps = memory.maps();
    let is_shared = |other: &Map| map.is_written() && other.is_written() && other.overlaps(&map.region);
    ensure(!maps.iter().any(is_shared), CL_INVALID_OPERATION)?;
    maps.push(map);
    Ok(())
}

/// Unregisters a mapping whose command failed, and returns the error.
fn or_unregister(memory: &Memory, pointer: Host, done: Result) -> Result {
    if done.is_err() {
        let mut maps = memory.maps();
        if let Some(found) = maps.iter().rposition(|map| map.pointer == pointer) {
            maps.remove(found);
        }
    }
    done
}

/// Unregisters a mapping at a pointer. In memory of the application or of a CPU device, several can have it: of those, one
/// that is not written goes first, and what the application has written goes to the device each time.
fn unregister(memory: &Memory, pointer: Host) -> Result<Map> {
    let mut maps = memory.maps();
    let find = |is_written: bool| {
        maps.iter().rposition(|map| map.pointer == pointer && map.is_written() == is_written)
    };
    match (find(true), find(false)) {
        (Some(written), Some(read)) => {
            let map = maps[written].clone();
            maps.remove(read);
            Ok(map)
        }
        (Some(only), None) | (None, Some(only)) => Ok(maps.remove(only)),
        (None, None) => fail(CL_INVALID_VALUE),
    }
}

pub(crate) extern "C" fn map_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
    error: *mut cl_int,
) -> *mut c_void {
    ffi::create(error, || {
        let mut command = Submission::new(queue, CL_COMMAND_MAP_BUFFER, event)?;
        let memory = command.memory(buffer)?;
        memory.check_buffer()?;
        command.wait_for(count, waits)?;
        ensure(size > 0, CL_INVALID_VALUE)?;
        check_range(offset, size, memory.size)?;
        check_flags(flags)?;
        check_access(&memory, flags)?;
        // The host accesses shared virtual memory itself, whichever device the queue has.
        let index = memory.svm().unwrap_or(command.queue().index());
        command.migrate_to(index, &memory, access(flags))?;
        let source = memory.buffer(index)?.slice(offset..offset + size)?;
        let own = source.host_address().filter(|_| memory.host.is_none());
        let is_shared = memory.svm().is_some() || own.is_some();
        let (copy, pointer) = match (memory.host, own) {
            (Some(host), _) => (None, host.at(offset)),
            (None, Some(first)) => (None, Host::new(first.as_ptr())),
            (None, None) => {
                // The memory of the last mapping is free if its commands have ended.
                command.queue().release_completed();
                let (copy, pointer) = MapMemory::for_buffer(&memory, size)?;
                (Some(copy), pointer)
            }
        };
        let region = if is_shared { Region::Shared { offset, size } } else { Region::Bytes { offset, size } };
        register(&memory, Map { pointer, flags, region, copy: copy.clone() })?;
        let fill = move || {
            let done = if is_shared || flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 {
                command.inner().nothing()?
            } else {
                ffi::read(&command.transfers(blocking), &source, pointer)?
            };
            // The memory lives until the command has ended, even if the region is unmapped meanwhile.
            command.keeps(copy);
            command.finish(done, blocking)
        };
        or_unregister(&memory, pointer, fill())?;
        Ok(pointer.raw())
    })
}

pub(crate) extern "C" fn map_image(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    row_pitch: *mut usize,
    slice_pitch: *mut usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
    error: *mut cl_int,
) -> *mut c_void {
    ffi::create(error, || {
        let mut command = Submission::new(queue, CL_COMMAND_MAP_IMAGE, event)?;
        let memory = command.memory(image)?;
        let info = memory.image_info()?;
        command.wait_for(count, waits)?;
        let level = info.level_at(origin)?;
        let (origin, size) = (info.origin(origin)?, ffi::triple(region)?);
        let region = region_of(info, level, origin, size)?;
        check_flags(flags)?;
        ensure(!row_pitch.is_null(), CL_INVALID_VALUE)?;
        ensure(!slice_pitch.is_null() || !info.has_slices(), CL_INVALID_VALUE)?;
        check_access(&memory, flags)?;
        command.migrate(&memory, access(flags))?;
        let (copy, pointer, rect) = match memory.host {
            Some(host) => {
                let rect = info.rect(size, info.row_pitch, info.slice_pitch)?;
                (None, host.at(info.offset(origin)), rect)
            }
            None => {
                let rect = info.rect(size, 0, 0)?;
                let (copy, pointer) = MapMemory::heap(rect.extent())?;
                (Some(copy), pointer, rect)
            }
        };
        let source = memory.level(command.queue().index(), level)?;
        let map = Map { pointer, flags, region: Region::Texels { level, region, rect }, copy: copy.clone() };
        register(&memory, map)?;
        ffi::store(row_pitch, info.host_row_pitch(&rect));
        ffi::store(slice_pitch, if info.has_slices() { info.host_slice_pitch(&rect) } else { 0 });
        let fill = move || {
            let done = if flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 {
                command.inner().nothing()?
            } else {
                ffi::read_image(&command.transfers(blocking), (&source, region), (pointer, rect.inner()))?
            };
            command.keeps(copy);
            command.finish(done, blocking)
        };
        or_unregister(&memory, pointer, fill())?;
        Ok(pointer.raw())
    })
}

pub(crate) extern "C" fn unmap(
    queue: cl_command_queue,
    memory: cl_mem,
    pointer: *mut c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_UNMAP_MEM_OBJECT, event)?;
        let memory = command.memory(memory)?;
        ensure(memory.pipe_size().is_err(), CL_INVALID_MEM_OBJECT)?;
        command.wait_for(count, waits)?;
        let pointer = Host::new(pointer.cast::<u8>());
        let map = unregister(&memory, pointer)?;
        if !map.is_written() {
            // The map may still write the copy.
            command.keeps(map.copy);
            return command.finish_nothing(CL_FALSE);
        }
        command.migrate(&memory, Access::Write)?;
        let index = command.queue().index();
        let done = match map.region {
            Region::Bytes { offset, size } => {
                let target = memory.buffer(index)?.slice(offset..offset + size)?;
                command.keeps(map.copy);
                ffi::write(&command.inner(), &target, map.pointer)?
            }
            Region::Texels { level, region, rect } => {
                let target = memory.level(index, level)?;
                command.keeps(map.copy);
                ffi::write_image(&command.inner(), (&target, region), (map.pointer, rect.inner()))?
            }
            Region::Shared { .. } => command.inner().nothing()?,
        };
        command.finish(done, CL_FALSE)
    })
}
