//! Lowers image functions on Vulkan (OpenCL C 6.15.15).
//!
//! A sampler is an integer, the bits of OpenCL C. Reads of floats with normalized coordinates or a linear filter use a
//! sampler of the device; OpenCL does not define their precision (OpenCL API 8.2). All other reads with samplers become
//! reads of single texels, with the formulas of the OpenCL specification. So do all reads with `--exact-images`, and
//! those for devices that cannot filter every format.

mod levels;

use kiln_builtins::{self as builtins, ImageOp, ImageQuery, Lowering};
use kiln_ir::{
    BinaryOp, Builder, CompareKind, Function, ImageAction, Inst, InstId, Module, Op, Scalar, Texel,
    TexelKind, Type, UnaryOp, ValueId,
};
use kiln_session::{
    Options,
    extensions::{self, Extension},
};
use kiln_types::{
    ops::CompareOp,
    ty::{Access, ImageTy},
};
use kiln_vocabulary::sampler;

use self::levels::LevelSource;
use super::{PLAIN, Pass};

const ADDRESSING: u64 = sampler::ADDRESSING as u64;
const CLAMP: u64 = sampler::ADDRESS_CLAMP as u64;
const NORMALIZED: u64 = sampler::NORMALIZED_COORDS_TRUE as u64;
const LINEAR: u64 = sampler::FILTER_LINEAR as u64;
/// `CLK_sRGB`, the first sRGB channel order
const FIRST_SRGB: i32 = 0x10bf;
/// The number of these orders.
const SRGB_ORDERS: i32 = 4;

/// Converts samplers to integers.
pub(super) fn number_samplers(function: &mut Function) {
    for value in function.values.iter_mut().filter(|value| value.ty == Type::Sampler) {
        value.ty = Type::I32;
    }
}

/// Whether the program may write to sRGB images: it enables cl_khr_srgb_image_writes, or queries the channel order of a
/// write-only image. The runtime recognizes such programs by that query.
pub(super) fn converts_to_srgb(module: &Module, options: &Options) -> bool {
    let is_order = |function: &Function, inst: &Inst| {
        let Op::Builtin(builtin, _) = inst.op else { return false };
        let is_query =
            builtins::row(builtin).lowering == Lowering::Image(ImageOp::Query(ImageQuery::ChannelOrder));
        let image = inst.args.first().map(|image| function.values[*image].ty);
        is_query && matches!(image, Some(Type::Image(ty)) if ty.access == Access::WriteOnly)
    };
    extensions::enabled(options).has(Extension::KhrSrgbWrites)
        || module.functions.iter().any(|function| function.insts.iter().any(|inst| is_order(function, inst)))
}

/// `CL_SIGNED_INT8`
const FIRST_SIGNED: u64 = 0x10d7;
/// `CL_UNSIGNED_INT8`
const FIRST_UNSIGNED: u64 = 0x10da;

/// An accessed image and its properties.
struct Target {
    value: ValueId,
    ty: ImageTy,
    kind: TexelKind,
    /// The level that is accessed, if it is not the first.
    level: Option<ValueId>,
    /// The size of the level for each coordinate, queried on first use.
    sizes: Vec<ValueId>,
}

/// The sampler of an access.
struct Sampler {
    bits: ValueId,
    /// Whether reads outside return the border color.
    clamps: ValueId,
    /// The border's color.
    border: ValueId,
}

impl Pass<'_> {
    /// Lowers the call of an image function. Returns its result, or `None` if Vulkan has no equivalent.
    pub(super) fn image(
        &mut self,
        builder: &mut Builder<'_>,
        inst: InstId,
        name: &str,
        operation: ImageOp,
    ) -> Option<Option<ValueId>> {
        let inst = builder.function.insts[inst].clone();
        let args = &inst.args;
        let Type::Image(ty) = builder.ty(args[0]) else { return None };
        let kind = match name.rsplit_once("image") {
            Some((_, "i")) => TexelKind::Signed,
            Some((_, "ui")) => TexelKind::Unsigned,
            _ => TexelKind::Float,
        };
        let is_sampled = ty.access == Access::ReadOnly;
        let mut target = Target { value: args[0], ty, kind, level: None, sizes: Vec::new() };
        match (operation, &args[1..]) {
            _ if ty.is_msaa => None,
            (ImageOp::Read, &[coordinates]) => {
                let position = self.texel_coordinates(builder, &target, coordinates);
                let texel = target.load(builder, position);
                Some(Some(result(builder, texel, inst.results[0])))
            }
            (ImageOp::Read, &[sampler, coordinates]) => {
                target.query_sizes(builder);
                let texel = self.sample(builder, &target, sampler, coordinates);
                Some(Some(result(builder, texel, inst.results[0])))
            }
            // Only sampled images have levels on Vulkan.
            (ImageOp::Read, &[sampler, coordinates, ref detail @ ..]) if is_sampled => {
                target.query_sizes(builder);
                let detail = match *detail {
                    [lod] => LevelSource::Lod(lod),
                    [x, y] => LevelSource::Gradients([x, y].map(|it| {
                        let parts = parts(builder, it, ty.dimensions());
                        joined(builder, &parts)
                    })),
                    _ => return None,
                };
                let texel = self.sample_levels(builder, &mut target, sampler, coordinates, detail);
                Some(Some(result(builder, texel, inst.results[0])))
            }
            (ImageOp::Query(ImageQuery::MipLevels), &[]) if !is_sampled => None,
            (ImageOp::Write, &[coordinates, texel]) => {
                self.write(builder, &target, coordinates, texel, None);
                Some(None)
            }
            (ImageOp::Write, &[coordinates, level, texel])
                if self.options.target.features.image_level_writes =>
            {
                self.write(builder, &target, coordinates, texel, Some(level));
                Some(None)
            }
            (ImageOp::Query(query), &[]) => {
                let answer = target.query(builder, query)?;
                let scalar = builder.ty(inst.results[0]).scalar()?;
                Some(Some(builder.resize(answer, scalar, false)))
            }
            _ => None,
        }
    }

    fn write(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        coordinates: ValueId,
        texel: ValueId,
        level: Option<ValueId>,
    ) {
        let position = self.texel_coordinates(builder, target, coordinates);
        let mut texel = stored(builder, texel);
        let is_color = target.kind == TexelKind::Float && !target.ty.is_depth;
        if self.converts_to_srgb && is_color && target.ty.access == Access::WriteOnly {
            texel = self.as_srgb(builder, target, texel);
        }
        if target.kind != TexelKind::Float {
            texel = saturated(builder, target, texel);
        }
        let store = ImageAction::Store(Texel { kind: target.kind, is_shared: false });
        let args: Vec<ValueId> = [target.value, position, texel].into_iter().chain(level).collect();
        builder.inst(Op::Image(store), &args, &[]);
    }

    /// Converts red, green and blue to sRGB if the image's channel order is one of sRGB (OpenCL API 8.3.1.4), and rounds alpha.
    /// Vulkan writes the texels of such an image as they are.
    fn as_srgb(&mut self, builder: &mut Builder<'_>, target: &Target, texel: ValueId) -> ValueId {
        let order = builder.value(Op::Image(ImageAction::ChannelOrder), &[target.value], Type::I32);
        let first = builder.i32(FIRST_SRGB);
        let distance = builder.binary(BinaryOp::Sub, order, first);
        let count = builder.i32(SRGB_ORDERS);
        let is_srgb = builder.compare(CompareOp::Less, CompareKind::Unsigned, distance, count);
        let choice = builder.open_if(is_srgb, &[target.kind.ty()]);
        let after = builder.insertion_point();
        builder.at_end(choice.then);
        let mut converted = parts(builder, texel, 4);
        let functions = ["image_gamma", "image_gamma", "image_gamma", "image_normalized"];
        for (channel, function) in converted.iter_mut().zip(functions) {
            if let Some(it) = self.call_image_function(builder, function, &[*channel]) {
                *channel = it;
            }
        }
        let converted = builder.construct(&converted, target.kind.ty());
        builder.exit(choice.inst, &[converted]);
        builder.at_end(choice.otherwise);
        builder.exit(choice.inst, &[texel]);
        builder.at(after.0, after.1);
        builder.function.result(choice.inst)
    }

    /// Integer coordinates without unused components.
    fn texel_coordinates(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        coordinates: ValueId,
    ) -> ValueId {
        let parts = parts(builder, coordinates, target.ty.rank());
        joined(builder, &parts)
    }

    fn sampler(&mut self, builder: &mut Builder<'_>, target: &Target, sampler: ValueId) -> Sampler {
        let addressing = builder.binary_bits(BinaryOp::And, sampler, ADDRESSING);
        let clamp = builder.i32(CLAMP as i32);
        let clamps = builder.compare(CompareOp::Equal, CompareKind::Unsigned, addressing, clamp);
        let border = self.border(builder, target);
        Sampler { bits: sampler, clamps, border }
    }

    /// The coordinates along the dimensions, the layer as it is given, and the layer that is read.
    fn coordinates(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        coordinates: ValueId,
    ) -> [Vec<ValueId>; 3] {
        let count = usize::from(target.ty.dimensions());
        let mut along = parts(builder, coordinates, target.ty.rank());
        // The layer of an array is selected, never filtered.
        let given = along.split_off(count);
        let layer: Vec<ValueId> = given
            .iter()
            .filter_map(|&given| {
                self.call_image_function(builder, "image_layer", &[given, target.sizes[count]])
            })
            .collect();
        [along, given, layer]
    }

    /// Whether samplers of the device filter the texels.
    fn is_filtered_by_device(&self, target: &Target) -> bool {
        let has_samplers = self.options.target.features.device_samplers && !self.options.exact_images;
        has_samplers && !target.ty.is_depth && target.kind == TexelKind::Float
    }

    fn sample(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        sampler: ValueId,
        coordinates: ValueId,
    ) -> ValueId {
        let sampler = self.sampler(builder, target, sampler);
        let [along, given, layer] = self.coordinates(builder, target, coordinates);
        let is_float = builder.ty(coordinates).scalar() == Some(Scalar::F32);
        if !is_float || target.kind != TexelKind::Float {
            // OpenCL C 6.15.15.2: integer coordinates and integer texels are not filtered.
            return self.nearest(builder, target, &sampler, &along, &layer);
        }
        // OpenCL API 8.2: the precision of normalized coordinates and of linear filters is not defined. Only unnormalized
        // coordinates of a nearest filter are exact.
        let by_device = self.is_filtered_by_device(target);
        let special = if by_device { NORMALIZED | LINEAR } else { LINEAR };
        self.texel_by_flag(
            builder,
            target.kind,
            (sampler.bits, special),
            |pass, builder| match by_device {
                true => device_sample(builder, target, sampler.bits, [&along, &given], &[]),
                false => pass.linear(builder, target, &sampler, &along, &layer),
            },
            |pass, builder| pass.nearest(builder, target, &sampler, &along, &layer),
        )
    }

    /// A texel that depends on a sampler: one if any of the flags is set, otherwise another. Branches only if the sampler is not
    /// constant.
    fn texel_by_flag(
        &mut self,
        builder: &mut Builder<'_>,
        kind: TexelKind,
        (bits, flags): (ValueId, u64),
        set: impl FnOnce(&mut Self, &mut Builder<'_>) -> ValueId,
        clear: impl FnOnce(&mut Self, &mut Builder<'_>) -> ValueId,
    ) -> ValueId {
        if let Some(bits) = builder.function.constant_bits(bits) {
            return if bits & flags == 0 { clear(self, builder) } else { set(self, builder) };
        }
        let is_set = is_any_set(builder, bits, flags);
        let choice = builder.open_if(is_set, &[kind.ty()]);
        let after = builder.insertion_point();
        builder.at_end(choice.then);
        let texel = set(self, builder);
        builder.exit(choice.inst, &[texel]);
        builder.at_end(choice.otherwise);
        let texel = clear(self, builder);
        builder.exit(choice.inst, &[texel]);
        builder.at(after.0, after.1);
        builder.function.result(choice.inst)
    }

    /// OpenCL API 8.2, `CL_FILTER_NEAREST`
    fn nearest(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        sampler: &Sampler,
        along: &[ValueId],
        layer: &[ValueId],
    ) -> ValueId {
        let position: Vec<ValueId> = along
            .iter()
            .zip(&target.sizes)
            .filter_map(|(&coordinate, &size)| {
                self.call_image_function(builder, "image_nearest", &[coordinate, size, sampler.bits])
            })
            .collect();
        texel(builder, target, sampler, &position, layer)
    }

    /// OpenCL API 8.2, `CL_FILTER_LINEAR`: interpolates the surrounding texels in each dimension.
    fn linear(
        &mut self,
        builder: &mut Builder<'_>,
        target: &Target,
        sampler: &Sampler,
        along: &[ValueId],
        layer: &[ValueId],
    ) -> ValueId {
        let mut help = |builder: &mut Builder<'_>, name| -> Vec<ValueId> {
            along
                .iter()
                .zip(&target.sizes)
                .filter_map(|(&coordinate, &size)| {
                    self.call_image_function(builder, name, &[coordinate, size, sampler.bits])
                })
                .collect()
        };
        let ends = [help(builder, "image_lower"), help(builder, "image_upper")];
        let weights: Vec<[ValueId; 2]> = help(builder, "image_weight")
            .into_iter()
            .map(|upper| {
                let one = builder.bits(Type::Scalar(Scalar::F32), u64::from(1.0f32.to_bits()));
                [builder.binary(BinaryOp::FSub, one, upper), upper]
            })
            .collect();
        let mut sum: Option<ValueId> = None;
        for corner in 0..1usize << along.len() {
            let side = |dimension: usize| corner >> dimension & 1;
            let position: Vec<ValueId> =
                (0..along.len()).map(|dimension| ends[side(dimension)][dimension]).collect();
            let weight = (0..along.len())
                .map(|dimension| weights[dimension][side(dimension)])
                .reduce(|all, weight| builder.binary(BinaryOp::FMul, all, weight));
            let texel = texel(builder, target, sampler, &position, layer);
            let Some(weight) = weight else { continue };
            let weight = builder.splat(weight, 4);
            let part = builder.binary(BinaryOp::FMul, weight, texel);
            sum = Some(sum.map_or(part, |sum| builder.binary(BinaryOp::FAdd, sum, part)));
        }
        sum.unwrap_or_else(|| builder.undefined(target.kind.ty()))
    }

    /// The border color (OpenCL API 8.2).
    fn border(&mut self, builder: &mut Builder<'_>, target: &Target) -> ValueId {
        let order = builder.value(Op::Image(ImageAction::ChannelOrder), &[target.value], Type::I32);
        let scalar = target.kind.ty().with_count(1);
        let zero = builder.bits(scalar, 0);
        let last = self.call_image_function(builder, "image_border", &[order]).unwrap_or(zero);
        let last = match target.kind {
            TexelKind::Float => {
                let one = builder.bits(scalar, u64::from(1.0f32.to_bits()));
                let none = builder.i32(0);
                let is_opaque = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, last, none);
                builder.select(is_opaque, one, zero)
            }
            TexelKind::Signed | TexelKind::Unsigned => last,
        };
        builder.construct(&[zero, zero, zero, last], target.kind.ty())
    }

    /// Calls a function of `lib/image.cl`, selected by the type of its first argument.
    fn call_image_function(
        &mut self,
        builder: &mut Builder<'_>,
        name: &'static str,
        args: &[ValueId],
    ) -> Option<ValueId> {
        let is_float = builder.ty(args[0]).scalar() == Some(Scalar::F32);
        let function = self.callee(name, if is_float { "float" } else { "int" }, builder.span)?;
        let result = match name {
            "image_weight" | "image_lod" | "image_between" | "image_spread" | "image_detail"
            | "image_gamma" | "image_normalized" => Type::Scalar(Scalar::F32),
            _ => Type::I32,
        };
        builder.call(function, args, Some(result))
    }
}

impl Target {
    fn query_sizes(&mut self, builder: &mut Builder<'_>) {
        let rank = self.ty.rank();
        let size =
            builder.value(Op::Image(ImageAction::Size), &[self.value], Type::vector(Scalar::I32, rank));
        self.sizes = parts(builder, size, rank);
    }

    fn load(&self, builder: &mut Builder<'_>, position: ValueId) -> ValueId {
        let load = ImageAction::Load(Texel { kind: self.kind, is_shared: false });
        let args: Vec<ValueId> = [self.value, position].into_iter().chain(self.level).collect();
        builder.value(Op::Image(load), &args, self.kind.ty())
    }

    fn levels(&self, builder: &mut Builder<'_>) -> ValueId {
        builder.value(Op::Image(ImageAction::Levels), &[self.value], Type::I32)
    }

    /// The result of `get_image_*`, as an I32 or a vector of I32.
    fn query(&mut self, builder: &mut Builder<'_>, query: ImageQuery) -> Option<ValueId> {
        let fact =
            |builder: &mut Builder<'_>, action, ty| builder.value(Op::Image(action), &[self.value], ty);
        match query {
            ImageQuery::ChannelDataType => return Some(fact(builder, ImageAction::ChannelType, Type::I32)),
            ImageQuery::ChannelOrder => return Some(fact(builder, ImageAction::ChannelOrder, Type::I32)),
            ImageQuery::MipLevels => return Some(self.levels(builder)),
            ImageQuery::Samples => return None,
            _ => self.query_sizes(builder),
        }
        let sizes = &self.sizes;
        Some(match query {
            ImageQuery::Height => sizes[1],
            ImageQuery::Depth => sizes[2],
            ImageQuery::ArraySize => sizes[usize::from(self.ty.dimensions())],
            ImageQuery::Dim if self.ty.dimensions() == 3 => {
                let zero = builder.i32(0);
                builder.construct(&[sizes[0], sizes[1], sizes[2], zero], Type::Vector(Scalar::I32, 4))
            }
            ImageQuery::Dim => joined(builder, &sizes[..2]),
            _ => sizes[0],
        })
    }
}

/// Samples with a sampler of the device. It takes normalized coordinates: Vulkan does not allow unnormalized ones for
/// arrays and three-dimensional images.
fn device_sample(
    builder: &mut Builder<'_>,
    target: &Target,
    sampler: ValueId,
    [along, layer]: [&[ValueId]; 2],
    detail: &[ValueId],
) -> ValueId {
    let mut position = normalized(builder, target, sampler, along);
    position.extend(layer);
    let position = joined(builder, &position);
    let args = [&[target.value, position, sampler], detail].concat();
    builder.value(Op::Image(ImageAction::Sample), &args, target.kind.ty())
}

/// Distances along the dimensions of the image, in its first level's size.
fn normalized(
    builder: &mut Builder<'_>,
    target: &Target,
    sampler: ValueId,
    along: &[ValueId],
) -> Vec<ValueId> {
    let float = Type::Scalar(Scalar::F32);
    let known = builder.function.constant_bits(sampler);
    if known.is_some_and(|bits| bits & NORMALIZED != 0) {
        return along.to_vec();
    }
    let is_normalized = is_any_set(builder, sampler, NORMALIZED);
    let scaled = along.iter().zip(&target.sizes).map(|(&coordinate, &size)| {
        let one = builder.bits(float, u64::from(1.0f32.to_bits()));
        let size = builder.convert(PLAIN, size, float);
        let inverse = builder.binary(BinaryOp::FDiv, one, size);
        let factor = if known.is_some() { inverse } else { builder.select(is_normalized, one, inverse) };
        builder.binary(BinaryOp::FMul, coordinate, factor)
    });
    scaled.collect()
}

/// Whether the sampler has any of these bits.
fn is_any_set(builder: &mut Builder<'_>, sampler: ValueId, bits: u64) -> ValueId {
    let set = builder.binary_bits(BinaryOp::And, sampler, bits);
    let zero = builder.i32(0);
    builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, set, zero)
}

/// The texel at these coordinates, or the border color.
fn texel(
    builder: &mut Builder<'_>,
    target: &Target,
    sampler: &Sampler,
    position: &[ValueId],
    layer: &[ValueId],
) -> ValueId {
    let mut is_outside = builder.bool(false);
    let mut inside = Vec::new();
    for (&index, &size) in position.iter().zip(&target.sizes) {
        let beyond = builder.compare(CompareOp::GreaterEqual, CompareKind::Unsigned, index, size);
        let beyond = builder.binary(BinaryOp::And, beyond, sampler.clamps);
        let zero = builder.i32(0);
        inside.push(builder.select(beyond, zero, index));
        is_outside = builder.binary(BinaryOp::Or, is_outside, beyond);
    }
    inside.extend_from_slice(layer);
    let position = joined(builder, &inside);
    let texel = target.load(builder, position);
    builder.select(is_outside, sampler.border, texel)
}

/// Converts a texel to the result type of a function: one component for depth images, halves.
fn result(builder: &mut Builder<'_>, texel: ValueId, wanted: ValueId) -> ValueId {
    let ty = builder.ty(wanted);
    let texel = if ty.is_vector() { texel } else { builder.extract(texel, 0) };
    if ty == builder.ty(texel) { texel } else { builder.convert(PLAIN, texel, ty) }
}

/// Converts a texel to the written form: four components, no halves.
fn stored(builder: &mut Builder<'_>, texel: ValueId) -> ValueId {
    let ty = builder.ty(texel);
    let texel = match ty.scalar() {
        Some(Scalar::F16) => builder.convert(PLAIN, texel, ty.with_scalar(Scalar::F32)),
        _ => texel,
    };
    if ty.is_vector() { texel } else { builder.splat(texel, 4) }
}

/// Clamps integers to the range of the image's channels (OpenCL API 8.3.4). Vulkan does not say what happens to other integers:
/// SwiftShader stores their lower bits.
fn saturated(builder: &mut Builder<'_>, target: &Target, texel: ValueId) -> ValueId {
    let is_signed = target.kind == TexelKind::Signed;
    let (first, compare, all) = match is_signed {
        true => (FIRST_SIGNED, CompareKind::Signed, i32::MAX),
        false => (FIRST_UNSIGNED, CompareKind::Unsigned, -1),
    };
    // The channel types of 8, 16 and 32 bits have successive numbers.
    let channel = builder.value(Op::Image(ImageAction::ChannelType), &[target.value], Type::I32);
    let number = builder.binary_bits(BinaryOp::Sub, channel, first);
    let number = builder.binary_bits(BinaryOp::And, number, 3);
    let byte = builder.i32(8);
    let width = builder.binary(BinaryOp::Shl, byte, number);
    let word = builder.i32(32);
    let missing = builder.binary(BinaryOp::Sub, word, width);
    let missing = builder.binary_bits(BinaryOp::And, missing, 31);
    let all = builder.i32(all);
    let highest = builder.binary(BinaryOp::LShr, all, missing);
    let highest = builder.splat(highest, 4);
    let is_above = builder.compare(CompareOp::Greater, compare, texel, highest);
    let texel = builder.select(is_above, highest, texel);
    if !is_signed {
        return texel;
    }
    let lowest = builder.unary(UnaryOp::Not, highest);
    let is_below = builder.compare(CompareOp::Less, compare, texel, lowest);
    builder.select(is_below, lowest, texel)
}

fn parts(builder: &mut Builder<'_>, value: ValueId, count: u8) -> Vec<ValueId> {
    if !builder.ty(value).is_vector() {
        return vec![value];
    }
    (0..count).map(|part| builder.extract(value, part)).collect()
}

fn joined(builder: &mut Builder<'_>, parts: &[ValueId]) -> ValueId {
    match parts {
        [one] => *one,
        _ => {
            let scalar = builder.ty(parts[0]).scalar().unwrap_or(Scalar::I32);
            builder.construct(parts, Type::vector(scalar, parts.len() as u8))
        }
    }
}
