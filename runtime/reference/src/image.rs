//! Images: texels that kernels access through handles.
//!
//! Owns the location of texels; `format` owns their encoding. Must not depend on samplers or instructions.

mod format;

use std::sync::Arc;

pub(crate) use format::{FIRST_CHANNEL, FIRST_ORDER};
pub use format::{Format, Texel};

use crate::memory::{Buffer, Cells, Handle, Memory};

/// The description of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageDesc {
    /// The format of its texels.
    pub format: Format,
    /// Width, then height and depth if it has them, then layers if it is an array; unused entries are 1.
    pub size: [u32; 3],
    /// The number of dimensions, without layers: what becomes smaller from level to level.
    pub dimensions: u8,
    /// The number of levels.
    pub levels: u32,
}

/// A region of an image: its first texel and its size in each dimension, layers last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageRegion {
    /// The first texel.
    pub origin: [u32; 3],
    /// The number of texels.
    pub size: [u32; 3],
}

/// An image, freed when it is dropped.
#[derive(Debug)]
pub struct Image {
    memory: Memory,
    number: usize,
    texels: Arc<Texels>,
}

/// The texels of an image, or of one of its levels.
#[derive(Debug, Clone)]
pub(crate) struct Texels {
    pub(crate) desc: ImageDesc,
    cells: Arc<Cells>,
    /// The byte offset of the first texel.
    offset: u64,
    /// The number of texels from the start of a row to the start of the next.
    row: u32,
    /// The number of texels in the levels before.
    first: u64,
}

impl ImageDesc {
    /// The size of a level.
    fn level_size(&self, level: u32) -> [u32; 3] {
        let mut size = self.size;
        size.iter_mut().take(self.dimensions.into()).for_each(|size| *size = (*size >> level).max(1));
        size
    }

    /// The number of texels in the levels before this one; `None` if there are too many.
    fn texels_before(&self, level: u32) -> Option<u64> {
        (0..level).try_fold(0u64, |sum, level| {
            let size =
                self.level_size(level).iter().try_fold(1u64, |all, &size| all.checked_mul(size.into()))?;
            sum.checked_add(size)
        })
    }
}

impl Memory {
    /// Creates an image of zeros; `None` if memory is exhausted.
    pub fn image(&self, desc: ImageDesc) -> Option<Image> {
        let count = desc.texels_before(desc.levels)?;
        let cells = self.cells(count.checked_mul(desc.format.size().into())?)?;
        Some(self.texels(Texels { desc, cells: Arc::new(cells), offset: 0, row: desc.size[0], first: 0 }))
    }

    /// Views texels of a buffer range, which must be in bounds. A row starts every `row` texels.
    pub fn buffer_image(&self, buffer: &Buffer, offset: u64, desc: ImageDesc, row: u32) -> Image {
        self.texels(Texels { desc, cells: buffer.cells().clone(), offset, row, first: 0 })
    }

    /// Views the texels of an image with another format, whose texels have the same size.
    pub fn image_of_image(&self, image: &Image, format: Format) -> Image {
        let desc = ImageDesc { format, ..image.texels.desc };
        self.texels(Texels { desc, ..(*image.texels).clone() })
    }

    fn texels(&self, texels: Texels) -> Image {
        let texels = Arc::new(texels);
        let number = self.register(Handle::Image(texels.clone()));
        Image { memory: self.clone(), number, texels }
    }
}

impl Texels {
    /// The memory that contains the texels.
    pub(crate) fn cells(&self) -> &Arc<Cells> {
        &self.cells
    }

    /// A level; `None` if there is no such level.
    pub(crate) fn level(&self, level: i64) -> Option<Self> {
        let level = u32::try_from(level).ok().filter(|level| *level < self.desc.levels)?;
        if level == 0 {
            return Some(self.clone());
        }
        let size = self.desc.level_size(level);
        let desc = ImageDesc { size, levels: 1, ..self.desc };
        Some(Self { desc, row: size[0], first: self.desc.texels_before(level)?, ..self.clone() })
    }

    /// The index of a texel; `None` if out of bounds.
    pub(crate) fn index(&self, position: [i64; 3]) -> Option<u64> {
        let strides = [self.row, self.desc.size[1], self.desc.size[2]];
        let mut index = 0;
        for ((coordinate, size), stride) in position.into_iter().zip(self.desc.size).zip(strides).rev() {
            let coordinate = u64::try_from(coordinate).ok().filter(|it| *it < size.into())?;
            index = index * u64::from(stride) + coordinate;
        }
        Some(self.first + index)
    }

    /// The byte offset of a texel; `None` if it is outside the image or the underlying buffer.
    fn texel_offset(&self, position: [i64; 3]) -> Option<u64> {
        let index = self.index(position)?;
        let size = u64::from(self.desc.format.size());
        let at = self.offset + index * size;
        self.cells.has(i64::try_from(at).ok()?, size).then_some(at)
    }

    /// Loads a texel; `None` if out of bounds.
    pub(crate) fn load(&self, position: [i64; 3]) -> Option<Texel> {
        let at = self.texel_offset(position)?;
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..self.desc.format.size() as usize];
        self.cells.read(at, bytes);
        Some(self.desc.format.decode(bytes))
    }

    /// Stores a texel; `false` if out of bounds.
    pub(crate) fn store(&self, position: [i64; 3], texel: Texel) -> bool {
        let Some(at) = self.texel_offset(position) else { return false };
        let bytes = self.desc.format.encode(texel);
        self.cells.write(at, &bytes[..self.desc.format.size() as usize]);
        true
    }
}

impl Image {
    /// The handle for kernels.
    pub fn handle(&self) -> u64 {
        self.number as u64 + 1
    }

    /// A level as a separate image. `None` if there is no such level.
    pub fn level(&self, level: u32) -> Option<Self> {
        Some(self.memory.texels(self.texels.level(level.into())?))
    }

    /// Copies tightly packed texels from an offset of a buffer to a region of a level. Both must be in bounds.
    pub fn upload(&self, source: &Buffer, offset: u64, level: u32, region: ImageRegion) {
        self.rows(level, region, |row, at, bytes| {
            let mut texels = vec![0; bytes];
            source.read(offset + row, &mut texels);
            self.texels.cells.write(at, &texels);
        });
    }

    /// Copies the texels of a region of a level to a buffer, in the layout of `upload`.
    pub fn download(&self, level: u32, region: ImageRegion, target: &Buffer, offset: u64) {
        self.rows(level, region, |row, at, bytes| {
            let mut texels = vec![0; bytes];
            self.texels.cells.read(at, &mut texels);
            target.write(offset + row, &texels);
        });
    }

    /// Copies a region of a level to a level of an image of the same format. The two regions must not overlap.
    pub fn copy_to(
        &self,
        [from_level, to_level]: [u32; 2],
        region: ImageRegion,
        target: &Self,
        to: [u32; 3],
    ) {
        let mut rows = Vec::new();
        self.rows(from_level, region, |_, at, bytes| {
            let mut texels = vec![0; bytes];
            self.texels.cells.read(at, &mut texels);
            rows.push(texels);
        });
        let mut rows = rows.into_iter();
        target.rows(to_level, ImageRegion { origin: to, size: region.size }, |_, at, _| {
            if let Some(texels) = rows.next() {
                target.texels.cells.write(at, &texels);
            }
        });
    }

    /// Sets every texel of a level to one value.
    pub fn fill(&self, level: u32, texel: Texel) {
        let format = self.texels.desc.format;
        let bytes = format.encode(texel);
        let bytes = &bytes[..format.size() as usize];
        let whole = ImageRegion { origin: [0; 3], size: self.texels.desc.level_size(level) };
        self.rows(level, whole, |_, at, length| {
            self.texels.cells.write(at, &bytes.repeat(length / bytes.len().max(1)));
        });
    }

    /// Calls `each` for every row of a region of a level: its offset in the packed region, its offset in memory, and its size in
    /// bytes.
    fn rows(&self, level: u32, region: ImageRegion, mut each: impl FnMut(u64, u64, usize)) {
        let Some(texels) = self.texels.level(level.into()) else { return };
        let texel = u64::from(self.texels.desc.format.size());
        let bytes = u64::from(region.size[0]) * texel;
        let mut row = 0;
        for z in 0..region.size[2] {
            for y in 0..region.size[1] {
                let first = [region.origin[0], region.origin[1] + y, region.origin[2] + z].map(i64::from);
                if let Some(at) = texels.texel_offset(first) {
                    each(row, at, bytes as usize);
                }
                row += bytes;
            }
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.memory.forget(self.number);
    }
}
