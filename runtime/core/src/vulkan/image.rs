//! Images: `VkImage`s in the general layout, views of them and of buffers, and the mapping from OpenCL to Vulkan
//! formats.
//!
//! Owns the format table. If Vulkan's format orders channels differently, a view swizzles them, which works for reads
//! only.

mod backing;

use std::any::Any;
use std::sync::{Arc, PoisonError};

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use backing::Backing;
pub(super) use backing::Exchange;

use super::device::{Device, FormatFeatures};
use super::memory;
use crate::backend::{ImageCommand, ImageMemory, Memory};
use crate::error::{Error, Result};
use crate::image::{
    ChannelOrder, ChannelType, ImageDesc, ImageFormat, ImageKind, ImageRegion, ImageSupport, Texel,
    TexelClass,
};
use crate::interface::BindingClass;

/// The Vulkan object of an image.
pub(super) enum Image {
    Texels(Texels),
    View(View),
}

/// An image with its own memory.
pub(super) struct Texels {
    device: Arc<Device>,
    raw: vk::Image,
    allocation: Option<Allocation>,
    /// View for reads.
    sampled: vk::ImageView,
    /// Views of the levels for writes, if the format allows them.
    storage: Vec<vk::ImageView>,
    kind: ImageKind,
    layers: u32,
    levels: u32,
    components: [Component; 4],
    /// The buffer that it views, if any.
    backing: Option<Box<Backing>>,
    /// The image that it views and that has the memory, if any.
    viewed: Option<ImageMemory>,
}

/// A view of a buffer.
pub(super) struct View {
    device: Arc<Device>,
    raw: vk::BufferView,
    _buffer: Memory,
}

/// The source of a texel component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Component {
    Channel(usize),
    Zero,
    One,
}

const IDENTITY: [Component; 4] =
    [Component::Channel(0), Component::Channel(1), Component::Channel(2), Component::Channel(3)];

/// Vulkan's format, and the channel that each texel component is read from.
fn format(format: ImageFormat) -> Option<(vk::Format, [Component; 4])> {
    use ChannelOrder as Order;
    use Component::{Channel, One, Zero};
    let [r, g, b, a] = IDENTITY;
    // The allowed combinations (OpenCL API 5.3.1.1).
    let is_legal = match format.order {
        Order::Depth => matches!(format.channel, ChannelType::Unorm16 | ChannelType::Float),
        Order::Intensity | Order::Luminance => format.class() == TexelClass::Float,
        Order::Argb | Order::Abgr => format.texel_size() == 4,
        _ => true,
    };
    if !is_legal {
        return None;
    }
    let (channels, components) = match format.order {
        Order::R | Order::Rx | Order::Depth => (1, IDENTITY),
        Order::Rg | Order::Rgx => (2, IDENTITY),
        Order::Rgba => (4, IDENTITY),
        Order::A => (1, [Zero, Zero, Zero, r]),
        Order::Intensity => (1, [r, r, r, r]),
        Order::Luminance => (1, [r, r, r, One]),
        Order::Ra => (2, [r, Zero, Zero, g]),
        Order::Argb => (4, [Channel(1), Channel(2), Channel(3), r]),
        Order::Abgr => (4, [a, b, g, r]),
        Order::Bgra => {
            let format = match format.channel {
                ChannelType::Unorm8 => vk::Format::B8G8R8A8_UNORM,
                ChannelType::Snorm8 => vk::Format::B8G8R8A8_SNORM,
                ChannelType::Int8 => vk::Format::B8G8R8A8_SINT,
                ChannelType::Uint8 => vk::Format::B8G8R8A8_UINT,
                _ => return None,
            };
            return Some((format, IDENTITY));
        }
        Order::Srgba if format.channel == ChannelType::Unorm8 => {
            return Some((vk::Format::R8G8B8A8_SRGB, IDENTITY));
        }
        Order::Sbgra if format.channel == ChannelType::Unorm8 => {
            return Some((vk::Format::B8G8R8A8_SRGB, IDENTITY));
        }
        Order::Srgba | Order::Sbgra => return None,
        Order::Rgb | Order::Rgbx => {
            let format = match format.channel {
                ChannelType::Unorm565 => vk::Format::R5G6B5_UNORM_PACK16,
                ChannelType::Unorm555 => vk::Format::A1R5G5B5_UNORM_PACK16,
                ChannelType::Unorm101010 => vk::Format::A2R10G10B10_UNORM_PACK32,
                _ => return None,
            };
            return Some((format, [r, g, b, One]));
        }
    };
    let formats: [vk::Format; 3] = match format.channel {
        ChannelType::Snorm8 => [vk::Format::R8_SNORM, vk::Format::R8G8_SNORM, vk::Format::R8G8B8A8_SNORM],
        ChannelType::Unorm8 => [vk::Format::R8_UNORM, vk::Format::R8G8_UNORM, vk::Format::R8G8B8A8_UNORM],
        ChannelType::Int8 => [vk::Format::R8_SINT, vk::Format::R8G8_SINT, vk::Format::R8G8B8A8_SINT],
        ChannelType::Uint8 => [vk::Format::R8_UINT, vk::Format::R8G8_UINT, vk::Format::R8G8B8A8_UINT],
        ChannelType::Snorm16 => {
            [vk::Format::R16_SNORM, vk::Format::R16G16_SNORM, vk::Format::R16G16B16A16_SNORM]
        }
        ChannelType::Unorm16 => {
            [vk::Format::R16_UNORM, vk::Format::R16G16_UNORM, vk::Format::R16G16B16A16_UNORM]
        }
        ChannelType::Int16 => [vk::Format::R16_SINT, vk::Format::R16G16_SINT, vk::Format::R16G16B16A16_SINT],
        ChannelType::Uint16 => [vk::Format::R16_UINT, vk::Format::R16G16_UINT, vk::Format::R16G16B16A16_UINT],
        ChannelType::Half => {
            [vk::Format::R16_SFLOAT, vk::Format::R16G16_SFLOAT, vk::Format::R16G16B16A16_SFLOAT]
        }
        ChannelType::Int32 => [vk::Format::R32_SINT, vk::Format::R32G32_SINT, vk::Format::R32G32B32A32_SINT],
        ChannelType::Uint32 => [vk::Format::R32_UINT, vk::Format::R32G32_UINT, vk::Format::R32G32B32A32_UINT],
        ChannelType::Float => {
            [vk::Format::R32_SFLOAT, vk::Format::R32G32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT]
        }
        ChannelType::Unorm565 | ChannelType::Unorm555 | ChannelType::Unorm101010 => return None,
    };
    Some((formats[channels / 2], components))
}

/// The format that views the texels of a format as linear or as sRGB.
const fn counterpart(format: vk::Format) -> Option<vk::Format> {
    match format {
        vk::Format::R8G8B8A8_UNORM => Some(vk::Format::R8G8B8A8_SRGB),
        vk::Format::R8G8B8A8_SRGB => Some(vk::Format::R8G8B8A8_UNORM),
        vk::Format::B8G8R8A8_UNORM => Some(vk::Format::B8G8R8A8_SRGB),
        vk::Format::B8G8R8A8_SRGB => Some(vk::Format::B8G8R8A8_UNORM),
        _ => None,
    }
}

/// The format that views sRGB texels without a conversion; for others, the format itself.
fn linear(format: vk::Format) -> vk::Format {
    match format {
        vk::Format::R8G8B8A8_SRGB | vk::Format::B8G8R8A8_SRGB => counterpart(format).unwrap_or(format),
        _ => format,
    }
}

/// The floating-point formats of images.
pub(super) fn formats_of_floats() -> impl Iterator<Item = vk::Format> {
    let formats = ChannelOrder::ALL
        .iter()
        .flat_map(|&order| ChannelType::ALL.iter().map(move |&channel| ImageFormat { order, channel }));
    formats.filter(|it| it.class() == TexelClass::Float).filter_map(|it| Some(format(it)?.0))
}

/// How kernels can access images of a shape and format.
fn support(found: &FormatFeatures, kind: ImageKind, wanted: ImageFormat) -> ImageSupport {
    let Some((_, components)) = format(wanted) else { return ImageSupport::default() };
    let has = |features: vk::FormatFeatureFlags, feature| features.contains(feature);
    let is_plain = components == IDENTITY;
    if kind == ImageKind::Buffer {
        // Buffer views cannot swizzle.
        let features = found.buffer;
        return ImageSupport {
            read: components == IDENTITY && has(features, vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER),
            write: is_plain
                && found.writes_buffers
                && has(features, vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER),
        };
    }
    let features = found.image;
    let transfers = vk::FormatFeatureFlags::TRANSFER_SRC | vk::FormatFeatureFlags::TRANSFER_DST;
    let read = has(features, vk::FormatFeatureFlags::SAMPLED_IMAGE | transfers);
    ImageSupport {
        read,
        write: read
            && is_plain
            && found.writes_images
            && has(features, vk::FormatFeatureFlags::STORAGE_IMAGE),
    }
}

impl Device {
    pub(super) fn image_support(&self, kind: ImageKind, wanted: ImageFormat) -> ImageSupport {
        let Some((format, _)) = format(wanted) else { return ImageSupport::default() };
        let mut found = support(&self.format_features(format), kind, wanted);
        if wanted.order.is_srgb() {
            // Kernels convert the texels and write them as linear ones.
            found.write = kind != ImageKind::Buffer
                && found.read
                && support(&self.format_features(linear(format)), kind, wanted).write;
        }
        found
    }

    /// The maximum image size in each dimension, layers last.
    pub(super) fn image_limit(&self, kind: ImageKind) -> [u32; 3] {
        let limits = &self.limits;
        let (d1, d2, d3) =
            (limits.max_image_dimension1_d, limits.max_image_dimension2_d, limits.max_image_dimension3_d);
        match kind {
            ImageKind::D1 => [d1, 1, 1],
            ImageKind::D1Array => [d1, limits.max_image_array_layers, 1],
            ImageKind::Buffer => [limits.max_texel_buffer_elements, 1, 1],
            ImageKind::D2 => [d2, d2, 1],
            ImageKind::D2Array => [d2, d2, limits.max_image_array_layers],
            ImageKind::D3 => [d3; 3],
        }
    }
}

/// Creates an image whose format and size have been checked.
pub(super) fn create(device: &Arc<Device>, desc: &ImageDesc) -> Result<ImageMemory> {
    texels(device, desc, None)
}

/// Makes an image of the texels in a buffer range that has been checked.
pub(super) fn of_buffer(
    device: &Arc<Device>,
    memory: &Memory,
    offset: u64,
    desc: &ImageDesc,
    row: u32,
) -> Result<ImageMemory> {
    if desc.kind == ImageKind::Buffer {
        return view(device, memory, offset, desc.size[0], desc.format);
    }
    texels(device, desc, Some(Box::new(Backing::new(memory.clone(), offset, row, desc))))
}

/// The types of an image of this shape, and of its views.
const fn image_types(kind: ImageKind) -> (vk::ImageType, vk::ImageViewType) {
    match kind {
        ImageKind::D1 | ImageKind::Buffer => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D),
        ImageKind::D1Array => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D_ARRAY),
        ImageKind::D2 => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D),
        ImageKind::D2Array => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY),
        ImageKind::D3 => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D),
    }
}

fn texels(device: &Arc<Device>, desc: &ImageDesc, backing: Option<Box<Backing>>) -> Result<ImageMemory> {
    let failed = |result| device.failure("creating an image", result, desc.bytes());
    let no_format = || Error::ImageFormat { what: desc.format.to_string(), device: device.info.name.clone() };
    let (format, components) = format(desc.format).ok_or_else(no_format)?;
    let support = device.image_support(desc.kind, desc.format);
    let (kind, view_kind) = image_types(desc.kind);
    let whole = subresource(desc.kind, desc.whole(), 0);
    let mut usage =
        vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    if support.write {
        usage |= vk::ImageUsageFlags::STORAGE;
    }
    let mut info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(linear(format))
        .extent(whole.extent)
        .mip_levels(desc.levels)
        .array_layers(whole.layers.layer_count)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usage);
    let can_be_viewed = desc.kind == ImageKind::D2 && desc.levels == 1;
    let other = counterpart(format).filter(|_| can_be_viewed || desc.format.order.is_srgb());
    let formats = [format, other.unwrap_or_default()];
    let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
    if other.is_some() {
        info = info.flags(vk::ImageCreateFlags::MUTABLE_FORMAT).push_next(&mut list);
    }
    // SAFETY: the device is valid, and supports images of this format and size.
    let raw = unsafe { device.raw.create_image(&info, None) }.map_err(failed)?;
    // From here on, dropping `texels` destroys what was created.
    let mut texels = Texels {
        device: device.clone(),
        raw,
        allocation: None,
        sampled: vk::ImageView::null(),
        storage: Vec::new(),
        kind: desc.kind,
        layers: whole.layers.layer_count,
        levels: desc.levels,
        components,
        backing,
        viewed: None,
    };
    texels.allocate(desc.bytes())?;
    texels.sampled = texels
        .view(format, view_kind, components, vk::ImageUsageFlags::SAMPLED, (0, desc.levels))
        .map_err(failed)?;
    if support.write {
        texels.add_storage(format, view_kind).map_err(failed)?;
    }
    Ok(ImageMemory { handle: Arc::new(Image::Texels(texels)), level: 0 })
}

/// Makes an image of the texels of another, whose format has been checked.
pub(super) fn of_image(device: &Arc<Device>, image: &ImageMemory, desc: &ImageDesc) -> Result<ImageMemory> {
    let failed = |result| device.failure("viewing an image", result, 0);
    let viewed = image.texels()?;
    let no_format = || Error::ImageFormat { what: desc.format.to_string(), device: device.info.name.clone() };
    let (format, components) = format(desc.format).ok_or_else(no_format)?;
    let mut texels = Texels {
        device: device.clone(),
        raw: viewed.raw,
        allocation: None,
        sampled: vk::ImageView::null(),
        storage: Vec::new(),
        kind: desc.kind,
        layers: viewed.layers,
        levels: viewed.levels,
        components,
        backing: None,
        viewed: Some(image.clone()),
    };
    let kind = vk::ImageViewType::TYPE_2D;
    texels.sampled =
        texels.view(format, kind, components, vk::ImageUsageFlags::SAMPLED, (0, 1)).map_err(failed)?;
    // Only the format of the memory decides whether kernels can write it.
    if !viewed.storage.is_empty() && device.image_support(desc.kind, desc.format).write {
        texels.add_storage(format, kind).map_err(failed)?;
    }
    Ok(ImageMemory { handle: Arc::new(Image::Texels(texels)), level: 0 })
}

/// Creates a view of a buffer range that has been checked.
fn view(
    device: &Arc<Device>,
    memory: &Memory,
    offset: u64,
    texels: u32,
    wanted: ImageFormat,
) -> Result<ImageMemory> {
    let no_format = || Error::ImageFormat { what: wanted.to_string(), device: device.info.name.clone() };
    let (format, _) = format(wanted).ok_or_else(no_format)?;
    let align = device.limits.min_texel_buffer_offset_alignment.max(1);
    if !offset.is_multiple_of(align) {
        return Err(Error::PartialElement { bytes: 0, offset, element: align });
    }
    let info = vk::BufferViewCreateInfo::default()
        .buffer(memory::buffer(memory)?)
        .format(format)
        .offset(offset)
        .range(u64::from(texels) * wanted.texel_size());
    // SAFETY: the range is within the buffer, which outlives the view, and the format allows it.
    let raw = unsafe { device.raw.create_buffer_view(&info, None) }
        .map_err(|result| device.failure("viewing a buffer", result, 0))?;
    let view = View { device: device.clone(), raw, _buffer: memory.clone() };
    Ok(ImageMemory { handle: Arc::new(Image::View(view)), level: 0 })
}

impl Texels {
    /// Allocates the memory, for texels of this size in bytes, and binds it.
    fn allocate(&mut self, bytes: u64) -> Result<()> {
        // SAFETY: the image belongs to the device.
        let requirements = unsafe { self.device.raw.get_image_memory_requirements(self.raw) };
        let allocation = self
            .device
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .allocate(&AllocationCreateDesc {
                name: "kiln image",
                requirements,
                location: MemoryLocation::GpuOnly,
                linear: false,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| self.device.allocation_failure(&error, bytes))?;
        // SAFETY: the memory was allocated for the requirements of this image, which has none yet.
        let bound =
            unsafe { self.device.raw.bind_image_memory(self.raw, allocation.memory(), allocation.offset()) };
        self.allocation = Some(allocation);
        bound.map_err(|result| self.device.failure("creating an image", result, bytes))
    }

    fn view(
        &self,
        format: vk::Format,
        kind: vk::ImageViewType,
        components: [Component; 4],
        usage: vk::ImageUsageFlags,
        (level, levels): (u32, u32),
    ) -> ash::prelude::VkResult<vk::ImageView> {
        let [r, g, b, a] = components.map(|component| match component {
            Component::Channel(0) => vk::ComponentSwizzle::R,
            Component::Channel(1) => vk::ComponentSwizzle::G,
            Component::Channel(2) => vk::ComponentSwizzle::B,
            Component::Channel(_) => vk::ComponentSwizzle::A,
            Component::Zero => vk::ComponentSwizzle::ZERO,
            Component::One => vk::ComponentSwizzle::ONE,
        });
        // Storage views must use the identity swizzle explicitly.
        let mapping = match components {
            IDENTITY => vk::ComponentMapping::default(),
            _ => vk::ComponentMapping { r, g, b, a },
        };
        let mut only = vk::ImageViewUsageCreateInfo::default().usage(usage);
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(kind)
            .format(format)
            .components(mapping)
            .subresource_range(self.range(level, levels))
            .push_next(&mut only);
        // SAFETY: the image has memory and was created for this use.
        unsafe { self.device.raw.create_image_view(&info, None) }
    }

    /// Adds the views for writes.
    fn add_storage(&mut self, format: vk::Format, kind: vk::ImageViewType) -> ash::prelude::VkResult<()> {
        for level in 0..self.levels {
            let view = self.view(linear(format), kind, IDENTITY, vk::ImageUsageFlags::STORAGE, (level, 1))?;
            self.storage.push(view);
        }
        Ok(())
    }

    /// All layers of some levels.
    const fn range(&self, level: u32, levels: u32) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: level,
            level_count: levels,
            base_array_layer: 0,
            layer_count: self.layers,
        }
    }

    /// Converts a texel's components to the channels of the format.
    fn clear_value(&self, texel: Texel) -> vk::ClearColorValue {
        fn channels<T: Copy + Default>(components: [Component; 4], texel: [T; 4]) -> [T; 4] {
            let mut channels = [T::default(); 4];
            // If several components read one channel, the first determines its value.
            for (component, value) in components.into_iter().zip(texel).rev() {
                if let Component::Channel(channel) = component {
                    channels[channel] = value;
                }
            }
            channels
        }
        match texel {
            Texel::Float(it) => vk::ClearColorValue { float32: channels(self.components, it) },
            Texel::Signed(it) => vk::ClearColorValue { int32: channels(self.components, it) },
            Texel::Unsigned(it) => vk::ClearColorValue { uint32: channels(self.components, it) },
        }
    }
}

/// A region in Vulkan's terms, with layers separate from depth.
struct Subresource {
    offset: vk::Offset3D,
    extent: vk::Extent3D,
    layers: vk::ImageSubresourceLayers,
}

fn subresource(kind: ImageKind, region: ImageRegion, level: u32) -> Subresource {
    let ImageRegion { mut origin, mut size } = region;
    let layer = match kind {
        ImageKind::D1Array => Some(1),
        ImageKind::D2Array => Some(2),
        _ => None,
    };
    let (first, count) = layer
        .map_or((0, 1), |at: usize| (std::mem::take(&mut origin[at]), std::mem::replace(&mut size[at], 1)));
    let [x, y, z] = origin.map(|it| it as i32);
    let [width, height, depth] = size;
    Subresource {
        offset: vk::Offset3D { x, y, z },
        extent: vk::Extent3D { width, height, depth },
        layers: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: level,
            base_array_layer: first,
            layer_count: count,
        },
    }
}

/// An image command whose recording cannot fail, with the resources it uses.
pub(super) struct PreparedImageCommand {
    action: Action,
    exchanges: Vec<Exchange>,
    _keep: [Option<KeepAlive>; 2],
}

type KeepAlive = Arc<dyn Any + Send + Sync>;

enum Action {
    Prepare { image: vk::Image, range: vk::ImageSubresourceRange },
    Upload { source: vk::Buffer, target: vk::Image, region: vk::BufferImageCopy },
    Download { source: vk::Image, target: vk::Buffer, region: vk::BufferImageCopy },
    Copy { source: vk::Image, target: vk::Image, region: vk::ImageCopy },
    Fill { target: vk::Image, value: vk::ClearColorValue, range: vk::ImageSubresourceRange },
}

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

impl PreparedImageCommand {
    /// Prepares a command.
    pub(super) fn new(command: ImageCommand) -> Result<Self> {
        let buffer_copy = |kind, region, level, at| {
            let subresource = subresource(kind, region, level);
            vk::BufferImageCopy::default()
                .buffer_offset(at)
                .image_subresource(subresource.layers)
                .image_offset(subresource.offset)
                .image_extent(subresource.extent)
        };
        let exchanges = exchanges(&command)?;
        let (action, keep): (_, [Option<KeepAlive>; 2]) = match command {
            ImageCommand::Prepare { image } => {
                let texels = image.texels()?;
                let action = Action::Prepare { image: texels.raw, range: texels.range(0, texels.levels) };
                (action, [Some(image.handle), None])
            }
            ImageCommand::Upload { source, at, target, region } => {
                let texels = target.texels()?;
                let region = buffer_copy(texels.kind, region, target.level, at);
                let action = Action::Upload { source: memory::buffer(&source)?, target: texels.raw, region };
                (action, [Some(source.handle), Some(target.handle)])
            }
            ImageCommand::Download { source, region, target, at } => {
                let texels = source.texels()?;
                let region = buffer_copy(texels.kind, region, source.level, at);
                let action =
                    Action::Download { source: texels.raw, target: memory::buffer(&target)?, region };
                (action, [Some(source.handle), Some(target.handle)])
            }
            ImageCommand::Copy { source, region, target, to } => {
                let [from_texels, to_texels] = [source.texels()?, target.texels()?];
                let from = subresource(from_texels.kind, region, source.level);
                let to = ImageRegion { origin: to, ..region };
                let to = subresource(to_texels.kind, to, target.level);
                let region = vk::ImageCopy::default()
                    .src_subresource(from.layers)
                    .src_offset(from.offset)
                    .dst_subresource(to.layers)
                    .dst_offset(to.offset)
                    .extent(vk::Extent3D {
                        width: from.extent.width,
                        height: from.extent.height.max(to.extent.height),
                        depth: from.extent.depth.max(to.extent.depth),
                    });
                let action = Action::Copy { source: from_texels.raw, target: to_texels.raw, region };
                (action, [Some(source.handle), Some(target.handle)])
            }
            ImageCommand::Fill { target, texel } => {
                let texels = target.texels()?;
                let (value, range) = (texels.clear_value(texel), texels.range(target.level, 1));
                (Action::Fill { target: texels.raw, value, range }, [Some(target.handle), None])
            }
        };
        Ok(Self { action, exchanges, _keep: keep })
    }

    /// Whether it is the first command on its image.
    pub(super) fn is_first(&self) -> bool {
        matches!(self.action, Action::Prepare { .. })
    }

    /// Whether it copies between its images and their buffers, with its own barriers.
    pub(super) fn exchanges(&self) -> bool {
        !self.exchanges.is_empty()
    }

    /// Records the command into a command buffer in the recording state.
    pub(super) fn record(&self, raw: &ash::Device, commands: vk::CommandBuffer) {
        Exchange::load(&self.exchanges, raw, commands);
        // SAFETY: the command buffer is being recorded; regions are within their images and buffers, which live until
        // the command is complete. Images are in the general layout, except for the first command on them.
        unsafe {
            match &self.action {
                Action::Prepare { image, range } => {
                    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
                    let barrier = [vk::ImageMemoryBarrier::default()
                        .old_layout(vk::ImageLayout::UNDEFINED)
                        .new_layout(GENERAL)
                        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .image(*image)
                        .subresource_range(*range)];
                    let none = vk::DependencyFlags::empty();
                    raw.cmd_pipeline_barrier(commands, stages, stages, none, &[], &[], &barrier);
                }
                Action::Upload { source, target, region } => {
                    raw.cmd_copy_buffer_to_image(commands, *source, *target, GENERAL, &[*region]);
                }
                Action::Download { source, target, region } => {
                    raw.cmd_copy_image_to_buffer(commands, *source, GENERAL, *target, &[*region]);
                }
                Action::Copy { source, target, region } => {
                    raw.cmd_copy_image(commands, *source, GENERAL, *target, GENERAL, &[*region]);
                }
                Action::Fill { target, value, range } => {
                    raw.cmd_clear_color_image(commands, *target, GENERAL, value, &[*range]);
                }
            }
        }
        Exchange::store(&self.exchanges, raw, commands);
    }
}

/// The copies around a command, for its images that are made of buffers.
fn exchanges(command: &ImageCommand) -> Result<Vec<Exchange>> {
    let images: &[(&ImageMemory, bool)] = match command {
        ImageCommand::Prepare { .. } => &[],
        ImageCommand::Upload { target, .. } | ImageCommand::Fill { target, .. } => &[(target, true)],
        ImageCommand::Download { source, .. } => &[(source, false)],
        ImageCommand::Copy { source, target, .. } => &[(source, false), (target, true)],
    };
    let found = images.iter().map(|(image, writes)| Exchange::for_command(image, *writes));
    Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The contents of an image descriptor.
pub(super) enum Descriptor {
    Image(vk::DescriptorImageInfo),
    View(vk::BufferView),
}

/// The descriptor for an image that a kernel declares with this class.
pub(super) fn descriptor(memory: &ImageMemory, class: BindingClass) -> Result<Descriptor> {
    let wrong = || Error::WrongDevice { object: "the image".to_owned() };
    match (memory.image()?, class) {
        (Image::Texels(texels), BindingClass::SampledImage | BindingClass::StorageImage) => {
            let storage = texels.storage.get(memory.level as usize).copied();
            let view = match class {
                BindingClass::SampledImage => texels.sampled,
                _ => storage.ok_or_else(wrong)?,
            };
            let info = vk::DescriptorImageInfo::default().image_view(view).image_layout(GENERAL);
            Ok(Descriptor::Image(info))
        }
        (Image::View(view), BindingClass::UniformTexels | BindingClass::StorageTexels) => {
            Ok(Descriptor::View(view.raw))
        }
        _ => Err(wrong()),
    }
}

impl ImageMemory {
    fn image(&self) -> Result<&Image> {
        let handle: &dyn Any = &*self.handle;
        handle.downcast_ref::<Image>().ok_or_else(|| Error::WrongDevice { object: "the image".to_owned() })
    }

    fn texels(&self) -> Result<&Texels> {
        match self.image()? {
            Image::Texels(texels) => Ok(texels),
            Image::View(_) => Err(Error::WrongDevice { object: "the image".to_owned() }),
        }
    }
}

impl Drop for Texels {
    fn drop(&mut self) {
        // SAFETY: commands hold the image until they are complete. Null handles are allowed.
        unsafe {
            self.device.raw.destroy_image_view(self.sampled, None);
            for view in &self.storage {
                self.device.raw.destroy_image_view(*view, None);
            }
            if self.viewed.is_none() {
                self.device.raw.destroy_image(self.raw, None);
            }
        }
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: commands hold the view until they are complete.
        unsafe { self.device.raw.destroy_buffer_view(self.raw, None) };
    }
}
