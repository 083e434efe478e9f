//! Image access for Vulkan: descriptors, single texels, sizes. The kernel interface states which images are bound.

use kiln_ir::{ImageAction, Inst, Op as IrOp, Scalar, Texel, TexelKind, Type, ValueId};
use kiln_types::ty::{Access, ImageDim, ImageTy};
use rspirv::{
    dr::Operand,
    spirv::{Capability, Decoration, Dim, ImageFormat, ImageOperands, Op, StorageClass, Word},
};

use super::{Emitter, body::Body};

/// The descriptor set of constant samplers.
pub(super) const LITERAL_SAMPLERS: u32 = 1;
/// `CLK_NORMALIZED_COORDS_TRUE`
const NORMALIZED: u32 = 1;

impl Body<'_, '_> {
    /// `Image`
    pub(super) fn image_action(&mut self, inst: &Inst, action: ImageAction) {
        match action {
            ImageAction::Load(texel) => self.load_texel(inst, texel),
            ImageAction::Sample => self.device_sample(inst),
            ImageAction::Store(texel) => self.store_texel(inst, texel),
            ImageAction::Size => self.image_size(inst),
            ImageAction::Levels => self.image_levels(inst),
            ImageAction::ChannelOrder | ImageAction::ChannelType => {
                unreachable!("`bind_arguments` replaces queries of the image format")
            }
        }
    }

    fn load_texel(&mut self, inst: &Inst, texel: Texel) {
        let (image, ty) = self.image_value(inst.args[0], texel.kind);
        let mut operands = vec![Operand::IdRef(image), Operand::IdRef(self.value(inst.args[1]))];
        let mut bits = ImageOperands::NONE;
        let mut further = Vec::new();
        let op = if is_sampled(ty) {
            if ty.dim != ImageDim::Buffer {
                bits |= ImageOperands::LOD;
                let level = match inst.args.get(2) {
                    Some(&level) => self.value(level),
                    None => self.emitter.u32(0),
                };
                further.push(Operand::IdRef(level));
            }
            Op::ImageFetch
        } else {
            self.emitter.writer.require(Capability::StorageImageReadWithoutFormat);
            Op::ImageRead
        };
        bits |= shared_bit(texel);
        if !bits.is_empty() {
            operands.push(Operand::ImageOperands(bits));
            operands.extend(further);
        }
        let vector = self.emitter.texel_type(texel.kind);
        let word = self.typed(op, vector, operands);
        if texel.kind == TexelKind::Signed {
            return self.result(inst, Op::Bitcast, vec![Operand::IdRef(word)]);
        }
        self.define(inst.results[0], word);
    }

    fn device_sample(&mut self, inst: &Inst) {
        let (image, ty) = self.image_value(inst.args[0], TexelKind::Float);
        let sampler = self.sampler_value(inst.args[2]);
        let image_type = self.emitter.bound_image_type(ty, TexelKind::Float);
        let combined =
            self.emitter.writer.interned(Op::TypeSampledImage, None, vec![Operand::IdRef(image_type)]);
        let pair = self.typed(Op::SampledImage, combined, [image, sampler].map(Operand::IdRef).to_vec());
        let mut operands = vec![Operand::IdRef(pair), Operand::IdRef(self.value(inst.args[1]))];
        let (kind, detail) = match inst.args[3..] {
            [] => (ImageOperands::LOD, vec![self.emitter.splat(Type::Scalar(Scalar::F32), 0)]),
            [level] => (ImageOperands::LOD, vec![self.value(level)]),
            ref gradients => {
                (ImageOperands::GRAD, gradients.iter().map(|&gradient| self.value(gradient)).collect())
            }
        };
        operands.push(Operand::ImageOperands(kind));
        operands.extend(detail.into_iter().map(Operand::IdRef));
        self.result(inst, Op::ImageSampleExplicitLod, operands);
    }

    /// A sampler that the module defines, or one that the launch binds.
    fn sampler_value(&mut self, sampler: ValueId) -> Word {
        let variable = match (self.function.constant_bits(sampler), self.function.def(sampler)) {
            (Some(bits), _) => self.emitter.literal_sampler(bits as u32),
            (_, Some(Inst { op: IrOp::Descriptor(number), .. })) => self.emitter.bound_sampler(*number),
            _ => unreachable!("`bind_arguments` rejects other samplers"),
        };
        self.interface.insert(variable);
        let ty = self.emitter.ty(Type::Sampler);
        self.typed(Op::Load, ty, vec![Operand::IdRef(variable)])
    }

    fn store_texel(&mut self, inst: &Inst, texel: Texel) {
        self.emitter.writer.require(Capability::StorageImageWriteWithoutFormat);
        let (image, _) = self.image_value(inst.args[0], texel.kind);
        let [coordinates, mut value] = [1, 2].map(|index| self.value(inst.args[index]));
        if texel.kind == TexelKind::Signed {
            let ty = self.emitter.texel_type(texel.kind);
            value = self.typed(Op::Bitcast, ty, vec![Operand::IdRef(value)]);
        }
        let mut operands: Vec<Operand> = [image, coordinates, value].map(Operand::IdRef).to_vec();
        let bits = shared_bit(texel);
        if !bits.is_empty() {
            operands.push(Operand::ImageOperands(bits));
        }
        self.effect(Op::ImageWrite, operands);
    }

    fn image_size(&mut self, inst: &Inst) {
        self.emitter.writer.require(Capability::ImageQuery);
        let kind = self.accessed_kind(inst.args[0]);
        let (image, ty) = self.image_value(inst.args[0], kind);
        let mut operands = vec![Operand::IdRef(image)];
        if !is_sampled(ty) || ty.dim == ImageDim::Buffer {
            return self.result(inst, Op::ImageQuerySize, operands);
        }
        operands.push(Operand::IdRef(self.emitter.u32(0)));
        self.result(inst, Op::ImageQuerySizeLod, operands);
    }

    fn image_levels(&mut self, inst: &Inst) {
        self.emitter.writer.require(Capability::ImageQuery);
        let kind = self.accessed_kind(inst.args[0]);
        let (image, _) = self.image_value(inst.args[0], kind);
        self.result(inst, Op::ImageQueryLevels, vec![Operand::IdRef(image)]);
    }

    /// The texel kind of an access to the image in this function. Reusing it keeps the number of descriptors low.
    fn accessed_kind(&self, image: ValueId) -> TexelKind {
        let accesses = self.function.insts.iter().filter(|inst| inst.args.first() == Some(&image));
        let mut kinds = accesses.filter_map(|inst| match inst.op {
            IrOp::Image(ImageAction::Load(texel) | ImageAction::Store(texel)) => Some(texel.kind),
            IrOp::Image(ImageAction::Sample) => Some(TexelKind::Float),
            _ => None,
        });
        kinds.next().unwrap_or(TexelKind::Float)
    }

    fn image_value(&mut self, image: ValueId, kind: TexelKind) -> (Word, ImageTy) {
        let (Type::Image(ty), Some(IrOp::Descriptor(number))) =
            (self.type_of(image), self.function.def(image).map(|inst| &inst.op))
        else {
            unreachable!("`bind_arguments` replaces images by descriptors")
        };
        let (variable, image_type) = self.emitter.descriptor_variable(*number, ty, kind);
        self.interface.insert(variable);
        (self.typed(Op::Load, image_type, vec![Operand::IdRef(variable)]), ty)
    }
}

impl Emitter<'_> {
    /// The variable of a descriptor, and its type. A descriptor may be declared for several texel kinds.
    fn descriptor_variable(&mut self, number: u32, ty: ImageTy, kind: TexelKind) -> (Word, Word) {
        let image = self.bound_image_type(ty, kind);
        if let Some(&known) = self.globals.descriptors.get(&(number, image)) {
            return (known, image);
        }
        let class = StorageClass::UniformConstant;
        let pointer = self.pointer_type(class, image);
        let variable = self.writer.global(Op::Variable, Some(pointer), vec![Operand::StorageClass(class)]);
        for (decoration, value) in [(Decoration::DescriptorSet, 0), (Decoration::Binding, number)] {
            self.writer.decorate(variable, decoration, [Operand::LiteralBit32(value)]);
        }
        if ty.access == Access::WriteOnly {
            self.writer.decorate(variable, Decoration::NonReadable, []);
        }
        self.globals.descriptors.insert((number, image), variable);
        (variable, image)
    }

    fn bound_sampler(&mut self, number: u32) -> Word {
        if let Some(&known) = self.globals.samplers.get(&number) {
            return known;
        }
        let variable = self.sampler_variable(0, number);
        self.globals.samplers.insert(number, variable);
        variable
    }

    /// The variable of a constant sampler. The samplers of a module have a separate descriptor set, because every
    /// kernel finds them at the same bindings. They take normalized coordinates.
    fn literal_sampler(&mut self, bits: u32) -> Word {
        let bits = bits | NORMALIZED;
        if let Some((_, known)) = self.globals.literal_samplers.iter().find(|(known, _)| *known == bits) {
            return *known;
        }
        let number = self.globals.literal_samplers.len() as u32;
        let variable = self.sampler_variable(LITERAL_SAMPLERS, number);
        self.globals.literal_samplers.push((bits, variable));
        variable
    }

    fn sampler_variable(&mut self, set: u32, binding: u32) -> Word {
        let class = StorageClass::UniformConstant;
        let ty = self.ty(Type::Sampler);
        let pointer = self.pointer_type(class, ty);
        let variable = self.writer.global(Op::Variable, Some(pointer), vec![Operand::StorageClass(class)]);
        for (decoration, value) in [(Decoration::DescriptorSet, set), (Decoration::Binding, binding)] {
            self.writer.decorate(variable, decoration, [Operand::LiteralBit32(value)]);
        }
        variable
    }

    fn bound_image_type(&mut self, ty: ImageTy, kind: TexelKind) -> Word {
        let is_sampled = is_sampled(ty);
        let (dim, capability) = match (ty.dim, is_sampled) {
            (ImageDim::D1, true) => (Dim::Dim1D, Some(Capability::Sampled1D)),
            (ImageDim::D1, false) => (Dim::Dim1D, Some(Capability::Image1D)),
            (ImageDim::Buffer, true) => (Dim::DimBuffer, Some(Capability::SampledBuffer)),
            (ImageDim::Buffer, false) => (Dim::DimBuffer, Some(Capability::ImageBuffer)),
            (ImageDim::D2, _) => (Dim::Dim2D, None),
            (ImageDim::D3, _) => (Dim::Dim3D, None),
        };
        if let Some(capability) = capability {
            self.writer.require(capability);
        }
        let component = self.texel_component(kind);
        let operands = vec![
            Operand::IdRef(component),
            Operand::Dim(dim),
            Operand::LiteralBit32(0),
            Operand::LiteralBit32(ty.is_array.into()),
            Operand::LiteralBit32(0),
            Operand::LiteralBit32(if is_sampled { 1 } else { 2 }),
            Operand::ImageFormat(ImageFormat::Unknown),
        ];
        self.writer.interned(Op::TypeImage, None, operands)
    }

    /// The component type. Integers have signedness only in images.
    fn texel_component(&mut self, kind: TexelKind) -> Word {
        match kind {
            TexelKind::Float => self.scalar(Scalar::F32),
            TexelKind::Unsigned => self.scalar(Scalar::I32),
            TexelKind::Signed => {
                let operands = vec![Operand::LiteralBit32(32), Operand::LiteralBit32(1)];
                self.writer.interned(Op::TypeInt, None, operands)
            }
        }
    }

    fn texel_type(&mut self, kind: TexelKind) -> Word {
        let component = self.texel_component(kind);
        let operands = vec![Operand::IdRef(component), Operand::LiteralBit32(4)];
        self.writer.interned(Op::TypeVector, None, operands)
    }
}

/// Whether an image is bound as sampled: read-only images need not have a storable format.
pub(super) const fn is_sampled(ty: ImageTy) -> bool {
    matches!(ty.access, Access::ReadOnly)
}

fn shared_bit(texel: Texel) -> ImageOperands {
    if texel.is_shared { ImageOperands::NON_PRIVATE_TEXEL } else { ImageOperands::NONE }
}
