//! Images that view buffers or other images, and images whose channels are sRGB.

use kiln_runtime::{
    Buffer, ChannelOrder, ChannelType, Device, Environment, Error, Image, ImageDesc, ImageFormat, ImageKind,
    ImageRegion, Program, Queue, Texel, extensions::Extension,
};

use crate::{compile, compile_with, images::R32, launch};

/// An image that views a buffer: writes through either are visible through the other, in the order of the queue, and
/// padding between rows is preserved.
pub(crate) fn of_buffers(device: &Device) {
    let program = compile(
        device,
        "kernel void through_image(read_only image2d_t i, write_only image2d_t o) {
             int2 at = (int2)(get_global_id(0), get_global_id(1));
             write_imageui(o, at, read_imageui(i, at) + 100u);
         }
         kernel void through_buffer(global uint *b) { b[get_global_id(0)] += 1000u; }",
    );
    let queue = device.queue().unwrap();
    let (width, height, row, first) = (3, 2, 5, 1);
    let start: Vec<u32> = (0..12).collect();
    let [from, to] = [&start, &vec![7; 12]].map(|words| device.buffer_from(words).unwrap());
    let image = |buffer: &Buffer<u32>| {
        let part = buffer.slice(first..).unwrap();
        device.buffer_image_2d(&part, R32, [width, height], u64::from(row) * 4).unwrap()
    };
    let (source, target) = (image(&from), image(&to));
    let texels: Vec<u32> =
        (0..height).flat_map(|y| (0..width).map(move |x| first as u32 + y * row + x)).collect();
    assert_eq!(queue.read_image::<u32>(&source).unwrap(), texels);
    let [mut through_image, mut through_buffer] =
        ["through_image", "through_buffer"].map(|name| program.kernel(name).unwrap());
    launch(&queue, through_buffer.set(0, &from).unwrap(), 12).unwrap();
    through_image.set(0, &source).unwrap().set(1, &target).unwrap();
    launch(&queue, &through_image, [width as usize, height as usize]).unwrap();
    launch(&queue, through_buffer.set(0, &to).unwrap(), 12).unwrap();
    let expected = |at: u32| if texels.contains(&at) { at + 2100 } else { 1007 };
    assert_eq!(queue.read(&to).unwrap(), (0..12).map(expected).collect::<Vec<_>>());
    assert_eq!(queue.read(&from).unwrap(), start.iter().map(|it| it + 1000).collect::<Vec<_>>());
    queue.fill_image(&source, Texel::Unsigned([9, 0, 0, 0])).unwrap();
    let expected = |at: u32| if texels.contains(&at) { 9 } else { at + 1000 };
    assert_eq!(queue.read(&from).unwrap(), (0..12).map(expected).collect::<Vec<_>>());
    queue.copy_image(&target, ImageRegion { origin: [1, 1, 0], size: [2, 1, 1] }, &source, [0; 3]).unwrap();
    assert_eq!(queue.read(&from).unwrap()[..5], [1000, 2107, 2108, 9, 1004]);
    let made = |size, pitch| device.buffer_image_2d(&from, R32, size, pitch).map(drop);
    assert!(matches!(made([3, 2], 8), Err(Error::ImageCommand { .. })), "a row does not fit");
    assert!(matches!(made([3, 2], 14), Err(Error::ImageCommand { .. })), "a row starts within a texel");
    assert!(matches!(made([3, 4], 16), Err(Error::OutOfBounds { .. })), "the last row is outside");
    assert!(made([4, 3], 16).is_ok());
}

const SOURCE: &str = "
    kernel void read(read_only image2d_t i, global float4 *o) { o[get_global_id(0)] = read_imagef(i, (int2)(get_global_id(0), 0)); }
    kernel void depth(read_only image2d_depth_t i, global float *o) { o[get_global_id(0)] = read_imagef(i, (int2)(get_global_id(0), 0)); }
    kernel void write(write_only image2d_t o, float4 c) { write_imagef(o, (int2)(get_global_id(0), 0), c); }";

/// A color that kernels write.
const COLOR: [f32; 4] = [0.2, 1.0, 0.0, 0.4];
const TEXELS: [u8; 8] = [0, 51, 255, 102, 128, 255, 0, 255];
/// `TEXELS` of an sRGB image, as kernels read them.
const CONVERTED_TEXELS: [f32; 8] = [0.0, 0.033, 1.0, 0.4, 0.216, 1.0, 0.0, 1.0];

const RGBA: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8);
const SRGBA: ImageFormat = ImageFormat::new(ChannelOrder::Srgba, ChannelType::Unorm8);

/// An image of the two `TEXELS`.
fn two_texels(device: &Device, format: ImageFormat) -> Image {
    device.image_from(&ImageDesc::d2(format, 2, 1), &TEXELS).unwrap()
}

/// What two work-items of the kernel `read` see.
fn channels(queue: &Queue, program: &Program, image: &Image) -> Vec<f32> {
    let seen = queue.device().buffer_from(&[9.0f32; 8]).unwrap();
    let mut kernel = program.kernel("read").unwrap();
    kernel.set(0, image).unwrap().set(1, &seen).unwrap();
    launch(queue, &kernel, 2).unwrap();
    queue.read(&seen).unwrap()
}

/// Writes `COLOR` to the first texel.
fn write_color(queue: &Queue, program: &Program, image: &Image) {
    let mut kernel = program.kernel("write").unwrap();
    launch(queue, kernel.set(0, image).unwrap().set(1, COLOR).unwrap(), 1).unwrap();
}

#[track_caller]
fn assert_near(seen: &[f32], expected: &[f32]) {
    let is_near = seen.iter().zip(expected).all(|(seen, expected)| (seen - expected).abs() < 0.005);
    assert!(is_near && seen.len() == expected.len(), "{seen:?} instead of {expected:?}");
}

/// An image that views another with linear channels as sRGB, or the reverse.
pub(crate) fn as_srgb(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.queue().unwrap());
    let image = two_texels(device, RGBA);
    let view = device.image_of_image(&image, SRGBA).unwrap();
    assert_near(&channels(&queue, &program, &view), &CONVERTED_TEXELS);
    assert_eq!(queue.read_image::<u8>(&view).unwrap(), TEXELS);
    // The image and its view have the same texels.
    write_color(&queue, &program, &image);
    assert_near(&channels(&queue, &program, &view)[..4], &[0.033, 1.0, 0.0, 0.4]);
    queue.fill_image(&view, Texel::Float([0.216, 1.0, 0.0, 0.4])).unwrap();
    let filled = queue.read_image::<u8>(&image).unwrap();
    assert!(filled[0].abs_diff(128) <= 1 && filled[1..4] == [255, 0, 102], "{filled:?}");
    assert!(is_rejected(&view, RGBA), "a view has no views");
    if device.image_support(ImageKind::D2, SRGBA).read {
        let image = two_texels(device, SRGBA);
        assert_near(&channels(&queue, &program, &image), &CONVERTED_TEXELS);
        let view = device.image_of_image(&image, RGBA).unwrap();
        assert_near(&channels(&queue, &program, &view), &TEXELS.map(|it| f32::from(it) / 255.0));
    }
}

/// An image that views another with one channel as depth.
pub(crate) fn as_depth(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.queue().unwrap());
    let [single, depth] =
        [ChannelOrder::R, ChannelOrder::Depth].map(|order| ImageFormat::new(order, ChannelType::Float));
    let distances = device.image_from(&ImageDesc::d2(single, 2, 1), &[0.25f32, 0.75]).unwrap();
    let view = device.image_of_image(&distances, depth).unwrap();
    let seen = device.buffer_from(&[9.0f32; 2]).unwrap();
    let mut kernel = program.kernel("depth").unwrap();
    launch(&queue, kernel.set(0, &view).unwrap().set(1, &seen).unwrap(), 2).unwrap();
    assert_eq!(queue.read(&seen).unwrap(), [0.25, 0.75]);
    let plain = two_texels(device, RGBA);
    assert!(
        is_rejected(&distances, R32) && is_rejected(&plain, RGBA),
        "the formats must differ in the order"
    );
}

fn is_rejected(image: &Image, format: ImageFormat) -> bool {
    matches!(image.device().image_of_image(image, format), Err(Error::ImageCommand { .. }))
}

/// The sRGB formats that kernels can write, each with `COLOR` as a texel of it.
fn writable_srgb(device: &Device) -> Vec<(ImageFormat, [u8; 4])> {
    let all = [(ChannelOrder::Srgba, [124, 255, 0, 102]), (ChannelOrder::Sbgra, [0, 255, 124, 102])];
    all.map(|(order, color)| (ImageFormat::new(order, ChannelType::Unorm8), color))
        .into_iter()
        .filter(|(format, _)| device.image_support(ImageKind::D2, *format).write)
        .collect()
}

/// cl_khr_srgb_image_writes: a write converts all channels but alpha.
pub(crate) fn srgb_writes(device: &Device) {
    let (program, queue) = (compile(device, SOURCE), device.queue().unwrap());
    for (format, color) in writable_srgb(device) {
        let image = two_texels(device, format);
        write_color(&queue, &program, &image);
        assert_eq!(queue.read_image::<u8>(&image).unwrap(), [color, [128, 255, 0, 255]].concat());
        queue.fill_image(&image, Texel::Float(COLOR)).unwrap();
        assert_eq!(queue.read_image::<u8>(&image).unwrap(), [color; 2].concat());
    }
}

/// A kernel that is compiled without cl_khr_srgb_image_writes: on Vulkan, it must query the order of the channels to
/// write sRGB images, and it cannot read the same image.
pub(crate) fn srgb_writes_without_the_extension(device: &Device) {
    const QUERYING: &str = "
        kernel void write(write_only image2d_t o, global int *order, float4 c) {
            *order = get_image_channel_order(o);
            write_imagef(o, (int2)(get_global_id(0), 0), c);
        }";
    const CHANGING: &str = "
        kernel void change(read_write image2d_t o, global int *order) {
            *order = get_image_channel_order(o);
            write_imagef(o, (int2)(0, 0), read_imagef(o, (int2)(1, 0)));
        }";
    let queue = device.queue().unwrap();
    let is_opencl = device.info().environment == Environment::OpenCl;
    let compile = |source: &str| {
        let off = ("cl_khr_srgb_image_writes".to_owned(), false);
        compile_with(device, source, |options| options.extensions.push(off))
    };
    for (format, color) in writable_srgb(device) {
        let image = two_texels(device, format);
        let rejected = compile(SOURCE).kernel("write").unwrap().set(0, &image).map(drop);
        assert_eq!(rejected.is_err(), !is_opencl, "it does not convert: {rejected:?}");
        let mut write = compile(QUERYING).kernel("write").unwrap();
        let found = device.buffer_from(&[0i32]).unwrap();
        write.set(0, &image).unwrap().set(1, &found).unwrap().set(2, COLOR).unwrap();
        launch(&queue, &write, 1).unwrap();
        assert_eq!(queue.read(&found).unwrap(), [format.order.number() as i32]);
        assert_eq!(queue.read_image::<u8>(&image).unwrap()[..4], color);
        if device.info().extensions().has(Extension::ReadWriteImages) {
            let rejected = compile(CHANGING).kernel("change").unwrap().set(0, &image).map(drop);
            assert_eq!(rejected.is_err(), !is_opencl, "its reads do not convert: {rejected:?}");
        }
    }
}
