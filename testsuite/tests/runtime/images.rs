//! Images through the runtime: transfers of regions, copies, fills, every supported format, and misuse.

use kiln_runtime::{
    Addressing, ChannelOrder, ChannelType, Device, Error, Filter, ImageDesc, ImageFormat, ImageKind,
    ImageRegion, Sampler, Texel, TexelClass,
};

use crate::{compile, launch};

const RGBA32: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint32);
pub(crate) const R32: ImageFormat = ImageFormat::new(ChannelOrder::R, ChannelType::Uint32);

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
