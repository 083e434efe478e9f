//! Image formats (OpenCL API 5.3.1.1): channel order and channel type.
//!
//! Owns OpenCL's names and numbers. Must not depend on which formats a device supports.

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
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The OpenCL name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $cl,)* }
            }

            /// The OpenCL number, as kernels see it.
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
    /// The channels of a texel, and the values that a kernel reads for missing channels.
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
    /// The representation of a channel in memory.
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
    /// The channel order.
    pub order: ChannelOrder,
    /// The channel type.
    pub channel: ChannelType,
}

/// The type that kernels read and write, and fills take, for a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelClass {
    /// `read_imagef`, `read_imageh`
    Float,
    /// `read_imagei`
    Signed,
    /// `read_imageui`
    Unsigned,
}

impl ChannelOrder {
    /// Whether red, green and blue are sRGB.
    pub const fn is_srgb(self) -> bool {
        matches!(self, Self::Srgba | Self::Sbgra)
    }
}

impl ImageFormat {
    /// A format with this channel order and channel type.
    pub const fn new(order: ChannelOrder, channel: ChannelType) -> Self {
        Self { order, channel }
    }

    /// Whether an image of this format can view the texels of another (OpenCL API 5.3.1.1, compatible channel orders).
    pub fn can_view(self, other: Self) -> bool {
        use ChannelOrder::{Bgra, Depth, R, Rgba, Sbgra, Srgba};
        let has_order = matches!(
            (self.order, other.order),
            (Srgba, Rgba) | (Rgba, Srgba) | (Sbgra, Bgra) | (Bgra, Sbgra) | (Depth, R)
        );
        has_order && self.channel == other.channel
    }

    /// The size of a texel in bytes.
    pub const fn texel_size(self) -> u64 {
        let channels = match self.order {
            ChannelOrder::R
            | ChannelOrder::A
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance
            | ChannelOrder::Rx
            | ChannelOrder::Depth => 1,
            ChannelOrder::Rg | ChannelOrder::Ra | ChannelOrder::Rgx => 2,
            // Three-channel formats use packed types only, in which all channels form one element.
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

    /// The class of the format's texels.
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
