//! Images: device memory that kernels read and write in texels.
//!
//! Owns image descriptions, their checks, and the commands on images. Must not depend on how a device lays texels
//! out.

mod format;
mod transfer;

use std::fmt;

use bytemuck::Pod;

use crate::backend::{Command, ImageCommand, ImageMemory, Placement};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::{Arg, ArgValue};
use crate::queue::Queue;
use crate::staging::{self, Arrival};

pub use format::{ChannelOrder, ChannelType, ImageFormat, TexelClass};

/// The shape of an image, by its OpenCL C type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// `image1d_t`
    D1,
    /// `image1d_array_t`
    D1Array,
    /// `image1d_buffer_t`: a view of a buffer
    Buffer,
    /// `image2d_t`, `image2d_depth_t`
    D2,
    /// `image2d_array_t`, `image2d_array_depth_t`
    D2Array,
    /// `image3d_t`
    D3,
}

/// Description of an image (`cl_image_desc`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageDesc {
    /// Its shape.
    pub kind: ImageKind,
    /// Its texels.
    pub format: ImageFormat,
    /// Width, then height and depth if the kind has them, then layers if it is an array; unused entries are 1.
    pub size: [u32; 3],
    /// The number of levels (`cl_khr_mipmap_image`). Each has half the size of the one before, without layers.
    pub levels: u32,
}

/// How kernels can access images of a format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImageSupport {
    /// `read_only`
    pub read: bool,
    /// `write_only`
    pub write: bool,
}

/// A region of an image: its first texel and its size in each dimension, layers last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageRegion {
    /// The first texel.
    pub origin: [u32; 3],
    /// The number of texels; 1 in dimensions that the image does not have.
    pub size: [u32; 3],
}

/// One texel, as kernels write it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Texel {
    /// `write_imagef`
    Float([f32; 4]),
    /// `write_imagei`
    Signed([i32; 4]),
    /// `write_imageui`
    Unsigned([u32; 4]),
}

/// An image. Clones share its memory, which is freed when the last one is dropped.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// use kiln_runtime::{ChannelOrder, ChannelType, ImageDesc, ImageFormat, ImageKind, ImageRegion, Texel};
/// let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8);
/// assert!(device.image_support(ImageKind::D2, format).write);
/// let image = device.image(&ImageDesc::d2(format, 640, 480))?;
/// queue.fill_image(&image, Texel::Float([0.0, 0.0, 0.0, 1.0]))?;
/// let corner = ImageRegion { origin: [0; 3], size: [8, 8, 1] };
/// queue.write_image_region(&image, corner, &[[255u8, 0, 0, 255]; 64])?;
/// let texels: Vec<[u8; 4]> = queue.read_image(&image)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Image {
    device: Device,
    pub(crate) memory: ImageMemory,
    desc: ImageDesc,
    /// The underlying buffer, for images of kind `Buffer`.
    buffer: Option<Buffer>,
    /// Whether it views the texels of another image, or of a buffer with rows.
    is_view: bool,
}

impl ImageDesc {
    /// A one-dimensional image.
    pub const fn d1(format: ImageFormat, width: u32) -> Self {
        Self { kind: ImageKind::D1, format, size: [width, 1, 1], levels: 1 }
    }

    /// An array of one-dimensional images.
    pub const fn d1_array(format: ImageFormat, width: u32, layers: u32) -> Self {
        Self { kind: ImageKind::D1Array, format, size: [width, layers, 1], levels: 1 }
    }

    /// A two-dimensional image.
    pub const fn d2(format: ImageFormat, width: u32, height: u32) -> Self {
        Self { kind: ImageKind::D2, format, size: [width, height, 1], levels: 1 }
    }

    /// An array of two-dimensional images.
    pub const fn d2_array(format: ImageFormat, width: u32, height: u32, layers: u32) -> Self {
        Self { kind: ImageKind::D2Array, format, size: [width, height, layers], levels: 1 }
    }

    /// A three-dimensional image.
    pub const fn d3(format: ImageFormat, width: u32, height: u32, depth: u32) -> Self {
        Self { kind: ImageKind::D3, format, size: [width, height, depth], levels: 1 }
    }

    /// Sets the number of levels.
    #[must_use]
    pub const fn with_levels(mut self, levels: u32) -> Self {
        self.levels = levels;
        self
    }

    /// The number of levels down to a single texel.
    pub fn max_levels(&self) -> u32 {
        let along = &self.size[..self.kind.dimensions().into()];
        along.iter().max().map_or(1, |size| size.max(&1).ilog2() + 1)
    }

    /// The description of a level.
    #[must_use]
    pub fn level(&self, level: u32) -> Self {
        let mut size = self.size;
        let along = &mut size[..self.kind.dimensions().into()];
        along.iter_mut().for_each(|size| *size = (*size >> level).max(1));
        Self { size, levels: 1, ..*self }
    }

    /// The region that covers the whole image, or its first level.
    pub const fn whole(&self) -> ImageRegion {
        ImageRegion { origin: [0; 3], size: self.size }
    }

    /// The size in bytes of the texels of all levels, tightly packed.
    pub fn bytes(&self) -> u64 {
        let sizes = (0..self.levels).map(|level| self.level(level).whole().texels());
        sizes.fold(0, u64::saturating_add).saturating_mul(self.format.texel_size())
    }
}

impl ImageKind {
    /// The number of dimensions, without layers.
    pub const fn dimensions(self) -> u8 {
        match self {
            Self::D1 | Self::D1Array | Self::Buffer => 1,
            Self::D2 | Self::D2Array => 2,
            Self::D3 => 3,
        }
    }

    /// The OpenCL C name of the image type.
    pub const fn type_name(self, order: ChannelOrder) -> &'static str {
        match (self, order) {
            (Self::D1, _) => "image1d_t",
            (Self::D1Array, _) => "image1d_array_t",
            (Self::Buffer, _) => "image1d_buffer_t",
            (Self::D2, ChannelOrder::Depth) => "image2d_depth_t",
            (Self::D2, _) => "image2d_t",
            (Self::D2Array, ChannelOrder::Depth) => "image2d_array_depth_t",
            (Self::D2Array, _) => "image2d_array_t",
            (Self::D3, _) => "image3d_t",
        }
    }
}

impl ImageKind {
    /// Whether regions can be copied between the two kinds: they are equal, or both are 2D, 2D array or 3D.
    fn shares_layout(self, other: Self) -> bool {
        let is_plane = |kind| matches!(kind, Self::D2 | Self::D2Array | Self::D3);
        self == other || is_plane(self) && is_plane(other)
    }
}

impl ImageRegion {
    fn texels(&self) -> u64 {
        self.size.iter().fold(1, |all, &size| all.saturating_mul(size.into()))
    }

    /// Whether the region is inside an image of this size.
    fn is_inside(&self, size: [u32; 3]) -> bool {
        (0..3).all(|at| {
            self.size[at] > 0 && self.origin[at].checked_add(self.size[at]).is_some_and(|end| end <= size[at])
        })
    }
}

impl Texel {
    const fn class(self) -> TexelClass {
        match self {
            Self::Float(_) => TexelClass::Float,
            Self::Signed(_) => TexelClass::Signed,
            Self::Unsigned(_) => TexelClass::Unsigned,
        }
    }
}

impl Device {
    /// How kernels can access images of this shape and format (`clGetSupportedImageFormats`).
    pub fn image_support(&self, kind: ImageKind, format: ImageFormat) -> ImageSupport {
        self.backend().image_support(kind, format)
    }

    /// Creates an image with undefined contents.
    pub fn image(&self, desc: &ImageDesc) -> Result<Image> {
        self.check_desc(desc)?;
        let memory = self.backend().image(desc)?;
        self.initialize_image(&memory)?;
        Ok(Image { device: self.clone(), memory, desc: *desc, buffer: None, is_view: false })
    }

    /// Creates an image from tightly packed texels, of all levels one after another.
    pub fn image_from<T: Pod>(&self, desc: &ImageDesc, texels: &[T]) -> Result<Image> {
        let image = self.image(desc)?;
        let queue = self.queue()?;
        let mut rest: &[u8] = bytemuck::cast_slice(texels);
        for number in 0..desc.levels {
            let level = image.level(number)?;
            let is_last = number + 1 == desc.levels;
            let bytes = if is_last { rest.len() } else { level.desc.bytes() as usize };
            let (own, others) = rest.split_at(bytes.min(rest.len()));
            queue.write_image(&level, own)?;
            rest = others;
        }
        queue.finish()?;
        Ok(image)
    }

    /// Views a buffer as a one-dimensional image (`CL_MEM_OBJECT_IMAGE1D_BUFFER`).
    pub fn buffer_image<T: Pod>(&self, buffer: &Buffer<T>, format: ImageFormat) -> Result<Image> {
        let kind = ImageKind::Buffer;
        if self.image_support(kind, format) == ImageSupport::default() {
            return Err(self.no_format(kind, format));
        }
        if !buffer.device().is(self) {
            return Err(Error::WrongDevice { object: "the buffer".to_owned() });
        }
        let texels = buffer.bytes() / format.texel_size();
        let limit = self.backend().image_limit(kind);
        let size = [u32::try_from(texels).unwrap_or(u32::MAX), 1, 1];
        if size[0] == 0 || size[0] > limit[0] {
            return Err(Error::ImageSize { size, limit });
        }
        let buffer = buffer.untyped();
        let desc = ImageDesc { kind, format, size, levels: 1 };
        let memory = self.backend().buffer_image(&buffer.memory, buffer.offset, &desc, size[0])?;
        Ok(Image { device: self.clone(), memory, desc, buffer: Some(buffer), is_view: false })
    }

    /// Creates a two-dimensional image that views the texels of a buffer (`cl_khr_image2d_from_buffer`). A row starts
    /// every `row_pitch` bytes. A command sees what earlier commands wrote to the buffer or to the image.
    pub fn buffer_image_2d<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        format: ImageFormat,
        [width, height]: [u32; 2],
        row_pitch: u64,
    ) -> Result<Image> {
        let desc = ImageDesc::d2(format, width, height);
        self.check_desc(&desc)?;
        if !buffer.device().is(self) {
            return Err(Error::WrongDevice { object: "the buffer".to_owned() });
        }
        let texel = format.texel_size();
        let row = u32::try_from(row_pitch / texel).ok().filter(|row| *row >= width);
        let Some(row) = row.filter(|_| row_pitch.is_multiple_of(texel)) else {
            let reason =
                format!("a row of {width} texels of {texel} bytes cannot have a pitch of {row_pitch}");
            return Err(Error::ImageCommand { command: "made of a buffer", reason });
        };
        let bytes = row_pitch.saturating_mul(u64::from(height) - 1).saturating_add(u64::from(width) * texel);
        let buffer = buffer.untyped().slice(..usize::try_from(bytes).unwrap_or(usize::MAX))?;
        if !buffer.offset.is_multiple_of(texel) {
            return Err(Error::PartialElement { bytes, offset: buffer.offset, element: texel });
        }
        let memory = self.backend().buffer_image(&buffer.memory, buffer.offset, &desc, row)?;
        self.initialize_image(&memory)?;
        Ok(Image { device: self.clone(), memory, desc, buffer: None, is_view: true })
    }

    /// Creates a two-dimensional image that views the texels of another with a different channel order: linear
    /// channels as sRGB and the reverse, or one channel as depth (OpenCL API 5.3.1.1).
    pub fn image_of_image(&self, image: &Image, format: ImageFormat) -> Result<Image> {
        let desc = ImageDesc { format, ..image.desc };
        self.check_desc(&desc)?;
        if !image.device.is(self) {
            return Err(Error::WrongDevice { object: "the image".to_owned() });
        }
        let is_plane = desc.kind == ImageKind::D2 && desc.levels == 1;
        if !is_plane || image.is_view || !format.can_view(image.desc.format) {
            let reason = format!("{format} cannot view an {} of {}", image.type_name(), image.desc.format);
            return Err(Error::ImageCommand { command: "made of an image", reason });
        }
        let memory = self.backend().image_of_image(&image.memory, &desc)?;
        Ok(Image { device: self.clone(), memory, desc, buffer: None, is_view: true })
    }

    /// Checks that the device has images of this format and size.
    fn check_desc(&self, desc: &ImageDesc) -> Result<()> {
        let support = self.image_support(desc.kind, desc.format);
        if desc.kind == ImageKind::Buffer || support == ImageSupport::default() {
            return Err(self.no_format(desc.kind, desc.format));
        }
        let limit = self.backend().image_limit(desc.kind);
        if desc.size.contains(&0) || (0..3).any(|at| desc.size[at] > limit[at]) {
            return Err(Error::ImageSize { size: desc.size, limit });
        }
        if !(1..=desc.max_levels()).contains(&desc.levels) {
            return Err(Error::ImageLevel { level: desc.levels, levels: desc.max_levels() });
        }
        Ok(())
    }

    fn no_format(&self, kind: ImageKind, format: ImageFormat) -> Error {
        let what = format!("{} of format {format}", kind.type_name(format.order));
        Error::ImageFormat { what, device: self.name().to_owned() }
    }
}

impl Image {
    /// The image's description.
    pub fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    /// A level, for transfers. Kernels always get all levels.
    pub fn level(&self, level: u32) -> Result<Self> {
        let levels = self.desc.levels;
        if level >= levels {
            return Err(Error::ImageLevel { level, levels });
        }
        if levels == 1 {
            return Ok(self.clone());
        }
        let memory = self.memory.at_level(level);
        Ok(Self { memory, desc: self.desc.level(level), ..self.clone() })
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The OpenCL C name of the image type.
    pub fn type_name(&self) -> &'static str {
        self.desc.kind.type_name(self.desc.format.order)
    }
}

impl Arg for &Image {
    fn into_value(self) -> ArgValue {
        ArgValue::Image(self.clone())
    }
}

impl Queue {
    /// Writes all texels of an image, tightly packed. The slice may be reused as soon as this returns.
    pub fn write_image<T: Pod>(&self, image: &Image, texels: &[T]) -> Result<Event> {
        self.write_image_region(image, image.desc.whole(), texels)
    }

    /// Writes a region of an image (`clEnqueueWriteImage`).
    pub fn write_image_region<T: Pod>(
        &self,
        image: &Image,
        region: ImageRegion,
        texels: &[T],
    ) -> Result<Event> {
        let texels: &[u8] = bytemuck::cast_slice(texels);
        self.check_region(image, region, Some(texels.len() as u64))?;
        if let Some(buffer) = part(image, region)? {
            return self.write(&buffer, texels);
        }
        let source = staging::filled(self.device().backend(), texels)?;
        let target = image.memory.clone();
        self.enqueue(Command::Image(ImageCommand::Upload { source, at: 0, target, region }))
    }

    /// Reads all texels of an image, blocking.
    pub fn read_image<T: Pod>(&self, image: &Image) -> Result<Vec<T>> {
        self.read_image_region(image, image.desc.whole())
    }

    /// Reads a region of an image, blocking (`clEnqueueReadImage`).
    pub fn read_image_region<T: Pod>(&self, image: &Image, region: ImageRegion) -> Result<Vec<T>> {
        self.check_region(image, region, None)?;
        let bytes = region.texels() * image.desc.format.texel_size();
        let element = size_of::<T>() as u64;
        if element == 0 || !bytes.is_multiple_of(element) {
            return Err(Error::PartialElement { bytes, offset: 0, element });
        }
        let mut texels = vec![T::zeroed(); (bytes / element) as usize];
        if let Some(buffer) = part(image, region)? {
            self.read_into(&buffer, bytemuck::cast_slice_mut(&mut texels))?;
            return Ok(texels);
        }
        let memory = self.device().backend().allocate(bytes, Placement::Download)?;
        let (source, target) = (image.memory.clone(), memory.clone());
        let event = self.enqueue(Command::Image(ImageCommand::Download { source, region, target, at: 0 }))?;
        Arrival { event, memory }.copy_when_done(bytemuck::cast_slice_mut(&mut texels))?;
        self.failures().report()?;
        Ok(texels)
    }

    pub(crate) fn check_region(&self, image: &Image, region: ImageRegion, bytes: Option<u64>) -> Result<()> {
        if !image.device.is(self.device()) {
            return Err(Error::WrongDevice { object: "the image".to_owned() });
        }
        let wanted = region.texels().saturating_mul(image.desc.format.texel_size());
        if !region.is_inside(image.desc.size) {
            let ImageRegion { origin, size } = region;
            return Err(Error::ImageRegion { origin, size, image: image.desc.size });
        }
        match bytes {
            Some(given) if given != wanted => Err(Error::ImageCommand {
                command: "written",
                reason: format!("there are {given} bytes for {wanted}"),
            }),
            _ => Ok(()),
        }
    }
}

/// The bytes of a region, if the image is a view of a buffer.
fn part(image: &Image, region: ImageRegion) -> Result<Option<Buffer>> {
    let Some(buffer) = &image.buffer else { return Ok(None) };
    let texel = image.desc.format.texel_size() as usize;
    let [start, count] = [region.origin[0], region.size[0]].map(|texels| texels as usize * texel);
    buffer.slice(start..start + count).map(Some)
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("desc", &self.desc).finish_non_exhaustive()
    }
}
