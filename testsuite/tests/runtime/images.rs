//! Images through the runtime: transfers of regions, copies, fills, every supported format, and misuse.

use kiln_runtime::extensions::Extension;
use kiln_runtime::{
    Addressing, ChannelOrder, ChannelType, Device, Error, Filter, ImageDesc, ImageFormat, ImageKind,
    ImageRegion, Sampler, Texel, TexelClass,
};

use crate::{compile, compile_with, launch};

const RGBA32: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint32);
const R32: ImageFormat = ImageFormat::new(ChannelOrder::R, ChannelType::Uint32);

/// Parts of images of every shape are written, copied and read, compared with a model of plain arrays.
pub(crate) fn parts(device: &Device) {
    let queue = device.queue().unwrap();
    let shapes = [
        ImageDesc::d1(R32, 9),
        ImageDesc::d1_array(R32, 7, 4),
        ImageDesc::d2(R32, 6, 5),
        ImageDesc::d2_array(R32, 5, 4, 3),
        ImageDesc::d3(R32, 4, 5, 6),
    ];
    for desc in shapes {
        let [width, height, depth] = desc.size.map(|size| size as usize);
        let mut model: Vec<u32> = (0..width * height * depth).map(|it| it as u32 * 3).collect();
        let image = device.image_from(&desc, &model).unwrap();
        let part = ImageRegion {
            origin: desc.size.map(|size| u32::from(size > 1)),
            size: desc.size.map(|size| if size > 1 { size - 2 } else { 1 }),
        };
        let texels: Vec<usize> = texels(part, desc.size);
        let fresh: Vec<u32> = (0..texels.len()).map(|it| 1000 + it as u32).collect();
        queue.write_image_region(&image, part, &fresh).unwrap();
        texels.iter().zip(&fresh).for_each(|(&texel, &value)| model[texel] = value);
        assert_eq!(queue.read_image::<u32>(&image).unwrap(), model, "{desc:?}");
        assert_eq!(queue.read_image_region::<u32>(&image, part).unwrap(), fresh);

        let other = device.image(&desc).unwrap();
        queue.fill_image(&other, Texel::Unsigned([7, 0, 0, 0])).unwrap();
        queue.copy_image(&image, part, &other, [0; 3]).unwrap();
        let mut expected = vec![7; model.len()];
        let target = ImageRegion { origin: [0; 3], size: part.size };
        self::texels(target, desc.size).iter().zip(&fresh).for_each(|(&at, &value)| expected[at] = value);
        assert_eq!(queue.read_image::<u32>(&other).unwrap(), expected, "{desc:?}");
    }
    // From a layer to a slice.
    let layers = device.image_from(&ImageDesc::d2_array(R32, 2, 1, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    let volume = device.image_from(&ImageDesc::d3(R32, 2, 1, 2), &[0; 4]).unwrap();
    let last = ImageRegion { origin: [0, 0, 1], size: [2, 1, 2] };
    queue.copy_image(&layers, last, &volume, [0; 3]).unwrap();
    assert_eq!(queue.read_image::<u32>(&volume).unwrap(), [3, 4, 5, 6]);
}

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
    let image = |buffer: &kiln_runtime::Buffer<u32>| {
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

/// An image that views another with linear channels as sRGB, or the reverse, and one channel as depth.
pub(crate) fn of_images(device: &Device) {
    const SOURCE: &str = "
        kernel void read(read_only image2d_t i, global float4 *o) { o[get_global_id(0)] = read_imagef(i, (int2)(get_global_id(0), 0)); }
        kernel void depth(read_only image2d_depth_t i, global float *o) { o[get_global_id(0)] = read_imagef(i, (int2)(get_global_id(0), 0)); }
        kernel void write(write_only image2d_t o, float4 c) { write_imagef(o, (int2)(get_global_id(0), 0), c); }";
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
    const COLOR: [f32; 4] = [0.2, 1.0, 0.0, 0.4];
    let program = compile(device, SOURCE);
    let queue = device.queue().unwrap();
    let read = |image: &kiln_runtime::Image, name: &str, count: usize| {
        let seen = device.buffer_from(&vec![9.0f32; count]).unwrap();
        let mut kernel = program.kernel(name).unwrap();
        kernel.set(0, image).unwrap().set(1, &seen).unwrap();
        launch(&queue, &kernel, 2).unwrap();
        queue.read(&seen).unwrap()
    };
    let near = |seen: &[f32], expected: &[f32]| {
        let is_near = seen.iter().zip(expected).all(|(seen, expected)| (seen - expected).abs() < 0.005);
        assert!(is_near && seen.len() == expected.len(), "{seen:?} instead of {expected:?}");
    };
    let format = |order| ImageFormat::new(order, ChannelType::Unorm8);
    let [plain, srgb] = [ChannelOrder::Rgba, ChannelOrder::Srgba].map(format);
    let texels = [0u8, 51, 255, 102, 128, 255, 0, 255];
    let linear = [0.0, 0.033, 1.0, 0.4, 0.216, 1.0, 0.0, 1.0];
    let image = device.image_from(&ImageDesc::d2(plain, 2, 1), &texels).unwrap();
    let view = device.image_of_image(&image, srgb).unwrap();
    near(&read(&view, "read", 8), &linear);
    assert_eq!(queue.read_image::<u8>(&view).unwrap(), texels);
    // The image and its view have the same texels.
    let mut write = program.kernel("write").unwrap();
    launch(&queue, write.set(0, &image).unwrap().set(1, COLOR).unwrap(), 1).unwrap();
    near(&read(&view, "read", 8)[..4], &[0.033, 1.0, 0.0, 0.4]);
    queue.fill_image(&view, Texel::Float([0.216, 1.0, 0.0, 0.4])).unwrap();
    let filled = queue.read_image::<u8>(&image).unwrap();
    assert!(filled[0].abs_diff(128) <= 1 && filled[1..4] == [255, 0, 102], "{filled:?}");
    if device.image_support(ImageKind::D2, srgb).read {
        let image = device.image_from(&ImageDesc::d2(srgb, 2, 1), &texels).unwrap();
        near(&read(&image, "read", 8), &linear);
        near(
            &read(&device.image_of_image(&image, plain).unwrap(), "read", 8),
            &texels.map(|it| f32::from(it) / 255.0),
        );
    }
    for order in [ChannelOrder::Srgba, ChannelOrder::Sbgra] {
        let format = format(order);
        if !device.image_support(ImageKind::D2, format).write {
            continue;
        }
        // cl_khr_srgb_image_writes: a write converts all channels but alpha.
        let image = device.image_from(&ImageDesc::d2(format, 2, 1), &texels).unwrap();
        let mut write = program.kernel("write").unwrap();
        launch(&queue, write.set(0, &image).unwrap().set(1, COLOR).unwrap(), 1).unwrap();
        let mut converted = [124, 255, 0, 102];
        if order == ChannelOrder::Sbgra {
            converted.swap(0, 2);
        }
        assert_eq!(queue.read_image::<u8>(&image).unwrap(), [converted, [128, 255, 0, 255]].concat());
        queue.fill_image(&image, Texel::Float(COLOR)).unwrap();
        assert_eq!(queue.read_image::<u8>(&image).unwrap(), [converted; 2].concat());
        let plain = compile_with(device, SOURCE, |options| options.extensions.clear());
        let rejected = plain.kernel("write").unwrap().set(0, &image).map(drop);
        let is_opencl = device.info().environment == kiln_runtime::Environment::OpenCl;
        assert_eq!(rejected.is_err(), !is_opencl, "without the extension: {rejected:?}");
        // A kernel that queries the channel order itself.
        let plainly = |source: &str| {
            let off = ("cl_khr_srgb_image_writes".to_owned(), false);
            compile_with(device, source, |options| options.extensions.push(off))
        };
        let mut write = plainly(QUERYING).kernel("write").unwrap();
        let image = device.image_from(&ImageDesc::d2(format, 2, 1), &texels).unwrap();
        let found = device.buffer_from(&[0i32]).unwrap();
        launch(&queue, write.set(0, &image).unwrap().set(1, &found).unwrap().set(2, COLOR).unwrap(), 1)
            .unwrap();
        assert_eq!(queue.read(&found).unwrap(), [order.number() as i32]);
        assert_eq!(queue.read_image::<u8>(&image).unwrap()[..4], converted);
        if device.info().extensions().has(Extension::ReadWriteImages) {
            let rejected = plainly(CHANGING).kernel("change").unwrap().set(0, &image).map(drop);
            assert_eq!(rejected.is_err(), !is_opencl, "its reads do not convert: {rejected:?}");
        }
    }
    let [single, depth] =
        [ChannelOrder::R, ChannelOrder::Depth].map(|order| ImageFormat::new(order, ChannelType::Float));
    let distances = device.image_from(&ImageDesc::d2(single, 2, 1), &[0.25f32, 0.75]).unwrap();
    assert_eq!(read(&device.image_of_image(&distances, depth).unwrap(), "depth", 2), [0.25, 0.75]);
    let rejected = |image: &kiln_runtime::Image, format| {
        matches!(device.image_of_image(image, format), Err(Error::ImageCommand { .. }))
    };
    assert!(rejected(&distances, R32) && rejected(&image, plain), "the formats must differ in the order");
    assert!(rejected(&view, plain), "a view has no views");
}

/// The indices of a region's texels in the whole image.
fn texels(part: ImageRegion, size: [u32; 3]) -> Vec<usize> {
    let [x, y, z] = [0, 1, 2].map(|at| part.origin[at]..part.origin[at] + part.size[at]);
    z.flat_map(|z| {
        let x = x.clone();
        y.clone().flat_map(move |y| x.clone().map(move |x| ((z * size[1] + y) * size[0] + x) as usize))
    })
    .collect()
}

/// For each readable format, a kernel reads the channels that the host wrote. For each writable format, the host reads back
/// the channels that a kernel wrote.
pub(crate) fn formats(device: &Device) {
    let program = compile(
        device,
        "kernel void f(read_only image2d_t i, global float4 *o) { o[0] = read_imagef(i, (int2)(0, 0)); }
         kernel void s(read_only image2d_t i, global int4 *o) { o[0] = read_imagei(i, (int2)(0, 0)); }
         kernel void u(read_only image2d_t i, global uint4 *o) { o[0] = read_imageui(i, (int2)(0, 0)); }
         kernel void d(read_only image2d_depth_t i, global float *o) { o[0] = read_imagef(i, (int2)(0, 0)); }
         kernel void w(read_only image2d_t i, write_only image2d_t o) { write_imagef(o, (int2)(0, 0), read_imagef(i, (int2)(0, 0))); }",
    );
    let queue = device.queue().unwrap();
    let (mut read, mut written) = (0, 0);
    for &order in ChannelOrder::ALL {
        for &channel in ChannelType::ALL {
            let format = ImageFormat::new(order, channel);
            let support = device.image_support(ImageKind::D2, format);
            if !support.read {
                continue;
            }
            read += 1;
            let image = device.image(&ImageDesc::d2(format, 3, 2)).unwrap();
            let bits = device.buffer_from(&[0u32; 4]).unwrap();
            let (kernel, texel) = match format.class() {
                _ if order == ChannelOrder::Depth => ("d", Texel::Float([1.0, 0.0, 1.0, 0.0])),
                TexelClass::Float => ("f", Texel::Float([1.0, 0.0, 1.0, 0.0])),
                TexelClass::Signed => ("s", Texel::Signed([-3, 5, 7, -9])),
                TexelClass::Unsigned => ("u", Texel::Unsigned([3, 5, 7, 9])),
            };
            queue.fill_image(&image, texel).unwrap();
            let mut kernel = program.kernel(kernel).unwrap();
            kernel.set(0, &image).unwrap().set(1, &bits).unwrap();
            launch(&queue, &kernel, 1).unwrap().wait().unwrap();
            let found = queue.read(&bits).unwrap();
            assert_eq!(found, seen(format, texel), "{format}");
            if support.write && format.class() == TexelClass::Float && order != ChannelOrder::Depth {
                written += 1;
                let copy = device.image(&ImageDesc::d2(format, 1, 1)).unwrap();
                let mut kernel = program.kernel("w").unwrap();
                kernel.set(0, &image).unwrap().set(1, &copy).unwrap();
                launch(&queue, &kernel, 1).unwrap();
                let whole = queue.read_image::<u8>(&image).unwrap();
                let texel = queue.read_image::<u8>(&copy).unwrap();
                assert_eq!(whole[..texel.len()], texel, "{format}");
            }
        }
    }
    // Formats that every OpenCL device supports (OpenCL API 5.3.2.1): R, RG and RGBA of eleven types each, and some
    // others.
    assert!(read >= 35 && written >= 10, "{read} formats are read, {written} are written");
}

/// The value of a texel in a kernel (OpenCL API 5.3.1.1), as bits.
fn seen(format: ImageFormat, texel: Texel) -> [u32; 4] {
    let one = if format.class() == TexelClass::Float { 1f32.to_bits() } else { 1 };
    let [r, g, b, a] = match texel {
        Texel::Float(it) => it.map(f32::to_bits),
        Texel::Signed(it) => it.map(|it| it as u32),
        Texel::Unsigned(it) => it,
    };
    match format.order {
        ChannelOrder::Depth => [r, 0, 0, 0],
        ChannelOrder::R | ChannelOrder::Rx => [r, 0, 0, one],
        ChannelOrder::A => [0, 0, 0, a],
        ChannelOrder::Rg | ChannelOrder::Rgx => [r, g, 0, one],
        ChannelOrder::Ra => [r, 0, 0, a],
        ChannelOrder::Rgb | ChannelOrder::Rgbx => [r, g, b, one],
        ChannelOrder::Intensity => [r; 4],
        ChannelOrder::Luminance => [r, r, r, one],
        _ => [r, g, b, a],
    }
}

/// Commands on images keep their order, and each launch has the image that was set before it.
pub(crate) fn order(device: &Device) {
    let program = compile(
        device,
        "kernel void add(read_only image1d_t from, write_only image1d_t to, sampler_t s, uint n) {
             int i = get_global_id(0);
             write_imageui(to, i, read_imageui(from, s, i - 1) + n);
         }",
    );
    let queue = device.queue().unwrap();
    let desc = ImageDesc::d1(RGBA32, 64);
    let images = [device.image(&desc).unwrap(), device.image(&desc).unwrap()];
    queue.fill_image(&images[0], Texel::Unsigned([0; 4])).unwrap();
    let sampler = Sampler {
        normalized: false,
        addressing: Addressing::ClampToEdge,
        filter: Filter::Nearest,
        ..Sampler::default()
    };
    let mut kernel = program.kernel("add").unwrap();
    for round in 0..20u32 {
        let (from, to) = (&images[round as usize % 2], &images[(round as usize + 1) % 2]);
        kernel.set(0, from).unwrap().set(1, to).unwrap().set(2, sampler).unwrap().set(3, round).unwrap();
        launch(&queue, &kernel, 64).unwrap();
    }
    let texels = queue.read_image::<[u32; 4]>(&images[0]).unwrap();
    assert!(texels.iter().all(|texel| *texel == [190; 4]), "{texels:?}");
}

pub(crate) fn misuse(device: &Device) {
    let queue = device.queue().unwrap();
    let desc = ImageDesc::d2(R32, 4, 4);
    let image = device.image_from(&desc, &[0u32; 16]).unwrap();
    let outside = ImageRegion { origin: [2, 0, 0], size: [3, 1, 1] };
    assert!(matches!(queue.read_image_region::<u32>(&image, outside), Err(Error::ImageRegion { .. })));
    assert!(matches!(queue.write_image(&image, &[0u32; 15]), Err(Error::ImageCommand { .. })));
    assert!(matches!(queue.fill_image(&image, Texel::Float([0.0; 4])), Err(Error::ImageCommand { .. })));
    assert!(matches!(
        queue.copy_image(&image, desc.whole(), &image, [0; 3]),
        Err(Error::ImageCommand { .. })
    ));
    assert!(matches!(device.image(&ImageDesc::d2(R32, 0, 4)), Err(Error::ImageSize { .. })));
    assert!(matches!(device.image(&ImageDesc::d1(R32, u32::MAX)), Err(Error::ImageSize { .. })));
    let none = ImageFormat::new(ChannelOrder::Rgb, ChannelType::Float);
    assert!(matches!(device.image(&ImageDesc::d2(none, 4, 4)), Err(Error::ImageFormat { .. })));
    let program = compile(
        device,
        "kernel void k(read_only image3d_t a, write_only image2d_t b, sampler_t s) {
             write_imagef(b, (int2)(0, 0), read_imagef(a, s, (float4)(0.0f)));
         }",
    );
    let mut kernel = program.kernel("k").unwrap();
    assert!(matches!(kernel.set(0, &image), Err(Error::WrongArgument { .. })), "another shape");
    let alpha = ImageFormat::new(ChannelOrder::A, ChannelType::Unorm8);
    let alpha = device.image(&ImageDesc::d2(alpha, 4, 4)).unwrap();
    assert!(matches!(kernel.set(1, &alpha), Err(Error::WrongArgument { .. })), "a format that is read only");
    assert!(matches!(kernel.set(2, &image), Err(Error::WrongArgument { .. })), "an image for a sampler");
    let buffer = device.buffer::<u32>(4).unwrap();
    assert!(matches!(kernel.set(1, &buffer), Err(Error::WrongArgument { .. })), "a buffer for an image");
}
