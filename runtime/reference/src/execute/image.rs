//! Image operations (OpenCL C 6.15.15).
//!
//! Owns the operations; `sample` computes which texels a sampler reads.

use super::{
    sample,
    view::{RaceCheck, View},
};
use crate::{
    alu,
    code::{FormatNumber, Image, ImageAction, Lanes, LevelSelector, NoResult, Slot},
    image::{FIRST_CHANNEL, FIRST_ORDER, Format, ImageDesc, Texel, Texels},
    poison::{Poison, union},
    report::{Problem, Use},
    types::Scalar,
};

/// Executes the operation.
pub(crate) fn perform<const CHECKS: bool>(
    view: &mut View<'_>,
    op: &Image,
    regs: &mut [u64],
    poison: &mut [Poison],
) -> Result<(), Problem> {
    let (global, handle) = (view.global, regs[op.image as usize]);
    let Some(image) = global.image(handle) else {
        return Err(misuse("uses a nonexistent image"));
    };
    let level = selected_level::<CHECKS>(image, op, regs, poison)?;
    let texels = level.as_ref().unwrap_or(image);
    check_defined::<CHECKS>(poison, op.coordinates, Use::Address)?;
    let mut access = Access { op, regs: &*regs, image, texels, handle, race_check: view.race_check.as_mut() };
    let texel = match op.action {
        ImageAction::Write => {
            check_defined::<CHECKS>(poison, op.texel, Use::Stored)?;
            return access.write::<CHECKS>();
        }
        ImageAction::Read => access.read::<CHECKS>()?,
        ImageAction::Sample => access.sample::<CHECKS>()?,
        ImageAction::Size => {
            for lane in 0..usize::from(op.result.count) {
                let size = texels.desc.size.get(lane).copied().unwrap_or(0);
                set(regs, poison, op.to, lane, size.into());
            }
            return Ok(());
        }
        ImageAction::Number(what) => {
            set(regs, poison, op.to, 0, format_code(what, texels.desc).into());
            return Ok(());
        }
    };
    let bits = result_bits(texel, op.result.scalar)?;
    for (lane, bits) in bits.into_iter().take(op.result.count.into()).enumerate() {
        set(regs, poison, op.to, lane, bits);
    }
    Ok(())
}

/// Strict: reports poisoned operands.
fn check_defined<const CHECKS: bool>(
    poison: &[Poison],
    (slot, lanes): (Slot, Lanes),
    used_as: Use,
) -> Result<(), Problem> {
    if !CHECKS {
        return Ok(());
    }
    match union(&poison[slot as usize..][..usize::from(lanes.count)]) {
        0 => Ok(()),
        why => Err(Problem::Poison(why, used_as)),
    }
}

/// The texels of the level that the operation accesses; `None` for the first level, or if the sampler selects the level.
fn selected_level<const CHECKS: bool>(
    image: &Texels,
    op: &Image,
    regs: &[u64],
    poison: &[Poison],
) -> Result<Option<Texels>, Problem> {
    let LevelSelector::Level(slot, lanes) = op.level else {
        return Ok(None);
    };
    if op.action == ImageAction::Sample {
        return Ok(None);
    }
    check_defined::<CHECKS>(poison, (slot, lanes), Use::Address)?;
    match alu::signed(lanes.scalar.size(), regs[slot as usize]) {
        0 => Ok(None),
        level => match image.level(level) {
            Some(texels) => Ok(Some(texels)),
            None => Err(misuse("accesses a level that the image does not have")),
        },
    }
}

/// An access to texels.
struct Access<'a, 'r> {
    op: &'a Image,
    regs: &'a [u64],
    /// The image with all levels.
    image: &'a Texels,
    /// The accessed level.
    texels: &'a Texels,
    handle: u64,
    race_check: Option<&'a mut RaceCheck<'r>>,
}

impl Access<'_, '_> {
    fn write<const CHECKS: bool>(&mut self) -> Result<(), Problem> {
        let format = self.texels.desc.format;
        let Some(texel) = written(self.regs, self.op.texel, format) else {
            return Err(misuse("writes texels of a different type from the image's"));
        };
        if self.op.must_fit && !format.fits(texel) {
            return Err(Problem::NoResult(NoResult::Texel));
        }
        let position = self.position();
        self.record(position, true)?;
        if !self.texels.store(position, texel) && CHECKS {
            return Err(misuse("writes a texel outside of the image"));
        }
        Ok(())
    }

    /// Reads without a sampler.
    fn read<const CHECKS: bool>(&mut self) -> Result<Texel, Problem> {
        let position = self.position();
        match self.texels.load(position) {
            Some(texel) => {
                self.record(position, false)?;
                Ok(texel)
            }
            None if CHECKS => Err(misuse("reads a texel outside of the image without a sampler")),
            None => Ok(self.texels.desc.format.border()),
        }
    }

    /// Reads with a sampler.
    fn sample<const CHECKS: bool>(&mut self) -> Result<Texel, Problem> {
        let (op, texels) = (self.op, self.texels);
        let border = texels.desc.format.border();
        let has_float_coordinates = op.coordinates.1.scalar.is_float();
        let sampler = self.regs[op.sampler as usize] as u32;
        if CHECKS && op.checks_sampler {
            let has_integers = !matches!(border, Texel::Float(_));
            if let Some(message) = sample::misuse(sampler, has_integers, !has_float_coordinates) {
                return Err(misuse(message));
            }
        }
        let mut seen = Vec::new();
        let mut source = sample::Source { texels, seen: &mut seen, notes: CHECKS };
        let texel = if has_float_coordinates {
            source.at_levels(sampler, self.floats(op.coordinates), (op.dims, op.rank), self.level_selector())
        } else {
            source.at_integers(sampler, self.position(), op.dims, op.rank)
        };
        if let Some(race_check) = &mut self.race_check {
            for number in seen {
                race_check.record_handle_access(self.handle, number, false)?;
            }
        }
        match texel {
            Some(texel) => Ok(texel),
            None if CHECKS => {
                Err(misuse("reads a texel outside of the image by a sampler with CLK_ADDRESS_NONE"))
            }
            None => Ok(border),
        }
    }

    /// Integer coordinates.
    fn position(&self) -> [i64; 3] {
        let (slot, lanes) = self.op.coordinates;
        // Coordinates may have more components than the image uses: 2 for a 1D array, 4 for three dimensions.
        let count = lanes.count.min(self.op.rank.into()).min(3);
        let mut position = [0; 3];
        for (lane, coordinate) in position.iter_mut().enumerate().take(count.into()) {
            *coordinate = alu::signed(lanes.scalar.size(), self.regs[slot as usize + lane]);
        }
        position
    }

    /// Floating-point coordinates, a level of detail or a gradient.
    fn floats(&self, (slot, lanes): (Slot, Lanes)) -> [f32; 4] {
        let mut floats = [0.0; 4];
        for (lane, float) in floats.iter_mut().enumerate().take(lanes.count.into()) {
            *float = alu::to_f64(lanes.scalar, self.regs[slot as usize + lane]) as f32;
        }
        floats
    }

    fn level_selector(&self) -> sample::LevelSelector {
        match self.op.level {
            _ if self.image.desc.levels == 1 => sample::LevelSelector::First,
            LevelSelector::First => sample::LevelSelector::First,
            LevelSelector::Level(slot, lanes) => sample::LevelSelector::Lod(self.floats((slot, lanes))[0]),
            LevelSelector::Gradients(both) => {
                sample::LevelSelector::Gradients(both.map(|operand| self.floats(operand)))
            }
        }
    }

    /// Strict: checks for races on this texel.
    fn record(&mut self, position: [i64; 3], is_write: bool) -> Result<(), Problem> {
        match (&mut self.race_check, self.texels.index(position)) {
            (Some(race_check), Some(number)) => {
                race_check.record_handle_access(self.handle, number, is_write)
            }
            _ => Ok(()),
        }
    }
}

/// The components of a texel that was read, as bits of this type.
fn result_bits(texel: Texel, scalar: Scalar) -> Result<[u64; 4], Problem> {
    match (texel, scalar) {
        (Texel::Float(texel), scalar) if scalar.is_float() => {
            Ok(texel.map(|value| alu::from_f64(scalar, value.into())))
        }
        (Texel::Signed(texel), Scalar::I32) => Ok(texel.map(|value| u64::from(value as u32))),
        (Texel::Unsigned(texel), Scalar::I32) => Ok(texel.map(u64::from)),
        _ => Err(misuse("reads texels of a different type from the image's")),
    }
}

/// A format property, in SPIR-V's numbers.
const fn format_code(what: FormatNumber, desc: ImageDesc) -> u32 {
    match what {
        FormatNumber::Order => desc.format.order() - FIRST_ORDER,
        FormatNumber::Channel => desc.format.channel() - FIRST_CHANNEL,
        FormatNumber::Levels => desc.levels,
        FormatNumber::One => 1,
    }
}

fn set(regs: &mut [u64], poison: &mut [Poison], to: Slot, lane: usize, bits: u64) {
    regs[to as usize + lane] = bits;
    if let Some(flag) = poison.get_mut(to as usize + lane) {
        *flag = 0;
    }
}

/// The texel to write: four components, or a depth. SPIR-V's integers are signless, so the image determines the sign.
/// `None` for other types.
fn written(regs: &[u64], (slot, lanes): (Slot, Lanes), format: Format) -> Option<Texel> {
    let bits = [0, 1, 2, 3].map(|lane: usize| regs[slot as usize + lane.min(usize::from(lanes.count) - 1)]);
    match format.border() {
        Texel::Float(_) if lanes.scalar.is_float() => {
            Some(Texel::Float(bits.map(|bits| alu::to_f64(lanes.scalar, bits) as f32)))
        }
        Texel::Signed(_) if lanes.scalar == Scalar::I32 => Some(Texel::Signed(bits.map(|bits| bits as i32))),
        Texel::Unsigned(_) if lanes.scalar == Scalar::I32 => {
            Some(Texel::Unsigned(bits.map(|bits| bits as u32)))
        }
        _ => None,
    }
}

fn misuse(message: &str) -> Problem {
    Problem::Misuse { kind: "image", message: message.to_owned() }
}
