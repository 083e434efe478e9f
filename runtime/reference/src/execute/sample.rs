//! Computes which texels a sampler reads (OpenCL API 8.2): addressing, filters, the border.
//!
//! The formulas and their precision are those of the compiler's `library/lib/image.cl`, so that modules for Vulkan
//! and for OpenCL give the same results. Must not depend on registers.

use crate::image::{Format, Texel, Texels};

const NORMALIZED: u32 = 1;
const ADDRESSING: u32 = 0xe;
const NONE: u32 = 0;
const CLAMP: u32 = 4;
const REPEAT: u32 = 6;
const MIRRORED: u32 = 8;
const LINEAR: u32 = 0x20;
const MIP_LINEAR: u32 = 0x40;

/// Why a read of integers, or by integer coordinates, by this sampler is undefined (OpenCL C 6.15.15.1, 6.15.15.2).
pub(super) const fn misuse(sampler: u32, has_integers: bool, by_integers: bool) -> Option<&'static str> {
    let is_normalized = sampler & NORMALIZED != 0;
    let is_linear = sampler & LINEAR != 0;
    if !is_normalized && matches!(sampler & ADDRESSING, REPEAT | MIRRORED) {
        Some("reads by a sampler that repeats the image, but whose coordinates are not normalized")
    } else if has_integers && is_linear {
        Some("reads integers by a sampler with CLK_FILTER_LINEAR")
    } else if by_integers && (is_normalized || is_linear) {
        Some(
            "reads by integer coordinates and a sampler for normalized coordinates or with CLK_FILTER_LINEAR",
        )
    } else {
        None
    }
}

/// Texels along one dimension, with weights.
type Choices = Vec<(i64, f32)>;

/// The image to read.
pub(super) struct Source<'i> {
    pub(super) texels: &'i Texels,
    /// The numbers of the texels read, if they are recorded.
    pub(super) seen: &'i mut Vec<u64>,
    pub(super) notes: bool,
}

/// What selects the level (`cl_khr_mipmap_image`).
#[derive(Debug, Clone, Copy)]
pub(super) enum LevelSelector {
    First,
    Lod(f32),
    Gradients([[f32; 4]; 2]),
}

impl Source<'_> {
    /// Reads a texel by integer coordinates, which are neither normalized nor filtered. `None` if the result is
    /// undefined.
    pub(super) fn at_integers(&mut self, sampler: u32, at: [i64; 3], dims: u8, rank: u8) -> Option<Texel> {
        let mut position = at;
        for (lane, position) in position.iter_mut().enumerate() {
            let size = i64::from(self.texels.desc.size[lane]);
            let is_layer = lane >= usize::from(dims) && lane < usize::from(rank);
            if is_layer || !matches!(sampler & ADDRESSING, CLAMP | NONE) {
                *position = (*position).clamp(0, size - 1);
            }
        }
        self.texel(sampler, position)
    }

    /// Reads by floating-point coordinates from the levels that a level of detail or gradients select.
    pub(super) fn at_levels(
        &mut self,
        sampler: u32,
        at: [f32; 4],
        (dims, rank): (u8, u8),
        selector: LevelSelector,
    ) -> Option<Texel> {
        let desc = self.texels.desc;
        let lod = match selector {
            LevelSelector::First => return self.at_floats(sampler, at, dims, rank),
            LevelSelector::Lod(lod) => lod,
            LevelSelector::Gradients(both) => {
                let [x, y] = both.map(|gradient| {
                    let along = gradient.iter().zip(desc.size).take(dims.into());
                    along
                        .map(|(&part, size)| gradient_in_texels(part, size, sampler))
                        .map(|part| part * part)
                        .sum::<f32>()
                });
                0.5 * x.max(y).log2()
            }
        };
        let lod = within_limits(lod, desc.levels, sampler);
        let is_linear = sampler & MIP_LINEAR != 0 && matches!(desc.format.border(), Texel::Float(_));
        let level = if is_linear { lod.floor() } else { (lod + 0.5).ceil() - 1.0 } as i64;
        let mut read = |level: i64| {
            let texels = self.texels.level(level)?;
            Source { texels: &texels, seen: &mut *self.seen, notes: self.notes }
                .at_floats(sampler, at, dims, rank)
        };
        let first = read(level)?;
        if !is_linear {
            return Some(first);
        }
        match (first, read((level + 1).min(i64::from(desc.levels) - 1))?) {
            (Texel::Float(first), Texel::Float(second)) => {
                let weight = lod - lod.floor();
                let mean = |at: usize| (1.0 - weight) * first[at] + weight * second[at];
                Some(Texel::Float([0, 1, 2, 3].map(mean)))
            }
            (first, _) => Some(first),
        }
    }

    /// Reads a texel by floating-point coordinates, with linear filtering if enabled. Integer texels are not
    /// filtered.
    pub(super) fn at_floats(&mut self, sampler: u32, at: [f32; 4], dims: u8, rank: u8) -> Option<Texel> {
        let desc = self.texels.desc;
        let is_linear = sampler & LINEAR != 0 && matches!(desc.format.border(), Texel::Float(_));
        let mut choices: [Choices; 3] = [0, 1, 2].map(|_| vec![(0, 1.0)]);
        for lane in 0..usize::from(rank.min(3)) {
            let (coordinate, size) = (at[lane], desc.size[lane]);
            choices[lane] = if lane >= usize::from(dims) {
                // OpenCL API 8.2: selects the nearest valid layer.
                vec![(coordinate.round_ties_even().clamp(0.0, (size - 1) as f32) as i64, 1.0)]
            } else if is_linear {
                let u = in_texels(coordinate, size, sampler) - 0.5;
                let (lower, weight) = (to_integer(u.floor(), size), u - u.floor());
                vec![
                    (wrapped(lower, size, sampler), 1.0 - weight),
                    (wrapped(lower + 1, size, sampler), weight),
                ]
            } else {
                vec![(
                    wrapped(to_integer(in_texels(coordinate, size, sampler).floor(), size), size, sampler),
                    1.0,
                )]
            };
        }
        if !is_linear {
            return self.texel(sampler, [0, 1, 2].map(|lane: usize| choices[lane][0].0));
        }
        let mut sum = [0.0f32; 4];
        let mut is_first = true;
        for &(z, in_z) in &choices[2] {
            for &(y, in_y) in &choices[1] {
                for &(x, in_x) in &choices[0] {
                    let Texel::Float(texel) = self.texel(sampler, [x, y, z])? else { return None };
                    let weight = in_x * in_y * in_z;
                    for (sum, value) in sum.iter_mut().zip(texel) {
                        *sum = if is_first { weight * value } else { *sum + weight * value };
                    }
                    is_first = false;
                }
            }
        }
        Some(Texel::Float(sum))
    }

    fn texel(&mut self, sampler: u32, position: [i64; 3]) -> Option<Texel> {
        if self.notes {
            self.seen.extend(self.texels.index(position));
        }
        let border = |format: Format| (sampler & ADDRESSING != NONE).then(|| format.border());
        self.texels.load(position).or_else(|| border(self.texels.desc.format))
    }
}

/// A component of a gradient, in texels of the first level.
fn gradient_in_texels(part: f32, size: u32, sampler: u32) -> f32 {
    if sampler & NORMALIZED == 0 { part } else { part * size as f32 }
}

/// The level of detail within the limits of the sampler, which are in 256ths, and of the image.
fn within_limits(lod: f32, levels: u32, sampler: u32) -> f32 {
    let min = (sampler >> 8 & 0xfff) as f32 / 256.0;
    let max = (0xfff - (sampler >> 20)) as f32 / 256.0;
    lod.max(min).min(max).max(0.0).min((levels - 1) as f32)
}

/// Converts the coordinate to texels.
fn in_texels(s: f32, size: u32, sampler: u32) -> f32 {
    if sampler & NORMALIZED == 0 {
        return s;
    }
    let s = match sampler & ADDRESSING {
        REPEAT => s - s.floor(),
        MIRRORED => (s - 2.0 * (0.5 * s).round_ties_even()).abs(),
        _ => s,
    };
    s * size as f32
}

/// Converts a coordinate to an integer. A coordinate outside the image stays outside.
fn to_integer(u: f32, size: u32) -> i64 {
    u.max(-2.0).min(size as f32 + 1.0) as i64
}

fn wrapped(index: i64, size: u32, sampler: u32) -> i64 {
    let size = i64::from(size);
    match sampler & ADDRESSING {
        CLAMP | NONE => index,
        REPEAT if index < 0 => (index + size).clamp(0, size - 1),
        REPEAT if index >= size => (index - size).clamp(0, size - 1),
        _ => index.clamp(0, size - 1),
    }
}
