//! Library functions that access memory or mix lanes.

use spirv::OpenclStd100Op as Cl;

use super::{
    printf::{self, Printed},
    view::View,
};
use crate::{
    alu::{self, Conversion, Rounding},
    code::{Lanes, Library, Slot},
    poison::{Poison, of_bytes, spread, to_bytes, union},
    report::{Access, Problem, Use},
    types::Scalar,
};

/// The registers of a function, and their poison.
struct Frame<'r> {
    regs: &'r mut [u64],
    poison: &'r mut [Poison],
}

impl Frame<'_> {
    fn value(&self, slot: Slot, lane: usize) -> u64 {
        self.regs[slot as usize + lane]
    }

    fn float(&self, (slot, lanes): (Slot, Lanes), lane: usize) -> f64 {
        alu::to_f64(lanes.scalar, self.value(slot, lane))
    }

    fn poison(&self, (slot, lanes): (Slot, Lanes)) -> Poison {
        let from = slot as usize;
        spread(self.poison.get(from..from + usize::from(lanes.count)).map_or(0, union))
    }

    fn poison_of(&self, operands: &[(Slot, Lanes)]) -> Poison {
        operands.iter().fold(0, |all, &operand| all | self.poison(operand))
    }

    fn set(&mut self, slot: Slot, lane: usize, bits: u64, poison: Poison) {
        self.regs[slot as usize + lane] = bits;
        if let Some(flag) = self.poison.get_mut(slot as usize + lane) {
            *flag = poison;
        }
    }
}

/// Executes a function.
pub(crate) fn call<const CHECKS: bool>(
    view: &mut View<'_>,
    library: &Library,
    regs: &mut [u64],
    poison: &mut [Poison],
    printed: &mut Printed<'_>,
) -> Result<(), Problem> {
    let mut frame = Frame { regs, poison };
    let operand = |index: usize| library.operands[index];
    let to = library.to;
    let scalar = library.result.scalar;
    let count = usize::from(library.result.count);
    match library.function {
        Cl::printf => {
            let values: Vec<_> = library.operands[1..]
                .iter()
                .map(|&(slot, lanes)| {
                    let bits = (0..usize::from(lanes.count)).map(|lane| frame.value(slot, lane)).collect();
                    (lanes.scalar, bits)
                })
                .collect();
            if library.literal != 0 {
                return Err(Problem::Trap(printf::message(view, frame.value(operand(0).0, 0))));
            }
            let status = printf::print(view, frame.value(operand(0).0, 0), &values, printed);
            if count > 0 {
                frame.set(to, 0, status as u32 as u64, 0);
            }
        }
        Cl::fract | Cl::modf | Cl::sincos | Cl::frexp | Cl::lgamma_r | Cl::remquo => {
            two_results::<CHECKS>(view, library, &mut frame)?;
        }
        Cl::cross => {
            let [a, b] = [0, 1].map(|index| [0, 1, 2].map(|lane| frame.float(operand(index), lane)));
            let poison = frame.poison(operand(0)) | frame.poison(operand(1));
            let product = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
            let result = [product(1, 2), product(2, 0), product(0, 1), 0.0];
            for (lane, value) in result.into_iter().take(count).enumerate() {
                frame.set(to, lane, alu::from_f64(scalar, value), poison);
            }
        }
        Cl::distance | Cl::fast_distance | Cl::length | Cl::fast_length => {
            let is_distance = matches!(library.function, Cl::distance | Cl::fast_distance);
            let lanes = usize::from(operand(0).1.count);
            let numbers = (0..lanes).map(|lane| {
                let other = if is_distance { frame.float(operand(1), lane) } else { 0.0 };
                frame.float(operand(0), lane) - other
            });
            let length = length(&numbers.collect::<Vec<f64>>());
            let poison = frame.poison_of(&library.operands);
            frame.set(to, 0, alu::from_f64(scalar, length), poison);
        }
        Cl::normalize | Cl::fast_normalize => {
            let numbers: Vec<f64> = (0..count).map(|lane| frame.float(operand(0), lane)).collect();
            let poison = frame.poison(operand(0));
            for (lane, value) in normalized(&numbers).into_iter().enumerate() {
                frame.set(to, lane, alu::from_f64(scalar, value), poison);
            }
        }
        Cl::shuffle | Cl::shuffle2 => {
            let mask = operand(library.operands.len() - 1).0;
            let width = usize::from(operand(0).1.count);
            let sources = if library.function == Cl::shuffle2 { 2 * width } else { width };
            for lane in 0..count {
                let index = frame.value(mask, lane) as usize % sources;
                let from = operand(index / width).0 + (index % width) as u32;
                let bits = frame.value(from, 0);
                let poison = if CHECKS { frame.poison[from as usize] } else { 0 };
                frame.set(to, lane, bits, poison);
            }
        }
        Cl::vloadn => {
            let element = scalar.size();
            let start = start(&frame, operand(0), operand(1), count as u64 * u64::from(element));
            load::<CHECKS>(view, &mut frame, library, start, element, count, |bits| bits)?;
        }
        Cl::vload_half | Cl::vload_halfn | Cl::vloada_halfn => {
            let widen = |bits| alu::from_f64(scalar, alu::to_f64(Scalar::F16, bits));
            let aligned = library.function == Cl::vloada_halfn;
            let stride = 2 * if aligned && count == 3 { 4 } else { count as u64 };
            let start = start(&frame, operand(0), operand(1), stride);
            load::<CHECKS>(view, &mut frame, library, start, 2, count, widen)?;
        }
        Cl::vstoren => {
            let (value, lanes) = operand(0);
            let element = lanes.scalar.size();
            let stride = u64::from(lanes.count) * u64::from(element);
            let start = start(&frame, operand(1), operand(2), stride);
            store::<CHECKS>(view, &frame, start, element, (value, lanes), |bits| bits)?;
        }
        _ => {
            // `vstore_half` and its variants.
            let (value, lanes) = operand(0);
            let aligned = matches!(library.function, Cl::vstorea_halfn | Cl::vstorea_halfn_r);
            let stride = 2 * if aligned && lanes.count == 3 { 4 } else { u64::from(lanes.count) };
            let start = start(&frame, operand(1), operand(2), stride);
            let has_mode =
                matches!(library.function, Cl::vstore_half_r | Cl::vstore_halfn_r | Cl::vstorea_halfn_r);
            let rounding = match library.literal {
                1 if has_mode => Rounding::ToZero,
                2 if has_mode => Rounding::Up,
                3 if has_mode => Rounding::Down,
                _ => Rounding::ToEven,
            };
            let how = Conversion {
                from: lanes.scalar,
                from_signed: false,
                to: Scalar::F16,
                to_signed: false,
                rounding: Some(rounding),
                saturate: false,
            };
            store::<CHECKS>(view, &frame, start, 2, (value, lanes), |bits| alu::convert(&how, bits))?;
        }
    }
    Ok(())
}

/// The address of an element: a pointer, and an offset in elements.
fn start(frame: &Frame<'_>, offset: (Slot, Lanes), pointer: (Slot, Lanes), stride: u64) -> u64 {
    let index = alu::signed(offset.1.scalar.size(), frame.value(offset.0, 0)) as u64;
    frame.value(pointer.0, 0).wrapping_add(index.wrapping_mul(stride))
}

fn load<const CHECKS: bool>(
    view: &mut View<'_>,
    frame: &mut Frame<'_>,
    library: &Library,
    address: u64,
    size: u8,
    count: usize,
    convert: impl Fn(u64) -> u64,
) -> Result<(), Problem> {
    if CHECKS {
        match frame.poison_of(&library.operands) {
            0 => {}
            why => return Err(Problem::Poison(why, Use::Address)),
        }
        View::aligned(address, size, Access::Read)?;
    }
    if CHECKS {
        view.check_races(address, count as u64 * u64::from(size), false)?;
    }
    let (cells, at) = view.locate(address, count as u64 * u64::from(size), Access::Read)?;
    let values: Vec<u64> =
        (0..count).map(|lane| convert(cells.load(at + (lane * usize::from(size)) as u64, size))).collect();
    for (lane, bits) in values.into_iter().enumerate() {
        let byte = address + (lane * usize::from(size)) as u64;
        let poison = if CHECKS { view.poison(byte, size.into()).map_or(0, |it| of_bytes(it)) } else { 0 };
        frame.set(library.to, lane, bits, poison);
    }
    Ok(())
}

fn store<const CHECKS: bool>(
    view: &mut View<'_>,
    frame: &Frame<'_>,
    address: u64,
    size: u8,
    value: (Slot, Lanes),
    convert: impl Fn(u64) -> u64,
) -> Result<(), Problem> {
    let count = usize::from(value.1.count);
    if CHECKS {
        View::aligned(address, size, Access::Write)?;
        view.check_races(address, count as u64 * u64::from(size), true)?;
    }
    let (cells, at) = view.locate(address, count as u64 * u64::from(size), Access::Write)?;
    for lane in 0..count {
        let byte = at + (lane * usize::from(size)) as u64;
        cells.store(byte, size, convert(frame.value(value.0, lane)));
    }
    if CHECKS {
        let why = frame.poison(value);
        match view.poison(address, count as u64 * u64::from(size)) {
            Some(poison) => poison.chunks_mut(size.into()).for_each(|bytes| to_bytes(why, bytes)),
            None if why != 0 => return Err(Problem::Poison(why, Use::Stored)),
            None => {}
        }
    }
    Ok(())
}

/// Functions that store a second result through a pointer.
fn two_results<const CHECKS: bool>(
    view: &mut View<'_>,
    library: &Library,
    frame: &mut Frame<'_>,
) -> Result<(), Problem> {
    let scalar = library.result.scalar;
    let count = usize::from(library.result.count);
    let (pointer, _) = *library.operands.last().unwrap_or(&library.operands[0]);
    let address = frame.value(pointer, 0);
    let below_one = match scalar {
        Scalar::F16 => half::f16::from_bits(0x3bff).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(0x3f7f_ffff)),
        _ => 1.0f64.next_down(),
    };
    let inputs = &library.operands[..library.operands.len() - 1];
    let why = frame.poison_of(inputs);
    let mut size = scalar.size();
    let mut seconds = Vec::with_capacity(count);
    for lane in 0..count {
        let x = frame.float(library.operands[0], lane);
        let float = |second: f64| alu::from_f64(scalar, second);
        let (first, second) = match library.function {
            Cl::fract => {
                let (first, second) = alu::fract(x, below_one);
                (first, float(second))
            }
            Cl::modf => {
                let (first, second) = alu::modf(x);
                (first, float(second))
            }
            Cl::sincos => {
                let (first, second) = alu::sincos(x);
                (first, float(second))
            }
            other => {
                size = 4;
                let (first, second) = match other {
                    Cl::frexp => alu::frexp(x),
                    Cl::lgamma_r => alu::lgamma_r(x),
                    _ => alu::remquo(x, frame.float(library.operands[1], lane)),
                };
                (first, second as u32 as u64)
            }
        };
        frame.set(library.to, lane, float(first), why);
        seconds.push(second);
    }
    let bytes = count as u64 * u64::from(size);
    if CHECKS {
        view.check_races(address, bytes, true)?;
    }
    let (cells, at) = view.locate(address, bytes, Access::Write)?;
    for (lane, second) in seconds.into_iter().enumerate() {
        cells.store(at + (lane * usize::from(size)) as u64, size, second);
    }
    if CHECKS && let Some(poison) = view.poison(address, bytes) {
        poison.chunks_mut(size.into()).for_each(|bytes| to_bytes(why, bytes));
    }
    Ok(())
}

/// The length of a vector, without intermediate overflow.
fn length(numbers: &[f64]) -> f64 {
    if numbers.iter().any(|number| number.is_infinite()) {
        return f64::INFINITY;
    }
    let largest = numbers.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
    if largest == 0.0 || numbers.iter().any(|number| number.is_nan()) {
        return numbers.iter().map(|number| number.abs()).sum();
    }
    largest * numbers.iter().map(|number| (number / largest).powi(2)).sum::<f64>().sqrt()
}

/// OpenCL C 6.15.5: with infinite components, those count as 1 and all others as 0.
fn normalized(numbers: &[f64]) -> Vec<f64> {
    let is_infinite = numbers.iter().any(|number| number.is_infinite());
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|&number| match number {
            number if number.is_nan() || !is_infinite => number,
            number if number.is_infinite() => 1.0f64.copysign(number),
            number => 0.0f64.copysign(number),
        })
        .collect();
    match length(&numbers) {
        0.0 => numbers,
        length => numbers.iter().map(|number| number / length).collect(),
    }
}
