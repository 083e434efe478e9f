//! Image operations (OpenCL C 6.15.15).
//!
//! Owns the operations; `sample` computes which texels a sampler reads.

use super::{sample, view::View};
use crate::{
    alu,
    code::{FormatNumber, Image, ImageAction, Lanes, LevelSelector, NoResult, Slot},
    image::{FIRST_CHANNEL, FIRST_ORDER, Format, ImageDesc, Texel},
    poison::{Poison, union},
    report::{Problem, Use},
    types::Scalar,
};

const NO_LEVEL: &str = "accesses a level that the image does not have";

/// Executes the operation.
pub(crate) fn perform<const CHECKS: bool>(
    view: &mut View<'_>,
    op: &Image,
    regs: &mut [u64],
    poison: &mut [Poison],
) -> Result<(), Problem> {
    let poison_of = |poison: &[Poison], (slot, lanes): (Slot, Lanes)| {
        if CHECKS { union(&poison[slot as usize..][..usize::from(lanes.count)]) } else { 0 }
    };
    let (global, handle) = (view.global, regs[op.image as usize]);
    let Some(texels) = global.image(handle) else {
        return Err(misuse("uses a nonexistent image"));
    };
    let whole = texels;
    let level = match op.level {
        LevelSelector::Level(slot, lanes) if op.action != ImageAction::Sample => {
            match poison_of(poison, (slot, lanes)) {
                0 => alu::signed(lanes.scalar.size(), regs[slot as usize]),
                why => return Err(Problem::Poison(why, Use::Address)),
            }
        }
        _ => 0,
    };
    let level = if level == 0 { None } else { Some(whole.level(level).ok_or(misuse(NO_LEVEL))?) };
    let texels = level.as_ref().unwrap_or(whole);
    match poison_of(poison, op.coordinates) {
        0 => {}
        why => return Err(Problem::Poison(why, Use::Address)),
    }
    let rank = usize::from(op.coordinates.1.count).min(3);
    let integers = |regs: &[u64]| {
        let mut position = [0; 3];
        for (lane, position) in position.iter_mut().enumerate().take(rank) {
            *position = alu::signed(op.coordinates.1.scalar.size(), regs[op.coordinates.0 as usize + lane]);
        }
        // Coordinates may have more components than the image uses: 2 for a 1D array, 4 for three dimensions.
        (usize::from(op.rank)..3).for_each(|lane| position[lane] = 0);
        position
    };
    // Strict: checks for races on this texel.
    let mut record = |position: [i64; 3], is_write: bool| match (&mut view.race_check, texels.index(position))
    {
        (Some(race_check), Some(number)) => race_check.record_handle_access(handle, number, is_write),
        _ => Ok(()),
    };
    let texel = match op.action {
        ImageAction::Write => {
            match poison_of(poison, op.texel) {
                0 => {}
                why => return Err(Problem::Poison(why, Use::Stored)),
            }
            let Some(texel) = written(regs, op.texel, texels.desc.format) else {
                return Err(misuse("writes texels of a different type from the image's"));
            };
            if op.must_fit && !texels.desc.format.fits(texel) {
                return Err(Problem::NoResult(NoResult::Texel));
            }
            record(integers(regs), true)?;
            if !texels.store(integers(regs), texel) && CHECKS {
                return Err(misuse("writes a texel outside of the image"));
            }
            return Ok(());
        }
        ImageAction::Read => match texels.load(integers(regs)) {
            Some(texel) => {
                record(integers(regs), false)?;
                texel
            }
            None if CHECKS => return Err(misuse("reads a texel outside of the image without a sampler")),
            None => texels.desc.format.border(),
        },
        ImageAction::Sample => {
            let sampler = regs[op.sampler as usize] as u32;
            if CHECKS && op.checks_sampler {
                let has_integers = !matches!(texels.desc.format.border(), Texel::Float(_));
                let by_integers = !op.coordinates.1.scalar.is_float();
                if let Some(message) = sample::misuse(sampler, has_integers, by_integers) {
                    return Err(misuse(message));
                }
            }
            let mut along = [0; 4];
            along[..rank].copy_from_slice(&regs[op.coordinates.0 as usize..][..rank]);
            let mut seen = Vec::new();
            let mut source = sample::Source { texels, seen: &mut seen, notes: CHECKS };
            let found = if op.coordinates.1.scalar.is_float() {
                let along = along.map(|bits| alu::to_f64(op.coordinates.1.scalar, bits) as f32);
                let floats = |(slot, lanes): (Slot, Lanes)| {
                    let mut floats = [0.0; 4];
                    for (lane, float) in floats.iter_mut().enumerate().take(lanes.count.into()) {
                        *float = alu::to_f64(lanes.scalar, regs[slot as usize + lane]) as f32;
                    }
                    floats
                };
                let selector = match op.level {
                    _ if whole.desc.levels == 1 => sample::LevelSelector::First,
                    LevelSelector::First => sample::LevelSelector::First,
                    LevelSelector::Level(slot, lanes) => sample::LevelSelector::Lod(floats((slot, lanes))[0]),
                    LevelSelector::Gradients(both) => sample::LevelSelector::Gradients(both.map(floats)),
                };
                source.at_levels(sampler, along, (op.dims, op.rank), selector)
            } else {
                source.at_integers(sampler, integers(regs), op.dims, op.rank)
            };
            for number in seen {
                if let Some(race_check) = &mut view.race_check {
                    race_check.record_handle_access(handle, number, false)?;
                }
            }
            match found {
                Some(texel) => texel,
                None if CHECKS => {
                    return Err(misuse(
                        "reads a texel outside of the image by a sampler with CLK_ADDRESS_NONE",
                    ));
                }
                None => texels.desc.format.border(),
            }
        }
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
    let count = usize::from(op.result.count);
    let lanes = match (texel, op.result.scalar) {
        (Texel::Float(texel), scalar) if scalar.is_float() => {
            texel.map(|value| alu::from_f64(scalar, value.into()))
        }
        (Texel::Signed(texel), Scalar::I32) => texel.map(|value| u64::from(value as u32)),
        (Texel::Unsigned(texel), Scalar::I32) => texel.map(u64::from),
        _ => return Err(misuse("reads texels of a different type from the image's")),
    };
    for (lane, bits) in lanes.into_iter().take(count).enumerate() {
        set(regs, poison, op.to, lane, bits);
    }
    Ok(())
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
