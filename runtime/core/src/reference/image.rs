//! Images of the reference device.

use std::sync::Arc;

use kiln_reference::{Format, Image, ImageDesc as Desc, ImageRegion as Region, Texel as Value};

use super::{NAME, block};
use crate::backend::{ImageCommand, ImageMemory, Memory};
use crate::capabilities::{Environment, ImageLimits};
use crate::error::{Error, Result};
use crate::image::{ChannelOrder, ImageDesc, ImageFormat, ImageKind, ImageRegion, ImageSupport, Texel};

/// The image limits.
pub(super) const LIMITS: ImageLimits = ImageLimits {
    read_write: true,
    max_2d: 1 << 15,
    max_3d: 1 << 12,
    max_layers: 1 << 12,
    max_buffer: 1 << 27,
    max_samplers: MAX_BOUND,
};

/// The number of images and of samplers that a kernel can bind.
pub(super) const MAX_BOUND: u32 = 1 << 10;

fn format(format: ImageFormat) -> Option<Format> {
    Format::new(format.order.number(), format.channel.number())
}

/// OpenCL API 5.3.1.1: depth images are two-dimensional.
pub(super) fn support(environment: Environment, kind: ImageKind, wanted: ImageFormat) -> ImageSupport {
    let is_plane = matches!(kind, ImageKind::D2 | ImageKind::D2Array);
    let found = format(wanted).filter(|_| wanted.order != ChannelOrder::Depth || is_plane);
    let is_opencl = environment == Environment::OpenCl;
    found.map_or_else(ImageSupport::default, |format| ImageSupport {
        read: true,
        write: is_opencl || has_own_channels(wanted.order) && !format.is_srgb(),
    })
}

/// Whether Vulkan has formats with this channel order. Other orders are read through a component mapping, which views
/// for writing must not have (VUID-VkWriteDescriptorSet-descriptorType-00336).
fn has_own_channels(order: ChannelOrder) -> bool {
    use ChannelOrder as Order;
    matches!(order, Order::R | Order::Rx | Order::Rg | Order::Rgx | Order::Rgba | Order::Bgra | Order::Depth)
}

pub(super) const fn limit(kind: ImageKind) -> [u32; 3] {
    let ImageLimits { max_2d, max_3d, max_layers, max_buffer, .. } = LIMITS;
    match kind {
        ImageKind::D1 => [max_2d, 1, 1],
        ImageKind::D1Array => [max_2d, max_layers, 1],
        ImageKind::Buffer => [max_buffer, 1, 1],
        ImageKind::D2 => [max_2d, max_2d, 1],
        ImageKind::D2Array => [max_2d, max_2d, max_layers],
        ImageKind::D3 => [max_3d; 3],
    }
}

pub(super) fn image(memory: &kiln_reference::Memory, desc: &ImageDesc) -> Result<ImageMemory> {
    let format = format(desc.format).ok_or_else(|| unknown(desc.format))?;
    let none = || Error::OutOfMemory { bytes: desc.bytes(), device: NAME.to_owned() };
    let image = memory.image(described(desc, format)).ok_or_else(none)?;
    Ok(ImageMemory { handle: Arc::new(image), level: 0 })
}

pub(super) fn buffer_image(
    memory: &kiln_reference::Memory,
    buffer: &Memory,
    offset: u64,
    desc: &ImageDesc,
    row: u32,
) -> Result<ImageMemory> {
    let format = format(desc.format).ok_or_else(|| unknown(desc.format))?;
    let desc = described(desc, format);
    let image = memory.buffer_image(block(buffer)?.buffer()?, offset, desc, row);
    Ok(ImageMemory { handle: Arc::new(image), level: 0 })
}

pub(super) fn image_of_image(
    memory: &kiln_reference::Memory,
    image: &ImageMemory,
    wanted: ImageFormat,
) -> Result<ImageMemory> {
    let format = format(wanted).ok_or_else(|| unknown(wanted))?;
    let view = memory.image_of_image(&*found(image)?, format);
    Ok(ImageMemory { handle: Arc::new(view), level: 0 })
}

const fn described(desc: &ImageDesc, format: Format) -> Desc {
    Desc { format, size: desc.size, dimensions: desc.kind.dimensions(), levels: desc.levels }
}

fn unknown(format: ImageFormat) -> Error {
    Error::ImageFormat { what: format!("image of format {format}"), device: NAME.to_owned() }
}

/// The image of a handle.
pub(super) fn found(image: &ImageMemory) -> Result<Arc<Image>> {
    image.handle.clone().downcast().map_err(|_| Error::WrongDevice { object: "an image".to_owned() })
}

/// The level of the image of a handle.
pub(super) fn at_level(image: &ImageMemory) -> Result<Arc<Image>> {
    let found = found(image)?;
    Ok(match image.level {
        0 => found,
        level => found.level(level).map_or(found, Arc::new),
    })
}

/// Executes an image command.
pub(super) fn command(command: &ImageCommand) -> Result<()> {
    let region = |region: &ImageRegion| Region { origin: region.origin, size: region.size };
    match command {
        ImageCommand::Prepare { .. } => {}
        ImageCommand::Upload { source, at, target, region: part } => {
            found(target)?.upload(block(source)?.buffer()?, *at, target.level, region(part));
        }
        ImageCommand::Download { source, region: part, target, at } => {
            found(source)?.download(source.level, region(part), block(target)?.buffer()?, *at);
        }
        ImageCommand::Copy { source, region: part, target, to } => {
            let levels = [source.level, target.level];
            found(source)?.copy_to(levels, region(part), &*found(target)?, *to);
        }
        ImageCommand::Fill { target, texel } => found(target)?.fill(target.level, value(*texel)),
    }
    Ok(())
}

fn value(texel: Texel) -> Value {
    match texel {
        Texel::Float(texel) => Value::Float(texel),
        Texel::Signed(texel) => Value::Signed(texel),
        Texel::Unsigned(texel) => Value::Unsigned(texel),
    }
}

/// The bytes of a texel, converted as `write_image` converts it (OpenCL API 8.3.1). `None` for formats that OpenCL does
/// not have.
pub(crate) fn texel_bytes(wanted: ImageFormat, texel: Texel) -> Option<Vec<u8>> {
    let format = format(wanted)?;
    Some(format.encode(value(texel))[..format.size() as usize].to_vec())
}
