//! Lowers reads with a sampler from images with several levels (`cl_khr_mipmap_image`).
//!
//! A level of detail or two gradients select the level, or two levels between which the sampler filters. Reads of floats use a
//! sampler of the device if it can filter the texels; OpenCL does not define their precision.

use kiln_ir::{BinaryOp, Builder, Scalar, TexelKind, Type, ValueId};

use super::{LINEAR, Sampler, Target, device_sample, joined, normalized, parts};
use crate::lower_builtins::Pass;

/// A linear filter between levels. Only samplers that the host creates have it.
const MIP_LINEAR: u64 = 0x40;

/// What selects the level of a read with a sampler (`cl_khr_mipmap_image`).
#[derive(Clone, Copy)]
pub(super) enum LevelSource {
    Lod(ValueId),
    Gradients([ValueId; 2]),
}

impl Pass<'_> {
    /// Reads the levels that a level of detail or gradients select.
    pub(super) fn sample_levels(
        &mut self,
        builder: &mut Builder<'_>,
        target: &mut Target,
        sampler: ValueId,
        coordinates: ValueId,
        level: LevelSource,
    ) -> ValueId {
        let sampler = self.sampler(builder, target, sampler);
        let [along, given, layer] = self.coordinates(builder, target, coordinates);
        if self.is_filtered_by_device(target) {
            return match level {
                LevelSource::Lod(lod) => {
                    device_sample(builder, target, sampler.bits, [&along, &given], &[lod])
                }
                LevelSource::Gradients(both) => {
                    let both = both.map(|it| normalized_gradient(builder, target, sampler.bits, it));
                    device_sample(builder, target, sampler.bits, [&along, &given], &both)
                }
            };
        }
        let levels = target.levels(builder);
        let lod = match level {
            LevelSource::Lod(lod) => lod,
            LevelSource::Gradients(both) => self.lod_of(builder, target, sampler.bits, both),
        };
        let bits = sampler.bits;
        let lod = self.call_image_function(builder, "image_lod", &[lod, levels, bits]).unwrap_or(lod);
        let level = self.call_image_function(builder, "image_level", &[lod, bits]).unwrap_or(levels);
        let whole = target.sizes.clone();
        self.select_level(builder, target, &whole, level);
        let first = self.filtered(builder, target, &sampler, &along, &layer);
        if target.kind != TexelKind::Float {
            return first;
        }
        let mean = |pass: &mut Self, builder: &mut Builder<'_>| {
            let next = pass.call_image_function(builder, "image_next", &[level, levels]).unwrap_or(level);
            pass.select_level(builder, target, &whole, next);
            let second = pass.filtered(builder, target, &sampler, &along, &layer);
            let weight = pass.call_image_function(builder, "image_between", &[lod, bits]).unwrap_or(lod);
            let one = builder.bits(Type::Scalar(Scalar::F32), u64::from(1.0f32.to_bits()));
            let rest = builder.binary(BinaryOp::FSub, one, weight);
            let [first_part, second_part] = [(first, rest), (second, weight)].map(|(texel, weight)| {
                let weight = builder.splat(weight, 4);
                builder.binary(BinaryOp::FMul, weight, texel)
            });
            builder.binary(BinaryOp::FAdd, first_part, second_part)
        };
        self.texel_by_flag(builder, TexelKind::Float, (bits, MIP_LINEAR), mean, |_, _| first)
    }

    /// Makes accesses read this level of an image whose first level has this size.
    fn select_level(
        &mut self,
        builder: &mut Builder<'_>,
        target: &mut Target,
        whole: &[ValueId],
        level: ValueId,
    ) {
        target.level = Some(level);
        let dimensions = usize::from(target.ty.dimensions());
        for (size, &first) in target.sizes.iter_mut().zip(whole).take(dimensions) {
            *size = self.call_image_function(builder, "image_extent", &[first, level]).unwrap_or(first);
        }
    }

    /// Reads a level by OpenCL's formulas.
    fn filtered(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        sampler: &Sampler,
        along: &[ValueId],
        layer: &[ValueId],
    ) -> ValueId {
        if target.kind != TexelKind::Float {
            return self.nearest(builder, target, sampler, along, layer);
        }
        self.texel_by_flag(
            builder,
            target.kind,
            (sampler.bits, LINEAR),
            |pass, builder| pass.linear(builder, target, sampler, along, layer),
            |pass, builder| pass.nearest(builder, target, sampler, along, layer),
        )
    }

    /// The level of detail of two gradients: the logarithm of the longer one, in texels.
    fn lod_of(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        sampler: ValueId,
        gradients: [ValueId; 2],
    ) -> ValueId {
        let squares = gradients.map(|gradient| {
            let mut sum: Option<ValueId> = None;
            let along = parts(builder, gradient, target.ty.dimensions());
            for (part, &size) in along.into_iter().zip(&target.sizes) {
                let spread =
                    self.call_image_function(builder, "image_spread", &[part, size, sampler]).unwrap_or(part);
                let square = builder.binary(BinaryOp::FMul, spread, spread);
                sum = Some(sum.map_or(square, |sum| builder.binary(BinaryOp::FAdd, sum, square)));
            }
            sum.unwrap_or(gradient)
        });
        self.call_image_function(builder, "image_detail", &squares).unwrap_or(squares[0])
    }
}

/// A gradient for normalized coordinates.
fn normalized_gradient(
    builder: &mut Builder<'_>,
    target: &Target,
    sampler: ValueId,
    gradient: ValueId,
) -> ValueId {
    let along = parts(builder, gradient, target.ty.dimensions());
    let along = normalized(builder, target, sampler, &along);
    joined(builder, &along)
}
