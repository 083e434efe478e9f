//! Library functions that access memory or mix lanes.

use spirv::OpenclStd100Op as Cl;

use super::{
    printf::{self, Printed},
    view::View,
};
use crate::{
    alu::{self, Conversion, Rounding},
    code::{Lanes, Library, Slot},
    memory::Space,
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
    match library.function {
        Cl::printf => print(view, library, &mut frame, printed)?,
        Cl::fract | Cl::modf | Cl::sincos | Cl::frexp | Cl::lgamma_r | Cl::remquo => {
            two_results::<CHECKS>(view, library, &mut frame)?;
        }
        Cl::cross => cross(library, &mut frame),
        Cl::distance | Cl::fast_distance | Cl::length | Cl::fast_length => distance(library, &mut frame),
        Cl::normalize | Cl::fast_normalize => normalize(library, &mut frame),
        Cl::shuffle | Cl::shuffle2 => shuffle::<CHECKS>(library, &mut frame),
        Cl::vloadn | Cl::vload_half | Cl::vload_halfn | Cl::vloada_halfn => {
            load_vector::<CHECKS>(view, library, &mut frame)?;
        }
        // `vstoren`, `vstore_half` and its variants.
        _ => store_vector::<CHECKS>(view, library, &frame)?,
    }
    Ok(())
}

/// `printf`, or a trap, which is a call of `printf` by a function that the device recognizes.
fn print(
    view: &mut View<'_>,
    library: &Library,
    frame: &mut Frame<'_>,
    printed: &mut Printed<'_>,
) -> Result<(), Problem> {
    let format = frame.value(library.operands[0].0, 0);
    if library.literal != 0 {
        return Err(Problem::Trap(printf::message(view, format)));
    }
    let values: Vec<_> = library.operands[1..]
        .iter()
        .map(|&(slot, lanes)| {
            let bits = (0..usize::from(lanes.count)).map(|lane| frame.value(slot, lane)).collect();
            (lanes.scalar, bits)
        })
        .collect();
    let status = printf::print(view, format, &values, printed);
    if library.result.count > 0 {
        frame.set(library.to, 0, status as u32 as u64, 0);
    }
    Ok(())
}

fn cross(library: &Library, frame: &mut Frame<'_>) {
    let operands = [library.operands[0], library.operands[1]];
    let [a, b] = operands.map(|operand| [0, 1, 2].map(|lane| frame.float(operand, lane)));
    let poison = frame.poison_of(&operands);
    let product = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    let result = [product(1, 2), product(2, 0), product(0, 1), 0.0];
    for (lane, value) in result.into_iter().take(library.result.count.into()).enumerate() {
        frame.set(library.to, lane, alu::from_f64(library.result.scalar, value), poison);
    }
}

/// `distance` and `length`.
fn distance(library: &Library, frame: &mut Frame<'_>) {
    let operand = library.operands[0];
    let subtracted = match library.function {
        Cl::distance | Cl::fast_distance => Some(library.operands[1]),
        _ => None,
    };
    let numbers = (0..usize::from(operand.1.count)).map(|lane| {
        let other = subtracted.map_or(0.0, |other| frame.float(other, lane));
        frame.float(operand, lane) - other
    });
    let length = length(&numbers.collect::<Vec<f64>>());
    let poison = frame.poison_of(&library.operands);
    frame.set(library.to, 0, alu::from_f64(library.result.scalar, length), poison);
}

fn normalize(library: &Library, frame: &mut Frame<'_>) {
    let operand = library.operands[0];
    let numbers: Vec<f64> =
        (0..usize::from(library.result.count)).map(|lane| frame.float(operand, lane)).collect();
    let poison = frame.poison(operand);
    for (lane, value) in normalized(&numbers).into_iter().enumerate() {
        frame.set(library.to, lane, alu::from_f64(library.result.scalar, value), poison);
    }
}

/// `shuffle` and `shuffle2`.
fn shuffle<const CHECKS: bool>(library: &Library, frame: &mut Frame<'_>) {
    let operand = |index: usize| library.operands[index];
    let mask = operand(library.operands.len() - 1).0;
    let width = usize::from(operand(0).1.count);
    let sources = if library.function == Cl::shuffle2 { 2 * width } else { width };
    for lane in 0..library.result.count.into() {
        let index = frame.value(mask, lane) as usize % sources;
        let from = operand(index / width).0 + (index % width) as u32;
        let bits = frame.value(from, 0);
        let poison = if CHECKS { frame.poison[from as usize] } else { 0 };
        frame.set(library.to, lane, bits, poison);
    }
}

/// `vloadn`, and `vload_half` and its variants.
fn load_vector<const CHECKS: bool>(
    view: &mut View<'_>,
    library: &Library,
    frame: &mut Frame<'_>,
) -> Result<(), Problem> {
    let (offset, pointer) = (library.operands[0], library.operands[1]);
    let (scalar, count) = (library.result.scalar, usize::from(library.result.count));
    if library.function == Cl::vloadn {
        let element = scalar.size();
        let address = address_of(frame, offset, pointer, count as u64 * u64::from(element));
        return load::<CHECKS>(view, frame, library, address, element, count, |bits| bits);
    }
    let is_aligned = library.function == Cl::vloada_halfn;
    let stride = half_stride(count as u64, is_aligned);
    let address = address_of(frame, offset, pointer, stride);
    if CHECKS && is_aligned {
        View::aligned(address, stride as u8, Access::Read)?;
    }
    let widen = |bits| alu::from_f64(scalar, alu::to_f64(Scalar::F16, bits));
    load::<CHECKS>(view, frame, library, address, 2, count, widen)
}

/// `vstoren`, and `vstore_half` and its variants.
fn store_vector<const CHECKS: bool>(
    view: &mut View<'_>,
    library: &Library,
    frame: &Frame<'_>,
) -> Result<(), Problem> {
    let [value, offset, pointer] = [0, 1, 2].map(|index| library.operands[index]);
    let (scalar, count) = (value.1.scalar, u64::from(value.1.count));
    if library.function == Cl::vstoren {
        let element = scalar.size();
        let address = address_of(frame, offset, pointer, count * u64::from(element));
        return store::<CHECKS>(view, frame, address, element, value, |bits| bits);
    }
    let is_aligned = matches!(library.function, Cl::vstorea_halfn | Cl::vstorea_halfn_r);
    let stride = half_stride(count, is_aligned);
    let address = address_of(frame, offset, pointer, stride);
    if CHECKS && is_aligned {
        View::aligned(address, stride as u8, Access::Write)?;
    }
    let has_mode = matches!(library.function, Cl::vstore_half_r | Cl::vstore_halfn_r | Cl::vstorea_halfn_r);
    let rounding = match library.literal {
        1 if has_mode => Rounding::ToZero,
        2 if has_mode => Rounding::Up,
        3 if has_mode => Rounding::Down,
        _ => Rounding::ToEven,
    };
    let conversion = Conversion {
        from: scalar,
        from_signed: false,
        to: Scalar::F16,
        to_signed: false,
        rounding: Some(rounding),
        saturate: false,
    };
    store::<CHECKS>(view, frame, address, 2, value, |bits| alu::convert(&conversion, bits))
}

/// The distance in bytes between vectors of this many halves. An aligned vector of three takes the space of four.
const fn half_stride(count: u64, is_aligned: bool) -> u64 {
    2 * if is_aligned && count == 3 { 4 } else { count }
}

/// The address at an offset in elements from a pointer.
fn address_of(frame: &Frame<'_>, offset: (Slot, Lanes), pointer: (Slot, Lanes), stride: u64) -> u64 {
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
            _ if why != 0 && Space::is_global(address) => return Err(Problem::Poison(why, Use::Stored)),
            Some(poison) => poison.chunks_mut(size.into()).for_each(|bytes| to_bytes(why, bytes)),
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
