//! Test points of functions: special values in every combination, all bit patterns, the ranges of interest, and neighbors of
//! difficult values.

use kiln_testsuite::{nightly, random::Random};

use super::number::Kind;

/// Points for one type.
pub(crate) struct Points {
    kind: Kind,
    count: usize,
}

impl Points {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, count: nightly::count("operands of each math function", 10_000, 100_000) }
    }

    /// The operands of functions with this number of operands.
    pub(crate) fn operands(&self, arity: usize) -> Vec<Vec<u64>> {
        let special = self.special();
        let mut all: Vec<Vec<u64>> = vec![Vec::new(); arity];
        if arity == 1 && self.kind == Kind::Half && nightly::is_on() {
            all[0].extend(0..=0xffff);
            return all;
        }
        // Every combination of special numbers; of three, those of fewer.
        let few: &[u64] = if arity == 3 { &special[..16] } else { &special };
        for number in 0..few.len().pow(arity as u32) {
            let mut rest = number;
            for operand in &mut all {
                operand.push(few[rest % few.len()]);
                rest /= few.len();
            }
        }
        let mut random = Random::new(1);
        while all[0].len() < self.count {
            let first = self.random_number(&mut random);
            for (index, operand) in all.iter_mut().enumerate() {
                // In every second case, operands of similar size.
                let own = self.random_number(&mut random);
                let alike = (first & !self.low()) | (own & self.low());
                operand.push(if index == 0 {
                    first
                } else if random.wide() & 1 == 0 {
                    own
                } else {
                    alike
                });
            }
        }
        all
    }

    /// The bits of the significand and of the lowest bits of the exponent.
    fn low(&self) -> u64 {
        (1 << (self.kind.digits() + 1)) - 1
    }

    fn special(&self) -> Vec<u64> {
        let kind = self.kind;
        let infinity = kind.infinity();
        let mut sizes = vec![
            0,
            infinity,
            infinity | 1 << (kind.digits() - 2),
            kind.encode(1.0),
            // The largest, the least normal, the least.
            infinity - 1,
            1 << (kind.digits() - 1),
            1,
            kind.encode(0.5),
            kind.encode(2.0),
            kind.encode(3.0),
            (1 << (kind.digits() - 1)) - 1,
            kind.encode(1.0) - 1,
            kind.encode(1.0) + 1,
            kind.encode(0.5) - 1,
            kind.encode(1.5),
            kind.encode(2.5),
            kind.encode(4.0),
            kind.encode(7.0),
            kind.encode(std::f64::consts::PI),
            kind.encode(std::f64::consts::FRAC_PI_2),
            kind.encode(std::f64::consts::FRAC_PI_4),
            kind.encode(std::f64::consts::E),
            kind.encode(f64::from(kind.max_exponent())),
            kind.encode(2f64.powi(kind.digits() as i32 - 1)),
            kind.encode(2f64.powi(kind.digits() as i32)),
            kind.encode(2f64.powi(kind.digits() as i32 - 1) + 1.0),
        ];
        sizes.dedup();
        sizes.iter().flat_map(|&size| [size, size | kind.sign_bit()]).collect()
    }

    fn random_number(&self, random: &mut Random) -> u64 {
        let kind = self.kind;
        let sign = if random.wide() & 1 == 0 { 1.0 } else { -1.0 };
        let reach = f64::from(kind.max_exponent());
        let near = |value: f64, random: &mut Random| {
            kind.encode(sign * value).wrapping_add(random.wide() % 5).wrapping_sub(2) & kind.all_bits()
        };
        let value = match random.wide() % 13 {
            0 | 1 => return random.wide() & kind.all_bits(),
            2 => random.unit(),
            3 => random.unit() * 10.0,
            4 => random.unit() * reach,
            5 => 1.0 + sign * random.unit() * 2f64.powi(-((random.wide() % 50) as i32)),
            6 => 2f64.powf((random.unit() * 2.0 - 1.0) * reach * 0.98),
            7 => 2f64.powf((random.unit() * 2.0 - 1.0) * 40.0),
            // Neighbors of multiples of pi/4 and of 1/2.
            8 => {
                let multiple = (random.wide() >> (random.wide() % 60 + 3)) as f64;
                return near(multiple * std::f64::consts::FRAC_PI_4, random);
            }
            9 => {
                let multiple = (random.wide() >> (random.wide() % 60 + 3)) as f64;
                return near(multiple * 0.5, random);
            }
            // The limits of the ranges of exponentials and gamma, and the neighbors of those above which `exp`, `exp2`, `exp10` and
            // `cosh` overflow.
            10 => {
                use std::f64::consts::{LN_2, LOG10_2};
                let powers = reach + 1.0;
                let limits = [powers * LN_2, powers, powers * LOG10_2, (powers + 1.0) * LN_2];
                return near(limits[random.wide() as usize % 4], random);
            }
            11 => reach * [0.69, 1.0, 0.301, 0.7][random.wide() as usize % 4] * (1.0 + random.unit() * 0.05),
            _ => random.unit() * 200.0,
        };
        kind.encode(sign * value)
    }
}
