//! Images and samplers (SPIR-V 3.49.10): the built-in functions of OpenCL C 6.15.15.

use kiln_ir::{BinaryOp, Builder, Op as IrOp, Scalar, Type, ValueId};
use kiln_types::ty::{ImageDim, ImageTy};
use rspirv::spirv::{ImageOperands, Op};

use super::{Lowered, Operation, call, none, one};

/// `CLK_SNORM_INT8` and `CLK_R`, which SPIR-V numbers from zero.
const FIRST_CHANNEL_TYPE: u64 = 0x10d0;
const FIRST_CHANNEL_ORDER: u64 = 0x10b0;

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::ImageSampleExplicitLod => sample(builder, operation),
        Op::ImageRead | Op::ImageFetch => read(builder, operation),
        Op::ImageWrite => write(builder, operation),
        Op::ImageQuerySizeLod | Op::ImageQuerySize => size(builder, operation),
        Op::ImageQueryFormat => {
            numbered(builder, operation, "get_image_channel_data_type", FIRST_CHANNEL_TYPE)
        }
        Op::ImageQueryOrder => numbered(builder, operation, "get_image_channel_order", FIRST_CHANNEL_ORDER),
        Op::ImageQueryLevels => query(builder, operation, "get_image_num_mip_levels"),
        Op::ImageQuerySamples => query(builder, operation, "get_image_num_samples"),
        _ => return None,
    })
}

/// The image operands: their mask, and the values that follow it.
struct ImageOperandValues<'o> {
    mask: ImageOperands,
    values: &'o [ValueId],
}

impl<'o> ImageOperandValues<'o> {
    /// The image operands, after this number of other operands.
    fn parse(operation: &'o Operation, skipped: usize) -> Result<Self, String> {
        let bits = operation.literals.first().copied().unwrap_or(0);
        let mask = ImageOperands::from_bits(bits).ok_or("its image operands are not known")?;
        let known = ImageOperands::LOD
            | ImageOperands::GRAD
            | ImageOperands::SAMPLE
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND
            | ImageOperands::NONTEMPORAL;
        if !(mask - known).is_empty() {
            return Err(format!("the image operands {:?} are not supported", mask - known));
        }
        Ok(Self { mask, values: operation.args.get(skipped..).unwrap_or_default() })
    }

    /// The suffix of `read_image` or `write_image` for texels of this type. Integer texels are unsigned without
    /// SignExtend, which SPIR-V has since 1.4; the bits are the same.
    fn suffix(&self, texel: Type) -> Result<&'static str, String> {
        Ok(match texel.scalar() {
            Some(Scalar::F32) => "f",
            Some(Scalar::F16) => "h",
            Some(Scalar::I32) if self.mask.contains(ImageOperands::SIGN_EXTEND) => "i",
            Some(Scalar::I32) => "ui",
            _ => return Err("texels must be 32-bit integers, float or half".to_owned()),
        })
    }
}

fn image(builder: &Builder<'_>, value: ValueId) -> Result<ImageTy, String> {
    match builder.ty(value) {
        Type::Image(image) => Ok(image),
        _ => Err("its first operand is not an image".to_owned()),
    }
}

/// Coordinates with as many components as in OpenCL C: 3D images and 2D arrays take four.
fn coordinates(builder: &mut Builder<'_>, value: ValueId, image: ImageTy) -> Result<ValueId, String> {
    let wanted = image.rank().next_power_of_two();
    let count = builder.ty(value).count();
    if count == wanted {
        return Ok(value);
    }
    if count < image.rank() {
        return Err(format!("the image has {} coordinates, and {count} are given", image.rank()));
    }
    if wanted == 1 {
        return Ok(builder.extract(value, 0));
    }
    let zero = builder.bits(builder.ty(value), 0);
    let components: Vec<u8> =
        (0..wanted).map(|index| if index < image.rank() { index } else { count }).collect();
    Ok(builder.shuffle(value, zero, &components))
}

fn pad_gradient(builder: &mut Builder<'_>, value: ValueId, image: ImageTy) -> ValueId {
    if image.dim != ImageDim::D3 || builder.ty(value).count() == 4 {
        return value;
    }
    let zero = builder.bits(builder.ty(value), 0);
    builder.shuffle(value, zero, &[0, 1, 2, 3])
}

/// A read with a sampler. A level of detail of zero becomes the overload without one.
fn sample(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [picture, sampler, texel_at] = operation.args()?;
    let image = image(builder, picture)?;
    let extra = ImageOperandValues::parse(operation, 3)?;
    let result = operation.result()?;
    let name = format!("read_image{}", extra.suffix(result)?);
    let texel_at = coordinates(builder, texel_at, image)?;
    let mut args = vec![picture, sampler, texel_at];
    if extra.mask.contains(ImageOperands::GRAD) {
        let gradients =
            extra.values.iter().copied().skip(usize::from(extra.mask.contains(ImageOperands::LOD)));
        for gradient in gradients.take(2).collect::<Vec<_>>() {
            args.push(pad_gradient(builder, gradient, image));
        }
    } else if let Some(&level) = extra.values.first()
        && extra.mask.contains(ImageOperands::LOD)
        && builder.function.constant_bits(level) != Some(0)
    {
        args.push(level);
    }
    texel(builder, &name, &args, image, result)
}

fn read(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [picture, texel_at] = operation.args()?;
    let image = image(builder, picture)?;
    let extra = ImageOperandValues::parse(operation, 2)?;
    let result = operation.result()?;
    let name = format!("read_image{}", extra.suffix(result)?);
    let texel_at = coordinates(builder, texel_at, image)?;
    let mut args = vec![picture, texel_at];
    if extra.mask.contains(ImageOperands::SAMPLE) {
        args.extend(extra.values.last());
    }
    texel(builder, &name, &args, image, result)
}

/// Calls a function that reads. A depth image returns one component, where SPIR-V returns a vector.
fn texel(builder: &mut Builder<'_>, name: &str, args: &[ValueId], image: ImageTy, result: Type) -> Lowered {
    if result.count() != 4 && !(image.is_depth && result.count() == 1) {
        return Err("its result and a texel have different numbers of components".to_owned());
    }
    if !image.is_depth || !result.is_vector() {
        return one(call::value(builder, name, args, None, result)?);
    }
    let depth = call::value(builder, name, args, None, result.with_count(1))?;
    let zero = builder.bits(result, 0);
    one(builder.insert_component(zero, depth, 0))
}

fn write(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [picture, texel_at, texel] = operation.args()?;
    let image = image(builder, picture)?;
    let extra = ImageOperandValues::parse(operation, 3)?;
    let name = format!("write_image{}", extra.suffix(builder.ty(texel))?);
    let texel_at = coordinates(builder, texel_at, image)?;
    let is_in_vector = image.is_depth && builder.ty(texel).is_vector();
    let texel = if is_in_vector { builder.extract(texel, 0) } else { texel };
    let mut args = vec![picture, texel_at];
    if extra.mask.contains(ImageOperands::LOD) {
        args.extend(extra.values.first().filter(|&&level| builder.function.constant_bits(level) != Some(0)));
    }
    args.push(texel);
    call::call(builder, &name, &args, &[], None, None)?;
    none()
}

/// The size: of each dimension, then the number of layers.
fn size(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [picture] = operation.args()?;
    let image = image(builder, picture)?;
    if operation.args.get(1).is_some_and(|&level| builder.function.constant_bits(level) != Some(0)) {
        return Err("only the size of the first level is supported".to_owned());
    }
    let result = operation.result()?;
    let scalar = result.scalar().ok_or("its result is not an integer")?;
    let mut parts = Vec::new();
    let names = ["get_image_width", "get_image_height", "get_image_depth"];
    for name in &names[..usize::from(image.dimensions())] {
        let part = call::value(builder, name, &[picture], None, Type::I32)?;
        parts.push(builder.resize(part, scalar, false));
    }
    if image.is_array {
        let layers = call::value(builder, "get_image_array_size", &[picture], None, Type::I64)?;
        parts.push(builder.resize(layers, scalar, false));
    }
    let count = usize::from(result.count());
    if parts.len() > count {
        return Err(format!("the size has {} components, and its type {count}", parts.len()));
    }
    let zero = builder.bits(Type::Scalar(scalar), 0);
    parts.resize(count, zero);
    one(match parts[..] {
        [part] => part,
        _ => builder.value(IrOp::Construct, &parts, result),
    })
}

fn query(builder: &mut Builder<'_>, operation: &Operation, name: &str) -> Lowered {
    let [picture] = operation.args()?;
    let value = call::value(builder, name, &[picture], None, Type::I32)?;
    let scalar = operation.result()?.scalar().unwrap_or(Scalar::I32);
    one(builder.resize(value, scalar, false))
}

fn numbered(builder: &mut Builder<'_>, operation: &Operation, name: &str, first: u64) -> Lowered {
    let mut values = query(builder, operation, name)?;
    for value in &mut values {
        *value = builder.binary_bits(BinaryOp::Sub, *value, first);
    }
    Ok(values)
}
