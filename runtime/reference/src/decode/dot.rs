//! Integer dot products (SPV_KHR_integer_dot_product).

use spirv::{Op as Inst_, OpenclStd100Op as Cl};

use super::body::Body;
use crate::{
    Invalid,
    alu::{self, Lane},
    code::{Op, Slot},
    types::Scalar,
    words::Inst,
};

impl Body<'_, '_> {
    /// Computes the sum exactly in 64 bits, then truncates it or adds the accumulator with saturation.
    pub(super) fn integer_dot(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let wrong = || Invalid::new(format!("{:?} is not defined for its operands", inst.op));
        let (result, results) = self.decoder.types.lanes(inst.word(0)?)?;
        let (a, scalar, count) = self.unpacked(inst.word(2)?)?;
        let (b, other, others) = self.unpacked(inst.word(3)?)?;
        if (scalar, count) != (other, others) || results != 1 || result.is_float() {
            return Err(wrong());
        }
        let signs = match inst.op {
            Inst_::UDot | Inst_::UDotAccSat => [false, false],
            Inst_::SDot | Inst_::SDotAccSat => [true, true],
            _ => [true, false],
        };
        let wide: Vec<Slot> = [(a, signs[0]), (b, signs[1])]
            .into_iter()
            .map(|(from, is_signed)| {
                let to = self.allocate_registers(count.into())?;
                let f = alu::widened(scalar, is_signed).ok_or_else(wrong)?;
                self.emit(Op::One { f, to, a: from, count });
                Ok(to)
            })
            .collect::<Result<_, Invalid>>()?;
        let products = self.allocate_registers(count.into())?;
        let (times, plus) = (|a: u64, b: u64| a.wrapping_mul(b), |a: u64, b: u64| a.wrapping_add(b));
        self.emit(Op::Two { f: times, to: products, a: wide[0], b: wide[1], count });
        let sum = self.allocate_registers(1)?;
        self.copy(sum, products, 1);
        for lane in 1..u32::from(count) {
            self.emit(Op::Two { f: plus, to: sum, a: sum, b: products + lane, count: 1 });
        }
        let accumulates = matches!(inst.op, Inst_::SDotAccSat | Inst_::UDotAccSat | Inst_::SUDotAccSat);
        let cut = alu::truncation(result).ok_or_else(wrong)?;
        let to = self.define(inst)?;
        self.emit(Op::One { f: cut, to, a: sum, count: 1 });
        if accumulates {
            let (accumulator, known, _) = self.lanes(inst.word(4)?)?;
            let function = if inst.op == Inst_::UDotAccSat { Cl::u_add_sat } else { Cl::s_add_sat };
            match alu::library(function, result, false) {
                Some(Lane::Two(f)) if known == result => {
                    self.emit(Op::Two { f, to, a: to, b: accumulator, count: 1 });
                }
                _ => return Err(wrong()),
            }
        }
        Ok(())
    }

    /// The operand: a vector of integers, or four bytes packed in a word.
    fn unpacked(&mut self, id: u32) -> Result<(Slot, Scalar, u16), Invalid> {
        let (slot, scalar, count) = self.lanes(id)?;
        match (scalar, count) {
            (Scalar::I32, 1) => {
                let to = self.allocate_registers(4)?;
                self.emit(Op::Repack { to, from: slot, count: 1, from_size: 4, to_size: 1 });
                Ok((to, Scalar::I8, 4))
            }
            _ => Ok((slot, scalar, count)),
        }
    }
}
