//! The answers of cl_khr_spirv_queries: what modules of the OpenCL environment may declare.
//!
//! Owns the table of capabilities and extensions. Must not depend on how modules are translated.

use std::ffi::CStr;

use kiln_runtime::extensions::Extension as E;
use opencl_sys::{
    CL_DEVICE_SPIRV_CAPABILITIES, CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS, CL_DEVICE_SPIRV_EXTENSIONS,
    cl_device_info,
};
use spirv::Capability as C;

use crate::device::Device;
use crate::info::Answer;

/// What a device has if it has one of these extensions or features of OpenCL C; without any, what every device has.
struct Row {
    any: &'static [E],
    capabilities: &'static [C],
    extensions: &'static [&'static CStr],
}

const fn row(any: &'static [E], capabilities: &'static [C]) -> Row {
    Row { any, capabilities, extensions: &[] }
}

impl Row {
    const fn by(mut self, extensions: &'static [&'static CStr]) -> Self {
        self.extensions = extensions;
        self
    }

    fn is_on(&self, device: &Device) -> bool {
        self.any.is_empty() || self.any.iter().any(|extension| device.has(*extension))
    }
}

const ROWS: &[Row] = &[
    row(
        &[],
        &[C::Addresses, C::Float16Buffer, C::Int16, C::Int64, C::Int8, C::Kernel, C::Linkage, C::Vector16],
    )
    .by(&[c"SPV_KHR_linkonce_odr", c"SPV_KHR_no_integer_wrap_decoration"]),
    row(&[E::WorkGroupCollectives, E::FeatureSubgroups], &[C::Groups]),
    row(&[E::FeatureSubgroups], &[C::SubgroupDispatch]),
    row(&[E::GenericAddressSpace], &[C::GenericPointer]),
    row(&[E::Pipes], &[C::Pipes]),
    row(&[E::DeviceEnqueue], &[C::DeviceEnqueue]),
    row(
        &[E::Images],
        &[C::Image1D, C::ImageBasic, C::ImageBuffer, C::LiteralSampler, C::Sampled1D, C::SampledBuffer],
    ),
    row(&[E::KhrMipmapWrites], &[C::ImageMipmap]),
    row(&[E::ReadWriteImages], &[C::ImageReadWrite]),
    row(&[E::KhrFp16], &[C::Float16]),
    row(&[E::KhrFp64], &[C::Float64]),
    row(&[E::KhrInt64Base], &[C::Int64Atomics]),
    row(&[E::KhrExpectAssume], &[C::ExpectAssumeKHR]).by(&[c"SPV_KHR_expect_assume"]),
    row(&[E::KhrExtendedBitOps], &[C::BitInstructions]).by(&[c"SPV_KHR_bit_instructions"]),
    row(&[E::KhrDotProduct], &[C::DotProduct, C::DotProductInput4x8Bit, C::DotProductInput4x8BitPacked])
        .by(&[c"SPV_KHR_integer_dot_product"]),
    row(&[E::KhrKernelClock], &[C::ShaderClockKHR]).by(&[c"SPV_KHR_shader_clock"]),
    row(&[E::KhrSubgroupVote], &[C::GroupNonUniform, C::GroupNonUniformVote]),
    row(&[E::KhrSubgroupBallot], &[C::GroupNonUniformBallot]),
    row(&[E::KhrSubgroupArithmetic], &[C::GroupNonUniformArithmetic]),
    row(&[E::KhrSubgroupShuffle], &[C::GroupNonUniformShuffle]),
    row(&[E::KhrSubgroupShuffleRelative], &[C::GroupNonUniformShuffleRelative]),
    row(&[E::KhrSubgroupClustered], &[C::GroupNonUniformClustered]),
    row(&[E::KhrSubgroupRotate], &[C::GroupNonUniformRotateKHR]).by(&[c"SPV_KHR_subgroup_rotate"]),
    row(&[E::KhrUniformArithmetic], &[C::GroupUniformArithmeticKHR])
        .by(&[c"SPV_KHR_uniform_group_instructions"]),
    row(&[E::Fp32GlobalAdd], &[C::AtomicFloat32AddEXT]).by(&[c"SPV_EXT_shader_atomic_float_add"]),
    row(&[E::Fp32GlobalMinMax], &[C::AtomicFloat32MinMaxEXT]).by(&[c"SPV_EXT_shader_atomic_float_min_max"]),
    row(&[E::Fp64GlobalAdd], &[C::AtomicFloat64AddEXT]),
    row(&[E::Fp64GlobalMinMax], &[C::AtomicFloat64MinMaxEXT]),
];

/// The answer of a query; `None` if it is another query.
pub(crate) fn answer(device: &Device, name: cl_device_info) -> Option<Answer> {
    let rows = || ROWS.iter().filter(|row| row.is_on(device));
    // The application gets pointers to strings that live as long as the driver.
    let names = |names: &mut dyn Iterator<Item = &'static CStr>| {
        Answer::pointers(names.map(|name| name.as_ptr().cast_mut().cast()))
    };
    Some(match name {
        CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS => names(&mut [c"OpenCL.std"].into_iter()),
        CL_DEVICE_SPIRV_EXTENSIONS => names(&mut rows().flat_map(|row| row.extensions).copied()),
        CL_DEVICE_SPIRV_CAPABILITIES => {
            // Part of kernels since SPIR-V 1.6.
            let newest = device.spirv_minors().contains(&6).then_some(&C::UniformDecoration);
            let capabilities = rows().flat_map(|row| row.capabilities).chain(newest);
            Answer::list(&capabilities.map(|capability| *capability as u32).collect::<Vec<_>>())
        }
        _ => return None,
    })
}
