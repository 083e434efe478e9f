//! The reference device for tests of the API.

use std::ptr::{null, null_mut};

use opencl_sys::*;

use crate::{context, device, platform};

/// The reference device, and a new context of it.
pub(crate) fn reference_device() -> (cl_device_id, cl_context) {
    let (mut platform, mut device, mut error) = (null_mut(), null_mut(), CL_SUCCESS);
    assert_eq!(platform::get_ids(1, &raw mut platform, null_mut()), CL_SUCCESS);
    let found = device::get_ids(platform, CL_DEVICE_TYPE_CUSTOM, 1, &raw mut device, null_mut());
    assert_eq!(found, CL_SUCCESS);
    let context = context::create(null(), 1, &raw const device, None, null_mut(), &raw mut error);
    assert_eq!(error, CL_SUCCESS);
    (device, context)
}
