//! Poison: values in registers or memory that a program must not depend on, and the reasons.
//!
//! Owns the reasons. Poison propagates through arithmetic and through memory. It is reported where it determines control
//! flow, is used as an address, has side effects or reaches global memory, unless it can be the padding of a copied
//! structure (`execute/undefined.rs`). Uninitialized memory is tracked by byte: storing a byte of a word does not affect the other bytes (SPIR-V, `OpUndef`: each use gives
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

/// The poison of `a & b` or `a | b`: bytes of an operand that equal those of the absorbing value make the result defined.
#[inline(always)]
pub(crate) fn masked((a, pa): (u64, Poison), (b, pb): (u64, Poison), absorbing: u64) -> Poison {
    if (pa | pb) & UNWRITTEN == 0 {
        return pa | pb;
    }
    let absorbs = |bits: u64, poison: Poison| {
        let bytes = (bits ^ absorbing).to_le_bytes().into_iter().enumerate();
        let all = bytes.fold(0, |all, (at, byte)| all | Poison::from(byte == 0) << at);
        all & !poison
    };
    let bytes = pa & !absorbs(b, pb) | pb & !absorbs(a, pa);
    (pa | pb) & !UNWRITTEN | bytes & UNWRITTEN
}

/// The direction of a shift, and what it shifts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    /// To the left, zeros.
    Left,
    /// To the right, zeros.
    Right,
    /// To the right, copies of the sign.
    Arithmetic,
}

/// The poison of an integer of a size in bytes, shifted by a number of bits.
#[inline(always)]
pub(crate) fn shifted(poison: Poison, size: u8, bits: u64, shift: Shift) -> Poison {
    if poison & UNWRITTEN == 0 {
        return poison;
    }
    let all: Poison = (1 << size) - 1;
    let bytes = poison & all;
    let (whole, is_split) = ((bits / 8).min(size.into()) as u8, !bits.is_multiple_of(8));
    let moved = if shift == Shift::Left { bytes << whole } else { bytes >> whole };
    let next = match (is_split, shift) {
        (false, _) => 0,
        (true, Shift::Left) => moved << 1,
        (true, Shift::Right | Shift::Arithmetic) => moved >> 1,
    };
    let has_sign = shift == Shift::Arithmetic && bytes >> (size - 1) & 1 != 0;
    let sign = if has_sign { all & !(all >> (whole + 1)) } else { 0 };
    truncated(poison & !UNWRITTEN | moved | next | sign, size)
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
        let word = masked((0, kept), (0x1200, 0), u64::MAX);
        let byte = truncated(shifted(word, 4, 8, Shift::Right), 1);
        assert_eq!(byte, 0);
        assert_eq!(truncated(shifted(word, 4, 16, Shift::Right), 1), UNWRITTEN);
        assert_eq!(spread_upward(0b0100), 0b1111_1100);
    }

    #[test]
    fn shifts_move_uninitialized_bytes() {
        let of_short = |bytes, bits, shift| shifted(bytes, 2, bits, shift);
        assert_eq!(of_short(0b10, 0, Shift::Right), 0b10);
        assert_eq!(of_short(0b10, 4, Shift::Right), UNWRITTEN);
        assert_eq!(of_short(0b10, 8, Shift::Right), 0b01);
        assert_eq!(of_short(0b10, 8, Shift::Arithmetic), UNWRITTEN);
        assert_eq!(of_short(0b10, 8, Shift::Left), 0);
        assert_eq!(of_short(0b01, 8, Shift::Arithmetic), 0);
        // What is shifted in is defined.
        assert_eq!(shifted(UNWRITTEN, 4, 8, Shift::Right), 0b0111);
        assert_eq!(shifted(UNWRITTEN, 4, 64, Shift::Left), 0);
        assert_eq!(shifted(0b1000, 4, 9, Shift::Arithmetic), 0b1110);
        assert_eq!(shifted(REMAINDER | 0b01, 2, 8, Shift::Left), REMAINDER | 0b10);
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
