//! Memory: addresses that know their object, cells that threads may share, and the buffers of a device.
//!
//! Owns the form of addresses. A pointer is 64 bits: a space, the object in that space, and the byte. A pointer that is stored,
//! cast to a number and back stays what it is, and one that leaves its object is recognised. It must never know instructions.

use std::{
    collections::VecDeque,
    ptr::NonNull,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use crate::{image::Texels, pipe::Shared};

/// Where an object lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Space {
    /// Global and constant memory.
    Global,
    Local,
    Private,
    /// The built-in variables of a work-item.
    Input,
    /// The variables that a launch binds.
    Resource,
}

/// An address, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) space: Space,
    pub(crate) object: u32,
    /// From the object's start.
    pub(crate) offset: i64,
}

const SPACE_SHIFT: u32 = 60;
const OBJECT_SHIFT: u32 = 38;
/// How many objects a space may have.
pub(crate) const OBJECTS: u32 = 1 << (SPACE_SHIFT - OBJECT_SHIFT);
/// Objects begin in the middle of their range, so that an address before the start still names its object.
const START: u64 = 1 << (OBJECT_SHIFT - 1);

impl Space {
    /// The first byte of an object.
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
}

impl Place {
    /// The address of this place.
    pub(crate) fn address(self) -> u64 {
        self.space.address(self.object).wrapping_add_signed(self.offset)
    }

    /// What an address names; nothing for null and for numbers that are no address.
    pub(crate) fn of(address: u64) -> Option<Self> {
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

/// Bytes that threads may share. Every access lies within; callers have looked.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    words: Vec<AtomicU32>,
    bytes: u64,
}

impl Cells {
    pub(crate) fn new(bytes: u64) -> Self {
        let mut cells = Self::default();
        cells.resize(bytes);
        cells
    }

    /// Zeros, without asking the system for memory that is never touched.
    pub(crate) fn try_new(bytes: u64) -> Option<Self> {
        let count = usize::try_from(bytes.div_ceil(8).checked_mul(2)?).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize_with(count, || AtomicU32::new(0));
        Some(Self { words, bytes })
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn resize(&mut self, bytes: u64) {
        self.words.resize_with(bytes.div_ceil(8) as usize * 2, || AtomicU32::new(0));
        self.bytes = bytes;
    }

    /// Room for at least this much.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        if bytes > self.bytes {
            self.resize(bytes);
        }
    }

    /// Whether these bytes lie within.
    pub(crate) fn has(&self, offset: i64, size: u64) -> bool {
        offset >= 0 && (offset as u64).checked_add(size).is_some_and(|end| end <= self.bytes)
    }

    /// The word that holds an aligned 32-bit object.
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

    /// Replaces some bits of a word; the others may be written by other threads at the same time.
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
#[derive(Debug, Clone, Default)]
pub struct Memory {
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    objects: Vec<Option<Arc<Cells>>>,
    /// What kernels have handles of; the numbers are not used again.
    handles: Vec<Option<Handle>>,
    /// Numbers that may be used again, the oldest first: a pointer to a freed buffer names nothing for as long as possible.
    freed: VecDeque<u32>,
}

/// How many freed buffers are remembered as such.
const REMEMBERED: usize = 1024;

/// A buffer, freed when it is dropped.
#[derive(Debug)]
pub struct Buffer {
    memory: Memory,
    object: u32,
    cells: Arc<Cells>,
}

/// What kernels know by a number alone.
#[derive(Debug, Clone)]
pub(crate) enum Handle {
    Image(Arc<Texels>),
    Pipe(Arc<Shared>),
}

/// All that a launch finds in the memory of its device.
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
    /// A buffer of zeros; nothing if there is no room.
    pub fn allocate(&self, bytes: u64) -> Option<Buffer> {
        let cells = Arc::new(Cells::try_new(bytes)?);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let object = if table.freed.len() > REMEMBERED {
            table.freed.pop_front()?
        } else {
            let object = u32::try_from(table.objects.len()).ok().filter(|object| *object < OBJECTS)?;
            table.objects.push(None);
            object
        };
        table.objects[object as usize] = Some(cells.clone());
        Some(Buffer { memory: self.clone(), object, cells })
    }

    pub(crate) fn objects(&self) -> Objects {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        Objects { buffers: table.objects.clone(), handles: table.handles.clone() }
    }

    /// Gives something a number.
    pub(crate) fn register(&self, handle: Handle) -> usize {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.handles.push(Some(handle));
        table.handles.len() - 1
    }

    /// The number names nothing any more.
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

    /// Reads bytes that lie within.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        self.cells.read(offset, into);
    }

    /// Where the bytes are, for as long as the buffer lives; they may be read and written there beside launches, as far as
    /// OpenCL allows.
    pub fn host(&self) -> Option<NonNull<u8>> {
        NonNull::new(self.cells.words.as_ptr().cast::<u8>().cast_mut())
    }

    /// Copies bytes that lie within to bytes that lie within another buffer, or elsewhere in this one.
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

    /// Writes bytes that lie within.
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
    fn addresses_know_their_object() {
        let address = Space::Local.address(7);
        let place = Place::of(address.wrapping_sub(4)).unwrap();
        assert_eq!((place.space, place.object, place.offset), (Space::Local, 7, -4));
        assert_eq!(Place::of(0), None);
        assert!(address.is_multiple_of(128));
    }

    #[test]
    fn bytes_are_where_they_were_written() {
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
