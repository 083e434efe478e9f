//! Poison: values in registers or memory that a program must not depend on, and the reasons.
//!
//! Owns the reasons. Poison propagates through arithmetic and through local and private memory. It is reported where
//! it determines control flow, is used as an address, has side effects or reaches global memory. Uninitialized memory
//! is tracked by byte: storing a byte of a word does not affect the other bytes (SPIR-V, `OpUndef`: each use gives
//! some bit pattern).

/// The poison of a register: the low bits are its uninitialized bytes, the others the set of reasons for the whole
/// register.
pub(crate) type Poison = u16;
/// The poison of a byte in memory: the lowest bit if it is uninitialized, and the other reasons.
pub(crate) type BytePoison = u8;

/// An entirely uninitialized register, `OpUndef`.
pub(crate) const UNWRITTEN: Poison = 0xff;
/// An uninitialized byte.
pub(crate) const UNWRITTEN_BYTE: BytePoison = 1;
/// `OpSRem` and `OpSMod` with negative operands.
pub(crate) const REMAINDER: Poison = 1 << 8;
/// A shift by at least the width of the integer.
pub(crate) const SHIFT: Poison = 1 << 9;
/// A NaN or an infinity that the module does not require to be preserved, or that the instruction never preserves.
pub(crate) const FLOAT: Poison = 1 << 10;
/// A function outside its domain, or a bit field outside its integer.
pub(crate) const DOMAIN: Poison = 1 << 11;
/// A component index outside a vector.
pub(crate) const INDEX: Poison = 1 << 12;
/// The value of an inactive work-item of the sub-group.
pub(crate) const INACTIVE: Poison = 1 << 13;

/// The reasons: bit, kind, and description of the value.
const REASONS: [(Poison, &str, &str); 7] = [
    (REMAINDER, "remainder", "the remainder of a negative operand"),
    (SHIFT, "shift", "an integer shifted by its width or more"),
    (FLOAT, "float", "a number computed from a NaN or an infinity that the module does not preserve"),
    (DOMAIN, "no-result", "the result of an operation outside of its domain"),
    (INDEX, "index", "a component beyond the end of its vector"),
    (INACTIVE, "inactive", "a value of an inactive work-item"),
    (UNWRITTEN, "uninitialized", "a value that was never written"),
];

/// The kind and description of the first reason.
pub(crate) fn words(poison: Poison) -> (&'static str, &'static str) {
    let found = REASONS.iter().find(|(bits, ..)| poison & bits != 0);
    let (_, kind, value) = found.unwrap_or(&REASONS[REASONS.len() - 1]);
    (kind, value)
}

/// The poison of a result computed from operands with this poison: an uninitialized byte affects all bytes.
#[inline(always)]
pub(crate) fn spread(poison: Poison) -> Poison {
    if poison & UNWRITTEN == 0 { poison } else { poison | UNWRITTEN }
}

/// Like `spread`, for integer addition, subtraction and multiplication: bytes below the lowest affected one are
/// defined.
#[inline(always)]
pub(crate) fn spread_upward(poison: Poison) -> Poison {
    let bytes = poison & UNWRITTEN;
    // Sets all bits from the lowest one up.
    poison | bytes.wrapping_neg() & UNWRITTEN
}

/// The poison of `a & b` or `a | b`: bytes equal to the absorbing value in one operand make the result defined.
#[inline(always)]
pub(crate) fn masked((a, pa): (u64, Poison), (b, pb): (u64, Poison), absorbing: u8) -> Poison {
    if (pa | pb) & UNWRITTEN == 0 {
        return pa | pb;
    }
    let absorbs = |bits: u64, poison: Poison| {
        let bytes = bits.to_le_bytes().into_iter().enumerate();
        let all = bytes.fold(0, |all, (at, byte)| all | Poison::from(byte == absorbing) << at);
        all & !poison
    };
    let bytes = pa & !absorbs(b, pb) | pb & !absorbs(a, pa);
    (pa | pb) & !UNWRITTEN | bytes & UNWRITTEN
}

/// The poison of a value shifted left or right by a number of bits.
#[inline(always)]
pub(crate) fn shifted(poison: Poison, bits: u64, is_left: bool) -> Poison {
    let bytes = poison & UNWRITTEN;
    if bytes == 0 {
        return poison;
    }
    let (whole, is_split) = ((bits / 8).min(8), !bits.is_multiple_of(8));
    let moved = if is_left { bytes << whole } else { bytes >> whole };
    let next = match (is_split, is_left) {
        (false, _) => 0,
        (true, true) => moved << 1,
        (true, false) => moved >> 1,
    };
    poison & !UNWRITTEN | (moved | next) & UNWRITTEN
}

/// The poison of a value's low bytes.
#[inline(always)]
pub(crate) fn truncated(poison: Poison, size: u8) -> Poison {
    let low = (1 << size) - 1;
    let bytes = poison & UNWRITTEN & low;
    poison & !UNWRITTEN | if bytes == low { UNWRITTEN } else { bytes }
}

/// The union of the reasons.
pub(crate) fn union(all: &[Poison]) -> Poison {
    all.iter().fold(0, |union, poison| union | poison)
}

/// The poison of a register loaded from these bytes.
#[inline(always)]
pub(crate) fn of_bytes(bytes: &[BytePoison]) -> Poison {
    let mut poison = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        poison |= Poison::from(byte & UNWRITTEN_BYTE) << at | Poison::from(byte & !UNWRITTEN_BYTE) << 7;
    }
    poison
}

/// Stores the poison of a register to these bytes.
#[inline(always)]
pub(crate) fn to_bytes(poison: Poison, bytes: &mut [BytePoison]) {
    if poison == 0 {
        return bytes.fill(0);
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = (poison >> at & 1) as BytePoison | (poison >> 7) as BytePoison & !UNWRITTEN_BYTE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_in_a_word_leaves_the_others() {
        // Inserts one byte into an uninitialized word, and extracts it again.
        let kept = masked((0, UNWRITTEN), (0xffff_00ff, 0), 0);
        assert_eq!(kept & 0xf, 0b1101);
        let word = masked((0, kept), (0x1200, 0), 0xff);
        let byte = truncated(shifted(word, 8, false), 1);
        assert_eq!(byte, 0);
        assert_eq!(truncated(shifted(word, 16, false), 1), UNWRITTEN);
        assert_eq!(spread_upward(0b0100), 0b1111_1100);
    }

    #[test]
    fn memory_keeps_reasons() {
        let mut bytes = [0; 4];
        to_bytes(SHIFT | 0b0010, &mut bytes);
        assert_eq!(of_bytes(&bytes), SHIFT | 0b0010);
        assert_eq!(of_bytes(&bytes[..1]), SHIFT);
        assert_eq!(words(of_bytes(&[UNWRITTEN_BYTE])).0, "uninitialized");
    }
}
