//! The costs of small transfers between the application's memory and a device, for `launches`.

use std::ffi::c_void;

use crate::kernels::Contents;
use crate::launches::{LAUNCHES, LOCAL, seconds};
use crate::median::median;
use crate::opencl::OpenCl;

/// The names of the measurements: [`LAUNCHES`] repetitions of each.
pub(crate) const NAMES: [&str; 5] = [
    "100 blocking writes of 4 bytes",
    "100 blocking reads of 4 bytes",
    "100 writes, launches and reads",
    "100 blocking writes of an image",
    "100 blocking reads of an image",
];

/// The width and height of the image.
const SIZE: usize = 16;

/// A buffer, an image, and the times of each measurement.
pub(crate) struct Transfers {
    buffer: *mut c_void,
    image: *mut c_void,
    times: [Vec<f64>; NAMES.len()],
}

impl Transfers {
    pub(crate) fn new(opencl: &OpenCl) -> Result<Self, String> {
        let (buffer, _) = opencl.buffer(&Contents::Zeros(4096))?;
        let image = Contents::Image { size: [SIZE, SIZE], texels: vec![0; 4 * SIZE * SIZE] };
        let (image, _) = opencl.buffer(&image)?;
        Ok(Self { buffer, image, times: Default::default() })
    }

    pub(crate) fn round(
        &mut self,
        opencl: &OpenCl,
        queue: *mut c_void,
        kernel: *mut c_void,
    ) -> Result<(), String> {
        let (mut word, mut texels) = ([0; 4], vec![0; 4 * SIZE * SIZE]);
        let (buffer, image) = (self.buffer, self.image);
        let mut steps: [&mut dyn FnMut() -> Result<(), String>; NAMES.len()] = [
            &mut || opencl.write(queue, buffer, &[7; 4]),
            &mut || opencl.read(queue, buffer, &mut word),
            &mut || {
                opencl.write(queue, buffer, &[7; 4])?;
                opencl.launch(queue, kernel, LOCAL as usize)?;
                opencl.read(queue, buffer, &mut [0; 4])
            },
            &mut || opencl.write_image(queue, image, [SIZE, SIZE], &[7; 4 * SIZE * SIZE]),
            &mut || opencl.read_image(queue, image, [SIZE, SIZE], &mut texels),
        ];
        for (step, times) in steps.iter_mut().zip(&mut self.times) {
            times.push(seconds(|| (0..LAUNCHES).try_for_each(|_| step()))?);
            opencl.finish(queue)?;
        }
        Ok(())
    }

    /// The median of each measurement, in seconds.
    pub(crate) fn medians(&self) -> [f64; NAMES.len()] {
        self.times.each_ref().map(|times| median(times))
    }
}
