//! Images and samplers of the launch language: `image2d:rgba-unorm8[4,4]=iota`, `sampler:normalized,repeat,linear`.
//!
//! Image contents are read and printed in memory format: channels are numbers of their storage type, not the values
//! that kernels read.

use kiln_runtime::{
    Addressing, ChannelOrder, ChannelType, Device, Filter, Image, ImageDesc, ImageFormat, ImageKind,
    LevelFilter, Queue, Sampler,
};

use super::{fill::fill, value::ElementType};
use crate::exit::{Failure, failure};

const KINDS: [(&str, ImageKind); 6] = [
    ("image1d", ImageKind::D1),
    ("image1d_array", ImageKind::D1Array),
    ("image1d_buffer", ImageKind::Buffer),
    ("image2d", ImageKind::D2),
    ("image2d_array", ImageKind::D2Array),
    ("image3d", ImageKind::D3),
];

/// Channel orders by name, with the number of channels in memory.
const ORDERS: [(&str, ChannelOrder, usize); 15] = [
    ("r", ChannelOrder::R, 1),
    ("a", ChannelOrder::A, 1),
    ("rg", ChannelOrder::Rg, 2),
    ("ra", ChannelOrder::Ra, 2),
    ("rgb", ChannelOrder::Rgb, 1),
    ("rgba", ChannelOrder::Rgba, 4),
    ("bgra", ChannelOrder::Bgra, 4),
    ("argb", ChannelOrder::Argb, 4),
    ("abgr", ChannelOrder::Abgr, 4),
    ("intensity", ChannelOrder::Intensity, 1),
    ("luminance", ChannelOrder::Luminance, 1),
    ("depth", ChannelOrder::Depth, 1),
    ("srgba", ChannelOrder::Srgba, 4),
    ("sbgra", ChannelOrder::Sbgra, 4),
    ("rx", ChannelOrder::Rx, 1),
];

/// Channel types by name, with the type of their numbers.
const CHANNELS: [(&str, ChannelType, &str); 15] = [
    ("snorm8", ChannelType::Snorm8, "i8"),
    ("snorm16", ChannelType::Snorm16, "i16"),
    ("unorm8", ChannelType::Unorm8, "u8"),
    ("unorm16", ChannelType::Unorm16, "u16"),
    ("unorm565", ChannelType::Unorm565, "u16"),
    ("unorm555", ChannelType::Unorm555, "u16"),
    ("unorm101010", ChannelType::Unorm101010, "u32"),
    ("int8", ChannelType::Int8, "i8"),
    ("int16", ChannelType::Int16, "i16"),
    ("int32", ChannelType::Int32, "i32"),
    ("uint8", ChannelType::Uint8, "u8"),
    ("uint16", ChannelType::Uint16, "u16"),
    ("uint32", ChannelType::Uint32, "u32"),
    ("half", ChannelType::Half, "f16"),
    ("float", ChannelType::Float, "f32"),
];

/// The kind of image that the word before the colon names, if any.
pub(super) fn kind(word: &str) -> Option<ImageKind> {
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind)
}

/// `FORMAT[SIZES]=FILL`: the image, and the type of its texels in memory.
pub(super) fn image(device: &Device, kind: ImageKind, text: &str) -> Result<(Image, ElementType), Failure> {
    let wrong = || Failure(format!("`{text}` is not an image such as `image2d:rgba-unorm8[4,4]=iota`"));
    let (shape, content) = text.split_once(']').ok_or_else(wrong)?;
    let content = if content.is_empty() { "0" } else { content.strip_prefix('=').ok_or_else(wrong)? };
    let (format, sizes) = shape.split_once('[').ok_or_else(wrong)?;
    let (order, channel) = format.split_once('-').ok_or_else(wrong)?;
    let &(_, order, count) = ORDERS.iter().find(|it| it.0 == order).ok_or_else(wrong)?;
    let &(_, channel, number) = CHANNELS.iter().find(|it| it.0 == channel).ok_or_else(wrong)?;
    let element = if count == 1 { number.to_owned() } else { format!("{number}x{count}") };
    let element = ElementType::parse(&element).ok_or_else(wrong)?;
    let (sizes, levels) = match sizes.split_once(",levels=") {
        Some((sizes, levels)) => (sizes, levels.parse().map_err(|_| wrong())?),
        None => (sizes, 1),
    };
    let given: Vec<u32> =
        sizes.split(',').map(|size| size.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let dimensions = match kind {
        ImageKind::D1 | ImageKind::Buffer => 1,
        ImageKind::D1Array | ImageKind::D2 => 2,
        ImageKind::D2Array | ImageKind::D3 => 3,
    };
    if given.len() != dimensions {
        return failure(format!("`{text}` has {} sizes, not {dimensions}", given.len()));
    }
    let mut size = [1; 3];
    size[..dimensions].copy_from_slice(&given);
    let desc = ImageDesc { kind, format: ImageFormat::new(order, channel), size, levels };
    let texels = (desc.bytes() / desc.format.texel_size()) as usize;
    let bytes = fill(&element, texels, content)?;
    let image = if kind == ImageKind::Buffer {
        device.buffer_image(&device.buffer_from(&bytes)?, desc.format)?
    } else {
        device.image_from(&desc, &bytes)?
    };
    Ok((image, element))
}

/// The texels of all levels, one after another.
pub(super) fn texels(queue: &Queue, image: &Image) -> Result<Vec<u8>, Failure> {
    let mut texels = Vec::new();
    for level in 0..image.desc().levels {
        texels.extend(queue.read_image::<u8>(&image.level(level)?)?);
    }
    Ok(texels)
}

/// `normalized,repeat,linear`: words in any order; the rest is as in `Sampler::default`.
pub(super) fn sampler(text: &str) -> Result<Sampler, Failure> {
    let mut sampler = Sampler::default();
    let (mut filter, mut min, mut max) = (Filter::Nearest, 0.0, f32::MAX);
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word {
            "normalized" => sampler.normalized = true,
            "unnormalized" => sampler.normalized = false,
            "none" => sampler.addressing = Addressing::None,
            "edge" => sampler.addressing = Addressing::ClampToEdge,
            "clamp" => sampler.addressing = Addressing::Clamp,
            "repeat" => sampler.addressing = Addressing::Repeat,
            "mirrored" => sampler.addressing = Addressing::MirroredRepeat,
            "nearest" => sampler.filter = Filter::Nearest,
            "linear" => sampler.filter = Filter::Linear,
            "mip-nearest" => filter = Filter::Nearest,
            "mip-linear" => filter = Filter::Linear,
            _ if word.starts_with("lod=") => {
                let range = word["lod=".len()..].split_once("..").and_then(|(min, max)| {
                    Some([min, max].map(|text| text.parse::<f32>().ok()))
                        .filter(|it| it.iter().all(Option::is_some))
                });
                let Some([Some(first), Some(last)]) = range else {
                    return failure(format!(
                        "`{word}` is not a range of levels of detail such as `lod=0.5..2`"
                    ));
                };
                (min, max) = (first, last);
            }
            _ => return failure(format!("`{word}` is not a property of a sampler; see `kiln run --help`")),
        }
    }
    let repeats = matches!(sampler.addressing, Addressing::Repeat | Addressing::MirroredRepeat);
    if repeats && !sampler.normalized {
        // OpenCL C 6.15.15.1
        return failure(format!("`sampler:{text}` repeats the image, which needs `normalized` coordinates"));
    }
    sampler.levels = LevelFilter::new(filter, min, max);
    Ok(sampler)
}
