//! The bits of a `sampler_t`: the values of OpenCL C's macros (OpenCL C 6.15.15.1), which are those of SPIR.

/// `CLK_NORMALIZED_COORDS_TRUE`
pub const NORMALIZED_COORDS_TRUE: u32 = 1;
/// The mask of the addressing mode.
pub const ADDRESSING: u32 = 0xe;
/// `CLK_ADDRESS_NONE`
pub const ADDRESS_NONE: u32 = 0;
/// `CLK_ADDRESS_CLAMP_TO_EDGE`
pub const ADDRESS_CLAMP_TO_EDGE: u32 = 2;
/// `CLK_ADDRESS_CLAMP`
pub const ADDRESS_CLAMP: u32 = 4;
/// `CLK_ADDRESS_REPEAT`
pub const ADDRESS_REPEAT: u32 = 6;
/// `CLK_ADDRESS_MIRRORED_REPEAT`
pub const ADDRESS_MIRRORED_REPEAT: u32 = 8;
/// The mask of the filter.
pub const FILTER: u32 = 0x30;
/// `CLK_FILTER_NEAREST`
pub const FILTER_NEAREST: u32 = 0x10;
/// `CLK_FILTER_LINEAR`
pub const FILTER_LINEAR: u32 = 0x20;
