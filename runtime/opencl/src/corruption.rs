//! Tests of damaged program binaries: each returns an API status code, and none panics.
//!
//! A panic becomes `CL_OUT_OF_HOST_MEMORY` (`ffi::call`), which no function returns for another reason here. Damaged programs
//! that are still valid do not run: a kernel may do anything with its memory.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use opencl_sys::*;

use crate::fixture::reference_device;
use crate::sequences::is_nightly;
use crate::{kernel, link, program};

const SOURCE: &CStr = c"
struct pair { float a; int b[2]; };
constant int table[] = { 3, 1, 2 };
static float half_of(float x) { return x * 0.5f; }
int twice(int x) { return x < 0 ? 0 : 2 * x; }
kernel void k(global struct pair *p, local int *l, float f, read_only image2d_t i)
{
    int at = get_local_id(0);
    l[at] = twice(table[at % 3]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < 4; n++) p[at].b[n & 1] += l[n ^ at];
    p[at].a = half_of(f) + read_imagef(i, (int2)(at, 0)).x;
}
";

/// The reference device, with a context.
struct Device {
    device: cl_device_id,
    context: cl_context,
}

/// The outcomes, counted.
#[derive(Debug, Default)]
struct Counts {
    rejected: usize,
    accepted: usize,
}

impl Device {
    fn new() -> Self {
        let (device, context) = reference_device();
        Self { device, context }
    }

    fn source(&self) -> cl_program {
        let (mut text, mut error) = (SOURCE.as_ptr(), CL_SUCCESS);
        let made = program::create_with_source(self.context, 1, &raw mut text, null(), &raw mut error);
        assert_eq!(error, CL_SUCCESS);
        made
    }

    /// The binaries of an executable and of an object.
    fn binaries(&self) -> [Vec<u8>; 2] {
        let [executable, object] = [self.source(), self.source()];
        assert_eq!(program::build(executable, 0, null(), null(), None, null_mut()), CL_SUCCESS);
        let compiled = link::compile(object, 0, null(), null(), 0, null(), null_mut(), None, null_mut());
        assert_eq!(compiled, CL_SUCCESS);
        [executable, object].map(|made| {
            let mut size = 0usize;
            let into = (&raw mut size).cast::<c_void>();
            let got = program::get_info(made, CL_PROGRAM_BINARY_SIZES, size_of::<usize>(), into, null_mut());
            assert_eq!(got, CL_SUCCESS);
            let mut bytes = vec![0u8; size];
            let mut list = [bytes.as_mut_ptr()];
            let into = list.as_mut_ptr().cast();
            let got = program::get_info(made, CL_PROGRAM_BINARIES, size_of::<usize>(), into, null_mut());
            assert_eq!(got, CL_SUCCESS);
            assert_eq!(program::release(made), CL_SUCCESS);
            bytes
        })
    }

    /// Loads a binary, and builds or links what it contains.
    fn load(&self, bytes: &[u8], counts: &mut Counts) {
        let (length, mut first, mut error) = (bytes.len(), bytes.as_ptr(), CL_SUCCESS);
        let (list, lengths) = (&raw const self.device, &raw const length);
        let loaded = program::create_with_binary(
            self.context,
            1,
            list,
            lengths,
            &raw mut first,
            null_mut(),
            &raw mut error,
        );
        if loaded.is_null() {
            assert!([CL_INVALID_BINARY, CL_INVALID_VALUE].contains(&error), "{error}");
            counts.rejected += 1;
            return;
        }
        let built = program::build(loaded, 0, null(), null(), None, null_mut());
        assert_ne!(built, CL_OUT_OF_HOST_MEMORY, "a panic");
        let parts = [loaded];
        let first = parts.as_ptr();
        let linked = link::link(self.context, 0, null(), null(), 1, first, None, null_mut(), &raw mut error);
        assert_ne!(error, CL_OUT_OF_HOST_MEMORY, "a panic");
        for made in [loaded, linked] {
            if made.is_null() {
                continue;
            }
            let (mut kernels, mut count) = ([null_mut(); 16], 0);
            let found = kernel::create_all(made, 16, kernels.as_mut_ptr(), &raw mut count);
            assert_ne!(found, CL_OUT_OF_HOST_MEMORY, "a panic");
            if found == CL_SUCCESS {
                kernels[..count as usize].iter().for_each(|&it| assert_eq!(kernel::release(it), CL_SUCCESS));
            }
            assert_eq!(program::release(made), CL_SUCCESS);
        }
        counts.accepted += 1;
    }
}

/// The distance between damaged bytes: in an ordinary run, and with `cargo xtask test --nightly`.
const STEPS: [usize; 2] = [29, 1];

#[test]
fn damaged_binaries_are_errors() {
    let device = Device::new();
    let [sample, all] = STEPS;
    let left_out = format!("1 of {sample} bytes of damaged program binaries");
    let step = if is_nightly(&left_out) { all } else { sample };
    for whole in device.binaries() {
        let mut counts = Counts::default();
        device.load(&whole, &mut counts);
        assert_eq!((counts.accepted, counts.rejected), (1, 0), "the whole binary is valid");
        for at in (0..whole.len()).step_by(step) {
            device.load(&whole[..at.max(1)], &mut counts);
            for mask in [1, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= mask;
                device.load(&damaged, &mut counts);
            }
        }
        assert!(counts.rejected > whole.len() / step / 2, "{counts:?}");
    }
}
