//! Compares built-in functions on the devices with values computed here. `math` tests floating-point functions and
//! conversions.

mod groups;
mod integers;
mod memory;
mod reals;

use std::process::ExitCode;

use kiln_testsuite::device;
use libtest_mimic::Arguments;

const TESTS: &[(&str, device::Test)] = &[
    ("groups::sub_groups", |it| groups::sub_groups(Device::new(it))),
    ("groups::work_groups", |it| groups::work_groups(Device::new(it))),
    ("integers::integers", |it| integers::integers(Device::new(it))),
    ("memory::memory", |it| memory::memory(Device::new(it))),
    ("reals::relations", |it| reals::relations(Device::new(it))),
    ("reals::common", |it| reals::common(Device::new(it))),
    ("reals::geometry", |it| reals::geometry(Device::new(it))),
    ("reals::vectors", |it| reals::vectors(Device::new(it))),
];

fn main() -> ExitCode {
    let trials = device::trials(device::all(), TESTS);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A device and its missing features.
#[derive(Clone, Copy)]
struct Device {
    device: &'static device::Device,
    name: &'static str,
    fp16: bool,
    fp64: bool,
    /// Whether it may flush denormal floats to zero.
    flushes: bool,
    /// Work-items of a sub-group.
    sub_group: usize,
    /// Work-items of the largest work-group.
    work_group: usize,
    /// Substrings of the calls that it does not support.
    lacks: &'static [&'static str],
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scalar {
    name: &'static str,
    bits: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Real,
}

const fn scalar(name: &'static str, bits: u32, kind: Kind) -> Scalar {
    Scalar { name, bits, kind }
}

const INTEGERS: [Scalar; 8] = [
    scalar("char", 8, Kind::Signed),
    scalar("uchar", 8, Kind::Unsigned),
    scalar("short", 16, Kind::Signed),
    scalar("ushort", 16, Kind::Unsigned),
    scalar("int", 32, Kind::Signed),
    scalar("uint", 32, Kind::Unsigned),
    scalar("long", 64, Kind::Signed),
    scalar("ulong", 64, Kind::Unsigned),
];
const HALF: Scalar = scalar("half", 16, Kind::Real);
const FLOAT: Scalar = scalar("float", 32, Kind::Real);
const DOUBLE: Scalar = scalar("double", 64, Kind::Real);

const PRAGMAS: [&str; 3] = [
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n",
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
];

impl Device {
    fn new(device: &'static device::Device) -> Self {
        let facts = device.facts();
        Self {
            device,
            name: device.name,
            fp16: facts.fp16,
            fp64: facts.fp64,
            flushes: !facts.fp32_denormals,
            sub_group: facts.sub_group_size.expect("it has sub-groups"),
            work_group: facts.max_work_group_size,
            lacks: match (device.is_vulkan(), device.is_for_clang()) {
                (_, true) => &["2D2D", "4x8packed"],
                (false, false) => &["2D2D"],
                (true, false) => &[],
            },
        }
    }

    fn reals(self) -> impl Iterator<Item = &'static Scalar> {
        let has = move |ty: &&Scalar| match ty.bits {
            16 => self.fp16,
            32 => true,
            _ => self.fp64,
        };
        [HALF, FLOAT, DOUBLE].iter().filter(has)
    }

    fn has(self, call: &str) -> bool {
        !self.lacks.iter().any(|word| call.contains(word))
    }

    /// The first lines of a program with all types of the device.
    fn pragmas(self) -> &'static str {
        match (self.fp16, self.fp64) {
            (true, true) => PRAGMAS[2],
            (true, false) => PRAGMAS[0],
            (false, true) => PRAGMAS[1],
            (false, false) => "",
        }
    }
}

impl Scalar {
    const fn size(self) -> usize {
        self.bits as usize / 8
    }

    /// A buffer of the bits.
    const fn argument(self) -> &'static str {
        match self.bits {
            8 => "u8",
            16 => "u16",
            32 => "u32",
            _ => "u64",
        }
    }

    /// The integer types of the same size.
    const fn unsigned(self) -> &'static str {
        match self.bits {
            8 => "uchar",
            16 => "ushort",
            32 => "uint",
            _ => "ulong",
        }
    }

    const fn signed(self) -> &'static str {
        match self.bits {
            8 => "char",
            16 => "short",
            32 => "int",
            _ => "long",
        }
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The integer of a bit pattern.
    fn integer(self, bits: u64) -> i128 {
        let shift = 64 - self.bits;
        match self.kind {
            Kind::Signed => i128::from((bits << shift) as i64 >> shift),
            _ => i128::from(bits << shift >> shift),
        }
    }

    /// The number of a bit pattern; every half and float is a double.
    fn real(self, bits: u64) -> f64 {
        match self.bits {
            16 => {
                let (exponent, fraction) = ((bits >> 10 & 0x1f) as i32, (bits & 0x3ff) as f64);
                let size = match exponent {
                    0 => fraction * 2f64.powi(-24),
                    31 if fraction == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
                };
                if bits >> 15 & 1 != 0 { -size } else { size }
            }
            32 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }
    }

    /// The bits of a number that the type has.
    fn bits_of(self, value: f64) -> u64 {
        match (self.kind, self.bits) {
            (Kind::Real, 32) => (value as f32).to_bits().into(),
            (Kind::Real, 64) => value.to_bits(),
            (Kind::Real, _) => (0..=0xffff)
                .find(|&bits| self.real(bits) == value && (bits >> 15 != 0) == value.is_sign_negative())
                .expect("half has this number"),
            _ => value as i64 as u64 & self.mask(),
        }
    }
}
