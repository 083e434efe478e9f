//! Samplers: how kernels read images between and outside of texels (OpenCL API 5.8).
//!
//! Owns the bit encoding that kernels see. A kernel samples with samplers of the device, or computes the formulas of
//! OpenCL from these bits (interface.rs). Must not depend on images.

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

impl Sampler {
    /// The `sampler_t` bits, as OpenCL C's macros encode them (OpenCL C 6.15.15.1).
    pub const fn bits(self) -> u32 {
        let addressing = match self.addressing {
            Addressing::None => 0,
            Addressing::ClampToEdge => 2,
            Addressing::Clamp => 4,
            Addressing::Repeat => 6,
            Addressing::MirroredRepeat => 8,
        };
        let filter = match self.filter {
            Filter::Nearest => 0x10,
            Filter::Linear => 0x20,
        };
        self.normalized as u32 | addressing | filter
    }

    /// Decodes a sampler; `None` if the bits are invalid.
    pub(crate) fn from_bits(bits: u32) -> Option<Self> {
        let normalized = bits & 1 != 0;
        let addressing = match bits & 0xe {
            0 => Addressing::None,
            2 => Addressing::ClampToEdge,
            4 => Addressing::Clamp,
            6 if normalized => Addressing::Repeat,
            8 if normalized => Addressing::MirroredRepeat,
            _ => return None,
        };
        let filter = match bits & !0xf {
            0x10 => Filter::Nearest,
            0x20 => Filter::Linear,
            _ => return None,
        };
        Some(Self { normalized, addressing, filter })
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
