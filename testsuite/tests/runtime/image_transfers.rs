//! Transfers of regions of images: with pitches, to and from buffers and memory of the caller, between shapes, and fills.

use std::ptr::NonNull;

use fastrand::Rng;
use kiln_runtime::{
    ChannelOrder, ChannelType, Device, Error, Image, ImageDesc, ImageFormat, ImageKind, ImageRegion, Rect,
    Texel, TexelClass,
};

const FORMATS: [ImageFormat; 3] = [
    ImageFormat::new(ChannelOrder::R, ChannelType::Uint8),
    ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint16),
    ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint32),
];

/// Images of every shape, with room for the same region.
fn images(device: &Device, format: ImageFormat) -> Vec<Image> {
    let descs = [
        ImageDesc::d1(format, 24),
        ImageDesc::d1_array(format, 11, 9),
        ImageDesc::d2(format, 12, 10),
        ImageDesc::d2_array(format, 9, 8, 7),
        ImageDesc::d3(format, 8, 9, 10),
    ];
    let mut images: Vec<_> = descs.iter().map(|desc| device.image(desc).unwrap()).collect();
    if device.image_support(ImageKind::Buffer, format).read {
        let bytes = 40 * format.texel_size() as usize;
        images.push(device.buffer_image(&device.buffer::<u8>(bytes).unwrap(), format).unwrap());
    }
    let texel = format.texel_size() as usize;
    let buffer = device.buffer::<u8>(13 * 10 * texel).unwrap().slice(2 * texel..).unwrap();
    images.push(device.buffer_image_2d(&buffer, format, [11, 9], 13 * texel as u64).unwrap());
    images
}

/// The host's copy of an image.
struct Model {
    image: Image,
    bytes: Vec<u8>,
}

impl Model {
    fn texel(&self) -> usize {
        self.image.desc().format.texel_size() as usize
    }

    /// The byte offsets of a region's rows, in order.
    fn rows(&self, region: ImageRegion) -> Vec<usize> {
        let [width, height, _] = self.image.desc().size;
        let [x, y, z] = region.origin;
        let row = |dz, dy| (((z + dz) * height + y + dy) * width + x) as usize * self.texel();
        (0..region.size[2])
            .flat_map(|dz| (0..region.size[1]).map(move |dy| (dz, dy)))
            .map(|(dz, dy)| row(dz, dy))
            .collect()
    }

    fn take(&self, region: ImageRegion) -> Vec<u8> {
        let width = region.size[0] as usize * self.texel();
        self.rows(region).into_iter().flat_map(|row| self.bytes[row..row + width].to_vec()).collect()
    }

    fn put(&mut self, region: ImageRegion, packed: &[u8]) {
        let width = region.size[0] as usize * self.texel();
        for (row, bytes) in self.rows(region).into_iter().zip(packed.chunks(width)) {
            self.bytes[row..row + width].copy_from_slice(bytes);
        }
    }
}

fn region(random: &mut Rng, within: [u32; 3], size: Option<[u32; 3]>) -> ImageRegion {
    let size = size.unwrap_or_else(|| within.map(|limit| random.u32(1..=limit)));
    let origin = [0, 1, 2].map(|at| random.u32(..=within[at] - size[at]));
    ImageRegion { origin, size }
}

/// Random transfers between images of all shapes, buffers and the host, compared with a model of plain arrays.
#[allow(unsafe_code, reason = "the test keeps the slices")]
pub(crate) fn all_shapes(device: &Device) {
    let queue = device.queue().unwrap();
    let mut random = Rng::with_seed(3);
    for format in FORMATS {
        let texel = format.texel_size();
        let mut models: Vec<Model> = Vec::new();
        for image in images(device, format) {
            let bytes: Vec<u8> = (0..image.desc().bytes()).map(|_| random.u8(..)).collect();
            queue.write_image(&image, &bytes).unwrap();
            models.push(Model { image, bytes });
        }
        let buffer = device.buffer_from(&[0u8; 16384]).unwrap();
        let mut host = vec![0u8; 16384];
        for round in 0..120 {
            let at = random.usize(..models.len());
            let whole = models[at].image.desc().size;
            let part = region(&mut random, whole, None);
            let bytes = part.size.iter().product::<u32>() as usize * texel as usize;
            let width = u64::from(part.size[0]) * texel;
            let row_pitch = width + random.u64(..9);
            let slice_pitch = row_pitch * (u64::from(part.size[1]) + random.u64(..3));
            let rect = Rect { origin: [0; 3], row_pitch, slice_pitch };
            let rows = (0..part.size[2]).flat_map(|z| (0..part.size[1]).map(move |y| (z, y)));
            let rows: Vec<usize> =
                rows.map(|(z, y)| (u64::from(z) * slice_pitch + u64::from(y) * row_pitch) as usize).collect();
            let gathered = |host: &[u8]| -> Vec<u8> {
                rows.iter().flat_map(|&row| host[row..row + width as usize].to_vec()).collect()
            };
            match round % 6 {
                0 => {
                    host.fill_with(|| random.u8(..));
                    let start = NonNull::from(&host[..]).cast();
                    let image = &models[at].image;
                    // SAFETY: the slice is not used until the event is complete.
                    unsafe { queue.write_image_from(image, part, start, rect).unwrap() }.wait().unwrap();
                    models[at].put(part, &gathered(&host));
                }
                1 => {
                    let start = NonNull::from(&mut host[..]).cast();
                    let image = &models[at].image;
                    // SAFETY: as above.
                    unsafe { queue.read_image_to(image, part, start, rect).unwrap() }.wait().unwrap();
                    assert_eq!(gathered(&host), models[at].take(part));
                }
                2 => {
                    host.fill_with(|| random.u8(..));
                    queue.write_image_rows(&models[at].image, part, &host, rect).unwrap();
                    models[at].put(part, &gathered(&host));
                    queue.read_image_rows(&models[at].image, part, &mut host, rect).unwrap();
                    assert_eq!(gathered(&host), models[at].take(part));
                }
                3 => {
                    // At any byte of the buffer, and back from another.
                    let [from, to] = [0; 2].map(|_| random.usize(..40));
                    let target = buffer.slice(to..).unwrap();
                    queue.copy_image_to_buffer(&models[at].image, part, &target).unwrap();
                    let read = queue.read(&target.slice(..bytes).unwrap()).unwrap();
                    assert_eq!(read, models[at].take(part));
                    let contents: Vec<u8> = (0..bytes).map(|_| random.u8(..)).collect();
                    let source = buffer.slice(from..).unwrap();
                    queue.write(&source, &contents).unwrap();
                    queue.copy_buffer_to_image(&source, &models[at].image, part).unwrap();
                    models[at].put(part, &contents);
                }
                4 => {
                    let other = random.usize(..models.len());
                    let size = models[other].image.desc().size;
                    let size = [0, 1, 2].map(|at| part.size[at].min(size[at]));
                    if other == at {
                        continue;
                    }
                    let part = ImageRegion { size, ..part };
                    let into = region(&mut random, models[other].image.desc().size, Some(size));
                    let [source, target] = [at, other].map(|it| &models[it].image);
                    queue.copy_image(source, part, target, into.origin).unwrap();
                    let packed = models[at].take(part);
                    models[other].put(into, &packed);
                }
                _ => {
                    let color = [0; 4].map(|_: u32| random.u32(..));
                    queue.fill_image_region(&models[at].image, part, Texel::Unsigned(color)).unwrap();
                    let size = if texel == 1 { 1 } else { texel as usize / 4 };
                    let cut = |value: u32| u64::from(value).min((1u64 << (8 * size)) - 1).to_le_bytes();
                    let bytes: Vec<u8> = color.iter().flat_map(|&it| cut(it)[..size].to_vec()).collect();
                    let packed = bytes[..texel as usize].repeat(part.size.iter().product::<u32>() as usize);
                    models[at].put(part, &packed);
                }
            }
        }
        for Model { image, bytes } in &models {
            assert!(queue.read_image::<u8>(image).unwrap() == *bytes, "{:?}", image.desc());
        }
    }
}

/// A fill of a part converts colors as a fill of the whole image does, up to the rounding of the device.
pub(crate) fn fills_convert(device: &Device) {
    let queue = device.queue().unwrap();
    let mut formats = 0;
    for &order in ChannelOrder::ALL {
        for &channel in ChannelType::ALL {
            let format = ImageFormat::new(order, channel);
            if !device.image_support(ImageKind::D2, format).read {
                continue;
            }
            formats += 1;
            let image = device.image(&ImageDesc::d2(format, 4, 4)).unwrap();
            let color = match format.class() {
                TexelClass::Float => Texel::Float([0.25, 0.5, 0.75, 1.0]),
                TexelClass::Signed => Texel::Signed([-3, 5, 7, -9]),
                TexelClass::Unsigned => Texel::Unsigned([3, 5, 7, 9]),
            };
            queue.fill_image(&image, color).unwrap();
            let whole: Vec<u8> = queue.read_image(&image).unwrap();
            let zero = match format.class() {
                TexelClass::Float => Texel::Float([0.0; 4]),
                TexelClass::Signed => Texel::Signed([0; 4]),
                TexelClass::Unsigned => Texel::Unsigned([0; 4]),
            };
            queue.fill_image(&image, zero).unwrap();
            let rest: Vec<u8> = queue.read_image(&image).unwrap();
            let middle = ImageRegion { origin: [1, 1, 0], size: [2, 2, 1] };
            queue.fill_image_region(&image, middle, color).unwrap();
            let found: Vec<u8> = queue.read_image(&image).unwrap();
            let texel = format.texel_size() as usize;
            for (index, texels) in found.chunks(texel).enumerate() {
                let is_inside = (1..3).contains(&(index % 4)) && (1..3).contains(&(index / 4));
                let expected = &if is_inside { &whole } else { &rest }[..texel];
                let near = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= 1 || a.abs_diff(*b) == 255;
                let same = texels == expected || is_inside && texels.iter().zip(expected).all(near);
                assert!(same, "{format} at {index}: {texels:?}, not {expected:?}");
            }
        }
    }
    assert!(formats >= 35);
    let image = device.image(&ImageDesc::d2(FORMATS[0], 4, 4)).unwrap();
    let outside = ImageRegion { origin: [1, 1, 0], size: [4, 1, 1] };
    let error = queue.fill_image_region(&image, outside, Texel::Unsigned([1; 4])).unwrap_err();
    assert!(matches!(error, Error::ImageRegion { .. }));
    let error = queue.fill_image_region(&image, image.desc().whole(), Texel::Float([1.0; 4])).unwrap_err();
    assert!(matches!(error, Error::ImageCommand { .. }));
}

/// Mappings of buffers and image regions, in the order of the queue.
pub(crate) fn mappings(device: &Device) {
    use kiln_runtime::{MapAccess, Status, UserEvent};
    let queue = device.queue().unwrap();
    let data = device.buffer_from(&[1u32, 2, 3, 4]).unwrap();
    let gate = UserEvent::new();
    queue.after([gate.event()]).fill(&data.slice(..2).unwrap(), 9).unwrap();
    let mut mapping = queue.map_later(&data, MapAccess::Write).unwrap();
    let address = mapping.as_ptr();
    assert_eq!((mapping.len(), address.as_ptr() as usize % 128), (16, 0));
    assert_eq!(mapping.event().status(), Ok(Status::Queued));
    gate.complete();
    let words: &mut [u32] = bytemuck::cast_slice_mut(mapping.contents().unwrap());
    assert_eq!(words, [9, 9, 3, 4]);
    words[3] = 40;
    assert_eq!(mapping.as_ptr(), address);
    let gate = UserEvent::new();
    queue.after([gate.event()]).fill(&data, 7).unwrap();
    let unmapped = mapping.unmap(&queue).unwrap();
    assert_eq!(unmapped.status(), Ok(Status::Queued));
    gate.complete();
    assert_eq!(queue.read(&data).unwrap(), [9, 9, 3, 40]);
    // Changes to a read-only mapping, or to one that is dropped, are not written back.
    let mut reading = queue.map_later(&data, MapAccess::Read).unwrap();
    reading.contents().unwrap().fill(1);
    reading.unmap(&queue).unwrap().wait().unwrap();
    let mut dropped = queue.map_later(&data, MapAccess::Write).unwrap();
    dropped.contents().unwrap().fill(1);
    drop(dropped);
    drop(queue.map_later(&data, MapAccess::Write).unwrap());
    assert_eq!(queue.read(&data).unwrap(), [9, 9, 3, 40]);
    let image = device.image_from(&ImageDesc::d2(FORMATS[0], 3, 3), &[1u8, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    let part = ImageRegion { origin: [1, 1, 0], size: [2, 2, 1] };
    let mut mapping = queue.map_image(&image, part, MapAccess::Write).unwrap();
    assert_eq!(mapping.contents().unwrap(), [5, 6, 8, 9]);
    assert_eq!((mapping.row_pitch(), mapping.slice_pitch()), (2, 4));
    mapping.contents().unwrap()[2] = 80;
    mapping.unmap(&queue).unwrap();
    let mut fresh =
        queue.map_image(&image, ImageRegion { size: [1; 3], ..part }, MapAccess::Overwrite).unwrap();
    fresh.contents().unwrap()[0] = 50;
    fresh.unmap(&queue).unwrap();
    assert_eq!(queue.read_image::<u8>(&image).unwrap(), [1, 2, 3, 4, 50, 6, 7, 80, 9]);
    let other = super::same_device(device).queue().unwrap();
    let foreign = queue.map_later(&data, MapAccess::Write).unwrap().unmap(&other);
    assert!(matches!(foreign, Err(Error::WrongDevice { .. })));
}
