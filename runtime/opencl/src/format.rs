//! Image formats: the API's numbers and the runtime's names (OpenCL API 5.3.1.1).

use kiln_runtime::{ChannelOrder, ChannelType, ImageFormat, ImageKind};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{Result, ensure, fail};
use crate::ffi;
use crate::memory::check_flags;
use crate::object;

/// The runtime's format; `None` if the numbers are invalid.
pub(crate) fn format(format: cl_image_format) -> Option<ImageFormat> {
    let order = ChannelOrder::ALL.iter().find(|order| order.number() == format.image_channel_order)?;
    let channel =
        ChannelType::ALL.iter().find(|channel| channel.number() == format.image_channel_data_type)?;
    Some(ImageFormat::new(*order, *channel))
}

/// The shape of an image object.
pub(crate) fn kind(kind: cl_mem_object_type) -> Option<ImageKind> {
    Some(match kind {
        CL_MEM_OBJECT_IMAGE1D => ImageKind::D1,
        CL_MEM_OBJECT_IMAGE1D_ARRAY => ImageKind::D1Array,
        CL_MEM_OBJECT_IMAGE1D_BUFFER => ImageKind::Buffer,
        CL_MEM_OBJECT_IMAGE2D => ImageKind::D2,
        CL_MEM_OBJECT_IMAGE2D_ARRAY => ImageKind::D2Array,
        CL_MEM_OBJECT_IMAGE3D => ImageKind::D3,
        _ => return None,
    })
}

/// Whether a device of the context has images of this format for these flags.
pub(crate) fn is_supported(
    context: &Context,
    kind: ImageKind,
    format: ImageFormat,
    flags: cl_mem_flags,
) -> Result<bool> {
    let both = CL_MEM_KERNEL_READ_AND_WRITE;
    // Depth formats exist for 2D images and their arrays only (OpenCL API, table 16).
    let is_flat = matches!(kind, ImageKind::D2 | ImageKind::D2Array);
    if !is_offered(format.order) || format.order == ChannelOrder::Depth && !is_flat {
        return Ok(false);
    }
    for device in context.devices() {
        let has_both = device.has(kiln_runtime::extensions::Extension::ReadWriteImages);
        let support = device.open()?.device.image_support(kind, format);
        let fits = if flags & both != 0 {
            support.read && support.write && has_both && (device.is_reference() || !format.order.is_srgb())
        } else if flags & CL_MEM_WRITE_ONLY != 0 {
            support.write
        } else if flags & CL_MEM_READ_ONLY != 0 {
            support.read
        } else {
            // A kernel may read it and another write it (OpenCL API 5.3.2).
            support.read && support.write
        };
        if fits {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the driver offers formats of this order. The three orders with a channel of padding are optional. Outside of
/// such an image, `CLK_ADDRESS_CLAMP` gives an alpha of 0 (OpenCL C 6.15.15.1.1), but Khronos' conformance tests demand 1.
fn is_offered(order: ChannelOrder) -> bool {
    !matches!(order, ChannelOrder::Rx | ChannelOrder::Rgx | ChannelOrder::Rgbx)
}

/// Whether an order and a type form a format (OpenCL API, tables 16 and 17).
fn is_format(format: ImageFormat) -> bool {
    use ChannelOrder as O;
    use ChannelType as T;
    let is_packed = matches!(format.channel, T::Unorm565 | T::Unorm555 | T::Unorm101010);
    let is_normalized =
        matches!(format.channel, T::Snorm8 | T::Snorm16 | T::Unorm8 | T::Unorm16 | T::Half | T::Float);
    let is_byte = matches!(format.channel, T::Unorm8 | T::Snorm8 | T::Int8 | T::Uint8);
    match format.order {
        O::Rgb | O::Rgbx => is_packed,
        O::Intensity | O::Luminance => is_normalized,
        O::Depth => matches!(format.channel, T::Unorm16 | T::Float),
        O::Bgra | O::Argb | O::Abgr => is_byte,
        O::Srgba | O::Sbgra => format.channel == T::Unorm8,
        _ => !is_packed,
    }
}

/// All formats.
fn formats() -> impl Iterator<Item = ImageFormat> {
    let orders = ChannelOrder::ALL.iter();
    let pairs =
        orders.flat_map(|order| ChannelType::ALL.iter().map(|channel| ImageFormat::new(*order, *channel)));
    pairs.filter(|format| is_format(*format) && is_offered(format.order))
}

pub(crate) extern "C" fn get_supported(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    count: cl_uint,
    list: *mut cl_image_format,
    available: *mut cl_uint,
) -> cl_int {
    ffi::call(|| {
        let context = object::get::<Context>(context)?;
        check_flags(flags)?;
        let Some(kind) = kind(image_type) else { return fail(CL_INVALID_VALUE) };
        ensure(list.is_null() || count > 0, CL_INVALID_VALUE)?;
        let mut found = Vec::new();
        for format in formats() {
            if is_supported(&context, kind, format, flags)? {
                found.push(cl_image_format {
                    image_channel_order: format.order.number(),
                    image_channel_data_type: format.channel.number(),
                });
            }
        }
        if list.is_null() && available.is_null() {
            return Ok(());
        }
        ffi::store_list(count as usize, list, available, &found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_types_have_three_channels() {
        assert!(formats().any(|it| it == ImageFormat::new(ChannelOrder::Rgb, ChannelType::Unorm565)));
        assert!(!formats().any(|it| it == ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm565)));
        assert!(!formats().any(|it| it == ImageFormat::new(ChannelOrder::Rgb, ChannelType::Float)));
    }

    #[test]
    fn numbers_are_parsed() {
        let numbers = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_FLOAT };
        assert_eq!(format(numbers), Some(ImageFormat::new(ChannelOrder::Rgba, ChannelType::Float)));
        let numbers = cl_image_format { image_channel_order: 1, ..numbers };
        assert_eq!(format(numbers), None);
    }
}
