//! Memory: addresses that identify their object, cells shared between threads, and the buffers of a device.
//!
//! Owns the address format. A pointer is 64 bits: a space, the object in that space, and the byte offset. A pointer
//! keeps its identity when it is stored or cast to an integer and back, and out-of-bounds pointers are detected. Must
//! not depend on instructions.

use std::{
    collections::VecDeque,
    ptr::NonNull,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use bytemuck::allocation::try_zeroed_vec;

use crate::{
    image::Texels,
    pipe::{Packets, Shared},
};

/// The space of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Space {
    /// Global and constant memory.
    Global,
    Local,
    Private,
    /// The built-in variables of a work-item.
    Input,
    /// The variables bound by a launch.
    Resource,
}

/// The components of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) space: Space,
    pub(crate) object: u32,
    /// The byte offset from the start of the object.
    pub(crate) offset: i64,
}

const SPACE_SHIFT: u32 = 60;
const OBJECT_SHIFT: u32 = 38;
/// The maximum number of objects in a space.
pub(crate) const OBJECTS: u32 = 1 << (SPACE_SHIFT - OBJECT_SHIFT);
/// Objects start in the middle of their address range, so that an address before the start still identifies its
/// object.
const START: u64 = 1 << (OBJECT_SHIFT - 1);

impl Space {
    /// The address of an object's first byte.
    pub(crate) const fn address(self, object: u32) -> u64 {
        let space = match self {
            Self::Global => 1,
            Self::Local => 2,
            Self::Private => 3,
            Self::Input => 4,
            Self::Resource => 5,
        };
        space << SPACE_SHIFT | (object as u64) << OBJECT_SHIFT | START
    }

    /// Whether an address is in global memory or in a bound resource.
    pub(crate) const fn is_global(address: u64) -> bool {
        matches!(address >> SPACE_SHIFT, 1 | 5)
    }
}

impl Location {
    /// Encodes the address.
    pub(crate) fn address(self) -> u64 {
        self.space.address(self.object).wrapping_add_signed(self.offset)
    }

    /// Decodes an address; `None` for null and for integers that are not an address.
    pub(crate) fn from_address(address: u64) -> Option<Self> {
        let space = match address >> SPACE_SHIFT {
            1 => Space::Global,
            2 => Space::Local,
            3 => Space::Private,
            4 => Space::Input,
            5 => Space::Resource,
            _ => return None,
        };
        let object = (address >> OBJECT_SHIFT) as u32 & (OBJECTS - 1);
        let offset = (address & ((1 << OBJECT_SHIFT) - 1)) as i64 - START as i64;
        Some(Self { space, object, offset })
    }
}

/// The contents of a memory at some time.
#[derive(Debug)]
pub(crate) struct Snapshot {
    buffers: Vec<(Arc<Cells>, Vec<u8>)>,
    pipes: Vec<(Arc<Shared>, Packets)>,
}

/// Bytes that threads may share. Callers have checked that every access is in bounds.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    words: Vec<AtomicU32>,
    bytes: u64,
    _reservation: Option<Reservation>,
}

/// Bytes of a device's memory, until it is dropped.
#[derive(Debug)]
struct Reservation {
    used: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Relaxed);
    }
}

impl Cells {
    pub(crate) fn new(bytes: u64) -> Self {
        let mut cells = Self::default();
        cells.resize(bytes);
        cells
    }

    /// Allocates zeros, without touching memory that is never used; `None` if memory is exhausted.
    fn try_new(bytes: u64) -> Option<Self> {
        let count = usize::try_from(bytes.div_ceil(8).checked_mul(2)?).ok()?;
        let words = try_zeroed_vec(count).ok()?;
        Some(Self { words, bytes, _reservation: None })
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn resize(&mut self, bytes: u64) {
        self.words.resize_with(bytes.div_ceil(8) as usize * 2, || AtomicU32::new(0));
        self.bytes = bytes;
    }

    /// Grows to at least this size.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        if bytes > self.bytes {
            self.resize(bytes);
        }
    }

    /// Whether these bytes are in bounds.
    pub(crate) fn has(&self, offset: i64, size: u64) -> bool {
        offset >= 0 && (offset as u64).checked_add(size).is_some_and(|end| end <= self.bytes)
    }

    /// The word of an aligned 32-bit object.
    pub(crate) fn word(&self, offset: u64) -> &AtomicU32 {
        &self.words[(offset / 4) as usize]
    }

    /// Reads 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub(crate) fn load(&self, offset: u64, size: u8) -> u64 {
        let index = (offset / 4) as usize;
        match size {
            4 if offset.is_multiple_of(4) => self.words[index].load(Relaxed).into(),
            8 if offset.is_multiple_of(4) => {
                let low = u64::from(self.words[index].load(Relaxed));
                low | u64::from(self.words[index + 1].load(Relaxed)) << 32
            }
            1 => self.words[index].load(Relaxed) as u64 >> (offset % 4 * 8) & 0xff,
            2 if offset.is_multiple_of(2) => {
                self.words[index].load(Relaxed) as u64 >> (offset % 4 * 8) & 0xffff
            }
            _ => (0..size).rev().fold(0, |value, byte| value << 8 | self.load(offset + u64::from(byte), 1)),
        }
    }

    /// Writes 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub(crate) fn store(&self, offset: u64, size: u8, value: u64) {
        let index = (offset / 4) as usize;
        match size {
            4 if offset.is_multiple_of(4) => self.words[index].store(value as u32, Relaxed),
            8 if offset.is_multiple_of(4) => {
                self.words[index].store(value as u32, Relaxed);
                self.words[index + 1].store((value >> 32) as u32, Relaxed);
            }
            1 => self.replace(index, offset % 4 * 8, 0xff, value as u32 & 0xff),
            2 if offset.is_multiple_of(2) => {
                self.replace(index, offset % 4 * 8, 0xffff, value as u32 & 0xffff);
            }
            _ => {
                for byte in 0..size {
                    self.store(offset + u64::from(byte), 1, value >> (u32::from(byte) * 8));
                }
            }
        }
    }

    /// Replaces some bits of a word; other threads may write the other bits concurrently.
    fn replace(&self, index: usize, shift: u64, mask: u32, value: u32) {
        let (mask, value) = (mask << shift, value << shift);
        let word = &self.words[index];
        let mut before = word.load(Relaxed);
        while let Err(now) = word.compare_exchange_weak(before, before & !mask | value, Relaxed, Relaxed) {
            before = now;
        }
    }

    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) {
        let (mut at, mut rest) = (offset, into);
        while !rest.is_empty() {
            let size = if at.is_multiple_of(8) && rest.len() >= 8 { 8 } else { 1 };
            let (now, later) = rest.split_at_mut(size);
            now.copy_from_slice(&self.load(at, size as u8).to_le_bytes()[..size]);
            (at, rest) = (at + size as u64, later);
        }
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) {
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let size = if at.is_multiple_of(8) && rest.len() >= 8 { 8 } else { 1 };
            let mut word = [0; 8];
            word[..size].copy_from_slice(&rest[..size]);
            self.store(at, size as u8, u64::from_le_bytes(word));
            (at, rest) = (at + size as u64, &rest[size..]);
        }
    }

    pub(crate) fn zero(&self, offset: u64, size: u64) {
        let (mut at, end) = (offset, offset + size);
        while at < end {
            let size = if at.is_multiple_of(8) && end - at >= 8 { 8 } else { 1 };
            self.store(at, size, 0);
            at += u64::from(size);
        }
    }
}

/// The global memory of a device.
#[derive(Debug, Clone)]
pub struct Memory {
    table: Arc<Mutex<Table>>,
    /// The bytes of all buffers and images.
    used: Arc<AtomicU64>,
    max_bytes: u64,
}

impl Default for Memory {
    /// Memory that only the host limits.
    fn default() -> Self {
        Self::with_limit(u64::MAX)
    }
}

#[derive(Debug, Default)]
struct Table {
    objects: Vec<Option<Arc<Cells>>>,
    /// The objects that kernels access by handle; their numbers are not reused.
    handles: Vec<Option<Handle>>,
    /// Numbers of freed buffers, oldest first. They are reused as late as possible, so that dangling pointers are
    /// detected.
    freed: VecDeque<u32>,
}

/// The number of freed buffers to remember.
const MAX_FREED_NUMBERS: usize = 1024;

/// A buffer, freed when it is dropped.
#[derive(Debug)]
pub struct Buffer {
    memory: Memory,
    object: u32,
    cells: Arc<Cells>,
}

/// An object that kernels access by handle.
#[derive(Debug, Clone)]
pub(crate) enum Handle {
    Image(Arc<Texels>),
    Pipe(Arc<Shared>),
}

/// The objects of a device's memory that a launch can access.
#[derive(Debug)]
pub(crate) struct Objects {
    buffers: Vec<Option<Arc<Cells>>>,
    handles: Vec<Option<Handle>>,
}

impl Objects {
    pub(crate) fn buffer(&self, object: u32) -> Option<&Cells> {
        self.buffers.get(object as usize)?.as_deref()
    }

    fn handle(&self, handle: u64) -> Option<&Handle> {
        self.handles.get(usize::try_from(handle.checked_sub(1)?).ok()?)?.as_ref()
    }

    pub(crate) fn image(&self, handle: u64) -> Option<&Texels> {
        match self.handle(handle)? {
            Handle::Image(texels) => Some(texels),
            Handle::Pipe(_) => None,
        }
    }

    pub(crate) fn pipe(&self, handle: u64) -> Option<&Shared> {
        match self.handle(handle)? {
            Handle::Pipe(pipe) => Some(pipe),
            Handle::Image(_) => None,
        }
    }
}

impl Memory {
    /// Memory of at most this many bytes.
    pub fn with_limit(max_bytes: u64) -> Self {
        Self { table: Arc::default(), used: Arc::default(), max_bytes }
    }

    /// Allocates a zeroed buffer; `None` if memory is exhausted.
    pub fn allocate(&self, bytes: u64) -> Option<Buffer> {
        let cells = Arc::new(self.cells(bytes)?);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let object = if table.freed.len() > MAX_FREED_NUMBERS {
            table.freed.pop_front()?
        } else {
            let object = u32::try_from(table.objects.len()).ok().filter(|object| *object < OBJECTS)?;
            table.objects.push(None);
            object
        };
        table.objects[object as usize] = Some(cells.clone());
        Some(Buffer { memory: self.clone(), object, cells })
    }

    /// Allocates zeros within the limit; `None` if memory is exhausted.
    pub(crate) fn cells(&self, bytes: u64) -> Option<Cells> {
        let after = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.max_bytes);
        self.used.fetch_update(Relaxed, Relaxed, after).ok()?;
        let reservation = Reservation { used: self.used.clone(), bytes };
        Some(Cells { _reservation: Some(reservation), ..Cells::try_new(bytes)? })
    }

    pub(crate) fn objects(&self) -> Objects {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        Objects { buffers: table.objects.clone(), handles: table.handles.clone() }
    }

    /// The contents of all buffers, images and pipes.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let objects = self.objects();
        let mut snapshot = Snapshot { buffers: Vec::new(), pipes: Vec::new() };
        let mut cells: Vec<Arc<Cells>> = objects.buffers.into_iter().flatten().collect();
        for handle in objects.handles.into_iter().flatten() {
            match handle {
                Handle::Image(texels) => cells.push(texels.cells().clone()),
                Handle::Pipe(pipe) => snapshot.pipes.push((pipe.clone(), pipe.packets())),
            }
        }
        for cells in cells {
            let mut bytes = vec![0; cells.len() as usize];
            cells.read(0, &mut bytes);
            snapshot.buffers.push((cells, bytes));
        }
        snapshot
    }

    /// Restores contents.
    pub(crate) fn restore(&self, snapshot: &Snapshot) {
        for (cells, bytes) in &snapshot.buffers {
            cells.write(0, bytes);
        }
        for (pipe, packets) in &snapshot.pipes {
            pipe.replace(packets.clone());
        }
    }

    /// Assigns a number to an object.
    pub(crate) fn register(&self, handle: Handle) -> usize {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.handles.push(Some(handle));
        table.handles.len() - 1
    }

    /// Invalidates a number.
    pub(crate) fn forget(&self, number: usize) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.handles[number] = None;
    }
}

impl Buffer {
    /// The address that kernels see, a multiple of 128.
    pub fn address(&self) -> u64 {
        Space::Global.address(self.object)
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.cells.len()
    }

    pub(crate) fn cells(&self) -> &Arc<Cells> {
        &self.cells
    }

    /// Reads a range, which must be in bounds.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        self.cells.read(offset, into);
    }

    /// The host address of the bytes, valid for the lifetime of the buffer. The host may access them concurrently
    /// with launches, as OpenCL allows.
    pub fn host(&self) -> Option<NonNull<u8>> {
        NonNull::new(self.cells.words.as_ptr().cast::<u8>().cast_mut())
    }

    /// Copies a range to another buffer or elsewhere in this one. Both ranges must be in bounds.
    pub fn copy_to(&self, from: u64, target: &Self, to: u64, bytes: u64) {
        const PIECE: u64 = 1 << 16;
        let mut piece = vec![0; PIECE.min(bytes) as usize];
        let mut at = 0;
        while at < bytes {
            let length = PIECE.min(bytes - at);
            self.read(from + at, &mut piece[..length as usize]);
            target.write(to + at, &piece[..length as usize]);
            at += length;
        }
    }

    /// Writes a range, which must be in bounds.
    pub fn write(&self, offset: u64, bytes: &[u8]) {
        self.cells.write(offset, bytes);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut table = self.memory.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.objects[self.object as usize] = None;
        table.freed.push_back(self.object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_can_be_allocated_again() {
        let memory = Memory::with_limit(100);
        let buffer = memory.allocate(60).unwrap();
        assert!(memory.allocate(60).is_none());
        assert!(memory.allocate(40).is_some());
        drop(buffer);
        assert!(memory.allocate(100).is_some());
    }

    #[test]
    fn addresses_identify_their_object() {
        let address = Space::Local.address(7);
        let location = Location::from_address(address.wrapping_sub(4)).unwrap();
        assert_eq!((location.space, location.object, location.offset), (Space::Local, 7, -4));
        assert_eq!(Location::from_address(0), None);
        assert!(address.is_multiple_of(128));
    }

    #[test]
    fn bytes_round_trip() {
        let cells = Cells::new(24);
        cells.store(3, 8, 0x0102_0304_0506_0708);
        assert_eq!(cells.load(3, 8), 0x0102_0304_0506_0708);
        assert_eq!((cells.load(5, 2), cells.load(6, 4)), (0x0506, 0x0203_0405));
        cells.write(1, &[9; 20]);
        let mut bytes = [0; 22];
        cells.read(0, &mut bytes);
        assert_eq!((bytes[0], bytes[1], bytes[20], bytes[21]), (0, 9, 9, 0));
    }
}
