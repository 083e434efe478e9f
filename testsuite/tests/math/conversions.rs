//! `convert_type` for every pair of types, rounding mode and saturation (OpenCL C 6.4.3), and conversions of `half` in memory
//! (6.15.7), compared with exact arithmetic.

use kiln_testsuite::{
    device::Device,
    launch::{Input, Job, launch},
};
use rug::{Float, Integer};

use super::number::{Kind, PRECISION};

/// A scalar type.
#[derive(Clone, Copy)]
enum Scalar {
    /// Bits, and whether there is a sign.
    Int(u32, bool),
    Real(Kind),
}

const SCALARS: [Scalar; 11] = [
    Scalar::Int(8, true),
    Scalar::Int(8, false),
    Scalar::Int(16, true),
    Scalar::Int(16, false),
    Scalar::Int(32, true),
    Scalar::Int(32, false),
    Scalar::Int(64, true),
    Scalar::Int(64, false),
    Scalar::Real(Kind::Half),
    Scalar::Real(Kind::Float),
    Scalar::Real(Kind::Double),
];

impl Scalar {
    const fn name(self) -> &'static str {
        match self {
            Self::Int(8, true) => "char",
            Self::Int(8, _) => "uchar",
            Self::Int(16, true) => "short",
            Self::Int(16, _) => "ushort",
            Self::Int(32, true) => "int",
            Self::Int(32, _) => "uint",
            Self::Int(_, true) => "long",
            Self::Int(..) => "ulong",
            Self::Real(kind) => kind.name(),
        }
    }

    const fn size(self) -> usize {
        match self {
            Self::Int(bits, _) => bits as usize / 8,
            Self::Real(kind) => kind.size(),
        }
    }

    /// A buffer of the bits.
    const fn argument(self) -> &'static str {
        match self.size() {
            1 => "u8",
            2 => "u16",
            4 => "u32",
            _ => "u64",
        }
    }

    const fn bits_name(self) -> &'static str {
        match self.size() {
            1 => "uchar",
            2 => "ushort",
            4 => "uint",
            _ => "ulong",
        }
    }

    fn decode(self, bits: u64) -> Float {
        match self {
            Self::Real(kind) => kind.decode(bits),
            Self::Int(width, true) => {
                Float::with_val(PRECISION, (bits << (64 - width)) as i64 >> (64 - width))
            }
            Self::Int(width, false) => Float::with_val(PRECISION, bits << (64 - width) >> (64 - width)),
        }
    }

    fn range(width: u32, is_signed: bool) -> [Integer; 2] {
        let one = Integer::from(1);
        if is_signed {
            let end = one << (width - 1);
            [Integer::from(-&end), end - 1]
        } else {
            [Integer::new(), (one << width) - 1]
        }
    }

    /// Where conversions to this type change.
    fn points(self, all: &mut Vec<Float>) {
        let (exponents, digits) = match self {
            Self::Int(width, _) => (vec![width as i32 - 1, width as i32], 24),
            Self::Real(kind) => (
                vec![
                    kind.max_exponent(),
                    kind.max_exponent() + 1,
                    kind.min_exponent(),
                    kind.min_exponent() - kind.digits() as i32,
                    0,
                ],
                kind.digits() as i32,
            ),
        };
        for exponent in exponents {
            let power = Float::with_val(PRECISION, 1) << exponent;
            for below in [exponent, exponent - digits, exponent - digits - 1, 0, -1, -2] {
                let step = Float::with_val(PRECISION, 1) << below;
                all.push(Float::with_val(PRECISION, &power + &step));
                all.push(Float::with_val(PRECISION, &power - &step));
                all.push(Float::with_val(PRECISION, &power - Float::with_val(PRECISION, &step * 3)));
            }
            all.push(power);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Even,
    Zero,
    Up,
    Down,
}

const MODES: [(&str, Option<Mode>); 5] = [
    ("", None),
    ("_rte", Some(Mode::Even)),
    ("_rtz", Some(Mode::Zero)),
    ("_rtp", Some(Mode::Up)),
    ("_rtn", Some(Mode::Down)),
];

fn rounded(value: Float, mode: Mode) -> Float {
    match mode {
        Mode::Even => value.round_even(),
        Mode::Zero => value.trunc(),
        Mode::Up => value.ceil(),
        Mode::Down => value.floor(),
    }
}

/// All acceptable results of a conversion, as bits; empty if it is undefined.
fn exact(value: &Float, to: Scalar, mode: Option<Mode>, saturates: bool) -> Option<u64> {
    match to {
        Scalar::Real(kind) => Some(real(value, kind, mode.unwrap_or(Mode::Even))),
        Scalar::Int(width, is_signed) => {
            if value.is_nan() {
                return saturates.then_some(0);
            }
            let [least, most] = Scalar::range(width, is_signed);
            let whole = rounded(value.clone(), mode.unwrap_or(Mode::Zero));
            let whole = match whole.to_integer() {
                Some(whole) => whole,
                None if value.is_sign_negative() => Integer::from(&least - 1),
                None => Integer::from(&most + 1),
            };
            if !saturates && (whole < least || whole > most) {
                return None;
            }
            let kept: Integer = whole.clamp(&least, &most);
            let mask = u64::MAX >> (64 - width);
            Some(kept.to_i128_wrapping() as u64 & mask)
        }
    }
}

/// A value in a floating-point type.
fn real(value: &Float, kind: Kind, mode: Mode) -> u64 {
    let sign = if value.is_sign_negative() { kind.sign_bit() } else { 0 };
    if value.is_nan() {
        return kind.infinity() + 1;
    }
    let Some(exponent) = value.get_exp() else {
        return sign | if value.is_infinite() { kind.infinity() } else { 0 };
    };
    let last = (exponent - 1).max(kind.min_exponent()) - (kind.digits() as i32 - 1);
    let digits = rounded(value.clone() >> last, mode).abs();
    let units = digits.to_integer().unwrap_or_default().to_u64_wrapping();
    // The leading bit of a normal number adds one to the exponent.
    let size = ((last - kind.min_exponent() + kind.digits() as i32 - 1) as u64) << (kind.digits() - 1);
    let bits = size + units;
    if bits < kind.infinity() {
        return sign | bits;
    }
    let is_finite = match mode {
        Mode::Even => false,
        Mode::Zero => true,
        Mode::Up => sign != 0,
        Mode::Down => sign == 0,
    };
    sign | if is_finite { kind.infinity() - 1 } else { kind.infinity() }
}

/// Without types that the device lacks.
pub(crate) fn conversions(device: &'static Device) {
    let has = |it: &Scalar| match it {
        Scalar::Real(kind) => kind.is_offered(device.facts()),
        Scalar::Int(..) => true,
    };
    let scalars: Vec<Scalar> = SCALARS.into_iter().filter(has).collect();
    let scalars = &scalars[..];
    let mut failures = Vec::new();
    let mut checked = 0usize;
    for &from in scalars {
        let mut values = Vec::new();
        for &to in scalars {
            to.points(&mut values);
        }
        let mut bits: Vec<u64> = values
            .iter()
            .flat_map(|value| {
                [value.clone(), -value.clone()]
                    .map(|it| exact(&it, from, Some(Mode::Even), true).expect("saturated values exist"))
            })
            .collect();
        let mut state = 0x2545_f491_4f6c_dd1du64;
        for _ in 0..400 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mask = u64::MAX >> (64 - 8 * from.size());
            bits.push((state >> (state % 40)) & mask);
            bits.push(state.rotate_left(32) & mask);
        }
        if let Scalar::Real(kind) = from {
            bits.extend([kind.infinity(), kind.infinity() | kind.sign_bit(), kind.infinity() + 1]);
            // A device may flush denormal floats.
            bits.retain(|&it| kind != Kind::Float || !kind.is_denormal(it));
        }
        bits.sort_unstable();
        bits.dedup();
        let jobs: Vec<Job> = scalars.iter().enumerate().map(|(number, &to)| job(number, from, to)).collect();
        let pragma: String = scalars
            .iter()
            .filter_map(|it| if let Scalar::Real(kind) = it { Some(kind.pragma()) } else { None })
            .collect();
        // Values outside the range are among the inputs, but their results are ignored; the reference device would report
        // them.
        let options = if device.is_strict() { &["--no-checks"][..] } else { &[] };
        let inputs = [Input::new(from.argument(), from.size(), &bits)];
        let results = launch(device, options, &pragma, &jobs, &inputs);
        for (&to, results) in scalars.iter().zip(&results) {
            let names = names(to);
            for (&input, results) in bits.iter().zip(results.chunks(names.len())) {
                for ((name, mode, saturates), &got) in names.iter().zip(results) {
                    let value = from.decode(input);
                    let Some(expected) = exact(&value, to, *mode, *saturates) else { continue };
                    checked += 1;
                    if !agree(to, expected, got) && failures.len() < 60 {
                        failures.push(format!(
                            "{name} of {} {:e} ({input:#x}) is {got:#x} and not {expected:#x}",
                            from.name(),
                            value.to_f64()
                        ));
                    }
                }
            }
        }
    }
    println!("{checked} conversions on {}", device.name);
    assert!(failures.is_empty(), "on {}:\n{}", device.name, failures.join("\n"));
}

fn agree(to: Scalar, expected: u64, got: u64) -> bool {
    let Scalar::Real(kind) = to else { return expected == got };
    let is_nan = |bits: u64| bits & !kind.sign_bit() > kind.infinity();
    let is_flushed = kind == Kind::Float && kind.is_denormal(expected) && got & !kind.sign_bit() == 0;
    expected == got || is_flushed || is_nan(expected) && is_nan(got)
}

/// The functions that convert to a type.
fn names(to: Scalar) -> Vec<(String, Option<Mode>, bool)> {
    let saturations: &[&str] = if matches!(to, Scalar::Int(..)) { &["", "_sat"] } else { &[""] };
    saturations
        .iter()
        .flat_map(|saturation| {
            MODES.map(|(mode, rounding)| {
                (format!("convert_{}{saturation}{mode}", to.name()), rounding, !saturation.is_empty())
            })
        })
        .collect()
}

fn job(number: usize, from: Scalar, to: Scalar) -> Job {
    let names = names(to);
    let mut kernel = format!(
        "kernel void k{number}(global {bits} *out, global {} *a) {{\n    size_t j = get_global_id(0);\n    {} x = a[j];\n",
        from.name(),
        from.name(),
        bits = to.bits_name(),
    );
    for (index, (name, _, _)) in names.iter().enumerate() {
        kernel += &format!("    out[j * {} + {index}] = as_{}({name}(x));\n", names.len(), to.bits_name());
    }
    kernel += "}\n";
    Job { kernel, out: to.argument(), per_item: names.len(), local: None }
}

/// `vstore_half` with each rounding mode, and `vload_half` of every half.
pub(crate) fn half_in_memory(device: &'static Device) {
    let kinds: &[Kind] = if device.facts().fp64 { &[Kind::Float, Kind::Double] } else { &[Kind::Float] };
    let mut failures = Vec::new();
    for &kind in kinds {
        let mut values = Vec::new();
        Scalar::Real(Kind::Half).points(&mut values);
        let mut bits: Vec<u64> = Vec::new();
        for size in (0..0x7c00u64).step_by(7) {
            let here = Kind::Half.decode(size);
            let next = Kind::Half.decode(size + 1);
            let middle = (if next.is_infinite() { here.clone() } else { next } + &here) / 2u32;
            bits.push(real(&middle, kind, Mode::Even));
            bits.push(real(&middle, kind, Mode::Even) + 1);
            bits.push(real(&here, kind, Mode::Even) | kind.sign_bit());
            bits.push((real(&here, kind, Mode::Even) + 1) | kind.sign_bit());
        }
        bits.extend(values.iter().map(|value| real(value, kind, Mode::Even)));
        bits.extend([
            0,
            kind.sign_bit(),
            kind.infinity(),
            kind.infinity() + 1,
            kind.infinity() | kind.sign_bit(),
        ]);
        bits.retain(|&it| kind != Kind::Float || !kind.is_denormal(it));
        let mut kernel = format!(
            "kernel void k0(global ushort *out, global {} *a) {{\n    size_t j = get_global_id(0);\n    {0} x = a[j];\n",
            kind.name()
        );
        for (index, (mode, _)) in MODES.iter().enumerate() {
            kernel += &format!("    vstore_half{mode}(x, 5 * j + {index}, (global half *)out);\n");
        }
        kernel += "}\n";
        let jobs = [Job { kernel, out: "u16", per_item: MODES.len(), local: None }];
        let results = launch(
            device,
            &[],
            kind.pragma(),
            &jobs,
            &[Input::new(kind.bits_argument(), kind.size(), &bits)],
        );
        for (&input, results) in bits.iter().zip(results[0].chunks(MODES.len())) {
            for ((name, mode), &got) in MODES.iter().zip(results) {
                let expected = real(&kind.decode(input), Kind::Half, mode.unwrap_or(Mode::Even));
                if !agree(Scalar::Real(Kind::Half), expected, got) && failures.len() < 20 {
                    failures.push(format!(
                        "vstore_half{name} of {} {:e} is {got:#x} and not {expected:#x}",
                        kind.name(),
                        kind.decode(input).to_f64()
                    ));
                }
            }
        }
    }
    let halves: Vec<u64> = (0..=0xffff).collect();
    let kernel = "kernel void k0(global uint *out, global ushort *a) { size_t j = get_global_id(0); \
                  out[j] = as_uint(vload_half(j, (global half *)a)); }\n";
    let jobs = [Job { kernel: kernel.to_owned(), out: "u32", per_item: 1, local: None }];
    let results = launch(device, &[], "", &jobs, &[Input::new("u16", 2, &halves)]);
    for (&half, &got) in halves.iter().zip(&results[0]) {
        let expected = real(&Kind::Half.decode(half), Kind::Float, Mode::Even);
        if !agree(Scalar::Real(Kind::Float), expected, got) && failures.len() < 40 {
            failures.push(format!("vload_half of {half:#x} is {got:#x} and not {expected:#x}"));
        }
    }
    assert!(failures.is_empty(), "on {}:\n{}", device.name, failures.join("\n"));
}
