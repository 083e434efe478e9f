//! Samplers: how kernels read images between and outside of texels (OpenCL API 5.8).
//!
//! Owns the bit encoding that kernels see. A kernel samples with samplers of the device, or computes the formulas of
//! OpenCL from these bits (interface.rs). Must not depend on images.

use kiln_vocabulary::sampler;

use crate::kernel::{Arg, ArgValue};

/// A sampler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Whether coordinates are normalized to the range from 0 to 1.
    pub normalized: bool,
    /// How coordinates outside the image are handled.
    pub addressing: Addressing,
    /// How values between texels are computed.
    pub filter: Filter,
    /// How levels are selected.
    pub levels: LevelFilter,
}

/// `cl_addressing_mode`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// `CL_ADDRESS_NONE`: coordinates outside the image are undefined.
    None,
    /// `CL_ADDRESS_CLAMP_TO_EDGE`: use the nearest edge texel.
    #[default]
    ClampToEdge,
    /// `CL_ADDRESS_CLAMP`: use the border color.
    Clamp,
    /// `CL_ADDRESS_REPEAT`: repeat the image; for normalized coordinates only.
    Repeat,
    /// `CL_ADDRESS_MIRRORED_REPEAT`: repeat the image, mirroring every other copy; for normalized coordinates only.
    MirroredRepeat,
}

/// `cl_filter_mode`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// `CL_FILTER_NEAREST`: use the nearest texel.
    #[default]
    Nearest,
    /// `CL_FILTER_LINEAR`: interpolate between adjacent texels.
    Linear,
}

/// How a read with a level of detail or gradients selects levels (`cl_khr_mipmap_image`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LevelFilter {
    /// How values between levels are computed (`CL_SAMPLER_MIP_FILTER_MODE`).
    pub filter: Filter,
    /// The minimum level of detail (`minLod`) in 256ths.
    min: u16,
    /// The distance of the greatest level of detail from `LevelFilter::MAX_LOD`.
    rest: u16,
}

impl LevelFilter {
    /// The maximum level of detail (`maxLod`) in 256ths. No image has more than 16 levels.
    const MAX_LOD: u16 = 0xfff;

    /// A filter with limits of the level of detail (`CL_SAMPLER_LOD_MIN`, `CL_SAMPLER_LOD_MAX`), which are rounded to
    /// 256ths.
    pub fn new(filter: Filter, min: f32, max: f32) -> Self {
        let number = |lod: f32| (lod * 256.0).round().clamp(0.0, Self::MAX_LOD.into()) as u16;
        Self { filter, min: number(min), rest: Self::MAX_LOD - number(max) }
    }

    /// The minimum level of detail (`minLod`).
    pub fn min_lod(self) -> f32 {
        f32::from(self.min) / 256.0
    }

    /// The maximum level of detail (`maxLod`).
    pub fn max_lod(self) -> f32 {
        f32::from(Self::MAX_LOD - self.rest) / 256.0
    }
}

impl Sampler {
    /// The `sampler_t` bits, as OpenCL C's macros encode them (OpenCL C 6.15.15.1), with the filter of levels in bit 6
    /// and the limits of levels from bit 8 on.
    pub const fn bits(self) -> u32 {
        let addressing = match self.addressing {
            Addressing::None => sampler::ADDRESS_NONE,
            Addressing::ClampToEdge => sampler::ADDRESS_CLAMP_TO_EDGE,
            Addressing::Clamp => sampler::ADDRESS_CLAMP,
            Addressing::Repeat => sampler::ADDRESS_REPEAT,
            Addressing::MirroredRepeat => sampler::ADDRESS_MIRRORED_REPEAT,
        };
        let filter = match self.filter {
            Filter::Nearest => sampler::FILTER_NEAREST,
            Filter::Linear => sampler::FILTER_LINEAR,
        };
        let between = match self.levels.filter {
            Filter::Nearest => 0,
            Filter::Linear => 0x40,
        };
        let limits = (self.levels.min as u32) << 8 | (self.levels.rest as u32) << 20;
        self.normalized as u32 | addressing | filter | between | limits
    }

    /// Decodes a sampler; `None` if the bits are invalid.
    pub(crate) fn from_bits(bits: u32) -> Option<Self> {
        let normalized = bits & sampler::NORMALIZED_COORDS_TRUE != 0;
        let addressing = match bits & sampler::ADDRESSING {
            sampler::ADDRESS_NONE => Addressing::None,
            sampler::ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
            sampler::ADDRESS_CLAMP => Addressing::Clamp,
            sampler::ADDRESS_REPEAT if normalized => Addressing::Repeat,
            sampler::ADDRESS_MIRRORED_REPEAT if normalized => Addressing::MirroredRepeat,
            _ => return None,
        };
        let filter = match bits & 0xb0 {
            sampler::FILTER_NEAREST => Filter::Nearest,
            sampler::FILTER_LINEAR => Filter::Linear,
            _ => return None,
        };
        let between = if bits & 0x40 == 0 { Filter::Nearest } else { Filter::Linear };
        let [min, rest] = [8, 20].map(|at| (bits >> at & 0xfff) as u16);
        let levels = LevelFilter { filter: between, min, rest };
        Some(Self { normalized, addressing, filter, levels })
    }

    /// Decodes a sampler from the bytes of an argument.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_bits(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}

impl Arg for Sampler {
    fn into_value(self) -> ArgValue {
        ArgValue::Bytes(self.bits().to_le_bytes().to_vec())
    }
}
