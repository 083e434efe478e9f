//! Calls to GLSL.std.450.

use spirv::{GlslStd450Op as Glsl, OpenclStd100Op as Cl};

use super::body::Body;
use crate::{
    Invalid,
    alu::{self, Lane, Operation},
    code::{Lanes, Library, Op, Slot},
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn glsl(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let number = inst.word(3)?;
        let function = Glsl::from_u32(number)
            .ok_or_else(|| Invalid::new(format!("library function {number} is unknown")))?;
        let mut values = Vec::new();
        for &id in inst.from(4) {
            let (slot, scalar, count) = self.lanes(id)?;
            values.push((slot, Lanes { scalar, count }));
        }
        match special(function) {
            Some((equivalent, operands)) if values.len() == operands => {
                self.glsl_special(inst, function, equivalent, values)
            }
            _ => self.glsl_lanes(inst, function, &values),
        }
    }

    /// Decodes a function that mixes lanes or accesses memory.
    fn glsl_special(
        &mut self,
        inst: &Inst<'_>,
        function: Glsl,
        equivalent: Cl,
        operands: Vec<(Slot, Lanes)>,
    ) -> Result<(), Invalid> {
        let (scalar, count) = self.decoder.types.lanes(inst.word(0)?)?;
        let result = Lanes { scalar, count: count as u16 };
        let to = self.define(inst)?;
        let values = operands.clone();
        self.decoder.tables.libraries.push(Library {
            function: equivalent,
            to,
            result,
            operands,
            literal: 0,
        });
        self.emit(Op::Library(self.decoder.tables.libraries.len() as u32 - 1));
        self.add_domain_check(function, to, &values);
        Ok(())
    }

    fn glsl_lanes(
        &mut self,
        inst: &Inst<'_>,
        function: Glsl,
        values: &[(Slot, Lanes)],
    ) -> Result<(), Invalid> {
        let wrong = || Invalid::new(format!("{function:?} is not defined for its operands"));
        let (a, Lanes { scalar, count }) = *values.first().ok_or_else(wrong)?;
        let same = values.iter().all(|(_, other)| other.count == count);
        if !same || self.decoder.types.slots(inst.word(0)?)? != count.into() {
            return Err(wrong());
        }
        let lane = alu::glsl(function, scalar).ok_or_else(wrong)?;
        let to = self.define(inst)?;
        let operands: Vec<Slot> = values.iter().map(|value| value.0).collect();
        let operation = (Operation::Glsl(function), lane);
        if operands.len() != lane.operands() {
            return Err(wrong());
        }
        if self.emit_imprecise(operation, scalar, inst.word(1)?, to, &operands, count) {
            self.add_glsl_poison_check(function, to, values);
            return Ok(());
        }
        match (lane, values) {
            (Lane::One(f), [_]) => self.emit(Op::One { f, to, a, count }),
            (Lane::Two(f), &[_, (b, _)]) => self.emit(Op::Two { f, to, a, b, count }),
            (Lane::Three(f), &[_, (b, _), (c, _)]) => self.emit(Op::Three { f, to, a, b, c, count }),
            _ => return Err(wrong()),
        }
        self.add_glsl_poison_check(function, to, values);
        Ok(())
    }
}

/// The equivalent OpenCL function of one that mixes lanes or accesses memory, and its operand count.
fn special(function: Glsl) -> Option<(Cl, usize)> {
    Some(match function {
        Glsl::Length => (Cl::length, 1),
        Glsl::Distance => (Cl::distance, 2),
        Glsl::Normalize => (Cl::normalize, 1),
        Glsl::Cross => (Cl::cross, 2),
        Glsl::Modf => (Cl::modf, 2),
        Glsl::Frexp => (Cl::frexp, 2),
        _ => return None,
    })
}
