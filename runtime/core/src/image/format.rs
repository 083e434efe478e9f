//! What the texels of an image are (OpenCL API 5.3.1.1): channels and their type.
//!
//! Owns OpenCL's vocabulary and numbers. It must never know which formats a device has.

use std::fmt;

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $cl:literal = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $name {
            $(#[doc = concat!("`", $cl, "`")] $variant = $number,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// OpenCL's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $cl,)* }
            }

            /// OpenCL's number, which kernels see too.
            pub const fn number(self) -> u32 {
                self as u32
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

numbered! {
    /// The channels of a texel, and what a kernel gets for those that it lacks.
    ChannelOrder {
        R "CL_R" = 0x10B0,
        A "CL_A" = 0x10B1,
        Rg "CL_RG" = 0x10B2,
        Ra "CL_RA" = 0x10B3,
        Rgb "CL_RGB" = 0x10B4,
        Rgba "CL_RGBA" = 0x10B5,
        Bgra "CL_BGRA" = 0x10B6,
        Argb "CL_ARGB" = 0x10B7,
        Intensity "CL_INTENSITY" = 0x10B8,
        Luminance "CL_LUMINANCE" = 0x10B9,
        Rx "CL_Rx" = 0x10BA,
        Rgx "CL_RGx" = 0x10BB,
        Rgbx "CL_RGBx" = 0x10BC,
        Depth "CL_DEPTH" = 0x10BD,
        Srgba "CL_sRGBA" = 0x10C1,
        Sbgra "CL_sBGRA" = 0x10C2,
        Abgr "CL_ABGR" = 0x10C3,
    }
}

numbered! {
    /// What a channel is in memory.
    ChannelType {
        Snorm8 "CL_SNORM_INT8" = 0x10D0,
        Snorm16 "CL_SNORM_INT16" = 0x10D1,
        Unorm8 "CL_UNORM_INT8" = 0x10D2,
        Unorm16 "CL_UNORM_INT16" = 0x10D3,
        Unorm565 "CL_UNORM_SHORT_565" = 0x10D4,
        Unorm555 "CL_UNORM_SHORT_555" = 0x10D5,
        Unorm101010 "CL_UNORM_INT_101010" = 0x10D6,
        Int8 "CL_SIGNED_INT8" = 0x10D7,
        Int16 "CL_SIGNED_INT16" = 0x10D8,
        Int32 "CL_SIGNED_INT32" = 0x10D9,
        Uint8 "CL_UNSIGNED_INT8" = 0x10DA,
        Uint16 "CL_UNSIGNED_INT16" = 0x10DB,
        Uint32 "CL_UNSIGNED_INT32" = 0x10DC,
        Half "CL_HALF_FLOAT" = 0x10DD,
        Float "CL_FLOAT" = 0x10DE,
    }
}

/// The format of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageFormat {
    /// Its channels.
    pub order: ChannelOrder,
    /// The type of each.
    pub channel: ChannelType,
}

/// What the texels of a format are to a kernel, and to a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelClass {
    /// `read_imagef`, `read_imageh`
    Float,
    /// `read_imagei`
    Signed,
    /// `read_imageui`
    Unsigned,
}

impl ImageFormat {
    /// These channels of this type.
    pub const fn new(order: ChannelOrder, channel: ChannelType) -> Self {
        Self { order, channel }
    }

    /// Bytes of a texel in memory.
    pub const fn texel_size(self) -> u64 {
        let channels = match self.order {
            ChannelOrder::R
            | ChannelOrder::A
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance
            | ChannelOrder::Rx
            | ChannelOrder::Depth => 1,
            ChannelOrder::Rg | ChannelOrder::Ra | ChannelOrder::Rgx => 2,
            // Only packed types go with three channels, and they count as one.
            ChannelOrder::Rgb | ChannelOrder::Rgbx => 1,
            ChannelOrder::Rgba
            | ChannelOrder::Bgra
            | ChannelOrder::Argb
            | ChannelOrder::Abgr
            | ChannelOrder::Srgba
            | ChannelOrder::Sbgra => 4,
        };
        let size = match self.channel {
            ChannelType::Snorm8 | ChannelType::Unorm8 | ChannelType::Int8 | ChannelType::Uint8 => 1,
            ChannelType::Snorm16
            | ChannelType::Unorm16
            | ChannelType::Unorm565
            | ChannelType::Unorm555
            | ChannelType::Int16
            | ChannelType::Uint16
            | ChannelType::Half => 2,
            ChannelType::Unorm101010 | ChannelType::Int32 | ChannelType::Uint32 | ChannelType::Float => 4,
        };
        channels * size
    }

    /// How its texels are read.
    pub const fn class(self) -> TexelClass {
        match self.channel {
            ChannelType::Int8 | ChannelType::Int16 | ChannelType::Int32 => TexelClass::Signed,
            ChannelType::Uint8 | ChannelType::Uint16 | ChannelType::Uint32 => TexelClass::Unsigned,
            _ => TexelClass::Float,
        }
    }
}

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.order, self.channel)
    }
}
