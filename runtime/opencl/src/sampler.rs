//! Samplers (OpenCL API 5.7).

use std::ffi::c_void;
use std::sync::Arc;

use kiln_runtime::extensions::Extension;
use kiln_runtime::{Addressing, Filter, LevelFilter};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{Result, ensure, fail};
use crate::ffi;
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};

/// A sampler.
pub(crate) struct Sampler {
    handle: Handle,
    context: Arc<Context>,
    sampler: kiln_runtime::Sampler,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    levels: Levels,
    properties: Vec<cl_sampler_properties>,
}

/// How levels are selected, as the application gave it (`cl_khr_mipmap_image`).
#[derive(Clone, Copy)]
struct Levels {
    filter: cl_filter_mode,
    min: f32,
    max: f32,
}

const CL_SAMPLER_MIP_FILTER_MODE: cl_sampler_info = 0x1155;
const CL_SAMPLER_LOD_MIN: cl_sampler_info = 0x1156;
const CL_SAMPLER_LOD_MAX: cl_sampler_info = 0x1157;

impl Levels {
    /// The selection of levels by samplers that a program defines.
    const DEFAULT: Self = Self { filter: CL_FILTER_NEAREST, min: 0.0, max: f32::MAX };
}

fn filter_of(mode: cl_filter_mode) -> Result<Filter> {
    match mode {
        CL_FILTER_NEAREST => Ok(Filter::Nearest),
        CL_FILTER_LINEAR => Ok(Filter::Linear),
        _ => fail(CL_INVALID_VALUE),
    }
}

impl Object for Sampler {
    const INVALID: cl_int = CL_INVALID_SAMPLER;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Sampler {
    /// The runtime's sampler.
    pub(crate) fn inner(&self) -> kiln_runtime::Sampler {
        self.sampler
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    fn create(
        context: cl_context,
        normalized: cl_sampler_properties,
        addressing: cl_sampler_properties,
        filter: cl_sampler_properties,
        levels: Levels,
        properties: Vec<cl_sampler_properties>,
    ) -> Result<*mut c_void> {
        let context = object::get::<Context>(context)?;
        ensure(normalized <= 1, CL_INVALID_VALUE)?;
        let (addressing, filter) = (addressing as cl_addressing_mode, filter as cl_filter_mode);
        let sampler = kiln_runtime::Sampler {
            normalized: normalized == 1,
            addressing: match addressing {
                CL_ADDRESS_NONE => Addressing::None,
                CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
                CL_ADDRESS_CLAMP => Addressing::Clamp,
                CL_ADDRESS_REPEAT => Addressing::Repeat,
                CL_ADDRESS_MIRRORED_REPEAT => Addressing::MirroredRepeat,
                _ => return fail(CL_INVALID_VALUE),
            },
            filter: filter_of(filter)?,
            levels: LevelFilter::new(filter_of(levels.filter)?, levels.min, levels.max),
        };
        let has_images = context.devices().iter().any(|device| device.has(Extension::Images));
        ensure(has_images, CL_INVALID_OPERATION)?;
        let created = object::create(|handle| {
            Ok(Self { handle, context, sampler, addressing, filter, levels, properties })
        })?;
        Ok(created.handle.raw())
    }

    fn info(&self, name: cl_sampler_info) -> Result<Answer> {
        Ok(match name {
            CL_SAMPLER_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            CL_SAMPLER_CONTEXT => Answer::pointer(self.context.handle().raw()),
            CL_SAMPLER_NORMALIZED_COORDS => Answer::flag(self.sampler.normalized),
            CL_SAMPLER_ADDRESSING_MODE => Answer::from_value(self.addressing),
            CL_SAMPLER_FILTER_MODE => Answer::from_value(self.filter),
            CL_SAMPLER_MIP_FILTER_MODE => Answer::from_value(self.levels.filter),
            CL_SAMPLER_LOD_MIN => Answer::from_value(self.levels.min.to_bits()),
            CL_SAMPLER_LOD_MAX => Answer::from_value(self.levels.max.to_bits()),
            CL_SAMPLER_PROPERTIES => Answer::list(&self.properties),
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

pub(crate) extern "C" fn create(
    context: cl_context,
    normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    error: *mut cl_int,
) -> cl_sampler {
    ffi::create(error, || {
        Sampler::create(
            context,
            normalized.into(),
            addressing.into(),
            filter.into(),
            Levels::DEFAULT,
            Vec::new(),
        )
    })
}

pub(crate) extern "C" fn create_with_properties(
    context: cl_context,
    list: *const cl_sampler_properties,
    error: *mut cl_int,
) -> cl_sampler {
    ffi::create(error, || {
        let keys = [
            CL_SAMPLER_NORMALIZED_COORDS,
            CL_SAMPLER_ADDRESSING_MODE,
            CL_SAMPLER_FILTER_MODE,
            CL_SAMPLER_MIP_FILTER_MODE,
            CL_SAMPLER_LOD_MIN,
            CL_SAMPLER_LOD_MAX,
        ]
        .map(cl_sampler_properties::from);
        let Levels { filter, min, max } = Levels::DEFAULT;
        let defaults = [CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, filter, min.to_bits(), max.to_bits()]
            .map(cl_sampler_properties::from);
        let mut values = [None; 6];
        let pairs = ffi::properties(list);
        for (key, value) in pairs.iter().flatten() {
            let Some(index) = keys.iter().position(|known| known == key) else {
                return fail(CL_INVALID_VALUE);
            };
            ensure(values[index].replace(*value).is_none(), CL_INVALID_VALUE)?;
        }
        let [normalized, addressing, filter, between, min, max] =
            [0, 1, 2, 3, 4, 5].map(|index| values[index].unwrap_or(defaults[index]));
        // A property is a float in the low bits.
        let [min, max] = [min, max].map(|bits| f32::from_bits(bits as u32));
        ensure(min >= 0.0 && min <= max, CL_INVALID_VALUE)?;
        let levels = Levels { filter: between as cl_filter_mode, min, max };
        let flat = pairs.map(|pairs| pairs.into_iter().flat_map(|(key, value)| [key, value]).chain([0]));
        let flat = flat.map(Iterator::collect).unwrap_or_default();
        Sampler::create(context, normalized, addressing, filter, levels, flat)
    })
}

pub(crate) extern "C" fn retain(sampler: cl_sampler) -> cl_int {
    ffi::call(|| object::retain::<Sampler>(sampler))
}

pub(crate) extern "C" fn release(sampler: cl_sampler) -> cl_int {
    ffi::call(|| object::release::<Sampler>(sampler).map(drop))
}

pub(crate) extern "C" fn get_info(
    sampler: cl_sampler,
    name: cl_sampler_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Sampler>(sampler)?.info(name))
}
