//! Arithmetic, comparisons and conversions: one function applied to each lane.

use spirv::{FPRoundingMode, Op as Inst_};

use super::{body::Body, quick::specialized_op};
use crate::{
    Checks, Environment, Invalid,
    alu::{self, Conversion, F2, Operation, Rounding},
    code::{Lane, NoResult, Op, Overflow, Slot},
    poison::Shift,
    types::Scalar,
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn arithmetic(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        if matches!(inst.op, Inst_::SConvert | Inst_::IMul) && self.fold(inst)? {
            return Ok(true);
        }
        match inst.op {
            Inst_::Bitcast
            | Inst_::ConvertPtrToU
            | Inst_::ConvertUToPtr
            | Inst_::PtrCastToGeneric
            | Inst_::GenericCastToPtr => self.same_bits(inst)?,
            Inst_::UConvert
            | Inst_::SConvert
            | Inst_::FConvert
            | Inst_::ConvertFToU
            | Inst_::ConvertFToS
            | Inst_::ConvertUToF
            | Inst_::ConvertSToF
            | Inst_::SatConvertSToU
            | Inst_::SatConvertUToS => self.conversion(inst)?,
            Inst_::QuantizeToF16 => {
                let (a, _, count) = self.lanes(inst.word(2)?)?;
                let to = self.define(inst)?;
                let f = |a| half::f16::from_f32(f32::from_bits(a as u32)).to_f32().to_bits().into();
                self.emit(Op::One { f, to, a, count });
            }
            Inst_::Select => {
                let (condition, condition_type) = self.value(inst.word(2)?)?;
                let (_, lanes) = self.decoder.types.lanes(condition_type)?;
                let (a, ty) = self.value(inst.word(3)?)?;
                let (b, other) = self.value(inst.word(4)?)?;
                let count = self.decoder.types.slots(ty)?;
                if count != self.decoder.types.slots(other)? || lanes != 1 && lanes != count {
                    return Err(Invalid::new("a selection mixes types"));
                }
                let to = self.define(inst)?;
                let count = count as u16;
                self.emit(Op::Select { to, condition, a, b, count, per_lane: lanes != 1 });
            }
            Inst_::Any | Inst_::All => {
                let (from, _, count) = self.lanes(inst.word(2)?)?;
                let to = self.define(inst)?;
                self.emit(if inst.op == Inst_::Any {
                    Op::Any { to, from, count }
                } else {
                    Op::All { to, from, count }
                });
            }
            Inst_::VectorTimesScalar => {
                let (a, scalar, count) = self.lanes(inst.word(2)?)?;
                let (b, _, _) = self.lanes(inst.word(3)?)?;
                let to = self.define(inst)?;
                let f = alu::float_binary(Inst_::FMul, scalar);
                let f = f.ok_or_else(|| Invalid::new("a product is not of floating-point numbers"))?;
                for lane in 0..u32::from(count) {
                    self.emit(Op::Two { f, to: to + lane, a: a + lane, b, count: 1 });
                }
            }
            Inst_::Dot => self.dot(inst)?,
            Inst_::SDot
            | Inst_::UDot
            | Inst_::SUDot
            | Inst_::SDotAccSat
            | Inst_::UDotAccSat
            | Inst_::SUDotAccSat => self.integer_dot(inst)?,
            Inst_::UMulExtended | Inst_::SMulExtended | Inst_::IAddCarry | Inst_::ISubBorrow => {
                self.extended(inst)?;
            }
            Inst_::BitFieldInsert | Inst_::BitFieldSExtract | Inst_::BitFieldUExtract => {
                self.bit_field(inst)?
            }
            _ => return self.lanewise(inst),
        }
        Ok(true)
    }

    /// Bit field instructions. Offset and count are the same for all lanes.
    fn bit_field(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (a, scalar, count) = self.lanes(inst.word(2)?)?;
        let wrong = || Invalid::new("a bit field is of integers");
        if self.decoder.types.slots(inst.word(0)?)? != count.into() {
            return Err(wrong());
        }
        let mut rest = inst.from(3).iter();
        let mut next = |body: &mut Self| body.lanes(*rest.next().ok_or_else(wrong)?);
        let inserted = if inst.op == Inst_::BitFieldInsert { Some(next(self)?) } else { None };
        let ((offset, ..), (bits, ..)) = (next(self)?, next(self)?);
        if inserted.is_some_and(|(_, _, lanes)| lanes != count) {
            return Err(wrong());
        }
        let to = self.define(inst)?;
        if self.decoder.checks == Checks::On {
            let f = alu::field_is_outside(scalar).ok_or_else(wrong)?;
            self.emit(Op::CheckOperands { f, a: offset, b: bits, count: 1, what: NoResult::Field });
        }
        let three =
            |body: &mut Self, f, to, a| body.emit(Op::Three { f, to, a, b: offset, c: bits, count: 1 });
        for lane in 0..u32::from(count) {
            let (a, to) = (a + lane, to + lane);
            match inserted {
                None if inst.op == Inst_::BitFieldUExtract => three(self, alu::extract_field, to, a),
                None => three(self, alu::extract_signed_field(scalar).ok_or_else(wrong)?, to, a),
                Some((value, ..)) => {
                    let field = self.allocate_registers(1)?;
                    three(self, alu::field(scalar).ok_or_else(wrong)?, field, value + lane);
                    three(self, alu::outside_field, to, a);
                    self.emit(Op::Two { f: |a, b| a | b, to, a: to, b: field, count: 1 });
                }
            }
        }
        Ok(())
    }

    /// Unary and binary instructions, from the tables.
    fn lanewise(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        let op = inst.op;
        let probe = |scalar| {
            let one = alu::integer_unary(op, scalar).or_else(|| alu::float_unary(op, scalar));
            let two = alu::integer_binary(op, scalar).or_else(|| alu::float_binary(op, scalar));
            (one, two)
        };
        let is_known = [Scalar::Bool, Scalar::I32, Scalar::F32]
            .into_iter()
            .any(|scalar| matches!(probe(scalar), (Some(_), _) | (_, Some(_))));
        if !is_known {
            return Ok(false);
        }
        let (a, scalar, count) = self.lanes(inst.word(2)?)?;
        let wrong = || Invalid::new(format!("{op:?} is not defined for its operands"));
        if self.decoder.types.slots(inst.word(0)?)? != count.into() {
            return Err(wrong());
        }
        match (probe(scalar), inst.from(3)) {
            ((Some(f), _), []) => {
                let to = self.define(inst)?;
                self.emit(Op::One { f, to, a, count });
                self.add_poison_check(inst.op, scalar, to, &[a], count);
            }
            ((_, Some(f)), &[second]) => {
                let (b, _, other) = self.lanes(second)?;
                if other != count {
                    return Err(wrong());
                }
                let to = self.define(inst)?;
                if self.decoder.checks == Checks::On {
                    self.add_operand_checks(inst, scalar, a, b, count);
                }
                let operation = (Operation::Core(op), alu::Lane::Two(f));
                if !self.emit_imprecise(operation, scalar, inst.word(1)?, to, &[a, b], count) {
                    self.emit_binary(inst, (f, scalar), Lane { to, a, b }, count);
                }
                self.add_poison_check(inst.op, scalar, to, &[a, b], count);
            }
            _ => return Err(wrong()),
        }
        Ok(true)
    }

    /// Emits a binary instruction. With checks, each lane has its own operation if there is one that follows single bytes.
    fn emit_binary(&mut self, inst: &Inst<'_>, (f, scalar): (F2, Scalar), first: Lane, count: u16) {
        let quick = specialized_op(inst.op, scalar);
        let shift = match inst.op {
            Inst_::ShiftLeftLogical => Some(Shift::Left),
            Inst_::ShiftRightLogical => Some(Shift::Right),
            Inst_::ShiftRightArithmetic => Some(Shift::Arithmetic),
            _ => None,
        };
        let Lane { to, a, b } = first;
        let operation = |number: u16| {
            let number = Slot::from(number);
            let lane = Lane { to: to + number, a: a + number, b: b + number };
            let shift = shift.map(|shift| Op::Shift { f, lane, shift, size: scalar.size() });
            quick.map_or(shift, |quick| Some(quick(lane)))
        };
        let is_divided = count == 1 || self.decoder.checks == Checks::On;
        let lanes = if is_divided { (0..count).map(operation).collect::<Option<Vec<Op>>>() } else { None };
        match lanes {
            Some(lanes) => lanes.into_iter().for_each(|operation| self.emit(operation)),
            None => self.emit(Op::Two { f, to, a, b, count }),
        }
    }

    /// Checks the operands of divisions and shifts (OpenCL C 6.5.1, 6.5.10), and signed operations for overflow (C99 6.5).
    fn add_operand_checks(&mut self, inst: &Inst<'_>, scalar: Scalar, a: Slot, b: Slot, count: u16) {
        let size = scalar.size();
        match inst.op {
            Inst_::UDiv | Inst_::UMod => {
                self.emit(Op::CheckDivision { a, b, count, size, is_signed: false });
            }
            Inst_::SDiv | Inst_::SRem | Inst_::SMod => {
                self.emit(Op::CheckDivision { a, b, count, size, is_signed: true });
            }
            Inst_::ShiftLeftLogical | Inst_::ShiftRightLogical | Inst_::ShiftRightArithmetic
                if self.decoder.types.environment == Environment::OpenCl =>
            {
                self.emit(Op::CheckShift { b, count, bits: size * 8 });
            }
            Inst_::IAdd | Inst_::ISub | Inst_::IMul => {
                let id = inst.words.get(1).copied().unwrap_or(0);
                if self.decoder.decorations.get(&id).is_some_and(|it| it.no_signed_wrap) {
                    let operation = match inst.op {
                        Inst_::IAdd => Overflow::Add,
                        Inst_::ISub => Overflow::Subtract,
                        _ => Overflow::Multiply,
                    };
                    self.emit(Op::CheckOverflow { a, b, count, size, operation });
                }
            }
            _ => {}
        }
    }

    fn same_bits(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        // The address of a built-in variable remains a known constant.
        if let Some((_, constant)) = self.decoder.constant(inst.word(2)?).cloned()
            && self.decoder.types.slots(inst.word(0)?)? == 1
            && self.decoder.integer_constant(inst.word(2)?).is_some()
        {
            self.decoder.constants.insert(inst.word(1)?, (inst.word(0)?, constant));
            return Ok(());
        }
        let (from, scalar, count) = self.lanes(inst.word(2)?)?;
        let (to_scalar, to_count) = self.decoder.types.lanes(inst.word(0)?)?;
        let (from_size, to_size) = (scalar.size(), to_scalar.size());
        if from_size == to_size && u32::from(count) == to_count {
            return self.alias(inst, from);
        }
        if u32::from(count) * u32::from(from_size) != to_count * u32::from(to_size) {
            // Converts a pointer to an integer of another size.
            if count == 1 && to_count == 1 {
                let to = self.define(inst)?;
                let how = Conversion {
                    from: scalar,
                    from_signed: false,
                    to: to_scalar,
                    to_signed: false,
                    rounding: None,
                    saturate: false,
                };
                self.convert(how, to, from, 1);
                return Ok(());
            }
            return Err(Invalid::new("a bit cast changes the number of bits"));
        }
        let to = self.define(inst)?;
        self.emit(Op::Repack { to, from, count, from_size, to_size });
        Ok(())
    }

    fn convert(&mut self, how: Conversion, to: Slot, from: Slot, count: u16) {
        let is_strict = self.decoder.checks == Checks::On;
        let conversions = &mut self.decoder.tables.conversions;
        conversions.push(how);
        let number = conversions.len() as u32 - 1;
        // OpenCL C 6.4.3.3: C99 6.3.1.4 leaves values that do not fit undefined.
        if is_strict && how.from.is_float() && !how.to.is_float() && !how.saturate {
            self.emit(Op::CheckConversion { how: number, from, count });
        }
        let how = number;
        self.emit(Op::Convert { how, to, from, count });
    }

    fn conversion(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (from, from_scalar, count) = self.lanes(inst.word(2)?)?;
        let (to_scalar, to_count) = self.decoder.types.lanes(inst.word(0)?)?;
        let decorations = self.decoder.decorations.get(&inst.word(1)?).copied().unwrap_or_default();
        let (from_signed, to_signed) = match inst.op {
            Inst_::SConvert => (true, true),
            Inst_::ConvertFToS => (false, true),
            Inst_::ConvertSToF => (true, false),
            Inst_::SatConvertSToU => (true, false),
            Inst_::SatConvertUToS => (false, true),
            _ => (false, false),
        };
        let saturate =
            decorations.saturate || matches!(inst.op, Inst_::SatConvertSToU | Inst_::SatConvertUToS);
        let is_float = |op| match op {
            Inst_::FConvert => (true, true),
            Inst_::ConvertFToU | Inst_::ConvertFToS => (true, false),
            Inst_::ConvertUToF | Inst_::ConvertSToF => (false, true),
            _ => (false, false),
        };
        if to_count != u32::from(count) || is_float(inst.op) != (from_scalar.is_float(), to_scalar.is_float())
        {
            return Err(Invalid::new(format!("{:?} is not defined for its operand", inst.op)));
        }
        let rounding = decorations.rounding.and_then(FPRoundingMode::from_u32).map(|mode| match mode {
            FPRoundingMode::RTE => Rounding::ToEven,
            FPRoundingMode::RTZ => Rounding::ToZero,
            FPRoundingMode::RTP => Rounding::Up,
            FPRoundingMode::RTN => Rounding::Down,
        });
        let to = self.define(inst)?;
        // Without saturation, converting between integers only extends or truncates bits.
        let is_widening_of_bits = !saturate && is_float(inst.op) == (false, false) && !from_signed;
        if is_widening_of_bits {
            let size = to_scalar.size().min(from_scalar.size());
            self.emit(Op::Truncate { to, from, count, size });
            return Ok(());
        }
        if !saturate && inst.op == Inst_::SConvert && from_scalar == Scalar::I32 && to_scalar == Scalar::I64 {
            self.emit(Op::One { f: |a| a as i32 as i64 as u64, to, a: from, count });
            return Ok(());
        }
        let from = self.flush(from_scalar, inst.word(1)?, from, count)?;
        let rounding = rounding.or_else(|| self.free_rounding(to_scalar, inst.words[1]));
        let how = Conversion { from: from_scalar, from_signed, to: to_scalar, to_signed, rounding, saturate };
        self.convert(how, to, from, count);
        let flushed = self.flush(to_scalar, inst.word(1)?, to, count)?;
        if flushed != to {
            self.copy(to, flushed, count.into());
        }
        if inst.op == Inst_::FConvert {
            self.add_float_poison_check(from_scalar, to, &[from], count, true);
            self.add_float_poison_check(to_scalar, to, &[], count, false);
        }
        Ok(())
    }

    fn dot(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (a, scalar, count) = self.lanes(inst.word(2)?)?;
        let (b, _, _) = self.lanes(inst.word(3)?)?;
        let to = self.define(inst)?;
        let of = |op| {
            let f = alu::float_binary(op, scalar);
            f.ok_or_else(|| Invalid::new("a dot product is not of floating-point numbers"))
        };
        let (times, plus) = (of(Inst_::FMul)?, of(Inst_::FAdd)?);
        let products = self.allocate_registers(count.into())?;
        self.emit(Op::Two { f: times, to: products, a, b, count });
        self.copy(to, products, 1);
        for lane in 1..u32::from(count) {
            self.emit(Op::Two { f: plus, to, a: to, b: products + lane, count: 1 });
        }
        Ok(())
    }

    /// Instructions with two results in consecutive registers: the lower half, and the upper half or carry.
    fn extended(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (a, scalar, count) = self.lanes(inst.word(2)?)?;
        let (b, _, other) = self.lanes(inst.word(3)?)?;
        let low = match inst.op {
            Inst_::IAddCarry => Inst_::IAdd,
            Inst_::ISubBorrow => Inst_::ISub,
            _ => Inst_::IMul,
        };
        let wrong = || Invalid::new(format!("{:?} is not defined for its operands", inst.op));
        let low = alu::integer_binary(low, scalar).ok_or_else(wrong)?;
        let high = alu::integer_upper(inst.op, scalar).ok_or_else(wrong)?;
        if other != count || self.decoder.types.slots(inst.word(0)?)? != 2 * u32::from(count) {
            return Err(wrong());
        }
        let to = self.define(inst)?;
        self.emit(Op::Two { f: low, to, a, b, count });
        self.emit(Op::Two { f: high, to: to + u32::from(count), a, b, count });
        Ok(())
    }
}
