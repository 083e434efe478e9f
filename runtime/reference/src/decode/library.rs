//! Calls to OpenCL.std.

use spirv::OpenclStd100Op as Cl;

use super::body::Body;
use crate::{
    Checks, Invalid,
    alu::{self, Lane},
    code::{Lanes, Library, NoResult, Op},
    types::{Scalar, Ty},
    words::Inst,
};

/// The name of the `printf` that represents a trap in Kiln's modules.
const TRAP: &str = "kiln.trap";

impl Body<'_, '_> {
    pub(super) fn library(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        if self.decoder.glsl.contains(&inst.word(2)?) {
            return self.glsl(inst);
        }
        if !self.decoder.libraries.contains(&inst.word(2)?) {
            // Debug information and other instruction sets do not affect execution.
            return Ok(());
        }
        let number = inst.word(3)?;
        let function = Cl::from_u32(number)
            .ok_or_else(|| Invalid::new(format!("library function {number} is unknown")))?;
        let operands = inst.from(4);
        if function == Cl::prefetch {
            return Ok(());
        }
        let (ids, literal) = match function {
            Cl::printf => {
                let is_trap = self.decoder.names.get(&inst.word(1)?).is_some_and(|name| name == TRAP);
                (operands, is_trap.into())
            }
            Cl::vloadn | Cl::vload_halfn | Cl::vloada_halfn => split_last(operands)?,
            Cl::vstore_half_r | Cl::vstore_halfn_r | Cl::vstorea_halfn_r => split_last(operands)?,
            _ => (operands, 0),
        };
        let mut values = Vec::new();
        for &id in ids {
            let (slot, scalar, count) = self.lanes(id)?;
            values.push((slot, Lanes { scalar, count }));
        }
        if !is_special(function) {
            return self.by_lane(inst, function, &values);
        }
        let result = match self.decoder.types.get(inst.word(0)?)?.ty {
            Ty::Void => Lanes { scalar: Scalar::I32, count: 0 },
            _ => {
                let (scalar, count) = self.decoder.types.lanes(inst.word(0)?)?;
                Lanes { scalar, count: count as u16 }
            }
        };
        let needed = match function {
            Cl::printf | Cl::length | Cl::normalize | Cl::fast_length | Cl::fast_normalize => 1,
            Cl::remquo | Cl::shuffle2 => 3,
            Cl::vstoren
            | Cl::vstore_half
            | Cl::vstore_half_r
            | Cl::vstore_halfn
            | Cl::vstore_halfn_r
            | Cl::vstorea_halfn
            | Cl::vstorea_halfn_r => 3,
            _ => 2,
        };
        if values.len() < needed {
            return Err(Invalid::new(format!("{function:?} has too few operands")));
        }
        let to = if result.count == 0 { 0 } else { self.define(inst)? };
        let library = Library { function, to, result, operands: values, literal };
        self.decoder.tables.libraries.push(library);
        self.emit(Op::Library(self.decoder.tables.libraries.len() as u32 - 1));
        Ok(())
    }

    fn by_lane(
        &mut self,
        inst: &Inst<'_>,
        function: Cl,
        values: &[(crate::code::Slot, Lanes)],
    ) -> Result<(), Invalid> {
        let wrong = || Invalid::new(format!("{function:?} is not defined for its operands"));
        let (a, lanes) = *values.first().ok_or_else(wrong)?;
        let count = lanes.count;
        let same = values.iter().all(|(_, other)| other.count == count);
        if !same || self.decoder.types.slots(inst.word(0)?)? != count.into() {
            return Err(wrong());
        }
        let lane = alu::library(function, lanes.scalar, count > 1).ok_or_else(wrong)?;
        let to = self.define(inst)?;
        if self.decoder.checks == Checks::On
            && let Some((f, [a, b])) = alu::lacks_result(function, lanes.scalar)
            && let (Some(&(a, _)), Some(&(b, _))) = (values.get(a), values.get(b))
        {
            let what = if function == Cl::smoothstep { NoResult::Edges } else { NoResult::Range };
            self.emit(Op::CheckOperands { f, a, b, count, what });
        }
        match (lane, values) {
            (Lane::One(f), [_]) => self.emit(Op::One { f, to, a, count }),
            (Lane::Two(f), &[_, (b, _)]) => self.emit(Op::Two { f, to, a, b, count }),
            (Lane::Three(f), &[_, (b, _), (c, _)]) => self.emit(Op::Three { f, to, a, b, c, count }),
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

fn split_last(operands: &[u32]) -> Result<(&[u32], u32), Invalid> {
    let (literal, ids) = operands.split_last().ok_or_else(|| Invalid::new("a literal is missing"))?;
    Ok((ids, *literal))
}

/// Whether a function accesses memory or mixes lanes.
fn is_special(function: Cl) -> bool {
    let number = function as u32;
    (Cl::vloadn as u32..=Cl::printf as u32).contains(&number)
        || matches!(
            function,
            Cl::fract
                | Cl::frexp
                | Cl::lgamma_r
                | Cl::modf
                | Cl::remquo
                | Cl::sincos
                | Cl::cross
                | Cl::distance
                | Cl::length
                | Cl::normalize
                | Cl::fast_distance
                | Cl::fast_length
                | Cl::fast_normalize
        )
}
