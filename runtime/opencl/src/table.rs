//! The table of the driver's functions, which the loader calls, and the function that finds one by its name.

use std::ffi::c_void;

use opencl_sys::cl_icd::cl_icd_dispatch;

use crate::{
    buffer, context, copy, device, device_info, enqueue, event, ffi, format, image, image_commands, kernel,
    kernel_info, launch, link, map, memory, pipe, platform, program, queue, sampler, svm, transfer,
};

/// The tag of tables of drivers with cl_khr_icd 2.0, in the slots of the two functions without a handle.
const TAG: isize = 0x4F50_454E_434C_3331;

/// Declares the table, and `entry`, which finds a function by its name.
macro_rules! table {
    ({ $($name:ident: $function:path,)* } absent { $($absent:ident,)* }) => {
        static DISPATCH: cl_icd_dispatch = cl_icd_dispatch {
            clGetPlatformIDs_icd2_tag: TAG,
            clUnloadCompiler_icd2_tag: TAG,
            $($name: Some($function),)*
            $($absent: None,)*
        };

        /// The address of a function in the table; null for an unknown name.
        fn entry(name: &str) -> *mut c_void {
            match name {
                $(stringify!($name) => $function as *mut c_void,)*
                _ => std::ptr::null_mut(),
            }
        }
    };
}

table! {
    {
        clGetPlatformInfo: platform::get_info,
        clGetDeviceIDs: device::get_ids,
        clGetDeviceInfo: device_info::get_info,
        clCreateContext: context::create,
        clCreateContextFromType: context::create_from_type,
        clRetainContext: context::retain,
        clReleaseContext: context::release,
        clGetContextInfo: context::get_info,
        clCreateCommandQueue: queue::create,
        clRetainCommandQueue: queue::retain,
        clReleaseCommandQueue: queue::release,
        clGetCommandQueueInfo: queue::get_info,
        clSetCommandQueueProperty: queue::set_property,
        clCreateBuffer: buffer::create,
        clCreateImage2D: image::create_2d,
        clCreateImage3D: image::create_3d,
        clRetainMemObject: memory::retain,
        clReleaseMemObject: memory::release,
        clGetSupportedImageFormats: format::get_supported,
        clGetMemObjectInfo: memory::get_info,
        clGetImageInfo: image::get_info,
        clCreateSampler: sampler::create,
        clRetainSampler: sampler::retain,
        clReleaseSampler: sampler::release,
        clGetSamplerInfo: sampler::get_info,
        clCreateProgramWithSource: program::create_with_source,
        clCreateProgramWithBinary: program::create_with_binary,
        clRetainProgram: program::retain,
        clReleaseProgram: program::release,
        clBuildProgram: program::build,
        clGetProgramInfo: program::get_info,
        clGetProgramBuildInfo: program::get_build_info,
        clCreateKernel: kernel::create,
        clCreateKernelsInProgram: kernel::create_all,
        clRetainKernel: kernel::retain,
        clReleaseKernel: kernel::release,
        clSetKernelArg: kernel::set_arg,
        clGetKernelInfo: kernel_info::get_info,
        clGetKernelWorkGroupInfo: kernel_info::get_work_group_info,
        clWaitForEvents: event::wait,
        clGetEventInfo: event::get_info,
        clRetainEvent: event::retain,
        clReleaseEvent: event::release,
        clGetEventProfilingInfo: event::get_profiling_info,
        clFlush: queue::flush,
        clFinish: queue::finish,
        clEnqueueReadBuffer: transfer::read,
        clEnqueueWriteBuffer: transfer::write,
        clEnqueueCopyBuffer: transfer::copy,
        clEnqueueReadImage: image_commands::read,
        clEnqueueWriteImage: image_commands::write_region,
        clEnqueueCopyImage: image_commands::copy,
        clEnqueueCopyImageToBuffer: image_commands::copy_to_buffer,
        clEnqueueCopyBufferToImage: image_commands::copy_from_buffer,
        clEnqueueMapBuffer: map::map_buffer,
        clEnqueueMapImage: map::map_image,
        clEnqueueUnmapMemObject: map::unmap,
        clEnqueueNDRangeKernel: launch::nd_range,
        clEnqueueTask: launch::task,
        clEnqueueNativeKernel: enqueue::native_kernel,
        clEnqueueMarker: enqueue::marker,
        clEnqueueWaitForEvents: enqueue::wait_for_events,
        clEnqueueBarrier: enqueue::barrier,
        clGetExtensionFunctionAddress: ffi::clGetExtensionFunctionAddress,
        clSetEventCallback: event::set_callback,
        clCreateSubBuffer: buffer::create_part,
        clSetMemObjectDestructorCallback: memory::set_destructor_callback,
        clCreateUserEvent: event::create_user,
        clSetUserEventStatus: event::set_user_status,
        clEnqueueReadBufferRect: copy::read,
        clEnqueueWriteBufferRect: copy::write,
        clEnqueueCopyBufferRect: copy::copy,
        clCreateSubDevices: device::create_sub_devices,
        clRetainDevice: device::retain,
        clReleaseDevice: device::release,
        clCreateImage: image::create,
        clCreateProgramWithBuiltInKernels: program::create_with_built_in_kernels,
        clCompileProgram: link::compile,
        clLinkProgram: link::link,
        clUnloadPlatformCompiler: platform::unload_compiler,
        clGetKernelArgInfo: kernel_info::get_arg_info,
        clEnqueueFillBuffer: transfer::fill,
        clEnqueueFillImage: image_commands::fill,
        clEnqueueMigrateMemObjects: transfer::migrate,
        clEnqueueMarkerWithWaitList: enqueue::marker_with_waits,
        clEnqueueBarrierWithWaitList: enqueue::barrier_with_waits,
        clGetExtensionFunctionAddressForPlatform: ffi::extension_for_platform,
        clCreateCommandQueueWithProperties: queue::create_with_properties,
        clCreatePipe: pipe::create,
        clGetPipeInfo: pipe::get_info,
        clSVMAlloc: svm::allocate,
        clSVMFree: svm::free,
        clEnqueueSVMFree: svm::enqueue_free,
        clEnqueueSVMMemcpy: svm::copy,
        clEnqueueSVMMemFill: svm::fill,
        clEnqueueSVMMap: svm::map,
        clEnqueueSVMUnmap: svm::unmap,
        clCreateSamplerWithProperties: sampler::create_with_properties,
        clSetKernelArgSVMPointer: kernel::set_arg_svm_pointer,
        clSetKernelExecInfo: kernel::set_exec_info,
        clGetKernelSubGroupInfoKHR: kernel_info::get_sub_group_info,
        clCloneKernel: kernel::clone_kernel,
        clCreateProgramWithIL: program::create_with_il,
        clEnqueueSVMMigrateMem: svm::migrate,
        clGetDeviceAndHostTimer: platform::get_device_and_host_timer,
        clGetHostTimer: platform::get_host_timer,
        clGetKernelSubGroupInfo: kernel_info::get_sub_group_info,
        clSetDefaultDeviceCommandQueue: queue::set_default_device_queue,
        clSetProgramReleaseCallback: program::set_release_callback,
        clSetProgramSpecializationConstant: program::set_specialization_constant,
        clCreateBufferWithProperties: buffer::create_with_properties,
        clCreateImageWithProperties: image::create_with_properties,
        clSetContextDestructorCallback: context::set_destructor_callback,
        clGetKernelSuggestedLocalWorkSize: launch::suggested_local_size,
    }
    // Functions that share objects with other graphics APIs, or that later functions replace.
    absent {
        clCreateFromGLBuffer,
        clCreateFromGLTexture2D,
        clCreateFromGLTexture3D,
        clCreateFromGLRenderbuffer,
        clGetGLObjectInfo,
        clGetGLTextureInfo,
        clEnqueueAcquireGLObjects,
        clEnqueueReleaseGLObjects,
        clGetGLContextInfoKHR,
        clGetDeviceIDsFromD3D10KHR,
        clCreateFromD3D10BufferKHR,
        clCreateFromD3D10Texture2DKHR,
        clCreateFromD3D10Texture3DKHR,
        clEnqueueAcquireD3D10ObjectsKHR,
        clEnqueueReleaseD3D10ObjectsKHR,
        clCreateSubDevicesEXT,
        clRetainDeviceEXT,
        clReleaseDeviceEXT,
        clCreateEventFromGLsyncKHR,
        clCreateFromGLTexture,
        clGetDeviceIDsFromD3D11KHR,
        clCreateFromD3D11BufferKHR,
        clCreateFromD3D11Texture2DKHR,
        clCreateFromD3D11Texture3DKHR,
        clCreateFromDX9MediaSurfaceKHR,
        clEnqueueAcquireD3D11ObjectsKHR,
        clEnqueueReleaseD3D11ObjectsKHR,
        clGetDeviceIDsFromDX9MediaAdapterKHR,
        clEnqueueAcquireDX9MediaSurfacesKHR,
        clEnqueueReleaseDX9MediaSurfacesKHR,
        clCreateFromEGLImageKHR,
        clEnqueueAcquireEGLObjectsKHR,
        clEnqueueReleaseEGLObjectsKHR,
        clCreateEventFromEGLSyncKHR,
    }
}

/// The table that every handle points to.
pub fn dispatch() -> *const cl_icd_dispatch {
    &raw const DISPATCH
}

/// The address of a function of the API or of an extension; null for an unknown name.
pub fn function(name: &str) -> *mut c_void {
    match name {
        "clGetPlatformIDs" | "clIcdGetPlatformIDsKHR" => ffi::clIcdGetPlatformIDsKHR as *mut c_void,
        "clIcdGetFunctionAddressForPlatformKHR" => ffi::clIcdGetFunctionAddressForPlatformKHR as *mut c_void,
        "clIcdSetPlatformDispatchDataKHR" => ffi::clIcdSetPlatformDispatchDataKHR as *mut c_void,
        "clUnloadCompiler" => program::unload_compiler as *mut c_void,
        // Extensions whose functions are now part of the API.
        "clCreateProgramWithILKHR"
        | "clCreateCommandQueueWithPropertiesKHR"
        | "clGetKernelSuggestedLocalWorkSizeKHR" => function(name.trim_end_matches("KHR")),
        _ => entry(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name() {
        assert_eq!(function("clCreateBuffer"), buffer::create as *mut c_void);
        assert_eq!(
            function("clGetKernelSuggestedLocalWorkSizeKHR"),
            launch::suggested_local_size as *mut c_void
        );
        assert!(function("clCreateFromGLBuffer").is_null() && function("").is_null());
    }
}
