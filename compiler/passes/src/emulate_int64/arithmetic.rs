//! Arithmetic on pairs of 32-bit halves. Componentwise on vectors.

use kiln_ir::{BinaryOp, Builder, Compare, CompareKind, Scalar, UnaryOp, ValueId};
use kiln_types::ops::{CompareOp, LoopHints};

/// The halves of a 64-bit integer.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) low: ValueId,
    pub(super) high: ValueId,
}

impl Pair {
    /// Applies `change` to both halves.
    pub(super) fn map(self, mut change: impl FnMut(ValueId) -> ValueId) -> Self {
        Self { low: change(self.low), high: change(self.high) }
    }
}

/// Builds `left op right`. `None` if pairs do not support the operation.
pub(super) fn binary(builder: &mut Builder<'_>, op: BinaryOp, left: Pair, right: Pair) -> Option<Pair> {
    Some(match op {
        BinaryOp::Add => add(builder, left, right),
        BinaryOp::Sub => subtract(builder, left, right),
        BinaryOp::Mul => multiply(builder, left, right),
        BinaryOp::UMulHigh => multiply_high(builder, left, right),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            let low = builder.binary(op, left.low, right.low);
            Pair { low, high: builder.binary(op, left.high, right.high) }
        }
        BinaryOp::Shl => shift_left(builder, left, right.low),
        BinaryOp::LShr => shift_right(builder, BinaryOp::LShr, left, right.low),
        BinaryOp::AShr => shift_right(builder, BinaryOp::AShr, left, right.low),
        BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SDiv | BinaryOp::SRem => {
            let ty = builder.ty(left.low);
            if ty.is_vector() {
                divide_each(builder, op, left, right)
            } else {
                divide(builder, op, left, right)
            }
        }
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => return None,
    })
}

/// The sum, with the carry of the low halves.
pub(super) fn add(builder: &mut Builder<'_>, left: Pair, right: Pair) -> Pair {
    let low = builder.binary(BinaryOp::Add, left.low, right.low);
    let carry = builder.compare(CompareOp::Less, CompareKind::Unsigned, low, left.low);
    let carry = builder.resize(carry, Scalar::I32, false);
    let high = builder.binary(BinaryOp::Add, left.high, right.high);
    Pair { low, high: builder.binary(BinaryOp::Add, high, carry) }
}

fn subtract(builder: &mut Builder<'_>, left: Pair, right: Pair) -> Pair {
    let low = builder.binary(BinaryOp::Sub, left.low, right.low);
    let borrow = builder.compare(CompareOp::Less, CompareKind::Unsigned, left.low, right.low);
    let borrow = builder.resize(borrow, Scalar::I32, false);
    let high = builder.binary(BinaryOp::Sub, left.high, right.high);
    Pair { low, high: builder.binary(BinaryOp::Sub, high, borrow) }
}

fn multiply(builder: &mut Builder<'_>, left: Pair, right: Pair) -> Pair {
    let Pair { low, high } = wide_product(builder, left.low, right.low);
    let cross = builder.binary(BinaryOp::Mul, left.low, right.high);
    let high = builder.binary(BinaryOp::Add, high, cross);
    let cross = builder.binary(BinaryOp::Mul, left.high, right.low);
    Pair { low, high: builder.binary(BinaryOp::Add, high, cross) }
}

/// The upper 64 bits of the product: the sum of four products of halves.
fn multiply_high(builder: &mut Builder<'_>, left: Pair, right: Pair) -> Pair {
    let zero = builder.bits(builder.ty(left.low), 0);
    let carried = builder.binary(BinaryOp::UMulHigh, left.low, right.low);
    let middle = wide_product(builder, left.high, right.low);
    let middle = add(builder, middle, Pair { low: carried, high: zero });
    let other = wide_product(builder, left.low, right.high);
    let other = add(builder, other, Pair { low: middle.low, high: zero });
    let top = wide_product(builder, left.high, right.high);
    let top = add(builder, top, Pair { low: middle.high, high: zero });
    add(builder, top, Pair { low: other.high, high: zero })
}

/// The 64-bit product of two unsigned 32-bit numbers.
fn wide_product(builder: &mut Builder<'_>, left: ValueId, right: ValueId) -> Pair {
    let low = builder.binary(BinaryOp::Mul, left, right);
    Pair { low, high: builder.binary(BinaryOp::UMulHigh, left, right) }
}

/// Common values of shifts: the amount within a half, 31 minus that, and whether the amount exceeds a half.
fn shift_amounts(builder: &mut Builder<'_>, amount: ValueId) -> (ValueId, ValueId, ValueId) {
    let inside = builder.binary_bits(BinaryOp::And, amount, 31);
    let rest = builder.binary_bits(BinaryOp::Xor, inside, 31);
    let passed = builder.binary_bits(BinaryOp::And, amount, 32);
    let zero = builder.bits(builder.ty(amount), 0);
    let is_far = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, passed, zero);
    (inside, rest, is_far)
}

fn shift_left(builder: &mut Builder<'_>, value: Pair, amount: ValueId) -> Pair {
    let (inside, rest, is_far) = shift_amounts(builder, amount);
    let zero = builder.bits(builder.ty(value.low), 0);
    let low = builder.binary(BinaryOp::Shl, value.low, inside);
    let over = builder.binary_bits(BinaryOp::LShr, value.low, 1);
    let over = builder.binary(BinaryOp::LShr, over, rest);
    let high = builder.binary(BinaryOp::Shl, value.high, inside);
    let high = builder.binary(BinaryOp::Or, high, over);
    let high = builder.select(is_far, low, high);
    Pair { low: builder.select(is_far, zero, low), high }
}

fn shift_right(builder: &mut Builder<'_>, op: BinaryOp, value: Pair, amount: ValueId) -> Pair {
    let (inside, rest, is_far) = shift_amounts(builder, amount);
    let high = builder.binary(op, value.high, inside);
    let over = builder.binary_bits(BinaryOp::Shl, value.high, 1);
    let over = builder.binary(BinaryOp::Shl, over, rest);
    let low = builder.binary(BinaryOp::LShr, value.low, inside);
    let low = builder.binary(BinaryOp::Or, low, over);
    let fill = match op {
        BinaryOp::AShr => builder.binary_bits(BinaryOp::AShr, value.high, 31),
        _ => builder.bits(builder.ty(value.high), 0),
    };
    let low = builder.select(is_far, high, low);
    Pair { low, high: builder.select(is_far, fill, high) }
}

/// A comparison of the high halves, and of the low halves if those are equal.
pub(super) fn compare(builder: &mut Builder<'_>, compare: Compare, left: Pair, right: Pair) -> ValueId {
    let unsigned = CompareKind::Unsigned;
    let same = builder.compare(CompareOp::Equal, unsigned, left.high, right.high);
    match compare.op {
        CompareOp::Equal | CompareOp::NotEqual => {
            let low = builder.compare(CompareOp::Equal, unsigned, left.low, right.low);
            let both = builder.binary(BinaryOp::And, same, low);
            if compare.op == CompareOp::Equal { both } else { builder.unary(UnaryOp::Not, both) }
        }
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            let strict = match compare.op {
                CompareOp::Less | CompareOp::LessEqual => CompareOp::Less,
                _ => CompareOp::Greater,
            };
            let high = builder.compare(strict, compare.kind, left.high, right.high);
            let low = builder.compare(compare.op, unsigned, left.low, right.low);
            let low = builder.binary(BinaryOp::And, same, low);
            builder.binary(BinaryOp::Or, high, low)
        }
    }
}

/// Divides componentwise.
fn divide_each(builder: &mut Builder<'_>, op: BinaryOp, left: Pair, right: Pair) -> Pair {
    let ty = builder.ty(left.low);
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for index in 0..ty.count() {
        let [one, other] = [left, right].map(|pair| pair.map(|half| builder.extract(half, index)));
        let result = divide(builder, op, one, other);
        low.push(result.low);
        high.push(result.high);
    }
    Pair { low: builder.construct(&low, ty), high: builder.construct(&high, ty) }
}

/// Quotient or remainder, bit by bit. Signed operands are converted to magnitudes.
fn divide(builder: &mut Builder<'_>, op: BinaryOp, left: Pair, right: Pair) -> Pair {
    let is_signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
    let sign = |builder: &mut Builder<'_>, value: Pair| builder.binary_bits(BinaryOp::AShr, value.high, 31);
    let (left_sign, right_sign) = (sign(builder, left), sign(builder, right));
    let (mut dividend, mut divisor) = (left, right);
    if is_signed {
        dividend = negate_if(builder, dividend, left_sign);
        divisor = negate_if(builder, divisor, right_sign);
    }
    let (quotient, remainder) = divide_unsigned(builder, dividend, divisor);
    match op {
        BinaryOp::UDiv => quotient,
        BinaryOp::URem => remainder,
        BinaryOp::SDiv => {
            let sign = builder.binary(BinaryOp::Xor, left_sign, right_sign);
            negate_if(builder, quotient, sign)
        }
        _ => negate_if(builder, remainder, left_sign),
    }
}

/// The value, negated where the mask is all ones: `(value ^ mask) - mask`.
fn negate_if(builder: &mut Builder<'_>, value: Pair, mask: ValueId) -> Pair {
    let flipped = value.map(|half| builder.binary(BinaryOp::Xor, half, mask));
    subtract(builder, flipped, Pair { low: mask, high: mask })
}

/// 64 steps of long division: the dividend is shifted out at the top while the quotient is shifted in at the bottom.
fn divide_unsigned(builder: &mut Builder<'_>, dividend: Pair, divisor: Pair) -> (Pair, Pair) {
    let zero = builder.i32(0);
    let i32 = builder.ty(zero);
    let firsts = [zero, dividend.low, dividend.high, zero, zero];
    let open = builder.open_loop(&firsts, &[i32; 5], &[i32; 4], LoopHints::default());
    let after = builder.insertion_point();

    builder.at_end(open.body);
    let params = builder.function.blocks[open.body].params.clone();
    let quotient = Pair { low: params[1], high: params[2] };
    let remainder = Pair { low: params[3], high: params[4] };
    let one = builder.i32(1);
    let top = builder.binary_bits(BinaryOp::LShr, quotient.high, 31);
    let carry_out = builder.binary_bits(BinaryOp::LShr, remainder.high, 31);
    let remainder = shift_left(builder, remainder, one);
    let remainder = Pair { low: builder.binary(BinaryOp::Or, remainder.low, top), ..remainder };
    let quotient = shift_left(builder, quotient, one);
    let not_less = Compare { op: CompareOp::GreaterEqual, kind: CompareKind::Unsigned };
    let fits = compare(builder, not_less, remainder, divisor);
    // If the shift carries out of the remainder, the remainder is larger than any divisor.
    let overflows = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, carry_out, zero);
    let takes = builder.binary(BinaryOp::Or, fits, overflows);
    let bit = builder.resize(takes, Scalar::I32, false);
    let quotient = Pair { low: builder.binary(BinaryOp::Or, quotient.low, bit), ..quotient };
    let reduced = subtract(builder, remainder, divisor);
    let low = builder.select(takes, reduced.low, remainder.low);
    let remainder = Pair { low, high: builder.select(takes, reduced.high, remainder.high) };
    let step = builder.binary(BinaryOp::Add, params[0], one);
    let limit = builder.i32(64);
    let more = builder.compare(CompareOp::Less, CompareKind::Unsigned, step, limit);
    let test = builder.open_if(more, &[]);
    builder.unreachable();
    builder.at_end(test.then);
    builder.continue_loop(open.inst, &[step, quotient.low, quotient.high, remainder.low, remainder.high]);
    builder.at_end(test.otherwise);
    builder.exit(open.inst, &[quotient.low, quotient.high, remainder.low, remainder.high]);

    builder.close_loop(&open, after);
    let results = builder.function.insts[open.inst].results.clone();
    (Pair { low: results[0], high: results[1] }, Pair { low: results[2], high: results[3] })
}
