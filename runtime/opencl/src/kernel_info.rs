//! Queries of kernels (OpenCL API 5.9.4).

use std::ffi::c_void;
use std::sync::Arc;

use kiln_runtime::extensions::Extension;
use opencl_sys::*;

use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi;
use crate::info::{Answer, answer};
use crate::kernel::Kernel;
use crate::object::{self, Object};

impl Kernel {
    fn info(&self, name: cl_kernel_info) -> Result<Answer> {
        Ok(match name {
            CL_KERNEL_FUNCTION_NAME => Answer::text(&self.signature.name),
            CL_KERNEL_NUM_ARGS => Answer::from_value(self.signature.parameters.len() as cl_uint),
            CL_KERNEL_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            CL_KERNEL_CONTEXT => Answer::pointer(self.context().handle().raw()),
            CL_KERNEL_PROGRAM => Answer::pointer(self.program.handle().raw()),
            CL_KERNEL_ATTRIBUTES => Answer::text(&self.signature.attributes),
            _ => return fail(CL_INVALID_VALUE),
        })
    }

    fn argument_info(&self, index: cl_uint, name: cl_kernel_arg_info) -> Result<Answer> {
        let parameter = self.parameter(index)?;
        ensure(self.signature.is_described, CL_KERNEL_ARG_INFO_NOT_AVAILABLE)?;
        Ok(match name {
            CL_KERNEL_ARG_ADDRESS_QUALIFIER => Answer::from_value(parameter.address),
            CL_KERNEL_ARG_ACCESS_QUALIFIER => Answer::from_value(parameter.access),
            CL_KERNEL_ARG_TYPE_NAME => Answer::text(&parameter.type_name),
            CL_KERNEL_ARG_TYPE_QUALIFIER => Answer::from_value(parameter.qualifier),
            CL_KERNEL_ARG_NAME => Answer::text(&parameter.name),
            _ => return fail(CL_INVALID_VALUE),
        })
    }

    /// The device of a query: null means the only device with an executable.
    fn device(&self, raw: cl_device_id) -> Result<(Arc<Device>, usize)> {
        let built: Vec<usize> = (0..self.builds.len()).filter(|index| self.build(*index).is_ok()).collect();
        if raw.is_null() {
            let [only] = built[..] else { return fail(CL_INVALID_DEVICE) };
            return Ok((self.context().devices()[only].clone(), only));
        }
        let device = object::get::<Device>(raw)?;
        let index = self.context().index_of(&device)?;
        ensure(built.contains(&index), CL_INVALID_DEVICE)?;
        Ok((device, index))
    }

    fn group_info(&self, device: cl_device_id, name: cl_kernel_work_group_info) -> Result<Answer> {
        let (device, index) = self.device(device)?;
        let kernel = self.bare(index)?;
        let interface = kernel.interface();
        let capabilities = device.capabilities();
        let required = interface.required_local_size.unwrap_or_default().map(|size| size as usize);
        Ok(match name {
            CL_KERNEL_WORK_GROUP_SIZE => Answer::from_value(capabilities.max_work_group_size as usize),
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => Answer::list(&required),
            CL_KERNEL_LOCAL_MEM_SIZE => {
                Answer::from_value(u64::from(interface.static_local_size) + self.local_arguments())
            }
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                let size = capabilities.sub_groups.as_ref().map_or(1, |groups| groups.max_size.max(1));
                Answer::from_value(size as usize)
            }
            CL_KERNEL_PRIVATE_MEM_SIZE => Answer::from_value(0u64),
            // The other queries are for built-in kernels and custom devices only.
            _ => return fail(CL_INVALID_VALUE),
        })
    }

    fn sub_group_info(
        &self,
        device: cl_device_id,
        name: cl_kernel_sub_group_info,
        input: &[usize],
        room: usize,
    ) -> Result<Answer> {
        let (device, _) = self.device(device)?;
        ensure(device.has(Extension::FeatureSubgroups), CL_INVALID_OPERATION)?;
        let capabilities = device.capabilities();
        let groups = capabilities.sub_groups.as_ref().ok_or(Code(CL_INVALID_OPERATION))?;
        let (size, max) = (groups.max_size.max(1) as usize, capabilities.max_work_group_size as usize);
        Ok(match name {
            CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE | CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
                ensure((1..=3).contains(&input.len()), CL_INVALID_VALUE)?;
                let items = input.iter().fold(1usize, |items, size| items.saturating_mul(*size));
                let is_size = name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE;
                Answer::from_value(if is_size { size.min(items) } else { items.div_ceil(size) })
            }
            CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
                let &[count] = input else { return fail(CL_INVALID_VALUE) };
                let items = count.saturating_mul(size);
                let first = if items <= max { items } else { 0 };
                let dims = (room / size_of::<usize>()).clamp(1, 3);
                let others = usize::from(first > 0);
                Answer::list(&[first, others, others][..dims])
            }
            CL_KERNEL_MAX_NUM_SUB_GROUPS => Answer::from_value((max / size).max(1)),
            CL_KERNEL_COMPILE_NUM_SUB_GROUPS => Answer::from_value(0usize),
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

pub(crate) extern "C" fn get_info(
    kernel: cl_kernel,
    name: cl_kernel_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Kernel>(kernel)?.info(name))
}

pub(crate) extern "C" fn get_arg_info(
    kernel: cl_kernel,
    index: cl_uint,
    name: cl_kernel_arg_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Kernel>(kernel)?.argument_info(index, name))
}

pub(crate) extern "C" fn get_work_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_work_group_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Kernel>(kernel)?.group_info(device, name))
}

pub(crate) extern "C" fn get_sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_sub_group_info,
    input_size: usize,
    input: *const c_void,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || {
        // The size counts only for queries that have an input.
        let count =
            if input_size.is_multiple_of(size_of::<usize>()) { input_size / size_of::<usize>() } else { 0 };
        let input = ffi::slice(input.cast::<usize>(), count);
        object::get::<Kernel>(kernel)?.sub_group_info(device, name, input, size)
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::ptr::{null, null_mut};

    use super::*;
    use crate::fixture::reference_device;
    use crate::{kernel, program};

    const SOURCE: &CStr = c"
kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void k(global const float4 *restrict a, local int *b, constant int *c, const int n, global volatile uint *v,
       write_only image2d_t i) {}
";

    /// The text or, as bits, the number of a query.
    fn answered(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> String {
        let (mut bytes, mut size) = ([0u8; 128], 0);
        assert_eq!(query(bytes.len(), bytes.as_mut_ptr().cast(), &raw mut size), CL_SUCCESS);
        match &bytes[..size] {
            [text @ .., 0] if text.is_ascii() && !text.contains(&0) => {
                String::from_utf8_lossy(text).into_owned()
            }
            bits => format!("{}", bits[0]),
        }
    }

    /// Modules for the reference device have no types and qualifiers.
    #[test]
    fn arguments_are_described_on_the_reference_device() {
        let (_, context) = reference_device();
        let (mut text, mut error) = (SOURCE.as_ptr(), CL_SUCCESS);
        let program = program::create_with_source(context, 1, &raw mut text, null(), &raw mut error);
        assert_eq!(program::build(program, 0, null(), null(), None, null_mut()), CL_SUCCESS);
        let k = kernel::create(program, c"k".as_ptr(), &raw mut error);
        assert_eq!(error, CL_SUCCESS);
        let attributes = answered(|size, value, got| get_info(k, CL_KERNEL_ATTRIBUTES, size, value, got));
        assert_eq!(attributes, "reqd_work_group_size(4,2,1)");
        let argument =
            |index, name| answered(|size, value, got| get_arg_info(k, index, name, size, value, got));
        let [constant, restrict, volatile] =
            [CL_KERNEL_ARG_TYPE_CONST, CL_KERNEL_ARG_TYPE_RESTRICT, CL_KERNEL_ARG_TYPE_VOLATILE];
        let expected = [
            ("a", "float4*", constant | restrict),
            ("b", "int*", 0),
            ("c", "int*", constant),
            ("n", "int", 0),
            ("v", "uint*", volatile),
            ("i", "image2d_t", 0),
        ];
        for (index, (name, ty, qualifiers)) in (0..).zip(expected) {
            assert_eq!(argument(index, CL_KERNEL_ARG_NAME), name);
            assert_eq!(argument(index, CL_KERNEL_ARG_TYPE_NAME), ty, "{name}");
            assert_eq!(argument(index, CL_KERNEL_ARG_TYPE_QUALIFIER), qualifiers.to_string(), "{name}");
        }
        assert_eq!(kernel::set_arg(k, 1, 0, null()), CL_SUCCESS, "OpenCL 3.1 allows it");
        assert_eq!(kernel::set_arg(k, 1, 16, null()), CL_SUCCESS);
    }
}
