//! Samplers: how kernels read images between texels and outside of them (OpenCL API 5.8).
//!
//! Owns the bits that kernels see. Kernels of Kiln sample in code of their own, so that a sampler is a plain value and every device
//! gives the same, exact results (interface.rs); those of clspv use what the device has. It must never know images.

use crate::kernel::{Arg, ArgValue};

/// A sampler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Whether coordinates run from 0 to 1 over the image, instead of over its texels.
    pub normalized: bool,
    /// What lies outside of the image.
    pub addressing: Addressing,
    /// What lies between texels.
    pub filter: Filter,
}

/// `cl_addressing_mode`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// `CL_ADDRESS_NONE`: nothing is read there.
    None,
    /// `CL_ADDRESS_CLAMP_TO_EDGE`: the texel at the edge.
    #[default]
    ClampToEdge,
    /// `CL_ADDRESS_CLAMP`: the border's colour.
    Clamp,
    /// `CL_ADDRESS_REPEAT`: the image again; of normalised coordinates only.
    Repeat,
    /// `CL_ADDRESS_MIRRORED_REPEAT`: the image again, every other one mirrored; of normalised coordinates only.
    MirroredRepeat,
}

/// `cl_filter_mode`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// `CL_FILTER_NEAREST`: the texel that a place lies in.
    #[default]
    Nearest,
    /// `CL_FILTER_LINEAR`: the texels around it, weighed by their distance.
    Linear,
}

impl Sampler {
    /// The value of a `sampler_t`, as OpenCL C's macros make it (OpenCL C 6.15.15.1).
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

    /// The sampler with these bits, if there is one.
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

    /// The sampler that an argument's bytes stand for.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_bits(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}

impl Arg for Sampler {
    fn into_value(self) -> ArgValue {
        ArgValue::Bytes(self.bits().to_le_bytes().to_vec())
    }
}
