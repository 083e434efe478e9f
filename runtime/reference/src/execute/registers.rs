//! The registers of a function, and the operations that only read and write registers.

use crate::{
    alu,
    code::{ImpreciseLanes, Lane, Op, Overflow, Slot, Tables},
    poison::{
        Poison, Shift, UNWRITTEN, masked, of_bytes, shifted, spread, spread_upward, to_bytes, truncated,
        union,
    },
    report::{Problem, Use},
};

/// The registers of a function.
pub(super) struct Registers<'r> {
    pub(super) values: &'r mut [u64],
    /// The poison of each register. Without checks, the slice is empty and nothing reads it.
    pub(super) poison: &'r mut [Poison],
}

// The interpreter loop inlines these functions, which keeps its state in machine registers.
impl Registers<'_> {
    /// Fails if the register is poisoned.
    #[inline(always)]
    pub(super) fn defined<const CHECKS: bool>(&self, slot: usize, how: Use) -> Result<(), Problem> {
        if CHECKS && self.poison[slot] != 0 {
            return Err(Problem::Poison(self.poison[slot], how));
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn lane_binary<const CHECKS: bool>(&mut self, lane: Lane, f: impl Fn(u64, u64) -> u64) {
        let Lane { to, a, b } = lane;
        self.values[to as usize] = f(self.values[a as usize], self.values[b as usize]);
        if CHECKS {
            self.poison[to as usize] = spread(self.poison[a as usize] | self.poison[b as usize]);
        }
    }

    /// Integer operations whose low bytes do not depend on higher ones.
    #[inline(always)]
    pub(super) fn lane_upward<const CHECKS: bool>(&mut self, lane: Lane, f: impl Fn(u64, u64) -> u64) {
        let Lane { to, a, b } = lane;
        self.values[to as usize] = f(self.values[a as usize], self.values[b as usize]);
        if CHECKS {
            self.poison[to as usize] = spread_upward(self.poison[a as usize] | self.poison[b as usize]);
        }
    }

    /// Bitwise operations, in which one operand's byte can determine that of the result.
    #[inline(always)]
    pub(super) fn lane_bitwise<const CHECKS: bool>(
        &mut self,
        lane: Lane,
        absorbing: u64,
        f: impl Fn(u64, u64) -> u64,
    ) {
        let Lane { to, a, b } = lane;
        let [left, right] = [a, b].map(|slot| self.values[slot as usize]);
        self.values[to as usize] = f(left, right);
        if CHECKS {
            let poison = [a, b].map(|slot| self.poison[slot as usize]);
            self.poison[to as usize] = masked((left, poison[0]), (right, poison[1]), absorbing);
        }
    }

    #[inline(always)]
    pub(super) fn lane_shift<const CHECKS: bool>(
        &mut self,
        lane: Lane,
        (shift, size): (Shift, u8),
        f: impl Fn(u64, u64) -> u64,
    ) {
        let Lane { to, a, b } = lane;
        let [left, right] = [a, b].map(|slot| self.values[slot as usize]);
        self.values[to as usize] = f(left, right);
        if CHECKS {
            self.poison[to as usize] =
                shifted(self.poison[a as usize], size, right, shift) | spread(self.poison[b as usize]);
        }
    }

    #[inline(always)]
    pub(super) fn copy_one<const CHECKS: bool>(&mut self, to: Slot, from: Slot) {
        self.values[to as usize] = self.values[from as usize];
        if CHECKS {
            self.poison[to as usize] = self.poison[from as usize];
        }
    }

    #[inline(always)]
    pub(super) fn copy<const CHECKS: bool>(&mut self, to: Slot, from: Slot, count: u32) {
        self.values.copy_within(from as usize..(from + count) as usize, to as usize);
        if CHECKS {
            self.poison.copy_within(from as usize..(from + count) as usize, to as usize);
        }
    }

    #[inline(always)]
    pub(super) fn map_one<const CHECKS: bool>(
        &mut self,
        f: impl Fn(u64) -> u64,
        to: Slot,
        a: Slot,
        count: u16,
    ) {
        let (values, poison) = (&mut *self.values, &mut *self.poison);
        for lane in 0..count as usize {
            values[to as usize + lane] = f(values[a as usize + lane]);
            if CHECKS {
                poison[to as usize + lane] = spread(poison[a as usize + lane]);
            }
        }
    }

    #[inline(always)]
    pub(super) fn map_two<const CHECKS: bool>(
        &mut self,
        f: impl Fn(u64, u64) -> u64,
        to: Slot,
        [a, b]: [Slot; 2],
        count: u16,
    ) {
        let (values, poison) = (&mut *self.values, &mut *self.poison);
        for lane in 0..count as usize {
            values[to as usize + lane] = f(values[a as usize + lane], values[b as usize + lane]);
            if CHECKS {
                poison[to as usize + lane] = spread(poison[a as usize + lane] | poison[b as usize + lane]);
            }
        }
    }

    #[inline(always)]
    pub(super) fn map_three<const CHECKS: bool>(
        &mut self,
        f: impl Fn(u64, u64, u64) -> u64,
        to: Slot,
        [a, b, c]: [Slot; 3],
        count: u16,
    ) {
        let (values, poison) = (&mut *self.values, &mut *self.poison);
        for lane in 0..count as usize {
            let [x, y, z] = [a, b, c].map(|slot| values[slot as usize + lane]);
            values[to as usize + lane] = f(x, y, z);
            if CHECKS {
                let [x, y, z] = [a, b, c].map(|slot| poison[slot as usize + lane]);
                poison[to as usize + lane] = spread(x | y | z);
            }
        }
    }

    #[inline(always)]
    pub(super) fn offset<const CHECKS: bool>(
        &mut self,
        to: Slot,
        [base, index]: [Slot; 2],
        size: u8,
        stride: i64,
    ) {
        let index_value = alu::signed(size, self.values[index as usize]);
        let bytes = index_value.wrapping_mul(stride);
        self.values[to as usize] = self.values[base as usize].wrapping_add(bytes as u64);
        if CHECKS {
            self.poison[to as usize] = spread(self.poison[base as usize] | self.poison[index as usize]);
        }
    }

    #[inline(always)]
    pub(super) fn advance<const CHECKS: bool>(&mut self, to: Slot, base: Slot, bytes: i64) {
        self.values[to as usize] = self.values[base as usize].wrapping_add(bytes as u64);
        if CHECKS {
            self.poison[to as usize] = self.poison[base as usize];
        }
    }

    /// Executes an operation on registers that cannot fail.
    #[inline(always)]
    pub(super) fn compute<const CHECKS: bool>(&mut self, op: Op, tables: &Tables) {
        match op {
            Op::Convert { how, to, from, count } => {
                let how = &tables.conversions[how as usize];
                for lane in 0..count as usize {
                    self.values[to as usize + lane] = alu::convert(how, self.values[from as usize + lane]);
                    if CHECKS {
                        self.poison[to as usize + lane] = spread(self.poison[from as usize + lane]);
                    }
                }
            }
            Op::Imprecise(number) => {
                let ImpreciseLanes { imprecise, to, operands, count } = tables.imprecise[number as usize];
                self.map_three::<CHECKS>(|a, b, c| imprecise.result([a, b, c]), to, operands, count);
            }
            Op::Truncate { to, from, count, size } => {
                for lane in 0..count as usize {
                    self.values[to as usize + lane] = alu::truncated(size, self.values[from as usize + lane]);
                    if CHECKS {
                        self.poison[to as usize + lane] = truncated(self.poison[from as usize + lane], size);
                    }
                }
            }
            Op::Select { to, condition, a, b, count, per_lane } => {
                for lane in 0..count as usize {
                    let which = condition as usize + if per_lane { lane } else { 0 };
                    let chosen = if self.values[which] != 0 { a } else { b } as usize + lane;
                    self.values[to as usize + lane] = self.values[chosen];
                    if CHECKS {
                        self.poison[to as usize + lane] = self.poison[chosen] | spread(self.poison[which]);
                    }
                }
            }
            Op::ExtractDynamic { to, vector, index, count } => {
                let lane = self.values[index as usize].min(u64::from(count) - 1) as usize;
                self.values[to as usize] = self.values[vector as usize + lane];
                if CHECKS {
                    self.poison[to as usize] =
                        self.poison[vector as usize + lane] | spread(self.poison[index as usize]);
                }
            }
            Op::Repack { to, from, count, from_size, to_size } => {
                repack(self.values, to, from, count, from_size, to_size);
                if CHECKS {
                    repack_poison(self.poison, to, from, count, from_size, to_size);
                }
            }
            Op::Any { to, from, count } => {
                let lanes = from as usize..from as usize + count as usize;
                self.values[to as usize] = self.values[lanes.clone()].iter().any(|lane| *lane != 0).into();
                if CHECKS {
                    self.poison[to as usize] = spread(union(&self.poison[lanes]));
                }
            }
            Op::All { to, from, count } => {
                let lanes = from as usize..from as usize + count as usize;
                self.values[to as usize] = self.values[lanes.clone()].iter().all(|lane| *lane != 0).into();
                if CHECKS {
                    self.poison[to as usize] = spread(union(&self.poison[lanes]));
                }
            }
            Op::Undefined { to, count } => {
                self.values[to as usize..(to + count) as usize].fill(0);
                if CHECKS {
                    self.poison[to as usize..(to + count) as usize].fill(UNWRITTEN);
                }
            }
            _ => unreachable!("the interpreter loop executes other operations"),
        }
    }

    /// Executes an operation on registers that can fail.
    #[inline(always)]
    pub(super) fn check<const CHECKS: bool>(&mut self, op: Op, tables: &Tables) -> Result<(), Problem> {
        match op {
            Op::InsertDynamic { to, scalar, index, count } => {
                self.defined::<CHECKS>(index as usize, Use::Operand)?;
                let lane = self.values[index as usize].min(u64::from(count) - 1) as usize;
                self.values[to as usize + lane] = self.values[scalar as usize];
                if CHECKS {
                    self.poison[to as usize + lane] = self.poison[scalar as usize];
                }
            }
            Op::Taint { f, to, a, b, count, why } => {
                for lane in 0..count as usize {
                    let [x, y] = [a, b].map(|slot| self.values[slot as usize + lane]);
                    if CHECKS && f(x, y) != 0 {
                        self.poison[to as usize + lane] |= why;
                    }
                }
            }
            Op::CheckIndex { index, size, length } => {
                self.defined::<CHECKS>(index as usize, Use::Address)?;
                let index = alu::signed(size, self.values[index as usize]);
                if u64::try_from(index).map_or(true, |index| index >= length) {
                    return Err(Problem::Index { index, length });
                }
            }
            Op::CheckDivision { a, b, count, size, is_signed } => {
                for lane in 0..count as usize {
                    let divisor = self.values[b as usize + lane];
                    self.defined::<CHECKS>(b as usize + lane, Use::Operand)?;
                    if divisor == 0 {
                        return Err(Problem::DivisionByZero);
                    }
                    let smallest = 1 << (8 * u32::from(size) - 1);
                    let minus_one = alu::truncated(size, u64::MAX);
                    if is_signed && divisor == minus_one && self.values[a as usize + lane] == smallest {
                        return Err(Problem::DivisionOverflow);
                    }
                }
            }
            Op::CheckShift { b, count, bits } => {
                for lane in 0..count as usize {
                    let amount = self.values[b as usize + lane];
                    if amount >= bits.into() {
                        return Err(Problem::Shift { amount, bits });
                    }
                }
            }
            Op::CheckConversion { how, from, count } => {
                let how = &tables.conversions[how as usize];
                for lane in 0..count as usize {
                    let from = from as usize + lane;
                    if CHECKS && self.poison[from] == 0 && !alu::fits_integer(how, self.values[from]) {
                        return Err(Problem::Conversion);
                    }
                }
            }
            Op::CheckOperands { f, a, b, count, what } => {
                for lane in 0..count as usize {
                    let [a, b] = [a, b].map(|slot| slot as usize + lane);
                    if CHECKS
                        && self.poison[a] | self.poison[b] == 0
                        && f(self.values[a], self.values[b]) != 0
                    {
                        return Err(Problem::NoResult(what));
                    }
                }
            }
            Op::CheckOverflow { a, b, count, size, operation } => {
                for lane in 0..count as usize {
                    let [x, y] = [a, b].map(|slot| alu::signed(size, self.values[slot as usize + lane]));
                    let exact = match operation {
                        Overflow::Add => x.checked_add(y),
                        Overflow::Subtract => x.checked_sub(y),
                        Overflow::Multiply => x.checked_mul(y),
                    };
                    if exact.is_none_or(|exact| alu::signed(size, exact as u64) != exact) {
                        return Err(Problem::Overflow(operation));
                    }
                }
            }
            _ => unreachable!("the interpreter loop executes other operations"),
        }
        Ok(())
    }
}

/// Reinterprets the bytes as lanes of another size.
fn repack(regs: &mut [u64], to: Slot, from: Slot, count: u16, from_size: u8, to_size: u8) {
    let (from_size, to_size) = (usize::from(from_size), usize::from(to_size));
    let mut bytes = [0u8; 128];
    let total = (usize::from(count) * from_size).min(128);
    for (lane, lane_bytes) in bytes[..total].chunks_mut(from_size).enumerate() {
        let value = regs[from as usize + lane].to_le_bytes();
        lane_bytes.copy_from_slice(&value[..lane_bytes.len()]);
    }
    for (lane, part) in bytes[..total].chunks(to_size).enumerate() {
        let mut value = [0; 8];
        value[..part.len()].copy_from_slice(part);
        regs[to as usize + lane] = u64::from_le_bytes(value);
    }
}

fn repack_poison(poison: &mut [Poison], to: Slot, from: Slot, count: u16, from_size: u8, to_size: u8) {
    let (from_size, to_size) = (usize::from(from_size), usize::from(to_size));
    let mut bytes = [0; 128];
    let total = (usize::from(count) * from_size).min(128);
    for (lane, lane_bytes) in bytes[..total].chunks_mut(from_size).enumerate() {
        to_bytes(poison[from as usize + lane], lane_bytes);
    }
    for (lane, part) in bytes[..total].chunks(to_size).enumerate() {
        poison[to as usize + lane] = of_bytes(part);
    }
}
