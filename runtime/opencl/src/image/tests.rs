//! Images through the API, on the reference device.

use std::ptr::{null, null_mut};

use super::*;
use crate::fixture::reference_device;
use crate::{buffer, image_commands, memory, queue, sampler};

const NUMBERS: cl_image_format =
    cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_UNSIGNED_INT32 };

/// The reference device, with a context and a queue.
struct Host {
    context: cl_context,
    queue: cl_command_queue,
}

impl Host {
    fn new() -> Self {
        let ((device, context), mut error) = (reference_device(), CL_SUCCESS);
        let queue = queue::create_with_properties(context, device, null(), &raw mut error);
        assert_eq!(error, CL_SUCCESS);
        Self { context, queue }
    }

    fn buffer(&self, words: &mut [u32]) -> cl_mem {
        let mut error = CL_SUCCESS;
        let (size, words) = (size_of_val(words), words.as_mut_ptr().cast());
        let made = buffer::create(self.context, CL_MEM_COPY_HOST_PTR, size, words, &raw mut error);
        assert_eq!(error, CL_SUCCESS);
        made
    }

    fn image(&self, desc: &cl_image_desc) -> std::result::Result<cl_mem, cl_int> {
        let mut error = CL_SUCCESS;
        let (numbers, flags) = (NUMBERS, CL_MEM_READ_WRITE);
        let made =
            create(self.context, flags, &raw const numbers, &raw const *desc, null_mut(), &raw mut error);
        if error == CL_SUCCESS { Ok(made) } else { Err(error) }
    }

    /// Reads a region of an image.
    fn read(&self, image: cl_mem, origin: [usize; 3], size: [usize; 3]) -> Vec<u32> {
        let mut words = vec![0u32; size.iter().product()];
        let (origin, size, target) = (origin.as_ptr(), size.as_ptr(), words.as_mut_ptr().cast());
        let (none, event) = (null(), null_mut());
        let read =
            image_commands::read(self.queue, image, CL_TRUE, origin, size, 0, 0, target, 0, none, event);
        assert_eq!(read, CL_SUCCESS);
        words
    }
}

fn info_number(image: cl_mem, name: cl_image_info) -> usize {
    let mut value = 0usize;
    let into = (&raw mut value).cast();
    assert_eq!(get_info(image, name, size_of::<usize>(), into, null_mut()), CL_SUCCESS);
    value
}

/// `cl_khr_image2d_from_buffer`
#[test]
fn planes_are_made_of_buffers() {
    let host = Host::new();
    let buffer = host.buffer(&mut std::array::from_fn::<u32, 13, _>(|at| at as u32));
    let mut desc = crate::ffi::empty_image_desc();
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    (desc.image_width, desc.image_height, desc.image_row_pitch) = (3, 3, 20);
    desc.__bindgen_anon_1.buffer = buffer;
    let image = host.image(&desc).unwrap();
    assert_eq!(host.read(image, [0; 3], [3, 3, 1]), [0, 1, 2, 5, 6, 7, 10, 11, 12]);
    assert_eq!(info_number(image, CL_IMAGE_ROW_PITCH), 20);
    assert_eq!(info_number(image, CL_IMAGE_BUFFER), buffer as usize);
    let wrong = |change: fn(&mut cl_image_desc)| {
        let mut desc = desc;
        change(&mut desc);
        host.image(&desc).err()
    };
    assert_eq!(wrong(|it| it.image_row_pitch = 8), Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
    assert_eq!(wrong(|it| it.image_row_pitch = 18), Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
    assert_eq!(wrong(|it| it.image_height = 4), Some(CL_INVALID_IMAGE_SIZE));
    assert_eq!(wrong(|it| it.image_type = CL_MEM_OBJECT_IMAGE1D), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(wrong(|it| it.image_row_pitch = 0), None, "rows without gaps");
    assert_eq!([memory::release(image), memory::release(buffer)], [CL_SUCCESS; 2]);
}

/// OpenCL API 5.3.1.1: an image of an image has the same texels, in another channel order.
#[test]
fn images_are_made_of_images() {
    let host = Host::new();
    let float =
        |image_channel_order| cl_image_format { image_channel_order, image_channel_data_type: CL_FLOAT };
    let mut desc = crate::ffi::empty_image_desc();
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    (desc.image_width, desc.image_height) = (2, 2);
    let made = |desc: &cl_image_desc, format: cl_image_format, flags, texels: *mut c_void| {
        let (desc, mut error) = (&raw const *desc, CL_SUCCESS);
        let made = create(host.context, flags, &raw const format, desc, texels, &raw mut error);
        if error == CL_SUCCESS { Ok(made) } else { Err(error) }
    };
    let mut texels = [1.0f32, 2.0, 3.0, 4.0];
    let texels = texels.as_mut_ptr().cast();
    let image = made(&desc, float(CL_R), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, texels).unwrap();
    desc.__bindgen_anon_1.buffer = image;
    let view = made(&desc, float(CL_DEPTH), 0, null_mut()).unwrap();
    assert_eq!(host.read(view, [0, 1, 0], [2, 1, 1]), [3.0f32, 4.0].map(f32::to_bits));
    assert_eq!(info_number(view, CL_IMAGE_BUFFER), 0);
    let mut parent = 0usize;
    let into = (&raw mut parent).cast();
    assert_eq!(memory::get_info(view, CL_MEM_ASSOCIATED_MEMOBJECT, 8, into, null_mut()), CL_SUCCESS);
    assert_eq!(parent, image as usize);
    let descriptor = Err(CL_INVALID_IMAGE_DESCRIPTOR);
    let order = Err(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(made(&desc, float(CL_R), 0, null_mut()), order);
    assert_eq!(made(&desc, NUMBERS, 0, null_mut()), order);
    assert_eq!(made(&desc, float(CL_DEPTH), CL_MEM_READ_WRITE, null_mut()), Err(CL_INVALID_VALUE));
    desc.image_width = 1;
    assert_eq!(made(&desc, float(CL_DEPTH), 0, null_mut()), descriptor);
    desc.image_width = 2;
    desc.__bindgen_anon_1.buffer = view;
    assert_eq!(made(&desc, float(CL_DEPTH), 0, null_mut()), descriptor);
    assert_eq!([memory::release(image), memory::release(view)], [CL_SUCCESS; 2]);
}

/// `cl_khr_mipmap_image`: the element of an origin after its coordinates is the level. Levels after one of a single
/// texel have a single texel, too.
#[test]
fn levels_are_read_and_written() {
    let host = Host::new();
    let mut desc = crate::ffi::empty_image_desc();
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    (desc.image_width, desc.image_height, desc.num_mip_levels) = (4, 2, 5);
    let image = host.image(&desc).unwrap();
    for (level, size) in [[4, 2, 1], [2, 1, 1], [1; 3], [1; 3], [1; 3]].into_iter().enumerate() {
        let words: Vec<u32> = (0..8).map(|word| 100 * level as u32 + word).collect();
        let (origin, size, none) = ([0, 0, level], size.as_ptr(), null());
        let (origin, words) = (origin.as_ptr(), words.as_ptr().cast());
        let (queue, event) = (host.queue, null_mut());
        let write = image_commands::write_region;
        assert_eq!(write(queue, image, CL_TRUE, origin, size, 0, 0, words, 0, none, event), CL_SUCCESS);
    }
    assert_eq!(host.read(image, [2, 1, 0], [2, 1, 1]), [6, 7]);
    assert_eq!(host.read(image, [0, 0, 1], [2, 1, 1]), [100, 101]);
    assert_eq!([2, 3, 4].map(|level| host.read(image, [0, 0, level], [1; 3])), [[200], [300], [400]]);
    assert_eq!(info_number(image, CL_IMAGE_NUM_MIP_LEVELS), 5);
    let read = |origin: [usize; 3]| {
        let (origin, size, mut word) = (origin.as_ptr(), [1; 3].as_ptr(), 0u32);
        let word = (&raw mut word).cast();
        image_commands::read(host.queue, image, CL_TRUE, origin, size, 0, 0, word, 0, null(), null_mut())
    };
    assert_eq!([read([0, 0, 5]), read([2, 0, 1])], [CL_INVALID_MIP_LEVEL, CL_INVALID_VALUE]);
    desc.num_mip_levels = 17;
    assert_eq!(host.image(&desc), Err(CL_INVALID_IMAGE_DESCRIPTOR), "no image has so many levels");
    assert_eq!(memory::release(image), CL_SUCCESS);
}

#[test]
fn samplers_have_limits_of_levels() {
    let host = Host::new();
    let made = |list: &[cl_sampler_properties]| {
        let mut error = CL_SUCCESS;
        let sampler = sampler::create_with_properties(host.context, list.as_ptr(), &raw mut error);
        if error == CL_SUCCESS { Ok(sampler) } else { Err(error) }
    };
    let bits = |lod: f32| cl_sampler_properties::from(lod.to_bits());
    let (filter, min, max) = (0x1155, 0x1156, 0x1157);
    let linear = cl_sampler_properties::from(CL_FILTER_LINEAR);
    let sampler = made(&[filter, linear, min, bits(0.5), max, bits(3.0), 0]).unwrap();
    for (name, expected) in [(filter, CL_FILTER_LINEAR), (min, 0.5f32.to_bits()), (max, 3.0f32.to_bits())] {
        let mut word = 0u32;
        let into = (&raw mut word).cast();
        assert_eq!(sampler::get_info(sampler, name as cl_uint, 4, into, null_mut()), CL_SUCCESS);
        assert_eq!(word, expected, "{name:#x}");
    }
    assert_eq!(sampler::release(sampler), CL_SUCCESS);
    assert_eq!(made(&[min, bits(2.0), max, bits(1.0), 0]), Err(CL_INVALID_VALUE));
    assert_eq!(made(&[filter, 7, 0]), Err(CL_INVALID_VALUE));
}
