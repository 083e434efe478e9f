//! Images of the OpenCL environment (OpenCL C 6.15.15).

use kiln_builtins::{ImageOp, ImageQuery};
use kiln_ir::{Inst, Scalar, Type, ValueId};
use kiln_types::ty::{ImageDim, ImageTy};
use rspirv::{
    dr::Operand,
    spirv::{Capability, ImageOperands, Op, Word},
};

use super::body::Body;

/// `CLK_SNORM_INT8` and `CLK_R`, which SPIR-V numbers from zero.
const FIRST_CHANNEL_TYPE: u64 = 0x10d0;
const FIRST_CHANNEL_ORDER: u64 = 0x10b0;

impl Body<'_, '_> {
    /// Emits an image function.
    pub(super) fn image(&mut self, inst: &Inst, operation: ImageOp) {
        let Type::Image(image) = self.type_of(inst.args[0]) else {
            unreachable!("the first operand of an image function is an image")
        };
        match operation {
            ImageOp::Read if self.type_of(inst.args[1]) == Type::Sampler => self.emit_sample(inst),
            ImageOp::Read => {
                let mut operands = self.value_operands(&inst.args[..2]);
                if let Some(&sample) = inst.args.get(2) {
                    operands.push(Operand::ImageOperands(ImageOperands::SAMPLE));
                    operands.push(Operand::IdRef(self.value(sample)));
                }
                self.result(inst, Op::ImageRead, operands);
            }
            ImageOp::Write => {
                let (texel, level) = match inst.args[..] {
                    [_, _, level, texel] => (texel, Some(level)),
                    _ => (inst.args[2], None),
                };
                let mut operands = self.value_operands(&[inst.args[0], inst.args[1], texel]);
                if let Some(level) = level {
                    self.emitter.writer.require(Capability::ImageMipmap);
                    operands.push(Operand::ImageOperands(ImageOperands::LOD));
                    operands.push(Operand::IdRef(self.value(level)));
                }
                self.effect(Op::ImageWrite, operands);
            }
            ImageOp::Query(query) => self.emit_query(inst, image, query),
        }
    }

    fn value_operands(&mut self, args: &[ValueId]) -> Vec<Operand> {
        args.iter().map(|&arg| Operand::IdRef(self.value(arg))).collect()
    }

    /// A gradient with the dimensions of the image. In three dimensions, OpenCL C passes four components.
    fn gradient_components(&mut self, gradient: ValueId) -> Word {
        let (word, ty) = (self.value(gradient), self.type_of(gradient));
        if ty.count() < 4 {
            return word;
        }
        let mut operands = vec![Operand::IdRef(word); 2];
        operands.extend([0, 1, 2].map(Operand::LiteralBit32));
        self.op(Op::VectorShuffle, ty.with_count(3), operands)
    }

    /// Reads with a sampler, at a level of detail or with gradients; by default at level 0. Depth has one component.
    fn emit_sample(&mut self, inst: &Inst) {
        let ty = self.type_of(inst.args[0]);
        let image_type = self.emitter.ty(ty);
        let combined =
            self.emitter.writer.interned(Op::TypeSampledImage, None, vec![Operand::IdRef(image_type)]);
        let pair = self.value_operands(&inst.args[..2]);
        let sampled = self.typed(Op::SampledImage, combined, pair);
        let coordinate = Operand::IdRef(self.value(inst.args[2]));
        let mut operands = vec![Operand::IdRef(sampled), coordinate];
        match inst.args[3..] {
            [level] => {
                operands.push(Operand::ImageOperands(ImageOperands::LOD));
                operands.push(Operand::IdRef(self.value(level)));
            }
            [dx, dy] => {
                operands.push(Operand::ImageOperands(ImageOperands::GRAD));
                operands.extend([dx, dy].map(|gradient| Operand::IdRef(self.gradient_components(gradient))));
            }
            _ => {
                let zero = self.emitter.splat(Type::Scalar(Scalar::F32), 0);
                operands.extend([Operand::ImageOperands(ImageOperands::LOD), Operand::IdRef(zero)]);
            }
        }
        let result = self.type_of(inst.results[0]);
        if result.is_vector() {
            return self.result(inst, Op::ImageSampleExplicitLod, operands);
        }
        let four = self.op(Op::ImageSampleExplicitLod, result.with_count(4), operands);
        self.result(inst, Op::CompositeExtract, vec![Operand::IdRef(four), Operand::LiteralBit32(0)]);
    }

    fn emit_query(&mut self, inst: &Inst, image: ImageTy, query: ImageQuery) {
        let word = Operand::IdRef(self.value(inst.args[0]));
        let numbered = |body: &mut Self, op: Op, first: u64| {
            let number = body.op(op, Type::I32, vec![word.clone()]);
            let first = body.emitter.splat(Type::I32, first);
            body.result(inst, Op::IAdd, vec![Operand::IdRef(number), Operand::IdRef(first)]);
        };
        match query {
            ImageQuery::ChannelDataType => numbered(self, Op::ImageQueryFormat, FIRST_CHANNEL_TYPE),
            ImageQuery::ChannelOrder => numbered(self, Op::ImageQueryOrder, FIRST_CHANNEL_ORDER),
            ImageQuery::MipLevels => self.result(inst, Op::ImageQueryLevels, vec![word]),
            ImageQuery::Samples => self.result(inst, Op::ImageQuerySamples, vec![word]),
            ImageQuery::Width => self.emit_size_query(inst, image, &[0]),
            ImageQuery::Height => self.emit_size_query(inst, image, &[1]),
            ImageQuery::Depth => self.emit_size_query(inst, image, &[2]),
            ImageQuery::ArraySize => self.emit_size_query(inst, image, &[dimension_count(image)]),
            ImageQuery::Dim if image.dim == ImageDim::D3 => self.emit_size_query(inst, image, &[0, 1, 2]),
            ImageQuery::Dim => self.emit_size_query(inst, image, &[0, 1]),
        }
    }

    /// Components of the image size. A fourth component is zero.
    fn emit_size_query(&mut self, inst: &Inst, image: ImageTy, wanted: &[u8]) {
        let count = dimension_count(image) + u8::from(image.is_array);
        let size = Type::vector(Scalar::I32, count);
        let word = Operand::IdRef(self.value(inst.args[0]));
        let whole = if image.dim == ImageDim::Buffer || image.is_msaa {
            self.op(Op::ImageQuerySize, size, vec![word])
        } else {
            let level = self.emitter.splat(Type::I32, 0);
            self.op(Op::ImageQuerySizeLod, size, vec![word, Operand::IdRef(level)])
        };
        let parts: Vec<Word> = wanted.iter().map(|&part| self.vector_part(whole, part, count)).collect();
        let result = self.type_of(inst.results[0]);
        match parts[..] {
            [part] if result == Type::I32 => self.define(inst.results[0], part),
            [part] => self.result(inst, Op::UConvert, vec![Operand::IdRef(part)]),
            _ => {
                let zero = self.emitter.splat(Type::I32, 0);
                let mut operands: Vec<Operand> = parts.into_iter().map(Operand::IdRef).collect();
                operands.resize(result.count().into(), Operand::IdRef(zero));
                self.result(inst, Op::CompositeConstruct, operands);
            }
        }
    }

    fn vector_part(&mut self, vector: Word, part: u8, count: u8) -> Word {
        if count == 1 {
            return vector;
        }
        let operands = vec![Operand::IdRef(vector), Operand::LiteralBit32(part.into())];
        self.op(Op::CompositeExtract, Type::I32, operands)
    }
}

const fn dimension_count(image: ImageTy) -> u8 {
    match image.dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D2 => 2,
        ImageDim::D3 => 3,
    }
}
