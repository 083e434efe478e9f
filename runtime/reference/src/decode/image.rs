//! Images and samplers.

use spirv::Op as Inst_;

use super::body::Body;
use crate::{
    Environment, Invalid,
    code::{FormatNumber, Image, ImageAction, Lanes, LevelSelector, Op, Slot},
    types::{self, Scalar, Ty, TypeId},
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn image(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        match inst.op {
            Inst_::SampledImage => {
                let (image, _) = self.value(inst.word(2)?)?;
                let (sampler, _) = self.value(inst.word(3)?)?;
                let to = self.define(inst)?;
                self.copy(to, image, 1);
                self.copy(to + 1, sampler, 1);
            }
            Inst_::Image => {
                let (pair, _) = self.value(inst.word(2)?)?;
                let to = self.define(inst)?;
                self.copy(to, pair, 1);
            }
            Inst_::ImageSampleExplicitLod => {
                let (pair, ty) = self.value(inst.word(2)?)?;
                let Ty::SampledImage(image) = self.decoder.types.get(ty)?.ty else {
                    return Err(Invalid::new("the sampled object is not an image with a sampler"));
                };
                let coordinates = self.operand(inst.word(3)?)?;
                self.on_image(inst, ImageAction::Sample, image, pair, coordinates)?;
            }
            Inst_::ImageRead | Inst_::ImageFetch => {
                let (slot, ty) = self.value(inst.word(2)?)?;
                let coordinates = self.operand(inst.word(3)?)?;
                self.on_image(inst, ImageAction::Read, ty, slot, coordinates)?;
            }
            Inst_::ImageWrite => {
                let (slot, ty) = self.value(inst.word(0)?)?;
                let coordinates = self.operand(inst.word(1)?)?;
                let texel = self.operand(inst.word(2)?)?;
                let image = self.image_type(ty)?;
                let is_shared = self.is_shared_texel(inst, 3);
                let level = self.level(inst, 3)?;
                let op = Image {
                    coordinates,
                    texel,
                    is_shared,
                    level,
                    must_fit: self.decoder.is_strict_vulkan(),
                    ..without_operands(ImageAction::Write, image, slot)
                };
                self.image_op(op);
            }
            Inst_::ImageQuerySizeLod => {
                let (slot, lanes) = self.operand(inst.word(3)?)?;
                self.query(inst, ImageAction::Size, LevelSelector::Level(slot, lanes))?;
            }
            Inst_::ImageQuerySize => self.query(inst, ImageAction::Size, LevelSelector::First)?,
            Inst_::ImageQueryFormat => self.query_number(inst, FormatNumber::Channel)?,
            Inst_::ImageQueryOrder => self.query_number(inst, FormatNumber::Order)?,
            Inst_::ImageQueryLevels => self.query_number(inst, FormatNumber::Levels)?,
            Inst_::ImageQuerySamples => self.query_number(inst, FormatNumber::One)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The registers of a scalar or a vector.
    fn operand(&mut self, id: u32) -> Result<(Slot, Lanes), Invalid> {
        let (slot, scalar, count) = self.lanes(id)?;
        Ok((slot, Lanes { scalar, count }))
    }

    /// Whether the image operands at this index contain `NonPrivateTexel`. In the OpenCL environment all accesses are
    /// non-private.
    fn is_shared_texel(&self, inst: &Inst<'_>, at: usize) -> bool {
        const NON_PRIVATE_TEXEL: u32 = 0x400;
        let is_opencl = self.decoder.types.environment == Environment::OpenCl;
        is_opencl || inst.words.get(at).is_some_and(|mask| mask & NON_PRIVATE_TEXEL != 0)
    }

    /// What selects the level, from the image operands at this index.
    fn level(&mut self, inst: &Inst<'_>, at: usize) -> Result<LevelSelector, Invalid> {
        const LOD: u32 = 2;
        const GRAD: u32 = 4;
        let mask = inst.words.get(at).copied().unwrap_or(0);
        if mask & 1 != 0 {
            return Err(Invalid::new("a bias of the level of detail is for fragment shaders"));
        }
        if mask & GRAD != 0 {
            return Ok(LevelSelector::Gradients([
                self.operand(inst.word(at + 1)?)?,
                self.operand(inst.word(at + 2)?)?,
            ]));
        }
        if mask & LOD == 0 {
            return Ok(LevelSelector::First);
        }
        let (slot, lanes) = self.operand(inst.word(at + 1)?)?;
        Ok(LevelSelector::Level(slot, lanes))
    }

    fn image_type(&self, ty: TypeId) -> Result<types::Image, Invalid> {
        match self.decoder.types.get(ty)?.ty {
            Ty::Image(image) => Ok(image),
            _ => Err(Invalid::new("an operation on an image has no image")),
        }
    }

    fn result_lanes(&self, inst: &Inst<'_>) -> Result<Lanes, Invalid> {
        let (scalar, count) = self.decoder.types.lanes(inst.word(0)?)?;
        Ok(Lanes { scalar, count: count as u16 })
    }

    /// An operation that reads a texel.
    fn on_image(
        &mut self,
        inst: &Inst<'_>,
        action: ImageAction,
        ty: TypeId,
        slot: Slot,
        coordinates: (Slot, Lanes),
    ) -> Result<(), Invalid> {
        let image = self.image_type(ty)?;
        if coordinates.1.count < u16::from(image.rank()) {
            return Err(Invalid::new("an image has more coordinates"));
        }
        let result = self.result_lanes(inst)?;
        if result.count > 4 {
            return Err(Invalid::new("a texel has four components"));
        }
        let to = self.define(inst)?;
        let is_shared = self.is_shared_texel(inst, 4);
        let level = self.level(inst, 4)?;
        self.image_op(Image {
            to,
            result,
            sampler: slot + 1,
            coordinates,
            is_shared,
            level,
            checks_sampler: self.decoder.types.environment == Environment::OpenCl,
            ..without_operands(action, image, slot)
        });
        Ok(())
    }

    fn query_number(&mut self, inst: &Inst<'_>, number: FormatNumber) -> Result<(), Invalid> {
        self.query(inst, ImageAction::Number(number), LevelSelector::First)
    }

    fn query(&mut self, inst: &Inst<'_>, action: ImageAction, level: LevelSelector) -> Result<(), Invalid> {
        let (slot, ty) = self.value(inst.word(2)?)?;
        let image = self.image_type(ty)?;
        let result = self.result_lanes(inst)?;
        let to = self.define(inst)?;
        self.image_op(Image { to, result, level, ..without_operands(action, image, slot) });
        Ok(())
    }

    fn image_op(&mut self, op: Image) {
        self.decoder.tables.images.push(op);
        self.emit(Op::Image(self.decoder.tables.images.len() as u32 - 1));
    }
}

/// An operation without result, coordinates or texel.
fn without_operands(action: ImageAction, image: types::Image, slot: Slot) -> Image {
    let none = Lanes { scalar: Scalar::I32, count: 0 };
    Image {
        action,
        to: 0,
        result: none,
        image: slot,
        sampler: 0,
        coordinates: (0, none),
        texel: (0, none),
        level: LevelSelector::First,
        dims: image.dims,
        rank: image.rank(),
        is_shared: true,
        must_fit: false,
        checks_sampler: false,
    }
}
