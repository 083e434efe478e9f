//! Texel formats: conversions between bytes and the values that kernels read and write (OpenCL API 5.3.1.1 and 8.3).
//!
//! Owns the numbers of channel orders and types. Must not depend on the location of texels.

use half::f16;

/// An image format, in OpenCL's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    order: u32,
    channel: u32,
}

/// A texel value as kernels see it: red, green, blue, alpha.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Texel {
    /// `read_imagef`
    Float([f32; 4]),
    /// `read_imagei`
    Signed([i32; 4]),
    /// `read_imageui`
    Unsigned([u32; 4]),
}

/// `CL_R`; SPIR-V numbers channel orders from zero.
pub(crate) const FIRST_ORDER: u32 = 0x10B0;
/// `CL_SNORM_INT8`; SPIR-V numbers channel types from zero.
pub(crate) const FIRST_CHANNEL: u32 = 0x10D0;

/// The component of each channel in memory, indexed by `order - FIRST_ORDER`.
const ORDERS: [&[usize]; 20] = [
    &[0],          // CL_R
    &[3],          // CL_A
    &[0, 1],       // CL_RG
    &[0, 3],       // CL_RA
    &[0, 1, 2],    // CL_RGB
    &[0, 1, 2, 3], // CL_RGBA
    &[2, 1, 0, 3], // CL_BGRA
    &[3, 0, 1, 2], // CL_ARGB
    &[0],          // CL_INTENSITY
    &[0],          // CL_LUMINANCE
    &[0],          // CL_Rx
    &[0, 1],       // CL_RGx
    &[0, 1, 2],    // CL_RGBx
    &[0],          // CL_DEPTH
    &[],           // CL_DEPTH_STENCIL
    &[0, 1, 2],    // CL_sRGB
    &[0, 1, 2],    // CL_sRGBx
    &[0, 1, 2, 3], // CL_sRGBA
    &[2, 1, 0, 3], // CL_sBGRA
    &[3, 2, 1, 0], // CL_ABGR
];

const INTENSITY: u32 = 0x10B8;
const LUMINANCE: u32 = 0x10B9;
const DEPTH: u32 = 0x10BD;

/// The encoding of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Snorm(u8),
    Unorm(u8),
    Signed(u8),
    Unsigned(u8),
    Half,
    Float,
    /// Red, green and blue in one integer: their bits from the top, and its size in bytes.
    Packed([u32; 3], u8),
}

impl Format {
    /// A format, if the combination is valid (OpenCL API 5.3.1.1, tables of image formats).
    pub fn new(order: u32, channel: u32) -> Option<Self> {
        let format = Self { order, channel };
        let kind = Self::kind(channel)?;
        let is_norm = matches!(kind, Channel::Snorm(_) | Channel::Unorm(_));
        let fits = match order {
            0x10B4 | 0x10BC => matches!(kind, Channel::Packed(..)),
            _ if matches!(kind, Channel::Packed(..)) => false,
            INTENSITY | LUMINANCE => is_norm || matches!(kind, Channel::Half | Channel::Float),
            DEPTH => matches!(kind, Channel::Unorm(2) | Channel::Float),
            0x10B6 | 0x10B7 | 0x10C3 => format.channel_size() == 1,
            0x10C1 | 0x10C2 => kind == Channel::Unorm(1),
            0x10B0..=0x10BB => true,
            _ => false,
        };
        fits.then_some(format)
    }

    fn kind(channel: u32) -> Option<Channel> {
        Some(match channel {
            0x10D0 => Channel::Snorm(1),
            0x10D1 => Channel::Snorm(2),
            0x10D2 => Channel::Unorm(1),
            0x10D3 => Channel::Unorm(2),
            0x10D4 => Channel::Packed([5, 6, 5], 2),
            0x10D5 => Channel::Packed([5, 5, 5], 2),
            0x10D6 => Channel::Packed([10, 10, 10], 4),
            0x10D7 => Channel::Signed(1),
            0x10D8 => Channel::Signed(2),
            0x10D9 => Channel::Signed(4),
            0x10DA => Channel::Unsigned(1),
            0x10DB => Channel::Unsigned(2),
            0x10DC => Channel::Unsigned(4),
            0x10DD => Channel::Half,
            0x10DE => Channel::Float,
            _ => return None,
        })
    }

    fn channel_kind(self) -> Channel {
        Self::kind(self.channel).unwrap_or(Channel::Float)
    }

    const fn order_components(self) -> &'static [usize] {
        ORDERS[(self.order - FIRST_ORDER) as usize]
    }

    fn channel_size(self) -> u32 {
        match self.channel_kind() {
            Channel::Snorm(size)
            | Channel::Unorm(size)
            | Channel::Signed(size)
            | Channel::Unsigned(size)
            | Channel::Packed(_, size) => size.into(),
            Channel::Half => 2,
            Channel::Float => 4,
        }
    }

    /// The size of a texel in bytes.
    pub fn size(self) -> u32 {
        match self.channel_kind() {
            Channel::Packed(_, size) => size.into(),
            _ => self.channel_size() * self.order_components().len() as u32,
        }
    }

    /// `cl_channel_order`
    pub(crate) const fn order(self) -> u32 {
        self.order
    }

    /// `cl_channel_type`
    pub(crate) const fn channel(self) -> u32 {
        self.channel
    }

    /// Whether its channels are in sRGB, but alpha: kernels write it with `cl_khr_srgb_image_writes` only.
    pub const fn is_srgb(self) -> bool {
        matches!(self.order, 0x10BF..=0x10C2)
    }

    /// The border color (OpenCL API 8.2).
    pub(crate) fn border(self) -> Texel {
        let is_opaque = matches!(self.order, 0x10B0 | 0x10B2 | 0x10B4 | LUMINANCE | 0x10BF);
        match self.channel_kind() {
            Channel::Signed(_) => Texel::Signed([0, 0, 0, is_opaque.into()]),
            Channel::Unsigned(_) => Texel::Unsigned([0, 0, 0, is_opaque.into()]),
            _ => Texel::Float([0.0, 0.0, 0.0, f32::from(u8::from(is_opaque))]),
        }
    }

    /// Decodes a texel.
    pub(crate) fn decode(self, bytes: &[u8]) -> Texel {
        let kind = self.channel_kind();
        let size = self.channel_size() as usize;
        let bits = |channel: usize| {
            let mut word = [0; 4];
            let bytes = bytes.get(channel * size..(channel + 1) * size).unwrap_or_default();
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        };
        let signed = |channel: usize| {
            let shift = 32 - 8 * size as u32;
            (bits(channel) << shift) as i32 >> shift
        };
        let components = self.order_components();
        match kind {
            Channel::Signed(_) => {
                let mut texel = [0, 0, 0, 1];
                components.iter().enumerate().for_each(|(channel, &at)| texel[at] = signed(channel));
                Texel::Signed(texel)
            }
            Channel::Unsigned(_) => {
                let mut texel = [0, 0, 0, 1];
                components.iter().enumerate().for_each(|(channel, &at)| texel[at] = bits(channel));
                Texel::Unsigned(texel)
            }
            Channel::Packed(widths, _) => {
                let mut rest = widths.iter().sum::<u32>();
                let channels = widths.map(|width| {
                    rest -= width;
                    let max = (1 << width) - 1;
                    (bits(0) >> rest & max) as f32 / max as f32
                });
                Texel::Float([channels[0], channels[1], channels[2], 1.0])
            }
            _ => {
                let number = |channel: usize| match kind {
                    Channel::Snorm(size) => (signed(channel) as f32 / largest_integer(size, true)).max(-1.0),
                    Channel::Unorm(size) => bits(channel) as f32 / largest_integer(size, false),
                    Channel::Half => f16::from_bits(bits(channel) as u16).to_f32(),
                    _ => f32::from_bits(bits(channel)),
                };
                let mut texel = [0.0, 0.0, 0.0, 1.0];
                for (channel, &at) in components.iter().enumerate() {
                    let value = number(channel);
                    texel[at] = if self.is_srgb() && at < 3 { linear(value) } else { value };
                }
                match self.order {
                    INTENSITY => texel = [texel[0]; 4],
                    LUMINANCE => texel = [texel[0], texel[0], texel[0], 1.0],
                    _ => {}
                }
                Texel::Float(texel)
            }
        }
    }

    /// The integer that a component has in a channel: the nearest one that fits.
    fn saturated(self, texel: Texel, at: usize) -> u32 {
        match (self.channel_kind(), texel) {
            (Channel::Signed(size), Texel::Signed(texel)) => {
                let limit = 1i64 << (8 * u32::from(size) - 1);
                i64::from(texel[at]).clamp(-limit, limit - 1) as u32
            }
            (Channel::Unsigned(size), Texel::Unsigned(texel)) => {
                u64::from(texel[at]).min((1 << (8 * u32::from(size))) - 1) as u32
            }
            _ => 0,
        }
    }

    /// Whether all integers of a texel that the format stores fit into their channels.
    pub(crate) fn fits(self, texel: Texel) -> bool {
        let has = |at: usize| match texel {
            Texel::Signed(texel) => self.saturated(Texel::Signed(texel), at) == texel[at] as u32,
            Texel::Unsigned(texel) => self.saturated(Texel::Unsigned(texel), at) == texel[at],
            Texel::Float(_) => true,
        };
        self.order_components().iter().all(|&at| has(at))
    }

    /// Encodes a texel; the first `size` bytes are valid.
    pub fn encode(self, texel: Texel) -> [u8; 16] {
        let kind = self.channel_kind();
        let size = self.channel_size() as usize;
        let mut bytes = [0; 16];
        if let Channel::Packed(widths, size) = kind {
            let Texel::Float(color) = texel else { return bytes };
            let word = widths.iter().zip(color).fold(0u32, |word, (&width, value)| {
                word << width | normalized(value, 0.0, ((1 << width) - 1) as f32) as u32
            });
            bytes[..size.into()].copy_from_slice(&word.to_le_bytes()[..size.into()]);
            return bytes;
        }
        for (channel, &at) in self.order_components().iter().enumerate() {
            let bits = match (kind, texel) {
                (Channel::Signed(_) | Channel::Unsigned(_), _) => self.saturated(texel, at),
                (_, Texel::Float(texel)) => {
                    let value = if self.is_srgb() && at < 3 { gamma(texel[at]) } else { texel[at] };
                    match kind {
                        Channel::Snorm(size) => {
                            normalized(value, -1.0, largest_integer(size, true)) as i32 as u32
                        }
                        Channel::Unorm(size) => normalized(value, 0.0, largest_integer(size, false)) as u32,
                        Channel::Half => f16::from_f32(value).to_bits().into(),
                        _ => value.to_bits(),
                    }
                }
                _ => 0,
            };
            bytes[channel * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        bytes
    }
}

/// The integer that represents 1.0 in a normalized type of this size.
fn largest_integer(size: u8, is_signed: bool) -> f32 {
    ((1u32 << (8 * u32::from(size) - u32::from(is_signed))) - 1) as f32
}

/// OpenCL API 8.3.1: rounds to nearest even; NaN becomes 0.
fn normalized(value: f32, min: f32, max: f32) -> f32 {
    if value.is_nan() { 0.0 } else { (value.clamp(min, 1.0) * max).round_ties_even() }
}

/// OpenCL API 8.3.1.4: converts from sRGB.
fn linear(value: f32) -> f32 {
    let value = f64::from(value);
    let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
    linear as f32
}

/// OpenCL API 8.3.1.4: converts to sRGB.
fn gamma(value: f32) -> f32 {
    let value = if value.is_nan() { 0.0 } else { f64::from(value).clamp(0.0, 1.0) };
    let gamma = if value < 0.003_130_8 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
    gamma as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_orders_select_components() {
        let format = |order, channel| Format::new(order, channel).unwrap();
        assert_eq!(format(0x10B6, 0x10D2).decode(&[0, 51, 255, 102]), Texel::Float([1.0, 0.2, 0.0, 0.4]));
        assert_eq!(format(0x10B3, 0x10D8).decode(&[255, 255, 3, 0]), Texel::Signed([-1, 0, 0, 3]));
        assert_eq!(format(0x10B4, 0x10D4).decode(&[0x1f, 0xf8]), Texel::Float([1.0, 0.0, 1.0, 1.0]));
        assert_eq!(format(INTENSITY, 0x10DE).decode(&0.5f32.to_le_bytes()), Texel::Float([0.5; 4]));
        assert_eq!(Format::new(0x10B5, 0x10D4), None);
    }

    #[test]
    fn texels_round_trip() {
        for (order, channel) in [(0x10B0..0x10C4), (0x10B0..0x10C4)]
            .into_iter()
            .flatten()
            .flat_map(|order| (0x10D0..0x10DF).map(move |channel| (order, channel)))
        {
            let Some(format) = Format::new(order, channel) else { continue };
            let size = format.size() as usize;
            for bytes in [[0x11u8; 16], [0x7b; 16], [0; 16]] {
                let once = format.encode(format.decode(&bytes[..size]));
                let again = format.encode(format.decode(&once[..size]));
                assert_eq!(once[..size], again[..size], "{order:x} {channel:x}");
            }
        }
    }

    #[test]
    fn channels_are_rounded_and_clamped() {
        let format = Format::new(0x10B5, 0x10D0).unwrap();
        let bytes = format.encode(Texel::Float([2.0, -2.0, f32::NAN, 0.5]));
        assert_eq!(&bytes[..4], &[127, 129, 0, 64]);
        let format = Format::new(0x10B2, 0x10DB).unwrap();
        assert_eq!(&format.encode(Texel::Unsigned([70000, 5, 0, 0]))[..4], &[255, 255, 5, 0]);
    }
}
